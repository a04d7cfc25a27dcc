"""Screws: the joint axes between the base and a frame as lines in space, at q = 0."""

from __future__ import annotations

from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from typing import Any

import numpy as np

from linkwork.engine import keys
from linkwork.errors import NotPossible
from linkwork.model.placement import Placement
from linkwork.subject import Subject


@dataclass(frozen=True)
class Chain:
    """Revolute axes from the base outward, as lines at q = 0.

        T_world_frame(q) = exp(S_1 q_1) ... exp(S_n q_n) home

    directions, points   (n, 3) unit vectors and a point of each line, world axes [m]
    home                 T_world_frame at q = 0, (4, 4)
    columns, joints      where each coordinate stands in the robot's q, and its joint's name
    numbers              how people count the axes, 1 .. n from the base
    """

    directions: np.ndarray
    points: np.ndarray
    home: np.ndarray
    columns: tuple[int, ...]
    joints: tuple[str, ...]
    numbers: tuple[int, ...]
    robot: str = field(default="", compare=False)
    frame: str = field(default="", compare=False)

    def __len__(self) -> int:
        return len(self.directions)

    def decided_by(self) -> tuple[Any, ...]:
        """What decides the code of anything traced about this chain (engine/keys.py);
        its frame's place comes along."""
        return tuple(getattr(self, field.name) for field in fields(self) if field.compare)

    @cached_property
    def key(self) -> str:
        """The key of all that."""
        return keys.key(self)

    @cached_property
    def length(self) -> float:
        """The way along the axes from the first to the frame [m]:
        what lengths and errors are measured against.

        From axis to axis along common normals; of axes that are nearly parallel, straight across
        from where one is.
        """
        total, here = 0.0, None
        for i in range(len(self) - 1):
            first, second = common_normal(self, i, i + 1)
            if angle(self, i, i + 1) < 0.05:
                first = self.points[i] if here is None else here
                w = self.points[i + 1] - first
                second = first + w - (w @ self.directions[i + 1]) * self.directions[i + 1]
            total += float(np.linalg.norm(second - first))
            total += 0.0 if here is None else float(np.linalg.norm(first - here))
            here = second
        total += float(
            np.linalg.norm(self.home[:3, 3] - (self.points[-1] if here is None else here))
        )
        return total if total > 0.0 else 1.0

    def backward(self) -> Chain:
        """The chain from the frame to the base: it reaches the inverse of every target,
        with joints in reverse order.

        T^-1 = exp(-B_n q_n) ... exp(-B_1 q_1) home^-1 with B the screws seen in the frame.
        """
        R, p = self.home[:3, :3], self.home[:3, 3]
        home = np.eye(4)
        home[:3, :3], home[:3, 3] = R.T, -R.T @ p
        return replace(
            self,
            directions=-(self.directions @ R)[::-1],
            points=((self.points - p) @ R)[::-1],
            home=home,
            columns=self.columns[::-1],
            joints=self.joints[::-1],
            numbers=self.numbers[::-1],
        )

    def part(self, first: int, last: int) -> Chain:
        """Joints first .. last - 1 alone, all others at zero."""
        keep = slice(first, last)
        return replace(
            self,
            directions=self.directions[keep],
            points=self.points[keep],
            columns=self.columns[keep],
            joints=self.joints[keep],
            numbers=self.numbers[keep],
        )

    def pose(self, q: np.ndarray) -> np.ndarray:
        """T_world_frame (..., 4, 4) for the chain's coordinates q (..., n), in plain numpy."""
        T = np.broadcast_to(self.home, (*np.shape(q)[:-1], 4, 4))
        for i in range(len(self) - 1, -1, -1):
            T = turn(self.directions[i], self.points[i], np.asarray(q)[..., i]) @ T
        return T

    def jacobian(self, q: np.ndarray) -> np.ndarray:
        """J (6, n) of one configuration (n,), linear part on top, world axes at the frame's
        origin."""
        J, T, tip = np.empty((6, len(self))), np.eye(4), self.pose(q)[:3, 3]
        for k, (direction, point) in enumerate(zip(self.directions, self.points)):
            z, p = T[:3, :3] @ direction, T[:3, :3] @ point + T[:3, 3]
            J[:, k] = np.concatenate([np.cross(z, tip - p), z])
            T = T @ turn(direction, point, q[k])
        return J


