"""Proving by coal: motions of shapes that machine code does not know (rest.py),
one interval after the other.

Bounds are those of certify.py: a shape moves at most m_s along the whole motion, so a sample whose
shapes are a distance d apart proves d / m_s of the motion on both sides. Distances of coal count
less MARGIN, which is more than they are wrong by (tests/collision/test_exact.py), so that the proof
does not rest on the last digit of its search. Pieces are taken from the left, and what a sample
leaves open is asked again, as in proving.py.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from linkwork import deadlines
from linkwork.collision.part_distances import Poses
from linkwork.collision.proving import FIRST_TOUCH, SHARE, SHORTEST
from linkwork.collision.rest import Left, Rest
from linkwork.collision.sweeps import OUTWARD, reaches, relative, strokes
from linkwork.quantities import evaluate

MARGIN = 1e-6  # [m]


@dataclass
class Outcome:
    """What is known about one motion, as in Certificate."""

    clearance: float
    at: float = np.nan
    undecided: bool = False
    samples: int = 0


@dataclass(frozen=True)
class Sample:
    """The least distance at a parameter, what of it an interval leaves,
    and how far to both sides it proves."""

    near: float
    bound: float
    radius: float


class CoalProofs:
    """Proofs of motions from `starts` (n, nq) by `ways` (n, nv)."""

    def __init__(
        self, rest: Rest, starts: np.ndarray, ways: np.ndarray, cap: float, first: float
    ) -> None:
        """`cap` [m]: clearances beyond are not measured; `first`:
        length of the first intervals [rad and m]."""
        self.rest, self.starts, self.ways, self.cap, self.first = rest, starts, ways, cap, first
        tree = rest.subject.tree
        stroke = strokes(tree, starts, ways)
        reach = np.array([_reach(rest, left, stroke) for left in rest.left]) * OUTWARD
        self._moved = np.abs(ways @ tree.mimic_map[2].T) @ reach.T  # (n, pairs) [m]

    def outcome(self, k: int, end: float) -> Outcome:
        """About the k-th motion up to the parameter `end`."""
        known = Outcome(self.cap)
        parts = max(1, int(np.ceil(np.linalg.norm(self.ways[k]) / self.first)))
        fresh = ((part / parts, (part + 1) / parts) for part in range(parts))
        waiting: list[tuple[float, float]] = []  # halves, the leftmost last: it is taken first
        while not known.undecided:
            deadlines.check()
            piece = waiting.pop() if waiting else next(fresh, None)
            if piece is None:
                break
            left, right = piece
            right = min(right, end if np.isnan(known.at) else known.at)
            if right - left <= 0.0 or (not np.isnan(known.at) and right - left < FIRST_TOUCH):
                continue
            waiting += self._open_pieces(k, known, left, right)
        return known

    def _open_pieces(
        self, k: int, known: Outcome, left: float, right: float
    ) -> list[tuple[float, float]]:
        """What a sample in the middle of an interval does not prove, the leftmost last."""
        middle, half = 0.5 * (left + right), 0.5 * (right - left)
        sample = self._sample(k, middle, half)
        known.samples += 1
        if sample.near < 0.0:
            known.at = middle
            return [(left, middle)]
        if sample.bound > 0.0:
            known.clearance = min(known.clearance, sample.bound)
            return []
        proved = min(max(sample.radius, 0.0) * SHARE, half)
        if proved > 0.0:
            known.clearance = min(known.clearance, sample.near * (1.0 - SHARE))
        pieces = [(middle + proved, right), (left, middle - proved)]
        known.undecided = any(0.0 < end - begin < SHORTEST for begin, end in pieces)
        return [piece for piece in pieces if piece[1] > piece[0]]

    def _sample(self, k: int, t: float, half: float) -> Sample:
        """The least distances at t; pairs whose balls prove more than others need no search."""
        rest, v = self.rest, t * self.ways[k]
        q = evaluate(rest.subject, "integrate", {"q": self.starts[k], "v": v})
        poses = Poses(rest.subject, q[None])
        moved = np.maximum(self._moved[k], 1e-12)
        apart = rest.least_distances(poses)[0] - moved * half
        near = bound = self.cap
        radius = np.inf
        order = np.argsort(apart, kind="stable")
        for i, j in enumerate(order):
            if apart[j] >= max(bound, 0.0):
                skipped = (apart + moved * half)[order[i:]]  # no nearer than their balls
                near = min(near, float(skipped.min()))
                break
            measured = rest.measured(rest.left[j], poses, 0)[0]
            if measured < 0.0:
                return Sample(measured, measured, 0.0)
            distance = measured - MARGIN
            near, bound = min(near, max(distance, 0.0)), min(bound, distance - moved[j] * half)
            radius = min(radius, distance / moved[j])
        return Sample(near, bound, radius)


def _reach(rest: Rest, left: Left, stroke: np.ndarray) -> np.ndarray:
    """How far a pair of shapes can be from each joint that moves only one of them,
    or the one of the robot."""
    tree = rest.subject.tree
    node, place = tree.bodies[left.body]
    center, radius = left.shape.ball()
    reach = reaches(tree, node, (place.at(center), radius), stroke)
    if left.other_body is None:
        return reach
    other_node, other_place = tree.bodies[left.other_body]
    other_center, other_radius = left.other_shape.ball()
    other_reach = reaches(tree, other_node, (other_place.at(other_center), other_radius), stroke)
    return relative(tree, node, other_node, reach, other_reach)
