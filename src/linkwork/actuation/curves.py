"""Curves: piecewise polynomials of time, many of them sampled together."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from linkwork.model.motions import Pieces


class Curves:
    """Curves (n,) with their rates and second derivatives;
    those whose pieces start together are one array."""

    def __init__(self, pieces: Sequence[Pieces]) -> None:
        self.count = len(pieces)
        together: dict[tuple[float, ...], list[int]] = {}
        for k, each in enumerate(pieces):
            together.setdefault(tuple(start for start, _ in each), []).append(k)
        self._groups = [
            (np.array(starts), np.array(which), _coefficients([pieces[k] for k in which]))
            for starts, which in together.items()
        ]

    def __call__(
        self, t: np.ndarray, side: str = "after"
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """x, xd, xdd (..., n) at t (...); where pieces meet,
        `side` "before" or "after" says which one counts."""
        values = tuple(np.zeros((*t.shape, self.count)) for _ in range(3))
        for starts, curves, tables in self._groups:
            at = np.searchsorted(starts, t, side="left" if side == "before" else "right") - 1
            at = np.clip(at, 0, len(starts) - 1)
            s = (t - starts[at])[..., None]
            for target, table in zip(values, tables, strict=True):
                target[..., curves] = _horner(table, at, s)
        return values[0], values[1], values[2]


def jumps(pieces: Pieces) -> list[float]:
    """Times at which the rate or the second derivative differs between two pieces by more than
    rounding."""
    curve, starts = Curves([pieces]), []
    for start, _ in pieces[1:]:
        before, after = (np.array(curve(np.array(start), side)[1:]) for side in ("before", "after"))
        if not np.allclose(before, after, rtol=1e-9, atol=1e-12):
            starts.append(start)
    return starts


def _coefficients(curves: list[Pieces]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """(pieces, degree + 1, curves) of the curves, of their rates and of their second
    derivatives."""
    degree = max(len(c) for pieces in curves for _, c in pieces)
    table = np.zeros((len(curves[0]), max(degree, 1), len(curves)))
    for k, pieces in enumerate(curves):
        for piece, (_, c) in enumerate(pieces):
            table[piece, : len(c), k] = c
    return table, _derived(table), _derived(_derived(table))


def _derived(table: np.ndarray) -> np.ndarray:
    if table.shape[1] == 1:
        return np.zeros_like(table)
    return table[:, 1:] * np.arange(1.0, table.shape[1])[:, None]


def _horner(table: np.ndarray, at: np.ndarray, s: np.ndarray) -> np.ndarray:
    y = table[at, -1]
    for k in range(table.shape[1] - 2, -1, -1):
        y = y * s + table[at, k]
    return y
