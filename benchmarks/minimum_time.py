"""How fast is the fastest time law along a path found, path and limits included, beside toppra?"""

from __future__ import annotations

import logging

import numpy as np
import pinocchio as pin
import toppra
from toppra import algorithm, constraint

import linkwork as lw
from benchmarks.measure import Row, side_by_side
from benchmarks.peers import Pair, pair
from linkwork.trajectory import Path, minimum_time

POINTS = 1600


def rows() -> list[Row]:
    lw.threads(1)
    logging.getLogger("toppra").setLevel(logging.ERROR)
    p = pair("xArm7")
    waypoints, s, torque, velocity = task(p)

    def ours() -> float:
        return float(
            minimum_time(
                p.robot, Path.through(waypoints, s), torque, velocity, points=POINTS
            ).duration
        )

    def peer() -> float:
        return by_toppra(p, waypoints, s, torque, velocity)

    # ours keeps the limits over whole intervals, the peer at their ends:
    # that costs 5e-5 of the time
    assert ours() <= peer() * (1 + 1e-4), (ours(), peer())
    taken, theirs = side_by_side(ours, peer)
    loads = lw.Payload(p.robot.bodies[-1], np.linspace(0.0, 1.0, 100), (0.0, 0.0, 0.05))
    path = Path.through(waypoints, s)
    many, _ = side_by_side(
        lambda: minimum_time(p.robot, path, torque, velocity, payload=loads, points=POINTS),
        lambda: None,
    )
    return [
        Row(f"minimum time, {POINTS} points", "xArm7", taken, theirs, "toppra, seidel", 8),
        Row(
            f"minimum time, {POINTS} points",
            "xArm7, each of 100 payloads",
            many / 100,
            theirs,
            "toppra, seidel",
        ),
    ]


def task(p: Pair) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Five waypoints well inside the limits, torques three times those that hold the arm."""
    rng, robot = np.random.default_rng(3), p.robot
    low, high = np.maximum(robot.limits.lower, -2.0), np.minimum(robot.limits.upper, 2.0)
    waypoints = low + (high - low) * rng.uniform(0.2, 0.8, size=(5, robot.nv))
    s = np.concatenate([[0.0], np.cumsum(np.linalg.norm(np.diff(waypoints, axis=0), axis=1))])
    torque = np.maximum(3.0 * np.abs(robot.gravity_torque(waypoints)).max(axis=0), 5.0) + 3.0
    return waypoints, s / s[-1], torque, np.full(robot.nv, 2.5)


def by_toppra(
    p: Pair, waypoints: np.ndarray, s: np.ndarray, torque: np.ndarray, velocity: np.ndarray
) -> float:
    model, data = p.model, p.model.createData()
    path = toppra.SplineInterpolator(s, waypoints, bc_type="natural")
    torques = constraint.JointTorqueConstraint(
        lambda q, v, a: pin.rnea(model, data, q, v, a),
        np.stack([-torque, torque], axis=1),
        np.zeros(len(torque)),
    )
    limits = [torques, constraint.JointVelocityConstraint(np.stack([-velocity, velocity], axis=1))]
    grid = np.linspace(0.0, 1.0, POINTS)
    return (
        algorithm.TOPPRA(limits, path, gridpoints=grid, solver_wrapper="seidel")
        .compute_trajectory(0, 0)
        .duration
    )
