"""How fast is the recursive method beside the same recursion in numpy,
and as a tracker beside ik_LM?"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from typing import Any

import numpy as np

import linkwork as lw
from benchmarks.ik_peers import arm, ik_lm
from benchmarks.measure import Row, median_seconds, seconds
from linkwork.inverse.cycles import recorded_limits

POINTS, SOME = 50_000, 1_500
CORNER = np.array([0.1 * (1 + math.sqrt(3))] * 2 + [0.0])


def rows() -> list[Row]:
    lw.threads(1)
    return [_experiment(), _position_tracking(), *_sweeps()]


def in_numpy(path: np.ndarray, q: np.ndarray, lower: np.ndarray, upper: np.ndarray) -> np.ndarray:
    """[Nicolato2005] eqs. 17-24 for the planar arm, one-sided penalty, as one would write them:
    loops over numpy."""
    q, found = q.copy(), np.empty((len(path), 4))
    for k, goal in enumerate(path):
        for _ in range(2000):
            angles = np.cumsum(q)
            tip = 0.2 * np.array([np.cos(angles).sum(), np.sin(angles).sum()])
            if np.linalg.norm(goal - tip) < 1e-5:
                break
            origin, angle = np.zeros(2), 0.0
            for i in range(4):
                c, t = tip - origin, goal - origin
                d = (t[1] * c[0] - t[0] * c[1]) / (c @ c)
                w = 4 * (upper[i] - q[i]) * (q[i] - lower[i]) / (upper[i] - lower[i]) ** 2
                if (q[i] - (upper[i] + lower[i]) / 2) * d > 0:
                    d *= max(0.0, w)
                new = min(max(q[i] + d, lower[i]), upper[i])
                d, q[i] = new - q[i], new
                turn = np.array([[np.cos(d), -np.sin(d)], [np.sin(d), np.cos(d)]])
                tip = origin + turn @ c
                angle += q[i]
                origin = origin + 0.2 * np.array([np.cos(angle), np.sin(angle)])
        found[k] = q
    return found


def _experiment() -> Row:
    """Experiment 3 after the limits have been imposed: the ellipse, lap after lap."""
    robot, t = lw.load("planar-4r"), 1e-3 * np.arange(1, POINTS + 1)
    ellipse = [0.1 * (np.cos(math.pi * t) - 1), 0.2 * np.sin(math.pi * t), 0 * t]
    path = CORNER + np.stack(ellipse, 1)
    options = {
        "method": "recursive",
        "step": "small_angle",
        "tolerance": 1e-5,
        "penalty": "one_sided",
    }
    turn = (np.full(4, -math.pi), np.full(4, math.pi))
    begin = robot.inverse_kinematics(CORNER, "tip", np.zeros(4), limits=turn, **options)
    first = robot.inverse_kinematics(
        path[:6000], "tip", begin.q, limits=turn, track=True, **options
    )
    limits = recorded_limits(np.vstack([begin.q, first.q]))
    q0 = first.q[-1]
    follow = lambda p: robot.inverse_kinematics(p, "tip", q0, limits=limits, track=True, **options)
    rest = np.concatenate([path[6000:], path[:6000]])
    plain = in_numpy(rest[:SOME, :2], q0, *limits)
    assert np.abs(follow(rest[:SOME]).q - plain).max() < 1e-9
    ours = median_seconds(lambda: follow(rest)) / POINTS
    peer = min(seconds(lambda: in_numpy(rest[:SOME, :2], q0, *limits)) for _ in range(2)) / SOME
    return Row(
        "recursive tracking, a point",
        f"planar 4R, {POINTS} points",
        ours,
        peer,
        "the recursion in numpy",
        100,
    )


def _position_tracking() -> Row:
    """A circle of 1000 points a lap with the iiwa, position only, each from the one before."""
    a = arm("iiwa")
    q0 = np.array([0.2, 0.6, -0.3, -1.2, 0.4, 0.8, 0.1])
    t = np.linspace(0, 2 * math.pi, 1000, endpoint=False)
    pose = a.forward(q0[None])[0]
    path = pose[:3, 3] + 0.1 * np.stack([np.cos(t) - 1, np.sin(t), 0 * t], 1)
    follow = lambda: a.robot.inverse_kinematics(
        path, a.tip, q0, method="recursive", tolerance=1e-5, track=True
    )
    assert follow().success.all()
    solve = ik_lm(a)

    def by_toolbox() -> None:
        q, target = q0, pose.copy()
        for p in path:
            target[:3, 3] = p
            q = solve(target, q, 1e-5, np.array([1.0, 1, 1, 0, 0, 0]))

    ours = median_seconds(follow) / len(path)
    peer = median_seconds(by_toolbox, 3) / len(path)
    return Row("recursive tracking, a point", "iiwa, position, warm", ours, peer, "ik_LM", 2.5)


def _sweeps() -> list[Row]:
    """One move of a joint, of poses in a batch and of a long planar chain; time of the process,
    not of the clock."""
    a = arm("iiwa")
    T = a.poses(512)
    solve = lambda: a.robot.inverse_kinematics(
        T, a.tip, a.middle, method="recursive", sweeps=50, kick=0.0
    )
    chain, q0 = lw.Robot.from_dh([{"a": 0.1}] * 50, name="chain-50"), np.full(50, 0.06)
    t = np.linspace(0, 2 * math.pi, 500)
    path = chain.pose(q0, "link50")[:3, 3] + 0.3 * np.stack([np.cos(t) - 1, np.sin(t), 0 * t], 1)
    options = {"method": "recursive", "step": "small_angle", "tolerance": 1e-5, "track": True}
    follow = lambda: chain.inverse_kinematics(path, "link50", q0, **options)
    return [
        _move("iiwa, pose, batch 512", solve, 7, 0.25e-6),
        _move("planar chain of 50 joints", follow, 50, 0.15e-6),
    ]


def _move(case: str, solve: Callable[[], Any], joints: int, target: float) -> Row:
    moves = solve().iterations.sum() * joints
    times = []
    for _ in range(5):
        start = time.process_time()
        solve()
        times.append(time.process_time() - start)
    return Row("recursive method, a move", case, min(times) / moves, None, "", target, "s", True)
