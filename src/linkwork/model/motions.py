"""Motions: named motions of a robot as piecewise polynomials of time, plain data."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from linkwork.errors import InvalidModel

Pieces: TypeAlias = tuple[tuple[float, tuple[float, ...]], ...]
"""((start [s], coefficients of (t - start)^0, ^1, ...), ...):
each piece holds until the next one starts."""


@dataclass(frozen=True, slots=True)
class Track:
    """One coordinate over time.

    name        of a joint, or of an actuator (an element that drives joints) where `actuator` is
                True
    coordinate  which coordinate of a joint with several; position [m, rad] = polynomial of the
                piece at t
    """

    name: str
    pieces: Pieces
    actuator: bool = False
    coordinate: int = 0


@dataclass(frozen=True, slots=True)
class DescribedMotion:
    """A motion from t = 0 to `duration` [s]. Joints and actuators without a track rest at zero."""

    name: str
    duration: float
    tracks: tuple[Track, ...]
    note: str = field(default="", compare=False)


Motion = DescribedMotion  # its name in pickles of earlier versions


def accelerated(start: float, rate: float, accelerations: Sequence[tuple[float, float]]) -> Pieces:
    """Piecewise constant acceleration: ((time from which, acceleration), ...),
    from position and rate at t = 0."""
    times = [t for t, _ in accelerations]
    _check_times(times)
    if not times or times[0] > 0.0:
        accelerations = [(0.0, 0.0), *accelerations]
    pieces, x, v = [], start, rate
    for k, (t, a) in enumerate(accelerations):
        pieces.append((t, (x, v, a / 2.0)))
        if k + 1 < len(accelerations):
            h = accelerations[k + 1][0] - t
            x, v = x + h * (v + h * a / 2.0), v + h * a
    return tuple(pieces)


def through(waypoints: Sequence[tuple[float, float]], interpolation: str) -> Pieces:
    """Through (time, position) points, the first at t = 0.

    linear    constant speed between them; cubic: one smooth curve at rest at both ends
              (clamped spline);
    quintic   at rest at every point, speed and acceleration continuous: x0 + (x1 - x0)
              (10 u^3 - 15 u^4 + 6 u^5)
    """
    times, x = [t for t, _ in waypoints], [x for _, x in waypoints]
    _check_times(times)
    if len(times) < 2 or times[0] != 0.0:
        raise InvalidModel(f"waypoints at times {times[:4]}, expected two or more, the first at 0")
    h = [b - a for a, b in itertools.pairwise(times)]
    slopes = [(b - a) / step for a, b, step in zip(x, x[1:], h)]
    if interpolation == "linear":
        return tuple((t, (p, s)) for t, p, s in zip(times, x, slopes))
    if interpolation == "quintic":
        parts = zip(times, x, x[1:], h)
        return tuple(
            (t, (p, 0.0, 0.0, 10 * (q - p) / w**3, -15 * (q - p) / w**4, 6 * (q - p) / w**5))
            for t, p, q, w in parts
        )
    v = _spline_rates(h, slopes)
    return tuple(
        (t, (p, v0, (3 * s - 2 * v0 - v1) / w, (v0 + v1 - 2 * s) / w**2))
        for t, p, v0, v1, s, w in zip(times, x, v, v[1:], slopes, h)
    )


def _spline_rates(h: list[float], slopes: list[float]) -> list[float]:
    """Rates at the knots of the clamped cubic spline: its tridiagonal system,
    solved by elimination."""
    n = len(h) + 1
    diagonal, right = [1.0] * n, [0.0] * n
    upper = [0.0] * n
    for k in range(1, n - 1):
        lower, upper[k] = h[k], h[k - 1]
        factor = lower / diagonal[k - 1]
        diagonal[k] = 2.0 * (h[k - 1] + h[k]) - factor * upper[k - 1]
        right[k] = 3.0 * (h[k] * slopes[k - 1] + h[k - 1] * slopes[k]) - factor * right[k - 1]
    v = [0.0] * n
    for k in range(n - 2, 0, -1):
        v[k] = (right[k] - upper[k] * v[k + 1]) / diagonal[k]
    return v


def _check_times(times: Sequence[float]) -> None:
    if any(b <= a for a, b in itertools.pairwise(times)) or (times and times[0] < 0.0):
        raise InvalidModel(f"times {list(times)[:6]} must start at 0 or later and increase")
