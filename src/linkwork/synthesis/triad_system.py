"""Triad system: seven positions of a triad as polynomials, with the solutions they start from."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from linkwork.engine import keys
from linkwork.polynomials import Complex, Starts, System


@functools.cache
def system() -> System:
    """Unknowns V, V*, W, W*, Z, Z*; parameters (d, d*, exp(i alpha), exp(i gamma)) a position.

    The middle link keeps its length: (V + d - W a - Z g) (V* + d* - W* a* - Z* g*) = V V*, where
    rotations enter as exp(i alpha) and its inverse (with a and a* free of each other there would be
    19 solutions instead of 17).
    """

    def equations(x: Sequence[Complex], p: Sequence[Complex]) -> list[Complex]:
        V, V_, W, W_, Z, Z_ = x
        rows = []
        for j in range(6):
            d, d_, a, g = p[4 * j : 4 * j + 4]
            turned = V + d - W * (a - 1) - Z * (g - 1)
            turned_ = V_ + d_ - W_ * (a.inverse() - 1) - Z_ * (g.inverse() - 1)
            rows.append(turned * turned_ - V * V_)
        return rows

    return System(
        equations, 6, 24, "triads, seven positions", keys.key(__name__, "seven positions")
    )


def generic(seed: int) -> tuple[np.ndarray, np.ndarray]:
    """(x, p): a random complex triad and a task that it meets."""
    random = np.random.default_rng(seed)
    real = random.normal(size=(2, 24))
    x, u, a, g = np.split(real[0] + 1j * real[1], [6, 12, 18])
    V, V_, W, W_, Z, Z_ = x
    d = W * (a - 1) + V * (u - 1) + Z * (g - 1)
    d_ = W_ * (1 / a - 1) + V_ * (1 / u - 1) + Z_ * (1 / g - 1)
    return x, np.stack([d, d_, a, g], axis=-1).ravel()


@functools.cache
def starts() -> Starts:
    """The 17 start solutions, kept as data; `linkwork synthesis starts` makes and compares them."""
    return Starts.load(Path(__file__).parent / "starts" / "triads.npz")
