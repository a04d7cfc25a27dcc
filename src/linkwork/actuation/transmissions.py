"""Transmissions in closed form: joint values, rates and second derivatives from commands, and back.

Each maps its own commands c to its own joint coordinates q: `forward(c, cd, cdd) -> q, v, a` and
`backward`, lists of symbols or numbers. `inside(c)` are numbers that must not be negative for the
loop to close; `span` says so in metres.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Protocol

import casadi
from casadi import SX

from linkwork.loops.geometry import has_rod
from linkwork.model import Placement, Tree
from linkwork.model.elements import Belt, Differential, FourBar, FourBarLoop, Gear, LinearActuator
from linkwork.model.number import (
    Number,
    Vector,
    cross,
    dot,
    is_symbol,
    norm,
    plain,
    scale,
    subtract,
)

Triple = tuple[list[SX], list[SX], list[SX]]


class Drive(Protocol):
    """names: of its commands; joints: the one-coordinate joints it moves,
    in the order of `forward`'s results."""

    @property
    def names(self) -> tuple[str, ...]: ...

    @property
    def joints(self) -> tuple[str, ...]: ...

    def forward(self, c: list[SX], cd: list[SX], cdd: list[SX]) -> Triple: ...

    def backward(self, q: list[SX], v: list[SX], a: list[SX]) -> Triple: ...

    def inside(self, c: list[SX]) -> list[SX]: ...

    def span(self) -> tuple[float, float] | None: ...


@dataclass(frozen=True)
class StrutOnSlide:
    """A strut that drives a sliding joint. c: its length; a: lateral offset; d:
    head - foot along the axis at q = 0.

        s = branch sqrt(c^2 - a^2),   q = s - d,   q' = c / s,   q'' = (1 - q'^2) / s           (by c)

    Source: [Goncalves2022] eqs. 7-14, [Goncalves2023] eq. 6, for any axis and any two points. The
    rates are not in the papers. Dead point: c = a, where the strut stands across the slide.
    """

    names: tuple[str, ...]
    joints: tuple[str, ...]
    a_squared: Number
    d: Number
    branch: int
    lower: Number
    upper: Number

    def forward(self, c: list[SX], cd: list[SX], cdd: list[SX]) -> Triple:
        s = self.branch * casadi.sqrt(c[0] * c[0] - self.a_squared)
        first = c[0] / s
        return (
            [s - self.d],
            [first * cd[0]],
            [first * cdd[0] + (1 - first * first) / s * cd[0] * cd[0]],
        )

    def backward(self, q: list[SX], v: list[SX], a: list[SX]) -> Triple:
        s = q[0] + self.d
        c = casadi.sqrt(s * s + self.a_squared)
        cd = s * v[0] / c
        return [c], [cd], [(s * a[0] + v[0] * v[0] - cd * cd) / c]

    def inside(self, c: list[SX]) -> list[SX]:
        return [c[0] * c[0] - self.a_squared, c[0] - self.lower, self.upper - c[0]]

    def span(self) -> tuple[float, float]:
        return max(float(plain(self.lower)), math.sqrt(float(plain(self.a_squared)))), float(
            plain(self.upper)
        )


