"""Poses as people say them: one function from every usual way of writing a position and a
rotation."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from linkwork.arguments import as_doubles, broadcast
from linkwork.errors import InvalidInput
from linkwork.foreign_poses import is_rotation, rotation_of

_DEFECT = 1e-6
"""How far a matrix may be from a rotation; what is within is brought to the nearest one."""
_WAYS = ("rpy", "quaternion", "quaternion_wxyz", "matrix", "rotation_vector")


def pose(
    xyz: Any = (0.0, 0.0, 0.0),
    *,
    rpy: ArrayLike | None = None,
    quaternion: ArrayLike | None = None,
    quaternion_wxyz: ArrayLike | None = None,
    matrix: Any = None,
    rotation_vector: ArrayLike | None = None,
    degrees: bool = False,
) -> np.ndarray:
    """A pose (..., 4, 4) from a position [m] and at most one way of saying a rotation;
    batches broadcast.

    xyz               (..., 3); or a whole pose: (..., 4, 4), pin.SE3, spatialmath's SE3, scipy's
                      RigidTransform or Rotation, MuJoCo's `data.body("hand")`, `model.site("tip")`,
                      a pair (position, rotation)
    rpy               (..., 3) roll, pitch, yaw about the fixed x, y, z axes, as in URDF: Rz(yaw)
                      Ry(pitch) Rx(roll)
    quaternion        (..., 4) as x, y, z, w (ROS, Pinocchio, scipy); quaternion_wxyz: as w, x, y, z
                      (MuJoCo)
    matrix            (..., 3, 3), or a scipy Rotation
    rotation_vector   (..., 3) axis times angle
    degrees           rpy and rotation_vector are in degrees, else in radians

        lw.pose((0.4, 0.1, 0.3), rpy=(180, 0, 90), degrees=True)
    """
    if is_rotation(xyz):
        if matrix is not None:
            raise InvalidInput(
                "pose: xyz is a rotation and matrix is given, expected one way of saying a rotation"
            )
        xyz, matrix = np.zeros(3), xyz
    rotations = {"rpy": rpy, "quaternion": quaternion, "quaternion_wxyz": quaternion_wxyz}
    rotations |= {"matrix": matrix, "rotation_vector": rotation_vector}
    said = [name for name in _WAYS if rotations[name] is not None]
    if len(said) > 1:
        raise InvalidInput(
            f"pose: {' and '.join(said)} are given, expected one way of saying a rotation"
        )
    place = as_doubles(xyz, "pose: xyz")
    if place.ndim >= 2 and place.shape[-2:] == (4, 4) and not said:
        return _checked(place)
    if place.ndim < 1 or place.shape[-1] != 3 or not np.isfinite(place).all():
        words = "; a quaternion goes beside it: quaternion= (x y z w) or quaternion_wxyz=" * (
            place.shape[-1:] == (7,)
        )
        raise InvalidInput(
            f"pose: xyz has shape {place.shape}, expected finite numbers (..., 3) or a pose "
            f"(..., 4, 4){words}"
        )
    R = _rotation(said[0], rotations[said[0]], degrees) if said else np.eye(3)
    lead = broadcast({"xyz": place.shape[:-1], "rotation": R.shape[:-2]}, "pose")
    T = np.zeros((*lead, 4, 4))
    T[..., :3, :3], T[..., :3, 3], T[..., 3, 3] = R, place, 1.0
    return T


def pose_numbers(target: Any, who: str) -> np.ndarray:
    """The numbers of poses (..., 4, 4) or positions (..., 3) of any library;
    a rotation alone is refused.

    Its matrix (3, 3) would be read as three positions.
    """
    if is_rotation(target):
        raise InvalidInput(
            f"{who} is a rotation without a position, expected a pose: "
            "lw.pose(xyz, matrix=rotation)"
        )
    return as_doubles(target, who)


def _rotation(way: str, value: Any, degrees: bool) -> np.ndarray:
    numbers = as_doubles(value, f"pose: {way}")
    sizes: dict[str, tuple[int, ...]] = {
        "quaternion": (4,),
        "quaternion_wxyz": (4,),
        "matrix": (3, 3),
    }
    shape = sizes.get(way, (3,))
    if (
        numbers.ndim < len(shape)
        or numbers.shape[-len(shape) :] != shape
        or not np.isfinite(numbers).all()
    ):
        expected = ", ".join(map(str, shape))
        raise InvalidInput(
            f"pose: {way} has shape {numbers.shape}, expected finite numbers (..., {expected})"
        )
    unit = math.pi / 180.0 if degrees else 1.0
    if way == "matrix":
        return _nearest(numbers, "pose: matrix")
    if way == "rpy":
        return _from_rpy(numbers * unit)
    if way == "rotation_vector":
        return _from_vector(numbers * unit)
    return _from_quaternion(
        np.roll(numbers, -1, axis=-1) if way == "quaternion_wxyz" else numbers, way
    )


def _from_rpy(angles: np.ndarray) -> np.ndarray:
    (cr, cp, cy), (sr, sp, sy) = (np.moveaxis(f(angles), -1, 0) for f in (np.cos, np.sin))
    rows = [
        [cy * cp, cy * sp * sr - sy * cr, cy * sp * cr + sy * sr],
        [sy * cp, sy * sp * sr + cy * cr, sy * sp * cr - cy * sr],
        [-sp, cp * sr, cp * cr],
    ]
    return np.stack([np.stack(row, axis=-1) for row in rows], axis=-2)


def _from_vector(turn: np.ndarray) -> np.ndarray:
    """Through the quaternion, which has no trouble at zero."""
    angle = np.linalg.norm(turn, axis=-1, keepdims=True)
    share = 0.5 * np.sinc(angle / (2.0 * math.pi))  # sin(angle / 2) / angle
    return _from_quaternion(
        np.concatenate([turn * share, np.cos(angle / 2.0)], axis=-1), "rotation_vector"
    )


def _from_quaternion(xyzw: np.ndarray, way: str) -> np.ndarray:
    length = np.linalg.norm(xyzw, axis=-1, keepdims=True)
    if (np.abs(length - 1.0) > _DEFECT).any():
        off = float(length.flat[np.argmax(np.abs(length - 1.0))])
        raise InvalidInput(
            f"pose: {way} has length {off:.6g}, expected unit quaternions (within {_DEFECT:g})"
        )
    return rotation_of(xyzw / length)


def _checked(T: np.ndarray) -> np.ndarray:
    if (
        not np.isfinite(T).all()
        or np.abs(T[..., 3, :] - [0.0, 0.0, 0.0, 1.0]).max(initial=0.0) > 1e-9
    ):
        raise InvalidInput("pose: a rigid motion is finite and its last row is (0, 0, 0, 1)")
    proper = T.copy()
    proper[..., :3, :3] = _nearest(T[..., :3, :3], "pose: the rotation part")
    return proper


def _nearest(R: np.ndarray, who: str) -> np.ndarray:
    """The nearest rotation (one step of Newton's iteration for the polar factor), or
    InvalidInput."""
    gap = np.swapaxes(R, -1, -2) @ R - np.eye(3)
    defect = float(np.abs(gap).max(initial=0.0))
    if defect > _DEFECT or (np.linalg.det(R) < 0.0).any():
        raise InvalidInput(
            f"{who} is no rotation: R'R differs from the identity by {defect:.3g}, or it mirrors"
        )
    return R - R @ gap / 2.0 if defect > 1e-15 else R
