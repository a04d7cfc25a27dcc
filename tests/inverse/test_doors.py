"""Doors of inverse kinematics: whatever comes in, an answer or an error of ours goes out."""

from __future__ import annotations

import functools
import math
import random
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import linkwork as lw
from linkwork.errors import InvalidInput
from linkwork.inverse.singularity import along_path
from linkwork.inverse.solve import METHODS, joint_step
from linkwork.inverse.tasks import (
    CenterOfMassTask,
    FrameTask,
    JointCouplingTask,
    PostureTask,
    RelativeFrameTask,
)
from tests.doors import knocked

OPTIONS = {
    "auto": "task axes direction weights limits tolerance prefer track dt".split(),
    "numeric": "task axes direction weights limits tolerance prefer track dt".split(),
    "analytic": "limits tolerance free".split(),
    "recursive": "task axes limits tolerance step order partial penalty velocity_limits dt "
    "kick track".split(),
    "pseudo_inverse": "task gain velocity objective alpha damping tolerance".split(),
}


@pytest.fixture(scope="module")
def robots() -> dict[str, lw.Robot]:
    return {name: lw.load(name) for name in ("ur5e", "planar-4r", "four-bar", "redundant-7")}


def odd(rng: random.Random, robot: lw.Robot) -> Any:
    """Something of the right shape, of a wrong one, or nothing to do with arrays."""
    return rng.choice(oddities(robot, rng.randrange(3)))


@functools.cache
def oddities(robot: lw.Robot, seed: int) -> list[Any]:
    frame, n = robot.bodies[-1], robot.nq
    T = robot.pose(robot.random(seed=seed), frame)
    return [
        *(
            None,
            0,
            1.0,
            -1,
            math.nan,
            "x",
            b"x",
            [],
            [[]],
            {},
            True,
            object(),
            1e308,
            [1, "a"],
            [None] * n,
        ),
        *(
            np.zeros(n),
            np.full(n, np.nan),
            np.full(n, 1e308),
            np.zeros(n + 1),
            np.zeros((n, 1)),
            np.zeros((3, n)),
        ),
        *(
            np.zeros((2, 3, n)),
            np.zeros((0, n)),
            np.zeros(n, complex),
            (np.full(n, -1.0), np.full(n, 1.0)),
        ),
        *(
            T,
            T[None],
            np.stack([T, T]),
            T[:3, 3],
            T[:3, :3],
            T[:3],
            np.zeros((0, 4, 4)),
            [T, T],
            T.tolist(),
        ),
        *(
            frame,
            robot.bodies[0],
            [frame],
            [frame, robot.bodies[0]],
            lw.Goal(frame),
            [lw.Goal(frame, "position")],
        ),
        *(
            robot.random(seed=1),
            robot.random(3, seed=1),
            "near",
            "x y z",
            ["x", "rx"],
            (0, 0, 1),
            [1] * 6,
            1e-3,
        ),
        *("exact", "one_sided", "pointing", lambda q: q[0], robot.joints[0], robot.joints),
    ]


@functools.cache
def start_and_target(robot: lw.Robot, frame: str) -> tuple[np.ndarray, np.ndarray]:
    """(q, T), found once: to close the loop of a linkage takes longer than most calls."""
    return robot.random(seed=1), robot.pose(robot.random(seed=3), frame)


