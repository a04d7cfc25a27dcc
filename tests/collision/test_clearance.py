"""Clearance: distances and points against coal, gradients against central differences."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import linkwork as lw
from linkwork.collision import Box, CollisionModel, Convex, Sphere
from linkwork.collision.certify import Certificate
from linkwork.collision.outputs import result_into
from linkwork.errors import InvalidInput
from tests.collision.scenes import SCENES, capsule_gantry, shapes_on
from tests.collision.test_checker import by_coal, some_pairs
from tests.collision.test_pair_clearances import alone


def made(name: str) -> CollisionModel:
    robot = lw.load(name)
    shapes = shapes_on(robot, 2)
    return CollisionModel(robot, shapes, pairs=some_pairs(robot, shapes))


@pytest.fixture(scope="module", params=["gantry", "ur5e"])
def model(request: pytest.FixtureRequest) -> CollisionModel:
    """Balls with capsules on a small robot, and balls on an arm."""
    return capsule_gantry() if request.param == "gantry" else made("ur5e")


def test_distances_are_those_of_coal(model: CollisionModel) -> None:
    check_distances(model, 15)


def check_distances(model: CollisionModel, count: int) -> None:
    q = model.robot.random(count, seed=3)
    for scene in SCENES.values():
        expected = by_coal(model, q, scene)
        found = model.clearance(q, scene)
        near = expected < 0.01  # what coal was asked about
        np.testing.assert_allclose(found.distance[near], expected[near], rtol=0, atol=1e-9)
        assert (found.distance[~near] >= 0.01 - 1e-9).all()


def test_points_normal_and_names_belong_together(model: CollisionModel) -> None:
    q, scene = model.robot.random(200, seed=4), SCENES["shelves"]
    found = model.clearance(q, scene)
    way = found.other_point - found.point
    np.testing.assert_allclose(
        (way * found.normal).sum(axis=-1), found.distance, rtol=0, atol=1e-12
    )
    np.testing.assert_allclose(np.linalg.norm(found.normal, axis=-1), 1.0, rtol=0, atol=1e-12)
    assert found.bodies == tuple(model.shapes) and found.others == (*model.shapes, *scene.names)
    for k in (0, 50, 199):
        one = model.clearance(q[k], scene)
        assert (
            one.distance == found.distance[k]
            and one.gradient.tolist() == found.gradient[k].tolist()
        )
        assert one.body == found.bodies[found.body[k]] and one.other == found.others[found.other[k]]
        of_that_pair = alone(model, q[k : k + 1], one.body, one.other, scene)
        assert of_that_pair == pytest.approx(one.distance, abs=1e-12)


def test_the_sign_is_the_verdict(model: CollisionModel) -> None:
    q = model.robot.random(500, seed=5)
    for scene in SCENES.values():
        distance = model.clearance(q, scene).distance
        clear = np.abs(distance) > 1e-12
        np.testing.assert_array_equal(model.collides(q, scene)[clear], (distance < 0)[clear])


def test_gradients_are_those_of_differences(model: CollisionModel) -> None:
    """Where the nearest pair stays the same; there the differences see rounding of 1e-16 / 1e-6 and
    curvature."""
    check_gradient(model, model.robot.random(300, seed=6))


def check_gradient(model: CollisionModel, q: np.ndarray) -> None:
    scene, robot, h = SCENES["table"], model.robot, 1e-6
    found = model.clearance(q, scene)
    steps, same = [], np.ones(len(q), dtype=bool)
    for unit in np.eye(robot.nv):
        ends = [
            model.clearance(robot.integrate(q, np.tile(s * h * unit, (len(q), 1))), scene)
            for s in (1, -1)
        ]
        steps.append((ends[0].distance - ends[1].distance) / (2 * h))
        for end in ends:
            same &= (end.body == found.body) & (end.other == found.other)
            same &= np.linalg.norm(end.normal - found.normal, axis=-1) < 1e-3
    error = np.abs(np.stack(steps, axis=-1) - found.gradient).max(axis=-1)
    assert same.mean() > 0.9
    # the others change shapes of one body within the step
    assert np.quantile(error[same], 0.98) < 1e-6
    assert np.abs(found.gradient).max() > 0.1


def test_between_two_that_are_equally_near_the_gradient_is_that_of_one(
    model: CollisionModel,
) -> None:
    """Balls on both sides of a sphere: the distance is right,
    and only the gradient may be either's."""
    robot = model.robot
    balls = [
        (s.radius, body, s)
        for body in model.tables.moving
        for s in model.shapes[body]
        if s.kind == "sphere"
    ]
    _, body, ball = max(balls, key=lambda largest: largest[0])
    ties, ways = 0, np.random.default_rng(9).normal(size=(60, 3))
    for q, way in zip(robot.random(60, seed=9), ways, strict=True):
        T = robot.pose(q, body)
        center = T[:3, :3] @ ball.center + T[:3, 3]
        step = (ball.radius + 0.003) * way / np.linalg.norm(way)
        sides = [Sphere(center + sign * step, 0.002, name) for sign, name in ((1, "a"), (-1, "b"))]
        first, second = (model.clearance(q, [side]) for side in sides)
        if (
            abs(first.distance - second.distance) > 1e-12
            or first.other != "a"
            or second.other != "b"
        ):
            continue
        ties += 1
        both = model.clearance(q, sides)
        one = first if both.other == "a" else second
        assert both.distance == pytest.approx(0.001, abs=1e-12) and both.distance == one.distance
        np.testing.assert_allclose(both.gradient, one.gradient, rtol=0, atol=1e-12)
        assert np.abs(first.gradient + second.gradient).max() < 1e-2 < np.abs(first.gradient).max()
    assert ties >= 5


