"""Node ways: a way through the nodes of a kinematic graph inside the vertices of a way,
each step proved free.

A way through vertices says nothing about the motion between two means. Its nodes do: one grid step
after the other, inside these vertices and those that touch them; with obstacles every step is
certified, and steps that are not are gone around. What refuses one step, a thin wall, refuses its
neighbours too: they are asked along with it, and so on along the wall, so that the next way does
not meet it one step further on. Where no way is left there, all nodes of the map are asked.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from linkwork import deadlines
from linkwork.arguments import choice
from linkwork.planning.sampling import whole_configurations
from linkwork.planning.search import Way, adjacency, cheapest_to

if TYPE_CHECKING:
    from scipy.sparse import csr_array

    from linkwork.planning.kinematic_graph import KinematicGraph

COSTS = ("task", "joint", "manipulability")
AT_ONCE = 20_000
"""Steps that are certified in one batch."""
ALONG = 400_000
"""Steps that are asked along a wall before the next way is looked for."""


@dataclass(frozen=True)
class NodeWay:
    """A way (m, nq) through nodes, its cost, the vertices that it passes; free:
    None where nothing was proved.

    leaves   it is another way than the one through vertices, which cannot be proved
    """

    path: np.ndarray
    cost: float
    vertices: np.ndarray
    free: bool | None
    leaves: bool = False


def refine(
    graph: KinematicGraph,
    first: int,
    last: int | None,
    way: Way,
    goals: np.ndarray,
    cost: str,
    certify: bool,
) -> NodeWay:
    """From a node along a way to a node, or to any node of the way's last vertex."""
    owner = graph.vertex_of_node
    ends = np.flatnonzero(owner == way.vertices[-1]) if last is None else np.array([last])
    inside = _corridor(graph, way.vertices)[owner] & (owner >= 0)
    narrow = _proved(graph, first, ends, inside, cost, certify)
    if narrow.free is not False:
        return narrow
    ends = np.flatnonzero(np.isin(owner, goals)) if last is None else ends
    wide = _proved(graph, first, ends, owner >= 0, cost, certify)
    return replace(wide, leaves=bool(wide.free))


def _proved(
    graph: KinematicGraph,
    first: int,
    ends: np.ndarray,
    inside: np.ndarray,
    cost: str,
    certify: bool,
) -> NodeWay:
    """The cheapest way among some nodes (N,) flags whose steps are all proved."""
    steps = _Steps(graph, inside, cost)
    while True:
        cheapest = cheapest_to(steps.costs, int(steps.place[first]), steps.place[ends])
        if not cheapest.vertices:
            none = np.empty((0, graph.subject.nq))
            return NodeWay(none, math.inf, np.empty(0, dtype=np.int64), False)
        nodes = steps.numbers[list(cheapest.vertices)]
        values = graph.grid.unwrapped(graph.grid.nodes(nodes))
        path = whole_configurations(graph.subject, values, graph.columns)
        answer = NodeWay(path, cheapest.cost, _passed(graph.vertex_of_node[nodes]), None)
        if graph.obstacles is None or not certify:
            return answer
        refused = steps.refused(steps.along(np.array(cheapest.vertices)))
        if not len(refused):  # a single node was tested itself
            return replace(answer, free=True)
        steps.ask_along_the_wall(refused)


