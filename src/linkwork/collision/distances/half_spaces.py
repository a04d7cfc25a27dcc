"""Half-spaces {x: normal' x <= offset} with what can lie on them: the lowest point decides."""

from __future__ import annotations

from collections.abc import Sequence

from casadi import SX, dot, if_else, reshape

from linkwork.collision.distances.nearest import Nearest, vector


def sphere_half_space(a: Sequence[SX], b: Sequence[SX]) -> Nearest:
    """n' c - r - offset."""
    return _above(vector(a[:3]), a[3], b)


def capsule_half_space(a: Sequence[SX], b: Sequence[SX]) -> Nearest:
    """The lower end, the first one where both are equally low."""
    start, end, n = vector(a[:3]), vector(a[3:6]), vector(b[:3])
    return _above(if_else(dot(n, end) < dot(n, start), end, start), a[6], b)


def box_half_space(a: Sequence[SX], b: Sequence[SX]) -> Nearest:
    """The lowest corner."""
    center, R, h = vector(a[:3]), reshape(vector(a[3:12]), 3, 3), vector(a[12:15])
    along = R @ vector(b[:3])  # reshape goes by columns, so this is the transpose of the rotation
    corner = if_else(along > 0.0, -h, h)
    return _above(center + R.T @ corner, SX(0), b)


def _above(core: SX, radius: SX, half_space: Sequence[SX]) -> Nearest:
    """A ball of that radius about the lowest point, above the boundary or below it."""
    n = vector(half_space[:3])
    distance = dot(n, core) - half_space[3] - radius
    point = core - radius * n
    return Nearest(distance, point, point - distance * n, -n)
