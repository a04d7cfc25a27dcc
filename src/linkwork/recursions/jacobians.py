"""Jacobians: the velocity of a frame as a linear function of the joint velocities."""

from __future__ import annotations

import casadi
from casadi import SX

from linkwork.model.placement import Placement
from linkwork.model.tree import Tree
from linkwork.recursions.joints import subspace
from linkwork.recursions.poses import attached, poses
from linkwork.spatial import cross


def jacobian(tree: Tree, q: SX, frame: tuple[int, Placement]) -> tuple[SX, SX]:
    """(J, R): J (6, nv) gives linear then angular velocity at the frame's origin in world axes;
    R = R_world_frame.

    Column of coordinate k, carried by node j on the path to the frame, with S = (s, n) its motion
    in axes of j:

        J_k = ( R_j s + R_j n x (p - p_j),  R_j n )

    Columns of joints that are not on the path are structural zeros.
    """
    node, placement = frame
    T = poses(tree, q, (node,))
    T_world_frame = attached(T[node], placement)
    J = SX(6, tree.nv)
    for j in tree.paths[node]:
        for k, S in enumerate(subspace(tree.nodes[j])):
            n = T[j].R @ S.angular
            s = T[j].R @ S.linear + cross(n, T_world_frame.p - T[j].p)
            J[:, tree.nodes[j].v + k] = casadi.vertcat(s, n)
    return casadi.sparsify(J), T_world_frame.R


def turned(R: SX, J: SX) -> SX:
    """A world-aligned Jacobian or spatial vector in the frame's own axes."""
    return casadi.vertcat(R.T @ J[0:3, :], R.T @ J[3:6, :])
