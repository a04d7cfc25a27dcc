"""What stands around an elbow, as arrays: points and segments,
each with a radius (spheres and capsules)."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from linkwork import quantities
from linkwork.arguments import as_doubles, finite
from linkwork.collision import (
    Box,
    Capsule,
    Cloud,
    CollisionModel,
    Cylinder,
    Obstacles,
    Sphere,
    TaperedCapsule,
)
from linkwork.collision.placing import matrix_of, placed
from linkwork.errors import InvalidInput

PIECES = 4
"""Capsules that a tapered capsule is covered by."""
ROWS = 8
"""Rows of capsules that a box is covered by, at most."""


_NO_POINTS = np.empty((0, 3))
_NO_SEGMENTS = np.empty((0, 2, 3))
_NONE = np.empty(0)
_NOBODY = np.empty(0, np.int64)


@dataclass(frozen=True)
class Around:
    """points (n, 3) and segments (k, 2, 3) in world axes [m] with their radii;
    which obstacle each belongs to.

    stale       whether a number was NaN: what it belonged to is left out
    """

    points: np.ndarray
    point_radius: np.ndarray
    segments: np.ndarray
    segment_radius: np.ndarray
    point_owner: np.ndarray
    segment_owner: np.ndarray
    count: int
    stale: bool = False

    def __len__(self) -> int:
        return len(self.points) + len(self.segments)

    def finite(self) -> Around:
        """The same without what is not a number."""
        if self.stale or not len(self):
            return self
        numbers = (self.points, self.point_radius, self.segments, self.segment_radius)
        if math.isfinite(sum(float(part.sum()) for part in numbers if len(part))):
            return self  # no sum of numbers is finite unless each of them is
        good = np.isfinite(self.points).all(axis=1) & np.isfinite(self.point_radius)
        whole = np.isfinite(self.segments).all(axis=(1, 2)) & np.isfinite(self.segment_radius)
        if good.all() and whole.all():
            return self
        return Around(
            self.points[good],
            self.point_radius[good],
            self.segments[whole],
            self.segment_radius[whole],
            self.point_owner[good],
            self.segment_owner[whole],
            self.count,
            stale=True,
        )


def around(obstacles: Any, radius: ArrayLike, who: str) -> Around:
    """Obstacles in any of their notations.

    An array (n, 3) is points, (k, 2, 3) segments, `radius` makes them spheres and capsules. Of
    shapes a sphere, a capsule and a cloud are taken as they are; others are covered by capsules,
    which never lie inside them: a tapered capsule by four, a cylinder by one, a box by rows of
    them.
    """
    if isinstance(obstacles, Around):
        return obstacles
    if isinstance(obstacles, CollisionModel):
        raise InvalidInput(f"{who}: another robot stands somewhere: give robot_obstacles(model, q)")
    if isinstance(obstacles, Obstacles) or _lists_shapes(obstacles):
        return _of_shapes(obstacles, who)
    at = as_doubles(obstacles, f"{who}: points")
    if at.shape[-1:] != (3,) or at.ndim not in (2, 3) or (at.ndim == 3 and at.shape[1] != 2):
        raise InvalidInput(
            f"{who}: points has shape {at.shape}, expected points (n, 3), segments (k, 2, 3) or a "
            "list of shapes"
        )
    sizes = as_doubles(radius, f"{who}: radius")
    if sizes.ndim > 1 or (sizes.ndim == 1 and sizes.shape != at.shape[:1]):
        raise InvalidInput(
            f"{who}: radius has shape {sizes.shape}, expected one number or ({len(at)},)"
        )
    if (sizes < 0.0).any():
        raise InvalidInput(f"{who}: radius is {sizes.tolist()}, expected radii >= 0 m")
    rows, sizes = np.arange(len(at)), _filled(len(at), sizes)
    if at.ndim == 2:
        return Around(at, sizes, _NO_SEGMENTS, _NONE, rows, _NOBODY, len(at))
    return Around(_NO_POINTS, _NONE, at, sizes, _NOBODY, rows, len(at))


def robot_obstacles(model: CollisionModel, q: ArrayLike) -> Obstacles:
    """The shapes of another robot where it stands at q (nq,), as obstacles in world axes:
    "forearm 0", ..."""
    if not isinstance(model, CollisionModel):
        raise InvalidInput(
            f"robot_obstacles: model is {type(model).__name__}, expected a CollisionModel"
        )
    where = finite(q, (model.subject.nq,), "robot_obstacles: q")
    shapes = {}
    for part, own in model.shapes.items():
        T = quantities.evaluate(model.subject, "pose", {"q": where}, model.carriers[part])
        for k, shape in enumerate(own):
            shapes[f"{part} {k}"] = shape.moved(placed(T, "robot_obstacles"))
    return Obstacles(shapes)


def _lists_shapes(obstacles: Any) -> bool:
    if isinstance(obstacles, np.ndarray) or not isinstance(obstacles, Iterable):
        return False
    first = next(iter(obstacles), None) if isinstance(obstacles, (list, tuple)) else None
    return first is not None and hasattr(first, "kind")


def _of_shapes(obstacles: Iterable[Any], who: str) -> Around:
    points: list[tuple[Any, float, int]] = []
    segments: list[tuple[Any, float, int]] = []
    count = 0
    for count, shape in enumerate(obstacles, start=1):
        own = count - 1
        match shape:
            case Sphere():
                points.append((shape.center, shape.radius, own))
            case Cloud():
                points += [(p, float(shape.radius), own) for p in np.asarray(shape.points)]
            case Capsule():
                segments.append(((shape.start, shape.end), shape.radius, own))
            case TaperedCapsule() | Cylinder() | Box():
                segments += [(ends, radius, own) for ends, radius in _cover(shape)]
            case _:
                kind = getattr(shape, "kind", type(shape).__name__)
                raise InvalidInput(
                    f"{who}: obstacle {own} is a {kind}, expected a sphere, capsule, tapered "
                    "capsule, cylinder, box "
                    "or cloud"
                )
    columns = lambda rows, shape: (
        np.array([row[0] for row in rows], dtype=float).reshape(-1, *shape),
        np.array([row[1] for row in rows], dtype=float),
        np.array([row[2] for row in rows], dtype=np.int64),
    )
    at, sizes, of_points = columns(points, (3,))
    ends, radii, of_segments = columns(segments, (2, 3))
    return Around(at, sizes, ends, radii, of_points, of_segments, count)


def _cover(shape: TaperedCapsule | Cylinder | Box) -> list[tuple[np.ndarray, float]]:
    """Capsules (ends (2, 3), radius) whose union contains the shape."""
    if isinstance(shape, TaperedCapsule):
        share = np.linspace(0.0, 1.0, PIECES + 1)
        start, end = np.array(shape.start), np.array(shape.end)
        at = start + share[:, None] * (end - start)
        radii = shape.start_radius + share * (shape.end_radius - shape.start_radius)
        return [(at[k : k + 2], float(max(radii[k : k + 2]))) for k in range(PIECES)]
    T = matrix_of(shape.pose)
    if isinstance(shape, Cylinder):
        axis = 0.5 * shape.length * T[:3, 2]
        return [(np.stack([T[:3, 3] - axis, T[:3, 3] + axis]), shape.radius)]
    order = np.argsort(shape.size)[::-1]
    a, b, c = (float(shape.size[k]) for k in order)
    rows = int(np.clip(math.ceil(b / max(c, 1e-9)), 1, ROWS))
    middle = (np.arange(rows) + 0.5) * (b / rows) - b / 2
    along, aside = T[:3, order[0]], T[:3, order[1]]
    radius = 0.5 * math.hypot(b / rows, c)
    half = 0.5 * a * along
    return [(T[:3, 3] + m * aside + np.stack([-half, half]), radius) for m in middle]


def _filled(count: int, value: np.ndarray) -> np.ndarray:
    rows = np.empty(count)
    rows[...] = value
    return rows
