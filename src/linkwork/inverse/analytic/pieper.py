"""Spherical wrist: three last axes through one point,
so that position and orientation come apart (Pieper)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial

import casadi
import numpy as np
from casadi import SX, cos, fmax, sin

from linkwork.inverse.analytic import three_axes
from linkwork.inverse.analytic.angles import Margin, both
from linkwork.inverse.analytic.candidates import (
    CONTINUUM,
    Candidate,
    Proposal,
    constant,
    orthonormal,
)
from linkwork.inverse.analytic.denavit import Frames, frames
from linkwork.inverse.analytic.family import Family, Geometry, Rows, over_free, own_free
from linkwork.inverse.analytic.ideal import EXACT, Lines
from linkwork.inverse.analytic.roots import trigonometric_roots
from linkwork.inverse.analytic.screws import Chain, angle, inverted
from linkwork.inverse.analytic.spherical import about_x, about_z, exact_cos, exact_sin, turns
from linkwork.spatial import Transform, axis_rotation
from linkwork.subject import Subject

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
        lines.deviations.append(
            (1.0, "the other three axes are parallel and do not place a point in space")
        )
    return three_axes.idealised(lines)


def canonical(lines: Lines) -> tuple[Frames, Dimensions]:
    """The DH frames of the ideal lines and the arm's numbers."""
    chain = lines.result
    placed = frames(chain, (1,) * 6, (1, 1, 1, 1, -1))
    a3, d3, d4, alpha3 = (
        float(x[k]) for x, k in ((placed.a, 2), (placed.d, 2), (placed.d, 3), (placed.alpha, 2))
    )
    w = (a3, -exact_sin(alpha3) * d4, d3 + exact_cos(alpha3) * d4)
    arm = three_axes.Arm.of(placed, w, chain.length)
    return placed, Dimensions(arm, alpha3, float(placed.alpha[3]), float(placed.alpha[4]))


def solve(
    size: Dimensions, T: Transform, seed: SX, margin: Margin, roots: SX | None = None
) -> Proposal:
    """Eight slots: four positions of the arm, two turns of the wrist each; T: pose of frame 6,
    at its centre."""
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
    return Proposal(rows, placed.distances)


def polynomial(size: Dimensions, T: Transform) -> SX:
    """Coefficients (3, 2) of the general arm's polynomial in theta3."""
    return three_axes.polynomial(size.arm, T.p).pairs()


def determinant(size: Dimensions, theta: SX) -> tuple[SX, dict[str, SX]]:
    """det J at the wrist's centre [m^3], canonical axes:
    det of the arm's three times sin a4 sin a5 sin theta5.

    The scale-free factors: arm (over the cube of its length) and wrist.
    """
    arm = three_axes.determinant(size.arm, theta)
    wrist = exact_sin(size.alpha4) * exact_sin(size.alpha5) * sin(theta[4])
    return arm * wrist, {"arm": arm / size.arm.scale**3, "wrist": wrist}


class SphericalWrist(Family):
    name, title = "spherical_wrist", "spherical wrist: axes 4, 5, 6 through one point"
    axes, rank, geometry = 6, 30, Geometry(recognise, canonical)
    slots, explained = SLOTS, 2
    size: Dimensions

    @property
    def parameters(self) -> Mapping[str, float]:
        arm = self.size.arm
        values = {
            "a1": arm.a1,
            "alpha1": arm.alpha1,
            "a2": arm.a2,
            "alpha2": arm.alpha2,
            "d2": arm.d2,
        }
        return {
            **values,
            "alpha3": self.size.alpha3,
            "alpha4": self.size.alpha4,
            "alpha5": self.size.alpha5,
        }

    def propose(self, target: np.ndarray, q0: np.ndarray, free: np.ndarray | None) -> Rows:
        if self.size.arm.case != "general":
            return Rows(*self.kernel_of("closed_form_poses")(target, q0))
        roots = trigonometric_roots(self.kernel_of("quartic_of_poses")(target))
        return Rows(*self.kernel_of("closed_form_poses_of_roots")(target, q0, roots))

    def quartic(self, T: SX) -> SX:
        return polynomial(self.size, self.canonical_goal(T))

    def traced(self, goal: Transform, q0: SX, roots: SX | None = None) -> Proposal:
        T, seed = self.canonical.goal(goal), self.canonical.angles(q0)
        return self.canonical.rows(solve(self.size, T, seed, self.margin, roots))

    def reason(self, distances: np.ndarray) -> str:
        return three_axes.reason(self.size.arm, "wrist's centre", distances)

    def determinant(self, theta: SX) -> tuple[SX, dict[str, SX]]:
        return determinant(self.size, theta)


