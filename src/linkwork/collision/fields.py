"""Obstacles of many small pieces: clouds of points and height fields."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from linkwork.arguments import as_doubles, finite, number
from linkwork.collision.placing import length
from linkwork.collision.shape_values import points_of, settle
from linkwork.errors import InvalidInput, NotPossible
from linkwork.model.placement import Placement
from linkwork.results import short_repr

MOST_POINTS = 20_000_000
MOST_CELLS = 4_000_000


@short_repr
@dataclass(frozen=True, slots=True, eq=False)
class Cloud:
    """Points (n, 3) in world axes, each a ball of `radius` [m]."""

    kind: ClassVar[str] = "cloud"
    points: np.ndarray
    radius: float = 0.0
    name: str | None = None

    def __post_init__(self) -> None:
        shape = np.shape(self.points)
        if shape and shape[0] > MOST_POINTS:
            size = 12.0 * shape[0] / 1e9
            raise NotPossible(
                f"Cloud: {shape[0]} points need about {size:.3g} GB, expected at most "
                f"{MOST_POINTS}; "
                "thin it out first, for example one point a cell of the resolution you need"
            )
        settle(
            self,
            points=points_of(self.points, "Cloud: points", least=1),
            radius=length(self.radius, "Cloud: radius"),
        )

    def moved(self, T: Placement) -> Cloud:
        return replace(self, points=self.points @ np.array(T.rotation).T + np.array(T.position))

    def shifted(self, by: tuple[float, float, float]) -> Cloud:
        return replace(self, points=self.points + np.array(by))

    def ball(self) -> tuple[np.ndarray, float]:
        """(center, radius) of a ball around it."""
        center = 0.5 * (self.points.min(axis=0) + self.points.max(axis=0))
        return center, float(np.linalg.norm(self.points - center, axis=1).max()) + self.radius

    def extent(self) -> float:
        """Largest coordinate of any of its points [m]."""
        return float(np.abs(self.points).max()) + self.radius

    def grown(self, by: float) -> Cloud:
        return replace(self, radius=length(self.radius + by, "Cloud: radius"))


@short_repr
@dataclass(frozen=True, slots=True, eq=False)
class HeightField:
    """Ground: `heights` (nx, ny) [m] on a grid of `cell` (x, y) [m] whose first corner is at
    `origin` (3,).

    The surface between grid points is that of two triangles a cell; everything below it is solid,
    and nothing is beside the grid. Inside, depth is measured towards the triangle above.
    """

    kind: ClassVar[str] = "height_field"
    heights: np.ndarray
    cell: tuple[float, float] = (1.0, 1.0)
    origin: tuple[float, float, float] = (0.0, 0.0, 0.0)
    name: str | None = None

    def __post_init__(self) -> None:
        heights = as_doubles(self.heights, "HeightField: heights")
        if heights.ndim != 2 or min(heights.shape) < 2:
            raise InvalidInput(
                f"HeightField: heights has shape {heights.shape}, expected (nx, ny) with at least "
                "two rows and columns"
            )
        if not np.isfinite(heights).all():
            raise InvalidInput("HeightField: heights is not finite")
        if heights.size > MOST_CELLS:
            size = 240.0 * heights.size / 1e9
            raise NotPossible(
                f"HeightField: {heights.size} heights need about {size:.3g} GB, expected at most "
                f"{MOST_CELLS}; "
                "thin it out first, or cut out what the robot can reach"
            )
        cell: Any = self.cell
        x, y = finite(
            np.broadcast_to(as_doubles(cell, "HeightField: cell"), (2,)), (2,), "HeightField: cell"
        ).tolist()
        if min(x, y) <= 0.0:
            raise InvalidInput(f"HeightField: cell is {[x, y]}, expected positive lengths")
        a, b, c = finite(self.origin, (3,), "HeightField: origin").tolist()
        heights = heights.copy()
        heights.flags.writeable = False
        settle(self, heights=heights, cell=(x, y), origin=(a, b, c))

    def moved(self, T: Placement) -> HeightField:
        """Moved without turning: a height field stands upright."""
        if not np.allclose(T.rotation, np.eye(3), rtol=0.0, atol=1e-12):
            raise NotPossible("HeightField: a height field can be shifted, not turned")
        shifted = np.array(self.origin) + T.position
        return replace(self, origin=tuple(shifted.tolist()))

    def shifted(self, by: tuple[float, float, float]) -> HeightField:
        return self.moved(Placement(position=by))

    def grown(self, by: float) -> HeightField:
        """Raised: a padding of ground is height."""
        lift = number(by, "HeightField: padding")
        return replace(self, heights=self.heights + lift)

    def ball(self) -> tuple[tuple[float, float, float], float]:
        """Below it is solid without end."""
        return self.origin, math.inf

    def extent(self) -> float:
        """Largest coordinate of its surface [m], more where it is steep: floats round more."""
        nx, ny = self.heights.shape
        far = np.abs(
            np.array(self.origin) + [(nx - 1) * self.cell[0], (ny - 1) * self.cell[1], 0.0]
        )
        coordinates = [*np.abs(self.origin), *far, np.abs(self.heights + self.origin[2]).max()]
        slopes = [np.abs(np.diff(self.heights, axis=k)).max() / self.cell[k] for k in range(2)]
        return float(max(coordinates) * (1.0 + sum(slopes)))

    def is_below(self, point: np.ndarray) -> bool:
        """Whether a point (3,) is on or below the surface."""
        point = finite(point, (3,), "is_below: point")
        x = (point[0] - self.origin[0]) / self.cell[0]
        y = (point[1] - self.origin[1]) / self.cell[1]
        nx, ny = self.heights.shape
        if not (0.0 <= x <= nx - 1 and 0.0 <= y <= ny - 1):
            return False
        i, j = min(int(x), nx - 2), min(int(y), ny - 2)
        u, v, h = x - i, y - j, self.heights[i : i + 2, j : j + 2]
        if u + v <= 1.0:
            height = h[0, 0] + u * (h[1, 0] - h[0, 0]) + v * (h[0, 1] - h[0, 0])
        else:
            height = h[1, 1] + (1.0 - u) * (h[0, 1] - h[1, 1]) + (1.0 - v) * (h[1, 0] - h[1, 1])
        return bool(point[2] <= height + self.origin[2])

    def solid(self) -> tuple[np.ndarray, np.ndarray]:
        """(vertices, faces) of the surface with walls and a floor, as deep below as it is wide."""
        top, faces = self.triangles()
        nx, ny = self.heights.shape
        width = max((nx - 1) * self.cell[0], (ny - 1) * self.cell[1], float(np.ptp(self.heights)))
        floor = top * [1.0, 1.0, 0.0] + [0.0, 0.0, top[:, 2].min() - 10.0 * width]
        grid = np.arange(nx * ny).reshape(nx, ny)
        around = np.concatenate([grid[:, 0], grid[-1, 1:], grid[-2::-1, -1], grid[0, -2:0:-1]])
        after, n = np.roll(around, -1), nx * ny
        walls = [
            np.stack([around, around + n, after], axis=1),
            np.stack([after, around + n, after + n], axis=1),
        ]
        corners = grid[[0, -1, -1, 0], [0, 0, -1, -1]] + n
        under = np.array(
            [[corners[0], corners[2], corners[1]], [corners[0], corners[3], corners[2]]]
        )
        return np.concatenate([top, floor]), np.concatenate([faces, *walls, under])

    def triangles(self) -> tuple[np.ndarray, np.ndarray]:
        """(vertices (n, 3), faces (m, 3)) of the surface."""
        nx, ny = self.heights.shape
        x, y = np.meshgrid(
            np.arange(nx) * self.cell[0], np.arange(ny) * self.cell[1], indexing="ij"
        )
        vertices = np.stack([x, y, self.heights], axis=-1).reshape(-1, 3) + self.origin
        corner = (np.arange(nx - 1)[:, None] * ny + np.arange(ny - 1)[None, :]).ravel()
        lower = np.stack([corner, corner + ny, corner + 1], axis=1)
        upper = np.stack([corner + 1, corner + ny, corner + ny + 1], axis=1)
        return vertices, np.concatenate([lower, upper])
