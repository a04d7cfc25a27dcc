"""Capsules around points: the least volume over the end points,
the radius as large as the farthest point needs.

A capsule is convex, so one that holds the corners of a triangle holds the triangle; the corners of
the convex hull are enough. The search is that of Nelder and Mead from the principal axes, in a
frame that moves with the points and in which they are about one long: what is moved, turned,
mirrored or scaled gets the same capsule there. Of very many points it looks at those that are
farthest along some hundred directions; the radius holds all of them.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from linkwork.collision.fitting.frame import own_frame
from linkwork.collision.fitting.surface import pieces
from linkwork.deadlines import check

_GROW = 1.0 + 1e-12  # of a radius: rounding of the distances
_MANY = 60_000  # points of which the search looks at few
_DIRECTIONS = 600
_AGAIN = 4  # searches more, at most, from where the best one ended
_GLANCE = 150  # calls of the first search from a start: it tells which ones to go on with
_PROMISING = 2  # starts that a search goes on with
_STEP = 0.05  # of the first simplex of a search, beside points that are about one long


class _Frame(NamedTuple):
    """Axes that move with points, and a length that grows with them."""

    axes: np.ndarray
    center: np.ndarray
    size: float

    @classmethod
    def of(cls, points: np.ndarray) -> _Frame:
        axes, center = own_frame(np.repeat(points[:, None], 3, axis=1))
        return cls(axes, center, float(np.linalg.norm(points - center, axis=1).max()) or 1.0)

    def local(self, points: np.ndarray) -> np.ndarray:
        return (points - self.center) @ self.axes / self.size

    def world(self, points: np.ndarray) -> np.ndarray:
        return self.center + self.size * (points @ self.axes.T)


def capsule_around(points: np.ndarray) -> tuple[np.ndarray, np.ndarray, float]:
    """(start, end, radius) of a small capsule that holds points (n, 3)."""
    corners, looked_at, frame = _corners(points)

    def size(x: np.ndarray) -> float:
        return _volume(math.dist(x[:3], x[3:]), _radius(looked_at, x[:3], x[3:]), 0.0)

    best = _searched(size, [np.concatenate(ends) for ends in _starts(looked_at)])
    start, end = frame.world(best.reshape(2, 3))
    return start, end, _radius(corners, start, end) * _GROW


def tapered_around(points: np.ndarray) -> tuple[np.ndarray, np.ndarray, float, float]:
    """(start, end, start radius, end radius) of a small hull of balls around points (n, 3)."""
    corners, looked_at, frame = _corners(points)

    def size(x: np.ndarray) -> float:
        r, k = _tapered_radius(looked_at, x)
        return _volume(math.dist(x[:3], x[3:6]), r, k)

    starts = []
    for start, end in _starts(looked_at):
        radius = _radius(looked_at, start, end)
        starts += [np.array([*start, *end, k * radius]) for k in (-0.5, 0.0, 0.5)]
    best = _searched(size, starts)
    start, end = frame.world(best[:6].reshape(2, 3))
    r, k = _tapered_radius(corners, np.array([*start, *end, best[6] * frame.size]))
    return start, end, r * _GROW, (r + k) * _GROW


def several_capsules(corners: np.ndarray, count: int) -> list[tuple[np.ndarray, np.ndarray, float]]:
    """`count` capsules that hold triangles (m, 3, 3): each triangle, cut small,
    lies in one of them.

    Begun with slices of equal area along the longest axis; then each piece goes to the capsule that
    reaches out least for it, and every capsule is fitted again to its own.
    """
    axes, center = own_frame(corners)
    longest = np.ptp((corners.reshape(-1, 3) - center) @ axes, axis=0).max()
    small = pieces(corners, longest / 12.0)
    along = (small.mean(axis=1) - center) @ axes[:, 0]
    area = np.linalg.norm(np.cross(small[:, 1] - small[:, 0], small[:, 2] - small[:, 0]), axis=1)
    order = np.argsort(along, kind="stable")
    share = np.cumsum(area[order]) / area.sum()
    owner = np.empty(len(small), dtype=int)
    owner[order] = np.minimum((share * count).astype(int), count - 1)
    best: list[tuple[np.ndarray, np.ndarray, float]] = []
    least = np.inf
    for _ in range(4):
        fitted = [capsule_around(small[owner == k].reshape(-1, 3)) for k in np.unique(owner)]
        volume = sum(
            _volume(float(np.linalg.norm(end - start)), radius, 0.0)
            for start, end, radius in fitted
        )
        if volume >= least:
            break
        best, least = fitted, volume
        reach = [
            _distance(small.reshape(-1, 3), start, end).reshape(-1, 3).max(axis=1) - r
            for start, end, r in fitted
        ]
        owner = np.argmin(reach, axis=0)
    return best


def _corners(points: np.ndarray) -> tuple[np.ndarray, np.ndarray, _Frame]:
    """(points that decide what holds all of them, those that a search looks at in a frame of
    theirs, that frame)."""
    if len(points) <= _MANY:
        corners = hull_corners(points)
        frame = _Frame.of(corners)
        return corners, frame.local(corners), frame
    points = np.unique(points, axis=0)
    frame = _Frame.of(points)
    # Fibonacci's spiral over a sphere
    turn = np.arange(_DIRECTIONS) * np.pi * (3.0 - np.sqrt(5.0))
    z = 1.0 - (2.0 * np.arange(_DIRECTIONS) + 1.0) / _DIRECTIONS
    beside = np.sqrt(1.0 - z * z)
    directions = np.stack([beside * np.cos(turn), beside * np.sin(turn), z])
    local = frame.local(points)
    farthest = [int(np.argmax(local @ direction)) for direction in directions.T]
    return points, local[np.unique(farthest)], frame


def hull_corners(points: np.ndarray) -> np.ndarray:
    """The points that decide what holds all of them."""
    from scipy.spatial import ConvexHull, QhullError

    try:
        return points[ConvexHull(points).vertices]
    except (QhullError, ValueError):
        return np.unique(points, axis=0)


def _starts(corners: np.ndarray) -> list[tuple[np.ndarray, np.ndarray]]:
    """Segments along each principal axis, as long as the points are, less the caps."""
    middle = corners.mean(axis=0)
    _, axes = np.linalg.eigh(np.cov((corners - middle).T) if len(corners) > 1 else np.eye(3))
    segments = []
    for axis in axes.T[::-1]:
        along = (corners - middle) @ axis
        radius = np.linalg.norm(corners - middle - along[:, None] * axis, axis=1).max()
        low, high = along.min() + radius, along.max() - radius
        if low > high:
            low = high = 0.5 * (low + high)
        segments.append((middle + low * axis, middle + high * axis))
    return segments


def _searched(size: Callable[[np.ndarray], float], starts: list[np.ndarray]) -> np.ndarray:
    """The best of a few searches, begun again where it ended as long as that helps."""
    from scipy.optimize import minimize  # half a second, which inverse kinematics need not wait for

    def search(x: np.ndarray, calls: int = 600) -> tuple[float, np.ndarray]:
        check()
        simplex = np.vstack([x, x + _STEP * np.eye(len(x))])
        options = {"initial_simplex": simplex, "maxfev": calls, "xatol": 1e-7, "fatol": 1e-12}
        result = minimize(size, x, method="Nelder-Mead", options=options)
        return float(result.fun), result.x

    begun = sorted((search(start, _GLANCE) for start in starts), key=lambda ended: ended[0])
    least, best = min((search(x) for _, x in begun[:_PROMISING]), key=lambda ended: ended[0])
    for _ in range(_AGAIN):
        smaller, x = search(best)
        if smaller > (1.0 - 1e-3) * least:
            return x if smaller < least else best
        least, best = smaller, x
    return best


def _distance(points: np.ndarray, start: np.ndarray, end: np.ndarray) -> np.ndarray:
    """Distances of points to a segment."""
    u = end - start
    ways = points - start
    t = ((ways @ u) / max(float(u @ u), 1e-300)).clip(0.0, 1.0)
    return _lengths(ways - t[:, None] * u)


def _lengths(ways: np.ndarray) -> np.ndarray:
    """Of vectors (n, 3); numpy's own norm takes several times as long for a hundred of them."""
    return np.sqrt(np.einsum("ni,ni->n", ways, ways))


