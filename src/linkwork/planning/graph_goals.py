"""Goals of a way through a kinematic graph: vertices that hold a configuration,
or that reach a position."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import numpy as np
from numpy.typing import ArrayLike

from linkwork.arguments import choice, finite
from linkwork.planning.sampling import cells_of

if TYPE_CHECKING:
    from linkwork.planning.kinematic_graph import KinematicGraph

GoalIs = Literal["position", "configuration"]
NONE = np.empty(0, dtype=np.int64)


def goals_of(
    graph: KinematicGraph, goal: ArrayLike, tolerance: float, goal_is: GoalIs | None
) -> tuple[np.ndarray, str, int | None]:
    """(goal vertices, why there are none, the node of a goal that is a configuration)."""
    nq = graph.subject.nq
    if goal_is is None:
        goal_is = "configuration" if np.shape(goal) == (nq,) and nq != 3 else "position"
    if choice(goal_is, ("position", "configuration"), "plan: goal_is") == "configuration":
        return _at_configuration(graph, finite(goal, (nq,), "plan: goal"))
    return _at_position(graph, finite(goal, (3,), "plan: goal"), tolerance)


def _at_configuration(graph: KinematicGraph, q: np.ndarray) -> tuple[np.ndarray, str, int | None]:
    if outside := graph.outside(q):
        return NONE, f"goal lies outside the ranges of the graph: {outside}", None
    node = graph.node_of(q, "plan: goal")
    vertex = int(graph.vertex_of_node[node])
    if vertex < 0:
        return NONE, f"goal {graph.shown(node)} collides", node
    return np.array([vertex]), "", node


def _at_position(
    graph: KinematicGraph, at: np.ndarray, tolerance: float
) -> tuple[np.ndarray, str, int | None]:
    vertices = graph.vertices_at(at)
    if tolerance > 0.0:
        near = np.linalg.norm(graph.vertices.position - at, axis=1) <= tolerance
        vertices = np.union1d(vertices, np.flatnonzero(near))
    if len(vertices):
        return vertices, "", None
    cell = cells_of(at, graph.voxel_size)
    if (graph.voxels == cell).all(axis=1).any():
        why = "is blocked: every configuration of its voxel collides"
        return vertices, f"goal {at.tolist()} {why}", None
    centers = graph.voxels * graph.voxel_size
    nearest = centers[np.argmin(np.linalg.norm(centers - at, axis=1))]
    why = f"lies in a voxel that no sample reaches; the nearest is at {nearest.tolist()}"
    return vertices, f"goal {at.tolist()} {why}", None
