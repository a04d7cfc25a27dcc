"""Paths on a manifold: ways between configurations that keep constraints all along,
shorter and fine enough.

A way from a to b is the straight one, its points projected (all at once, in SIMD lanes), as long as
neighbours stay neighbours. A path of straight motions leaves the manifold between its waypoints by
about their distance squared; it is `fine` when no sample CHECKED apart leaves by more than HALF a
tolerance, so that rounded corners stay within one.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from linkwork.planning.constraints import Manifold

CHECKED = 1.0 / 500.0  # [rad, m] between samples that are looked at
HALF = 0.5  # of the tolerance, that straight motions between waypoints may leave by
SHORTEST = 1e-4  # [rad, m] motions below are not split any more
JUMP = 2.0  # times their share that neighbours may be apart
MOST_WAYPOINTS = 20_000
QUARTERS = np.array([0.25, 0.5, 0.75])
FEW = 8  # iterations of Newton's method for points near the manifold
ROUNDS, PAIRS = 6, 16  # of shortcuts, and how many are tried a round
PATIENCE = 1e-3  # of the length, that a round must gain for another one


class OnManifold:
    """Ways for one manifold and start: what `numbers` the kernel is told is decided by them."""

    def __init__(self, manifold: Manifold, start: np.ndarray) -> None:
        self.manifold, self.space = manifold, manifold.space
        self.numbers = manifold.numbers(start)

    def off(self, q: np.ndarray) -> np.ndarray:
        return self.manifold.off(q, self.numbers)

    def worst(self, path: np.ndarray) -> float:
        """How far a path of straight motions leaves, in tolerances, at samples CHECKED apart."""
        return float(self.off(dense(path)[0]).max())

    def fine(self, path: np.ndarray) -> np.ndarray | None:
        """The path with waypoints between, so that motions stay within the tolerance;
        None where it breaks."""
        rough = np.ones(len(path) - 1, dtype=bool)  # motions that may still leave
        while rough.any() and len(path) <= MOST_WAYPOINTS:
            ways = np.diff(path, axis=0)
            motions = np.flatnonzero(rough)
            inner = path[motions, None] + ways[motions, None] * QUARTERS[:, None]
            lengths = np.linalg.norm(ways[motions], axis=1)
            split = motions[(self.off(inner).max(axis=1) > HALF) & (lengths > SHORTEST)]
            middle = path[split] + 0.5 * ways[split]
            rows, kept = self.manifold.projected(middle, self.numbers, FEW)
            apart = np.linalg.norm(rows - middle, axis=1) > 0.5 * np.linalg.norm(
                ways[split], axis=1
            )
            if not kept.all() or apart.any():
                return None
            rough[:] = False
            rough[split] = True
            path = np.insert(path, split + 1, rows, axis=0)
            rough = np.insert(rough, split + 1, True)
        return path if self.worst(path) <= 1.0 else None

    def ways(self, first: np.ndarray, last: np.ndarray, step: float) -> list[np.ndarray | None]:
        """For each pair of rows (k, nq) the projected way between them, points about `step` apart;
        None: it breaks."""
        spans = self.space.difference(first, last)
        lengths = np.sqrt(np.einsum("ij,ij->i", spans, spans))
        counts = np.maximum(np.ceil(lengths / step), 1).astype(int)
        pair = np.repeat(np.arange(len(first)), counts + 1)
        begins = np.cumsum(counts + 1) - (counts + 1)
        place = np.arange(len(pair)) - begins[pair]
        rows = first[pair] + spans[pair] * (place / counts[pair])[:, None]
        inner = (place > 0) & (place < counts[pair])
        kept = np.ones(len(pair), dtype=bool)
        rows[inner], kept[inner] = self.manifold.projected(rows[inner], self.numbers, FEW)
        moves = np.diff(rows, axis=0)
        apart = np.sqrt(np.einsum("ij,ij->i", moves, moves))
        near = (apart <= JUMP * (lengths / counts)[pair[1:]] + 1e-9) | (place[1:] == 0)
        good = np.ones(len(first), dtype=bool)
        good[pair[~kept]] = False
        good[pair[1:][~near]] = False
        return [
            way if fine else None
            for way, fine in zip(np.split(rows, begins[1:]), good, strict=True)
        ]


def dense(path: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Points of a path of straight motions at most CHECKED apart,
    and the motion that each belongs to."""
    ways = np.diff(path, axis=0)
    counts = np.maximum(np.ceil(np.linalg.norm(ways, axis=1) / CHECKED), 2).astype(int)
    motion = np.repeat(np.arange(len(ways)), counts)
    place = np.arange(len(motion)) - np.repeat(np.cumsum(counts) - counts, counts)
    samples = path[motion] + ways[motion] * (place / counts[motion])[:, None]
    return np.concatenate([samples, path[-1:]]), np.concatenate([motion, [len(ways) - 1]])


def shortened_on(
    on: OnManifold, path: np.ndarray, free: Any, step: float, generator: np.random.Generator
) -> np.ndarray:
    """The path with shortcuts along the manifold:
    pairs of waypoints whose projected way is shorter and free.

    free   tells of motions (k, nq), (k, nq) which touch nothing
    """
    for _ in range(ROUNDS):
        before = lengths_of(path)
        at = np.concatenate([[0.0], np.cumsum(before)])
        if len(path) <= 2:
            return path
        ends = np.sort(generator.integers(0, len(path), (PAIRS, 2)), axis=1)
        ends = np.unique(ends[ends[:, 1] - ends[:, 0] > 1], axis=0)
        ends = np.concatenate([[[0, len(path) - 1]], ends])
        ways = on.ways(path[ends[:, 0]], path[ends[:, 1]], step)
        tried = [
            (at[b] - at[a] - lengths_of(w).sum(), a, b, w)
            for (a, b), w in zip(ends, ways, strict=True)
            if w is not None
        ]
        better = sorted((row for row in tried if row[0] > 1e-6), key=lambda row: -row[0])
        taken = _apart(better, free)
        if not taken:
            continue
        for _, a, b, way in sorted(taken, key=lambda row: -row[1]):
            path = np.concatenate([path[:a], way, path[b + 1 :]])
        path = on.space.unwrapped(path)
        if lengths_of(path).sum() > (1.0 - PATIENCE) * at[-1]:
            break
    return path


def _apart(better: list[Any], free: Any) -> list[Any]:
    """Shortcuts that are free and do not overlap, the greatest gain first;
    all asked of the checker at once."""
    if not better:
        return []
    starts = np.concatenate([way[:-1] for *_, way in better])
    stops = np.concatenate([way[1:] for *_, way in better])
    verdicts = np.split(
        np.atleast_1d(free(starts, stops)), np.cumsum([len(way) - 1 for *_, way in better])[:-1]
    )
    taken: list[Any] = []
    for row, verdict in zip(better, verdicts, strict=True):
        if verdict.all() and all(row[2] <= a or b <= row[1] for _, a, b, _ in taken):
            taken.append(row)
    return taken


def lengths_of(path: np.ndarray) -> np.ndarray:
    moves = path[1:] - path[:-1]
    return np.sqrt(np.einsum("ij,ij->i", moves, moves))