def chain_of(subject: Subject, frame: str) -> Chain:
    """The chain of a frame, or NotPossible where a joint is not a revolute one of its own."""
    node, placement = subject.place_of(frame)
    tree, who = subject.tree, f'robot "{subject.model.name}", frame "{frame}"'
    path = tree.paths[node]
    if not path:
        raise NotPossible(f"{who}: no joint moves this frame, it stands fixed in the world")
    column_of = {v: k for k, v in enumerate(tree.independent[0])}
    T, directions, points, columns = np.eye(4), [], [], []
    for i in path:
        joint = tree.nodes[i]
        T = T @ as_matrix(joint.placement)
        if not joint.row.is_hinge:
            raise NotPossible(
                f'{who}: joint "{joint.joint}" is {joint.kind}; closed forms are for '
                "revolute joints"
            )
        if joint.v in tree.mimic:
            raise NotPossible(
                f'{who}: joint "{joint.joint}" follows another one; closed forms need '
                "independent joints"
            )
        if joint.q not in column_of:
            raise NotPossible(f'{who}: joint "{joint.joint}" has no coordinate of its own')
        axis = T[:3, :3] @ np.array(joint.axis, dtype=float)
        directions.append(axis / np.linalg.norm(axis))
        points.append(T[:3, 3].copy())
        columns.append(column_of[joint.q])
    home = T @ as_matrix(placement)
    joints = tuple(tree.nodes[i].joint for i in path)
    numbers = tuple(range(1, len(path) + 1))
    lines = np.array(directions), np.array(points)
    return Chain(
        *lines, home, tuple(columns), joints, numbers, robot=subject.model.name, frame=frame
    )


def as_matrix(placement: Placement) -> np.ndarray:
    """(4, 4)."""
    T = np.eye(4)
    T[:3, :3], T[:3, 3] = placement.rotation, placement.position
    return T


def inverted(T: np.ndarray) -> np.ndarray:
    """The inverse of rigid motions (..., 4, 4)."""
    out = np.zeros_like(T)
    Rt = np.swapaxes(T[..., :3, :3], -1, -2)
    out[..., :3, :3] = Rt
    out[..., :3, 3] = -(Rt @ T[..., :3, 3:])[..., 0]
    out[..., 3, 3] = 1.0
    return out


def turn(direction: np.ndarray, point: np.ndarray, angle: np.ndarray) -> np.ndarray:
    """Rotation (..., 4, 4) about a line by angles (...)."""
    angle = np.asarray(angle, dtype=float)
    x, y, z = direction
    K = np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])
    s, c = np.sin(angle)[..., None, None], np.cos(angle)[..., None, None]
    T = np.zeros((*angle.shape, 4, 4))
    T[..., :3, :3] = np.eye(3) + s * K + (1.0 - c) * (K @ K)
    T[..., :3, 3] = point - T[..., :3, :3] @ point
    T[..., 3, 3] = 1.0
    return T


def common_normal(chain: Chain, i: int, j: int) -> tuple[np.ndarray, np.ndarray]:
    """The nearest points of lines i and j, on i and on j;
    of parallel lines those beside the point of line i."""
    a, b = chain.directions[i], chain.directions[j]
    p, q = chain.points[i], chain.points[j]
    w, ab = q - p, float(a @ b)
    across = 1.0 - ab * ab
    if across < 1e-14:
        return p, q - (b @ w) * b
    s = (a @ w - ab * (b @ w)) / across
    t = (ab * (a @ w) - b @ w) / across
    return p + s * a, q + t * b


def distance(chain: Chain, i: int, j: int) -> float:
    """Shortest distance of two lines [m]."""
    first, second = common_normal(chain, i, j)
    return float(np.linalg.norm(second - first))


def angle(chain: Chain, i: int, j: int) -> float:
    """Angle of two lines without direction, 0 .. pi/2 [rad]."""
    a, b = chain.directions[i], chain.directions[j]
    return float(np.arctan2(np.linalg.norm(np.cross(a, b)), abs(a @ b)))
