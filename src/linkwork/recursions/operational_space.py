"""Operational space: the robot as felt at one of its frames."""

from __future__ import annotations

import casadi
from casadi import DM, SX

from linkwork.errors import NotPossible
from linkwork.model.placement import Placement
from linkwork.model.tree import Tree
from linkwork.recursions.composite_body import mass_matrix
from linkwork.recursions.factorisation import Factors, factorised
from linkwork.recursions.jacobians import jacobian


def mobility(tree: Tree, q: SX, frame: tuple[int, Placement], G: DM | None = None) -> SX:
    """J M^-1 J' (6, 6): acceleration of the frame for a unit force on it, world axes at its origin.
    Always exists.

    With M = L'D L and W = L^-T J':  W' D^-1 W, by symmetry 21 products of columns. v_tree = G v.
    """
    J, M = _jacobian(tree, q, frame, G), mass_matrix(tree, q)
    factors = factorised(M if G is None else G.T @ M @ G)
    rows = [_half_solved(factors, J[r, :].T) for r in range(6)]
    scaled = [[x / d for x, d in zip(row, factors.D, strict=True)] for row in rows]
    out = SX(6, 6)
    for r in range(6):
        for c in range(r + 1):
            out[r, c] = out[c, r] = sum(
                (x * y for x, y in zip(rows[r], scaled[c], strict=True)), SX(0)
            )
    return casadi.densify(out)


def inertia(tree: Tree, q: SX, frame: tuple[int, Placement], G: DM | None = None) -> SX:
    """(J M^-1 J')^-1 (6, 6): force on the frame for a unit acceleration of it.
    Does not exist where J loses rank.

    Source: [Khatib1987].
    """
    columns = _moving_columns(_jacobian(tree, q, frame, G))
    if columns < 6:
        raise NotPossible(
            f"operational_space_inertia: only {columns} coordinates move the frame, expected six "
            "or more; "
            "operational_space_mobility always exists"
        )
    factors = factorised(mobility(tree, q, frame, G))
    return casadi.triu2symm(casadi.triu(factors.solve(SX.eye(6))))


def manipulability(tree: Tree, q: SX, frame: tuple[int, Placement], G: DM | None = None) -> SX:
    """sqrt(det(J J')), or sqrt(det(J'J)) where fewer than six coordinates move the frame: the
    volume of velocities in reach, zero at singular configurations.

    The determinant is the product of the pivots of elimination; after a pivot of zero the rest of
    its column is zero too, so that dividing by one instead changes nothing.
    Source: [Yoshikawa1985].
    """
    J = _jacobian(tree, q, frame, G)
    J = J[:, [c for c in range(J.size2()) if J[:, c].nnz()]]
    A = J @ J.T if J.size2() >= 6 else J.T @ J
    n, det = A.size1(), SX(1)
    H = [[A[r, c] for c in range(n)] for r in range(n)]
    for k in range(n):
        pivot = casadi.fmax(H[k][k], 0)
        det = det * pivot
        inverse = 1 / casadi.if_else(pivot > 0, pivot, 1)
        for r in range(n):
            for c in range(k + 1, r + 1):
                H[r][c] = H[r][c] - H[r][k] * inverse * H[c][k]
    return casadi.sqrt(det)


def _jacobian(tree: Tree, q: SX, frame: tuple[int, Placement], G: DM | None) -> SX:
    J, _ = jacobian(tree, q, frame)
    return casadi.sparsify(J if G is None else J @ G)


def _moving_columns(J: SX) -> int:
    return sum(J[:, c].nnz() > 0 for c in range(J.size2()))


def _half_solved(factors: Factors, b: SX) -> list[SX]:
    """L^-T b."""
    x = [b[k] for k in range(len(factors.D))]
    for k in reversed(range(len(x))):
        for i, a in factors.L[k].items():
            x[i] = x[i] - a * x[k]
    return x
