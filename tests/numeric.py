"""Forward kinematics and matter of a model in plain numpy: slow, short,
and independent of the recursions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from linkwork.model import MassProperties, Model, Placement
from linkwork.model.joint_motion import joint_motion


def matrix(placement: Placement) -> np.ndarray:
    """(4, 4)."""
    T = np.eye(4)
    T[:3, :3], T[:3, 3] = placement.rotation, placement.position
    return T


def world_poses(model: Model, q: Mapping[str, Sequence[float]]) -> dict[str, np.ndarray]:
    """T_world_body (4, 4) of every body, for the coordinates of every joint by name."""
    carrier = {joint.child: joint for joint in model.joints}
    poses: dict[str | None, np.ndarray] = {None: np.eye(4)}

    def pose(body: str | None) -> np.ndarray:
        if body not in poses:
            joint = carrier.get(body)
            own = (
                np.eye(4)
                if joint is None
                else matrix(joint.placement) @ matrix(joint_motion(joint, q[joint.name]))
            )
            poses[body] = pose(None if joint is None else joint.parent) @ own
        return poses[body]

    return {body.name: pose(body.name) for body in model.bodies}


def total(model: Model, q: Mapping[str, Sequence[float]]) -> np.ndarray:
    """Mass, first moment and second moment of mass in world axes as one (4, 4) pseudo-inertia
    matrix."""
    poses = world_poses(model, q)
    return sum(
        T @ pseudo_inertia(body.mass_properties) @ T.T
        for body, T in zip(model.bodies, poses.values())
    )


def pseudo_inertia(matter: MassProperties) -> np.ndarray:
    """Sum of m r r' over the matter with r = (x, y, z, 1): (4, 4), moves with its body as T P
    T'."""
    I, c = np.array(matter.inertia), np.array(matter.com)
    P = np.empty((4, 4))
    P[:3, :3] = 0.5 * np.trace(I) * np.eye(3) - I + matter.mass * np.outer(c, c)
    P[:3, 3] = P[3, :3] = matter.mass * c
    P[3, 3] = matter.mass
    return P
