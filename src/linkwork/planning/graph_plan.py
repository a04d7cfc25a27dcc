"""Graph plan: the vertices of a kinematic graph, and a way through them."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from linkwork.formats.tabular import Tabular
from linkwork.results import short_repr


@short_repr
@dataclass(frozen=True)
class Vertices(Tabular, rows="count"):
    """Clusters: mean joint values (n, d), positions (n, 3), counts of nodes, which voxel."""

    q: np.ndarray
    position: np.ndarray
    count: np.ndarray
    voxel: np.ndarray

    def __len__(self) -> int:
        return len(self.count)


Cost = str | Callable[[Vertices, np.ndarray, np.ndarray], np.ndarray]
"""A name, or a function of (vertices, from (m,), to (m,)) that gives costs (m,) >= 0."""
Heuristic = Callable[[Vertices, np.ndarray], np.ndarray]
"""A function of (vertices, goals (g,)): a lower bound (n,) of the cost to the nearest goal."""


@short_repr
@dataclass(frozen=True)
class GraphPlan(Tabular, rows="path", within=1, aside=("vertices",)):
    """A way through the graph.

    success, reason      whether there is one, and why not
    vertices             its vertices; cost: along their means
    path                 (m, nq) a way through grid nodes inside these vertices, one grid step a
                         row, in all coordinates
    path_cost            along the nodes
    expanded, explored   vertices that were expanded, and their share of all
    certified_optimal    no way through the graph is cheaper: the heuristic is nowhere too large
    certified_free       every step of `path` is proved free of collisions; None where no obstacles
                         were given
    """

    success: bool
    reason: str
    vertices: tuple[int, ...] = ()
    cost: float = math.inf
    path: np.ndarray = field(default_factory=lambda: np.empty((0, 0)), repr=False)
    path_cost: float = math.inf
    expanded: int = 0
    explored: float = 0.0
    certified_optimal: bool = False
    certified_free: bool | None = None
