"""The recursive method: the published experiments digit by digit, and what must hold for any
chain."""

from __future__ import annotations

import functools
import math

import casadi
import numpy as np
import pinocchio as pin
import pytest
from casadi import SX

import linkwork as lw
from linkwork.errors import InvalidInput, NotPossible, UnknownName
from linkwork.inverse.cycles import cycle_drift, recorded_limits
from linkwork.inverse.moves import Interval, Rule, moved, sweep
from linkwork.inverse.numeric import Solver
from linkwork.inverse.pairs import pairs_of
from linkwork.inverse.solve import joint_step
from linkwork.inverse.sweep import Walk
from linkwork.inverse.targets import Goal
from linkwork.model import Joint, Model, Placement
from linkwork.model.body import Body
from linkwork.model.joint import Limits, Mimic
from linkwork.robot import Robot
from tests.inverse.chains import gantry, iiwa, zyz_wrist
from tests.robots_list import robot

PI, FREE = math.pi, (np.full(4, -np.inf), np.full(4, np.inf))
TURN = (np.full(4, -PI), np.full(4, PI))
CORNER = np.array([0.1 * (1 + math.sqrt(3))] * 2 + [0.0])
PAPER = {"method": "recursive", "step": "small_angle", "tolerance": 1e-5}


@functools.cache
def planar():
    return lw.load("planar-4r")


def solve(target, q0, **options):
    return planar().inverse_kinematics(target, "tip", q0, **{**PAPER, **options})


def ellipse(start, rx, ry, period, count, first=1, place=0.0, sense=1, dt=1e-3):
    """(positions, velocities) at times first dt, ...; the path begins at `start`,
    its point of angle `place`."""
    w, t = sense * 2 * PI / period, dt * np.arange(first, first + count)
    centre = start - np.array([rx * math.cos(place), ry * math.sin(place), 0.0])
    p = centre + np.stack([rx * np.cos(place + w * t), ry * np.sin(place + w * t), 0 * t], 1)
    return p, np.stack([-rx * w * np.sin(place + w * t), ry * w * np.cos(place + w * t), 0 * t], 1)


# the published experiments


def test_first_sweeps_and_first_solution():
    found = solve(CORNER, np.zeros(4), limits=TURN)
    expected = [-0.0322662737, 0.3962757126, 0.7702373262, 1.8708823029]
    np.testing.assert_allclose(found.q, expected, atol=1e-8)
    assert (found.iterations, found.success) == (8, True)
    assert found.error == pytest.approx(8.646e-6, abs=1e-9)
    first = solve(CORNER, np.zeros(4), limits=TURN, sweeps=1)
    np.testing.assert_allclose(
        first.q, [0.3415063509, 0.2765492999, 0.2974059413, 0.5854433236], atol=1e-9
    )
    assert first.error == pytest.approx(0.3428215542, abs=1e-9)
    assert first.reason.startswith("sweeps used up")
    penalised = solve(CORNER, np.zeros(4), limits=TURN, penalty="symmetric")
    np.testing.assert_allclose(
        penalised.q, [-0.0683333796, 0.4126342671, 0.8041928056, 1.8074171820], atol=1e-8
    )
    assert penalised.iterations == 7


def test_experiment_1_position_limits():
    q0 = np.array([PI / 4, PI / 6, PI / 2, PI / 4])
    path, _ = ellipse(planar().pose(q0, "tip")[:3, 3], 0.15, 0.15, 1.0, 1000)
    lower, upper = FREE[0].copy(), FREE[1].copy()
    lower[3], upper[3] = 0.60, 0.85
    found = solve(path, q0, limits=(lower, upper), track=True)
    assert found.success.all()
    assert found.error.max() < 1e-5
    assert (found.q[:, 3].min(), found.q[:, 3].max()) == (0.60, 0.85)
    assert found.on_limit[:, 3].mean() == pytest.approx(0.49, abs=0.005)
    assert found.iterations.sum() == 4780
    expected = [0.7703729107, 0.5460079895, 1.5613252707, 0.7796197839]
    np.testing.assert_allclose(found.q[-1], expected, atol=1e-6)
    fastest = np.array([np.inf] * 3 + [0.5])
    slow = solve(
        path, q0, limits=(lower, upper), track=True, velocity_limits=(-fastest, fastest), dt=1e-3
    )
    assert slow.success.all()
    speed = np.abs(np.diff(np.vstack([q0, slow.q])[:, 3])).max() / 1e-3
    assert speed == pytest.approx(0.5, abs=1e-9)
    assert slow.iterations.sum() == 5289
    expected = [0.7862436879, 0.5221537213, 1.5716395142, 0.7853881574]
    np.testing.assert_allclose(slow.q[-1], expected, atol=1e-6)