@pytest.mark.parametrize("name", ["charmie", "forrest"])
def test_gradients_of_trees_and_mimicking_joints(name: str) -> None:
    model = made(name)
    check_gradient(model, model.robot.random(60, seed=7))
    check_distances(model, 10)


def test_gradient_of_a_floating_base(tmp_path) -> None:
    path = tmp_path / "box.xml"
    path.write_text(
        "<mujoco><worldbody><body name='trunk'><freejoint/><geom size='.1' mass='1'/>"
        "<body name='leg' pos='0 0 -.2'><joint axis='0 1 0'/><geom size='.05' "
        "mass='1'/></body></body>"
        "</worldbody></mujoco>"
    )
    robot = lw.load(path)
    trunk = [Sphere((x, 0, 0), 0.05) for x in (-0.2, 0.0, 0.2)]
    shapes = {"trunk": trunk, "leg": [Sphere((0, 0, -0.2), 0.04)]}
    check_gradient(CollisionModel(robot, shapes, pairs=[]), robot.random(200, seed=8))


def test_nothing_to_touch_is_infinitely_far(model: CollisionModel) -> None:
    robot = model.robot
    model = CollisionModel(robot, model.shapes, pairs=[])
    found = model.clearance(robot.neutral())
    assert found.distance == np.inf and found.body is None and not found.gradient.any()
    assert (model.clearance(robot.random(5, seed=0)).body == -1).all()


def test_hulls_go_to_coal_with_points_and_gradient(model: CollisionModel) -> None:
    corners = np.array([[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)]) * 0.1
    at = np.array([0.4, 0.1, 0.3])
    q = model.robot.random(30, seed=9)
    as_hull = model.clearance(q, [Convex(corners + at, name="block")])
    as_box = model.clearance(q, [Box((0.2, 0.2, 0.2), at, name="block")])
    np.testing.assert_allclose(as_hull.distance, as_box.distance, rtol=0, atol=1e-6)
    apart = as_box.distance > 1e-3
    np.testing.assert_allclose(as_hull.gradient[apart], as_box.gradient[apart], rtol=0, atol=1e-4)
    one = model.clearance(q[0], [Convex(corners + at, name="block")])
    assert (
        one.distance == pytest.approx(as_hull.distance[0])
        and one.other == as_hull.others[as_hull.other[0]]
    )


def test_answers_go_into_those_of_an_earlier_call() -> None:
    model = capsule_gantry()
    q, scene = model.robot.random(6, seed=10), SCENES["table"]
    for ask in (model.clearance, model.clearances):
        first, expected = ask(q[:3], scene), ask(q[3:], scene)
        again = ask(q[3:], scene, out=first)
        for name in ("distance", "point", "other_point", "normal", "gradient"):
            assert getattr(again, name) is getattr(first, name)
            np.testing.assert_array_equal(getattr(again, name), getattr(expected, name))
        with pytest.raises(
            InvalidInput, match=r"distance of out has shape \(3.*expected \(2.*of an earlier call"
        ):
            ask(q[:2], scene, out=first)
        with pytest.raises(
            InvalidInput, match=r"out is .*, expected a (Pair)?Clearances? of an earlier call"
        ):
            ask(q[:3], scene, out=np.zeros(3))
        with pytest.raises(InvalidInput, match="distance of out is of float32, expected float64"):
            ask(q[:3], scene, out=replace(first, distance=first.distance.astype(np.float32)))


def test_answers_of_one_sample_go_into_nothing() -> None:
    """Their numbers are no arrays: the half of them that are would be written and the rest not."""
    model = capsule_gantry()
    q, scene = model.robot.random(2, seed=11), SCENES["table"]
    first = model.clearance(q[0], scene)
    gradient = first.gradient.copy()
    with pytest.raises(
        InvalidInput, match="clearance: out came with one sample, expected it with a batch, or none"
    ):
        model.clearance(q[1], scene, out=first)
    np.testing.assert_array_equal(first.gradient, gradient)
    proof = Certificate(True, False, False, 0.1, np.nan, 1)
    with pytest.raises(InvalidInput, match="certify_motion: out came with one sample"):
        result_into(proof, proof, "certify_motion")
    every = model.clearances(q[0], scene)  # arrays all of them
    assert model.clearances(q[1], scene, out=every).distance is every.distance
