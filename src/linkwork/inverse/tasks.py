"""Tasks: what a robot shall do at once, each with a cost, for differential inverse kinematics.

A task has rows e(q), what is missing, and J with e falling by J dq. A cost [1/m, 1/rad] says how
much a row counts against the rows of other tasks, a gain in (0, 1] which part of the error one step
shall remove, and damping how much moves are penalised while the error is large.

Source: [Caron2024] for the formulation.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

import casadi
import numpy as np
from casadi import DM, SX

from linkwork import configurations, quantities
from linkwork.arguments import as_doubles, finite, finite_doubles, mapping
from linkwork.errors import InvalidInput, UnknownName, did_you_mean
from linkwork.model.quickly_made import quickly_made
from linkwork.model.tree import Tree
from linkwork.recursions.jacobians import jacobian
from linkwork.recursions.poses import frame_pose
from linkwork.spatial.vector import rotation_vector
from linkwork.subject import Subject

__all__ = [
    "CenterOfMassTask",
    "FrameTask",
    "JointCouplingTask",
    "PostureTask",
    "RelativeFrameTask",
    "Task",
    "TaskScene",
]

Cost = float | Sequence[float]
_IDENTITY = np.eye(3)
LARGEST = 1e20
"""Costs up to this leave the QP solver its digits; their squares stand in its matrix."""


@dataclass(frozen=True)
class TaskScene:
    """What tasks are traced on: own coordinates q (nq), those of the tree,
    and columns of the tree as own ones (G)."""

    subject: Subject
    tree: Tree
    q: SX
    q_tree: SX
    G: DM


class Task(Protocol):
    """gain, damping; `key`: what the rows depend on besides q and the numbers; `numbers`:
    the target, flat."""

    gain: float
    damping: float

    @property
    def key(self) -> tuple: ...

    def numbers(self, subject: Subject) -> np.ndarray: ...

    def costs(self, subject: Subject) -> np.ndarray: ...

    def rows(self, scene: TaskScene, numbers: SX) -> tuple[SX, SX]: ...


class _PoseTask:
    """What tasks that bring a frame to a pose have in common."""

    __linkwork_direct__ = True  # its methods are the solver's; see doors.DIRECT

    frame: str
    target: Any
    position_cost: Cost
    rotation_cost: Cost

    def numbers(self, subject: Subject) -> np.ndarray:
        return _pose(f'task of frame "{self.frame}"', self.target)

    def costs(self, subject: Subject) -> np.ndarray:
        return _two_costs(f'task of frame "{self.frame}"', self.position_cost, self.rotation_cost)


@quickly_made
@dataclass(frozen=True, eq=False)
class FrameTask(_PoseTask):
    """A frame at a pose of the world: target (4, 4)."""

    __linkwork_direct__ = True  # its methods are the solver's; see doors.DIRECT

    frame: str
    target: Any
    position_cost: Cost = 1.0
    rotation_cost: Cost = 1.0
    gain: float = 1.0
    damping: float = 0.0

    def __post_init__(self) -> None:
        if type(self.frame) is not str:
            _named("frame task", self.frame)

    @property
    def key(self) -> tuple:
        return "frame", self.frame

    def rows(self, scene: TaskScene, numbers: SX) -> tuple[SX, SX]:
        place = scene.subject.place_of(self.frame)
        R_d, p_d = _unpacked(numbers)
        J, R = jacobian(scene.tree, scene.q_tree, place)
        p = frame_pose(scene.tree, scene.q_tree, place).p
        return casadi.vertcat(p_d - p, rotation_vector(R_d @ R.T)), J @ scene.G


@quickly_made
@dataclass(frozen=True, eq=False)
class RelativeFrameTask(_PoseTask):
    """A frame at a pose seen from another frame: target (4, 4) = T_root_frame."""

    __linkwork_direct__ = True  # its methods are the solver's; see doors.DIRECT

    frame: str
    root: str
    target: Any
    position_cost: Cost = 1.0
    rotation_cost: Cost = 1.0
    gain: float = 1.0
    damping: float = 0.0

    def __post_init__(self) -> None:
        _named("relative frame task", self.frame, self.root)

    @property
    def key(self) -> tuple:
        return "relative", self.frame, self.root

    def rows(self, scene: TaskScene, numbers: SX) -> tuple[SX, SX]:
        """In axes of the root: R_r'(p_f - p_r), its rate R_r'(v_f - v_r - w_r x (p_f - p_r)),
        and R_r'(w_f - w_r)."""
        R_d, p_d = _unpacked(numbers)
        (J_f, R_f), (J_r, R_r) = (
            jacobian(scene.tree, scene.q_tree, scene.subject.place_of(f))
            for f in (self.frame, self.root)
        )
        p_f, p_r = (
            frame_pose(scene.tree, scene.q_tree, scene.subject.place_of(f)).p
            for f in (self.frame, self.root)
        )
        apart = casadi.skew(p_f - p_r)
        linear = R_r.T @ (J_f[0:3, :] - J_r[0:3, :] + apart @ J_r[3:6, :])
        angular = R_r.T @ (J_f[3:6, :] - J_r[3:6, :])
        e = casadi.vertcat(p_d - R_r.T @ (p_f - p_r), rotation_vector(R_d @ R_f.T @ R_r))
        return e, casadi.vertcat(linear, angular) @ scene.G


