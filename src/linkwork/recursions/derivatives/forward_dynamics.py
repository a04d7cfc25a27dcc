"""Derivatives of forward dynamics by configuration, velocity and joint forces."""

from __future__ import annotations

from collections.abc import Sequence

import casadi
from casadi import DM, SX

from linkwork.model.tree import Tree
from linkwork.recursions.applied import Applied, at_origins
from linkwork.recursions.derivatives.inverse_dynamics import inverse_dynamics_derivatives
from linkwork.recursions.factorisation import Factors, factorised
from linkwork.recursions.newton_euler import newton_euler


def forward_dynamics_derivatives(
    tree: Tree, q: SX, v: SX, tau: SX, G: DM | None = None, applied: Sequence[Applied] = ()
) -> tuple[tuple[SX, SX, SX], SX]:
    """((d a/d q, d a/d v, d a/d tau), pivots) of the independent coordinates, each (n, n);
    pivots as forward_dynamics.

        a = M^-1 (tau - b),    d a/d tau = M^-1,    d a/d x = -M^-1 d tau/d x  at (q, v, a)

    By q along the tangent, as for inverse dynamics, whose derivatives these are, solved with the
    factors of M along the tree. With mimicking joints v_tree = G v.
    Source: [Carpentier2018] eq. 4 (the implicit function theorem on the equations of motion).
    """
    a = SX.sym("a", tree.nv)
    d_dq, d_dv, M = inverse_dynamics_derivatives(tree, q, v, a, applied)
    bias = newton_euler(tree, q, v, SX(tree.nv, 1), at_origins(applied))
    if G is not None:
        d_dq, d_dv, M, bias = G.T @ d_dq @ G, G.T @ d_dv @ G, G.T @ M @ G, G.T @ bias
    factors = factorised(M)
    acceleration = factors.solve(tau - bias)
    d_dq = casadi.substitute(d_dq, a, acceleration if G is None else G @ acceleration)
    pivots = casadi.horzcat(casadi.vertcat(*factors.D), casadi.diag(M))
    return (-factors.solve(d_dq), -factors.solve(d_dv), inverse(factors)), pivots


def inverse(factors: Factors) -> SX:
    """M^-1 from M = L'DL: solved for unit columns, the upper triangle alone."""
    n = len(factors.D)
    x = [SX(casadi.Sparsity.triplet(1, n, [0], [k]), SX(1)) for k in range(n)]
    for k in reversed(range(n)):
        for i, l in factors.L[k].items():
            x[i] = x[i] - l * x[k]
    for k in range(n):
        x[k] = x[k] / factors.D[k]
        for i, l in factors.L[k].items():
            x[k] = x[k] - l * casadi.horzcat(SX(1, k), x[i][:, k:])
    return casadi.triu2symm(casadi.vertcat(*x)) if n else SX(0, 0)
