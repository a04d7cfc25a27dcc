"""Placing: poses, positions and lengths of shapes, checked."""

from __future__ import annotations

import math
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from linkwork.arguments import as_doubles, finite, number
from linkwork.errors import InvalidInput, InvalidModel
from linkwork.foreign_poses import is_rotation
from linkwork.model.number import Vector
from linkwork.model.placement import HERE, Placement
from linkwork.model.rotation import from_matrix, snapped
from linkwork.poses import pose as whole_pose

Pose: TypeAlias = Placement | ArrayLike | None
"""Where a shape is: a 4 x 4 matrix, a position (3,), a Placement, or None for the origin."""


def placed(pose: Pose, who: str) -> Placement:
    """A pose in any of its notations, checked: finite, and a rotation."""
    if pose is None:
        return HERE
    if isinstance(pose, Placement):
        pose = matrix_of(pose)
    array = whole_pose(pose) if is_rotation(pose) else as_doubles(pose, f"{who}: pose")
    quickly = _rigid(array) if array.shape == (4, 4) else None
    if quickly is not None:
        return quickly
    if array.shape == (3,):
        return Placement(position=vector(array, f"{who}: pose"))
    T = finite(array, (4, 4), f"{who}: pose")
    if not np.array_equal(T[3], (0.0, 0.0, 0.0, 1.0)):
        raise InvalidInput(f"{who}: the last row of pose is {T[3].tolist()}, expected [0, 0, 0, 1]")
    try:
        rotation = from_matrix(T[:3, :3].tolist())
    except InvalidModel as error:
        raise InvalidInput(f"{who}: pose: {error}") from None
    return Placement(rotation, vector(T[:3, 3], f"{who}: pose"))


def _rigid(T: np.ndarray) -> Placement | None:
    """A 4 x 4 array as a placement, or None where it is not a rigid motion to the last digits.

    Plain numbers: an obstacle that is dragged comes here many times a second.
    """
    (a, b, c, x), (d, e, f, y), (g, h, i, z), last = T.tolist()
    lengths = a * a + b * b + c * c - 1.0, d * d + e * e + f * f - 1.0, g * g + h * h + i * i - 1.0
    across = a * d + b * e + c * f, a * g + b * h + c * i, d * g + e * h + f * i
    right_handed = a * (e * i - f * h) + b * (f * g - d * i) + c * (d * h - e * g) > 0.0
    # then columns are orthonormal within 1e-14, as rotation.py asks
    exact = max(map(abs, (*lengths, *across))) <= 3e-15
    if not (exact and right_handed and math.isfinite(x + y + z) and last == [0.0, 0.0, 0.0, 1.0]):
        return None
    return Placement(snapped(((a, b, c), (d, e, f), (g, h, i))), (x, y, z))


def matrix_of(T: Placement) -> np.ndarray:
    """A placement as a 4 x 4 matrix."""
    matrix = np.eye(4)
    matrix[:3, :3], matrix[:3, 3] = T.rotation, T.position
    return matrix


def vector(x: Any, who: str) -> Vector:
    """Three finite numbers."""
    a, b, c = finite(x, (3,), who).tolist()
    return a, b, c


def length(x: Any, who: str) -> float:
    """A finite number that is not negative."""
    size = number(x, who)
    if size < 0.0:
        raise InvalidInput(f"{who} is {size:g} m, expected no negative length")
    return size
