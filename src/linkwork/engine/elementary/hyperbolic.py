"""Hyperbolic functions with their inverses."""

from __future__ import annotations

import math

from linkwork.engine.elementary.coefficients import COSH, SINH
from linkwork.engine.elementary.exponential import BIAS, rise, split
from linkwork.engine.elementary.guarded import Guarded
from linkwork.engine.elementary.logarithmic import log1p_inside
from linkwork.engine.elementary.packets import Reals

# Up to here neither 2^(k-1) nor 2^(-k-1) leaves the normal numbers.
LIMIT = 708.0
# Up to here squares and their sums are finite.
SQUARE_LIMIT = 2.0**500


def sinh(x: Reals) -> Guarded:
    """(2^(k-1) - 2^(-k-1)) cosh r + (2^(k-1) + 2^(-k-1)) sinh r, where |x| = k ln 2 + r."""
    size = abs(x)
    s, c, difference, total = _parts(size)
    value = difference + difference.times_plus(c, total * s)
    return Guarded((value.flipped(x.bits()),), size.beyond(LIMIT), ("sinh",))


def cosh(x: Reals) -> Guarded:
    """(2^(k-1) + 2^(-k-1)) cosh r + (2^(k-1) - 2^(-k-1)) sinh r, where |x| = k ln 2 + r."""
    size = abs(x)
    s, c, difference, total = _parts(size)
    return Guarded((total + total.times_plus(c, difference * s),), size.beyond(LIMIT), ("cosh",))


def tanh(x: Reals) -> Reals:
    """(e - 1) / (e + 1) with e = exp(2 |x|) = 2^k (1 + rise); from 20 on it rounds to 1."""
    size = abs(x)
    r, exponent = split((size > 20.0).choose(20.0, size) * 2.0, BIAS)
    power, p = (exponent << 52).reals(), rise(r)
    return (p.times_plus(power, power - 1.0) / p.times_plus(power, power + 1.0)).flipped(x.bits())


def asinh(x: Reals) -> Guarded:
    """log(1 + y) with y = |x| + x^2 / (1 + sqrt(1 + x^2)) and the sign of x."""
    size = abs(x)
    square = size * size
    y = size + square / ((square + 1.0).sqrt() + 1.0)
    return Guarded((log1p_inside(y).flipped(x.bits()),), size.beyond(SQUARE_LIMIT), ("asinh",))


def acosh(x: Reals) -> Guarded:
    """log(1 + y) with y = t + sqrt(2 t + t^2), t = x - 1."""
    t = x - 1.0
    y = t + t.times_plus(t, t + t).sqrt()
    return Guarded((log1p_inside(y),), x.below(1.0) | (x > SQUARE_LIMIT), ("acosh",))


def atanh(x: Reals) -> Guarded:
    """log(1 + y) / 2 with y = 2 |x| / (1 - |x|) and the sign of x."""
    size = abs(x)
    value = log1p_inside((size + size) / (1.0 - size)) * 0.5
    rare = size.beyond(math.nextafter(1.0, 0.0))
    return Guarded((value.flipped(x.bits()),), rare, ("atanh",))


def _parts(size: Reals) -> tuple[Reals, Reals, Reals, Reals]:
    """sinh r, cosh r - 1, 2^(k-1) - 2^(-k-1), 2^(k-1) + 2^(-k-1) of size = k ln 2 + r."""
    r, exponent = split(size, BIAS - 1)
    high = exponent << 52
    up, down = high.reals(), ((2 * BIAS - 2 << 52) - high).reals()
    z = r * r
    return (z * r).times_plus(z.polynomial(SINH), r), z * z.polynomial(COSH), up - down, up + down
