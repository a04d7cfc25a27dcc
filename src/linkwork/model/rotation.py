"""Rotation matrices from every notation a description may use.

All functions give a nested tuple R with p_parent = R p_child. Entries that only rounding keeps from
0 or +-1 (such as cos(pi/2) = 6e-17) are snapped, because a traced program folds exact zeros and
ones away.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from linkwork.errors import InvalidModel
from linkwork.model.number import (
    IDENTITY,
    Matrix,
    Number,
    Vector,
    cos,
    cross,
    dot,
    is_symbol,
    norm,
    product,
    scale,
    sin,
    sqrt,
    transpose,
)

_SNAP = 4.0e-16  # two roundings of a product of cosines of multiples of pi/2
_LEAST, _MOST = 4.0 * _SNAP**2, 1.0 - 4.0 * _SNAP
"""Squares of entries between these are certainly not snapped."""
_ORTHOGONAL = 1.0e-14  # a rotation computed in double precision is that near to orthogonal


def snapped(R: Matrix) -> Matrix:
    """R with entries within rounding of -1, 0, 1 made exact (symbols untouched)."""
    x, y, z = R
    return (_snapped_row(x), _snapped_row(y), _snapped_row(z))


def _snapped_row(row: Vector) -> Vector:
    a, b, c = row
    if type(a) is type(b) is type(c) is float:
        if _LEAST < a * a < _MOST and _LEAST < b * b < _MOST and _LEAST < c * c < _MOST:
            return row  # of a turn about no axis of the coordinates
    return (_snap(a), _snap(b), _snap(c))


def _snap(x: Number) -> Number:
    if type(x) is not float:
        if is_symbol(x):
            return x
        x = float(x)
    size = abs(x)
    if size <= _SNAP:
        return 0.0
    if abs(size - 1.0) <= _SNAP:
        return 1.0 if x > 0.0 else -1.0
    return x


def about(axis: str, angle: Number) -> Matrix:
    """Rotation by `angle` [rad] about the coordinate axis "x", "y" or "z"."""
    s, c = sin(angle), cos(angle)
    n = -s
    if type(s) is not float or not (_SNAP < abs(s) < 1.0 - _SNAP and _SNAP < abs(c) < 1.0 - _SNAP):
        c, s, n = _snap(c), _snap(s), _snap(n)
    if axis == "x":
        return ((1.0, 0.0, 0.0), (0.0, c, n), (0.0, s, c))
    if axis == "y":
        return ((c, 0.0, s), (0.0, 1.0, 0.0), (n, 0.0, c))
    return {"z": ((c, n, 0.0), (s, c, 0.0), (0.0, 0.0, 1.0))}[axis]


def from_euler(sequence: str, angles: Sequence[Number]) -> Matrix:
    """Rotation by Euler angles [rad] about moving axes:
    R = R_a(angles[0]) R_b(angles[1]) R_c(angles[2]).

    `sequence` holds three letters of x, y, z; capitals and small letters mean the same, moving
    axes. "ZXZ" is the convention of [Goncalves2022] eq. 2. Corrected: entry (1,3) is s1 s2 where
    the paper prints s1 s3.
    """
    if len(sequence) != 3 or set(sequence.lower()) - set("xyz") or len(angles) != 3:
        raise InvalidModel(
            f'Euler angles "{sequence}" {tuple(angles)}, expected three letters of x, y, z and '
            "three angles"
        )
    first, second, third = (about(axis, angle) for axis, angle in zip(sequence.lower(), angles))
    return snapped(product(product(first, second), third))


def from_rpy(rpy: Sequence[Number]) -> Matrix:
    """Roll, pitch, yaw [rad] of URDF: R = Rz(yaw) Ry(pitch) Rx(roll)."""
    if all(type(angle) is float and angle == 0.0 for angle in rpy):  # most origins of a file
        return IDENTITY
    return from_euler("zyx", (rpy[2], rpy[1], rpy[0]))


def to_rpy(R: Matrix) -> tuple[float, float, float]:
    """Roll, pitch, yaw [rad] of a rotation, pitch in [-pi/2, pi/2]; in gimbal lock yaw is zero."""
    yaw, pitch, roll = to_euler("zyx", R, zero="first")
    return roll, pitch, yaw


def to_euler(sequence: str, R: Matrix, zero: str = "third") -> tuple[float, float, float]:
    """Euler angles [rad] about moving axes: the inverse of `from_euler`, for numbers.

        R = R_i(a) R_j(b) R_k(c):   a from the column R e_k, then b and c from R_i(-a) R = R_j(b)
                                    R_k(c)

    The middle angle is in [0, pi] where k = i, else in [-pi/2, pi/2]. `from_euler` gives R back to
    rounding everywhere, also near the singular middle angles, where a and c taken apart from
    vanishing entries would each be noise; exactly there only a + c or a - c is known and the first
    or the third angle is `zero`. For ZXZ that is every turn about z alone ([Goncalves2022] names
    +-pi/2, which is the case of three different axes).
    """
    i, j, k = ("xyz".index(axis) for axis in sequence.lower())
    l = 3 - i - j  # the axis across i and j; k is i or l
    s = 1.0 if (i + 1) % 3 == j else -1.0
    up, side = (R[j][k], -s * R[l][k]) if k == i else (-s * R[j][k], R[k][k])
    if max(abs(up), abs(side)) > _SNAP:
        a = math.atan2(up, side)
    else:
        a = 0.0 if zero == "first" else math.atan2(s * R[l][j], R[j][j])
    T = product(about("xyz"[i], -a), R)
    if k == i:
        return a, math.atan2(-s * T[l][i], T[i][i]), math.atan2(-s * T[j][l], T[j][j])
    return a, math.atan2(s * T[i][k], T[k][k]), math.atan2(s * T[j][i], T[j][j])


def from_quaternion(xyzw: Sequence[Number]) -> Matrix:
    """Rotation of the quaternion (x, y, z, w), normalised first."""
    n2 = sum(c * c for c in xyzw)
    if not is_symbol(n2) and not n2 > 0.0:
        raise InvalidModel(
            f"quaternion {tuple(xyzw)} has length zero, expected a unit quaternion (x, y, z, w)"
        )
    x, y, z, w = xyzw
    k = 2.0 / n2
    R = (
        (1.0 - k * (y * y + z * z), k * (x * y - z * w), k * (x * z + y * w)),
        (k * (x * y + z * w), 1.0 - k * (x * x + z * z), k * (y * z - x * w)),
        (k * (x * z - y * w), k * (y * z + x * w), 1.0 - k * (x * x + y * y)),
    )
    return snapped(R)


def from_axis_angle(axis: Vector, angle: Number) -> Matrix:
    """Rotation by `angle` [rad] about any axis (normalised first): Rodrigues' formula."""
    n = sqrt(dot(axis, axis))
    if not is_symbol(n) and not n > 0.0:
        raise InvalidModel(f"rotation axis {tuple(axis)} has length zero, expected a direction")
    x, y, z = (a / n for a in axis)
    c, s = cos(angle), sin(angle)
    t = 1.0 - c
    R = (
        (c + x * x * t, x * y * t - z * s, x * z * t + y * s),
        (x * y * t + z * s, c + y * y * t, y * z * t - x * s),
        (x * z * t - y * s, y * z * t + x * s, c + z * z * t),
    )
    return snapped(R)


