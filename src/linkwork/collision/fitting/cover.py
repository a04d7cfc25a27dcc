"""Cover: a proof that a surface lies inside spheres,
and the choice of few spheres by greedy set cover.

A triangle whose corners lie in one ball lies in it, because a ball is convex; any other triangle is
cut in two and both halves are asked. What is still uncovered when its edges are shorter than a
resolution is not covered.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from linkwork.deadlines import check

_ROWS = 4_000_000  # distances computed at once
_MANY, _NEAR = 256, 8  # balls from which on near ones are asked, and how many of each size


@dataclass(frozen=True)
class Proof:
    """What a proof found.

    left       corners (m, 3, 3) of pieces that no ball holds, each smaller than the resolution
    needed     (n,) the radius that each ball needs for the pieces that were given to it
    """

    left: np.ndarray
    needed: np.ndarray

    @property
    def covered(self) -> bool:
        return len(self.left) == 0


def prove(corners: np.ndarray, centers: np.ndarray, radii: np.ndarray, resolution: float) -> Proof:
    """Whether every point of triangles (m, 3, 3) lies in a ball;
    pieces go to the ball that holds them most loosely."""
    needed = np.zeros(len(centers))
    left = []
    rest = corners
    near = len(centers) > _MANY
    while len(rest):
        check()
        rest = _not_held(rest, centers, radii, needed, near)
        edges = np.linalg.norm(rest[:, [1, 2, 0]] - rest, axis=2)
        small = edges.max(axis=1, initial=0.0) <= resolution
        # nearer balls that do not hold a piece can hide the one that does, however often it is cut
        left.append(
            _not_held(rest[small], centers, radii, needed, near=False) if near else rest[small]
        )
        rest = halves(rest[~small], edges[~small])
    return Proof(np.concatenate(left) if left else np.zeros((0, 3, 3)), needed)


def halves(corners: np.ndarray, edges: np.ndarray) -> np.ndarray:
    """Triangles cut in two at the middle of their longest edge."""
    first = edges.argmax(axis=1) if len(edges) else np.zeros(0, dtype=int)
    rows = np.arange(len(corners))
    a, b, c = corners[rows, first], corners[rows, (first + 1) % 3], corners[rows, (first + 2) % 3]
    middle = 0.5 * (a + b)
    return np.concatenate([np.stack([a, middle, c], axis=1), np.stack([middle, b, c], axis=1)])


def _not_held(
    corners: np.ndarray, centers: np.ndarray, radii: np.ndarray, needed: np.ndarray, near: bool
) -> np.ndarray:
    """The triangles that no ball holds; `needed` grows by what the others take of their balls."""
    owner, farthest = _owners(corners, centers, radii, near)
    held = owner >= 0
    np.maximum.at(needed, owner[held], farthest[held])
    return corners[~held]


def _owners(
    corners: np.ndarray, centers: np.ndarray, radii: np.ndarray, near: bool
) -> tuple[np.ndarray, np.ndarray]:
    """For each triangle the ball that holds it with most room, -1 for none,
    and its farthest corner from there.

    All balls are asked, or those `near` a triangle: it may then get none although one holds it.
    """
    owner = np.full(len(corners), -1)
    farthest = np.zeros(len(corners))
    look, count = _near_ones(centers, radii) if near else (None, len(centers))
    step = max(1, _ROWS // max(1, 3 * count))
    for begin in range(0, len(corners), step):
        check()
        some = corners[begin : begin + step]
        balls = None if look is None else look(some)
        far = _reach_all(some, centers) if balls is None else _reach(some, centers[balls])
        room = (radii if balls is None else radii[balls]) - far
        best = room.argmax(axis=1)
        rows = np.arange(len(room))
        held = room[rows, best] >= 0.0
        owner[begin : begin + step][held] = (best if balls is None else balls[rows, best])[held]
        farthest[begin : begin + step] = far[rows, best]
    return owner, farthest


def _reach_all(corners: np.ndarray, centers: np.ndarray) -> np.ndarray:
    """How far the farthest corner of each triangle (m, 3, 3) is from each centre: (m, balls)."""
    points = corners.reshape(-1, 3)
    squares = (
        (points * points).sum(axis=1)[:, None]
        - 2.0 * (points @ centers.T)
        + (centers * centers).sum(axis=1)
    )
    return np.sqrt(np.maximum(squares.reshape(-1, 3, len(centers)).max(axis=1), 0.0))


def _reach(corners: np.ndarray, centers: np.ndarray) -> np.ndarray:
    """The same of some centres for each triangle, (m, k, 3): (m, k)."""
    ways = corners[:, None, :, :] - centers[:, :, None, :]
    return np.sqrt((ways * ways).sum(axis=3).max(axis=2))


def _near_ones(
    centers: np.ndarray, radii: np.ndarray
) -> tuple[Callable[[np.ndarray], np.ndarray], int]:
    """(balls (m, k) nearest to triangles (m, 3, 3), some of each size; how many)."""
    from scipy.spatial import cKDTree

    sizes = np.floor(np.log2(np.maximum(radii, 1e-300)))
    groups = [np.flatnonzero(sizes == size) for size in np.unique(sizes)]
    trees = [(group, cKDTree(centers[group]), min(_NEAR, len(group))) for group in groups]

    def look(corners: np.ndarray) -> np.ndarray:
        middles = corners.mean(axis=1)
        asked = [
            (group, tree.query(middles, k=range(1, count + 1))[1]) for group, tree, count in trees
        ]
        return np.concatenate([group[numbers] for group, numbers in asked], axis=1)

    return look, sum(count for _, _, count in trees)


def inside(points: np.ndarray, centers: np.ndarray, radii: np.ndarray) -> np.ndarray:
    """Which points (n, 3) each ball holds: (n, balls)."""
    holds = np.empty((len(points), len(centers)), dtype=bool)
    limits = (radii * radii - (centers * centers).sum(axis=1)).astype(np.float64)
    step = max(1, _ROWS // max(1, len(centers)))
    for begin in range(0, len(points), step):
        some = points[begin : begin + step]
        holds[begin : begin + step] = (some * some).sum(axis=1)[:, None] - 2.0 * (
            some @ centers.T
        ) <= limits
    return holds


def greedy(holds: np.ndarray) -> list[int]:
    """Few columns of a table (points, balls) that hold every row: the one with most new rows,
    again and again.

    Ties go to the lower index. A column that the others make superfluous is dropped at the end,
    small ones first.
    """
    left = np.ones(len(holds), dtype=bool)
    gain = holds.sum(axis=0, dtype=np.int64)
    chosen: list[int] = []
    while left.any():
        check()
        k = int(gain.argmax())
        assert gain[k] > 0, "every point lies in the ball around itself"
        new = np.flatnonzero(left & holds[:, k])
        left[new] = False
        gain -= holds[new].sum(axis=0, dtype=np.int64)
        chosen.append(k)
    count = holds[:, chosen].sum(axis=1)
    for k in sorted(chosen, key=lambda ball: int(holds[:, ball].sum())):
        if (count[holds[:, k]] >= 2).all():
            count -= holds[:, k]
            chosen.remove(k)
    return chosen
