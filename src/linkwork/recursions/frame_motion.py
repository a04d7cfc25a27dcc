"""Velocity and acceleration of a frame, by one outward pass along its path."""

from __future__ import annotations

import casadi
from casadi import SX

from linkwork.model.placement import Placement
from linkwork.model.tree import Tree
from linkwork.recursions.joints import joint_motion, transforms
from linkwork.recursions.poses import attached, poses
from linkwork.spatial import ZERO3, cross, vector


def frame_motion(
    tree: Tree, q: SX, v: SX, a: SX, frame: tuple[int, Placement]
) -> tuple[SX, SX, SX]:
    """(velocity (6), acceleration (6), R_world_frame): linear then angular, at the frame's origin,
    world axes.

    The linear acceleration is the second derivative of the origin's position
    (the classical acceleration). In axes of body i, with (v_J, w_J) the velocity of the joint and a
    dot for its rate:

        w   = R'w_p + w_J                  wd  = R'wd_p + wd_J + R'w_p x w_J
        pd  = R'(pd_p + w_p x r) + v_J
        pdd = R'(pdd_p + wd_p x r + w_p x (w_p x r)) + vd_J + w_J x v_J + 2 R'w_p x v_J

    Source: [Goncalves2023] eqs. 28-32; the same lines as in newton_euler.py, without gravity, with
    velocities.
    """
    node, placement = frame
    X = transforms(tree, q)
    w, wd, pd, pdd = ZERO3, ZERO3, ZERO3, ZERO3
    for i in tree.paths[node]:
        R, r = X[i].R.T, X[i].p
        J, Jd = joint_motion(tree.nodes[i], v), joint_motion(tree.nodes[i], a)
        pd, pdd = R @ (pd + cross(w, r)), R @ (pdd + cross(wd, r) + cross(w, cross(w, r)))
        w, wd = R @ w, R @ wd
        pd = pd + J.linear
        pdd = pdd + Jd.linear + cross(J.angular, J.linear) + 2 * cross(w, J.linear)
        w, wd = w + J.angular, wd + Jd.angular + cross(w, J.angular)
    T = poses(tree, q, (node,))[node]
    r = vector(placement.position)
    velocity = casadi.vertcat(T.R @ (pd + cross(w, r)), T.R @ w)
    acceleration = casadi.vertcat(T.R @ (pdd + cross(wd, r) + cross(w, cross(w, r))), T.R @ wd)
    return velocity, acceleration, attached(T, placement).R
