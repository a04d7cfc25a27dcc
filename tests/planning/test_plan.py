"""Plans: paths that begin and end where they should, are proved free, are the same to the bit,
or say why not."""

from __future__ import annotations

import itertools
from dataclasses import replace
from functools import cache

import numpy as np
import pytest

import linkwork as lw
from linkwork.collision import Box, Capsule, CollisionModel, Obstacles, Sphere
from linkwork.errors import InvalidInput, NotPossible, UnknownName
from linkwork.model import Body, Joint, Limits, MassProperties, Model, Placement
from linkwork.planning import PoseGoal, plan, plan_many, shorten
from linkwork.planning.blends import _deviation, _parabola
from linkwork.planning.space import Space
from tests.collision.scenes import SCENES, shapes_on
from tests.collision.test_checker import by_coal, some_pairs
from tests.planning.test_roadmap import WALL, point


@cache
def arm() -> CollisionModel:
    robot = lw.load("ur5e")
    shapes = shapes_on(robot, 3)
    return CollisionModel(robot, shapes, pairs=some_pairs(robot, shapes))


@cache
def planar() -> CollisionModel:
    """Two links of 1 m in a plane; the first turns without end, the second by +-2.8 rad."""
    inertia = MassProperties(1.0, (0.5, 0.0, 0.0), ((0.1, 0, 0), (0, 0.1, 0), (0, 0, 0.1)))
    joints = (
        Joint("shoulder", "continuous", None, "upper"),
        Joint(
            "elbow",
            "revolute",
            "upper",
            "lower",
            Placement(position=(1.0, 0, 0)),
            limits=(Limits(-2.8, 2.8),),
        ),
    )
    robot = lw.Robot(Model("planar-2r", (Body("upper", inertia), Body("lower", inertia)), joints))
    links = {body: [Capsule((0, 0, 0), (1.0, 0, 0), 0.02)] for body in robot.bodies}
    return CollisionModel(robot, links, pairs=[])


@cache
def ends(scene: str) -> np.ndarray:
    """Two free configurations with something between them."""
    rows = np.random.default_rng(2).uniform(-np.pi, np.pi, (200, 6))
    rows = rows[~arm().collides(rows, SCENES[scene])]
    hidden = ~arm().motion_is_free(rows[0], rows, SCENES[scene])
    return rows[[0, int(np.flatnonzero(hidden)[0])]]


