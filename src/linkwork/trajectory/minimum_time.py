"""Minimum time: the fastest way along a path that torques, velocities and accelerations allow."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from linkwork import configurations
from linkwork.arguments import as_doubles, number, whole
from linkwork.errors import InvalidInput, NotPossible
from linkwork.model.payload import Payload
from linkwork.subject import RobotLike, Subject, subject_of
from linkwork.trajectory.bounds import Bounds, Rows
from linkwork.trajectory.coefficients import PathCoefficients, check_fits
from linkwork.trajectory.motion import Motion, finite_times
from linkwork.trajectory.path import Path
from linkwork.trajectory.reachability import UNLIMITED, fastest

WHO = "minimum_time"
ENDLESS = 1e30
"""Stands for a torque or a speed without a limit [N m, N, rad/s, m/s]: sweeps divide by limits."""
INSIDE = (0.25, 0.5, 0.75)
"""Parts of an interval where a motion is replayed, its middle among them;
its ends hold by construction."""
ALLOWED = 3e-5
"""Share of a limit that replayed places may exceed; between them, up to 1e-4."""
ROUNDS = 6


@dataclass(frozen=True, repr=False)
class TimeLaw(Motion):
    """The fastest time law s(t) along a path; with a batch of payloads every array has its
    dimensions in front.

    s             (points,) grid on the path, even but for the path's breaks
    t, speed      (..., points): time [s] and ds/dt there
    acceleration  (..., points - 1): d2s/dt2, constant on each interval
    middle        (points - 1,) middles of the intervals;  torque (..., points - 1, nv) there
                  [N m, N]
    saturation    (..., points - 1, rows): share of each limit that is used, 1 at the limit; rows:
                  joints' torques, then accelerations where they are limited
    worst         the largest share of any limit found by replaying the motion inside the intervals
    """

    path: Path
    s: np.ndarray
    t: np.ndarray
    speed: np.ndarray
    acceleration: np.ndarray
    middle: np.ndarray
    torque: np.ndarray
    saturation: np.ndarray
    worst: float = 1.0
    names: tuple[str, ...] = ()

    def __repr__(self) -> str:
        batch = f"{self.t.shape[:-1]} " if self.t.ndim > 1 else ""
        ends = (
            sorted({float(np.min(self.duration)), float(np.max(self.duration))})
            if self.t.size
            else []
        )
        lasting = f"{' to '.join(f'{x:.4g}' for x in ends)} s, " if ends else ""
        return f"<TimeLaw {batch}{lasting}{len(self.s)} points>"

    @property
    def duration(self) -> np.ndarray | float:
        """(...) [s]."""
        return self.t[..., -1] if self.t.ndim > 1 else float(self.t[-1])

    def _table(self) -> dict[str, np.ndarray]:
        if self.t.ndim != 1:
            return {"time": self.t}
        q, v, a = self.at(self.t)
        columns = {"time": self.t, "s": self.s, "speed": self.speed}
        return columns | self._columns({"q": q, "v": v, "a": a})

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
            self.path,
            self.s,
            t,
            speed,
            acceleration,
            self.middle,
            self.torque[index],
            self.saturation[index],
            self.worst,
            self.names,
        )

    def at(self, t: ArrayLike) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """(q, v, a), each (..., nv), at times t (...) [s];
        it stands before the start and after the end."""
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
    robot: RobotLike,
    path: Path | Motion,
    torque_limits: ArrayLike | None = None,
    velocity_limits: ArrayLike | None = None,
    acceleration_limits: ArrayLike | None = None,
    payload: Payload | Sequence[Payload] | None = None,
    points: int = 1001,
    start_speed: float = 0.0,
    end_speed: float = 0.0,
) -> TimeLaw:
    """The time law of least duration along a path, or along the way of a Cartesian motion.

    torque_limits        (nv,) or a pair (lower, upper) of them [N m, N]; None: the efforts of the
                         description
    velocity_limits      (nv,) [rad/s, m/s]; None: the velocities of the description;  np.inf: none
    acceleration_limits  (nv,) [rad/s^2, m/s^2]; None: those of the description, where it has any;
                         np.inf: none
    payload              a batch of payloads is timed in one call
    points               of the grid on s; doubling them makes the duration about three times as
                         exact
    start_speed, end_speed   ds/dt at the ends

    Between two grid points x = (ds/dt)^2 is linear in s, and the limits hold at both ends of every
    interval; the largest x everywhere is found by two sweeps in closed form (reachability.py). The
    motion is then replayed inside the intervals, and where a limit is exceeded there, by the
    curvature of the torques, its interval gets that much less and is swept again, so that all
    limits hold to 1e-4 of themselves (`worst`).
    Source: [Pham2018] (reachability, limits at both ends), [Verscheure2009] (x as state),
    [Safeea2019] eqs. 5, 32-34.
    """
    subject = subject_of(robot, WHO)
    to_path = None if isinstance(path, Path) else getattr(path, "to_path", None)
    way: Any = path if to_path is None else to_path()  # what has no way is refused here:
    check_fits(subject, way, WHO)
    lower, upper = _torques(subject, torque_limits)
    described = configurations.limits(subject)
    velocity = _limit(
        subject,
        described.velocity if velocity_limits is None else velocity_limits,
        "velocity_limits",
    )
    if acceleration_limits is None and np.isfinite(described.acceleration).any():
        acceleration_limits = described.acceleration
    acceleration = _limit(subject, acceleration_limits, "acceleration_limits")
    whole(points, f"{WHO}: points", 3)
    ends = (_speed(start_speed, "start_speed") ** 2, _speed(end_speed, "end_speed") ** 2)
    s = _grid(way, int(points))
    _check_moving((s[1:] + s[:-1]) / 2, way)
    bounds = Bounds(subject, way, payload, lower, upper, velocity, acceleration)
    return _kept(bounds, s, ends)


def _grid(path: Path, points: int) -> np.ndarray:
    """Even, except that the point nearest to each break of the path moves there:
    torques have a kink at breaks."""
    s = np.linspace(0.0, 1.0, points)
    places = np.rint(np.array(path.breaks) * (points - 1)).astype(int)
    inside = (places > 0) & (places < points - 1)
    single = np.append(np.diff(places) > 0, True) if len(places) else inside
    s[places[inside & single]] = np.array(path.breaks)[inside & single]
    return s


def _kept(bounds: Bounds, s: np.ndarray, ends: tuple[float, float]) -> TimeLaw:
    """Sweep and replay until every limit holds inside the intervals too."""
    n, h = len(s), np.diff(s)
    places = np.concatenate([s, *(s[:-1] + part * h for part in INSIDE)])
    rows = bounds.rows(places)
    _check_held(bounds.subject, places, rows.coefficients, bounds.lower, bounds.upper)
    at = rows.among(slice(n))
    inside = {
        part: rows.among(slice(n + k * (n - 1), n + (k + 1) * (n - 1)))
        for k, part in enumerate(INSIDE)
    }
    both = [
        np.concatenate([x[..., :-1, :], x[..., 1:, :]], axis=-1)
        for x in (at.m, at.c, at.lower, at.upper)
    ]
    count = at.m.shape[-1]
    part = np.repeat([0.0, 1.0], count)
    less = np.ones((*at.m.shape[:-2], len(h), count))  # what each interval may use of each limit
    largest = np.broadcast_to(at.largest, at.m.shape[:-1]).copy()
    for _ in range(ROUNDS):
        share = np.concatenate([less, less], axis=-1)
        x = fastest(h, both[0], both[1], both[2] * share, both[3] * share, part, largest, *ends)
        _check_moves(s, x)
        used, speeds = _replayed(inside, h, x)
        worst = max(float(used.max(initial=0.0)), float(speeds.max(initial=0.0)))
        if worst <= 1.0 + ALLOWED:
            break
        less /= np.maximum(used, 1.0)
        largest[..., :-1] /= np.maximum(speeds, 1.0)
        largest[..., 1:] /= np.maximum(speeds, 1.0)
    if worst > 1.0 + ALLOWED:
        if any(ends):
            raise NotPossible(
                f"{WHO}: between the points limits are exceeded by {worst - 1:.2g}; give "
                "more points"
            )
        # slower all over: forces beside the weight fall with x, which always fits
        x = x / worst
        worst = 1.0
    return _law(bounds, inside[0.5], s, x, max(worst, 1.0))


def _replayed(
    inside: Mapping[float, Rows], h: np.ndarray, x: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """The largest shares inside each interval: of every row (..., N, rows), and of the velocities,
    squared (..., N)."""
    u = (x[..., 1:] - x[..., :-1]) / (2 * h)
    used, speeds = None, None
    for part, there in inside.items():
        z = (1 - part) * x[..., :-1] + part * x[..., 1:]
        share, speed = np.abs(there.share(u, z)), z / there.largest
        used = share if used is None else np.maximum(used, share)
        speeds = speed if speeds is None else np.maximum(speeds, speed)
    assert used is not None and speeds is not None
    return used, speeds


def _check_moves(s: np.ndarray, x: np.ndarray) -> None:
    both = np.sqrt(x[..., 1:]) + np.sqrt(x[..., :-1])
    if not (both > 0).all():
        where = (s[1:] + s[:-1])[int(np.argwhere(both <= 0)[0][-1])] / 2
        raise NotPossible(
            f"{WHO}: the path cannot be followed: at s = {where:.4g} no torque is left to move on"
        )
    if (x >= UNLIMITED / 2).any():
        raise NotPossible(
            f"{WHO}: nothing limits the speed near s = "
            f"{s[int(np.argwhere(x >= UNLIMITED / 2)[0][-1])]:.4g}"
        )


def _law(bounds: Bounds, rows: Rows, s: np.ndarray, x: np.ndarray, worst: float) -> TimeLaw:
    """The law of x; `rows` are those in the middles."""
    h, sd, middle = np.diff(s), np.sqrt(x), (s[1:] + s[:-1]) / 2
    u, x_middle = (x[..., 1:] - x[..., :-1]) / (2 * h), (x[..., 1:] + x[..., :-1]) / 2
    t = np.concatenate(
        [np.zeros((*x.shape[:-1], 1)), np.cumsum(2 * h / (sd[..., 1:] + sd[..., :-1]), axis=-1)],
        axis=-1,
    )
    force = rows.m * u[..., None] + rows.c * x_middle[..., None]
    endless = (np.abs(force) >= ENDLESS / 10).any(axis=-1)
    if endless.any():
        where = middle[int(np.argwhere(endless)[0][-1])]
        raise NotPossible(
            f"{WHO}: nothing limits the torques near s = {where:.4g}; give torque_limits for "
            "every joint"
        )
    torque = rows.coefficients.torque(np.sqrt(x_middle), u)
    return TimeLaw(
        bounds.path,
        s,
        t,
        sd,
        u,
        middle,
        torque,
        rows.share(u, x_middle),
        worst,
        tuple(bounds.subject.joints),
    )


def _torques(subject: Subject, torques: ArrayLike | None) -> tuple[np.ndarray, np.ndarray]:
    n, name = subject.nv, "torque_limits"
    limits = (
        configurations.limits(subject).effort
        if torques is None
        else as_doubles(torques, f"{WHO}: {name}")
    )
    if limits.shape == (2, n):
        lower, upper = limits
    elif limits.shape in ((), (n,)):
        upper = np.broadcast_to(limits, (n,))
        lower = -upper
    else:
        raise InvalidInput(
            f"{WHO}: {name} has shape {limits.shape}, expected ({n},) or (2, {n}): robot "
            f'"{subject.model.name}"'
        )
    if not ((upper > 0) & (lower < 0)).all():
        what = "the description's efforts are" if torques is None else f"{name} is"
        raise InvalidInput(
            f"{WHO}: {what} {limits.tolist()}, expected a lower limit below and an upper limit "
            "above zero"
        )
    return np.maximum(lower, -ENDLESS), np.minimum(upper, ENDLESS)


def _limit(subject: Subject, limits: ArrayLike | None, name: str) -> np.ndarray | None:
    if limits is None:
        return None
    limit = as_doubles(limits, f"{WHO}: {name}")
    if limit.shape not in ((), (subject.nv,)) or not (limit > 0).all():
        raise InvalidInput(
            f"{WHO}: {name} is {limit.tolist()}, expected a positive number or {subject.nv} of them"
        )
    return np.minimum(np.broadcast_to(limit, (subject.nv,)), ENDLESS)


def _speed(value: float, name: str) -> float:
    speed = number(value, f"{WHO}: {name}")
    if speed < 0:
        raise InvalidInput(f"{WHO}: {name} is {value!r}, expected a number that is not negative")
    return speed


def _check_held(
    subject: Subject, s: np.ndarray, k: PathCoefficients, lower: np.ndarray, upper: np.ndarray
) -> None:
    """The robot must be able to stand anywhere on the path."""
    beyond = np.argwhere((k.d > upper) | (k.d < lower))
    if len(beyond):
        *batch, point, joint = beyond[0]
        value = k.d[tuple(beyond[0])]
        limit = upper[joint] if value > 0 else lower[joint]
        names = [name for name in subject.joints for _ in range(subject.model.joint(name).nv)]
        which = f" of sample {tuple(int(b) for b in batch)}" if batch else ""
        raise NotPossible(
            f'{WHO}: static torque of joint "{names[joint]}" at s = {s[point]:.4g}{which} is '
            f"{value:.4g}, "
            f"limit {limit:.4g}: path cannot be held"
        )


def _check_moving(s: np.ndarray, path: Path) -> None:
    first = path(s)[1]
    still = np.abs(first).max(axis=1) <= 1e-12 * np.abs(first).max()
    both = np.flatnonzero(still[1:] & still[:-1])
    if len(both):
        raise NotPossible(
            f"{WHO}: the path stands still from s = {s[both[0]]:.4g} on: q' = 0 in an interval"
        )
