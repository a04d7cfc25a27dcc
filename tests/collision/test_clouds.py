"""Clouds: the answers of as many spheres, at any size; clusters that hold what they say."""

from __future__ import annotations

import numpy as np
import pytest

from linkwork.collision import Box, Cloud, CollisionModel, Convex, Obstacles, Sphere
from linkwork.collision.clusters import CLUSTERS, POINTS, clustered
from linkwork.errors import InvalidInput
from tests.collision.scenes import capsule_gantry, gantry, tapered_gantry, tip_of_gantry
from tests.collision.test_motions import ends

RNG = np.random.default_rng(3)


@pytest.fixture(scope="module", params=[capsule_gantry, tapered_gantry])
def arm(request: pytest.FixtureRequest) -> CollisionModel:
    return CollisionModel(gantry(), request.param().shapes, pairs=[])


def test_a_cloud_is_its_points(arm: CollisionModel) -> None:
    points = RNG.uniform(-0.8, 0.8, size=(150, 3)) * [1, 1, 0.15] + [0.3, 0, 0.2]
    q = arm.robot.random(400, seed=1)
    cloud = Obstacles(
        [
            Sphere((9, 9, 9), 0.1, "far"),
            Cloud(points[:100], 0.01, "first"),
            Cloud(points[100:], 0.02, "b"),
        ]
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
    np.testing.assert_array_equal(
        arm.motion_is_free(q0, q1, cloud), arm.motion_is_free(q0, q1, spheres)
    )
    np.testing.assert_array_equal(
        arm.certify_motion(q0, q1, cloud).free, arm.certify_motion(q0, q1, spheres).free
    )


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
        assert (
            n <= POINTS
            and (np.linalg.norm(inside[:, :3] - [x, y, z], axis=1) + inside[:, 3] <= reach).all()
        )
    for (x, y, z, reach), (first, n) in zip(groups[0], groups[1], strict=True):
        inside = clusters[0][first : first + n]
        assert (
            n <= CLUSTERS
            and (np.linalg.norm(inside[:, :3] - [x, y, z], axis=1) + inside[:, 3] <= reach).all()
        )


def test_a_cloud_is_one_obstacle_of_every_pair(arm: CollisionModel) -> None:
    """Its nearest point counts, for each body; points,
    normals and gradients are those of that point as a sphere."""
    points = RNG.uniform(-0.8, 0.8, size=(1100, 3)) + [0.3, 0, 0.4]
    clouds = Obstacles(
        {
            "a": Cloud(points[:40], 0.02),
            "post": Sphere((0.5, 0, 0.5), 0.1),
            "b": Cloud(points[40:], 0),
        }
    )
    q = arm.robot.random(5, seed=2)
    found, moving = arm.clearances(q, clouds), len(arm.tables.moving)
    assert found.other.tolist() == moving * ["a"] + moving * ["post"] + moving * ["b"]
    for first, own, radius in ((0, points[:40], 0.02), (2 * moving, points[40:], 0.0)):
        alone = arm.clearances(q, [Sphere(p, radius) for p in own])
        distance = alone.distance.reshape(5, len(own), moving)
        which = distance.argmin(axis=1)
        rows, bodies = np.arange(5)[:, None], np.arange(moving)
        np.testing.assert_array_equal(
            found.distance[:, first : first + moving], distance[rows, which, bodies]
        )
        for name in ("point", "other_point", "normal", "gradient"):
            every = getattr(alone, name).reshape(5, len(own), moving, -1)
            got = getattr(found, name)[:, first : first + moving]
            np.testing.assert_allclose(got, every[rows, which, bodies], rtol=0, atol=1e-12)
    hits = arm.collides(q, clouds)
    contacts = arm.contacts(q, clouds)
    assert [bool(own) for own in contacts] == hits.tolist() and hits.any()
    assert {c.other for own in contacts for c in own} <= {"a", "post", "b"}


def test_gradients_beside_a_cloud_are_those_of_differences(arm: CollisionModel) -> None:
    cloud = Obstacles(
        [Cloud(RNG.uniform(-0.8, 0.8, size=(3000, 3)) + [0.3, 0, 0.4], 0.002, "scan")]
    )
    q, step = arm.robot.random(200, seed=8), 1e-6
    found = arm.clearance(q, cloud)
    shifts = step * np.eye(arm.robot.nv)
    ahead, behind = (arm.clearance(q[:, None] + s * shifts, cloud).distance for s in (1, -1))
    right = np.abs(found.gradient - (ahead - behind) / (2 * step)).max(axis=1) < 1e-5
    assert right.mean() > 0.97  # the others have two nearest points


def test_hulls_and_meshes_meet_clouds_through_coal() -> None:
    """Corners of a box as a hull: the distances of the box itself, which machine code knows."""
    pytest.importorskip("coal")
    size = np.array([0.2, 0.1, 0.3])
    corners = 0.5 * size * np.array(np.meshgrid([-1, 1], [-1, 1], [-1, 1])).reshape(3, -1).T
    box, hull = tip_of_gantry(Box(size.tolist())), tip_of_gantry(Convex(corners))
    q = box.robot.random(40, seed=6)
    cloud = Obstacles([Cloud(RNG.uniform(-0.8, 0.8, size=(60, 3)), 0.03, "scan")])
    expected, found = box.clearance(q, cloud), hull.clearance(q, cloud)
    np.testing.assert_allclose(found.distance, expected.distance, rtol=0, atol=1e-6)
    np.testing.assert_array_equal(hull.collides(q, cloud), expected.distance < 0)
    assert 0.05 < (expected.distance < 0).mean() < 0.9
    apart = expected.distance > 1e-3  # inside, two faces may be equally near
    np.testing.assert_allclose(found.gradient[apart], expected.gradient[apart], rtol=0, atol=1e-5)
    pairs = hull.clearances(q, cloud)
    np.testing.assert_array_equal(pairs.distance[:, 0], found.distance)
    np.testing.assert_array_equal(pairs.gradient[:, 0], found.gradient)


def test_points_of_the_robot_itself_are_left_out(arm: CollisionModel) -> None:
    """Points on the surface of its own shapes go, those of a wall stay;
    then the robot no longer touches its cloud."""
    q = arm.robot.random(1, seed=5)[0]
    own = []
    for body, shapes in arm.shapes.items():
        T = arm.robot.pose(q, body)
        for shape in shapes:
            center, _ = shape.ball()
            ways = RNG.normal(size=(20, 3))
            radius = getattr(shape, "radius", 0.0)
            own.append(
                (center + radius * ways / np.linalg.norm(ways, axis=1)[:, None]) @ T[:3, :3].T
                + T[:3, 3]
            )
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
