"""Safety volume around the two links of an arm: two truncated cones and a sphere about the elbow,
over symbols.

    cone 1   radius minimum at the shoulder, maximum at the elbow; cone 2 the same from the wrist
    sphere   radius maximum about the elbow

Source: [Simas2022] eqs. 15-17. The exact arcs are ours: see `forbidden_arc`.
"""

from __future__ import annotations

from dataclasses import dataclass

import casadi
from casadi import SX, fmax, fmin, if_else, sqrt

from linkwork.arguments import number
from linkwork.errors import InvalidInput

FAR = 1e6
"""What a solid that a point does not stand beside counts as [m]."""


@dataclass(frozen=True)
class SafetyVolume:
    """Radii [m] that obstacles keep from the links: `minimum` at shoulder and wrist,
    `maximum` at the elbow."""

    minimum: float
    maximum: float

    def __post_init__(self) -> None:
        for name in ("minimum", "maximum"):
            value = number(getattr(self, name), f"SafetyVolume: {name}")
            if value < 0.0:
                raise InvalidInput(f"SafetyVolume: {name} is {value}, expected a radius >= 0 m")
            object.__setattr__(self, name, value)
        if self.minimum > self.maximum:
            raise InvalidInput(
                f"SafetyVolume: minimum {self.minimum} m exceeds maximum {self.maximum} m; "
                "the volume "
                "grows from shoulder and wrist towards the elbow"
            )


def clearance(shoulder: SX, elbow: SX, wrist: SX, point: SX, minimum: SX, maximum: SX) -> SX:
    """Least signed distance measure of a point to cones and sphere [m], negative inside."""
    upper = _beside_cone(shoulder, elbow, point, minimum, maximum)
    fore = _beside_cone(wrist, elbow, point, minimum, maximum)
    sphere = sqrt(casadi.sumsqr(point - elbow)) - maximum
    return fmin(sphere, fmin(upper, fore))


def _beside_cone(end: SX, elbow: SX, point: SX, minimum: SX, maximum: SX) -> SX:
    """Distance from the link less the allowed radius beside it;
    far away where the foot lies off the link.

    Corrected: line 20 of the paper's Algorithm 1 exchanges the radii of the forearm, eq. 17 has
    them right; line 18 (`elseif`) leaves the forearm out where the upper arm is beside the point,
    here every solid is asked.
    """
    along = elbow - end
    share = casadi.dot(point - end, along) / casadi.sumsqr(along)
    away = sqrt(casadi.sumsqr(point - end - share * along))
    allowed = (1 - share) * minimum + share * maximum
    off_the_link = casadi.logic_or(share < 0, share > 1)
    return if_else(off_the_link, FAR, away - allowed)


@dataclass(frozen=True)
class Swing:
    """What a pose fixes: the line from shoulder to wrist, about which the elbow swings.

    u        unit vector from shoulder to wrist;  D their distance [m]
    v0, w0   directions of the elbow at arm angle 0 and a quarter turn on
    """

    shoulder: SX
    u: SX
    v0: SX
    w0: SX
    D: SX


def elbow_at(swing: Swing, upper: float, fore: float, angle: SX) -> SX:
    """P_e = P_s + a1 (cos f u + sin f (cos alpha v0 + sin alpha u x v0)). Source: [Simas2022] eq.
    5."""
    cos_f, sin_f = _opening(upper, fore, swing.D)
    across = casadi.cos(angle) * swing.v0 + casadi.sin(angle) * swing.w0
    return swing.shoulder + upper * (cos_f * swing.u + sin_f * across)


def forbidden_arc(
    swing: Swing, upper: float, fore: float, point: SX, minimum: SX, maximum: SX
) -> tuple[SX, SX]:
    """(center, half width) [rad] of the arm angles at which a point lies inside the volume.

    Every solid's clearance falls as the elbow turns towards the point, so one arc |alpha - center|
    < half width is forbidden; with ax, rho the point's coordinates along and across the line and s
    the place on the link

        cos(half width) = (s - ax cos f) / (rho sin f),     s: where the link would touch the volume's surface

    Nothing like it stands in the paper, whose correction (eqs. 18-19) is approximate and for one
    point.
    """
    from_shoulder = point - swing.shoulder
    ax = casadi.dot(from_shoulder, swing.u)
    across = from_shoulder - ax * swing.u
    rho = sqrt(casadi.sumsqr(across))
    center = casadi.atan2(casadi.dot(across, swing.w0), casadi.dot(across, swing.v0))
    first = _half_width(ax, rho, upper, _opening(upper, fore, swing.D), minimum, maximum)
    second = _half_width(swing.D - ax, rho, fore, _opening(fore, upper, swing.D), minimum, maximum)
    return center, fmax(first, second)


def _opening(near: float, far: float, D: SX) -> tuple[SX, SX]:
    """cos, sin of the angle between a link (length near) and the line shoulder-wrist,
    by the cosine rule."""
    cos_f = (near**2 + D**2 - far**2) / (2 * near * D)
    return cos_f, sqrt(fmax(0, 1 - cos_f**2))


def _half_width(
    ax: SX, rho: SX, length: float, opening: tuple[SX, SX], minimum: SX, maximum: SX
) -> SX:
    """Half of the forbidden arc for one link with its cone, and the sphere at its end."""
    cos_f, sin_f = opening
    k = (maximum - minimum) / length
    square = ax**2 + rho**2
    under_root = k**2 * minimum**2 + (1 + k**2) * (square - minimum**2)
    on_cone = (sqrt(fmax(0, under_root)) - k * minimum) / (1 + k**2)
    on_cone = if_else(under_root < 0, 0, fmax(0, on_cone))
    on_sphere = (square + length**2 - maximum**2) / (2 * length)
    touch = if_else(on_cone <= length, fmin(on_cone, on_sphere), on_sphere)
    above, across = touch - ax * cos_f, rho * sin_f
    free, blocked = above >= across, above <= -across
    ratio = above / if_else(casadi.logic_or(free, blocked), 1, across)
    inside = casadi.acos(fmax(-1, fmin(1, ratio)))
    return if_else(free, 0, if_else(blocked, casadi.pi, inside))
