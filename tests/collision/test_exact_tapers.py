"""Tapered capsules against what only coal measures, by closed forms,
shadows on lines and balls inside."""

from __future__ import annotations

import numpy as np

from linkwork.collision import (
    Capsule,
    CollisionModel,
    Convex,
    Cylinder,
    HeightField,
    Mesh,
    Sphere,
    TaperedCapsule,
    exact,
)
from tests.collision.placements import directions, draw, gaps, kernel
from tests.collision.scenes import gantry, tapered_gantry, turned

HERE = (np.eye(3), np.zeros(3))
CORNERS = np.array([[x, y, z] for x in (-0.5, 0.5) for y in (-0.5, 0.5) for z in (-0.5, 0.5)])
FACES = np.array(
    [
        [0, 1, 3],
        [0, 3, 2],
        [4, 6, 7],
        [4, 7, 5],
        [0, 4, 5],
        [0, 5, 1],
        [2, 3, 7],
        [2, 7, 6],
        [0, 2, 6],
        [0, 6, 4],
    ]
    + [[1, 5, 7], [1, 7, 3]]
)


def tapers(rows: np.ndarray) -> list[TaperedCapsule]:
    return [TaperedCapsule(row[:3], row[3:6], row[6], row[7]) for row in rows]


def pose_of(rows: np.ndarray) -> list[np.ndarray]:
    found = []
    for row in rows:
        T = np.eye(4)
        T[:3, :3], T[:3, 3] = row[3:12].reshape(3, 3), row[:3]
        found.append(T)
    return found


def test_hulls_of_boxes_are_as_far_as_boxes() -> None:
    rng = np.random.default_rng(1)
    a, b = draw("tapered_capsule", rng, 150), draw("box", rng, 150)
    distance = kernel("tapered_capsule", "box")(a, b)[0]
    hulls = [Convex(2.0 * row[12:15] * CORNERS, T) for row, T in zip(b, pose_of(b), strict=True)]
    by_coal = [
        exact.nearest(taper, HERE, hull, HERE) for taper, hull in zip(tapers(a), hulls, strict=True)
    ]
    assert 30 < (distance < 0.0).sum() < 120
    # depths close in until bounds are 1e-7 m apart
    np.testing.assert_allclose([found[0] for found in by_coal], distance, rtol=0, atol=2e-7)
    for found, taper, hull in zip(by_coal, tapers(a), hulls, strict=True):
        turned_about = exact.nearest(hull, HERE, taper, HERE)
        assert turned_about[0] == found[0]
        np.testing.assert_array_equal(turned_about[3], -found[3])
        np.testing.assert_allclose((found[2] - found[1]) @ found[3], found[0], rtol=0, atol=1e-8)


def test_no_direction_separates_a_cylinder_more() -> None:
    rng = np.random.default_rng(2)
    pair, n = ("tapered_capsule", "cylinder"), 100
    a, b = draw(pair[0], rng, n), draw(pair[1], rng, n)
    found = []
    for taper, row in zip(tapers(a), b, strict=True):
        T = np.eye(4)
        T[:3, :3], T[:3, 3] = exact.axes_along(row[3:6]), row[:3]
        found.append(exact.nearest(taper, HERE, Cylinder(row[6], 2.0 * row[7], T), HERE))
    distance, normal = np.array([f[0] for f in found]), np.array([f[3] for f in found])
    assert 10 < (distance < 0.0).sum() < 80
    np.testing.assert_allclose(gaps(pair, a, b, normal[:, None])[:, 0], distance, rtol=0, atol=1e-6)
    assert (gaps(pair, a, b, directions(rng, 5000)).max(axis=1) - distance).max() < 1e-6
    near = normal[:, None] + rng.normal(size=(n, 300, 3)) * np.geomspace(1e-4, 0.3, 300)[:, None]
    assert (
        gaps(pair, a, b, near / np.linalg.norm(near, axis=2)[..., None]).max(axis=1) - distance
    ).max() < 1e-6


