"""Planar arms: two or three parallel axes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import casadi
import numpy as np
from casadi import SX, atan2, cos, fabs, sin, sqrt

from linkwork.inverse.analytic.angles import FREE, Margin, both, either, root
from linkwork.inverse.analytic.candidates import CONTINUUM, ISOLATED, TANGENT, Candidate, Proposal
from linkwork.inverse.analytic.denavit import Frames, frames
from linkwork.inverse.analytic.family import ClosedForm, Family, Geometry, Rows, over_free, own_free
from linkwork.inverse.analytic.ideal import Lines
from linkwork.spatial import Transform

DOUBLE = 3e-7
"""Elbow angles [rad] this near to 0 or pi are one double root."""


@dataclass(frozen=True)
class Dimensions:
    """Lengths [m] between the axes and from the last one to the frame's origin;
    the direction of the latter [rad]."""

    a1: float
    a2: float
    tip: float
    lead: float


def recognise(lines: Lines) -> Lines:
    """All axes parallel."""
    return lines.parallel(*range(len(lines.chain)))


def canonical(lines: Lines) -> tuple[Frames, Dimensions]:
    """The DH frames of the ideal lines and the arm's numbers."""
    chain = lines.result
    z = chain.directions[0]
    signs = [1 if d @ z > 0 else -1 for d in chain.directions]
    placed = frames(chain, signs, (1,) * (len(chain) - 1))
    x, y = float(placed.tool[0, 3]), float(placed.tool[1, 3])
    a2 = float(placed.a[1]) if len(chain) == 3 else 0.0
    return placed, Dimensions(
        float(placed.a[0]), a2, float(sqrt(x * x + y * y)), float(atan2(y, x))
    )


def pose_3r(size: Dimensions, T: Transform, seed: SX, margin: Margin) -> Proposal:
    """Two slots for the pose of frame 3: the plane's angle is known, two axes place the third."""
    elbows, distances = _two_links(size.a1, size.a2, T.p[0], T.p[1], seed, margin)
    total = atan2(T.R[1, 0], T.R[0, 0])
    rows = [Candidate((t1, t2, total - t1 - t2), *verdict) for (t1, t2), verdict in elbows]
    return Proposal(rows, distances)


def pose_2r(T: Transform) -> Proposal:
    """One slot for the pose of frame 2, which must fit in position too: true FK decides."""
    total, t1 = atan2(T.R[1, 0], T.R[0, 0]), atan2(T.p[1], T.p[0])
    far = sqrt(T.p[0] ** 2 + T.p[1] ** 2)
    return Proposal([Candidate((t1, total - t1), SX(1))], (far,))


def point_2r(size: Dimensions, P: SX, seed: SX, margin: Margin) -> Proposal:
    """Two slots for the position of the frame's origin, seen in frame 0."""
    elbows, distances = _two_links(size.a1, size.tip, P[0], P[1], seed, margin)
    return Proposal(
        [Candidate((t1, t2 - size.lead), *verdict) for (t1, t2), verdict in elbows], distances
    )


def point_3r(size: Dimensions, P: SX, seed: SX, free: SX, margin: Margin) -> Proposal:
    """Two slots for the position of the frame's origin at a given sum `free` of the three angles:
    a continuum."""
    x, y = P[0] - size.tip * cos(free + size.lead), P[1] - size.tip * sin(free + size.lead)
    elbows, distances = _two_links(size.a1, size.a2, x, y, seed, margin)
    rows = []
    for (t1, t2), (exists, _, multiplicity) in elbows:
        rows.append(Candidate((t1, t2, free - t1 - t2), exists, CONTINUUM, multiplicity))
    return Proposal(rows, distances)


def _two_links(
    a: float, b: float, x: SX, y: SX, seed: SX, margin: Margin
) -> tuple[list[tuple[tuple[SX, SX], tuple[SX, SX, SX]]], tuple[SX]]:
    """Both (t1, t2) with a e(t1) + b e(t1 + t2) = (x, y), each with (exists, kind, multiplicity);
    and the distance."""
    square = x * x + y * y
    c = (square - a * a - b * b) / (2 * a * b)
    there = fabs(c) <= 1.0 + margin.slack
    folded = fabs(c) >= 1.0 - 0.5 * DOUBLE**2
    c = either(folded, either(c > 0, 1.0, -1.0), c)
    s = either(folded, margin.spread, root(1.0 - c * c))
    centred = square <= (FREE * (a + b)) ** 2
    lift, bend, t2 = atan2(y, x), atan2(b * s, a + b * c), atan2(s, c)
    kind = either(centred, CONTINUUM, either(folded, TANGENT, ISOLATED))
    postures = []
    for sign in (1, -1):
        exists = there if sign > 0 or margin.spread else both(there, 1 - folded)
        t1 = either(centred, seed[0], lift - sign * bend)
        postures.append(((t1, sign * t2), (exists, kind, either(folded, 2, 1))))
    return postures, (sqrt(square),)


