"""Postures: where everything that is drawn stands, for many configurations at once."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from linkwork.errors import LinkworkError
from linkwork.loops.assembly import reference
from linkwork.loops.members import member_names, members
from linkwork.robot import Robot


@dataclass(frozen=True)
class Postures:
    """One row a configuration.

    q (n, nq); position (n, nb, 3) [m], rotation (n, nb, 3, 3), wxyz (n, nb, 4) of the bodies in `robot.bodies`' order
    ends (n, m, 2, 3): of struts, springs and bars; None where the loops cannot close or there are none
    """

    q: np.ndarray
    position: np.ndarray
    rotation: np.ndarray
    wxyz: np.ndarray
    ends: np.ndarray | None

    def __len__(self) -> int:
        return len(self.q)


def postures(robot: Robot, q: np.ndarray) -> Postures:
    """Postures of q (n, nq), or of one q (nq,) as a single row."""
    q = np.atleast_2d(np.asarray(q, dtype=float))
    poses = robot.forward_kinematics(q)
    return Postures(q, poses.position, poses.rotation, quaternions(poses.rotation), _member_ends(robot, q))


def start(robot: Robot) -> np.ndarray:
    """Where a robot stands first (nq,): the start of its first motion, or its reference, where loops close."""
    if len(robot.motions):
        return np.asarray(robot.motions[next(iter(robot.motions))].sample(0.0)[0])
    return reference(robot.subject)


def quaternions(R: np.ndarray) -> np.ndarray:
    """(..., 4) unit quaternions (w, x, y, z) of rotation matrices (..., 3, 3).

    Each row of 4 q q' - 1 (entries of R) is q times one of its components; the row of the largest is divided by it.
    """
    R = np.asarray(R, dtype=float)
    a, b, c = R[..., 0, 0], R[..., 1, 1], R[..., 2, 2]
    x, y, z = R[..., 2, 1] - R[..., 1, 2], R[..., 0, 2] - R[..., 2, 0], R[..., 1, 0] - R[..., 0, 1]
    xy, xz, yz = R[..., 0, 1] + R[..., 1, 0], R[..., 0, 2] + R[..., 2, 0], R[..., 1, 2] + R[..., 2, 1]
    rows = np.stack(
        [
            np.stack([1 + a + b + c, x, y, z], axis=-1),
            np.stack([x, 1 + a - b - c, xy, xz], axis=-1),
            np.stack([y, xy, 1 - a + b - c, yz], axis=-1),
            np.stack([z, xz, yz, 1 - a - b + c], axis=-1),
        ],
        axis=-2,
    )
    largest = np.argmax(np.einsum("...ii->...i", rows), axis=-1)
    q = np.take_along_axis(rows, largest[..., None, None], axis=-2)[..., 0, :]
    return q / np.linalg.norm(q, axis=-1, keepdims=True)


def matrix(wxyz: np.ndarray) -> np.ndarray:
    """The rotation matrix (3, 3) of a quaternion (w, x, y, z) of any length."""
    w, x, y, z = np.asarray(wxyz, dtype=float) / np.linalg.norm(wxyz)
    return np.array(
        [
            [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
            [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
            [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
        ]
    )


def _member_ends(robot: Robot, q: np.ndarray) -> np.ndarray | None:
    names = member_names(robot.subject)
    if not names:
        return None
    try:
        found = members(robot.subject, q)
    except LinkworkError:  # a bar too short for its slider: the bodies are drawn, the members are not
        return None
    return np.stack([np.stack([found[n].first, found[n].second], axis=-2) for n in names], axis=-3)
