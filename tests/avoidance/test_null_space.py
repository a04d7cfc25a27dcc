"""Null-space avoidance: the tool stays, the distance is kept,
what is impossible gives way and is said."""

from __future__ import annotations

import os
from functools import cache

import casadi
import numpy as np
import pytest

import linkwork as lw
from linkwork.avoidance import CriticallyDampedFilter, Elbow, NullSpaceAvoidance, Solid, SolidVolume
from linkwork.avoidance.arcs import wrapped
from linkwork.avoidance.around import around
from linkwork.avoidance.null_space import _several
from linkwork.collision import CollisionModel, Obstacles, Sphere
from linkwork.errors import InvalidInput

Q = np.array([0.2, 0.7, 0.1, -1.3, 0.3, 0.9, 0.4])
RADIUS, MINIMUM = 0.05, 0.02
TRUTH = bool(os.environ.get("LINKWORK_TRUTH"))


@cache
def arm() -> tuple[lw.Robot, CollisionModel, np.ndarray]:
    """A sphere at the elbow alone, and where it is."""
    robot = lw.load("redundant-7")
    body = robot.joints and robot.model.joint(robot.joints[3]).child
    model = CollisionModel(robot, {body: [Sphere((0, 0, 0), RADIUS)]}, pairs=[])
    return robot, model, robot.forward_kinematics(Q)[body][:3, 3]


def steady(robot: lw.Robot, model: CollisionModel, obstacles: Obstacles, steps: int = 400) -> tuple:
    pose = robot.pose(Q, "tool")
    avoidance = NullSpaceAvoidance(
        model,
        lw.tasks.FrameTask("tool", pose),
        obstacles,
        gain=20.0,
        minimum=MINIMUM,
        q0=Q,
        period=0.02,
    )
    return [avoidance.step() for _ in range(steps)], pose


@pytest.mark.parametrize("side", [0.03, -0.05])
def test_the_tool_stays_and_the_distance_is_kept(side: float) -> None:
    robot, model, at = arm()
    obstacle = Obstacles([Sphere(at + [side, 0.04, 0.06], 0.03)])
    assert model.clearance(Q, obstacle).distance < MINIMUM
    steps, pose = steady(robot, model, obstacle)
    for step in steps:
        # what one step turns away
        np.testing.assert_allclose(robot.pose(step.q, "tool"), pose, atol=2e-3)
    last = steps[-1]
    assert last.clearance == pytest.approx(MINIMUM, abs=1e-6) and last.status == "avoiding"
    np.testing.assert_allclose(robot.pose(last.q, "tool"), pose, atol=1e-9)
    # it rests on the elbow's circle where the distance to the obstacle is exactly what is kept
    center, elbow_body = np.array(obstacle.shapes[0].center), next(iter(model.shapes))
    apart = np.linalg.norm(robot.forward_kinematics(last.q)[elbow_body][:3, 3] - center)
    assert apart == pytest.approx(RADIUS + 0.03 + MINIMUM, abs=1e-6)


def test_nothing_near_nothing_moves() -> None:
    robot, model, _ = arm()
    steps, _ = steady(robot, model, Obstacles([Sphere((5, 5, 5), 0.1)]), steps=5)
    assert all(step.status == "clear" and step.speed_scale == 1.0 for step in steps)
    np.testing.assert_allclose(steps[-1].q, Q, atol=1e-9)


def test_a_task_that_cannot_be_met_gives_way() -> None:
    """The obstacle stands where the tool shall be."""
    robot = arm()[0]
    model = CollisionModel(robot, {robot.bodies[-1]: [Sphere((0, 0, 0), RADIUS)]}, pairs=[])
    at = robot.forward_kinematics(Q)[robot.bodies[-1]][:3, 3]
    obstacle = [Sphere(at + [0.0, 0.0, RADIUS + 0.01], 0.01)]
    before = model.clearance(Q, obstacle).distance
    task = lw.tasks.FrameTask(robot.bodies[-1], robot.forward_kinematics(Q)[robot.bodies[-1]])
    avoidance = NullSpaceAvoidance(model, task, obstacle, q0=Q)
    steps = [avoidance.step() for _ in range(200)]
    assert steps[0].status == "blocked" and steps[0].clearance > before
    assert steps[-1].clearance == pytest.approx(MINIMUM, abs=1e-3)


