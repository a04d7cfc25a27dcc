"""Nearest: where two shapes come nearest, and the few operations that every pair needs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import casadi
from casadi import SX, dot, fabs, fmax, fmin, if_else, sqrt

NOTHING = 1e-30
"""Smallest divisor: a normal number also in single precision,
and far below every length that is squared."""

TOUCHING = 1e-12
"""Cores nearer than this [m] count as touching: the direction between them would be rounding."""


class Nearest(NamedTuple):
    """Signed distance [m], the nearest points of both shapes,
    and the normal from the first towards the second."""

    distance: SX
    point: SX
    other_point: SX
    normal: SX

    def turned(self) -> Nearest:
        """The same with the shapes exchanged."""
        return Nearest(self.distance, self.other_point, self.point, -self.normal)


def vector(columns: Sequence[SX]) -> SX:
    """Columns as a 3-vector without structural zeros."""
    return casadi.densify(casadi.vertcat(*columns))


def clamp(x: SX, low: SX | float, high: SX | float) -> SX:
    """x moved into [low, high], element by element."""
    return fmin(fmax(x, low), high)


def ratio(numerator: SX, denominator: SX) -> SX:
    """numerator / denominator for a denominator that is not negative; finite where it is zero."""
    return numerator / fmax(denominator, NOTHING)


def across(u: SX) -> SX:
    """A unit vector across u, some unit vector where u is zero:
    u crossed with the axis it is furthest from."""
    x, y, z = u[0], u[1], u[2]
    a, b, c = fabs(x), fabs(y), fabs(z)
    along_x = (a <= b) * (a <= c)
    along_y = b <= c
    side = if_else(
        along_x,
        vector((SX(0), z, -y)),
        if_else(along_y, vector((-z, SX(0), x)), vector((y, -x, SX(0)))),
    )
    length = sqrt(dot(side, side))
    return if_else(length > NOTHING, side / fmax(length, NOTHING), SX([0.0, 0.0, 1.0]))


def swept(core: SX, other_core: SX, radius: SX, other_radius: SX, fallback: SX) -> Nearest:
    """Two shapes that are points `core` and `other_core` grown by a radius each.

    `fallback` is the normal where the two points are one. The depth of two such shapes is the sum
    of their radii less the distance of their cores, also where the cores cross: their Minkowski sum
    is flat, so the way out is across it.
    """
    way = other_core - core
    length = sqrt(dot(way, way))
    apart = length > TOUCHING
    normal = if_else(apart, way / fmax(length, TOUCHING), fallback)
    return Nearest(
        length - radius - other_radius,
        core + radius * normal,
        other_core - other_radius * normal,
        normal,
    )
