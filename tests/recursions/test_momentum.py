"""Centroidal momentum of random trees, and its matrix, against Pinocchio."""

from __future__ import annotations

import numpy as np
import pinocchio as pin
import pytest

from linkwork.recursions.momentum import centroidal_matrix, momentum
from tests.pinocchio_models import assert_close, random_twin
from tests.recursions.test_energy import MOVING
from tests.traced import evaluated, states


@pytest.mark.parametrize("seed", range(3))
def test_momentum_and_its_matrix(seed):
    pair = random_twin(seed, 6, MOVING)
    model, data, tree = pair.model, pair.model.createData(), pair.robot.subject.full_tree
    q, v, _ = states(pair.robot)
    h, A = evaluated(lambda q, v: (momentum(tree, q, v), centroidal_matrix(tree, q)), q, v)
    theirs = [
        pin.computeCentroidalMomentum(model, data, pair.q(x), pair.v(y)).vector
        for x, y in zip(q, v)
    ]
    assert_close(h, np.array(theirs), 1e-12)
    theirs = [pin.ccrba(model, data, pair.q(x), pair.v(y))[:, pair.index] for x, y in zip(q, v)]
    assert_close(A, np.array(theirs), 1e-11)
