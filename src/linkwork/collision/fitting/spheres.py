"""Spheres that cover a surface and stick out of it by no more than a tolerance.

A ball whose centre lies d below the surface and whose radius is d + tolerance sticks out by at most
the tolerance. Such balls are candidates at points inside (those that no neighbour makes
superfluous) and on the surface itself (d = 0). Few of them are chosen by greedy set cover of
points; where the proof finds a gap, its corners become points too.
"""

from __future__ import annotations

import logging
from dataclasses import dataclass

import numpy as np

from linkwork.arguments import number
from linkwork.collision.fitting.cover import Proof, greedy, inside, prove
from linkwork.collision.fitting.frame import own_frame
from linkwork.collision.fitting.interior import inside_points
from linkwork.collision.fitting.surface import Surface, hull_triangles, pieces
from linkwork.errors import ComputationError, InvalidInput

log = logging.getLogger("linkwork")

# distance of points to cover, and of candidates, as shares of the tolerance
_POINTS = 0.8
_GRID = 0.5
_SLACK = 0.02  # of the tolerance, by which balls overlap
_MOST_BALLS = 5000
# share of the tolerance with which balls are chosen; the rest lets small triangles lie in one ball
_CHOICE = 0.95
# of each round's proof, as shares of the tolerance
_RESOLUTIONS = (
    0.15,
    0.1,
    0.07,
    0.05,
    0.03,
    0.02,
    0.01,
)
_MOST_POINTS, _MOST_CANDIDATES = 12_000, 12_000
# a point from which depth grows less than this a metre is not made superfluous by deeper ones
_MEDIAL = 0.9


@dataclass(frozen=True)
class Balls:
    """centers (n, 3), radii (n,), and `excess` (n,):
    how far each sticks out of the surface at most [m]."""

    centers: np.ndarray
    radii: np.ndarray
    excess: np.ndarray


def checked_tolerance(tolerance: float, who: str) -> float:
    """A tolerance that can be met."""
    tolerance = number(tolerance, f"{who}: tolerance")
    if tolerance <= 0.0:
        raise InvalidInput(f"{who}: tolerance is {tolerance:g} m, expected a positive length")
    return tolerance


def covering_balls(corners: np.ndarray, tolerance: float, who: str) -> Balls:
    """Balls that cover triangles (m, 3, 3), each within `tolerance` [m] of them."""
    tolerance = checked_tolerance(tolerance, who)
    _refuse_too_many(corners, tolerance, who)
    axes, center = own_frame(corners)
    balls = _in_own_frame((corners - center) @ axes, tolerance, who)
    return Balls(balls.centers @ axes.T + center, balls.radii, balls.excess)


