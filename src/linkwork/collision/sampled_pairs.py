"""Which pairs of a model need a look: by structure,
then by sampling and by a search for the nearest approach.

A pair is "always" where it touches in every sample, and "never" where it touches in none and a
search that starts at its nearest samples finds no touch either. What the robot does in its default
pose decides nothing.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from linkwork import configurations, deadlines
from linkwork.collision import exact
from linkwork.collision.pairs import Pair, Pairs, by_structure
from linkwork.collision.part_distances import Poses, ball_of, distances
from linkwork.collision.shapes import Convex, Mesh, Shape
from linkwork.errors import NotPossible, listed
from linkwork.formats.srdf import Semantics, read_srdf
from linkwork.subject import Subject

if TYPE_CHECKING:
    from linkwork.collision.model import CollisionModel

log = logging.getLogger("linkwork")

_ROUND = 1 << 18  # samples that are looked at without a look at the clock: a tenth of a second
_FEW = 64  # samples that show that a pair does not always touch
_STARTS, _AROUND = 8, 64
MOST_SAMPLES = 10_000_000
_SPREADS = (0.2, 0.1, 0.05, 0.02, 0.01, 0.005)  # of a search, as shares of the ranges of the joints


def pairs(
    model: CollisionModel, samples: int = 10_000, seed: int = 0, time_limit: float | None = None
) -> Pairs:
    """Every pair of parts of a model with its reason; the same seed gives the same bytes.

    samples   random configurations within the limits; `seed` draws them
    time_limit: seconds after which it ends with NotPossible; None: as long as it takes
    """
    with deadlines.time_limit(time_limit, "pairs"):
        samples = deadlines.counted(samples, "pairs: samples", 1, MOST_SAMPLES)
        structure = by_structure(model.subject, model.shapes, dict(model.carriers))
        return _sampled(_Search(model, samples, seed), structure, search=True)


def from_srdf(
    model: CollisionModel, path: str | os.PathLike[str], samples: int = 1000, seed: int = 0
) -> Pairs:
    """The pairs that an SRDF leaves: its disabled ones and rigid ones are not checked,
    nor those that always touch."""
    structure = by_structure(model.subject, model.shapes, dict(model.carriers))
    told = _disabled(read_srdf(path), model, structure)
    rows = [row if row.reason == "rigid" else _told(row, told) for row in structure]
    sampled = _sampled(
        _Search(model, samples, seed), replace(structure, rows=tuple(rows)), search=False
    )
    touching = [f"{row.first} with {row.second}" for row in sampled if row.reason == "always"]
    if touching:
        log.warning(
            "%s: pairs that always touch are not checked: %s", os.fspath(path), listed(touching)
        )
    return sampled


def _told(row: Pair, disabled: set[frozenset[str]]) -> Pair:
    """What the file says of a pair; it decides alone, also between neighbours."""
    return replace(
        row, reason="disabled" if frozenset((row.first, row.second)) in disabled else "checked"
    )


def _disabled(semantics: Semantics, model: CollisionModel, structure: Pairs) -> set[frozenset[str]]:
    """Pairs of parts that a file disables; names without shapes here do not matter."""
    enabled = {frozenset((pair.first, pair.second)) for pair in semantics.enabled}
    alone = set(semantics.default_disabled)
    off = {frozenset((pair.first, pair.second)) for pair in semantics.disabled}
    off |= {
        frozenset((row.first, row.second)) for row in structure if {row.first, row.second} & alone
    }
    known = {body.name for body in model.subject.model.bodies}
    strangers = sorted({name for pair in off for name in pair} - known)
    if strangers:
        name = model.subject.model.name
        log.warning(
            'the SRDF names links that robot "%s" does not have: %s', name, listed(strangers)
        )
    return off - enabled


def _sampled(at: _Search, structure: Pairs, search: bool) -> Pairs:
    """The pairs that structure leaves, decided by samples;
    without `search` only those that always touch are found."""
    rows = []
    for row in structure:
        if row.reason != "checked":
            rows.append(row)
        elif search:
            rows.append(at.decided(row))
        else:
            rows.append(replace(row, reason="always") if at.always(row) else row)
    return replace(structure, rows=tuple(rows))


class _Search:
    """Samples of a model with the poses of its bodies, and searches between two parts."""

    def __init__(self, model: CollisionModel, samples: int, seed: int) -> None:
        self.model, self.subject = model, model.subject
        self.q = configurations.random(self.subject, samples, seed)
        self._round: tuple[int, Poses] | None = None
        self.balls = {name: ball_of(shapes) for name, shapes in model.shapes.items() if shapes}
        self.hulls = {name: tuple(map(_hull_of, shapes)) for name, shapes in model.shapes.items()}
        self.generator = np.random.default_rng(seed)

    def decided(self, row: Pair) -> Pair:
        """A pair with its reason and the smallest distance seen."""
        deadlines.check()
        if row.first not in self.balls or row.second not in self.balls:
            return replace(row, reason="never")
        if self.always(row):
            return replace(row, reason="always")
        least, best = self.smallest(row)
        if least > 0.0:
            least = min(least, self.nearer(row, best))
        return replace(row, reason="never" if least > 0.0 else "checked", distance=float(least))

    def always(self, row: Pair) -> bool:
        """Whether two parts touch in every sample; a few samples answer for most pairs."""
        if row.first not in self.balls or row.second not in self.balls:
            return False
        few = np.arange(min(_FEW, len(self.q)))
        if self.has_meshes(row) and (self.at_least(row, self.poses_from(0), few) > 0.0).any():
            return False
        if not (self.between(row, self.poses_from(0), few) <= 0.0).all():
            return False
        return all((self.between(row, poses) <= 0.0).all() for _, poses in self.rounds())

    def rounds(self) -> Iterator[tuple[int, Poses]]:
        """(first sample, poses) of the samples in rounds,
        between which time limits and Ctrl-C are heard."""
        for begin in range(0, len(self.q), _ROUND):
            deadlines.check()
            yield begin, self.poses_from(begin)

    def poses_from(self, begin: int) -> Poses:
        """The poses of one round; those of all would be gigabytes,
        so that only the last ones are kept."""
        if self._round is None or self._round[0] != begin:
            self._round = begin, Poses(self.subject, self.q[begin : begin + _ROUND])
        return self._round[1]

    def smallest(self, row: Pair) -> tuple[float, np.ndarray]:
        """(the smallest distance of the samples, or a touching one; the nearest samples)."""
        nearest, where = np.inf, np.arange(0)
        for first, poses in self.rounds():
            bound = self.bounds(row, poses)
            order = np.argsort(bound, kind="stable")
            where = where if len(where) else first + order[:_STARTS]
            for begin in range(0, len(order), 256):
                some = order[begin : begin + 256]
                if bound[some[0]] > nearest or nearest <= 0.0:
                    break
                lengths = self.below(row, poses, some, nearest)
                if lengths.min() < nearest:
                    nearest = float(lengths.min())
                    where = first + some[np.argsort(lengths, kind="stable")[:_STARTS]]
        return nearest, where

    def nearer(self, row: Pair, starts: np.ndarray) -> float:
        """The smallest distance around the nearest samples:
        each round draws nearer ones about the best so far."""
        lower, upper, moves = self.ranges(row)
        best = self.q[starts]
        least = np.inf
        for spread in _SPREADS:
            around = np.repeat(best, _AROUND, axis=0)
            step = self.generator.normal(size=around.shape) * (spread * (upper - lower)) * moves
            around = np.where(moves, np.clip(around + step, lower, upper), around)
            around = np.concatenate([best, around])
            poses = Poses(self.subject, around)
            lengths = self.below(row, poses, np.arange(len(around)), least)
            order = np.argsort(lengths, kind="stable")
            least = min(least, float(lengths[order[0]]))
            if least <= 0.0:
                break
            best = around[order[:_STARTS]]
        return least

    def ranges(self, row: Pair) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """(lower, upper, whether it matters) of each coordinate for the motion of two parts."""
        limits = configurations.limits(self.subject)
        spread = self.q.min(axis=0), self.q.max(axis=0)
        lower = np.where(np.isfinite(limits.lower), limits.lower, spread[0])
        upper = np.where(np.isfinite(limits.upper), limits.upper, spread[1])
        return (
            lower,
            upper,
            _moving(self.subject, *(self.model.carriers[name] for name in (row.first, row.second))),
        )

    def below(self, row: Pair, poses: Poses, rows: np.ndarray, limit: float) -> np.ndarray:
        """Distances of the two parts; of meshes only the few nearest and what may be below a limit,
        of others a bound.

        Meshes are slow, and lie within their hulls: those are asked first.
        """
        if not self.has_meshes(row):
            return self.between(row, poses, rows)
        lengths = self.at_least(row, poses, rows)
        order = np.argsort(lengths, kind="stable")
        for count, k in enumerate(order):
            if limit <= 0.0 or (count >= _STARTS and lengths[k] >= limit):
                # hulls may be deeper than meshes
                lengths[order[count:]] = np.maximum(lengths[order[count:]], limit)
                break
            lengths[k] = self.between(row, poses, rows[k : k + 1])[0]
            limit = min(limit, lengths[k])
        return lengths

    def has_meshes(self, row: Pair) -> bool:
        """Whether a part of the pair has one."""
        return any(
            shape.kind == "mesh"
            for name in (row.first, row.second)
            for shape in self.model.shapes[name]
        )

    def at_least(self, row: Pair, poses: Poses, rows: np.ndarray) -> np.ndarray:
        """Distances of hulls of the two parts."""
        ends = [poses.of(self.model.carriers[name], rows) for name in (row.first, row.second)]
        return distances(self.hulls[row.first], ends[0], self.hulls[row.second], ends[1])

    def between(
        self, row: Pair, poses: Poses, rows: slice | np.ndarray = slice(None)
    ) -> np.ndarray:
        """Distances of the two parts at some of the poses."""
        shapes, carriers = self.model.shapes, self.model.carriers
        first = poses.of(carriers[row.first], rows)
        second = poses.of(carriers[row.second], rows)
        return distances(shapes[row.first], first, shapes[row.second], second)

    def bounds(self, row: Pair, poses: Poses) -> np.ndarray:
        """What the distance is at least: that of a ball around each part."""
        (c, r), (other_c, other_r) = self.balls[row.first], self.balls[row.second]
        R, p = poses.of(self.model.carriers[row.first])
        other_R, other_p = poses.of(self.model.carriers[row.second])
        return np.linalg.norm(R @ c + p - other_R @ other_c - other_p, axis=1) - r - other_r


def _hull_of(shape: Shape) -> Shape:
    """A shape that is convex: of a mesh its hull, or the mesh itself where that is flat."""
    if not isinstance(shape, Mesh):
        return shape
    hull = Convex(shape.corners(), shape.pose, margin=shape.margin)
    try:
        exact.geometry(hull)
    except NotPossible:
        return shape
    return hull


def _moving(subject: Subject, first: str, second: str) -> np.ndarray:
    """Which coordinates of q move one body on another (coordinates of one-axis joints; quaternions
    stay as drawn)."""
    tree = subject.tree
    between = set(tree.paths[tree.bodies[first][0]]) ^ set(tree.paths[tree.bodies[second][0]])
    tree_q = np.zeros(tree.nq, dtype=bool)
    for i in between:
        node = tree.nodes[i]
        if node.nq == 1:
            tree_q[node.q] = True
    G, _, _ = tree.mimic_map
    return (
        np.asarray((G != 0.0)[tree_q].any(axis=0))
        if tree_q.any()
        else np.zeros(len(tree.independent[0]), dtype=bool)
    )
