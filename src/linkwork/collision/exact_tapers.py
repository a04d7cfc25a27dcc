"""Tapered capsules through coal, against what has no closed form with them: cylinders, hulls,
meshes, ground.

coal knows no hull of two unequal balls, but it sweeps a hull of points by one radius. Of the balls
(p, r), (q, r + k):

    K = hull of p and q + k n_i, each n_i a unit vector;   swept by r it lies inside, and reaches as
    far along each n_i

so the distance of K bounds the wanted one from above. Along the normal n that coal finds, the hull
of the balls reaches further than K by max(n'p, n'q + k) - max over K of n'x: less that, the
distance is a bound from below. n joins the n_i until both bounds meet. Depths are bounded in the
same way.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from linkwork.collision.exact_hulls import hull_of, polytope
from linkwork.collision.fields import HeightField
from linkwork.collision.shapes import Capsule, Mesh, Sphere, TaperedCapsule

Answer = tuple[float, np.ndarray, np.ndarray, np.ndarray]
Pose = tuple[np.ndarray, np.ndarray]

# [m] bounds so near count as one; depths close in by halves, distances faster
APART = 1e-9
INSIDE = 1e-7
FEW = 30  # points that coal searches one by one; of more it must know the neighbours
ROUNDS = 150
AXES = np.concatenate((np.eye(3), -np.eye(3)))  # the first directions: flat hulls are hard for coal


class Taper:
    """The ball (small, radius) and the one at `large`, whose radius is greater by `more`;
    `points` of K. World axes."""

    def __init__(self, shape: TaperedCapsule, pose: Pose) -> None:
        R, p = pose
        ends = [
            (np.array(shape.start), shape.start_radius),
            (np.array(shape.end), shape.end_radius),
        ]
        (small, self.radius), (large, larger) = sorted(ends, key=lambda end: end[1])
        self.small, self.large, self.more = R @ small + p, R @ large + p, larger - self.radius
        self.points = np.concatenate((self.small[None], self.large + self.more * AXES))

    def behind(self, normal: np.ndarray) -> float:
        """How much further both balls reach along a direction than K."""
        reach = max(float(normal @ self.small), float(normal @ self.large) + self.more)
        return reach - float((self.points @ normal).max())

    def grow(self, normal: np.ndarray) -> None:
        """A direction more."""
        self.points = np.concatenate((self.points, (self.large + self.more * normal)[None]))

    def from_points(self, points: np.ndarray) -> np.ndarray:
        """Distances (n,) of points, negative inside; as in distances/tapered.py."""
        u, w, k = self.large - self.small, points - self.small, self.more
        uu = float(u @ u)
        foot = w @ u / uu
        beside = np.linalg.norm(w - foot[:, None] * u, axis=1)
        s = np.clip(foot + k * beside / np.sqrt(uu * (uu - k * k)), 0.0, 1.0)
        return np.linalg.norm(w - s[:, None] * u, axis=1) - self.radius - s * k


def swept(library: Any, points: np.ndarray, radius: float = 0.0) -> Any:
    """The hull of points, swept by a radius. Of few points the triangles name them;
    which ones does not matter."""
    made = hull_of(library, points) if len(points) > FEW else None
    if made is None:
        after = np.arange(len(points) - 1)
        made = polytope(library, points, np.stack([0 * after, after, after + 1], axis=1))
    made.setSweptSphereRadius(radius)
    return made


def simple(shape: Any) -> Any:
    """A shape, but a hull of two balls as the sphere or capsule where it is one."""
    if not isinstance(shape, TaperedCapsule):
        return shape
    start, end = np.array(shape.start), np.array(shape.end)
    if np.linalg.norm(end - start) <= abs(shape.end_radius - shape.start_radius):
        first = shape.start_radius >= shape.end_radius
        return (
            Sphere(shape.start, shape.start_radius)
            if first
            else Sphere(shape.end, shape.end_radius)
        )
    return (
        Capsule(shape.start, shape.end, shape.start_radius)
        if shape.start_radius == shape.end_radius
        else shape
    )


def nearest(library: Any, taper: Taper, search: Callable[[Any], Answer]) -> Answer:
    """(distance, point, other point, normal) of a hull of two balls;
    `search` asks coal about a solid in world axes.

    What is asked about is convex. Should coal go astray, below what is proved already, the proved
    distance counts.
    """
    proved: Answer = (-np.inf, np.zeros(3), np.zeros(3), np.zeros(3))
    for _ in range(ROUNDS):
        distance, point, other_point, normal = search(swept(library, taper.points, taper.radius))
        behind = taper.behind(normal)
        if distance - behind > proved[0]:
            proved = (distance - behind, point + behind * normal, other_point, normal)
        if behind <= (APART if distance > 0.0 else INSIDE):
            break
        taper.grow(normal)
    return proved


def nearest_triangle(
    library: Any,
    shape: TaperedCapsule,
    pose: Pose,
    triangles: np.ndarray,
    search: Callable[[Any, Any], Answer],
) -> Answer:
    """The nearest of triangles (m, 3, 3) in world axes: those that may be nearest first,
    and no more than needed.

    `search(triangle, solid)` asks coal how far a solid is from a triangle.
    """
    middles = triangles.mean(axis=1)
    radii = np.linalg.norm(triangles - middles[:, None], axis=2).max(axis=1)
    bounds = Taper(shape, pose).from_points(middles) - radii
    best = None
    for k in np.argsort(bounds, kind="stable"):
        if best is not None and bounds[k] >= best[0]:
            break
        answer = nearest(
            library, Taper(shape, pose), functools.partial(search, swept(library, triangles[k]))
        )
        best = answer if best is None or answer[0] < best[0] else best
    assert best is not None  # a mesh has a triangle
    return best


@functools.lru_cache(maxsize=64)
def corners_of(surface: Mesh | HeightField) -> np.ndarray:
    """Triangles (m, 3, 3) of a mesh in axes of its pose, or of ground with its walls."""
    vertices, faces = (
        surface.solid() if isinstance(surface, HeightField) else (surface.vertices, surface.faces)
    )
    return vertices[faces]
