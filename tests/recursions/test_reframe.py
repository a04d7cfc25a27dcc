"""Reframing: every body and frame stays in its place, and the numbers become fewer."""

from __future__ import annotations

from dataclasses import replace

import casadi
import numpy as np
import pytest
from casadi import SX

from linkwork.engine.passes import optimised
from linkwork.engine.program import from_casadi
from linkwork.model import Placement
from linkwork.recursions.newton_euler import newton_euler
from linkwork.recursions.poses import attached, poses
from linkwork.recursions.reframe import reframed, tilt
from tests.pinocchio_models import random_twin
from tests.robots_list import robot
from tests.traced import evaluated, states


def placed(tree, q):
    T = poses(tree, q)
    return casadi.vertcat(
        *[
            x
            for i, at in tree.frames.values()
            for P in [attached(T[i], at)]
            for x in (casadi.vec(P.R), P.p)
        ]
    )


@pytest.mark.parametrize(
    "name", ["ur/ur5_robot", "xarm/xarm7", "icub/icub", "panda/panda", 0, 1, 2]
)
def test_frames_stay_in_their_places(name):
    one = random_twin(name).robot if isinstance(name, int) else robot(name, "fixed", "independent")
    tree = one.subject.tree
    other, offset = reframed(tree)
    q, _, _ = states(one)
    first, second = evaluated(lambda q: (placed(tree, q), placed(other, q + offset)), q)
    assert np.abs(first - second).max() < 1e-13  # a dozen turns, distances of metres


def operations(tree, offset) -> int:
    q, v, a = SX.sym("q", tree.nq), SX.sym("v", tree.nv), SX.sym("a", tree.nv)
    f = casadi.Function("f", [q, v, a], [newton_euler(tree, q + offset, v, a)], {"cse": True})
    return optimised(from_casadi(f)).operations


REACHED = {
    "ur/ur5_robot": 246,
    "so_arm/so101": 451,
    "tiago/tiago_no_hand": 646,
    "panda/panda": 482,
    "icub/icub": 2346,
}
"""Operations of the inverse dynamics with frames chosen well; what costs more has chosen worse."""


@pytest.mark.parametrize("name", REACHED)
def test_recursions_become_shorter(name):
    tree = robot(name, "fixed", "independent").subject.tree
    assert operations(*reframed(tree)) <= REACHED[name] < operations(tree, np.zeros(tree.nq))


@pytest.mark.parametrize(
    "d", [(0, 0.6, 0.8), (-0.6, 0, 0.8), (0.6, -0.8, 0), (0.48, 0.64, -0.6), (0, 0, -1), (0, -1, 0)]
)
def test_tilt_takes_z_to_a_direction(d):
    R = tilt(np.array(d, dtype=float))
    assert np.abs(R[:, 2] - d).max() < 1e-15
    assert np.abs(R @ R.T - np.eye(3)).max() < 1e-15
    assert np.linalg.det(R) > 0


def test_axes_of_revolute_joints_become_z_and_others_stay():
    tree = random_twin(0, 12).robot.subject.tree
    other, _ = reframed(tree)
    for before, after in zip(tree.nodes, other.nodes, strict=True):
        assert after.axis == ((0.0, 0.0, 1.0) if before.kind == "revolute" else before.axis)
        assert (after.q, after.v, after.parent, after.armature) == (
            before.q,
            before.v,
            before.parent,
            before.armature,
        )


def test_quarter_turns_need_no_offset():
    """UR5's file says 1.570796325 for a quarter: a turn about the joint's own axis,
    so that it costs one addition."""
    _, offset = reframed(robot("ur/ur5_robot").subject.tree)
    assert np.count_nonzero(offset) == 2
    assert np.abs(np.abs(offset[offset != 0.0]) % (np.pi / 2)).min() < np.pi / 2
    _, offset = reframed(robot("panda/panda").subject.tree)
    assert np.count_nonzero(offset) <= 1


def test_live_lengths_keep_the_frames():
    tree = robot("ur/ur5_robot").subject.tree
    live = replace(tree.nodes[2], placement=Placement(position=(SX.sym("length"), 0.0, 0.0)))
    tree = replace(tree, nodes=(*tree.nodes[:2], live, *tree.nodes[3:]))
    same, offset = reframed(tree)
    assert same is tree
    assert not offset.any()
