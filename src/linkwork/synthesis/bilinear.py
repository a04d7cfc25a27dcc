"""Bilinear: equations x' M_j y = 0 in two projective points,
2 k of them for points of k + 1 coordinates.

A spherical dyad is two directions (k = 2), a link between two ball joints is two points of space
(k = 3). The last coordinate is one: unknowns are the k others of x, then those of y. There are
(2k)! / (k!)^2 solutions: 6 and 20.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from math import comb
from pathlib import Path

import numpy as np

from linkwork.engine import keys
from linkwork.polynomials import Complex, Starts, System

NAMES = {2: "spherical", 3: "ss"}


def count(k: int) -> int:
    """How many solutions there are."""
    return comb(2 * k, k)


@functools.cache
def system(k: int) -> System:
    """2 k unknowns; parameters are the matrices M_1 .. M_2k, row by row."""
    side = k + 1

    def equations(x: Sequence[Complex], p: Sequence[Complex]) -> list[Complex]:
        one = Complex(1.0)
        first, second = [*x[:k], one], [*x[k:], one]
        values = []
        for j in range(2 * k):
            M = p[j * side * side : (j + 1) * side * side]
            rows = [
                sum((M[side * r + c] * second[c] for c in range(side)), Complex(0.0))
                for r in range(side)
            ]
            values.append(sum((first[r] * rows[r] for r in range(side)), Complex(0.0)))
        return values

    return System(equations, 2 * k, 2 * k * side * side, f"{NAMES[k]} dyads", keys.key(__name__, k))


def generic(k: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """(x, p): a random complex solution, and random matrices that it solves."""
    random = np.random.default_rng(seed)
    draw = lambda *shape: random.normal(size=shape) + 1j * random.normal(size=shape)
    x, M = np.asarray(draw(2 * k)), np.asarray(draw(2 * k, k + 1, k + 1))
    first, second = np.append(x[:k], 1.0), np.append(x[k:], 1.0)
    M[:, k, k] -= np.einsum("r,jrc,c->j", first, M, second)
    return x, M.ravel()


@functools.cache
def starts(k: int) -> Starts:
    """Start solutions, kept as data; `linkwork synthesis starts` makes and compares them."""
    return Starts.load(Path(__file__).parent / "starts" / f"{NAMES[k]}.npz")


def real_pairs(
    M: np.ndarray, chart: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """(x, y (..., roots, k+1), valid, found (..., roots)) with x' M_j y = 0,
    of M (..., 2k, k+1, k+1).

    x and y are scaled so that their largest coordinate is real; `valid` where both are then real
    altogether. The equations are solved in the coordinates x = chart (x', 1): a complex chart has
    no real point at infinity.
    """
    k = M.shape[-1] - 1
    moved = np.einsum("ra,...rc,cb->...ab", chart, M, chart)
    solved = system(k).solve(moved.reshape(*M.shape[:-3], -1), starts(k), conditions=False)
    ones = np.ones((*solved.x.shape[:-1], 1))
    points, real = [], solved.success
    for part in (solved.x[..., :k], solved.x[..., k:]):
        X = np.concatenate([part, ones], axis=-1) @ chart.T
        largest = np.take_along_axis(X, np.abs(X).argmax(axis=-1)[..., None], axis=-1)
        X = X / np.where(np.abs(largest) > 0, largest, 1.0)
        real = real & (np.abs(X.imag).max(axis=-1) < 1e-7)
        points.append(X.real)
    return points[0], points[1], real, solved.success
