"""A failed search names the joint that is in the way, not those that happen to stand on a limit."""

from __future__ import annotations

import functools

import numpy as np

import linkwork as lw


@functools.cache
def arm() -> lw.Robot:
    return lw.load("panda")


def narrowed(robot: lw.Robot, **ranges: tuple[float, float]) -> tuple[np.ndarray, np.ndarray]:
    lower, upper = robot.limits.lower.copy(), robot.limits.upper.copy()
    for name, (low, high) in ranges.items():
        lower[robot.index(name)], upper[robot.index(name)] = low, high
    return lower, upper


def test_the_joint_in_the_way_is_named_and_no_other_on_a_limit():
    frame = arm().bodies[-1]
    target = arm().pose(arm().home, frame)
    # the elbow must bend by 2 rad for this pose
    limits = narrowed(arm(), panda_joint4=(-1.0, -0.5))
    found = arm().inverse_kinematics(target, frame, limits=limits)
    assert not found.success
    assert found.on_limit.sum() > 1  # others rest on limits as well
    assert found.reason.count("panda_joint") == 1
    assert 'what blocks is the limit of "panda_joint4" (-' in found.reason
    # with its range it is reached
    assert arm().inverse_kinematics(target, frame, limits=narrowed(arm())).success


def test_several_joints_may_block_together_and_some_poses_none():
    frame = arm().bodies[-1]
    held = (np.zeros(7), np.zeros(7))
    together = arm().inverse_kinematics(arm().pose(arm().home, frame), frame, limits=held)
    assert "what blocks are the limits of" in together.reason and "panda_joint4" in together.reason
    far = arm().pose(np.zeros(7), frame)
    far[2, 3] += 0.02  # 2 cm above the stretched arm, within the sum of its lengths
    assert (
        "it is not reached without limits of the joints either"
        in arm().inverse_kinematics(far, frame).reason
    )


def test_where_a_closed_form_knows_all_postures_the_nearest_is_told():
    robot = lw.load("ur5e")
    limits = narrowed(robot, elbow_joint=(0.0, 0.2))
    found = robot.inverse_kinematics(robot.pose(robot.home, "tool0"), "tool0", limits=limits)
    assert found.reason.startswith(
        "8 postures, none within the limits: the nearest one breaks the limit of"
    )
    assert '"elbow_joint" (0.2 rad; it would stand at' in found.reason
