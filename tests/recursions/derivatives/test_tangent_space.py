"""Derivatives by q are those along `integrate`,
for every joint whose coordinates are not a plain vector."""

from __future__ import annotations

import numpy as np
import pytest

from linkwork.robot import Robot
from tests.random_models import random_model
from tests.recursions.derivatives.oracles import differences, states, traced


@pytest.mark.parametrize("quantity", ["inverse_dynamics", "forward_dynamics"])
@pytest.mark.parametrize("seed", range(4))
def test_tangent_derivatives_are_those_of_integrate(seed, quantity):
    types = ("revolute", "prismatic", "helical", "ball", "floating")
    robot = Robot(random_model(seed, bodies=4, types=types, mimic=False))
    state = states(robot, 1, seed)
    exact = traced(robot, f"{quantity}_derivatives", *state)
    scale = max(np.abs(d).max() for d in exact)  # truncation h^2 = 1e-10 and rounding 1e-16 / h
    for ours, theirs in zip(exact, differences(robot, quantity, *(x[0] for x in state))):
        np.testing.assert_allclose(ours[0], theirs, rtol=0, atol=1e-7 * scale)
