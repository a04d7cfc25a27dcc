"""Mixes: the equations of four-bars through poses and points, and their symmetries.

Position 1 is the origin, with angle 0. A dyad is its ground pivot a and its moving pivot z at
position 1. At another, displaced by d and turned by u = exp(i alpha), the pivots keep their
distance:

    |d + z u - a|^2 = |z - a|^2
    d d* - d a* - a d* + z d* u + z* d / u - z a* (u - 1) - a z* (1/u - 1) = 0

with a, a*, z, z*, d, d* independent complex numbers. A pose gives u, at a point it is one more
unknown. Two dyads and eight conditions, 2 (poses - 1) + points = 8, leave no freedom.
Source: [Wampler1992] for nine points, [Tong2013] for the mixes.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence

import numpy as np

from linkwork.engine import keys
from linkwork.polynomials import Complex, System

COUNTS = {4: 30, 3: 201, 2: 1112, 1: 1442}
"""Linkages by the number of poses, each pair of dyads once;
of nine points (one pose) triples of cognates."""


def points_of(poses: int) -> int:
    """How many points leave no freedom beside so many poses (position 1 is one of them)."""
    return 8 - 2 * (poses - 1)


@functools.cache
def system(poses: int) -> System:
    """Unknowns: a, a*, z, z* of two dyads, u of each point; parameters: d, d*, u of each pose, d,
    d* of each point."""
    points = points_of(poses)

    def equations(x: Sequence[Complex], p: Sequence[Complex]) -> list[Complex]:
        rows = []
        for j in range(poses - 1):
            d, d_, u = p[3 * j : 3 * j + 3]
            rows += [_distance(x[4 * k : 4 * k + 4], d, d_, u) for k in range(2)]
        first = 3 * (poses - 1)
        for j in range(points):
            d, d_ = p[first + 2 * j : first + 2 * j + 2]
            rows += [_distance(x[4 * k : 4 * k + 4], d, d_, x[8 + j]) for k in range(2)]
        return rows

    name = f"four-bars, {poses} poses and {points} points"
    return System(
        equations, 8 + points, 3 * (poses - 1) + 2 * points, name, keys.key(__name__, "mix", poses)
    )


def _distance(dyad: Sequence[Complex], d: Complex, d_: Complex, u: Complex) -> Complex:
    a, a_, z, z_ = dyad
    v = u.inverse()
    return d * d_ - d * a_ - a * d_ + z * d_ * u + z_ * d * v - z * a_ * (u - 1) - a * z_ * (v - 1)


def swapped(x: np.ndarray, p: np.ndarray) -> np.ndarray:
    """(..., 2, n): a solution, and the same with its two dyads exchanged."""
    other = np.concatenate([x[..., 4:8], x[..., :4], x[..., 8:]], axis=-1)
    return np.stack([x, other], axis=-2)


def cognate(x: np.ndarray, p: np.ndarray) -> np.ndarray:
    """Roberts' other four-bar with the same path on the first ground pivot:
    it stands on the first and the third one.

    With rho = (P - k1) / (k2 - k1) the third ground pivot is a1 + rho (a2 - a1); the crank at a1 is
    P - k1, its coupler turns with the old crank k1 - a1, and its other moving pivot is rho
    (k1 - a1) further.
    """
    a1, b1, z1, w1, a2, b2, z2, w2 = (x[..., k] for k in range(8))
    rho, rho_ = -z1 / (z2 - z1), -w1 / (w2 - w1)
    first = [a1, b1, a1 - z1, b1 - w1]
    second = [a1 + rho * (a2 - a1), b1 + rho_ * (b2 - b1)]
    second += [a1 - z1 + rho * (z1 - a1), b1 - w1 + rho_ * (w1 - b1)]
    d, u = p[..., 0::2], x[..., 8:]
    turned = (d + z1[..., None] * u - a1[..., None]) / (z1 - a1)[..., None]
    return np.concatenate([np.stack([*first, *second], axis=-1), turned], axis=-1)


def cognates_and_swaps(x: np.ndarray, p: np.ndarray) -> np.ndarray:
    """(..., 6, n): the three cognates of a path, each with its dyads in both orders
    (nine points)."""
    both = swapped(x, p)
    members = [both[..., 0, :], cognate(both[..., 0, :], p), cognate(both[..., 1, :], p)]
    return np.concatenate([swapped(member, p) for member in members], axis=-2)


def symmetry(poses: int):
    """What comes with each solution: the swap, and with points alone the cognates too."""
    return cognates_and_swaps if poses == 1 else swapped


def generic(poses: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """(x, p): a random complex linkage and a task that it meets."""
    random = np.random.default_rng(seed)
    points = points_of(poses)
    draw = lambda n: random.normal(size=n) + 1j * random.normal(size=n)
    x, turns = np.asarray(draw(8 + points)), np.asarray(draw(poses - 1))
    parameters: list[complex] = []
    for j in range(poses - 1 + points):
        u = complex(turns[j] if j < poses - 1 else x[8 + j - (poses - 1)])
        d, d_ = _reached(x, u)
        parameters += [d, d_, u] if j < poses - 1 else [d, d_]
    return x, np.array(parameters, dtype=complex)


def _reached(x: np.ndarray, u: complex) -> tuple[complex, complex]:
    """(d, d*) where both dyads keep their lengths with the coupler turned by u.

    Each says d d* + A d + B d* + C = 0; their difference is linear, which leaves a quadratic in d.
    """
    rows = []
    for k in (0, 4):
        a, a_, z, z_ = x[k : k + 4]
        rows.append((z_ / u - a_, z * u - a, -z * a_ * (u - 1) - a * z_ * (1 / u - 1)))
    (A, B, C), (A2, B2, C2) = rows
    m, n = -(A - A2) / (B - B2), -(C - C2) / (B - B2)  # d* = m d + n
    d = np.roots([m, n + A + B * m, B * n + C])[0]
    return complex(d), complex(m * d + n)