@dataclass(frozen=True)
class StrutOnHinge:
    """A strut that drives a hinge. e, r: distances of foot and head from the axis, h:
    their offset along it.

        c^2 = e^2 + r^2 + h^2 - 2 e r cos phi,   phi = q + phi0,   sign of phi = branch = sign of dc/dq
        q'  = c / (e r sin phi),                 q'' = 1 / (e r sin phi) - q'^2 cot phi          (by c)

    Source: [Goncalves2022] eqs. 15-23 and [Goncalves2023] eqs. 7-14 intersect circles; this is the
    same triangle by its angles, for any axis. Corrected: eqs. 23 and 14 print + for -
    (the head then misses its circle). phi comes from the half-angle formula, exact to rounding near
    the dead points phi = 0 and pi, which end the interval of c.
    """

    names: tuple[str, ...]
    joints: tuple[str, ...]
    e: Number
    r: Number
    h: Number
    phi0: Number
    turns: int
    branch: int
    lower: Number
    upper: Number

    def _sides(self, c: SX) -> tuple[SX, SX]:
        """(2 er (1 - cos phi), 2 er (1 + cos phi)), both without cancellation."""
        flat = (
            c if not is_symbol(self.h) and self.h == 0.0 else casadi.sqrt(c * c - self.h * self.h)
        )
        gap, sum_ = self.e - self.r, self.e + self.r
        return (flat - gap) * (flat + gap), (sum_ - flat) * (sum_ + flat)

    def forward(self, c: list[SX], cd: list[SX], cdd: list[SX]) -> Triple:
        near, far = self._sides(c[0])
        q = 2 * self.branch * casadi.atan2(casadi.sqrt(near), casadi.sqrt(far)) - self.phi0
        sine = self.branch * casadi.sqrt(near * far) / 2  # e r sin phi
        cosine = (far - near) / 4  # e r cos phi
        first = c[0] / sine
        second = (1 - first * first * cosine) / sine
        return [q], [first * cd[0]], [first * cdd[0] + second * cd[0] * cd[0]]

    def backward(self, q: list[SX], v: list[SX], a: list[SX]) -> Triple:
        phi = q[0] + self.phi0
        er = self.e * self.r
        gap, half = self.e - self.r, casadi.sin(phi / 2)
        c = casadi.sqrt(gap * gap + self.h * self.h + 4 * er * half * half)
        cd = er * casadi.sin(phi) * v[0] / c
        cdd = (er * (casadi.cos(phi) * v[0] * v[0] + casadi.sin(phi) * a[0]) - cd * cd) / c
        return [c], [cd], [cdd]

    def inside(self, c: list[SX]) -> list[SX]:
        return [*self._sides(c[0]), c[0] - self.lower, self.upper - c[0]]

    def span(self) -> tuple[float, float]:
        e, r, h = (float(plain(x)) for x in (self.e, self.r, self.h))
        geometry = math.hypot(e - r, h), math.hypot(e + r, h)
        return max(float(plain(self.lower)), geometry[0]), min(
            float(plain(self.upper)), geometry[1]
        )


@dataclass(frozen=True)
class LinearMap:
    """Gears, belts, differentials: q = M c + b, and c = W q + w."""

    names: tuple[str, ...]
    joints: tuple[str, ...]
    M: tuple[tuple[Number, ...], ...]
    b: tuple[Number, ...]
    W: tuple[tuple[Number, ...], ...]
    w: tuple[Number, ...]

    def forward(self, c: list[SX], cd: list[SX], cdd: list[SX]) -> Triple:
        return _affine(self.M, self.b, c), _affine(self.M, None, cd), _affine(self.M, None, cdd)

    def backward(self, q: list[SX], v: list[SX], a: list[SX]) -> Triple:
        return _affine(self.W, self.w, q), _affine(self.W, None, v), _affine(self.W, None, a)

    def inside(self, c: list[SX]) -> list[SX]:
        return []

    def span(self) -> None:
        return None


@dataclass(frozen=True)
class FourBarDrive:
    """Massless four-bar loops in series, crank to rocker: see `rocker_angle`;
    rates by differentiating it."""

    names: tuple[str, ...]
    joints: tuple[str, ...]
    loops: tuple[FourBarLoop, ...]
    crank_offset: Number
    offset: Number

    def forward(self, c: list[SX], cd: list[SX], cdd: list[SX]) -> Triple:
        x = SX.sym("crank")
        return self._differentiated(x, self._rocker(x), c[0], cd[0], cdd[0])

    def backward(self, q: list[SX], v: list[SX], a: list[SX]) -> Triple:
        x = SX.sym("rocker")
        angle = x - self.offset
        for loop in reversed(self.loops):
            angle = crank_angle(loop, angle)
        return self._differentiated(x, angle - self.crank_offset, q[0], v[0], a[0])

    def inside(self, c: list[SX]) -> list[SX]:
        angle, margins = c[0] + self.crank_offset, []
        for loop in self.loops:
            f2 = _diagonal_squared(loop, angle)
            margins += [
                (loop.coupler + loop.rocker) ** 2 - f2,
                f2 - (loop.coupler - loop.rocker) ** 2,
            ]
            angle = rocker_angle(loop, angle)
        return margins

    def span(self) -> None:
        return None

    def _rocker(self, c: SX) -> SX:
        angle = c + self.crank_offset
        for loop in self.loops:
            angle = rocker_angle(loop, angle)
        return angle + self.offset

    def _differentiated(self, x: SX, y: SX, at: SX, rate: SX, second: SX) -> Triple:
        d = casadi.jacobian(y, x)
        dd = casadi.jacobian(d, x)
        y, d, dd = casadi.substitute([y, d, dd], [x], [SX(at)])
        return [y], [d * rate], [d * second + dd * rate * rate]