class _Steps:
    """Grid steps among some nodes (N,) flags, by their number among them;
    refused ones cost more than any way.

    numbers   of these nodes in the grid;  place (N,): their numbers here, -1 elsewhere
    costs     from row to column; both directions of a step are two entries of it
    """

    def __init__(self, graph: KinematicGraph, inside: np.ndarray, cost: str) -> None:
        self._graph = graph
        self.numbers = np.flatnonzero(inside)
        self.place = np.full(graph.grid.size, -1, dtype=np.int64)
        self.place[self.numbers] = np.arange(len(self.numbers))
        self.costs = node_graph(graph, inside, cost)
        self.costs.sort_indices()
        self._asked = np.zeros(self.costs.nnz, dtype=bool)

    @cached_property
    def _rows(self) -> np.ndarray:
        """The row of every entry."""
        return np.repeat(np.arange(len(self.numbers)), np.diff(self.costs.indptr))

    @cached_property
    def _back(self) -> np.ndarray:
        """The entry of every step in the other direction."""
        from scipy.sparse import csr_array

        counted = csr_array(
            (np.arange(self.costs.nnz), self.costs.indices, self.costs.indptr),
            shape=self.costs.shape,
        )
        turned = counted.T.tocsr()
        turned.sort_indices()
        return turned.data

    def along(self, way: np.ndarray) -> np.ndarray:
        """The entries of the steps of a way."""
        columns, first = self.costs.indices, self.costs.indptr
        steps = itertools.pairwise(way)
        places = [first[a] + np.searchsorted(columns[first[a] : first[a + 1]], b) for a, b in steps]
        return np.array(places, dtype=np.int64)

    def refused(self, entries: np.ndarray) -> np.ndarray:
        """Those of some entries that cannot be proved free; asked once each,
        and dearer than any way from then on."""
        fresh = np.unique(np.minimum(entries, self._back[entries])) if len(entries) else entries
        fresh = fresh[~self._asked[fresh]]
        for begin in range(0, len(fresh), AT_ONCE):
            deadlines.check()
            some = fresh[begin : begin + AT_ONCE]
            gone = some[~self._free(some)]
            self.costs.data[gone] = self.costs.data[self._back[gone]] = math.inf
        self._asked[fresh] = self._asked[self._back[fresh]] = True
        return entries[np.isinf(self.costs.data[entries])]

    def ask_along_the_wall(self, refused: np.ndarray) -> None:
        """Steps that begin near refused ones, and near those of them that are refused as well."""
        seen = np.zeros(len(self.numbers), dtype=bool)
        asked = 0
        while len(refused) and asked < ALONG:
            ends = np.unique(np.concatenate([self._rows[refused], self.costs.indices[refused]]))
            near = self._entries(
                np.unique(np.concatenate([ends, self.costs.indices[self._entries(ends)]]))
            )
            near = near[~seen[self._rows[near]]]
            seen[self._rows[near]] = True
            asked += len(near)
            refused = self.refused(near)

    def _entries(self, rows: np.ndarray) -> np.ndarray:
        """The entries of some rows, one after the other."""
        first, counts = self.costs.indptr[rows], np.diff(self.costs.indptr)[rows]
        begin = np.repeat(first - np.r_[0, np.cumsum(counts)[:-1]], counts)
        return begin + np.arange(int(counts.sum()))

    def _free(self, entries: np.ndarray) -> np.ndarray:
        graph = self._graph
        assert graph.obstacles is not None
        a, b = (
            graph.grid.nodes(self.numbers[x[entries]]) for x in (self._rows, self.costs.indices)
        )
        ends = (
            whole_configurations(graph.subject, x, graph.columns)
            for x in (a, graph.grid.beside(a, b))
        )
        model, obstacles = graph.obstacles
        return np.asarray(model.certify_motion(*ends, obstacles).free)


def _passed(vertices: np.ndarray) -> np.ndarray:
    """Vertices along a way, each once in a row."""
    return vertices[np.r_[True, vertices[1:] != vertices[:-1]]]


def _corridor(graph: KinematicGraph, way: tuple[int, ...]) -> np.ndarray:
    """Flags (n + 1,) of the way's vertices and all that touch them;
    the last flag is for blocked nodes."""
    flags = np.zeros(len(graph.vertices) + 1, dtype=bool)
    flags[list(way)] = True
    a, b = graph.edges.T
    ring = np.concatenate([a[flags[b]], b[flags[a]]])
    flags[ring] = True
    return flags


def node_graph(graph: KinematicGraph, inside: np.ndarray, cost: str) -> csr_array:
    """Costs of grid steps among some nodes (N,) flags, by their number among them."""
    numbers = np.flatnonzero(inside)
    place = np.full(graph.grid.size, -1, dtype=np.int64)
    place[numbers] = np.arange(len(numbers))
    rows, columns = [], []
    for here, there in graph.grid.steps(numbers):
        both = place[there] >= 0
        rows.append(here[both])
        columns.append(there[both])
    a, b = np.concatenate(rows), np.concatenate(columns)
    if choice(cost, COSTS, "cost") == "joint":
        apart = graph.grid.apart(graph.nodes[a], graph.nodes[b])
    else:
        apart = np.linalg.norm(graph.positions[a] - graph.positions[b], axis=1)
    return adjacency(np.stack([place[a], place[b]], axis=1), apart, apart, len(numbers))
