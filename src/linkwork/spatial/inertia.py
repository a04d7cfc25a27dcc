"""Inertia: mass, first moment and inertia about the frame's origin, over symbols."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from casadi import SX

from linkwork.spatial.transform import Force, Motion, Transform
from linkwork.spatial.vector import cross, matrix, skew, vector


@dataclass(frozen=True, slots=True)
class Inertia:
    """m: mass [kg]; h = m c: first moment [kg m]; I: inertia about the frame's ORIGIN [kg m^2].

    Mass, first moment and inertia about a fixed point simply add, and none needs a division by the
    mass: massless bodies are no special case.
    """

    m: SX
    h: SX
    I: SX

    @staticmethod
    def from_center(mass: Any, com: Any, inertia: Any) -> Inertia:
        """From mass, centre of mass and inertia about it: I_origin = I_com - m [c][c]."""
        m, c, C = SX(mass), vector(com), skew(vector(com))
        return Inertia(m, m * c, matrix(inertia) - m * (C @ C))

    def __add__(self, other: Inertia) -> Inertia:
        return Inertia(self.m + other.m, self.h + other.h, self.I + other.I)

    def __matmul__(self, V: Motion) -> Force:
        """Momentum of a velocity, or force of an acceleration."""
        v, w = V.linear, V.angular
        return Force(self.m * v + cross(w, self.h), cross(self.h, v) + self.I @ w)

    def moved(self, T: Transform) -> Inertia:
        """The same inertia about the parent's origin in the parent's axes (`T @ inertia`).

        h_p = R h + m p
        I_p = R I R' - [p][R h] - [R h][p] - m [p][p]
        """
        P, Rh = skew(T.p), T.R @ self.h
        H = skew(Rh)
        I = T.R @ self.I @ T.R.T - P @ H - H @ P - self.m * (P @ P)
        return Inertia(self.m, Rh + self.m * T.p, I)
