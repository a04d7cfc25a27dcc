"""Fit: paths and poses that a four-bar can meet are met, others nearly;
against scipy's least squares."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import least_squares

import linkwork as lw
from linkwork.errors import InvalidInput, NotPossible, UnknownName
from linkwork.loops import circuit
from linkwork.synthesis import (
    FunctionTask,
    PlanarTask,
    chebyshev_spacing,
    check,
    fit,
    function_generator,
)
from linkwork.synthesis.chain_starts import Goal, _drawn, of_five_poses, of_nine_points
from linkwork.synthesis.chains import parameters_of, postures, tracer_of
from linkwork.synthesis.four_bar_paths import paths, random_paths
from linkwork.synthesis.path_descent import descend
from tests.synthesis.examples import TABLE_4
from tests.synthesis.test_four_bars import sampled


def crank_rocker_path(n, seed):
    """n points, evenly by crank angle, of a random crank-rocker's path."""
    random = np.random.default_rng(seed)
    while True:
        g, a, b, c = random.uniform([2, 0.5, 2, 1.6], [6, 1.5, 6, 6])
        ordered = np.sort([g, a, b, c])
        if a == ordered[0] and ordered[0] + ordered[3] < ordered[1] + ordered[2] - 0.1:
            break
    tip = 0.7 * b * (random.normal() + 1j * random.normal())
    parameters = np.array([[0, 0, g, 0, a, b, c, tip.real, tip.imag]])
    return paths(parameters, np.ones(1), np.linspace(0, 2 * np.pi, n, endpoint=False))[0][
        0
    ], parameters[0]


def off_the_path(points, linkage, samples=20_000):
    """Distance of points from the path of a linkage, by brute force."""
    p, sides = parameters_of("four-bar", linkage.points[None])
    side = sides[:, 0]
    theta = np.linspace(-np.pi, np.pi, samples)
    Q, inside = paths(np.repeat(p, 2, axis=0), np.concatenate([side, -side]), theta)
    Q = np.where(inside, Q, np.inf)
    return np.abs(points[:, None] - Q.ravel()).min(axis=-1)


@pytest.mark.parametrize("seed", range(5))
def test_sixteen_points_of_a_crank_rocker_are_met(seed):
    points, _ = crank_rocker_path(16, seed)
    found = fit(PlanarTask(points), starts=1500, seed=seed)
    size = np.abs(points - points.mean()).max()
    assert found.rms[0] < 1e-8 * size
    assert off_the_path(points, found[0]).max() < 2e-3 * size  # between the samples
    assert (np.diff(found.rms) >= 0).all()


def test_where_random_starts_fail_nine_points_begin():
    """A path that 16384 random starts do not meet; in the exact answers the rocker may come
    first."""
    points, _ = crank_rocker_path(16, 1168)
    found = fit(PlanarTask(points), starts=32)
    assert found.worst[0] < 1e-8 * np.abs(points - points.mean()).max()


def test_descent_ends_where_scipy_ends():
    """From the same start near an optimum of noisy points: the same distances."""
    points, true = crank_rocker_path(16, 1)
    random = np.random.default_rng(0)
    points = points + 0.02 * (random.normal(size=16) + 1j * random.normal(size=16))
    start = true * (1 + 0.01 * random.normal(size=9))
    theta = np.linspace(0, 2 * np.pi, 16, endpoint=False)
    twice = lambda x: np.stack([x, x])  # a batch, whose code the other tests have
    _, _, cost = descend(twice(start), np.ones(2), twice(theta), points, np.ones(16))
    assert cost[0] == cost[1]

    def errors(x):
        Q = np.array([paths(x[None, :9], np.ones(1), np.array([t]))[0][0, 0] for t in x[9:]])
        return np.concatenate([(points - Q).real, (points - Q).imag])

    theirs = least_squares(
        errors, np.concatenate([start, theta]), method="lm", xtol=1e-12, ftol=1e-12
    )
    assert cost[0] == pytest.approx(2 * theirs.cost, rel=1e-3)


