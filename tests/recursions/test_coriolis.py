"""The Coriolis matrix of random trees with every joint type against Pinocchio."""

from __future__ import annotations

import numpy as np
import pinocchio as pin
import pytest

from linkwork.recursions.coriolis import coriolis_matrix
from tests.pinocchio_models import assert_close, random_twin
from tests.traced import evaluated, minimal, states


@pytest.mark.parametrize("seed", range(4))
def test_coriolis_matrix(seed):
    pair = random_twin(seed)
    data, at = pair.model.createData(), np.ix_(pair.index, pair.index)
    q, v, _ = states(pair.robot)
    theirs = [
        pin.computeCoriolisMatrix(pair.model, data, pair.q(x), pair.v(y))[at] for x, y in zip(q, v)
    ]
    for tree, offset in ((pair.robot.subject.tree, 0 * q[0]), minimal(pair.robot)):
        (ours,) = evaluated(
            lambda q, v, tree=tree, offset=offset: coriolis_matrix(tree, q + offset, v), q, v
        )
        assert_close(ours.reshape(np.shape(theirs)), np.array(theirs), 1e-11)
