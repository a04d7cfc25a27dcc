"""Seven axes with spherical shoulder and wrist: eight postures for every swivel angle of the elbow.

Standard DH with a1 = a2 = a5 = a6 = 0, d2 = d6 = 0: axes 1, 2, 3 meet in S, axes 5, 6, 7 in W; d1
and d7 belong to base and tool. The distance S-W fixes theta4; the arm then turns freely about the
line S-W by the swivel angle.
"""

from __future__ import annotations

from dataclasses import dataclass

import casadi
import numpy as np
from casadi import SX, cos, fmax, sin, sqrt

from linkwork.inverse.analytic.angles import Margin, both, either
from linkwork.inverse.analytic.candidates import CONTINUUM, Candidate, Proposal
from linkwork.inverse.analytic.denavit import Frames, frames
from linkwork.inverse.analytic.family import Family, Geometry, Rows, over_free, own_free
from linkwork.inverse.analytic.ideal import EXACT, Lines
from linkwork.inverse.analytic.spherical import about_x, about_z, turns
from linkwork.inverse.analytic.three_axes import Circle, circle
from linkwork.inverse.analytic.ur import BRANCHES
from linkwork.spatial import Transform

SLOTS = 8
_X = SX(casadi.DM([1, 0, 0]))
NOWHERE = 1e-11
"""A line shorter than this [m] has no direction."""


@dataclass(frozen=True)
class Dimensions:
    """Lengths [m] and twists [rad]: rows 3 and 4 of the table, d5,
    and the twists of shoulder and wrist."""

    a3: float
    d3: float
    a4: float
    d4: float
    d5: float
    alpha: tuple[float, ...]

    @property
    def scale(self) -> float:
        return sum(abs(x) for x in (self.a3, self.d3, self.a4, self.d4, self.d5))


def recognise(lines: Lines) -> Lines:
    """Axes 1, 2, 3 through one point and axes 5, 6, 7 through another, axis 4 through neither."""
    lines.concurrent(0, 1, 2).concurrent(4, 5, 6)
    chain = lines.result
    for center, name in ((chain.points[1], "shoulder"), (chain.points[5], "wrist")):
        off = float(np.linalg.norm(np.cross(center - chain.points[3], chain.directions[3])))
        if off < EXACT * lines.length:
            lines.deviations.append(
                (1.0, f"axis 4 passes through the {name}'s centre and does not change the reach")
            )
    return lines


def canonical(lines: Lines) -> tuple[Frames, Dimensions]:
    """The DH frames of the ideal lines and the arm's numbers."""
    placed = frames(lines.result, (1,) * 7, (1, -1, 1, -1, 1, -1))
    a, d = placed.a, placed.d
    a3, d3, a4, d4, d5 = (float(x) for x in (a[2], d[2], a[3], d[3], d[4]))
    return placed, Dimensions(a3, d3, a4, d4, d5, tuple(float(x) for x in placed.alpha))


def _from_shoulder(size: Dimensions, s4: SX, c4: SX) -> SX:
    """S-W in axes of frame 2 turned by theta3: L3 Rz(theta4) L4 (0, 0, d5)."""
    v = about_x(size.alpha[3]) @ casadi.vertcat(0, 0, size.d5) + casadi.vertcat(size.a4, 0, size.d4)
    return about_x(size.alpha[2]) @ (about_z(s4, c4) @ v) + casadi.vertcat(size.a3, 0, size.d3)


def _elbow(size: Dimensions, P: SX, seed: SX, margin: Margin) -> Circle:
    """Both theta4 with |S-W| as the target asks: A cos + B sin = C."""
    zero, quarter, half = (_from_shoulder(size, SX(s), SX(c)) for s, c in ((0, 1), (1, 0), (0, -1)))
    squares = [casadi.sumsqr(v) for v in (zero, quarter, half)]
    A, C = (squares[0] - squares[2]) / 2, (squares[0] + squares[2]) / 2
    return circle(A, squares[1] - C, casadi.sumsqr(P) - C, seed, size.scale**2, margin)


def _basis(along: SX, side: SX, fallback: SX) -> SX:
    """Columns e, n, e x n: e along the first vector,
    n the part of `side` (or else of `fallback`) across it.

    Where the wrist is in the shoulder there is no line between them: e is z then.
    """
    nowhere = casadi.sumsqr(along) < NOWHERE**2
    e = along / sqrt(either(nowhere, 1.0, casadi.sumsqr(along)))
    e = casadi.vertcat(*[either(nowhere, z, e[k]) for k, z in enumerate((0.0, 0.0, 1.0))])
    n = side - casadi.dot(side, e) * e
    weak = casadi.sumsqr(n) < 1e-16
    other = fallback - casadi.dot(fallback, e) * e
    n = casadi.vertcat(*[either(weak, other[k], n[k]) for k in range(3)])
    n = n / sqrt(fmax(casadi.sumsqr(n), 1e-300))
    return casadi.horzcat(e, n, casadi.cross(e, n))


