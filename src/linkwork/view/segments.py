"""Segments: a robot as line segments in world axes, from its named points,
its joints and its loop elements."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from linkwork.loads.members import member_names, members
from linkwork.model.elements import LinearActuator, Spring
from linkwork.robot import Robot


@dataclass(frozen=True)
class Segments:
    """ends (..., n, 2, 3) [m]; kinds: "body", "actuator",
    "spring" or "member" for each of the n segments."""

    ends: np.ndarray
    kinds: tuple[str, ...]

    def of(self, kind: str) -> np.ndarray:
        """The segments of one kind (..., m, 2, 3)."""
        return self.ends[..., [k for k, other in enumerate(self.kinds) if other == kind], :, :]


def segments(robot: Robot, q: np.ndarray) -> Segments:
    """The stick figure at q (..., nq).

    A body is drawn by its described lines, or, if it has none, by lines from its origin to the
    joints it carries.
    """
    poses = robot.forward_kinematics(q)
    where = {name: k for k, name in enumerate(poses.bodies)}

    def placed(body: str, point: tuple[float, float, float]) -> np.ndarray:
        k = where[body]
        return poses.position[..., k, :] + poses.rotation[..., k, :, :] @ np.asarray(
            point, dtype=float
        )

    drawn: list[tuple[str, np.ndarray, np.ndarray]] = []
    for body in robot.model.bodies:
        points = dict(body.points)
        lines = [(points[a], points[b]) for a, b in body.lines]
        if not lines:
            lines = [
                ((0.0, 0.0, 0.0), j.placement.position)
                for j in robot.model.joints
                if j.parent == body.name
            ]
        drawn += [("body", placed(body.name, a), placed(body.name, b)) for a, b in lines]
    kinds = {LinearActuator: "actuator", Spring: "spring"}
    named = {getattr(e, "name", None): kinds.get(type(e), "member") for e in robot.model.elements}
    if member_names(robot.subject):
        drawn += [(named[name], m.first, m.second) for name, m in members(robot.subject, q).items()]
    if not drawn:
        drawn = [("body", poses.position[..., 0, :], poses.position[..., 0, :])]
    ends = np.stack([np.stack([a, b], axis=-2) for _, a, b in drawn], axis=-3)
    return Segments(ends, tuple(kind for kind, _, _ in drawn))
