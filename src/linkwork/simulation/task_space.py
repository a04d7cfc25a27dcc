"""Task space: where a frame is and should be along chosen axes, as an error with its Jacobian."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import casadi
from casadi import SX

from linkwork.arguments import name_list
from linkwork.errors import InvalidInput, UnknownName, did_you_mean
from linkwork.simulation.plant import Plant
from linkwork.spatial import axis_rotation
from linkwork.spatial.vector import exponential, rotation_vector

AXES = ("x", "y", "z", "rx", "ry", "rz")
"""World axes: positions [m], and the rotation vector about them [rad]."""


@dataclass(frozen=True)
class TaskSpace:
    """Axes of a frame. A target is one number an axis, or a pose (16 numbers, row by row)."""

    frame: str
    axes: tuple[str, ...] = AXES

    @staticmethod
    def of(frame: Any, axes: Any, who: str) -> TaskSpace:
        names = name_list(axes, f"{who}: axes")
        for name in names:
            if name not in AXES:
                raise UnknownName(
                    f'{who}: there is no axis "{name}"{did_you_mean(name, AXES)}; expected '
                    f"of {AXES}"
                )
        if not names or len(set(names)) < len(names):
            raise InvalidInput(f"{who}: axes {names} are empty or named twice")
        return TaskSpace(str(frame), names)

    @property
    def sizes(self) -> tuple[int, ...]:
        """How many numbers a target may have."""
        return (len(self.axes), 16)

    @property
    def rows(self) -> list[int]:
        return [AXES.index(axis) for axis in self.axes]

    def __call__(self, plant: Plant, q: SX, target: SX) -> SX:
        """(error (m), Jacobian (m nv) row by row): what is missing to the target,
        and how joints move the frame.

        Orientations are compared by the rotation vector of R_target R', never by subtracting
        angles.
        """
        pose, jacobian = plant.pose(q, self.frame), plant.jacobian(q, self.frame)
        R, p = pose[0:3, 0:3], pose[0:3, 3]
        if target.numel() == 16:
            wanted = casadi.reshape(target, 4, 4).T
            R_d, p_d = wanted[0:3, 0:3], wanted[0:3, 3]
        else:
            full = SX.zeros(6)
            for k, row in enumerate(self.rows):
                full[row] = target[k]
            turns = [row for row in self.rows if row >= 3]
            p_d, R_d = full[0:3], _turned(full, turns)
        error = p_d - p
        if any(row >= 3 for row in self.rows):
            error = casadi.vertcat(error, rotation_vector(R_d @ R.T))
        rows = casadi.vertcat(*[jacobian[row, :] for row in self.rows])
        chosen = casadi.vertcat(*[error[row] for row in self.rows])
        return casadi.vertcat(chosen, casadi.reshape(rows.T, -1, 1))

    def split(self, packed: Any, nv: int) -> tuple[Any, Any]:
        """(error (m), Jacobian (m, nv)) from what a call gave, over symbols or numbers."""
        m = len(self.axes)
        flat = packed[m:]
        if isinstance(flat, SX):
            return packed[:m], casadi.reshape(flat, nv, m).T
        return packed[:m], flat.reshape(m, nv)


def _turned(full: SX, turns: list[int]) -> SX:
    """The rotation of a rotation vector; about one axis without its series."""
    if len(turns) == 1:
        axis = SX.zeros(3)
        axis[turns[0] - 3] = 1
        return axis_rotation(axis, full[turns[0]])
    return exponential(full[3:6]) if turns else SX.eye(3)