def _radius(points: np.ndarray, start: np.ndarray, end: np.ndarray) -> float:
    return float(_distance(points, start, end).max())


def _tapered_radius(points: np.ndarray, x: np.ndarray) -> tuple[float, float]:
    """(r, k): balls of radius r + s k along the segment hold all points,
    with r as small as k allows.

    The least of |p - c(s)| - s k over s has a closed form; see distances/tapered.py.
    """
    start, u, k = x[:3], x[3:6] - x[:3], float(x[6])
    uu = float(u @ u)
    if uu <= k * k:  # one ball holds the other
        center = start if k < 0.0 else start + u
        radius = float(_lengths(points - center).max())
        return (radius, max(k, -radius)) if k < 0.0 else (max(radius - k, 0.0), min(k, radius))
    w = points - start
    foot = w @ u / uu
    rest = _lengths(w - foot[:, None] * u)
    s = (foot + (k / math.sqrt(uu * (uu - k * k))) * rest).clip(0.0, 1.0)
    r = float((_lengths(w - s[:, None] * u) - s * k).max())
    return max(r, -k, 0.0), k


def _volume(length: float, r: float, k: float) -> float:
    """Of the hull of two balls of radii r and r + k at a distance: a cone between two caps;
    k = 0 is a capsule."""
    R = r + k
    if length <= abs(k):
        return 4.0 / 3.0 * math.pi * max(r, R) ** 3
    # sine of the half angle: the circles of contact lie that share of the radius towards the end
    slope = -k / length
    a, b = r * math.sqrt(1.0 - slope**2), R * math.sqrt(1.0 - slope**2)
    height = length + (R - r) * slope
    cone = math.pi * height * (a * a + a * b + b * b) / 3.0
    caps = (
        math.pi
        * (r**3 * (2.0 + 3.0 * slope - slope**3) + R**3 * (2.0 - 3.0 * slope + slope**3))
        / 3.0
    )
    return float(cone + caps)
