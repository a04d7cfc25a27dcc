"""Many placements, configurations and motions against Pinocchio and coal: `make truth`,
some ten minutes.

100 000 placements of every pair of kinds, 1 000 000 configurations of five robots, 10 000 motions
of three. CI has the same questions on fewer (test_distances.py, test_checker.py, test_certify.py).
"""

from __future__ import annotations

import os
from collections.abc import Callable

import numpy as np
import pinocchio as pin
import pytest

import linkwork as lw
from linkwork.collision import CollisionModel, Obstacles, fit_spheres
from linkwork.collision.exact import geometry
from tests.collision.placements import by_coal, draw, kernel
from tests.collision.scenes import SCENES, shapes_on
from tests.collision.test_certify import made
from tests.collision.test_checker import (
    OTHER_TREES,
    ROBOTS,
    check_other_tree,
    check_verdicts,
    some_pairs,
    spheres_on,
)
from tests.collision.test_distances import IN_COAL, TAPERED, check_proofs
from tests.collision.test_exact import answers, check_gaps, shape_of
from tests.collision.test_exact_tapers import tapers
from tests.collision.test_fitting import meshes, on_spheres, outside, triangles
from tests.collision.test_model import check_left_out
from tests.collision.test_motions import ends
from tests.collision.test_proving_by_coal import arm, slides
from tests.collision.test_proving_by_coal import check_proofs as check_proofs_by_coal
from tests.pinocchio_models import Twin, twin

pytestmark = pytest.mark.skipif(
    not os.environ.get("LINKWORK_TRUTH"), reason="takes minutes: make truth"
)
# of a pair of kinds, of a robot, of a robot
PLACEMENTS, CONFIGURATIONS, MOTIONS = (
    100_000,
    200_000,
    3_334,
)
TWINS = {  # and what carries the robot
    "panda/panda": "fixed",
    "ur/ur5_robot": "fixed",
    "xarm/xarm7": "fixed",
    "solo/solo12": "floating",
    "talos_data/talos_left_arm": "fixed",
}


