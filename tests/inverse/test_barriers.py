"""Barriers: inequality rows of the QP, and distances that approach their minimum without passing
it."""

from __future__ import annotations

import numpy as np
import pytest

import linkwork as lw
from linkwork.collision import Box, Capsule, CollisionModel, Sphere
from linkwork.errors import InvalidInput
from linkwork.inverse.barriers import CollisionBarrier
from linkwork.inverse.qp import solve_qp
from linkwork.inverse.tasks import FrameTask

Q = np.array([0.3, -1.2, 1.1, -0.4, 0.7, 0.2])


@pytest.mark.parametrize("rows", [1, 4])
def test_the_qp_with_inequalities_is_solved_to_its_optimality_conditions(rows: int) -> None:
    rng = np.random.default_rng(rows)
    active = 0
    for _ in range(30):
        n = 6
        J, G = rng.normal(size=(8, n)), rng.normal(size=(rows, n))
        H, c, h = J.T @ J, -J.T @ rng.normal(size=8), rng.uniform(-0.1, 0.1, rows)
        wide = np.full(n, 10.0)
        x = solve_qp("test", H, c, -wide, wide, np.zeros((0, n)), np.zeros(0), G, h)
        slack = h - G @ x
        assert slack.min() > -1e-9
        on = slack < 1e-9
        active += on.sum()
        y = np.linalg.lstsq(G[on].T, -(H @ x + c), rcond=None)[0] if on.any() else np.zeros(0)
        np.testing.assert_allclose(H @ x + c + G[on].T @ y, 0.0, atol=1e-8)
        assert (y > -1e-8).all()
    assert active > 10


@pytest.mark.parametrize("q", [0.5, True, Q[:3], Q[None], list("abcdef")])
def test_a_configuration_that_is_none_is_refused(q) -> None:
    """One number stood for all joints, and other shapes ended in numpy's words
    (found by knocking)."""
    robot = lw.load("ur5e")
    ball = [Sphere((1.0, 0.0, 0.5), 0.1)]
    rows, slow = (
        CollisionBarrier(model(robot), ball),
        CollisionBarrier(model(robot), [*ball, Box((1, 1, 1))]),
    )
    for barrier in (rows, slow):
        with pytest.raises(InvalidInput, match=r"q has (shape|dtype) .*expected"):
            barrier.distances(q)
        with pytest.raises(InvalidInput, match=r"q has (shape|dtype) .*expected"):
            barrier.rows(q, 0.01)
        np.testing.assert_array_equal(barrier.distances(list(Q))[0], barrier.distances(Q)[0])


def model(robot: lw.Robot) -> CollisionModel:
    tool = robot.bodies[-1]
    return CollisionModel(
        robot, {tool: [Sphere((0, 0, 0), 0.05), Capsule((0, 0, -0.1), (0, 0, 0), 0.04)]}, pairs=[]
    )


def test_a_tool_stops_before_a_wall_and_slides_along_it() -> None:
    robot = lw.load("ur5e")
    own = model(robot)
    tool = robot.bodies[-1]
    start = robot.pose(Q, tool)
    goal = start.copy()
    goal[:3, 3] += [0.0, 0.35, 0.1]
    wall = Box((2, 0.02, 2), (start[0, 3], start[1, 3] + 0.2, start[2, 3]))
    barrier = CollisionBarrier(own, [wall], gain=4.0, minimum=0.03)
    q, dt, seen = Q.copy(), 0.02, []
    for _ in range(250):
        v = robot.differential_inverse_kinematics(
            q, [FrameTask(tool, goal)], dt, barriers=[barrier]
        )
        q = robot.integrate(q, v * dt)
        seen.append(own.clearance(q, [wall]).distance)
    assert min(seen) > 0.03 - 2e-3  # a step is straight where the distance is curved
    assert seen[-1] < 0.035
    reached = robot.pose(q, tool)[:3, 3]
    assert abs(reached[2] - goal[2, 3]) < 0.02  # along the wall the task is still done
    free, touched = Q.copy(), False
    for _ in range(60):
        v = robot.differential_inverse_kinematics(free, [FrameTask(tool, goal)], dt)
        free = robot.integrate(free, v * dt)
        touched |= bool(own.collides(free, [wall]))
    assert touched  # without the barrier it goes through


def test_too_near_already_it_moves_away() -> None:
    robot = lw.load("ur5e")
    own = model(robot)
    tool = robot.bodies[-1]
    at = robot.pose(Q, tool)[:3, 3]
    ball = [Sphere(at + [0.0, 0.0, 0.08], 0.02)]
    barrier = CollisionBarrier(own, ball, gain=2.0, minimum=0.05)
    before = own.clearance(Q, ball).distance
    v = robot.differential_inverse_kinematics(
        Q, [FrameTask(tool, robot.pose(Q, tool))], 0.01, barriers=barrier
    )
    after = own.clearance(robot.integrate(Q, 0.01 * v), ball).distance
    assert before < 0.05 and after > before


def test_nothing_near_changes_nothing() -> None:
    robot = lw.load("ur5e")
    tool = robot.bodies[-1]
    task = [FrameTask(tool, robot.pose(Q + 0.1, tool))]
    barrier = CollisionBarrier(model(robot), [Sphere((50, 0, 0), 1.0)])
    free, kept = (
        robot.differential_inverse_kinematics(Q, task, 0.01, barriers=b) for b in ((), (barrier,))
    )
    np.testing.assert_allclose(kept, free, rtol=0, atol=1e-9)
    alone = CollisionBarrier(model(robot))
    np.testing.assert_allclose(
        robot.differential_inverse_kinematics(Q, task, 0.01, barriers=[alone]),
        free,
        rtol=0,
        atol=1e-12,
    )


def test_what_is_wrong_is_said_in_words() -> None:
    robot = lw.load("ur5e")
    own = model(robot)
    with pytest.raises(InvalidInput, match="model is 3, expected a CollisionModel"):
        CollisionBarrier(3)
    with pytest.raises(InvalidInput, match="gain is 0, expected a positive number"):
        CollisionBarrier(own, gain=0)
    task = [FrameTask(robot.bodies[-1], np.eye(4))]
    with pytest.raises(InvalidInput, match="'wall' is not a barrier"):
        robot.differential_inverse_kinematics(Q, task, 0.01, barriers=["wall"])
