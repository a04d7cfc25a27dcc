"""Distances that coal computes: depths of cylinders, which its search loses at times,
and of meshes that cross."""

from __future__ import annotations

import numpy as np
import pytest

import linkwork as lw
from linkwork.collision import (
    Box,
    Capsule,
    CollisionModel,
    Convex,
    Cylinder,
    HeightField,
    Mesh,
    exact,
    pairs,
)
from linkwork.collision.fitting import fitted
from linkwork.errors import NotPossible
from tests.collision.placements import directions, draw, gaps
from tests.collision.scenes import gantry

HERE = (np.eye(3), np.zeros(3))


def shape_of(kind: str, row: np.ndarray) -> object:
    T = np.eye(4)
    T[:3, 3] = row[:3]
    if kind == "capsule":
        return Capsule(row[:3], row[3:6], row[6])
    if kind == "box":
        T[:3, :3] = row[3:12].reshape(3, 3)
        return Box(2.0 * row[12:15], T)
    T[:3, :3] = exact.axes_along(row[3:6])
    return Cylinder(row[6], 2.0 * row[7], T)


def answers(shapes: list, others: list) -> tuple[np.ndarray, np.ndarray]:
    """(distances (n,), normals (n, 3)) of pairs of shapes."""
    pairs = [
        exact.nearest(shape, HERE, other, HERE) for shape, other in zip(shapes, others, strict=True)
    ]
    return np.array([answer[0] for answer in pairs]), np.array([answer[3] for answer in pairs])


def check_gaps(
    pair: tuple[str, str],
    a: np.ndarray,
    b: np.ndarray,
    distance: np.ndarray,
    normal: np.ndarray,
    rng: np.random.Generator,
) -> None:
    """The signed distance is the gap between shadows along the normal,
    and no direction has a larger one: 1e-6 m."""
    np.testing.assert_allclose(gaps(pair, a, b, normal[:, None])[:, 0], distance, rtol=0, atol=1e-6)
    assert (gaps(pair, a, b, directions(rng, 2000)).max(axis=1) - distance).max() < 1e-6
    near = (
        normal[:, None] + rng.normal(size=(len(a), 300, 3)) * np.geomspace(1e-6, 0.3, 300)[:, None]
    )
    near /= np.linalg.norm(near, axis=2)[..., None]
    assert (gaps(pair, a, b, near).max(axis=1) - distance).max() < 1e-6


@pytest.mark.parametrize("kind", ["cylinder", "box", "capsule"])
def test_no_direction_separates_more_from_a_cylinder(kind: str) -> None:
    rng = np.random.default_rng(5)
    pair, n = (kind, "cylinder"), 400
    a, b = draw(kind, rng, n), draw("cylinder", rng, n)
    distance, normal = answers(
        [shape_of(kind, row) for row in a], [shape_of("cylinder", row) for row in b]
    )
    assert 30 < (distance < 0.0).sum() < 200
    check_gaps(pair, a, b, distance, normal, rng)


def test_a_moved_mesh_is_built_once() -> None:
    points = np.random.default_rng(1).normal(size=(20, 3))
    mesh, hull = Mesh(points, [[0, 1, 2], [2, 3, 4]]), Convex(points)
    for shape in (mesh, hull):
        solid, T = exact.geometry(shape)
        there, T_there = exact.geometry(shape.shifted((1.0, 0.0, 0.0)))
        assert there is solid and T_there[0, 3] == T[0, 3] + 1.0
    assert exact.geometry(Mesh(points, [[0, 1, 2], [2, 3, 5]]))[0] is not exact.geometry(mesh)[0]
    assert mesh == Mesh(points.copy(), [[0, 1, 2], [2, 3, 4]]) and hash(mesh) == hash(
        Mesh(points, mesh.faces)
    )


def test_a_depth_that_coal_leaves_two_micrometres_off_is_improved() -> None:
    """Of 8000 pairs of cylinders one, whose normal and depth did not agree."""
    a = [
        0.016988157304,
        -0.418762813189,
        -0.671829592297,
        -0.133903192681,
        0.968709481132,
        -0.20897817148,
    ]
    b = [
        0.908672817164,
        0.319260771133,
        -0.909258062138,
        0.517962661632,
        0.790484457191,
        0.326877659216,
    ]
    first, second = (
        np.array([[*a, 0.591642685797, 0.258107003214]]),
        np.array([[*b, 0.532845567625, 0.369490648353]]),
    )
    for rows in (first, second):
        rows[:, 3:6] /= np.linalg.norm(rows[:, 3:6])
    distance, normal = answers([shape_of("cylinder", first[0])], [shape_of("cylinder", second[0])])
    check_gaps(("cylinder", "cylinder"), first, second, distance, normal, np.random.default_rng(1))
    _, point, other_point, n = exact.nearest(
        shape_of("cylinder", first[0]), HERE, shape_of("cylinder", second[0]), HERE
    )
    np.testing.assert_allclose(other_point - point, distance * n, rtol=0, atol=1e-12)


@pytest.mark.parametrize("thickness", [0.0, 1e-15, 1e-9])
def test_flat_hulls_have_an_answer(thickness: float) -> None:
    """Points in one plane are refused, others measured however thin their hull;
    coal's Qhull ended the process."""
    points = np.random.default_rng(3).normal(size=(12, 3)) * [1.0, 1.0, thickness]
    hull, box = Convex(points, (0, 0, 1)), Box((0.1, 0.1, 0.1))
    if thickness < 1e-12:
        with pytest.raises(NotPossible, match="12 points in one plane have no hull with an inside"):
            exact.nearest(hull, HERE, box, HERE)
    else:
        assert exact.nearest(hull, HERE, box, HERE)[0] == pytest.approx(0.95, abs=1e-6)


