"""Minimum time: the fastest way along a path that torques, velocities and accelerations allow."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from linkwork import configurations
from linkwork.arguments import as_doubles, number
from linkwork.errors import InvalidInput, NotPossible
from linkwork.model.payload import Payload
from linkwork.subject import Subject
from linkwork.trajectory.coefficients import PathCoefficients, check_fits, path_coefficients, subject_of
from linkwork.trajectory.path import Path
from linkwork.trajectory.profiles import finite_times
from linkwork.trajectory.reachability import UNLIMITED, fastest

WHO = "minimum_time"
ENDLESS = 1e30
"""Stands for a torque or a speed without a limit [N m, N, rad/s, m/s]: sweeps divide by limits."""


@dataclass(frozen=True, repr=False)
class TimeLaw:
    """The fastest time law s(t) along a path; with a batch of payloads every array has its dimensions in front.

    s             (points,) grid on the path;  t, speed (..., points): time [s] and ds/dt there
    acceleration  (..., points - 1): d2s/dt2, constant on each interval
    middle        (points - 1,) middles of the intervals;  torque (..., points - 1, nv) there [N m, N]
    saturation    (..., points - 1, rows): share of each limit that is used, 1 at the limit; rows: joints' torques, then
                  accelerations where they are limited
    """

    path: Path
    s: np.ndarray
    t: np.ndarray
    speed: np.ndarray
    acceleration: np.ndarray
    middle: np.ndarray
    torque: np.ndarray
    saturation: np.ndarray

    def __repr__(self) -> str:
        batch = f"{self.t.shape[:-1]} " if self.t.ndim > 1 else ""
        ends = sorted({float(np.min(self.duration)), float(np.max(self.duration))}) if self.t.size else []
        lasting = f"{' to '.join(f'{x:.4g}' for x in ends)} s, " if ends else ""
        return f"<TimeLaw {batch}{lasting}{len(self.s)} points>"

    @property
    def duration(self) -> np.ndarray | float:
        """(...) [s]."""
        return self.t[..., -1] if self.t.ndim > 1 else float(self.t[-1])

    @property
    def active(self) -> np.ndarray:
        """Which row of `saturation` is nearest its limit, (..., points - 1)."""
        return np.abs(self.saturation).argmax(axis=-1)

    def __getitem__(self, index: Any) -> TimeLaw:
        """The law of one of a batch."""
        if self.t.ndim == 1:
            raise InvalidInput("law[...]: this is one law, expected a batch of them")
        parts = (self.t, self.speed, self.acceleration)
        t, speed, acceleration = (x[index] for x in parts)
        return TimeLaw(
            self.path, self.s, t, speed, acceleration, self.middle, self.torque[index], self.saturation[index]
        )

    def at(self, t: ArrayLike) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """(q, v, a), each (..., nv), at times t (...) [s]; it stands before the start and after the end."""
        if self.t.ndim != 1:
            raise InvalidInput("at: this is a batch of laws, expected one: law[k].at(t)")
        times = finite_times(t)
        k = np.clip(np.searchsorted(self.t, times, side="right") - 1, 0, len(self.t) - 2)
        since = np.clip(times, self.t[0], self.t[-1]) - self.t[k]
        stands = (times < self.t[0]) | (times > self.t[-1])
        u = np.where(stands, 0.0, self.acceleration[k])
        sd = np.where(stands, 0.0, np.maximum(self.speed[k] + self.acceleration[k] * since, 0.0))
        s = self.s[k] + (self.speed[k] + self.acceleration[k] * since / 2) * since
        q, first, second = self.path(np.clip(s, 0.0, 1.0))
        return q, first * sd[..., None], first * u[..., None] + second * (sd**2)[..., None]


def minimum_time(
    robot: Any,
    path: Path,
    torque_limits: ArrayLike | None = None,
    velocity_limits: ArrayLike | None = None,
    acceleration_limits: ArrayLike | None = None,
    payload: Payload | Sequence[Payload] | None = None,
    points: int = 1001,
    start_speed: float = 0.0,
    end_speed: float = 0.0,
) -> TimeLaw:
    """The time law of least duration along a path.

    torque_limits        (nv,) or a pair (lower, upper) of them [N m, N]; None: the efforts of the description
    velocity_limits, acceleration_limits   (nv,), or None for no limit;  inf: no limit for that joint
    payload              a batch of payloads is timed in one call
    points               of the grid on s; doubling them makes the duration about three times as exact
    start_speed, end_speed   ds/dt at the ends

    Between two grid points x = (ds/dt)^2 is linear in s and the limits hold in the middle; the largest x everywhere is
    found by two sweeps in closed form (reachability.py).
    Source: [Pham2018] (reachability), [Verscheure2009] (x as state, middles), [Safeea2019] eqs. 5, 32-34.
    """
    subject = subject_of(robot, WHO)
    check_fits(subject, path, WHO)
    lower, upper = _torques(subject, torque_limits)
    velocity = _limit(subject, velocity_limits, "velocity_limits")
    acceleration = _limit(subject, acceleration_limits, "acceleration_limits")
    if isinstance(points, bool) or not isinstance(points, (int, np.integer)) or points < 3:
        raise InvalidInput(f"{WHO}: points is {points!r}, expected a whole number of at least 3")
    ends = [_speed(start_speed, "start_speed"), _speed(end_speed, "end_speed")]

    s = np.linspace(0.0, 1.0, int(points))
    middle = (s[1:] + s[:-1]) / 2
    k = path_coefficients(subject, path, middle, payload)
    _check_held(subject, middle, k, lower, upper)
    rows = [(k.m, k.c, lower - k.d, upper - k.d)]
    first, second = path(middle)[1:]
    _check_moving(middle, first)
    if acceleration is not None:
        rows.append((first, second, -acceleration, acceleration))
    shape = k.m.shape[:-1]
    m, c, lo, hi = (
        np.concatenate([np.broadcast_to(row[i], (*shape, subject.nv)) for row in rows], axis=-1) for i in range(4)
    )
    x = fastest(np.diff(s), m, c, lo, hi, _fastest_by_velocity(path, s, velocity), ends[0] ** 2, ends[1] ** 2)
    return _law(path, s, middle, x, k, m, c, lo, hi)


def _law(
    path: Path, s: np.ndarray, middle: np.ndarray, x: np.ndarray, k: PathCoefficients, *rows: np.ndarray
) -> TimeLaw:
    m, c, lo, hi = rows
    h, sd = np.diff(s), np.sqrt(x)
    u, x_middle = (x[..., 1:] - x[..., :-1]) / (2 * h), (x[..., 1:] + x[..., :-1]) / 2
    both = sd[..., 1:] + sd[..., :-1]
    if not (both > 0).all():
        where = middle[int(np.argwhere(both <= 0)[0][-1])]
        raise NotPossible(f"{WHO}: the path cannot be followed: at s = {where:.4g} no torque is left to move on")
    t = np.concatenate([np.zeros((*x.shape[:-1], 1)), np.cumsum(2 * h / both, axis=-1)], axis=-1)
    if (x >= UNLIMITED / 2).any():
        raise NotPossible(
            f"{WHO}: nothing limits the speed near s = {s[int(np.argwhere(x >= UNLIMITED / 2)[0][-1])]:.4g}"
        )
    force = m * u[..., None] + c * x_middle[..., None]
    endless = (np.abs(force) >= ENDLESS / 10).any(axis=-1)
    if endless.any():
        where = middle[int(np.argwhere(endless)[0][-1])]
        raise NotPossible(f"{WHO}: nothing limits the torques near s = {where:.4g}; give torque_limits for every joint")
    saturation = np.where(force > 0, force / hi, force / -lo)
    torque = k.torque(np.sqrt(x_middle), u)
    return TimeLaw(path, s, t, sd, u, middle, torque, saturation)


def _fastest_by_velocity(path: Path, s: np.ndarray, limits: np.ndarray | None) -> np.ndarray:
    """Largest (ds/dt)^2 at the grid points that no joint's velocity limit forbids."""
    if limits is None:
        return np.full(len(s), UNLIMITED)
    rate = np.abs(path(s)[1])
    with np.errstate(divide="ignore"):
        return np.minimum(np.where(rate > 0, limits / np.where(rate > 0, rate, 1), np.inf).min(axis=1) ** 2, UNLIMITED)


