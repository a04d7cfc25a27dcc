"""Plans in time: no instant touches what moves, joints keep their speeds,
nobody arrives earlier than can be."""

from __future__ import annotations

import functools

import numpy as np
import pytest

from linkwork.collision import Box, CollisionModel, HeightField, Obstacles, Sphere
from linkwork.collision.certify import many_certificates
from linkwork.errors import InvalidInput
from linkwork.planning import Moving, TimedPlan
from linkwork.planning import plan_in_time as planned_in_time
from tests.planning.test_plan import arm
from tests.planning.test_roadmap import point

plan_in_time = functools.partial(planned_in_time, time_limit=3600.0)  # on a busy machine, too
LEFT, RIGHT = np.array([-1.2, 0.0]), np.array([1.2, 0.0])
SPEED = 1.0
TUNNEL = Obstacles([Box((1.0, 2.0, 1.0), (0.0, 1.2, 0.0)), Box((1.0, 2.0, 1.0), (0.0, -1.2, 0.0))])
"""Walls that leave a way of 0.4 m along y = 0, from x = -0.5 to 0.5."""


def least_gap(answer: TimedPlan, radius: float) -> float:
    """By the distance of centres, at instants 1/500 s apart: nothing here asks the checker."""
    t = np.arange(0.0, answer.times[-1], 1 / 500)
    here, gaps = answer.at(t), []
    for each in answer.moving:
        for shape in each.shapes:
            there = np.array(shape.center) + t[:, None] * np.array(each.velocity)
            gaps.append(
                np.linalg.norm(there - np.c_[here, np.zeros(len(t))], axis=1)
                - shape.radius
                - radius
            )
    return float(np.min(gaps))


def own_radius() -> float:
    (shape,) = next(iter(point().shapes.values()))
    return float(shape.radius)


def test_alone_it_goes_as_fast_as_its_slowest_joint() -> None:
    answer = plan_in_time(point(), LEFT, RIGHT, speeds=[SPEED, 0.1], nodes=20)
    assert (
        answer.success and answer.certified and answer.times.tolist() == [0.0, pytest.approx(2.4)]
    )
    np.testing.assert_array_equal(answer.path, [LEFT, RIGHT])


def test_it_waits_for_what_comes_through_the_tunnel_and_no_instant_touches() -> None:
    # fills the tunnel until it is out at the left
    ball = Moving(Sphere((0.6, 0.0, 0.0), 0.19), (-0.5, 0.0, 0.0))
    answer = plan_in_time(point(), LEFT, RIGHT, TUNNEL, ball, speeds=SPEED, nodes=200)
    assert answer.success and answer.certified, answer
    assert (answer.path[0] == LEFT).all() and (answer.path[-1] == RIGHT).all()
    # [s] when its centre is out; from there to the goal it is at least 1.7 m
    inside = (0.6 + 0.5) / 0.5
    assert answer.times[-1] > inside + 1.7
    assert least_gap(answer, own_radius()) >= answer.clearance - 1e-12 > 0.0
    rates = np.abs(np.diff(answer.path, axis=0)) / np.diff(answer.times)[:, None]
    assert rates.max() <= SPEED * (1 + 1e-9)
    assert not point().collides(answer.at(np.linspace(0, answer.times[-1], 500)), TUNNEL).any()
    again = plan_in_time(point(), LEFT, RIGHT, TUNNEL, ball, speeds=SPEED, nodes=200)
    assert (
        again.path.tobytes() == answer.path.tobytes()
        and again.times.tobytes() == answer.times.tobytes()
    )
    # the same ball standing still in the tunnel: there is no way
    still = plan_in_time(
        point(), LEFT, RIGHT, TUNNEL, Moving(Sphere((0.0, 0.0, 0.0), 0.21), (0, 0, 0)), speeds=SPEED
    )
    assert not still.success and still.reason.startswith("no path") and len(still.path) == 0


