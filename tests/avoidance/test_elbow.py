"""The elbow: configurations by arm angle against forward kinematics,
arcs against brute force over the arm angle."""

from __future__ import annotations

import math
from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.signal import cont2discrete

import linkwork as lw
from linkwork.avoidance import (
    CriticallyDampedFilter,
    Elbow,
    ElbowAvoidance,
    SafetyVolume,
    nearest_free,
    speed_scale,
)
from linkwork.avoidance.arcs import merged, without, wrapped
from linkwork.avoidance.joint_limits import SAMPLES
from linkwork.errors import ComputationError, InvalidInput, NotPossible
from linkwork.model import Limits
from linkwork.reproduce.human_arms import circle, human_points, tool_pose

TURN = 2 * math.pi


@cache
def arm() -> lw.Robot:
    return lw.load("redundant-7")


@cache
def elbow() -> Elbow:
    return Elbow(arm(), "tool", (0.0, 1.0, 0.0))


@cache
def iiwa(*twists: float) -> lw.Robot:
    """The usual seven-axis arm with z up, on a tilted base, with limits; twists: of axes 1, 2,
    5 and 6."""
    quarter = math.pi / 2
    first, second, fifth, sixth = twists or (-quarter, quarter, -quarter, quarter)
    table = [
        (0.36, first),
        (0.0, second),
        (0.42, quarter),
        (0.0, -quarter),
        (0.4, fifth),
        (0.0, sixth),
        (0.126, 0.0),
    ]
    rows = [
        {
            "a": 0.0,
            "d": d,
            "alpha": alpha,
            "theta": 0.0,
            "joint": "revolute",
            "limits": (-limit, limit),
        }
        for (d, alpha), limit in zip(table, (2.97, 2.09, 2.97, 2.09, 2.97, 2.09, 3.05), strict=True)
    ]
    robot = lw.Robot.from_dh(rows, check="any", name="iiwa-like")
    c, s = math.cos(0.4), math.sin(0.4)
    return robot.with_base((0.1, -0.2, 0.3), [[c, 0.0, s], [0.0, 1.0, 0.0], [-s, 0.0, c]])


def test_shoulder_elbow_and_wrist_are_where_the_links_end():
    """Points of the description, by forward kinematics, know nothing of arm angles."""
    q = np.random.default_rng(1).uniform(-1.2, 1.2, (50, 7))
    for row in q:
        points, pose = arm().points(row), arm().pose(row, "tool")
        ours = elbow().points(pose, float(elbow().arm_angle(row)))
        for mine, (body, name) in zip(ours, (("1", "Ps"), ("3", "Pe"), ("4", "Pw")), strict=True):
            np.testing.assert_allclose(mine, points[body][name], atol=1e-12)


@pytest.mark.parametrize("robot", [arm, iiwa])
def test_configurations_meet_the_pose_with_the_elbow_at_the_angle(robot):
    robot = robot()
    frame = "tool" if "tool" in robot.frames else robot.bodies[-1]
    bent = Elbow(robot, frame, (0.3, 1.0, -0.2))
    rng = np.random.default_rng(2)
    q = rng.uniform(-1.5, 1.5, (40, 7))
    pose, angle = robot.pose(q, frame), rng.uniform(-3.0, 3.0, 40)
    rows = bent.configurations(pose, angle)
    assert rows.shape == (40, 8, 7)
    assert np.isfinite(rows).all()
    reached = robot.pose(rows, frame)
    np.testing.assert_allclose(reached, np.broadcast_to(pose[:, None], reached.shape), atol=1e-11)
    np.testing.assert_allclose(wrapped(bent.arm_angle(rows) - angle[:, None]), 0.0, atol=1e-9)
    # the configuration it came from is among the rows at its own arm angle
    own = bent.configurations(pose, bent.arm_angle(q))
    assert np.abs(wrapped(own - q[:, None])).max(axis=-1).min(axis=-1).max() < 1e-8
    for eight in rows:
        apart = np.abs(wrapped(eight[:, None] - eight[None])).max(axis=-1) + 10.0 * np.eye(8)
        assert apart.min() > 1e-6


