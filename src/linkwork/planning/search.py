"""Search: the cheapest way through a graph, by A* with re-opening,
so that any admissible heuristic is enough.

Graphs are matrices of scipy, which loads as long as linkwork itself: with the first graph.
"""

from __future__ import annotations

import heapq
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from scipy.sparse import csr_array


@dataclass(frozen=True)
class Way:
    """The vertices of the cheapest way (empty where there is none), its cost,
    and how many vertices were expanded."""

    vertices: tuple[int, ...]
    cost: float
    expanded: int


def adjacency(pairs: np.ndarray, there: np.ndarray, back: np.ndarray, n: int) -> csr_array:
    """Costs from row to column: `there` (m,) along each pair (m, 2), `back` against it.

    Costs of zero would vanish from a sparse matrix; they are kept as the least positive number.
    """
    rows = np.concatenate([pairs[:, 0], pairs[:, 1]])
    columns = np.concatenate([pairs[:, 1], pairs[:, 0]])
    costs = np.maximum(np.concatenate([there, back]), np.finfo(float).tiny)
    from scipy.sparse import csr_array

    return csr_array((costs, (rows, columns)), shape=(n, n))


def cheapest_way(graph: csr_array, start: int, goals: np.ndarray, heuristic: np.ndarray) -> Way:
    """A* from start to the first goal settled; heuristic (n,); ties go to lower numbers."""
    ends, first, costs = set(goals.tolist()), graph.indptr, graph.data
    best, before = {start: 0.0}, {start: -1}
    queue = [(float(heuristic[start]), start, 0.0)]
    expanded = 0
    while queue:
        _, here, spent = heapq.heappop(queue)
        if spent > best[here]:
            continue
        if here in ends:
            return Way(_back(before, here), spent, expanded)
        expanded += 1
        for k in range(first[here], first[here + 1]):
            there, cost = int(graph.indices[k]), spent + float(costs[k])
            if cost < best.get(there, math.inf):
                best[there], before[there] = cost, here
                heapq.heappush(queue, (cost + float(heuristic[there]), there, cost))
    return Way((), math.inf, expanded)


def cheapest_to(graph: csr_array, start: int, ends: np.ndarray) -> Way:
    """The cheapest way to any of some ends, by Dijkstra over the whole graph:
    for graphs without a good heuristic."""
    from scipy.sparse.csgraph import dijkstra

    costs, before = dijkstra(graph, directed=True, indices=start, return_predecessors=True)
    end = int(ends[np.argmin(costs[ends])])
    if not math.isfinite(costs[end]):
        return Way((), math.inf, len(costs))
    return Way(_back(before, end), float(costs[end]), len(costs))


def _back(before: dict[int, int] | np.ndarray, end: int) -> tuple[int, ...]:
    way = [end]
    while before[way[-1]] >= 0:
        way.append(int(before[way[-1]]))
    return tuple(reversed(way))


def costs_from(graph: csr_array, start: int) -> np.ndarray:
    """The least cost (n,) from a vertex to every other, inf where there is no way."""
    from scipy.sparse.csgraph import dijkstra

    return dijkstra(graph, directed=True, indices=start)


def admissible(graph: csr_array, goals: np.ndarray, heuristic: np.ndarray) -> bool:
    """Whether the heuristic nowhere exceeds the true cost to the nearest goal (to rounding)."""
    from scipy.sparse.csgraph import dijkstra

    true = dijkstra(graph.T.tocsr(), directed=True, indices=goals, min_only=True)
    return bool((heuristic <= true * (1 + 1e-12) + 1e-15).all())
