"""Factorisation of a mass matrix along the tree:
M = L' D L with as little fill-in as the tree allows: none."""

from __future__ import annotations

from dataclasses import dataclass

import casadi
from casadi import SX


@dataclass(frozen=True)
class Factors:
    """M = L' D L, L unit lower triangular.

    L   rows: L[k][i] for i < k where it is not zero
    D   the pivots: the inertia that coordinate k feels while those beyond it move freely
    """

    L: tuple[dict[int, SX], ...]
    D: tuple[SX, ...]

    def solve(self, b: SX) -> SX:
        """M^-1 b for a column b or several."""
        x = [b[k, :] for k in range(len(self.D))]
        for k in reversed(range(len(x))):
            for i, a in self.L[k].items():
                x[i] = x[i] - a * x[k]
        for k in range(len(x)):
            x[k] = x[k] / self.D[k]
            for i, a in self.L[k].items():
                x[k] = x[k] - a * x[i]
        return casadi.vertcat(*x) if x else SX(0, b.size2())


def factorised(M: SX) -> Factors:
    """The factors of a symmetric matrix, eliminating the last coordinate first.

    Coordinates of a tree are numbered from the base to the tips, so that a mass matrix, whose entry
    (k, i) is zero unless one of k, i carries the other, gets no new entries: elimination goes along
    the branches. Where mimicking joints couple branches, the entries that appear are kept.

    Source: [Featherstone2008] table 6.3 (L'DL), with the pattern taken from the matrix instead of
    the tree.
    """
    n = M.size1()
    M = casadi.sparsify(M)
    H: list[dict[int, SX]] = [
        {i: M[k, i] for i in range(k + 1) if M.sparsity().has_nz(k, i)} for k in range(n)
    ]
    L: list[dict[int, SX]] = [{} for _ in range(n)]
    for k in reversed(range(n)):
        row = H[k]
        pivot = row.get(k, SX(0))
        lower = sorted((i for i in row if i < k), reverse=True)
        for i in lower:
            L[k][i] = a = row[i] / pivot
            for j in lower:
                if j <= i:
                    H[i][j] = H[i].get(j, SX(0)) - a * row[j]
    return Factors(tuple(L), tuple(H[k].get(k, SX(0)) for k in range(n)))