def test_a_retreat_keeps_its_speed_and_an_approach_does_not() -> None:
    robot, model, at = arm()
    avoidance = NullSpaceAvoidance(
        model, lw.tasks.FrameTask("tool", robot.pose(Q, "tool")), minimum=MINIMUM, q0=Q
    )
    scales = [
        avoidance.step(
            obstacles=[Sphere(at + [0, 0, RADIUS + 0.01 + MINIMUM + x], 0.01)]
        ).speed_scale
        for x in (0.05, 0.02, 0.005, 0.02, 0.03)
    ]
    assert scales[2] < scales[1] < 1.0 and scales[3] == scales[4] == 1.0


def test_a_filter_makes_the_posture_come_slowly() -> None:
    robot, model, _ = arm()
    task = lw.tasks.FrameTask("tool", robot.pose(Q, "tool"))
    posture = Q + 0.1
    plain = NullSpaceAvoidance(model, task, q0=Q, posture=posture).step()
    slow = NullSpaceAvoidance(
        model, task, q0=Q, posture=posture, filter=CriticallyDampedFilter(2.0, 0.01)
    ).step()
    assert np.linalg.norm(slow.v) < 0.1 * np.linalg.norm(plain.v)


def test_what_is_wrong_is_said() -> None:
    _, model, _ = arm()
    task = lw.tasks.FrameTask("tool", np.eye(4))
    with pytest.raises(InvalidInput, match="period is 0"):
        NullSpaceAvoidance(model, task, period=0.0)
    with pytest.raises(InvalidInput, match="minimum"):
        NullSpaceAvoidance(model, task, minimum=0.0)
    with pytest.raises(InvalidInput, match="gain"):
        NullSpaceAvoidance(model, task, gain=-1.0)


def test_it_rests_where_the_exact_arc_ends() -> None:
    """On an arm with spherical shoulder and wrist:
    the end of the forbidden arc of the same solid and distance."""
    robot, model, _ = arm()
    (body,) = model.shapes
    elbow, solid = Elbow(robot, "tool", (0, 1, 0)), SolidVolume(robot, [Solid("Pe", RADIUS)])
    generator, scenes = np.random.default_rng(1), 0
    while scenes < (100 if TRUTH else 5):
        q = Q + generator.uniform(-0.4, 0.4, 7)
        direction = generator.normal(size=3)
        radius, gap = generator.uniform([0.02, 0.004], [0.06, 0.016])
        away = (RADIUS + radius + gap) * direction / np.linalg.norm(direction)
        ball = Obstacles([Sphere(robot.forward_kinematics(q)[body][:3, 3] + away, radius)])
        pose, here = robot.pose(q, "tool"), float(elbow.arm_angle(q))
        arcs = solid.forbidden(elbow, pose, around(ball, 0.0, "test"), MINIMUM)
        ends = [arc for arc in arcs if arc[0] < here < arc[1] and 0.02 < arc[1] - arc[0] < 2.0]
        if not ends:
            continue
        scenes += 1
        task = lw.tasks.FrameTask("tool", pose)
        keep = NullSpaceAvoidance(model, task, ball, gain=20.0, minimum=MINIMUM, q0=q, period=0.02)
        for _ in range(250):
            last = keep.step()
        rests = float(elbow.arm_angle(last.q))
        assert np.abs(wrapped(rests - ends[0])).min() < 1e-6


@pytest.mark.parametrize(
    "tasks", [casadi.SX.sym("x"), casadi.MX.sym("x", 3), [casadi.SX.sym("x")]], ids=str
)
def test_symbols_are_no_tasks(tasks):
    """They have rows, as tasks do, and ended in an AttributeError (found by knocking)."""
    with pytest.raises(InvalidInput, match="expected a task or a list of tasks"):
        _several(tasks)
