"""Residual: Newton's and Euler's equations of every body,
checked with the loads as they were reported.

Nothing of the recursion is used: accelerations come from an outward pass of their own, in world
axes, and all forces are summed there about each body's centre of mass.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import casadi
import numpy as np
from casadi import SX

from linkwork import quantities
from linkwork.errors import NotPossible
from linkwork.loads.members import members
from linkwork.loads.supports import ends_of
from linkwork.model import Tree
from linkwork.model.elements import Bar, Point, Slider
from linkwork.quantities import Inputs
from linkwork.recursions.joints import joint_motion
from linkwork.recursions.poses import poses
from linkwork.spatial import ZERO3, cross

if TYPE_CHECKING:
    from linkwork.loads.loads import Loads


def body_motions(tree: Tree, x: Inputs) -> tuple[SX, SX]:
    """Velocity and acceleration of every body's origin, in world axes,
    by one outward pass in world axes."""
    T = poses(tree, x.q)
    w, wd, p, pd, pdd = [ZERO3], [ZERO3], [ZERO3], [ZERO3], [ZERO3]
    for i in tree.outward:
        k, R = tree.parent(i), T[i].R
        J, Jd = joint_motion(tree.nodes[i], x.v), joint_motion(tree.nodes[i], x.a)
        arm = T[i].p - p[k]
        turn, slide = R @ J.angular, R @ J.linear
        w.append(w[k] + turn)
        wd.append(wd[k] + R @ Jd.angular + cross(w[k], turn))
        p.append(T[i].p)
        pd.append(pd[k] + cross(w[k], arm) + slide)
        relative = R @ Jd.linear + cross(turn, slide) + 2 * cross(w[k], slide)
        pdd.append(pdd[k] + cross(wd[k], arm) + cross(w[k], cross(w[k], arm)) + relative)
    nodes = [tree.bodies[name][0] for name in tree.bodies]
    velocity = casadi.vertcat(*[casadi.vertcat(pd[i], w[i]).T for i in nodes])
    return velocity, casadi.vertcat(*[casadi.vertcat(pdd[i], wd[i]).T for i in nodes])


def body_residuals(loads: Loads) -> np.ndarray:
    """(..., nb, 6): sum of forces minus m a, and of moments about the centre of mass minus
    d(I w)/dt, world axes."""
    subject, model = loads.subject, loads.subject.model
    state = {"q": loads.q, "v": loads.v, "a": loads.a}
    if loads.variables or loads.payload:
        raise NotPossible(
            "residual: live variables and payloads change the bodies themselves; check without them"
        )
    R, p = quantities.evaluate(subject, "forward_kinematics", {"q": loads.q})
    velocity, acceleration = quantities.evaluate(subject, "body_motions", state)
    names = [body.name for body in model.bodies]
    total = np.zeros((*loads.wrenches.shape[:-2], len(names), 6))
    centers = [np.array(body.mass_properties.com, dtype=float) for body in model.bodies]
    com = np.stack([p[..., k, :] + R[..., k, :, :] @ c for k, c in enumerate(centers)], axis=-2)

    def act(
        body: str | None, at: np.ndarray, force: np.ndarray, moment: np.ndarray | float = 0.0
    ) -> None:
        if body is not None:
            k = names.index(body)
            total[..., k, :3] += force
            total[..., k, 3:] += moment + np.cross(at - com[..., k, :], force)

    parents = {joint.child: joint.parent for joint in model.joints}
    for k, name in enumerate(names):
        wrench = loads.joint_wrench(name, "world")
        act(name, p[..., k, :], wrench[..., :3], wrench[..., 3:])
        act(parents.get(name), p[..., k, :], -wrench[..., :3], -wrench[..., 3:])
    _supports(loads, act)
    for frame, wrench in (loads.forces or {}).items():
        wrench = np.asarray(wrench, dtype=float)
        at = quantities.evaluate(subject, "pose", {"q": loads.q}, frame)[..., :3, 3]
        act(_body_of(subject, frame), at, wrench[..., :3], wrench[..., 3:])
    for k, body in enumerate(model.bodies):
        m, I = float(body.mass_properties.mass), np.array(body.mass_properties.inertia, dtype=float)
        w, wd = velocity[..., k, 3:], acceleration[..., k, 3:]
        arm = com[..., k, :] - p[..., k, :]
        a_com = acceleration[..., k, :3] + np.cross(wd, arm) + np.cross(w, np.cross(w, arm))
        I_world = R[..., k, :, :] @ I @ np.swapaxes(R[..., k, :, :], -1, -2)
        spin = (I_world @ w[..., None])[..., 0]
        total[..., k, :3] -= m * (a_com - np.array(model.gravity, dtype=float))
        total[..., k, 3:] -= (I_world @ wd[..., None])[..., 0] + np.cross(w, spin)
    return total


def _supports(loads: Loads, act) -> None:
    """Struts, sliders, closures, springs and dampers, each at its own points."""
    subject = loads.subject
    if not (loads.support_names or loads.springs):
        return
    placed = members(subject, loads.q)
    elements = {getattr(e, "name", None): e for e in subject.model.elements}
    for name in loads.support_names:
        element = elements[name]
        first, second = ends_of(subject, name)
        here = placed[element.bar] if isinstance(element, Slider) else placed[name]
        for body, on, at in ((first, "first", here.first), (second, "second", here.second)):
            wrench = loads.support(name, on, "world")
            act(body, at, wrench[..., :3], wrench[..., 3:])
    for name in loads.springs:
        element, member = elements[name], placed[name]
        pull = loads.spring(name)[..., None] * member.direction
        act(_carrier(elements, element.first), member.first, pull)
        act(_carrier(elements, element.second), member.second, -pull)


def _carrier(elements: dict, point: Point) -> str | None:
    """The body a point is on; a bar hands what it gets to the body of its pivot."""
    bar = elements.get(point.body) if point.body is not None else None
    return bar.pivot.body if isinstance(bar, Bar) else point.body


def _body_of(subject, frame: str) -> str:
    bodies = {body.name for body in subject.model.bodies}
    if frame in bodies:
        return frame
    for f in subject.model.frames:
        if f.name == frame:
            return f.body
    return frame.split(".")[0]
