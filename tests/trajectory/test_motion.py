"""Motions after each other: what meets is joined, what does not is refused; paths likewise."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from scipy.integrate import simpson

import linkwork as lw
from linkwork.errors import InvalidInput, NotPossible
from linkwork.trajectory import (
    Follower,
    Joined,
    Path,
    jerk_limited,
    line,
    lines,
    minimum_time,
    quintic,
    trapezoid,
)
from linkwork.trajectory.pace import pace

A, B, C = np.array([0.0, 0.5]), np.array([1.0, 0.2]), np.array([0.4, -0.6])
HOME = np.array([0.3, -1.2, 1.6, -1.9, -1.5, 0.2])


@cache
def arm() -> lw.Robot:
    return lw.load("ur5e")


def test_joined_motions_are_their_parts_one_after_the_other():
    one, two = quintic(A, B, duration=1.5), trapezoid(B, C, velocity=1.0, acceleration=3.0)
    whole = one.then(two, pause=0.25)
    assert whole.duration == pytest.approx(one.duration + 0.25 + two.duration)
    for t, part, since in (
        (0.4, one, 0.4),
        (2.0, two, 2.0 - 1.75),
        (whole.duration, two, two.duration),
    ):
        for mine, theirs in zip(whole.at(t), part.at(since), strict=True):
            np.testing.assert_allclose(mine, theirs, rtol=0, atol=1e-12)
    q, v, a = whole.at(1.6)  # in the pause
    np.testing.assert_allclose(q, B, atol=1e-15)
    assert not v.any() and not a.any()
    assert whole.then(quintic(C, A, duration=1.0), pause=0.25).parts[:2] == (one, two)


def test_motions_that_do_not_meet_are_refused():
    one = quintic(A, B, duration=1.0)
    with pytest.raises(InvalidInput, match="motion 1 begins 0"):
        one.then(quintic(C, A, duration=1.0))
    moving = jerk_limited(B, C, 2.0, 5.0, 50.0, start_velocity=[0.3, 0.0])
    with pytest.raises(InvalidInput, match="speeds differ by 0"):
        one.then(moving)
    with pytest.raises(InvalidInput, match="expected a motion"):
        one.then("another")


def test_robots_take_motions_as_they_are():
    motion = quintic(HOME, HOME + 0.2, duration=1.0).then(quintic(HOME + 0.2, HOME, duration=0.5))
    analysis = arm().analyse(motion, steps=31)
    q, v, a = motion.at(analysis.time)
    np.testing.assert_allclose(analysis.q, q, atol=1e-15)
    tau = arm().inverse_dynamics(q, v, a)
    np.testing.assert_allclose(analysis["actuator.elbow_joint"], tau[:, 2], rtol=0, atol=1e-9)
    run = lw.simulate(arm(), HOME, duration=0.02, step=1e-3)
    np.testing.assert_array_equal(arm().analyse(run).q, run.q)
    assert motion.to_numpy().shape == (1501, 19)


def test_lines_side_by_side_are_the_lines_one_by_one():
    start = arm().pose(HOME, "tool0")
    batch = [[start, lw.pose((0.0, y, 0.02)) @ start, start] for y in (0.05, 0.1)]
    limits = {"speed": 0.2, "acceleration": 1.0, "step": 0.005}
    many = lines(arm(), "tool0", batch, **limits, q0=HOME, blend=0.01)
    for poses, motion in zip(batch, many, strict=True):
        one = line(arm(), "tool0", poses, **limits, q0=HOME, blend=0.01)
        np.testing.assert_array_equal(motion.time, one.time)
        np.testing.assert_allclose(motion.q, one.q, rtol=0, atol=1e-9)
        q, v, a = motion.at(motion.time[::7])
        np.testing.assert_allclose(q, motion.q[::7], atol=1e-14)
        np.testing.assert_allclose(v, motion.v[::7], atol=1e-10)
        np.testing.assert_allclose(a, motion.a[::7], atol=1e-8)
    away = [[start, lw.pose((0.0, 9.0, 0.0)) @ start]]
    with pytest.raises(NotPossible, match="lines: line 0: no way on"):
        lines(arm(), "tool0", away, speed=5.0, acceleration=9.0, q0=HOME, step=0.05)


def test_accelerations_and_jerks_of_joints_are_kept_by_slowing_down():
    start = arm().pose(HOME, "tool0")
    poses = [start, lw.pose((0.0, 0.1, 0.0)) @ start]
    quick = {"speed": 2.0, "acceleration": 20.0, "jerk": 400.0, "q0": HOME, "step": 0.001}
    motion = line(arm(), "tool0", poses, **quick, joint_jerk=100.0)
    jerk = np.diff(motion.a, axis=0) / np.diff(motion.time)[:, None]
    assert motion.slowed > 1.0 and np.abs(jerk).max() <= 100.0 * (1 + 1e-9)
    with pytest.raises(InvalidInput, match="joint_jerk is given without jerk"):
        line(arm(), "tool0", poses, 2.0, 20.0, joint_jerk=100.0)


def test_paths_are_joined_where_they_meet_in_one_direction():
    """A cubic cut in two and joined again is the cubic."""
    ways = np.array([[0.0, 0.0], [0.6, 0.4], [1.0, 1.0], [1.2, 1.9], [2.0, 2.2]])
    whole = Path.through(ways)

    def part(begin, end):
        width = end - begin

        def curve(s):
            q, first, second = whole.curve(begin + width * s)
            return q, width * first, width**2 * second

        return Path(2, curve)

    joined = part(0.0, 0.3).then(part(0.3, 0.45), part(0.45, 1.0))
    s = np.linspace(0.0, 1.0, 57)
    for mine, theirs in zip(joined(s), whole(s), strict=True):
        np.testing.assert_allclose(mine, theirs, rtol=0, atol=1e-11)
    assert joined.breaks == pytest.approx((0.3, 0.45))
    with pytest.raises(InvalidInput, match="another direction"):
        Path.line(A, B).then(Path.line(B, C))
    with pytest.raises(InvalidInput, match="away from where"):
        Path.line(A, B).then(Path.line(C, B))


def test_one_path_of_two_is_faster_than_two_laws():
    one, two = Path.line(HOME, HOME + 0.3), Path.line(HOME + 0.3, HOME + 0.5)
    joined = minimum_time(arm(), one.then(two), points=201)
    stopping = minimum_time(arm(), one, points=201).then(minimum_time(arm(), two, points=201))
    assert isinstance(stopping, Joined) and joined.duration < 0.9 * stopping.duration
    assert joined.worst <= 1.0 + 1e-4


def test_jerk_limited_motions_keep_every_limit():
    velocity, acceleration, jerk = (
        np.array([1.0, 2.0]),
        np.array([4.0, 3.0]),
        np.array([30.0, 20.0]),
    )
    motion = jerk_limited(
        A, C, velocity, acceleration, jerk, start_velocity=[0.5, -0.2], end_velocity=[-0.1, 0.0]
    )
    time = np.linspace(0.0, motion.duration, 4001)
    q, v, a = motion.at(time)
    np.testing.assert_allclose(q[[0, -1]], [A, C], atol=1e-9)
    np.testing.assert_allclose(v[[0, -1]], [[0.5, -0.2], [-0.1, 0.0]], atol=1e-9)
    for values, most in (
        (v, velocity),
        (a, acceleration),
        (np.diff(a, axis=0) / np.diff(time)[:, None], jerk),
    ):
        assert (np.abs(values).max(axis=0) <= most * (1 + 1e-6)).all()
    # v is the derivative of q: central differences are off by jerk h^2 / 6, at most
    np.testing.assert_allclose(np.gradient(q, time, axis=0)[2:-2], v[2:-2], atol=1e-5)
    # the closed form of a rest-to-rest profile that reaches all limits: T = way / v + v / a + a / j
    alone = jerk_limited([0.0], [2.0], 1.0, 4.0, 40.0)
    assert alone.duration == pytest.approx(2.0 + 0.25 + 0.1, rel=1e-9)
    with pytest.raises(InvalidInput, match="target velocity of coordinate 1 is 3"):
        jerk_limited(A, C, 1.0, 1.0, 1.0, end_velocity=[0.0, 3.0])


def test_a_follower_turns_back_without_a_jerk_too_large():
    follower = Follower(arm(), HOME, jerk=200.0, acceleration=10.0, step=0.002)
    states = [follower.state]
    for k in range(1500):
        target = HOME + (0.5 if k < 80 else -0.3)  # it is still on its way when the target jumps
        states.append(follower.update(target))
        if k > 80 and follower.reached:
            break
    q, v, a = (np.array(x) for x in zip(*states, strict=True))
    assert follower.reached
    np.testing.assert_allclose(q[-1], HOME - 0.3, atol=1e-9)
    assert v[:81].max() > 0.3 and q.max() < (HOME + 0.5).max()
    assert np.abs(np.diff(a, axis=0)).max() / 0.002 <= 200.0 * (1 + 1e-6)
    assert (np.abs(v).max(axis=0) <= arm().limits.velocity * (1 + 1e-9)).all()
    np.testing.assert_allclose(
        np.diff(q, axis=0), 0.002 * (v[1:] + v[:-1]) / 2, atol=200.0 * 0.002**3
    )
    with pytest.raises(InvalidInput, match="limits no acceleration"):
        Follower(arm(), HOME, jerk=200.0)


def test_a_pace_with_limited_jerk_is_the_moving_mean_of_the_pace_without():
    """The integrals that it takes differences of, against quadrature: their cubes are small,
    but not nothing."""
    smooth = pace(np.array([1.0, 2.0]), np.array([1.0, 0.7]), np.array([2.0, 1.0]), jerk_time=0.3)
    plain = replace(smooth, mean=0.0)
    for t in (0.2, 0.6, 2.0, smooth.duration - 0.1):
        s, sd, sdd = smooth.at(np.array([t]))
        fine = np.linspace(t - 0.3, t, 200_001)
        rows = plain.at(fine)
        assert s[0] == pytest.approx(simpson(rows[0], fine) / 0.3, abs=1e-10)
        assert sd[0] == pytest.approx(simpson(rows[1], fine) / 0.3, abs=1e-5)
        assert sdd[0] == pytest.approx((rows[1][-1] - rows[1][0]) / 0.3, abs=1e-9)
