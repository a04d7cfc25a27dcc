"""Constraints: what a motion keeps, it keeps all along; loops stay closed;
what contradicts itself is refused."""

from __future__ import annotations

import itertools
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
import pytest

import linkwork as lw
from linkwork.collision import Capsule, CollisionModel, Sphere
from linkwork.errors import InvalidInput, NotPossible, UnknownName
from linkwork.model import Body, Joint, Limits, MassProperties, Model, Placement
from linkwork.planning import Constraint, PoseGoal, plan, plan_many, project
from linkwork.planning.constraints import Manifold
from linkwork.planning.questions import space_of
from tests.collision.scenes import SCENES
from tests.planning.test_plan import arm

WIDE = (Limits(-3.0, 3.0),)
DOWN = np.diag([1.0, -1.0, -1.0, 1.0])


def dense(path: np.ndarray) -> np.ndarray:
    """Points of straight motions at most 1/500 apart."""
    parts = []
    for a, b in itertools.pairwise(path):
        parts.append(np.linspace(a, b, int(np.ceil(500 * np.linalg.norm(b - a))) + 2))
    return np.concatenate(parts)


def upright(tool: str, tolerance: float = 1e-3) -> Constraint:
    task = lw.tasks.FrameTask(tool, DOWN, position_cost=0.0, rotation_cost=(1.0, 1.0, 0.0))
    return Constraint(task, tolerance=tolerance)


@cache
def upright_ends() -> np.ndarray:
    """Two configurations with the tool downward, free among shelves, with something between
    them."""
    tool, scene = arm().robot.bodies[-1], SCENES["shelves"]
    first = project(arm(), [-2.0, -1.2, 1.4, -1.8, -1.5, 0.2], upright(tool))
    moves = np.random.default_rng(4).uniform(-1.0, 1.0, (200, 6)) * [2.0, 0.8, 1.0, 0.3, 0.3, 2.0]
    rows = project(arm(), first + moves, upright(tool))
    rows = rows[~arm().collides(rows, scene) & (np.sign(rows[:, 4]) == np.sign(first[4]))]
    hidden = ~arm().motion_is_free(first, rows, scene)
    return np.stack([first, rows[int(np.flatnonzero(hidden)[1])]])


def test_a_tool_stays_upright_between_samples_and_the_path_is_proved() -> None:
    tool = arm().robot.bodies[-1]
    start, goal = upright_ends()
    answer = plan(arm(), start, goal, SCENES["shelves"], constraints=[upright(tool)], time_limit=20)
    assert answer.success and answer.certified, answer
    assert (answer.path[0] == start).all() and (answer.path[-1] == goal).all()
    axis = arm().robot.pose(dense(answer.path), tool)[:, :3, 2]
    # each of two angles within 1e-3
    assert np.arccos(np.clip(-axis[:, 2], -1, 1)).max() <= np.sqrt(2) * 1e-3
    # without the constraint the tool tips over
    bare = plan(arm(), start, goal, SCENES["shelves"])
    tilt = arm().robot.pose(dense(bare.path), tool)[:, 2, 2]
    assert tilt.max() > -0.99
    again = plan(arm(), start, goal, SCENES["shelves"], constraints=[upright(tool)], time_limit=20)
    assert again.path.tobytes() == answer.path.tobytes()
    many = plan_many(
        arm(), start, goal, SCENES["shelves"], constraints=[upright(tool)], time_limit=20
    )
    assert many[0].path.tobytes() == answer.path.tobytes()
    # the rounded path keeps it too
    q, _, _ = answer.to_path()(np.linspace(0.0, 1.0, 3001))
    assert -arm().robot.pose(q, tool)[:, 2, 2].max() > np.cos(np.sqrt(2) * 1e-3)


def test_a_finer_tolerance_is_kept_and_pose_goals_are_solved_together_with_it() -> None:
    tool, (start, goal) = arm().robot.bodies[-1], upright_ends()
    fine = upright(tool, 1e-5)
    ends = project(arm(), upright_ends(), fine)
    answer = plan(arm(), ends[0], ends[1], SCENES["shelves"], constraints=[fine], time_limit=20)
    axis = arm().robot.pose(dense(answer.path), tool)[:, :3, 2]
    assert answer.certified and np.linalg.norm(axis[:, :2], axis=1).max() <= np.sqrt(2) * 1e-5
    # a position alone: the tool points downward there as well
    there = PoseGoal(tool, arm().robot.pose(goal, tool)[:3, 3], tolerance=1e-4)
    found = plan(arm(), start, there, SCENES["shelves"], constraints=[upright(tool)], time_limit=20)
    last = arm().robot.pose(found.path[-1], tool)
    assert found.certified and -last[2, 2] > np.cos(2e-3)
    np.testing.assert_allclose(last[:3, 3], there.poses[0], atol=2e-4)


