"""Profiles: the ordinary time laws from one configuration to another."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from linkwork.arguments import as_doubles, flag, number
from linkwork.errors import InvalidInput
from linkwork.trajectory.motion import Motion, finite_times

Law = Callable[[np.ndarray], tuple[np.ndarray, np.ndarray, np.ndarray]]


@dataclass(frozen=True, repr=False)
class PointToPoint(Motion):
    """Rest to rest from `start` to `end`: every joint j follows its law for durations[j] seconds
    and then stands.

    `at(t)` gives q, v, a; `duration` is the longest of `durations`.
    """

    start: np.ndarray
    end: np.ndarray
    durations: np.ndarray
    laws: tuple[Law, ...]

    def __repr__(self) -> str:
        return f"<PointToPoint {len(self.start)} coordinates, {self.duration:.4g} s>"

    @property
    def duration(self) -> float:
        """When the last joint stands [s]."""
        return float(self.durations.max(initial=0.0))

    def at(self, t: ArrayLike) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """(q, v, a), each (..., n), at times t (...) [s];
        before the start and after the end the joints stand."""
        times = finite_times(t)
        q, v, a = (np.zeros((*times.shape, len(self.start))) for _ in range(3))
        for j, (T, law) in enumerate(zip(self.durations, self.laws, strict=True)):
            way = self.end[j] - self.start[j]
            if way == 0.0:
                q[..., j] = self.start[j]
                continue
            r, rd, rdd = law(np.clip(times / T, 0.0, 1.0))
            inside = (times >= 0.0) & (times <= T)
            q[..., j] = self.start[j] + way * r
            v[..., j], a[..., j] = way * rd / T, np.where(inside, way * rdd / T**2, 0.0)
        return q, v, a


# Coefficients of u^0, u^1, ... of the unit polynomial,
# and the peaks of its first three derivatives.
_CUBIC = ((0, 0, 3, -2), (1.5, 6.0, 12.0))
_QUINTIC = ((0, 0, 0, 10, -15, 6), (1.875, 10 / math.sqrt(3), 60.0))
_SEPTIC = ((0, 0, 0, 0, 35, -84, 70, -20), (2.1875, 84 / (5 * math.sqrt(5)), 52.5))


def cubic(
    start: ArrayLike,
    end: ArrayLike,
    velocity: ArrayLike | None = None,
    acceleration: ArrayLike | None = None,
    duration: float | None = None,
    synchronised: bool = True,
) -> PointToPoint:
    """Third degree: velocity starts and ends at zero, acceleration jumps. Limits (n,) or numbers;
    see `quintic`."""
    return _polynomial(
        "cubic", _CUBIC, start, end, (velocity, acceleration, None), duration, synchronised
    )


def quintic(
    start: ArrayLike,
    end: ArrayLike,
    velocity: ArrayLike | None = None,
    acceleration: ArrayLike | None = None,
    jerk: ArrayLike | None = None,
    duration: float | None = None,
    synchronised: bool = True,
) -> PointToPoint:
    """Fifth degree: velocity and acceleration start and end at zero.

    velocity, acceleration, jerk   largest allowed, numbers or (n,); the shortest duration that
                                   keeps all is taken
    duration       instead of limits, or longer than they need
    synchronised   all joints take as long as the slowest; otherwise each its own shortest time
    """
    return _polynomial(
        "quintic", _QUINTIC, start, end, (velocity, acceleration, jerk), duration, synchronised
    )


def septic(
    start: ArrayLike,
    end: ArrayLike,
    velocity: ArrayLike | None = None,
    acceleration: ArrayLike | None = None,
    jerk: ArrayLike | None = None,
    duration: float | None = None,
    synchronised: bool = True,
) -> PointToPoint:
    """Seventh degree: velocity, acceleration and jerk start and end at zero. See `quintic`."""
    return _polynomial(
        "septic", _SEPTIC, start, end, (velocity, acceleration, jerk), duration, synchronised
    )


def trapezoid(
    start: ArrayLike,
    end: ArrayLike,
    velocity: ArrayLike,
    acceleration: ArrayLike,
    duration: float | None = None,
    synchronised: bool = True,
) -> PointToPoint:
    """Constant acceleration, constant velocity, constant braking;
    a triangle if the velocity is never reached.

        T = way / v + v / a    or    2 sqrt(way / a)   if v^2 > way a

    Synchronised joints share the time law of the slowest, so that the way is straight in joint
    space.
    """
    a, b = _ways("trapezoid", start, end)
    v = _limit("trapezoid", "velocity", velocity, len(a))
    w = _limit("trapezoid", "acceleration", acceleration, len(a))
    way = np.abs(b - a)
    moving = way > 0
    share = np.where(moving, way, 1.0)
    v, w = v / share, w / share
    if flag(synchronised, "trapezoid: synchronised") and moving.any():
        v, w = np.full(len(a), v[moving].min()), np.full(len(a), w[moving].min())
    if not np.isfinite(w[moving]).all():
        raise InvalidInput(
            f"trapezoid: acceleration is {np.asarray(acceleration).tolist()}, expected a finite one"
        )
    v = np.minimum(v, np.sqrt(w))
    shortest = np.where(moving, 1 / v + v / w, 0.0)
    durations = _durations("trapezoid", shortest, duration, synchronised)
    # share of the time that each ramp takes; a longer duration keeps the shape
    ramps = v / w / (1 / v + v / w)
    laws = [_trapezoid_law(float(ramp)) for ramp in ramps]
    return PointToPoint(a, b, durations, tuple(laws))


def _trapezoid_law(ramp: float) -> Law:
    top = 1 / (1 - ramp)

    def law(u: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        up, down = u < ramp, u > 1 - ramp
        rest = np.where(down, 1 - u, u)
        r = np.where(up | down, top * rest**2 / (2 * ramp), top * (u - ramp / 2))
        rdd = np.where(up, top / ramp, np.where(down, -top / ramp, 0.0))
        return np.where(down, 1 - r, r), np.where(up | down, top * rest / ramp, top), rdd

    return law


def _polynomial(
    who: str,
    unit: tuple[tuple[int, ...], tuple[float, ...]],
    start: ArrayLike,
    end: ArrayLike,
    limits: tuple[ArrayLike | None, ArrayLike | None, ArrayLike | None],
    duration: float | None,
    synchronised: bool,
) -> PointToPoint:
    a, b = _ways(who, start, end)
    coefficients, peaks = unit
    way, shortest, limited = np.abs(b - a), np.zeros(len(a)), False
    for order, (limit, peak, name) in enumerate(
        zip(limits, peaks, ("velocity", "acceleration", "jerk"), strict=True), 1
    ):
        if limit is not None:
            most = _limit(who, name, limit, len(a))
            shortest = np.maximum(shortest, (peak * way / most) ** (1 / order))
            limited = limited or np.isfinite(most).any()
    if duration is None and not limited:
        raise InvalidInput(f"{who}: neither limits nor a duration are given, expected one of them")
    free = np.flatnonzero((way > 0) & (shortest == 0))
    if duration is None and len(free) and (not synchronised or not shortest.any()):
        raise InvalidInput(
            f"{who}: nothing limits coordinate {free[0]}, expected a limit or a duration"
        )
    p = np.polynomial.Polynomial(coefficients)
    first, second = p.deriv(1), p.deriv(2)
    durations = _durations(who, shortest, duration, synchronised)
    return PointToPoint(a, b, durations, tuple([lambda u: (p(u), first(u), second(u))] * len(a)))


def _ways(who: str, start: ArrayLike, end: ArrayLike) -> tuple[np.ndarray, np.ndarray]:
    a, b = as_doubles(start, f"{who}: start"), as_doubles(end, f"{who}: end")
    if a.ndim != 1 or a.shape != b.shape or not (np.isfinite(a).all() and np.isfinite(b).all()):
        raise InvalidInput(
            f"{who}: start has shape {a.shape}, end {b.shape}, expected two configurations of "
            "one length"
        )
    return a, b


def _limit(who: str, name: str, limit: ArrayLike, n: int) -> np.ndarray:
    values = as_doubles(limit, f"{who}: {name}")
    if values.shape not in ((), (n,)) or not (values > 0).all():
        raise InvalidInput(
            f"{who}: {name} is {values.tolist()}, expected a positive number or {n} of them"
        )
    return np.broadcast_to(values, (n,))


def _durations(
    who: str, shortest: np.ndarray, duration: float | None, synchronised: bool
) -> np.ndarray:
    longest = float(shortest.max(initial=0.0))
    synchronised = flag(synchronised, f"{who}: synchronised")
    if duration is None:
        return np.full(len(shortest), longest) if synchronised else shortest
    T = number(duration, f"{who}: duration")
    if T <= 0:
        raise InvalidInput(f"{who}: duration is {duration}, expected a positive time in seconds")
    if T < longest * (1 - 1e-12):
        raise InvalidInput(
            f"{who}: duration is {duration}, expected at least {longest:.6g} s by the limits"
        )
    return np.full(len(shortest), T)
