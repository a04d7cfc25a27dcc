"""Distances of every pair of kinds against coal,
and where coal has no answer against what must hold."""

from __future__ import annotations

import numpy as np
import pytest

from linkwork.collision.distances import KINDS, PAIRS
from tests.collision.placements import (
    balls_of,
    by_coal,
    directions,
    draw,
    gaps,
    kernel,
    rotations,
    support,
)

IN_COAL = [pair for pair in PAIRS if "tapered_capsule" not in pair]
TAPERED = [pair for pair in PAIRS if "tapered_capsule" in pair]
ids = "-".join


@pytest.mark.parametrize("pair", IN_COAL, ids=ids)
def test_distances_and_nearest_points_are_those_of_coal(pair):
    """Closed forms on both sides: rounding of a few metres, and of a small angle for the points."""
    rng = np.random.default_rng(KINDS.index(pair[0]) * 10 + KINDS.index(pair[1]))
    a, b = draw(pair[0], rng, 1500), draw(pair[1], rng, 1500)
    distance, point, other_point, normal = kernel(*pair)(a, b)
    expected, coal_point, coal_other, coal_normal = by_coal(pair[0], a, pair[1], b)
    right = np.full(len(a), True)
    # of a deep sphere coal 3.0 takes the side, although the cap is nearer
    if pair == (
        "sphere",
        "cylinder",
    ):
        right = (expected > -a[:, 3]) | (np.abs(distance - expected) < 1e-11)
        assert right.mean() > 0.98 and (distance[~right] > expected[~right]).all()
    np.testing.assert_allclose(distance[right], expected[right], rtol=0, atol=1e-11)
    clear = expected > 1e-3  # nearest points are unique for round shapes that are apart
    assert 0.1 < clear.mean() < 0.95
    np.testing.assert_allclose(point[clear], coal_point[clear], rtol=0, atol=1e-9)
    np.testing.assert_allclose(other_point[clear], coal_other[clear], rtol=0, atol=1e-9)
    np.testing.assert_allclose(normal[clear], coal_normal[clear], rtol=0, atol=1e-9)


@pytest.mark.parametrize("pair", PAIRS, ids=ids)
def test_points_normal_and_distance_agree(pair):
    """Overlapping or apart: a unit normal, and the way from point to point is the distance along
    it."""
    rng = np.random.default_rng(5)
    a, b = draw(pair[0], rng, 3000), draw(pair[1], rng, 3000)
    distance, point, other_point, normal = kernel(*pair)(a, b)
    np.testing.assert_allclose(np.linalg.norm(normal, axis=1), 1.0, rtol=0, atol=1e-12)
    np.testing.assert_allclose(other_point - point, distance[:, None] * normal, rtol=0, atol=1e-9)


@pytest.mark.parametrize("pair", PAIRS, ids=ids)
def test_the_points_lie_on_their_shapes(pair):
    """Overlapping or apart: a ball without size at each point touches the surface of its shape."""
    rng = np.random.default_rng(7)
    a, b = draw(pair[0], rng, 3000), draw(pair[1], rng, 3000)
    distance, point, other_point, _ = kernel(*pair)(a, b)
    assert 0.05 < (distance < 0.0).mean() < 0.95
    for kind, shape, on in ((pair[0], a, point), (pair[1], b, other_point)):
        from_shape = kernel("sphere", kind)(np.c_[on, np.zeros(len(on))], shape)[0]
        np.testing.assert_allclose(from_shape, 0.0, rtol=0, atol=2e-9)


@pytest.mark.parametrize("pair", PAIRS, ids=ids)
def test_moving_apart_along_the_normal_ends_an_overlap(pair):
    """The depth is enough: the first shape moved back by it touches the second."""
    rng = np.random.default_rng(6)
    a, b = draw(pair[0], rng, 3000), draw(pair[1], rng, 3000)
    compiled = kernel(*pair)
    distance, _, _, normal = compiled(a, b)
    moved = a.copy()
    if pair[0] == "half_space":
        moved[:, 3] += (moved[:, :3] * normal).sum(axis=1) * distance
    for begin in {"capsule": (0, 3), "tapered_capsule": (0, 3), "half_space": ()}.get(
        pair[0], (0,)
    ):
        moved[:, begin : begin + 3] += distance[:, None] * normal
    np.testing.assert_allclose(compiled(moved, b)[0], 0.0, rtol=0, atol=1e-9)


@pytest.mark.parametrize("pair", [pair for pair in PAIRS if "half_space" not in pair], ids=ids)
def test_no_direction_separates_more_than_the_distance(pair):
    """The signed distance of convex bodies is the largest gap between their shadows on a line.

    gap(n) = -h_a(n) - h_b(-n) of their support functions, apart or overlapping. Ours is one of
    them, and none of 5000 directions around the sphere, nor of 500 around our normal, gives more.
    """
    rng = np.random.default_rng(8)
    a, b = draw(pair[0], rng, 400), draw(pair[1], rng, 400)
    distance, _, _, normal = kernel(*pair)(a, b)
    everywhere = directions(rng, 5000)
    largest = gaps(pair, a, b, everywhere).max(axis=1)
    assert (largest - distance).max() < 1e-9
    near = (
        normal[:, None] + rng.normal(size=(len(a), 500, 3)) * np.geomspace(1e-4, 0.3, 500)[:, None]
    )
    assert (
        gaps(pair, a, b, near / np.linalg.norm(near, axis=2)[..., None]).max(axis=1) - distance
    ).max() < 1e-9
    np.testing.assert_allclose(gaps(pair, a, b, normal[:, None])[:, 0], distance, rtol=0, atol=1e-9)