@dataclass(frozen=True, eq=False)
class PostureTask:
    """Joints near a configuration: target (nq,). Ball and floating joints have no part in it."""

    __linkwork_direct__ = True  # its methods are the solver's; see doors.DIRECT

    target: Any
    cost: Cost = 1e-3
    gain: float = 1.0
    damping: float = 0.0

    def __post_init__(self) -> None:
        finite_doubles(self.target, "posture task: target")

    @property
    def key(self) -> tuple:
        return ("posture",)

    def numbers(self, subject: Subject) -> np.ndarray:
        return finite(self.target, (subject.nq,), "posture task: target")

    def costs(self, subject: Subject) -> np.ndarray:
        return _costs("posture task", self.cost, len(singles(subject)))

    def rows(self, scene: TaskScene, numbers: SX) -> tuple[SX, SX]:
        pairs = singles(scene.subject)
        J = SX(len(pairs), scene.subject.nv)
        for i, (_, v) in enumerate(pairs):
            J[i, v] = 1
        return casadi.vertcat(*[numbers[q] - scene.q[q] for q, _ in pairs]), J


@dataclass(frozen=True, eq=False)
class CenterOfMassTask:
    """The centre of mass at a point: target (3,) [m]."""

    __linkwork_direct__ = True  # its methods are the solver's; see doors.DIRECT

    target: Any
    cost: Cost = 1.0
    gain: float = 1.0
    damping: float = 0.0

    def __post_init__(self) -> None:
        finite_doubles(self.target, "centre of mass task: target")

    @property
    def key(self) -> tuple:
        return ("center of mass",)

    def numbers(self, subject: Subject) -> np.ndarray:
        return finite(self.target, (3,), "centre of mass task: target")

    def costs(self, subject: Subject) -> np.ndarray:
        return _costs("centre of mass task", self.cost, 3)

    def rows(self, scene: TaskScene, numbers: SX) -> tuple[SX, SX]:
        names = ("center_of_mass", "center_of_mass_jacobian")
        c, J = (quantities.trace(scene.subject, name).call([scene.q])[0] for name in names)
        return numbers - casadi.reshape(c, 3, 1), J


@dataclass(frozen=True, eq=False)
class JointCouplingTask:
    """Joints in a fixed relation: the sum of ratio times coordinate over `ratios` equals
    `value`."""

    __linkwork_direct__ = True  # its methods are the solver's; see doors.DIRECT

    ratios: Mapping[str, float]
    value: float = 0.0
    cost: float = 1.0
    gain: float = 1.0
    damping: float = 0.0
    names: tuple[str, ...] = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(
            self, "names", tuple(mapping(self.ratios, "joint coupling task: ratios"))
        )
        if not self.names:
            raise InvalidInput(
                "joint coupling task: ratios is empty, expected joints with their ratios"
            )

    @property
    def key(self) -> tuple:
        return ("coupling", *self.names)

    def numbers(self, subject: Subject) -> np.ndarray:
        numbers = [*self.ratios.values(), self.value]
        return finite(numbers, (len(self.names) + 1,), "joint coupling task: ratios and value")

    def costs(self, subject: Subject) -> np.ndarray:
        return _costs("joint coupling task", self.cost, 1)

    def rows(self, scene: TaskScene, numbers: SX) -> tuple[SX, SX]:
        coordinates = {
            joint.name: (q, v)
            for joint, q, v in configurations.places(scene.subject)
            if joint.nq == joint.nv == 1
        }
        J = SX(1, scene.subject.nv)
        e = numbers[len(self.names)]
        for i, name in enumerate(self.names):
            if name not in coordinates:
                raise UnknownName(
                    f'joint coupling task: no joint "{name}" with one '
                    f"coordinate{did_you_mean(name, coordinates)}"
                )
            q, v = coordinates[name]
            e = e - numbers[i] * scene.q[q.start]
            J[0, v.start] = numbers[i]
        return e, J


def singles(subject: Subject) -> tuple[tuple[int, int], ...]:
    """(place in q, place in v) of every coordinate that is not part of a quaternion joint."""
    return subject.once(singles, lambda: _singles(subject))


def _singles(subject: Subject) -> tuple[tuple[int, int], ...]:
    places: list[tuple[int, int]] = []
    for _, q, v in configurations.places(subject):
        if q.stop - q.start == v.stop - v.start:
            places += zip(range(q.start, q.stop), range(v.start, v.stop), strict=True)
    return tuple(places)


def _named(who: str, *frames: Any) -> None:
    for frame in frames:
        if not isinstance(frame, str):
            raise InvalidInput(f"{who}: frame is {frame!r}, expected its name")


def _unpacked(numbers: SX) -> tuple[SX, SX]:
    return casadi.reshape(numbers[0:9], 3, 3).T, numbers[9:12]


def _pose(who: str, target: Any) -> np.ndarray:
    T = finite(target, (4, 4), f"{who}: target")
    R = T[:3, :3]
    defect = float(np.abs(R.T @ R - _IDENTITY).max())
    (a, b, c), (d, e, f), (g, h, i) = R.tolist()
    if defect > 1e-6 or a * (e * i - f * h) - b * (d * i - f * g) + c * (d * h - e * g) < 0:
        raise InvalidInput(
            f"{who}: the rotation part of the target is not a rotation matrix (defect {defect:.3g})"
        )
    return np.concatenate([R.ravel(), T[:3, 3]])


def _two_costs(who: str, position: Cost, rotation: Cost) -> np.ndarray:
    return np.concatenate(
        [_costs(f"{who}: position_cost", position, 3), _costs(f"{who}: rotation_cost", rotation, 3)]
    )


def _costs(who: str, cost: Cost, rows: int) -> np.ndarray:
    if isinstance(cost, float) and 0.0 <= cost <= LARGEST:
        return np.full(rows, cost)
    array = as_doubles(cost, who)
    if array.shape not in ((), (rows,)) or not ((array >= 0) & (array <= LARGEST)).all():
        raise InvalidInput(
            f"{who}: cost is {cost!r}, expected a number from 0 to {LARGEST:g}, not negative, or "
            f"{rows} of them"
        )
    return np.full(rows, float(array)) if array.ndim == 0 else array
