"""Roadmap: free configurations and the motions between neighbours, built once, asked many times.

Nodes are free samples, each joined to its k = e (1 + 1 / n) log N nearest by every motion that is
free (PRM*). Start and goal are joined to the nodes around them, and the shortest way is proved; a
motion that cannot be proved is left out and the way is looked for again. Source: [Kavraki1996],
[Karaman2011] (k of PRM*).
"""

from __future__ import annotations

import math
import os
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from linkwork import deadlines
from linkwork.arguments import as_doubles, number
from linkwork.collision import CollisionModel, Obstacles
from linkwork.errors import InvalidFile, InvalidInput
from linkwork.formats.tabular import Tabular
from linkwork.planning.plan_result import Plan
from linkwork.planning.questions import (
    failure,
    goals_of,
    length_of,
    one_configuration,
    refuse_loops,
    space_of,
)
from linkwork.planning.space import Space

STEP = 1.0 / 32.0
PROOFS = 200  # motions that may fail their proof before the answer is "no path"
VERSION = 1
FIRST = 250  # nodes of the first map
MOST_NODES = 1_000_000
_ROUND = 256  # nodes whose neighbours are looked for without a look at the clock


@dataclass(frozen=True, eq=False)
class Roadmap(Tabular, rows="free_nodes", aside=("edges", "free_edges")):
    """Nodes (n, nq), candidate edges (m, 2) between neighbours, and which of them are free now.

    free_nodes (n,), free_edges (m,)   among `obstacles`; `updated` asks them again for other
                                       obstacles
    """

    model: CollisionModel
    obstacles: Obstacles | None
    nodes: np.ndarray
    edges: np.ndarray
    free_nodes: np.ndarray
    free_edges: np.ndarray
    step: float = STEP

    @staticmethod
    def build(
        model: CollisionModel,
        obstacles: Obstacles | Sequence[Any] | None = None,
        nodes: int = 2000,
        seed: int = 0,
        step: float = STEP,
        neighbours: int | None = None,
        spare: float = 0.0,
        time_limit: float | None = None,
    ) -> Roadmap:
        """A roadmap of free samples.

        neighbours   of each node; None: those of PRM*
        spare        share of nodes more that may touch `obstacles`, for maps that are to be
                     `updated`
        time_limit   seconds after which it ends with NotPossible; None: as long as it takes
        """
        with deadlines.time_limit(time_limit, "Roadmap.build"):
            return Roadmap._built(model, obstacles, nodes, seed, step, neighbours, spare)

    @staticmethod
    def _built(
        model: CollisionModel,
        obstacles: Obstacles | Sequence[Any] | None,
        nodes: int,
        seed: int,
        step: float,
        neighbours: int | None,
        spare: float,
    ) -> Roadmap:
        count = deadlines.counted(nodes, "Roadmap.build: nodes", 2, MOST_NODES)
        if not number(step, "Roadmap.build: step") > 0.0:
            raise InvalidInput(
                f"Roadmap.build: step is {step:g}, expected a positive length [rad or m]"
            )
        around = (
            obstacles
            if obstacles is None or isinstance(obstacles, Obstacles)
            else Obstacles(obstacles)
        )
        space = space_of(model, None, None, "Roadmap.build")
        refuse_loops(model.subject, "Roadmap.build")
        rows = model.free_samples(count, around, seed)
        more = round(number(spare, "Roadmap.build: spare") * count)
        if more > 0:
            rows = np.concatenate([rows, model.free_samples(more, None, seed + 1)])
        if neighbours is None:
            k = _neighbours(len(rows), rows.shape[1])
        else:
            k = deadlines.counted(neighbours, "Roadmap.build: neighbours", 1, len(rows) - 1)
        bare = Roadmap(
            model, around, rows, _pairs(space, rows, k), np.zeros(0), np.zeros(0), float(step)
        )
        return bare.updated(around)

    def __repr__(self) -> str:
        return (
            f"<Roadmap: {int(self.free_nodes.sum())} of {len(self.nodes)} nodes, "
            f"{int(self.free_edges.sum())} of {len(self.edges)} edges free>"
        )

    def updated(self, obstacles: Obstacles | Sequence[Any] | None) -> Roadmap:
        """The same map among other obstacles: nodes and edges are asked again, in two batches;
        none is made anew."""
        around = (
            obstacles
            if obstacles is None or isinstance(obstacles, Obstacles)
            else Obstacles(obstacles)
        )
        free_nodes = ~self.model.collides(self.nodes, around)
        candidates = free_nodes[self.edges].all(axis=1)
        free_edges = np.zeros(len(self.edges), dtype=bool)
        a, b = self.edges[candidates].T
        starts, ways = self.nodes[a], self.space.difference(self.nodes[a], self.nodes[b])
        free_edges[candidates] = self.model.motion_is_free(starts, starts + ways, around, self.step)
        return replace(self, obstacles=around, free_nodes=free_nodes, free_edges=free_edges)

    def plan(self, start: ArrayLike, goal: Any, certify: bool = True, neighbours: int = 16) -> Plan:
        """The shortest way along the map from a configuration to a goal (as `plan` takes them)."""
        clock = time.perf_counter()
        space = self.space
        begin = one_configuration(space, start, "plan: start")
        goals, reason = goals_of(self.model, space, begin, goal, self.obstacles, 0)
        seconds = {"goals": time.perf_counter() - clock, "search": 0.0, "certify": 0.0}
        if reason:
            return failure(self.model, self.obstacles, reason, goals, seconds)
        clock = time.perf_counter()
        points = np.concatenate([self.nodes, begin[None], goals])
        edges = [self.edges[self.free_edges], self.joined(points, 1 + len(goals), neighbours)]
        joined = np.concatenate(edges)
        lengths = np.linalg.norm(
            space.difference(points[joined[:, 0]], points[joined[:, 1]]), axis=1
        )
        usable = np.ones(len(joined), dtype=bool)
        ends = np.arange(len(self.nodes) + 1, len(points))
        for _ in range(PROOFS):
            way = _shortest(len(points), joined[usable], lengths[usable], len(self.nodes), ends)
            seconds["search"] += time.perf_counter() - clock
            if way is None:
                break
            path = space.unwrapped(points[way])
            if not certify:
                return self._solved(path, False, np.nan, len(points), seconds)
            clock = time.perf_counter()
            proof = self.model.certify_motion(path[:-1], path[1:], self.obstacles)
            seconds["certify"] += time.perf_counter() - clock
            if np.all(proof.free):
                return self._solved(
                    path, True, float(np.min(proof.clearance)), len(points), seconds
                )
            clock = time.perf_counter()
            steps = np.stack([way[:-1], way[1:]], axis=1)
            touching = steps[~np.atleast_1d(proof.free)].tolist()
            bad = {frozenset(pair) for pair in touching}
            usable &= np.array([frozenset(pair) not in bad for pair in joined.tolist()])
        what = (
            f"no path: {int(self.free_nodes.sum())} nodes and {int(usable.sum())} edges do not "
            "join start and goal"
        )
        return failure(self.model, self.obstacles, what, goals, seconds)

    def save(self, file: str | os.PathLike[str]) -> Path:
        """Nodes and edges as a .npz file; model and obstacles are given again to load it."""
        place = Path(file)
        with open(place, "wb") as target:
            np.savez_compressed(
                target,
                version=VERSION,
                robot=self.model.subject.model.name,
                nodes=self.nodes,
                edges=self.edges,
                step=self.step,
            )
        return place

    @staticmethod
    def load(
        file: str | os.PathLike[str],
        model: CollisionModel,
        obstacles: Obstacles | Sequence[Any] | None = None,
    ) -> Roadmap:
        """The map of a file for this model, nodes and edges asked again among these obstacles."""
        try:
            with np.load(file, allow_pickle=False) as stored:
                name, version = str(stored["robot"]), int(stored["version"])
                nodes, edges, step = stored["nodes"], stored["edges"], float(stored["step"])
        except FileNotFoundError:
            raise InvalidFile(f"Roadmap.load: there is no file {file}") from None
        except (OSError, ValueError, KeyError) as error:
            raise InvalidFile(f"Roadmap.load: {file} is no roadmap: {error}") from None
        nq = model.subject.nq
        right = (
            version == VERSION
            and nodes.ndim == 2
            and nodes.shape[1] == nq
            and edges.shape[1:] == (2,)
        )
        if not right or (len(edges) and not (0 <= edges.min() and edges.max() < len(nodes))):
            own = f'robot "{model.subject.model.name}" has nq = {nq}'
            raise InvalidFile(
                f'Roadmap.load: {file} is a map of "{name}" with nodes {nodes.shape}; {own}'
            )
        return Roadmap(model, None, nodes, edges, np.zeros(0), np.zeros(0), step).updated(obstacles)

    @property
    def space(self) -> Space:
        """The configurations that the map lies in."""
        return space_of(self.model, None, None, "Roadmap")

    def joined(self, points: np.ndarray, more: int, neighbours: int) -> np.ndarray:
        """Free edges between the last points and the nodes around them, and among each other."""
        points = as_doubles(points, "joined: points")
        if points.ndim != 2:
            raise InvalidInput(
                f"joined: points has shape {points.shape}, expected rows of configurations"
            )
        if len(points) != len(self.nodes) + more or more < 1:
            nodes = f"the {len(self.nodes)} nodes of the map and {more} more"
            raise InvalidInput(f"joined: points has {len(points)} rows, expected {nodes}")
        count = len(points) - more
        space, free = self.space, np.flatnonzero(self.free_nodes)
        pairs = []
        for k in range(count, len(points)):
            distances = space.distance(
                np.broadcast_to(points[k], (len(free), points.shape[1])), points[free]
            )
            near = np.concatenate(
                [free[np.argsort(distances, kind="stable")[:neighbours]], np.arange(count, k)]
            )
            pairs.append(np.stack([np.full(len(near), k), near], axis=1))
        rows = np.concatenate(pairs)
        starts = points[rows[:, 0]]
        ways = space.difference(starts, points[rows[:, 1]])
        return rows[self.model.motion_is_free(starts, starts + ways, self.obstacles, self.step)]

    def _solved(
        self, path: np.ndarray, proved: bool, clearance: float, nodes: int, seconds: Any
    ) -> Plan:
        parts = (self.model, self.obstacles)
        return Plan(
            True,
            "solved",
            path,
            length_of(path),
            proved,
            clearance,
            path[-1],
            0,
            nodes,
            0,
            seconds,
            *parts,
        )