def rocker_angle(loop: FourBarLoop, crank: SX) -> SX:
    """Angle of the rocker from the ground line, for the crank's angle.

        f^2 = (g - a cos)^2 + (a sin)^2          diagonal from the crank's tip to the rocker's pivot
        rocker = pi - atan2(a sin, g - a cos) - branch acos((d^2 + f^2 - b^2) / (2 d f))

    A crank longer than the ground goes round, and so does the rocker: whole turns are added.
    """
    g, a, b, d = loop.ground, loop.crank, loop.coupler, loop.rocker
    f2 = _diagonal_squared(loop, crank)
    lean = casadi.atan2(a * casadi.sin(crank), g - a * casadi.cos(crank))
    angle = (
        math.pi - lean - loop.branch * casadi.acos((d * d + f2 - b * b) / (2 * d * casadi.sqrt(f2)))
    )
    round_trips = casadi.floor(crank / (2 * math.pi))
    if is_symbol(a) or is_symbol(g):
        return angle + casadi.if_else(SX(a) > SX(g), 2 * math.pi * round_trips, 0.0)
    return angle + 2 * math.pi * round_trips if a > g else angle


def crank_angle(loop: FourBarLoop, rocker: SX) -> SX:
    """Angle of the crank for the rocker's: of the two cranks that reach,
    the one on this branch (nearer 0 if both)."""
    g, a, b, d = loop.ground, loop.crank, loop.coupler, loop.rocker
    cx, cy = g + d * casadi.cos(rocker), d * casadi.sin(rocker)
    m2 = cx * cx + cy * cy
    spread = casadi.acos((a * a + m2 - b * b) / (2 * a * casadi.sqrt(m2)))
    toward = casadi.atan2(cy, cx)
    candidates = [_wrapped(toward + spread), _wrapped(toward - spread)]

    def off(crank: SX) -> SX:
        bx, by = a * casadi.cos(crank), a * casadi.sin(crank)
        side = (g - bx) * (cy - by) + by * (cx - bx)  # turn from the diagonal to the coupler
        return casadi.fabs(crank) + casadi.if_else(loop.branch * side < 0, 1e3, 0.0)

    return casadi.if_else(off(candidates[0]) <= off(candidates[1]), candidates[0], candidates[1])


