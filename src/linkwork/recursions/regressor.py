"""Regressor: the inverse dynamics as a linear function of the bodies' inertial parameters."""

from __future__ import annotations

import casadi
from casadi import SX

from linkwork.model.tree import Tree
from linkwork.recursions.carriers import carriers
from linkwork.recursions.joints import subspace
from linkwork.recursions.newton_euler import body_motions
from linkwork.spatial import Motion, cross

PAIRS = ((0, 0), (0, 1), (1, 1), (0, 2), (1, 2), (2, 2))
"""Order of the six moments of inertia: xx, xy, yy, xz, yz, zz."""


def regressor(tree: Tree, q: SX, v: SX, a: SX) -> SX:
    """Y (nv, 10 nb), tree with fixed joints kept:
    Y parameters = inverse dynamics without rotor inertia.

    Ten parameters a body, in the order of the description: mass m, first moment h = m c (x, y, z),
    inertia about the body's origin I (xx, xy, yy, xz, yz, zz), in the body's own axes. A coordinate
    whose motion in axes of body b is (s, n) feels

        s.(m pdd + U h) + n.(h x pdd + I wd + w x I w)
            = m s.pdd + h.(U's + pdd x n) + sum over I_kl of n_k wd_l + (n x w)_k w_l

    Source: [Atkeson1986]; pdd, U, w, wd of newton_euler.py.
    """
    X = carriers(tree, q)
    w, wd, pdd, U = body_motions(tree, X, v, a)
    # (coordinate, its motion in axes of node i) on the path to i
    carrying: list[list[tuple[int, Motion]]] = [[]]
    for i in tree.outward:
        node = tree.nodes[i]
        before = [(at, X[i].inv @ S) for at, S in carrying[node.parent]]
        carrying.append(before + [(node.v + k, S) for k, S in enumerate(subspace(node))])
    Y = SX(tree.nv, 10 * len(tree.bodies))
    for b, (i, _) in enumerate(tree.bodies.values()):
        for at, S in carrying[i]:
            s, n = S.linear, S.angular
            e = cross(n, w[i])
            A = n @ wd[i].T + e @ w[i].T
            moments = [A[k, l] + A[l, k] if k != l else A[k, k] for k, l in PAIRS]
            row = casadi.vertcat(casadi.dot(s, pdd[i]), U[i].T @ s + cross(pdd[i], n), *moments)
            Y[at, 10 * b : 10 * b + 10] = row.T
    return casadi.sparsify(Y)
