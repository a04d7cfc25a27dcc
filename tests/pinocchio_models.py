"""Pinocchio's view of our robots: the same URDF, or the same model built by hand,
and how coordinates correspond.

Pinocchio's joints must be added depth first, or its results are silently wrong. It keeps a
continuous joint as (cos, sin). Planar, cylindrical and universal joints become chains of its
one-coordinate joints, as the design says.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import numpy as np
import pinocchio as pin

from linkwork.model import Joint, Model, Placement
from linkwork.model.joint import TYPES
from linkwork.model.tree import simple_joints
from linkwork.robot import Robot
from tests.published import URDFS
from tests.random_models import random_model
from tests.robots_list import robot


@dataclass(frozen=True)
class Twin:
    """A robot of ours without mimic and Pinocchio's model of it; names[i]:
    Pinocchio's joints for our i-th joint.

    index   where each of our velocity coordinates stands in Pinocchio's v, so that tau =
            tau_pin[..., index]
    """

    robot: Robot
    model: pin.Model
    names: tuple[tuple[str, ...], ...]

    @property
    def index(self) -> np.ndarray:
        found = []
        for group in self.names:
            for name in group:
                joint = self.model.joints[self.model.getJointId(name)]
                found += range(joint.idx_v, joint.idx_v + joint.nv)
        return np.array(found, dtype=int)

    def q(self, q: np.ndarray) -> np.ndarray:
        """Our configuration (nq,) as Pinocchio's."""
        out, k = np.zeros(self.model.nq), 0
        for group in self.names:
            for name in group:
                joint = self.model.joints[self.model.getJointId(name)]
                if joint.nq == 2 and joint.nv == 1:
                    own, k = (np.cos(q[k]), np.sin(q[k])), k + 1
                else:
                    own, k = q[k : k + joint.nq], k + joint.nq
                out[joint.idx_q : joint.idx_q + joint.nq] = own
        assert k == len(q)
        return out

    def v(self, v: np.ndarray) -> np.ndarray:
        """Our velocity, acceleration or joint forces (nv,) as Pinocchio's."""
        out = np.zeros(self.model.nv)
        out[self.index] = v
        return out


@cache
def twin(name: str, root: str = "fixed") -> Twin:
    """A published robot, mimic ignored on both sides."""
    ours = robot(name, root, "independent")
    base = (pin.JointModelFreeFlyer(),) if root == "floating" else ()
    theirs = pin.buildModelFromUrdf(str(URDFS[name]), *base)
    result = Twin(ours, theirs, tuple((joint,) for joint in ours.joints))
    armature = [
        x
        for joint in ours.joints
        for x in [ours.model.joint(joint).armature] * ours.model.joint(joint).nv
    ]
    theirs.armature[result.index] = armature
    return result


@cache
def random_twin(seed: int, bodies: int = 8, types: tuple[str, ...] = TYPES) -> Twin:
    """A random tree without mimic, of joints of these types."""
    return twin_of(random_model(seed, bodies, types, mimic=False))


def twin_of(model: Model) -> Twin:
    """Any model of ours without mimic, built in Pinocchio joint by joint."""
    theirs = pin.Model()
    theirs.gravity = pin.Motion(np.array([*model.gravity, 0.0, 0.0, 0.0]))
    children: dict[str | None, list[Joint]] = {}
    for joint in model.joints:
        children.setdefault(joint.parent, []).append(joint)
    carried = {joint.child for joint in model.joints}
    names: dict[str, tuple[str, ...]] = {}

    def grow(body: str | None, parent: int, T_parent_body: pin.SE3) -> None:
        if body is not None:
            matter = model.body(body).mass_properties
            inertia = pin.Inertia(matter.mass, np.array(matter.com), np.array(matter.inertia))
            theirs.appendBodyToJoint(parent, inertia, T_parent_body)
            theirs.addFrame(pin.Frame(body, parent, 0, T_parent_body, pin.BODY), False)
        for joint in children.get(body, ()):
            at, placed = parent, T_parent_body * se3(joint.placement)
            links = [] if joint.type == "fixed" else simple_joints(joint)
            for k, (kind, offset, axis) in enumerate(links):
                label = joint.name if len(links) == 1 else f"{joint.name}/{k}"
                at = theirs.addJoint(
                    at, _joint_model(kind, np.array(axis), joint.pitch), placed * se3(offset), label
                )
                placed = pin.SE3.Identity()
                names[joint.name] = (*names.get(joint.name, ()), label)
                theirs.armature[theirs.joints[at].idx_v :][: theirs.joints[at].nv] = joint.armature
            grow(joint.child, at, placed)

    for body in model.bodies:
        if body.name not in carried:
            grow(body.name, 0, pin.SE3.Identity())
    grow(None, 0, pin.SE3.Identity())
    for frame in model.frames:
        carrier = theirs.frames[theirs.getFrameId(frame.body)]
        place = carrier.placement * se3(frame.placement)
        theirs.addFrame(pin.Frame(frame.name, carrier.parentJoint, 0, place, pin.OP_FRAME), False)
    ours = Robot(model)
    return Twin(ours, theirs, tuple(names[joint] for joint in ours.joints))


def _joint_model(kind: str, axis: np.ndarray, pitch: float) -> pin.JointModel:
    match kind:
        case "revolute":
            return pin.JointModelRevoluteUnaligned(axis)
        case "prismatic":
            return pin.JointModelPrismaticUnaligned(axis)
        case "helical":
            return pin.JointModelHelicalUnaligned(axis, float(pitch))
        case "ball":
            return pin.JointModelSpherical()
        case "floating":
            return pin.JointModelFreeFlyer()
    raise ValueError(kind)


def se3(placement: Placement) -> pin.SE3:
    return pin.SE3(np.array(placement.rotation), np.array(placement.position))


def assert_close(
    ours: np.ndarray, theirs: np.ndarray, tolerance: float = 1e-10, what: str = ""
) -> None:
    """Samples first: every entry agrees within `tolerance` of that entry's largest absolute value
    over the samples.

    Entries below 1e-4 of the largest of all are measured against that: 1e-14 of the largest is
    rounding.
    """
    ours, theirs = np.asarray(ours), np.asarray(theirs)
    assert ours.shape == theirs.shape, f"{what}: shape {ours.shape}, expected {theirs.shape}"
    if ours.size == 0:
        return
    largest = np.abs(theirs).max(axis=0)
    scale = np.maximum(largest, max(1e-4 * largest.max(), 1e-300))
    error = np.abs(ours - theirs) / scale
    worst = np.unravel_index(np.nanargmax(error) if np.isfinite(error).all() else 0, error.shape)
    assert np.isfinite(ours).all(), f"{what}: not finite"
    assert error.max() <= tolerance, (
        f"{what}: {error.max():.3g} of scale at {worst}: {ours[worst]} for {theirs[worst]}"
    )


def with_followers(robot: Robot, free: Robot, x: np.ndarray) -> np.ndarray:
    """Coordinates of every joint, those that mimic others included."""
    out = np.zeros((len(x), free.nv))
    for joint in robot.model.joints:
        if joint.type != "fixed":
            leader, factor = (
                (joint.mimic.joint, joint.mimic.multiplier) if joint.mimic else (joint.name, 1.0)
            )
            out[:, free.index(joint.name).start] = factor * x[:, robot.index(leader).start]
    return out
