"""Solvers of planar arms, for poses and for points."""

from __future__ import annotations

import casadi
import numpy as np
from casadi import SX

from linkwork.inverse.analytic import planar
from linkwork.inverse.analytic.candidates import Found, Layout
from linkwork.inverse.analytic.family import ClosedForm, Rows, over_free, own_free
from linkwork.spatial import Transform


class Planar3R(ClosedForm):
    name, title = "planar_3r", "planar: three parallel axes"
    slots = 2
    branches, branch_names = ((1,), (-1,)), ("elbow",)
    size: planar.Dimensions

    def found(self, T: Transform, seed: SX) -> Found:
        return planar.pose_3r(self.size, T, seed, self.margin)

    def reason(self, distances: np.ndarray) -> str:
        return planar.reason("axis 3", (self.size.a1, self.size.a2), distances)

    def determinant(self, theta: SX) -> tuple[SX, dict[str, SX]]:
        elbow = casadi.sin(theta[1])
        return self.size.a1 * self.size.a2 * elbow, {"elbow": elbow}


class Planar2R(ClosedForm):
    name, title = "planar_2r", "planar: two parallel axes"
    slots = 1
    size: planar.Dimensions

    def found(self, T: Transform, seed: SX) -> Found:
        return planar.pose_2r(T)

    def reason(self, distances: np.ndarray) -> str:
        return planar.reason("axis 2", (self.size.a1, 0.0), distances)


class PlanarPoint2R(ClosedForm):
    name, title = "planar_2r", "planar: two parallel axes, position alone"
    slots, position = 2, True
    branches, branch_names = ((1,), (-1,)), ("elbow",)
    size: planar.Dimensions

    def found(self, T: Transform, seed: SX) -> Found:
        return planar.point_2r(self.size, T.p, seed, self.margin)

    def reason(self, distances: np.ndarray) -> str:
        return planar.reason("target", (self.size.a1, self.size.tip), distances)

    def determinant(self, theta: SX) -> tuple[SX, dict[str, SX]]:
        elbow = casadi.sin(theta[1] + self.size.lead)
        return self.size.a1 * self.size.tip * elbow, {"elbow": elbow}


class PlanarPoint3R(ClosedForm):
    name, title = "planar_3r", "planar: three parallel axes, position alone"
    slots, position = 2, True
    branches, branch_names = ((1,), (-1,)), ("elbow",)
    free = "sum of the three angles, the direction of the last link [rad]"
    size: planar.Dimensions

    def propose(self, target: np.ndarray, q0: np.ndarray, free: np.ndarray | None) -> Rows:
        kernel = self.rows_kernel(Layout(self.slots, 1, (("free", ()),), position=True), self.turned)
        if free is None:
            placed = self.canonical.placed
            free = own_free(np.sum(placed.sign * q0 + placed.offset, axis=-1), len(target))
        return over_free(kernel, target, q0, free)

    def turned(self, goal: Transform, q0: SX, free: SX) -> Found:
        P, seed = self.canonical.point(goal.p), self.canonical.angles(q0)
        return self.canonical.rows(planar.point_3r(self.size, P, seed, free, self.margin))

    def reason(self, distances: np.ndarray) -> str:
        return planar.reason("axis 3", (self.size.a1, self.size.a2), distances)