@cache
def two_arms(shapes: bool = True) -> CollisionModel:
    """Two planar arms of three links, side by side, whose last links hold one tray."""
    inertia = MassProperties(1.0, (0.2, 0.0, 0.0), ((0.1, 0, 0), (0, 0.1, 0), (0, 0, 0.1)))
    bodies, joints = [], []
    for side, x in (("left", -0.5), ("right", 0.5)):
        parent, place = None, Placement(position=(x, 0, 0))
        for k in range(3):
            name = f"{side}{k}"
            bodies.append(Body(name, inertia))
            joints.append(Joint(name, "revolute", parent, name, place, axis=(0, 0, 1), limits=WIDE))
            parent, place = name, Placement(position=(0.4, 0, 0))
    robot = lw.Robot(Model("two-arms", tuple(bodies), tuple(joints)))
    links = {
        body: [Capsule((0, 0, 0), (0.4, 0, 0), 0.02)]
        for body in robot.bodies
        if not body.endswith("2")
    }
    return CollisionModel(robot, links, pairs=[])


def test_two_hands_hold_one_tray() -> None:
    model = two_arms()
    tray = np.eye(4)
    # the hands face each other, 0.3 m apart
    tray[:3, :3], tray[0, 3] = (
        np.diag([-1.0, -1.0, 1.0]),
        0.3,
    )
    holding = lw.tasks.RelativeFrameTask("right2", "left2", tray, (1, 1, 0), (0, 0, 1))
    begin = np.array([2.0, -1.4, -0.6, 1.1, 1.4, 0.6])
    start, goal = project(model, [begin, begin + [0.4, -0.3, 0, 0.3, 0, 0]], [holding])
    post = [Sphere((0.0, 0.62, 0.0), 0.03)]
    answer = plan(model, start, goal, post, constraints=[holding], time_limit=20)
    assert answer.certified, answer
    left, right = (model.robot.pose(dense(answer.path), side) for side in ("left2", "right2"))
    between = np.linalg.solve(left, right)
    np.testing.assert_allclose(between, np.broadcast_to(tray, between.shape), atol=1e-3)


def test_boxes_keep_a_point_between_planes_and_the_centre_of_mass_over_the_feet() -> None:
    model = two_arms()
    robot = model.robot
    begin, end = (
        np.array([0.5, 1.4, 0.3, 1.6, 0.7, 0.3]),
        np.array([1.7, -0.9, -0.5, 2.6, -0.6, 0.4]),
    )
    feet = Constraint(
        lw.tasks.CenterOfMassTask((0.0, 0.0, 0.0), cost=(1, 1, 0)), (-0.02, -2, 0), (0.25, 2, 0)
    )
    hand = lw.tasks.FrameTask("left2", np.eye(4), position_cost=(0, 1, 0), rotation_cost=0.0)
    between = Constraint(hand, lower=-0.72, upper=-0.1)  # y of the hand 0.1 .. 0.72 m
    ends = project(model, [begin, end], [feet, between])
    answer = plan(model, *ends, constraints=[feet, between], time_limit=20)
    assert answer.certified
    q = dense(answer.path)
    x = -robot.center_of_mass(q)[:, 0]
    assert x.min() >= -0.02 - 1e-3 and x.max() <= 0.25 + 1e-3
    y = robot.pose(q, "left2")[:, 1, 3]
    assert y.min() >= 0.1 - 1e-3 and y.max() <= 0.72 + 1e-3
    # the straight way would have left the box
    straight = np.linspace(ends[0], ends[1], 400)
    x = -robot.center_of_mass(straight)[:, 0]
    y = robot.pose(straight, "left2")[:, 1, 3]
    assert x.max() > 0.26 or x.min() < -0.03 or y.min() < 0.09 or y.max() > 0.73


def test_a_box_that_is_kept_holds_nothing_back() -> None:
    """The nearest configuration that meets an equality is the same,
    whether or not a wide box is met besides."""
    model = two_arms()
    q = np.array([0.5, 1.4, 0.3, 1.6, 0.7, 0.3])
    at = model.robot.pose(q, "left2")
    aside = at.copy()
    aside[0, 3] += 0.1
    equal = lw.tasks.FrameTask("left2", aside, position_cost=(1, 0, 0), rotation_cost=0.0)
    wide = Constraint(
        lw.tasks.FrameTask("left2", at, position_cost=(0, 1, 0), rotation_cost=0.0), -0.5, 0.5
    )
    np.testing.assert_allclose(
        project(model, q, [equal, wide]), project(model, q, [equal]), atol=1e-9
    )


def test_the_tilt_of_an_axis_is_what_the_task_misses() -> None:
    """Two rotations of three as the tilt of the third axis: the same to first order,
    so boxes mean the same."""
    robot, tool = arm().robot, arm().robot.bodies[-1]
    q = np.array([0.2, -1.4, 1.6, -1.2, -1.4, 0.3])
    target = robot.pose(q, tool)
    space = space_of(arm(), None, None, "test")
    near = q + 1e-5 * np.random.default_rng(2).normal(size=6)
    residuals = []
    for cost in ((1, 1, 0), (1, 1, 1)):
        task = lw.tasks.FrameTask(tool, target, position_cost=0.0, rotation_cost=cost)
        residuals.append(np.array(Manifold(space, [Constraint(task)])._residual(near)).ravel()[:2])
    assert np.abs(residuals[1]).min() > 1e-7
    np.testing.assert_allclose(residuals[0], residuals[1], atol=1e-9)