PLACES = [(place, sense) for place in (0.0, PI, PI / 2, -PI / 2) for sense in (1, -1)]


@pytest.mark.parametrize(("place", "sense"), PLACES)
def test_experiment_3_the_pseudo_inverse_drifts_and_recorded_limits_close_the_cycle(place, sense):
    q0 = np.array([PI / 3, PI / 3, -PI / 2, -PI / 2])
    path, rate = ellipse(CORNER, 0.1, 0.2, 2.0, 50_001, 0, place, sense)
    drifting = planar().inverse_kinematics(
        path, "tip", q0, method="pseudo_inverse", dt=1e-3, gain=100.0, velocity=rate
    )
    drift = cycle_drift(drifting.q, 2000)
    total = np.linalg.norm(drifting.q[-1] - drifting.q[0])
    assert drifting.error.max() < 2.2e-5
    assert total >= 1.4
    if (place, sense) == (0.0, 1):
        assert (drift[0], drift[-1]) == (
            pytest.approx(0.496, rel=0.01),
            pytest.approx(1.88, rel=0.01),
        )
        assert (total, drifting.q[-1, 1]) == (
            pytest.approx(12.63, rel=0.01),
            pytest.approx(13.68, rel=0.01),
        )
    ours, sweeps, error = _repeated(path[1:], "one_sided")
    assert error <= 1e-5
    assert sweeps.max() <= 119
    assert cycle_drift(ours, 2000)[-1] < 2e-14
    assert drift[-1] / cycle_drift(ours, 2000)[-1] > 1e3
    if (place, sense) == (0.0, 1):
        printed, sweeps, error = _repeated(path[1:], "symmetric")
        assert error <= 1e-5
        assert cycle_drift(printed, 2000)[-1] < 1e-3
        assert sweeps.mean() == pytest.approx(33, abs=1)


def _repeated(path, penalty):
    """Joint motion with limits recorded over the first six seconds and then imposed."""
    begin = solve(CORNER, np.zeros(4), limits=TURN, penalty=penalty)
    first = solve(path[:6000], begin.q, limits=TURN, penalty=penalty, track=True)
    seen = np.vstack([begin.q, first.q])
    rest = solve(
        path[6000:], first.q[-1], limits=recorded_limits(seen), penalty=penalty, track=True
    )
    q, sweeps = np.vstack([seen, rest.q]), np.concatenate([first.iterations, rest.iterations])
    return q, sweeps, max(first.error.max(), rest.error.max())


def test_the_small_angle_step_overshoots_and_the_deadlock_is_left_by_a_kick():
    arm = Robot.from_dh([{"a": 0.2}], convention="standard")
    goal = 0.6 * np.array([math.cos(0.1), math.sin(0.1), 0.0])
    step = joint_step(arm.subject, np.zeros(1), arm.joints[0], goal, arm.bodies[-1])
    assert step.small_angle == pytest.approx(0.29950, abs=5e-6)
    assert step.d == pytest.approx(0.1, abs=1e-12)
    errors = [
        np.linalg.norm(arm.pose(np.array([d]), arm.bodies[-1])[:3, 3] - goal)
        for d in (0.0, step.small_angle)
    ]
    assert (errors[0], errors[1]) == (
        pytest.approx(0.401496, abs=1e-6),
        pytest.approx(0.405907, abs=1e-6),
    )
    stuck = solve([0.5, 0, 0], np.zeros(4), limits=False, kick=0.0)
    assert (stuck.success, stuck.error) == (False, pytest.approx(0.3, abs=1e-12))
    assert stuck.reason.startswith("stalled, unreachable or stationary")
    for step_kind, sweeps in (("small_angle", 17), ("exact", 6)):
        left = solve([0.5, 0, 0], np.zeros(4), limits=False, step=step_kind)
        assert left.success
        assert left.iterations == 1 + sweeps  # one sweep finds that nothing moves
    deadlock = solve(CORNER, np.zeros(4), limits=False, step="exact", kick=0.0)
    assert not deadlock.success
    np.testing.assert_allclose(deadlock.q, [PI / 4, 0, PI, PI], atol=1e-12)
    assert deadlock.error == pytest.approx(1.36e-2, abs=5e-5)
    assert solve(CORNER, np.zeros(4), limits=False, step="exact").success


