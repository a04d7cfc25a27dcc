"""Triad kernels: what is done with every candidate of a triad, in machine code."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import casadi
from casadi import SX

from linkwork.engine import keys
from linkwork.engine.kernel import Context, Signature
from linkwork.engine.traced import traced
from linkwork.polynomials.complex_pair import Complex, numbers, pairs
from linkwork.synthesis.orthogonal import solved, triangle_of

NEWTON = 3


@functools.cache
def polish(chosen: int) -> Callable[..., Any]:
    """Newton's steps on the six conditions of a triad,
    of which the first `chosen` positions give two each.

        |V + d_j - W a_j - Z g_j|^2 = |V|^2,      W a_j + V b_j + Z g_j = d_j where the rotation is chosen

    (vectors (3, 2): W, V, Z, a, g, d (6 - chosen, 2), b (6, 2), of which the first count) ->
    vectors (3, 2), size of the last step, of the vectors' own.
    """
    n = 6 - chosen

    def expressions(vectors: SX, *parts: SX) -> tuple[SX, SX]:
        a, g, d, b = (numbers(part) for part in parts)
        x, size = numbers(vectors), SX(1)
        for _ in range(NEWTON):
            J, f = _conditions(x, a, g, d, b[:chosen])
            step = solved(*triangle_of(J), f)
            length = 1e-3 + casadi.sqrt(
                casadi.fmax(casadi.fmax(x[0].abs2(), x[1].abs2()), x[2].abs2())
            )
            size = casadi.sqrt(casadi.sumsqr(step)) / length
            share = casadi.fmin(1.0, 1.0 / casadi.fmax(size, 1e-300))
            x = [
                z - Complex(step[2 * k], step[2 * k + 1]) * Complex(share) for k, z in enumerate(x)
            ]
        bounded = casadi.fmin(casadi.fmax(pairs(x), -1e150), 1e150)
        return bounded, casadi.fmin(size, 1e300)

    inputs = (("vectors", (3, 2)), ("a", (n, 2)), ("g", (n, 2)), ("d", (n, 2)), ("b", (6, 2)))
    signature = Signature("triads", inputs, (("vectors", (3, 2)), ("size", ())))
    return traced(signature, expressions, keys.key(__name__, "polish", chosen)).caller(Context())


def _conditions(
    x: list[Complex], a: list[Complex], g: list[Complex], d: list[Complex], b: list[Complex]
) -> tuple[SX, SX]:
    """(J (6, 6), f (6)) over the real and imaginary parts of W, V, Z."""
    W, V, Z = x
    rows: list[SX] = []
    values: list[SX] = []
    for j in range(len(a)):
        if j < len(b):
            error = W * a[j] + V * b[j] + Z * g[j] - d[j]
            columns = [a[j], b[j], g[j]]
            rows += [_real(columns), _real([-(Complex(0.0, 1.0) * c) for c in columns])]
            values += [error.re, error.im]
        else:
            turned = V + d[j] - W * a[j] - Z * g[j]
            back = turned.conjugate()
            rows.append(_real([-(back * a[j]), back - V.conjugate(), -(back * g[j])]))
            values.append(0.5 * (turned.abs2() - V.abs2()))
    return casadi.vertcat(*rows), casadi.vertcat(*values)


def _real(columns: list[Complex]) -> SX:
    """Re(sum c_k x_k) as a row over (Re x_1, Im x_1, ...)."""
    return casadi.horzcat(*[part for c in columns for part in (c.re, -c.im)])
