"""Distances of every pair of kinds against coal, and where coal has no answer against what must hold."""

from __future__ import annotations

import numpy as np
import pytest

from linkwork.collision.distances import KINDS, PAIRS
from tests.collision.placements import by_coal, draw, kernel, rotations

IN_COAL = [pair for pair in PAIRS if "tapered_capsule" not in pair]
ids = "-".join


@pytest.mark.parametrize("pair", IN_COAL, ids=ids)
def test_distances_and_nearest_points_are_those_of_coal(pair):
    """Closed forms on both sides: rounding of a few metres, and of a small angle for the points."""
    rng = np.random.default_rng(KINDS.index(pair[0]) * 10 + KINDS.index(pair[1]))
    a, b = draw(pair[0], rng, 3000), draw(pair[1], rng, 3000)
    distance, point, other_point, normal = kernel(*pair)(a, b)
    expected, coal_point, coal_other, coal_normal = by_coal(pair[0], a, pair[1], b)
    np.testing.assert_allclose(distance, expected, rtol=0, atol=1e-11)
    clear = expected > 1e-3  # nearest points are unique for round shapes that are apart
    assert 0.1 < clear.mean() < 0.95
    np.testing.assert_allclose(point[clear], coal_point[clear], rtol=0, atol=1e-9)
    np.testing.assert_allclose(other_point[clear], coal_other[clear], rtol=0, atol=1e-9)
    np.testing.assert_allclose(normal[clear], coal_normal[clear], rtol=0, atol=1e-9)


@pytest.mark.parametrize("pair", PAIRS, ids=ids)
def test_points_normal_and_distance_agree(pair):
    """Overlapping or apart: a unit normal, and the way from point to point is the distance along it."""
    rng = np.random.default_rng(5)
    a, b = draw(pair[0], rng, 3000), draw(pair[1], rng, 3000)
    distance, point, other_point, normal = kernel(*pair)(a, b)
    np.testing.assert_allclose(np.linalg.norm(normal, axis=1), 1.0, rtol=0, atol=1e-12)
    np.testing.assert_allclose(other_point - point, distance[:, None] * normal, rtol=0, atol=1e-9)


@pytest.mark.parametrize("pair", PAIRS, ids=ids)
def test_moving_apart_along_the_normal_ends_an_overlap(pair):
    """The depth is enough: the first shape moved back by it touches the second."""
    rng = np.random.default_rng(6)
    a, b = draw(pair[0], rng, 3000), draw(pair[1], rng, 3000)
    compiled = kernel(*pair)
    distance, _, _, normal = compiled(a, b)
    moved = a.copy()
    for begin in (0, 3) if pair[0] in ("capsule", "tapered_capsule") else (0,):
        moved[:, begin : begin + 3] += distance[:, None] * normal
    np.testing.assert_allclose(compiled(moved, b)[0], 0.0, rtol=0, atol=1e-9)


def test_crossing_parallel_and_equal_axes_of_capsules():
    turned = rotations(np.random.default_rng(1), 1).reshape(3, 3)
    segments = {
        "crossing": ([-1, 0, 0], [1, 0, 0], [0, -1, 0], [0, 1, 0], -0.3),
        "equal": ([-1, 0, 0], [1, 0, 0], [-1, 0, 0], [1, 0, 0], -0.3),
        "parallel, beside": ([-1, 0, 0], [1, 0, 0], [-1, 0, 2], [1, 0, 2], 1.7),
        "parallel, behind": ([-1, 0, 0], [1, 0, 0], [3, 0, 0], [2, 0, 0], 0.7),
        "two points": ([0, 0, 0], [0, 0, 0], [0, 0, 1], [0, 0, 1], 0.7),
        "one point": ([0, 0, 0], [0, 0, 0], [0, 0, 0], [0, 0, 0], -0.3),
        "a point in an axis": ([0, 0, 0], [0, 0, 0], [-1, 0, 0], [1, 0, 0], -0.3),
    }
    for p0, p1, q0, q1, expected in segments.values():
        a = np.concatenate([turned @ p0, turned @ p1, [0.1]])
        b = np.concatenate([turned @ q0, turned @ q1, [0.2]])
        distance, point, other_point, normal = kernel("capsule", "capsule")(a, b)
        np.testing.assert_allclose(distance, expected, rtol=0, atol=1e-14)
        np.testing.assert_allclose(other_point - point, distance * normal, rtol=0, atol=1e-14)


BOX = np.concatenate([[0, 0, 0], np.eye(3).ravel(), [1.0, 2.0, 3.0]])


@pytest.mark.parametrize(
    ("center", "expected", "normal"),
    [
        ([0, 0, 0], -1.5, [-1, 0, 0]),  # ties go to the first face
        ([0.9, 0, 0], -0.6, [-1, 0, 0]),
        ([0, -1.9, 0], -0.6, [0, 1, 0]),
        ([1, 2, 3], -0.5, [-1, 0, 0]),  # exactly on a corner
        ([2, 3, 3], np.sqrt(2) - 0.5, [-np.sqrt(0.5), -np.sqrt(0.5), 0]),
        ([2, 3, 4], np.sqrt(3) - 0.5, [-np.sqrt(1 / 3)] * 3),
    ],
)
def test_a_sphere_at_faces_edges_and_corners_of_a_box(center, expected, normal):
    distance, _, _, direction = kernel("sphere", "box")(np.array([*center, 0.5]), BOX)
    np.testing.assert_allclose(distance, expected, rtol=0, atol=1e-14)
    np.testing.assert_allclose(direction, normal, rtol=0, atol=1e-14)


@pytest.mark.parametrize(
    ("start", "end", "expected"),
    [
        ([0, 0, 0], [0, 0, 0], -1.5),  # a point in the middle
        ([-5, 0, 0], [5, 0, 0], -2.5),  # through the box: out sideways, by y
        ([-5, 1.9, 2.9], [5, 1.9, 2.9], -0.6),
        ([0, 0, 5], [0, 0, 9], 1.5),  # above it
        ([-5, 0, 4], [5, 0, 4], 0.5),  # along a face
        ([1, 2, -9], [1, 2, 9], -0.5),  # along an edge, on it
        ([3, 0, -9], [3, 0, 9], 1.5),
        ([2, 2, 0], [0, 4, 0], np.sqrt(0.5) - 0.5),  # past an edge
    ],
)
def test_a_capsule_at_special_places_of_a_box(start, end, expected):
    distance, point, other_point, normal = kernel("capsule", "box")(np.array([*start, *end, 0.5]), BOX)
    np.testing.assert_allclose(distance, expected, rtol=0, atol=1e-14)
    np.testing.assert_allclose(other_point - point, distance * normal, rtol=0, atol=1e-14)
    assert np.all(np.abs(other_point) <= np.array([1, 2, 3]) + 2e-9)  # on the box
