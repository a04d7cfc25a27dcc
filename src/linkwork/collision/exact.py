"""Exact distances by coal: what has no closed form here (boxes and cylinders with each other,
hulls, meshes).

coal is an extra: pip install "linkwork[collision]". A mesh is a surface; a shape wholly inside a
closed one does not touch it. Distances between two meshes, or a mesh and a hull, that overlap are
those of their deepest pair of triangles (exact_surfaces.py). Tapered capsules, which coal does not
know, are asked in steps (exact_tapers.py).
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any

import casadi
import numpy as np

from linkwork.collision import exact_depths, exact_hulls, exact_surfaces, exact_tapers
from linkwork.collision.distances import nearest as closed_form
from linkwork.collision.exact_tapers import Answer, Pose, Taper
from linkwork.collision.fields import Cloud, HeightField
from linkwork.collision.placing import matrix_of
from linkwork.collision.shapes import (
    Box,
    Capsule,
    Convex,
    Cylinder,
    HalfSpace,
    Mesh,
    Shape,
    Sphere,
    TaperedCapsule,
)
from linkwork.errors import NotPossible
from linkwork.model.placement import Placement
from linkwork.model.rotation import along

FINE, COARSER = 1e-9, (1e-8, 1e-7, 1e-6)  # [m] what distances of coal may be wrong by
MOST_SOLIDS = 1024
_SOLIDS: dict[tuple[type, bytes], Any] = {}
"""Hulls and meshes of coal by their content: where they are does not matter."""


def coal() -> Any:
    """The library, or how to get it."""
    try:
        import coal
    except ImportError:
        raise NotPossible(
            "boxes, cylinders, convex shapes and meshes with each other need coal: pip install "
            '"linkwork[collision]"; '
            'shapes="spheres" or "capsules" needs nothing'
        ) from None
    return coal


def geometry(shape: Shape | HeightField) -> tuple[Any, np.ndarray]:
    """(coal's geometry, T_body_geometry (4, 4)) of a shape; of hulls, meshes one for all."""
    if not isinstance(shape, (Convex, Mesh)):
        return _geometry(shape)
    key = (type(shape), shape.content())
    made = _SOLIDS.get(key)
    if made is None:
        if len(_SOLIDS) >= MOST_SOLIDS:
            _SOLIDS.pop(next(iter(_SOLIDS)))  # the oldest
        library = coal()
        made = (
            _hull(library, shape)
            if isinstance(shape, Convex)
            else _surface(library, shape.vertices, shape.faces)
        )
        _SOLIDS[key] = made
    return made, matrix_of(shape.pose)


@functools.lru_cache(maxsize=4096)
def _geometry(shape: Shape | HeightField) -> tuple[Any, np.ndarray]:
    """The same of shapes that are a few numbers, and of ground."""
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
        case HeightField():
            return _surface(library, *shape.solid()), np.eye(4)
    raise AssertionError(shape.kind)


def distances(
    shapes: Sequence[Shape], pose: Pose, others: Sequence[Shape], other: Pose
) -> np.ndarray:
    """The smallest signed distance (n,) between shapes of two parts at n poses each."""
    least = np.full(len(pose[1]), np.inf)
    for shape in shapes:
        for theirs in others:
            for k in range(len(least)):
                distance = nearest(
                    shape, (pose[0][k], pose[1][k]), theirs, (other[0][k], other[1][k])
                )[0]
                least[k] = min(least[k], distance)
    return least


def nearest(
    shape: Shape, pose: Pose, other: Shape | HeightField | Cloud, other_pose: Pose
) -> Answer:
    """(distance, point, other point, normal) of two shapes at poses (R, p), world axes."""
    if isinstance(other, TaperedCapsule) and not isinstance(shape, TaperedCapsule):
        distance, other_point, point, normal = nearest(other, other_pose, shape, pose)
        return distance, point, other_point, -normal
    return _grown(shape, pose, other, _of_cores(shape, pose, other, other_pose))


def touch(shape: Shape, pose: Pose, other: Shape | HeightField | Cloud, other_pose: Pose) -> bool:
    """Whether two shapes touch: what `nearest` says, quicker for two surfaces."""
    if isinstance(shape, Mesh) and isinstance(other, (Mesh, HeightField)):
        if shape.margin == 0.0 and getattr(other, "margin", 0.0) == 0.0:
            library = coal()
            (first, T), (second, other_T) = geometry(shape), geometry(other)
            at, other_at = _placed(library, pose, T), _placed(library, other_pose, other_T)
            if exact_surfaces.cross(library, first, at, second, other_at):
                return True
            return isinstance(other, HeightField) and other.is_below(ball_at(shape, pose)[0])
    return nearest(shape, pose, other, other_pose)[0] < 0.0


def _grown(shape: Shape, pose: Pose, other: Shape | HeightField | Cloud, answer: Answer) -> Answer:
    """With the margins of both; what lies wholly below ground is inside."""
    distance, point, other_point, normal = answer
    margin, other_margin = getattr(shape, "margin", 0.0), getattr(other, "margin", 0.0)
    if (
        isinstance(other, HeightField)
        and distance > 0.0
        and other.is_below(ball_at(shape, pose)[0])
    ):
        distance, normal = -distance, -normal
    return (
        distance - margin - other_margin,
        point + margin * normal,
        other_point - other_margin * normal,
        normal,
    )


def _of_cores(
    shape: Shape, pose: Pose, other: Shape | HeightField | Cloud, other_pose: Pose
) -> Answer:
    """The answer without margins."""
    library = coal()
    shape = exact_tapers.simple(shape)
    if isinstance(shape, TaperedCapsule):
        return _of_taper(library, shape, pose, other, other_pose)
    if isinstance(shape, Sphere) and isinstance(other, Cylinder):
        return _in_closed_form(shape.moved(_placement(pose)), other.moved(_placement(other_pose)))
    first, T = geometry(shape)
    at = _placed(library, pose, T)
    if isinstance(other, Cloud):
        return _nearest_of_cloud(library, first, at, other, ball_at(shape, pose))
    second, other_T = geometry(other)
    return _asked(library, first, at, second, _placed(library, other_pose, other_T))


def _of_taper(
    library: Any, shape: TaperedCapsule, pose: Pose, other: Any, other_pose: Pose
) -> Answer:
    """A tapered capsule against a convex shape, or each near triangle of a surface."""
    here = library.Transform3s()
    if isinstance(other, (Mesh, HeightField)):
        R, p = (
            _composed(other_pose, matrix_of(other.pose)) if isinstance(other, Mesh) else other_pose
        )
        triangles = exact_tapers.corners_of(other) @ R.T + p
        between = lambda triangle, solid: _asked(library, solid, here, triangle, here)
        return exact_tapers.nearest_triangle(library, shape, pose, triangles, between)
    second, T = geometry(other)
    at = _placed(library, other_pose, T)
    return exact_tapers.nearest(
        library, Taper(shape, pose), lambda solid: _asked(library, solid, here, second, at)
    )


def _in_closed_form(shape: Any, other: Any) -> Answer:
    """The answer of distances/ for two shapes in world axes:
    coal loses the way out of a cylinder from a point."""
    mine, theirs = ([casadi.SX(x) for x in solid.numbers()] for solid in (shape, other))
    symbolic = closed_form(shape.kind, mine, other.kind, theirs)
    point, other_point, normal = (np.array(casadi.DM(x)).ravel() for x in symbolic[1:])
    return float(casadi.DM(symbolic.distance)), point, other_point, normal


def _placement(pose: Pose) -> Placement:
    rows = tuple(tuple(row) for row in pose[0].tolist())
    return Placement(rows, tuple(pose[1].tolist()))  # type: ignore[arg-type]


def ball_at(shape: Shape, pose: Pose) -> tuple[np.ndarray, float]:
    """(center in world axes, radius) of the ball around a shape at a pose."""
    center, radius = shape.ball()
    return pose[0] @ center + pose[1], radius


def _asked(library: Any, first: Any, at: Any, second: Any, other_at: Any) -> Answer:
    """(distance, point, other point, normal) of two geometries of coal.

    Its search for the depth of round sides goes astray at times, the more often the finer it is
    asked to be: of 3000 pairs of cylinders 17 had no answer at 1e-9 m, and as many one far too
    deep. No depth is too shallow by more than was asked for, so of several searches the finest one
    counts that is not deeper than the others.
    """
    answer = _searched(library, first, at, second, other_at, FINE)
    if all(isinstance(solid, library.BVHModelOBBRSS) for solid in (first, second)):
        return exact_surfaces.completed(library, first, at, second, other_at, answer)
    if not any(isinstance(solid, library.Cylinder) for solid in (first, second)):
        return answer
    if answer[0] >= 0.0:
        return exact_depths.improved(library, first, at, second, other_at, answer)
    answers = [answer, *(_searched(library, first, at, second, other_at, fine) for fine in COARSER)]
    least_deep = max(answer[0] for answer in answers)
    chosen = next(answer for answer in answers if answer[0] >= least_deep - 5.0 * COARSER[-1])
    return exact_depths.improved(library, first, at, second, other_at, chosen)


def _searched(library: Any, first: Any, at: Any, second: Any, other_at: Any, fine: float) -> Answer:
    """One search of coal; `fine` [m] bounds what a depth may be wrong by."""
    request = library.DistanceRequest()
    request.enable_signed_distance = True
    request.gjk_tolerance, request.epa_tolerance = FINE, fine
    request.gjk_max_iterations = request.epa_max_iterations = 500
    result = library.DistanceResult()
    distance = float(library.distance(first, at, second, other_at, request, result))
    point, other_point = np.ravel(result.getNearestPoint1()), np.ravel(result.getNearestPoint2())
    return distance, point, other_point, np.ravel(result.normal)


def _nearest_of_cloud(
    library: Any, first: Any, at: Any, cloud: Cloud, ball: tuple[np.ndarray, float]
) -> Answer:
    """The nearest of its points, each a ball; those that may be nearest are asked first,
    and no more than needed."""
    center, radius = ball
    bounds = np.linalg.norm(cloud.points - center, axis=1) - radius - cloud.radius
    point_of_cloud, best = library.Sphere(cloud.radius), None
    for k in np.argsort(bounds, kind="stable"):
        if best is not None and bounds[k] >= best[0]:
            break
        answer = _asked(
            library, first, at, point_of_cloud, library.Transform3s(np.eye(3), cloud.points[k])
        )
        best = answer if best is None or answer[0] < best[0] else best
    assert best is not None  # a cloud has a point
    return best


def _placed(library: Any, pose: Pose, T: np.ndarray) -> Any:
    return library.Transform3s(*_composed(pose, T))


def _composed(pose: Pose, T: np.ndarray) -> Pose:
    """Where T (4, 4), in axes of a pose, is."""
    return pose[0] @ T[:3, :3], pose[0] @ T[:3, 3] + pose[1]


def _hull(library: Any, shape: Convex) -> Any:
    """A convex polytope; points in one plane or fewer than four have no hull with an inside."""
    hull = exact_hulls.hull_of(library, shape.vertices)
    if hull is None:
        raise NotPossible(
            f"Convex: {len(shape.vertices)} points in one plane have no hull with an inside, "
            "expected four that are in none; a sheet is a Mesh"
        )
    return hull


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
