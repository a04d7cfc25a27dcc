"""Exponentials: exp and exp(x) - 1."""

from __future__ import annotations

from linkwork.engine.elementary.coefficients import COSH, LN2, LOG2_E, SINH
from linkwork.engine.elementary.guarded import Guarded
from linkwork.engine.elementary.packets import Bits, Reals

BIAS = 1023


def exp(x: Reals) -> Reals:
    """2^k exp r, the power of two applied in two factors so that overflow and gradual underflow
    come out right."""
    x = (x > 720.0).choose(720.0, x)
    x = (x < -760.0).choose(-760.0, x)
    r, exponent = split(x, 2 * BIAS)
    half = exponent >> 1
    first, second = (half << 52).reals(), ((exponent - half) << 52).reals()
    return rise(r).times_plus(first, first) * second


def expm1(x: Reals) -> Guarded:
    """exp(x) - 1 = 2^k (exp(r) - 1) + (2^k - 1), which for k = 0 is exp(r) - 1 itself."""
    r, exponent = split((x < -50.0).choose(-50.0, x), BIAS)
    power = (exponent << 52).reals()
    value = rise(r).times_plus(power, power - 1.0).copysign(x)
    return Guarded((value,), x.beyond(709.0), ("expm1",))


def split(x: Reals, bias: int) -> tuple[Reals, Bits]:
    """r and a word with k + bias in its low 52 bits, where x = k ln 2 + r and |r| <= ln(2) / 2."""
    rounder = 1.5 * 2.0**52 + bias
    shifted = x.times_plus(LOG2_E, rounder)
    k = shifted - rounder
    r = x
    for part in LN2:
        r = k.times_plus(-part, r)
    return r, shifted.bits()


def rise(r: Reals) -> Reals:
    """exp(r) - 1 = sinh r + (cosh r - 1) for |r| <= ln(2) / 2."""
    z = r * r
    return z.times_plus(z.polynomial(SINH).times_plus(r, z.polynomial(COSH)), r)