def growing(
    model: CollisionModel,
    start: np.ndarray,
    goals: np.ndarray,
    obstacles: Obstacles | None,
    seed: int,
    step: float,
    limit: float,
    good_enough: float,
    seconds: dict[str, float],
) -> Plan:
    """The best certified way on maps of FIRST, 2 FIRST, ... nodes, until there is no time."""
    aim = number(good_enough, "plan: good_enough")
    if limit == np.inf:
        raise InvalidInput(
            'plan: method "prm_star" goes on until time_limit, expected a number of seconds'
        )
    clock, nodes, best = time.perf_counter(), FIRST, None
    history: list[tuple[float, float]] = []
    while best is None or (best.length > aim and time.perf_counter() - clock < limit):
        answer = Roadmap.build(model, obstacles, nodes, seed, step).plan(start, goals)
        if answer.success and (best is None or answer.length < best.length):
            best = answer
            history.append((time.perf_counter() - clock, best.length))
        nodes *= 2
        if time.perf_counter() - clock > limit:
            break
    total = {**seconds, "search": time.perf_counter() - clock}
    if best is None:
        what = (
            f"no path: maps of up to {nodes // 2} nodes do not join start and goal, within "
            f"{limit:g} s"
        )
        return failure(model, obstacles, what, goals, total)
    return replace(best, seconds=total, history=tuple(history))