def test_random_starts_lie_over_the_points():
    points, _ = crank_rocker_path(16, 2)
    points = (points - points.mean()) / np.abs(points - points.mean()).max()
    p, side, angles = random_paths(points, 200, 0)
    assert len(p) > 150 and p.shape == (len(p), 9) and angles.shape == (len(p), 16)
    Q, inside = paths(p, side, np.linspace(0, 6, 60))
    middle = np.array([q[i].mean() for q, i in zip(Q, inside) if i.sum() > 5])
    assert np.abs(middle).max() < 1.5


def test_eight_poses_are_met_and_noisy_ones_nearly():
    positions, angles = sampled(8, 3)
    exact = fit(PlanarTask(positions, angles), starts=400)
    assert exact.rms[0] < 1e-9 and exact.angle_worst[0] < 1e-9
    assert np.abs(np.sort_complex(exact.linkages.points[0, :2]) - [0, 4]).max() < 1e-6
    random = np.random.default_rng(0)
    noisy = positions + 0.01 * (random.normal(size=8) + 1j * random.normal(size=8))
    near = fit(PlanarTask(noisy, angles), starts=400)
    assert near.rms[0] < 0.02


def test_poses_and_points_together():
    positions, angles = sampled(8, 4)
    angles[5:] = np.nan
    found = fit(PlanarTask(positions, angles), starts=600)
    assert found.rms[0] < 1e-8


def test_loops_close_and_seeds_repeat():
    points, _ = crank_rocker_path(16, 7)
    first, second = (fit(PlanarTask(points), starts=300, seed=5) for _ in range(2))
    assert np.array_equal(first.linkages.points, second.linkages.points)
    p = first.parameters
    for linkage, row in zip(first.linkages.points, p):
        A, D, B, C, _ = linkage
        lengths = [abs(D - A), abs(B - A), abs(C - B), abs(C - D)]
        assert lengths == pytest.approx([np.hypot(row[2], row[3]), *row[4:7]], rel=1e-9)


def test_bounds_are_kept():
    points, _ = crank_rocker_path(16, 1)
    found = fit(PlanarTask(points), starts=600, bounds={"ground": (-4, -4, 8, 4), "ratio": 8})
    grounds = found.linkages.points[:, :2]
    assert (
        (grounds.real >= -4).all()
        and (grounds.real <= 8).all()
        and (np.abs(grounds.imag) <= 4).all()
    )


BAD = [
    (lambda: fit(TABLE_4[:4]), NotPossible, "5 to 64"),
    (lambda: fit(TABLE_4, topology="watt"), UnknownName, "four-bar"),
    (lambda: fit(TABLE_4, starts=0), InvalidInput, "at least 1"),
    (lambda: fit(TABLE_4, bounds={"grund": 3}), UnknownName, "ground"),
    (lambda: fit(TABLE_4, bounds={"length": 3}), InvalidInput, "2 finite numbers"),
    (lambda: fit(PlanarTask(np.ones(6, dtype=complex))), NotPossible, "all positions are equal"),
]


@pytest.mark.parametrize(("call", "error", "words"), BAD, ids=[words for _, _, words in BAD])
def test_bad_input_gets_one_sentence(call, error, words):
    with pytest.raises(error, match=words):
        call()


def followed(linkage, turns):
    """Where the tracer is when the crank has turned by each of the angles, from its robot; None:
    it cannot."""
    robot = lw.Robot.from_linkage(linkage)
    q = np.zeros(robot.nv)
    found, crank = [], robot.joints.index("crank")
    for turn in turns:
        steps = max(1, int(np.ceil(abs(turn - q[crank]) / 0.1)))
        for way in np.linspace(q[crank], turn, steps + 1)[1:]:
            q = q.copy()
            q[crank] = way
            closed = robot.assemble(q, hold=("crank",))
            if not closed.success:
                return None
            q = closed.q
        T = robot.pose(q, "tracer")
        found.append(T[0, 3] + 1j * T[2, 3])
    return np.array(found)


