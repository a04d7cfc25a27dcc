"""Conics: the dyads that meet four conditions, as the common points of two conics.

An orthogonal combination of the four bilinear rows leaves two rows without products of the pivots.
They are linear, so that the dyads lie in a plane w = w0 + N s, w = (ax, ay, zx, zy). In it the
other two rows are conics; their four common points are the roots of a quartic, and nothing trivial
is among them: the trivial answers of the rotations (all zero, or all equal to the body's) have a
pivot at infinity. Newton on the four rows polishes.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from typing import Any

import casadi
import numpy as np
from casadi import SX

from linkwork.engine import keys
from linkwork.engine.kernel import Context, Signature
from linkwork.engine.traced import traced
from linkwork.polynomials.complex_pair import Complex
from linkwork.polynomials.roots import iterated, prepared
from linkwork.synthesis.orthogonal import condition_of, reflected, solved, triangle_of
from linkwork.synthesis.resultants import resultant, times

TURN, BEND = 0.7, 0.45
"""The plane is turned, and the quartic's variable bent [rad], so that no two roots share a
coordinate by symmetry and none is at infinity by the kind of the conditions."""
NEWTON = 3
NEARLY_REAL = 1e-4
"""Imaginary part of a root [of 1 + |root|^2] up to which Newton decides whether it is a real
one."""
CONVERGED = 1e-11
"""Size of the last correction [of the pivots' size] of an answer."""
ROUNDING = 1e-15
"""What rounding adds to it, times the condition:
pivots of 10 000 task sizes are known to fewer digits."""
FAR = 1e7
"""Pivots further away [task sizes] are at infinity."""


def dyads_of(rows: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """(w (..., 4, 4): ax, ay, zx, zy in task sizes, valid, condition (..., 4)) of four conditions
    (..., 4, 7)."""
    state, quartic, plane, conics = _plane_kernel()(rows)
    roots = iterated(state, quartic)
    return _back_kernel()(roots.view(float).reshape(*roots.shape, 2), plane, conics, rows)


def linear_dyad(rows: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The same for four rows without products: one answer, the other three are not valid."""
    A, b = rows[..., 2:6], -rows[..., 6]
    condition = np.linalg.cond(A)
    valid = condition < 1e12
    w = np.linalg.solve(np.where(valid[..., None, None], A, np.eye(4)), b[..., None])[..., 0]
    return _alone(w, valid, condition)


def with_pivot(rows: np.ndarray, pivot: np.ndarray, which: str) -> tuple[np.ndarray, ...]:
    """The same where one pivot is known ("a" or "z", (...,)): two rows (..., 2, 7),
    linear in the other."""
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
    known_pivot = np.broadcast_to(np.stack([pivot.real, pivot.imag], axis=-1), w.shape)
    both = [known_pivot, w] if which == "a" else [w, known_pivot]
    return _alone(np.concatenate(both, axis=-1), valid, condition)


def _alone(
    w: np.ndarray, valid: np.ndarray, condition: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """One answer (..., 4) in the first of four slots."""
    slots = np.repeat(w[..., None, :], 4, axis=-2)
    only = np.array([1.0, 0.0, 0.0, 0.0])
    return (
        slots,
        valid[..., None] * only,
        np.repeat(np.minimum(condition, 1e300)[..., None], 4, axis=-1),
    )


@functools.cache
def _plane_kernel() -> Callable[..., Any]:
    """rows (4, 7) -> the quartic as `roots.prepared` gives it, plane (12,): w0, N by rows, conics
    (12,): twice ss, st, tt, s, t, 1."""

    def plane(rows: SX) -> tuple[SX, ...]:
        turned, _ = triangle_of(rows, 2)  # its last two rows have no products
        linear, bilinear = turned[2:, 2:], turned[:2, :]
        _, reflections = triangle_of(linear[:, :4].T, 2)
        P = reflected(SX.eye(4), reflections).T
        L = linear[:, :4] @ P[:, :2]  # lower triangular
        # conditions that are alike leave nothing to divide by
        first = _bounded(-linear[0, 4] / _away(L[0, 0]))
        second = _bounded((-linear[1, 4] - L[1, 0] * first) / _away(L[1, 1]))
        w0 = P[:, 0] * first + P[:, 1] * second
        c, s = math.cos(TURN), math.sin(TURN)
        N = casadi.horzcat(c * P[:, 2] + s * P[:, 3], c * P[:, 3] - s * P[:, 2])
        conics = [_conic(bilinear[i, :], w0, N) for i in range(2)]
        first_powers, second_powers = (_by_powers(conic) for conic in conics)
        quartic = _bent(resultant(first_powers, second_powers, SX(0)))
        state, coefficients = prepared([Complex(a) for a in quartic])
        entries = casadi.vertcat(w0, *[N[i, j] for i in range(4) for j in range(2)])
        both = casadi.vertcat(*[x for conic in conics for x in conic])
        return state, coefficients, entries, both

    outputs = (("state", (9,)), ("quartic", (10,)), ("plane", (12,)), ("conics", (12,)))
    kernel = traced(
        Signature("dyads", (("rows", (4, 7)),), outputs), plane, keys.key(__name__, "plane")
    )
    return kernel.caller(Context())


def _conic(row: SX, w0: SX, N: SX) -> list[SX]:
    """A bilinear row on the plane: coefficients of s^2, s t, t^2, s, t, 1."""
    g = lambda w, v: w[0] * v[2] + w[1] * v[3]  # Re(a z*)
    h = lambda w, v: w[1] * v[2] - w[0] * v[3]  # Im(a z*)
    product = lambda w, v: row[0] * g(w, v) + row[1] * h(w, v)
    linear = lambda w: sum(row[2 + i] * w[i] for i in range(4))
    n1, n2 = N[:, 0], N[:, 1]
    mixed = lambda w, v: product(w, v) + product(v, w)
    quadratic = [product(n1, n1), mixed(n1, n2), product(n2, n2)]
    return [
        *quadratic,
        mixed(w0, n1) + linear(n1),
        mixed(w0, n2) + linear(n2),
        product(w0, w0) + linear(w0) + row[6],
    ]


def _by_powers(conic: list) -> tuple[list, list, list]:
    """A t^2 + B(s) t + C(s)."""
    ss, st, tt, s, t, one = conic
    return [tt], [st, t], [ss, s, one]


def _bent(p: list) -> list:
    """The polynomial of r for s = (c r + d) / (c - d r), times (c - d r)^4."""
    c, d = math.cos(BEND), math.sin(BEND)
    total: list = [SX(0)] * len(p)
    degree = len(p) - 1
    for k, a in enumerate(p):  # a s^(degree - k)
        term: list = [a]
        for _ in range(degree - k):
            term = times(term, [SX(c), SX(d)], SX(0))
        for _ in range(k):
            term = times(term, [SX(-d), SX(c)], SX(0))
        total = [x + y for x, y in zip(total, term, strict=True)]
    return total


@functools.cache
def _back_kernel() -> Callable[..., Any]:
    """(roots (4, 2), plane (12,), conics (12,), rows (4, 7)) -> w (4, 4), valid (4,),
    condition (4,)."""

    def back(roots: SX, plane: SX, conics: SX, rows: SX) -> tuple[SX, SX, SX]:
        answers: list[SX] = []
        valid: list[SX] = []
        conditions: list[SX] = []
        for k in range(4):
            w, step, condition = _polished(_on_plane(roots[k, 0], plane, conics), rows)
            nearly = casadi.fabs(roots[k, 1]) <= NEARLY_REAL * (1.0 + casadi.sumsqr(roots[k, :]))
            length = casadi.mmax(casadi.fabs(w))
            settled = step <= CONVERGED + casadi.fmin(ROUNDING * condition, 1e-6)
            good = casadi.logic_and(nearly, casadi.logic_and(settled, length < FAR))
            for earlier, known in zip(answers, valid):  # each answer once
                apart = casadi.mmax(casadi.fabs(w - earlier)) > 1e-8 * (1.0 + length)
                good = casadi.logic_and(good, casadi.logic_or(apart, casadi.logic_not(known)))
            answers.append(w)
            valid.append(good)
            conditions.append(condition)
        return casadi.horzcat(*answers).T, casadi.vertcat(*valid), casadi.vertcat(*conditions)

    inputs = (("roots", (4, 2)), ("plane", (12,)), ("conics", (12,)), ("rows", (4, 7)))
    outputs = (("w", (4, 4)), ("valid", (4,)), ("condition", (4,)))
    return traced(Signature("dyads", inputs, outputs), back, keys.key(__name__, "back")).caller(
        Context()
    )


def _on_plane(r: SX, plane: SX, conics: SX) -> SX:
    """The pivots w (4) of a root of the quartic."""
    c, d = math.cos(BEND), math.sin(BEND)
    r = casadi.fmin(casadi.fmax(r, -1e150), 1e150)
    s = _bounded((c * r + d) / _away(c - d * r))
    first, second = ([conics[6 * i + j] for j in range(6)] for i in range(2))
    (A, B, C), (A2, B2, C2) = _by_powers(first), _by_powers(second)
    at = lambda p: casadi.polyval(casadi.vertcat(*p), s)
    top, bottom = A[0] * at(C2) - at(C) * A2[0], A[0] * at(B2) - at(B) * A2[0]
    t = _bounded(-top / _away(bottom))
    for _ in range(NEWTON):
        s, t = _nearer(s, t, first, second, casadi.sumsqr(plane[:4]))
    return plane[:4] + casadi.vertcat(
        *[plane[4 + 2 * i] * s + plane[5 + 2 * i] * t for i in range(4)]
    )


def _nearer(s: SX, t: SX, first: list, second: list, offset: SX) -> tuple[SX, SX]:
    """Newton's step on two conics, where |w|^2 = offset + s^2 + t^2."""
    (f, fs, ft), (g, gs, gt) = (_conic_at(conic, s, t) for conic in (first, second))
    inverse = 1.0 / _away(fs * gt - ft * gs)
    ds, dt = (f * gt - g * ft) * inverse, (g * fs - f * gs) * inverse
    ds, dt = (casadi.fmin(casadi.fmax(x, -1e20), 1e20) for x in (ds, dt))
    # far from an answer a whole step may overshoot;
    # one that is longer than the dyad is shortened to it
    longest = casadi.sqrt((offset + s * s + t * t + 1e-6) / casadi.fmax(ds * ds + dt * dt, 1e-300))
    share = casadi.fmin(SX(1), longest)
    return s - share * ds, t - share * dt


def _conic_at(conic: list, s: SX, t: SX) -> tuple[SX, SX, SX]:
    """Value and derivatives by s and t."""
    ss, st, tt, linear_s, linear_t, one = conic
    value = (ss * s + st * t + linear_s) * s + (tt * t + linear_t) * t + one
    return value, 2.0 * ss * s + st * t + linear_s, st * s + 2.0 * tt * t + linear_t


def _polished(w: SX, rows: SX) -> tuple[SX, SX, SX]:
    """(w, size of the last correction, condition) after two corrections on the four rows with one
    Jacobian.

    The plane and its conics carry rounding of their own; the rows are what was asked for.
    """
    R, reflections = triangle_of(_slopes(rows, w))
    step = SX(1)
    for _ in range(2):
        dw = solved(R, reflections, _values(rows, w))
        step = casadi.sqrt(casadi.sumsqr(dw)) / (casadi.sqrt(casadi.sumsqr(w)) + 1e-3)
        w = w - dw * casadi.fmin(1.0, 1.0 / casadi.fmax(step, 1e-300))
    return casadi.fmin(casadi.fmax(w, -1e14), 1e14), casadi.fmin(step, 1e300), condition_of(R)


def _bounded(x: SX) -> SX:
    return casadi.fmin(casadi.fmax(x, -1e12), 1e12)


def _away(x: SX) -> SX:
    """x, but never nearer to zero than 1e-200."""
    return x + casadi.if_else(x >= 0, 1e-200, -1e-200)


def _values(rows: SX, w: SX) -> SX:
    """Values (4) of the rows at w = (ax, ay, zx, zy)."""
    ax, ay, zx, zy = w[0], w[1], w[2], w[3]
    products = rows[:, 0] * (ax * zx + ay * zy) + rows[:, 1] * (ay * zx - ax * zy)
    return products + rows[:, 2:6] @ w + rows[:, 6]


def _slopes(rows: SX, w: SX) -> SX:
    """Their derivatives (4, 4)."""
    ax, ay, zx, zy = w[0], w[1], w[2], w[3]
    dg, dh = casadi.horzcat(zx, zy, ax, ay), casadi.horzcat(-zy, zx, ay, -ax)
    return rows[:, :1] @ dg + rows[:, 1:2] @ dh + rows[:, 2:6]
