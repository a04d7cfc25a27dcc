"""Rate of a Jacobian: how the map from joint velocities to a frame's changes along a motion."""

from __future__ import annotations

import casadi
from casadi import SX

from linkwork.model.placement import Placement
from linkwork.model.tree import Tree
from linkwork.recursions.joints import joint_motion, subspace
from linkwork.recursions.poses import attached, poses
from linkwork.spatial import ZERO3, Motion, cross


def jacobian_derivative(
    tree: Tree, q: SX, v: SX, frame: tuple[int, Placement]
) -> tuple[SX, SX, SX, SX]:
    """(dJ/dt, J, w, R): rate of the Jacobian J (6, nv) in world axes at the frame's origin;
    R_world_frame turns with w.

    In world axes, of coordinate k with motion (s, n) carried by node j of velocity (pd_j, w_j):

        J_k     = (s + n x (p - p_j), n)
        dJ_k/dt = (w_j x s + (w_j x n) x (p - p_j) + n x (pd - pd_j),  w_j x n)

    so that the frame's acceleration is J a + dJ/dt v.
    """
    node, placement = frame
    T = poses(tree, q, (node,))
    T_world_frame = attached(T[node], placement)
    motion: dict[int, Motion] = {0: Motion()}
    for j in tree.paths[node]:
        p, joint_velocity = tree.parent(j), joint_motion(tree.nodes[j], v)
        pd = (
            motion[p].linear
            + cross(motion[p].angular, T[j].p - T[p].p)
            + T[j].R @ joint_velocity.linear
        )
        motion[j] = Motion(pd, motion[p].angular + T[j].R @ joint_velocity.angular)
    last = motion[node]
    pd = last.linear + cross(last.angular, T_world_frame.p - T[node].p)
    J, Jd = SX(6, tree.nv), SX(6, tree.nv)
    for j in tree.paths[node]:
        r, rd, w = T_world_frame.p - T[j].p, pd - motion[j].linear, motion[j].angular
        for k, S in enumerate(subspace(tree.nodes[j])):
            s, n = T[j].R @ S.linear, T[j].R @ S.angular
            nd = cross(w, n)
            J[:, tree.nodes[j].v + k] = casadi.vertcat(s + cross(n, r), n)
            Jd[:, tree.nodes[j].v + k] = casadi.vertcat(
                cross(w, s) + cross(nd, r) + cross(n, rd), nd
            )
    return casadi.sparsify(Jd), casadi.sparsify(J), last.angular if node else ZERO3, T_world_frame.R


def seen_from_frame(Jd: SX, J: SX, w: SX, R: SX) -> SX:
    """Rate of the Jacobian in the frame's own axes, which turn with w:
    R'(dJ/dt - w x J) in both halves."""
    W = casadi.skew(w)
    return casadi.vertcat(R.T @ (Jd[0:3, :] - W @ J[0:3, :]), R.T @ (Jd[3:6, :] - W @ J[3:6, :]))
