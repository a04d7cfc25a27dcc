"""Conics: the dyads that meet four conditions, as the common points of two conics.

An orthogonal combination of the four bilinear rows leaves two rows without products of the pivots. They are linear, so
that the dyads lie in a plane w = w0 + N s, w = (ax, ay, zx, zy). In it the other two rows are conics; their four common
points are the roots of a quartic, and nothing trivial is among them: the trivial answers of the rotations (all zero, or
all equal to the body's) have a pivot at infinity. Newton on the four rows polishes.
"""

from __future__ import annotations

import functools
import math

import casadi
import numpy as np
from casadi import SX

from linkwork.engine.kernel import Kernel, Signature
from linkwork.engine.traced import traced
from linkwork.polynomials.roots import all_roots

TURN, BEND = 0.7, 0.45
"""The plane is turned, and the quartic's variable bent [rad], so that no two roots share a coordinate by symmetry and
none is at infinity by the kind of the conditions."""
NEWTON = 4
NEARLY_REAL = 1e-4
"""Imaginary part of a root [of 1 + |root|^2] up to which Newton decides whether it is a real one."""
CONVERGED = 1e-11
"""Size of the last correction [of the pivots' size] of an answer."""
FAR = 1e7
"""Pivots further away [task sizes] are at infinity."""


