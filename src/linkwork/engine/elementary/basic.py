"""Functions of a few instructions: roots, absolutes, rounding, signs, extremes, remainders."""

from __future__ import annotations

from linkwork.engine.elementary.guarded import Guarded
from linkwork.engine.elementary.packets import Reals


def sqrt(x: Reals) -> Reals:
    return x.sqrt()


def fabs(x: Reals) -> Reals:
    return abs(x)


def floor(x: Reals) -> Reals:
    return x.intrinsic("floor")


def ceil(x: Reals) -> Reals:
    return x.intrinsic("ceil")


def copysign(x: Reals, y: Reals) -> Reals:
    return x.copysign(y)


def sign(x: Reals) -> Reals:
    """1, -1, or x itself where it is a zero or NaN."""
    return (x > 0.0).choose(1.0, (x < 0.0).choose(-1.0, x))


def fmin(x: Reals, y: Reals) -> Reals:
    """The smaller one, x if equal (so of two zeros), the other one if one is NaN."""
    return x.is_nan().choose(y, (y < x).choose(y, x))


def fmax(x: Reals, y: Reals) -> Reals:
    """The larger one, x if equal (so of two zeros), the other one if one is NaN."""
    return x.is_nan().choose(y, (y > x).choose(y, x))


def hypot(x: Reals, y: Reals) -> Guarded:
    """sqrt(x^2 + y^2), directly where no square leaves the normal numbers by much."""
    x, y = abs(x), abs(y)
    larger = (y > x).choose(y, x)
    rare = larger.beyond(2.0**500) | y.beyond(2.0**500) | ((larger < 2.0**-500) & (larger > 0.0))
    return Guarded((x.times_plus(x, y * y).sqrt(),), rare, ("hypot",))


def fmod(x: Reals, y: Reals) -> Guarded:
    """x - n y exactly, where n is x / y cut to an integer.

    The rounded quotient is at most one too large, and either rest is exact: shorter than y, and a
    multiple of the last bit of x or y.
    """
    dividend, divisor = abs(x), abs(y)
    quotient = dividend / divisor
    rest = (-quotient.intrinsic("trunc")).times_plus(divisor, dividend)
    rest = (rest < 0.0).choose(rest + divisor, rest).copysign(x)
    rare = quotient.beyond(2.0**52) | divisor.beyond(2.0**1023)
    return Guarded((rest,), rare, ("fmod",))
