"""Cartesian motion: a frame along straight lines and arcs through poses, as coordinates over time.

Between two poses the position goes straight (or along a circle) and the rotation turns about one axis, the short way.
Corners may be rounded: within `blend` of a pose the way is a parabola, whose ends are met with equal speed,

    p(u) = (1-u)^2 p_in + 2 u (1-u) p_corner + u^2 p_out
    R(u) = R_corner exp((1-u)^2 log(R_corner' R_in)) exp(u^2 log(R_corner' R_out))
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from linkwork import configurations, quantities
from linkwork.actuation.rates import with_rates
from linkwork.arguments import finite, number
from linkwork.errors import InvalidInput, NotPossible
from linkwork.formats.tabular import Tabular
from linkwork.inverse.solve import inverse_kinematics
from linkwork.poses import pose as as_pose
from linkwork.trajectory.pace import Pace, pace
from linkwork.trajectory.path import Path
from linkwork.trajectory.turns import log_of, turned_by

STEP = 1e-3
"""Instants are this far apart [s] where nothing else is said."""
SINGULAR = 0.02
"""A direction in which the frame moves this little for a unit of joint speed (of the largest) is told as singular."""
MEET = 1e-6
"""Motions are joined where one begins this near to where the other ends [rad, m]."""


@dataclass(frozen=True)
class Arc:
    """A move along the circle through a point `via` (3,) to the pose `end`."""

    via: Any
    end: Any


@dataclass(frozen=True)
class CartesianMotion(Tabular):
    """A motion of a robot's frame.

    time       (n,) [s], evenly spaced;  q (n, nq), v, a (n, nv)
    pose       (n, 4, 4) of the frame
    slowed     by what factor limits of the joints stretched the time that limits of the frame would take
    singular   (k, 2) stretches of time in which the arm is near a singularity
    """

    time: np.ndarray
    q: np.ndarray
    v: np.ndarray
    a: np.ndarray
    pose: np.ndarray = field(repr=False)
    slowed: float = 1.0
    singular: np.ndarray = field(default_factory=lambda: np.empty((0, 2)))

    def __repr__(self) -> str:
        slowed = f", slowed {self.slowed:.3g} times by joint limits" if self.slowed > 1.0 else ""
        near = f", {len(self.singular)} singular stretches" if len(self.singular) else ""
        return f"<CartesianMotion {self.duration:.4g} s, {len(self.time)} instants{slowed}{near}>"

    @property
    def duration(self) -> float:
        return float(self.time[-1])

    def _table(self) -> dict[str, np.ndarray]:
        found = {"time": self.time}
        for label, values in (("q", self.q), ("v", self.v), ("a", self.a)):
            found |= {f"{label}[{k}]": values[:, k] for k in range(values.shape[1])}
        return found | {axis: self.pose[:, k, 3] for k, axis in enumerate("xyz")}

    @property
    def motion(self) -> dict[str, np.ndarray]:
        """What `robot.analyse` and the viewer take."""
        return {"time": self.time, "q": self.q, "v": self.v, "a": self.a}

    @cached_property
    def length(self) -> float:
        """Of the frame's way [m]."""
        return float(np.linalg.norm(np.diff(self.pose[:, :3, 3], axis=0), axis=1).sum())

    def to_path(self, points: int = 201) -> Path:
        """The same way as a path of the joints, for `minimum_time`."""
        rows = np.unique(np.linspace(0, len(self.q) - 1, points).round().astype(int))
        return Path.through(self.q[rows])

    def then(self, *others: CartesianMotion) -> CartesianMotion:
        """This motion and others after it; each must begin where the one before ends."""
        whole = self
        for k, other in enumerate(others):
            gap = float(np.abs(other.q[0] - whole.q[-1]).max())
            if gap > MEET:
                raise InvalidInput(f"then: motion {k + 1} begins {gap:.3g} away from where the one before ends")
            joined = {
                name: np.concatenate([getattr(whole, name), getattr(other, name)[1:]])
                for name in ("q", "v", "a", "pose")
            }
            time = np.concatenate([whole.time, whole.duration + other.time[1:]])
            singular = np.concatenate([whole.singular, whole.duration + other.singular])
            slowed = max(whole.slowed, other.slowed)
            whole = replace(whole, time=time, slowed=slowed, singular=singular, **joined)
        return whole