# what holds for any chain


def random_chain(seed, joints=6):
    """A chain of turning and (one in four) sliding joints about tilted axes, with limits."""
    rng = np.random.default_rng(seed)
    bodies, links = [], []
    for k in range(joints):
        axis = rng.normal(size=3)
        R = pin.exp3(rng.normal(size=3))
        place = Placement(tuple(map(tuple, R.tolist())), tuple((0.3 * rng.normal(size=3)).tolist()))
        kind = "prismatic" if rng.uniform() < 0.25 else "revolute"
        bodies.append(Body(f"b{k}"))
        parent = f"b{k - 1}" if k else None
        limit = (Limits(-2.0, 1.5, 1.0),)
        links.append(
            Joint(
                f"j{k}",
                kind,
                parent,
                f"b{k}",
                place,
                tuple((axis / np.linalg.norm(axis)).tolist()),
                limits=limit,
            )
        )
    return Robot(Model("random", tuple(bodies), tuple(links)))


def costs_of_moves(arm, goals, targets, q, rule, limits):
    """H before, and after every single move of a sweep."""
    solver = Solver("test", arm.subject, goals, tuple(np.shape(t) for t in targets))
    numbers = solver.pack.function()(*targets)[0]
    m = solver.mechanism
    walk = Walk(
        m, SX(casadi.DM(q[solver.moving])), pairs_of("test", goals, m.places, SX(numbers), m.length)
    )
    lower, upper = (x[solver.moving] for x in limits)
    intervals = [
        Interval(*(SX(float(x)) for x in (lo, hi, lo, hi)))
        for lo, hi in zip(lower, upper, strict=True)
    ]
    H = [float(casadi.DM(walk.cost()))]
    for k in range(len(walk.x)):
        walk.move(k, SX(casadi.evalf(moved(walk, k, rule, intervals[k], m.reach).value)))
        H.append(float(casadi.DM(walk.cost())))
    final = [float(casadi.DM(x)) for x in walk.x]
    return np.array(H), np.array(final)


GOALS = [
    (Goal("b5", "position"),),
    (Goal("b5", "orientation"),),
    (Goal("b5"),),
    (Goal("b5", "pointing", direction=(0.0, 0.6, 0.8)),),
    (Goal("b5"), Goal("b3", "position")),
    (Goal("b5", weights=(1, 2, 3, 0.2, 0.2, 0.2)),),
]


@pytest.mark.parametrize("penalty", [None, "one_sided"])
@pytest.mark.parametrize("step", ["exact", "clipped"])
def test_no_move_raises_the_cost(step, penalty):
    for seed, goals in enumerate(GOALS):
        arm = random_chain(seed)
        q, wanted = arm.random(2, seed=seed)
        T = [arm.pose(wanted, goal.frame) for goal in goals]
        parts = {
            "position": lambda M: M[:3, 3],
            "orientation": lambda M: M[:3, :3],
            "pointing": lambda M: M[:3, 2],
        }
        targets = [parts.get(goal.task, lambda M: M)(M) for goal, M in zip(goals, T, strict=True)]
        limits = (arm.limits.lower, arm.limits.upper)
        for _ in range(2):
            H, q = costs_of_moves(arm, goals, targets, q, Rule(step, penalty, ()), limits)
            if step == "exact" or all(goal.task == "position" for goal in goals):
                assert (np.diff(H) <= 1e-12 * (1 + H[0])).all(), (seed, step)
            assert (q >= limits[0]).all()
            assert (q <= limits[1]).all()
        assert H[-1] < H[0] or H[0] < 1e-12


