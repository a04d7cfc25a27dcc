"""Paper 06: the kinematic graph, of Corves and Shahidi.

Table 1 with the joint range as it was computed (one sample more than stated), the honest table, and
the paper's own cost, heuristic and test of collisions, which live here alone because they mislead.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from linkwork.planning import KinematicGraph
from linkwork.planning.graph_plan import Vertices
from linkwork.reproduce.case import Case, Paper
from linkwork.reproduce.figure import Redrawn
from linkwork.robot import Robot

LENGTHS = (0.5, 0.4)
# (joint step [deg], voxel [m]): vertices and edges of Table 1, then of the grid as stated
TABLE = {
    (2.0, 0.1): ((581, 1745), (581, 1744)),
    (2.0, 0.05): ((2441, 7289), (2425, 7248)),
    (2.0, 0.03): ((6579, 23153), (6541, 23028)),
    (2.0, 0.01): ((30561, 120303), (30337, 119456)),
    (1.0, 0.1): ((601, 1760), (601, 1760)),
    (1.0, 0.05): ((2389, 7134), (2385, 7120)),
    (1.0, 0.03): ((6534, 19597), (6517, 19544)),
    (1.0, 0.01): ((64348, 237516), (64129, 236764)),
    (0.5, 0.1): ((577, 1704), (577, 1704)),
    (0.5, 0.05): ((2353, 7031), (2353, 7028)),
    (0.5, 0.03): ((6510, 19635), (6505, 19620)),
    (0.5, 0.01): ((57827, 183843), (57753, 183623)),
}
VOXELS = {0.1: 292, 0.05: 1088, 0.03: 2928, 0.01: 25516}  # occupied, at 1 and 0.5 deg
COARSE = (2.0, 0.01)  # the only grid that leaves voxels empty which the tip reaches
OCCUPIED, EMPTY, WITHIN = 18692, 6784, 24732  # its voxels; those within reach, empty and all
# of edges at 0.5 deg; Table 1 has a tenth of them
RATIOS = {
    0.1: 8.2e-4,
    0.03: 0.0095,
    0.01: 0.0886,
}
GRID_EDGES = {2.0: 129960, 1.0: 519120, 0.5: 2075040}
START, GOAL = np.radians([30.0, 60.0]), (-0.5, 0.3, 0.0)
# cost: free way, way with the disc at (0.05, 0.55) where only means of vertices are tested
QUERIES = {"task": (1.0927506516, 1.3781162056), "joint": (1.8769575589, 4.0393295651)}
PAPER_COST = {"free": (7.19152e-5, 7.22666e-5), "disc": (1.005901e-3, 3.816093e-3)}
DISC = (0.05, 0.55, 0.08)
CORRECTIONS = (
    "'C_res = 1. and C_res = 0.05.' means T_res = 0.05; eq. 13 lacks a norm, line 26 of Algorithm "
    "1 an intersection",
    "lines 8-13 give a sample on a face to every voxel that it touches; the rule is attributed to "
    "an order of nodes",
    "lines 27-32 draw nodes again that are in a cluster already, and pop from an empty set for a "
    "node alone",
    "lines 40-44 empty the sets that they look things up in; the random order changes nothing, "
    "components are unique",
    "eq. 15 compares a squared distance with delta, which must be (T_res sqrt(d) / 2)^2 or a goal "
    "can be missed",
    "eq. 9, a plain mean, is wrong for joints that go round, and where it stands is not the mean "
    "of the positions",
    "'any path is feasible': means that are neighbours differ by up to 47 deg in a joint; the ways "
    "of nodes are not",
    "Table 1 was computed with joint ranges of -180 .. 180 deg plus one step, which no text says; "
    "links 0.5 and 0.4 m",
    "at 0.5 deg the grid has 2 075 040 edges, not 20 570 440; four ratios of Table 1 are ten times "
    "too small",
    "3^6 - 1 is 728, not 726; the decoupled wrist has d5 = 0, not d4 = 0",
    "heuristic (12) is not admissible: its way costs 3.8 times the optimum beside an obstacle",
    "testing the means of vertices misses collisions: the way it returns passes through the disc",
    "eq. 13 (nearest mean) gives another vertex than the one that holds the node for 38 % of "
    "the nodes",
)


def paper() -> Paper:
    """Table 1, the honest table, grid sizes and queries."""
    robot = planar_arm()
    graph = build(robot, 1.0, 0.05)
    cases = [*_table(robot), *_queries(graph), *_means(graph)]
    where = "`lw.planning.KinematicGraph`"
    return Paper(
        6, "Corves2022", "Kinematic graph for motion planning", tuple(cases), CORRECTIONS, where
    )


def planar_arm() -> Robot:
    """Two links in the plane; their lengths were found by search, the paper does not give them."""
    rows = [{"a": a, "d": 0.0, "alpha": 0.0, "theta": 0.0, "joint": "revolute"} for a in LENGTHS]
    return Robot.from_dh(rows, check="any", name="planar-2r")


def build(robot: Robot, degrees: float, voxel: float, extra: bool = False) -> KinematicGraph:
    """The graph with the range as stated, or with the one sample more that Table 1 has."""
    step = math.radians(degrees)
    ranges = [(-math.pi, math.pi + step if extra else math.pi)] * 2
    return KinematicGraph.build(robot, robot.bodies[-1], step, voxel, ranges=ranges)


def _table(robot: Robot) -> list[Case]:
    cases = []
    for (degrees, voxel), (printed, honest) in TABLE.items():
        for what, extra, sizes in (("Table 1", True, printed), ("as stated", False, honest)):
            graph = build(robot, degrees, voxel, extra)
            who = f"{what}, {degrees:g} deg and {voxel:g} m"
            note = "one sample more than stated" if extra else "ranges of -180 .. 180 deg"
            cases += [
                Case(f"{who}: vertices", sizes[0], len(graph.vertices), 0, "", note),
                Case(f"{who}: edges", sizes[1], len(graph.edges), 0, "", note),
            ]
        if degrees < 2.0:  # the last graph has the ranges as stated
            cases.append(Case(f"{who}: occupied voxels", VOXELS[voxel], len(graph.voxels), 0))
        cases += _holes(graph, who, (degrees, voxel) == COARSE)
        if degrees == 0.5 and voxel in RATIOS:
            share = printed[1] / GRID_EDGES[degrees]
            digit = 0.5 * 10.0 ** (math.floor(math.log10(RATIOS[voxel])) - 1)
            cases.append(
                Case(
                    f"Table 1, 0.5 deg and {voxel:g} m: ratio of edges", RATIOS[voxel], share, digit
                )
            )
        if voxel == 0.1:
            count = build(robot, degrees, voxel).grid_edges
            cases.append(Case(f"grid edges at {degrees:g} deg", GRID_EDGES[degrees], count, 0))
    return cases


def _holes(graph: KinematicGraph, who: str, is_coarse: bool) -> list[Case]:
    """Voxels that lie wholly within the reach of the tip, and how many of them no node lies in."""
    within = within_reach(graph.voxel_size)
    empty = len(within - {(x, y) for x, y, _ in graph.voxels.tolist()})
    cases = [Case(f"{who}: empty voxels wholly within reach", EMPTY if is_coarse else 0, empty, 0)]
    if is_coarse:
        cases += [
            Case(f"{who}: occupied voxels", OCCUPIED, len(graph.voxels), 0),
            Case(f"{who}: voxels wholly within reach", WITHIN, len(within), 0),
        ]
    return cases


def within_reach(voxel: float) -> set[tuple[int, int]]:
    """Voxels of the plane wholly between the circles that the tip draws with the arm folded and
    stretched."""
    index = np.arange(-math.ceil(1.0 / voxel), math.ceil(1.0 / voxel) + 1)
    nearest = np.maximum(np.abs(index) - 0.5, 0.0) * voxel
    farthest = (np.abs(index) + 0.5) * voxel
    least = np.hypot(*np.meshgrid(nearest, nearest, indexing="ij"))
    most = np.hypot(*np.meshgrid(farthest, farthest, indexing="ij"))
    x, y = np.nonzero((least >= abs(LENGTHS[0] - LENGTHS[1])) & (most <= sum(LENGTHS)))
    return set(zip(index[x].tolist(), index[y].tolist(), strict=True))


def _queries(graph: KinematicGraph) -> list[Case]:
    cases = []
    blocked = colliding(graph.vertices.q, DISC)
    for cost, (free, beside) in QUERIES.items():
        plan = graph.plan(START, GOAL, cost)
        cases.append(Case(f"cheapest way, {cost} cost, free", free, plan.cost, 1e-9))
        wrong = graph.plan(START, GOAL, _walled(cost, blocked))
        note = "the way passes through the disc: means are tested, not nodes"
        cases.append(
            Case(f"cheapest way, {cost} cost, means tested", beside, wrong.cost, 1e-9, "", note)
        )
    for case, wall in (("free", np.zeros(len(blocked), dtype=bool)), ("disc", blocked)):
        best = graph.plan(START, GOAL, _walled(paper_cost, wall))
        misled = graph.plan(START, GOAL, _walled(paper_cost, wall), heuristic=paper_heuristic)
        optimum, published = PAPER_COST[case]
        note = "the heuristic (12) is not admissible"
        cases += [
            Case(f"cost (11), {case}: optimum", optimum, best.cost, 1e-5 * optimum),
            Case(
                f"cost (11) with heuristic (12), {case}",
                published,
                misled.cost,
                1e-5 * published,
                "",
                note,
            ),
        ]
    return cases


def _means(graph: KinematicGraph) -> list[Case]:
    """What the means of vertices say and hide: section 3 of the paper takes them for the vertices
    themselves."""
    from scipy.spatial import cKDTree

    vertices = graph.vertices
    nearest = cKDTree(vertices.q).query(graph.nodes)[1]
    wrong = 100.0 * float(np.mean(nearest != graph.vertex_of_node))
    hit, mean_hit = colliding(graph.nodes, DISC), colliding(vertices.q, DISC)
    count = np.bincount(graph.vertex_of_node[hit], minlength=len(vertices))
    return [
        Case("nodes whose nearest mean is of another vertex (13)", 37.8, wrong, 0.051, "%"),
        Case("vertices whose mean collides with the disc", 169, int(mean_hit.sum()), 0),
        Case("vertices with a node that collides", 227, int((count > 0).sum()), 0),
        Case("vertices of colliding nodes alone", 110, int((count == vertices.count).sum()), 0),
        Case(
            "vertices that collide behind a free mean", 58, int(((count > 0) & ~mean_hit).sum()), 0
        ),
        Case(
            "median step of a joint between neighbouring means",
            7.9,
            float(np.median(mean_steps(graph))),
            0.051,
            "deg",
        ),
    ]


def mean_steps(graph: KinematicGraph) -> np.ndarray:
    """(m,) [deg] the largest step of a joint along each edge, from mean to mean."""
    a, b = graph.edges.T
    return np.degrees(np.abs(graph.vertices.q[a] - graph.vertices.q[b]).max(axis=1))


def manipulability(vertices: Vertices) -> np.ndarray:
    """mu = l1 l2 |sin q2| of the planar arm, eq. 10."""
    return LENGTHS[0] * LENGTHS[1] * np.abs(np.sin(vertices.q[:, 1]))


def paper_cost(vertices: Vertices, here: np.ndarray, there: np.ndarray) -> np.ndarray:
    """c = |dp|^2 (mu_max - mu(C')), eq. 11."""
    apart = ((vertices.position[there] - vertices.position[here]) ** 2).sum(axis=1)
    return apart * (LENGTHS[0] * LENGTHS[1] - manipulability(vertices)[there])


def paper_heuristic(vertices: Vertices, goals: np.ndarray) -> np.ndarray:
    """h = |p_goal - p|^2 (mu_max - mu(C)), eq. 12; not admissible."""
    apart = ((vertices.position - np.array(GOAL)) ** 2).sum(axis=1)
    return apart * (LENGTHS[0] * LENGTHS[1] - manipulability(vertices))


def _walled(cost, blocked: np.ndarray):
    """A cost that never enters blocked vertices (a million for a step),
    as the paper leaves them out."""

    def costs(vertices: Vertices, here: np.ndarray, there: np.ndarray) -> np.ndarray:
        if callable(cost):
            lengths = cost(vertices, here, there)
        elif cost == "joint":
            lengths = np.linalg.norm(vertices.q[there] - vertices.q[here], axis=1)
        else:
            lengths = np.linalg.norm(vertices.position[there] - vertices.position[here], axis=1)
        return np.where(blocked[there] | blocked[here], 1e6, lengths)

    return costs


def colliding(q: np.ndarray, disc: tuple[float, float, float]) -> np.ndarray:
    """(n,): whether a link of the planar arm (a segment) touches a disc (x, y, radius),
    for q (n, 2)."""
    center, radius = np.array(disc[:2]), disc[2]
    elbow = LENGTHS[0] * np.stack([np.cos(q[:, 0]), np.sin(q[:, 0])], axis=1)
    turn = q.sum(axis=1)
    tip = elbow + LENGTHS[1] * np.stack([np.cos(turn), np.sin(turn)], axis=1)
    return (_apart(np.zeros_like(elbow), elbow, center) < radius) | (
        _apart(elbow, tip, center) < radius
    )


def _apart(start: np.ndarray, end: np.ndarray, point: np.ndarray) -> np.ndarray:
    """Distance of a point from segments (n, 2)."""
    along = end - start
    share = np.clip(((point - start) * along).sum(axis=1) / (along**2).sum(axis=1), 0.0, 1.0)
    return np.linalg.norm(start + share[:, None] * along - point, axis=1)


def figures() -> tuple[Redrawn, ...]:
    """The graph in task space with its cheapest ways, free and beside the disc."""
    caption = (
        "vertices of the graph (1 deg, 0.05 m), and the cheapest ways without and with the disc"
    )
    return (Redrawn("ways", caption, _draw_ways),)


def _draw_ways(figure: Any) -> None:
    robot = planar_arm()
    graph = build(robot, 1.0, 0.05)
    beside = graph.without_nodes(colliding(graph.nodes, DISC))
    axes = figure.subplots()
    axes.scatter(*graph.vertices.position[:, :2].T, s=3, color="#c9d1d9")
    for name, map_ in (("free", graph), ("with the disc", beside)):
        way = robot.pose(map_.plan(START, GOAL, "joint").path, robot.bodies[-1])[:, :2, 3]
        axes.plot(*way.T, linewidth=1.8, label=name)
    turn = np.linspace(0.0, 2 * math.pi, 60)
    axes.plot(
        DISC[0] + DISC[2] * np.cos(turn),
        DISC[1] + DISC[2] * np.sin(turn),
        color="#d1495b",
        label="disc",
    )
    axes.set(xlabel="x [m]", ylabel="y [m]", aspect="equal")
    axes.legend(fontsize=8, frameon=False)