def line(
    robot: Any,
    frame: str,
    poses: Sequence[Any] | np.ndarray,
    speed: float,
    acceleration: float,
    turn_speed: float = math.pi / 2,
    turn_acceleration: float = math.pi,
    blend: float = 0.0,
    q0: ArrayLike | None = None,
    jerk: float | None = None,
    joint_limits: bool = True,
    step: float = STEP,
) -> CartesianMotion:
    """The motion of a frame through poses, straight from one to the next.

    poses           two or more: (4, 4), whatever `lw.pose` takes, or `Arc(via, end)` for a circular move
    speed, acceleration             largest of the frame's origin [m/s, m/s^2]
    turn_speed, turn_acceleration   largest of its rotation [rad/s, rad/s^2]
    blend           distance from inner poses within which corners are rounded [m]; 0: the frame stops there
    q0              where inverse kinematics starts; left out: neutral
    jerk            largest along the way [m/s^3]; left out, accelerations jump
    joint_limits    slow the whole motion down where joints would exceed their speed limits

    A pose that cannot be reached, or a jump to another branch, is refused with its place and time.
    """
    subject = getattr(robot, "subject", robot)
    limits = {"speed": speed, "acceleration": acceleration, "turn_speed": turn_speed}
    limits |= {"turn_acceleration": turn_acceleration, "step": step}
    for name, value in limits.items():
        if number(value, f"line: {name}") <= 0.0:
            raise InvalidInput(f"line: {name} is {value}, expected a number > 0")
    radius = number(blend, "line: blend")
    if radius < 0.0:
        raise InvalidInput(f"line: blend is {radius}, expected a distance >= 0 m")
    if jerk is not None and number(jerk, "line: jerk") <= 0.0:
        raise InvalidInput(f"line: jerk is {jerk}, expected a number > 0")
    jerk_time = 0.0 if jerk is None else acceleration / jerk
    moves = [replace(move, cruise=_cruise(move, limits)) for move in _moves(poses)]
    groups = _rounded(moves, radius) if radius > 0.0 else [[move] for move in moves]
    parts, q_start = [], q0
    for group in groups:
        part = _timed(subject, frame, group, limits, jerk_time, joint_limits, q_start)
        parts.append(part)
        q_start = part.q[-1]
    return parts[0].then(*parts[1:])


@dataclass(frozen=True)
class _Place:
    """Where a piece is at shares u (n,): position, rotation, and derivatives by u of both (the turn in world axes)."""

    p: np.ndarray
    R: np.ndarray
    dp: np.ndarray
    w: np.ndarray
    ddp: np.ndarray
    dw: np.ndarray


@dataclass(frozen=True)
class _Piece:
    """A piece of the way at a share u of it: its length [m], its turn [rad], and its time at full speed [s]."""

    at: Callable[[np.ndarray], _Place]
    length: float
    turn: float
    cruise: float = 0.0
    straight: tuple[np.ndarray, np.ndarray] | None = None  # poses of both ends, where it can be cut for a blend


def _moves(poses: Sequence[Any] | np.ndarray) -> list[_Piece]:
    listed = list(poses)
    if len(listed) < 2 or isinstance(listed[0], Arc):
        raise InvalidInput(f"line: poses has {len(listed)} entries, expected at least two, the first a pose")
    here = _one(listed[0], 0)
    moves = []
    for k, entry in enumerate(listed[1:], 1):
        there = _one(entry.end if isinstance(entry, Arc) else entry, k)
        if isinstance(entry, Arc):
            move = _circle(here, finite(entry.via, (3,), f"line: via of pose {k}"), there, k)
        else:
            move = _straight(here, there)
        if move.length < 1e-12 and move.turn < 1e-12:
            raise InvalidInput(f"line: poses {k - 1} and {k} are the same")
        moves.append(move)
        here = there
    return moves


def _one(entry: Any, k: int) -> np.ndarray:
    try:
        T = as_pose(entry)
    except InvalidInput as error:
        raise InvalidInput(f"line: pose {k}: {error}") from None
    if T.shape != (4, 4):
        raise InvalidInput(f"line: pose {k} has shape {T.shape}, expected (4, 4)")
    return T


