"""Sine, cosine and tangent.

With |x| = k pi/2 + r, |r| <= pi/4: sin r and cos r by polynomials, swapped where k is odd, signs
from bits of k and x.
"""

from __future__ import annotations

from linkwork.engine.elementary.coefficients import COS, HALF_PI, SIN, TAN, TWO_OVER_PI
from linkwork.engine.elementary.guarded import Guarded
from linkwork.engine.elementary.packets import Bits, Reals

# Added to a number below 2^51 it leaves the nearest integer in the low bits.
ROUNDER = 1.5 * 2.0**52

# Up to here k stays below 2^40 and r keeps its last bit, see _reduced.
LIMIT = 2.0**40


def sincos(x: Reals) -> Guarded:
    """sin x and cos x from one reduction."""
    size = abs(x)
    k, quadrant = _quarter_turns(size)
    s, c = _waves(_reduced(size, k))
    odd, half_turn = quadrant << 63, quadrant << 62
    swapped = odd.top()
    sine = swapped.choose(c, s).flipped(half_turn ^ x.bits())
    cosine = swapped.choose(s, c).flipped(half_turn ^ odd)
    return Guarded((sine, cosine), size.beyond(LIMIT), ("sin", "cos"))


def sin(x: Reals) -> Guarded:
    """The sine of `sincos`; what only the cosine needs is never made into code."""
    both = sincos(x)
    return Guarded(both.usual[:1], both.rare, both.names[:1])


def cos(x: Reals) -> Guarded:
    """The cosine of `sincos`."""
    both = sincos(x)
    return Guarded(both.usual[1:], both.rare, both.names[1:])


def tan(x: Reals) -> Guarded:
    """tan r, or where k is odd -1 / tan r."""
    size = abs(x)
    k, quadrant = _quarter_turns(size)
    r = _reduced(size, k)
    z = r * r
    t = (z * r).times_plus(z.polynomial_in_pairs(TAN), r)
    odd = quadrant << 63
    swapped = odd.top()
    quotient = swapped.choose(1.0, t) / swapped.choose(t, 1.0)
    return Guarded((quotient.flipped(odd ^ x.bits()),), size.beyond(LIMIT), ("tan",))


def _quarter_turns(size: Reals) -> tuple[Reals, Bits]:
    """k, the integer nearest to size / (pi/2), and words with k in their low bits."""
    shifted = size.times_plus(TWO_OVER_PI, ROUNDER)
    return shifted - ROUNDER, shifted.bits()


def _reduced(size: Reals, k: Reals) -> Reals:
    """r = size - k pi/2 to half a unit in its last place, however small.

    The first product and sum is exact: a multiple of the last bit of pi/2 or of x, and less than 1.
    The second rounds, the third matters where x is so near a multiple of pi/2 that the second left
    few digits; what pi/2 has beyond these three parts is below 2^-160 k.
    """
    r = size
    for part in HALF_PI:
        r = k.times_plus(-part, r)
    return r


def _waves(r: Reals) -> tuple[Reals, Reals]:
    """sin r and cos r for |r| <= pi/4."""
    z = r * r
    return (z * r).times_plus(z.polynomial(SIN), r), z.times_plus(z.polynomial(COS), 1.0)
