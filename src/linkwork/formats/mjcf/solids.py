"""Solids: volume (or area of the hull) and principal moments of the shapes a geom can have.

Sizes as in MJCF: sphere (radius), capsule and cylinder (radius, half length along z), ellipsoid and
box (half sizes). Moments are about the centre, along the axes of the shape, for a mass of one.
Textbook formulas, but for the hull of an ellipsoid, which has none: there MuJoCo's approximations
are taken, because a file means what MuJoCo makes of it.
"""

from __future__ import annotations

import math
from typing import NamedTuple

from linkwork.model.number import Vector

THOMSEN = 1.6075
"""Exponent of Thomsen's formula for the area of an ellipsoid (relative error below 1.061 %)."""

SKIN = 1e-6
"""Thickness [m] by which MuJoCo grows an ellipsoid to find the moments of its hull as a
difference."""


class Solid(NamedTuple):
    """content: volume [m^3], or area [m^2] of a hull; moments:
    principal moments for unit mass [m^2]."""

    content: float
    moments: Vector


def solid(kind: str, size: Vector) -> Solid:
    """A filled shape."""
    a, b, c = size
    match kind:
        case "sphere":
            return Solid(4.0 / 3.0 * math.pi * a * a * a, _alike(2.0 / 5.0 * a * a))
        case "cylinder":
            return Solid(
                2.0 * math.pi * a * a * b, _round((3.0 * a * a + 4.0 * b * b) / 12.0, a * a / 2.0)
            )
        case "capsule":
            return _filled_capsule(a, b)
        case "ellipsoid":
            return Solid(4.0 / 3.0 * math.pi * a * b * c, _boxlike(size, 5.0))
    return Solid(8.0 * a * b * c, _boxlike(size, 3.0))


def hull(kind: str, size: Vector) -> Solid:
    """The thin surface of a shape."""
    a, b, _ = size
    match kind:
        case "sphere":
            return Solid(4.0 * math.pi * a * a, _alike(2.0 / 3.0 * a * a))
        case "cylinder":
            return _cylinder_hull(a, b)
        case "capsule":
            return _capsule_hull(a, b)
        case "ellipsoid":
            return _ellipsoid_hull(size)
    return _box_hull(size)


def _filled_capsule(r: float, h: float) -> Solid:
    """A cylinder of half length h and two half balls,
    whose centres of mass lie 3/8 r beyond its ends."""
    tube, balls = 2.0 * r * r * h, 4.0 / 3.0 * r * r * r
    m, n = tube / (tube + balls), balls / (tube + balls)
    across = m * (3.0 * r * r + 4.0 * h * h) / 12.0 + n * (
        2.0 / 5.0 * r * r + h * h + 3.0 / 4.0 * r * h
    )
    return Solid(math.pi * (tube + balls), _round(across, m * r * r / 2.0 + n * 2.0 / 5.0 * r * r))


def _capsule_hull(r: float, h: float) -> Solid:
    """A tube and two half spheres, whose centres of mass lie r/2 beyond its ends."""
    tube, balls = 4.0 * r * h, 4.0 * r * r
    m, n = tube / (tube + balls), balls / (tube + balls)
    across = m * (6.0 * r * r + 4.0 * h * h) / 12.0 + n * (2.0 / 3.0 * r * r + h * h + r * h)
    return Solid(math.pi * (tube + balls), _round(across, m * r * r + n * 2.0 / 3.0 * r * r))


def _cylinder_hull(r: float, h: float) -> Solid:
    """A tube and two discs."""
    tube, discs = 4.0 * r * h, 2.0 * r * r
    m, n = tube / (tube + discs), discs / (tube + discs)
    across = m * (6.0 * r * r + 4.0 * h * h) / 12.0 + n * (r * r / 4.0 + h * h)
    return Solid(math.pi * (tube + discs), _round(across, m * r * r + n * r * r / 2.0))


def _box_hull(size: Vector) -> Solid:
    """Three pairs of plates; a pair across axis i has share s_i of the mass and lies at
    +-size_i."""
    a, b, c = size
    area = a * b + b * c + c * a
    share = (b * c / area, c * a / area, a * b / area)
    second = [
        sum(share[i] * (size[k] * size[k] if i == k else size[k] * size[k] / 3.0) for i in range(3))
        for k in range(3)
    ]
    return Solid(8.0 * area, (second[1] + second[2], second[0] + second[2], second[0] + second[1]))


def _ellipsoid_hull(size: Vector) -> Solid:
    a, b, c = size
    mean = ((a * b) ** THOMSEN + (b * c) ** THOMSEN + (c * a) ** THOMSEN) / 3.0
    grown = (a + SKIN, b + SKIN, c + SKIN)
    inner, outer = solid("ellipsoid", size), solid("ellipsoid", grown)
    density = 1.0 / (outer.content - inner.content)
    ix, iy, iz = (
        density * outer.content * big - density * inner.content * small
        for big, small in zip(outer.moments, inner.moments)
    )
    return Solid(4.0 * math.pi * mean ** (1.0 / THOMSEN), (ix, iy, iz))


def _boxlike(size: Vector, divisor: float) -> Vector:
    aa, bb, cc = (x * x for x in size)
    return ((bb + cc) / divisor, (aa + cc) / divisor, (aa + bb) / divisor)


def _round(across: float, along: float) -> Vector:
    return (across, across, along)


def _alike(moment: float) -> Vector:
    return (moment, moment, moment)
