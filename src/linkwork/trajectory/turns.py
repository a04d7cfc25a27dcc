"""Turns: rotation vectors to rotations and back, over arrays."""

from __future__ import annotations

import math

import numpy as np

from linkwork.poses import pose


def turned_by(vectors: np.ndarray) -> np.ndarray:
    """Rotations (..., 3, 3) of rotation vectors (..., 3) [rad]."""
    return pose(np.zeros(3), rotation_vector=vectors)[..., :3, :3]


def log_of(R: np.ndarray) -> np.ndarray:
    """The rotation vector (3,) of one rotation (3, 3), at most half a turn long.

    By the quaternion of the largest component, which keeps its digits at every angle.
    """
    m = np.array(
        [
            [R[0, 0] - R[1, 1] - R[2, 2], 0.0, 0.0, 0.0],
            [R[0, 1] + R[1, 0], R[1, 1] - R[0, 0] - R[2, 2], 0.0, 0.0],
            [R[0, 2] + R[2, 0], R[1, 2] + R[2, 1], R[2, 2] - R[0, 0] - R[1, 1], 0.0],
            [R[2, 1] - R[1, 2], R[0, 2] - R[2, 0], R[1, 0] - R[0, 1], np.trace(R)],
        ]
    )
    _, vectors = np.linalg.eigh(m)  # the quaternion is the eigenvector of the largest eigenvalue
    x, y, z, w = vectors[:, -1] * (1.0 if vectors[3, -1] >= 0.0 else -1.0)
    size = math.sqrt(x * x + y * y + z * z)
    scale = 2.0 * math.atan2(size, w) / size if size > 1e-300 else 2.0
    return scale * np.array([x, y, z])
