"""Exact distances by coal: what has no closed form here (boxes and cylinders with each other, hulls, meshes).

coal is an extra: pip install "linkwork[collision]". A mesh is a surface; a shape wholly inside a closed one does not
touch it. Distances between two meshes, or a mesh and a hull, that overlap are those of their deepest pair of triangles.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any

import numpy as np

from linkwork.collision.fields import HeightField
from linkwork.collision.shapes import Box, Capsule, Convex, Cylinder, HalfSpace, Mesh, Shape, Sphere, matrix_of
from linkwork.errors import NotPossible
from linkwork.model.placement import Placement
from linkwork.model.rotation import along

Pose = tuple[np.ndarray, np.ndarray]


def coal() -> Any:
    """The library, or how to get it."""
    try:
        import coal
    except ImportError:
        raise NotPossible(
            'boxes, cylinders, convex shapes and meshes with each other need coal: pip install "linkwork[collision]"; '
            'shapes="spheres" or "capsules" needs nothing'
        ) from None
    return coal


@functools.lru_cache(maxsize=4096)
def geometry(shape: Shape | HeightField) -> tuple[Any, np.ndarray]:
    """(coal's geometry, T_body_geometry (4, 4)) of a shape; its name does not matter."""
    library = coal()
    match shape:
        case Sphere():
            return library.Sphere(shape.radius), matrix_of(Placement(position=shape.center))
        case Capsule():
            T = np.eye(4)
            start, end = np.array(shape.start), np.array(shape.end)
            T[:3, :3], T[:3, 3] = axes_along(end - start), 0.5 * (start + end)
            return library.Capsule(shape.radius, float(np.linalg.norm(end - start))), T
        case Box():
            return library.Box(*shape.size), matrix_of(shape.pose)
        case Cylinder():
            return library.Cylinder(shape.radius, shape.length), matrix_of(shape.pose)
        case HalfSpace():
            return library.Halfspace(np.array(shape.normal), shape.offset), np.eye(4)
        case Convex():
            return _hull(library, shape), matrix_of(shape.pose)
        case Mesh():
            return _surface(library, shape.vertices, shape.faces), matrix_of(shape.pose)
        case HeightField():
            return _surface(library, *shape.solid()), np.eye(4)
    raise NotPossible(
        f"a {shape.kind.replace('_', ' ')} against boxes of cylinders, hulls or meshes is not computed; "
        "use a capsule, or spheres fitted to the mesh"
    )


def distances(shapes: Sequence[Shape], pose: Pose, others: Sequence[Shape], other: Pose) -> np.ndarray:
    """The smallest signed distance (n,) between shapes of two parts at n poses each."""
    least = np.full(len(pose[1]), np.inf)
    for shape in shapes:
        for theirs in others:
            for k in range(len(least)):
                found = nearest(shape, (pose[0][k], pose[1][k]), theirs, (other[0][k], other[1][k]))
                least[k] = min(least[k], found[0])
    return least


def nearest(
    shape: Shape, pose: Pose, other: Shape | HeightField, other_pose: Pose
) -> tuple[float, np.ndarray, np.ndarray, np.ndarray]:
    """(distance, point, other point, normal) of two shapes at one pose (R, p) each, in world axes."""
    library = coal()
    first, T = geometry(shape)
    second, other_T = geometry(other)
    request = library.DistanceRequest()
    request.enable_signed_distance = True
    request.gjk_tolerance = request.epa_tolerance = 1e-9
    request.gjk_max_iterations = request.epa_max_iterations = 500
    result = library.DistanceResult()
    at, other_at = _placed(library, pose, T), _placed(library, other_pose, other_T)
    distance = library.distance(first, at, second, other_at, request, result)
    point, other_point = np.ravel(result.getNearestPoint1()), np.ravel(result.getNearestPoint2())
    normal = np.ravel(result.normal)
    margin, other_margin = getattr(shape, "margin", 0.0), getattr(other, "margin", 0.0)
    grown = margin + other_margin
    if isinstance(other, HeightField) and distance > 0.0 and other.is_below(pose[0] @ shape.ball()[0] + pose[1]):
        distance, normal = -distance, -normal  # wholly below the surface
    return float(distance) - grown, point + margin * normal, other_point - other_margin * normal, normal


def _placed(library: Any, pose: Pose, T: np.ndarray) -> Any:
    return library.Transform3s(pose[0] @ T[:3, :3], pose[0] @ T[:3, 3] + pose[1])


def _hull(library: Any, shape: Convex) -> Any:
    """A convex polytope; points in one plane or fewer than four have no hull with an inside."""
    points = library.StdVec_Vec3s()
    for point in shape.vertices:
        points.append(point)
    try:
        return library.Convex.convexHull(points, True, "Qt")
    except Exception as error:  # qhull says many things
        raise NotPossible(f"Convex: these points have no hull with an inside ({str(error).splitlines()[0]})") from None


def _surface(library: Any, vertices: np.ndarray, faces: np.ndarray) -> Any:
    made = library.BVHModelOBBRSS()
    made.beginModel(len(faces), len(vertices))
    made.addVertices(np.ascontiguousarray(vertices))
    made.addTriangles(np.ascontiguousarray(faces))
    made.endModel()
    return made


def axes_along(u: np.ndarray) -> np.ndarray:
    """A rotation whose z axis points along u."""
    x, y, z = u.tolist()
    return np.array(along((x, y, z)))