@pytest.mark.parametrize("pair", TAPERED, ids=ids)
def test_distances_of_tapered_capsules_are_proved(pair):
    check_proofs(pair, np.random.default_rng(9), 3000)


def check_proofs(pair, rng, n):
    """Distances of hulls of two balls, each proved by a pair of bounds that meet (weak duality).

    No gap between shadows exceeds the signed distance, and no pair of balls inside the two shapes
    is nearer than it: our normal gives the one, our points the other, and both are our distance. A
    box that overlaps holds no such ball: there the points prove it where it is apart, and where not
    no other direction may give a larger gap.
    """
    a, b = draw(pair[0], rng, n), draw(pair[1], rng, n)
    distance, point, other_point, normal = kernel(*pair)(a, b)
    if pair[1] == "half_space":
        low = -support(pair[0], a, -b[:, None, :3])[:, 0]
        np.testing.assert_allclose(distance, low - b[:, 3], rtol=0, atol=1e-12)
        return
    np.testing.assert_allclose(gaps(pair, a, b, normal[:, None])[:, 0], distance, rtol=0, atol=1e-9)
    center, radius = balls_of(pair[0], a, point, normal)
    if pair[1] != "box":
        other_center, other_radius = balls_of(pair[1], b, other_point, -normal)
        between = np.linalg.norm(other_center - center, axis=1) - radius - other_radius
        np.testing.assert_allclose(between, distance, rtol=0, atol=1e-9)
        return
    local = np.einsum("kji,kj->ki", b[:, 3:12].reshape(-1, 3, 3), other_point - b[:, :3])
    assert (np.abs(local) <= b[:, 12:15] + 1e-8).all()
    apart = distance > 0
    between = np.linalg.norm(other_point - center, axis=1) - radius
    np.testing.assert_allclose(between[apart], distance[apart], rtol=0, atol=1e-9)
    for begin in range(0, n, 1000):
        some = np.flatnonzero(~apart[begin : begin + 1000]) + begin
        around = directions(rng, 1000)
        near = (
            normal[some, None]
            + rng.normal(size=(len(some), 200, 3)) * np.geomspace(1e-4, 0.3, 200)[:, None]
        )
        near /= np.linalg.norm(near, axis=2)[..., None]
        for n_world in (around, near):
            assert (gaps(pair, a[some], b[some], n_world).max(axis=1) - distance[some]).max() < 1e-9


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
    distance, point, other_point, normal = kernel("capsule", "box")(
        np.array([*start, *end, 0.5]), BOX
    )
    np.testing.assert_allclose(distance, expected, rtol=0, atol=1e-14)
    np.testing.assert_allclose(other_point - point, distance * normal, rtol=0, atol=1e-14)
    assert np.all(np.abs(other_point) <= np.array([1, 2, 3]) + 2e-9)  # on the box


NOTHING = {
    "sphere": [0, 0, 0, 0],
    "capsule": [0] * 7,
    "tapered_capsule": [0] * 8,
    "box": [0, 0, 0, *np.eye(3).ravel(), 0, 0, 0],
    "half_space": [0, 0, 1, 0],
    "cylinder": [0, 0, 0, 0, 0, 1, 0, 0],
}


@pytest.mark.parametrize("pair", PAIRS, ids=ids)
def test_shapes_without_size_have_an_answer(pair):
    """Two points at one place: distance zero, and everything finite;
    at two places the distance of the points."""
    a, b = (np.array(NOTHING[kind], dtype=float) for kind in pair)
    compiled = kernel(*pair)
    distance, *vectors = compiled(a, b)
    assert distance == 0.0 and np.isfinite(vectors).all()
    np.testing.assert_allclose(np.linalg.norm(vectors[2]), 1.0, rtol=0, atol=1e-15)
    shift = 2.0
    for first in {"capsule": (2, 5), "tapered_capsule": (2, 5), "half_space": ()}.get(
        pair[0], (2,)
    ):
        a[first] += shift
    if pair[0] == "half_space":
        a[3] -= shift
    np.testing.assert_allclose(compiled(a, b)[0], shift, rtol=0, atol=1e-15)


def test_a_ball_that_holds_the_other_is_the_tapered_capsule():
    big = np.array([0, 0, 0, 0, 0, 0.1, 1.0, 0.2])
    for point in np.random.default_rng(0).normal(size=(50, 3)) * 2:
        distance = kernel("sphere", "tapered_capsule")(np.array([*point, 0.3]), big)[0]
        np.testing.assert_allclose(distance, np.linalg.norm(point) - 1.3, rtol=0, atol=1e-15)


def test_a_tapered_capsule_without_taper_is_a_capsule():
    rng = np.random.default_rng(4)
    capsules = draw("capsule", rng, 500)
    tapered = np.c_[capsules, capsules[:, 6]]
    for kind in ("sphere", "capsule", "box", "half_space"):
        other = draw(kind, rng, 500)
        first = kind in ("sphere", "capsule")
        plain = (
            kernel(kind, "capsule")(other, capsules)
            if first
            else kernel("capsule", kind)(capsules, other)
        )
        same = (
            kernel(kind, "tapered_capsule")(other, tapered)
            if first
            else kernel("tapered_capsule", kind)(tapered, other)
        )
        np.testing.assert_allclose(same[0], plain[0], rtol=0, atol=1e-12)
