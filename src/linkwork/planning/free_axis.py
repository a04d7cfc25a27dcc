"""Free axis: a frame through poses with postures that leave it where it is: an elbow's swing,
a tool's spin.

A robot with more joints than rows that count has a curve (or more) of postures at every pose. They
are sampled, SPACING apart, by steps along the null space of the Jacobian that Newton's method puts
back onto the pose, and carried on from pose to pose; of more than MOST, as several free axes have,
some are left out. Postures of a pose and the next are joined where they are near and the motion
between them touches nothing; of all ways to the furthest pose the one with the least sum of squared
steps is taken, which spreads what the free axis moves evenly. The tool may stand still while the
free axis moves.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from linkwork import configurations, deadlines, quantities
from linkwork.inverse.solve import inverse_kinematics
from linkwork.subject import Subject

SPACING = 0.06  # [rad, m] between postures of one pose
# postures that are nearer are joined, of neighbouring poses those within a longer step, too
JOINED = 2.5 * SPACING
NEIGHBOURS = 16  # of each posture, the nearest; one free axis has fewer
ASKED = 4096  # motions at once
MOST = 256  # postures of a pose
ROUNDS = 200  # of steps along the null space, at most
AXES = ("x", "y", "z", "rx", "ry", "rz")

Free = Callable[[np.ndarray, np.ndarray], np.ndarray]
"""Tells of motions (k, nq), (k, nq) which touch nothing."""


@dataclass(frozen=True)
class Through:
    """Configurations q (k, nq) through poses as far as it goes, and which pose each is at (k,)."""

    q: np.ndarray
    index: np.ndarray


class FreeAxis:
    """The postures of one robot along poses (m, 4, 4); `axes` of the frame count,
    in axes of the target."""

    def __init__(
        self,
        subject: Subject,
        poses: np.ndarray,
        frame: str,
        axes: Sequence[str] | None,
        tolerance: Any,
        free: Free,
        step: float = 0.0,
    ) -> None:
        """step: [rad, m] that joints go from pose to pose."""
        self.subject, self.poses, self.frame, self.free = subject, poses, frame, free
        self.joined = max(JOINED, step + 1.5 * SPACING)
        self.rows = counted_rows(axes)
        self.options: dict[str, Any] = {"tolerance": tolerance, "restarts": 0}
        if axes is not None:
            self.options["axes"] = axes
        J = quantities.evaluate(
            subject, "jacobian", {"q": configurations.random(subject, 8, 0)}, frame
        )
        self.moving = np.flatnonzero(np.abs(J).max(axis=(0, 1)) > 1e-9)

    @property
    def spare(self) -> int:
        """How many ways postures have to change while the frame stays."""
        return len(self.moving) - len(self.rows)

    def through(self, start: np.ndarray) -> Through:
        """From a configuration at the first pose through the others."""
        layers = [self._spread(start[None], 0)]
        for k in range(1, len(self.poses)):
            deadlines.check()
            carried = self._carried(layers[-1], k)
            if not len(carried):
                break
            layers.append(self._spread(carried, k))
        return self._best(layers)

    def _carried(self, before: np.ndarray, k: int) -> np.ndarray:
        """Postures of the pose before, brought to pose k."""
        rows, there = self._on(before, k)
        near = np.linalg.norm(rows - before, axis=1) <= self.joined
        good = there & near
        good[good] = self.free(before[good], rows[good])
        return _thinned(rows[good], np.empty((0, rows.shape[1])))

    def _spread(self, rows: np.ndarray, k: int) -> np.ndarray:
        """More postures of pose k, from those that are known outward along the null space."""
        known = newest = rows
        for _ in range(ROUNDS):
            deadlines.check()
            if not len(newest) or len(known) >= MOST:
                break
            directions = self._null(newest, k)  # (n, nv, spare)
            steps = np.concatenate([directions, -directions], axis=2)
            begun = np.repeat(newest, steps.shape[2], axis=0)
            moved, there = self._on(
                begun + SPACING * np.swapaxes(steps, 1, 2).reshape(len(begun), -1), k
            )
            near = np.linalg.norm(moved - begun, axis=1) <= JOINED
            good = there & near
            good[good] = self.free(begun[good], moved[good])
            newest = _thinned(moved[good], known)[: MOST - len(known)]
            known = np.concatenate([known, newest])
        return known

    def _on(self, q: np.ndarray, k: int) -> tuple[np.ndarray, np.ndarray]:
        """Configurations (n, nq) put onto pose k, and which of them are there (n,)."""
        targets = np.broadcast_to(self.poses[k], (len(q), 4, 4)).copy()
        answer = inverse_kinematics(self.subject, targets, self.frame, q, "numeric", self.options)
        return np.asarray(answer.q), np.atleast_1d(answer.success)

    def _null(self, q: np.ndarray, k: int) -> np.ndarray:
        """Unit directions (n, nv, spare) in which the frame does not move, in what counts."""
        J = quantities.evaluate(self.subject, "jacobian", {"q": q}, self.frame)
        local = counted(J, self.poses[k], self.rows)[:, :, self.moving]
        directions = np.zeros((len(q), self.subject.nv, self.spare))
        directions[:, self.moving] = np.swapaxes(np.linalg.svd(local)[2][:, len(self.rows) :], 1, 2)
        return directions

    def _best(self, layers: list[np.ndarray]) -> Through:
        """The way to the last layer with the least sum of squared steps, layer by layer:
        no pose is gone back to."""
        costs = np.where(np.arange(len(layers[0])) == 0, 0.0, np.inf)
        came: list[np.ndarray] = [np.full(len(layers[0]), -1)]  # from which row of the layer before
        # from which row of the same layer; itself: from the layer before
        beside: list[np.ndarray] = []
        for k, rows in enumerate(layers):
            if k > 0:
                entered, origin = self._entered(layers[k - 1], rows, costs)
                if not np.isfinite(entered).any():
                    break
                costs = entered
                came.append(origin)
            costs, within = self._along(rows, costs)
            beside.append(within)
        k = len(beside) - 1
        row = int(np.argmin(costs))
        way = [(k, row)]
        while True:
            if beside[k][row] != row:
                row = int(beside[k][row])
            elif k == 0:
                break
            else:
                k, row = k - 1, int(came[k][row])
            way.append((k, row))
        way.reverse()
        return Through(np.array([layers[k][row] for k, row in way]), np.array([k for k, _ in way]))

    def _entered(
        self, before: np.ndarray, rows: np.ndarray, costs: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """Costs (n,) of coming to rows from those of the layer before that are reached,
        and from which of them."""
        reached = np.flatnonzero(np.isfinite(costs))
        a, b = _near(before[reached], rows, self.joined).T
        a = reached[a]
        good = self._free(before[a], rows[b])
        a, b = a[good], b[good]
        sums = costs[a] + ((before[a] - rows[b]) ** 2).sum(axis=1)
        order = np.lexsort((a, sums, b))
        targets, first = np.unique(b[order], return_index=True)
        entered, origin = np.full(len(rows), np.inf), np.full(len(rows), -1)
        entered[targets], origin[targets] = sums[order][first], a[order][first]
        return entered, origin

    def _along(self, rows: np.ndarray, costs: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Costs (n,) where the free axis may move at one pose, and from which row;
        itself where it does not move."""
        a, b = np.unique(np.sort(_near(rows, rows, JOINED), axis=1), axis=0).T  # each pair once
        good = self._free(rows[a], rows[b])
        a, b = a[good], b[good]
        steps = ((rows[a] - rows[b]) ** 2).sum(axis=1) + 1e-12
        begun, n = np.flatnonzero(np.isfinite(costs)), len(rows)
        # one more node leads to all rows that were come to; nothing costs 0, which would be no edge
        ends = (np.concatenate([a, b, np.full(len(begun), n)]), np.concatenate([b, a, begun]))
        from scipy.sparse import coo_array
        from scipy.sparse.csgraph import dijkstra

        graph = coo_array(
            (np.concatenate([steps, steps, costs[begun] + 1e-12]), ends), shape=(n + 1, n + 1)
        )
        reached, before = dijkstra(graph.tocsr(), indices=n, return_predecessors=True)
        own = np.arange(n)
        return reached[:n], np.where((before[:n] == n) | (before[:n] < 0), own, before[:n])

    def _free(self, first: np.ndarray, last: np.ndarray) -> np.ndarray:
        """Which motions (k, nq), (k, nq) are free, asked in rounds that hear time limits."""
        good = np.zeros(len(first), dtype=bool)
        for some in deadlines.rounds(len(first), ASKED) if len(first) else ():
            good[some] = self.free(first[some], last[some])
        return good


