"""Clusters: nodes of a grid that share a voxel and hang together, and which clusters touch.

    C ~ C'  if a node of C is a neighbour of a node of C'

Source: [Corves2022] Algorithm 1, as it is meant: lines 27-32 draw nodes again that are already in a cluster, lines
40-44 empty the sets they look things up in, and the random order does not matter since components are unique.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from linkwork.planning.joint_grid import JointGrid

BLOCKED = -1


def clusters(grid: JointGrid, voxel: np.ndarray) -> np.ndarray:
    """The cluster (n,) of every node, numbered by their first node; -1 where voxel (n,) is -1 (blocked).

    Runs along the last joint are clusters by themselves; what joins them across the other joints is then a graph of
    runs, which is far smaller than that of nodes.
    """
    voxel = voxel.reshape(grid.shape)
    free = voxel != BLOCKED
    begins = np.ones(grid.shape, dtype=bool)
    begins[..., 1:] = voxel[..., 1:] != voxel[..., :-1]
    run = (np.cumsum(begins, dtype=np.int64) - 1).reshape(grid.shape)
    joined = []
    for here, there in grid.pairs():
        same = (voxel[here] == voxel[there]) & free[here]
        joined.append(_changes(run[here][same], run[there][same]))
    pairs = np.concatenate(joined)
    n = int(run.flat[-1]) + 1
    graph = coo_array((np.ones(len(pairs), dtype=bool), (pairs[:, 0], pairs[:, 1])), shape=(n, n))
    _, component = connected_components(graph, directed=False)
    component[~free[begins]] = -1
    known, first = np.unique(component, return_index=True)
    kept = known >= 0
    numbers = np.full(int(component.max(initial=0)) + 2, -1, dtype=np.int64)
    numbers[known[kept][np.argsort(first[kept])]] = np.arange(kept.sum())
    return numbers[component][run].ravel()


def touching(grid: JointGrid, cluster: np.ndarray) -> np.ndarray:
    """Pairs (m, 2) of clusters that touch, the lower number first, sorted."""
    cluster = cluster.reshape(grid.shape)
    n = int(cluster.max(initial=0)) + 1
    keys = [np.empty(0, dtype=np.int64)]
    for a, b in _border(grid, cluster):
        keys.append(np.unique(np.minimum(a, b) * n + np.maximum(a, b)))
    every = np.unique(np.concatenate(keys))
    return np.stack([every // n, every % n], axis=1)


def _border(grid: JointGrid, cluster: np.ndarray) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    for here, there in grid.pairs():
        a, b = cluster[here], cluster[there]
        apart = (a != b) & (a >= 0) & (b >= 0)
        pairs = _changes(a[apart], b[apart])
        yield pairs[:, 0], pairs[:, 1]


def _changes(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Pairs (m, 2) that differ from the one before: along a row the same two repeat."""
    if not len(a):
        return np.empty((0, 2), dtype=np.int64)
    new = np.ones(len(a), dtype=bool)
    new[1:] = (a[1:] != a[:-1]) | (b[1:] != b[:-1])
    return np.stack([a[new], b[new]], axis=1)
