"""Verdicts: those of coal on the same shapes; of doubles at every width, batch,
place and number of threads."""

from __future__ import annotations

import gzip
import json
import logging
import xml.etree.ElementTree as ElementTree
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

import linkwork as lw
from linkwork.collision import (
    Box,
    Capsule,
    CollisionModel,
    Mesh,
    Obstacles,
    Sphere,
    exact,
    part_distances,
)
from linkwork.collision.checker import kernel_of
from linkwork.collision.part_distances import Poses
from linkwork.engine import machine
from linkwork.engine.kernel import counts
from linkwork.errors import InvalidInput, NotPossible
from tests.collision.scenes import (
    SCENES,
    capsule_gantry,
    cones,
    shapes_on,
    tapered_gantry,
    tip_of_gantry,
)

SHARED = Path(__file__).parents[3] / "shared" / "planning"
ROBOTS = ("ur5e", "redundant-7", "charmie", "quadruped-12dof", "forrest")
"""All of them: test_many.py; distances of charmie and forrest, whose sign is the verdict:
test_clearance.py."""


def by_coal(model: CollisionModel, q: np.ndarray, obstacles: Obstacles) -> np.ndarray:
    """The least signed distance over all pairs of shapes that are looked at, one by one;
    1 cm apart is far."""
    poses = Poses(model.subject, q)
    placed = {part: (poses.of(part), shapes) for part, shapes in model.shapes.items()}
    moves = [part for part in model.shapes if model.subject.tree.bodies[part][0] != 0]
    still = np.broadcast_to(np.eye(3), (len(q), 3, 3)), np.zeros((len(q), 3))
    both = [(placed[a], placed[b]) for a, b in model.pairs.checked]
    both += [(placed[part], (still, tuple(obstacles))) for part in moves]
    least = np.full(len(q), np.inf)
    for (pose, shapes), (other_pose, others) in both:
        (centers, radii), (other_centers, other_radii) = (
            balls(pose, shapes),
            balls(other_pose, others),
        )
        apart = np.linalg.norm(centers[:, :, None] - other_centers[:, None], axis=3)
        for k, i, j in np.argwhere(apart < radii[:, None] + other_radii + 0.01):
            here, there = (pose[0][k], pose[1][k]), (other_pose[0][k], other_pose[1][k])
            least[k] = min(least[k], exact.nearest(shapes[i], here, others[j], there)[0])
    return least


def balls(pose: tuple[np.ndarray, np.ndarray], shapes: Sequence) -> tuple[np.ndarray, np.ndarray]:
    """(centres (n, shapes, 3) at n poses, radii) of balls around shapes."""
    own = [shape.ball() for shape in shapes]
    centers = np.array([center for center, _ in own], dtype=float).reshape(-1, 3)
    return centers @ pose[0].swapaxes(1, 2) + pose[1][:, None], np.array(
        [radius for _, radius in own]
    )


def some_pairs(robot: lw.Robot, shapes: dict) -> list[tuple[str, str]]:
    """Pairs of bodies that neither always nor never touch, among some configurations."""
    made = CollisionModel(robot, shapes, pairs=[])
    poses = Poses(made.subject, robot.random(60, seed=11))
    names, found = list(shapes), []
    for i, a in enumerate(names):
        for b in names[i + 1 :]:
            touching = (
                part_distances.distances(shapes[a], poses.of(a), shapes[b], poses.of(b)) < 0
            ).mean()
            if touching < 0.3:
                found.append((touching, a, b))
    found.sort(key=lambda each: -each[0])
    return [(a, b) for _, a, b in found[:40]]


def spheres_on(name: str) -> CollisionModel:
    robot = lw.load(name)
    shapes = shapes_on(robot, 1)
    return CollisionModel(robot, shapes, pairs=some_pairs(robot, shapes))


@pytest.mark.parametrize("name", ["gantry", "ur5e", "quadruped-12dof"])
def test_verdicts_are_those_of_coal(name: str) -> None:
    """Balls with capsules on a small robot, and balls on larger ones."""
    check_verdicts(capsule_gantry() if name == "gantry" else spheres_on(name), 10)


