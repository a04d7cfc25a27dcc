"""Hulls for coal, from the triangles of scipy's Qhull:
the one inside coal ends the process where points are flat."""

from __future__ import annotations

from typing import Any

import numpy as np


def hull_of(library: Any, points: np.ndarray) -> Any | None:
    """A convex polytope around points (n, 3); None where they lie in one plane, to rounding."""
    from scipy.spatial import ConvexHull, QhullError

    try:
        hull = ConvexHull(points)
    except (QhullError, ValueError):
        return None
    place = np.zeros(len(points), dtype=np.int64)
    place[hull.vertices] = np.arange(len(hull.vertices))
    a, b, c = (points[hull.simplices[:, k]] for k in range(3))
    inwards = np.einsum("ij,ij->i", np.cross(b - a, c - a), hull.equations[:, :3]) < 0.0
    faces = np.where(inwards[:, None], hull.simplices[:, ::-1], hull.simplices)
    return polytope(library, points[hull.vertices], place[faces])


def polytope(library: Any, points: np.ndarray, faces: np.ndarray) -> Any:
    """Points (n, 3) and the triangles (m, 3) between them as coal's convex shape."""
    corners, triangles = library.StdVec_Vec3s(), library.StdVec_Triangle()
    for point in points:
        corners.append(point)
    for i, j, k in faces.tolist():
        triangles.append(library.Triangle(i, j, k))
    return library.Convex(corners, triangles)
