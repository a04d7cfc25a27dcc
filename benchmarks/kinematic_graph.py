"""How fast is a kinematic graph built and asked, beside Algorithm 1 in plain Python,
numpy + scipy.sparse, and OMPL?

The planar arm and the spatial one of the paper's digest. Algorithm 1 as it is printed asks every
voxel about every node (lines 7-14); the same with the voxel of each node computed is what a good
Python programmer would write, and has a row without a target. The spatial peer lists all pairs of
neighbours and leaves components to scipy. OMPL's PRM asks a Python function about discs in the way
of two segments, as fast as plain Python can.
"""

from __future__ import annotations

import itertools
import logging
import math
import resource
import statistics
import time
from collections.abc import Callable
from typing import Any

import numpy as np

import linkwork as lw
from benchmarks.measure import Row
from linkwork.planning import KinematicGraph
from linkwork.planning.sampling import positions_of
from linkwork.reproduce.paper_06 import GOAL, START, build, colliding, planar_arm

DISC, RADIUS = (0.1, 0.7), 0.1  # [m]
TURNS = 3


def rows() -> list[Row]:
    logging.getLogger("linkwork").setLevel(logging.ERROR)
    before = lw.threads()
    lw.threads(1)
    try:
        return [*_planar(), *_spatial(), *_queries(), _large()]
    finally:
        lw.threads(before)


def _best(work: Any, turns: int = TURNS) -> float:
    taken = []
    for _ in range(turns):
        clock = time.perf_counter()
        work()
        taken.append(time.perf_counter() - clock)
    return min(taken)


def _planar() -> list[Row]:
    arm = planar_arm()
    ours = build(arm, 1.0, 0.05)
    found = []
    for name, assigned, target in (
        ("Algorithm 1 as printed, in Python", _asked_of_every_voxel, 100),
        ("Algorithm 1 with voxels computed, in Python", _by_index, None),
    ):
        clock = time.perf_counter()
        sizes = _algorithm_1(1.0, 0.05, assigned)
        theirs = time.perf_counter() - clock
        assert sizes == (len(ours.vertices), len(ours.edges)), sizes
        taken = _best(lambda: build(arm, 1.0, 0.05), 3 * TURNS)
        found.append(Row("KinematicGraph.build", "2R, 1 deg, 0.05 m", taken, theirs, name, target))
    return found


Nodes = dict[tuple[int, int], tuple[float, float]]
Members = dict[tuple[int, int], set[tuple[int, int]]]


def _by_index(nodes: Nodes, voxel: float) -> Members:
    """The voxel of each node by rounding."""
    members: Members = {}
    for node, (x, y) in nodes.items():
        cell = (math.ceil(x / voxel - 0.5 - 1e-9), math.ceil(y / voxel - 0.5 - 1e-9))
        members.setdefault(cell, set()).add(node)
    return members


def _asked_of_every_voxel(nodes: Nodes, voxel: float) -> Members:
    """Lines 7-14: of every voxel of the ball all nodes are asked;
    a node on a face belongs to the lower one."""
    reach = math.ceil(0.9 / voxel) + 1
    members: Members = {}
    for cell in itertools.product(range(-reach, reach + 1), repeat=2):
        if math.hypot(*cell) * voxel > 0.9 + voxel:
            continue
        left, below = ((k - 0.5) * voxel + 1e-9 * voxel for k in cell)
        right, above = left + voxel, below + voxel
        inside = {
            node for node, (x, y) in nodes.items() if left < x <= right and below < y <= above
        }
        if inside:
            members[cell] = inside
    return members


def _algorithm_1(
    degrees: float, voxel: float, assigned: Callable[[Nodes, float], Members]
) -> tuple[int, int]:
    """Numbers of vertices and edges, node by node over dictionaries and sets."""
    n = round(360 / degrees) + 1
    angles = [math.radians(-180 + 360 * k / (n - 1)) for k in range(n)]
    nodes = {}
    for i, j in itertools.product(range(n), repeat=2):
        x = 0.5 * math.cos(angles[i]) + 0.4 * math.cos(angles[i] + angles[j])
        y = 0.5 * math.sin(angles[i]) + 0.4 * math.sin(angles[i] + angles[j])
        nodes[i, j] = (x, y)
    members = assigned(nodes, voxel)
    steps = [step for step in itertools.product((-1, 0, 1), repeat=2) if any(step)]
    owner: dict[tuple[int, int], int] = {}
    count = 0
    for inside in members.values():
        left = set(inside)
        while left:
            queue = [left.pop()]
            owner[queue[0]] = count
            while queue:
                i, j = queue.pop()
                for a, b in steps:
                    there = (i + a, j + b)
                    if there in left:
                        left.remove(there)
                        owner[there] = count
                        queue.append(there)
            count += 1
    edges = set()
    for (i, j), own in owner.items():
        for a, b in steps:
            other = owner.get((i + a, j + b), own)
            if other != own:
                edges.add((min(own, other), max(own, other)))
    return count, len(edges)


def _spatial_arm() -> lw.Robot:
    table = [(0.0, 0.4, math.pi / 2), (0.5, 0.0, 0.0), (0.4, 0.0, 0.0)]
    links = [
        {"a": a, "d": d, "alpha": alpha, "theta": 0.0, "joint": "revolute"} for a, d, alpha in table
    ]
    return lw.Robot.from_dh(links, check="any", name="spatial-3r")


RANGES = np.radians([(-180, 180), (0, 180), (-150, 150)])


def _spatial_graph(arm: lw.Robot, degrees: float, voxel: float) -> KinematicGraph:
    return KinematicGraph.build(arm, arm.bodies[-1], math.radians(degrees), voxel, ranges=RANGES)