def test_the_elbow_joint_does_not_move_with_the_arm_angle():
    rows = elbow().configurations(tool_pose((0.6, 0.2, 0.2)), np.linspace(-3.0, 3.0, 50))
    np.testing.assert_allclose(np.abs(rows[..., 3]), abs(rows[0, 0, 3]), atol=1e-12)


def test_a_whole_turn_of_the_arm_angle_changes_nothing():
    pose = tool_pose((0.5, 0.3, 0.1))
    one, other = elbow().configurations(pose, 0.7), elbow().configurations(pose, 0.7 + TURN)
    np.testing.assert_allclose(wrapped(one - other), 0.0, atol=1e-11)


def brute_clearance(S, E, W, p, minimum, maximum) -> np.ndarray:
    """Cones and sphere as [Simas2022] eqs. 15-17 draw them, in plain numpy;
    E and p (..., 3) broadcast."""
    least = np.linalg.norm(p - E, axis=-1) - maximum
    for end in (S, W):
        link = E - end
        share = ((p - end) * link).sum(axis=-1) / (link**2).sum(axis=-1)
        away = np.linalg.norm(p - end - share[..., None] * link, axis=-1)
        beside = (share >= 0.0) & (share <= 1.0)
        least = np.where(
            beside, np.minimum(least, away - ((1 - share) * minimum + share * maximum)), least
        )
    return least


def test_arcs_are_those_of_brute_force_over_the_arm_angle():
    """600 points x 400 arm angles with different link lengths and radii:
    no verdict differs off the very ends."""
    rng = np.random.default_rng(3)
    angles = np.linspace(-math.pi, math.pi, 400, endpoint=False)
    differing = compared = 0
    both = {1: elbow(), 0: Elbow(iiwa(), iiwa().bodies[-1], (0.0, 1.0, 0.0))}
    for trial in range(12):
        robot, frame = (arm(), "tool") if trial % 2 else (iiwa(), iiwa().bodies[-1])
        bent = both[trial % 2]
        pose = robot.pose(rng.uniform(-1.5, 1.5, 7), frame)
        minimum = rng.uniform(0.0, 0.1) if trial % 3 else 0.0
        volume = SafetyVolume(minimum, minimum + rng.uniform(0.0, 0.15))
        S, _, W = bent.points(pose)
        points = (S + W) / 2 + rng.normal(size=(50, 3)) * 0.3
        center, half = bent.arcs(pose, points, volume)
        elbows = np.array([bent.points(pose, float(angle))[1] for angle in angles])
        room = brute_clearance(S, elbows, W, points[:, None], volume.minimum, volume.maximum)
        inside = np.abs(wrapped(angles - center[:, None])) < half[:, None]
        sure = np.abs(room) > 1e-9
        differing += int((inside != (room < 0.0))[sure].sum())
        compared += int(sure.sum())
    assert compared > 2e5
    assert differing == 0


def test_clearances_are_the_paper_s_solids():
    rng = np.random.default_rng(4)
    pose, volume = tool_pose((0.5, 0.2, 0.3)), SafetyVolume(0.02, 0.13)
    points = rng.uniform(-0.2, 0.8, (500, 3))
    ours = elbow().clearance(pose, 0.4, points, volume)
    S, E, W = elbow().points(pose, 0.4)
    expected = brute_clearance(S, E, W, points, 0.02, 0.13)
    np.testing.assert_allclose(ours, expected, atol=1e-12)


def test_a_sphere_is_a_point_with_a_larger_volume():
    pose, points = tool_pose((0.6, 0.2, 0.2)), human_points(0.3)
    grown = elbow().forbidden(pose, points, SafetyVolume(0.03, 0.13))
    np.testing.assert_array_equal(
        elbow().forbidden(pose, points, SafetyVolume(0.0, 0.1), radius=0.03), grown
    )


