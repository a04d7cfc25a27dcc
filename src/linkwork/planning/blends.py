"""Blends: a path of straight motions with rounded corners, so that a robot need not stop there.

A corner p between unit directions a and b becomes the parabola from p - d a to p + d b with p as
its control point. Its derivative by s, s counting 2 d along it, runs from a to b without a jump.
The parabola is proved free by chords: a chord's motion is certified with a clearance, and between
chord and parabola no joint differs by more than
|b - a| d / (4 n^2) for n chords, which moves no point of the robot by more than its reach times that. Corners that
cannot be proved are rounded less, and refused at last.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from linkwork.arguments import number
from linkwork.collision import CollisionModel, Obstacles
from linkwork.collision.sweeps import sweeps
from linkwork.errors import InvalidInput, NotPossible
from linkwork.trajectory.path import Path

CHORDS = (4, 16, 64)
FINE = 16  # chords of a corner beside which the path is said to stay, at least
HALVINGS = 6


@dataclass(frozen=True)
class Blended:
    """A path with rounded corners, and straight motions that it stays beside.

    chords   (k, nq) waypoints of them, which are proved free where the path is
    apart    [m] no point of the robot is further from where it would be along them
    """

    path: Path
    chords: np.ndarray
    apart: float = 0.0


def blended(
    model: CollisionModel,
    waypoints: np.ndarray,
    obstacles: Obstacles | None,
    rounding: float,
    proved: bool,
) -> Blended:
    """A path with continuous direction through waypoints (m, nq)."""
    share = number(rounding, "to_path: rounding")
    if not 0.0 < share <= 0.5:
        raise InvalidInput(
            f"to_path: rounding is {share:g}, expected a share above 0 and at most 0.5"
        )
    points = waypoints[np.r_[True, np.linalg.norm(np.diff(waypoints, axis=0), axis=1) > 1e-12]]
    if len(points) < 2:
        raise NotPossible(
            "to_path: start and goal are the same configuration; there is nothing to move along"
        )
    if len(points) == 2:
        return Blended(Path.line(points[0], points[1]), points)
    ways = np.diff(points, axis=0)
    lengths = np.linalg.norm(ways, axis=1)
    directions = ways / lengths[:, None]
    reach = _reach(model, points)
    radii, curves, apart = np.zeros(len(points)), [points[:1]], 0.0
    for k in range(1, len(points) - 1):
        d = share * min(lengths[k - 1], lengths[k])
        corner = (points[k], directions[k - 1], directions[k])
        for _ in range(HALVINGS):
            chords = _free_chords(model, obstacles, corner, d, reach, proved)
            if chords:
                radii[k], fine = d, max(chords, FINE)
                curves.append(_parabola(corner, d, fine))
                apart = max(apart, float(reach @ _deviation(corner, d, fine)))
                break
            d *= 0.5
        else:
            raise NotPossible(
                f"to_path: the corner at waypoint {k} cannot be rounded freely; plan with more "
                "clearance"
            )
    return Blended(
        _path(points, directions, lengths, radii), np.concatenate([*curves, points[-1:]]), apart
    )


def _free_chords(
    model: CollisionModel, obstacles: Any, corner: Any, d: float, reach: np.ndarray, proved: bool
) -> int | None:
    """By how many chords the parabola of one corner is known to touch nothing;
    None where it may touch something."""
    for chords in CHORDS:
        curve = _parabola(corner, d, chords)
        if not proved:
            return (
                chords if np.all(model.motion_is_free(curve[:-1], curve[1:], obstacles)) else None
            )
        certificate = model.certify_motion(curve[:-1], curve[1:], obstacles)
        apart = float(reach @ _deviation(corner, d, chords))
        if np.all(certificate.free) and float(np.min(certificate.clearance)) > apart:
            return chords
        if np.any(certificate.collides):
            return None
    return None


def _parabola(corner: Any, d: float, chords: int) -> np.ndarray:
    """(chords + 1, nq) points of a corner's parabola, even in its parameter."""
    p, a, b = corner
    u = np.linspace(0.0, 1.0, chords + 1)[:, None]
    return p - d * a * (1.0 - u) ** 2 + d * b * u**2


def _deviation(corner: Any, d: float, chords: int) -> np.ndarray:
    """(nq,) between chord and parabola: |second derivative| (1 / n)^2 / 8,
    the former being 2 d (b - a)."""
    _, a, b = corner
    return np.abs(b - a) * d / (4.0 * chords**2)


def _reach(model: CollisionModel, points: np.ndarray) -> np.ndarray:
    """How far each independent coordinate can move any point of the robot, a unit [m]."""
    tables = model.tables
    ways = points.max(axis=0) - points.min(axis=0)
    packed = sweeps(tables, points.min(axis=0)[None], ways[None], 0.05)
    rows = [
        array
        for array in packed.kept
        if array.dtype == np.float64 and array.shape[1:] == (tables.subject.tree.nv,)
    ]
    per_tree = np.concatenate([np.zeros((1, tables.subject.tree.nv)), *rows]).max(axis=0)
    return np.abs(tables.subject.tree.mimic_map[2]).T @ per_tree


def _path(
    points: np.ndarray, directions: np.ndarray, lengths: np.ndarray, radii: np.ndarray
) -> Path:
    """Straight parts and parabolas one after the other, s even in their length."""
    breaks, pieces = [0.0], []
    for k in range(len(lengths)):
        straight = lengths[k] - radii[k] - radii[k + 1]
        if straight > 1e-12:
            pieces.append(
                (points[k] + radii[k] * directions[k], directions[k], 0.0 * directions[k])
            )
            breaks.append(breaks[-1] + straight)
        if k + 1 < len(lengths):
            d = radii[k + 1]
            turn = (directions[k + 1] - directions[k]) / (2.0 * d)
            pieces.append((points[k + 1] - d * directions[k], directions[k], turn))
            breaks.append(breaks[-1] + 2.0 * d)
    total, ends = breaks[-1], np.array(breaks)
    first, slope, bend = (np.array([piece[j] for piece in pieces]) for j in range(3))

    def curve(s: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        x = s * total
        k = np.clip(np.searchsorted(ends, x, side="right") - 1, 0, len(pieces) - 1)
        t = (x - ends[k])[:, None]
        q = first[k] + t * slope[k] + 0.5 * t * t * bend[k]
        q = np.where(s[:, None] >= 1.0, points[-1], q)
        return q, total * (slope[k] + t * bend[k]), total * total * bend[k]

    return Path(points.shape[1], curve, tuple((ends[1:-1] / total).tolist()))
