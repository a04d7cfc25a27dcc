"""Steps of the elbow, which run in machine code,
against the same law put together from the parts that have a name."""

from __future__ import annotations

import math
from functools import cache

import numpy as np
import pytest

import linkwork as lw
from linkwork.avoidance import (
    CriticallyDampedFilter,
    Elbow,
    ElbowAvoidance,
    SafetyVolume,
    nearest_free,
    speed_scale,
)
from linkwork.avoidance.arcs import wrapped_one
from linkwork.collision import Capsule, Sphere
from linkwork.errors import InvalidInput

Q = np.array([0.2, 0.7, 0.1, -1.3, 0.3, 0.9, 0.4])
HARD, ACTIVE, MINIMUM, THRESHOLD = 0.12, 0.2, 0.05, 0.06


@cache
def arm() -> tuple[lw.Robot, Elbow]:
    robot = lw.load("redundant-7")
    return robot, Elbow(robot, "tool", (0.0, 1.0, 0.0))


def poses(count: int) -> np.ndarray:
    """The tool on a circle around where it stands at Q."""
    T = np.repeat(arm()[0].pose(Q, "tool")[None], count, axis=0)
    angle = np.linspace(0.0, 2.0 * math.pi, count, endpoint=False)
    T[:, :3, 3] += 0.1 * np.stack([np.cos(angle) - 1.0, np.sin(angle), 0.0 * angle], axis=1)
    return T


def avoidance() -> ElbowAvoidance:
    volume, damped = SafetyVolume(MINIMUM, HARD), CriticallyDampedFilter(8.0, 0.05)
    return ElbowAvoidance(arm()[1], volume, damped, activation=ACTIVE, threshold=THRESHOLD, q0=Q)


class Law:
    """The law of a step in words: exact arcs, nearest free angle, filter, edge of the hard volume,
    guard."""

    def __init__(self) -> None:
        self.elbow = arm()[1]
        self.filter = CriticallyDampedFilter(8.0, 0.05, angle=True)
        self.filter.reset(float(self.elbow.arm_angle(Q)))
        self.hard, self.active = SafetyVolume(MINIMUM, HARD), SafetyVolume(MINIMUM, ACTIVE)
        self.kept, self.last, self.q = self.filter.value, math.inf, Q

    def step(self, pose: np.ndarray, obstacles: object, radius: float) -> dict[str, object]:
        wanted = nearest_free(
            self.elbow.forbidden(pose, obstacles, self.active, radius), 0.0, self.filter.value
        )
        blocked, lagging = math.isnan(wanted), False
        self.kept = self.kept if blocked else wanted
        angle = self.filter.step(self.kept)
        room = self.elbow.clearance(pose, angle, obstacles, self.hard, radius).min(initial=math.inf)
        if room < 0.0:
            out = nearest_free(
                self.elbow.forbidden(pose, obstacles, self.hard, radius), angle, angle
            )
            lagging, blocked = not math.isnan(out), blocked or math.isnan(out)
            if lagging:
                angle = out
                self.filter.reset(angle)
                room = self.elbow.clearance(pose, angle, obstacles, self.hard, radius).min(
                    initial=math.inf
                )
        scale = 1.0 if math.isinf(room) else speed_scale(room, THRESHOLD, room <= self.last + 1e-9)
        self.last = room
        rows = self.elbow.configurations(pose, angle)
        turned = self.q + np.vectorize(wrapped_one)(rows[np.isfinite(rows).all(axis=1)] - self.q)
        self.q = turned[np.argmin(np.abs(turned - self.q).max(axis=1))]
        moving = abs(wrapped_one(self.kept - angle)) > 1e-3 or abs(wrapped_one(self.kept)) > 1e-3
        status = (
            "blocked" if blocked else "lagging" if lagging else "avoiding" if moving else "clear"
        )
        return {
            "wanted": wanted,
            "arm_angle": angle,
            "clearance": room,
            "speed_scale": scale,
            "status": status,
        }


