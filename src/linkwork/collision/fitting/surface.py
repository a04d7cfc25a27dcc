"""Surfaces to fit to: the triangles of any shape, cut into pieces,
and how far points are from them."""

from __future__ import annotations

from functools import cache
from typing import Any

import casadi
import numpy as np

from linkwork.collision.shapes import Box, Convex, Cylinder, Mesh, Shape
from linkwork.engine.compile import CompiledFunction, compile
from linkwork.errors import InvalidInput, NotPossible

MOST_PIECES = 400_000  # that cuts may add to the triangles that came
# triangles that are all measured: in all, of one size of a larger surface
MOST_EXACT = 5000
FEW_EXACT = 1000
NEAR = 12  # triangles of one size that are measured, the nearest ones


def triangles(shape: Shape) -> np.ndarray:
    """Corners (m, 3, 3) of triangles around a shape, in the axes in which it is placed.

    Exact for boxes, hulls and meshes; a cylinder gets the 24-sided prism around it, so that what
    covers it covers the cylinder. A margin cannot be cut into triangles.
    """
    match shape:
        case Mesh():
            _no_margin(shape)
            return shape.world()[shape.faces]
        case Convex():
            _no_margin(shape)
            return hull_triangles(shape.world())
        case Box():
            corners = np.array(
                [[x, y, z] for x in (-0.5, 0.5) for y in (-0.5, 0.5) for z in (-0.5, 0.5)]
            )
            points = corners * np.array(shape.size)
            return _placed(points, shape)[_BOX_FACES]
        case Cylinder():
            sides = 24
            angle = np.arange(sides) * (2.0 * np.pi / sides)
            ring = (
                shape.radius
                / np.cos(np.pi / sides)
                * np.stack([np.cos(angle), np.sin(angle)], axis=1)
            )
            ends = [
                np.c_[ring, np.full(sides, z)] for z in (-0.5 * shape.length, 0.5 * shape.length)
            ]
            points = np.vstack(
                [*ends, [[0.0, 0.0, -0.5 * shape.length], [0.0, 0.0, 0.5 * shape.length]]]
            )
            return _placed(points, shape)[_prism_faces(sides)]
    raise NotPossible(f"a {shape.kind.replace('_', ' ')} is round already; nothing is fitted to it")


def hull_triangles(points: np.ndarray) -> np.ndarray:
    """The triangles of the convex hull of points, looking outwards; of points in a plane:
    a fan of them."""
    from scipy.spatial import ConvexHull, QhullError

    try:
        hull = ConvexHull(points)
    except (QhullError, ValueError):
        order = np.concatenate([[0], np.arange(len(points)), [len(points) - 1]])
        return points[np.stack([order[:-2], order[1:-1], order[2:]], axis=1)]
    corners = points[hull.simplices]
    normals = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    inwards = np.einsum("ij,ij->i", normals, hull.equations[:, :3]) < 0.0
    corners[inwards] = corners[inwards][:, ::-1]
    return corners


def pieces(corners: np.ndarray, longest: float) -> np.ndarray:
    """Triangles cut at their longest edge until none is longer than `longest`."""
    done = []
    rest = corners
    while len(rest):
        edges = np.linalg.norm(rest[:, [1, 2, 0]] - rest, axis=2)
        small = edges.max(axis=1) <= longest
        done.append(rest[small])
        rest, edges = rest[~small], edges[~small]
        count = sum(map(len, done)) + len(rest)
        if count > MOST_PIECES + len(corners):
            raise InvalidInput(
                f"fit: the tolerance cuts this surface into more than {MOST_PIECES} pieces, "
                "expected a larger tolerance"
            )
        first = edges.argmax(axis=1)
        rows = np.arange(len(rest))
        a, b, c = rest[rows, first], rest[rows, (first + 1) % 3], rest[rows, (first + 2) % 3]
        middle = 0.5 * (a + b)
        rest = np.concatenate([np.stack([a, middle, c], axis=1), np.stack([middle, b, c], axis=1)])
    return np.concatenate(done)


