"""Blocking: which joint's limit keeps a search from its target, found by releasing limits.

A joint that stands on a limit need not be in the way: the search may have left it there. A joint is
in the way if the target is reached as soon as its limit alone is taken off; where no single one is,
several are together.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from linkwork import configurations

if TYPE_CHECKING:
    from linkwork.inverse.numeric import Limits, Solver

MOST = 64
"""Answers of a batch of which each is looked into; of more,
only joints that stand on a limit are named."""
RESTARTS = 10
BEYOND = 1e-7
"""What counts as outside a limit [rad, m]."""


def blocked_by(solver: Solver, numbers: np.ndarray, q: np.ndarray, limits: Limits) -> str:
    """What keeps the target `numbers` from being reached near q (nq,), in words."""
    free = (np.full(solver.subject.nq, -np.inf), np.full(solver.subject.nq, np.inf))
    without = solver.searched(numbers, q, free, RESTARTS)
    if without is None:
        return "it is not reached without limits of the joints either"
    alone = []
    for name, columns in _joints(solver):
        released = tuple(
            np.where(np.isin(np.arange(len(q)), columns), x, own) for x, own in zip(free, limits)
        )
        reached = solver.searched(numbers, q, released, RESTARTS)  # type: ignore[arg-type]
        outside = [] if reached is None else list(_outside(solver, reached, limits))
        if outside:
            alone.append((max(over for _, over in outside), name, outside[0][0]))
    if alone:
        return f"what blocks is the limit of {min(alone)[2]}"
    return "what blocks are the limits of " + " and ".join(
        words for words, _ in _outside(solver, without, limits)
    )


def nearest_outside(solver: Solver, postures: np.ndarray, limits: Limits) -> str:
    """Of postures (m, nq), all outside the limits: the joints of the one that is least outside,
    in words."""
    least = min(
        postures, key=lambda q: max((over for _, over in _outside(solver, q, limits)), default=0.0)
    )
    listed = " and ".join(words for words, _ in _outside(solver, least, limits))
    return f"the nearest one breaks the limit of {listed}" if listed else ""


def _joints(solver: Solver) -> Iterator[tuple[str, list[int]]]:
    """Moving joints with limits, each with its coordinates."""
    moving = set(solver.moving.tolist())
    for joint, q, _ in configurations.places(solver.subject):
        columns = [k for k in range(q.start, q.stop) if k in moving]
        if columns:
            yield joint.name, columns


def _outside(solver: Solver, q: np.ndarray, limits: Limits) -> Iterator[tuple[str, float]]:
    """(words, how far) of every coordinate beyond its limits, whole turns of hinges taken off."""
    for joint, place, _ in configurations.places(solver.subject):
        turns, unit = (2.0 * np.pi, "rad") if joint.kind.is_hinge else (0.0, "m")
        for k in range(place.start, place.stop):
            low, high, x = float(limits[0][k]), float(limits[1][k]), float(q[k])
            if turns and np.isfinite(low + high):
                x -= turns * np.round((x - (low + high) / 2.0) / turns)
            over = max(low - x, x - high)
            if over > BEYOND:
                limit = low if x < low else high
                yield f'"{joint.name}" ({limit:.4g} {unit}; it would stand at {x:.4g} {unit})', over
