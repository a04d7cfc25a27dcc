"""Distances that coal computes: depths of cylinders, which its search loses at times, by shadows on lines."""

from __future__ import annotations

import numpy as np
import pytest

from linkwork.collision import Box, Capsule, Convex, Cylinder, Mesh, exact
from tests.collision.placements import directions, draw, gaps

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


@pytest.mark.parametrize("kind", ["cylinder", "box", "capsule"])
def test_no_direction_separates_more_from_a_cylinder(kind: str) -> None:
    rng = np.random.default_rng(5)
    pair, n = (kind, "cylinder"), 400
    a, b = draw(kind, rng, n), draw("cylinder", rng, n)
    found = [exact.nearest(shape_of(kind, x), HERE, shape_of("cylinder", y), HERE) for x, y in zip(a, b, strict=True)]
    distance, normal = np.array([f[0] for f in found]), np.array([f[3] for f in found])
    assert 30 < (distance < 0.0).sum() < 200
    np.testing.assert_allclose(gaps(pair, a, b, normal[:, None])[:, 0], distance, rtol=0, atol=5e-6)
    assert (gaps(pair, a, b, directions(rng, 2000)).max(axis=1) - distance).max() < 5e-6


def test_a_moved_mesh_is_built_once() -> None:
    points = np.random.default_rng(1).normal(size=(20, 3))
    mesh, hull = Mesh(points, [[0, 1, 2], [2, 3, 4]]), Convex(points)
    for shape in (mesh, hull):
        solid, T = exact.geometry(shape)
        there, T_there = exact.geometry(shape.shifted((1.0, 0.0, 0.0)))
        assert there is solid and T_there[0, 3] == T[0, 3] + 1.0
    assert exact.geometry(Mesh(points, [[0, 1, 2], [2, 3, 5]]))[0] is not exact.geometry(mesh)[0]
    assert mesh == Mesh(points.copy(), [[0, 1, 2], [2, 3, 4]]) and hash(mesh) == hash(Mesh(points, mesh.faces))
