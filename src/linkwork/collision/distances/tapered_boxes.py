"""Tapered capsules with boxes: the ball of the hull that comes nearest, or the shortest way out."""

from __future__ import annotations

from collections.abc import Sequence

import casadi
from casadi import SX, dot, fabs, fmax, fmin, if_else, sqrt

from linkwork.collision.distances.boxes import FAR, BoxAxes, Inside, faces, shallower
from linkwork.collision.distances.nearest import NOTHING, TOUCHING, Nearest, clamp, ratio, vector
from linkwork.collision.distances.tapered import Taper


def tapered_box(a: Sequence[SX], b: Sequence[SX]) -> Nearest:
    """Outside the ball for which distance to the box less radius is smallest;
    inside the least of twelve ways out."""
    box = BoxAxes.of(b)
    start, end = box.local(vector(a[:3])), box.local(vector(a[3:6]))
    taper = Taper(start, end, a[6], a[7])
    s = nearest_ball(taper, box.half)
    core = taper.center(s)
    outside = clamp(core, -box.half, box.half)
    way = outside - core
    length = sqrt(dot(way, way))
    apart = length > TOUCHING
    inside = way_out(taper, box.half)
    # of a way out the depth holds the radius already; the core lies that much less deep
    radius = if_else(apart, taper.radius(s), taper.radius(inside.at))
    deep_core = taper.center(inside.at)
    core_depth = inside.depth - radius
    return box.result(
        if_else(apart, length, -core_depth),
        if_else(apart, core, deep_core),
        if_else(apart, outside, deep_core + core_depth * inside.outward),
        if_else(apart, way / fmax(length, TOUCHING), -inside.outward),
        radius,
    )


def nearest_ball(taper: Taper, h: SX) -> SX:
    """The parameter s in [0, 1] for which (distance of the centre to the box) - (radius) is
    smallest.

    The slope g / D - k, with D the distance and g the slope of its half square, rises with s.
    Between two breaks the same faces are outside, D^2 = A (s - s0)^2 + m^2, and the slope is zero
    at s0 + k m / sqrt(A (A - k^2)).
    """
    p, u, k = taper.p, taper.u, taper.k
    steps = if_else(fabs(u) > NOTHING, u, NOTHING)
    breaks = [SX(0), SX(1)]
    for sign in (-1.0, 1.0):
        breaks += casadi.vertsplit(clamp((sign * h - p) / steps, 0.0, 1.0))
    low, high = SX(0), SX(1)
    for t in breaks:
        x = p + t * u
        rest = x - clamp(x, -h, h)
        slope = ratio(dot(u, rest), sqrt(dot(rest, rest))) - k
        low = if_else((slope <= 0.0) * (t >= low), t, low)
        high = if_else((slope >= 0.0) * (t <= high), t, high)
    middle = p + 0.5 * (low + high) * u
    side = clamp(middle, -h, h)
    outside = if_else(fabs(middle) > h, 1.0, 0.0)
    e, v = outside * (p - side), outside * u
    A = dot(v, v)
    s0 = ratio(-dot(e, v), A)
    at_s0 = e + s0 * v
    m = sqrt(dot(at_s0, at_s0))
    room = A - k * k
    s = s0 + ratio(k * m, sqrt(A * fmax(room, 0.0)))
    end = if_else(k > 0.0, high, low)
    return fmin(fmax(if_else(room > 0.0, s, end), fmin(low, high)), fmax(low, high))


def way_out(taper: Taper, h: SX) -> Inside:
    """The shortest way for a hull of two balls out of a box: through a face,
    or past an edge with both balls touching.

    The plane it leaves through has a face's normal, or a normal n across an edge for which both
    balls are equally deep: n' u = k.
    """
    p, u, k = taper.p, taper.u, taper.k
    end = p + u
    best = Inside(SX(FAR), SX([0.0, 0.0, 1.0]), SX(0))
    for i, sign, outward, beside in faces(p, u, h):
        start_depth, end_depth = taper.r - sign * p[i], taper.r + k - sign * end[i]
        level = fabs(end_depth - start_depth) <= 1e-12
        at = if_else(end_depth > start_depth, 1.0, 0.0)
        at = if_else(level, clamp(clamp(at, *beside), 0.0, 1.0), at)
        best = shallower(best, Inside(h[i] + fmax(start_depth, end_depth), outward, at))
    for i in range(3):
        j, l = (i + 1) % 3, (i + 2) % 3
        uu = u[j] * u[j] + u[l] * u[l]
        size = sqrt(uu)
        along = ratio(k, size)
        rise = sqrt(fmax(1.0 - along * along, 0.0))
        d_j, d_l = ratio(u[j], size), ratio(u[l], size)
        none = (uu <= 1e-18 * (u[i] * u[i]) + NOTHING) + (fabs(along) >= 1.0)
        for sign in (1.0, -1.0):
            n_j, n_l = along * d_j - sign * rise * d_l, along * d_l + sign * rise * d_j
            depth = h[j] * fabs(n_j) + h[l] * fabs(n_l) + taper.r - p[j] * n_j - p[l] * n_l
            w_j, w_l = u[j] - k * n_j, u[l] - k * n_l
            corner_j, corner_l = if_else(n_j < 0.0, -h[j], h[j]), if_else(n_l < 0.0, -h[l], h[l])
            at = ratio((corner_j - p[j]) * w_j + (corner_l - p[l]) * w_l, w_j * w_j + w_l * w_l)
            outward = SX.zeros(3)
            outward[j], outward[l] = n_j, n_l
            best = shallower(best, Inside(if_else(none, FAR, depth), outward, clamp(at, 0.0, 1.0)))
    return best
