"""Load vectors: forces and moments of an analysis as vectors in world axes, with where they act."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from linkwork.loops.analyse import Analysis
from linkwork.loops.layout import layout_of
from linkwork.model.elements import LinearActuator

TURNING = ("revolute", "continuous", "helical")


@dataclass(frozen=True)
class LoadVectors:
    """One row an instant, world axes.

    at, forces, moments (n, b, 3)   on each body with mass, at its joint, by what carries it [m, N, N m]
    push_at, pushes (n, p, 3)       forces of struts (on both ends) and of motors along sliding axes [N]
    turn_at, turns (n, t, 3)        moments of motors about turning axes [N m]
    axial, axial_loads (n, x)       names of struts and springs, and what they carry along themselves [N]
    """

    at: np.ndarray
    forces: np.ndarray
    moments: np.ndarray
    push_at: np.ndarray
    pushes: np.ndarray
    turn_at: np.ndarray
    turns: np.ndarray
    axial: tuple[str, ...]
    axial_loads: np.ndarray

    @property
    def largest_force(self) -> float:
        return _largest(self.forces)

    @property
    def largest_moment(self) -> float:
        return _largest(self.moments)

    @property
    def largest_push(self) -> float:
        return _largest(self.pushes)

    @property
    def largest_turn(self) -> float:
        return _largest(self.turns)

    @property
    def largest_axial(self) -> float:
        return float(np.abs(self.axial_loads).max(initial=0.0))


def load_vectors(analysis: Analysis) -> LoadVectors:
    """The vectors of every instant of an analysis."""
    model, loads = analysis.subject.model, analysis.loads
    where = {name: k for k, name in enumerate(analysis.poses.bodies)}
    heavy = [body.name for body in model.bodies if body.mass_properties.mass]
    n = len(analysis)
    at = np.stack([analysis.poses.position[:, where[b]] for b in heavy], axis=1)
    wrenches = np.stack([loads.joint_wrench(b, axes="world") for b in heavy], axis=1)
    pushes: list[tuple[np.ndarray, np.ndarray]] = []
    turns: list[tuple[np.ndarray, np.ndarray]] = []
    axial: dict[str, np.ndarray] = {}
    struts = {e.name for e in model.elements if isinstance(e, LinearActuator)}
    axes = _axes(analysis)
    for name in loads.actuators:
        effort = loads.actuator(name)
        if name in struts:
            member = analysis.members[name]
            force = effort[:, None] * member.direction
            pushes += [(member.second, force), (member.first, -force)]
            axial[name] = effort
        elif name in axes:
            turning, place, direction = axes[name]
            (turns if turning else pushes).append((place, effort[:, None] * direction))
    axial |= {name: loads.spring(name) for name in loads.springs if name in analysis.members}
    carried = np.stack(list(axial.values()), axis=1) if axial else np.zeros((n, 0))
    return LoadVectors(
        at, wrenches[..., :3], wrenches[..., 3:], *_stacked(pushes, n), *_stacked(turns, n), tuple(axial), carried
    )


def _axes(analysis: Analysis) -> dict[str, tuple[bool, np.ndarray, np.ndarray]]:
    """Motor -> (whether it turns, where (n, 3), the axis (n, 3) of the joint it drives, world axes)."""
    layout, model = layout_of(analysis.subject), analysis.subject.model
    motors = {name: name for name in layout.names}
    for driven in layout.driven:
        moved = driven.drive.joints
        motors |= {name: moved[min(k, len(moved) - 1)] for k, name in enumerate(driven.drive.names)}
    joints = {joint.name: joint for joint in model.joints}
    where = {name: k for k, name in enumerate(analysis.poses.bodies)}
    found = {}
    for motor, name in motors.items():
        joint = joints.get(name)
        if joint is not None and joint.type in (*TURNING, "prismatic"):
            k = where[joint.child]
            axis = analysis.poses.rotation[:, k] @ np.array(joint.axis, dtype=float)
            found[motor] = (joint.type in TURNING, analysis.poses.position[:, k], axis)
    return found


def _stacked(pairs: list[tuple[np.ndarray, np.ndarray]], n: int) -> tuple[np.ndarray, np.ndarray]:
    if not pairs:
        return np.zeros((n, 0, 3)), np.zeros((n, 0, 3))
    return np.stack([p for p, _ in pairs], axis=1), np.stack([f for _, f in pairs], axis=1)


def _largest(vectors: np.ndarray) -> float:
    return float(np.linalg.norm(vectors, axis=-1).max(initial=0.0))
