"""Arms for the analytic solvers: DH tables, disguises that must not matter,
and an independent search for solutions."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np

import linkwork as lw
from linkwork.model import Placement
from linkwork.model.rotation import from_axis_angle, from_quaternion

PI = np.pi
# (a, alpha, d) of standard DH rows [m, rad]
TABLES = {
    "kuka": (
        [0.025, 0.455, 0.035, 0, 0, 0],
        [PI / 2, 0, PI / 2, -PI / 2, PI / 2, 0],
        [0.4, 0, 0, 0.42, 0, 0.08],
    ),
    "puma": (
        [0, 0.4318, 0.0203, 0, 0, 0],
        [PI / 2, 0, -PI / 2, PI / 2, -PI / 2, 0],
        [0.67, 0, 0.15, 0.4318, 0, 0.08],
    ),
    "first two parallel": (
        [0.4, 0.1, 0, 0, 0, 0],
        [0, PI / 2, PI / 2, -PI / 2, PI / 2, 0],
        [0.3, 0.1, 0, 0.3, 0, 0.1],
    ),
    "first two meet": (
        [0, 0.3, 0.1, 0, 0, 0],
        [1.2, 0.7, PI / 2, -PI / 2, PI / 2, 0],
        [0.3, 0.1, 0.05, 0.3, 0, 0.1],
    ),
    "last two meet": (
        [0.2, 0, 0.1, 0, 0, 0],
        [1.2, 0.7, PI / 2, -PI / 2, PI / 2, 0],
        [0.3, 0.4, 0.05, 0.3, 0, 0.1],
    ),
    "no relation": (
        [0.1, 0.43, 0.02, 0, 0, 0],
        [1.1, 0.6, -PI / 2, 1.2, -1.3, 0],
        [0.67, 0.1, 0.15, 0.43, 0, 0.08],
    ),
    "iiwa": (
        [0] * 7,
        [-PI / 2, PI / 2, PI / 2, -PI / 2, -PI / 2, PI / 2, 0],
        [0.34, 0, 0.4, 0, 0.4, 0, 0.126],
    ),
    "bent elbow": (
        [0, 0, 0.05, -0.05, 0, 0, 0],
        [-PI / 2, PI / 2, PI / 2, -PI / 2, -PI / 2, PI / 2, 0],
        [0.3, 0, 0.3, 0.02, 0.3, 0, 0.1],
    ),
    "jaco": (
        [0, 0.41, 0, 0, 0, 0],
        [PI / 2, PI, PI / 2, PI / 3, PI / 3, PI],
        [0.2755, 0, -0.0098, -0.25, -0.0858, -0.2116],
    ),
    "skew wrist": (
        [0, 0.71, 0, 0, 0, 0],
        [PI / 2, -PI, -PI / 2, -1.2, 1.1, 0],
        [0.2, 0.1, 0.1, 0.54, 0.15, 0.16],
    ),
    "planar 3R": ([0.5, 0.4, 0.3], [0, 0, 0], [0, 0.1, 0]),
    "planar 2R": ([0.5, 0.4], [0, 0], [0, 0.1]),
    "leg": ([0.1, 0.4, 0.3], [PI / 2, 0, 0], [0, 0.1, 0]),
    "skew leg": ([0.1, 0.4, 0.3], [1.1, 0.6, 0], [0, 0.1, 0]),
}


@cache
def arm(name: str) -> lw.Robot:
    """The arm of a table; its last body is the frame to reach."""
    return from_table(*TABLES[name])


def from_table(a, alpha, d) -> lw.Robot:
    rows = [
        dict(a=float(x), alpha=float(y), d=float(z), joint="revolute")
        for x, y, z in zip(a, alpha, d, strict=True)
    ]
    return lw.Robot.from_dh(rows, "standard")


def tip(robot: lw.Robot) -> str:
    return robot.bodies[-1]


def disguised(robot: lw.Robot, seed: int, tilt: float = 0.0) -> lw.Robot:
    """The same arm with other names, base, tool, zeros and senses of its joints; tilt [rad, m]:
    also calibrated."""
    rng = np.random.default_rng(seed)
    model = robot.model
    names = {body.name: f"b{seed}_{k}" for k, body in enumerate(model.bodies)}
    joints = []
    for k, joint in enumerate(model.joints):
        placement, axis = joint.placement, joint.axis
        if joint.type == "revolute":
            turn = Placement(from_axis_angle(axis, float(rng.uniform(-3, 3))))
            placement = placement @ turn
            sense = float(rng.choice((-1.0, 1.0)))
            axis = tuple(sense * x for x in axis)
            if tilt:
                off = Placement(from_axis_angle(_vector(rng), tilt), tuple(tilt * _vector(rng)))
                placement = placement @ off
        parent = None if joint.parent is None else names[joint.parent]
        joints.append(
            replace(
                joint,
                name=f"j{seed}_{k}",
                parent=parent,
                child=names[joint.child],
                placement=placement,
                axis=axis,
            )
        )
    bodies = tuple(replace(body, name=names[body.name]) for body in model.bodies)
    other = lw.Robot(
        replace(model, name=f"disguise {seed}", bodies=bodies, joints=tuple(joints), frames=())
    )
    base = np.array(from_quaternion(rng.normal(size=4)))
    tool = np.array(from_quaternion(rng.normal(size=4)))
    last = names[tip(robot)] if tip(robot) in names else other.bodies[-1]
    moved = other.with_base(xyz=tuple(rng.uniform(-1, 1, 3)), rotation=base)
    return moved.with_frame("reach", last, xyz=tuple(rng.uniform(-0.2, 0.2, 3)), rotation=tool)


def _vector(rng: np.random.Generator) -> np.ndarray:
    x = rng.normal(size=3)
    return x / np.linalg.norm(x)


def apart(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Largest difference of angles over the last axis."""
    return np.abs((a - b + PI) % (2 * PI) - PI).max(axis=-1)


