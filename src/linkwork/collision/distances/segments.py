"""Spheres and capsules with each other: distances between points and segments, less their radii."""

from __future__ import annotations

from collections.abc import Sequence

from casadi import SX, cross, dot, fmax, if_else, sqrt

from linkwork.collision.distances.nearest import (
    NOTHING,
    Nearest,
    across,
    clamp,
    ratio,
    swept,
    vector,
)


def sphere_sphere(a: Sequence[SX], b: Sequence[SX]) -> Nearest:
    """|c_b - c_a| - r_a - r_b."""
    return swept(vector(a[:3]), vector(b[:3]), a[3], b[3], SX([0.0, 0.0, 1.0]))


def sphere_capsule(a: Sequence[SX], b: Sequence[SX]) -> Nearest:
    """The point of the capsule's axis nearest to the centre, less both radii."""
    c, start, end = vector(a[:3]), vector(b[:3]), vector(b[3:6])
    u = end - start
    t = clamp(ratio(dot(c - start, u), dot(u, u)), 0.0, 1.0)
    return swept(c, start + t * u, a[3], b[6], across(u))


def capsule_capsule(a: Sequence[SX], b: Sequence[SX]) -> Nearest:
    """The nearest points of both axes, less both radii."""
    start, other_start = vector(a[:3]), vector(b[:3])
    u, v = vector(a[3:6]) - start, vector(b[3:6]) - other_start
    s, t = segment_segment(start, u, other_start, v)
    return swept(start + s * u, other_start + t * v, a[6], b[6], between(u, v))


def segment_segment(p: SX, u: SX, q: SX, v: SX) -> tuple[SX, SX]:
    """Parameters s, t in [0, 1] of the nearest points p + s u and q + t v of two segments.

        s  from the lines, cut to [0, 1];   t nearest to that s, cut;   s nearest to that t, cut

    The last step matters only where t was cut. Of parallel segments one pair of nearest points is
    given.
    Source: [Ericson2005] section 5.1.9, but s by cross products: of lines that cross at a small
    angle a determinant of dot products keeps half of the digits, and floats would miss the place
    where they cross by half a millimetre.
    """
    w = p - q
    uu, vv, uv = dot(u, u), dot(v, v), dot(u, v)
    n = cross(u, v)
    s = clamp(ratio(dot(cross(v, w), n), dot(n, n)), 0.0, 1.0)
    t = clamp(ratio(uv * s + dot(v, w), vv), 0.0, 1.0)
    return clamp(ratio(uv * t - dot(u, w), uu), 0.0, 1.0), t


def between(u: SX, v: SX) -> SX:
    """A unit vector across both directions; across one of them where they are parallel or zero."""
    n = cross(u, v)
    size = sqrt(dot(n, n))
    lengths = sqrt(dot(u, u) * dot(v, v))
    longer = if_else(dot(u, u) >= dot(v, v), u, v)
    return if_else(size > 1e-9 * lengths + NOTHING, n / fmax(size, NOTHING), across(longer))