def test_every_listed_point_is_clear_at_the_nearest_free_angle():
    rng = np.random.default_rng(5)
    volume, free = SafetyVolume(0.0, 0.12), 0
    for k in range(100):
        pose = circle(k / 100)
        points = rng.uniform((0.0, 0.2, -0.3), (0.6, 0.9, 0.5), (12, 3))
        angle = nearest_free(elbow().forbidden(pose, points, volume))
        if math.isnan(angle):
            continue
        free += 1
        assert elbow().clearance(pose, angle, points, volume).min() >= -1e-12
    assert free > 50


@given(
    st.lists(st.tuples(st.floats(-3.1, 3.1), st.floats(0.0, 1.2)), max_size=8), st.floats(-3.1, 3.1)
)
@settings(max_examples=80, deadline=None)
def test_the_nearest_free_angle_is_free_and_the_nearest(arcs, target):
    center, half = (
        np.array(x, dtype=float) for x in (zip(*arcs, strict=True) if arcs else ((), ()))
    )
    union = merged(center, half)
    inside = lambda angle: bool((np.abs(wrapped(angle - center)) < half - 1e-9).any())
    found = nearest_free(union, target)
    grid = np.linspace(-math.pi, math.pi, 2001)
    free = grid[~(np.abs(wrapped(grid[:, None] - center)) < half - 1e-9).any(axis=1)]
    if math.isnan(found):
        assert not len(free)
        return
    assert not inside(found)
    best = np.abs(wrapped(free - target)).min(initial=math.inf)
    assert abs(float(wrapped(found - target))) <= best + 1e-9


@given(
    st.lists(st.tuples(st.floats(-3.1, 3.1), st.floats(0.01, 0.6)), min_size=1, max_size=6),
    st.floats(-3.1, 3.1),
)
@settings(max_examples=80, deadline=None)
def test_a_kept_angle_is_not_separated_from_the_answer_by_an_arc(arcs, keep):
    center, half = (np.array(x, dtype=float) for x in zip(*arcs, strict=True))
    union = merged(center, half)
    if len(union) and union[0, 1] - union[0, 0] >= TURN:
        assert math.isnan(nearest_free(union, 0.0, keep=keep))
        return
    found = nearest_free(union, 0.0, keep=keep)
    assert abs(found - keep) <= math.pi + 1e-9 or len(union)
    inside = lambda angle: bool((np.abs(wrapped(angle - center)) < half - 1e-9).any())
    assert not inside(found)
    if not inside(keep):  # the way from one to the other is free as a whole
        assert not any(inside(angle) for angle in np.linspace(keep, found, 200))


def test_arcs_that_run_over_half_a_turn_are_joined():
    union = merged(np.array([math.pi - 0.1, -math.pi + 0.2]), np.array([0.2, 0.2]))
    np.testing.assert_allclose(union, [[math.pi - 0.3, math.pi + 0.4]], atol=1e-12)
    assert len(merged(np.array([0.0, math.pi]), np.array([1.7, 1.7]))) == 1
    assert math.isnan(nearest_free(merged(np.array([0.0, math.pi]), np.array([1.7, 1.7]))))


@pytest.mark.parametrize(
    ("rate", "period"), [(0.2, 0.06), (3.33, 0.06), (10.0, 0.001), (40.0, 0.1)]
)
def test_the_filter_is_scipy_s_exact_discretisation(rate, period):
    system = ([rate**2], [1.0, 2 * rate, rate**2])
    numerator, denominator, _ = cont2discrete(system, period, method="zoh")
    c = CriticallyDampedFilter(rate, period).coefficients
    np.testing.assert_allclose([c.h1, c.h2], numerator.ravel()[1:], atol=1e-14)
    np.testing.assert_allclose([-c.b1, -c.b2], denominator[1:], atol=1e-14)
    assert math.isclose(c.h1 + c.h2, 1 - c.b1 - c.b2, rel_tol=0, abs_tol=1e-15)


