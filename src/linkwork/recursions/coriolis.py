"""Coriolis: the matrix C of tau = M a + C v + g that belongs to the Christoffel symbols."""

from __future__ import annotations

import casadi
from casadi import SX

from linkwork.model.tree import Tree
from linkwork.recursions.carriers import carried, carriers, steps
from linkwork.recursions.joints import inertia, second_moments, subspace, velocities
from linkwork.recursions.moments import Gyration, Moments
from linkwork.spatial import Transform


def coriolis_matrix(tree: Tree, q: SX, v: SX) -> SX:
    """C (nv, nv), sparse as the mass matrix. dM/dt = C + C', so that dM/dt - 2 C is skew,
    whatever the joints are.

    With V_i the velocity of body i, B_i(w) the Coriolis force of its matter (moments.py) and Sd = V
    x S, of which all are gathered from the tips to the base:

        C_ji = S_j'(I^c_i Sd_i + B^c_i S_i)                        j carries i, or is i
        C_ij = (I^c_i S_i)'Sd_j + (B^c_i' S_i)'S_j                 j carries i

    For joints of one coordinate C_ki = sum_j c[k, i, j] v_j; for ball and floating joints v is not
    the rate of coordinates, and the same formula gives the matrix of the quasi-velocities
    (Pinocchio's).
    Source: [Echeandia2021]; B acts on the angular half only, so that B'S stays a couple on its way.
    """
    X = carriers(tree, q)
    body = [Moments(B.m, B.h, second_moments(node)) for node in tree.nodes for B in [inertia(node)]]
    V = velocities(tree, X, v)
    S = [subspace(node) for node in tree.nodes]
    Sd = [[V[i].cross(s) for s in S[i]] for i in range(len(V))]
    B = [Gyration.of(matter, V[i]) for i, matter in enumerate(body)]
    C = SX(tree.nv, tree.nv)
    for i in tree.inward:
        node, p = tree.nodes[i], tree.parent(i)
        for k in range(node.nv):
            F = body[i].momentum(Sd[i][k]) + B[i].force(S[i][k].angular)
            for l in range(node.nv):
                C[node.v + l, node.v + k] = S[i][l].dot(F)
            G, b = body[i].momentum(S[i][k]), B[i].transposed(S[i][k])
            j = i
            while tree.parent(j):
                F, G, b = X[j] @ F, X[j] @ G, X[j].R @ b
                j = tree.parent(j)
                for l, at in enumerate(range(tree.nodes[j].v, tree.nodes[j].v + tree.nodes[j].nv)):
                    C[at, node.v + k] = S[j][l].dot(F)
                    C[node.v + k, at] = Sd[j][l].dot(G) + S[j][l].angular.T @ b
        if p:
            for T in reversed(steps(node, q)):
                body[i], B[i] = carried(T, body[i]), _carried(T, B[i])
            body[p], B[p] = body[p] + body[i], B[p] + B[i]
    return casadi.sparsify(C)


def _carried(T: Transform, B: Gyration) -> Gyration:
    """The same Coriolis forces about the parent's origin:
    K_p = R K R' + (p.t) 1 - p t' for matter moved by t."""
    p, K, t = T.R @ B.p, T.R.around(B.K, symmetric=False), T.p
    return Gyration(p, K if t.is_zero() else K + casadi.dot(p, t) * SX.eye(3) - p @ t.T)