def _torques(subject: Subject, given: ArrayLike | None) -> tuple[np.ndarray, np.ndarray]:
    n, name = subject.nv, "torque_limits"
    limits = configurations.limits(subject).effort if given is None else as_doubles(given, f"{WHO}: {name}")
    if limits.shape == (2, n):
        lower, upper = limits
    elif limits.shape in ((), (n,)):
        upper = np.broadcast_to(limits, (n,))
        lower = -upper
    else:
        raise InvalidInput(
            f'{WHO}: {name} has shape {limits.shape}, expected ({n},) or (2, {n}): robot "{subject.model.name}"'
        )
    if not ((upper > 0) & (lower < 0)).all():
        what = "the description's efforts are" if given is None else f"{name} is"
        raise InvalidInput(
            f"{WHO}: {what} {limits.tolist()}, expected a lower limit below and an upper limit above zero"
        )
    return np.maximum(lower, -ENDLESS), np.minimum(upper, ENDLESS)


def _limit(subject: Subject, given: ArrayLike | None, name: str) -> np.ndarray | None:
    if given is None:
        return None
    limit = as_doubles(given, f"{WHO}: {name}")
    if limit.shape not in ((), (subject.nv,)) or not (limit > 0).all():
        raise InvalidInput(f"{WHO}: {name} is {limit.tolist()}, expected a positive number or {subject.nv} of them")
    return np.minimum(np.broadcast_to(limit, (subject.nv,)), ENDLESS)


def _speed(value: float, name: str) -> float:
    speed = number(value, f"{WHO}: {name}")
    if speed < 0:
        raise InvalidInput(f"{WHO}: {name} is {value!r}, expected a number that is not negative")
    return speed


def _check_held(subject: Subject, s: np.ndarray, k: PathCoefficients, lower: np.ndarray, upper: np.ndarray) -> None:
    """The robot must be able to stand anywhere on the path."""
    beyond = np.argwhere((k.d > upper) | (k.d < lower))
    if len(beyond):
        *batch, point, joint = beyond[0]
        value = k.d[tuple(beyond[0])]
        limit = upper[joint] if value > 0 else lower[joint]
        names = [name for name in subject.joints for _ in range(subject.model.joint(name).nv)]
        which = f" of sample {tuple(int(b) for b in batch)}" if batch else ""
        raise NotPossible(
            f'{WHO}: static torque of joint "{names[joint]}" at s = {s[point]:.4g}{which} is {value:.4g}, '
            f"limit {limit:.4g}: path cannot be held"
        )


def _check_moving(s: np.ndarray, first: np.ndarray) -> None:
    still = np.abs(first).max(axis=1) <= 1e-12 * np.abs(first).max()
    both = np.flatnonzero(still[1:] & still[:-1])
    if len(both):
        raise NotPossible(f"{WHO}: the path stands still from s = {s[both[0]]:.4g} on: q' = 0 in an interval")