@given(st.floats(0.01, 50.0), st.floats(1e-4, 0.5))
@settings(max_examples=100, deadline=None)
def test_a_step_rises_to_one_without_overshoot(rate, period):
    y = CriticallyDampedFilter(rate, period).run(np.ones(400))
    assert (np.diff(y) >= -1e-13).all()
    assert y.max() <= 1.0 + 1e-12
    t = period * np.arange(400)
    np.testing.assert_allclose(y, 1.0 - (1.0 + rate * t) * np.exp(-rate * t), atol=1e-9)


def test_a_filter_stands_where_it_was_reset_and_turns_the_short_way():
    smooth = CriticallyDampedFilter(5.0, 0.01, angle=True)
    smooth.reset(3.0)
    assert smooth.step(3.0) == pytest.approx(3.0, abs=1e-15)
    y = smooth.run(np.full(2000, -3.0))
    assert y[-1] == pytest.approx(TURN - 3.0, abs=1e-6)
    assert y.min() > 2.9


def test_a_designed_filter_keeps_its_promise():
    y = CriticallyDampedFilter.design(0.001, reaction_time=0.5).run(np.ones(502))
    assert y[501] >= 0.9 - 1e-3
    smooth = CriticallyDampedFilter.design(1e-4, max_acceleration=8.0, max_step=0.5)
    y = smooth.run(np.full(5000, 0.5))
    assert np.abs(np.diff(y, 2)).max() / 1e-8 <= 8.0 * 1.001


def scenes():
    """Tool down or up, human arms swinging in a vertical plane or about the vertical."""
    return [(False, "xy", 1.0), (False, "xz", -1.0), (True, "xz", 1.0)]


@pytest.mark.parametrize(("up", "plane", "sign"), scenes())
def test_no_sample_of_a_guarded_minute_is_inside_the_hard_volume(up, plane, sign):
    volume = SafetyVolume(0.0, 0.15)
    avoidance = ElbowAvoidance(elbow(), volume, CriticallyDampedFilter(10.0, 0.06), activation=0.18)
    s, statuses = 0.0, set()
    for k in range(500):
        pose, points = circle(s, up), human_points(k / 500, 11, plane, sign)
        step = avoidance.step(pose, points)
        assert elbow().clearance(pose, step.arm_angle, points, volume).min() >= -1e-9
        np.testing.assert_allclose(arm().pose(step.q, "tool"), pose, atol=1e-10)
        statuses.add(step.status)
        s += step.speed_scale / 500
    assert "avoiding" in statuses


def test_a_step_tells_what_it_did():
    volume, smooth = SafetyVolume(0.0, 0.15), CriticallyDampedFilter(10.0, 0.01)
    pose = tool_pose((0.6, 0.2, 0.2))
    avoidance = ElbowAvoidance(elbow(), volume, smooth)
    far = np.array([[5.0, 5.0, 5.0]])
    assert avoidance.step(pose, far).status == "clear"
    assert avoidance.step(pose, np.empty((0, 3))).clearance == math.inf
    near = np.array([[0.30, 0.70, 0.15]])
    first = avoidance.step(pose, near)
    assert first.status == "lagging"  # it stood in the hard volume at once
    assert first.clearance >= -1e-12
    stale = avoidance.step(pose, np.array([[math.nan, 0.0, 0.0]]))
    assert stale.status == "stale"
    assert stale.wanted == first.wanted
    on_the_wrist = np.array([elbow().points(pose)[2] * 0.5 + elbow().points(pose)[0] * 0.5])
    blocked = ElbowAvoidance(elbow(), SafetyVolume(0.3, 0.5), smooth).step(pose, on_the_wrist)
    assert blocked.status == "blocked"
    assert math.isnan(blocked.wanted)


