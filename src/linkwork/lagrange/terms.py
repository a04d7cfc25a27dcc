"""Terms: what contributes to the equations of motion, one column of the torque table each.

A term holds on to the coordinates through x(q, t) (a position, an angle, a rotation matrix, an
energy) and says which force it takes to move x:

    tau = (dx/dq)' F(x, xd, xdd)  =  d/dt dK/dv - dK/dq + dP/dq + dR/dv

with K, P, R its kinetic energy, potential and Rayleigh dissipation. The left form (d'Alembert) is
what the Euler-Lagrange operator of [Kusaka2022] eqs. 3-5 gives for K = m |pd|^2 / 2, at a third of
the operations; tests compare both.
Functions of q and v (Lagrangians, Rayleigh functions of the user's own) have the right form only.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import casadi
from casadi import SX

from linkwork.lagrange.joints import Pose, turn
from linkwork.spatial import cross

NOTHING = SX(0.0)


@dataclass(frozen=True, eq=False)
class Point:
    """A point of the mechanism: on the ground or in a frame's axes at `offset`,
    or the centre of a body."""

    frame: str | None = None
    body: str | None = None
    offset: SX = SX(3, 1)


class TermScene(Protocol):
    """Where things are; what a term asks when it is traced."""

    def pose(self, frame: str | None) -> Pose: ...

    def point(self, point: Point) -> SX: ...


class Term:
    """The base of all terms: without energy, without force."""

    name: str
    kind = "term"
    function = NOTHING  # of q, v and t, where the user gave one

    @property
    def frames(self) -> tuple[str, ...]:
        """Frames whose pose matters."""
        return ()

    @property
    def bodies(self) -> tuple[str, ...]:
        """Other bodies whose position matters."""
        return ()

    def place(self, scene: TermScene) -> SX:
        """x(q, t) (m, 1)."""
        return SX(0, 1)

    def force(self, x: SX, xd: SX, xdd: SX, gravity: SX) -> SX:
        """F (m, 1) that moves x."""
        return SX(x.shape[0], 1)

    def kinetic(self, x: SX, xd: SX) -> SX:
        return NOTHING

    def potential(self, x: SX, gravity: SX) -> SX:
        return NOTHING

    def rayleigh(self, x: SX, xd: SX) -> SX:
        return NOTHING


@dataclass(frozen=True, eq=False)
class Body(Term):
    """A mass, with an inertia where it has an orientation, a spring to an anchor on the ground,
    drag at its centre.

    position      in axes of `frame` (None: of the ground) (3)
    orientation   None, an angle in the plane, or a rotation matrix, relative to the frame
    inertia       None, a moment about z for an angle, a matrix (3, 3) in body axes otherwise
    """

    name: str
    mass: SX
    position: SX
    frame: str | None = None
    orientation: SX | None = None
    inertia: SX | None = None
    spring: SX = NOTHING
    anchor: SX = SX(3, 1)
    drag: SX = NOTHING
    kind = "body"

    @property
    def frames(self) -> tuple[str, ...]:
        return () if self.frame is None else (self.frame,)

    def place(self, scene: TermScene) -> SX:
        """The centre, then the angle or the nine elements of the rotation matrix where there is
        inertia."""
        pose = scene.pose(self.frame)
        p = pose.at(self.position)
        if self.inertia is None:
            return p
        if self.inertia.shape == (1, 1):
            orientation = SX(0.0) if self.orientation is None else self.orientation
            assert pose.angle is not None
            return casadi.vertcat(p, pose.angle + orientation)
        R = pose.R
        if self.orientation is not None:
            R = R @ (
                turn(self.orientation) if self.orientation.shape == (1, 1) else self.orientation
            )
        return casadi.vertcat(p, casadi.vec(R))

    def force(self, x: SX, xd: SX, xdd: SX, gravity: SX) -> SX:
        """m (pdd - g) + k (p - anchor) + c pd; I phidd; I wd + w x I w, spread on the columns of
        R."""
        p, pd, pdd = x[:3], xd[:3], xdd[:3]
        f = self.mass * (pdd - gravity) + self.spring * (p - self.anchor) + self.drag * pd
        if self.inertia is None:
            return f
        if self.inertia.shape == (1, 1):
            return casadi.vertcat(f, self.inertia * xdd[3])
        w = angular_velocity(x[3:], xd[3:])
        wd = angular_velocity(x[3:], xdd[3:]) - casadi.vertcat(
            w[1] * w[2], w[2] * w[0], w[0] * w[1]
        )
        n = self.inertia @ wd + cross(w, self.inertia @ w)
        rx, ry, rz = x[3:6], x[6:9], x[9:12]
        return casadi.vertcat(f, n[2] * ry, n[0] * rz, n[1] * rx)

    def kinetic(self, x: SX, xd: SX) -> SX:
        K = self.mass * casadi.dot(xd[:3], xd[:3]) / 2
        if self.inertia is None:
            return K
        if self.inertia.shape == (1, 1):
            return K + self.inertia * xd[3] ** 2 / 2
        w = angular_velocity(x[3:], xd[3:])
        return K + casadi.dot(w, self.inertia @ w) / 2

    def potential(self, x: SX, gravity: SX) -> SX:
        r = x[:3] - self.anchor
        return self.spring * casadi.dot(r, r) / 2 - self.mass * casadi.dot(gravity, x[:3])

    def rayleigh(self, x: SX, xd: SX) -> SX:
        return self.drag * casadi.dot(xd[:3], xd[:3]) / 2


def angular_velocity(R: SX, Rd: SX) -> SX:
    """w in body axes of [w] = R'Rd, for the nine elements column by column: w_x = r_z .
    rd_y and so on."""
    rx, ry, rz = R[0:3], R[3:6], R[6:9]
    rxd, ryd, rzd = Rd[0:3], Rd[3:6], Rd[6:9]
    return casadi.vertcat(casadi.dot(rz, ryd), casadi.dot(rx, rzd), casadi.dot(ry, rxd))


@dataclass(frozen=True, eq=False)
class Spring(Term):
    """k (|p1 - p2| - length)^2 / 2 between two points, either of which may be on the ground."""

    name: str
    stiffness: SX
    ends: tuple[Point, Point]
    length: SX = NOTHING
    kind = "spring"

    @property
    def frames(self) -> tuple[str, ...]:
        return tuple(end.frame for end in self.ends if end.frame is not None)

    @property
    def bodies(self) -> tuple[str, ...]:
        return tuple(end.body for end in self.ends if end.body is not None)

    def place(self, scene: TermScene) -> SX:
        return scene.point(self.ends[0]) - scene.point(self.ends[1])

    def force(self, x: SX, xd: SX, xdd: SX, gravity: SX) -> SX:
        if self.length.is_zero():
            return self.stiffness * x
        return self.stiffness * (1 - self.length / casadi.sqrt(casadi.dot(x, x))) * x

    def potential(self, x: SX, gravity: SX) -> SX:
        if self.length.is_zero():
            return self.stiffness * casadi.dot(x, x) / 2
        return self.stiffness * (casadi.sqrt(casadi.dot(x, x)) - self.length) ** 2 / 2


@dataclass(frozen=True, eq=False)
class TorsionSpring(Term):
    """k (angle - rest)^2 / 2 of a coordinate or of any scalar of the coordinates."""

    name: str
    stiffness: SX
    angle: SX
    rest: SX = NOTHING
    kind = "torsion spring"

    def place(self, scene: TermScene) -> SX:
        return self.angle

    def force(self, x: SX, xd: SX, xdd: SX, gravity: SX) -> SX:
        return self.stiffness * (x - self.rest)

    def potential(self, x: SX, gravity: SX) -> SX:
        return self.stiffness * (x - self.rest) ** 2 / 2


@dataclass(frozen=True, eq=False)
class Drag(Term):
    """R = c |xd|^2 / 2 of a point, of a coordinate (joint friction),
    or of any scalar of the coordinates.

    [Kusaka2022] says only "damping term d"; its listing drags the point (R of the absolute tip
    velocity).
    """

    name: str
    coefficient: SX
    target: Point | SX
    kind = "drag"

    @property
    def frames(self) -> tuple[str, ...]:
        return (
            (self.target.frame,)
            if isinstance(self.target, Point) and self.target.frame is not None
            else ()
        )

    @property
    def bodies(self) -> tuple[str, ...]:
        return (
            (self.target.body,)
            if isinstance(self.target, Point) and self.target.body is not None
            else ()
        )

    def place(self, scene: TermScene) -> SX:
        return scene.point(self.target) if isinstance(self.target, Point) else self.target

    def force(self, x: SX, xd: SX, xdd: SX, gravity: SX) -> SX:
        return self.coefficient * xd

    def rayleigh(self, x: SX, xd: SX) -> SX:
        return self.coefficient * casadi.dot(xd, xd) / 2


@dataclass(frozen=True, eq=False)
class Potential(Term):
    """A potential energy of the user's own, P(q, t)."""

    name: str
    energy: SX
    kind = "potential"

    def place(self, scene: TermScene) -> SX:
        return self.energy

    def force(self, x: SX, xd: SX, xdd: SX, gravity: SX) -> SX:
        return SX.ones(1)

    def potential(self, x: SX, gravity: SX) -> SX:
        return x


@dataclass(frozen=True, eq=False)
class Dissipation(Term):
    """A Rayleigh function of the user's own, R(q, v, t): tau = dR/dv."""

    name: str
    function: SX
    kind = "dissipation"


@dataclass(frozen=True, eq=False)
class Lagrangian(Term):
    """A Lagrangian of the user's own, L(q, v, t): tau = d/dt dL/dv - dL/dq."""

    name: str
    function: SX
    kind = "Lagrangian"
