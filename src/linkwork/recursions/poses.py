"""Poses: where every body is (recursive forward kinematics)."""

from __future__ import annotations

from casadi import SX

from linkwork.model.placement import Placement
from linkwork.model.tree import Tree
from linkwork.recursions.joints import transforms
from linkwork.spatial import ZERO3, Transform, matrix, vector


def poses(tree: Tree, q: SX, nodes: tuple[int, ...] | None = None) -> list[Transform]:
    """T_world_i of every node (of the given `nodes` and their ancestors only; others are None).

        R_i = R_p R_i^p                                 (Eq. 4)
        A_i = R_p A_i^p + A_p                           (Eqs. 5, 6: the joint is a point B of the parent)

    Rotation and translation are kept apart: fewer operations than 4 x 4 products.
    Source: [Goncalves2022] eqs. 4-6; [Goncalves2023] eqs. 15-19. Corrected: eq. 19 prints A''_{i-1}
    for A''_i.
    """
    needed = set(tree.outward) if nodes is None else {j for i in nodes for j in tree.paths[i]}
    X = transforms(tree, q)
    T: list = [Transform(SX.eye(3), ZERO3)]
    for i in tree.outward:
        T.append(T[tree.parent(i)] @ X[i] if i in needed else None)
    return T


def attached(T_world_node: Transform, placement: Placement) -> Transform:
    """T_world_frame of a frame or body that sits on a node."""
    return T_world_node @ Transform(matrix(placement.rotation), vector(placement.position))


def frame_pose(tree: Tree, q: SX, frame: tuple[int, Placement]) -> Transform:
    """T_world_frame."""
    node, placement = frame
    return attached(poses(tree, q, (node,))[node], placement)