def test_a_retreating_tool_is_not_slowed():
    assert speed_scale(0.01, 0.05, approaching=False) == 1.0
    assert speed_scale(-0.01, 0.05, approaching=False) == 1.0
    assert speed_scale(-0.01, 0.05) == 0.0
    assert speed_scale(0.05, 0.05) == 1.0
    scales = [speed_scale(d, 0.05) for d in np.linspace(0.001, 0.05, 50)]
    assert (np.diff(scales) > 0).all()


def test_joint_limits_leave_arcs_whose_ends_touch_a_limit():
    bent = Elbow(iiwa(), iiwa().bodies[-1], (0.0, 0.0, 1.0))
    pose = iiwa().pose(np.array([0.3, 0.9, -0.4, 1.2, 0.5, -0.7, 0.2]), iiwa().bodies[-1])
    lower, upper = iiwa().limits.lower, iiwa().limits.upper
    ends = 0
    for branch, arcs in enumerate(bent.limits_free(pose)):
        for start, end in arcs:
            middle = bent.configurations(pose, (start + end) / 2)[branch]
            assert ((middle >= lower) & (middle <= upper)).all()
            if end - start < TURN - 1e-9:
                for angle in (start, end):
                    q = bent.configurations(pose, angle)[branch]
                    assert np.minimum(np.abs(q - lower), np.abs(q - upper)).min() < 1e-6
                    ends += 1
    assert ends >= 2


def limited(lower: np.ndarray, upper: np.ndarray, twists: tuple[float, ...] = ()) -> lw.Robot:
    """The same arm with other limits, and with other twists of its shoulder and wrist."""
    robot = iiwa(*twists)
    both = dict(zip(robot.joints, zip(lower.tolist(), upper.tolist(), strict=True), strict=True))
    joints = [
        replace(joint, limits=(Limits(*both[joint.name]),)) if joint.name in both else joint
        for joint in robot.model.joints
    ]
    return lw.Robot(replace(robot.model, joints=tuple(joints)))


@pytest.mark.parametrize("seed", range(4))
def test_free_arcs_are_exactly_where_every_joint_is_within_its_limits(seed):
    """Against 3600 arm angles of the eight branches; one joint has no limits."""
    generator = np.random.default_rng(seed)
    lower, upper = generator.uniform(-2.8, -1.0, 7), generator.uniform(1.0, 2.8, 7)
    lower[3], upper[3], lower[4], upper[4] = -2.2, 2.2, -math.inf, math.inf
    robot = limited(lower, upper)
    tip = robot.bodies[-1]
    bent = Elbow(robot, tip, (0.0, 0.0, 1.0))
    angles = np.linspace(-math.pi, math.pi, 3600, endpoint=False)
    ends = 0
    rows_of_q = generator.uniform(-1.4, 1.4, (6, 7))
    rows_of_q[4, 1] = rows_of_q[5, 5] = (
        0.0  # shoulder, wrist singular at one arm angle: branches change places there
    )
    for q in rows_of_q:
        pose = robot.pose(q, tip)
        rows = bent.configurations(pose, angles)
        within = ((rows >= lower) & (rows <= upper)).all(axis=-1)
        for branch, arcs in enumerate(bent.limits_free(pose)):
            ours = arc_of(arcs, angles)
            sure = (
                np.abs(wrapped(angles[:, None] - arcs.ravel())).min(axis=1, initial=math.inf) > 1e-9
            )
            np.testing.assert_array_equal(ours[sure], within[sure, branch])
            for end in arcs[np.ptp(arcs, axis=1) < TURN - 1e-9].ravel():
                own = bent.configurations(pose, end)[branch]
                near = np.minimum(np.abs(own - lower), np.abs(own - upper)).min()
                singular = np.isnan(own).any() or np.abs(np.sin(own[[1, 5]])).min() < 1e-6
                assert near < 1e-9 or singular
                ends += 1
    assert ends > 8


