"""The six kinds of joint of a tree: where the child is, how it moves."""

from __future__ import annotations

from casadi import SX, trace

from linkwork.model.tree import Node, Tree
from linkwork.spatial import (
    ZERO3,
    Inertia,
    Motion,
    Transform,
    axis_rotation,
    matrix,
    quaternion_rotation,
    vector,
)


def placement(node: Node) -> Transform:
    """T_parent_joint: the constant part before the joint moves."""
    return Transform(matrix(node.placement.rotation), vector(node.placement.position))


def joint_transform(node: Node, q: SX) -> Transform:
    """T_joint_child for the node's own coordinates q."""
    n = vector(node.axis)
    match node.kind:
        case "revolute":
            return Transform(axis_rotation(n, q[0]), ZERO3)
        case "prismatic":
            return Transform(SX.eye(3), n * q[0])
        case "helical":
            return Transform(axis_rotation(n, q[0]), n * (SX(node.pitch) * q[0]))
        case "ball":
            return Transform(quaternion_rotation(q), ZERO3)
        case "floating":
            return Transform(quaternion_rotation(q[3:7]), q[0:3])
    return Transform(SX.eye(3), ZERO3)


def transforms(tree: Tree, q: SX) -> list[Transform]:
    """X_i = T_parent_child of every node (Eq. 1 and R_i^{i-1} of [Goncalves2022]);
    the world's own is the identity."""
    X = [Transform(SX.eye(3), ZERO3)]
    for i in tree.outward:
        node = tree.nodes[i]
        coordinates = q[node.q : node.q + node.nq]
        X.append(placement(node) @ joint_transform(node, coordinates))
    return X


def velocities(tree: Tree, X: list[Transform], v: SX) -> list[Motion]:
    """V_i = X_i^-1 V_p + S_i v_i of every node, in its own axes; the world stands still."""
    V = [Motion()]
    for i in tree.outward:
        V.append(X[i].inv @ V[tree.parent(i)] + joint_motion(tree.nodes[i], v))
    return V


def subspace(node: Node) -> list[Motion]:
    """S_i: the motion of the child, in child axes,
    for unit velocity of each of the node's coordinates."""
    n = vector(node.axis)
    match node.kind:
        case "revolute":
            return [Motion(ZERO3, n)]
        case "prismatic":
            return [Motion(n, ZERO3)]
        case "helical":
            return [Motion(n * SX(node.pitch), n)]
        case "ball":
            return [Motion(ZERO3, x) for x in _axes()]
        case "floating":
            return [Motion(x, ZERO3) for x in _axes()] + [Motion(ZERO3, x) for x in _axes()]
    return []


def _axes() -> list[SX]:
    """The three coordinate axes."""
    return [SX.eye(3)[:, k] for k in range(3)]


def joint_motion(node: Node, v: SX) -> Motion:
    """S_i v_i: velocity (or rate of it, given a) of the child relative to its parent,
    in child axes."""
    total = Motion()
    for k, S in enumerate(subspace(node)):
        total = total + S * v[node.v + k]
    return total


def inertia(node: Node) -> Inertia:
    """The node's matter, payloads included, as a spatial inertia about its origin."""
    p = node.mass_properties
    if node.regrouped is None:
        total = Inertia.from_center(p.mass, p.com, p.inertia)
    else:
        m, h, J = node.regrouped
        total = Inertia(SX(m), vector(h), trace(matrix(J)) * SX.eye(3) - matrix(J))
    for extra in node.extra:
        total = total + Inertia.from_center(extra.mass, extra.com, extra.inertia)
    return total


def second_moments(node: Node) -> SX:
    """J = tr(I)/2 - I about the node's origin, payloads included (the integral of r r')."""
    if node.regrouped is not None and not node.extra:
        return matrix(node.regrouped[2])
    I = inertia(node).I
    return trace(I) / 2 * SX.eye(3) - I