class SphericalShoulder(SphericalWrist):
    """The same arm seen from its frame: the shoulder is the wrist of the chain that runs
    backward."""

    name, title = "spherical_shoulder", "spherical shoulder: axes 1, 2, 3 through one point"
    rank, geometry = 31, Geometry(recognise, canonical, backward=True)

    def reason(self, distances: np.ndarray) -> str:
        return three_axes.reason(self.size.arm, "shoulder's centre", distances, "the last axis")


@dataclass(frozen=True)
class LockedEnd(Family):
    """Seven axes with the last (or first) one at a given angle:
    the other six have a spherical shoulder (or wrist)."""

    inner: SphericalWrist = field(kw_only=True)
    last: bool = field(kw_only=True)

    name, title = "seven_axis_locked", "seven axes, six of them with a spherical shoulder or wrist"
    axes, rank = 7, 41
    slots, explained = SLOTS, 2
    free = "angle of the joint at the end without the sphere [rad]"

    @classmethod
    def ways(cls) -> tuple[Callable[[Subject, Chain], tuple[float, Family | str]], ...]:
        return partial(cls._around, last=True), partial(cls._around, last=False)

    @classmethod
    def _around(cls, subject: Subject, chain: Chain, last: bool) -> tuple[float, Family | str]:
        """Six of the axes with a spherical shoulder (last locked) or wrist (first locked)."""
        kind, six = (
            (SphericalShoulder, chain.part(0, 6)) if last else (SphericalWrist, chain.part(1, 7))
        )
        deviation, inner = kind.geometry.solver(kind, subject, six)
        if isinstance(inner, str):
            return deviation, inner
        assert isinstance(inner, SphericalWrist)
        return deviation, cls(
            subject, chain, inner.canonical, inner.size, deviation <= EXACT, inner=inner, last=last
        )

    @property
    def parameters(self) -> Mapping[str, float]:
        return self.inner.parameters

    def with_spread(self, spread: float) -> LockedEnd:
        return replace(self, spread=spread, inner=replace(self.inner, spread=spread))

    @property
    def held(self) -> int:
        return 6 if self.last else 0

    def propose(self, target: np.ndarray, q0: np.ndarray, free: np.ndarray | None) -> Rows:
        values = own_free(q0[..., self.held], len(target)) if free is None else free
        if self.inner.size.arm.case != "general":
            return over_free(self.kernel_of("closed_form_locked"), target, q0, values)
        kernel = self.kernel_of("closed_form_locked_of_roots")
        quartic = self.kernel_of("quartic_of_locked_poses")
        return over_free(
            kernel, target, q0, values, lambda T, f: trigonometric_roots(quartic(T, f))
        )

    def quartic(self, T: SX, free: SX) -> SX:
        goal = self.inner.canonical.goal(self.without_locked(orthonormal(T)[0], free))
        return polynomial(self.inner.size, goal)

    def traced(self, goal: Transform, q0: SX, free: SX, roots: SX | None = None) -> Proposal:
        others = q0[0:6] if self.last else q0[1:7]
        inner = self.inner.traced(self.without_locked(goal, free), others, roots)
        rows = []
        for row in inner.rows:
            theta = (*row.theta, free) if self.last else (free, *row.theta)
            rows.append(Candidate(theta, row.exists, CONTINUUM, row.multiplicity))
        return Proposal(rows, inner.distances)

    def without_locked(self, goal: Transform, free: SX) -> Transform:
        """The goal of the other six axes with the locked one back at zero."""
        n, p = (SX(casadi.DM(x[self.held])) for x in (self.chain.directions, self.chain.points))
        R = axis_rotation(n, -free)
        back = Transform(R, p - R @ p)
        home = self.chain.home
        return goal @ constant(inverted(home)) @ back @ constant(home) if self.last else back @ goal

    def reason(self, distances: np.ndarray) -> str:
        return (
            f"{self.inner.reason(distances)}, with joint {self.chain.joints[self.held]} at its "
            "given angle"
        )
