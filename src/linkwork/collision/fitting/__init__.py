"""Fitting: spheres, capsules and hulls around described shapes, with the cover proved."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from linkwork.collision.fitting.capsules import capsule_around, several_capsules, tapered_around
from linkwork.collision.fitting.spheres import checked_tolerance, covering_balls
from linkwork.collision.fitting.surface import Surface, triangles
from linkwork.collision.report import Report, Row
from linkwork.collision.shapes import (
    SHAPES,
    Capsule,
    Convex,
    HalfSpace,
    Mesh,
    Shape,
    Sphere,
    TaperedCapsule,
)
from linkwork.deadlines import counted, limited
from linkwork.errors import InvalidInput

__all__ = ["fit_capsules", "fit_spheres", "fit_tapered_capsule", "fitted"]

log = logging.getLogger("linkwork")

MOST_CAPSULES = 200
"""Around one mesh: every one is a search of its own, some hundredths of a second."""


@limited
def fit_spheres(
    mesh: Shape, tolerance: float = 0.02, *, time_limit: float | None = None
) -> tuple[Sphere, ...]:
    """Spheres that cover a mesh, a hull, a box or a cylinder,
    and stick out of it by at most `tolerance` [m].

    The cover is proved, not sampled. An open mesh is taken for its convex hull, with a warning.
    time_limit: seconds after which it ends with NotPossible; None: as long as it takes.
    """
    corners = triangles(_fittable(mesh, "fit_spheres"))
    return _spheres(corners, tolerance, "fit_spheres")[0]


@limited
def fit_capsules(
    mesh: Shape, count: int = 1, *, time_limit: float | None = None
) -> tuple[Capsule, ...]:
    """`count` capsules of small volume that cover a mesh, a hull, a box or a cylinder.

    time_limit: seconds after which it ends with NotPossible; None: as long as it takes.
    """
    count = counted(count, "fit_capsules: count", 1, MOST_CAPSULES)
    corners = triangles(_fittable(mesh, "fit_capsules"))
    if count == 1:
        capsules = [capsule_around(corners.reshape(-1, 3))]
    else:
        capsules = several_capsules(corners, count)
    return tuple(Capsule(_vector(start), _vector(end), radius) for start, end, radius in capsules)


def fit_tapered_capsule(mesh: Shape) -> TaperedCapsule:
    """The hull of two balls of small volume around a mesh, a hull, a box or a cylinder."""
    corners = triangles(_fittable(mesh, "fit_tapered_capsule"))
    start, end, start_radius, end_radius = tapered_around(corners.reshape(-1, 3))
    return TaperedCapsule(_vector(start), _vector(end), start_radius, end_radius)


def fitted(
    described: Mapping[str, Sequence[Shape]], way: str, tolerance: float
) -> tuple[dict[str, tuple[Shape, ...]], Report]:
    """({body: shapes}, report): what is described as "spheres", "capsules" or "convex" hulls,
    round shapes kept."""
    tolerance = checked_tolerance(tolerance, "model")
    shapes, rows = {}, []
    for body, several in described.items():
        simple, row = _WAYS[way](body, several, tolerance)
        shapes[body] = simple
        rows.append(row)
    return shapes, Report(tuple(rows))


def _body_spheres(
    body: str, described: Sequence[Shape], tolerance: float
) -> tuple[tuple[Shape, ...], Row]:
    """One surface a body: what overlaps is covered once."""
    round_ones = [shape for shape in described if isinstance(shape, (Sphere, Capsule))]
    covering: list[Shape] = []
    excess = []
    for shape in round_ones:
        balls = [shape] if isinstance(shape, Sphere) else _along(shape, tolerance)
        excess += [ball.radius - shape.radius for ball in balls]
        covering += balls
    others = [shape for shape in described if not isinstance(shape, (Sphere, Capsule))]
    if others:
        corners = np.concatenate([triangles(shape) for shape in others])
        spheres, sticking_out = _spheres(corners, tolerance, f'body "{body}"')
        covering += spheres
        excess += sticking_out.tolist()
    return tuple(covering), _row(body, covering, max(excess), float(np.mean(excess)))


def _body_capsules(
    body: str, described: Sequence[Shape], tolerance: float
) -> tuple[tuple[Shape, ...], Row]:
    """One capsule a described shape."""
    covering: list[Shape] = []
    excess: list[np.ndarray] = [np.zeros(1)]
    for shape in described:
        if isinstance(shape, (Sphere, Capsule, TaperedCapsule)):
            covering.append(shape)
            continue
        (capsule,) = fit_capsules(shape)
        covering.append(capsule)
        excess.append(Surface(triangles(shape)).distance(_on_capsule(capsule)))
    every = np.concatenate(excess[1:] or excess)
    return tuple(covering), _row(body, covering, float(every.max()), float(every.mean()))


def _body_hulls(
    body: str, described: Sequence[Shape], tolerance: float
) -> tuple[tuple[Shape, ...], Row]:
    """The convex hull of each mesh; other shapes are convex already."""
    hulls: list[Shape] = [
        Convex(shape.corners(), shape.pose, shape.name, shape.margin)
        if isinstance(shape, Mesh)
        else shape
        for shape in described
    ]
    return tuple(hulls), Row(body, tuple(shape.kind for shape in hulls), covered=True)


_WAYS: dict[str, Any] = {
    "spheres": _body_spheres,
    "capsules": _body_capsules,
    "convex": _body_hulls,
}


def _spheres(
    corners: np.ndarray, tolerance: float, who: str
) -> tuple[tuple[Sphere, ...], np.ndarray]:
    """(spheres, how far each sticks out), the deepest first as they were chosen."""
    balls = covering_balls(corners, tolerance, who)
    spheres = tuple(
        Sphere(_vector(center), float(radius)) for center, radius in zip(balls.centers, balls.radii)
    )
    return spheres, balls.excess


def _along(capsule: Capsule, tolerance: float) -> list[Sphere]:
    """Balls along a capsule that stick out by at most the tolerance:
    neighbours cut each other on its side."""
    start, end = np.array(capsule.start), np.array(capsule.end)
    length = float(np.linalg.norm(end - start))
    apart = 2.0 * np.sqrt((capsule.radius + tolerance) ** 2 - capsule.radius**2)
    count = max(1, int(np.ceil(length / apart)))
    radius = float(np.hypot(capsule.radius, 0.5 * length / count))
    middles = (np.arange(count) + 0.5) / count
    balls = [Sphere(_vector(start + t * (end - start)), radius) for t in middles]
    return (
        [*balls, Sphere(capsule.start, capsule.radius), Sphere(capsule.end, capsule.radius)]
        if length
        else balls
    )


def _on_capsule(capsule: Capsule) -> np.ndarray:
    """Points spread over a capsule: a spiral on a ball, its halves moved to the ends,
    and rings between."""
    start, end = np.array(capsule.start), np.array(capsule.end)
    k = np.arange(600)
    z = 1.0 - (2.0 * k + 1.0) / len(k)
    angle = k * np.pi * (3.0 - np.sqrt(5.0))
    ball = np.stack(
        [np.sqrt(1.0 - z * z) * np.cos(angle), np.sqrt(1.0 - z * z) * np.sin(angle), z], axis=1
    )
    u = end - start
    towards_end = ball @ u > 0.0
    caps = np.where(towards_end[:, None], end, start) + capsule.radius * ball
    size = float(np.linalg.norm(u))
    if size == 0.0:
        return caps
    side = ball - np.outer(ball @ u, u) / size**2
    side /= np.maximum(np.linalg.norm(side, axis=1), 1e-300)[:, None]
    return np.concatenate([caps, start + ((k + 0.5) / len(k))[:, None] * u + capsule.radius * side])


def _row(body: str, shapes: Sequence[Shape], largest: float, mean: float) -> Row:
    return Row(body, tuple(shape.kind for shape in shapes), True, largest, mean)


def _fittable(mesh: Any, who: str) -> Shape:
    if not isinstance(mesh, SHAPES) or isinstance(mesh, HalfSpace):
        raise InvalidInput(
            f"{who}: {type(mesh).__name__} cannot be fitted to, expected a Mesh, Convex, Box or "
            "Cylinder"
        )
    return mesh


def _vector(x: np.ndarray) -> tuple[float, float, float]:
    a, b, c = x.tolist()
    return a, b, c
