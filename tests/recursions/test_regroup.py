"""Regrouping: the same joint forces from fewer numbers."""

from __future__ import annotations

import numpy as np
import pytest

from linkwork.recursions.newton_euler import newton_euler
from linkwork.recursions.poses import attached, poses
from linkwork.recursions.regroup import regrouped
from tests.pinocchio_models import assert_close, random_twin
from tests.robots_list import robot
from tests.traced import evaluated, states


@pytest.mark.parametrize("name", [0, 1, 2, 3, "panda/panda"])
def test_joint_forces_and_frames_do_not_change(name):
    one = random_twin(name).robot if isinstance(name, int) else robot(name, "fixed", "independent")
    tree = one.subject.tree
    other = regrouped(tree)
    q, v, a = states(one)

    def both(q, v, a):
        out = []
        for each in (tree, other):
            T = poses(each, q)
            i, at = list(each.frames.values())[-1]
            out += [newton_euler(each, q, v, a), attached(T[i], at).p]
        return out

    tau, p, tau_other, p_other = evaluated(both, q, v, a)
    assert_close(tau_other, tau, 1e-12)
    assert np.abs(p - p_other).max() < 1e-14 * 10


def test_what_is_left_of_a_body():
    """Behind a revolute joint no mass, nothing along the axis; behind a slider no second moments."""
    for seed in range(4):
        for node in regrouped(random_twin(seed).robot.subject.tree).nodes[1:]:
            m, h, J = (np.array(x) for x in node.regrouped)
            n, scale = np.array(node.axis), 1e-14 * max(1.0, np.abs(J).max())
            if node.kind == "revolute":
                assert m == 0.0
                assert abs(h @ n) < scale
                assert abs(n @ J @ n) < scale
            elif node.kind == "prismatic":
                assert not J.any()
            elif node.kind == "ball":
                assert m == 0.0
