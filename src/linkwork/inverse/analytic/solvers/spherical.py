"""Solvers of arms with three axes through one point, and of three axes that place a point."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property

import casadi
import numpy as np
from casadi import SX

from linkwork.inverse.analytic import pieper, three_axes
from linkwork.inverse.analytic.candidates import CONTINUUM, Candidate, Found, Layout, constant, orthonormal
from linkwork.inverse.analytic.family import Family, Rows, over_free, own_free
from linkwork.inverse.analytic.roots import trigonometric_roots
from linkwork.inverse.analytic.screws import inverted
from linkwork.spatial import Transform, axis_rotation

_ROOTS = (("roots", (4, 2)),)
_QUARTIC = (("coefficients", (3, 2)),)


class ThreeAxes(Family):
    name, title = "positioning_3r", "three axes that place a point"
    slots, position = 4, True
    size: three_axes.Arm

    def propose(self, target: np.ndarray, q0: np.ndarray, free: np.ndarray | None) -> Rows:
        if self.size.case != "general":
            return Rows(*self.rows_kernel(Layout(self.slots, 2, position=True), self.traced)(target, q0))
        kernel = self.rows_kernel(Layout(self.slots, 2, _ROOTS, position=True), self.traced)
        quartic = self.side_kernel("quartic", (("target", (3,)),), _QUARTIC, self._quartic)
        return Rows(*kernel(target, q0, trigonometric_roots(quartic(target))))

    def _quartic(self, p: SX) -> SX:
        return three_axes.polynomial(self.size, self.canonical.point(p)).pairs()

    def traced(self, goal: Transform, q0: SX, roots: SX | None = None) -> Found:
        P, seed = self.canonical.point(goal.p), self.canonical.angles(q0)
        return self.canonical.rows(three_axes.solve(self.size, P, seed, self.margin, roots))

    def reason(self, distances: np.ndarray) -> str:
        return three_axes.reason(self.size, "target", distances)

    def determinant(self, theta: SX) -> tuple[SX, dict[str, SX]]:
        return three_axes.determinant(self.size, theta), {}


class SphericalWrist(Family):
    name, title = "spherical_wrist", "spherical wrist: axes 4, 5, 6 through one point"
    slots = pieper.SLOTS
    size: pieper.Dimensions

    @property
    def parameters(self) -> Mapping[str, float]:
        arm = self.size.arm
        values = {"a1": arm.a1, "alpha1": arm.alpha1, "a2": arm.a2, "alpha2": arm.alpha2, "d2": arm.d2}
        return {**values, "alpha3": self.size.alpha3, "alpha4": self.size.alpha4, "alpha5": self.size.alpha5}

    def propose(self, target: np.ndarray, q0: np.ndarray, free: np.ndarray | None) -> Rows:
        if self.size.arm.case != "general":
            return Rows(*self.rows_kernel(Layout(self.slots, 2), self.traced)(target, q0))
        kernel = self.rows_kernel(Layout(self.slots, 2, _ROOTS), self.traced)
        quartic = self.side_kernel("quartic", (("target", (4, 4)),), _QUARTIC, self._quartic)
        return Rows(*kernel(target, q0, trigonometric_roots(quartic(target))))

    def _quartic(self, T: SX) -> SX:
        return pieper.polynomial(self.size, self.canonical_goal(T))

    def traced(self, goal: Transform, q0: SX, roots: SX | None = None) -> Found:
        T, seed = self.canonical.goal(goal), self.canonical.angles(q0)
        return self.canonical.rows(pieper.solve(self.size, T, seed, self.margin, roots))

    def reason(self, distances: np.ndarray) -> str:
        return three_axes.reason(self.size.arm, "wrist's centre", distances)

    def determinant(self, theta: SX) -> tuple[SX, dict[str, SX]]:
        return pieper.determinant(self.size, theta)


class SphericalShoulder(SphericalWrist):
    """The same arm seen from its frame: the shoulder is the wrist of the chain that runs backward."""

    name, title = "spherical_shoulder", "spherical shoulder: axes 1, 2, 3 through one point"

    def reason(self, distances: np.ndarray) -> str:
        return three_axes.reason(self.size.arm, "shoulder's centre", distances, "the last axis")


@dataclass(frozen=True)
class LockedEnd(Family):
    """Seven axes with the last (or first) one at a given angle: the other six have a spherical shoulder (or wrist)."""

    inner: SphericalWrist = field(kw_only=True)
    last: bool = field(kw_only=True)

    name, title = "seven_axis_locked", "seven axes, six of them with a spherical shoulder or wrist"
    slots = pieper.SLOTS
    free = "angle of the joint at the end without the sphere [rad]"

    @cached_property
    def key(self) -> str:
        return f"{self.name} {self.last} {self.inner.key}"

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
        general = self.inner.size.arm.case == "general"
        kernel = self.rows_kernel(Layout(self.slots, 2, (("free", ()), *(_ROOTS if general else ()))), self.traced)
        if not general:
            return over_free(kernel, target, q0, values)
        inputs = (("target", (4, 4)), ("free", ()))
        quartic = self.side_kernel("quartic", inputs, _QUARTIC, self._quartic)
        return over_free(kernel, target, q0, values, lambda T, f: trigonometric_roots(quartic(T, f)))

    def _quartic(self, T: SX, free: SX) -> SX:
        goal = self.inner.canonical.goal(self.without_locked(orthonormal(T)[0], free))
        return pieper.polynomial(self.inner.size, goal)

    def traced(self, goal: Transform, q0: SX, free: SX, roots: SX | None = None) -> Found:
        others = q0[0:6] if self.last else q0[1:7]
        found = self.inner.traced(self.without_locked(goal, free), others, roots)
        rows = []
        for row in found.rows:
            theta = (*row.theta, free) if self.last else (free, *row.theta)
            rows.append(Candidate(theta, row.exists, CONTINUUM, row.multiplicity))
        return Found(rows, found.distances)

    def without_locked(self, goal: Transform, free: SX) -> Transform:
        """The goal of the other six axes with the locked one back at zero."""
        n, p = (SX(casadi.DM(x[self.held])) for x in (self.chain.directions, self.chain.points))
        R = axis_rotation(n, -free)
        back = Transform(R, p - R @ p)
        home = self.chain.home
        return goal @ constant(inverted(home)) @ back @ constant(home) if self.last else back @ goal

    def reason(self, distances: np.ndarray) -> str:
        return f"{self.inner.reason(distances)}, with joint {self.chain.joints[self.held]} at its given angle"
