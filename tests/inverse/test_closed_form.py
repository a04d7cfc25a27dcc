"""One posture by closed form, and the last word that closed forms have where a search gives up."""

from __future__ import annotations

import numpy as np
import pytest

import linkwork as lw
from linkwork.errors import InvalidInput, NotPossible
from tests.inverse.arms import arm, tip
from tests.robots_list import robot as published

PI = np.pi


@pytest.fixture(scope="module")
def ur():
    return lw.load("ur5e")


@pytest.mark.parametrize(
    ("name", "frame"), [("ur5e", "tool0"), ("crx-10ial", "flange"), ("tm5-700", None)]
)
def test_from_a_start_nearby_the_own_posture_comes_back(name, frame):
    robot = lw.load(name)
    frame = frame or robot.frames[-1]
    q = robot.random(300, seed=4)
    q = q[robot.singularity(q, frame).sigma_min > 0.02]
    found = robot.inverse_kinematics(robot.pose(q, frame), frame, q + 1e-3, method="analytic")
    assert found.success.all()
    assert found.q == pytest.approx(q, abs=1e-9)
    assert (found.error < 1e-12).all()
    assert (found.iterations == 0).all()


def test_without_a_start_it_is_the_posture_nearest_to_the_middle_of_the_ranges(ur):
    T = ur.pose(ur.random(100, seed=1), "tool0")
    found, every = (
        ur.inverse_kinematics(T, "tool0", method="analytic"),
        ur.inverse_kinematics_all(T, "tool0"),
    )
    # the ranges of this arm are even: their middle is zero
    nearest = np.nanmin((every.q**2).sum(axis=-1), axis=-1)
    assert (found.q**2).sum(axis=-1) == pytest.approx(nearest, abs=1e-9)


def test_whole_turns_follow_the_start(ur):
    q = np.array([5.0, -4.5, 1.0, -5.5, 4.0, 6.0])
    found = ur.inverse_kinematics(ur.pose(q, "tool0"), "tool0", q + 0.01, method="analytic")
    assert found.q == pytest.approx(q, abs=1e-9)
    inside = ur.inverse_kinematics(
        ur.pose(q, "tool0"), "tool0", q, method="analytic", limits=(-PI, PI)
    )
    assert inside.success and np.abs(inside.q).max() <= PI
    none = ur.inverse_kinematics(
        ur.pose(q, "tool0"), "tool0", q, method="analytic", limits=(6.0, 6.2)
    )
    assert not none.success
    assert none.reason.startswith(
        "8 postures, none within the limits: the nearest one breaks the limit of "
    )
    assert "; the start is " in none.reason


def test_seven_axes_turn_their_elbow_into_the_limits():
    robot = arm("iiwa")
    q = robot.random(40, seed=2)
    found = robot.inverse_kinematics(robot.pose(q, tip(robot)), tip(robot), method="analytic")
    assert found.success.all()
    narrow = (np.minimum(q[0], 0.0) - 0.15, np.maximum(q[0], 0.0) + 0.15)
    one = robot.inverse_kinematics(
        robot.pose(q[0], tip(robot)), tip(robot), method="analytic", limits=narrow
    )
    assert one.success and (one.q >= narrow[0]).all() and (one.q <= narrow[1]).all()


def test_a_point_of_a_leg():
    leg = lw.Robot.from_dh([{"a": 0.3}, {"a": 0.2}], convention="standard", name="leg")
    found = leg.inverse_kinematics([0.3, 0.2, 0.0], leg.bodies[-1], [1.0, -1.0], method="analytic")
    assert found.success and found.q[1] < 0
    assert leg.pose(found.q, leg.bodies[-1])[:3, 3] == pytest.approx([0.3, 0.2, 0.0], abs=1e-12)


def test_the_last_word_of_the_automatic_method(ur):
    T = ur.pose(ur.random(200, seed=3), "tool0")
    q0 = np.zeros(6)
    searched = ur.inverse_kinematics(T, "tool0", q0, method="numeric", restarts=0)
    decided = ur.inverse_kinematics(T, "tool0", q0, restarts=0)
    assert 0 < np.count_nonzero(~searched.success)
    assert decided.success.all() and (decided.error <= 1e-9).all()
    assert np.array_equal(decided.q[searched.success], searched.q[searched.success])
    k = int(np.flatnonzero(~searched.success)[0])
    one = ur.inverse_kinematics(T[k], "tool0", q0, restarts=0)
    assert one.success is True
    assert np.array_equal(one.q, decided.q[k])
    as_batch = ur.inverse_kinematics(T.reshape(2, 100, 4, 4), "tool0", q0, restarts=0)
    assert np.array_equal(as_batch.q.reshape(200, 6), decided.q)


def test_no_posture_is_a_reason(ur):
    T = ur.pose(ur.random(100, seed=5), "tool0")
    T[:50, :3, 3] *= 1.5
    found, every = (
        ur.inverse_kinematics(T, "tool0", restarts=3),
        ur.inverse_kinematics_all(T, "tool0"),
    )
    assert np.array_equal(found.success, every.count > 0)
    without = np.flatnonzero(every.count == 0)
    assert len(without) > 10
    for k in without:
        assert found.reason[k].startswith(every.reason[k])
    k = int(without[0])
    assert ur.inverse_kinematics(T[k], "tool0", restarts=3).reason == found.reason[k]
    # the shortest way
    assert ur.inverse_kinematics(T[k], "tool0").reason.startswith(every.reason[k])
    assert (
        ur.inverse_kinematics(T[k], "tool0").reason == ur.inverse_kinematics(T[k], "tool0").reason
    )


def test_a_calibrated_arm_is_searched_not_decided():
    from tests.inverse.arms import disguised

    robot = disguised(lw.load("ur5e"), 1, tilt=1e-3)
    q = robot.random(30, seed=1)
    found = robot.inverse_kinematics(robot.pose(q, "reach"), "reach", q + 1e-3, method="analytic")
    assert found.success.all()
    far = robot.pose(q[0], "reach")
    far[:3, 3] += 2.0
    assert "postures" not in robot.inverse_kinematics(far, "reach", restarts=2).reason


@pytest.mark.parametrize(
    ("call", "error", "says"),
    [
        (
            lambda r, T: r.inverse_kinematics(T, "tool0", method="analytic", task="pose"),
            InvalidInput,
            "no option",
        ),
        (
            lambda r, T: r.inverse_kinematics(
                [T, T[:3, 3]], ["tool0", "wrist_3_link"], method="analytic"
            ),
            NotPossible,
            "one",
        ),
        (
            lambda r, T: r.inverse_kinematics(T[:3, 3], "tool0", method="analytic"),
            NotPossible,
            "not for positions",
        ),
        (
            lambda r, T: r.inverse_kinematics(T * 1.1, "tool0", method="analytic"),
            InvalidInput,
            "last row",
        ),
        (
            lambda r, T: r.inverse_kinematics(T, "tool0", method="analytic", free=[0.1]),
            InvalidInput,
            "no free",
        ),
    ],
)
def test_bad_calls_are_refused(ur, call, error, says):
    with pytest.raises(error, match=says):
        call(ur, ur.pose(np.full(6, 0.3), "tool0"))


def test_arms_without_closed_form_say_why():
    robot = published("tiago/tiago")
    with pytest.raises(NotPossible, match="prismatic"):
        robot.inverse_kinematics(
            robot.pose(robot.neutral(), "arm_7_link"), "arm_7_link", method="analytic"
        )
