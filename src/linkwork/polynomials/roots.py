"""Roots: all of them at once, by Aberth's simultaneous iteration in machine code."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import casadi
import numpy as np
from casadi import SX

from linkwork.engine import keys
from linkwork.engine.kernel import Context, Signature
from linkwork.engine.scan import Scan, keyed_scan
from linkwork.engine.traced import traced
from linkwork.errors import InvalidInput
from linkwork.polynomials.complex_pair import Complex, numbers, pairs

MOST_STEPS = 120
_MOST = np.array(float(MOST_STEPS))
ACCURACY = 2.0**-52
"""Value of the polynomial, of the sum of its terms' sizes, that counts as zero: rounding's own."""
SMALL = 2.0**-52
"""A correction, of the root's size, that changes nothing any more."""


def roots(coefficients: Any) -> np.ndarray:
    """All roots (..., d) of polynomials whose coefficients (..., d+1) come highest power first,
    as in numpy.roots.

    Simple roots are found to rounding, a root of multiplicity m to about the m-th root of it.
    """
    c = np.asarray(coefficients)
    if c.dtype.kind not in "fiuc":
        raise InvalidInput(
            f"roots: coefficients have dtype {c.dtype}, expected real or complex numbers"
        )
    if c.ndim < 1 or c.shape[-1] < 2:
        raise InvalidInput(
            f"roots: coefficients have shape {c.shape}, expected (..., d + 1) with d of at least 1"
        )
    c = np.asarray(c, dtype=complex)
    if not np.isfinite(c).all():
        raise InvalidInput("roots: coefficients are not finite")
    size = np.abs(c).max(axis=-1)
    if (np.abs(c[..., 0]) <= 1e-300 * size).any():
        where = np.argwhere(np.abs(c[..., 0]) <= 1e-300 * size)[0].tolist()
        raise InvalidInput(
            f"roots: the first coefficient of polynomial {where} is zero; leave it out"
        )
    return all_roots(c / size[..., None])


def all_roots(c: np.ndarray) -> np.ndarray:
    """The same without questions: finite complex coefficients (..., d+1), highest power first."""
    packed = np.ascontiguousarray(c).view(float).reshape(*c.shape, 2)
    return iterated(*_preparation(c.shape[-1] - 1)(packed))


def iterated(state: np.ndarray, c: np.ndarray) -> np.ndarray:
    """Roots (..., d) complex from what `prepared` gives: start state (..., 1 + 2 d),
    coefficients (..., 2 (d + 1))."""
    d = c.shape[-1] // 2 - 1
    if c.ndim == 1:  # the lean way in
        final, _ = _one(d)(state, c, _MOST)
        return final[1:].view(complex)
    start = state[..., 1:].reshape(*c.shape[:-1], d, 2)
    z = _aberth(d)(z=start, c=c.reshape(*c.shape[:-1], d + 1, 2), steps=MOST_STEPS).state["z"]
    return np.ascontiguousarray(z).view(complex)[..., 0]


def prepared(c: list[Complex]) -> tuple[SX, SX]:
    """(start state (1 + 2 d), coefficients (2 (d + 1)) of size one) of a polynomial,
    highest power first.

    Starts lie around the circle whose radius is the geometric mean of the roots' sizes, off every
    line of symmetry: on one the iteration would stay for ever.
    """
    d = len(c) - 1
    largest = c[0].size()
    for a in c[1:]:
        largest = casadi.fmax(largest, a.size())
    scale = Complex(1.0 / casadi.if_else(largest > 0, largest, 1.0))
    unit = [a * scale for a in c]
    ends = unit[-1].size() / casadi.fmax(unit[0].size(), 1e-300)
    radius = casadi.fmin(casadi.fmax(ends, 1e-150), 1e150) ** (1.0 / d)
    radius = casadi.if_else(largest > 0, radius, 1.0)
    t = 2.0 * np.pi * np.arange(d) / d + 0.4
    r = np.where(np.arange(d) % 2 == 0, 0.93, 1.08)
    points = [
        x for k in range(d) for x in (r[k] * np.cos(t[k]) * radius, r[k] * np.sin(t[k]) * radius)
    ]
    return casadi.vertcat(0.0, *points), casadi.vertcat(*[x for a in unit for x in (a.re, a.im)])


@functools.cache
def _preparation(d: int) -> Callable[..., Any]:
    signature = Signature(
        "roots", (("c", (d + 1, 2)),), (("state", (1 + 2 * d,)), ("c", (2 * (d + 1),)))
    )
    kernel = traced(signature, lambda c: prepared(numbers(c)), keys.key(__name__, "prepared", d))
    return kernel.caller(Context())


@functools.cache
def _one(d: int) -> Callable[..., Any]:
    return _aberth(d).caller()


@functools.cache
def _aberth(d: int) -> Scan:
    """z_i -= N_i / (1 - N_i sum_j 1 / (z_i - z_j)), N = p / p'.

    Outside the unit circle p is evaluated as z^d q(1/z), q with the coefficients reversed, so that
    nothing overflows.
    Source: [Aberth1973] eq. 3.
    """

    def step(z: SX, c: SX, k: SX) -> dict[str, Any]:
        points, highest_first = numbers(z), numbers(c)
        lowest_first = highest_first[::-1]
        poles = _sums_of_inverses(points)
        moved, all_done = [], SX(1)
        for point, pole in zip(points, poles):
            outside = point.abs2() > 1
            inverse = Complex(1.0) / Complex(1.0).where(point.abs2() <= 0, point)
            at = inverse.where(outside, point)
            chosen = [a.where(outside, b) for a, b in zip(lowest_first, highest_first)]
            value, slope, bound = _horner(chosen, at)
            # p / p' inside; outside it is z q / (d q - q' / z)
            below = (d * value - at * slope).where(outside, slope)
            above = (value * point).where(outside, value)
            bottom = below - above * pole
            step_ = above / Complex(1.0).where(bottom.abs2() <= 0, bottom)
            accurate = value.abs2() <= (ACCURACY * bound) ** 2
            still = step_.abs2() <= SMALL**2 * point.abs2() + 1e-300
            settled = casadi.logic_or(accurate, still)
            all_done = casadi.logic_and(all_done, settled)
            moved.append(point.where(accurate, point - step_))
        return {"z": pairs(moved), "stop": all_done}

    key = keys.key(__name__, "aberth", d)
    return keyed_scan(key, [step], {"z": (d, 2)}, {"c": (d + 1, 2)}, name="roots")


def _sums_of_inverses(points: list[Complex]) -> list[Complex]:
    """sum over j != i of 1 / (z_i - z_j)."""
    sums = [Complex(0.0) for _ in points]
    for i in range(len(points)):
        for j in range(i):
            apart = points[i] - points[j]
            inverse = apart.conjugate() * (1.0 / (apart.abs2() + 1e-290))
            sums[i], sums[j] = sums[i] + inverse, sums[j] - inverse
    return sums


def _horner(c: list[Complex], z: Complex) -> tuple[Complex, Complex, SX]:
    """Value, derivative, and the sum of the terms' sizes,
    of a polynomial with the highest power first."""
    value, slope, r = c[0], Complex(0.0), casadi.sqrt(z.abs2())
    bound = c[0].size()
    for a in c[1:]:
        slope = slope * z + value
        value = value * z + a
        bound = bound * r + a.size()
    return value, slope, bound