@pytest.mark.parametrize("seed", range(3))
def test_exact_steps_minimise_the_cost_that_forward_kinematics_gives(seed):
    """Against a scan of the joint's whole range, with forward kinematics alone."""
    arm = random_chain(seed)
    q, wanted = arm.random(2, seed=seed + 10)
    T = arm.pose(wanted, "b5")
    length = Solver("test", arm.subject, (Goal("b5"),), ((4, 4),)).mechanism.length
    for k, name in enumerate(arm.joints):
        step = joint_step(arm.subject, q, name, T, "b5")
        d = np.append(np.linspace(-PI, PI, 2001), step.d)
        moved_q = np.repeat(q[None], len(d), 0)
        moved_q[:, k] += d
        P = arm.pose(moved_q, "b5")
        trace = np.einsum("nij,ij->n", P[:, :3, :3], T[:3, :3])
        H = ((P[:, :3, 3] - T[:3, 3]) ** 2).sum(1) + length**2 * (3 - trace)
        assert H[-1] <= H[:-1].min() + 1e-12
        if arm.model.joint(name).type == "revolute":  # H(d) = const - 2 (A cos d + B sin d)
            wave = H + 2 * (step.A * np.cos(d) + step.B * np.sin(d))
            assert np.ptp(wave) < 1e-12


def test_near_the_goal_exact_and_small_angle_steps_agree():
    arm = iiwa()
    q = arm.random(seed=1)
    rng = np.random.default_rng(0)
    for frame, part in (("link7", lambda T: T[:3, 3]), ("link7", lambda T: T)):
        T = arm.pose(q, frame)
        T[:3, 3] += 1e-4 * rng.normal(size=3)
        T[:3, :3] = pin.exp3(1e-4 * rng.normal(size=3)) @ T[:3, :3]
        for name in arm.joints:
            step = joint_step(arm.subject, q, name, part(T), frame)
            # 1e-4 m of error on arms of 0.1 m
            assert abs(step.d - step.small_angle) <= 1e-3 * abs(step.d) + 1e-12


def test_a_joint_without_effect_never_moves():
    arm = iiwa()
    q0 = arm.random(seed=2)
    p = arm.pose(arm.random(seed=3), "link7")[:3, 3]
    for step in ("exact", "small_angle"):
        found = arm.inverse_kinematics(p, "link7", q0, method="recursive", step=step)
        assert found.success
        assert found.q[6] == q0[6]  # the tip lies on the last axis


def test_a_goal_already_reached_moves_nothing():
    arm = iiwa()
    q = arm.random(20, seed=4)
    found = arm.inverse_kinematics(arm.pose(q, "link7"), "link7", q, method="recursive")
    assert np.array_equal(found.q, q)
    assert (found.iterations == 0).all()
    assert found.success.all()


def test_out_of_reach_the_arm_stretches_and_says_so():
    found = solve([1.0, 0.0, 0.0], np.array([0.3, 0.2, -0.4, 0.5]), limits=False, step="exact")
    assert not found.success
    assert found.reason.startswith("stalled")
    assert found.error == pytest.approx(0.2, abs=1e-9)
    np.testing.assert_allclose(found.q, 0.0, atol=1e-8)


def test_at_a_stall_the_gradient_vanishes_or_points_outwards():
    arm = planar()
    lower, upper = np.array([-0.2, -0.3, -0.4, -0.5]), np.array([0.2, 0.3, 0.4, 0.5])
    targets = np.random.default_rng(0).uniform(-0.7, 0.7, (40, 3)) * [1, 1, 0]
    found = arm.inverse_kinematics(
        targets, "tip", np.zeros(4), method="recursive", limits=(lower, upper), kick=0.0
    )
    stalled = np.array([reason.startswith("stalled") for reason in found.reason])
    assert stalled.sum() > 10
    e = targets - arm.pose(found.q, "tip")[:, :3, 3]
    slope = np.einsum("nij,ni->nj", arm.jacobian(found.q, "tip")[:, :3], e)
    free = (found.q > lower) & (found.q < upper)
    assert np.abs(slope[stalled][free[stalled]]).max() < 1e-9
    assert (np.where(found.q <= lower, -slope, slope)[stalled][~free[stalled]] > -1e-9).all()
    held = [reason for reason, stall in zip(found.reason, stalled, strict=True) if stall]
    assert any("on a limit" in reason for reason in held)


def test_moving_base_and_goal_together_changes_nothing():
    R, p = pin.exp3(np.array([0.4, -0.7, 1.1])), np.array([0.3, -2.0, 0.7])
    moved_arm = planar().with_base(p, R)
    for goal in ([0.3, 0.2, 0.0], [0.5, -0.4, 0.0]):
        here = solve(goal, np.full(4, 0.3), limits=TURN)
        there = moved_arm.inverse_kinematics(
            R @ goal + p, "tip", np.full(4, 0.3), **PAPER, limits=TURN
        )
        np.testing.assert_allclose(there.q, here.q, atol=1e-12)
        assert there.iterations == here.iterations


