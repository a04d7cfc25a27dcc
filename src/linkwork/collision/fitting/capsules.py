"""Capsules around points: the least volume over the end points, the radius as large as the farthest point needs.

A capsule is convex, so one that holds the corners of a triangle holds the triangle; the corners of the convex hull are
enough. The search is that of Nelder and Mead from the principal axis, in a frame that moves with the points. Of very
many points it looks at those that are farthest along some hundred directions; the radius holds all of them.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from linkwork.collision.fitting.frame import own_frame
from linkwork.collision.fitting.surface import pieces
from linkwork.deadlines import check

_GROW = 1.0 + 1e-12  # of a radius: rounding of the distances
_MANY = 60_000  # points of which the search looks at few
_DIRECTIONS = 600


def capsule_around(points: np.ndarray) -> tuple[np.ndarray, np.ndarray, float]:
    """(start, end, radius) of a small capsule that holds points (n, 3)."""
    corners, looked_at = _corners(points)

    def size(x: np.ndarray) -> float:
        length = float(np.linalg.norm(x[3:] - x[:3]))
        return _volume(length, _radius(looked_at, x[:3], x[3:]), 0.0)

    best = _searched(size, [np.concatenate(ends) for ends in _starts(looked_at)])
    return best[:3], best[3:], _radius(corners, best[:3], best[3:]) * _GROW


def tapered_around(points: np.ndarray) -> tuple[np.ndarray, np.ndarray, float, float]:
    """(start, end, start radius, end radius) of a small hull of two balls that holds points (n, 3)."""
    corners, looked_at = _corners(points)

    def size(x: np.ndarray) -> float:
        r, k = _tapered_radius(looked_at, x)
        return _volume(float(np.linalg.norm(x[3:6] - x[:3])), r, k)

    starts = []
    for start, end in _starts(looked_at):
        radius = _radius(looked_at, start, end)
        starts += [np.array([*start, *end, k * radius]) for k in (-0.5, 0.0, 0.5)]
    best = _searched(size, starts)
    r, k = _tapered_radius(corners, best)
    return best[:3], best[3:6], r * _GROW, (r + k) * _GROW


def several_capsules(corners: np.ndarray, count: int) -> list[tuple[np.ndarray, np.ndarray, float]]:
    """`count` capsules that hold triangles (m, 3, 3): each triangle, cut small, lies in one of them.

    Begun with slices of equal area along the longest axis; then each piece goes to the capsule that reaches out least
    for it, and every capsule is fitted again to its own.
    """
    small = pieces(corners, np.ptp(corners.reshape(-1, 3), axis=0).max() / 12.0)
    axes, center = own_frame(corners)
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
        volume = sum(_volume(float(np.linalg.norm(end - start)), radius, 0.0) for start, end, radius in fitted)
        if volume >= least:
            break
        best, least = fitted, volume
        reach = [_distance(small.reshape(-1, 3), start, end).reshape(-1, 3).max(axis=1) - r for start, end, r in fitted]
        owner = np.argmin(reach, axis=0)
    return best


def _corners(points: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(points that decide what holds all of them, those that a search looks at)."""
    if len(points) <= _MANY:
        corners = hull_corners(points)
        return corners, corners
    points = np.unique(points, axis=0)
    # Fibonacci's spiral over a sphere, in axes of the points
    axes, center = own_frame(np.repeat(points[:, None], 3, axis=1))
    turn = np.arange(_DIRECTIONS) * np.pi * (3.0 - np.sqrt(5.0))
    z = 1.0 - (2.0 * np.arange(_DIRECTIONS) + 1.0) / _DIRECTIONS
    beside = np.sqrt(1.0 - z * z)
    directions = np.stack([beside * np.cos(turn), beside * np.sin(turn), z])
    local = (points - center) @ axes
    farthest = [int(np.argmax(local @ direction)) for direction in directions.T]
    return points, points[np.unique(farthest)]


def hull_corners(points: np.ndarray) -> np.ndarray:
    """The points that decide what holds all of them."""
    from scipy.spatial import ConvexHull, QhullError

    try:
        return points[ConvexHull(points).vertices]
    except (QhullError, ValueError):
        return np.unique(points, axis=0)


def _starts(corners: np.ndarray) -> list[tuple[np.ndarray, np.ndarray]]:
    """Segments along each principal axis, as long as the points are wide, less what the caps add."""
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
    """The best of a few searches, each begun again where it ended."""
    from scipy.optimize import minimize  # half a second, which inverse kinematics need not wait for

    best, least = starts[0], np.inf
    for start in starts:
        x = start
        for _ in range(2):
            check()
            search = minimize(size, x, method="Nelder-Mead", options={"maxfev": 600, "xatol": 1e-7, "fatol": 1e-12})
            x = search.x
        if search.fun < least:
            best, least = x, float(search.fun)
    return best


def _distance(points: np.ndarray, start: np.ndarray, end: np.ndarray) -> np.ndarray:
    """Distances of points to a segment."""
    u = end - start
    t = np.clip((points - start) @ u / max(float(u @ u), 1e-300), 0.0, 1.0)
    return np.linalg.norm(points - start - t[:, None] * u, axis=1)


def _radius(points: np.ndarray, start: np.ndarray, end: np.ndarray) -> float:
    return float(_distance(points, start, end).max())


def _tapered_radius(points: np.ndarray, x: np.ndarray) -> tuple[float, float]:
    """(r, k): balls of radius r + s k along the segment hold all points, with r as small as k allows.

    The least of |p - c(s)| - s k over s has a closed form; see distances/tapered.py.
    """
    start, u, k = x[:3], x[3:6] - x[:3], float(x[6])
    uu = float(u @ u)
    if uu <= k * k:  # one ball holds the other
        center = start if k < 0.0 else start + u
        radius = float(np.linalg.norm(points - center, axis=1).max())
        return (radius, max(k, -radius)) if k < 0.0 else (max(radius - k, 0.0), min(k, radius))
    w = points - start
    foot = w @ u / uu
    rest = np.linalg.norm(w - foot[:, None] * u, axis=1)
    s = np.clip(foot + k * rest / np.sqrt(uu * (uu - k * k)), 0.0, 1.0)
    r = float((np.linalg.norm(w - s[:, None] * u, axis=1) - s * k).max())
    return max(r, -k, 0.0), k


def _volume(length: float, r: float, k: float) -> float:
    """Of the hull of two balls of radii r and r + k at a distance: a cone between two caps; k = 0 is a capsule."""
    R = r + k
    if length <= abs(k):
        return 4.0 / 3.0 * np.pi * max(r, R) ** 3
    slope = -k / length  # sine of the half angle: the circles of contact lie that share of the radius towards the end
    a, b = r * np.sqrt(1.0 - slope**2), R * np.sqrt(1.0 - slope**2)
    height = length + (R - r) * slope
    cone = np.pi * height * (a * a + a * b + b * b) / 3.0
    caps = np.pi * (r**3 * (2.0 + 3.0 * slope - slope**3) + R**3 * (2.0 - 3.0 * slope + slope**3)) / 3.0
    return float(cone + caps)