def test_timed_points_are_met_at_their_time():
    """A path with the crank's angles gives its linkage back; with wrong angles nothing fits."""
    points, _ = crank_rocker_path(8, 0)
    timing = np.linspace(0, 2 * np.pi, 8, endpoint=False)
    found = fit(PlanarTask(points, timing=timing), starts=300)
    size = np.abs(points - points.mean()).max()
    assert found.rms[0] < 1e-9 * size
    assert np.abs(followed(found[0], timing[:4]) - points[:4]).max() < 1e-8 * size
    wrong = timing + 0.3 * np.sin(2 * timing)
    assert fit(PlanarTask(points, timing=wrong), starts=300).rms[0] > 1e-4 * size


@pytest.mark.parametrize("topology", ["Stephenson III", "Watt I"])
def test_six_bars_come_near_a_path_and_their_loops_close(topology):
    """An eight on its side, from the starts to a robot that runs along it."""
    theta = np.linspace(0, 2 * np.pi, 8, endpoint=False) + 0.2
    goal = np.cos(theta) + 0.35j * np.sin(2 * theta)
    found = fit(PlanarTask(goal), topology, starts=200)
    assert found.linkages.topology.mobility == 1 and len(found) > 1
    assert found.rms[0] < 0.02 and (np.diff(found.rms) >= 0).all()
    # the distances are those of the robot's tracer: against its own path, sampled
    for linkage, claimed in zip(found, found.worst):
        path = followed(linkage, np.linspace(0, 2 * np.pi, 61))
        if path is not None:
            near = np.abs(goal[:, None] - path).min(axis=-1)
            assert near.max() < claimed + np.abs(np.diff(path)).max()  # between the samples
            assert near.max() > claimed - 1e-9
            return
    pytest.fail("no crank goes round")


def test_pairs_of_a_function_are_a_task_too():
    x = np.linspace(0, 1.2, 12)
    task = FunctionTask(x, 0.1 * x**1.5, output="slider")
    found = fit(task, starts=200)
    assert found.rms[0] < 2e-4 and found.error[0] < 5e-4
    # the slider of the linkage itself, by its coupler's length
    linkage = found.linkages[0]
    A, C, B = (complex(linkage.at(name)) for name in "ACB")
    pin = A + (B - A) * np.exp(1j * x)
    reach = np.sqrt(abs(C - B) ** 2 - (pin.imag - C.imag) ** 2)
    travel = min((pin.real + side * reach - C.real for side in (1, -1)), key=lambda s: abs(s[0]))
    assert np.abs(travel - 0.1 * x**1.5).max() < 1e-3


def test_five_pairs_of_a_slider_are_exact():
    x = chebyshev_spacing(0, 1.2, 5)
    found = function_generator(x, 0.1 * np.exp(0.5 * x), output="slider", starts=200)
    assert found.exact and found.rms[0] < 1e-10 and found.error[0] < 1e-3
    check(found.linkages[0])


def poses_of(chain, n, seed):
    """n poses of the tracer's body of a random six-bar whose crank goes round,
    with the crank's angles."""
    p, sides = _drawn(chain, 50, np.random.default_rng(seed))
    theta = np.linspace(0, 2 * np.pi, n, endpoint=False)
    points, inside = postures(chain, p[:, None], sides[:, None], theta)
    k = int(np.flatnonzero(inside.all(axis=-1))[0])
    tracer, direction = tracer_of(chain, points[k])
    again, same_sides = parameters_of(chain, points[k, :1])
    assert np.abs(again - p[k]).max() < 1e-9 and (same_sides == sides[k]).all()
    return tracer, np.unwrap(np.angle(direction)), theta