def test_slides_solve_in_one_move_each():
    machine = gantry()
    p = np.array([0.4, -1.3, 2.2])
    found = machine.inverse_kinematics(
        p, machine.bodies[-1], np.zeros(3), method="recursive", tolerance=1e-12
    )
    assert found.success
    assert found.iterations == 1


def test_a_wrist_turns_to_almost_any_orientation():
    wrist = zyz_wrist()
    frame = wrist.bodies[-1]
    R = np.array([pin.exp3(w) for w in _uniform_rotations(500)])
    found = wrist.inverse_kinematics(
        R,
        frame,
        np.full(3, 0.1),
        method="recursive",
        task="orientation",
        tolerance=1e-8,
        limits=False,
    )
    assert found.success.mean() >= 0.99
    reached = wrist.pose(found.q, frame)[:, :3, :3]
    angle = 2 * np.arcsin(np.linalg.norm(reached - R, axis=(1, 2)) / math.sqrt(8))
    assert (angle[found.success] <= 1e-8 * (1 + 1e-6)).all()
    half_turn = pin.exp3(PI * np.array([0.6, 0.0, 0.8]))
    options = {
        "method": "recursive",
        "task": "orientation",
        "limits": False,
        "sweeps": 1,
        "kick": 0.0,
    }
    exact = wrist.inverse_kinematics(half_turn, frame, np.zeros(3), **options)
    np.testing.assert_allclose(np.abs(exact.q), [PI, 1.28700222, 0.0], atol=1e-8)
    stuck = wrist.inverse_kinematics(half_turn, frame, np.zeros(3), step="small_angle", **options)
    np.testing.assert_allclose(stuck.q, 0.0, atol=1e-7)


def _uniform_rotations(count):
    x = np.random.default_rng(7).normal(size=(count, 4))
    return [pin.log3(pin.Quaternion(row / np.linalg.norm(row)).matrix()) for row in x]


@pytest.mark.parametrize("order", ["tip_to_base", "best_first", ["q3", "q1", "q4", "q2"]])
def test_other_orders_reach_the_goal_too(order):
    goals = np.array([[0.3, 0.2, 0.0], [0.1, -0.4, 0.0], [-0.5, 0.1, 0.0]])
    found = solve(goals, np.array([0.2, -0.3, 0.4, 0.5]), limits=TURN, step="exact", order=order)
    assert found.success.all()
    if order == "tip_to_base":
        base = solve(goals, np.array([0.2, -0.3, 0.4, 0.5]), limits=TURN, step="exact")
        assert np.abs(base.q - found.q).max() > 0.1
    if isinstance(order, list):
        still = solve(
            goals,
            np.array([0.2, -0.3, 0.4, 0.5]),
            limits=TURN,
            step="exact",
            order=order[:3],
            partial=True,
        )
        assert (still.q[:, 1] == -0.3).all()


def test_a_sweep_costs_as_much_more_as_the_chain_is_longer():
    """Counted operations: linear from base to tip, back, and for the best joint alone."""

    def operations(joints, order):
        arm = Robot.from_dh([{"a": 0.1}] * joints, convention="standard")
        m = Solver("test", arm.subject, (Goal(arm.bodies[-1], "position"),), ((3,),)).mechanism
        x, target = SX.sym("x", joints), SX.sym("t", 3)
        walk = Walk(
            m, x, pairs_of("test", (Goal(arm.bodies[-1], "position"),), m.places, target, m.length)
        )
        free = [Interval(*(SX(v) for v in (-math.inf, math.inf, -math.inf, math.inf)))] * joints
        sweep(walk, Rule("small_angle", None, order(joints)), free, m.reach)
        return casadi.Function("sweep", [x, target], walk.x, {"cse": True}).n_nodes()

    for order in (
        lambda n: tuple(range(n)),
        lambda n: tuple(reversed(range(n))),
        lambda n: "best_first",
    ):
        counts = [operations(n, order) for n in (10, 20, 40)]
        assert counts[2] - counts[1] == pytest.approx(2 * (counts[1] - counts[0]), rel=0.02)
        assert counts[2] < 40 * (90 if order(2) != "best_first" else 130)