def check_verdicts(model: CollisionModel, count: int) -> None:
    q = model.robot.random(count, seed=3)
    touching: list[bool] = []
    for scene in SCENES.values():
        distance = by_coal(model, q, scene)
        clear = np.abs(distance) > 1e-6  # nearer than that doubles decide
        np.testing.assert_array_equal(model.collides(q, scene)[clear], (distance < 0)[clear])
        assert clear.mean() > 0.9
        touching += (distance < 0).tolist()
    assert 0.05 < np.mean(touching) < 0.95


@pytest.fixture(scope="module")
def arm() -> CollisionModel:
    robot = lw.load("ur5e")
    shapes = shapes_on(robot, 2)
    return CollisionModel(robot, shapes, pairs=some_pairs(robot, shapes))


def test_floats_never_change_a_verdict() -> None:
    """Configurations moved until they nearly touch: within 1e-9 m on either side."""
    arm, scene = tapered_gantry(), SCENES["shelves"]
    q = arm.robot.random(3000, seed=4)
    for _ in range(8):  # Newton's steps of the distance along its gradient
        found = arm.clearance(q, scene)
        size = (found.gradient**2).sum(axis=-1)
        step = np.where(size > 1e-4, found.distance / np.maximum(size, 1e-4), 0.0)
        q = q - np.clip(step, -0.3, 0.3)[:, None] * found.gradient
    near = np.abs(arm.clearance(q, scene).distance) < 1e-9
    assert near.sum() > 500
    tables = arm.tables
    doubles = kernel_of(tables)((q,), tables.pack(scene), width=1) != 0
    np.testing.assert_array_equal(arm.collides(q, scene), doubles)
    assert 0.05 < doubles[near].mean() < 0.95


@pytest.mark.parametrize("width", [*machine.widths(), 16])
def test_every_width_gives_the_same_verdicts(width: int) -> None:
    """Tapered capsules among boxes, capsules, tapered ones, and with each other; balls, capsules:
    test_motions.py."""
    model = tapered_gantry()
    q = model.robot.random(301, seed=5)
    for scene in (SCENES["shelves"], SCENES["cage"], cones(), Obstacles([])):
        verdicts = kernel_of(model.tables)((q,), model.tables.pack(scene), width=width) != 0
        np.testing.assert_array_equal(verdicts, model.collides(q, scene))
        assert 0.05 < verdicts.mean() < 0.95


def test_place_batch_size_and_threads_change_nothing(arm: CollisionModel) -> None:
    q, scene = arm.robot.random(3000, seed=6), SCENES["cage"]
    own = lw.threads()
    try:
        lw.threads(2)
        both = arm.collides(q, scene)
        lw.threads(1)
        np.testing.assert_array_equal(arm.collides(q, scene), both)
    finally:
        lw.threads(own)
    np.testing.assert_array_equal([arm.collides(x, scene) for x in q[:100]], both[:100])
    np.testing.assert_array_equal(arm.collides(q[::-1], scene), both[::-1])
    assert arm.collides(q.reshape(30, 100, 6), scene).shape == (30, 100)
    assert arm.collides(q[:1], scene).shape == (1,)
    assert arm.collides(np.zeros((0, 6)), scene).shape == (0,)


def test_moving_an_obstacle_compiles_nothing(arm: CollisionModel) -> None:
    scene, q = SCENES["table"], arm.robot.random(64, seed=7)
    arm.collides(q, scene)
    before = dict(counts)
    seen = set()
    for k in range(5):
        moved = scene.moved("sphere_1", (0.1 * k, 0.3, 0.3)).with_shapes(
            [Sphere((0.1 * k, 0, 0.5), 0.05)] * k
        )
        seen.add(int(arm.collides(q, moved).sum()))
    assert counts["compiled"] == before["compiled"] and counts["traced"] == before["traced"]
    assert len(seen) > 1


def test_one_configuration_is_asked_about_what_comes_with_it(arm: CollisionModel) -> None:
    """What is kept of the last obstacles is never taken for others."""
    q = arm.robot.random(20, seed=8)
    table, cage = SCENES["table"], SCENES["cage"]
    around = [table, None, cage, list(table.shapes), None, [], table, cage]
    verdicts = [arm.collides(q, scene) for scene in around]
    near = [arm.clearance(q, scene) for scene in around]
    for k, x in enumerate(q):
        for scene, verdict, nearest in zip(around, verdicts, near, strict=True):
            one, answer = arm.clearance(x, scene), arm.collides(x, scene)
            assert type(answer) is np.bool_ and answer == verdict[k]
            assert one.distance == nearest.distance[k]
            assert one.other == nearest.others[nearest.other[k]]
    assert len({tuple(nearest.distance) for nearest in near}) == 3