@pytest.mark.parametrize("scene", ["shelves", "cage"])
def test_a_path_is_proved_free_and_coal_agrees(scene: str) -> None:
    start, goal = ends(scene)
    answer = plan(arm(), start, goal, SCENES[scene])
    assert answer.success and answer.certified and answer.reason == "solved", answer
    assert (answer.path[0] == start).all() and (answer.path[-1] == goal).all()
    assert answer.clearance > 0.0
    limits = arm().robot.limits
    assert (answer.path >= limits.lower).all() and (answer.path <= limits.upper).all()
    dense = np.concatenate(
        [np.linspace(a, b, 60) for a, b in zip(answer.path[:-1], answer.path[1:], strict=True)]
    )
    assert by_coal(arm(), dense[:: max(1, len(dense) // 60)], SCENES[scene]).min() > 0.0
    assert arm().path_is_free(answer.path, SCENES[scene], step=1 / 500)
    assert answer.length == pytest.approx(
        np.linalg.norm(np.diff(answer.path, axis=0), axis=1).sum()
    )


def test_the_clearance_is_a_bound_that_is_nearly_reached() -> None:
    start, goal = ends("shelves")
    answer = plan(arm(), start, goal, SCENES["shelves"])
    between = [
        a + (b - a) * np.linspace(0, 1, 500)[:, None]
        for a, b in zip(answer.path, answer.path[1:], strict=False)
    ]
    least = min(0.05, arm().clearance(np.concatenate(between), SCENES["shelves"]).distance.min())
    assert answer.bound <= answer.clearance <= least + 1e-12
    assert answer.clearance >= 0.85 * least
    unproved = plan(arm(), start, goal, SCENES["shelves"], certify=False)
    assert np.isnan(unproved.clearance) and np.isnan(unproved.bound)


def test_the_rounded_motion_keeps_the_clearance_that_is_told() -> None:
    """Corners that are cut may come nearer than the path: the bound is of the motion itself,
    and nearly reached."""
    start, goal = ends("shelves")
    answer = plan(arm(), start, goal, SCENES["shelves"])
    assert len(answer.path) > 2
    for rounding in (0.5, 0.1):
        q, _, _ = answer.to_path(rounding)(np.linspace(0, 1, 4001))
        least = min(0.05, arm().clearance(q, SCENES["shelves"]).distance.min())
        assert 0.6 * least <= answer.motion_clearance(rounding) <= least + 1e-12
    # around the edge of a box: a corner that is cut comes nearer than the path does
    bent = np.array([[-0.54, -1.0], [-0.54, 0.54], [1.0, 0.54]])
    around = replace(plan(point(), bent[0], bent[-1], WALL), path=bent)
    q, _, _ = around.to_path()(np.linspace(0, 1, 4001))
    nearest = point().clearance(q, WALL).distance.min()
    assert around.clearance == pytest.approx(0.039, rel=0.11) and nearest < 0.03
    assert 0.85 * nearest <= around.motion_clearance() <= nearest + 1e-12
    # told of a law is the clearance of its own rounding, of a law along another path none
    limits = {
        "acceleration_limits": np.ones(2),
        "velocity_limits": np.ones(2),
        "torque_limits": np.full(2, 1e3),
    }
    sharp, other = around.timed(0.1, **limits), replace(around, path=bent[[0, 2]], certified=False)
    assert (
        around.clearance_of(sharp)
        == around.motion_clearance(0.1)
        < around.motion_clearance() - 1e-3
    )
    assert around.clearance_of(around.timed(**limits)) == around.motion_clearance()
    assert np.isnan(around.clearance_of(other.timed(**limits)))
    assert np.isnan(plan(arm(), start, goal, SCENES["shelves"], certify=False).motion_clearance())


def test_chords_are_no_further_from_a_corner_s_parabola_than_is_said() -> None:
    generator = np.random.default_rng(1)
    a, b = generator.normal(size=(2, 4))
    corner, d, chords = (generator.normal(size=4), a, b), 0.3, 4
    share = np.linspace(0.0, 1.0, 64, endpoint=False)[:, None]
    fine, coarse = _parabola(corner, d, 64 * chords)[:-1], _parabola(corner, d, chords)
    along = np.concatenate([p + share * (q - p) for p, q in itertools.pairwise(coarse)])
    np.testing.assert_allclose(
        np.abs(fine - along).max(axis=0), _deviation(corner, d, chords), rtol=1e-9
    )
    np.testing.assert_allclose(coarse[[0, -1]], [corner[0] - d * a, corner[0] + d * b], atol=1e-15)


def test_a_seed_changes_shortcuts_too() -> None:
    start, goal = ends("cage")
    first = plan(arm(), start, goal, SCENES["cage"], shorten=False).path
    ways = [shorten(arm(), first, SCENES["cage"], seed=seed) for seed in (0, 1, 1)]
    assert ways[1].tobytes() == ways[2].tobytes() != ways[0].tobytes()
    assert all(arm().path_is_free(way, SCENES["cage"], step=1 / 500) for way in ways)


def test_shortcuts_shorten_and_keep_what_was_free() -> None:
    start, goal = ends("cage")
    first = plan(arm(), start, goal, SCENES["cage"], shorten=False, certify=False)
    short = plan(arm(), start, goal, SCENES["cage"])
    assert (
        short.length <= first.length * (1 + 1e-12)
        and not first.certified
        and np.isnan(first.clearance)
    )
    assert np.linalg.norm(goal - start) <= short.length * (1 + 1e-12)


def test_a_seed_decides_every_bit_and_threads_nothing() -> None:
    start, goal = ends("cage")
    goals = np.concatenate([ends("cage")[1:], start + 0.2 * np.eye(6)[:4]])
    one = plan(arm(), start, goal, SCENES["cage"], seed=4)
    again = plan(arm(), start, goal, SCENES["cage"], seed=4)
    other = plan(arm(), start, goal, SCENES["cage"], seed=5, shorten=False)
    plain = plan(arm(), start, goal, SCENES["cage"], seed=4, shorten=False)
    assert one.path.tobytes() == again.path.tobytes()
    assert other.path.tobytes() != plain.path.tobytes()
    before = lw.threads()
    try:
        many = []
        for count in (1, 2):
            lw.threads(count)
            many.append(plan_many(arm(), start, goals, SCENES["cage"], certify=False))
    finally:
        lw.threads(before)
    for a, b, end in zip(*many, goals, strict=True):
        alone = plan(arm(), start, end, SCENES["cage"], certify=False)
        assert a.path.tobytes() == b.path.tobytes() == alone.path.tobytes()


def test_each_problem_may_have_its_scene() -> None:
    start, goal = ends("shelves")
    scenes = [Obstacles(), SCENES["shelves"]]
    plans = plan_many(arm(), start, np.array([goal, goal]), scenes)
    assert plans.success.all() and plans.certified.all()
    assert plans[0].length <= plans[1].length + 1e-12 and len(plans[0].path) == 2
    with pytest.raises(InvalidInput, match="2 scenes for 3 problems"):
        plan_many(arm(), start, np.array([goal] * 3), scenes)


def test_a_joint_that_turns_without_end_takes_the_short_way() -> None:
    model = planar()
    answer = plan(model, [3.0, 0.3], [-3.0, 0.3])
    assert answer.certified
    assert answer.path[-1] == pytest.approx([2 * np.pi - 3.0, 0.3], abs=1e-12)
    # what does not turn round ends exactly
    assert answer.path[-1, 1] == 0.3 and (answer.path[0] == [3.0, 0.3]).all()
    wall = [Box((0.3, 0.3, 0.3), (-1.6, 0.0, 0.0))]
    around = plan(model, [2.0, 0.0], [-2.0, 0.0], wall)
    assert around.certified and model.path_is_free(around.path, wall, step=1 / 500)
    assert np.abs(np.diff(around.path, axis=0)).max() < 2 * np.pi


def test_weights_and_held_joints() -> None:
    start, goal = ends("table").copy()
    goal[3:] = start[3:]
    while arm().collides(goal, SCENES["table"]):
        goal[1] -= 0.1
    joints = arm().robot.joints[:3]
    answer = plan(
        arm(),
        start,
        goal,
        SCENES["table"],
        joints=joints,
        weights=[3, 2, 1, 1, 1, 1],
        time_limit=20,
    )
    assert answer.success, answer
    assert (answer.path[:, 3:] == start[3:]).all()
    with pytest.raises(
        InvalidInput, match='goal moves joint "wrist_1_joint", which is not among `joints`'
    ):
        plan(arm(), start, start + [0, 0, 0, 0.1, 0, 0], SCENES["table"], joints=joints)


def test_poses_are_goals() -> None:
    start, goal = ends("shelves")
    robot = arm().robot
    tool = robot.bodies[-1]
    pose = robot.pose(goal, tool)
    answer = plan(arm(), start, PoseGoal(tool, pose), SCENES["shelves"])
    assert answer.certified
    np.testing.assert_allclose(robot.pose(answer.path[-1], tool), pose, atol=1e-6)
    # of several configurations the nearest comes first, and none is there twice
    space = Space.of(robot.subject, None, None, "test")
    rows = PoseGoal(tool, pose).configurations(space, start)
    distances = np.linalg.norm(rows - start, axis=1)
    assert len(rows) > 4 and (np.diff(distances) >= 0).all()
    # numeric, where an axis is free
    spun = plan(
        arm(),
        start,
        PoseGoal(tool, pose, axes=("x", "y", "z", "rx", "ry")),
        SCENES["shelves"],
        certify=False,
    )
    assert spun.success
    np.testing.assert_allclose(robot.pose(spun.path[-1], tool)[:3, 2:], pose[:3, 2:], atol=1e-5)


def test_five_reasons_have_names_and_numbers() -> None:
    start, goal = ends("shelves")
    scene, robot = SCENES["shelves"], arm().robot
    inside = next(q for q in robot.random(400, seed=5) if arm().collides(q, scene))
    assert plan(arm(), inside, goal, scene).reason.startswith('start in collision: "')
    assert "mm inside" in plan(arm(), start, inside, scene).reason
    assert plan(arm(), start, inside, scene).reason.startswith("goal in collision")
    blocked = plan(arm(), start, [inside, inside], scene).reason
    assert blocked.startswith("all goals blocked: each of 2 configurations touches something; in")
    assert "mm inside" in blocked
    far = np.eye(4)
    far[:3, 3] = (5.0, 0.0, 0.0)
    tool = robot.bodies[-1]
    assert plan(arm(), start, PoseGoal(tool, far), scene).reason == (
        f'goal out of reach: no configuration brings "{tool}" to its pose at (5, 0, 0) m'
    )
    # posts on both sides of the upper link: it cannot leave, whatever the lower one does
    posts = [Sphere((0.5, y, 0), 0.2) for y in (-0.4, 0.4)]
    none = plan(planar(), [0.0, 0.0], [np.pi, 0.0], posts, time_limit=0.02)
    assert not none.success and none.path.shape == (0, 2) and none.iterations > 100
    assert none.reason.startswith(f"no path: {none.iterations} iterations, {none.nodes} nodes")


def test_a_timed_plan_keeps_its_limits_and_its_way() -> None:
    start, goal = ends("cage")
    answer = plan(arm(), start, goal, SCENES["cage"])
    path = answer.to_path()
    q, first, _ = path(np.linspace(0, 1, 2001))
    np.testing.assert_allclose(q[[0, -1]], answer.path[[0, -1]], atol=1e-12)
    assert not arm().collides(q, SCENES["cage"]).any()
    np.testing.assert_allclose(
        np.gradient(q, 1 / 2000, axis=0)[1:-1], first[1:-1], atol=0.02 * np.abs(first).max()
    )
    limits = arm().robot.limits
    for accelerations in (None, np.full(6, 10.0)):
        law = answer.timed(acceleration_limits=accelerations)
        q, v, a = law.at(np.linspace(0, law.duration, 1001))
        used = [
            np.abs(arm().robot.inverse_dynamics(q, v, a)) / limits.effort,
            np.abs(v) / limits.velocity,
            np.abs(a) / (np.inf if accelerations is None else accelerations),
        ]
        assert max(share.max() for share in used) == pytest.approx(1.0, rel=1e-6)


def test_what_cannot_be_planned_is_refused() -> None:
    start, goal = ends("table")
    with pytest.raises(InvalidInput, match="step is 0, expected a positive length"):
        plan(arm(), start, goal, step=0.0)
    with pytest.raises(InvalidInput, match=r"start\[1\] is 7.1, outside the limits"):
        plan(arm(), [0, 7.1, 0, 0, 0, 0], goal)
    with pytest.raises(InvalidInput, match=r"goal has shape \(5,\), expected \(..., 6\)"):
        plan(arm(), start, np.zeros(5))
    with pytest.raises(InvalidInput, match="seed is -1"):
        plan(arm(), start, goal, seed=-1)
    with pytest.raises(InvalidInput, match="method is 'rrt', expected"):
        plan(arm(), start, goal, method="rrt")
    with pytest.raises(InvalidInput, match="tolerance is -1"):
        PoseGoal("tool0", np.eye(4), tolerance=-1)
    with pytest.raises(InvalidInput, match="axes is 'xyq', expected some of x, y, z, rx, ry, rz"):
        PoseGoal("tool0", np.eye(4), axes="xyq")
    assert PoseGoal("tool0", np.eye(4), axes="rx z").axes == ("z", "rx")
    with pytest.raises(UnknownName, match="hand"):
        plan(arm(), start, PoseGoal("hand", np.eye(4)))
    body = Body(
        "puck", MassProperties(1.0, (0.0, 0.0, 0.0), ((0.1, 0, 0), (0, 0.1, 0), (0, 0, 0.1)))
    )
    for kind, sentence in (
        ("floating", "orientations are not planned yet"),
        ("revolute", "has no limits; give it some"),
    ):
        puck = lw.Robot(Model("puck", (body,), (Joint("way", kind, None, "puck"),)))
        model = CollisionModel(puck, {"puck": [Sphere((0, 0, 0), 0.1)]}, pairs=[])
        with pytest.raises(NotPossible, match=sentence):
            plan(model, puck.neutral(), puck.neutral())
