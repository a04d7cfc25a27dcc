"""Exact distances by coal: what has no closed form here (boxes and cylinders with each other, hulls, meshes).

coal is an extra: pip install "linkwork[collision]". A mesh is a surface; a shape wholly inside a closed one does not
touch it. Distances between two meshes, or a mesh and a hull, that overlap are those of their deepest pair of triangles.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any

import numpy as np

from linkwork.collision.fields import Cloud, HeightField
from linkwork.collision.placing import matrix_of
from linkwork.collision.shapes import Box, Capsule, Convex, Cylinder, HalfSpace, Mesh, Shape, Sphere
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
    shape: Shape, pose: Pose, other: Shape | HeightField | Cloud, other_pose: Pose
) -> tuple[float, np.ndarray, np.ndarray, np.ndarray]:
    """(distance, point, other point, normal) of two shapes at one pose (R, p) each, in world axes."""
    library = coal()
    first, T = geometry(shape)
    at = _placed(library, pose, T)
    if isinstance(other, Cloud):
        distance, point, other_point, normal = _nearest_of_cloud(library, first, at, other, ball_at(shape, pose))
    else:
        second, other_T = geometry(other)
        distance, point, other_point, normal = _asked(library, first, at, second, _placed(library, other_pose, other_T))
    margin, other_margin = getattr(shape, "margin", 0.0), getattr(other, "margin", 0.0)
    grown = margin + other_margin
    if isinstance(other, HeightField) and distance > 0.0 and other.is_below(ball_at(shape, pose)[0]):
        distance, normal = -distance, -normal  # wholly below the surface
    return distance - grown, point + margin * normal, other_point - other_margin * normal, normal


def ball_at(shape: Shape, pose: Pose) -> tuple[np.ndarray, float]:
    """(center in world axes, radius) of the ball around a shape at a pose."""
    center, radius = shape.ball()
    return pose[0] @ center + pose[1], radius


def _asked(library: Any, first: Any, at: Any, second: Any, other_at: Any) -> tuple[float, Any, Any, Any]:
    """(distance, point, other point, normal) of two geometries of coal."""
    request = library.DistanceRequest()
    request.enable_signed_distance = True
    request.gjk_tolerance = request.epa_tolerance = 1e-9
    request.gjk_max_iterations = request.epa_max_iterations = 500
    result = library.DistanceResult()
    distance = float(library.distance(first, at, second, other_at, request, result))
    point, other_point = np.ravel(result.getNearestPoint1()), np.ravel(result.getNearestPoint2())
    return distance, point, other_point, np.ravel(result.normal)


def _nearest_of_cloud(
    library: Any, first: Any, at: Any, cloud: Cloud, ball: tuple[np.ndarray, float]
) -> tuple[float, Any, Any, Any]:
    """The nearest of its points, each a ball; those that may be nearest are asked first, and no more than needed."""
    center, radius = ball
    bounds = np.linalg.norm(cloud.points - center, axis=1) - radius - cloud.radius
    point_of_cloud, best = library.Sphere(cloud.radius), None
    for k in np.argsort(bounds, kind="stable"):
        if best is not None and bounds[k] >= best[0]:
            break
        found = _asked(library, first, at, point_of_cloud, library.Transform3s(np.eye(3), cloud.points[k]))
        best = found if best is None or found[0] < best[0] else best
    assert best is not None  # a cloud has a point
    return best


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