def dyads_of(rows: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """(a, z, valid, condition) (..., 4) in task sizes, from four conditions (..., 4, 7)."""
    quartic, plane, conics = _plane_kernel()(rows)
    size = np.abs(quartic).max(axis=-1, keepdims=True)
    found = all_roots((quartic / np.where(size > 0, size, 1.0)).astype(complex))
    nearly = np.abs(found.imag) <= NEARLY_REAL * (1.0 + np.abs(found) ** 2)
    with_roots = [x[..., None, :] for x in (plane, conics)]
    w, step, condition = _back_kernel()(np.clip(found.real, -1e150, 1e150), *with_roots, rows[..., None, :, :])
    length = np.abs(w).max(axis=-1)
    valid = nearly & (step <= CONVERGED) & (length < FAR) & (size > 0)
    valid &= ~_repeated(w, valid)
    return w[..., 0] + 1j * w[..., 1], w[..., 2] + 1j * w[..., 3], valid, condition


def linear_dyad(rows: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """The same for four rows without products: one answer, (..., 1)."""
    A, b = rows[..., 2:6], -rows[..., 6]
    condition = np.linalg.cond(A)
    valid = condition < 1e12
    w = np.linalg.solve(np.where(valid[..., None, None], A, np.eye(4)), b[..., None])[..., 0]
    a, z = w[..., 0] + 1j * w[..., 1], w[..., 2] + 1j * w[..., 3]
    return a[..., None], z[..., None], valid[..., None], condition[..., None]


def with_pivot(rows: np.ndarray, pivot: np.ndarray, which: str) -> tuple[np.ndarray, ...]:
    """The same where one pivot is known ("a" or "z", (...,)): two rows (..., 2, 7), linear in the other; (..., 1)."""
    x, y = pivot.real[..., None], pivot.imag[..., None]
    g, h = rows[..., 0], rows[..., 1]
    if which == "a":
        known = rows[..., 2] * x + rows[..., 3] * y
        on_x, on_y = g * x + h * y + rows[..., 4], g * y - h * x + rows[..., 5]
    else:
        known = rows[..., 4] * x + rows[..., 5] * y
        on_x, on_y = g * x - h * y + rows[..., 2], g * y + h * x + rows[..., 3]
    A, b = np.stack([on_x, on_y], axis=-1), -(known + rows[..., 6])
    condition = np.linalg.cond(A)
    valid = condition < 1e12
    w = np.linalg.solve(np.where(valid[..., None, None], A, np.eye(2)), b[..., None])[..., 0]
    other = (w[..., 0] + 1j * w[..., 1])[..., None]
    known_pivot = np.broadcast_to(pivot, valid.shape)[..., None]
    a, z = (known_pivot, other) if which == "a" else (other, known_pivot)
    return a, z, valid[..., None], condition[..., None]


def _repeated(w: np.ndarray, valid: np.ndarray) -> np.ndarray:
    """Rows that an earlier valid row of the same task equals."""
    apart = np.abs(w[..., :, None, :] - w[..., None, :, :]).max(axis=-1)
    near = apart <= 1e-8 * (1.0 + np.abs(w).max(axis=-1))[..., None]
    return (near & valid[..., None, :] & _EARLIER).any(axis=-1)


_EARLIER = np.tri(4, k=-1, dtype=bool)


@functools.cache
def _plane_kernel() -> Kernel:
    """rows (4, 7) -> quartic (5,), plane (12,): w0, N by rows, conics (2, 6) as (ss, st, tt, s, t, 1) flat."""

    def plane(rows: SX) -> tuple[SX, SX, SX]:
        Q = _orthogonal(rows[:, :2], 2)  # the last two rows of Q' rows have no products
        turned = Q.T @ rows
        linear, bilinear = turned[2:, 2:], turned[:2, :]
        P = _orthogonal(linear[:, :4].T, 2)
        L = linear[:, :4] @ P[:, :2]  # lower triangular
        first = -linear[0, 4] / L[0, 0]
        second = (-linear[1, 4] - L[1, 0] * first) / L[1, 1]
        w0 = P[:, 0] * first + P[:, 1] * second
        c, s = math.cos(TURN), math.sin(TURN)
        N = casadi.horzcat(c * P[:, 2] + s * P[:, 3], c * P[:, 3] - s * P[:, 2])
        conics = [_conic(bilinear[i, :], w0, N) for i in range(2)]
        quartic = _bent(_resultant(*conics))
        entries = casadi.vertcat(w0, *[N[i, j] for i in range(4) for j in range(2)])
        both = casadi.vertcat(*[x for conic in conics for x in conic])
        return casadi.vertcat(*quartic), entries, both

    outputs = (("quartic", (5,)), ("plane", (12,)), ("conics", (12,)))
    return traced(Signature("dyads", (("rows", (4, 7)),), outputs), plane, "synthesis conics: plane")


def _orthogonal(A: SX, columns: int) -> SX:
    """Q (m, m) of Householder's QR: Q' A is zero below its first rows. A column of zeros is left alone."""
    m = A.shape[0]
    Q = SX.eye(m)
    for k in range(columns):
        x = A[k:, k]
        norm = casadi.sqrt(casadi.sumsqr(x))
        tiny = norm < 1e-150
        v = casadi.vertcat(x[0] + casadi.if_else(x[0] >= 0, norm, -norm), x[1:])
        v = casadi.if_else(tiny, SX.eye(m - k)[:, 0], v)
        scale = casadi.if_else(tiny, 0.0, 2.0 / casadi.if_else(tiny, 1.0, casadi.sumsqr(v)))
        H = SX.eye(m)
        H[k:, k:] = SX.eye(m - k) - scale * (v @ v.T)
        A, Q = H @ A, Q @ H
    return Q


def _conic(row: SX, w0: SX, N: SX) -> list[SX]:
    """A bilinear row on the plane: coefficients of s^2, s t, t^2, s, t, 1."""
    g = lambda w, v: w[0] * v[2] + w[1] * v[3]  # Re(a z*)
    h = lambda w, v: w[1] * v[2] - w[0] * v[3]  # Im(a z*)
    product = lambda w, v: row[0] * g(w, v) + row[1] * h(w, v)
    linear = lambda w: sum(row[2 + i] * w[i] for i in range(4))
    n1, n2 = N[:, 0], N[:, 1]
    mixed = lambda w, v: product(w, v) + product(v, w)
    quadratic = [product(n1, n1), mixed(n1, n2), product(n2, n2)]
    return [*quadratic, mixed(w0, n1) + linear(n1), mixed(w0, n2) + linear(n2), product(w0, w0) + linear(w0) + row[6]]


def _times(p: list, q: list) -> list:
    """Product of polynomials, highest power first."""
    out: list = [SX(0)] * (len(p) + len(q) - 1)
    for i, a in enumerate(p):
        for j, b in enumerate(q):
            out[i + j] = out[i + j] + a * b
    return out


def _minus(p: list, q: list) -> list:
    return [a - b for a, b in zip(p, q, strict=True)]


def _by_powers(conic: list) -> tuple[list, list, list]:
    """A t^2 + B(s) t + C(s)."""
    ss, st, tt, s, t, one = conic
    return [tt], [st, t], [ss, s, one]


def _resultant(first: list, second: list) -> list:
    """(A C' - C A')^2 - (A B' - B A') (B C' - C B'): degree four in s."""
    (A, B, C), (A2, B2, C2) = _by_powers(first), _by_powers(second)
    ac = _minus(_times(A, C2), _times(C, A2))
    ab = _minus(_times(A, B2), _times(B, A2))
    bc = _minus(_times(B, C2), _times(C, B2))
    return _minus(_times(ac, ac), _times(ab, bc))


def _bent(p: list) -> list:
    """The polynomial of r for s = (c r + d) / (c - d r), times (c - d r)^4."""
    c, d = math.cos(BEND), math.sin(BEND)
    total: list = [SX(0)] * len(p)
    degree = len(p) - 1
    for k, a in enumerate(p):  # a s^(degree - k)
        term: list = [a]
        for _ in range(degree - k):
            term = _times(term, [SX(c), SX(d)])
        for _ in range(k):
            term = _times(term, [SX(-d), SX(c)])
        total = [x + y for x, y in zip(total, term, strict=True)]
    return total


@functools.cache
def _back_kernel() -> Kernel:
    """(root, plane (12,), conics (12,), rows (4, 7)) -> w (4,), size of the last correction, condition."""

    def back(r: SX, plane: SX, conics: SX, rows: SX) -> tuple[SX, SX, SX]:
        c, d = math.cos(BEND), math.sin(BEND)
        s = (c * r + d) / _away(c - d * r)
        s = casadi.fmin(casadi.fmax(s, -1e12), 1e12)
        first, second = ([conics[6 * i + j] for j in range(6)] for i in range(2))
        (A, B, C), (A2, B2, C2) = _by_powers(first), _by_powers(second)
        at = lambda p: casadi.polyval(casadi.vertcat(*p), s)
        top, bottom = A[0] * at(C2) - at(C) * A2[0], A[0] * at(B2) - at(B) * A2[0]
        t = casadi.fmin(casadi.fmax(-top / _away(bottom), -1e12), 1e12)
        w = plane[:4] + casadi.vertcat(*[plane[4 + 2 * i] * s + plane[5 + 2 * i] * t for i in range(4)])
        size = step = condition = SX(1)
        for _ in range(NEWTON):
            f, J = _rows_at(rows, w)
            dw, condition = _solve4(J, f)
            size = casadi.sqrt(casadi.sumsqr(w)) + 1e-3
            step = casadi.sqrt(casadi.sumsqr(dw)) / size
            # far from an answer a whole step may overshoot; one that is longer than the dyad is shortened to it
            dw = dw * casadi.fmin(1.0, 1.0 / casadi.fmax(step, 1e-300))
            w = w - dw
        step = casadi.fmin(step, 1e300)
        w = casadi.fmin(casadi.fmax(w, -1e14), 1e14)
        return w, step, condition

    inputs = (("root", ()), ("plane", (12,)), ("conics", (12,)), ("rows", (4, 7)))
    outputs = (("w", (4,)), ("step", ()), ("condition", ()))
    return traced(Signature("dyads", inputs, outputs), back, "synthesis conics: back")


def _away(x: SX) -> SX:
    """x, but never nearer to zero than 1e-200."""
    return x + casadi.if_else(x >= 0, 1e-200, -1e-200)


def _rows_at(rows: SX, w: SX) -> tuple[SX, SX]:
    """Values and derivatives of the rows by (ax, ay, zx, zy)."""
    ax, ay, zx, zy = w[0], w[1], w[2], w[3]
    g, h = ax * zx + ay * zy, ay * zx - ax * zy
    f = rows[:, 0] * g + rows[:, 1] * h + rows[:, 2:6] @ w + rows[:, 6]
    dg, dh = casadi.horzcat(zx, zy, ax, ay), casadi.horzcat(-zy, zx, ay, -ax)
    return f, rows[:, :1] @ dg + rows[:, 1:2] @ dh + rows[:, 2:6]


def _solve4(J: SX, f: SX) -> tuple[SX, SX]:
    """(x with J x = f, how large the smallest pivot makes it): Householder's QR, which needs no pivoting by choice."""
    Q = _orthogonal(J, 3)
    R, b = Q.T @ J, Q.T @ f
    x: list = [SX(0)] * 4
    least, most = SX(1e300), SX(0)
    for k in reversed(range(4)):
        rest = b[k]
        for j in range(k + 1, 4):
            rest = rest - R[k, j] * x[j]
        pivot = casadi.if_else(casadi.fabs(R[k, k]) < 1e-150, 1e-150, R[k, k])
        x[k] = casadi.fmin(casadi.fmax(rest / pivot, -1e150), 1e150)
        least, most = casadi.fmin(least, casadi.fabs(pivot)), casadi.fmax(most, casadi.fabs(pivot))
    return casadi.vertcat(*x), most / least