@pytest.mark.parametrize("pair", IN_COAL, ids="-".join)
def test_distances_of_many_placements_are_those_of_coal(pair: tuple[str, str]) -> None:
    rng = np.random.default_rng(100 + IN_COAL.index(pair))
    compiled = kernel(*pair)
    for _ in range(max(1, PLACEMENTS // 10_000)):
        n = min(PLACEMENTS, 10_000)
        a, b = draw(pair[0], rng, n), draw(pair[1], rng, n)
        distance, point, other_point, normal = compiled(a, b)
        expected, coal_point, coal_other, coal_normal = by_coal(pair[0], a, pair[1], b)
        right = np.full(n, True)
        # of a deep sphere coal 3.0 takes the side, although the cap is nearer
        if pair == (
            "sphere",
            "cylinder",
        ):
            right = (expected > -a[:, 3]) | (np.abs(distance - expected) < 1e-9)
            assert (distance[~right] > expected[~right]).all()
        np.testing.assert_allclose(distance[right], expected[right], rtol=0, atol=1e-9)
        clear = expected > 1e-3
        np.testing.assert_allclose(point[clear], coal_point[clear], rtol=0, atol=1e-7)
        np.testing.assert_allclose(other_point[clear], coal_other[clear], rtol=0, atol=1e-7)
        np.testing.assert_allclose(normal[clear], coal_normal[clear], rtol=0, atol=1e-7)


@pytest.mark.parametrize("pair", TAPERED, ids="-".join)
def test_distances_of_many_tapered_capsules_are_proved(pair: tuple[str, str]) -> None:
    rng = np.random.default_rng(200 + TAPERED.index(pair))
    for _ in range(max(1, PLACEMENTS // 10_000)):
        check_proofs(pair, rng, min(PLACEMENTS, 10_000))


class Checked:
    """Pinocchio's geometry model with the shapes, pairs and obstacles of a model of ours."""

    def __init__(self, robot: Twin, model: CollisionModel, obstacles: Obstacles) -> None:
        self.twin, self.geometry = robot, pin.GeometryModel()
        own: dict[str, list[int]] = {}
        for body, shapes in model.shapes.items():
            frame = robot.model.frames[robot.model.getFrameId(body, pin.BODY)]
            own[body] = [
                self._add(f"{body}{k}", frame.parentJoint, frame.placement, s)
                for k, s in enumerate(shapes)
            ]
        for a, b in model.pairs.checked:
            self._pair(own[a], own[b])
        for obstacle in obstacles:
            other = self._add(str(obstacle.name), 0, pin.SE3.Identity(), obstacle)
            for body, shapes in own.items():
                if model.subject.tree.bodies[body][0] != 0:
                    self._pair(shapes, [other])
        self.data, self.found = robot.model.createData(), pin.GeometryData(self.geometry)

    def _add(self, name: str, joint: int, placement: pin.SE3, shape: object) -> int:
        solid, T = geometry(shape)  # type: ignore[arg-type]
        place = placement * pin.SE3(T[:3, :3], T[:3, 3])
        return self.geometry.addGeometryObject(pin.GeometryObject(name, joint, place, solid))

    def _pair(self, first: list[int], second: list[int]) -> None:
        for i in first:
            for j in second:
                self.geometry.addCollisionPair(pin.CollisionPair(i, j))

    def collides(self, q: np.ndarray) -> bool:
        return pin.computeCollisions(
            self.twin.model, self.data, self.geometry, self.found, self.twin.q(q), True
        )


@pytest.mark.parametrize("name", TWINS)
def test_verdicts_of_many_configurations_are_those_of_pinocchio(name: str) -> None:
    robot = twin(name, TWINS[name])
    shapes = shapes_on(robot.robot, 5, "mixed")
    model = CollisionModel(robot.robot, shapes, pairs=some_pairs(robot.robot, shapes))
    touching = 0
    for k, (scene, obstacles) in enumerate(SCENES.items()):
        q = robot.robot.random(CONFIGURATIONS // len(SCENES), seed=k)
        peer = Checked(robot, model, obstacles)
        expected = np.array([peer.collides(x) for x in q])
        verdicts = model.collides(q, obstacles)
        differ = np.flatnonzero(verdicts != expected)
        # nearer than 1e-6 m doubles decide, and Pinocchio's doubles round otherwise
        distance = model.clearance(q[differ], obstacles).distance
        assert (np.abs(distance) < 1e-6).all(), (
            f"{name}, {scene}: {len(differ)} differ, by {np.abs(distance).max():g} m"
        )
        touching += int(expected.sum())
    assert 0.02 < touching / CONFIGURATIONS < 0.98


@pytest.mark.parametrize("name", ROBOTS)
def test_verdicts_of_other_robots_are_those_of_coal(name: str) -> None:
    check_verdicts(spheres_on(name), 100)


@pytest.mark.parametrize("name", OTHER_TREES)
def test_other_trees_give_verdicts_and_distances(name: str) -> None:
    check_other_tree(name, "verdicts", "distances")


@pytest.mark.parametrize("name", ["ur5e", "redundant-7", "quadruped-12dof"])
def test_many_proofs_hold(name: str) -> None:
    """What is proved free touches nowhere at a thousand samples;
    the bound is below the least distance of them."""
    model = made(name, "mixed")
    undecided = 0
    for scene, obstacles in SCENES.items():
        q0, q1 = ends(model, MOTIONS // len(SCENES) + 1)
        found = model.certify_motion(q0, q1, obstacles)
        undecided += int(found.undecided.sum())
        dense = model.motion_is_free(q0, q1, obstacles, step=0.9 / 1000)
        assert not (found.free & ~dense).any(), scene
        hit = np.flatnonzero(found.collides)
        v = model.robot.difference(q0[hit], q1[hit])
        assert model.collides(
            model.robot.integrate(q0[hit], found.at[hit][:, None] * v), obstacles
        ).all()
        for k in np.flatnonzero(found.free):
            t = np.linspace(0.0, 1.0, 1001)[:, None]
            way = model.robot.integrate(
                np.repeat(q0[k][None], len(t), axis=0), t * model.robot.difference(q0[k], q1[k])
            )
            assert found.clearance[k] <= model.clearance(way, obstacles).distance.min() + 1e-12
    assert undecided <= 1e-3 * MOTIONS


@pytest.mark.parametrize("robot", [arm, slides])
def test_many_proofs_by_coal_hold(robot: Callable[[], CollisionModel]) -> None:
    """Hulls and meshes: motions that are proved free, sampled a thousandfold."""
    model = robot()
    check_proofs_by_coal(model, *ends(model, 300), samples=1000)


@pytest.mark.parametrize("kind", ["cylinder", "box", "capsule", "tapered_capsule"])
def test_no_direction_separates_many_cylinders_more(kind: str) -> None:
    """What coal measures: signed distances are the largest gaps between shadows, within 1e-6 m."""
    rng = np.random.default_rng(300)
    for _ in range(5 if kind == "tapered_capsule" else 50):
        a, b = draw(kind, rng, 2000), draw("cylinder", rng, 2000)
        cylinders = [shape_of("cylinder", row) for row in b]
        shapes = tapers(a) if kind == "tapered_capsule" else [shape_of(kind, row) for row in a]
        check_gaps((kind, "cylinder"), a, b, *answers(shapes, cylinders), rng)


@pytest.mark.parametrize("name", ["ur5e", "panda", "quadruped-12dof"])
def test_no_pair_that_touches_in_a_million_samples_is_left_out(name: str) -> None:
    robot = lw.load(name)
    made = CollisionModel(robot, shapes_on(robot, 4, "mixed"))
    for seed in range(100, 110):
        check_left_out(made, 100_000, seed)


def test_spheres_of_the_panda_at_ten_millimetres() -> None:
    """At most 420 for its nine collision meshes;
    100 000 points of their surfaces stick out by 10 mm at most."""
    found = {body: fit_spheres(mesh, 0.01) for body, mesh in meshes().items()}
    total = sum(map(len, found.values()))
    assert total <= 420
    for body, spheres in found.items():
        points, corners = on_spheres(spheres, 100_000 // total), triangles(meshes()[body])
        for begin in range(0, len(points), 2000):
            assert outside(points[begin : begin + 2000], corners).max() <= 0.01 + 1e-9
