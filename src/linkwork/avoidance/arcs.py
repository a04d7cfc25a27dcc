"""Arcs of the arm angle: unions of forbidden intervals on the circle,
and the nearest angle outside them.

An arc is (start, end) with start in [-pi, pi) and start <= end <= start + 2 pi; forbidden is what
lies strictly inside.
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


def wrapped_one(angle: float) -> float:
    """One angle in [-pi, pi)."""
    return (angle + math.pi) % TURN - math.pi


def merged(center: np.ndarray, half_width: np.ndarray) -> np.ndarray:
    """The union (k, 2) of the arcs |angle - center| < half_width (n,), sorted by their start."""
    wide = half_width > 0.0
    both = zip(center[wide].tolist(), half_width[wide].tolist(), strict=True)
    return _union([(wrapped_one(middle - half), 2.0 * half) for middle, half in both])


def joined(start: np.ndarray, width: np.ndarray) -> np.ndarray:
    """The union (k, 2) of the arcs from start (n,), in [-pi, pi), over width (n,),
    sorted by their start."""
    return _union(list(zip(start.tolist(), width.tolist(), strict=True)))


def _union(given: list[tuple[float, float]]) -> np.ndarray:
    """The union (k, 2) of arcs (start, width); plain numbers, for there are few of them."""
    if not given:
        return np.empty((0, 2))
    if any(width >= TURN for _, width in given):
        return WHOLE.copy()
    # an arc joins those before it where it begins within their reach
    arcs: list[list[float]] = []
    for begin, width in sorted(given):
        if arcs and begin <= arcs[-1][1]:
            arcs[-1][1] = max(arcs[-1][1], begin + width)
        else:
            arcs.append([begin, begin + width])
    # the last one may run over pi into the first ones, which it then absorbs
    while len(arcs) > 1 and arcs[-1][1] - TURN >= arcs[0][0]:
        arcs[-1][1] = max(arcs[-1][1], arcs[0][1] + TURN)
        arcs = arcs[1:]
    return WHOLE.copy() if any(end - begin >= TURN for begin, end in arcs) else np.array(arcs)


def without(arcs: np.ndarray, forbidden: np.ndarray) -> np.ndarray:
    """What of arcs (k, 2) lies in no forbidden arc (n, 2), as arcs (m, 2) sorted by their start."""
    if not len(forbidden):
        return arcs.copy()
    first, last = forbidden[0].tolist()
    left = [
        (start, end) if end - start < TURN else (last, first + TURN) for start, end in arcs.tolist()
    ]
    for start, end in forbidden.tolist():
        for turn in (-1.0, 0.0, 1.0):  # an arc may run over pi
            left = [
                piece for arc in left for piece in _cut(arc, start + turn * TURN, end + turn * TURN)
            ]
    if not left:
        return np.empty((0, 2))
    rows = np.array([(wrapped_one(a), wrapped_one(a) + (b - a)) for a, b in left])
    return rows[np.argsort(rows[:, 0], kind="stable")]


def _cut(arc: tuple[float, float], start: float, end: float) -> list[tuple[float, float]]:
    """What is left of an arc without what lies between start and end."""
    below, above = (arc[0], min(arc[1], start)), (max(arc[0], end), arc[1])
    return [piece for piece in (below, above) if piece[1] > piece[0]]


def nearest_free(forbidden: ArrayLike, target: float = 0.0, keep: float | None = None) -> float:
    """The free arm angle nearest to `target` [rad]; NaN where none is free.

    forbidden   (k, 2) arcs, as `Elbow.forbidden` gives them
    keep        an angle to stay with: the answer lies in the free arc that contains it
                (or in the free arc nearest to it, where it is itself forbidden), so that the elbow
                does not cross what it avoids. The answer is then given within half a turn of
                `keep`, so that a filter follows it the short way.
    """
    given = as_doubles(forbidden, "nearest_free: forbidden")
    if given.ndim != 2 or given.shape[1] != 2 or not np.isfinite(given).all():
        raise InvalidInput(
            f"nearest_free: forbidden has shape {given.shape}, expected finite arcs (k, 2)"
        )
    stay = None if keep is None else number(keep, "nearest_free: keep")
    return nearest_of(given, number(target, "nearest_free: target"), stay)


def nearest_of(forbidden: np.ndarray, goal: float, keep: float | None) -> float:
    """As `nearest_free`, without questions."""
    arcs = forbidden.tolist()
    if not arcs:
        return goal if keep is None else _beside(goal, keep)
    if any(end - start >= TURN for start, end in arcs):
        return math.nan
    if keep is None:
        return wrapped_one(_pushed(arcs, goal))
    inside = _pushed(arcs, keep)
    # The free arc around `inside`: from the last end before it to the first start after it.
    below = -min(_ahead(inside - end) for _, end in arcs)
    above = min(_ahead(start - inside) for start, _ in arcs)
    to_goal = wrapped_one(goal - inside)
    if below <= to_goal <= above:
        return inside + to_goal
    # Both ends are candidates; the nearer one to the goal on the circle wins.
    ends = (inside + below, inside + above)
    return min(ends, key=lambda end: abs(wrapped_one(goal - end)))


def _pushed(arcs: list[list[float]], angle: float) -> float:
    """The free angle nearest to `angle`, within half a turn of it; arcs do not overlap."""
    for start, end in arcs:
        back = (angle - start) % TURN
        if 0.0 < back < end - start:
            forth = (end - start) - back
            return angle - back if back <= forth else angle + forth
    return angle


def _ahead(angle: float) -> float:
    """An angle in [0, 2 pi); what lies behind by rounding alone is here, not a turn ahead."""
    turned = angle % TURN
    return 0.0 if turned > TURN - ROUNDING else turned


def _beside(angle: float, other: float) -> float:
    """The same direction as `angle`, within half a turn of `other`."""
    return other + wrapped_one(angle - other)
