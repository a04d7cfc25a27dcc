"""Lines as people say them: one goal, positions alone, an acceleration left out,
motions as targets."""

from __future__ import annotations

import numpy as np
import pinocchio as pin
import pytest

import linkwork as lw
from linkwork.errors import InvalidInput, WrongCall
from linkwork.simulation import ComputedTorque
from linkwork.trajectory import Arc, line, minimum_time


@pytest.fixture(scope="module")
def robot() -> lw.Robot:
    return lw.load("ur5e")


@pytest.fixture(scope="module")
def start(robot) -> np.ndarray:
    return robot.pose(robot.home, "tool0")


def test_one_goal_begins_where_the_frame_is(robot, start):
    goal = lw.pose((0.0, 0.1, 0.0)) @ start
    motion = line(robot, "tool0", [start, goal], speed=0.2, acceleration=0.8, q0=robot.home)
    for one in (goal, [goal], pin.SE3(goal)):
        np.testing.assert_array_equal(line(robot, "tool0", one, speed=0.2).q, motion.q)
    np.testing.assert_allclose(motion.q[0], robot.home, atol=1e-12)
    arc = line(robot, "tool0", Arc(start[:3, 3] + [0.05, 0.05, 0.0], goal), speed=0.2)
    assert arc.length > motion.length


def test_a_position_keeps_the_rotation_before_it(robot, start):
    motion = line(robot, "tool0", [start, start[:3, 3] + [0.0, 0.1, 0.0]], speed=0.2)
    np.testing.assert_allclose(motion.pose[-1][:3, :3], start[:3, :3], atol=1e-12)
    np.testing.assert_allclose(motion.pose[-1][:3, 3] - start[:3, 3], [0.0, 0.1, 0.0], atol=1e-12)
    goal = start[:3, 3] + [0.0, 0.1, 0.0]
    for one in (goal, list(goal), tuple(float(x) for x in goal)):
        np.testing.assert_array_equal(line(robot, "tool0", one, speed=0.2).q, motion.q)
    with pytest.raises(InvalidInput, match="line: pose 1"):
        line(robot, "tool0", [start, [[1.0, 2.0, 3.0], [1.0, 2.0]]], speed=0.2)


def test_columns_have_the_names_of_the_joints(robot, start):
    motion = line(robot, "tool0", lw.pose((0.0, 0.1, 0.0)) @ start, speed=0.2)
    law = minimum_time(robot, motion)
    assert law.duration < motion.duration
    for table in (
        motion.to_pandas(),
        law.to_pandas(),
        motion.then(motion.__class__(**reversed_of(motion))).to_pandas(),
    ):
        assert {"q.elbow_joint", "v.elbow_joint", "a.elbow_joint"} <= set(table.columns)


def reversed_of(motion) -> dict:
    states = {"q": motion.q[::-1], "v": -motion.v[::-1], "a": motion.a[::-1]}
    return {"time": motion.time, "pose": motion.pose[::-1], "names": motion.names, **states}


def test_a_motion_is_a_target(robot, start):
    # no jumps inside a step
    motion = line(robot, "tool0", lw.pose((0.0, 0.02, 0.0)) @ start, speed=0.2, jerk=20.0)
    law = ComputedTorque(100.0, 20.0, motion)
    run = lw.simulate(
        robot, motion.q[0], duration=round(motion.duration, 3), step=1e-3, control=law
    )
    np.testing.assert_allclose(run.q, motion.at(run.time)[0], atol=1e-6)


def test_an_unknown_option_is_named(robot, start):
    with pytest.raises(
        WrongCall, match='line: there is no argument "blends"; did you mean "blend"'
    ):
        line(robot, "tool0", start, speed=0.2, blends=0.1)
    with pytest.raises(TypeError, match="expected some of turn_speed"):
        line(robot, "tool0", start, speed=0.2, xxxxxxxx=0.1)