def along(direction: Vector) -> Matrix:
    """A rotation whose z axis points along a direction of numbers; the identity for a zero
    vector."""
    size = norm(direction)
    if not size > 0.0:
        return IDENTITY
    z = scale(1.0 / size, direction)
    least = min(range(3), key=lambda k: abs(z[k]))
    side = cross(tuple(float(k == least) for k in range(3)), z)  # type: ignore[arg-type]
    x = scale(1.0 / norm(side), side)
    return snapped(transpose((x, cross(z, x), z)))


def orthogonality_error(R: Matrix) -> float:
    """Largest entry of R'R - 1, infinite where a number is not finite."""
    G = product(transpose(R), R)
    errors = [abs(G[i][j] - (i == j)) for i in range(3) for j in range(3)]
    return max(errors) if all(map(math.isfinite, errors)) else math.inf


def from_matrix(rows: Sequence[Sequence[Number]], tolerance: float = 1e-6) -> Matrix:
    """A rotation given as a matrix, checked: R' R = 1 within `tolerance`, det R = +1.

    Entries printed with few digits give the nearest rotation (polar decomposition), so that bodies
    stay rigid.
    """
    R: Matrix = tuple(tuple(row) for row in rows)  # type: ignore[assignment]
    if len(R) != 3 or any(len(row) != 3 for row in R):
        raise InvalidModel(
            f"rotation matrix has rows of length {[len(r) for r in R]}, expected 3 x 3"
        )
    if any(is_symbol(x) for row in R for x in row):
        return R
    error = orthogonality_error(R)
    if not error <= tolerance:
        raise InvalidModel(
            f"rotation matrix is not orthogonal: R'R differs from the identity by {error:.3g}"
        )
    a, b, c = R
    if (
        dot(a, (b[1] * c[2] - b[2] * c[1], b[2] * c[0] - b[0] * c[2], b[0] * c[1] - b[1] * c[0]))
        < 0.0
    ):
        raise InvalidModel("rotation matrix has determinant -1 (a mirror), expected +1")
    if error > _ORTHOGONAL:
        U, _, Vt = np.linalg.svd(np.array(R, dtype=float))
        R = tuple(tuple(float(x) for x in row) for row in U @ Vt)  # type: ignore[assignment]
    return snapped(R)
