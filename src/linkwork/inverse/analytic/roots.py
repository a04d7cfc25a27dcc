"""Roots of trigonometric polynomials, all of them at once, in machine code."""

from __future__ import annotations

import functools
import math
from typing import Any

import casadi
import numpy as np
from casadi import SX, fmax

from linkwork.engine import keys
from linkwork.engine.scan import Scan, keyed_scan
from linkwork.engine.scan_trace import Shapes
from linkwork.inverse.analytic.angles import either

MOST_STEPS = 80
ACCURACY = 2e-15
"""Value of the polynomial [of the sum of its coefficients' sizes] that counts as zero:
rounding's own."""


def trigonometric_roots(coefficients: np.ndarray) -> np.ndarray:
    """Roots z = exp(i t) (..., 2m, 2) as (real, imaginary) of f(t) = sum_k a_k cos(k t) + b_k
    sin(k t).

    coefficients (..., m + 1, 2): pairs (a_k, b_k), k = 0 .. m. A real root t has |z| = 1; the
    others come in pairs z, 1 / conj(z). Simple roots are found to rounding, double ones to about
    1e-8.
    """
    c = np.asarray(coefficients, dtype=float)
    m = c.shape[-2] - 1
    size = np.abs(c).sum(axis=(-1, -2), keepdims=True)
    scaled = c / np.where(size > 0.0, size, 1.0)
    return _aberth(m)(z=_start(m), c=scaled, accuracy=ACCURACY, steps=MOST_STEPS).state["z"]


def _start(m: int) -> np.ndarray:
    """Start values near the unit circle, off it:
    on it the iteration would stay for ever (f is real there)."""
    t = 2.0 * math.pi * np.arange(2 * m) / (2 * m) + 0.35
    r = np.where(np.arange(2 * m) % 2 == 0, 0.85, 1.06)
    return np.stack([r * np.cos(t), r * np.sin(t)], axis=-1)


@functools.cache
def _aberth(m: int) -> Scan:
    """Aberth's simultaneous iteration for p(z) = z^m f:  z_i -= p / (p' - p sum_j 1 / (z_i - z_j)).

    p has the coefficients (a_k - i b_k) / 2 at z^(m+k), their conjugates at z^(m-k), and a_0 at
    z^m.
    Source: [Aberth1973] eq. 3.
    """
    n = 2 * m

    def step(z: SX, c: SX, accuracy: SX, k: SX) -> dict[str, Any]:
        upper = [(c[j, 0] / 2, -c[j, 1] / 2) for j in range(1, m + 1)]
        p = [(x, -y) for x, y in reversed(upper)] + [(c[0, 0], SX(0))] + upper
        points = [(z[i, 0], z[i, 1]) for i in range(n)]
        poles = [[SX(0), SX(0)] for _ in range(n)]
        for i in range(n):
            for j in range(i + 1, n):
                x, y = points[i][0] - points[j][0], points[i][1] - points[j][1]
                inverse = 1.0 / (x * x + y * y + 1e-300)
                x, y = x * inverse, y * inverse
                poles[i] = [poles[i][0] + x, poles[i][1] - y]
                poles[j] = [poles[j][0] - x, poles[j][1] + y]
        moved, worst = [], SX(0)
        for (x, y), pole in zip(points, poles):
            value, slope = _horner(p, x, y)
            bottom = _minus(slope, _times(value, pole))
            size = bottom[0] ** 2 + bottom[1] ** 2
            step_ = _times(value, (bottom[0], -bottom[1]))
            inverse = either(size > 0, 1.0 / either(size > 0, size, 1.0), 0.0)
            # a step longer than the point's own size only follows rounding or a root at infinity
            length2 = (step_[0] ** 2 + step_[1] ** 2) * inverse**2
            r2 = fmax(1.0, x * x + y * y)
            shorter = either(
                length2 > 4 * r2, 2 * casadi.sqrt(r2 / either(length2 > 0, length2, 1.0)), 1.0
            )
            worst = fmax(worst, (value[0] ** 2 + value[1] ** 2) / _power(r2, n))
            # far out there are no angles; huge values would overflow
            gain = either(r2 > 1e12, 0.0, inverse * shorter)
            moved.append(casadi.horzcat(x - step_[0] * gain, y - step_[1] * gain))
        return {"z": casadi.vertcat(*moved), "stop": worst <= accuracy**2}

    sizes: Shapes = {"c": (m + 1, 2), "accuracy": ()}
    return keyed_scan(
        keys.key(__name__, "aberth", m), [step], {"z": (n, 2)}, sizes, name="trigonometric_roots"
    )


def _horner(p: list[tuple[Any, Any]], x: SX, y: SX) -> tuple[tuple[SX, SX], tuple[SX, SX]]:
    """Value and derivative of a complex polynomial (lowest power first)."""
    value, slope = (SX(p[-1][0]), SX(p[-1][1])), (SX(0), SX(0))
    for c in reversed(p[:-1]):
        slope = _times(slope, (x, y))
        slope = (slope[0] + value[0], slope[1] + value[1])
        value = _times(value, (x, y))
        value = (value[0] + c[0], value[1] + c[1])
    return value, slope


def _power(x: SX, n: int) -> SX:
    """x^n by repeated squaring."""
    half = _power(x, n // 2) if n > 1 else SX(1)
    return half * half * x if n % 2 else half * half


def _times(a: Any, b: Any) -> tuple[SX, SX]:
    return a[0] * b[0] - a[1] * b[1], a[0] * b[1] + a[1] * b[0]


def _minus(a: Any, b: Any) -> tuple[SX, SX]:
    return a[0] - b[0], a[1] - b[1]
