"""Logarithms: log and log(1 + x)."""

from __future__ import annotations

import math

from linkwork.engine.elementary.coefficients import LN2_SHORT, LOG
from linkwork.engine.elementary.guarded import Guarded
from linkwork.engine.elementary.packets import Bits, Reals

ONE = 0x3FF << 52
ROOT_HALF = 0x3FE6A09E667F3BCD  # the bits of sqrt(1/2)
MANTISSA = (1 << 52) - 1
BIAS = 1023


def log(x: Reals) -> Guarded:
    """log x = k ln 2 + log m, where x = 2^k m and m lies between sqrt(1/2) and sqrt(2)."""
    exponent, m = _split(x)
    rare = x.below(2.0**-1022) | x.equals(math.inf)
    return Guarded((_joined(exponent, m - 1.0),), rare, ("log",))


def log1p(x: Reals) -> Guarded:
    """log(1 + x) with the sign of x, zeros included."""
    rare = x.below(math.nextafter(-1.0, 0.0)) | (x > 2.0**1000)
    return Guarded((log1p_inside(x).copysign(x),), rare, ("log1p",))


def log1p_inside(x: Reals) -> Reals:
    """log(1 + x) for -1 < x <= 2^1000: what the sum 1 + x loses is added to its mantissa,
    which near 0 is x again."""
    u = x + 1.0
    lost = (x > 1.0).choose(1.0 - (u - x), x - (u - 1.0))
    exponent, m = _split(u)
    scale = (2 * BIAS - exponent << 52).reals()
    return _joined(exponent, lost.times_plus(scale, m - 1.0))


def _split(x: Reals) -> tuple[Bits, Reals]:
    """The words k + BIAS and the numbers m of x = 2^k m, for positive normal x."""
    word = x.bits() + (ONE - ROOT_HALF)
    return word >> 52, ((word & MANTISSA) + ROOT_HALF).reals()


def _joined(exponent: Bits, f: Reals) -> Reals:
    """k ln 2 + log(1 + f), with s = f / (2 + f) and L = LOG(s^2):

    log(1 + f) = 2 s + s^3 L = f - (f^2/2 - s (f^2/2 + s^2 L))
    """
    k = (exponent | (0x433 << 52)).reals() - (2.0**52 + BIAS)
    s = f / (f + 2.0)
    z = s * s
    half_square = (f * 0.5) * f
    bend = s.times_plus(z.times_plus(z.polynomial(LOG), half_square), k * LN2_SHORT[1])
    return k.times_plus(LN2_SHORT[0], f - (half_square - bend))
