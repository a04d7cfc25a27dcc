"""The mass matrix of random trees with every joint type against Pinocchio, and its pattern."""

from __future__ import annotations

import numpy as np
import pinocchio as pin
import pytest
from casadi import SX

from linkwork.recursions.composite_body import mass_matrix
from tests.pinocchio_models import assert_close, random_twin
from tests.traced import evaluated, minimal, states


@pytest.mark.parametrize("seed", range(5))
def test_mass_matrix(seed):
    pair = random_twin(seed)
    data = pair.model.createData()
    q, _, _ = states(pair.robot)
    theirs = np.array(
        [pin.crba(pair.model, data, pair.q(x))[np.ix_(pair.index, pair.index)] for x in q]
    )
    for tree, offset in ((pair.robot.subject.tree, 0 * q[0]), minimal(pair.robot)):
        (ours,) = evaluated(lambda q, tree=tree, offset=offset: mass_matrix(tree, q + offset), q)
        assert_close(ours.reshape(theirs.shape), theirs, 1e-12)
        assert np.array_equal(ours, np.swapaxes(ours, 1, 2))


def test_joints_on_different_branches_do_not_couple():
    tree = random_twin(3, 12).robot.subject.tree
    M = mass_matrix(tree, SX.sym("q", tree.nq))
    joint = {node.v + k: i for i, node in enumerate(tree.nodes) for k in range(node.nv)}
    for r in range(tree.nv):
        for c in range(tree.nv):
            related = joint[r] in tree.paths[joint[c]] or joint[c] in tree.paths[joint[r]]
            assert related or not M.sparsity().has_nz(r, c)
    assert M.nnz() < tree.nv**2