class Surface:
    """Triangles that answer how far points are from them at least."""

    def __init__(self, corners: np.ndarray) -> None:
        self.corners = corners
        self.centers = corners.mean(axis=1)
        self.reach = np.linalg.norm(corners - self.centers[:, None], axis=2).max(axis=1)

    def distance(self, points: np.ndarray) -> np.ndarray:
        """A lower bound (n,) of the distance of points to the surface;
        the distance itself for up to 5000 triangles.

        More triangles are asked by size: large ones, of which there are few, all of them, so that a
        plate between thousands of rounded edges does not spoil the bound.
        """
        exact, others = self._by_size()
        bounds = [_to_nearest(points, self.corners[exact])] if len(exact) else []
        bounds += [self._of_size(points, rows) for rows in others]
        return np.min(bounds, axis=0)

    def _by_size(self) -> tuple[np.ndarray, list[np.ndarray]]:
        """(triangles that are all measured, the others, each part about of one size)."""
        if len(self.corners) <= MOST_EXACT:
            return np.arange(len(self.corners)), []
        sizes = np.floor(np.log2(np.maximum(self.reach, 1e-300)))
        exact, others = np.zeros(0, dtype=int), []
        for size in np.unique(sizes)[::-1]:  # of large ones the nearest centres say least
            rows = np.flatnonzero(sizes == size)
            if len(rows) <= FEW_EXACT and len(exact) + len(rows) <= MOST_EXACT:
                exact = np.concatenate([exact, rows])
            else:
                others.append(rows)
        return exact, others

    def _of_size(self, points: np.ndarray, rows: np.ndarray) -> np.ndarray:
        """The bound for triangles of about one size.

        Those are measured whose centres are nearest; no other can be nearer than the last of these
        less the largest reach.
        """
        from scipy.spatial import cKDTree

        corners = self.corners[rows]
        count = min(NEAR, len(rows))
        far, index = cKDTree(self.centers[rows]).query(points, k=range(1, count + 1))
        best = np.full(len(points), np.inf)
        for k in range(count):
            best = np.minimum(best, point_triangle()(points, corners[index[:, k]].reshape(-1, 9)))
        if count == len(rows):  # there is no other
            return best
        return np.minimum(best, far[:, -1] - self.reach[rows].max())


def _to_nearest(points: np.ndarray, corners: np.ndarray) -> np.ndarray:
    """The distance (n,) to the nearest of all triangles (m, 3, 3)."""
    best = np.full(len(points), np.inf)
    rows = corners.reshape(-1, 9)
    step = max(1, 2_000_000 // len(rows))
    for begin in range(0, len(points), step):
        some = points[begin : begin + step]
        wide = np.broadcast_to(some[:, None, :], (len(some), len(rows), 3))
        every = np.broadcast_to(rows, (len(some), len(rows), 9))
        best[begin : begin + step] = point_triangle()(wide, every).min(axis=1)
    return best


@cache
def point_triangle() -> CompiledFunction:
    """The distance of a point to a triangle of nine numbers: to its inside where it lies above,
    else its edges."""

    def traced(p: casadi.SX, corners: casadi.SX) -> Any:
        a, b, c = corners[0:3], corners[3:6], corners[6:9]
        n = casadi.cross(b - a, c - a)
        nn = casadi.fmax(casadi.dot(n, n), 1e-300)
        least, above = casadi.SX(np.inf), casadi.SX(1)
        for start, end in ((a, b), (b, c), (c, a)):
            u = end - start
            t = casadi.fmin(
                casadi.fmax(casadi.dot(p - start, u) / casadi.fmax(casadi.dot(u, u), 1e-300), 0.0),
                1.0,
            )
            way = p - start - t * u
            least = casadi.fmin(least, casadi.sqrt(casadi.dot(way, way)))
            above *= casadi.dot(casadi.cross(n, u), p - start) >= 0.0
        height = casadi.fabs(casadi.dot(n, p - a)) / casadi.sqrt(nn)
        flat = casadi.dot(n, n) > 1e-300
        return casadi.if_else(above * flat, casadi.fmin(height, least), least)

    return compile(traced, {"p": 3, "corners": 9}, name="distance of point and triangle")


def _placed(points: np.ndarray, shape: Any) -> np.ndarray:
    return points @ np.array(shape.pose.rotation).T + np.array(shape.pose.position)


def _no_margin(shape: Any) -> None:
    if shape.margin:
        raise NotPossible(
            "fit: a mesh with a margin is not cut into triangles; pad what was fitted instead"
        )


_BOX_FACES = np.array(
    [
        [0, 1, 3],
        [0, 3, 2],
        [4, 6, 7],
        [4, 7, 5],
        [0, 4, 5],
        [0, 5, 1],
        [2, 3, 7],
        [2, 7, 6],
        [0, 2, 6],
        [0, 6, 4],
    ]
    + [[1, 5, 7], [1, 7, 3]]
)


def _prism_faces(n: int) -> np.ndarray:
    k = np.arange(n)
    j = (k + 1) % n
    low, high = np.full(n, 2 * n), np.full(n, 2 * n + 1)
    sides = [np.stack(each, axis=1) for each in ((k, j, j + n), (k, j + n, k + n))]
    return np.vstack(
        [*sides, np.stack([low, j, k], axis=1), np.stack([high, k + n, j + n], axis=1)]
    )
