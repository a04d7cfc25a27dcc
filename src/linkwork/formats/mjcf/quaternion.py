"""Quaternions of rotation matrices, exact to rounding for every rotation."""

from __future__ import annotations

import math

from linkwork.model.number import Matrix


def to_quaternion(R: Matrix) -> tuple[float, float, float, float]:
    """The unit quaternion (x, y, z, w) of a rotation, w >= 0.

    Of the four squares 4 w^2 = 1 + tr R, 4 x^2 = 1 + 2 R_xx - tr R, ... the largest is never below
    1, so dividing by its root loses nothing.
    """
    (a, b, c), (d, e, f), (g, h, i) = R
    squares = (1.0 + a - e - i, 1.0 - a + e - i, 1.0 - a - e + i, 1.0 + a + e + i)
    rows = (
        (squares[0], b + d, c + g, h - f),
        (b + d, squares[1], f + h, c - g),
        (c + g, f + h, squares[2], d - b),
        (h - f, c - g, d - b, squares[3]),
    )
    x, y, z, w = rows[max(range(4), key=squares.__getitem__)]
    length = math.copysign(math.hypot(x, y, z, w), w)
    return (x / length, y / length, z / length, w / length)
