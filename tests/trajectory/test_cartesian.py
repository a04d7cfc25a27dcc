"""Cartesian motion: the frame stays on its way and within its limits,
and joints do what the frame does."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from scipy.spatial.transform import Rotation, Slerp

import linkwork as lw
from linkwork.errors import InvalidInput, NotPossible
from linkwork.trajectory import Arc, CartesianMotion, line, minimum_time
from linkwork.trajectory.ways import moves_of, rounded

Q0 = np.array([0.3, -1.2, 1.6, -1.9, -1.5, 0.2])
LIMITS = {"speed": 0.3, "acceleration": 1.0, "turn_speed": 1.5, "turn_acceleration": 4.0}


@cache
def arm() -> lw.Robot:
    return lw.load("ur5e")


@cache
def corners() -> tuple[np.ndarray, ...]:
    A = arm().pose(Q0, "tool0")
    B = A @ lw.pose(rpy=(0.3, 0.2, 0.5))
    B[:3, 3] = A[:3, 3] + [0.1, 0.15, -0.1]
    C = B.copy()
    C[:3, 3] += [-0.1, 0.1, 0.05]
    return A, B, C


@cache
def moved(blend: float = 0.0, jerk: float | None = None, poses: int = 3) -> CartesianMotion:
    return line(
        arm(), "tool0", corners()[:poses], **LIMITS, blend=blend, jerk=jerk, q0=Q0, step=0.002
    )


@pytest.mark.parametrize(("blend", "jerk"), [(0.0, None), (0.03, None), (0.03, 10.0), (0.2, 5.0)])
def test_the_frame_keeps_its_limits_and_the_joints_follow_it(blend, jerk):
    motion = moved(blend, jerk)
    np.testing.assert_allclose(arm().pose(motion.q, "tool0"), motion.pose, atol=1e-9)
    twist = arm().velocity(motion.q, motion.v, "tool0")
    change = arm().acceleration(motion.q, motion.v, motion.a, "tool0")
    for x, limit in (
        (twist[:, :3], 0.3),
        (twist[:, 3:], 1.5),
        (change[:, :3], 1.0),
        (change[:, 3:], 4.0),
    ):
        assert np.linalg.norm(x, axis=1).max() <= limit * (1 + 1e-6)
    # rates are those of the coordinates: the integral of v is the way of q, that of a is v
    h = np.diff(motion.time)[:, None]
    summed = (motion.v[1:] + motion.v[:-1]) / 2 * h
    np.testing.assert_allclose(summed.sum(axis=0), motion.q[-1] - motion.q[0], atol=2e-5)
    np.testing.assert_allclose(motion.v[[0, -1]], 0.0, atol=1e-9)
    np.testing.assert_allclose(motion.pose[0], corners()[0], atol=1e-12)
    np.testing.assert_allclose(motion.pose[-1], corners()[2], atol=1e-12)


def test_a_move_is_straight_and_turns_about_one_axis():
    motion = moved(poses=2)
    A, B = corners()[:2]
    along = B[:3, 3] - A[:3, 3]
    off = np.cross(motion.pose[:, :3, 3] - A[:3, 3], along / np.linalg.norm(along))
    assert np.abs(off).max() < 1e-12
    share = np.linalg.norm(motion.pose[:, :3, 3] - A[:3, 3], axis=1) / np.linalg.norm(along)
    between = Slerp([0, 1], Rotation.from_matrix([A[:3, :3], B[:3, :3]]))
    np.testing.assert_allclose(
        motion.pose[:, :3, :3], between(np.clip(share, 0, 1)).as_matrix(), atol=1e-9
    )


def test_a_blend_passes_the_corner_at_speed_and_within_its_distance():
    motion, stopped = moved(0.03), moved(0.0)
    assert motion.duration < stopped.duration
    corner = corners()[1][:3, 3]
    away = np.linalg.norm(motion.pose[:, :3, 3] - corner, axis=1)
    assert 0.0 < away.min() < 0.03
    speed = np.linalg.norm(arm().velocity(motion.q, motion.v, "tool0")[:, :3], axis=1)
    assert speed[np.argmin(away)] > 0.05
    # outside the blend the way is the two straight lines
    A, B, C = (T[:3, 3] for T in corners())
    far = motion.pose[away > 0.031, :3, 3]
    to = [
        np.linalg.norm(np.cross(far - P, (Q - P) / np.linalg.norm(Q - P)), axis=1)
        for P, Q in ((A, B), (B, C))
    ]
    assert np.minimum(*to).max() < 1e-9


def test_jerk_is_limited():
    jerk = 8.0
    motion = line(arm(), "tool0", corners()[:2], **LIMITS, jerk=jerk, q0=Q0, step=0.002)
    change = arm().acceleration(motion.q, motion.v, motion.a, "tool0")[:, :3]
    assert np.linalg.norm(np.diff(change, axis=0), axis=1).max() / 0.002 <= jerk * 1.02
    jumping = arm().acceleration(moved(poses=2).q, moved(poses=2).v, moved(poses=2).a, "tool0")[
        :, :3
    ]
    assert np.linalg.norm(np.diff(jumping, axis=0), axis=1).max() / 0.002 > 10 * jerk


def test_an_arc_lies_on_its_circle():
    A, B, _ = corners()
    via = (A[:3, 3] + B[:3, 3]) / 2 + [0.0, 0.0, 0.05]
    motion = line(arm(), "tool0", [A, Arc(via, B)], **LIMITS, q0=Q0, step=0.005)
    points = motion.pose[:, :3, 3]
    a, b, c = points[0], via, points[-1]
    normal = np.cross(b - a, c - a)
    assert np.abs((points - a) @ normal / np.linalg.norm(normal)).max() < 1e-12
    # the centre by perpendicular bisectors, independent of the formula used
    rows = np.array([b - a, c - a, normal])
    center = np.linalg.solve(rows, [(b - a) @ (a + b) / 2, (c - a) @ (a + c) / 2, normal @ a])
    radii = np.linalg.norm(points - center, axis=1)
    np.testing.assert_allclose(radii, radii[0], rtol=1e-12)
    assert np.linalg.norm(points - via, axis=1).min() < 2e-3


def test_motions_are_joined_and_become_paths():
    A, B, C = corners()
    one = line(arm(), "tool0", [A, B], **LIMITS, q0=Q0, step=0.005)
    two = line(arm(), "tool0", [B, C], **LIMITS, q0=one.q[-1], step=0.005)
    whole = one.then(two)
    assert whole.duration == pytest.approx(one.duration + two.duration)
    assert (np.diff(whole.time) > 0).all()
    with pytest.raises(InvalidInput, match="begins"):
        two.then(one.then(two))
    law = minimum_time(arm(), one.to_path(51), np.full(6, 200.0), np.full(6, 2.0))
    assert 0.0 < law.duration < one.duration


def test_joint_speeds_are_kept_by_slowing_down():
    fast = line(
        arm(),
        "tool0",
        corners()[:2],
        speed=50.0,
        acceleration=2000.0,
        turn_speed=200.0,
        turn_acceleration=9e3,
        q0=Q0,
    )
    largest = arm().limits.velocity
    assert fast.slowed > 1.0
    assert (np.abs(fast.v).max(axis=0) <= largest * (1 + 1e-9)).all()
    assert (np.abs(fast.v).max(axis=0) >= 0.999 * largest).any()


def test_a_seven_axis_arm_follows_too():
    robot = lw.load("redundant-7")
    q0 = np.array([0.2, 0.7, 0.1, -1.3, 0.3, 0.9, 0.4])
    A = robot.pose(q0, "tool")
    B = A.copy()
    B[:3, 3] += [0.05, -0.1, 0.05]
    motion = line(robot, "tool", [A, B], **LIMITS, q0=q0, step=0.005)
    np.testing.assert_allclose(robot.pose(motion.q, "tool"), motion.pose, atol=1e-8)


def test_what_is_refused_in_words():
    A, B, _ = corners()
    far = B.copy()
    far[:3, 3] += [2.0, 0.0, 0.0]
    with pytest.raises(NotPossible, match=r"no way on at .* m, .* s of"):
        line(arm(), "tool0", [A, far], **LIMITS, q0=Q0, step=0.02)
    far_away = B.copy()
    # thousands of seconds of a way that ends beyond the arm are not searched
    far_away[:3, 3] += [
        1000.0,
        0.0,
        0.0,
    ]
    with pytest.raises(NotPossible, match=r"line: no way to .* m: .*reach"):
        line(arm(), "tool0", [A, far_away], **LIMITS, q0=Q0, step=0.02)
    with pytest.raises(NotPossible, match="first pose cannot be reached"):
        line(arm(), "tool0", [far, A], **LIMITS, q0=Q0, step=0.02)
    with pytest.raises(InvalidInput, match="at least two"):
        line(arm(), "tool0", [], **LIMITS)
    with pytest.raises(InvalidInput, match="poses 0 and 1 are the same"):
        line(arm(), "tool0", [A, A], **LIMITS)
    with pytest.raises(InvalidInput, match="pose 1: pose: "):
        line(arm(), "tool0", [A, 2 * np.eye(4)], **LIMITS)
    with pytest.raises(InvalidInput, match="on one line"):
        line(arm(), "tool0", [A, Arc((A[:3, 3] + B[:3, 3]) / 2, B)], **LIMITS)
    for name in ("speed", "acceleration", "turn_speed"):
        with pytest.raises(InvalidInput, match=name):
            line(arm(), "tool0", [A, B], **{**LIMITS, name: 0.0})


def test_every_piece_of_a_way_has_the_derivatives_of_its_place():
    """Straight, along an arc, cut off and rounded: speeds, turns,
    their rates by differences in the share."""
    turns = [(0.3, -0.2, 0.5), (-0.4, 0.6, 0.1), (0.9, 0.1, -0.7), (0.2, 0.8, 0.4)]
    places = [(0.4, 0.1, 0.3), (0.6, 0.3, 0.2), (0.3, 0.5, 0.4), (0.1, 0.2, 0.5)]
    A, B, C, D = (
        lw.pose(place, rotation_vector=turn) for place, turn in zip(places, turns, strict=True)
    )
    moves = moves_of([A, B, C, Arc((0.2, 0.45, 0.5), D)])
    straight_and_round = rounded([replace(move, cruise=1.0) for move in moves], 0.1)
    pieces = [*moves, *[piece for group in straight_and_round for piece in group]]
    # three moves; what is left of two of them, the corner between them, and the arc
    assert len(pieces) == 7
    u, h = np.array([0.2, 0.55, 0.9]), 1e-5
    for piece in pieces:
        here, ahead, behind = piece.at(u), piece.at(u + h), piece.at(u - h)
        spun = (ahead.R - behind.R) / (2 * h) @ np.swapaxes(here.R, -1, -2)
        turning = np.stack([spun[:, 2, 1], spun[:, 0, 2], spun[:, 1, 0]], axis=-1)
        rates = {"dp": ("p", here.dp), "ddp": ("dp", here.ddp), "dw": ("w", here.dw)}
        for name, (of, ours) in rates.items():
            slope = (getattr(ahead, of) - getattr(behind, of)) / (2 * h)
            np.testing.assert_allclose(ours, slope, atol=1e-8, err_msg=name)
        np.testing.assert_allclose(here.w, turning, atol=1e-8)
