"""Smooth paths give smooth joints: second differences of tracked lines of redundant arms against
plain Newton."""

from __future__ import annotations

import numpy as np
import pinocchio as pin
import pytest

import linkwork as lw
from tests.robots_list import robot

READY = [0.0, -np.pi / 4, 0.0, -3 * np.pi / 4, 0.0, np.pi / 2, np.pi / 4]
"""The hand looks straight down: an error about the vertical is zero to the bit, now and then."""
ARMS = {
    "panda/panda": ("panda_hand_tcp", READY),
    "xarm/xarm7": ("link7", [0.0, 0.3, 0.0, 1.2, 0.0, 0.9, 0.0]),
}
LINES = ([0.1, 0.25, -0.1], [0.0, 0.37, 0.0], [-0.2, 0.3, 0.1])


def line(arm: lw.Robot, frame: str, q0: np.ndarray, move: list[float], n: int) -> np.ndarray:
    """Poses (n, 4, 4): a straight line from rest to rest."""
    s = np.linspace(0.0, 1.0, n)
    path = np.broadcast_to(arm.pose(q0, frame), (n, 4, 4)).copy()
    path[:, :3, 3] += (10 * s**3 - 15 * s**4 + 6 * s**5)[:, None] * np.array(move)
    return path


def newton(arm: lw.Robot, frame: str, path: np.ndarray, q: np.ndarray) -> np.ndarray:
    """Newton with the pseudo-inverse, each point from the one before:
    the smoothest of local methods."""
    found = []
    for T in path:
        for _ in range(20):
            X = arm.pose(q, frame)
            e = np.concatenate([T[:3, 3] - X[:3, 3], X[:3, :3] @ pin.log3(X[:3, :3].T @ T[:3, :3])])
            if np.abs(e).max() < 1e-13:
                break
            q = q + np.linalg.pinv(arm.jacobian(q, frame)) @ e
        found.append(q)
    return np.array(found)


def kick(q: np.ndarray) -> float:
    """The largest second difference."""
    return float(np.abs(np.diff(q, 2, axis=0)).max())


@pytest.mark.parametrize("name", ARMS)
@pytest.mark.parametrize("move", LINES, ids=str)
@pytest.mark.parametrize("n", [201, 2001])
def test_a_tracked_line_is_as_smooth_as_newtons(name: str, move: list[float], n: int) -> None:
    arm = robot(name)
    frame, start = ARMS[name]
    q0 = np.concatenate([start, np.zeros(arm.nq - len(start))])
    path = line(arm, frame, q0, move, n)
    reference = newton(arm, frame, path, q0)
    inside = (reference >= arm.limits.lower) & (reference <= arm.limits.upper)
    assert inside.all(), "the line leaves the limits: choose another"
    for tolerance in (1e-4, 1e-6, 1e-9, 1e-12):
        found = arm.inverse_kinematics(path, frame, q0=q0, track=True, tolerance=tolerance)
        assert found.success.all()
        assert kick(found.q) < 1.05 * kick(reference), tolerance


def test_points_closer_than_the_tolerance_are_no_stair() -> None:
    """Ten thousand points of 4 um each, asked for to 0.1 mm: joints must not stand and jump."""
    arm, (frame, start) = robot("panda/panda"), ARMS["panda/panda"]
    q0 = np.concatenate([start, np.zeros(arm.nq - len(start))])
    coarse, fine = (line(arm, frame, q0, LINES[1], n) for n in (2001, 10_001))
    expected = kick(newton(arm, frame, coarse, q0)) / 25  # a fifth of the time step
    found = arm.inverse_kinematics(fine, frame, q0=q0, track=True, tolerance=1e-4)
    assert kick(found.q) < 1.05 * expected
