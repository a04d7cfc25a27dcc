"""The kinematic graph against an independent search in plain sets, published sizes and node
optima."""

from __future__ import annotations

import itertools
import math
from functools import cache
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import linkwork as lw
from linkwork.collision import Capsule, CollisionModel, Obstacles, Sphere
from linkwork.errors import InvalidFile, InvalidInput, NotPossible, UnknownName
from linkwork.planning import KinematicGraph, node_ways, split_regional
from linkwork.planning.joint_grid import JointGrid
from linkwork.planning.sampling import cells_of
from linkwork.planning.search import cheapest_to, costs_from
from linkwork.reproduce.paper_06 import (
    GOAL,
    LENGTHS,
    START,
    build,
    colliding,
    manipulability,
    paper_cost,
    paper_heuristic,
    planar_arm,
)


@cache
def graph() -> KinematicGraph:
    return build(planar_arm(), 1.0, 0.05)


@cache
def spatial_arm() -> lw.Robot:
    rows = [
        {"a": 0.0, "d": 0.4, "alpha": math.pi / 2, "theta": 0.0, "joint": "revolute"},
        {"a": 0.5, "d": 0.0, "alpha": 0.0, "theta": 0.0, "joint": "revolute"},
        {"a": 0.4, "d": 0.0, "alpha": 0.0, "theta": 0.0, "joint": "revolute"},
    ]
    return lw.Robot.from_dh(rows, check="any", name="spatial-3r")


def plain_graph(shape, wraps, voxel):
    """Vertices as sets of nodes and edges as pairs, by breadth-first search over a dictionary;
    nothing shared."""
    nodes = {
        place: voxel[place]
        for place in itertools.product(*(range(n) for n in shape))
        if voxel[place] >= 0
    }

    def near(place):
        for step in itertools.product((-1, 0, 1), repeat=len(shape)):
            there = tuple(
                (p + s) % n if w and n > 2 else p + s
                for p, s, n, w in zip(place, step, shape, wraps, strict=True)
            )
            if any(step) and there in nodes and there != place:
                yield there

    owner: dict[tuple[int, ...], int] = {}
    count = 0
    for place in nodes:
        if place in owner:
            continue
        owner[place], queue = count, [place]
        while queue:
            for there in near(queue.pop()):
                if there not in owner and nodes[there] == nodes[place]:
                    owner[there] = count
                    queue.append(there)
        count += 1
    edges = {
        tuple(sorted((owner[a], owner[b]))) for a in nodes for b in near(a) if owner[a] != owner[b]
    }
    return owner, count, edges


@given(
    st.lists(st.integers(1, 7), min_size=1, max_size=3),
    st.integers(1, 4),
    st.integers(0, 2**32 - 1),
    st.lists(st.booleans(), min_size=3, max_size=3),
)
@settings(max_examples=150, deadline=None)
def test_clusters_and_edges_are_those_of_a_plain_search(sizes, kinds, seed, going_round):
    from linkwork.planning.clusters import clusters, touching
    from linkwork.planning.joint_grid import JointGrid

    shape = tuple(sizes)
    wraps = tuple(going_round[: len(shape)])
    grid = JointGrid(tuple(np.arange(float(n)) for n in shape), wraps)
    voxel = np.random.default_rng(seed).integers(-1, kinds, shape)
    owner, count, edges = plain_graph(shape, wraps, voxel)
    ours = clusters(grid, voxel.ravel()).reshape(shape)
    expected = np.full(shape, -1)
    for place, vertex in owner.items():
        expected[place] = vertex
    np.testing.assert_array_equal(ours, expected)  # the numbering too: by first node
    assert {tuple(pair) for pair in touching(grid, ours.ravel()).tolist()} == edges
    assert ours.max() + 1 == count
    steps = sum(len(a) for a, _ in grid.steps(np.arange(grid.size)))
    if not any(w and n <= 2 for w, n in zip(wraps, shape, strict=True)):
        assert steps == grid.edge_count


@cache
def planar_chain(lengths):
    rows = [{"a": a, "d": 0.0, "alpha": 0.0, "theta": 0.0, "joint": "revolute"} for a in lengths]
    return lw.Robot.from_dh(rows, check="any", name=f"planar {lengths}")


