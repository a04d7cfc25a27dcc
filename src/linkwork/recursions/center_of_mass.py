"""Centre of mass of the whole robot, and its Jacobian."""

from __future__ import annotations

import casadi
from casadi import SX

from linkwork.errors import NotPossible
from linkwork.model.tree import Tree
from linkwork.recursions.carriers import carriers
from linkwork.recursions.joints import inertia, subspace
from linkwork.recursions.poses import poses
from linkwork.spatial import Transform, cross


def first_moments(tree: Tree, X: list[Transform]) -> tuple[list[SX], list[SX]]:
    """(m_i, h_i): mass and first moment of node i with everything it carries, in axes of i; 0:
    the robot in the world.

    m_p += m_i,    h_p += R_i h_i + m_i p_i
    """
    bodies = [inertia(node) for node in tree.nodes]
    m, h = [B.m for B in bodies], [B.h for B in bodies]
    for i in tree.inward:
        p = tree.parent(i)
        m[p], h[p] = m[p] + m[i], h[p] + X[i].R @ h[i] + m[i] * X[i].p
    return m, h


def total_mass(m: list[SX]) -> SX:
    """Of the whole robot; without any there is no centre."""
    if m[0].is_zero():
        raise NotPossible("center_of_mass: the robot has no mass")
    return m[0]


def center_of_mass(tree: Tree, q: SX) -> SX:
    """Position (3) in world axes [m]. Every described body counts, those fixed in the world too."""
    m, h = first_moments(tree, carriers(tree, q))
    return casadi.densify(h[0] / total_mass(m))


def center_of_mass_jacobian(tree: Tree, q: SX) -> SX:
    """J (3, nv) with d(centre of mass)/dt = J v. Column of coordinate k of node i:
    R_i (m_i s + n x h_i) / m."""
    m, h = first_moments(tree, carriers(tree, q))
    T = poses(tree, q)
    J = SX(3, tree.nv)
    for i in tree.outward:
        for k, S in enumerate(subspace(tree.nodes[i])):
            J[:, tree.nodes[i].v + k] = (
                T[i].R @ (m[i] * S.linear + cross(S.angular, h[i])) / total_mass(m)
            )
    return casadi.sparsify(J)
