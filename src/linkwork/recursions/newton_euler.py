"""Newton-Euler: the joint forces that give an acceleration (inverse dynamics)."""

from __future__ import annotations

import casadi
from casadi import SX

from linkwork.model.tree import Tree
from linkwork.recursions.carriers import carriers
from linkwork.recursions.joints import inertia, joint_motion, second_moments, subspace, transforms
from linkwork.spatial import ZERO3, Force, Transform, cross, matrix, skew, vector
from linkwork.spatial.operators import entries


def newton_euler(tree: Tree, q: SX, v: SX, a: SX, forces: dict[int, Force] | None = None) -> SX:
    """Joint forces tau (nv) for the accelerations a. `forces`: on node i,
    in axes of i at its origin.

    tau_i = S_i' (f_i, mu_i), and the rotor inertia adds its own line.
    """
    X = carriers(tree, q)
    wrench = gathered(tree, X, body_forces(tree, X, v, a, forces))
    tau = SX(tree.nv, 1)
    for i in tree.outward:
        node = tree.nodes[i]
        for k, S in enumerate(subspace(node)):
            tau[node.v + k] = S.dot(wrench[i]) + SX(node.armature[k]) * a[node.v + k]
    return casadi.densify(tau)


def joint_wrenches(
    tree: Tree, q: SX, v: SX, a: SX, forces: dict[int, Force] | None = None
) -> tuple[list[Force], list[Transform]]:
    """(F_i, X_i): the wrench that the predecessor applies on node i at its joint, in axes of i;
    F_0: on the world."""
    X = transforms(tree, q)
    return gathered(tree, X, body_forces(tree, X, v, a, forces)), X


def body_forces(
    tree: Tree, X: list[Transform], v: SX, a: SX, forces: dict[int, Force] | None = None
) -> list[Force]:
    """F_i: what the matter of node i alone needs for its motion, less the external forces on it,
    in axes of i.

    With m, h = m r_AC and I about A_i (the paper's Eqs. 33, 34 about the joint instead of the
    centre):

        f  = m pdd + U h
        mu = I wd + w x (I w) + h x pdd

    The gyroscopic line is the integral of r x U r over the body: with the second moments J =
    tr(I)/2 - I it is the axial vector of U J - J U', fewer operations than I wd + w x (I w).
    """
    _, _, pdd, U = body_motions(tree, X, v, a)
    F = [Force()]
    for i in tree.outward:
        B = inertia(tree.nodes[i])
        f = B.m * pdd[i] + U[i] @ B.h
        mu = axial_product(U[i], second_moments(tree.nodes[i]), cross(B.h, pdd[i]))
        F.append(Force(f, mu))
    for i, external in (forces or {}).items():
        F[i] = F[i] - external
    return F


def body_motions(
    tree: Tree, X: list[Transform], v: SX, a: SX
) -> tuple[list[SX], list[SX], list[SX], list[SX]]:
    """(w, wd, pdd, U) of every node: angular velocity, its rate,
    acceleration of the origin less gravity, and U below.

    Outward, in axes of body i, R = R_i^p, r = A_i seen from A_p, (v_J, w_J) the joint's own
    velocity:

        w   = R'w_p + w_J                                                           (Eq. 28, 29)
        wd  = R'wd_p + wd_J + R'w_p x w_J                                           (Eq. 30)
        pdd = R'(pdd_p + U_p r) + vd_J + w_J x v_J + 2 R'w_p x v_J,    pdd_0 = -g   (Eq. 31)
        U   = [wd] + [w][w]        so that any point r of the body has pdd + U r    (Eq. 32)

    Source: [Goncalves2023] eqs. 28-34. Corrected: gravity is absent from the paper (pdd_0 = -g),
    fixed joints have no case (here they are joints without coordinates), and eq. 31 takes the
    signed axis for a prismatic joint.
    """
    w, wd, pdd, U = [ZERO3], [ZERO3], [-vector(tree.gravity)], [SX(3, 3)]
    for i in tree.outward:
        node, p = tree.nodes[i], tree.parent(i)
        R = X[i].R.T
        J, Jd = joint_motion(node, v), joint_motion(node, a)
        w_carried = R @ w[p]
        w.append(w_carried + J.angular)
        wd.append(R @ wd[p] + Jd.angular + cross(w_carried, J.angular))
        relative = Jd.linear + cross(J.angular, J.linear) + 2 * cross(w_carried, J.linear)
        pdd.append(R @ (pdd[p] + U[p] @ X[i].p) + relative)
        U.append(skew(wd[i]) + square_of_skew(w[i]))
    return w, wd, pdd, U


def gathered(tree: Tree, X: list[Transform], F: list[Force]) -> list[Force]:
    """Inward, with the forces of all successors: f_i + sum R_b f_b,
    mu_i + sum (R_b mu_b + r_b x R_b f_b)."""
    F = list(F)
    for i in tree.inward:
        p = tree.parent(i)
        F[p] = F[p] + X[i] @ F[i]
    return F


def axial_product(U: SX, J: SX, start: SX) -> SX:
    """start + the axial vector of U J - J U' (J symmetric),
    each component one chain of multiply-adds."""
    u, j, totals = entries(U), entries(J), entries(start)  # matrices by columns
    for x, y, z in ((0, 1, 2), (1, 2, 0), (2, 0, 1)):
        for k in range(0, 9, 3):
            totals[x] = totals[x] + u[z + k] * j[y + k]
            totals[x] = totals[x] - u[y + k] * j[z + k]
    return vector(totals)


def square_of_skew(w: SX) -> SX:
    """[w][w] = w w' - (w.w) 1, written with the fewest operations."""
    x, y, z = entries(w)
    xx, yy, zz, xy, xz, yz = x * x, y * y, z * z, x * y, x * z, y * z
    rows = ((-(yy + zz), xy, xz), (xy, -(xx + zz), yz), (xz, yz, -(xx + yy)))
    return matrix(rows)
