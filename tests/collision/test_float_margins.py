"""Distances in floats: wrong by less than the margin by which doubles are asked again,
also where digits cancel.

That is what makes verdicts and proofs those of doubles (tables.py). Nearly parallel, crossing,
along faces, thin.
"""

from __future__ import annotations

import functools

import casadi
import numpy as np
import pytest

import linkwork as lw
from linkwork.collision.distances import COLUMNS, PAIRS
from linkwork.collision.packing import STEPS, UNIT
from tests.collision.placements import directions, draw, kernel

N = 20_000
SHARE = 0.5  # of the margin: the rest is for rounded poses
SMALL = 0.05  # [m] for one: a margin must shrink with what it is for
ROUND = ("capsule", "tapered_capsule")
BETWEEN_LINES = [pair for pair in PAIRS if set(pair) <= set(ROUND)]
BESIDE_BOXES = [pair for pair in PAIRS if pair[1] == "box" and pair[0] in ROUND]
TURNS = {f"r{i}{j}" for i in range(3) for j in range(3)} | {
    f"{kind}{axis}" for kind in "an" for axis in "xyz"
}
LENGTHS = {kind: [name not in TURNS for name in names] for kind, names in COLUMNS.items()}


@functools.cache
def in_floats(kind, other_kind):
    """The distance of a pair of kinds in float lanes, without a second look in doubles."""

    def recipe(k):
        a, b = (k.input(name, len(COLUMNS[of])) for name, of in (("a", kind), ("b", other_kind)))
        distance = k.variable()
        columns = casadi.vertsplit(a), casadi.vertsplit(b)
        k.assign(distance, PAIRS[kind, other_kind](*columns).distance)
        k.output("distance", distance)

    return lw.staged(recipe, floats=True)


def check(pair, a, b):
    """Apart the distances agree; overlapping shapes are not taken for ones that are apart.
    As they are, and small."""
    for scale in (1.0, SMALL):
        scaled = (
            np.where(LENGTHS[kind], scale * x, x) for kind, x in zip(pair, (a, b), strict=True)
        )
        # rounding of what comes in is not asked about
        p, q = (x.astype(np.float32).astype(float) for x in scaled)
        exact, found = kernel(*pair)(p, q)[0], np.ravel(in_floats(*pair)(p, q))
        error = np.where(exact > 0.0, np.abs(found - exact), np.maximum(found, 0.0))
        far = [
            np.abs(x[:, LENGTHS[kind]]).max(axis=1) for kind, x in zip(pair, (p, q), strict=True)
        ]
        worst = (error / (STEPS * UNIT * (far[0] + far[1]))).max()
        assert worst < SHARE, (scale, worst)


@pytest.mark.parametrize("pair", PAIRS, ids="-".join)
def test_placements_at_random(pair):
    rng = np.random.default_rng(1)
    check(pair, draw(pair[0], rng, N), draw(pair[1], rng, N))


def with_radii(kind, ends, rng):
    """Thin ones: at most a millimetre."""
    return np.c_[ends, rng.uniform(0.0, 1e-3, (N, len(COLUMNS[kind]) - 6))]


@pytest.mark.parametrize("pair", BETWEEN_LINES, ids="-".join)
def test_lines_that_cross_at_small_angles(pair):
    rng = np.random.default_rng(2)
    middle, along, way = rng.uniform(-1, 1, (N, 3)), directions(rng, N), directions(rng, N)
    way -= (way * along).sum(axis=1)[:, None] * along
    way /= np.linalg.norm(way, axis=1)[:, None]
    angle = 10 ** rng.uniform(-7, -0.2, (N, 1))
    apart = np.where(rng.random((N, 1)) < 0.5, 0.0, 10 ** rng.uniform(-4, -1, (N, 1)))
    ends = []
    for u in (along, np.cos(angle) * along + np.sin(angle) * way):
        length, share = rng.uniform(0.1, 1.5, (N, 1)), rng.uniform(0, 1, (N, 1))
        start = middle - share * length * u
        ends.append(np.c_[start, start + length * u])
    ends[1] += np.tile(apart * np.cross(along, way), 2)
    check(pair, *(with_radii(kind, x, rng) for kind, x in zip(pair, ends, strict=True)))


@pytest.mark.parametrize("pair", BESIDE_BOXES, ids="-".join)
def test_lines_along_faces(pair):
    rng = np.random.default_rng(3)
    box, rows = draw("box", rng, N), np.arange(N)
    R, half = box[:, 3:12].reshape(-1, 3, 3), box[:, 12:15]
    axis = rng.integers(0, 3, N)
    along = R[rows, :, axis] + 10 ** rng.uniform(-7, -1, (N, 1)) * directions(rng, N)
    place, side = rng.uniform(-1.2, 1.2, (N, 3)) * half, (axis + 1) % 3
    above = 10 ** rng.uniform(-6, -1, N) * rng.choice([-1, 1], N)
    place[rows, side] = rng.choice([-1, 1], N) * (half[rows, side] + above)
    start = np.einsum("nij,nj->ni", R, place) + box[:, :3]
    ends = np.c_[start, start + rng.uniform(0, 1, (N, 1)) * along]
    check(pair, with_radii(pair[0], ends, rng), box)
