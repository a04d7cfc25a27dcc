"""Crossings: where functions of an angle change sign, all of them,
proved by bounds on a cell instead of a fine grid.

Each function g is the largest of sinusoids of amplitude <= R, so g + R x^2 / 2 is convex. On a cell
of width w with values and slopes at its ends a, b that gives

    g <= max(g_a, g_b) + R w^2 / 8                                     below zero: free throughout
    g >= g_a - w max(0, -g'_a) - R w^2 / 2, and the same from b        above zero: inside throughout
    g' >= g'_a - R w,  g' <= g'_b + R w                                one sign: at most one crossing

and a cell that none of them decides is halved.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from linkwork.avoidance.arcs import TURN, wrapped

FIRST = 24
"""Cells a turn is first cut into."""
FINEST = 1e-9
"""Cells this narrow [rad] are decided by their ends: what they hide is less than R w^2 / 8 deep."""
ROUNDS = 60

Depth = Callable[[np.ndarray, np.ndarray], tuple[np.ndarray, np.ndarray, np.ndarray]]
"""(which function (m,), angle (m,)) -> value, slope, bound R of its curvature, (m,) each."""


def positive_arcs(depth: Depth, count: int) -> tuple[np.ndarray, np.ndarray]:
    """(start (k,), width (k,)) [rad] of all arcs in which some of `count` functions are
    positive."""
    grid = np.linspace(-np.pi, np.pi, FIRST, endpoint=False)
    which, angle = np.repeat(np.arange(count), FIRST), np.tile(grid, count)
    g, slope, R = depth(which, angle)
    after = lambda x: np.roll(x.reshape(count, FIRST), -1, axis=1).ravel()
    first_value = g.reshape(count, FIRST)[:, 0]
    cells: tuple[np.ndarray, ...] = (
        which,
        angle,
        np.full(len(angle), TURN / FIRST),
        g,
        slope,
        after(g),
        after(slope),
        R,
    )
    crossings: list[tuple[np.ndarray, ...]] = []
    while len(cells[0]):
        which, a, w, ga, da, gb, db, R = cells
        curved = R * w
        free = np.maximum(ga, gb) + curved * w / 8 <= 0.0
        lowest = (
            np.maximum(ga - w * np.maximum(0.0, -da), gb - w * np.maximum(0.0, db)) - curved * w / 2
        )
        crosses = (ga > 0.0) != (gb > 0.0)
        once = crosses & np.where(gb > 0.0, da - curved > 0.0, db + curved < 0.0)
        narrow = w < FINEST
        taken = once | (narrow & crosses)
        crossings.append(tuple(x[taken] for x in (which, a, w, gb)))
        cells = _halved(depth, tuple(x[~(free | (lowest > 0.0) | once | narrow)] for x in cells))
    which, a, w, gb = (np.concatenate(parts) for parts in zip(*crossings, strict=True))
    return _arcs(which, _root(depth, which, a, w, gb > 0.0), gb > 0.0, first_value)


def _halved(depth: Depth, cells: tuple[np.ndarray, ...]) -> tuple[np.ndarray, ...]:
    which, a, w, ga, da, gb, db, R = cells
    if not len(which):
        return cells
    half = w / 2
    gm, dm, _ = depth(which, a + half)
    left, right = (which, a, half, ga, da, gm, dm, R), (which, a + half, half, gm, dm, gb, db, R)
    return tuple(np.concatenate(pair) for pair in zip(left, right, strict=True))


def _root(
    depth: Depth, which: np.ndarray, a: np.ndarray, w: np.ndarray, rises: np.ndarray
) -> np.ndarray:
    """The crossing of each cell by Newton's method within a bracket that only shrinks."""
    low, high = a.copy(), a + w
    x = a + w / 2
    for _ in range(ROUNDS if len(which) else 0):
        g, slope, _ = depth(which, x)
        beyond = (g > 0.0) == rises
        low, high = np.where(beyond, low, x), np.where(beyond, x, high)
        stepped = x - np.divide(g, slope, out=np.full_like(g, np.inf), where=slope != 0.0)
        inside = (stepped > low) & (stepped < high)
        moved = np.where(inside, stepped, (low + high) / 2)
        done = np.abs(moved - x) <= 4e-16 * TURN
        x = moved
        if done.all():
            break
    return x


def _arcs(
    which: np.ndarray, angle: np.ndarray, rises: np.ndarray, first: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """From each rise to the next fall of the same function;
    a whole turn where one never crosses and is positive."""
    untouched = np.setdiff1d(np.flatnonzero(first > 0.0), which)
    starts, widths = [np.full(len(untouched), -np.pi)], [np.full(len(untouched), TURN)]
    order = np.lexsort((angle, which))
    which, angle, rises = which[order], angle[order], rises[order]
    for own in np.split(np.arange(len(which)), np.flatnonzero(np.diff(which)) + 1):
        if not len(own):
            continue
        turned = np.roll(own, -1) if not rises[own[0]] else own  # begin with a rise
        up, down = angle[turned[0::2]], angle[turned[1::2]]
        starts.append(wrapped(up))
        widths.append((down - up) % TURN)
    return np.concatenate(starts), np.concatenate(widths)
