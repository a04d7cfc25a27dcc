"""Cartesian motion: a frame along straight lines and arcs through poses, as coordinates over time.

The way is gone through as fast as the limits of the frame allow (pace.py), joints follow by inverse
kinematics, and where they would exceed their own limits the time is stretched.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, TypedDict, Unpack

import numpy as np
from numpy.typing import ArrayLike

from linkwork import quantities
from linkwork.arguments import as_doubles, finite, number
from linkwork.errors import InvalidInput, NotPossible, WrongCall, did_you_mean
from linkwork.foreign_poses import matrix_of
from linkwork.inverse.numeric import BEYOND
from linkwork.inverse.solve import inverse_kinematics
from linkwork.loops.assembly import home
from linkwork.subject import RobotLike, subject_of
from linkwork.trajectory.joint_bounds import JointBounds
from linkwork.trajectory.line_rates import rates_along, singular_stretches
from linkwork.trajectory.line_timing import Stretch, timed_stretches
from linkwork.trajectory.motion import MEET, STEP, Motion, finite_times
from linkwork.trajectory.path import Path
from linkwork.trajectory.ways import Arc

RAMP = 0.25
"""Seconds in which a speed is reached where no acceleration is given."""
LONG = 20_000
"""Instants of a way whose search takes a second: before it begins, the farthest pose is looked
at."""


@dataclass(frozen=True)
class CartesianMotion(Motion):
    """A motion of a robot's frame.

    time       (n,) [s], evenly spaced;  q (n, nq), v, a (n, nv)
    pose       (n, 4, 4) of the frame
    slowed     by what factor limits of the joints stretched the time that limits of the frame would
               take
    singular   (k, 2) stretches of time in which the arm is near a singularity
    """

    time: np.ndarray
    q: np.ndarray
    v: np.ndarray
    a: np.ndarray
    pose: np.ndarray = field(repr=False)
    slowed: float = 1.0
    singular: np.ndarray = field(default_factory=lambda: np.empty((0, 2)))
    names: tuple[str, ...] = field(default=(), repr=False)

    def __repr__(self) -> str:
        slowed = f", slowed {self.slowed:.3g} times by joint limits" if self.slowed > 1.0 else ""
        near = f", {len(self.singular)} singular stretches" if len(self.singular) else ""
        return f"<CartesianMotion {self.duration:.4g} s, {len(self.time)} instants{slowed}{near}>"

    @property
    def duration(self) -> float:
        """[s]."""
        return float(self.time[-1])

    def at(self, t: ArrayLike) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """(q, v, a), each (..., n), at times t (...) [s]:
        polynomials of degree five between the instants.

        Coordinates must be as many as speeds; it stands before the start and after the end.
        """
        if self.q.shape != self.v.shape:
            raise InvalidInput(
                "at: q and v differ in size (quaternions), expected joints of one coordinate each"
            )
        times = finite_times(t)
        k = np.clip(np.searchsorted(self.time, times, side="right") - 1, 0, len(self.time) - 2)
        h = (self.time[k + 1] - self.time[k])[..., None]
        u = np.clip((times - self.time[k])[..., None] / h, 0.0, 1.0)
        states = [(self.q[i], h * self.v[i], h**2 * self.a[i]) for i in (k, k + 1)]
        q, v, a = _quintic(u, *states[0], *states[1])
        stands = ((times < 0.0) | (times > self.duration))[..., None]
        return q, np.where(stands, 0.0, v / h), np.where(stands, 0.0, a / h**2)

    def _table(self) -> dict[str, np.ndarray]:
        return super()._table() | {axis: self.pose[:, k, 3] for k, axis in enumerate("xyz")}

    @property
    def motion(self) -> dict[str, np.ndarray]:
        """What `robot.analyse` and the viewer take: the instants as they are."""
        return {"time": self.time, "q": self.q, "v": self.v, "a": self.a}

    @cached_property
    def length(self) -> float:
        """Of the frame's way [m]."""
        return float(np.linalg.norm(np.diff(self.pose[:, :3, 3], axis=0), axis=1).sum())

    def to_path(self, points: int = 201) -> Path:
        """The same way as a path of the joints, for `minimum_time`."""
        rows = np.unique(np.linspace(0, len(self.q) - 1, points).round().astype(int))
        return Path.through(self.q[rows])

    def then(self, *others: Motion, pause: float = 0.0) -> Motion:
        """This motion and others after it; each must begin where the one before ends.

        Cartesian motions without a pause are one Cartesian motion; with others they are `Joined`.
        """
        alike = [other for other in others if isinstance(other, CartesianMotion)]
        if pause != 0.0 or len(alike) < len(others):
            return super().then(*others, pause=pause)
        return self.extended(alike)

    def extended(self, others: Sequence[CartesianMotion]) -> CartesianMotion:
        """This motion and other Cartesian ones after it, without a pause."""
        whole = self
        for k, other in enumerate(others):
            gap = float(np.abs(other.q[0] - whole.q[-1]).max())
            if gap > MEET:
                raise InvalidInput(
                    f"then: motion {k + 1} begins {gap:.3g} away from where the one before ends"
                )
            joined: dict[str, Any] = {
                name: np.concatenate([getattr(whole, name), getattr(other, name)[1:]])
                for name in ("q", "v", "a", "pose")
            }
            time = np.concatenate([whole.time, whole.duration + other.time[1:]])
            singular = np.concatenate([whole.singular, whole.duration + other.singular])
            slowed = max(whole.slowed, other.slowed)
            whole = replace(whole, time=time, slowed=slowed, singular=singular, **joined)
        return whole