def _arm_basis(size: Dimensions, s4: SX, c4: SX) -> SX:
    """Of the arm, in axes of frame 2 turned by theta3: line S-W and axis 4."""
    axis4 = about_x(size.alpha[2]) @ casadi.vertcat(0, 0, 1)
    return _basis(_from_shoulder(size, s4, c4), axis4, _X)


def _space_basis(P: SX) -> SX:
    """Of the target: line S-W, and the normal of the plane that it makes with axis 1."""
    return _basis(P, casadi.vertcat(-P[1], P[0], 0), _X)


def swivel(size: Dimensions, theta: SX) -> SX:
    """The swivel angle of a posture: of axis 4 about the line S-W,
    from the normal of the plane with axis 1 [rad]."""
    R = SX.eye(3)
    for k in range(3):
        R = R @ about_z(sin(theta[k]), cos(theta[k]))
        R = R @ about_x(size.alpha[k]) if k < 2 else R
    s4, c4 = sin(theta[3]), cos(theta[3])
    n = R @ _arm_basis(size, s4, c4)[:, 1]
    space = _space_basis(R @ _from_shoulder(size, s4, c4))
    return casadi.atan2(casadi.dot(n, space[:, 2]), casadi.dot(n, space[:, 1]))


def solve(size: Dimensions, T: Transform, seed: SX, psi: SX, margin: Margin) -> Proposal:
    """Eight slots (elbow, shoulder, wrist) for the swivel angle psi; T: pose of frame 7,
    at the wrist's centre.

    R_03 = B_space Rx(psi) B_arm',      R_47 = (R_03 R_34)' R
    """
    elbow = _elbow(size, T.p, seed[3], margin)
    s, c = sin(psi), cos(psi)
    space = _space_basis(T.p)
    turned = casadi.horzcat(
        space[:, 0], c * space[:, 1] + s * space[:, 2], c * space[:, 2] - s * space[:, 1]
    )
    rows = []
    for i in range(2):
        s4, c4 = elbow.sines[i], elbow.cosines[i]
        R3 = turned @ _arm_basis(size, s4, c4).T
        R4 = R3 @ about_x(size.alpha[2]) @ about_z(s4, c4) @ about_x(size.alpha[3])
        shoulder = turns(R3, size.alpha[0], size.alpha[1], seed[0], margin)
        wrist = turns(R4.T @ T.R, size.alpha[4], size.alpha[5], seed[4], margin)
        for j in range(2):
            for k in range(2):
                theta = (*shoulder.theta[j], casadi.atan2(s4, c4), *wrist.theta[k])
                exists = both(elbow.exists[i], shoulder.exists[j], wrist.exists[k])
                multiplicity = (
                    either(elbow.double, 2, 1) * shoulder.multiplicity * wrist.multiplicity
                )
                rows.append(Candidate(theta, exists, CONTINUUM, multiplicity))
    return Proposal(rows, (sqrt(casadi.sumsqr(T.p)),))


def reach(size: Dimensions) -> tuple[float, float]:
    """Shortest and longest distance S-W [m]."""
    squares = [
        float(casadi.evalf(casadi.sumsqr(_from_shoulder(size, SX(s), SX(c)))))
        for s, c in ((0, 1), (1, 0), (0, -1))
    ]
    A, C = (squares[0] - squares[2]) / 2, (squares[0] + squares[2]) / 2
    swing = float(np.hypot(A, squares[1] - C))
    return max(0.0, C - swing) ** 0.5, (C + swing) ** 0.5


class SevenAxis(Family):
    name, title = "seven_axis", "seven axes with spherical shoulder and wrist"
    axes, rank, geometry = 7, 40, Geometry(recognise, canonical)
    slots = SLOTS
    free = "swivel angle of the elbow about the line from shoulder to wrist [rad]"
    branches, branch_names = BRANCHES, ("elbow", "shoulder", "wrist")
    size: Dimensions

    def propose(self, target: np.ndarray, q0: np.ndarray, free: np.ndarray | None) -> Rows:
        kernel = self.kernel_of("closed_form_swivelled")
        values = own_free(self.kernel_of("swivel")(q0), len(target)) if free is None else free
        return over_free(kernel, target, q0, values)

    def traced(self, goal: Transform, q0: SX, swivel: SX) -> Proposal:
        T, seed = self.canonical.goal(goal), self.canonical.angles(q0)
        return self.canonical.rows(solve(self.size, T, seed, swivel, self.margin))

    def swivel(self, q: SX) -> SX:
        """The swivel angle of the chain's coordinates (7,)."""
        return swivel(self.size, self.canonical.angles(q))

    def reason(self, distances: np.ndarray) -> str:
        shortest, longest = reach(self.size)
        far = float(distances[0])
        if far > longest:
            return f"wrist {far:.4g} m from the shoulder, reach is {longest:.4g} m"
        if far < shortest:
            return f"wrist {far:.4g} m from the shoulder, needs >= {shortest:.4g} m"
        return "shoulder or wrist cannot turn that way at this swivel angle"
