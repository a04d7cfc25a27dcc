"""Linear equations with a symmetric positive definite matrix of symbols."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import casadi
from casadi import SX

SINGULAR = 1e-12
"""A pivot below this part of its diagonal element means a singular matrix:
four digits above rounding."""


@dataclass(frozen=True)
class Factored:
    """M = L D L': rows of L left of its unit diagonal,
    and the reciprocals of D (a product is cheaper than a quotient).

    margins   numbers that are negative where M is singular to rounding, one a row (n, 1)
    """

    L: list[list[SX]]
    reciprocals: list[SX]
    margins: SX

    def solve(self, b: SX) -> SX:
        """x (n, m) of M x = b."""
        L, n = self.L, len(self.L)
        x: list[SX] = []
        for i in range(n):
            y = b[i, :]
            for j in range(i):
                y = y - L[i][j] * x[j]
            x.append(y)
        x = [y * r for y, r in zip(x, self.reciprocals, strict=True)]
        for i in range(n - 1, -1, -1):
            for k in range(i + 1, n):
                x[i] = x[i] - L[k][i] * x[k]
        return casadi.vertcat(*x) if x else SX(0, b.shape[1])


def solved(M: SX, b: SX) -> tuple[SX, SX]:
    """(x, margins) of M x = b; two equations by their determinant: one quotient,
    and none waits for another."""
    if M.shape[0] == 2:
        a, c, d = M[0, 0], M[1, 0], M[1, 1]
        determinant = a * d - c * c
        x = casadi.vertcat(d * b[0] - c * b[1], a * b[1] - c * b[0]) * (1 / determinant)
        return x, casadi.vertcat(a, determinant - SINGULAR * (a * d))
    F = factored(M)
    return F.solve(b), F.margins


def from_lower(rows: Sequence[Sequence[SX]]) -> SX:
    """The matrix whose rows are given up to the diagonal, as `factored` reads it;
    what is above stays empty."""
    M = SX(len(rows), len(rows))
    for i, row in enumerate(rows):
        for j, element in enumerate(row):
            M[i, j] = element
    return M


def factored(M: SX, floor: float | None = None) -> Factored:
    """The factors of a symmetric positive definite matrix; only its lower triangle is read.

    floor   the least pivot, for what must go on where rounding makes a pivot vanish
    """
    L: list[list[SX]] = []
    reciprocals: list[SX] = []
    margins: list[SX] = []
    for i in range(M.shape[0]):
        scaled: list[SX] = []  # L_ij D_j
        for j in range(i):
            s = M[i, j]
            for k in range(j):
                s = s - scaled[k] * L[j][k]
            scaled.append(s)
        row = [s * r for s, r in zip(scaled, reciprocals, strict=True)]
        pivot = M[i, i]
        for s, l in zip(scaled, row, strict=True):
            pivot = pivot - s * l
        if floor is not None:
            pivot = casadi.fmax(pivot, floor)
        L.append(row)
        reciprocals.append(1 / pivot)
        margins.append(pivot - SINGULAR * M[i, i])
    return Factored(L, reciprocals, casadi.vertcat(*margins) if margins else SX(0, 1))
