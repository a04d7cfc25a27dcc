"""Torque table: which body loads which joint."""

from __future__ import annotations

import casadi
from casadi import SX

from linkwork.model.tree import Tree
from linkwork.recursions.carriers import carriers
from linkwork.recursions.joints import subspace
from linkwork.recursions.newton_euler import body_forces


def torque_table(tree: Tree, q: SX, v: SX, a: SX) -> SX:
    """(nv, number of described bodies), tree with fixed joints kept:
    joint force that body b alone asks of joint k.

    Column b is S_k'F of the force F that the matter of b needs, brought to every joint that carries
    it. Rotor inertia counts with the body behind its joint. Rows sum to the inverse dynamics.
    """
    X = carriers(tree, q)
    F = body_forces(tree, X, v, a)
    column = {node: k for k, (node, _) in enumerate(tree.bodies.values())}
    table = SX(tree.nv, len(tree.bodies))
    for i in tree.outward:
        if i not in column:
            # between the joints that a universal, planar or cylindrical one stands for: no matter
            continue
        force = F[i]
        for j in reversed(tree.paths[i]):
            node = tree.nodes[j]
            for k, S in enumerate(subspace(node)):
                table[node.v + k, column[i]] = S.dot(force)
            force = X[j] @ force
    behind = {tree.nodes[i].joint: k for i, k in column.items()}
    for node in tree.nodes:
        for k in range(node.nv):
            table[node.v + k, behind[node.joint]] += SX(node.armature[k]) * a[node.v + k]
    return casadi.sparsify(table)
