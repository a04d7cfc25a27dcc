"""Kinematic graph: a map of all configurations that place a point,
and of how its branches hang together.

Joints are sampled on a grid, samples are sorted into voxels of the point's position, and samples
that share a voxel and hang together in the joint grid become one vertex: elbow up and elbow down in
one voxel stay two vertices. The map is 10 to 1000 times smaller than the grid, is the same every
time, and its cheapest ways are certified.

Source: [Corves2022]. Its cost (11) with heuristic (12), its range that is one sample too long, and
its test of collisions at the means of vertices stand in reproduce/paper_06.py; here ways are
optimal and every node is tested.
"""

from __future__ import annotations

import itertools
import logging
import math
import os
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from linkwork import configurations, deadlines
from linkwork.arguments import choice, finite, number, whole
from linkwork.errors import InvalidInput
from linkwork.planning import graph_files
from linkwork.planning.clusters import BLOCKED, clusters, touching
from linkwork.planning.edge_costs import costs_of_edges, straight_bound
from linkwork.planning.graph_goals import GoalIs, goals_of
from linkwork.planning.graph_plan import Cost, GraphPlan, Heuristic, Vertices
from linkwork.planning.joint_grid import JointGrid
from linkwork.planning.node_ways import COSTS, node_graph, refine
from linkwork.planning.sampling import (
    MOST_MEMORY,
    all_positions,
    cells_of,
    chunks,
    distinct_cells,
    joint_grid,
    moving_joints,
    positions_of,
    refuse_too_large,
    whole_configurations,
)
from linkwork.planning.search import admissible, cheapest_way, costs_from
from linkwork.results import short_repr
from linkwork.subject import RobotLike, Subject, subject_of

if TYPE_CHECKING:
    from scipy.sparse import csr_array

log = logging.getLogger(__name__)