def _spatial() -> list[Row]:
    arm = _spatial_arm()
    ours = _spatial_graph(arm, 5.0, 0.1)
    found: dict[str, tuple[int, int]] = {}
    theirs = _best(lambda: found.update(peer=_by_scipy(ours, 0.1)))
    assert found["peer"] == (len(ours.vertices), len(ours.edges)), found
    taken = _best(lambda: _spatial_graph(arm, 5.0, 0.1))
    case = f"3R, 5 deg, 0.1 m, {len(ours.nodes)} nodes"
    return [Row("KinematicGraph.build", case, taken, theirs, "numpy + scipy.sparse", 2)]


def _by_scipy(graph: KinematicGraph, voxel: float) -> tuple[int, int]:
    """Every pair of neighbours as an array, components by scipy, edges as distinct pairs of
    labels."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    grid = graph.grid
    q = np.stack(np.meshgrid(*grid.values, indexing="ij"), axis=-1).reshape(-1, len(grid.values))
    at = positions_of(graph.subject, graph.point, q, graph.columns)
    cells = np.ceil(at / voxel - 0.5 - 1e-9).astype(np.int64)
    _, cell = np.unique(cells, axis=0, return_inverse=True)
    numbers = np.arange(grid.size).reshape(grid.shape)
    pairs = []
    for step in itertools.product((-1, 0, 1), repeat=len(grid.shape)):
        if step > (0,) * len(step):
            here = tuple(
                slice(max(0, -s), n - max(0, s)) for s, n in zip(step, grid.shape, strict=True)
            )
            there = tuple(
                slice(max(0, s), n - max(0, -s)) for s, n in zip(step, grid.shape, strict=True)
            )
            pairs.append(np.stack([numbers[here].ravel(), numbers[there].ravel()], axis=1))
    a, b = np.concatenate(pairs).T
    same = cell[a] == cell[b]
    inside = coo_array(
        (np.ones(same.sum(), dtype=bool), (a[same], b[same])), shape=(grid.size, grid.size)
    )
    count, label = connected_components(inside, directed=False)
    ends = np.sort(np.stack([label[a[~same]], label[b[~same]]], axis=1), axis=1)
    return count, len(np.unique(ends[ends[:, 0] != ends[:, 1]], axis=0))


def _queries() -> list[Row]:
    graph = build(planar_arm(), 1.0, 0.05)
    hit = colliding(graph.nodes, (*DISC, RADIUS))
    update = _best(lambda: graph.without_nodes(hit), 5)
    around = graph.without_nodes(hit)
    answer = around.plan(START, GOAL, cost="joint")
    optimum = 1.8465407186  # of the node grid, joint length; see tests
    taken = _best(lambda: around.plan(START, GOAL, cost="joint"), 5)
    found = [
        Row(
            "KinematicGraph, obstacle update",
            "2R, 130 321 nodes",
            update,
            target=0.020,
            smaller_is_better=True,
        ),
        Row(
            "KinematicGraph, refined length over the node optimum",
            "disc scene",
            answer.path_cost / optimum,
            unit="",
            target=1.1,
            smaller_is_better=True,
        ),
    ]
    try:
        theirs = statistics.median(_prm_seconds(np.radians([106.619, 100.0])) for _ in range(20))
    except ImportError:
        return found
    return [
        *found,
        Row(
            "KinematicGraph.plan, refined",
            "disc scene",
            taken,
            theirs,
            "OMPL PRM, first solution",
            1,
        ),
    ]


def _prm_seconds(goal: np.ndarray) -> float:
    from ompl import base, geometric, util

    util.setLogLevel(util.LogLevel.LOG_NONE)
    space = base.RealVectorStateSpace(2)
    bounds = base.RealVectorBounds(2)
    bounds.setLow(-math.pi)
    bounds.setHigh(math.pi)
    space.setBounds(bounds)
    setup = geometric.SimpleSetup(space)
    setup.setStateValidityChecker(lambda state: not _touches(state[0], state[1]))
    setup.getSpaceInformation().setStateValidityCheckingResolution(
        math.radians(1.0) / space.getMaximumExtent()
    )
    first, last = space.allocState(), space.allocState()
    for state, q in ((first, START), (last, goal)):
        state[0], state[1] = float(q[0]), float(q[1])
    setup.setStartAndGoalStates(first, last)
    setup.setPlanner(geometric.PRM(setup.getSpaceInformation()))
    clock = time.perf_counter()
    solved = setup.solve(5.0)
    taken = time.perf_counter() - clock
    assert solved
    return taken


def _touches(first: float, second: float) -> bool:
    """Whether two segments of 0.5 and 0.4 m touch the disc; plain Python."""
    x1, y1 = 0.5 * math.cos(first), 0.5 * math.sin(first)
    x2, y2 = x1 + 0.4 * math.cos(first + second), y1 + 0.4 * math.sin(first + second)
    return _near(0.0, 0.0, x1, y1) or _near(x1, y1, x2, y2)


def _near(ax: float, ay: float, bx: float, by: float) -> bool:
    x, y = bx - ax, by - ay
    t = min(max(((DISC[0] - ax) * x + (DISC[1] - ay) * y) / (x * x + y * y), 0.0), 1.0)
    return math.hypot(ax + t * x - DISC[0], ay + t * y - DISC[1]) < RADIUS


def _large() -> Row:
    """About five million nodes; the peak of the whole process stands in the case."""
    arm = _spatial_arm()
    clock = time.perf_counter()
    graph = _spatial_graph(arm, 1.55, 0.05)
    taken = time.perf_counter() - clock
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
    case = f"3R, {graph.grid.size / 1e6:.2f} million nodes, peak {peak:.2f} GB"
    return Row("KinematicGraph.build, large", case, taken, target=30.0, smaller_is_better=True)