def nearest_ball(taper: TaperedCapsule, other: object) -> float:
    """The least distance of 200 balls inside a hull of two balls."""
    start, end = np.array(taper.start), np.array(taper.end)
    balls = []
    for s in np.linspace(0.0, 1.0, 200):
        radius = (1.0 - s) * taper.start_radius + s * taper.end_radius
        balls.append(
            exact.nearest(Sphere((1.0 - s) * start + s * end, radius), HERE, other, HERE)[0]
        )
    return min(balls)


def test_meshes_and_ground_are_as_far_as_from_the_balls_inside() -> None:
    rng = np.random.default_rng(3)
    mesh = Mesh(CORNERS * [0.6, 0.4, 0.5], FACES, turned(0.7, (0.1, 0.2, 0.0)), margin=0.01)
    ground = HeightField(rng.uniform(-0.1, 0.1, (6, 6)), 0.2, (-0.5, -0.5, -0.6))
    for other in (mesh, ground):
        apart = 0
        for taper in tapers(draw("tapered_capsule", rng, 9) * 0.7):
            distance = exact.nearest(taper, HERE, other, HERE)[0]
            inside = nearest_ball(taper, other)
            apart += distance > 0.0
            # balls a two-hundredth of the length apart are at most that much further
            if distance > 0.0:
                assert (
                    inside - 5e-6 - np.linalg.norm(np.subtract(taper.end, taper.start)) / 200
                    < distance
                )
                assert distance < inside + 1e-7
            # of surfaces that are crossed only the deepest triangle counts
            assert (distance < 0.0) == (inside < 0.0)
        assert 2 < apart < 9


def test_equal_balls_are_a_capsule_and_a_ball_within_the_other_is_gone() -> None:
    mesh = Mesh(CORNERS, FACES)
    for taper, same in (
        (TaperedCapsule((0.9, 0, 0), (1, 1, 0), 0.2, 0.2), Capsule((0.9, 0, 0), (1, 1, 0), 0.2)),
        (TaperedCapsule((0.9, 0, 0), (1, 0, 0), 0.1, 0.3), Sphere((1, 0, 0), 0.3)),
    ):
        assert exact.nearest(taper, HERE, mesh, HERE)[0] == exact.nearest(same, HERE, mesh, HERE)[0]


def test_a_model_of_tapered_capsules_answers_about_everything() -> None:
    arm = gantry()
    model = CollisionModel(arm, tapered_gantry().shapes, pairs=[])
    cylinder = Cylinder(0.05, 0.2, (0.3, 0.5, 0.2))
    others = [
        Convex(0.2 * CORNERS + [0.5, 0.4, 0.3]),
        Mesh(0.2 * CORNERS, FACES, (0.2, 0.7, 0.2)),
        cylinder,
    ]
    others.append(
        HeightField([[0.0, 0.0, 0.2], [0.1, 0.2, 0.3], [0.3, 0.3, 0.3]], 2.0, (-2.0, -2.0, -0.2))
    )
    q = arm.random(12, seed=1)
    for other in others:
        touching, nearest = model.collides(q, [other]), model.clearance(q, [other])
        assert (touching == (nearest.distance < 0.0)).all()
        for k in np.flatnonzero(np.abs(nearest.distance) > 1e-3)[:2]:
            h = 1e-5
            slopes = []
            for j in range(arm.nv):
                step = h * np.eye(arm.nv)[j]
                ends = [model.clearance(q[k] + sign * step, [other]).distance for sign in (1, -1)]
                slopes.append((ends[0] - ends[1]) / (2 * h))
            tolerance = 1e-5 if nearest.distance[k] > 0.0 else 2e-2  # depths are known to 1e-7 m
            np.testing.assert_allclose(nearest.gradient[k], slopes, rtol=0, atol=tolerance)
