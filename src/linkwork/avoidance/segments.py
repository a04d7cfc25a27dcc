"""Segments and capsules beside the safety volume, over symbols: how deep one reaches into it,
and its clearance.

With P the end of a link, x its direction at the arm angle, a point p is inside the volume where

    x . (p - P) > s(|p - P|^2)        s: where the link would touch the volume's surface, see
                                      `volume.forbidden_arc`

so a segment is inside where the largest x . (p - P) - s over its points is positive. On the sphere
that is a concave quadratic along the segment, on the cone a line less a branch of a hyperbola: both
have their largest value in closed form. As a function of the arm angle it is the largest of
sinusoids, which is what makes its zeros provable (`crossings.py`). Nothing like it stands in
[Simas2022], which knows one point.
"""

from __future__ import annotations

from dataclasses import dataclass

import casadi
from casadi import SX, fmax, fmin, if_else, sqrt

from linkwork.avoidance.volume import FAR, Swing, _opening

SHORT = 1e-12
"""A segment shorter than this [m] is a point."""
NOWHERE = -1e6
"""How deep [m] a segment is where it is beside no part of a solid."""


@dataclass(frozen=True)
class _Line:
    """A segment seen from a point P: foot + tau e, tau in [low, high] [m],
    foot the point of its line nearest to P."""

    foot: SX
    e: SX
    low: SX
    high: SX

    def at(self, tau: SX) -> SX:
        return self.foot + tau * self.e


def depth(
    swing: Swing, upper: float, fore: float, angle: SX, start: SX, end: SX, m: SX, M: SX
) -> tuple[SX, SX, SX]:
    """(depth, its slope, its curvature's bound):
    positive depth [m] where the segment enters the volume at `angle`.

    The depth g is the largest of sinusoids of the arm angle, so g'' >= -bound wherever it has a
    second derivative.
    """
    across = casadi.cos(angle) * swing.v0 + casadi.sin(angle) * swing.w0
    turned = casadi.cos(angle) * swing.w0 - casadi.sin(angle) * swing.v0
    wrist = swing.shoulder + swing.D * swing.u
    depths = []
    for P, u, near, far in ((swing.shoulder, swing.u, upper, fore), (wrist, -swing.u, fore, upper)):
        cos_f, sin_f = _opening(near, far, swing.D)
        x, slope_of_x = cos_f * u + sin_f * across, sin_f * turned
        line = _seen_from(P, start, end)
        deepest, tau = _deepest(line, x, near, m, M)
        depths.append((deepest, casadi.dot(slope_of_x, line.at(tau)), sin_f))
    (one, slope, sine), (other, other_slope, other_sine) = depths
    first = one >= other
    bound = fmax(_off_axis(swing, start), _off_axis(swing, end)) * fmax(sine, other_sine)
    return if_else(first, one, other), if_else(first, slope, other_slope), bound


def segment_clearance(S: SX, E: SX, W: SX, start: SX, end: SX, minimum: SX, maximum: SX) -> SX:
    """Least clearance [m] of any point of the segment, as `volume.clearance` measures it."""
    line = _seen_from(E, start, end)
    sphere = sqrt(casadi.sumsqr(line.at(fmax(line.low, fmin(line.high, 0))))) - maximum
    upper = _beside_cone(S, E, start, end, minimum, maximum)
    fore = _beside_cone(W, E, start, end, minimum, maximum)
    return fmin(sphere, fmin(upper, fore))


def _seen_from(P: SX, start: SX, end: SX) -> _Line:
    along = end - start
    length = sqrt(casadi.sumsqr(along))
    e = along / fmax(length, SHORT)
    place = -casadi.dot(start - P, e)
    return _Line(start - P + place * e, e, -place, length - place)


