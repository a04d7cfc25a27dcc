"""Cylinders with spheres and half-spaces: other pairs go to coal."""

from __future__ import annotations

from collections.abc import Sequence

from casadi import SX, dot, fabs, fmax, fmin, if_else, sqrt

from linkwork.collision.distances.nearest import NOTHING, Nearest, across, clamp, vector


def sphere_cylinder(a: Sequence[SX], b: Sequence[SX]) -> Nearest:
    """The centre's distance to the cylinder, in the plane through its axis;
    from inside the nearer of side and cap."""
    c, middle, axis = vector(a[:3]), vector(b[:3]), vector(b[3:6])
    radius, half = b[6], b[7]
    w = c - middle
    y = dot(w, axis)
    rest = w - y * axis
    x = sqrt(dot(rest, rest))
    outwards = if_else(x > NOTHING, rest / fmax(x, NOTHING), across(axis))
    # outside: the nearest point of the rectangle radius by half
    near_x, near_y = fmin(x, radius), clamp(y, -half, half)
    gap_x, gap_y = x - near_x, y - near_y
    gap = sqrt(gap_x * gap_x + gap_y * gap_y)
    # inside: the side, or the cap on this side
    to_side, to_cap = radius - x, half - fabs(y)
    up = if_else(y < 0.0, -1.0, 1.0)
    by_side = to_side <= to_cap
    depth = fmin(to_side, to_cap)
    apart = gap > 0.0
    scale = fmax(gap, NOTHING)
    way_x = if_else(apart, gap_x / scale, if_else(by_side, 1.0, 0.0))
    way_y = if_else(apart, gap_y / scale, if_else(by_side, 0.0, up))
    out = way_x * outwards + way_y * axis
    distance = if_else(apart, gap, -depth)
    return Nearest(distance - a[3], c - a[3] * out, c - distance * out, -out)


def half_space_cylinder(a: Sequence[SX], b: Sequence[SX]) -> Nearest:
    """The lowest point of the cylinder's rims."""
    n, middle, axis = vector(a[:3]), vector(b[:3]), vector(b[3:6])
    along = dot(n, axis)
    side = n - along * axis
    size = sqrt(dot(side, side))
    down = if_else(size > NOTHING, side / fmax(size, NOTHING), across(axis))
    point = middle - if_else(along < 0.0, -1.0, 1.0) * b[7] * axis - b[6] * down
    distance = dot(n, point) - a[3]
    return Nearest(distance, point - distance * n, point, n)
