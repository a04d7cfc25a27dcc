"""Foreign poses: the arrays inside poses and rotations of other libraries,
which are known by what they have.

    pin.SE3                             homogeneous
    scipy's RigidTransform, Rotation    as_matrix()
    spatialmath's SE3, SO3              A
    MuJoCo's views of bodies, sites,    xpos and xmat of MjData (world axes); pos and quat (w first)
                                        of MjModel and
      geometries, cameras, mocap        MjSpec (axes of their parent)
    a pair                              (position, rotation) or (rotation, position), a rotation
                                        being a matrix or one of the above

Nothing of these libraries is imported.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from linkwork.errors import InvalidInput

_MATRICES = ("homogeneous", "as_matrix", "A")
_VIEWS = (("xpos", "xmat"), ("pos", "quat"), ("mocap_pos", "mocap_quat"))
"""Where a view of MuJoCo has its position and its rotation; what stands in the world comes
first."""


def matrix_of(x: Any) -> Any:
    """The matrix (..., 4, 4) or (..., 3, 3) of a pose or rotation of another library, or x
    itself."""
    if isinstance(x, (np.ndarray, float, int, str, bytes)):
        return x
    if isinstance(x, (list, tuple)):
        return listed(x) if x and not isinstance(x[0], (float, int)) else x
    for name in _MATRICES:
        if getattr(type(x), name, None) is not None:
            value = getattr(x, name)
            matrix = value() if callable(value) else value
            return np.array(matrix) if isinstance(matrix, list) else matrix
    for position, rotation in _VIEWS:
        if _filled(x, position) and _filled(x, rotation):
            return _of_view(x, position, rotation)
    return x


def is_rotation(x: Any) -> bool:
    """Whether x is a rotation of another library, or a list of them: it has no position."""
    if isinstance(x, (list, tuple)):
        return bool(x) and all(is_rotation(entry) for entry in x)
    matrix = matrix_of(x)
    return matrix is not x and np.shape(matrix)[-2:] == (3, 3)


def listed(entries: Sequence[Any]) -> Any:
    """A list in which poses of other libraries are matrices,
    and a pair of a position and a rotation is one pose."""
    plain = [matrix_of(entry) for entry in entries]
    if len(plain) != 2:
        return plain
    shapes = [_shape(entry) for entry in plain]
    if sorted(shapes) == [(3,), (3, 3)]:
        position, rotation = plain if shapes[0] == (3,) else reversed(plain)
        return _rigid(position, rotation)
    if sorted(shapes) == [(3,), (4,)]:
        raise InvalidInput(
            "a pair of 3 and 4 numbers does not say where the quaternion's w stands; expected "
            "lw.pose(xyz, quaternion=...) for x y z w or lw.pose(xyz, quaternion_wxyz=...) for w x "
            "y z (MuJoCo)"
        )
    return plain


def _shape(x: Any) -> tuple[int, ...]:
    try:
        return np.shape(x)
    except ValueError:  # a ragged list
        return ()


def _filled(x: Any, name: str) -> bool:
    """Whether a view has an array of this name, and something in it (a body without mocap has
    none)."""
    try:
        return np.size(getattr(x, name)) >= 3
    except Exception:  # MuJoCo's views raise for names of other kinds of objects
        return False


def _of_view(x: Any, position: str, rotation: str) -> np.ndarray:
    kind = getattr(getattr(x, "alt", None), "type", 0)
    if int(kind) != 0:
        raise InvalidInput(
            "an element of MjSpec whose rotation is not said by its quat; expected one of MjModel"
        )
    numbers = np.array(getattr(x, rotation), dtype=float).ravel()
    return _rigid(
        getattr(x, position), numbers.reshape(3, 3) if numbers.size == 9 else _of_wxyz(numbers)
    )


def _of_wxyz(quaternion: np.ndarray) -> np.ndarray:
    """The rotation of MuJoCo's quaternion, which its compiler itself brings to unit length."""
    return rotation_of(np.roll(quaternion / np.linalg.norm(quaternion), -1))


def rotation_of(quaternion: np.ndarray) -> np.ndarray:
    """Rotations (..., 3, 3) of unit quaternions (..., 4) as x, y, z, w."""
    x, y, z, w = np.moveaxis(quaternion, -1, 0)
    rows = [
        [1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w)],
        [2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w)],
        [2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)],
    ]
    return np.stack([np.stack(row, axis=-1) for row in rows], axis=-2)


def _rigid(position: Any, rotation: Any) -> np.ndarray:
    T = np.eye(4)
    T[:3, :3], T[:3, 3] = rotation, np.ravel(position)
    return T
