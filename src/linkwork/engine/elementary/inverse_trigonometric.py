"""Arcs: asin, acos, atan, atan2."""

from __future__ import annotations

from linkwork.engine.elementary.coefficients import ASIN, ATAN, HALF_PI, PI
from linkwork.engine.elementary.packets import Mask, Reals


def atan2(y: Reals, x: Reals) -> Reals:
    """The angle of the point (x, y): atan t for t = min / max of |x| and |y|,
    then reflected into the right octant.

        |y| <= |x|, x >= 0:  t           |y| > |x|, x >= 0:  pi/2 - t
        |y| <= |x|, x < 0:   pi - t      |y| > |x|, x < 0:   pi/2 + t       all with the sign of y

    "x < 0" asks for the sign bit, so zeros and infinities need no case of their own, except that
    0/0 means 0 and inf/inf means 1.
    """
    across, up = abs(x), abs(y)
    steep = up > across
    shorter, longer = steep.choose(across, up), steep.choose(up, across)
    t = shorter.equals(longer).choose(longer.equals(0.0).choose(0.0, 1.0), shorter / longer)
    backwards = x.bits().top()
    turn, rest = (
        steep.choose(half, backwards.choose(whole, 0.0))
        for half, whole in zip(HALF_PI, PI, strict=False)
    )
    return _arc(t.flipped(steep.signs() ^ x.bits()), turn, rest).flipped(y.bits())


def atan(x: Reals) -> Reals:
    """atan |x|, or pi/2 - atan(1 / |x|) beyond 1, with the sign of x."""
    size = abs(x)
    steep = size > 1.0
    t = steep.choose(1.0, size) / steep.choose(size, 1.0)
    turn, rest = (steep.choose(part, 0.0) for part in HALF_PI[:2])
    return _arc(t.flipped(steep.signs()), turn, rest).flipped(x.bits())


def _arc(t: Reals, turn: Reals, rest: Reals) -> Reals:
    """turn + rest + atan t for |t| <= 1, where turn is 0 or more than |t|:
    turn + t keeps its rounding error."""
    head = turn + t
    lost = (turn - head) + t
    z = t * t
    return head + (lost + (t * z).times_plus(z.polynomial_in_pairs(ATAN), rest))


def asin(x: Reals) -> Reals:
    """asin |x| up to 1/2, pi/2 - 2 asin sqrt((1 - |x|) / 2) above, with the sign of x;
    NaN outside [-1, 1]."""
    t, z, large = _sine_halved(x)
    arc = (t * z).times_plus(z.polynomial_in_pairs(ASIN), t)
    return large.choose(HALF_PI[0] - (arc * 2.0 - HALF_PI[1]), arc).flipped(x.bits())


def acos(x: Reals) -> Reals:
    """pi/2 - asin x up to |x| = 1/2, above it 2 asin sqrt((1 - |x|) / 2) or pi minus that;
    NaN outside [-1, 1]."""
    t, z, large = _sine_halved(x)
    arc = (t * z).times_plus(z.polynomial_in_pairs(ASIN), t)
    beside = HALF_PI[0] - (arc.flipped(x.bits()) - HALF_PI[1])
    twice = arc * 2.0
    return large.choose(x.bits().top().choose(PI[0] - (twice - PI[1]), twice), beside)


def _sine_halved(x: Reals) -> tuple[Reals, Reals, Mask]:
    """t in [0, 1/2] with its square z: |x| itself,
    or where |x| > 1/2 the sine of half the complement."""
    size = abs(x)
    large = size > 0.5
    halved = size.times_plus(-0.5, 0.5)
    z = large.choose(halved, size * size)
    return large.choose(halved.sqrt(), size), z, large
