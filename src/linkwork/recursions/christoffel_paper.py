"""Christoffel symbols by the recursion of the paper: pair of joints by pair of joints,
link by link."""

from __future__ import annotations

import casadi
from casadi import SX

from linkwork.model.tree import Tree
from linkwork.recursions.joints import inertia, subspace
from linkwork.recursions.moments import root_transforms
from linkwork.spatial import ZERO3, Motion, cross, skew


def christoffel_paper(tree: Tree, q: SX) -> SX:
    """c (nv, nv nv), c[k, i nv + j] = c^k_ij, as `christoffel`;
    the tree is not regrouped (links have centres of mass).

    For every pair of joints, j not below i, and every link k that i carries, with z, o axis and
    origin of a joint, x_k centre of mass, c_k = x_k - o_k, J_i = velocity of x_k from joint i and
    L_k = R_k (tr(I_k) 1 - 2 I_k) R_k':

        h = 1/2 (L_k z_j) x z_i                         (26)
        f = m_k z_j x J_i                               (27), there J_i = z_i x p_Cki
        H_k = h + c_k x f + sum over children (H_b + l_b x F_b),   l_b = o_b - o_k     (29)
        F_k = f + sum over children F_b                 (28)
        c^k_ij = c^k_ji = z_k . H_k                     (30), z_k . F_k for a prismatic joint

    Source: [Safeea2019] eqs. 26-30. Corrected: (26) and (27) hold only for j <= i, which the paper
    never says, and only for links k >= i; (29) needs F of the children, so it comes before (28).
    Generalised: z_j = 0 for a prismatic joint, any screw, trees, and two coordinates i, j of one
    ball or floating joint, whose axes turn each other (both orders are then computed, with S_j x
    S_i; see `christoffel` for what c means there).
    """
    T, _ = root_transforms(tree, q)
    S = [
        [Motion(T[i].R @ s.linear, T[i].R @ s.angular) for s in subspace(n)]
        for i, n in enumerate(tree.nodes)
    ]
    below = [[b for b in tree.outward if i in tree.paths[b]] for i in range(len(tree.nodes))]
    links = [_Link.of(tree, T, k) for k in range(len(tree.nodes))]
    c: dict[tuple[int, int], SX] = {}
    for b in tree.outward:
        for a in tree.paths[b]:
            for i, S_i in enumerate(S[b]):
                for j, S_j in enumerate(S[a]):
                    F, H = {}, {}
                    for k in below[b]:
                        F[k], H[k] = links[k].force(
                            T[b].p, S_i, S_j, a == b and tree.nodes[b].nv > 1
                        )
                    at_i, at_j = tree.nodes[b].v + i, tree.nodes[a].v + j
                    for k in sorted({*below[b], *tree.paths[b]}, reverse=True):
                        F_k, H_k = F.pop(k, ZERO3), H.pop(k, ZERO3)
                        for m, S_k in enumerate(S[k]):
                            c[tree.nodes[k].v + m, at_j * tree.nv + at_i] = (
                                S_k.linear.T @ F_k + S_k.angular.T @ H_k
                            )
                            if a != b:
                                key = tree.nodes[k].v + m
                                c[key, at_i * tree.nv + at_j] = c[key, at_j * tree.nv + at_i]
                        p = tree.parent(k)
                        if p:
                            H[p] = H.get(p, ZERO3) + H_k + cross(T[k].p - T[p].p, F_k)
                            F[p] = F.get(p, ZERO3) + F_k
    return _tensor(c, tree.nv)


class _Link:
    """Mass, centre of mass and the paper's L of a link, in root axes."""

    def __init__(self, m: SX, x: SX, arm: SX, I: SX) -> None:
        self.m, self.x, self.arm, self.I = m, x, arm, I
        self.L = casadi.trace(I) * SX.eye(3) - 2 * I

    @staticmethod
    def of(tree: Tree, T: list, k: int) -> _Link:
        B = inertia(tree.nodes[k])
        center = B.h / casadi.if_else(B.m == 0, 1, B.m)
        I_center = B.I + B.m * (skew(center) @ skew(center))
        arm = T[k].R @ center
        return _Link(B.m, T[k].p + arm, arm, T[k].R @ I_center @ T[k].R.T)

    def force(self, o_i: SX, S_i: Motion, S_j: Motion, one_joint: bool) -> tuple[SX, SX]:
        """(f, h + c_k x f): force and moment about o_k of half the Coriolis acceleration of joints
        j and i."""
        J_i = S_i.linear + cross(S_i.angular, self.x - o_i)
        f = self.m * cross(S_j.angular, J_i)
        h = cross(self.L @ S_j.angular, S_i.angular) / 2
        if one_joint:
            turned = S_i.cross(S_j)
            f = f + self.m * (turned.linear + cross(turned.angular, self.x - o_i))
            h = h + self.I @ turned.angular
        return f, h + cross(self.arm, f)


def _tensor(c: dict[tuple[int, int], SX], n: int) -> SX:
    places = sorted(c, key=lambda at: (at[1], at[0]))
    values = casadi.vertcat(*[c[at] for at in places]) if places else SX(0, 1)
    pattern = casadi.Sparsity.triplet(n, n * n, [k for k, _ in places], [ij for _, ij in places])
    return casadi.sparsify(SX(pattern, casadi.densify(values)))


def table_2(n: int) -> tuple[int, int]:
    """(multiplications, additions) of the published loop for a chain of n revolute joints.

    Source: [Safeea2019] table 2. Corrected: additions end in 41 n - 3; the paper prints 40 n - 1,
    having counted the vector l_k as one addition.
    """
    return (21 * n**3 + 45 * n**2) // 2 + 49 * n, 12 * n**3 + 19 * n**2 + 41 * n - 3
