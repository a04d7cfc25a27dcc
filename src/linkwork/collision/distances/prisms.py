"""Prisms of ground with points: everything on and below a triangle, without end downward.

Ground between grid points is such prisms side by side, so the distance from it is the least of
theirs: outside the walls between neighbours are never nearest. Inside, the depth is measured
towards the triangle above the point.
"""

from __future__ import annotations

from collections.abc import Sequence

from casadi import SX, cross, dot, fmax, fmin, if_else, sqrt, vertcat

from linkwork.collision.distances.nearest import TOUCHING, Nearest, clamp, ratio, vector

FAR = 1e30


def squared_distance(p: SX, columns: Sequence[SX]) -> SX:
    """The squared distance of a point from the prism, zero inside;
    half the operations of `nearest_point`."""
    corners = [vector(columns[3 * k : 3 * k + 3]) for k in range(3)]
    edges = [corners[(k + 1) % 3] - corners[k] for k in range(3)]
    ways = [p - corner for corner in corners]
    up = cross(edges[0], -edges[2])
    height = dot(up, ways[0])
    within, below, squared = SX(1), SX(1), SX(FAR)
    for edge, way in zip(edges, ways, strict=True):
        within = within * (dot(cross(up, edge), way) >= 0.0)
        below = below * (edge[0] * way[1] - edge[1] * way[0] >= 0.0)
        # the edge itself, and the wall below it, which is nearer where the point lies beside it
        level, flat = edge[0] * way[0] + edge[1] * way[1], edge[0] * edge[0] + edge[1] * edge[1]
        t = clamp(ratio(level + edge[2] * way[2], flat + edge[2] * edge[2]), 0.0, 1.0)
        s = clamp(ratio(level, flat), 0.0, 1.0)
        beside = way[2] <= s * edge[2]
        t = if_else(beside, s, t)
        x, y, z = (way[i] - t * edge[i] for i in range(3))
        squared = fmin(squared, x * x + y * y + if_else(beside, 0.0, z * z))
    squared = if_else(within * (height >= 0.0), height * height / fmax(dot(up, up), 1e-30), squared)
    return if_else(below * (height <= 0.0), 0.0, squared)


def nearest_point(p: SX, columns: Sequence[SX]) -> tuple[SX, SX, SX]:
    """(squared distance of a point from the prism, 0 inside; nearest point; top's normal)."""
    corners = [vector(columns[3 * k : 3 * k + 3]) for k in range(3)]
    up = cross(corners[1] - corners[0], corners[2] - corners[0])
    normal = up / fmax(sqrt(dot(up, up)), 1e-30)
    # the foot of the point on the plane of the top, if it is within the triangle
    height = dot(normal, p - corners[0])
    foot = p - height * normal
    within, below = SX(1), SX(1)
    squared, nearest = SX(FAR), p
    for k in range(3):
        start, end = corners[k], corners[(k + 1) % 3]
        edge, way = end - start, p - start
        within = within * (dot(cross(up, edge), way) >= 0.0)
        below = below * (edge[0] * way[1] - edge[1] * way[0] >= 0.0)
        # the edge itself, and the wall below it
        t = clamp(ratio(dot(way, edge), dot(edge, edge)), 0.0, 1.0)
        on_edge = start + t * edge
        s = clamp(
            ratio(way[0] * edge[0] + way[1] * edge[1], edge[0] * edge[0] + edge[1] * edge[1]),
            0.0,
            1.0,
        )
        on_wall = start + s * edge
        beside = p[2] <= on_wall[2]
        place = if_else(beside, vertcat(on_wall[0], on_wall[1], p[2]), on_edge)
        rest = p - place
        size = dot(rest, rest)
        nearer = size < squared
        squared, nearest = if_else(nearer, size, squared), if_else(nearer, place, nearest)
    on_top = within * (height >= 0.0)
    squared, nearest = if_else(on_top, height * height, squared), if_else(on_top, foot, nearest)
    inside = below * (height <= 0.0)
    return if_else(inside, 0.0, squared), if_else(inside, foot, nearest), normal


def sphere_prism(a: Sequence[SX], b: Sequence[SX]) -> Nearest:
    """The centre's distance from the prism, less the radius;
    from inside the way up to the plane of its top."""
    p, radius = vector(a[:3]), a[3]
    squared, place, up = nearest_point(p, b)
    length = sqrt(squared)
    apart = length > TOUCHING
    depth = fmax(dot(up, place - p), 0.0)
    normal = if_else(apart, (place - p) / fmax(length, TOUCHING), -up)
    distance = if_else(apart, length, -depth)
    return Nearest(
        distance - radius, p + radius * normal, if_else(apart, place, p + depth * up), normal
    )