def strut_drive(
    tree: Tree, actuator: LinearActuator, middle: float = 0.0, like: Drive | None = None
) -> StrutOnSlide | StrutOnHinge | None:
    """The closed form of a strut between the two bodies of the one-coordinate joint it drives,
    or None (a carriage).

    `tree` has its fixed joints merged. Of all angles that close the triangle the half turn nearest
    to `middle` is taken; with live numbers in the tree the same as in `like`, the drive of the
    present numbers.
    """
    nodes = [i for i in tree.outward if tree.nodes[i].joint == actuator.joint]
    if has_rod(actuator) or len(nodes) != 1:
        return None
    child = nodes[0]
    if tree.nodes[child].row.has_pitch or tree.nodes[child].nv != 1:
        return None
    node = tree.nodes[child]
    (a, Ta), (b, Tb) = (_place(tree, p.body) for p in (actuator.foot, actuator.head))
    if {a, b} != {node.parent, child}:
        return None
    foot, head = Ta.at(actuator.foot.position), Tb.at(actuator.head.position)
    if b == node.parent:
        foot, head = head, foot  # the mathematics does not know which end is which
    foot = node.placement.inverse().at(foot)
    n = node.axis
    common: dict[str, Any] = {
        "names": (actuator.name,),
        "joints": (actuator.joint,),
        "branch": actuator.branch,
    }
    common |= {"lower": actuator.lower, "upper": actuator.upper}
    if node.row.is_slide:
        across = subtract(head, foot)
        along = dot(across, n)
        lateral = subtract(across, scale(along, n))
        return StrutOnSlide(a_squared=_tidy(dot(lateral, lateral)), d=along, **common)
    flat_foot, flat_head = _flat(foot, n), _flat(head, n)
    turn = _angle(dot(n, cross(flat_foot, flat_head)), dot(flat_foot, flat_head))
    if isinstance(like, StrutOnHinge):
        turns = like.turns
    else:
        turns = round((actuator.branch * math.pi / 2 - turn - middle) / (2 * math.pi))
    h = _tidy(dot(subtract(head, foot), n))
    e, r, phi0 = norm(flat_foot), norm(flat_head), turn + 2 * math.pi * turns
    return StrutOnHinge(e=e, r=r, h=h, phi0=phi0, turns=turns, **common)


def gear_drive(gear: Gear) -> LinearMap:
    k = 1.0 / gear.ratio
    return LinearMap(
        (gear.name,), (gear.joint,), ((k,),), (-gear.offset * k,), ((gear.ratio,),), (gear.offset,)
    )


def belt_drive(belt: Belt) -> LinearMap:
    """q = k c + offset with k = +-driving / driven radius.
    A carrier's own coordinate is taken off by `commands`."""
    k = (-1.0 if belt.crossed else 1.0) * belt.driving_radius / belt.driven_radius
    return LinearMap(
        (belt.name,), (belt.joint,), ((k,),), (belt.offset,), ((1.0 / k,),), (-belt.offset / k,)
    )


def differential_drive(differential: Differential) -> LinearMap:
    M = casadi.vertcat(*[casadi.horzcat(*[SX(x) for x in row]) for row in differential.matrix])
    offset = differential.offset or (0.0,) * len(differential.joints)
    W = casadi.inv(M)
    w = -W @ casadi.vertcat(*[SX(x) for x in offset])
    n = len(differential.joints)
    rows = tuple(tuple(plain(W[i, j]) for j in range(n)) for i in range(n))
    back = tuple(plain(w[i]) for i in range(n))
    return LinearMap(
        differential.motors, differential.joints, differential.matrix, offset, rows, back
    )


def four_bar_drive(four_bar: FourBar) -> FourBarDrive:
    return FourBarDrive(
        (four_bar.name,), (four_bar.joint,), four_bar.loops, four_bar.crank_offset, four_bar.offset
    )


def _diagonal_squared(loop: FourBarLoop, crank: SX) -> SX:
    return loop.ground**2 + loop.crank**2 - 2 * loop.ground * loop.crank * casadi.cos(crank)


def _affine(
    M: tuple[tuple[Number, ...], ...], b: tuple[Number, ...] | None, x: list[SX]
) -> list[SX]:
    totals = []
    for i, row in enumerate(M):
        total = SX(0 if b is None else b[i])
        for factor, entry in zip(row, x, strict=True):
            total = total + factor * entry
        totals.append(total)
    return totals


def _wrapped(angle: SX) -> SX:
    return casadi.atan2(casadi.sin(angle), casadi.cos(angle))


def _place(tree: Tree, body: str | None) -> tuple[int, Placement]:
    return (0, Placement()) if body is None else tree.bodies[body]


def _flat(point: Vector, n: Vector) -> Vector:
    return subtract(point, scale(dot(point, n), n))


def _angle(y: Number, x: Number) -> Number:
    return casadi.atan2(y, x) if is_symbol(y) or is_symbol(x) else math.atan2(y, x)


def _tidy(x: Number) -> Number:
    """A length that only rounding keeps from zero as zero, so that it folds away."""
    return 0.0 if not is_symbol(x) and abs(x) < 1e-15 else x