def moving_obstacles(kind: str, count: int) -> list[object]:
    """Obstacles that cross the arm: as points, spheres, segments, capsules, both, or none at
    all."""
    rng = np.random.default_rng(7)
    elbow = arm()[1].points(poses(1)[0], float(arm()[1].arm_angle(Q)))[1]
    way = (
        np.linspace(-0.5, 0.5, count)[:, None] * rng.normal(size=3)
        + elbow
        + 0.1 * rng.normal(size=3)
    )
    around = way[:, None] + 0.12 * rng.normal(size=(6, 3))
    ends = around.reshape(count, 3, 2, 3)
    listed: dict[str, list[object]] = {
        "points": list(around),
        "segments": list(ends),
        "nothing": [np.empty((0, 3))] * count,
        "shapes": [
            [
                Sphere(tuple(p[0]), 0.02),
                Capsule(tuple(p[1]), tuple(p[2]), 0.03),
                Sphere(tuple(p[3]), 0.0),
            ]
            for p in around
        ],
    }
    return listed[kind]


@pytest.mark.parametrize(
    "kind, radius", [("points", 0.0), ("points", 0.03), ("segments", 0.02), ("shapes", 0.0)]
)
def test_a_step_is_the_law_of_its_parts(kind: str, radius: float) -> None:
    law, keep, seen = Law(), avoidance(), set()
    for pose, obstacles in zip(poses(60), moving_obstacles(kind, 60), strict=True):
        ours, theirs = keep.step(pose, obstacles, radius), law.step(pose, obstacles, radius)
        for name in ("wanted", "arm_angle", "clearance", "speed_scale"):
            # the guard's law jumps by 1e-3 where rounding decides: at 0
            jump = 2e-3 if name == "speed_scale" else 1e-9
            assert getattr(ours, name) == pytest.approx(theirs[name], abs=jump, nan_ok=True), name
        # the arm angle to 1e-9, near a singular wrist
        np.testing.assert_allclose(ours.q, law.q, atol=1e-8)
        assert ours.status == theirs["status"]
        seen.add(ours.status)
    assert {"avoiding", "lagging"} <= seen


@pytest.mark.parametrize("kind", ["points", "segments", "shapes", "nothing"])
def test_a_run_is_its_steps(kind: str) -> None:
    obstacles = moving_obstacles(kind, 40)
    one, whole = avoidance(), avoidance().run(poses(40), obstacles)
    steps = [one.step(pose, at) for pose, at in zip(poses(40), obstacles, strict=True)]
    for name in ("q", "wanted", "arm_angle", "clearance", "speed_scale"):
        np.testing.assert_array_equal(
            getattr(whole, name), [getattr(step, name) for step in steps], err_msg=name
        )
    assert whole.status.tolist() == [step.status for step in steps]


def test_many_points_find_room_and_change_nothing() -> None:
    """More of them than the memory of a step is made for at first:
    those behind the arm are no news to it."""
    keep, plain, points = avoidance(), avoidance(), np.asarray(moving_obstacles("points", 3)[1])
    far = np.random.default_rng(0).uniform([3, 3, 3], [4, 4, 4], (1000, 3))
    first, same = (
        keep.step(poses(3)[0], np.concatenate([points, far])),
        plain.step(poses(3)[0], points),
    )
    assert (first.wanted, first.arm_angle, first.clearance) == (
        same.wanted,
        same.arm_angle,
        same.clearance,
    )
    np.testing.assert_array_equal(first.q, same.q)


def test_radii_of_points_may_be_an_array() -> None:
    """`radius == 0.0` has no truth where there are several."""
    points = arm()[0].pose(Q, "tool")[:3, 3] + np.array([[0.3, 0.2, 0.1], [-0.2, 0.3, 0.2]])
    radii, by_list, by_array = [0.03, 0.05], avoidance(), avoidance()
    for pose in poses(3):
        expected = by_list.step(pose, points, radii)
        np.testing.assert_array_equal(by_array.step(pose, points, np.array(radii)).q, expected.q)


def test_what_is_refused_changes_nothing() -> None:
    keep, plain, points = avoidance(), avoidance(), np.asarray(moving_obstacles("points", 3)[1])
    with pytest.raises(InvalidInput, match="reach"):
        keep.step(np.block([[np.eye(3), np.full((3, 1), 9.0)], [np.zeros((1, 3)), 1.0]]), points)
    with pytest.raises(InvalidInput, match=r"pose has shape \(3, 4\)"):
        keep.step(np.zeros((3, 4)), points)
    with pytest.raises(InvalidInput, match=r"points has shape \(6, 2\)"):
        keep.step(poses(1)[0], points[:, :2])
    np.testing.assert_array_equal(
        keep.step(poses(1)[0], points).q, plain.step(poses(1)[0], points).q
    )