@short_repr
@dataclass(frozen=True)
class KinematicGraph:
    """The map; `KinematicGraph.build` makes one."""

    subject: Subject
    point: str
    grid: JointGrid
    columns: tuple[int, ...]
    voxel_size: float
    positions: np.ndarray = field(repr=False)
    voxel_of_node: np.ndarray = field(repr=False)
    voxels: np.ndarray = field(repr=False)
    vertex_of_node: np.ndarray = field(repr=False)
    edges: np.ndarray = field(repr=False)
    blocked: np.ndarray | None = field(default=None, repr=False)
    obstacles: tuple[Any, Any] | None = field(default=None, repr=False)

    @classmethod
    def build(
        cls,
        robot: RobotLike,
        point: str,
        joint_resolution: ArrayLike,
        voxel_size: float,
        ranges: ArrayLike | None = None,
        joints: Sequence[str] | None = None,
        wrap: str = "none",
        most_memory: float = MOST_MEMORY,
        time_limit: float | None = None,
    ) -> KinematicGraph:
        """The map of a robot's point (any frame).

        joint_resolution   step of the grid [rad, m], one number or one a joint; fitted so that both
                           ends are met
        voxel_size         side of the voxels [m], which are centred at whole multiples of it
        ranges             (d, 2) of the joints; left out: their limits
        joints             which joints; left out: those that move the point; the others stand at
                           neutral
        wrap               "continuous": joints without limits go round
        time_limit: seconds after which it ends with NotPossible; None: as long as it takes
        """
        with deadlines.time_limit(time_limit, "KinematicGraph"):
            subject = subject_of(robot, "KinematicGraph")
            subject.place_of(point)
            names = moving_joints(subject, point, joints)
            columns = tuple(configurations.place(subject, name).start for name in names)
            going_round = choice(wrap, ("none", "continuous"), "build: wrap") == "continuous"
            grid = joint_grid(subject, names, columns, joint_resolution, ranges, going_round)
            size = number(voxel_size, "build: voxel_size")
            if size <= 0.0:
                raise InvalidInput(f"build: voxel_size is {size}, expected a length > 0 m")
            refuse_too_large(grid, most_memory)
            positions = all_positions(subject, point, grid, columns)
            voxels, voxel_of_node = distinct_cells(cells_of(positions, size))
            edges = np.empty((0, 2), dtype=np.int64)
            cells = (positions, voxel_of_node, voxels, voxel_of_node, edges)
            graph = cls(subject, point, grid, columns, size, *cells)
            graph._warn_of_holes()
            return graph._clustered(voxel_of_node)

    def save(self, file: str | os.PathLike[str]) -> Path:
        """The map without obstacles as an .npz file;
        `with_obstacles` brings them again after `load`."""
        whole = self
        if self.blocked is not None:
            whole = self.without_nodes(np.zeros(self.grid.size, dtype=bool))
        names = (*graph_files.ARRAYS, "point", "voxel_size")
        parts = {name: getattr(whole, name) for name in names}
        return graph_files.write(file, self.subject, parts, self.grid, self.columns)

    @classmethod
    def load(cls, file: str | os.PathLike[str], robot: RobotLike) -> KinematicGraph:
        """The map of a file, for the robot that it was built for."""
        return cls(**graph_files.read(file, subject_of(robot, "KinematicGraph.load")))

    # what it is

    @cached_property
    def nodes(self) -> np.ndarray:
        """(N, d) joint values of the grid."""
        return self.grid.nodes(slice(None))

    @property
    def grid_edges(self) -> int:
        """Pairs of neighbours in the joint grid."""
        return self.grid.edge_count

    @cached_property
    def vertices(self) -> Vertices:
        """Means over the nodes of each vertex; a joint that goes round has its circular mean."""
        inside = self.vertex_of_node >= 0
        label = self.vertex_of_node[inside]
        n = int(label.max(initial=-1)) + 1
        count = np.bincount(label, minlength=n)
        q = np.empty((n, len(self.columns)))
        for k, wrap in enumerate(self.grid.wraps):
            own = self.nodes[inside, k]
            if wrap:
                sine, cosine = (np.bincount(label, f(own), n) for f in (np.sin, np.cos))
                q[:, k] = np.arctan2(sine, cosine)
            else:
                q[:, k] = np.bincount(label, own, n) / count
        place = np.stack(
            [np.bincount(label, x, n) / count for x in self.positions[inside].T], axis=1
        )
        first = np.full(n, -1, dtype=np.int64)
        first[label[::-1]] = np.flatnonzero(inside)[::-1]
        return Vertices(q, place, count, self.voxel_of_node[first])

    def vertex_of(self, q: ArrayLike) -> int:
        """The vertex that holds the grid node nearest to q (nq,) or (d,)."""
        node = self.node_of(q, "vertex_of: q")
        vertex = int(self.vertex_of_node[node])
        if vertex < 0:
            raise InvalidInput(
                f"vertex_of: the configuration {self.shown(node)} is blocked by an obstacle"
            )
        return vertex

    def vertices_at(self, position: ArrayLike) -> np.ndarray:
        """All vertices whose voxel holds a position (3,): the branches that reach it."""
        cell = cells_of(finite(position, (3,), "vertices_at: position"), self.voxel_size)
        which = np.flatnonzero((self.voxels == cell).all(axis=1))
        if not len(which):
            return np.empty(0, dtype=np.int64)
        return np.flatnonzero(self.vertices.voxel == which[0])

    @cached_property
    def holes(self) -> np.ndarray:
        """(m, 3) indices of voxels that the point reaches between grid nodes but no node lies in.

        Found by sampling each grid cell finer, so that the point moves less than half a voxel
        between samples.
        """
        fine = max(1, math.ceil(2.0 * self._largest_step / self.voxel_size))
        values = tuple(
            np.interp(np.linspace(0, len(v) - 1, (len(v) - 1) * fine + 1), np.arange(len(v)), v)
            for v in self.grid.values
        )
        finer = JointGrid(values, self.grid.wraps)
        refuse_too_large(finer, MOST_MEMORY)
        reached = set()
        known = set(map(tuple, self.voxels.tolist()))
        for rows in chunks(finer.size):
            at = positions_of(self.subject, self.point, finer.nodes(np.arange(*rows)), self.columns)
            cells = np.unique(cells_of(at, self.voxel_size), axis=0)
            reached |= set(map(tuple, cells.tolist()))
        return np.array(sorted(reached - known), dtype=np.int64).reshape(-1, 3)

    # ways through it

    def vertex_costs(self, start: ArrayLike, cost: Cost = "task") -> np.ndarray:
        """(n,): least cost from the vertex of a configuration to every vertex,
        inf where there is no way."""
        return costs_from(self._graph(cost), self.vertex_of(start))

    def node_costs(self, start: ArrayLike, cost: str = "task") -> np.ndarray:
        """(N,): least cost along grid steps from the node of a configuration to each."""
        node, free = self.node_of(start, "node_costs: start"), self.vertex_of_node >= 0
        costs = np.full(self.grid.size, math.inf)
        if free[node]:
            first = int(np.count_nonzero(free[:node]))
            costs[free] = costs_from(node_graph(self, free, cost), first)
        return costs

    @deadlines.limited
    def plan(
        self,
        start: ArrayLike,
        goal: ArrayLike,
        cost: Cost = "task",
        heuristic: Heuristic | None = None,
        tolerance: float = 0.0,
        certify: bool = True,
        goal_is: GoalIs | None = None,
        *,
        time_limit: float | None = None,
    ) -> GraphPlan:
        """The cheapest way from a configuration (nq,) to a position (3,) of the point,
        or to a configuration (nq,).

        goal_is     "position" or "configuration"; None: by the shape of the goal, a position where
                    nq is 3
        tolerance   goal vertices are all whose mean position is this near to the goal [m], beside
                    those of its voxel
        certify     with obstacles: every step is proved free; steps that are not are planned around
        time_limit  seconds after which it ends with NotPossible; None: as long as it takes
        """
        begin = finite(start, (self.subject.nq,), "plan: start")
        if outside := self.outside(begin):
            return GraphPlan(False, f"start lies outside the ranges of the graph: {outside}")
        first = self.node_of(begin, "plan: start")
        if self.vertex_of_node[first] < 0:
            return GraphPlan(False, f"start {self.shown(first)} collides")
        near = number(tolerance, "plan: tolerance")
        if near < 0.0:
            raise InvalidInput(f"plan: tolerance is {near:g}, expected a distance >= 0 m")
        goals, reason, last = goals_of(self, goal, near, goal_is)
        if not len(goals):
            return GraphPlan(False, reason)
        graph, vertices = self._graph(cost), self.vertices
        if heuristic is None:
            bound = straight_bound(self, cost, goals)
        else:
            bound = np.asarray(heuristic(vertices, goals), dtype=float)
        if bound.shape != (len(vertices),) or not np.isfinite(bound).all():
            raise InvalidInput(
                f"plan: heuristic gave shape {bound.shape}, expected finite numbers "
                f"({len(vertices)},)"
            )
        sure = (cost in COSTS and heuristic is None) or admissible(graph, goals, bound)
        way = cheapest_way(graph, int(self.vertex_of_node[first]), goals, bound)
        share = way.expanded / len(vertices)
        if not way.vertices:
            reason = f"no way at this resolution ({self._resolution})"
            return GraphPlan(
                False, reason, expanded=way.expanded, explored=share, certified_optimal=sure
            )
        measure = cost if isinstance(cost, str) else "joint"
        refined = refine(self, first, last, way, goals, measure, certify)
        if refined.leaves:  # every way inside the cheapest vertices touches between nodes
            along = tuple(int(vertex) for vertex in refined.vertices)
            steps = itertools.pairwise(along)
            way = replace(way, vertices=along, cost=float(sum(graph[a, b] for a, b in steps)))
            sure = False
        costs = (way.cost, refined.path, refined.cost, way.expanded, share, sure, refined.free)
        answer = GraphPlan(True, "", way.vertices, *costs)
        if refined.free is False:
            reason = f"every way touches between its nodes at this resolution ({self._resolution})"
            return replace(answer, success=False, reason=reason)
        return answer

    # obstacles

    def with_obstacles(self, model: Any, obstacles: Any) -> KinematicGraph:
        """The map without the nodes that collide: they are tested in one batch,
        and touched vertices are split again.

        model       a collision model of the same robot, with `collides(q, obstacles)` and
                    `certify_motion`
        """
        hit = np.empty(self.grid.size, dtype=bool)
        for begin, end in chunks(self.grid.size):
            hit[begin:end] = model.collides(
                self._whole(self.grid.nodes(np.arange(begin, end))), obstacles
            )
        return self.without_nodes(hit, (model, obstacles))

    def without_nodes(
        self, blocked: ArrayLike, obstacles: tuple[Any, Any] | None = None
    ) -> KinematicGraph:
        """The map without some nodes (N,) of the grid; without any it is the first map again."""
        hit = np.asarray(blocked)
        if hit.shape != (self.grid.size,) or hit.dtype != bool:
            raise InvalidInput(
                f"without_nodes: blocked has shape {hit.shape}, expected flags ({self.grid.size},)"
            )
        fresh = replace(self, blocked=hit if hit.any() else None, obstacles=obstacles)
        return fresh._clustered(np.where(hit, BLOCKED, self.voxel_of_node))

    # how it is computed

    def _clustered(self, voxel: np.ndarray) -> KinematicGraph:
        vertex = clusters(self.grid, voxel)
        return replace(self, vertex_of_node=vertex, edges=touching(self.grid, vertex))

    def _graph(self, cost: Cost) -> csr_array:
        """Costs of steps between vertices; those of named costs are made once."""
        if not isinstance(cost, str):
            return costs_of_edges(self, cost)
        known = self._graphs
        if cost not in known:
            known[cost] = costs_of_edges(self, cost)
        return known[cost]

    @cached_property
    def _graphs(self) -> dict[str, csr_array]:
        return {}

    def node_of(self, q: ArrayLike, who: str) -> int:
        """The node nearest to a configuration, or to the values of its joints on the grid."""
        values = np.asarray(q, dtype=float)
        if values.shape == (self.subject.nq,):
            values = values[list(self.columns)]
        return self.grid.nearest(finite(values, (len(self.columns),), who))

    @property
    def _resolution(self) -> str:
        steps = ", ".join(f"{v[1] - v[0]:.4g}" for v in self.grid.values if len(v) > 1)
        return f"joint steps {steps}, voxels {self.voxel_size:.4g} m"

    def outside(self, q: np.ndarray) -> str:
        """Which joint of a configuration lies outside the ranges, or nothing."""
        q = finite(q, (self.subject.nq,), "outside: q")
        for k, (column, values, wrap) in enumerate(
            zip(self.columns, self.grid.values, self.grid.wraps, strict=True)
        ):
            slack = (values[1] - values[0]) / 2 if len(values) > 1 else math.inf
            if not wrap and not values[0] - slack <= q[column] <= values[-1] + slack:
                return f"joint {k} is {q[column]:.4g}, range {values[0]:.4g} .. {values[-1]:.4g}"
        return ""

    def _whole(self, q: np.ndarray) -> np.ndarray:
        return whole_configurations(self.subject, q, self.columns)

    def shown(self, node: int) -> str:
        """The joint values of a node, in words."""
        last = len(self.positions) - 1
        if whole(node, "shown: node", 0, f"a node from 0 to {last}") > last:
            raise InvalidInput(f"shown: node is {node}, expected one from 0 to {last}")
        return np.array2string(self.grid.nodes(np.array([node]))[0], precision=4)

    @cached_property
    def _largest_step(self) -> float:
        """The farthest the point moves along one step of one joint [m]."""
        at, largest = self.positions.reshape(*self.grid.shape, 3), 0.0
        for k, n in enumerate(self.grid.shape):
            if n > 1:
                apart = np.diff(at, axis=k)
                largest = max(largest, float(np.sqrt((apart**2).sum(axis=-1).max())))
        return largest

    def _warn_of_holes(self) -> None:
        if self._largest_step > self.voxel_size:
            log.warning(
                "KinematicGraph: the point moves up to %.3g m in one grid step and voxels are %.3g "
                "m: some voxels stay "
                "empty that the point does reach (graph.holes); lower joint_resolution or raise "
                "voxel_size",
                self._largest_step,
                self.voxel_size,
            )
