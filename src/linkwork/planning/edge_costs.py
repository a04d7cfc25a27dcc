"""Edge costs: what steps between vertices of a kinematic graph cost."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from linkwork import configurations, quantities
from linkwork.arguments import choice
from linkwork.errors import InvalidInput
from linkwork.planning.graph_plan import Cost
from linkwork.planning.node_ways import COSTS
from linkwork.planning.sampling import whole_configurations
from linkwork.planning.search import adjacency

if TYPE_CHECKING:
    from scipy.sparse import csr_array

    from linkwork.planning.kinematic_graph import KinematicGraph


def costs_of_edges(graph: KinematicGraph, cost: Cost) -> csr_array:
    """Costs of the steps along all edges, there and back."""
    vertices, (a, b) = graph.vertices, graph.edges.T
    if callable(cost):
        there, back = (np.asarray(cost(vertices, x, y), dtype=float) for x, y in ((a, b), (b, a)))
        for costs in (there, back):
            if costs.shape != (len(a),) or not (costs >= 0.0).all():
                raise InvalidInput(
                    f"plan: cost gave shape {costs.shape}, expected numbers >= 0 ({len(a)},)"
                )
        return adjacency(graph.edges, there, back, len(vertices))
    choice(cost, COSTS, "plan: cost")
    if cost == "joint":
        apart = graph.grid.apart(vertices.q[a], vertices.q[b])
        return adjacency(graph.edges, apart, apart, len(vertices))
    apart = np.linalg.norm(vertices.position[a] - vertices.position[b], axis=1)
    if cost == "task":
        return adjacency(graph.edges, apart, apart, len(vertices))
    lost = _lost_dexterity(graph)
    return adjacency(graph.edges, apart * (1 + lost[b]), apart * (1 + lost[a]), len(vertices))


def _lost_dexterity(graph: KinematicGraph) -> np.ndarray:
    """1 - mu / mu_max of every vertex, mu = sqrt(det(J J')) over the directions in which the
    point moves at all.

    A way costs its length times 1 plus this, which keeps the straight distance a lower bound;
    the paper's (11) squares lengths, and its heuristic (12) is not admissible.
    """
    q = whole_configurations(graph.subject, graph.vertices.q, graph.columns)
    J = quantities.evaluate(graph.subject, "jacobian", {"q": q}, graph.point)
    starts = {at.start: v.start for _, at, v in configurations.places(graph.subject)}
    J = J[:, :3, [starts[column] for column in graph.columns]]
    sizes = np.linalg.svd(J, compute_uv=False)
    rank = max(1, int((sizes.max(axis=0) > 1e-9 * sizes.max()).sum()))
    mu = np.prod(sizes[:, :rank], axis=1)
    return 1.0 - mu / max(float(mu.max()), 1e-300)


def straight_bound(graph: KinematicGraph, cost: Cost, goals: np.ndarray) -> np.ndarray:
    """What a way costs at least: the straight distance to the nearest goal;
    nothing for a user's own cost."""
    vertices = graph.vertices
    if callable(cost):
        return np.zeros(len(vertices))
    if cost == "joint":
        every = [graph.grid.apart(vertices.q, vertices.q[goal]) for goal in goals]
    else:
        place = vertices.position
        every = [np.linalg.norm(place - place[goal], axis=1) for goal in goals]
    return np.min(every, axis=0)
