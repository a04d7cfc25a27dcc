"""Motion of a joint in numbers: where the child is for given coordinates."""

from __future__ import annotations

import math
from collections.abc import Sequence

from linkwork.errors import InvalidInput
from linkwork.model.joint import SIZES, Joint
from linkwork.model.number import Matrix, Vector, scale
from linkwork.model.placement import Placement
from linkwork.model.rotation import from_axis_angle, from_quaternion
from linkwork.model.tree import simple_joints

UNIT_TOLERANCE = 1e-6
"""A quaternion further from unit length than this is an error."""


def joint_motion(joint: Joint, q: Sequence[float]) -> Placement:
    """T_joint_child for the joint's own coordinates q (nq,):
    the identity at its neutral configuration."""
    q = [float(x) for x in q]
    if len(q) != joint.nq or not all(map(math.isfinite, q)):
        raise InvalidInput(
            f'joint "{joint.name}" ({joint.type}): q is {q}, expected {joint.nq} finite '
            f"number{'s'[: joint.nq != 1]}"
        )
    T, at = Placement(), 0
    for kind, placement, axis in simple_joints(joint):
        coordinates = q[at : at + SIZES[kind][0]]
        T, at = T @ placement @ _moved(joint, kind, axis, coordinates), at + len(coordinates)
    return T


def _moved(joint: Joint, kind: str, axis: Vector, q: list[float]) -> Placement:
    match kind:
        case "revolute":
            return Placement(from_axis_angle(axis, q[0]))
        case "prismatic":
            return Placement(position=scale(q[0], axis))
        case "helical":
            return Placement(from_axis_angle(axis, q[0]), scale(joint.pitch * q[0], axis))
        case "ball":
            return Placement(_turned(joint, q))
        case "floating":
            return Placement(_turned(joint, q[3:7]), (q[0], q[1], q[2]))
    return Placement()


def _turned(joint: Joint, xyzw: list[float]) -> Matrix:
    length = math.hypot(*xyzw)
    if abs(length - 1.0) > UNIT_TOLERANCE:
        raise InvalidInput(
            f'joint "{joint.name}" ({joint.type}): quaternion (x, y, z, w) {xyzw} has length '
            f"{length:.9g}, expected 1"
        )
    return from_quaternion(xyzw)