CHAINS = ((0.5, 0.4), (0.31, 0.57), (0.41, 0.33, 0.22))


@given(
    st.sampled_from(CHAINS),
    st.integers(5, 11),
    st.floats(0.07, 0.5),
    st.floats(0.0, 0.5),
    st.integers(0, 2**32 - 1),
)
@settings(max_examples=40, deadline=None)
def test_laws_of_every_graph(lengths, values, voxel, share, seed):
    """Digest 5.4: partition, witnesses, mirror, restored obstacles, A* as Dijkstra,
    free refined ways."""
    robot = planar_chain(lengths)
    generator = np.random.default_rng(seed)
    ends = np.sort(generator.uniform(-3.0, 3.0, (len(lengths), 2)), axis=1)
    ends[:, 1] += 0.5
    resolution = (ends[:, 1] - ends[:, 0]) / (values - 1)
    whole = KinematicGraph.build(robot, robot.bodies[-1], resolution, voxel, ranges=ends)
    assert whole.grid.size == values ** len(lengths)
    assert np.isfinite(whole.vertex_costs(whole.nodes[0])).all()  # the box is connected
    # elbow up for elbow down: the same graph, but for nodes on faces of voxels
    mirrored = KinematicGraph.build(
        robot, robot.bodies[-1], resolution, voxel, ranges=-ends[:, ::-1]
    )
    if np.abs(np.abs(whole.positions / voxel % 1.0) - 0.5).min() > 1e-9:
        sizes = [np.sort(each.vertices.count) for each in (whole, mirrored)]
        np.testing.assert_array_equal(*sizes)
        assert len(whole.edges) == len(mirrored.edges)

    blocked = generator.random(whole.grid.size) < share
    graph_ = whole.without_nodes(blocked)
    owner = graph_.vertex_of_node
    assert ((owner < 0) == blocked).all()
    assert graph_.vertices.count.sum() == (~blocked).sum() >= len(graph_.vertices)
    pairs = np.unique(np.stack([owner, graph_.voxel_of_node], axis=1)[~blocked], axis=0)
    assert len(pairs) == len(graph_.vertices) >= len(np.unique(pairs[:, 1]))  # a vertex, a voxel
    places = np.stack(np.unravel_index(np.arange(whole.grid.size), whole.grid.shape), axis=1)
    for first, second in graph_.edges[:: max(1, len(graph_.edges) // 8)]:
        assert first != second
        apart = places[owner == first][:, None] - places[owner == second][None]
        assert (np.abs(apart).max(axis=2) == 1).any()  # a pair of nodes that touch
    back = graph_.without_nodes(np.zeros(whole.grid.size, dtype=bool))
    np.testing.assert_array_equal(back.vertex_of_node, whole.vertex_of_node)
    np.testing.assert_array_equal(back.edges, whole.edges)
    if blocked.all():
        return
    start, goal = (whole.nodes[k] for k in generator.choice(np.flatnonzero(~blocked), 2))
    for cost in ("task", "joint", "manipulability"):
        way = graph_.plan(start, goal, cost, goal_is="configuration")
        expected = graph_.vertex_costs(start, cost)[graph_.vertex_of(goal)]
        assert way.success == np.isfinite(expected)
        if not way.success:
            continue
        assert way.certified_optimal and way.cost == pytest.approx(expected, rel=1e-9, abs=1e-12)
        cells = np.rint((way.path - ends[:, 0]) / resolution).astype(int)
        assert np.abs(np.diff(cells, axis=0)).max(initial=0) <= 1
        assert not blocked[np.ravel_multi_index(cells.T, whole.grid.shape)].any()


@pytest.mark.parametrize(
    ("degrees", "voxel", "sizes"),
    [
        (10.0, 0.2, (1183, 9599, 418, 261876)),
        (10.0, 0.1, (8373, 88759, 2504, 261876)),
        (5.0, 0.1, (8681, 78051, 2908, 2058216)),
        (5.0, 0.05, (64787, 730349, 18946, 2058216)),
    ],
)
def test_sizes_of_a_spatial_arm(degrees, voxel, sizes):
    ranges = np.radians([(-180.0, 180.0), (0.0, 180.0), (-150.0, 150.0)])
    arm = spatial_arm()
    found = KinematicGraph.build(arm, arm.bodies[-1], math.radians(degrees), voxel, ranges=ranges)
    assert (len(found.vertices), len(found.edges), len(found.voxels), found.grid_edges) == sizes


def test_facts_of_the_planar_graph():
    degree = np.bincount(graph().edges.ravel(), minlength=len(graph().vertices))
    assert (degree.min(), degree.max(), graph().vertices.count.max()) == (1, 24, 338)
    assert degree.mean() == pytest.approx(5.971, abs=5e-4)
    assert np.isfinite(graph().vertex_costs(START)).all()  # one component
    start = graph().vertex_of(START)
    np.testing.assert_allclose(np.degrees(graph().vertices.q[start]), [30.0, 57.5], atol=1e-9)
    np.testing.assert_allclose(
        graph().vertices.position[start], [0.45018728, 0.64913357, 0.0], atol=1e-8
    )
    branches = np.degrees(graph().vertices.q[graph().vertices_at(GOAL)])
    np.testing.assert_allclose(
        branches, [[-168.488372, -100.093023], [106.619048, 100.0]], atol=1e-6
    )


def test_holes_are_voxels_that_the_point_passes_between_nodes():
    coarse = build(planar_arm(), 2.0, 0.01)
    corners = np.abs(coarse.holes[:, :2]) * 0.01
    inner = np.hypot(*np.maximum(corners - 0.005, 0.0).T)
    outer = np.hypot(*(corners + 0.005).T)
    inside = (inner > 0.1) & (outer < 0.9)  # wholly in the annulus that the arm covers
    assert inside.sum() == 6784
    assert len(graph().holes[np.hypot(*(np.abs(graph().holes[:, :2]) * 0.05 + 0.025).T) < 0.9]) == 0


@pytest.mark.parametrize("cost", ["task", "joint", "manipulability"])
def test_the_way_is_the_cheapest_and_refines_to_grid_steps(cost):
    plan = graph().plan(START, GOAL, cost)
    assert plan.success and plan.certified_optimal
    costs = graph().vertex_costs(START, cost)
    assert plan.cost == pytest.approx(costs[graph().vertices_at(GOAL)].min(), rel=1e-12)
    np.testing.assert_allclose(plan.path[0], START, atol=1e-12)
    steps = np.abs(np.diff(plan.path, axis=0)) / math.radians(1.0)
    assert steps.max() <= 1.0 + 1e-9
    reached = planar_arm().pose(plan.path[-1], "link2")[:3, 3]
    assert np.abs(reached - GOAL).max() <= 0.025 + 1e-9
    assert plan.path.tobytes() == graph().plan(START, GOAL, cost).path.tobytes()


def test_ways_near_singular_places_are_dearer_by_the_dexterity_that_is_lost_there():
    """c = |dp| (2 - mu(C') / mu_max), mu = l1 l2 |sin q2| of where the step leads."""

    def by_hand(vertices, here, there):
        mu = manipulability(vertices)
        apart = np.linalg.norm(vertices.position[there] - vertices.position[here], axis=1)
        return apart * (2.0 - mu[there] / mu.max())

    expected = graph().vertex_costs(START, by_hand)
    np.testing.assert_allclose(graph().vertex_costs(START, "manipulability"), expected, rtol=1e-9)


# disc: blocked nodes, vertices, edges; cost: graph way, node optimum
DISCS = {
    (0.1, 0.7, 0.1): (
        3430,
        2355,
        6955,
        {"joint": (2.1134036662, 1.8465407186), "task": (1.0867306644, 0.9885992662)},
    ),
    (0.05, 0.55, 0.08): (
        8877,
        2286,
        6635,
        {"joint": (6.3371368389, 4.5703184186), "task": (1.9331222017, 2.4010127165)},
    ),
}


@pytest.mark.parametrize("disc", DISCS)
def test_obstacles_split_the_graph_and_bend_the_way(disc):
    nodes, vertices, edges, costs = DISCS[disc]
    hit = colliding(graph().nodes, disc)
    beside = graph().without_nodes(hit)
    assert (hit.sum(), len(beside.vertices), len(beside.edges)) == (nodes, vertices, edges)
    goals = np.isin(beside.vertex_of_node, beside.vertices_at(GOAL))
    for cost, (through_graph, through_nodes) in costs.items():
        plan = beside.plan(START, GOAL, cost)
        assert plan.cost == pytest.approx(through_graph, abs=1e-9)
        optimum = beside.node_costs(START, cost)[goals].min()
        assert optimum == pytest.approx(through_nodes, abs=1e-9)
        assert optimum - 1e-12 <= plan.path_cost <= 1.1 * optimum
        assert not colliding(plan.path, disc).any()


def test_without_obstacles_the_node_optima_are_published_too():
    goals = np.isin(graph().vertex_of_node, graph().vertices_at(GOAL))
    for cost, optimum in (("joint", 1.5704953632), ("task", 0.9885992662)):
        assert graph().node_costs(START, cost)[goals].min() == pytest.approx(optimum, abs=1e-9)
        assert graph().plan(START, GOAL, cost).path_cost <= 1.06 * optimum


THIN = 1e-4  # [m] radius of the links of the arm below; those of `colliding` have none


@cache
def beside_a_ball(disc) -> tuple[KinematicGraph, CollisionModel, Obstacles]:
    """A coarse graph of the planar arm among a ball, by a collision model."""
    coarse = build(planar_arm(), 5.0, 0.05)
    shapes = {
        body: [Capsule((-length, 0, 0), (0, 0, 0), THIN)]
        for body, length in zip(("link1", "link2"), LENGTHS, strict=True)
    }
    model = CollisionModel(planar_arm(), shapes, pairs=[])
    return coarse, model, Obstacles([Sphere((*disc[:2], 0.0), disc[2])])


def test_a_collision_model_blocks_what_its_shapes_touch_and_proves_every_step():
    disc = (0.1, 0.7, 0.1)
    coarse, model, ball = beside_a_ball(disc)
    beside = coarse.with_obstacles(model, ball)
    assert (beside.blocked >= colliding(coarse.nodes, disc)).all()
    assert (beside.blocked <= colliding(coarse.nodes, (*disc[:2], disc[2] + 2 * THIN))).all()
    way = beside.plan(START, GOAL, "joint")
    assert way.success and way.certified_free and way.certified_optimal
    assert not model.collides(
        np.concatenate([np.linspace(a, b, 50) for a, b in itertools.pairwise(way.path)]), ball
    ).any()
    assert (
        coarse.plan(START, GOAL).certified_free is None
        and beside.plan(START, GOAL, certify=False).success
    )
    # to where it is already there is a way of one node, which was tested itself
    stays = beside.plan(START, START, goal_is="configuration")
    assert stays.success and stays.certified_free and stays.path.shape == (1, 2)
    again = beside.with_obstacles(model, Obstacles())
    np.testing.assert_array_equal(again.vertex_of_node, coarse.vertex_of_node)
    np.testing.assert_array_equal(again.edges, coarse.edges)


class Refusing:
    """A model in which nothing collides and no step is proved that crosses q1 = 60 deg with q2
    above some value."""

    def __init__(self, above: float) -> None:
        self.above = math.radians(above)

    def collides(self, q, obstacles):
        return np.zeros(len(q), dtype=bool)

    def certify_motion(self, first, last, obstacles):
        crosses = (first[:, 0] - math.radians(62.5)) * (last[:, 0] - math.radians(62.5)) < 0.0
        return SimpleNamespace(free=~(crosses & (np.minimum(first[:, 1], last[:, 1]) > self.above)))


def test_steps_that_are_not_proved_are_gone_around_at_last_through_the_whole_map(monkeypatch):
    rounds = []

    def counted(costs, start, ends):
        rounds.append(start)
        return cheapest_to(costs, start, ends)

    monkeypatch.setattr(node_ways, "cheapest_to", counted)
    coarse, _, _ = beside_a_ball((0.1, 0.7, 0.1))
    goal = np.radians([100.0, 90.0])
    straight = coarse.plan(START, goal, "joint")
    for above, success in ((68.0, True), (-90.0, True), (-200.0, False)):
        guarded = coarse.with_obstacles(Refusing(above), ())
        rounds.clear()
        way = guarded.plan(START, goal, "joint")
        # a wall of 72 steps is asked about along its length, not one way after the other
        assert len(rounds) <= 6
        assert way.success is success and way.certified_free is success
        if not success:
            assert way.reason.startswith(
                "every way touches between its nodes at this resolution (joint steps 0.08727"
            )
            continue
        assert guarded.obstacles[0].certify_motion(way.path[:-1], way.path[1:], None).free.all()
        np.testing.assert_allclose(way.path[[0, -1]], [START, goal], atol=1e-12)
        assert way.path_cost >= straight.path_cost
        left = above == -90.0  # so far below that no vertex of the cheapest way is near
        assert way.certified_optimal is not left
        if left:
            owners = coarse.vertex_of_node[[coarse.node_of(q, "test") for q in way.path]]
            passed = owners[np.r_[True, owners[1:] != owners[:-1]]]
            assert way.vertices == tuple(passed.tolist()) and way.cost > straight.cost
            steps = coarse._graph("joint")
            assert way.cost == pytest.approx(
                sum(steps[a, b] for a, b in itertools.pairwise(way.vertices))
            )


def test_no_way_where_there_is_none():
    """The trap: link 1 cannot pass the disc, so the branch at (106.6, 100) deg is out of reach
    inside the ranges."""
    trap = graph().without_nodes(colliding(graph().nodes, (0.05, 0.55, 0.08)))
    branch = np.radians([106.6, 100.0])
    plan = trap.plan(START, branch, "joint")
    assert not plan.success
    assert "no way at this resolution" in plan.reason
    assert not np.isfinite(trap.vertex_costs(START)[trap.vertex_of(branch)])


def test_without_obstacles_the_first_graph_comes_back():
    again = graph().without_nodes(np.zeros(graph().grid.size, dtype=bool))
    np.testing.assert_array_equal(again.vertex_of_node, graph().vertex_of_node)
    np.testing.assert_array_equal(again.edges, graph().edges)


def test_the_paper_s_heuristic_is_told_to_be_inadmissible():
    own = graph().plan(START, GOAL, paper_cost)
    misled = graph().plan(START, GOAL, paper_cost, heuristic=paper_heuristic)
    assert own.certified_optimal and not misled.certified_optimal
    assert misled.cost > own.cost
    flat = graph().plan(
        START, GOAL, "task", heuristic=lambda vertices, goals: np.zeros(len(vertices))
    )
    assert flat.certified_optimal
    assert flat.cost == pytest.approx(graph().plan(START, GOAL, "task").cost, rel=1e-12)
    assert flat.expanded > graph().plan(START, GOAL, "task").expanded


def test_every_vertex_lies_in_one_voxel_and_nodes_are_partitioned():
    owner = graph().vertex_of_node
    assert (owner >= 0).all()
    assert graph().vertices.count.sum() == graph().grid.size
    for voxels in np.split(
        graph().voxel_of_node[np.argsort(owner, kind="stable")],
        np.cumsum(graph().vertices.count)[:-1],
    ):
        assert (voxels == voxels[0]).all()


def test_one_voxel_is_one_vertex_and_tiny_voxels_are_the_grid():
    arm = planar_arm()
    one = KinematicGraph.build(arm, "link2", 0.5, 10.0, ranges=[(-3.0, 3.0)] * 2)
    assert (len(one.vertices), len(one.edges)) == (1, 0)
    fine = KinematicGraph.build(arm, "link2", 0.5, 1e-6, ranges=[(0.1, 2.1)] * 2)
    assert (len(fine.vertices), len(fine.edges)) == (fine.grid.size, fine.grid_edges)


def test_a_joint_that_goes_round_has_no_seam():
    arm = planar_arm()
    free = KinematicGraph.build(arm, "link2", math.radians(5.0), 0.1, wrap="continuous")
    assert free.grid.shape == (72, 72)
    plan = free.plan(np.radians([170.0, 20.0]), np.radians([-170.0, 20.0]), "joint")
    assert plan.path_cost == pytest.approx(math.radians(20.0), abs=1e-9)
    # the way itself has no seam either: one that were followed would not turn back once around
    np.testing.assert_allclose(np.degrees(plan.path[[0, -1], 0]), [170.0, 190.0], atol=1e-9)
    assert np.abs(np.diff(plan.path, axis=0)).max() <= math.radians(5.0) + 1e-9


def test_a_joint_with_limits_a_turn_apart_does_not_go_round_and_a_slide_never_does():
    row = {"a": 0.5, "d": 0.0, "alpha": 0.0, "theta": 0.0, "joint": "revolute"}
    limited = lw.Robot.from_dh([{**row, "limits": (-math.pi, math.pi)}], check="any")
    graph = KinematicGraph.build(limited, "link1", math.radians(5.0), 0.1, wrap="continuous")
    assert graph.grid.wraps == (False,) and graph.grid.shape == (73,)
    way = graph.plan(np.radians([170.0]), np.radians([-170.0]), "joint", goal_is="configuration")
    assert np.abs(way.path).max() <= math.pi
    rail = lw.Robot.from_dh([{**row, "joint": "prismatic"}], check="any")
    with pytest.raises(InvalidInput, match="has no limits"):
        KinematicGraph.build(rail, "link1", 0.1, 0.1, wrap="continuous")


def test_half_way_between_nodes_the_lower_one_is_the_nearest():
    grid = graph().grid
    for k in range(0, 360, 7):
        between = grid.values[0][k] + math.radians(0.5)
        assert np.unravel_index(grid.nearest(np.array([between, between])), grid.shape) == (k, k)
        assert np.unravel_index(
            grid.nearest(np.array([between + 1e-6, between - 1e-6])), grid.shape
        ) == (k + 1, k)
    ring = JointGrid((np.arange(8) * math.pi / 4,), (True,))
    assert ring.nearest(np.array([7.5 * math.pi / 4])) == 0  # the last one beside the first
    assert ring.nearest(np.array([7.4 * math.pi / 4])) == 7
    # positions on a face belong to the voxel below
    faces = np.array([[0.025, -0.025, 0.075], [0.0251, -0.0249, 0.0]])
    np.testing.assert_array_equal(cells_of(faces, 0.05), [[0, -1, 1], [1, 0, 0]])


def test_five_reasons_for_no_way():
    start = np.radians([30.0, 60.0])
    assert "outside the ranges" in graph().plan([9.0, 0.0], GOAL).reason
    blocked = graph().without_nodes(np.ones(graph().grid.size, dtype=bool))
    assert "collides" in blocked.plan(start, GOAL).reason
    assert "no sample reaches" in graph().plan(start, (3.0, 0.0, 0.0)).reason
    only_goal = np.isin(graph().vertex_of_node, graph().vertices_at(GOAL))
    assert "is blocked" in graph().without_nodes(only_goal).plan(start, GOAL).reason
    wall = (np.abs(graph().nodes[:, 0] - math.radians(45.0)) < 0.03) | (
        np.abs(graph().nodes[:, 0] - math.radians(15.0)) < 0.03
    )
    assert "no way" in graph().without_nodes(wall).plan(start, GOAL).reason


def test_a_goal_of_three_numbers_is_a_position_unless_it_is_said_to_be_a_configuration():
    arm = spatial_arm()
    ranges = np.radians([(-180.0, 180.0), (0.0, 180.0), (-150.0, 150.0)])
    coarse = KinematicGraph.build(arm, arm.bodies[-1], math.radians(30.0), 0.2, ranges=ranges)
    start, goal = np.radians([[0.0, 30.0, 30.0], [90.0, 60.0, -60.0]])
    there = coarse.plan(start, goal, goal_is="configuration")
    np.testing.assert_allclose(there.path[-1], goal, atol=1e-12)
    at = arm.pose(goal, arm.bodies[-1])[:3, 3]
    ends = [coarse.plan(start, at, goal_is=meaning).path[-1] for meaning in (None, "position")]
    for q in ends:
        assert np.abs(arm.pose(q, arm.bodies[-1])[:3, 3] - at).max() < 0.2
    outside = coarse.plan(start, [0.0, -1.0, 0.0], goal_is="configuration")
    assert outside.reason.startswith("goal lies outside the ranges of the graph: joint 1 is -1")
    with pytest.raises(InvalidInput, match="goal_is is 'pose', expected one of"):
        coarse.plan(start, goal, goal_is="pose")


def test_with_a_tolerance_vertices_around_the_goal_will_do_too():
    coarse = build(planar_arm(), 5.0, 0.05)
    near = np.linalg.norm(coarse.vertices.position - GOAL, axis=1) <= 0.12
    plain, wide = coarse.plan(START, GOAL), coarse.plan(START, GOAL, tolerance=0.12)
    assert near[wide.vertices[-1]] and wide.cost < plain.cost
    costs = coarse.vertex_costs(START)
    within = np.union1d(np.flatnonzero(near), coarse.vertices_at(GOAL))
    assert wide.cost == pytest.approx(costs[within].min(), rel=1e-12)
    # nothing reaches it, something comes near
    hole = coarse.plan(START, (0.0, 0.0, 0.0), tolerance=0.2)
    assert hole.success and not coarse.plan(START, (0.0, 0.0, 0.0)).success


def test_holes_are_warned_of_and_steps_are_fitted_to_their_range(caplog):
    arm = planar_arm()
    ranges = [(0.0, 1.0)] * 2
    with caplog.at_level("INFO"):
        KinematicGraph.build(arm, "link2", 0.05, 0.1, ranges=ranges)
        assert not caplog.text
        snapped = KinematicGraph.build(arm, "link2", 0.03, 0.1, ranges=ranges)
        assert 'the step of joint "joint1" is 0.030303, so that both ends are met' in caplog.text
        assert (
            snapped.grid.shape == (34, 34)
            and snapped.nodes.min() == 0.0
            and snapped.nodes.max() == 1.0
        )
        caplog.clear()
        KinematicGraph.build(arm, "link2", 0.05, 0.02, ranges=ranges)
    assert "moves up to 0.045 m in one grid step and voxels are 0.02 m" in caplog.text


def test_joints_that_slide_have_a_resolution_of_their_own():
    rows = [
        {
            "a": 0.4,
            "d": 0.0,
            "alpha": 0.0,
            "theta": 0.0,
            "joint": "revolute",
            "limits": (-1.0, 1.0),
        },
        {
            "a": 0.0,
            "d": 0.0,
            "alpha": 0.0,
            "theta": 0.0,
            "joint": "prismatic",
            "limits": (0.0, 0.3),
        },
    ]
    arm = lw.Robot.from_dh(rows, check="any", name="turn and lift")
    with pytest.raises(
        InvalidInput, match=r'is 0\.1 for all joints, but joint "joint2" slides: give one a joint'
    ):
        KinematicGraph.build(arm, "link2", 0.1, 0.1)
    mixed = KinematicGraph.build(arm, "link2", (0.1, 0.05), 0.1)
    assert mixed.grid.shape == (21, 7)
    with pytest.raises(
        InvalidInput,
        match=r"joint_resolution has shape \(3,\), expected one number or 2: joint1, joint2",
    ):
        KinematicGraph.build(arm, "link2", (0.1, 0.05, 0.1), 0.1)


def test_what_is_refused_in_words():
    arm = planar_arm()
    with pytest.raises(InvalidInput, match=r"tolerance is -0\.1, expected a distance >= 0 m"):
        graph().plan(START, GOAL, tolerance=-0.1)
    with pytest.raises(InvalidInput, match="has no limits"):
        KinematicGraph.build(arm, "link2", 0.1, 0.1)
    with pytest.raises(InvalidInput, match="voxel_size"):
        KinematicGraph.build(arm, "link2", 0.1, 0.0, ranges=[(0, 1)] * 2)
    with pytest.raises(InvalidInput, match="joint_resolution"):
        KinematicGraph.build(arm, "link2", -0.1, 0.1, ranges=[(0, 1)] * 2)
    with pytest.raises(InvalidInput, match="lower < upper"):
        KinematicGraph.build(arm, "link2", 0.1, 0.1, ranges=[(1, 0)] * 2)
    with pytest.raises(NotPossible, match=r"raise joint_resolution"):
        KinematicGraph.build(arm, "link2", 1e-6, 0.1, ranges=[(0, 1)] * 2)
    with pytest.raises(UnknownName):
        KinematicGraph.build(arm, "hand", 0.1, 0.1, ranges=[(0, 1)] * 2)
    with pytest.raises(InvalidInput, match="flags"):
        graph().without_nodes(np.zeros(3, dtype=bool))
    with pytest.raises(InvalidInput, match="cost"):
        graph().plan(START, GOAL, "shortest")


def test_the_wrist_s_centre_of_a_decoupled_arm():
    arm = lw.load("tx2-90")
    frame = arm.bodies[-1]
    regional = split_regional(arm, frame)
    assert regional.joints == arm.joints[:3]
    q = arm.random(20, seed=1)
    other = q.copy()
    other[:, 3:] = arm.random(20, seed=2)[:, 3:]
    T = arm.pose(q, regional.body)
    center = T[:, :3, 3] + T[:, :3, :3] @ regional.position
    # seen from the flange, the centre stays where it is while the wrist turns
    local = [
        np.linalg.solve(arm.pose(x, frame), np.append(c, 1.0))[:3]
        for x, c in zip(q, center, strict=True)
    ]
    assert np.ptp([np.linalg.norm(x) for x in local]) < 1e-9
    alone = split_regional(arm)
    assert (alone.joints, alone.body) == (regional.joints, regional.body)
    np.testing.assert_array_equal(alone.position, regional.position)
    with pytest.raises(
        NotPossible,
        match=r"miss each other by .* m: d5 = 0\.0997 m; a decoupled wrist has a4 = a5 = d5",
    ):
        split_regional(lw.load("ur5e"), "tool0")


def test_costs_from_a_vertex_are_symmetric_for_symmetric_costs():
    matrix = graph()._graph("task")
    assert costs_from(matrix, 0)[100] == pytest.approx(costs_from(matrix, 100)[0], rel=1e-12)


def test_a_graph_is_the_same_after_a_file_and_another_robot_s_is_refused(tmp_path):
    own = build(planar_arm(), 5.0, 0.05)
    file = own.save(tmp_path / "planar.npz")
    again = KinematicGraph.load(file, planar_arm())
    assert (again.point, again.columns, again.grid.wraps) == (
        own.point,
        own.columns,
        own.grid.wraps,
    )
    for name in ("positions", "voxel_of_node", "voxels", "vertex_of_node", "edges"):
        np.testing.assert_array_equal(getattr(again, name), getattr(own, name))
    ways = [each.plan(START, GOAL) for each in (own, again)]
    assert ways[0].vertices == ways[1].vertices and ways[0].path_cost == ways[1].path_cost
    # what obstacles took away is not in the file: they are brought again
    half = own.without_nodes(np.arange(own.grid.size) % 2 == 0)
    assert (
        KinematicGraph.load(half.save(tmp_path / "half.npz"), planar_arm()).edges.tobytes()
        == own.edges.tobytes()
    )
    with pytest.raises(InvalidFile, match='graph of "planar-2r"; robot "ur5e" is without "joint1"'):
        KinematicGraph.load(file, lw.load("ur5e"))
    with pytest.raises(InvalidFile, match=r'stands .* m off that of robot "spatial-3r"'):
        KinematicGraph.load(file, spatial_arm())
    (tmp_path / "none.npz").write_bytes(b"PK nothing")
    with pytest.raises(InvalidFile, match="is no kinematic graph"):
        KinematicGraph.load(tmp_path / "none.npz", planar_arm())
    with pytest.raises(InvalidFile, match="there is no file"):
        KinematicGraph.load(tmp_path / "missing.npz", planar_arm())


@pytest.mark.parametrize("q", [[], np.zeros((2, 3, 0)), 0.5, [np.nan, 0.0]])
def test_what_is_no_configuration_lies_nowhere(q):
    """Found by knocking, as the nodes below."""
    with pytest.raises(InvalidInput, match="outside: q"):
        graph().outside(q)


@pytest.mark.parametrize("node", [-1, 0.5, 10**9, [1], None])
def test_what_is_no_node_is_not_shown(node):
    with pytest.raises(InvalidInput, match=r"shown: node is .*expected"):
        graph().shown(node)
