"""Clusters: many points as a tree of balls of fixed depth, for loops that skip what is far.

Points are split by the median of their longest side until few are left together: a cluster.
Clusters in that order form groups. A loop looks at groups, at the clusters of groups that are near,
and at the points of clusters that are near.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

POINTS, CLUSTERS = 32, 16  # at most in a cluster, in a group
OUTWARD = 1.0 + 1e-9


Rows = dict[str, tuple[np.ndarray, np.ndarray]]
Ranges = dict[int, tuple[int, int]]


def cloud_rows(clouds: Sequence[tuple[int, Any]]) -> tuple[Rows, Ranges]:
    """Rows of the tables of clouds with their numbers,
    and {number: (first, count)} of the groups of each cloud."""
    trees = [
        clustered(
            cloud.points,
            np.full(len(cloud.points), cloud.radius),
            np.full(len(cloud.points), float(number)),
        )
        for number, cloud in clouds
    ] or [clustered(np.zeros((0, 3)), np.zeros(0), np.zeros(0))]
    rows, before = {}, {}
    for name, inside in (
        ("cloud_points", ""),
        ("cloud_clusters", "cloud_points"),
        ("cloud_groups", "cloud_clusters"),
    ):
        before[name] = np.cumsum([0, *(len(tree[name][0]) for tree in trees)])
        # what a row counts from, a cluster's first point, is further down behind the clouds before
        shift = before[inside] if inside else before[name] * 0
        whole = [
            tree[name][1] + [begin, 0][: tree[name][1].shape[1]]
            for tree, begin in zip(trees, shift, strict=False)
        ]
        rows[name] = (np.concatenate([tree[name][0] for tree in trees]), np.concatenate(whole))
    firsts = before["cloud_groups"]
    return rows, {
        number: (int(firsts[k]), int(firsts[k + 1] - firsts[k]))
        for k, (number, _) in enumerate(clouds)
    }


def clustered(points: np.ndarray, radii: np.ndarray, numbers: np.ndarray) -> Rows:
    """Rows of the tables cloud_points, cloud_clusters and cloud_groups of points (n, 3)."""
    order, cuts = _order(points)
    points, radii, numbers = points[order], radii[order], numbers[order]
    leaves = _ranges(cuts, len(points))
    clusters = [
        _ball(points[first : first + count], radii[first : first + count])
        for first, count in leaves
    ]
    starts = range(0, len(leaves), CLUSTERS)
    groups, members = [], []
    for start in starts:
        inside = clusters[start : start + CLUSTERS]
        groups.append(_ball(np.array([c for c, _ in inside]), np.array([r for _, r in inside])))
        members.append((start, len(inside)))
    return {
        "cloud_points": (np.c_[points, radii, numbers].reshape(-1, 5), np.zeros((len(points), 0))),
        "cloud_clusters": (_rows(clusters), np.array(leaves, dtype=np.int64).reshape(-1, 2)),
        "cloud_groups": (_rows(groups), np.array(members, dtype=np.int64).reshape(-1, 2)),
    }


def _order(points: np.ndarray) -> tuple[np.ndarray, list[int]]:
    """Points by halves of halves, and where clusters begin."""
    order, cuts = np.arange(len(points)), []
    waiting = [(0, len(points))] if len(points) else []
    while waiting:
        first, last = waiting.pop()
        if last - first <= POINTS:
            cuts.append(first)
            continue
        here = points[order[first:last]]
        axis = int(np.argmax(here.max(axis=0) - here.min(axis=0)))
        middle = (last - first) // 2
        order[first:last] = order[first:last][np.argpartition(here[:, axis], middle)]
        waiting += [(first + middle, last), (first, first + middle)]
    return order, sorted(cuts)


def _ranges(cuts: Sequence[int], total: int) -> list[tuple[int, int]]:
    return (
        [(first, last - first) for first, last in zip(cuts, [*cuts[1:], total], strict=True)]
        if cuts
        else []
    )


def _ball(centers: np.ndarray, radii: np.ndarray) -> tuple[np.ndarray, float]:
    low, high = (centers - radii[:, None]).min(axis=0), (centers + radii[:, None]).max(axis=0)
    middle = 0.5 * (low + high)
    reach = float((np.linalg.norm(centers - middle, axis=1) + radii).max())
    return middle, reach * OUTWARD + 1e-12


def _rows(balls: Sequence[tuple[Any, float]]) -> np.ndarray:
    return np.array([(*center, radius) for center, radius in balls], dtype=float).reshape(-1, 4)