class LineOptions(TypedDict, total=False):
    """What `line` and `lines` take besides, by name.

    turn_speed, turn_acceleration   largest of the frame's rotation [rad/s, rad/s^2]; pi / 2 and pi
    blend           distance from inner poses within which corners are rounded [m]; 0: the frame
                    stops there
    q0              where inverse kinematics starts; left out: where the robot stands first
    jerk            largest along the way [m/s^3]; left out, accelerations jump
    joint_limits    slow the motion down where joints would exceed their limits of speed and
                    acceleration
    joint_jerk      largest of the joints, a number or (nv,) [rad/s^3, m/s^3]; needs `jerk` too
    step            time between instants [s]
    """

    turn_speed: float
    turn_acceleration: float
    blend: float
    q0: ArrayLike | None
    jerk: float | None
    joint_limits: bool
    joint_jerk: ArrayLike | None
    step: float


def line(
    robot: RobotLike,
    frame: str,
    poses: Sequence[Any] | np.ndarray,
    speed: float,
    acceleration: float | None = None,
    **options: Unpack[LineOptions],
) -> CartesianMotion:
    """The motion of a frame through poses, straight from one to the next.

    poses           two or more: (4, 4), whatever `lw.pose` takes, or `Arc(via, end)` for a circular
                    move; a position (3,) keeps the rotation before it. One alone: from where the
                    frame is at q0
    speed, acceleration             largest of the frame's origin [m/s, m/s^2]; an acceleration left
                                    out reaches the
                    speed in a quarter of a second
    options         turn_speed, turn_acceleration, blend, q0, jerk, joint_limits, joint_jerk, step:
                    see `LineOptions`

    A pose that cannot be reached, or a jump to another branch, is refused with its place and time.
    """
    return _lines("line", robot, frame, [poses], speed, acceleration, **_known("line", options))[0]


def lines(
    robot: RobotLike,
    frame: str,
    batch: Sequence[Sequence[Any] | np.ndarray] | np.ndarray,
    speed: float,
    acceleration: float | None = None,
    **options: Unpack[LineOptions],
) -> tuple[CartesianMotion, ...]:
    """Many motions of a frame, each through its own poses;
    their inverse kinematics runs side by side.

    batch   of what `line` takes as poses;  q0 (nq,) for all, or (len(batch), nq);  the rest as for
            `line`
    """
    return _lines(
        "lines", robot, frame, list(batch), speed, acceleration, **_known("lines", options)
    )


