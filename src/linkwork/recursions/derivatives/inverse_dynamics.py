"""Derivatives of inverse dynamics by configuration, velocity and acceleration."""

from __future__ import annotations

from collections.abc import Sequence

import casadi
from casadi import SX

from linkwork.model.tree import Tree
from linkwork.recursions.applied import Applied
from linkwork.recursions.moments import Gyration, axes, moments, root_transforms
from linkwork.spatial import ZERO3, Force, Motion


def inverse_dynamics_derivatives(
    tree: Tree, q: SX, v: SX, a: SX, applied: Sequence[Applied] = ()
) -> tuple[SX, SX, SX]:
    """(d tau/d q, d tau/d v, d tau/d a), each (nv, nv); by q along the tangent:
    d/de of tau(integrate(q, e x), v, a).

    Outward, p the parent of i, in root axes (S_i moves with body i):

        V = V_p + S v                       A = A_p + S a + V x S v,    A_0 = -g
        S'  = V_p x S                       S'' = A_p x S + V_p x S'
        F = I A + B(V) V                    B(V) = gyration of the body's matter

    A step along coordinate j turns everything that joint j carries. Seen from there nothing changes
    but the motion of the predecessor, by S'_j and S''_j, so that the force on what a node D below
    carries (composite I, B, F) changes by

        by q_j:  I S''_j + 2 B S'_j             by v_j:  I (S'_j + V x S_j) + 2 B S_j            by a_j:  I S_j

    and the torque of D by S_D . that. For joints above j the force turns with j: S_j x* F joins the
    change by q_j. What is applied from outside keeps its direction in the world instead: seen from
    there it turns back (E).

    Source: [Carpentier2018], [Singh2022]; here with the 6 x 3 gyration instead of 6 x 6 matrices.
    """
    T, g = root_transforms(tree, q)
    S, I = axes(tree, T), moments(tree, T)
    V, A, B, F = [Motion()], [Motion()], [Gyration(ZERO3, SX(3, 3))], [Force()]
    S1: list[list[Motion]] = [[]]
    S2: list[list[Motion]] = [[]]
    S3: list[list[Motion]] = [[]]  # S', S'' and S' + V x S
    for i in tree.outward:
        node, p = tree.nodes[i], tree.parent(i)
        columns = range(node.v, node.v + node.nv)
        V_p, A_p = V[p], A[p] if p else Motion(-g[i], ZERO3)
        V.append(V_p + sum((s * v[k] for s, k in zip(S[i], columns)), Motion()))
        S1.append([V_p.cross(s) for s in S[i]])
        S2.append([A_p.cross(s) + V_p.cross(s1) for s, s1 in zip(S[i], S1[i])])
        rate = [V[i].cross(s) for s in S[i]] if node.nv > 1 else S1[i]  # one column: S x S = 0
        S3.append([s1 + r for s1, r in zip(S1[i], rate)])
        A.append(A_p + sum((s * a[k] + r * v[k] for s, r, k in zip(S[i], rate, columns)), Motion()))
        B.append(Gyration.of(I[i], V[i]))
        F.append(I[i].momentum(A[i]) + B[i].force(V[i].angular))
    E = [Gyration(ZERO3, SX(3, 3)) for _ in tree.nodes]
    for one in applied:
        i, seen = one.node, T[one.node] @ one
        F[i], E[i] = F[i] - seen.at_origin, E[i] + Gyration.of_force(seen)
    n = tree.nv
    d_dq, d_dv, d_da = SX(n, n), SX(n, n), SX(n, n)
    for D in tree.inward:
        node, p = tree.nodes[D], tree.parent(D)
        I[p], B[p], F[p], E[p] = I[p] + I[D], B[p] + B[D], F[p] + F[D], E[p] + E[D]
        above = [l for l in tree.paths[D] if l != D]
        up = [tree.nodes[l].v + k for l in above for k in range(tree.nodes[l].nv)]
        S_up, S1_up, S2_up, S3_up = (
            _stacked([s for l in above for s in X[l]]) for X in (S, S1, S2, S3)
        )
        columns, S_own = range(node.v, node.v + node.nv), _stacked(S[D])
        for d, s, s1, s2, s3 in zip(columns, S[D], S1[D], S2[D], S3[D]):
            by_a = I[D].momentum(s)
            by_v = I[D].momentum(s3) + B[D].force(2 * s.angular)
            by_q = I[D].momentum(s2) + B[D].force(2 * s1.angular) + E[D].force(s.angular)
            f, b, e = _column(by_a), 2 * B[D].transposed(s), E[D].transposed(s)
            for result, force in ((d_da, by_a), (d_dv, by_v), (d_dq, by_q)):
                result[list(columns), d] = S_own.T @ _column(force)
            d_da[d, d] += SX(node.armature[d - node.v])
            if up:
                d_da[up, d] = S_up.T @ f
                d_da[d, up] = (S_up.T @ f).T
                d_dv[up, d] = S_up.T @ _column(by_v)
                d_dv[d, up] = (S3_up.T @ f + S_up[3:, :].T @ b).T
                d_dq[up, d] = S_up.T @ _column(by_q + s.cross(F[D]))
                d_dq[d, up] = (S2_up.T @ f + S1_up[3:, :].T @ b + S_up[3:, :].T @ e).T
    return casadi.sparsify(d_dq), casadi.sparsify(d_dv), casadi.sparsify(d_da)


def _stacked(S: Sequence[Motion]) -> SX:
    """(6, m)."""
    return casadi.horzcat(*[casadi.vertcat(s.linear, s.angular) for s in S])


def _column(force: Force) -> SX:
    return casadi.vertcat(force.linear, force.angular)