def _straight(A: np.ndarray, B: np.ndarray) -> _Piece:
    along, turn = B[:3, 3] - A[:3, 3], log_of(A[:3, :3].T @ B[:3, :3])

    def at(u: np.ndarray) -> _Place:
        p, R = A[:3, 3] + u[:, None] * along, A[:3, :3] @ turned_by(u[:, None] * turn)
        zero = np.zeros_like(p)
        return _Place(p, R, zero + along, zero + A[:3, :3] @ turn, zero, zero)

    return _Piece(at, float(np.linalg.norm(along)), float(np.linalg.norm(turn)), straight=(A, B))


def _circle(A: np.ndarray, via: np.ndarray, B: np.ndarray, k: int) -> _Piece:
    """The circle through three points: its centre lies in their plane, equally far from all."""
    a, b = via - A[:3, 3], B[:3, 3] - A[:3, 3]
    normal = np.cross(a, b)
    size = float(normal @ normal)
    if size < 1e-12 * float((a @ a) * (b @ b)):
        raise InvalidInput(f"line: the arc to pose {k} has three points on one line; use a straight move")
    center = A[:3, 3] + ((a @ a) * np.cross(b, normal) + (b @ b) * np.cross(normal, a)) / (2.0 * size)
    axis = normal / math.sqrt(size)
    x = A[:3, 3] - center
    y = np.cross(axis, x)
    sweep = math.atan2(float((B[:3, 3] - center) @ y), float((B[:3, 3] - center) @ x)) % (2 * math.pi)
    turn = log_of(A[:3, :3].T @ B[:3, :3])

    def at(u: np.ndarray) -> _Place:
        angle = u[:, None] * sweep
        out = np.cos(angle) * x + np.sin(angle) * y
        forth = np.cos(angle) * y - np.sin(angle) * x
        zero = np.zeros_like(out)
        R = A[:3, :3] @ turned_by(u[:, None] * turn)
        return _Place(center + out, R, sweep * forth, zero + A[:3, :3] @ turn, -(sweep**2) * out, zero)

    return _Piece(at, float(np.linalg.norm(x)) * sweep, float(np.linalg.norm(turn)))


def _cruise(move: _Piece, limits: dict[str, float]) -> float:
    return max(move.length / limits["speed"], move.turn / limits["turn_speed"])


def _rounded(moves: list[_Piece], radius: float) -> list[list[_Piece]]:
    """Moves with parabolas at the corners between straight ones; other corners stay stops, which begin a new group."""
    groups: list[list[_Piece]] = [[]]
    cut = 0.0  # share of the present move that the corner before has taken
    for k, move in enumerate(moves):
        following = moves[k + 1] if k + 1 < len(moves) else None
        corner = following is not None and move.straight is not None and following.straight is not None
        if not corner:
            groups[-1].append(_part(move, cut, 1.0))
            cut = 0.0
            if following is not None:
                groups.append([])
            continue
        assert move.straight is not None and following is not None and following.straight is not None
        # Both sides give the same time, so that the parabola is entered and left at the moves' own speed.
        most = [min(0.5, radius / each.length) if each.length > 0.0 else 0.5 for each in (move, following)]
        given = min(share * each.cruise for share, each in zip(most, (move, following), strict=True))
        take = [given / each.cruise for each in (move, following)]
        groups[-1].append(_part(move, cut, 1.0 - take[0]))
        groups[-1].append(_parabola(move, following, take))
        cut = take[1]
    return groups


def _part(move: _Piece, begin: float, end: float) -> _Piece:
    if (begin, end) == (0.0, 1.0):
        return move
    share = end - begin

    def at(u: np.ndarray) -> _Place:
        x = move.at(begin + share * u)
        return _Place(x.p, x.R, share * x.dp, share * x.w, share**2 * x.ddp, share**2 * x.dw)

    return _Piece(at, move.length * share, move.turn * share, move.cruise * share)


