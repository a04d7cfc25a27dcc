"""Node ways: a way through the nodes of a kinematic graph inside the vertices of a way, each step proved free.

A way through vertices says nothing about the motion between two means. Its nodes do: one grid step after the other,
inside these vertices and those that touch them; with obstacles every step is certified, and steps that are not are gone
around. Where none is left there, all nodes of the map are asked.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
from scipy.sparse import csr_array

from linkwork.arguments import choice
from linkwork.planning.sampling import whole_configurations
from linkwork.planning.search import Way, adjacency, cheapest_to, without_steps

if TYPE_CHECKING:
    from linkwork.planning.kinematic_graph import KinematicGraph

COSTS = ("task", "joint", "manipulability")


@dataclass(frozen=True)
class NodeWay:
    """A way (m, nq) through nodes, its cost, the vertices that it passes; free: None where nothing was proved.

    leaves   it is another way than the one through vertices, which cannot be proved
    """

    path: np.ndarray
    cost: float
    vertices: np.ndarray
    free: bool | None
    leaves: bool = False


def refine(
    graph: KinematicGraph, first: int, last: int | None, way: Way, goals: np.ndarray, cost: str, certify: bool
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
    graph: KinematicGraph, first: int, ends: np.ndarray, inside: np.ndarray, cost: str, certify: bool
) -> NodeWay:
    """The cheapest way among some nodes (N,) flags whose steps are all proved."""
    steps = node_graph(graph, inside, cost)
    numbers = np.flatnonzero(inside)
    place = np.full(graph.grid.size, -1, dtype=np.int64)
    place[numbers] = np.arange(len(numbers))
    while True:
        cheapest = cheapest_to(steps, int(place[first]), place[ends])
        if not cheapest.vertices:
            none = np.empty((0, graph.subject.nq))
            return NodeWay(none, math.inf, np.empty(0, dtype=np.int64), False)
        nodes = numbers[list(cheapest.vertices)]
        values = graph.grid.unwrapped(graph.grid.nodes(nodes))
        path = whole_configurations(graph.subject, values, graph.columns)
        answer = NodeWay(path, cheapest.cost, _passed(graph.vertex_of_node[nodes]), None)
        if graph.obstacles is None or not certify:
            return answer
        model, obstacles = graph.obstacles
        if len(path) == 1:
            return replace(answer, free=True)  # a single node was tested itself
        free = np.asarray(model.certify_motion(path[:-1], path[1:], obstacles).free)
        if free.all():
            return replace(answer, free=True)
        steps = without_steps(steps, np.array(cheapest.vertices), ~free)


def _passed(vertices: np.ndarray) -> np.ndarray:
    """Vertices along a way, each once in a row."""
    return vertices[np.r_[True, vertices[1:] != vertices[:-1]]]


def _corridor(graph: KinematicGraph, way: tuple[int, ...]) -> np.ndarray:
    """Flags (n + 1,) of the way's vertices and all that touch them; the last flag is for blocked nodes."""
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
