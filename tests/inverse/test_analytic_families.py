"""Spherical wrists and shoulders, seven axes, planar arms, three axes: generating postures found,
sets complete."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import linkwork as lw
from linkwork.errors import InvalidInput, NotPossible
from tests.inverse.arms import apart, arm, nearest, searched, tip
from tests.robots_list import robot as published

PI = np.pi
SPHERICAL = ("kuka", "puma", "first two parallel", "first two meet", "last two meet", "no relation")


def sets(robot, count, seed=0):
    return np.random.default_rng(seed).uniform(-PI, PI, (count, robot.nq))


@pytest.mark.parametrize("name", SPHERICAL)
def test_spherical_wrists(name):
    robot, frame = arm(name), tip(arm(name))
    q = sets(robot, 1000)
    T = robot.pose(q, frame)
    found = robot.inverse_kinematics_all(T, frame)
    assert nearest(found, q).max() < 1e-6
    assert np.nanmax(found.residual) < 1e-11
    assert found.count.max() == 8
    truth = searched(robot, frame, T[0])
    assert len(truth) <= found.count[0]
    assert all(apart(found[0].q, row).min() < 1e-6 for row in truth)


@pytest.mark.parametrize("name", ["kuka", "no relation"])
def test_an_aligned_wrist_is_a_continuum(name):
    """At theta5 = 0 of an orthogonal wrist axes 4 and 6 fall together; skew ones only touch:
    a double root."""
    robot, frame = arm(name), tip(arm(name))
    q = sets(robot, 200, 1)
    q[:, 4] = 0.0
    found = robot.inverse_kinematics_all(robot.pose(q, frame), frame, q0=q)
    assert nearest(found, q).max() < 1e-4  # two double roots at once
    assert np.nanmax(found.residual) < 1e-10
    at = np.where(found.valid, apart(np.nan_to_num(found.q), q[:, None]), np.inf).argmin(axis=1)
    kinds = found.kind[np.arange(200), at]
    if name == "kuka":
        assert set(kinds) == {"continuum"}
    else:  # rounding may split a double root into two isolated ones
        assert np.mean(kinds == "tangent") > 0.9


def test_a_wrist_above_axis_one_is_a_continuum():
    robot, frame = arm("first two meet"), tip(arm("first two meet"))
    T = robot.pose(sets(robot, 1)[0], frame)
    wrist = T[:3, 3] - 0.1 * T[:3, 2]
    T[:2, 3] -= wrist[:2]
    found = robot.inverse_kinematics_all(T, frame)
    assert found.count == 0 or "continuum" in found.kind


@pytest.mark.parametrize(
    ("name", "frame"), [("talos_data/talos_full_v2", "leg_left_6_link"), ("romeo/romeo", "l_ankle")]
)
def test_legs_from_a_spherical_hip(name, frame):
    """The chain is solved backwards; joints elsewhere on the robot stay at neutral."""
    robot = published(name)
    columns = list(lw.classify(robot, frame).pose.chain.columns)
    q = robot.neutral() + np.zeros((300, 1))
    q[:, columns] = np.random.default_rng(0).uniform(-PI, PI, (300, 6))
    found = robot.inverse_kinematics_all(robot.pose(q, frame), frame)
    assert found.q.shape[-1] == robot.nq
    assert nearest(found, q).max() < 1e-8
    assert np.nanmax(found.residual) < 1e-11


@pytest.mark.parametrize("name", ["iiwa", "bent elbow"])
def test_seven_axes_by_swivel_angle(name):
    robot, frame = arm(name), tip(arm(name))
    q = sets(robot, 300)
    T = robot.pose(q, frame)
    own = robot.inverse_kinematics_all(T, frame, q0=q)
    assert nearest(own, q).max() < 1e-7
    assert (own.kind[own.valid] == "continuum").all()
    swept = robot.inverse_kinematics_all(
        T[:20], frame, free=np.linspace(-PI, PI, 24, endpoint=False)
    )
    assert swept.q.shape == (20, 8 * 24, 7)
    assert (swept.count > 0).all()
    assert np.nanmax(swept.residual) < 1e-11
    assert swept.free.shape == swept.valid.shape
    assert "swivel" in swept.free_name


def test_swivel_angle_moves_the_elbow_around_the_line_from_shoulder_to_wrist():
    robot = arm("iiwa")
    T = robot.pose(np.array([0.3, 0.8, -0.4, 1.2, 0.5, -0.7, 0.2]), tip(robot))
    found = robot.inverse_kinematics_all(T, tip(robot), free=[0.0, 0.5, 1.0])
    branch = (found.branch == (1, 1, 1)).all(axis=1)
    elbows = robot.pose(found.q[branch], "link3")[:, :3, 3]
    shoulder, wrist = np.array([0, 0, 0.34]), T[:3, 3] - 0.126 * T[:3, 2]
    along = (wrist - shoulder) / np.linalg.norm(wrist - shoulder)
    arms = elbows - shoulder
    across = arms - (arms @ along)[:, None] * along
    assert np.ptp(np.linalg.norm(across, axis=1)) < 1e-12
    turned = [np.arctan2(np.cross(a, b) @ along, a @ b) for a, b in itertools.pairwise(across)]
    assert turned == pytest.approx([0.5, 0.5], abs=1e-9)


@pytest.mark.parametrize(
    ("name", "frame"), [("panda/panda", "panda_link8"), ("xarm/xarm7", "link7")]
)
def test_seven_axes_with_the_last_joint_given(name, frame):
    """xArm7's file writes right angles as 1.5708: its solutions are polished,
    with joint 7 where it was."""
    robot = published(name)
    q = robot.random(200, seed=3)
    found = robot.inverse_kinematics_all(robot.pose(q, frame), frame, q0=q)
    columns = list(lw.classify(robot, frame).pose.chain.columns)
    part = np.where(
        found.valid, apart(np.nan_to_num(found.q[..., columns]), q[:, None, columns]), np.inf
    )
    assert part.min(axis=1).max() < 1e-6
    assert np.nanmax(found.residual) < 1e-11


def test_planar_arms():
    robot, frame = arm("planar 3R"), tip(arm("planar 3R"))
    q = sets(robot, 200)
    found = robot.inverse_kinematics_all(robot.pose(q, frame), frame)
    assert nearest(found, q).max() < 1e-7
    assert set(found.count) <= {1, 2}
    off = robot.pose(q[0], frame)
    off[2, 3] += 0.1
    assert (
        robot.inverse_kinematics_all(off, frame).reason
        == "the target does not lie in the plane of the arm"
    )
    far = robot.pose(q[0], frame)
    far[0, 3] += 5.0
    assert "reach is 0.9 m" in robot.inverse_kinematics_all(far, frame).reason


def test_a_stretched_planar_arm_is_one_double_root():
    robot, frame = arm("planar 2R"), tip(arm("planar 2R"))
    found = robot.inverse_kinematics_all(robot.pose(np.array([0.3, 0.0]), frame)[:3, 3], frame)
    assert (found.count, found.kind[0], found.multiplicity[0]) == (1, "tangent", 2)


@pytest.mark.parametrize("name", ["planar 2R", "leg", "skew leg"])
def test_points(name):
    robot, frame = arm(name), tip(arm(name))
    q = sets(robot, 500)
    P = np.ascontiguousarray(robot.pose(q, frame)[:, :3, 3])
    found = robot.inverse_kinematics_all(P, frame)
    assert nearest(found, q).max() < 1e-6
    reached = robot.pose(np.nan_to_num(found.q), frame)[..., :3, 3]
    assert np.abs(reached - P[:, None])[found.valid].max() < 1e-10


def test_a_planar_arm_reaches_a_point_in_every_direction():
    robot, frame = arm("planar 3R"), tip(arm("planar 3R"))
    q = np.array([0.4, 0.9, -0.5])
    P = robot.pose(q, frame)[:3, 3]
    found = robot.inverse_kinematics_all(P, frame, free=np.linspace(-3, 3, 7))
    assert set(found.kind) == {"continuum"}
    assert np.abs(robot.pose(found.q, frame)[:, :3, 3] - P).max() < 1e-12
    assert np.abs(found.q.sum(axis=1) - found.free).max() % (2 * PI) < 1e-9
    own = robot.inverse_kinematics_all(P, frame, q0=q)
    assert apart(own.q, q).min() < 1e-9


def test_legs_of_a_quadruped():
    robot = published("solo/solo12")
    q = robot.random(200, seed=1)
    found = robot.inverse_kinematics_all(robot.pose(q, "FL_FOOT")[:, :3, 3].copy(), "FL_FOOT")
    leg = list(lw.classify(robot, "FL_FOOT").point.chain.columns)
    part = np.where(found.valid, apart(np.nan_to_num(found.q[..., leg]), q[:, None, leg]), np.inf)
    assert part.min(axis=1).max() < 1e-7


@pytest.mark.parametrize("name", ["kuka", "no relation"])
def test_closed_determinants(name):
    robot, frame = arm(name), tip(arm(name))
    q = sets(robot, 200)
    numeric = np.linalg.det(robot.jacobian(q, frame))
    assert np.abs(robot.singularity(q, frame).determinant - numeric).max() < 1e-13


def test_reasons_name_the_distance():
    robot, frame = arm("puma"), tip(arm("puma"))
    T = robot.pose(sets(robot, 1)[0], frame)
    T[0, 3] += 9.0
    assert "reach is" in robot.inverse_kinematics_all(T, frame).reason
    T[:3, 3] = 0.08 * T[:3, 2] + [0.0, 0.05, 0.9]
    assert (
        robot.inverse_kinematics_all(T, frame).reason
        == "wrist's centre 50 mm from axis 1, needs >= 150 mm"
    )


def test_wrong_targets_for_the_family():
    robot = arm("kuka")
    with pytest.raises(NotPossible, match=r"for poses \(4, 4\), not for positions"):
        robot.inverse_kinematics_all([0.1, 0.2, 0.3], tip(robot))
    with pytest.raises(NotPossible, match=r"for positions \(3,\), not for poses"):
        arm("leg").inverse_kinematics_all(np.eye(4), tip(arm("leg")))
    with pytest.raises(InvalidInput, match="no free parameter"):
        robot.inverse_kinematics_all(np.eye(4), tip(robot), free=[0.0])


@pytest.mark.parametrize(("name", "joint"), [("kuka", 4), ("puma", 4), ("iiwa", 1), ("iiwa", 5)])
@pytest.mark.parametrize("size", [1e-5, 1e-7, 1e-9])
def test_a_nearly_aligned_wrist_keeps_all_its_postures(name, joint, size):
    """However little the outer axes differ, there are two postures of three axes that meet;
    never fewer."""
    robot = arm(name)
    q = np.random.default_rng(8).uniform(-2.5, 2.5, (200, robot.nq))
    wide = q.copy()
    q[:, joint], wide[:, joint] = size, 1e-3
    found = robot.inverse_kinematics_all(robot.pose(q, tip(robot)), tip(robot), q0=q)
    assert np.nanmax(found.residual) < 1e-12
    assert (found.count % 4 == 0).all() and (found.count >= 4).all()
    more = robot.inverse_kinematics_all(robot.pose(wide, tip(robot)), tip(robot), q0=wide)
    # 1e-3 rad away the arm has the same postures, but at its edges
    assert np.mean(found.count == more.count) > 0.99
    if size > 1e-8:
        # below, the angles of the outer axes have no digits of their own
        assert nearest(found, q).max() < 1e-3


def test_a_wrist_in_the_shoulder_is_solved_and_harms_no_other_target():
    """Both arms of equal length, folded: there is no line from shoulder to wrist about which the
    elbow could turn."""
    robot = lw.load("redundant-7")
    frame = robot.bodies[-1]
    q = np.random.default_rng(4).uniform(-3.0, 3.0, (20, 7))
    q[::2, 3] = np.pi
    T = robot.pose(q, frame)
    for seed in (None, q):
        found = robot.inverse_kinematics_all(T, frame, seed)
        assert (found.count > 0).all()
        assert np.nanmax(found.residual) < 1e-10
    apart = np.abs((found.q - q[:, None] + np.pi) % (2 * np.pi) - np.pi).max(axis=-1)
    assert (np.nanmin(apart[1::2], axis=1) < 1e-7).all()
