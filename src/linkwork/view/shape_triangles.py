"""Shapes of collisions as triangles, and their colours."""

from __future__ import annotations

from typing import Any

import numpy as np

from linkwork.collision import Box, Capsule, Convex, Mesh, Sphere, TaperedCapsule
from linkwork.collision.exact import axes_along
from linkwork.collision.placing import matrix_of
from linkwork.view import triangles

FREE, TOUCHING, OBSTACLE = (90, 160, 90), (226, 44, 58), (190, 150, 90)
ENDLESS = {"half_space", "cloud", "height_field"}
"""Kinds of obstacles that are no solids: a picture leaves them out."""


def drawn(shape: Any) -> tuple[np.ndarray, np.ndarray]:
    """(vertices, faces) of a shape in the axes in which it is placed."""
    match shape:
        case Sphere():
            made = triangles.ball(shape.radius)
        case Capsule():
            made = triangles.capsule(
                shape.radius, float(np.linalg.norm(np.subtract(shape.end, shape.start)))
            )
        case Box():
            made = triangles.box(np.array(shape.size))
        case TaperedCapsule():
            return _hull(
                np.concatenate(
                    [_ball(shape.start, shape.start_radius), _ball(shape.end, shape.end_radius)]
                )
            )
        case Convex():
            T = matrix_of(shape.pose)
            return _hull(shape.vertices @ T[:3, :3].T + T[:3, 3])
        case Mesh():
            made = shape.vertices, shape.faces
        case _:
            made = triangles.cylinder(shape.radius, shape.length)
    T = pose_of(shape)
    vertices, faces = triangles.moved(made, T[:3, :3], T[:3, 3])
    return np.asarray(vertices, dtype=np.float32), np.asarray(faces)


def _ball(center: Any, radius: float) -> np.ndarray:
    return triangles.ball(radius)[0] + np.array(center)


def _hull(points: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Triangles around points, each seen from outside against the clock."""
    from scipy.spatial import ConvexHull

    hull = ConvexHull(points)
    corners = points[hull.simplices]
    across = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    inward = np.einsum("fi,fi->f", across, hull.equations[:, :3]) < 0.0
    faces = np.where(inward[:, None], hull.simplices[:, ::-1], hull.simplices)
    return np.asarray(points, dtype=np.float32), faces


def pose_of(shape: Any) -> np.ndarray:
    """Where the own axes of a shape are (4, 4): centre of a sphere,
    middle of a capsule with z along it."""
    T = np.eye(4)
    match shape:
        case Sphere():
            T[:3, 3] = shape.center
        case Capsule() | TaperedCapsule():
            start, end = np.array(shape.start), np.array(shape.end)
            T[:3, :3], T[:3, 3] = axes_along(end - start), 0.5 * (start + end)
        case _:
            T = matrix_of(shape.pose)
    return T
