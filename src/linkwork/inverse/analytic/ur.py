"""UR: arms with three parallel inner axes, all eight postures in closed form.

Standard DH with alpha = (90, 0, 0, 90, -90, 0) deg, a = (0, a2, a3, 0, 0, 0), d =
(0, 0, 0, d4, d5, 0): the heights d1 and d6 of [Villalobos2022] belong to base and tool. Any signs
of a2, a3, d4, d5.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass

import numpy as np
from casadi import SX, acos, atan2, cos, fabs, sin, sqrt

from linkwork.inverse.analytic.angles import (
    FREE,
    Margin,
    any_of,
    both,
    clamped,
    either,
    root,
    wrapped,
)
from linkwork.inverse.analytic.candidates import CONTINUUM, ISOLATED, TANGENT, Candidate, Proposal
from linkwork.inverse.analytic.denavit import Frames, frames
from linkwork.inverse.analytic.family import ClosedForm, Geometry, short
from linkwork.inverse.analytic.ideal import Lines
from linkwork.spatial import Transform

BRANCHES = tuple(itertools.product((1, -1), (1, -1), (1, -1)))
"""Signs of (shoulder, wrist, elbow) of the rows, as [Villalobos2022] orders its roots: theta1,
theta5, theta3."""
DOUBLE = 3e-7
"""Two roots this near [of the arm's length, rad] are one double root: rounding has taken the
rest."""


@dataclass(frozen=True)
class Dimensions:
    """Lengths [m] of the canonical arm."""

    a2: float
    a3: float
    d4: float
    d5: float

    @property
    def scale(self) -> float:
        return abs(self.a2) + abs(self.a3) + abs(self.d4) + abs(self.d5)


def recognise(lines: Lines) -> Lines:
    """Axes 2, 3, 4 parallel; 1 and 5 perpendicular to them, meeting 2 and 4; 6 perpendicular to 5,
    meeting it."""
    lines.parallel(1, 2, 3).perpendicular(0, 1).meeting(0, 1)
    return lines.perpendicular(4, 3).meeting(4, 3).perpendicular(5, 4).meeting(5, 4)


def canonical(lines: Lines) -> tuple[Frames, Dimensions]:
    """The DH frames of the ideal lines and the arm's lengths."""
    chain = lines.result
    h = chain.directions[1]
    signs = [1, 1, *(1 if chain.directions[i] @ h > 0 else -1 for i in (2, 3)), 1, 1]
    placed = frames(chain, signs, (1, 1, 1, 1, -1))
    return placed, Dimensions(*map(float, (*placed.a[1:3], *placed.d[3:5])))


def solve(size: Dimensions, T: Transform, seed: SX, margin: Margin) -> Proposal:
    """All branches for the pose T of frame 6; seed: canonical angles that pin what is free.

        rad = A^2 + B^2 - d4^2,     theta1 = +-atan2(sqrt(rad), d4) + atan2(B, -A)                    (14, 15, 20)
        theta5 = +-atan2(sqrt(E^2 + D^2), s1 r13 - c1 r23),    theta6 = atan2(D / s5, E / s5)           (16-18, 21, 22)
        theta234 = atan2(c5 (r31 c6 - r32 s6) - s5 r33, r31 s6 + r32 c6)
        KC = c1 px + s1 py - d5 s234,    KS = pz + d5 c234                                               (24, 25)
        c3 = (KS^2 + KC^2 - a2^2 - a3^2) / (2 a2 a3),    theta3 = +-acos(c3)                             (26-28)
        theta2 = atan2(KS, KC) - atan2(a3 s3, a2 + a3 c3),    theta4 = theta234 - theta2 - theta3         (29, 30)

    Source: [Villalobos2022]. Corrected: eq. 23 for theta234 loses the generating posture wherever
    c5 c6 = s6 = 0 ("tool square to the arm"); the form above follows from r31, r32, r33 and holds
    everywhere, also at s5 = 0. In eqs. 28, 29 s3 carries the sign of its branch. Where s5 = 0,
    theta6 stays at the seed, or moves to the nearest feasible value.

    """
    a2, a3, d4, d5, L = size.a2, size.a3, size.d4, size.d5, size.scale
    slack, spread = margin.slack, margin.spread
    r, (px, py, pz) = T.R, (T.p[k] for k in range(3))
    reach2 = px * px + py * py
    rad = reach2 - d4 * d4
    near_axis = reach2 <= (FREE * L) ** 2
    shoulder_double = rad <= (DOUBLE * L) ** 2
    shoulder_there = rad >= -(L * L) * slack
    S = either(shoulder_double, spread * L, root(rad))
    # cos and sin of theta1 from the two vectors (-py, px) and (d4, +-S), without their angles
    inverse = 1.0 / either(near_axis, 1.0, sqrt(either(near_axis, 1.0, reach2) * (d4 * d4 + S * S)))
    rows: list[Candidate] = []
    reaches = []
    for shoulder in (1, -1):
        c1 = either(near_axis, cos(seed[0]), (-py * d4 - shoulder * px * S) * inverse)
        s1 = either(near_axis, sin(seed[0]), (px * d4 - shoulder * py * S) * inverse)
        theta1 = atan2(s1, c1)
        D, E = c1 * r[1, 1] - s1 * r[0, 1], s1 * r[0, 0] - c1 * r[1, 0]
        c5, size5 = s1 * r[0, 2] - c1 * r[1, 2], sqrt(E * E + D * D)
        straight = size5 < FREE
        X = c1 * px + s1 * py
        pinned = _feasible_theta6(size, r, X, pz, c5, seed[5])
        free6 = either(straight, pinned, 0.0)
        unit = 1.0 / either(straight, 1.0, size5)
        c6 = either(straight, cos(free6), E * unit)
        s6 = either(straight, sin(free6), D * unit)
        # sin and cos of theta5 to full accuracy, though the rotation may be off by rounding
        norm = 1.0 / sqrt(size5 * size5 + c5 * c5)
        s5, c5 = size5 * norm, c5 * norm
        s234, c234 = c5 * (r[2, 0] * c6 - r[2, 1] * s6) - s5 * r[2, 2], r[2, 0] * s6 + r[2, 1] * c6
        theta5, theta6, theta234 = atan2(s5, c5), atan2(s6, c6), atan2(s234, c234)
        for wrist in (1, -1):
            # the other wrist turns theta6 and theta234 by half a turn
            KC, KS = X - wrist * d5 * s234, pz + wrist * d5 * c234
            square = KC * KC + KS * KS
            reaches.append(square)
            c3 = (square - a2 * a2 - a3 * a3) / (2 * a2 * a3)
            folded = fabs(c3) >= 1.0 - 0.5 * DOUBLE**2
            there = fabs(c3) <= 1.0 + slack
            bounded = either(folded, either(c3 > 0, 1.0, -1.0), c3)
            size3 = either(folded, spread, root(1.0 - bounded * bounded))
            theta3 = atan2(size3, bounded)
            centred = square <= (FREE * L) ** 2
            lift, bend = atan2(KS, KC), atan2(a3 * size3, a2 + a3 * bounded)
            turn6 = 0.0 if wrist > 0 else np.pi
            for elbow in (1, -1):
                theta2 = either(centred, seed[1], lift - elbow * bend)
                exists = both(shoulder_there, there)
                if shoulder < 0 and not spread:
                    exists = both(exists, 1 - shoulder_double)
                if wrist < 0:
                    exists = both(exists, 1 - straight)
                if elbow < 0 and not spread:
                    exists = both(exists, 1 - folded)
                free = any_of(straight, near_axis, centred)
                kind = either(
                    free, CONTINUUM, either(any_of(shoulder_double, folded), TANGENT, ISOLATED)
                )
                multiplicity = either(shoulder_double, 2, 1) * either(folded, 2, 1)
                theta = (
                    theta1,
                    theta2,
                    elbow * theta3,
                    theta234 + turn6 - theta2 - elbow * theta3,
                    wrist * theta5,
                    theta6 + turn6,
                )
                rows.append(Candidate(theta, exists, kind, multiplicity))
    nearest = reaches[0]
    for square in reaches[1:]:
        nearest = either(_excess(size, square) < _excess(size, nearest), square, nearest)
    return Proposal(rows, (sqrt(reach2), sqrt(nearest)))


def _feasible_theta6(size: Dimensions, r: SX, X: SX, Z: SX, c5: SX, wanted: SX) -> SX:
    """theta6 next to the wanted one for which the elbow can reach, at a straight wrist (s5 = 0).

        KC^2 + KS^2 = X^2 + Z^2 + d5^2 + 2 d5 (Z c234 - X s234)

    must lie between (|a2| - |a3|)^2 and (|a2| + |a3|)^2, which bounds cos(theta234 + atan2(X, Z));
    and theta234 is sigma - theta6 for theta5 = 0, theta6 - sigma for theta5 = pi, with sigma =
    atan2(r31, r32).
    """
    a2, a3, d5 = abs(size.a2), abs(size.a3), size.d5
    if d5 == 0.0:
        return wanted
    sense = either(c5 > 0, 1.0, -1.0)
    sigma = atan2(r[2, 0], r[2, 1])
    rho2 = X * X + Z * Z
    inverse = 1.0 / (2 * d5 * sqrt(either(rho2 > 0, rho2, 1.0)))
    phase = atan2(X, Z)
    ends = [clamped((reach * reach - rho2 - d5 * d5) * inverse) for reach in (a2 - a3, a2 + a3)]
    far, near = (acos(e) for e in (ends if d5 > 0 else ends[::-1]))
    u = wrapped(sense * (sigma - wanted) + phase)
    bounded = either(u < 0, -1.0, 1.0) * clamped(fabs(u), near, far)
    inside = both(fabs(u) >= near, fabs(u) <= far)
    return either(inside, wanted, sigma - sense * (bounded - phase))


def _excess(size: Dimensions, square: SX) -> SX:
    """How far the square of the elbow's reach lies outside what upper arm and forearm can do."""
    low, high = (abs(size.a2) - abs(size.a3)) ** 2, (abs(size.a2) + abs(size.a3)) ** 2
    return either(square > high, square - high, either(square < low, low - square, 0.0))


def reason(size: Dimensions, distances: np.ndarray) -> str:
    """Why a pose has no solution, from the distances that `solve` gives."""
    wrist, elbow = (float(x) for x in distances)
    if wrist < abs(size.d4):
        return f"wrist point {1e3 * wrist:.4g} mm from axis 1, needs >= {1e3 * abs(size.d4):.4g} mm"
    longest, shortest = abs(size.a2) + abs(size.a3), abs(abs(size.a2) - abs(size.a3))
    if elbow > longest:
        return f"elbow reach {elbow:.4g} > {longest:.4g} m"
    return f"elbow reach {elbow:.4g} < {shortest:.4g} m"


def determinant(size: Dimensions, theta: SX) -> SX:
    """det J = a2 a3 s3 s5 S with the shoulder factor S = a2 c2 + a3 c23 + d5 s234 (46) [m^3].

    Columns as in [Villalobos2022] (31): linear part on top, canonical axes.
    """
    elbow, wrist, shoulder = factors(size, theta)
    return size.a2 * size.a3 * elbow * wrist * shoulder


def factors(size: Dimensions, theta: SX) -> tuple[SX, SX, SX]:
    """(sin theta3, sin theta5, S [m]): elbow, wrist and shoulder factor of the determinant."""
    t23 = theta[1] + theta[2]
    S = size.a2 * cos(theta[1]) + size.a3 * cos(t23) + size.d5 * sin(t23 + theta[3])
    return sin(theta[2]), sin(theta[4]), S


class UR(ClosedForm):
    name, title = "ur", "UR/TM type: axes 2, 3, 4 parallel, wrist axes at right angles"
    axes, rank, geometry = 6, 20, Geometry(recognise, canonical, refused=short("a2", "a3"))
    slots, explained = 8, 2
    branches, branch_names = BRANCHES, ("shoulder", "wrist", "elbow")
    size: Dimensions

    def postures(self, T: Transform, seed: SX) -> Proposal:
        return solve(self.size, T, seed, self.margin)

    def reason(self, distances: np.ndarray) -> str:
        return reason(self.size, distances)

    def determinant(self, theta: SX) -> tuple[SX, dict[str, SX]]:
        elbow, wrist, shoulder = factors(self.size, theta)
        reach = abs(self.size.a2) + abs(self.size.a3) + abs(self.size.d5)
        return determinant(self.size, theta), {
            "elbow": elbow,
            "wrist": wrist,
            "shoulder": shoulder / reach,
        }
