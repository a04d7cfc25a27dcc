"""Triad velocities: positions and velocities of a triad that are seven together.

A velocity is one more position infinitely near. With T = V + d - W (a - 1) - Z (g - 1) the middle
link as it is turned at a position, and T* likewise, it keeps its length: T T* = V V*. At a
neighbour d + e v, a + e a', g + e g' the difference of both conditions, divided by e, is

    S T* + T S* + e S S* = 0,    S = v - W a' - Z g',    S* = v* + W* a' / (a (a + e a')) + Z* g' / (g (g + e g'))

which for e = 0 is the velocity's own condition. So the start solutions of seven positions are start
solutions here, and e goes to zero along the paths.
Source: [Mather2023] eq. 25. Corrected: it writes rotations exp(i alpha') for what are rates.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence

import numpy as np

from linkwork.engine import keys
from linkwork.polynomials import Complex, Starts, System

FIRST = 0.8 + 0.6j
"""e where the paths begin: generic, like the other parameters there."""
REAL = 1e-6
"""Difference of an unknown and its conjugate [of their size] below which a solution is real."""
EXACT = 1e-9
"""Rate of the middle link's length [of its speed] that counts as none."""


@functools.cache
def system(bases: tuple[int, ...]) -> System:
    """Unknowns V, V*, W, W*, Z, Z*. Velocities stand at the positions `bases` (from 1),
    behind all positions 2 ...

    Parameters: d, d*, exp(i alpha), exp(i gamma) a position; v, v*, a', g', e a velocity.
    """
    positions = 6 - len(bases)

    def equations(x: Sequence[Complex], p: Sequence[Complex]) -> list[Complex]:
        V, V_, W, W_, Z, Z_ = x
        turns = [(Complex(1.0), Complex(1.0))]
        middle = [(V, V_)]
        for j in range(positions):
            d, d_, a, g = p[4 * j : 4 * j + 4]
            turned = V + d - W * (a - 1) - Z * (g - 1)
            turned_ = V_ + d_ - W_ * (a.inverse() - 1) - Z_ * (g.inverse() - 1)
            turns.append((a, g))
            middle.append((turned, turned_))
        rows = [T * T_ - V * V_ for T, T_ in middle[1:]]
        for k, base in enumerate(bases):
            first = 4 * positions + 5 * k
            v, v_, a_rate, g_rate, e = p[first : first + 5]
            (a, g), (T, T_) = turns[base - 1], middle[base - 1]
            S = v - W * a_rate - Z * g_rate
            S_ = v_ + W_ * a_rate / (a * (a + e * a_rate)) + Z_ * g_rate / (g * (g + e * g_rate))
            rows.append(S * T_ + T * S_ + e * S * S_)
        return rows

    name = f"triads, {7 - len(bases)} positions and {len(bases)} velocities"
    return System(
        equations, 6, 4 * positions + 5 * len(bases), name, keys.key(__name__, "triads", bases)
    )


def start_set(seven: Starts, bases: tuple[int, ...]) -> Starts:
    """The start solutions of seven positions, the last ones written as neighbours of others."""
    positions = 6 - len(bases)
    rows = seven.parameters.reshape(6, 4)
    parameters = [rows[:positions].ravel()]
    for row, base in zip(rows[positions:], bases):
        near = rows[base - 2] if base > 1 else np.array([0, 0, 1, 1])
        parameters.append(np.append((row - near) / FIRST, FIRST))
    return Starts(np.concatenate(parameters), seven.solutions, seven.seed, seven.loops, seven.idle)


def vectors_of(
    seven: Starts,
    bases: tuple[int, ...],
    d: np.ndarray,
    alpha: np.ndarray,
    gamma: np.ndarray,
    rates: np.ndarray,
) -> tuple[np.ndarray, np.ndarray]:
    """(W, V, Z (..., 17, 3) [task sizes], whether real and exact (..., 17)).

    d complex, alpha, gamma (..., n-1) at positions 2 ...; rates (..., m, 3): velocity, complex
    [task sizes], rates of alpha and gamma. A velocity counts up to its size.
    """
    turns = np.stack([np.exp(1j * alpha), np.exp(1j * gamma)], axis=-1)
    size = np.maximum(np.abs(rates).max(axis=-1, keepdims=True), 1e-300)
    rates = rates / size
    v = rates[..., 0]
    one = np.ones((*turns.shape[:-2], 1, 2), dtype=complex)
    at = np.concatenate([one, turns], axis=-2)[..., [base - 1 for base in bases], :]
    turning = 1j * rates[..., 1:] * at
    parts = [np.stack([d, d.conj(), turns[..., 0], turns[..., 1]], axis=-1)]
    parts.append(np.stack([v, v.conj(), turning[..., 0], turning[..., 1], 0.0 * v], axis=-1))
    p = np.concatenate([part.reshape(*d.shape[:-1], -1) for part in parts], axis=-1)
    solved = system(bases).solve(p, start_set(seven, bases), conditions=False)

    vectors, conjugates = solved.x[..., [2, 0, 4]], solved.x[..., [3, 1, 5]].conj()
    scale = np.abs(vectors).max(axis=-1) + np.abs(conjugates).max(axis=-1) + 1e-300
    real = solved.success & (np.abs(conjugates - vectors).max(axis=-1) < REAL * scale)
    vectors = np.where(real[..., None], 0.5 * (vectors + conjugates), 0.0)

    # the middle link keeps its length: its ends' relative velocity is across it
    W, V, Z = (vectors[..., k, None] for k in range(3))
    turned = (
        V + d[..., None, :] - W * (turns[..., None, :, 0] - 1) - Z * (turns[..., None, :, 1] - 1)
    )
    middle = np.concatenate([V, turned], axis=-1)[..., [base - 1 for base in bases]]
    speed = v[..., None, :] - W * turning[..., None, :, 0] - Z * turning[..., None, :, 1]
    along = np.abs((middle.conj() * speed).real)
    fine = along <= EXACT * (np.abs(middle) * (1.0 + np.abs(W) + np.abs(Z)) + 1e-300)
    return vectors, real & fine.all(axis=-1)
