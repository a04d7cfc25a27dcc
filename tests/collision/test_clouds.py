"""Clouds: the answers of as many spheres, at any size; clusters that hold what they say."""

from __future__ import annotations

import numpy as np
import pytest

import linkwork as lw
from linkwork.collision import Cloud, CollisionModel, Obstacles, Sphere
from linkwork.collision.clusters import CLUSTERS, POINTS, clustered
from linkwork.errors import InvalidInput, NotPossible
from tests.collision.scenes import shapes_on
from tests.collision.test_motions import ends

RNG = np.random.default_rng(3)


@pytest.fixture(scope="module")
def arm() -> CollisionModel:
    robot = lw.load("ur5e")
    return CollisionModel(robot, shapes_on(robot, 2, "mixed"), pairs=[])


def test_a_cloud_is_its_points(arm: CollisionModel) -> None:
    points = RNG.uniform(-0.8, 0.8, size=(150, 3)) + [0.3, 0, 0.4]
    q = arm.robot.random(400, seed=1)
    cloud = Obstacles(
        [Sphere((9, 9, 9), 0.1, "far"), Cloud(points[:100], 0.01, "first"), Cloud(points[100:], 0.02, "b")]
    )
    radii = np.r_[np.full(100, 0.01), np.full(50, 0.02)]
    spheres = Obstacles([Sphere(p, r) for p, r in zip(points, radii, strict=True)])
    hits = arm.collides(q, spheres)
    np.testing.assert_array_equal(arm.collides(q, cloud), hits)
    assert 0.1 < hits.mean() < 0.95
    found, expected = arm.clearance(q, cloud), arm.clearance(q, spheres)
    np.testing.assert_array_equal(found.distance, expected.distance)
    np.testing.assert_allclose(found.gradient, expected.gradient, rtol=0, atol=1e-12)
    names = np.array(found.others)[found.other]
    index = expected.other - len(expected.bodies)
    np.testing.assert_array_equal(names, np.where(index < 100, "first", "b"))
    q0, q1 = ends(arm, 60)
    np.testing.assert_array_equal(arm.motion_is_free(q0, q1, cloud), arm.motion_is_free(q0, q1, spheres))
    np.testing.assert_array_equal(arm.certify_motion(q0, q1, cloud).free, arm.certify_motion(q0, q1, spheres).free)


@pytest.mark.parametrize("count", [1, 31, 32, 33, 700, 5000])
def test_clusters_hold_their_points(count: int) -> None:
    points, radii = RNG.normal(size=(count, 3)), RNG.uniform(0, 0.1, count)
    rows = clustered(points, radii, np.arange(count, dtype=float))
    placed, clusters, groups = (rows[f"cloud_{name}"] for name in ("points", "clusters", "groups"))
    np.testing.assert_array_equal(np.sort(placed[0][:, 4]), np.arange(count))
    np.testing.assert_array_equal(placed[0][:, :3], points[placed[0][:, 4].astype(int)])
    held = np.concatenate([np.arange(first, first + n) for first, n in clusters[1]])
    np.testing.assert_array_equal(held, np.arange(count))
    for (x, y, z, reach), (first, n) in zip(clusters[0], clusters[1], strict=True):
        inside = placed[0][first : first + n]
        assert n <= POINTS and (np.linalg.norm(inside[:, :3] - [x, y, z], axis=1) + inside[:, 3] <= reach).all()
    for (x, y, z, reach), (first, n) in zip(groups[0], groups[1], strict=True):
        inside = clusters[0][first : first + n]
        assert n <= CLUSTERS and (np.linalg.norm(inside[:, :3] - [x, y, z], axis=1) + inside[:, 3] <= reach).all()


def test_a_cloud_has_no_pairs_and_is_not_left_out(arm: CollisionModel) -> None:
    scan = Cloud(np.ones((3, 3)), 0.01, name="scan")
    for ask in (arm.clearances, arm.contacts):
        with pytest.raises(NotPossible, match='"scan" is a cloud'):
            ask(np.zeros(arm.subject.nq), [scan])


def test_points_of_the_robot_itself_are_left_out(arm: CollisionModel) -> None:
    """Points on the surface of its own shapes go, those of a wall stay; then the robot no longer touches its cloud."""
    q = arm.robot.random(1, seed=5)[0]
    own = []
    for body, shapes in arm.shapes.items():
        T = arm.robot.pose(q, body)
        for shape in shapes:
            center, _ = shape.ball()
            ways = RNG.normal(size=(20, 3))
            radius = getattr(shape, "radius", 0.0)
            own.append((center + radius * ways / np.linalg.norm(ways, axis=1)[:, None]) @ T[:3, :3].T + T[:3, 3])
    wall = RNG.uniform(-0.5, 0.5, size=(300, 3)) + [3.0, 0, 0]
    seen = np.concatenate([*own, wall])
    kept = arm.without_own_points(q, seen, margin=0.01)
    np.testing.assert_array_equal(kept, wall)
    cloud = arm.without_own_points(q, Cloud(seen, 0.005, "scan"), margin=0.01)
    assert cloud.name == "scan" and cloud.radius == 0.005 and len(cloud.points) == 300
    assert arm.collides(q, [Cloud(seen, 0.005)]) and not arm.collides(q, [cloud])
    near = arm.without_own_points(q, RNG.uniform(-1, 1, (4000, 3)), margin=0.03)
    assert arm.clearance(q, [Cloud(near)]).distance >= 0.03
    with pytest.raises(InvalidInput, match="every point of the cloud is on the robot"):
        arm.without_own_points(q, Cloud(np.concatenate(own)))
