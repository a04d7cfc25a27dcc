"""Jacobians of random trees with every joint type against Pinocchio."""

from __future__ import annotations

import numpy as np
import pinocchio as pin
import pytest

from linkwork.recursions.jacobians import jacobian, turned
from tests.pinocchio_models import assert_close, random_twin
from tests.traced import evaluated, states


@pytest.mark.parametrize("seed", range(4))
def test_jacobians_in_world_and_frame_axes(seed):
    pair = random_twin(seed)
    model, data, tree = pair.model, pair.model.createData(), pair.robot.subject.tree
    q, _, _ = states(pair.robot)

    def ours(q):
        J, R = jacobian(tree, q, tree.frames["tool"])
        return J, turned(R, J)

    found = evaluated(ours, q)
    for J, reference in zip(found, (pin.LOCAL_WORLD_ALIGNED, pin.LOCAL), strict=True):
        theirs = [
            pin.computeFrameJacobian(model, data, pair.q(x), model.getFrameId("tool"), reference)
            for x in q
        ]
        assert_close(J, np.array(theirs)[:, :, pair.index], 1e-11)  # 1e-15 of the largest entry


def test_columns_of_joints_beside_the_path_are_structural_zeros():
    tree = random_twin(1, 10).robot.subject.tree
    node, at = tree.frames["tool"]
    J, _ = jacobian(tree, np.zeros(tree.nq), (node, at))
    on_path = {
        k
        for j in tree.paths[node]
        for k in range(tree.nodes[j].v, tree.nodes[j].v + tree.nodes[j].nv)
    }
    assert {c for c in range(tree.nv) if J[:, c].nnz()} <= on_path < set(range(tree.nv))