def _parabola(move: _Piece, following: _Piece, take: list[float]) -> _Piece:
    assert move.straight is not None
    corner = move.straight[1]
    entry, leave = move.at(np.array([1.0 - take[0]])), following.at(np.array([take[1]]))
    p_in, p_out, C = entry.p, leave.p, corner[:3, :3]
    into, out = (log_of(C.T @ x.R[0]) for x in (entry, leave))

    def at(u: np.ndarray) -> _Place:
        x = u[:, None]
        p = (1 - x) ** 2 * p_in + 2 * x * (1 - x) * corner[:3, 3] + x**2 * p_out
        dp = 2 * (1 - x) * (corner[:3, 3] - p_in) + 2 * x * (p_out - corner[:3, 3])
        ddp = np.zeros_like(p) + 2 * (p_in - 2 * corner[:3, 3] + p_out)
        first = turned_by((1 - x) ** 2 * into)
        # R = C E1 E2: w = C (rate of the first turn + E1 rate of the second)
        rate_one, rate_two = -2 * (1 - x) * into, (first @ (2 * x * out)[..., None])[..., 0]
        w = (rate_one + rate_two) @ C.T
        bend = 2 * into + (first @ (2 * out + 0 * x)[..., None])[..., 0] + np.cross(rate_one, rate_two)
        return _Place(p, C @ first @ turned_by(x**2 * out), dp, w, ddp, bend @ C.T)

    fine = at(np.linspace(0.0, 1.0, 65)).p
    length = float(np.linalg.norm(np.diff(fine, axis=0), axis=1).sum())
    cruise = 2 * move.cruise * take[0]
    return _Piece(at, length, move.turn * take[0] + following.turn * take[1], cruise)


def _timed(
    subject: Any,
    frame: str,
    pieces: list[_Piece],
    limits: dict[str, float],
    jerk_time: float,
    joint_limits: bool,
    q0: ArrayLike | None,
) -> CartesianMotion:
    """One group of pieces from rest to rest: s runs over the cruising time of every piece."""
    pieces = [piece for piece in pieces if piece.cruise > 1e-12]
    ends = np.concatenate([[0.0], np.cumsum([piece.cruise for piece in pieces])])
    law = _pace(pieces, limits, jerk_time)
    count = max(2, math.ceil(law.duration / limits["step"]) + 1)
    time = np.linspace(0.0, law.duration, count)
    s, sd, sdd = law.at(time)
    T, twist, change = _along(pieces, ends, np.clip(s, 0.0, ends[-1]), sd, sdd)
    beyond = _beyond(twist, change, limits)  # a mean over time can pass a corner faster than the corner allows
    time, twist, change = time * beyond, twist / beyond, change / beyond**2
    q = _tracked(subject, frame, T, time, q0)
    v, a = _rates(subject, frame, time, q, twist, change)
    slowed = _excess(subject, v) if joint_limits else 1.0
    if slowed > 1.0:
        time, v, a = time * slowed, v / slowed, a / slowed**2
    return CartesianMotion(time, q, v, a, T, slowed, _singular(subject, frame, q, time))


def _pace(pieces: list[_Piece], limits: dict[str, float], jerk_time: float) -> Pace:
    """s(t): speed at most 1, and in curves no more than their bend allows.

    Along a piece of length l and cruising time w the frame's acceleration is (l / w) sdd; a curve adds |p''| sd^2 / w^2
    across. Where both act each gets the share 1 / sqrt(2).
    """
    fastest, sharpest = [], []
    for p in pieces:
        x = p.at(np.linspace(0.0, 1.0, 9))
        along = np.linalg.norm(x.dp, axis=1).max() / p.cruise
        about = np.linalg.norm(x.w, axis=1).max() / p.cruise
        across = np.linalg.norm(x.ddp, axis=1).max() / p.cruise**2
        twisted = np.linalg.norm(x.dw, axis=1).max() / p.cruise**2
        part = math.sqrt(0.5) if max(across, twisted) > 0.0 else 1.0
        bends = ((across, limits["acceleration"]), (twisted, limits["turn_acceleration"]))
        fastest.append(min([1.0, *(math.sqrt(part * most / bend) for bend, most in bends if bend > 0.0)]))
        ramps = ((along, limits["acceleration"]), (about, limits["turn_acceleration"]))
        sharpest.append(min(part * most / rate for rate, most in ramps if rate > 0.0))
    widths = np.array([p.cruise for p in pieces])
    return pace(widths, np.array(fastest), np.array(sharpest), jerk_time)


