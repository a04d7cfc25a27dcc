"""Arcs of the arm angle: unions of forbidden intervals on the circle, and the nearest angle outside them.

An arc is (start, end) with start in [-pi, pi) and start <= end <= start + 2 pi; forbidden is what lies strictly inside.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike

from linkwork.arguments import as_doubles, number
from linkwork.errors import InvalidInput

TURN = 2.0 * math.pi
ROUNDING = 1e-9
"""Angles this near [rad] are one where ends of arcs are compared."""
WHOLE = np.array([[-math.pi, math.pi]])


def wrapped(angle: np.ndarray | float) -> np.ndarray:
    """Angles in [-pi, pi)."""
    return (np.asarray(angle, dtype=float) + math.pi) % TURN - math.pi


def merged(center: np.ndarray, half_width: np.ndarray) -> np.ndarray:
    """The union (k, 2) of the arcs |angle - center| < half_width (n,), sorted by their start."""
    wide = half_width > 0.0
    center, half_width = center[wide], half_width[wide]
    if not len(center):
        return np.empty((0, 2))
    if (half_width >= math.pi).any():
        return WHOLE.copy()
    return joined(wrapped(center - half_width), 2.0 * half_width)


def joined(start: np.ndarray, width: np.ndarray) -> np.ndarray:
    """The union (k, 2) of the arcs from start (n,), in [-pi, pi), over width (n,), sorted by their start."""
    if not len(start):
        return np.empty((0, 2))
    if (width >= TURN).any():
        return WHOLE.copy()
    order = np.argsort(start)
    start, width = start[order], width[order]
    # An arc joins those before it where it begins within their reach.
    reach = np.maximum.accumulate(start + width)
    begins = np.concatenate([[True], start[1:] > reach[:-1]])
    ends = np.concatenate([begins[1:], [True]])
    return _closed(np.stack([start[begins], reach[ends]], axis=1))


def _closed(arcs: np.ndarray) -> np.ndarray:
    """Sorted arcs of one turn: the last one may run over pi into the first ones, which it then absorbs."""
    while len(arcs) > 1 and arcs[-1, 1] - TURN >= arcs[0, 0]:
        arcs[-1, 1] = max(arcs[-1, 1], arcs[0, 1] + TURN)
        arcs = arcs[1:]
    return WHOLE.copy() if (arcs[:, 1] - arcs[:, 0] >= TURN).any() else arcs


def nearest_free(forbidden: ArrayLike, target: float = 0.0, keep: float | None = None) -> float:
    """The free arm angle nearest to `target` [rad]; NaN where none is free.

    forbidden   (k, 2) arcs, as `Elbow.forbidden` gives them
    keep        an angle to stay with: the answer lies in the free arc that contains it (or in the free arc nearest to
                it, where it is itself forbidden), so that the elbow does not cross what it avoids. The answer is then
                given within half a turn of `keep`, so that a filter follows it the short way.
    """
    arcs = as_doubles(forbidden, "nearest_free: forbidden")
    if arcs.ndim != 2 or arcs.shape[1] != 2 or not np.isfinite(arcs).all():
        raise InvalidInput(f"nearest_free: forbidden has shape {arcs.shape}, expected finite arcs (k, 2)")
    goal = number(target, "nearest_free: target")
    if not len(arcs):
        return goal if keep is None else _beside(goal, number(keep, "nearest_free: keep"))
    if (arcs[:, 1] - arcs[:, 0] >= TURN).any():
        return math.nan
    if keep is None:
        return float(wrapped(_pushed(arcs, goal)))
    stay = number(keep, "nearest_free: keep")
    inside = _pushed(arcs, stay)
    # The free arc around `inside`: from the last end before it to the first start after it.
    below, above = -float(_ahead(inside - arcs[:, 1]).min()), float(_ahead(arcs[:, 0] - inside).min())
    to_goal = float(wrapped(goal - inside))
    if below <= to_goal <= above:
        return inside + to_goal
    # Both ends are candidates; the nearer one to the goal on the circle wins.
    ends = (inside + below, inside + above)
    return float(min(ends, key=lambda end: abs(float(wrapped(goal - end)))))


def _pushed(arcs: np.ndarray, angle: float) -> float:
    """The free angle nearest to `angle`, within half a turn of it; arcs do not overlap."""
    off = (angle - arcs[:, 0]) % TURN
    inside = np.flatnonzero((off > 0.0) & (off < arcs[:, 1] - arcs[:, 0]))
    if not len(inside):
        return angle
    start, end = arcs[inside[0]]
    back, forth = off[inside[0]], (end - start) - off[inside[0]]
    return float(angle - back if back <= forth else angle + forth)


def _ahead(angle: np.ndarray) -> np.ndarray:
    """Angles in [0, 2 pi); what lies behind by rounding alone is here, not a turn ahead."""
    turned = angle % TURN
    return np.where(turned > TURN - ROUNDING, 0.0, turned)


def _beside(angle: float, other: float) -> float:
    """The same direction as `angle`, within half a turn of `other`."""
    return other + float(wrapped(angle - other))
