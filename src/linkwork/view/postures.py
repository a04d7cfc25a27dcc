"""Postures: where everything that is drawn stands, for many configurations at once."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from linkwork.errors import LinkworkError
from linkwork.loads.members import member_names, members
from linkwork.robot import Robot

STILL = 1e-9
"""Movements below this [m, 1] are rounding."""


@dataclass(frozen=True)
class Steps:
    """From each body to the body that carries it: position (n, nb, 3), wxyz (n, nb, 4).

    slides, turns: bodies whose position or rotation changes over the rows: of a hinge only the
    rotation does.
    """

    position: np.ndarray
    wxyz: np.ndarray
    slides: tuple[int, ...]
    turns: tuple[int, ...]


@dataclass(frozen=True)
class Postures:
    """One row a configuration.

    q (n, nq); position (n, nb, 3) [m] and rotation (n, nb, 3, 3) of the bodies in `robot.bodies`'
    order
    parents (nb,): which body carries each, -1 for the world
    ends (n, m, 2, 3): of struts, springs and bars; None where the loops cannot close or there are
    none
    """

    q: np.ndarray
    position: np.ndarray
    rotation: np.ndarray
    parents: np.ndarray
    ends: np.ndarray | None

    def __len__(self) -> int:
        return len(self.q)

    @property
    def wxyz(self) -> np.ndarray:
        """(n, nb, 4): rotations as quaternions."""
        return quaternions(self.rotation)

    @cached_property
    def steps(self) -> Steps:
        """Poses seen from the bodies that carry them."""
        carried = self.parents >= 0
        R, p = self.rotation.copy(), self.position.copy()
        back = self.rotation[:, self.parents[carried]].swapaxes(-1, -2)
        R[:, carried] = back @ self.rotation[:, carried]
        p[:, carried] = (
            back @ (self.position[:, carried] - self.position[:, self.parents[carried]])[..., None]
        )[..., 0]
        wxyz = quaternions(R)
        slides = np.flatnonzero(np.ptp(p, axis=0).max(axis=-1) > STILL)
        turns = np.flatnonzero(np.ptp(R, axis=0).max(axis=(-2, -1)) > STILL)
        return Steps(p, wxyz, tuple(slides.tolist()), tuple(turns.tolist()))


def postures(robot: Robot, q: np.ndarray) -> Postures:
    """Postures of q (n, nq), or of one q (nq,) as a single row."""
    q = np.asarray(q, dtype=float)
    poses = robot.forward_kinematics(q)
    rows, R, p = np.atleast_2d(q), poses.rotation, poses.position
    if q.ndim == 1:  # one configuration needs the kernel for one alone
        R, p = R[None], p[None]
    return Postures(rows, p, R, parents(robot), _member_ends(robot, rows))


def parents(robot: Robot) -> np.ndarray:
    """(nb,): the index of the body that carries each body, -1 for the world."""
    where = {name: k for k, name in enumerate(robot.bodies)}
    above = np.full(len(where), -1)
    for joint in robot.model.joints:
        above[where[joint.child]] = -1 if joint.parent is None else where[joint.parent]
    return above


def start(robot: Robot) -> np.ndarray:
    """Where a robot stands first (nq,): the start of its first motion, or its home."""
    if len(robot.motions):
        return np.asarray(robot.motions[next(iter(robot.motions))].sample(0.0)[0])
    return robot.home


def quaternions(R: np.ndarray) -> np.ndarray:
    """(..., 4) unit quaternions (w, x, y, z) of rotation matrices (..., 3, 3).

    Each row of 4 q q' - 1 (entries of R) is q times one of its components; the row of the largest
    is divided by it.
    """
    R = np.asarray(R, dtype=float)
    a, b, c = R[..., 0, 0], R[..., 1, 1], R[..., 2, 2]
    x, y, z = R[..., 2, 1] - R[..., 1, 2], R[..., 0, 2] - R[..., 2, 0], R[..., 1, 0] - R[..., 0, 1]
    xy = R[..., 0, 1] + R[..., 1, 0]
    xz = R[..., 0, 2] + R[..., 2, 0]
    yz = R[..., 1, 2] + R[..., 2, 1]
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
        ends = members(robot.subject, q)
    except (
        LinkworkError
    ):  # a bar too short for its slider: the bodies are drawn, the members are not
        return None
    return np.stack([np.stack([ends[n].first, ends[n].second], axis=-2) for n in names], axis=-3)
