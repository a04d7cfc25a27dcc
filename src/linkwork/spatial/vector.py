"""Three-vectors and 3 x 3 matrices over CasADi symbols."""

from __future__ import annotations

from collections.abc import Sequence

import casadi
from casadi import SX

ZERO3 = SX.zeros(3)


def vector(x: Sequence) -> SX:
    """A tuple of numbers or symbols as a 3-vector."""
    return casadi.vertcat(*[SX(e) for e in x])


def matrix(rows: Sequence[Sequence]) -> SX:
    """Nested tuples of numbers or symbols as a matrix."""
    return casadi.vertcat(*[casadi.horzcat(*[SX(e) for e in row]) for row in rows])


def cross(a: SX, b: SX) -> SX:
    """a x b."""
    return casadi.cross(a, b)


def skew(a: SX) -> SX:
    """[a], with [a] b = a x b."""
    return casadi.skew(a)


def axis_rotation(axis: SX, angle: SX) -> SX:
    """Rotation about a unit axis n: n n' + cos (1 - n n') + sin [n].

    Written so that the zeros and ones of a coordinate axis fold away exactly.
    """
    c, s = casadi.cos(angle), casadi.sin(angle)
    nn = axis @ axis.T
    return nn + c * (SX.eye(3) - nn) + s * skew(axis)


def quaternion_rotation(xyzw: SX) -> SX:
    """Rotation matrix of a unit quaternion, used as given (not normalised)."""
    x, y, z, w = xyzw[0], xyzw[1], xyzw[2], xyzw[3]
    return matrix(
        (
            (1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w)),
            (2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w)),
            (2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)),
        )
    )
