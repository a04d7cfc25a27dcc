"""Two loops: the rotations at which two compatibility linkages with one common link agree,
as roots of a sextic.

    |D1 + D2 x + D3 y| = |D4|,    |D1' + D2' x + D3' y| = |D4|,    |x| = |y| = 1

Each, times x y, is A(x) y^2 + B(x) y + C(x) = 0. The resultant in y has degree seven and the factor
x.
Source: [Mather2023] eq. 14-19 and (A1)-(A4); the eliminant itself is what the paper avoids.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import casadi
import numpy as np
from casadi import SX

from linkwork.engine import keys
from linkwork.engine.kernel import Context, Signature
from linkwork.engine.traced import traced
from linkwork.polynomials.complex_pair import Complex, numbers, pairs
from linkwork.polynomials.roots import iterated, prepared
from linkwork.synthesis.resultants import resultant

Polynomial = list[Complex]


def rotations(loops: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(x, y) (..., 6) complex: all common solutions of loops (..., 2, 4);
    real answers have |x| = |y| = 1."""
    packed = np.ascontiguousarray(loops, dtype=complex).view(float).reshape(*loops.shape[:-2], 8, 2)
    x = iterated(*sextic()(packed))
    y = _second()(packed, x.view(float).reshape(*x.shape, 2))
    return x, y.view(complex)[..., 0]


@functools.cache
def sextic() -> Callable[..., Any]:
    """loops (8, 2), D1 .. D4 and D1' .. D4' -> the sextic as `roots.prepared` gives it."""

    def expressions(loops: SX) -> tuple[SX, SX]:
        D = _of_size_one(loops)
        whole = resultant(_quadratic(D[:4]), _quadratic(D[4:]), Complex(0.0))
        return prepared(whole[:-1][-7:])

    outputs = (("state", (13,)), ("c", (14,)))
    signature = Signature("sextic", (("loops", (8, 2)),), outputs)
    return traced(signature, expressions, keys.key(__name__, "sextic")).caller(Context())


@functools.cache
def _second() -> Callable[..., Any]:
    """(loops (8, 2), x (6, 2)) -> y (6, 2) = -(A C' - C A') / (A B' - B A')."""

    def expressions(loops: SX, points: SX) -> SX:
        D, rotations = _of_size_one(loops), []
        for x in numbers(points):
            (A, B, C), (A2, B2, C2) = (
                [_at(p, x) for p in _quadratic(half)] for half in (D[:4], D[4:])
            )
            bottom = A * B2 - B * A2
            bottom = Complex(1e-300).where(bottom.abs2() <= 0, bottom)
            y = (C * A2 - A * C2) / bottom
            bound = lambda v: casadi.fmin(casadi.fmax(v, -1e150), 1e150)
            rotations.append(Complex(bound(y.re), bound(y.im)))
        return pairs(rotations)

    signature = Signature("two_loops", (("loops", (8, 2)), ("x", (6, 2))), (("y", (6, 2)),))
    return traced(signature, expressions, keys.key(__name__, "second")).caller(Context())


def _of_size_one(loops: SX) -> list[Complex]:
    """Both loops in units of their longest link."""
    D = numbers(loops)
    largest = D[0].abs2()
    for z in D[1:]:
        largest = casadi.fmax(largest, z.abs2())
    scale = Complex(1.0 / casadi.sqrt(casadi.if_else(largest > 0, largest, 1.0)))
    return [z * scale for z in D]


def _quadratic(D: list[Complex]) -> tuple[Polynomial, Polynomial, Polynomial]:
    """A (degree 1), B (2), C (2) of one loop, highest power of x first;
    A has a leading zero for equal lengths."""
    D1, D2, D3, D4 = D
    E1, E2, E3 = D1.conjugate(), D2.conjugate(), D3.conjugate()
    square = Complex(D1.abs2() + D2.abs2() + D3.abs2() - D4.abs2())
    zero = Complex(0.0)
    return [zero, D3 * E1, D3 * E2], [D2 * E1, square, D1 * E2], [D2 * E3, D1 * E3, zero]


def _at(p: Polynomial, x: Complex) -> Complex:
    value = p[0]
    for a in p[1:]:
        value = value * x + a
    return value
