"""Rates: velocities and accelerations of sampled coordinates, by one spline through all
instants."""

from __future__ import annotations

from typing import Any

import numpy as np

from linkwork.actuation.layout import layout_of
from linkwork.arguments import as_doubles
from linkwork.configurations import places
from linkwork.errors import InvalidInput
from linkwork.subject import Subject

DEGREE = 5
"""Of the splines (below six instants: one polynomial): accelerations are smooth,
and a quintic motion is exact."""

Block = tuple[slice, slice]
"""Where a joint stands among the coordinates, and among the rates."""


def with_rates(
    subject: Subject, motion: dict[str, Any], names: tuple[str, str, str], who: str
) -> list[np.ndarray]:
    """Coordinates, rates and accelerations of a motion by name ("q", "v", "a" or "c", "cd", "cdd"),
    each (n, size).

    What is left out is differentiated: an interpolating spline of degree 5 (not-a-knot) through all
    instants of what is given, at those instants. Noise of size e grows to about e / dt in rates and
    e / dt^2 in accelerations: smooth measurements before. One instant alone is a pose at rest.
    """
    sizes, blocks = _layout(subject, names[0] == "q")
    time = as_doubles(motion["time"], f"{who}: time")
    if time.ndim != 1 or not len(time) or not np.isfinite(time).all():
        raise InvalidInput(f"{who}: time has shape {time.shape}, expected (n,) finite numbers")
    series: list[np.ndarray | None] = []
    for name, size in zip(names, sizes, strict=True):
        array = None if motion.get(name) is None else as_doubles(motion[name], f"{who}: {name}")
        if array is not None and array.shape != (len(time), size):
            raise InvalidInput(
                f"{who}: {name} has shape {array.shape}, expected ({len(time)}, {size})"
            )
        if array is not None and not np.isfinite(array).all():
            raise InvalidInput(f"{who}: {name} is not finite")
        series.append(array)
    x, rate, second = series
    assert x is not None
    if rate is not None and second is not None:
        return [x, rate, second]
    if len(time) == 1:
        still = np.zeros((1, sizes[1]))
        return [x, still if rate is None else rate, still if second is None else second]
    missing = " and ".join(n for n, array in zip(names, series, strict=True) if array is None)
    if not (np.diff(time) > 0).all():
        k = int(np.argmin(np.diff(time) > 0))
        raise InvalidInput(
            f"{who}: {missing} is left out and found by differentiation, but time does not grow at "
            f"{k + 1}: "
            f"{time[k]:g}, {time[k + 1]:g}"
        )
    if rate is not None:
        return [x, rate, _spline(time, rate, 1)[0]]
    derivatives = _differentiated(time, x, sizes[1], blocks)
    return [x, derivatives[0], derivatives[1] if second is None else second]


def _layout(subject: Subject, joints: bool) -> tuple[tuple[int, int, int], list[Block]]:
    """(sizes of coordinates, rates and accelerations, joints that turn by quaternions)."""
    if joints:
        turning = [(q, v) for joint, q, v in places(subject) if joint.nq > joint.nv]
        return (subject.nq, subject.nv, subject.nv), turning
    layout = layout_of(subject)
    n, m = layout.sizes
    turning = [
        (slice(c, c + nq), slice(cd, cd + nv)) for c, cd, _, _, nq, nv in layout.direct if nq > nv
    ]
    return (n, m, m), turning


def _differentiated(
    time: np.ndarray, x: np.ndarray, size: int, blocks: list[Block]
) -> tuple[np.ndarray, np.ndarray]:
    """Rates and accelerations (n, size): derivatives of coordinates,
    of joints with quaternions in the body's axes."""
    x = x.copy()
    plain = np.ones(x.shape[1], dtype=bool)
    free = np.ones(size, dtype=bool)
    for at, to in blocks:
        plain[at], free[to] = False, False
        turn = x[:, at.stop - 4 : at.stop]
        # q and -q are one orientation
        jumps = np.where((turn[1:] * turn[:-1]).sum(1) < 0, -1.0, 1.0)
        turn[1:] *= np.cumprod(jumps)[:, None]
    first, second = _spline(time, x, 2)
    v, a = np.zeros((len(x), size)), np.zeros((len(x), size))
    v[:, free], a[:, free] = first[:, plain], second[:, plain]
    for at, to in blocks:
        v[:, to], a[:, to] = _body_rates(x[:, at], first[:, at], second[:, at])
    return v, a


def _spline(time: np.ndarray, x: np.ndarray, count: int) -> list[np.ndarray]:
    """The first derivatives of the spline through x (n, m), at the same instants."""
    # here, because it takes longer to import than the rest
    from scipy.interpolate import (
        make_interp_spline,
    )

    spline = make_interp_spline(time, x, k=min(DEGREE, len(time) - 1))
    return [np.ascontiguousarray(spline(time, nu=k)) for k in range(1, count + 1)]


def _body_rates(
    x: np.ndarray, first: np.ndarray, second: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Velocity and acceleration of a ball (4 coordinates) or floating joint (7) in its body's axes.

        w = 2 vec(Q^-1 Q'),   w' = 2 vec(Q^-1 Q'' - (Q^-1 Q')^2),   u = R^T p',   u' = R^T p'' - w x u

    The length of Q, which the spline does not keep, only reaches the scalar parts.
    """
    inverse = x[:, -4:] * [-1.0, -1.0, -1.0, 1.0] / (x[:, -4:] ** 2).sum(1, keepdims=True)
    half, curved = _product(inverse, first[:, -4:]), _product(inverse, second[:, -4:])
    w = 2 * half[:, :3]
    turning = 2 * (curved - _product(half, half))[:, :3]
    if x.shape[1] == 4:
        return w, turning
    unit = x[:, -4:] / np.linalg.norm(x[:, -4:], axis=1, keepdims=True)
    u, pushed = (_turned_back(unit, y[:, :3]) for y in (first, second))
    return np.hstack([u, w]), np.hstack([pushed - np.cross(w, u), turning])


def _product(p: np.ndarray, q: np.ndarray) -> np.ndarray:
    """Quaternions (n, 4) as x, y, z, w."""
    vector = p[:, 3:] * q[:, :3] + q[:, 3:] * p[:, :3] + np.cross(p[:, :3], q[:, :3])
    scalar = p[:, 3:] * q[:, 3:] - (p[:, :3] * q[:, :3]).sum(1, keepdims=True)
    return np.hstack([vector, scalar])


def _turned_back(q: np.ndarray, y: np.ndarray) -> np.ndarray:
    """R(q)^T y."""
    t = 2 * np.cross(-q[:, :3], y)
    return y + q[:, 3:] * t + np.cross(-q[:, :3], t)