def nearest(solutions, q: np.ndarray) -> np.ndarray:
    """How far the nearest solution of each target is from q (..., nq)."""
    return np.where(
        solutions.valid, apart(np.nan_to_num(solutions.q), q[..., None, :]), np.inf
    ).min(axis=-1)


def searched(
    robot: lw.Robot, frame: str, target: np.ndarray, starts: int = 300, seed: int = 0
) -> np.ndarray:
    """Every solution that damped Newton runs from random starts find on the plain forward
    kinematics."""
    rng = np.random.default_rng(seed)
    q = rng.uniform(-PI, PI, (starts, robot.nq))
    for _ in range(60):
        T, J = robot.pose(q, frame), robot.jacobian(q, frame)
        E = target[:3, :3] @ np.swapaxes(T[:, :3, :3], -1, -2)
        w = (
            np.stack(
                [E[:, 2, 1] - E[:, 1, 2], E[:, 0, 2] - E[:, 2, 0], E[:, 1, 0] - E[:, 0, 1]], axis=-1
            )
            / 2
        )
        # more than 120 degrees: the sine shrinks again
        turned = np.trace(E, axis1=-2, axis2=-1) < 0
        w = np.where(
            turned[:, None], w / np.maximum(np.linalg.norm(w, axis=1, keepdims=True), 1e-9), w
        )
        e = np.concatenate([target[:3, 3] - T[:, :3, 3], w], axis=1)
        damping = 1e-3 * np.minimum(1.0, (e**2).sum(axis=1))[:, None, None] * np.eye(6)
        step = np.swapaxes(J, -1, -2) @ np.linalg.solve(
            J @ np.swapaxes(J, -1, -2) + damping + 1e-15 * np.eye(6), e[..., None]
        )
        step = step[..., 0]
        step *= np.minimum(1.0, 0.5 / np.maximum(np.abs(step).max(axis=1, keepdims=True), 1e-300))
        q = q + step
    error = np.abs(robot.pose(q, frame) - target).max(axis=(-1, -2))
    found: list[np.ndarray] = []
    for row in q[error < 1e-9]:
        if not any(apart(row, other) < 1e-4 for other in found):
            found.append(row)
    return np.array(found).reshape(-1, robot.nq)
