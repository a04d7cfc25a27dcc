"""Load vectors: forces and moments of an analysis as vectors in world axes, with where they act."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from linkwork.actuation.layout import layout_of
from linkwork.loads.analyse import Analysis
from linkwork.model import Joint
from linkwork.model.elements import LinearActuator


@dataclass(frozen=True)
class LoadVectors:
    """One row an instant, world axes unless said otherwise.

    at, forces, moments (n, b, 3)   on each of `bodies` (those with mass), at its joint, by what
                                    carries it [m, N, N m]
    rotation (n, b, 3, 3)           of these bodies
    push_at, pushes (n, p, 3)       forces of struts (on both ends) and of motors along sliding axes
                                    [N]
    turns_on_body (n, t, 3)         moments of motors about turning axes, in axes of `turn_bodies`
                                    [N m]
    axial, axial_loads (n, x)       names of struts and springs, and what they carry along
                                    themselves [N]
    """

    bodies: tuple[str, ...]
    at: np.ndarray
    rotation: np.ndarray
    forces: np.ndarray
    moments: np.ndarray
    push_at: np.ndarray
    pushes: np.ndarray
    turn_bodies: tuple[str, ...]
    turns_on_body: np.ndarray
    axial: tuple[str, ...]
    axial_loads: np.ndarray

    def turned_back(self, vectors: np.ndarray, k: int) -> np.ndarray:
        """Row k of forces or moments (n, b, 3) in axes of the bodies they act on (b, 3)."""
        return np.einsum("bij,bi->bj", self.rotation[k], vectors[k])

    @cached_property
    def largest_force(self) -> float:
        return _largest(self.forces)

    @cached_property
    def largest_moment(self) -> float:
        return _largest(self.moments)

    @cached_property
    def largest_push(self) -> float:
        return _largest(self.pushes)

    @cached_property
    def largest_turn(self) -> float:
        return _largest(self.turns_on_body)

    @cached_property
    def largest_axial(self) -> float:
        return float(np.abs(self.axial_loads).max(initial=0.0))


def load_vectors(analysis: Analysis) -> LoadVectors:
    """The vectors of every instant of an analysis."""
    model, loads = analysis.subject.model, analysis.loads
    where = {name: k for k, name in enumerate(analysis.poses.bodies)}
    heavy = [body.name for body in model.bodies if body.mass_properties.mass]
    n = len(analysis)
    which = [where[body] for body in heavy]
    wrenches = np.stack([loads.joint_wrench(b, axes="world") for b in heavy], axis=1)
    pushes: list[tuple[np.ndarray, np.ndarray]] = []
    turns: list[tuple[str, np.ndarray]] = []
    axial: dict[str, np.ndarray] = {}
    struts = {e.name for e in model.elements if isinstance(e, LinearActuator)}
    motors = _motors(analysis)
    for name in loads.actuators:
        effort = loads.actuator(name)
        if name in struts:
            member = analysis.members[name]
            force = effort[:, None] * member.direction
            pushes += [(member.second, force), (member.first, -force)]
            axial[name] = effort
        elif name in motors:
            joint, axis = motors[name], np.array(motors[name].axis, dtype=float)
            if joint.kind.turns:
                turns.append((joint.child, effort[:, None] * axis))
            else:
                k = where[joint.child]
                along = analysis.poses.rotation[:, k] @ axis
                pushes.append((analysis.poses.position[:, k], effort[:, None] * along))
    axial |= {name: loads.spring(name) for name in loads.springs if name in analysis.members}
    return LoadVectors(
        bodies=tuple(heavy),
        at=analysis.poses.position[:, which],
        rotation=analysis.poses.rotation[:, which],
        forces=wrenches[..., :3],
        moments=wrenches[..., 3:],
        push_at=_stacked([at for at, _ in pushes], (n, 0, 3)),
        pushes=_stacked([force for _, force in pushes], (n, 0, 3)),
        turn_bodies=tuple(body for body, _ in turns),
        turns_on_body=_stacked([moment for _, moment in turns], (n, 0, 3)),
        axial=tuple(axial),
        axial_loads=_stacked(list(axial.values()), (n, 0)),
    )


def _motors(analysis: Analysis) -> dict[str, Joint]:
    """Motor -> the hinge or slide it drives, directly or through a transmission."""
    layout = layout_of(analysis.subject)
    driven = {name: name for name in layout.names}
    for train in layout.driven:
        moved = train.drive.joints
        driven |= {name: moved[min(k, len(moved) - 1)] for k, name in enumerate(train.drive.names)}
    joints = {j.name: j for j in analysis.subject.model.joints if j.nv == 1}
    return {motor: joints[name] for motor, name in driven.items() if name in joints}


def _stacked(columns: list[np.ndarray], empty: tuple[int, ...]) -> np.ndarray:
    return np.stack(columns, axis=1) if columns else np.zeros(empty)


def _largest(vectors: np.ndarray) -> float:
    return float(np.linalg.norm(vectors, axis=-1).max(initial=0.0))