def test_pairs_of_sheets_are_sampled() -> None:
    """Hulls of meshes are asked first, and a sheet has none."""
    sheet = Mesh([[0, 0, 0], [0.1, 0, 0], [0.1, 0.1, 0], [0, 0.1, 0]], [[0, 1, 2], [0, 2, 3]])
    model = CollisionModel(gantry(), {part: [sheet] for part in ("cart", "arm", "tip")}, pairs=[])
    row = pairs(model, samples=50)["cart", "tip"]
    assert row.reason == "never" and 0.25 < row.distance < 0.4


def test_a_vertex_that_no_triangle_names_is_no_corner() -> None:
    mesh = Mesh([*CORNERS, [9.0, 9.0, 9.0]], CUBE)
    hulls, _ = fitted({"block": [mesh]}, "convex", 0.02)
    assert hulls["block"][0].ball()[1] == mesh.ball()[1] == pytest.approx(np.sqrt(0.75))


def triangles(rng: np.random.Generator, n: int) -> np.ndarray:
    """Corners (n, 3, 3), most of which cross the next one's."""
    return rng.normal(size=(n, 3, 3)) * 0.5


def test_two_triangles_that_cross_are_as_deep_as_their_shadows_say() -> None:
    rng = np.random.default_rng(11)
    a, b = triangles(rng, 200), triangles(rng, 200)
    b[:20, :, 2] = a[:20, :, 2] = 0.0  # both in one plane
    b[20:30] = a[20:30]  # the same one
    surfaces = [[Mesh(corners, [[0, 1, 2]]) for corners in several] for several in (a, b)]
    distance, normal = answers(*surfaces)
    assert 60 < (distance < 0.0).sum() < 160
    edges = 0
    for k, (first, second) in enumerate(zip(*surfaces, strict=True)):
        assert exact.touch(first, HERE, second, HERE) == (distance[k] < 0.0)
        _, point, other_point, n = exact.nearest(first, HERE, second, HERE)
        np.testing.assert_allclose(other_point - point, distance[k] * n, rtol=0, atol=1e-9)
        around = np.concatenate(
            [directions(rng, 2000), normal[k] + rng.normal(size=(500, 3)) * 1e-3, normal[k : k + 1]]
        )
        around /= np.linalg.norm(around, axis=1)[:, None]
        shadows = (b[k] @ around.T).min(axis=0) - (a[k] @ around.T).max(axis=0)
        assert shadows.max() <= max(distance[k], -1e-12) + 1e-9
        np.testing.assert_allclose(shadows[-1], distance[k], rtol=0, atol=2e-9)
        # where an edge meets an edge the points lie on them
        ahead, behind = a[k] @ n >= (a[k] @ n).max() - 1e-9, b[k] @ n <= (b[k] @ n).min() + 1e-9
        if distance[k] < 0.0 and ahead.sum() == behind.sum() == 2:
            edges += 1
            corners = (a[k][ahead], point), (b[k][behind], other_point)
            assert all(_beside(*ends, on) < 1e-9 for ends, on in corners)
    assert edges > 10


def _beside(start: np.ndarray, end: np.ndarray, point: np.ndarray) -> float:
    """How far a point is from the line through two others."""
    way = (end - start) / np.linalg.norm(end - start)
    return float(np.linalg.norm(np.cross(point - start, way)))


CORNERS = np.array([[x, y, z] for x in (-0.5, 0.5) for y in (-0.5, 0.5) for z in (-0.5, 0.5)])
SIDES = [
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
CUBE = np.array([*SIDES, [1, 5, 7], [1, 7, 3]])


def test_robots_of_meshes_touch_meshes_and_ground() -> None:
    """Verdict, distance and contacts agree; the gradient is that of differences,
    apart and crossing."""
    robot = lw.load("arm-2")
    tip = robot.bodies[-1]
    model = CollisionModel(robot, {tip: [Mesh(CORNERS * [0.8, 0.06, 0.05], CUBE)]}, pairs=[])
    rng = np.random.default_rng(2)
    block = Mesh(0.5 * CORNERS + rng.normal(size=(8, 3)) * 0.05, CUBE, (0.35, 0.3, 0.1))
    hill = HeightField(
        [[-0.3, -0.1, 0.2], [0.3, -0.2, -0.1], [-0.2, 0.1, 0.3]], 1.0, (-1.0, -1.0, 0.0)
    )
    q, steps = robot.random(24, seed=3), 1e-6 * np.eye(2)
    for other in (block, hill):
        nearest = model.clearance(q, [other])
        touching = model.collides(q, [other])
        np.testing.assert_array_equal(touching, nearest.distance < 0.0)
        assert 2 < touching.sum() < 22
        assert [bool(contacts) for contacts in model.contacts(q, [other])] == touching.tolist()
        ahead, behind = (
            model.clearance(q[:, None] + sign * steps, [other]).distance for sign in (1.0, -1.0)
        )
        agreeing = (np.abs(nearest.gradient - (ahead - behind) / 2e-6) < 1e-4).all(axis=1)
        # where two pairs of triangles are equally deep there are two gradients
        assert agreeing.sum() >= 23
