"""Line timing: the way of a frame through poses, at instants that keep the limits of the frame."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from linkwork import deadlines
from linkwork.errors import InvalidInput
from linkwork.trajectory.pace import Pace, pace
from linkwork.trajectory.ways import Piece, cruise_of, moves_of, rounded

MOST_INSTANTS = 2 * 10**6
AN_INSTANT = 1500.0
"""Bytes: poses, rates and Jacobians, some of them twice."""


@dataclass(frozen=True)
class Stretch:
    """A part of the way from rest to rest: instants, poses,
    velocity and acceleration of the frame (n, 6)."""

    time: np.ndarray
    T: np.ndarray
    twist: np.ndarray
    change: np.ndarray


def timed_stretches(
    who: str, poses: Any, limits: dict[str, float], radius: float, jerk_time: float
) -> list[Stretch]:
    """The way of one line, in stretches between stops;
    s runs over the cruising time of every piece."""
    moves = [replace(move, cruise=cruise_of(move, limits)) for move in moves_of(poses)]
    groups = rounded(moves, radius) if radius > 0.0 else [[move] for move in moves]
    stretches = []
    for group in groups:
        pieces = [piece for piece in group if piece.cruise > 1e-12]
        ends = np.concatenate([[0.0], np.cumsum([piece.cruise for piece in pieces])])
        law = _pace(pieces, limits, jerk_time)
        count = _instants(who, law.duration, limits["step"])
        time = np.linspace(0.0, law.duration, count)
        s, sd, sdd = law.at(time)
        T, twist, change = _along(pieces, ends, np.clip(s, 0.0, ends[-1]), sd, sdd)
        # a mean over time can pass a corner faster than the corner allows
        beyond = _beyond(twist, change, limits)
        stretches.append(Stretch(time * beyond, T, twist / beyond, change / beyond**2))
    return stretches


def _instants(who: str, duration: float, step: float) -> int:
    """How many instants a stretch has; refused before the first where no memory holds them."""
    steps = duration / step
    cure = "set speed= or step="
    if not steps < MOST_INSTANTS:
        raise InvalidInput(
            f"{who}: {steps:.3g} instants, expected at most {MOST_INSTANTS:.0e}: {cure}"
        )
    deadlines.check_memory(steps * AN_INSTANT, f"{who}: {steps:.3g} instants", cure)
    return max(2, math.ceil(steps) + 1)


def _pace(pieces: list[Piece], limits: dict[str, float], jerk_time: float) -> Pace:
    """s(t): speed at most 1, and in curves no more than their bend allows.

    Along a piece of length l and cruising time w the frame's acceleration is (l / w) sdd; a curve
    adds |p''| sd^2 / w^2 across. Where both act each gets the share 1 / sqrt(2).
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
        fastest.append(
            min([1.0, *(math.sqrt(part * most / bend) for bend, most in bends if bend > 0.0)])
        )
        ramps = ((along, limits["acceleration"]), (about, limits["turn_acceleration"]))
        sharpest.append(min(part * most / rate for rate, most in ramps if rate > 0.0))
    widths = np.array([p.cruise for p in pieces])
    return pace(widths, np.array(fastest), np.array(sharpest), jerk_time)


def _along(
    pieces: list[Piece], ends: np.ndarray, s: np.ndarray, sd: np.ndarray, sdd: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Poses (n, 4, 4) of the frame, its velocity and acceleration (n, 6), world axes, linear
    first."""
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


def _beyond(twist: np.ndarray, change: np.ndarray, limits: dict[str, float]) -> float:
    """By what factor time must be stretched so that the frame keeps its limits; at least 1."""
    largest = lambda x: float(np.linalg.norm(x, axis=1).max())
    speeds = (largest(twist[:, :3]) / limits["speed"], largest(twist[:, 3:]) / limits["turn_speed"])
    ramps = (
        largest(change[:, :3]) / limits["acceleration"],
        largest(change[:, 3:]) / limits["turn_acceleration"],
    )
    factor = max(*speeds, *(math.sqrt(x) for x in ramps))
    return factor if factor > 1.0 + 1e-9 else 1.0
