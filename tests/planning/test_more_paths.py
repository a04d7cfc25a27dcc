"""Cartesian paths, replanning among moving obstacles: what they promise, and why they stop."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np
import pytest

import linkwork as lw
from linkwork import deadlines
from linkwork.collision import (
    Box,
    Capsule,
    CollisionModel,
    Convex,
    HeightField,
    Obstacles,
    Sphere,
    TaperedCapsule,
)
from linkwork.errors import InvalidInput, NotPossible
from linkwork.planning import CartesianPath, Replanner, Roadmap, cartesian, free_axis
from linkwork.planning.cartesian import _end
from linkwork.planning.free_axis import JOINED, FreeAxis, counted
from linkwork.planning.replanner import _moved_by
from tests.planning.test_plan import arm, planar
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
    np.testing.assert_allclose(
        poses[:, :3, :3], np.broadcast_to(here[:3, :3], (len(poses), 3, 3)), atol=1e-5
    )
    assert np.linalg.norm(np.diff(poses[:, :3, 3], axis=0), axis=1).max() < 0.005 + 1e-5
    # something in the way of the tool, some way ahead
    wall = [Sphere(here[:3, 3] + 1.6 * way, 0.02)]
    longer = here.copy()
    longer[:3, 3] += 2.0 * way
    stopped = cartesian(model, longer, tool, Q, wall)
    assert (
        not stopped.success
        and 0.2 < stopped.fraction < 0.9
        and stopped.reason.startswith("collision")
    )
    assert not model.collides(stopped.q, wall).any()
    far = here.copy()
    far[:3, 3] *= 4.0
    beyond = cartesian(model, far, tool, Q)
    assert not beyond.success and beyond.reason.split(":")[0] in (
        "reach",
        "singularity",
        "limit",
        "jump",
        "collision",
    )
    with pytest.raises(InvalidInput, match="spacing is 0"):
        cartesian(model, there, tool, Q, spacing=0.0)


@cache
def elbowed() -> CollisionModel:
    """A seven-axis arm with a ball at its elbow alone."""
    robot = lw.load("iiwa14")
    return CollisionModel(
        robot, {robot.model.joint(robot.joints[3]).child: [Sphere((0, 0, 0), 0.01)]}, pairs=[]
    )


def assert_goes_through(model: CollisionModel, path: CartesianPath, obstacles: Obstacles) -> None:
    """All poses one after the other, each reached, no motion in between touches anything or
    jumps."""
    assert path.success and path.reason == "complete"
    assert path.index[0] == 0 and path.index[-1] == len(path.poses) - 1
    assert set(np.diff(path.index).tolist()) <= {0, 1}
    assert model.path_is_free(path.q, obstacles, step=1 / 500)
    assert np.linalg.norm(np.diff(path.q, axis=0), axis=1).max() <= JOINED


def test_the_elbow_of_a_seven_axis_arm_makes_way() -> None:
    model, q0 = elbowed(), np.array([0.3, 0.7, 0.1, -1.4, 0.2, 0.9, 0.3])
    robot, (body,), tip = model.robot, model.shapes, "iiwa_link_ee"
    there = robot.pose(q0, tip)
    there[:3, 3] += [0.05, -0.2, 0.1]
    alone = cartesian(model, there, tip, q0)
    assert alone.success and (alone.index == np.arange(len(alone.q))).all()
    middle = robot.pose(alone.q[len(alone.q) // 2], body)[:3, 3]
    ball = Obstacles([Sphere(middle, 0.01)])
    assert model.collides(alone.q, ball).any() and not model.collides(alone.q[[0, -1]], ball).any()
    path = cartesian(model, there, tip, q0, ball)
    assert_goes_through(model, path, ball)
    np.testing.assert_allclose(robot.pose(path.q, tip), path.poses[path.index], atol=2e-6)
    assert (path.q[0] == q0).all()
    again = cartesian(model, there, tip, q0, ball)
    assert again.q.tobytes() == path.q.tobytes()
    # a ball on the tool's own way: no elbow helps, and it is said where
    tool = robot.bodies[-1]
    handed = CollisionModel(robot, {**model.shapes, tool: [Sphere((0, 0, 0), 0.02)]}, pairs=[])
    wall = Obstacles([Sphere(robot.pose(alone.q[-1], tool)[:3, 3], 0.03)])
    stopped = cartesian(handed, there, tip, q0, wall)
    assert not stopped.success and stopped.reason.startswith("collision")
    assert (
        not handed.collides(stopped.q, wall).any()
        and stopped.index[-1] / (len(stopped.poses) - 1) == stopped.fraction
    )


def test_an_elbow_makes_way_between_poses_far_apart() -> None:
    """Joints go further from pose to pose than postures of one pose are apart."""
    model, q0 = elbowed(), np.array([0.3, 0.7, 0.1, -1.4, 0.2, 0.9, 0.3])
    robot, (body,), tip = model.robot, model.shapes, "iiwa_link_ee"
    there = robot.pose(q0, tip)
    there[:3, 3] += [0.05, -0.2, 0.1]
    alone = cartesian(model, there, tip, q0, spacing=0.08)
    assert np.linalg.norm(np.diff(alone.q, axis=0), axis=1).max() > JOINED
    ball = Obstacles([Sphere(robot.pose(alone.q[len(alone.q) // 2], body)[:3, 3], 0.01)])
    path = cartesian(model, there, tip, q0, ball, spacing=0.08)
    assert path.success and model.path_is_free(path.q, ball)
    np.testing.assert_allclose(robot.pose(path.q, tip), path.poses[path.index], atol=2e-6)


def test_the_best_way_through_layers_is_found_in_rounds(monkeypatch: pytest.MonkeyPatch) -> None:
    """Against shortest paths by relaxing all edges; only from rows that are reached, few at once,
    within a limit."""
    generator = np.random.default_rng(3)
    layers = [generator.uniform(0.0, 0.5, (12, 2)) for _ in range(4)]
    layers[1][0] = [5.0, 5.0]  # out of reach, and so is what only it could go to
    layers[2][0] = [5.0, 5.01]
    asked: list[tuple[np.ndarray, np.ndarray]] = []

    def free(a: np.ndarray, b: np.ndarray) -> np.ndarray:
        asked.append((a, b))
        return np.sin(977.0 * (a + b).sum(axis=1)) < 0.3

    monkeypatch.setattr(free_axis, "ASKED", 10)
    axis = FreeAxis(point().subject, np.tile(np.eye(4), (4, 1, 1)), "point", ("x",), 1e-6, free)
    way = axis._best(layers)
    assert max(len(a) for a, _ in asked) <= 10
    assert not any((a == 5.0).all(axis=1).any() for a, _ in asked)
    points, pose = np.concatenate(layers), np.repeat(np.arange(4), 12)
    squares = ((points[:, None] - points[None]) ** 2).sum(axis=2)
    n = len(points)
    good = free(np.repeat(points, n, axis=0), np.tile(points, (n, 1))).reshape(n, n)
    edges = good & (np.sqrt(squares) <= JOINED) & np.isin(pose[None] - pose[:, None], (0, 1))
    weights, costs = np.where(edges, squares, np.inf), np.where(np.arange(n) == 0, 0.0, np.inf)
    for _ in range(n):
        costs = np.minimum(costs, (costs[:, None] + weights).min(axis=0))
    assert np.isfinite(costs[pose == 3]).any() and way.index[-1] == 3
    assert (np.diff(way.q, axis=0) ** 2).sum() == pytest.approx(costs[pose == 3].min(), abs=1e-9)
    with pytest.raises(NotPossible, match="time_limit"), deadlines.time_limit(1e-9, "layers"):
        axis._best(layers)
    # many neighbours: the nearest alone are asked about
    asked.clear()
    axis._best([generator.uniform(0.0, 0.02, (200, 2)) for _ in range(3)])
    assert sum(len(a) for a, _ in asked) <= 5 * 200 * free_axis.NEIGHBOURS


def test_a_tool_spins_where_it_may_and_that_helps() -> None:
    """A fin beside the tool's axis passes a post: with all axes it hits it,
    free to spin it turns away."""
    robot = arm().robot
    tool = robot.bodies[-1]
    model = CollisionModel(
        robot, {tool: [Capsule((0.0, 0.0, 0.0), (0.15, 0.0, 0.0), 0.01)]}, pairs=[]
    )
    there = robot.pose(Q, tool)
    there[:3, 3] += [0.0, 0.1, 0.1]
    alone = cartesian(model, there, tool, Q)
    middle = robot.pose(alone.q[len(alone.q) // 2], tool)
    post = Obstacles([Sphere(middle[:3, 3] + 0.13 * middle[:3, 0], 0.02)])
    held = cartesian(model, there, tool, Q, post)
    assert not held.success and held.reason.startswith("collision")
    spun = cartesian(model, there, tool, Q, post, axes=("x", "y", "z", "rx", "ry"))
    assert_goes_through(model, spun, post)
    poses = robot.pose(spun.q, tool)
    # its axis and place
    np.testing.assert_allclose(poses[:, :3, 2:], spun.poses[spun.index][:, :3, 2:], atol=2e-6)
    turned = np.arccos(
        np.clip(np.sum(poses[:, :3, 0] * spun.poses[spun.index][:, :3, 0], axis=1), -1, 1)
    )
    assert turned.max() > 0.1


def test_every_stop_has_its_reason() -> None:
    """Rows of q that were made up: what lies before the first bad one counts."""
    model = point()
    q = np.linspace([-1.0, 0.0], [2.0, 0.0], 11)
    poses = np.tile(np.eye(4), (11, 1, 1))
    poses[:, :2, 3] = q

    def end(rows: np.ndarray, bad: int | None, obstacles: object = None) -> tuple[int, str]:
        solved = np.arange(11) != (-1 if bad is None else bad)
        return _end(model, rows, solved, obstacles, "point", 1 / 32, poses)

    assert end(q, None) == (10, "complete")
    assert end(q, 10) == (
        9,
        'limit: joint "x" is at its limit, at [2.0, 0.0, 0.0] m, 90.0 % of the way',
    )
    assert (
        end(q, 4)[1].startswith("reach: no configuration near the last one")
        or "singularity" in end(q, 4)[1]
    )
    last, reason = end(q, None, Obstacles({"ball": Sphere((0.5, 0.0, 0.0), 0.1)}))
    assert (
        last == 4
        and reason
        == 'collision: "point" is 101.0 mm inside "ball", at [0.5, 0.0, 0.0] m, 40.0 % of the way'
    )
    thin = Obstacles({"plate": Box((0.01, 1.0, 1.0), (0.35, 0.0, 0.0))})
    assert end(q, None, thin)[1].startswith("collision: between two points, at [0.5")
    jumps = q.copy()
    jumps[6:, 1] += 0.5
    assert end(jumps, None) == (
        5,
        "jump: a joint would have to move by 0.5 at once, at [0.8, 0.0, 0.0] m, 50.0 % of the way",
    )
    # a straight arm cannot go further: its Jacobian is singular there
    links, start = planar(), np.array([0.0, 0.4])
    far = links.robot.pose(start, "lower")
    far[0, 3] += 0.5
    beyond = cartesian(links, far, "lower", start, axes=("x", "y"))
    assert not beyond.success and beyond.reason.startswith(
        "singularity: the Jacobian has condition"
    ), beyond.reason
    # the origin of this link is its joint, which goes round the shoulder alone
    assert beyond.fraction == 0.0
    # velocities along world x, seen by a target whose y axis that is
    J = np.eye(6)[:, :1]
    turned = lw.pose((0.0, 0.0, 0.0), rpy=(0.0, 0.0, -np.pi / 2))
    np.testing.assert_allclose(counted(J, turned, [0, 1, 5]), [[0.0], [1.0], [0.0]], atol=1e-12)
    with pytest.raises(InvalidInput, match="tolerance"):
        cartesian(links, far, "lower", start, tolerance=-1.0)
    with pytest.raises(InvalidInput, match="step"):
        cartesian(model, poses[1], "point", q[0], step=0.0)


def test_a_path_is_kept_repaired_or_planned_again() -> None:
    model = point()
    far = Obstacles({"ball": Sphere((0.0, 1.5, 0.0), 0.2)})
    planner = Replanner(model, GOAL, far, fastest=100.0, period=0.05)
    first = planner.step(START)
    assert first.how == "planned" and first.certified and (first.path[-1] == GOAL).all()
    assert planner.step(START + [0.1, 0.0]).how == "kept"
    onto = planner.step(START + [0.1, 0.0], far.moved("ball", (0.0, 0.0, 0.0)))
    assert (
        onto.how in ("joined", "planned")
        and onto.certified
        and model.path_is_free(onto.path, planner.obstacles)
    )
    # when it is gone again the way is kept, or cut short
    assert planner.step(START + [0.1, 0.0], far).how in ("kept", "straight")
    walls = far.with_shapes([Box((0.1, 8.0, 1.0), (0.5, 0.0, 0.0), name="wall")])
    closed = planner.step(START, walls)
    assert (
        closed.how == "stopped"
        and closed.path.shape == (1, 2)
        and closed.reason.startswith("no path")
    )


def test_what_samples_step_over_is_not_kept() -> None:
    """A plate thinner than a step comes into the way: the proof sees it, and with it the
    replanner."""
    plate = Obstacles({"plate": Box((0.001, 1.0, 1.0), (0.017, 3.0, 0.0))})
    planner = Replanner(point(), GOAL, plate, fastest=100.0, period=0.05, step=0.3)
    assert len(planner.step(START).path) == 2
    onto = plate.moved("plate", (0.017, 0.0, 0.0))
    assert point().motion_is_free(START, GOAL, onto, step=0.3)
    now = planner.step(START, onto)
    assert now.how in ("joined", "planned") and now.certified
    unproved = Replanner(point(), GOAL, onto, step=0.3, certify=False)
    unproved.step(START)
    assert unproved.step(START).how == "kept"


def test_a_path_that_was_planned_without_a_proof_is_kept_while_samples_are_free() -> None:
    """A slit so narrow that no proof comes through;
    as soon as there is more room the proof counts again."""
    slit = Obstacles({"below": Box((3.9, 1.0, 1.0), (0.0, -0.501 - 1e-12, 0.0))})
    slit = slit.with_shapes([Box((3.9, 1.0, 1.0), (0.0, 0.501 + 1e-12, 0.0), name="above")])
    planner = Replanner(point(), GOAL, slit, fastest=100.0, period=0.05)
    first = planner.step(START)
    assert first.how == "planned" and not first.certified
    later = planner.step(START + [0.1, 0.0])
    assert later.how == "kept" and not later.certified
    wide = slit.moved("above", (0.0, 1.0, 0.0)).moved("below", (0.0, -1.0, 0.0))
    assert planner.step(START + [0.1, 0.0], wide).certified
    plate = wide.with_shapes([Box((1e-6, 0.5, 1.0), (0.0001, 0.0, 0.0), name="plate")])
    assert planner.step(START + [0.1, 0.0], plate).how != "kept"


def test_a_roadmap_has_no_seam_where_a_joint_turns_without_end() -> None:
    """The nearest of all nodes, the short way round, is a neighbour of each."""
    built = Roadmap.build(planar(), None, 120)
    ways = built.nodes[:, None] - built.nodes[None]
    ways[..., 0] = (ways[..., 0] + np.pi) % (2 * np.pi) - np.pi
    apart = np.linalg.norm(ways, axis=2) + 10.0 * np.eye(len(built.nodes))
    edges = {frozenset(pair) for pair in built.edges.tolist()}
    assert all(frozenset((k, int(near))) in edges for k, near in enumerate(apart.argmin(axis=1)))
    across = np.abs(np.diff(built.nodes[built.edges][..., 0], axis=1)) > np.pi
    assert across.any()
    back = built.plan([3.0, 0.3], [-3.0, 0.3])
    assert back.certified and np.abs(np.diff(back.path, axis=0)).max() < np.pi


def test_a_joint_without_end_may_be_told_a_turn_further() -> None:
    model = planar()
    planner = Replanner(model, [2.0, 0.3])
    planner.step([0.0, 0.0])
    turned = planner.step([1.0 + 2 * np.pi, 0.1])
    assert turned.how == "kept" and np.abs(np.diff(turned.path, axis=0)).max() < 2.0


def test_repairs_keep_constraints() -> None:
    """A straight way to a later waypoint would leave the line that the point keeps."""
    keeps = lw.tasks.JointCouplingTask({"x": 1.0, "y": -1.0})  # x = y
    model = point()
    start, goal = np.array([-1.0, -1.0]), np.array([1.0, 1.0])
    planner = Replanner(model, goal, fastest=100.0, constraints=[keeps], time_limit=20.0)
    first = planner.step(start)
    assert first.how == "planned" and first.certified
    assert planner.step(np.array([-0.5, -0.5])).how == "kept"
    ways = np.array([[1.0, 1.0], [1.0, 0.5]])  # along the line, and off it
    assert planner._good(start, np.array([start, start]), ways).tolist() == [True, False]
    ball = Obstacles({"ball": Sphere((0.0, 0.0, 0.0), 0.2)})
    planner.limit = 0.05
    # nothing else is on the line
    assert planner.step(np.array([-0.5, -0.5]), ball).how == "stopped"


def test_obstacles_that_are_faster_than_the_bound_are_refused() -> None:
    ball = Obstacles({"ball": Sphere((0.0, 1.5, 0.0), 0.2)})
    planner = Replanner(point(), GOAL, ball, fastest=1.0, period=0.1)
    planner.step(START, ball.moved("ball", (0.0, 1.42, 0.0)))
    with pytest.raises(
        InvalidInput, match=r'"ball" moved by 0\.42 m in one period, more than the bound 1 m/s'
    ):
        planner.step(START, ball.moved("ball", (0.0, 1.0, 0.0)))
    # ends of a long box move when it turns, and a ball that grows comes nearer
    bar = Obstacles({"bar": Box((2.0, 0.1, 0.1), (0.0, 1.5, 0.0))})
    T = lw.pose((0.0, 1.5, 0.0), rpy=(0.0, 0.0, 0.2))
    with pytest.raises(InvalidInput, match=r'"bar" moved by 0\.2'):
        Replanner(point(), GOAL, bar, fastest=1.0, period=0.1).step(START, bar.moved("bar", T))
    slow = lw.pose((0.0, 1.5, 0.0), rpy=(0.0, 0.0, 0.09))
    Replanner(point(), GOAL, bar, fastest=1.0, period=0.1).step(START, bar.moved("bar", slow))
    rod = Obstacles({"rod": Capsule((-1.0, 1.5, 0.0), (1.0, 1.5, 0.0), 0.1)})
    end = Obstacles({"rod": Capsule((-1.0, 1.5, 0.0), (1.0, 1.35, 0.0), 0.1)})
    with pytest.raises(InvalidInput, match=r'"rod" moved by 0\.15'):
        Replanner(point(), GOAL, rod, fastest=1.0, period=0.1).step(START, end)
    with pytest.raises(InvalidInput, match=r'"ball" moved by 0\.2'):
        Replanner(point(), GOAL, ball, fastest=1.0, period=0.1).step(
            START, {"ball": Sphere((0.0, 1.5, 0.0), 0.4)}
        )
    # sides that change at one bounding radius, radii that change places, ground that rises;
    # another mesh is a new one
    tall = {"bar": Box((0.1, 2.0, 0.1), (0.0, 1.5, 0.0))}
    with pytest.raises(InvalidInput, match=r'"bar" moved by 1\.34'):
        Replanner(point(), GOAL, bar, fastest=1.0, period=0.1).step(START, tall)
    ends = {"start": (0.0, 1.5, 0.0), "end": (0.0, 1.9, 0.0)}
    cone = {"cone": TaperedCapsule(**ends, start_radius=0.01, end_radius=0.3)}
    swapped = {"cone": TaperedCapsule(**ends, start_radius=0.3, end_radius=0.01)}
    with pytest.raises(InvalidInput, match=r'"cone" moved by 0\.41'):
        Replanner(point(), GOAL, cone, fastest=1.0, period=0.1).step(START, swapped)
    heights = np.array([[-1.0, -1.0], [-1.0, -2.0]])
    ground = HeightField(heights, (0.1, 0.1), (-1.0, 1.5, 0.0))
    assert _moved_by(
        ground, replace(ground, heights=heights + [[0.0, 0.3], [0.0, 0.0]])
    ) == pytest.approx(0.3)
    corners = np.array([[0.0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]])
    assert _moved_by(Convex(corners), Convex(2.0 * corners)) is None
    assert _moved_by(Convex(corners), Convex(corners, margin=0.2)) == pytest.approx(0.2)
    # a path that leaves less room than an obstacle can move is not safe
    near = Obstacles({"ball": Sphere((0.0, 0.25, 0.0), 0.2)})
    assert not Replanner(point(), GOAL, near, fastest=1.0, period=0.1).step(START).safe
    assert Replanner(point(), GOAL, near, fastest=0.1, period=0.1).step(START).safe
