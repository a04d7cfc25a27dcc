"""Arms for the tests of inverse kinematics, and the tip of a published robot's longest chain."""

from __future__ import annotations

import math

import numpy as np

from linkwork.robot import Robot

IIWA_DEGREES = (170, 120, 170, 120, 170, 120, 175)


def iiwa() -> Robot:
    """KUKA LBR iiwa 7 R800 from its published DH table and ranges."""
    d = (0.34, 0.0, 0.4, 0.0, 0.4, 0.0, 0.126)
    alpha = (-1, 1, 1, -1, -1, 1, 0)
    ranges = [math.radians(x) for x in IIWA_DEGREES]
    rows = [
        {
            "d": d[k],
            "alpha": alpha[k] * math.pi / 2,
            "limits": (-ranges[k], ranges[k]),
            "name": f"a{k + 1}",
        }
        for k in range(7)
    ]
    return Robot.from_dh(rows, convention="standard")


def gantry() -> Robot:
    """Three slides along y, z and x of the world."""
    rows = [
        {"joint": "prismatic", "alpha": -math.pi / 2},
        {"joint": "prismatic", "alpha": -math.pi / 2, "theta": -math.pi / 2},
        {"joint": "prismatic"},
    ]
    return Robot.from_dh(rows, convention="standard")


def zyz_wrist() -> Robot:
    """Three axes through one point: z, y, z."""
    half = math.pi / 2
    return Robot.from_dh([{"alpha": -half}, {"alpha": half}, {"d": 0.1}], convention="standard")


def longest_chain(robot: Robot) -> tuple[str, int]:
    """(body, degrees of freedom) at the end of the path with the most joints."""
    tree = robot.subject.tree
    found = [
        (sum(tree.nodes[i].nv for i in tree.paths[tree.bodies[body][0]]), body)
        for body in robot.bodies
    ]
    freedom, body = max(found)
    return body, freedom


def rotation_angle(R: np.ndarray, S: np.ndarray) -> np.ndarray:
    """Angle between rotations (..., 3, 3), exact also where it is small."""
    return 2 * np.arcsin(np.minimum(1.0, np.linalg.norm(R - S, axis=(-2, -1)) / math.sqrt(8)))