def test_joints_that_follow_and_screws_have_no_closed_form_but_descend():
    screw = Joint("s", "helical", None, "a", axis=(0.0, 0.0, 1.0), pitch=0.05)
    lever = Joint("l", "revolute", "a", "b", Placement(position=(0.3, 0.0, 0.0)), (0.0, 1.0, 0.0))
    follower = Joint(
        "f",
        "revolute",
        "b",
        "c",
        Placement(position=(0.3, 0.0, 0.0)),
        (0.0, 1.0, 0.0),
        mimic=Mimic("l", -0.5, 0.1),
    )
    tip = Joint("t", "fixed", "c", "d", Placement(position=(0.2, 0.0, 0.0)))
    arm = Robot(Model("mixed", tuple(Body(n) for n in "abcd"), (screw, lever, follower, tip)))
    q = np.array([0.7, -0.4])
    p = arm.pose(q, "d")[:3, 3]
    found = arm.inverse_kinematics(p, "d", np.array([0.2, 0.1]), method="recursive", tolerance=1e-8)
    assert found.success
    np.testing.assert_allclose(arm.pose(found.q, "d")[:3, 3], p, atol=1.1e-8)


def test_two_tips_share_their_trunk():
    """A trunk of two joints with two branches of three:
    each joint minimises the sum over the tips it carries."""
    z, links, bodies = (0.0, 0.0, 1.0), [], []
    for name, parent, x in [
        ("t1", None, 0.0),
        ("t2", "t1", 0.3),
        *[(f"{s}{k}", (f"{s}{k - 1}" if k else "t2"), 0.25) for s in "lr" for k in range(3)],
    ]:
        bodies.append(Body(name))
        links.append(
            Joint(f"j_{name}", "revolute", parent, name, Placement(position=(x, 0.0, 0.0)), z)
        )
    for side in "lr":
        bodies.append(Body(f"tip_{side}"))
        links.append(
            Joint(
                f"f_{side}", "fixed", f"{side}2", f"tip_{side}", Placement(position=(0.2, 0.0, 0.0))
            )
        )
    tree = Robot(Model("two arms", tuple(bodies), tuple(links)))
    q = np.random.default_rng(5).uniform(-0.8, 0.8, (10, tree.nq))
    tips = ["tip_l", "tip_r"]
    p = [tree.pose(q, tip)[:, :3, 3] for tip in tips]
    found = tree.inverse_kinematics(
        p, tips, np.full(tree.nq, 0.1), method="recursive", sweeps=20_000
    )
    assert found.success.all()
    for tip, wanted in zip(tips, p, strict=True):
        np.testing.assert_allclose(tree.pose(found.q, tip)[:, :3, 3], wanted, atol=1.1e-6)
    goals, endless = tuple(Goal(t, "position") for t in tips), np.full(tree.nq, np.inf)
    start, rule = np.full(tree.nq, 0.1), Rule("exact", None, ())
    H, _ = costs_of_moves(tree, goals, [x[0] for x in p], start, rule, (-endless, endless))
    assert (np.diff(H) <= 1e-12).all()


def test_a_batch_gives_what_single_calls_give():
    arm = planar()
    goals = np.random.default_rng(3).uniform(-0.5, 0.5, (37, 3)) * [1, 1, 0]
    q0 = np.array([0.1, 0.2, 0.3, 0.4])
    whole = arm.inverse_kinematics(goals, "tip", q0, method="recursive")
    for k in (0, 17, 36):
        one = arm.inverse_kinematics(goals[k], "tip", q0, method="recursive")
        assert np.array_equal(one.q, whole.q[k])
        assert one.iterations == whole.iterations[k]
    assert whole.success.mean() > 0.9