def test_a_goal_that_is_run_over_later_says_until_when_it_may_be_rested_at() -> None:
    ball = Moving(Sphere((1.2, 3.0, 0.0), 0.2), (0.0, -0.5, 0.0))
    answer = plan_in_time(point(), LEFT, RIGHT, None, ball, speeds=SPEED, nodes=50)
    touched = (3.0 - 0.2 - own_radius()) / 0.5
    assert answer.success and touched - 0.2 < answer.rests_until <= touched


def test_an_arm_among_moving_spheres() -> None:
    model = arm()
    q = np.array([0.2, -1.4, 1.6, -1.2, -1.4, 0.3])
    goal = q + [1.2, 0.2, -0.3, 0.1, 0.2, 0.0]
    tool = model.robot.pose(0.5 * (q + goal), model.robot.bodies[-1])[:3, 3]
    # through the middle of the straight way
    ball = Moving([Sphere(tool + [0.0, 0.0, -0.5], 0.08)], (0.0, 0.0, 0.8))
    alone = plan_in_time(model, q, goal, None, (), nodes=60, speeds=1.0)
    answer = plan_in_time(model, q, goal, None, [ball], nodes=60, speeds=1.0)
    assert (
        alone.success
        and answer.success
        and answer.certified
        and answer.times[-1] >= alone.times[-1]
    )
    for t in np.linspace(0.0, answer.times[-1], 200):
        assert not model.collides(answer.at(t), answer.scene(t))


def test_pairs_that_only_coal_knows_are_proved_as_well() -> None:
    """A box among boxes: samples step over a plate, the proof does not,
    and the bound is that of the gap beside."""
    pytest.importorskip("coal")
    boxes = CollisionModel(point().robot, {"point": [Box((0.001, 0.001, 0.001))]}, pairs=[])
    assert not boxes.in_machine_code([Box((1, 1, 1))])
    plate = Box((0.0005, 8.0, 1.0), (0.0125, 0.0, 0.0))  # half way between two samples of a piece
    assert boxes.motion_is_free(LEFT, RIGHT, [plate], step=0.025)
    (proof,) = many_certificates(boxes, [(np.stack([LEFT, RIGHT]), Obstacles([plate]))])
    assert proof.collides.all() and not proof.free.any()
    shut = Moving(plate, (0.0, 0.0, 0.0))
    blocked = plan_in_time(boxes, LEFT, RIGHT, None, shut, speeds=SPEED, nodes=2, horizon=2.5)
    assert not blocked.success and blocked.reason.startswith("no path")
    beside = [Box((1.0, 1.0, 1.0), (0.0, 0.52, 0.0))]
    answer = plan_in_time(boxes, LEFT, RIGHT, beside, speeds=SPEED, nodes=2, horizon=2.5)
    assert answer.success and answer.certified and 0.0 < answer.clearance <= 0.02 - 0.0005


def test_what_is_wrong_is_said() -> None:
    ball = Moving(Sphere((0.0, 0.0, 0.0), 0.2), (0, 0, 0))
    late = plan_in_time(point(), LEFT, RIGHT, speeds=SPEED, nodes=20, time_limit=1e-9)
    assert not late.success and "within time_limit = 1e-09 s (0 motions)" in late.reason
    here = plan_in_time(point(), np.zeros(2), RIGHT, None, ball, speeds=SPEED, nodes=20)
    assert not here.success and here.reason.startswith("start in collision with a moving")
    with pytest.raises(InvalidInput, match="period is 0"):
        plan_in_time(point(), LEFT, RIGHT, speeds=SPEED, period=0.0)
    with pytest.raises(InvalidInput, match=r"speeds is .* expected positive"):
        plan_in_time(point(), LEFT, RIGHT, speeds=-1.0)
    with pytest.raises(InvalidInput, match="moving has a Sphere"):
        plan_in_time(point(), LEFT, RIGHT, moving=[Sphere((0, 0, 0), 0.1)], speeds=SPEED)
    with pytest.raises(InvalidInput, match="a height field stands still"):
        Moving(HeightField(np.zeros((2, 2))), (1.0, 0.0, 0.0))
    with pytest.raises(InvalidInput, match="velocity has shape"):
        Moving(Sphere((0, 0, 0), 0.1), (1.0, 0.0))
