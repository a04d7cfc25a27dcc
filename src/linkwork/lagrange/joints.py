"""Joints of a System: planar links and spatial joints, as poses of a frame in its parent."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import casadi
from casadi import SX

from linkwork.arguments import choice
from linkwork.errors import InvalidInput
from linkwork.lagrange.expressions import Scope
from linkwork.model.kinds import FIXED, PRISMATIC, REVOLUTE
from linkwork.spatial import axis_rotation

TYPES = (REVOLUTE, PRISMATIC, FIXED)


@dataclass(frozen=True, eq=False)
class Pose:
    """Where a frame is: position (3); planar frames keep their angle, the others a rotation matrix.

    `before` and `after`: the frame stands at before + R after, so that a chain needs the sine and
    cosine of each link's absolute angle only.
    """

    before: SX
    angle: SX | None
    R: SX
    after: SX

    @property
    def position(self) -> SX:
        return self.before + self.R @ self.after

    def at(self, offset: SX) -> SX:
        """A point given in the frame's axes."""
        return self.position + self.R @ offset

    def __matmul__(self, local: Pose) -> Pose:
        """T_world_child = T_world_parent @ T_parent_child; angles of planar frames add."""
        before = self.position + self.R @ local.before
        if self.angle is not None and local.angle is not None:
            angle = self.angle + local.angle
            return Pose(before, angle, turn(angle), local.after)
        return Pose(before, None, self.R @ local.R, local.after)


def turn(angle: SX) -> SX:
    """Rotation about z."""
    c, s = casadi.cos(angle), casadi.sin(angle)
    return casadi.vertcat(
        casadi.horzcat(c, -s, 0), casadi.horzcat(s, c, 0), casadi.horzcat(0, 0, 1)
    )


GROUND = Pose(SX(3, 1), SX(0.0), SX.eye(3), SX(3, 1))


@dataclass(frozen=True)
class PlanarJoint:
    """A joint in the x-y plane followed by a link; its frame is the link's end.

    revolute    turns by its coordinate; the link has `length`
    prismatic   the link's length is the coordinate; it points along the constant `angle` from the
                parent's direction
    fixed       no coordinate: `length` along `angle`

    Source: [Kusaka2022] eqs. 10-22; the slider of its section 3.3 with the direction angle it
    leaves open.
    """

    type: str = REVOLUTE
    length: Any = 1.0
    angle: Any = 0.0

    def pose(self, coordinate: Any, scope: Scope, who: str) -> Pose:
        choice(self.type, TYPES, f"{who}: type")
        length = (
            coordinate if self.type == PRISMATIC else scope.number(self.length, f"{who}: length")
        )
        angle = coordinate if self.type == REVOLUTE else scope.scalar(self.angle, f"{who}: angle")
        return Pose(SX(3, 1), angle, turn(angle), casadi.vertcat(length, 0, 0))


@dataclass(frozen=True)
class SpatialJoint:
    """A joint in space: at `xyz` in the parent, its axes turned by `rotation` (3 x 3),
    moving about or along `axis`."""

    type: str = REVOLUTE
    axis: tuple[Any, Any, Any] = (0.0, 0.0, 1.0)
    xyz: tuple[Any, Any, Any] = (0.0, 0.0, 0.0)
    rotation: Any = None

    def pose(self, coordinate: Any, scope: Scope, who: str) -> Pose:
        choice(self.type, TYPES, f"{who}: type")
        at = scope.position(self.xyz, f"{who}: xyz")
        R = SX.eye(3) if self.rotation is None else scope.smooth(self.rotation, f"{who}: rotation")
        if R.shape != (3, 3):
            raise InvalidInput(f"{who}: rotation has shape {R.shape}, expected (3, 3)")
        axis = scope.position(self.axis, f"{who}: axis")
        length = casadi.sqrt(casadi.dot(axis, axis))
        if length.is_zero():
            raise InvalidInput(f"{who}: axis is zero, expected a direction")
        axis = axis / length
        if self.type == REVOLUTE:
            return Pose(at, None, R @ axis_rotation(axis, coordinate), SX(3, 1))
        if self.type == PRISMATIC:
            return Pose(at, None, R, axis * coordinate)
        return Pose(at, None, R, SX(3, 1))


Joint = PlanarJoint | SpatialJoint
