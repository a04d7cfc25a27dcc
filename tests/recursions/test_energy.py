"""Kinetic and potential energy of random trees against Pinocchio."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pinocchio as pin
import pytest

from linkwork.model import Body, MassProperties, build_tree
from linkwork.recursions.energy import energy
from tests.pinocchio_models import assert_close, random_twin
from tests.random_models import random_model
from tests.traced import evaluated, states

MOVING = (
    "revolute",
    "prismatic",
    "helical",
    "ball",
    "floating",
    "planar",
    "universal",
    "cylindrical",
)


@pytest.mark.parametrize("seed", range(3))
def test_energies(seed):
    pair = random_twin(seed, 6, MOVING)
    model, data = pair.model.copy(), pair.model.createData()
    model.armature[:] = 0.0  # Pinocchio's kinetic energy counts that of some joints only
    q, v, _ = states(pair.robot)
    kinetic, potential = evaluated(lambda q, v: energy(pair.robot.subject.full_tree, q, v), q, v)
    theirs = [pin.computeKineticEnergy(model, data, pair.q(x), pair.v(y)) for x, y in zip(q, v)]
    assert_close(kinetic[:, 0], theirs + 0.5 * v**2 @ pair.model.armature[pair.index], 1e-13)
    theirs = [pin.computePotentialEnergy(model, data, pair.q(x)) for x in q]
    assert_close(potential[:, 0], theirs, 1e-13)


def test_a_body_that_stands_in_the_world_has_potential_energy():
    model = random_model(0, 4, MOVING, mimic=False)
    stand = Body("stand", MassProperties(3.0, (0.0, 0.0, 2.0)))
    trees = [
        build_tree(m, merge=False) for m in (model, replace(model, bodies=(*model.bodies, stand)))
    ]
    q, v = np.zeros((1, trees[0].nq)), np.zeros((1, trees[0].nv))
    first, second = (
        evaluated(lambda q, v, tree=tree: energy(tree, q, v), q, v)[1][0, 0] for tree in trees
    )
    assert second - first == pytest.approx(3.0 * 9.81 * 2.0, rel=1e-14)