def counted_rows(axes: Sequence[str] | None) -> list[int]:
    """Which rows of a Jacobian count: those of some of x y z rx ry rz, or all."""
    return [k for k, name in enumerate(AXES) if axes is None or name in axes]


def counted(J: np.ndarray, pose: np.ndarray, rows: list[int]) -> np.ndarray:
    """Rows of Jacobians (..., 6, nv), which are in world axes, in axes of a target."""
    turned = pose[:3, :3].T
    return np.concatenate([turned @ J[..., :3, :], turned @ J[..., 3:, :]], axis=-2)[..., rows, :]


def _thinned(rows: np.ndarray, known: np.ndarray) -> np.ndarray:
    """Those of some rows that are SPACING / 2 from all that are known and from each other,
    the first first."""
    if len(known):
        rows = rows[(_apart(rows, known) > 0.5 * SPACING).all(axis=1)]
    near, left = _apart(rows, rows) <= 0.5 * SPACING, np.ones(len(rows), dtype=bool)
    kept = []
    for k in range(len(rows)):
        if left[k]:
            kept.append(k)
            left &= ~near[k]
    return rows[kept]


def _apart(rows: np.ndarray, others: np.ndarray) -> np.ndarray:
    """Distances (n, k) of rows from others."""
    return np.linalg.norm(rows[:, None] - others[None], axis=2)


def _near(rows: np.ndarray, others: np.ndarray, within: float) -> np.ndarray:
    """Pairs (k, 2) of numbers of rows and others that are near to each other:
    of each row its NEIGHBOURS, at most."""
    apart = _apart(rows, others)
    if rows is others:
        np.fill_diagonal(apart, np.inf)
    if apart.shape[1] > NEIGHBOURS:
        furthest = np.partition(apart, NEIGHBOURS - 1, axis=1)[:, NEIGHBOURS - 1 : NEIGHBOURS]
        apart = np.where(apart <= furthest, apart, np.inf)
    return np.argwhere(apart <= within)