def _neighbours(nodes: int, size: int) -> int:
    """k of PRM*: e (1 + 1 / n) log N."""
    return max(1, math.ceil(math.e * (1.0 + 1.0 / size) * math.log(max(nodes, 2))))


def _pairs(space: Space, rows: np.ndarray, k: int) -> np.ndarray:
    """Each row with its k nearest, every pair once;
    joints that turn without end are near across the seam."""
    from scipy.spatial import cKDTree  # takes longer to import than all of linkwork

    scaled = rows * np.array(space.weights)
    turns = np.array(space.turns) * np.array(space.weights)
    box = np.where(turns > 0.0, turns, 0.0)
    wrapped = np.where(turns > 0.0, np.mod(scaled, np.where(turns > 0.0, turns, 1.0)), scaled)
    tree = cKDTree(wrapped, boxsize=box if turns.any() else None)
    count = len(rows)
    asked = min(k + 1, count)
    near = [tree.query(wrapped[some], k=asked)[1] for some in deadlines.rounds(count, _ROUND)]
    first = np.repeat(np.arange(count), asked)
    both = np.sort(np.stack([first, np.concatenate(near).ravel()], axis=1), axis=1)
    deadlines.check()
    different = both[both[:, 0] != both[:, 1]]
    # numbers sort ten times as fast as rows
    keys = np.unique(different[:, 0] * count + different[:, 1])
    return np.stack(np.divmod(keys, count), axis=1)


def _shortest(
    count: int, edges: np.ndarray, lengths: np.ndarray, start: int, ends: np.ndarray
) -> np.ndarray | None:
    """Numbers of the points on the shortest way to any end, or None."""
    from scipy.sparse import csr_matrix
    from scipy.sparse.csgraph import dijkstra

    graph = csr_matrix(
        (np.maximum(lengths, 1e-300), (edges[:, 0], edges[:, 1])), shape=(count, count)
    )
    distance, before = dijkstra(graph, directed=False, indices=start, return_predecessors=True)
    end = int(ends[np.argmin(distance[ends])])
    if not np.isfinite(distance[end]):
        return None
    way = [end]
    while way[-1] != start:
        way.append(int(before[way[-1]]))
    return np.array(way[::-1])