def test_what_stands_still_is_not_asked(arm: CollisionModel) -> None:
    base, tool = arm.robot.bodies[0], arm.robot.bodies[-1]
    box = [Box((1, 1, 1), (0, 0, -5))]
    for body, touches in ((base, False), (tool, True)):
        below = [Sphere((0, 0, -5), 0.2)] * len(arm.shapes[body])
        model = CollisionModel(arm.robot, {**arm.shapes, body: below}, pairs=[])
        T = arm.robot.pose(arm.robot.neutral(), body)
        there = box if body == base else [Box((1, 1, 1), T[:3, :3] @ [0, 0, -5] + T[:3, 3])]
        assert model.collides(arm.robot.neutral(), there) == touches


def test_a_point_inside_a_box_touches_it() -> None:
    model = tip_of_gantry(Sphere((0, 0, 0), 0.0))
    robot = model.robot
    at = robot.pose(robot.neutral(), "tip")[:3, 3]
    assert model.collides(robot.neutral(), [Box((0.1, 0.1, 0.1), at + 0.01)])
    assert not model.collides(robot.neutral(), [Box((0.1, 0.1, 0.1), at + 0.06)])


def test_meshes_go_to_coal_and_the_verdict_is_one(arm: CollisionModel) -> None:
    corners = np.array([[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)]) * 0.1
    faces = [
        [0, 1, 3],
        [0, 3, 2],
        [4, 6, 7],
        [4, 7, 5],
        [0, 4, 5],
        [0, 5, 1],
        [2, 3, 7],
        [2, 7, 6],
        [0, 2, 6],
    ]
    faces += [[0, 6, 4], [1, 5, 7], [1, 7, 3]]
    mesh = Mesh(corners + [0.4, 0.1, 0.3], np.array(faces))
    box = Box((0.2, 0.2, 0.2), (0.4, 0.1, 0.3))
    q = arm.robot.random(200, seed=8)
    as_box, as_mesh = arm.collides(q, [box]), arm.collides(q, [mesh])
    # the mesh is a surface: what lies wholly inside does not touch it
    assert (as_mesh <= as_box).all() and as_mesh.sum() > 0.7 * as_box.sum()


def test_what_is_wrong_is_said_in_words(arm: CollisionModel) -> None:
    with pytest.raises(
        InvalidInput, match=r'q has shape \(5,\), expected \(..., 6\): robot "ur5e" has nq = 6'
    ):
        arm.collides(np.zeros(5))
    with pytest.raises(InvalidInput, match=r"q\[1, 2\] is nan, expected finite numbers"):
        arm.collides(np.where(np.arange(12).reshape(2, 6) == 8, np.nan, 0.0))
    with pytest.raises(InvalidInput, match="no shape"):
        arm.collides(np.zeros(6), [3])


def test_a_grasped_object_counts(arm: CollisionModel) -> None:
    tool = arm.robot.bodies[-1]
    held = arm.attached(tool, [Sphere((0, 0, z), 0.05) for z in np.linspace(0.0, 0.4, 5)])
    q = arm.robot.random(500, seed=9)
    free, with_it = arm.collides(q, SCENES["table"]), held.collides(q, SCENES["table"])
    assert (free <= with_it).all() and with_it.sum() > free.sum()


@pytest.mark.skipif(not SHARED.is_dir(), reason="planning data (../shared/planning) is not here")
@pytest.mark.parametrize(("name", "valid"), [("panda", 699), ("ur5", 689)])
def test_starts_and_goals_of_motionbenchmaker_are_as_valid_as_vamp_counts(
    name: str, valid: int, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.ERROR, "linkwork")  # for this test alone
    model = spherized(name)
    problems = json.loads(gzip.open(SHARED / f"motionbenchmaker-{name}.json.gz").read())["problems"]
    good = 0
    for scene, listed in problems.items():
        for problem in listed:
            obstacles = vamp_obstacles(problem["objects"], as_boxes=scene == "box")
            good += not model.collides(
                np.array([problem["start"], problem["goal"]]), obstacles
            ).any()
    assert good == valid


