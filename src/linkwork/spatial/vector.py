"""Three-vectors and 3 x 3 matrices over CasADi symbols."""

from __future__ import annotations

from collections.abc import Sequence

import casadi
from casadi import SX

from linkwork.spatial.operators import block, sine_and_cosine

ZERO3 = SX.zeros(3)


def vector(x: Sequence) -> SX:
    """A tuple of numbers or symbols as a 3-vector."""
    return block([(entry,) for entry in x])


def matrix(rows: Sequence[Sequence]) -> SX:
    """Nested tuples of numbers or symbols as a matrix."""
    return block(rows)


def cross(a: SX, b: SX) -> SX:
    """a x b; with a zero, which half of all joints bring, there is nothing to search."""
    return ZERO3 if a.is_zero() or b.is_zero() else casadi.cross(a, b)


def skew(a: SX) -> SX:
    """[a], with [a] b = a x b."""
    return casadi.skew(a)


def axis_rotation(axis: SX, angle: SX) -> SX:
    """Rotation about a unit axis n: n n' + cos (1 - n n') + sin [n].

    Written so that the zeros and ones of a coordinate axis fold away exactly.
    """
    s, c = sine_and_cosine(angle)
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


def exponential(w: SX) -> SX:
    """Matrix of a rotation vector: 1 + sin(theta)/theta [w] + (1 - cos(theta))/theta^2 [w]^2."""
    # below, both series are at their first term to the last bit
    square = casadi.fmax(casadi.dot(w, w), 1e-16)
    theta = casadi.sqrt(square)
    W = skew(w)
    half = casadi.sin(theta / 2)
    return SX.eye(3) + casadi.sin(theta) / theta * W + 2 * half * half / square * (W @ W)


def rotation_vector(R: SX) -> SX:
    """The rotation vector of R, |.| <= pi. At an angle of exactly pi, where two exist, zero."""
    n = vector((R[2, 1] - R[1, 2], R[0, 2] - R[2, 0], R[1, 0] - R[0, 1])) / 2
    return n * angle_over_sine(n, (R[0, 0] + R[1, 1] + R[2, 2] - 1) / 2)


def angle_over_sine(n: SX, cosine: SX) -> SX:
    """theta / |n| with |n| = sin(theta); near zero by its series."""
    ss = casadi.dot(n, n)
    s = casadi.sqrt(casadi.fmax(ss, 1e-30))
    far = casadi.atan2(s, cosine) / s
    return casadi.if_else(casadi.logic_and(ss < 1e-10, cosine > 0), 1 + ss / 6, far)
