"""Tapered capsules (hulls of two balls) with spheres, capsules, each other, half-spaces and boxes.

A hull of two balls is all balls between them, of centre c(s) = start + s u and radius r(s) = r0 + s
k. Its distance to another such shape is the least of |c(s) - d(t)| - r(s) - r'(t), which is convex
in s and t. One parameter alone has a closed form, and so have both:

    the lines lie h apart, z is the rest of c(s) - d(t) in the plane of both directions, and r + r'
    = const + g' z: sqrt(h^2 + |z|^2) - g' z is least at z = h g / sqrt(1 - |g|^2), and has no least
    value where |g| >= 1

So the four edges and that point, cut to the square, are compared. The least value is the depth as
well: where the lines cross, the normal may be turned across both of them without changing which
balls are deepest.
"""

from __future__ import annotations

from collections.abc import Sequence

from casadi import SX, cross, dot, fmax, fmin, if_else, sqrt

from linkwork.collision.distances.nearest import (
    NOTHING,
    Nearest,
    across,
    clamp,
    ratio,
    swept,
    vector,
)
from linkwork.collision.distances.segments import between


class Taper:
    """Balls of centre p + s u and radius r + s k, s in [0, 1]."""

    def __init__(self, start: SX, end: SX, start_radius: SX, end_radius: SX) -> None:
        self.p, self.u = start, end - start
        self.r, self.k = start_radius, end_radius - start_radius

    @classmethod
    def of(cls, columns: Sequence[SX]) -> Taper:
        """From the columns of a tapered capsule, a capsule or a sphere."""
        start = vector(columns[:3])
        if len(columns) == 4:
            return cls(start, start, columns[3], columns[3])
        return cls(start, vector(columns[3:6]), columns[6], columns[-1])

    def center(self, s: SX) -> SX:
        return self.p + s * self.u

    def radius(self, s: SX) -> SX:
        return self.r + s * self.k

    def nearest_to(self, point: SX) -> SX:
        """The parameter whose ball comes nearest to a point:
        (s - s0) |u|^2 = k x / sqrt(1 - k^2 / |u|^2)

        with s0 the foot of the point on the line and x its distance from it. Where one ball holds
        the other (|k| >= |u|) the larger one is nearest to everything.
        """
        uu = dot(self.u, self.u)
        w = point - self.p
        foot = ratio(dot(w, self.u), uu)
        rest = w - foot * self.u
        x = sqrt(dot(rest, rest))
        slope = uu - self.k * self.k
        s = foot + ratio(self.k * x, sqrt(fmax(uu, NOTHING)) * sqrt(fmax(slope, NOTHING)))
        larger = if_else(self.k > 0.0, 1.0, 0.0)
        return if_else(slope > 0.0, clamp(s, 0.0, 1.0), larger)


def sphere_tapered(a: Sequence[SX], b: Sequence[SX]) -> Nearest:
    """The ball of the hull that comes nearest to the centre."""
    c, taper = vector(a[:3]), Taper.of(b)
    s = taper.nearest_to(c)
    return swept(c, taper.center(s), a[3], taper.radius(s), across(taper.u))


def tapered_tapered(a: Sequence[SX], b: Sequence[SX]) -> Nearest:
    """The two balls that come nearest: on an edge of the square of parameters, or inside it."""
    first, second = Taper.of(a), Taper.of(b)
    zero, one = SX(0), SX(1)
    candidates = [
        (zero, second.nearest_to(first.center(zero))),
        (one, second.nearest_to(first.center(one))),
    ]
    candidates += [
        (first.nearest_to(second.center(zero)), zero),
        (first.nearest_to(second.center(one)), one),
    ]
    candidates.append(_inside(first, second))
    best, s, t = SX(1e30), zero, zero
    for this_s, this_t in candidates:
        way = second.center(this_t) - first.center(this_s)
        value = sqrt(dot(way, way)) - first.radius(this_s) - second.radius(this_t)
        better = value < best
        best = if_else(better, value, best)
        s = if_else(better, this_s, s)
        t = if_else(better, this_t, t)
    normal = between(first.u, second.u)
    return swept(first.center(s), second.center(t), first.radius(s), second.radius(t), normal)


def _inside(first: Taper, second: Taper) -> tuple[SX, SX]:
    """The least value of the whole plane of parameters, cut to the square.

    With v turned, z is what w + s u + t v has in the plane of u and v. The radii grow by g' z,
    where g lies in that plane with u' g = k and v' g = l; s and t follow from z. All by cross
    products with n = u x v, which keep their digits where the lines are nearly parallel.
    """
    u, v, w = first.u, -second.u, first.p - second.p
    k, l = first.k, second.k
    n = cross(u, v)
    nn = fmax(dot(n, n), NOTHING)
    g = (k * cross(v, n) + l * cross(n, u)) / nn
    h = sqrt(dot(n, w) * dot(n, w) / nn)
    way = h / sqrt(fmax(1.0 - dot(g, g), 1e-18)) * g - w
    s, t = dot(cross(way, v), n) / nn, dot(cross(u, way), n) / nn
    return clamp(s, 0.0, 1.0), clamp(t, 0.0, 1.0)


def tapered_half_space(a: Sequence[SX], b: Sequence[SX]) -> Nearest:
    """The lower of both balls, the first one where both are equally low."""
    taper, n = Taper.of(a), vector(b[:3])
    low = dot(n, taper.p) - taper.r
    end_low = dot(n, taper.p + taper.u) - taper.r - taper.k
    s = if_else(end_low < low, SX(1), SX(0))
    distance = fmin(low, end_low) - b[3]
    point = taper.center(s) - taper.radius(s) * n
    return Nearest(distance, point, point - distance * n, -n)
