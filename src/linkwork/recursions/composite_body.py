"""Composite bodies: the mass matrix."""

from __future__ import annotations

import casadi
from casadi import SX

from linkwork.model.tree import Node, Tree
from linkwork.recursions.carriers import axis_of, carried, carriers, steps
from linkwork.recursions.joints import inertia, second_moments, subspace
from linkwork.recursions.moments import Moments
from linkwork.spatial import Force, Motion


def mass_matrix(tree: Tree, q: SX) -> SX:
    """M (nv, nv), sparse: an entry between joints of which neither carries the other is a
    structural zero.

        I^c_i = I_i + sum over successors of X_b I^c_b X_b'              inward
        F = I^c_i S_i,    M_ii = S_i'F + armature
        for each predecessor j of i, nearest first:  F = X F,  M_ij = S_j'F

    Source: [Walker1982] method 3; [Featherstone2008] table 6.2. Matter is kept as moments of mass
    and turned about coordinate axes (spatial/turn.py): 25 operations a body, a third of those of R
    I R'.
    """
    X = carriers(tree, q)
    body = [Moments(B.m, B.h, second_moments(node)) for node in tree.nodes for B in [inertia(node)]]
    axes = [subspace(node) for node in tree.nodes]
    M = SX(tree.nv, tree.nv)
    for i in tree.inward:
        node, p = tree.nodes[i], tree.parent(i)
        before, joint_step = steps(node, q)
        turned = carried(joint_step, body[i])
        for k, s in enumerate(axes[i]):
            F = body[i].momentum(s)
            for l in range(k + 1):
                _set(M, node.v + k, node.v + l, axes[i][l].dot(F))
            F = before @ _momentum_before(node, turned, joint_step, s, F)
            for j in reversed(tree.paths[p]):
                for l, t in enumerate(axes[j]):
                    _set(M, node.v + k, tree.nodes[j].v + l, t.dot(F))
                F = X[j] @ F
            M[node.v + k, node.v + k] += SX(node.armature[k])
        if p:
            body[p] = body[p] + carried(before, turned)
    return casadi.sparsify(M)


def _momentum_before(node: Node, turned: Moments, joint_step, S: Motion, F: Force) -> Force:
    """The momentum F = I S in the axes before the joint: of a turn about a coordinate axis,
    read off the turned matter.

    For the axis n it is (n x h, I n) there too, and n'I n does not change.
    """
    k = axis_of(node)
    if not node.row.is_hinge or k is None:
        return joint_step @ F
    before = turned.momentum(S)
    angular = [before.angular[0], before.angular[1], before.angular[2]]
    angular[k] = F.angular[k]
    return Force(before.linear, casadi.vertcat(*angular))


def _set(M: SX, i: int, j: int, value: SX) -> None:
    M[i, j] = value
    M[j, i] = value