def test_the_null_space_climbs_its_objective():
    arm = planar()
    q0 = np.array([0.4, 0.5, 0.6, 0.7])
    path = np.tile(arm.pose(q0, "tip")[:3, 3], (3000, 1))
    options = {"method": "pseudo_inverse", "dt": 1e-3, "gain": 50.0}

    def manipulability(q):
        J = arm.jacobian(q, "tip")[..., :2, :]
        return np.sqrt(np.linalg.det(J @ np.swapaxes(J, -1, -2)))

    still = arm.inverse_kinematics(path, "tip", q0, **options)
    np.testing.assert_allclose(still.q[-1], q0, atol=1e-12)
    up = arm.inverse_kinematics(path, "tip", q0, objective="manipulability", alpha=20.0, **options)
    assert up.success.all()
    w = manipulability(up.q)
    assert w[-1] > 1.01 * w[0]
    assert (np.diff(w) > -1e-9).all()
    wished = arm.inverse_kinematics(
        path, "tip", q0, objective=lambda q: -((q[0] - 1.0) ** 2), alpha=5.0, **options
    )
    assert abs(wished.q[-1, 0] - 1.0) < abs(q0[0] - 1.0) - 0.1
    assert wished.error.max() < 1e-3


def test_recorded_limits_and_drift():
    q = np.array([[0.0, 1.0], [0.5, -1.0], [0.1, 1.0], [0.6, -1.0], [0.2, 1.0]])
    lower, upper = recorded_limits(q, margin=0.1)
    np.testing.assert_allclose((lower, upper), [[-0.1, -1.1], [0.7, 1.1]])
    np.testing.assert_allclose(cycle_drift(q, 2), [0.1, 0.1])
    with pytest.raises(InvalidInput, match="period is 5"):
        cycle_drift(q, 5)
    with pytest.raises(InvalidInput, match="margin is -1"):
        recorded_limits(q, -1)


@pytest.mark.parametrize(
    ("options", "error", "says"),
    [
        ({"step": "big"}, InvalidInput, "step is 'big'"),
        ({"order": "sideways"}, InvalidInput, "order is 'sideways'"),
        ({"order": ["q1", "q2"]}, InvalidInput, r"partial=True lets \['q3', 'q4'\] rest"),
        ({"order": ["q1", "q9"]}, UnknownName, 'order names "q9"'),
        ({"penalty": True}, InvalidInput, 'penalty needs finite limits for joint "q1"'),
        ({"penalty": "hard"}, InvalidInput, "penalty is 'hard'"),
        ({"velocity_limits": True}, InvalidInput, "need the sampling time dt"),
        ({"velocity_limits": (np.ones(4), np.ones(4)), "dt": 0.1}, InvalidInput, "must contain 0"),
        (
            {"limits": (np.ones(4), np.zeros(4))},
            InvalidInput,
            'joint "q1": lower limit 1 exceeds upper limit 0',
        ),
        (
            {"limits": (np.ones(4), np.full(4, 2.0))},
            InvalidInput,
            r"q0\[0\] = 0 is outside \[1, 2\]",
        ),
        ({"sweeps": 0}, InvalidInput, "sweeps is 0"),
        ({"tolerance": -1.0}, InvalidInput, "tolerance is -1.0"),
        ({"dt": 0.0, "velocity_limits": True}, InvalidInput, "dt is 0.0"),
        ({"kick": -1.0}, InvalidInput, "kick is -1.0"),
        ({"speed": 1}, InvalidInput, "has no option 'speed'"),
    ],
)
def test_bad_options_are_refused(options, error, says):
    with pytest.raises(error, match=says):
        planar().inverse_kinematics(
            [0.3, 0.2, 0.0], "tip", np.zeros(4), method="recursive", **options
        )


def test_a_start_outside_the_limits_may_be_clipped():
    lower, upper = np.full(4, 0.1), np.full(4, 2.0)
    found = solve([0.3, 0.4, 0.0], np.zeros(4), limits=(lower, upper), clip_start=True)
    assert ((found.q >= lower) & (found.q <= upper)).all()


def test_what_this_method_cannot_do_is_refused():
    machine, body = lw.load("five-bar"), robot("solo/solo12", "floating")
    with pytest.raises(NotPossible, match="closed loops"):
        machine.inverse_kinematics([0.1, 0.1, 0], "lower_right.C", method="recursive")
    with pytest.raises(NotPossible, match="floating joint"):
        body.inverse_kinematics(np.eye(4), "FL_FOOT", method="recursive")
    with pytest.raises(NotPossible, match="one rotation alone"):
        iiwa().inverse_kinematics(np.eye(4), "link7", method="recursive", axes="x y z rz")
    with pytest.raises(InvalidInput, match="give its start q0"):
        planar().inverse_kinematics(np.zeros((5, 3)), "tip", method="pseudo_inverse")