@pytest.mark.parametrize("topology", ["Stephenson III", "Watt I"])
def test_six_bars_meet_poses(topology):
    """Eight poses of a six-bar are met, position and angle,
    judged by the pose of the robot's tracer."""
    positions, angles, _ = poses_of(topology, 8, 2)
    found = fit(PlanarTask(positions, angles), topology, starts=1000)
    assert found.rms[0] < 1e-9 and found.angle_worst[0] < 1e-9
    robot = lw.Robot.from_linkage(found[0])
    path = circuit(robot, np.zeros(robot.nv), "crank").x
    path = path[np.isfinite(path).all(axis=-1)]
    reach = np.abs(np.diff(path[:, robot.joints.index("crank")])).max()
    goal = np.stack([positions, np.exp(1j * (angles - angles[0]))], axis=-1)
    for _ in range(6):  # around the nearest posture of each position, always finer
        T = robot.pose(path, "tracer")
        seen = np.stack([T[:, 0, 3] + 1j * T[:, 2, 3], T[:, 0, 0] + 1j * T[:, 2, 0]], axis=-1)
        off = np.abs(seen - goal[:, None]).sum(axis=-1)
        q = np.repeat(path[off.argmin(axis=-1)], 41, axis=0)
        q[:, robot.joints.index("crank")] += np.tile(np.linspace(-reach, reach, 41), len(goal))
        path, reach = robot.assemble(q, hold=("crank",)).q, reach / 15
    assert off.min(axis=-1).max() < 1e-6  # as fine as the last step


def test_timed_poses_and_mixes():
    positions, angles, theta = poses_of("Stephenson III", 8, 2)
    timed = fit(PlanarTask(positions, angles, timing=theta), "Stephenson III", starts=300)
    assert timed.rms[0] < 1e-9 and timed.angle_worst[0] < 1e-9
    some = np.where(np.arange(8) % 2, angles, np.nan)
    mixed = fit(PlanarTask(positions, some, timing=theta), "Stephenson III", starts=300)
    assert mixed.rms[0] < 1e-9 and mixed.angle_worst[0] < 1e-9


def test_exact_starts_of_six_bars_are_exact():
    """Five poses: starts that are on all of them. Nine points: those of their four-bars."""
    positions, angles, _ = poses_of("Watt I", 24, 0)
    positions, angles = positions[:5], angles[:5]
    goal = Goal(positions, np.exp(1j * angles), np.ones(5), None)
    theta = np.linspace(0, 2 * np.pi, 2000)
    for chain in ("Watt I", "Stephenson III"):
        p, sides, near = of_five_poses(chain, goal, 64, 0)
        points, inside = postures(chain, p[:, None, :-1], sides[:, None], theta)
        tracer, direction = tracer_of(chain, points)
        off = np.abs(tracer[..., None] - positions)
        off += np.abs(direction[..., None] * np.exp(1j * p[:, -1:, None]) - goal.turns)
        off = np.where(inside[..., None], off, np.inf).min(axis=1).max(axis=-1)
        # between the samples; the others change their assembly
        assert (off < 0.05).sum() >= 4, np.sort(off)
        on_them = off < 0.05
        ends = descend(
            p[on_them],
            sides[on_them],
            near[on_them],
            positions,
            np.ones(5),
            chain,
            False,
            goal.turns,
        )[0]
        assert np.abs(ends - p[on_them]).max(axis=-1).min() < 1e-6  # nothing had to move
    path, _ = crank_rocker_path(9, 3)
    goal = Goal(path, np.zeros(9), np.ones(9), None)
    p, sides, theta = of_nine_points("Watt I", goal)
    reach = 0.05  # more than the starts' angles lie apart
    for _ in range(10):  # the crank's angle at each point, always finer; the linkage stays
        near = theta[..., None] + reach * np.linspace(-1, 1, 21)
        points, inside = postures("Watt I", p[:, None, None], sides[:, None, None], near)
        off = np.where(inside, np.abs(tracer_of("Watt I", points)[0] - path[:, None]), np.inf)
        theta = np.take_along_axis(near, off.argmin(axis=-1)[..., None], axis=-1)[..., 0]
        reach /= 8
    assert off.min(axis=-1).max(axis=-1).min() < 1e-9


def test_unknown_six_bars_are_named():
    with pytest.raises(UnknownName, match="Stephenson III"):
        fit(TABLE_4, "Stephenson II")