@cache
def four_bar_with_arm() -> CollisionModel:
    """The four-bar linkage with two links hinged to its coupler."""
    bar = lw.load("four-bar")
    joints = tuple(
        replace(j, limits=WIDE) if j.kind.name == "revolute" else j for j in bar.model.joints
    )
    whole = lw.Robot(replace(bar.model, joints=joints)).attach(two_links(), "coupler", (0.9, 0, 0))
    links: dict[str, Any] = {"upper": [Capsule((0, 0, 0), (0.4, 0, 0), 0.02)]}
    links |= {"lower": [Capsule((0, 0, 0), (0.3, 0, 0), 0.02)]}
    return CollisionModel(whole, links, pairs=[])


def two_links() -> lw.Robot:
    inertia = MassProperties(0.2, (0.2, 0.0, 0.0), ((0.01, 0, 0), (0, 0.01, 0), (0, 0, 0.01)))
    joints = (
        Joint("shoulder", "revolute", None, "upper", axis=(0, 1, 0), limits=WIDE),
        Joint(
            "elbow",
            "revolute",
            "upper",
            "lower",
            Placement(position=(0.4, 0, 0)),
            axis=(0, 1, 0),
            limits=WIDE,
        ),
    )
    return lw.Robot(Model("two-links", (Body("upper", inertia), Body("lower", inertia)), joints))


def test_loops_stay_closed_while_an_arm_on_them_moves() -> None:
    model = four_bar_with_arm()
    names = [
        joint
        for joint in model.robot.joints
        if joint in ("crank", "coupler", "rocker", "shoulder", "elbow")
    ]
    first = dict(crank=1.0, coupler=-0.5, rocker=1.8, shoulder=0.4, elbow=0.5)
    last = dict(crank=2.6, coupler=-1.9, rocker=2.2, shoulder=-1.0, elbow=-0.8)
    start, goal = project(model, [[row[n] for n in names] for row in (first, last)], ())
    assert np.abs(goal - start).max() > 0.5
    middle = model.robot.pose(project(model, 0.5 * (start + goal), ()), "lower")
    ball = [Sphere(middle[:3, 3] + 0.15 * middle[:3, 0], 0.05)]
    assert not model.collides(np.array([start, goal]), ball).any()
    answer = plan(model, start, goal, ball, time_limit=20)
    assert answer.certified, answer
    poses = model.robot.points(dense(answer.path))
    np.testing.assert_allclose(poses["coupler"]["C"], poses["rocker"]["C"], atol=1e-5)
    open_ = start + [0.2 * (name == "crank") for name in names]
    with pytest.raises(InvalidInput, match='start breaks the constraint "closed loops" by'):
        plan(model, open_, goal, ball)


def test_what_cannot_be_kept_is_said() -> None:
    tool, (start, goal) = arm().robot.bodies[-1], upright_ends()
    both = [
        upright(tool),
        lw.tasks.FrameTask(tool, np.eye(4), position_cost=0.0, rotation_cost=1.0),
    ]
    with pytest.raises(
        NotPossible,
        match="constraints contradict each other at the start: no configuration near it",
    ):
        plan(arm(), start, goal, constraints=both)
    with pytest.raises(
        InvalidInput,
        match=r'start breaks the constraint "frame .*" by .*lw\.planning\.project gives',
    ):
        plan(arm(), start + [0, 0, 0, 0.1, 0.05, 0], goal, constraints=[upright(tool)])
    off = plan(arm(), start, goal + [0, 0, 0, 0.1, 0.05, 0], constraints=[upright(tool)])
    assert not off.success and off.reason.startswith('goal breaks the constraint "frame')
    for method in ("aorrtc", "prm_star"):
        with pytest.raises(NotPossible, match="knows no constraints"):
            plan(arm(), start, goal, method=method, constraints=[upright(tool)])
    with pytest.raises(InvalidInput, match="tolerance is -1"):
        Constraint(upright(tool).task, tolerance=-1)
    with pytest.raises(InvalidInput, match="lower 1 is above upper 0"):
        Constraint(upright(tool).task, lower=1, upper=0)
    with pytest.raises(InvalidInput, match=r"every cost of frame .* is 0"):
        plan(arm(), start, goal, constraints=[lw.tasks.FrameTask(tool, DOWN, 0.0, 0.0)])
    with pytest.raises(InvalidInput, match=r"task is 3, expected one of lw\.tasks"):
        plan(arm(), start, goal, constraints=[3])
    with pytest.raises(
        UnknownName, match='plan_many: there is no option "stp"; did you mean "step"'
    ):
        plan_many(arm(), start, goal, stp=0.1)
    # the wrist turned over: another sheet of the manifold, which no motion reaches
    other = project(arm(), start * [1, 1, 1, 1, -1, 1] + [0, 0, 0, np.pi, 0, 0], upright(tool))
    none = plan(arm(), start, other, constraints=[upright(tool)], time_limit=0.05)
    assert not none.success and none.reason.startswith("no path")
