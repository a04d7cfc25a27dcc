"""Orthogonal: Householder's QR of small matrices as straight-line code, without a choice of
pivots."""

from __future__ import annotations

import casadi
from casadi import SX


def triangle_of(A: SX, columns: int | None = None) -> tuple[SX, list[tuple[SX, SX]]]:
    """(R, reflections) of Householder's QR: the first columns of R are zero below the diagonal.

    A reflection is (v, scale) with x -> x - scale v v' x on the last rows; a column of zeros is
    left alone.
    """
    m = A.shape[0]
    reflections: list[tuple[SX, SX]] = []
    for k in range(m - 1 if columns is None else columns):
        x = A[k:, k]
        norm = casadi.sqrt(casadi.sumsqr(x))
        top = x[0] + casadi.if_else(x[0] >= 0, norm, -norm)
        v = casadi.vertcat(top, x[1:])
        square = casadi.sumsqr(v)
        scale = casadi.if_else(norm < 1e-150, 0.0, 2.0 / casadi.if_else(square > 0, square, 1.0))
        reflections.append((v, scale))
        A = reflected(A, reflections[-1:])
        A[k + 1 :, k] = 0
    return A, reflections


def reflected(A: SX, reflections: list[tuple[SX, SX]]) -> SX:
    """Q' A, for A of one or several columns."""
    m = A.shape[0]
    for v, scale in reflections:
        k = m - v.shape[0]
        A = casadi.vertcat(A[:k, :], A[k:, :] - v @ (scale * (v.T @ A[k:, :])))
    return A


def solved(R: SX, reflections: list[tuple[SX, SX]], f: SX) -> SX:
    """x with J x = f, from Householder's QR of J."""
    b = reflected(f, reflections)
    n = R.shape[0]
    x: list[SX] = [SX(0)] * n
    for k in reversed(range(n)):
        rest = b[k]
        for j in range(k + 1, n):
            rest = rest - R[k, j] * x[j]
        pivot = casadi.if_else(casadi.fabs(R[k, k]) < 1e-150, 1e-150, R[k, k])
        x[k] = casadi.fmin(casadi.fmax(rest / pivot, -1e150), 1e150)
    return casadi.vertcat(*x)


def condition_of(R: SX) -> SX:
    """Largest by smallest entry of the diagonal, at most 1e300."""
    least, most = SX(1e300), SX(0)
    for k in range(R.shape[0]):
        pivot = casadi.fmax(casadi.fabs(R[k, k]), 1e-150)
        least, most = casadi.fmin(least, pivot), casadi.fmax(most, pivot)
    return casadi.fmin(most / least, 1e300)
