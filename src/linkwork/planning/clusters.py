"""Clusters: nodes of a grid that share a voxel and hang together, and which clusters touch.

    C ~ C'  if a node of C is a neighbour of a node of C'

Disjoint sets in machine code, one walk over all pairs of neighbours: the root of a cluster is its
first node, so that clusters are numbered by their first nodes, in whatever order pairs come.
Source: [Corves2022] Algorithm 1, as it is meant: lines 27-32 draw nodes again that are already in a
cluster, lines 40-44 empty the sets they look things up in, and the random order does not matter
since components are unique.
"""

from __future__ import annotations

import ctypes
from functools import cache
from typing import Any

import numpy as np
from llvmlite import ir

from linkwork.engine.keys import key
from linkwork.engine.routines import Cell, Routine, Value, Words, compiled
from linkwork.planning.joint_grid import JointGrid

BLOCKED = -1
LINE = 3  # numbers of a line: where it begins here and there, and how long it is


def clusters(grid: JointGrid, voxel: np.ndarray) -> np.ndarray:
    """The cluster (n,) of every node, numbered by their first node;
    -1 where voxel (n,) is -1 (blocked)."""
    cells = np.ascontiguousarray(voxel, dtype=np.int64).ravel()
    cluster = np.empty(grid.size, dtype=np.int64)
    _code()["cluster"](*_places(grid.lines, cells), grid.size, cluster.ctypes.data)
    return cluster


def touching(grid: JointGrid, cluster: np.ndarray) -> np.ndarray:
    """Pairs (m, 2) of clusters that touch, the lower number first, sorted."""
    own = np.ascontiguousarray(cluster, dtype=np.int64).ravel()
    n = int(own.max(initial=0)) + 1
    places = _places(grid.lines, own)
    border = _code()["border"]
    keys = np.empty(border(*places, n, 0), dtype=np.int64)
    border(*places, n, keys.ctypes.data)
    keys.sort()  # np.unique hashes first, which takes four times as long
    every = keys[np.flatnonzero(np.diff(keys, prepend=-1))]
    return np.stack([every // n, every % n], axis=1)


def _places(lines: np.ndarray, values: np.ndarray) -> tuple[int, int, int]:
    return lines.ctypes.data, len(lines), values.ctypes.data


@cache
def _code() -> dict[str, Any]:
    """cluster(lines, count, voxel, size, cluster), border(lines, count, cluster, n, keys or 0)."""
    addresses = compiled(key("clusters of a grid"), _write, ("cluster", "border"))
    return {
        name: ctypes.CFUNCTYPE(ctypes.c_int64, *[ctypes.c_int64] * 5)(at)
        for name, at in addresses.items()
    }


def _write(module: ir.Module) -> None:
    _write_cluster(module)
    _write_border(module)


def _write_cluster(module: ir.Module) -> None:
    """Define cluster(lines, count, voxel, size, cluster): first each node's parent stands there,
    then its cluster."""
    r = Routine(module, "cluster", 5)
    lines, count, voxel, size, cluster = r.arguments
    cells, parent = Words(r, voxel), Words(r, cluster)
    with r.times(size) as k:
        parent[k] = k

    def root(node: Value) -> Cell:
        at = r.whole(node)
        with r.loop():
            above = r.whole(parent[at])
            r.leave(above.equals(at))
            parent[at] = parent[above]  # path halving
            at.set(parent[at])
        return at

    with r.times(count) as line:
        row = Words(r, lines).at(line * LINE)
        here, there = r.whole(row[0]), r.whole(row[1])
        with r.times(row[2]) as k:
            own = r.whole(cells[here + k])
            r.skip((own < 0) | ~own.equals(cells[there + k]))
            one, other = root(here + k), root(there + k)
            first = r.whole(r.choose(one < other, one, other))
            parent[r.choose(one < other, other, one)] = first
    number = r.whole(0)
    with r.times(size) as k:  # parents come before their nodes
        above = r.whole(parent[k])
        with r.either(above.equals(k)) as (is_root, is_not):
            with is_root:
                free = cells[k] >= 0
                parent[k] = r.choose(free, number, r.whole(BLOCKED))
                number.set(number + Value(r, r.b.zext(free.ir, ir.IntType(64))))
            with is_not:
                parent[k] = parent[above]
    r.give(number)


def _write_border(module: ir.Module) -> None:
    """Define border(lines, count, cluster, n, keys) -> how many pairs of clusters meet;
    along a line once in a row.

    A pair is the word lower * n + higher; without memory for keys they are counted alone.
    """
    r = Routine(module, "border", 5)
    lines, count, cluster, n, keys = r.arguments
    cluster_of, pairs = Words(r, cluster), r.whole(0)
    with r.times(count) as line:
        row = Words(r, lines).at(line * LINE)
        here, there, last = r.whole(row[0]), r.whole(row[1]), r.whole(-1)
        with r.times(row[2]) as k:
            a, b = r.whole(cluster_of[here + k]), r.whole(cluster_of[there + k])
            r.skip((a < 0) | (b < 0) | a.equals(b))
            pair = r.whole(r.choose(a < b, a, b) * n + r.choose(a < b, b, a))
            r.skip(pair.equals(last))
            last.set(pair)
            with r.when(~keys.equals(0)):
                Words(r, keys)[pairs] = pair
            pairs.set(pairs + 1)
    r.give(pairs)
