"""Boxes with spheres and capsules: a point or a segment against a box, in axes of the box."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import casadi
from casadi import SX, dot, fabs, fmax, fmin, if_else, sqrt

from linkwork.collision.distances.nearest import NOTHING, TOUCHING, Nearest, clamp, ratio, vector

FAR = 1e30
CLEARLY = 1.0 - 1e-6  # of a squared distance: less than rounding decides nothing


class BoxAxes(NamedTuple):
    """A box: its centre, R_world_box and half sizes."""

    center: SX
    rotation: SX
    half: SX

    @classmethod
    def of(cls, columns: Sequence[SX]) -> BoxAxes:
        """From the 15 columns; CasADi reshapes by columns, the rotation comes by rows."""
        return cls(
            vector(columns[:3]),
            casadi.reshape(vector(columns[3:12]), 3, 3).T,
            vector(columns[12:15]),
        )

    def local(self, point: SX) -> SX:
        """A point of the world in axes of the box."""
        return self.rotation.T @ (point - self.center)

    def result(self, distance: SX, core: SX, other: SX, normal: SX, radius: SX) -> Nearest:
        """From axes of the box to the world; the first shape is the core grown by the radius."""
        point = self.center + self.rotation @ (core + radius * normal)
        return Nearest(
            distance - radius, point, self.center + self.rotation @ other, self.rotation @ normal
        )


def sphere_box(a: Sequence[SX], b: Sequence[SX]) -> Nearest:
    """The centre's distance to the box, less the radius;
    from inside the way out through the nearest face."""
    box = BoxAxes.of(b)
    p, h = box.local(vector(a[:3])), box.half
    outside = clamp(p, -h, h)
    way = outside - p
    length = sqrt(dot(way, way))
    # inside: the face of the least depth, the first one of equals
    depth = h - fabs(p)
    x_first = (depth[0] <= depth[1]) * (depth[0] <= depth[2])
    y_first = depth[1] <= depth[2]
    axis = if_else(x_first, SX([1.0, 0, 0]), if_else(y_first, SX([0, 1.0, 0]), SX([0, 0, 1.0])))
    least = fmin(fmin(depth[0], depth[1]), depth[2])
    outward = casadi.densify(axis) * if_else(p < 0.0, -1.0, 1.0)
    apart = length > 0.0
    normal = if_else(apart, way / fmax(length, NOTHING), -outward)
    other = if_else(apart, outside, p + least * outward)
    return box.result(if_else(apart, length, -least), p, other, normal, a[3])


def capsule_box(a: Sequence[SX], b: Sequence[SX]) -> Nearest:
    """The axis of the capsule against the box, less the radius;
    from inside the least of six separating axes."""
    box = BoxAxes.of(b)
    p = box.local(vector(a[:3]))
    u = box.local(vector(a[3:6])) - p
    t = segment_box(p, u, box.half)
    core = p + t * u
    outside = clamp(core, -box.half, box.half)
    way = outside - core
    length = sqrt(dot(way, way))
    apart = length > TOUCHING
    inside = segment_in_box(p, u, box.half)
    deep_core = p + inside.at * u
    return box.result(
        if_else(apart, length, -inside.depth),
        if_else(apart, core, deep_core),
        if_else(apart, outside, deep_core + inside.depth * inside.outward),
        if_else(apart, way / fmax(length, TOUCHING), -inside.outward),
        a[6],
    )


def segment_box(p: SX, u: SX, h: SX) -> SX:
    """The parameter t in [0, 1] at which p + t u is nearest to the box of half sizes h about the
    origin.

        f(t) = sum_i max(|p_i + t u_i| - h_i, 0)^2,      f'(t) / 2 = sum_i u_i (x_i - clamp(x_i, -h_i, h_i))

    f is convex, f' rises along straight pieces with breaks where x_i = +-h_i. Between the last
    break with f' <= 0 and the first with f' >= 0 it is one straight line. Where it is zero on a
    stretch, the middle of it is given. Along a face the slope is hardly more than rounding: a break
    that is nearer than what it leads to is taken instead.
    """
    steps = if_else(fabs(u) > NOTHING, u, NOTHING)
    breaks = [SX(0), SX(1)]
    for sign in (-1.0, 1.0):
        breaks += casadi.vertsplit(clamp((sign * h - p) / steps, 0.0, 1.0))
    low, slope_low = SX(0), SX(-FAR)
    high, slope_high = SX(1), SX(FAR)
    for t in breaks:
        x = p + t * u
        slope = dot(u, x - clamp(x, -h, h))
        later, sooner = (slope <= 0.0) * (t >= low), (slope >= 0.0) * (t <= high)
        low, slope_low = if_else(later, t, low), if_else(later, slope, slope_low)
        high, slope_high = if_else(sooner, t, high), if_else(sooner, slope, slope_high)
    share = ratio(-slope_low, slope_high - slope_low)
    on_a_stretch = high <= low
    t = clamp(if_else(on_a_stretch, 0.5 * (low + high), low + share * (high - low)), 0.0, 1.0)
    squared = _squared(p + t * u, h)
    for at_break in (low, high):
        other = _squared(p + at_break * u, h)
        nearer = other < CLEARLY * squared
        t, squared = if_else(nearer, at_break, t), if_else(nearer, other, squared)
    return t


def _squared(x: SX, h: SX) -> SX:
    """The squared distance of a point from the box of half sizes h about the origin."""
    way = x - clamp(x, -h, h)
    return dot(way, way)


class Inside(NamedTuple):
    """How a segment that meets a box leaves it: by `depth` along `outward`;
    `at` is where it is deepest."""

    depth: SX
    outward: SX
    at: SX


def faces(p: SX, u: SX, h: SX) -> Iterator[tuple[int, float, SX, tuple[SX, SX]]]:
    """(axis, side, outward normal, where p + t u enters and leaves the face's shadow) of the six
    faces of a box."""
    steps = if_else(fabs(u) > NOTHING, u, NOTHING)
    wide = h + 1e-9  # what runs along a face of the box by rounding alone is beside it
    first, second = (-wide - p) / steps, (wide - p) / steps
    enter, leave = fmin(first, second), fmax(first, second)
    for i in range(3):
        j, k = (i + 1) % 3, (i + 2) % 3
        beside = (fmax(enter[j], enter[k]), fmin(leave[j], leave[k]))
        for side in (1.0, -1.0):
            outward = SX.zeros(3)
            outward[i] = side
            yield i, side, outward, beside


def segment_in_box(p: SX, u: SX, h: SX) -> Inside:
    """The shortest way for p + t u, t in [0, 1], out of the box:
    least overlap along the faces of their difference.

    Box and segment differ by a body with the box's three face normals and the three cross products
    of its edges with u. Along a face normal the end that lies deepest decides, cut to where the
    segment is beside the face; along a cross product the place where the segment passes the edge.
    """
    end = p + u
    best = Inside(SX(FAR), SX([0.0, 0.0, 1.0]), SX(0))
    for i, sign, outward, beside in faces(p, u, h):
        low = fmin(sign * p[i], sign * end[i])
        at_end = clamp(if_else(sign * u[i] < 0.0, 1.0, 0.0), *beside)
        best = shallower(best, Inside(h[i] - low, outward, clamp(at_end, 0.0, 1.0)))
    for i in range(3):
        j, k = (i + 1) % 3, (i + 2) % 3
        uu = u[j] * u[j] + u[k] * u[k]
        size = sqrt(uu)
        n_j, n_k = ratio(-u[k], size), ratio(u[j], size)
        beside_line = n_j * p[j] + n_k * p[k]
        side = if_else(beside_line < 0.0, -1.0, 1.0)
        n_j, n_k = side * n_j, side * n_k
        depth = h[j] * fabs(n_j) + h[k] * fabs(n_k) - fabs(beside_line)
        corner_j, corner_k = if_else(n_j < 0.0, -h[j], h[j]), if_else(n_k < 0.0, -h[k], h[k])
        at = clamp(ratio((corner_j - p[j]) * u[j] + (corner_k - p[k]) * u[k], uu), 0.0, 1.0)
        outward = SX.zeros(3)
        outward[j], outward[k] = n_j, n_k
        along_the_edge = uu <= 1e-18 * (u[i] * u[i]) + NOTHING
        best = shallower(best, Inside(if_else(along_the_edge, FAR, depth), outward, at))
    return best


def shallower(best: Inside, other: Inside) -> Inside:
    """The shallower one; the first of equals."""
    better = other.depth < best.depth
    return Inside(
        if_else(better, other.depth, best.depth),
        if_else(better, other.outward, best.outward),
        if_else(better, other.at, best.at),
    )