def _known(who: str, options: LineOptions) -> LineOptions:
    """The options, every name of them known."""
    for name in options:
        if name not in LineOptions.__annotations__:
            near = did_you_mean(name, LineOptions.__annotations__)
            near = near or f"; expected some of {', '.join(LineOptions.__annotations__)}"
            raise WrongCall(f'{who}: there is no argument "{name}"{near}')
    return options


def _lines(
    who: str,
    robot: RobotLike,
    frame: str,
    batch: list[Any],
    speed: float,
    acceleration: float | None,
    *,
    q0: ArrayLike | None = None,
    turn_speed: float = math.pi / 2,
    turn_acceleration: float = math.pi,
    blend: float = 0.0,
    jerk: float | None = None,
    joint_limits: bool = True,
    joint_jerk: ArrayLike | None = None,
    step: float = STEP,
) -> tuple[CartesianMotion, ...]:
    subject = subject_of(robot, who)
    most = number(speed, f"{who}: speed") / RAMP if acceleration is None else acceleration
    limits = {"speed": speed, "acceleration": most, "turn_speed": turn_speed}
    limits |= {"turn_acceleration": turn_acceleration, "step": step}
    for name, value in limits.items():
        if number(value, f"{who}: {name}") <= 0.0:
            raise InvalidInput(f"{who}: {name} is {value}, expected a number > 0")
    radius = number(blend, f"{who}: blend")
    if radius < 0.0:
        raise InvalidInput(f"{who}: blend is {radius}, expected a distance >= 0 m")
    if jerk is not None and number(jerk, f"{who}: jerk") <= 0.0:
        raise InvalidInput(f"{who}: jerk is {jerk}, expected a number > 0")
    if joint_jerk is not None and jerk is None:
        raise InvalidInput(
            f"{who}: joint_jerk is given without jerk; expected both, as accelerations jump without"
        )
    if not batch:
        raise InvalidInput(f"{who}: the batch is empty, expected at least one list of poses")
    jerk_time = 0.0 if jerk is None else most / jerk
    bounds = JointBounds.of(who, subject, joint_limits, joint_jerk)
    start = _starts(who, subject, len(batch), q0)
    ways = [_from(subject, frame, poses, q) for poses, q in zip(batch, start, strict=True)]
    timed = [timed_stretches(who, poses, limits, radius, jerk_time) for poses in ways]
    tracks = _tracked(who, subject, frame, timed, start)
    names = tuple(subject.joints) if subject.nq == subject.nv else ()
    motions = [
        _followed(subject, frame, parts, q, bounds) for parts, q in zip(timed, tracks, strict=True)
    ]
    return tuple(replace(motion, names=names) for motion in motions)


def _followed(
    subject: Any, frame: str, stretches: list[Stretch], q: np.ndarray, bounds: JointBounds
) -> CartesianMotion:
    """Rates of the joints along every stretch, and time stretched where they exceed their
    limits."""
    parts, at = [], 0
    for x in stretches:
        rows = q[at : at + len(x.time)]
        at += len(x.time) - 1
        v, a = rates_along(subject, frame, x.time, rows, x.twist, x.change)
        slowed = bounds.excess(x.time, v, a)
        time, v, a = x.time * slowed, v / slowed, a / slowed**2
        parts.append(
            CartesianMotion(
                time, rows, v, a, x.T, slowed, singular_stretches(subject, frame, rows, time)
            )
        )
    return parts[0].extended(parts[1:])


def _starts(who: str, subject: Any, count: int, q0: ArrayLike | None) -> np.ndarray:
    """Where inverse kinematics starts, (count, nq)."""
    shapes = ((subject.nq,), (count, subject.nq))
    start = home(subject) if q0 is None else as_doubles(q0, f"{who}: q0")
    if start.shape not in shapes:
        raise InvalidInput(
            f"{who}: q0 has shape {start.shape}, expected {shapes[0] if count == 1 else shapes}"
        )
    return np.broadcast_to(finite(start, start.shape, f"{who}: q0"), shapes[1])


