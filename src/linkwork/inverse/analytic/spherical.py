"""Three axes through one point: the angles that give a rotation."""

from __future__ import annotations

import math
from dataclasses import dataclass

import casadi
from casadi import SX, atan2, cos, fabs, sin, sqrt

from linkwork.inverse.analytic.angles import FREE, Margin, both, either, root
from linkwork.inverse.analytic.candidates import CONTINUUM, ISOLATED, TANGENT

DOUBLE = 3e-7
"""Middle angles [rad] this near to 0 or pi are one double root,
of outer axes at right angles there.

Taken as 0 such an angle turns the hand by its square over the sine of the angle between the outer
axes, which the other two angles do not make good: so it is compared with DOUBLE times the root of
that sine.
"""


@dataclass
class Turns:
    """The three angles of both solutions: theta[k] with k = 0, 1; exists[k];
    kind and multiplicity of both."""

    theta: tuple[tuple[SX, SX, SX], tuple[SX, SX, SX]]
    exists: tuple[SX, SX]
    kind: SX
    multiplicity: SX
    cosine: SX


def about_z(s: SX, c: SX) -> SX:
    """Rz from sine and cosine."""
    return casadi.vertcat(
        casadi.horzcat(c, -s, 0), casadi.horzcat(s, c, 0), casadi.horzcat(0, 0, 1)
    )


def about_x(alpha: float) -> SX:
    """Rx of a constant angle, exact zeros and ones at quarter turns."""
    c, s = exact_cos(alpha), exact_sin(alpha)
    return casadi.sparsify(SX(casadi.DM([[1, 0, 0], [0, c, -s], [0, s, c]])))


def exact_cos(alpha: float) -> float:
    return float(_snap(math.cos(alpha)))


def exact_sin(alpha: float) -> float:
    return float(_snap(math.sin(alpha)))


def _snap(x: float) -> float:
    return round(x) if abs(x - round(x)) < 1e-15 else x


def turns(R: SX, first: float, second: float, seed: SX, margin: Margin) -> Turns:
    """R = Rz(t1) Rx(first) Rz(t2) Rx(second) Rz(t3), both solutions; `seed` is t1 where it is free.

        r33 = c_f c_s - s_f s_s cos t2
        t1 turns Rx(first) Rz(t2) (0, -s_s, c_s) onto the third column of R
        t3 is what remains, read from well-conditioned entries

    Near an aligned wrist sin t2 comes from the small entries r13, r23, because the cosine carries
    no digits of it.
    """
    cf, sf, cs, ss = exact_cos(first), exact_sin(first), exact_cos(second), exact_sin(second)
    r13, r23, r33 = R[0, 2], R[1, 2], R[2, 2]
    cosine = (cf * cs - r33) / (sf * ss)
    there = fabs(cosine) <= 1.0 + margin.slack
    h2 = r13 * r13 + r23 * r23
    bounded = casadi.fmin(casadi.fmax(cosine, -1.0), 1.0)
    small = ss * ss
    vy = -(cf * ss * bounded + sf * cs)
    sine = either(h2 < 0.01, root((h2 - vy * vy) / small), root(1.0 - bounded * bounded))
    free = h2 < FREE * FREE
    # where the outer axes align, t2 and -t2 are two postures however small they are
    least = [DOUBLE * math.sqrt(abs(sign * cf * ss + sf * cs)) for sign in (1.0, -1.0)]
    double = both(sine < either(bounded > 0, *least), 1 - free)
    sine = either(double, margin.spread, sine)
    norm = 1.0 / sqrt(sine * sine + bounded * bounded)
    s2, c2 = sine * norm, bounded * norm
    solutions = []
    for sign in (1, -1):
        vx, vy = sign * s2 * ss, -(cf * ss * c2 + sf * cs)
        # t1 = angle(r13, r23) - angle(vx, vy), as one vector
        x, y = r13 * vx + r23 * vy, r23 * vx - r13 * vy
        size = 1.0 / sqrt(either(free, 1.0, x * x + y * y))
        c1, s1 = either(free, cos(seed), x * size), either(free, sin(seed), y * size)
        before = about_z(s1, c1) @ about_x(first) @ about_z(sign * s2, c2) @ about_x(second)
        s3, c3 = casadi.dot(before[:, 1], R[:, 0]), casadi.dot(before[:, 0], R[:, 0])
        solutions.append((atan2(s1, c1), sign * atan2(s2, c2), atan2(s3, c3)))
    other = both(there, 1 - free) if margin.spread else both(there, 1 - double, 1 - free)
    kind = either(free, CONTINUUM, either(double, TANGENT, ISOLATED))
    return Turns((solutions[0], solutions[1]), (there, other), kind, either(double, 2, 1), cosine)