def calls(rng: random.Random, robot: lw.Robot, g: Callable[[], Any]) -> list[Callable[[], Any]]:
    frame = robot.bodies[-1]
    q, T = start_and_target(robot, frame)

    def solved() -> Any:
        method = rng.choice(sorted(METHODS))
        options = {name: g() for name in rng.sample(OPTIONS[method], rng.choice([0, 1, 1, 2]))}
        if method == "pseudo_inverse":
            found = robot.inverse_kinematics(np.stack([T, T]), frame, q, method, dt=0.1, **options)
        else:
            given = (
                T if rng.random() < 0.8 else g(),
                frame if rng.random() < 0.8 else g(),
                rng.choice([None, q, g()]),
            )
            options |= {"sweeps": 20} if method == "recursive" else {}
            options |= {"restarts": 3} if method in ("auto", "numeric") else {}
            found = robot.inverse_kinematics(*given, method, **options)
        return repr(found), found.reason, found.on_limit, found.error

    def stepped(*tasks: Any) -> Any:
        word = rng.choice(["v", "limits", "acceleration", "constraints", "damping"])
        v = robot.differential_inverse_kinematics(
            q, list(tasks), 0.1, **({word: g()} if rng.random() < 0.3 else {})
        )
        assert np.isfinite(v).all()
        return v

    some = rng.choice(["position_cost", "rotation_cost", "gain", "damping"])
    return [
        *[solved] * 6,
        lambda: repr(robot.inverse_kinematics_all(g(), g(), g())),
        lambda: repr(robot.inverse_kinematics_all(T, frame, **{rng.choice(["q0", "free"]): g()})),
        lambda: robot.singularity(g(), g()),
        lambda: robot.singularity(q, frame, **{rng.choice(["length", "thresholds"]): g()}),
        lambda: lw.classify(robot, g()),
        lambda: lw.Goal(g(), g()),
        lambda: lw.Goal(frame, **{rng.choice(["task", "axes", "direction", "weights"]): g()}),
        lambda: robot.differential_inverse_kinematics(g(), g(), g()),
        lambda: stepped(FrameTask(g(), g())),
        lambda: stepped(FrameTask(frame, T, **{some: g()})),
        lambda: stepped(PostureTask(g(), g()), CenterOfMassTask(g(), g())),
        lambda: stepped(RelativeFrameTask(frame, g(), g())),
        lambda: stepped(JointCouplingTask(g(), g())),
        lambda: lw.recorded_limits(g(), g()),
        lambda: lw.cycle_drift(g(), g()),
        lambda: along_path(robot.subject, g(), frame),
        lambda: joint_step(robot.subject, g(), g(), T, frame),
        lambda: joint_step(robot.subject, q, robot.joints[0], g(), g()),
    ]


def test_whatever_comes_in_an_answer_or_an_error_of_ours_goes_out(robots):
    def call(rng: random.Random) -> None:
        robot = robots[rng.choice(sorted(robots))]
        rng.choice(calls(rng, robot, lambda: odd(rng, robot)))()

    answered, refused = knocked(1500, call)
    assert answered > 50 and refused > 1000


def test_starts_in_a_batch_go_with_one_target(robots):
    """Five starts and one target are five answers, by every method;
    what no posture reaches is said five times."""
    robot = robots["ur5e"]
    T, q0 = robot.pose(robot.random(seed=3), "tool0"), robot.random(5, seed=1)
    for method in ("numeric", "analytic", "recursive"):
        assert robot.inverse_kinematics(T, "tool0", q0, method).q.shape == (5, 6)
    grid = robot.inverse_kinematics(
        np.stack([T, T]), "tool0", robot.random(6, seed=1).reshape(3, 2, 6), "analytic"
    )
    assert grid.success.shape == (3, 2) and grid.success.all()
    far = T.copy()
    far[0, 3] = 5.0
    found = robot.inverse_kinematics(far, "tool0", q0)
    assert not found.success.any() and all("elbow reach" in reason for reason in found.reason)


def test_costs_that_leave_the_solver_no_digits_are_refused(robots):
    robot = robots["ur5e"]
    q = robot.random(seed=1)
    task = FrameTask("tool0", robot.pose(q, "tool0"), position_cost=1e200)
    with pytest.raises(InvalidInput, match=r"cost is 1e\+200, expected a number from 0 to 1e\+20"):
        robot.differential_inverse_kinematics(q, [task], 0.1)
    with pytest.raises(InvalidInput, match="so large that their squares are not finite"):
        robot.differential_inverse_kinematics(
            q, [PostureTask(q, gain=1.0), CenterOfMassTask([1e300, 0, 0], 1e20)], 0.1
        )
