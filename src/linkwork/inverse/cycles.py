"""Cycles: what closes a joint motion that repeats a path.

A redundant arm that repeats a path does not repeat its joint motion by itself: each lap drifts.
Limits recorded over a lap and then imposed make it repeat.

Source: [Nicolato2005] section 4. Corrected: repeatability is not the recursion's own, it comes with
these limits.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from linkwork.arguments import as_doubles, number
from linkwork.errors import InvalidInput


def recorded_limits(q: Any, margin: float = 0.0) -> tuple[np.ndarray, np.ndarray]:
    """(lower, upper) that a joint motion q (..., T, nq) stays within, widened by a margin [rad, m].

    With a margin of 1e-3 or more no joint begins on its own limit.
    """
    q = _motion("recorded_limits", q)
    wider = number(margin, "recorded_limits: margin")
    if not wider >= 0:
        raise InvalidInput(
            f"recorded_limits: margin is {margin!r}, expected a number that is not negative"
        )
    return q.min(axis=-2) - wider, q.max(axis=-2) + wider


def cycle_drift(q: Any, period: int) -> np.ndarray:
    """|q(t + period) - q(t)| (..., laps - 1) at the ends of the laps of a motion q (..., T, nq), period in samples.

    The motion begins with the start of the first lap, so that T = laps * period + 1 samples are n
    whole laps.
    """
    q = _motion("cycle_drift", q)
    count = q.shape[-2]
    if (
        isinstance(period, bool)
        or not isinstance(period, (int, np.integer))
        or not 0 < period < count
    ):
        raise InvalidInput(
            f"cycle_drift: period is {period!r}, expected a whole number of samples below {count}"
        )
    ends = q[..., :: int(period), :]
    return np.linalg.norm(np.diff(ends, axis=-2), axis=-1)


def _motion(who: str, q: Any) -> np.ndarray:
    q = as_doubles(q, f"{who}: q")
    if q.ndim < 2 or not q.shape[-2] or not np.isfinite(q).all():
        raise InvalidInput(f"{who}: q has shape {q.shape}, expected finite numbers (..., T, nq)")
    return q
