"""The general six-axis solver: sixteen solutions where they exist,
and the same as every special solver."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

import linkwork as lw
from linkwork.inverse.analytic.candidates import Canonical
from linkwork.inverse.analytic.denavit import frames
from linkwork.inverse.analytic.general_6r import General6R, best_cut
from linkwork.inverse.analytic.screws import chain_of
from tests.inverse.arms import apart, arm, disguised, from_table, nearest, searched, tip
from tests.robots_list import robot as published

PI = np.pi
DEGREE = PI / 180
# [Manseur1989]: an arm with sixteen real solutions at one pose
POSE = np.array(
    [
        [-0.760117, -0.641689, 0.102262, -1.140175],
        [0.133333, 0.0, 0.991071, 0.0],
        [-0.635959, 0.766965, 0.085558, 0.0],
        [0.0, 0.0, 0.0, 1.0],
    ]
)


@cache
def sixteen():
    return from_table(
        [0.3, 1, 0, 1.5, 0, 0],
        [PI / 2, DEGREE, PI / 2, DEGREE, PI / 2, DEGREE],
        [0, 0, 0.2, 0, 0, 0],
    )


def general(robot, frame):
    """The general solver of a robot, whatever family it is in."""
    chain = chain_of(robot.subject, frame)
    placed = frames(chain, (1,) * 6, (1,) * 5)
    return General6R(
        robot.subject, chain, Canonical(placed), placed, True, cut=best_cut(chain, placed)
    )


def rows(robot, frame, T):
    found = general(robot, frame).rows(T, np.zeros(6))
    return [q[state > 0] for q, state in zip(found.q, found.state)]


def test_a_published_arm_has_sixteen_solutions():
    frame = tip(sixteen())
    U, _, Vt = np.linalg.svd(POSE[:3, :3])
    T = POSE.copy()
    T[:3, :3] = U @ Vt  # printed with six digits
    assert lw.classify(sixteen(), frame).family == "general_6r"
    found = sixteen().inverse_kinematics_all(T, frame)
    assert found.count == 16
    assert found.residual.max() < 1e-12
    assert all(apart(found.q[i], found.q[j]) > 1e-3 for i in range(16) for j in range(i))


CRX_SIXTEEN = np.radians([-40, -50, 60, -90, -90, -100])


@pytest.mark.parametrize("offset", [0.0, 0.01], ids=["crx", "crx with an offset shoulder"])
def test_sixteen_of_an_offset_wrist_by_the_general_solver(offset):
    """[Carbonari2023]'s arm where it has sixteen postures:
    eight of them share two values of one angle."""
    robot = from_table(
        [0, 0.71, 0, 0, 0, 0],
        [PI / 2, -PI, -PI / 2, -PI / 2, PI / 2, 0],
        [0.245, offset, 0, 0.54, 0.15, 0.16],
    )
    frame = tip(robot)
    assert lw.classify(robot, frame).family == ("general_6r" if offset else "offset_wrist")
    T = robot.pose(CRX_SIXTEEN, frame)
    (found,) = rows(robot, frame, T[None])
    truth = searched(robot, frame, T, starts=600)
    assert len(found) == len(truth) == 16
    assert max(apart(found, row).min() for row in truth) < 1e-8


@pytest.mark.parametrize("tilt", [1e-3, 1e-4])
def test_a_calibrated_offset_wrist_loses_no_posture(tilt):
    robot = disguised(lw.load("crx-10ial"), 1, tilt=tilt)
    q = np.random.default_rng(1).uniform(-PI, PI, (220, 6))
    T = robot.pose(q, "reach")
    nominal, general_rows = robot.inverse_kinematics_all(T, "reach"), rows(robot, "reach", T)
    assert (nominal.family, nominal.exact) == ("offset_wrist", False)
    assert [len(r) for r in general_rows] == nominal.count.tolist()
    assert (
        max(apart(nominal[k].q, row).min() for k, r in enumerate(general_rows) for row in r) < 1e-6
    )
    assert np.nanmax(nominal.residual) < 1e-10


def test_a_random_arm_is_solved_completely():
    rng = np.random.default_rng(2)
    robot = from_table(rng.uniform(-0.5, 0.5, 6), rng.uniform(-2, 2, 6), rng.uniform(-0.5, 0.5, 6))
    frame = tip(robot)
    q = rng.uniform(-PI, PI, (200, 6))
    T = robot.pose(q, frame)
    found = robot.inverse_kinematics_all(T, frame)
    assert found.family == "general_6r"
    assert nearest(found, q).max() < 1e-6
    assert (found.count % 2 == 0).all()
    for k in range(3):
        truth = searched(robot, frame, T[k])
        assert len(truth) <= found.count[k]
        assert all(apart(found[k].q, row).min() < 1e-6 for row in truth)


@pytest.mark.parametrize(
    ("name", "frame"), [("jaco", None), ("g1/g1_29dof_rev_1_0", "left_ankle_roll_link")]
)
def test_arms_outside_the_families(name, frame):
    robot = arm(name) if frame is None else published(name)
    frame = frame or tip(robot)
    columns = list(lw.classify(robot, frame).pose.chain.columns)
    q = robot.neutral() + np.zeros((100, 1))
    q[:, columns] = np.random.default_rng(0).uniform(-PI, PI, (100, 6))
    found = robot.inverse_kinematics_all(robot.pose(q, frame), frame)
    assert nearest(found, q).max() < 1e-6
    assert np.nanmax(found.residual) < 1e-10


@pytest.mark.parametrize("name", ["kuka", "skew wrist", "no relation"])
def test_special_arms_by_the_general_solver(name):
    """Elimination is singular for most special arms: disturbed ones are solved,
    and what they give is polished."""
    robot, frame = arm(name), tip(arm(name))
    q = np.random.default_rng(5).uniform(-PI, PI, (60, 6))
    q = q[robot.singularity(q, frame).sigma_min > 0.02]
    T = robot.pose(q, frame)
    special, found = robot.inverse_kinematics_all(T, frame), rows(robot, frame, T)
    missed = sum(
        apart(mine, row).min() > 1e-6
        for mine, one in zip(found, range(len(q)))
        for row in special[one].q
    )
    false = sum(
        apart(special[k].q, row).min() > 1e-6 for k, mine in enumerate(found) for row in mine
    )
    assert false == 0
    assert missed <= 2  # of some 450: near singular postures a disturbed arm may have none


def test_disguise_does_not_matter():
    plain, other = sixteen(), disguised(sixteen(), 3)
    q = np.random.default_rng(1).uniform(-PI, PI, (20, 6))
    first = plain.inverse_kinematics_all(plain.pose(q, tip(plain)), tip(plain))
    second = other.inverse_kinematics_all(other.pose(q, "reach"), "reach")
    assert nearest(second, q).max() < 1e-6
    assert first.count.max() <= 16


def test_unreachable():
    T = POSE.copy()
    T[:3, :3] = np.eye(3)
    T[0, 3] = 20.0
    found = sixteen().inverse_kinematics_all(T, tip(sixteen()))
    assert found.count == 0
    assert found.reason.startswith("out of reach: target")
