"""Cartesian paths, replanning among moving obstacles: what they promise, and why they stop."""

from __future__ import annotations

import numpy as np
import pytest

from linkwork.collision import Box, Obstacles, Sphere
from linkwork.errors import InvalidInput
from linkwork.planning import Replanner, cartesian
from tests.planning.test_plan import arm
from tests.planning.test_roadmap import GOAL, START, point

Q = np.array([0.2, -1.4, 1.6, -1.2, -1.4, 0.3])


def test_a_tool_goes_straight_and_says_where_it_stops() -> None:
    model = arm()
    robot, tool = model.robot, model.robot.bodies[-1]
    here = robot.pose(Q, tool)
    there = here.copy()
    there[:3, 3] += [0.05, 0.1, 0.08]
    path = cartesian(model, there, tool, Q)
    assert path.success and path.reason == "complete" and (path.q[0] == Q).all()
    poses = robot.pose(path.q, tool)
    np.testing.assert_allclose(poses[-1], there, atol=1e-5)
    way = there[:3, 3] - here[:3, 3]
    along = (poses[:, :3, 3] - here[:3, 3]) @ way / (way @ way)
    np.testing.assert_allclose(poses[:, :3, 3], here[:3, 3] + along[:, None] * way, atol=1e-5)
    np.testing.assert_allclose(poses[:, :3, :3], np.broadcast_to(here[:3, :3], (len(poses), 3, 3)), atol=1e-5)
    assert np.linalg.norm(np.diff(poses[:, :3, 3], axis=0), axis=1).max() < 0.005 + 1e-5
    # something in the way of the tool, some way ahead
    wall = [Sphere(here[:3, 3] + 1.6 * way, 0.02)]
    longer = here.copy()
    longer[:3, 3] += 2.0 * way
    stopped = cartesian(model, longer, tool, Q, wall)
    assert not stopped.success and 0.2 < stopped.fraction < 0.9 and stopped.reason.startswith("collision")
    assert not model.collides(stopped.q, wall).any()
    far = here.copy()
    far[:3, 3] *= 4.0
    beyond = cartesian(model, far, tool, Q)
    assert not beyond.success and beyond.reason.split(":")[0] in ("reach", "singularity", "limit", "jump", "collision")
    with pytest.raises(InvalidInput, match="spacing is 0"):
        cartesian(model, there, tool, Q, spacing=0.0)


def test_a_path_is_kept_repaired_or_planned_again() -> None:
    model = point()
    far = Obstacles({"ball": Sphere((0.0, 1.5, 0.0), 0.2)})
    planner = Replanner(model, GOAL, far, fastest=100.0, period=0.05)
    first = planner.step(START)
    assert first.how == "planned" and first.certified and (first.path[-1] == GOAL).all()
    assert planner.step(START + [0.1, 0.0]).how == "kept"
    onto = planner.step(START + [0.1, 0.0], far.moved("ball", (0.0, 0.0, 0.0)))
    assert onto.how in ("joined", "planned") and onto.certified and model.path_is_free(onto.path, planner.obstacles)
    # when it is gone again the way is kept, or cut short
    assert planner.step(START + [0.1, 0.0], far).how in ("kept", "straight")
    walls = far.with_shapes([Box((0.1, 8.0, 1.0), (0.5, 0.0, 0.0), name="wall")])
    closed = planner.step(START, walls)
    assert closed.how == "stopped" and closed.path.shape == (1, 2) and closed.reason.startswith("no path")


def test_obstacles_that_are_faster_than_the_bound_are_refused() -> None:
    ball = Obstacles({"ball": Sphere((0.0, 1.5, 0.0), 0.2)})
    planner = Replanner(point(), GOAL, ball, fastest=1.0, period=0.1)
    planner.step(START, ball.moved("ball", (0.0, 1.42, 0.0)))
    with pytest.raises(InvalidInput, match=r'"ball" moved by 0\.42 m in one period, more than the bound 1 m/s'):
        planner.step(START, ball.moved("ball", (0.0, 1.0, 0.0)))
    # a path that leaves less room than an obstacle can move is not safe
    near = Obstacles({"ball": Sphere((0.0, 0.25, 0.0), 0.2)})
    assert not Replanner(point(), GOAL, near, fastest=1.0, period=0.1).step(START).safe
    assert Replanner(point(), GOAL, near, fastest=0.1, period=0.1).step(START).safe