def _along(
    pieces: list[_Piece], ends: np.ndarray, s: np.ndarray, sd: np.ndarray, sdd: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Poses (n, 4, 4) of the frame, its velocity and acceleration (n, 6), world axes, linear first."""
    T, twist, change = np.zeros((len(s), 4, 4)), np.zeros((len(s), 6)), np.zeros((len(s), 6))
    T[:, 3, 3] = 1.0
    which = np.clip(np.searchsorted(ends, s, side="right") - 1, 0, len(pieces) - 1)
    for k, piece in enumerate(pieces):
        rows, width = which == k, ends[k + 1] - ends[k]
        if not rows.any():
            continue
        x = piece.at((s[rows] - ends[k]) / width)
        u, uu = sd[rows, None] / width, sdd[rows, None] / width
        T[rows, :3, 3], T[rows, :3, :3] = x.p, x.R
        twist[rows] = np.concatenate([x.dp * u, x.w * u], axis=1)
        change[rows] = np.concatenate([x.dp * uu + x.ddp * u**2, x.w * uu + x.dw * u**2], axis=1)
    return T, twist, change


def _rates(
    subject: Any, frame: str, time: np.ndarray, q: np.ndarray, twist: np.ndarray, change: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """v and a (n, nv): splines of q, corrected to what the frame does exactly; a free motion keeps the splines' part.

    J v = twist,  J a + Jd v = change
    """
    _, v, a = with_rates(subject, {"time": time, "q": q}, ("q", "v", "a"), "line")
    J = quantities.evaluate(subject, "jacobian", {"q": q}, frame)
    back = np.linalg.pinv(J, rcond=1e-8)
    v = v + (back @ (twist - (J @ v[..., None])[..., 0])[..., None])[..., 0]
    moved = quantities.evaluate(subject, "acceleration", {"q": q, "v": v, "a": a}, frame)
    return v, a + (back @ (change - moved)[..., None])[..., 0]


def _beyond(twist: np.ndarray, change: np.ndarray, limits: dict[str, float]) -> float:
    """By what factor time must be stretched so that the frame keeps its limits; at least 1."""
    largest = lambda x: float(np.linalg.norm(x, axis=1).max())
    speeds = (largest(twist[:, :3]) / limits["speed"], largest(twist[:, 3:]) / limits["turn_speed"])
    ramps = (largest(change[:, :3]) / limits["acceleration"], largest(change[:, 3:]) / limits["turn_acceleration"])
    factor = max(*speeds, *(math.sqrt(x) for x in ramps))
    return factor if factor > 1.0 + 1e-9 else 1.0


def _tracked(subject: Any, frame: str, T: np.ndarray, time: np.ndarray, q0: ArrayLike | None) -> np.ndarray:
    """Coordinates along the poses; the first by a search from q0, the others each from the one before."""
    start = configurations.neutral(subject) if q0 is None else finite(q0, (subject.nq,), "line: q0")
    first = inverse_kinematics(subject, T[0], frame, start, "auto", {})
    if not first.success:
        raise NotPossible(f"line: the first pose cannot be reached: {first.reason}")
    found = inverse_kinematics(subject, T, frame, first.q, "auto", {"track": True})
    if not np.all(found.success):
        k = int(np.argmin(found.success))
        reason = np.asarray(found.reason, dtype=object).reshape(-1)[min(k, np.size(found.reason) - 1)]
        place = np.array2string(T[k, :3, 3], precision=4)
        raise NotPossible(f"line: no way on at {place} m, {time[k]:.4g} s of {time[-1]:.4g} s: {reason}")
    return np.asarray(found.q)


def _excess(subject: Any, v: np.ndarray) -> float:
    """By what factor joints are faster than their limits; at least 1."""
    largest = np.asarray(configurations.limits(subject).velocity, dtype=float)
    bounded = np.isfinite(largest) & (largest > 0.0)
    return float(max(1.0, (np.abs(v[:, bounded]).max(axis=0) / largest[bounded]).max(initial=1.0)))


def _singular(subject: Any, frame: str, q: np.ndarray, time: np.ndarray) -> np.ndarray:
    """Stretches of time in which the smallest singular value of the Jacobian is small beside the largest."""
    J = quantities.evaluate(subject, "jacobian", {"q": q}, frame)
    sizes = np.linalg.svd(J, compute_uv=False)
    near = np.concatenate([[False], sizes[:, -1] < SINGULAR * sizes[:, 0], [False]])
    edges = np.flatnonzero(near[1:] != near[:-1])
    return np.array([(time[a], time[b - 1]) for a, b in edges.reshape(-1, 2)]).reshape(-1, 2)