@pytest.mark.parametrize("open_ended", [False, True])
def test_a_branch_that_ceases_ends_its_free_arc(open_ended):
    """Twists that are no right angles: shoulder and wrist reach some rotations only.
    Against 3600 arm angles."""
    generator = np.random.default_rng(5)
    lower, upper = generator.uniform(-2.9, -1.6, 7), generator.uniform(1.6, 2.9, 7)
    lower[3], upper[3] = -2.2, 2.2
    if open_ended:
        lower, upper = np.full(7, -math.inf), np.full(7, math.inf)
    robot = limited(lower, upper, (-1.1, 1.3, -0.9, 1.2))
    tip = robot.bodies[-1]
    bent = Elbow(robot, tip, (0.0, 0.0, 1.0))
    angles = np.linspace(-math.pi, math.pi, 3600, endpoint=False)
    ceased = unsolved_samples = 0
    for q in generator.uniform(-1.6, 1.6, (12, 7)):
        pose = robot.pose(q, tip)
        rows = bent.configurations(pose, angles)
        within = ((rows >= lower) & (rows <= upper)).all(axis=-1)
        for branch, arcs in enumerate(bent.limits_free(pose)):
            sure = (
                np.abs(wrapped(angles[:, None] - arcs.ravel())).min(axis=1, initial=math.inf) > 1e-6
            )
            np.testing.assert_array_equal(arc_of(arcs, angles)[sure], within[sure, branch])
        exists = np.isfinite(rows).all(axis=-1).any(axis=1)
        ceased += int((exists != np.roll(exists, 1)).sum())
        unsolved_samples += (
            not np.isfinite(bent.configurations(pose, SAMPLES)).all(axis=-1).any(axis=1).all()
        )
    assert ceased > 4 and unsolved_samples > 2


def test_a_free_arc_is_found_however_short_it_is():
    """A limit that a joint passes by a millionth of a radian leaves an arc that no grid would
    meet."""
    wide = np.full(7, 3.2)
    tip = iiwa().bodies[-1]
    pose = iiwa().pose(np.array([0.3, 0.9, -0.4, 1.2, 0.5, -0.7, 0.2]), tip)
    rows = Elbow(limited(-wide, wide), tip, (0, 0, 1)).configurations(
        pose, np.linspace(-math.pi, math.pi, 100_001)
    )
    for joint, branch in ((1, 0), (5, 6)):
        lower = -wide
        lower[joint] = rows[:, branch, joint].max() - 1e-6
        bent = Elbow(limited(lower, wide), tip, (0.0, 0.0, 1.0))
        arcs = bent.limits_free(pose)[branch]
        assert arcs.shape == (1, 2) and 1e-4 < np.ptp(arcs) < 0.01
        assert bent.configurations(pose, arcs.mean())[branch, joint] > lower[joint]


def arc_of(arcs, angles):
    return (((angles[:, None] - arcs[:, 0]) % TURN) < arcs[:, 1] - arcs[:, 0]).any(axis=1)


def test_the_free_set_keeps_limits_and_obstacles():
    bent = Elbow(iiwa(), iiwa().bodies[-1], (0.0, 0.0, 1.0))
    q = np.array([0.3, 0.9, -0.4, 1.2, 0.5, -0.7, 0.2])
    pose, volume = iiwa().pose(q, iiwa().bodies[-1]), SafetyVolume(0.02, 0.12)
    points = bent.points(pose, float(bent.arm_angle(q)))[1] + [[0.05, 0.05, 0.05], [-0.3, 0.2, 0.0]]
    forbidden, limited = bent.forbidden(pose, points, volume), bent.limits_free(pose)
    angles = np.linspace(-math.pi, math.pi, 2000, endpoint=False)
    for free, allowed in zip(bent.free(pose, points, volume), limited, strict=True):
        np.testing.assert_array_equal(
            arc_of(free, angles), arc_of(allowed, angles) & ~arc_of(forbidden, angles)
        )
        assert ((free[:, 0] >= -math.pi) & (free[:, 0] < math.pi)).all() and (
            np.diff(free[:, 0]) > 0
        ).all()
    beyond = bent.beyond_limits(pose, q)
    rows = bent.configurations(pose, bent.arm_angle(q))
    branch = int(np.argmin(np.abs(wrapped(rows - q)).max(axis=1)))
    np.testing.assert_array_equal(arc_of(beyond, angles), ~arc_of(limited[branch], angles))
    assert not arc_of(beyond, bent.arm_angle(q)[None])[0]


