"""Ways: what a frame goes along, piece by piece: straight lines, arcs,
and parabolas at rounded corners.

Between two poses the position goes straight (or along a circle) and the rotation turns about one
axis, the short way. Corners may be rounded: within `blend` of a pose the way is a parabola, whose
ends are met with equal speed,

    p(u) = (1-u)^2 p_in + 2 u (1-u) p_corner + u^2 p_out
    R(u) = R_corner exp((1-u)^2 log(R_corner' R_in)) exp(u^2 log(R_corner' R_out))
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from linkwork.arguments import finite
from linkwork.errors import InvalidInput
from linkwork.foreign_poses import matrix_of
from linkwork.poses import pose as as_pose
from linkwork.trajectory.turns import log_of, turned_by


@dataclass(frozen=True)
class Arc:
    """A move along the circle through a point `via` (3,) to the pose `end`."""

    via: Any
    end: Any


@dataclass(frozen=True)
class Place:
    """Where a piece is at shares u (n,): position, rotation,
    and derivatives by u of both (the turn in world axes)."""

    p: np.ndarray
    R: np.ndarray
    dp: np.ndarray
    w: np.ndarray
    ddp: np.ndarray
    dw: np.ndarray


@dataclass(frozen=True)
class Piece:
    """A piece of the way at a share u of it: its length [m], its turn [rad],
    and its time at full speed [s]."""

    at: Callable[[np.ndarray], Place]
    length: float
    turn: float
    cruise: float = 0.0
    straight: tuple[np.ndarray, np.ndarray] | None = (
        None  # poses of both ends, where it can be cut for a blend
    )


def moves_of(poses: Sequence[Any] | np.ndarray) -> list[Piece]:
    listed = list(poses)
    if len(listed) < 2 or isinstance(listed[0], Arc):
        raise InvalidInput(
            f"line: poses has {len(listed)} entries, expected at least two, the first a pose"
        )
    here = _one(listed[0], 0)
    moves = []
    for k, entry in enumerate(listed[1:], 1):
        there = _one(entry.end if isinstance(entry, Arc) else entry, k, here)
        if isinstance(entry, Arc):
            move = _circle(here, finite(entry.via, (3,), f"line: via of pose {k}"), there, k)
        else:
            move = _straight(here, there)
        if move.length < 1e-12 and move.turn < 1e-12:
            raise InvalidInput(f"line: poses {k - 1} and {k} are the same")
        moves.append(move)
        here = there
    return moves


def _one(entry: Any, k: int, before: np.ndarray | None = None) -> np.ndarray:
    """A pose of the way; a position alone keeps the rotation of the one before."""
    try:
        keeps = before is not None and np.shape(matrix_of(entry)) == (3,)
        T = as_pose(entry, matrix=before[:3, :3] if keeps and before is not None else None)
    except ValueError as error:  # ours, and that of a ragged list
        raise InvalidInput(f"line: pose {k}: {error}") from None
    if T.shape != (4, 4):
        raise InvalidInput(f"line: pose {k} has shape {T.shape}, expected (4, 4)")
    return T


def _straight(A: np.ndarray, B: np.ndarray) -> Piece:
    along, turn = B[:3, 3] - A[:3, 3], log_of(A[:3, :3].T @ B[:3, :3])

    def at(u: np.ndarray) -> Place:
        p, R = A[:3, 3] + u[:, None] * along, A[:3, :3] @ turned_by(u[:, None] * turn)
        zero = np.zeros_like(p)
        return Place(p, R, zero + along, zero + A[:3, :3] @ turn, zero, zero)

    return Piece(at, float(np.linalg.norm(along)), float(np.linalg.norm(turn)), straight=(A, B))


def _circle(A: np.ndarray, via: np.ndarray, B: np.ndarray, k: int) -> Piece:
    """The circle through three points: its centre lies in their plane, equally far from all."""
    a, b = via - A[:3, 3], B[:3, 3] - A[:3, 3]
    normal = np.cross(a, b)
    size = float(normal @ normal)
    if size < 1e-12 * float((a @ a) * (b @ b)):
        raise InvalidInput(
            f"line: the arc to pose {k} has three points on one line; use a straight move"
        )
    center = A[:3, 3] + ((a @ a) * np.cross(b, normal) + (b @ b) * np.cross(normal, a)) / (
        2.0 * size
    )
    axis = normal / math.sqrt(size)
    x = A[:3, 3] - center
    y = np.cross(axis, x)
    sweep = math.atan2(float((B[:3, 3] - center) @ y), float((B[:3, 3] - center) @ x)) % (
        2 * math.pi
    )
    turn = log_of(A[:3, :3].T @ B[:3, :3])

    def at(u: np.ndarray) -> Place:
        angle = u[:, None] * sweep
        out = np.cos(angle) * x + np.sin(angle) * y
        forth = np.cos(angle) * y - np.sin(angle) * x
        zero = np.zeros_like(out)
        R = A[:3, :3] @ turned_by(u[:, None] * turn)
        return Place(
            center + out, R, sweep * forth, zero + A[:3, :3] @ turn, -(sweep**2) * out, zero
        )

    return Piece(at, float(np.linalg.norm(x)) * sweep, float(np.linalg.norm(turn)))


def cruise_of(move: Piece, limits: dict[str, float]) -> float:
    return max(move.length / limits["speed"], move.turn / limits["turn_speed"])


def rounded(moves: list[Piece], radius: float) -> list[list[Piece]]:
    """Moves with parabolas at the corners between straight ones; other corners stay stops,
    which begin a new group."""
    groups: list[list[Piece]] = [[]]
    cut = 0.0  # share of the present move that the corner before has taken
    for k, move in enumerate(moves):
        following = moves[k + 1] if k + 1 < len(moves) else None
        corner = (
            following is not None and move.straight is not None and following.straight is not None
        )
        if not corner:
            groups[-1].append(_part(move, cut, 1.0))
            cut = 0.0
            if following is not None:
                groups.append([])
            continue
        assert (
            move.straight is not None and following is not None and following.straight is not None
        )
        # Both sides give the same time, so that the parabola is entered and left at the moves' own
        # speed.
        most = [
            min(0.5, radius / each.length) if each.length > 0.0 else 0.5
            for each in (move, following)
        ]
        time_lost = min(
            share * each.cruise for share, each in zip(most, (move, following), strict=True)
        )
        take = [time_lost / each.cruise for each in (move, following)]
        groups[-1].append(_part(move, cut, 1.0 - take[0]))
        groups[-1].append(_parabola(move, following, take))
        cut = take[1]
    return groups


def _part(move: Piece, begin: float, end: float) -> Piece:
    if (begin, end) == (0.0, 1.0):
        return move
    share = end - begin

    def at(u: np.ndarray) -> Place:
        x = move.at(begin + share * u)
        return Place(x.p, x.R, share * x.dp, share * x.w, share**2 * x.ddp, share**2 * x.dw)

    return Piece(at, move.length * share, move.turn * share, move.cruise * share)


def _parabola(move: Piece, following: Piece, take: list[float]) -> Piece:
    assert move.straight is not None
    corner = move.straight[1]
    entry, leave = move.at(np.array([1.0 - take[0]])), following.at(np.array([take[1]]))
    p_in, p_out, C = entry.p, leave.p, corner[:3, :3]
    into, out = (log_of(C.T @ x.R[0]) for x in (entry, leave))

    def at(u: np.ndarray) -> Place:
        x = u[:, None]
        p = (1 - x) ** 2 * p_in + 2 * x * (1 - x) * corner[:3, 3] + x**2 * p_out
        dp = 2 * (1 - x) * (corner[:3, 3] - p_in) + 2 * x * (p_out - corner[:3, 3])
        ddp = np.zeros_like(p) + 2 * (p_in - 2 * corner[:3, 3] + p_out)
        first = turned_by((1 - x) ** 2 * into)
        # R = C E1 E2: w = C (rate of the first turn + E1 rate of the second)
        rate_one, rate_two = -2 * (1 - x) * into, (first @ (2 * x * out)[..., None])[..., 0]
        w = (rate_one + rate_two) @ C.T
        bend = (
            2 * into + (first @ (2 * out + 0 * x)[..., None])[..., 0] + np.cross(rate_one, rate_two)
        )
        return Place(p, C @ first @ turned_by(x**2 * out), dp, w, ddp, bend @ C.T)

    fine = at(np.linspace(0.0, 1.0, 65)).p
    length = float(np.linalg.norm(np.diff(fine, axis=0), axis=1).sum())
    cruise = 2 * move.cruise * take[0]
    return Piece(at, length, move.turn * take[0] + following.turn * take[1], cruise)