def reason(what: str, links: tuple[float, float], distances: np.ndarray) -> str:
    """Why two links do not reach what they should."""
    far, longest, shortest = float(distances[0]), sum(links), abs(links[0] - links[1])
    if far > longest:
        return f"{what} {far:.4g} m from axis 1, reach is {longest:.4g} m"
    if far < shortest:
        return f"{what} {far:.4g} m from axis 1, needs >= {shortest:.4g} m"
    return "the target does not lie in the plane of the arm"


def _short(*names: str) -> Callable[[Dimensions], str]:
    """An arm one of whose needed lengths is zero, beside the longest."""

    def refused(size: Dimensions) -> str:
        longest = max(size.a1, size.a2, size.tip, 1e-300)
        zero = [n for n in names if getattr(size, n) < 1e-9 * longest]
        return f"{' and '.join(zero)} = 0" if zero else ""

    return refused


class Planar3R(ClosedForm):
    name, title = "planar_3r", "planar: three parallel axes"
    axes, rank, geometry = 3, 11, Geometry(recognise, canonical, refused=_short("a1", "a2"))
    slots = 2
    branches, branch_names = ((1,), (-1,)), ("elbow",)
    size: Dimensions

    def postures(self, T: Transform, seed: SX) -> Proposal:
        return pose_3r(self.size, T, seed, self.margin)

    def reason(self, distances: np.ndarray) -> str:
        return reason("axis 3", (self.size.a1, self.size.a2), distances)

    def determinant(self, theta: SX) -> tuple[SX, dict[str, SX]]:
        elbow = casadi.sin(theta[1])
        return self.size.a1 * self.size.a2 * elbow, {"elbow": elbow}


class Planar2R(ClosedForm):
    name, title = "planar_2r", "planar: two parallel axes"
    axes, rank, geometry = 2, 10, Geometry(recognise, canonical, refused=_short("a1"))
    slots = 1
    size: Dimensions

    def postures(self, T: Transform, seed: SX) -> Proposal:
        return pose_2r(T)

    def reason(self, distances: np.ndarray) -> str:
        return reason("axis 2", (self.size.a1, 0.0), distances)


class PlanarPoint2R(ClosedForm):
    name, title = "planar_2r", "planar: two parallel axes, position alone"
    axes, rank, geometry = 2, 10, Geometry(recognise, canonical, refused=_short("a1", "tip"))
    slots, position = 2, True
    branches, branch_names = ((1,), (-1,)), ("elbow",)
    size: Dimensions

    def postures(self, T: Transform, seed: SX) -> Proposal:
        return point_2r(self.size, T.p, seed, self.margin)

    def reason(self, distances: np.ndarray) -> str:
        return reason("target", (self.size.a1, self.size.tip), distances)

    def determinant(self, theta: SX) -> tuple[SX, dict[str, SX]]:
        elbow = casadi.sin(theta[1] + self.size.lead)
        return self.size.a1 * self.size.tip * elbow, {"elbow": elbow}


class PlanarPoint3R(Family):
    name, title = "planar_3r", "planar: three parallel axes, position alone"
    axes, rank, geometry = 3, 11, Geometry(recognise, canonical, refused=_short("a1", "a2"))
    slots, position = 2, True
    branches, branch_names = ((1,), (-1,)), ("elbow",)
    free = "sum of the three angles, the direction of the last link [rad]"
    size: Dimensions

    def propose(self, target: np.ndarray, q0: np.ndarray, free: np.ndarray | None) -> Rows:
        kernel = self.kernel_of("closed_form_turned")
        if free is None:
            placed = self.canonical.placed
            free = own_free(np.sum(placed.sign * q0 + placed.offset, axis=-1), len(target))
        return over_free(kernel, target, q0, free)

    def traced(self, goal: Transform, q0: SX, free: SX) -> Proposal:
        P, seed = self.canonical.point(goal.p), self.canonical.angles(q0)
        return self.canonical.rows(point_3r(self.size, P, seed, free, self.margin))

    def reason(self, distances: np.ndarray) -> str:
        return reason("axis 3", (self.size.a1, self.size.a2), distances)