def test_the_elbow_moves_on_the_branch_whose_limits_are_kept():
    """Over the free arcs of its branch; the nearest of the eight is another one, or beyond a limit,
    at some angles."""
    tip = iiwa().bodies[-1]
    bent = Elbow(iiwa(), tip, (0.0, 0.0, 1.0))
    lower, upper = iiwa().limits.lower, iiwa().limits.upper
    others = 0
    for q in np.random.default_rng(8).uniform(0.9 * lower, 0.9 * upper, (6, 7)):
        pose, branch = iiwa().pose(q, tip), bent.branch_of(iiwa().pose(q, tip), q)
        for start, end in bent.limits_free(pose)[branch]:
            for angle in np.linspace(start, end, 20)[1:-1]:
                moved, rows = bent.along_branch(pose, q, angle), bent.configurations(pose, angle)
                assert ((moved >= lower) & (moved <= upper)).all()
                np.testing.assert_allclose(wrapped(moved - rows[branch]), 0.0, atol=1e-6)
                turned = q + wrapped(rows - q)
                others += bool(
                    np.abs(turned[np.argmin(np.abs(turned - q).max(axis=1))] - moved).max() > 1e-3
                )
    assert others > 5


def test_a_configuration_on_no_branch_is_refused():
    tip = iiwa().bodies[-1]
    bent = Elbow(iiwa(), tip, (0.0, 0.0, 1.0))
    q = np.array([0.3, 0.9, -0.4, 1.2, 0.5, -0.7, 0.2])
    pose = iiwa().pose(q, tip)
    for refused in (bent.beyond_limits, bent.branch_of):
        with pytest.raises(NotPossible, match="on no branch at that pose, the nearest one is"):
            refused(pose, q + [0.1, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0])
    singular = np.array([0.3, 0.9, -0.4, 1.2, 0.5, 0.0, 0.2])  # axes 5 and 7 are one line
    with pytest.raises(NotPossible, match="shoulder or wrist is singular"):
        bent.beyond_limits(iiwa().pose(singular, tip), singular)


@given(
    st.lists(st.tuples(st.floats(-3.1, 3.1), st.floats(0.01, 3.2)), max_size=5),
    st.lists(st.tuples(st.floats(-3.1, 3.1), st.floats(0.01, 1.6)), max_size=5),
)
@settings(max_examples=80, deadline=None)
def test_arcs_without_others_are_what_is_left(these, others):
    both = [
        merged(*(np.array(x) for x in (zip(*arcs, strict=True) if arcs else ((), ()))))
        for arcs in (these, others)
    ]
    left, angles = without(*both), np.linspace(-math.pi, math.pi, 500)
    ends = np.concatenate([arcs.ravel() for arcs in both])
    sure = np.abs(wrapped(angles[:, None] - ends)).min(axis=1, initial=math.inf) > 1e-9
    expected = arc_of(both[0], angles) & ~arc_of(both[1], angles)
    np.testing.assert_array_equal(arc_of(left, angles)[sure], expected[sure])
    assert (left[:, 1] > left[:, 0]).all()