def _from(subject: Any, frame: str, poses: Any, q: np.ndarray) -> list[Any]:
    """What `line` takes as poses, as a list; before one alone stands where the frame is."""
    if isinstance(poses, Sequence):
        is_one = len(poses) == 3 and all(isinstance(x, int | float) for x in poses)
    else:
        is_one = isinstance(poses, Arc) or np.shape(matrix_of(poses)) in ((4, 4), (3,))
    entries = [poses] if is_one else list(poses)
    if len(entries) != 1:
        return entries
    return [quantities.evaluate(subject, "pose", {"q": q}, frame), *entries]


def _tracked(
    who: str, subject: Any, frame: str, timed: list[list[Stretch]], start: np.ndarray
) -> list[np.ndarray]:
    """Coordinates along all poses of every line: the first by a search from its start,
    then each from the last."""
    ways = [
        np.concatenate([x.T[1 if k else 0 :] for k, x in enumerate(stretches)])
        for stretches in timed
    ]
    longest = max(len(T) for T in ways)
    padded = np.stack(
        [np.concatenate([T, np.repeat(T[-1:], longest - len(T), axis=0)]) for T in ways]
    )
    first = inverse_kinematics(subject, padded[:, 0], frame, start, "auto", {})
    for k in np.flatnonzero(~np.asarray(first.success)).tolist():
        reason = first.explain(first, (k,))
        raise NotPossible(f"{_named(who, k)}: the first pose cannot be reached: {reason}")
    if longest > LONG:
        _refuse_beyond_reach(who, subject, frame, ways)
    tracks = inverse_kinematics(subject, padded, frame, first.q, "auto", {"track": True})
    for k, (T, success) in enumerate(zip(ways, np.asarray(tracks.success), strict=True)):
        if not success[: len(T)].all():
            i = int(np.argmin(success))
            reason = tracks.explain(tracks, (k, i))  # of one pose: a long way has a million
            time = np.concatenate(
                [[0.0], *(x.time[1:] + _before(timed[k], n) for n, x in enumerate(timed[k]))]
            )
            place = np.array2string(T[i, :3, 3], precision=4)
            raise NotPossible(
                f"{_named(who, k)}: no way on at {place} m, {time[i]:.4g} s of {time[-1]:.4g} s: "
                f"{reason}"
            )
    return [np.asarray(q)[: len(T)] for q, T in zip(tracks.q, ways, strict=True)]


def _refuse_beyond_reach(who: str, subject: Any, frame: str, ways: list[np.ndarray]) -> None:
    """No way leads to a pose further away than the chain is long:
    said before the way is searched pose by pose."""
    farthest = [int(np.argmax(np.linalg.norm(T[:, :3, 3] - T[0, :3, 3], axis=1))) for T in ways]
    poses = np.stack([T[i] for T, i in zip(ways, farthest, strict=True)])
    answer = inverse_kinematics(subject, poses, frame, None, "auto", {})
    for k in np.flatnonzero(np.asarray(answer.code) == BEYOND).tolist():
        place = np.array2string(poses[k, :3, 3], precision=4)
        reason = answer.explain(answer, (k,))
        raise NotPossible(f"{_named(who, k)}: no way to {place} m: {reason}")


def _named(who: str, k: int) -> str:
    return who if who == "line" else f"{who}: line {k}"


def _before(stretches: list[Stretch], n: int) -> float:
    return float(sum(x.time[-1] for x in stretches[:n]))


def _quintic(
    u: np.ndarray,
    q0: np.ndarray,
    v0: np.ndarray,
    a0: np.ndarray,
    q1: np.ndarray,
    v1: np.ndarray,
    a1: np.ndarray,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Values and first two derivatives at u of the polynomial with these at u = 0 and u = 1."""
    d, e, f = q1 - q0 - v0 - a0 / 2, v1 - v0 - a0, a1 - a0
    c3, c4, c5 = 10 * d - 4 * e + f / 2, -15 * d + 7 * e - f, 6 * d - 3 * e + f / 2
    q = q0 + u * (v0 + u * (a0 / 2 + u * (c3 + u * (c4 + u * c5))))
    v = v0 + u * (a0 + u * (3 * c3 + u * (4 * c4 + u * 5 * c5)))
    return q, v, a0 + u * (6 * c3 + u * (12 * c4 + u * 20 * c5))
