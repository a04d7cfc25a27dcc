"""Spherical wrist: three last axes through one point, so that position and orientation come apart (Pieper)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from casadi import SX, cos, fmax, sin

from linkwork.inverse.analytic import three_axes
from linkwork.inverse.analytic.angles import Margin, both
from linkwork.inverse.analytic.candidates import Candidate, Found
from linkwork.inverse.analytic.denavit import Frames, frames
from linkwork.inverse.analytic.ideal import EXACT, Lines
from linkwork.inverse.analytic.screws import angle
from linkwork.inverse.analytic.spherical import about_x, about_z, exact_cos, exact_sin, turns
from linkwork.spatial import Transform

SLOTS = 8


@dataclass(frozen=True)
class Dimensions:
    """The arm that places the wrist's centre, and the twists of the last four axes [rad]."""

    arm: three_axes.Arm
    alpha3: float
    alpha4: float
    alpha5: float


def recognise(lines: Lines) -> Lines:
    """Axes 4, 5, 6 through one point off axis 3; axes 1, 2, 3 not all parallel."""
    lines.concurrent(3, 4, 5)
    chain = lines.result
    center, z = chain.points[4], chain.directions[2]
    off = float(np.linalg.norm(np.cross(center - chain.points[2], z)))
    if off < EXACT * lines.length:
        lines.deviations.append(
            (1.0, f"the common point lies on axis {chain.numbers[2]}, which then does not place it")
        )
    if max(angle(chain, 0, 1), angle(chain, 1, 2)) < three_axes.ALMOST:
        lines.deviations.append((1.0, "the other three axes are parallel and do not place a point in space"))
    return three_axes.idealised(lines)


def canonical(lines: Lines) -> tuple[Frames, Dimensions]:
    """The DH frames of the ideal lines and the arm's numbers."""
    chain = lines.result
    placed = frames(chain, (1,) * 6, (1, 1, 1, 1, -1))
    a3, d3, d4, alpha3 = (float(x[k]) for x, k in ((placed.a, 2), (placed.d, 2), (placed.d, 3), (placed.alpha, 2)))
    w = (a3, -exact_sin(alpha3) * d4, d3 + exact_cos(alpha3) * d4)
    arm = three_axes.Arm.of(placed, w, chain.length)
    return placed, Dimensions(arm, alpha3, float(placed.alpha[3]), float(placed.alpha[4]))


def solve(size: Dimensions, T: Transform, seed: SX, margin: Margin, roots: SX | None = None) -> Found:
    """Eight slots: four positions of the arm, two turns of the wrist each; T: pose of frame 6, at its centre."""
    placed = three_axes.solve(size.arm, T.p, seed, margin, roots)
    rows = []
    for row in placed.rows:
        R = SX.eye(3)
        for theta, alpha in zip(row.theta, (size.arm.alpha1, size.arm.alpha2, size.alpha3)):
            R = R @ about_z(sin(theta), cos(theta)) @ about_x(alpha)
        wrist = turns(R.T @ T.R, size.alpha4, size.alpha5, seed[3], margin)
        for k in range(2):
            rows.append(
                Candidate(
                    (*row.theta, *wrist.theta[k]),
                    both(row.exists, wrist.exists[k]),
                    fmax(SX(row.kind), wrist.kind),
                    row.multiplicity * wrist.multiplicity,
                )
            )
    return Found(rows, placed.distances)


def polynomial(size: Dimensions, T: Transform) -> SX:
    """Coefficients (3, 2) of the general arm's polynomial in theta3."""
    return three_axes.polynomial(size.arm, T.p).pairs()


def determinant(size: Dimensions, theta: SX) -> tuple[SX, dict[str, SX]]:
    """det J at the wrist's centre [m^3], canonical axes: det of the arm's three times sin a4 sin a5 sin theta5.

    The scale-free factors: arm (over the cube of its length) and wrist.
    """
    arm = three_axes.determinant(size.arm, theta)
    wrist = exact_sin(size.alpha4) * exact_sin(size.alpha5) * sin(theta[4])
    return arm * wrist, {"arm": arm / size.arm.scale**3, "wrist": wrist}