def test_turning_everything_about_the_vertical_turns_the_first_joint_alone():
    pose, points, volume = tool_pose((0.6, 0.2, 0.2)), human_points(0.1), SafetyVolume(0.0, 0.15)
    c, s = math.cos(0.8), math.sin(0.8)
    about_y = np.array([[c, 0.0, s], [0.0, 1.0, 0.0], [-s, 0.0, c]])
    T = np.eye(4)
    T[:3, :3] = about_y
    turned = T @ pose
    np.testing.assert_allclose(
        elbow().forbidden(turned, points @ about_y.T, volume),
        elbow().forbidden(pose, points, volume),
        atol=1e-9,
    )
    moved = wrapped(elbow().configurations(turned, 0.3) - elbow().configurations(pose, 0.3))
    np.testing.assert_allclose(moved[:, 0], 0.8, atol=1e-10)
    np.testing.assert_allclose(moved[:, 1:], 0.0, atol=1e-10)


def test_a_mirrored_obstacle_turns_the_elbow_the_other_way():
    pose, volume = tool_pose((0.6, 0.2, 0.0)), SafetyVolume(0.0, 0.15)
    one = elbow().arcs(pose, np.array([[0.3, 0.6, 0.07]]), volume)
    other = elbow().arcs(pose, np.array([[0.3, 0.6, -0.07]]), volume)
    np.testing.assert_allclose(one[0], -other[0], atol=1e-12)
    np.testing.assert_allclose(one[1], other[1], atol=1e-12)
    wider = elbow().arcs(pose, np.array([[0.3, 0.6, 0.07]]), SafetyVolume(0.0, 0.2))
    assert wider[1] > one[1]


def test_what_is_refused_in_words(caplog):
    with pytest.raises(
        NotPossible, match="no arm with spherical shoulder and wrist: 6 axes, expected 7"
    ):
        Elbow(lw.load("ur5e"), "tool0")
    joints = list(iiwa().model.joints)
    third = next(k for k, joint in enumerate(joints) if joint.name == iiwa().joints[2])
    place = joints[third].placement
    aside = replace(place, position=tuple(np.add(place.position, (0.02, 0.0, 0.0)).tolist()))
    joints[third] = replace(joints[third], placement=aside)
    offset = lw.Robot(replace(iiwa().model, joints=tuple(joints)))
    with pytest.raises(
        NotPossible, match="wrist: axes 1, 2 and 3 miss a common point by 20 mm, expected one"
    ):
        Elbow(offset, offset.bodies[-1])
    with pytest.raises(InvalidInput, match=r"reach is 0 \.\. 0\.8 m|reach is .*0\.8 m"):
        elbow().forbidden(tool_pose((2.0, 0.2, 0.2)), np.zeros((1, 3)), SafetyVolume(0.0, 0.1))
    with pytest.raises(InvalidInput, match=r"configurations: the wrist would be .* reach is"):
        elbow().configurations(tool_pose((2.0, 0.2, 0.2)), 0.0)
    with pytest.raises(ComputationError, match="straight"):
        elbow().arm_angle(np.zeros(7))
    with pytest.raises(InvalidInput, match=r"minimum 0\.2 m exceeds maximum"):
        SafetyVolume(0.2, 0.1)
    with pytest.raises(InvalidInput, match="radius >= 0"):
        SafetyVolume(-0.2, 0.1)
    for rate, period in ((0.0, 0.1), (1.0, -1.0), (math.nan, 1.0)):
        with pytest.raises(InvalidInput, match="CriticallyDampedFilter"):
            CriticallyDampedFilter(rate, period)
    with caplog.at_level("WARNING"):
        CriticallyDampedFilter(10.0, 0.1)
        assert not caplog.text
        CriticallyDampedFilter(10.1, 0.1)
    assert "rate x period = 1.01 > 1" in caplog.text
    with pytest.raises(InvalidInput, match="inside the hard radius"):
        ElbowAvoidance(
            elbow(), SafetyVolume(0.0, 0.2), CriticallyDampedFilter(1.0, 0.1), activation=0.1
        )
    with pytest.raises(InvalidInput, match="rigid motion"):
        elbow().forbidden(2 * np.eye(4), np.zeros((1, 3)), SafetyVolume(0.0, 0.1))
