"""Monodromy: all solutions of a generic system from one of them.

The parameters run a triangle p -> q -> r -> p with random complex corners. Every solution that is
known goes along and comes back as a solution, often another one. When several loops running bring
nothing new, the set is complete, as far as loops can tell.
Source: [Duff2019] section 2.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from linkwork import deadlines
from linkwork.errors import InvalidInput, NotPossible
from linkwork.polynomials.fingerprints import Symmetry, fingerprint
from linkwork.polynomials.starts import Starts

NEAR = 1e-7
"""Distance of fingerprints below which two solutions are one."""
EXACT = 1e-10


def explore(
    system: Any,
    x: np.ndarray,
    p: np.ndarray,
    seed: int,
    symmetry: Symmetry | None,
    idle: int,
    most_loops: int,
) -> Starts:
    """The solutions at p that loops find, with how many loops there were and how many in the end
    were idle."""
    size, _ = system.corrections(x, p)
    if (size > 1e-6).any():
        raise InvalidInput(
            f"{system.name}: monodromy: x is no solution at p: Newton would change it by "
            f"{size.max():.1e}"
        )
    random = np.random.default_rng(seed)
    spread = np.sqrt(np.mean(np.abs(p) ** 2))
    known, marks = x, fingerprint(x, p, symmetry)
    loops = since = 0
    while since < idle:
        deadlines.check()
        if loops == most_loops:
            raise NotPossible(
                f"{system.name}: after {loops} loops still new solutions; {len(known)} so far"
            )
        corners = spread * (random.normal(size=(2, len(p))) + 1j * random.normal(size=(2, len(p))))
        ends = known
        for start, goal in ((p, corners[0]), (corners[0], corners[1]), (corners[1], p)):
            ends, arrived = system.track(start, goal, ends)
            ends = ends[arrived]
        size, _ = system.corrections(ends, p)
        ends = ends[size < EXACT]
        fresh = _new(fingerprint(ends, p, symmetry), marks)
        loops += 1
        since = 0 if len(fresh) else since + 1
        known = np.concatenate([known, ends[fresh]])
        marks = fingerprint(known, p, symmetry)
    return Starts(p, known, seed, loops, since)


def _new(candidates: np.ndarray, known: np.ndarray) -> np.ndarray:
    """Indices of candidates that are neither known nor near an earlier candidate."""
    if not len(candidates):
        return np.zeros(0, dtype=int)
    from scipy.spatial import cKDTree  # half a second of imports that a solve does not need

    distance, _ = cKDTree(known).query(candidates)
    rows = np.flatnonzero(distance > NEAR)
    kept: list[int] = []
    tree = cKDTree(candidates[rows]) if len(rows) else None
    for place, row in enumerate(rows):
        near = tree.query_ball_point(candidates[row], NEAR) if tree is not None else []
        if min(near) == place:
            kept.append(int(row))
    return np.array(kept, dtype=int)