def _deepest(line: _Line, x: SX, length: float, m: SX, M: SX) -> tuple[SX, SX]:
    """(largest x . p - s, where): over the sphere,
    and over the cone where the segment can be beside it."""
    h2, base, sigma = casadi.sumsqr(line.foot), casadi.dot(x, line.foot), casadi.dot(x, line.e)
    # The sphere about the elbow: s = (p^2 + L^2 - M^2) / 2L.
    best_tau: SX = _clipped(sigma * length, line.low, line.high)
    best = base + sigma * best_tau - (h2 + best_tau**2 + length**2 - M**2) / (2 * length)
    # The cone: no farther from P than its rim, which bounds tau; the depth is concave there,
    # or largest at a kink.
    k = (M - m) / length
    widest = length**2 + M**2 - h2
    rim = sqrt(fmax(0, widest))
    low, high = fmax(line.low, -rim), fmin(line.high, rim)
    beside = casadi.logic_and(widest >= 0, low <= high)
    a, b = (1 + k**2) * h2 - m**2, 1 - (1 + k**2) * sigma**2
    forward = if_else(sigma >= 0, 1, -1)
    level = if_else(b > 0, sigma * sqrt(fmax(0, a) / if_else(b > 0, b, 1)), forward * FAR)
    kink = forward * sqrt(fmax(0, m**2 - h2))
    for tau in (_clipped(level, low, high), _clipped(kink, low, high), low, high):
        square = h2 + tau**2
        under = (1 + k**2) * square - m**2
        surface = if_else(square <= m**2, 0, (sqrt(fmax(0, under)) - k * m) / (1 + k**2))
        value = if_else(beside, base + sigma * tau - surface, NOWHERE)
        better = value > best
        best, best_tau = if_else(better, value, best), if_else(better, tau, best_tau)
    return best, best_tau


def _clipped(tau: SX, low: SX, high: SX) -> SX:
    return fmax(low, fmin(high, tau))


def _beside_cone(P: SX, E: SX, start: SX, end: SX, minimum: SX, maximum: SX) -> SX:
    """Least distance from the link less the radius beside it,
    over the part of the segment whose foot is on the link.

    |a + tau b| - k sigma tau is convex, so its stationary point, clipped, and the ends hold the least.
    """
    along = E - P
    length = sqrt(casadi.sumsqr(along))
    x = along / length
    line = _seen_from(P, start, end)
    s0, sigma = casadi.dot(x, line.foot), casadi.dot(x, line.e)
    level = casadi.fabs(sigma) < SHORT
    steep = if_else(level, 1, sigma)
    one, other = -s0 / steep, (length - s0) / steep
    low = if_else(level, line.low, fmax(line.low, fmin(one, other)))
    high = if_else(level, line.high, fmin(line.high, fmax(one, other)))
    on_link = casadi.logic_and(s0 >= 0, s0 <= length)
    beside = casadi.logic_and(low <= high, casadi.logic_or(casadi.logic_not(level), on_link))
    k = (maximum - minimum) / length
    a, b = line.foot - s0 * x, line.e - sigma * x
    b2, slope = casadi.sumsqr(b), k * sigma
    nearest = -casadi.dot(a, b) / fmax(b2, SHORT**2)
    gap = sqrt(fmax(0, casadi.sumsqr(a) - b2 * nearest**2))
    room = b2 - slope**2
    rising = if_else(slope >= 0, 1, -1) * FAR
    stationary = if_else(room > 0, nearest + slope * gap / sqrt(fmax(SHORT**4, b2 * room)), rising)
    least = SX(FAR)
    for tau in (fmax(low, fmin(high, stationary)), low, high):
        away = sqrt(casadi.sumsqr(a + tau * b))
        least = fmin(least, away - (minimum + k * (s0 + sigma * tau)))
    return if_else(beside, least, FAR)


def _off_axis(swing: Swing, p: SX) -> SX:
    """Distance [m] of a point from the line shoulder-wrist."""
    r = p - swing.shoulder
    return sqrt(casadi.sumsqr(r - casadi.dot(r, swing.u) * swing.u))