def spherized(name: str) -> CollisionModel:
    """VAMP's spheres with the pairs of the SRDF."""
    robot = lw.load(SHARED / f"{name}_spherized.urdf")
    off = ElementTree.parse(SHARED / f"{name}.srdf").getroot().findall("disable_collisions")
    disabled = {frozenset((each.get("link1"), each.get("link2"))) for each in off}
    disabled.add(frozenset(("fts_robotside", "wrist_2_link")))  # always touch
    shapes = {
        b.name: [Sphere(s.placement.position, s.size[0]) for s in b.collisions]
        for b in robot.model.bodies
    }
    shapes = {body: own for body, own in shapes.items() if own}
    names, node = list(shapes), {b: robot.subject.tree.bodies[b][0] for b in shapes}
    pairs = [
        (a, b)
        for i, a in enumerate(names)
        for b in names[i + 1 :]
        if frozenset((a, b)) not in disabled and node[a] != node[b]
    ]
    return CollisionModel(robot, shapes, pairs=pairs)


def vamp_obstacles(objects: list[dict], as_boxes: bool) -> Obstacles:
    """A cylinder is a capsule whose straight part has its length; in scene "box" it is a box."""
    found: list = []
    poses = np.tile(np.eye(4), (len(objects), 1, 1))
    poses[:, :3] = [each["pose"] for each in objects]
    u, _, v = np.linalg.svd(poses[:, :3, :3])  # printed with nine digits
    poses[:, :3, :3] = u @ v
    for each, T in zip(objects, poses, strict=True):
        if each["kind"] == "box":
            found.append(Box(each["size"], T))
        elif each["kind"] == "sphere":
            found.append(Sphere(T[:3, 3], each["size"][0]))
        else:
            length, radius = each["size"]
            half = 0.5 * length * T[:3, 2]
            as_box = Box((2 * radius, 2 * radius, length), T)
            found.append(as_box if as_boxes else Capsule(T[:3, 3] - half, T[:3, 3] + half, radius))
    return Obstacles(found)


def test_coal_missing_is_said(monkeypatch: pytest.MonkeyPatch, arm: CollisionModel) -> None:
    monkeypatch.setitem(__import__("sys").modules, "coal", None)
    exact._geometry.cache_clear()
    mesh = Mesh(np.eye(3), np.array([[0, 1, 2]]))
    with pytest.raises(NotPossible, match=r"linkwork\[collision\]"):
        arm.collides(arm.robot.random(20, seed=1), [mesh])


def joined() -> lw.Robot:
    """Two robots on one stand, each within reach of the other."""
    return lw.load("planar-4r").attach(
        lw.load("planar-4r"), "base", xyz=(0.6, 0.1, 0.0), prefix="second_"
    )


def linkage() -> lw.Robot:
    return lw.load("four-bar")


OTHER_TREES = {"joined": (joined, 0.02, 0.08), "linkage": (linkage, 0.1, 0.06)}


@pytest.mark.parametrize(("name", "asked"), [("joined", "verdicts"), ("linkage", "distances")])
def test_robots_joined_and_with_loops_are_asked_as_trees(name: str, asked: str) -> None:
    """q is that of the tree; bodies of both robots meet each other. Both questions to both:
    test_many.py."""
    check_other_tree(name, asked)


def check_other_tree(name: str, *asked: str) -> None:
    robot, away, radius = OTHER_TREES[name]
    made = robot()
    rng = np.random.default_rng(3)
    shapes = {
        body: [Sphere(rng.normal(size=3) * away, radius)]
        for body in made.bodies
        if not body.endswith("axis")
    }
    names = list(shapes)
    pairs = [(a, b) for k, a in enumerate(names) for b in names[k + 1 :]]
    model = CollisionModel(made, shapes, pairs=pairs)
    scene = Obstacles([Box((0.1, 0.1, 0.1), (0.3, 0.4, 0.0)), Sphere((0.2, -0.5, 0.0), 0.1)])
    q = made.random(60, seed=4)
    least = by_coal(model, q, scene)
    hits = least < 0.0
    assert 0 < hits.sum() < 60
    if "verdicts" in asked:
        np.testing.assert_array_equal(model.collides(q, scene), hits)
    if "distances" in asked:
        distance = model.clearance(q, scene).distance
        np.testing.assert_array_equal(distance < 0.0, hits)
        np.testing.assert_allclose(distance[hits], least[hits], rtol=0, atol=1e-12)