def _in_own_frame(corners: np.ndarray, tolerance: float, who: str) -> Balls:
    within = inside_points(corners, _spacing(corners, tolerance))
    if within is None:
        log.warning("%s: the surface is open; spheres are fitted to its convex hull", who)
        corners = hull_triangles(np.unique(corners.reshape(-1, 3), axis=0))
        within = inside_points(corners, _spacing(corners, tolerance))
    surface = Surface(corners)
    points = _points(corners, tolerance)
    deep = np.zeros((0, 3)) if within is None else within
    depth = surface.distance(deep) if len(deep) else np.zeros(0)
    deep, depth = _not_superfluous(deep, depth)
    on = points[:: max(1, len(points) // 2000)]
    centers, depths = np.concatenate([deep, on]), np.concatenate([depth, np.zeros(len(on))])
    chosen, proof = _chosen(corners, points, centers, depths, tolerance)
    if not proof.covered:
        raise ComputationError(
            f"{who}: {len(proof.left)} pieces of the surface lie in none of {len(chosen[0])} "
            "spheres, "
            "expected a larger tolerance"
        )
    # no ball much larger than what it holds; the slack lets another way of cutting find the same
    # proof
    used = proof.needed > 0.0
    used[0] |= not used.any()  # a surface that is one point
    centers, depths = chosen[0][used], chosen[1][used]
    radii = np.minimum(proof.needed[used] + _SLACK * tolerance, depths + tolerance)
    return Balls(centers, radii, np.maximum(radii - depths, 0.0))


def _chosen(
    corners: np.ndarray,
    points: np.ndarray,
    centers: np.ndarray,
    depths: np.ndarray,
    tolerance: float,
) -> tuple[tuple[np.ndarray, np.ndarray], Proof]:
    """((centres, depths) of few balls, the proof that they cover):
    gaps of a choice become points of the next one."""
    choice = depths + _CHOICE * tolerance
    holds = inside(points, centers, choice)
    missed = ~holds.any(axis=1)  # points that no candidate holds get one of their own
    if missed.any():
        centers = np.concatenate([centers, points[missed]])
        depths = np.concatenate([depths, np.zeros(missed.sum())])
        choice = depths + _CHOICE * tolerance
        holds = inside(points, centers, choice)
    for resolution in _RESOLUTIONS:
        few = greedy(holds)
        proof = prove(corners, centers[few], depths[few] + tolerance, resolution * tolerance)
        if proof.covered:
            return (centers[few], depths[few]), proof
        gaps = _spread(proof.left.reshape(-1, 3), resolution * tolerance)
        more = inside(gaps, centers, choice)
        holds = np.concatenate([holds, more[more.any(axis=1)]])
    # what is left gets balls around it: pieces smaller than the resolution lie in them
    gaps = _spread(proof.left.mean(axis=1), 0.5 * tolerance)
    last = np.concatenate([centers[few], gaps]), np.concatenate([depths[few], np.zeros(len(gaps))])
    return last, prove(corners, last[0], last[1] + tolerance, _RESOLUTIONS[-1] * tolerance)


def _refuse_too_many(corners: np.ndarray, tolerance: float, who: str) -> None:
    """A ball covers at most a disc of radius sqrt(2 d t + t^2) of a plane,
    and is no deeper than half the size."""
    area = _area(corners)
    size = float(np.ptp(corners.reshape(-1, 3), axis=0).max())
    least = area / (np.pi * (size * tolerance + tolerance**2))
    if least > _MOST_BALLS:
        raise InvalidInput(
            f"{who}: at a tolerance of {tolerance:g} m this surface needs more than {int(least)} "
            "spheres, "
            "expected a larger tolerance"
        )


def _spacing(corners: np.ndarray, tolerance: float) -> float:
    """The distance of candidates: a share of the tolerance,
    but no more of them than can be handled."""
    size = np.ptp(corners.reshape(-1, 3), axis=0)
    volume = float(np.prod(np.maximum(size, _GRID * tolerance)))
    return max(_GRID * tolerance, (volume / 40_000) ** (1.0 / 3.0))


def _points(corners: np.ndarray, tolerance: float) -> np.ndarray:
    """Points of the surface to begin with, a share of the tolerance apart from each other."""
    longest = _POINTS * tolerance
    area = _area(corners)
    longest = max(longest, np.sqrt(area / _MOST_POINTS))
    return _spread(pieces(corners, longest).reshape(-1, 3), 0.5 * longest)


def _spread(points: np.ndarray, apart: float) -> np.ndarray:
    """One point of each cell of a grid that holds some: the first of them."""
    points = points[np.lexsort(np.round(points / (1e-6 * apart)).T)]
    cells = np.floor(points / apart).astype(np.int64)
    _, first = np.unique(cells, axis=0, return_index=True)
    return points[np.sort(first)]


def _not_superfluous(points: np.ndarray, depth: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Points whose balls no deeper neighbour nearly holds: those where depth stops to grow,
    near the middle surfaces.

    A ball of depth d lies wholly in that of a neighbour that is deeper by their distance.
    """
    from scipy.spatial import cKDTree

    if len(points) < 100:
        return points, depth
    far, near = cKDTree(points).query(points, k=min(33, len(points)))
    growth = (depth[near[:, 1:]] - depth[:, None]) / np.maximum(far[:, 1:], 1e-300)
    keep = growth.max(axis=1) < _MEDIAL
    kept = np.flatnonzero(keep)
    if len(kept) > _MOST_CANDIDATES:
        kept = kept[:: -(-len(kept) // _MOST_CANDIDATES)]
    return points[kept], depth[kept]


def _area(corners: np.ndarray) -> float:
    """Of all triangles (n, 3, 3) together [m^2]."""
    sides = corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]
    return 0.5 * np.linalg.norm(np.cross(*sides), axis=1).sum()
