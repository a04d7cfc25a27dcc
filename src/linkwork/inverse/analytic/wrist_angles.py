"""Wrist angles: pairs (theta5, theta6) that fulfil both constraints of an offset wrist
(offset_wrist.py)."""

from __future__ import annotations

from dataclasses import dataclass

import casadi
from casadi import SX, fabs, fmax, sqrt

from linkwork.inverse.analytic.angles import any_of, both, clamped, either, root
from linkwork.inverse.analytic.crossings import within
from linkwork.inverse.analytic.spherical import exact_cos, exact_sin
from linkwork.inverse.analytic.trigonometric import Trig
from linkwork.spatial import Transform

ROOTS = 8
SAME = 1e-6
"""Angles this near [rad] are one root."""
SINGULAR = 1e-6
"""Determinant of the two scaled constraints below which their root is a double one."""
CROWD = 0.02
"""Roots this near to each other may be one of higher multiplicity."""
ON_CIRCLE = 1e-4
"""A root this near to the unit circle is real,
unless a pair of complex ones is very near to being so."""


@dataclass(frozen=True)
class Dimensions:
    """Lengths [m] and twists [rad] of the canonical arm."""

    a2: float
    d4: float
    d5: float
    alpha4: float
    alpha5: float

    @property
    def scale(self) -> float:
        return abs(self.a2) + abs(self.d4) + abs(self.d5)


@dataclass(frozen=True)
class Constraint:
    """cosine(theta6) cos theta5 + sine(theta6) sin theta5 + constant(theta6) = 0, scaled."""

    cosine: Trig
    sine: Trig
    constant: Trig


def constraints(size: Dimensions, T: Transform) -> tuple[Constraint, Constraint]:
    """Phi4 (the forearm's axis lies in a plane with axis 1) and Phi6 (the upper arm has its
    length), scaled.

        z4 = s_a5 y5 + c_a5 z6,   X = x5,   Y = c_a5 y5 - s_a5 z6,   y4 = s5 X + c5 Y,   z3 = s_a4 y4 + c_a4 z4
        Phi4 = z3 . (P4 x z0),    Phi6 = |P3|^2 - a2^2,    P4 = P5 - d5 z4,    P3 = P4 - d4 z3            (13, 17)

    with x5, y5 affine in (cos theta6, sin theta6), so that both are affine in (c5, s5) and in
    (c6, s6).
    """
    L = size.scale
    a2, d4, d5, w = size.a2 / L, size.d4 / L, size.d5 / L, T.p / L
    s4, c4, s5, c5 = (f(x) for x in (size.alpha4, size.alpha5) for f in (exact_sin, exact_cos))
    x6, y6, z6 = T.R[:, 0], T.R[:, 1], T.R[:, 2]
    m = casadi.vertcat(w[1], -w[0], 0)

    def along(v: SX) -> tuple[Trig, Trig, Trig]:
        """v . X, v . Y, v . z4 as functions of theta6."""
        a, b, c = casadi.dot(v, x6), casadi.dot(v, y6), casadi.dot(v, z6)
        X = Trig.affine(SX(0), a, -b)
        y5 = (SX(0), b, a)
        Y = Trig.affine(-s5 * c, *(c5 * e for e in y5[1:]))
        return X, Y, Trig.affine(c5 * c, *(s5 * e for e in y5[1:]))

    def times(k: float | SX, t: Trig) -> Trig:
        return Trig(tuple(k * a for a in t.cosines), tuple(k * b for b in t.sines))

    mX, mY, mZ = along(m)
    zX, zY, _ = along(SX(casadi.DM([0, 0, 1])))
    wX, wY, wZ = along(w)
    plane = Constraint(times(s4, mY - times(d5, zX)), times(s4, mX + times(d5, zY)), times(c4, mZ))
    square = casadi.sumsqr(w) + d5**2 + d4**2 - a2**2 + 2 * d4 * d5 * c4
    length = Constraint(
        times(-2 * d4 * s4, wY),
        times(-2 * d4 * s4, wX),
        Trig.affine(square, SX(0), SX(0)) + times(-2 * d5 - 2 * d4 * c4, wZ),
    )
    return plane, length


def polynomial(size: Dimensions, T: Transform) -> Trig:
    """f(theta6) of degree 4: Cramer's rule for (cos theta5, sin theta5) and cos^2 + sin^2 = 1."""
    p, q = constraints(size, T)
    sine_part = p.sine * q.constant - q.sine * p.constant
    cosine_part = p.constant * q.cosine - q.constant * p.cosine
    both_part = p.cosine * q.sine - q.cosine * p.sine
    return sine_part * sine_part + cosine_part * cosine_part - both_part * both_part


def packed(e: Constraint) -> SX:
    """(3, 3): rows for cosine, sine and constant of theta5,
    columns (constant, cosine, sine) of theta6."""
    rows = [(t.cosines[0], t.cosines[1], t.sines[1]) for t in (e.cosine, e.sine, e.constant)]
    return casadi.vertcat(*[casadi.horzcat(*(SX(x) for x in row)) for row in rows])


def unpacked(M: SX) -> Constraint:
    """The inverse of `packed`."""
    return Constraint(*(Trig.affine(M[k, 0], M[k, 1], M[k, 2]) for k in range(3)))


def joined(plane: Constraint, length: Constraint, f: Trig) -> SX:
    """(28,): both constraints and their polynomial, for `parts`."""
    return casadi.vertcat(*(casadi.vec(M) for M in (packed(plane), packed(length), f.pairs())))


def parts(known: SX) -> tuple[Constraint, Constraint, Trig]:
    """The inverse of `joined`."""
    plane, length = (unpacked(casadi.reshape(known[k : k + 9], 3, 3)) for k in (0, 9))
    degree = ROOTS // 2
    a, b = ([known[18 + (degree + 1) * k + j] for j in range(degree + 1)] for k in (0, 1))
    return plane, length, Trig(tuple(a), (0, *b[1:]))


@dataclass(frozen=True)
class Trial:
    """keep: how far from the unit circle a root is still tried,
    because double ones are known to half the digits only.

    accuracy: scaled constraints below which a pair of angles is a solution after so many of
    Newton's steps.
    nominal: the true arm is only nearly this one, and what is found here will be polished there.
    """

    keep: float
    accuracy: float
    steps: int
    nominal: bool


def tried(plane: Constraint, length: Constraint, z: SX, seed: SX, trial: Trial) -> SX:
    """(2, 6): what one root z of `polynomial` leads to, rows (c5, s5, c6, s6, error, double);
    error 1 means none.

    seed: theta5 where it is free.
    """
    r = sqrt(z[0] * z[0] + z[1] * z[1])
    inverse = 1.0 / fmax(r, 1e-9)
    near, c6, s6 = fabs(r - 1.0) < trial.keep, z[0] * inverse, z[1] * inverse
    if trial.nominal:
        # a complex pair of the nominal arm may be real on the true one:
        # two starts as far apart as its halves
        c6, s6 = _unit(*_turned(c6, s6, r - 1.0))
    rows = []
    for sign in (1, -1):
        start = (*_from_stronger(plane, length, c6, s6, sign, seed), c6, s6)
        stays = fabs(r - 1.0) > 1e-3 if trial.nominal else SX(0)
        rows.append(casadi.horzcat(*_polished(plane, length, start, near, stays, trial)))
    return casadi.vertcat(*rows)


def at_crossing(plane: Constraint, length: Constraint, f: Trig, middle: SX, trial: Trial) -> SX:
    """(6,): the row (c5, s5, c6, s6, exists, double) of the only root of f in a bin;
    see crossings.within.

    At a simple root one theta5 fulfils both constraints: the one of two from the stronger that the
    other likes better. It does not exist where Newton's steps leave the bin or end at a root that
    is nearly double.
    """
    c6, s6 = within(f, middle, 4)
    starts = [_from_stronger(plane, length, c6, s6, sign, SX(0)) for sign in (1, -1)]
    errors = []
    for c5, s5 in starts:
        value = _linearised(plane, length, c5, s5, c6, s6)[0]
        errors.append(fmax(fabs(value[0]), fabs(value[1])))
    first = errors[0] <= errors[1]
    start = tuple(either(first, x, y) for x, y in zip(*starts, strict=True))
    *pair, error, double = _polished(plane, length, (*start, c6, s6), SX(1), SX(0), trial)
    sine = fabs(pair[3] * middle[0] - pair[2] * middle[1])
    stayed = both(sine < middle[2] + 1e-9, pair[2] * middle[0] + pair[3] * middle[1] > 0)
    return casadi.vertcat(*pair, both(error < 1.0, stayed, 1 - double), 0)


def _from_stronger(
    plane: Constraint, length: Constraint, c6: SX, s6: SX, sign: int, seed: SX
) -> tuple[SX, SX]:
    """theta5 as (cos, sin): one of the two solutions of the constraint that says more about it.

    A true solution fulfils both constraints, so it is among the two of either. Where both are void
    theta5 is free.
    """
    A, B, C = (t.at(c6, s6) for t in (plane.cosine, plane.sine, plane.constant))
    D, E, F = (t.at(c6, s6) for t in (length.cosine, length.sine, length.constant))
    stronger = A * A + B * B > D * D + E * E
    A, B, C = either(stronger, A, D), either(stronger, B, E), either(stronger, C, F)
    r2 = A * A + B * B
    void = r2 < 1e-20
    r2 = either(void, 1.0, r2)
    h = root(r2 - C * C)
    size = 1.0 / sqrt(r2 * (C * C + h * h))
    c, s = (-A * C - sign * B * h) * size, (-B * C + sign * A * h) * size
    return either(void, casadi.cos(seed), c), either(void, casadi.sin(seed), s)


def _polished(
    plane: Constraint, length: Constraint, start: tuple[SX, ...], near: SX, stays: SX, trial: Trial
) -> tuple[SX, ...]:
    """(c5, s5, c6, s6, error, double) after Newton's steps on both constraints
    (none where it stays at its start)."""
    c5, s5, c6, s6 = start
    first = _linearised(plane, length, c5, s5, c6, s6)[0]
    for _ in range(trial.steps):
        value, by5, by6 = _linearised(plane, length, c5, s5, c6, s6)
        det = by5[0] * by6[1] - by5[1] * by6[0]
        inverse = either(det == 0, 0.0, 1.0 / either(det == 0, 1.0, det))
        # no step is longer than 0.1 rad: a root that was near stays near
        c5, s5 = _turned(
            c5, s5, clamped((value[1] * by6[0] - value[0] * by6[1]) * inverse, -0.1, 0.1)
        )
        c6, s6 = _turned(
            c6, s6, clamped((by5[1] * value[0] - by5[0] * value[1]) * inverse, -0.1, 0.1)
        )
    (c5, s5), (c6, s6) = _unit(c5, s5), _unit(c6, s6)
    value, by5, by6 = _linearised(plane, length, c5, s5, c6, s6)
    det = by5[0] * by6[1] - by5[1] * by6[0]
    error, before = fmax(fabs(value[0]), fabs(value[1])), fmax(fabs(first[0]), fabs(first[1]))
    # at a multiple root the steps divide noise by noise: the start may have been better
    better = both(error <= before, 1 - stays)
    error = either(better, error, before)
    turns = [either(better, new, old) for new, old in zip((c5, s5, c6, s6), start)]
    return (
        *turns,
        either(both(near, error < either(stays, 0.05, trial.accuracy)), error, 1.0),
        fabs(det) < SINGULAR,
    )


def _linearised(
    plane: Constraint, length: Constraint, c5: SX, s5: SX, c6: SX, s6: SX
) -> tuple[list[SX], list[SX], list[SX]]:
    """Values of both constraints, and their derivatives by theta5 and by theta6."""
    value, by5, by6 = [], [], []
    for e in (plane, length):
        A, B, C = (t.at(c6, s6) for t in (e.cosine, e.sine, e.constant))
        dA, dB, dC = (t.slope(c6, s6) for t in (e.cosine, e.sine, e.constant))
        value.append(A * c5 + B * s5 + C)
        by5.append(B * c5 - A * s5)
        by6.append(dA * c5 + dB * s5 + dC)
    return value, by5, by6


def _turned(c: SX, s: SX, step: SX) -> tuple[SX, SX]:
    """A unit vector turned by atan(step), its length kept to step^4."""
    c, s = c - s * step, s + c * step
    size = 1.5 - 0.5 * (c * c + s * s)
    return c * size, s * size


def _unit(c: SX, s: SX) -> tuple[SX, SX]:
    size = 1.0 / sqrt(c * c + s * s)
    return c * size, s * size


def direction(c: SX, s: SX) -> tuple[SX, SX]:
    """As `_unit`, and (1, 0) for nothing."""
    none = c * c + s * s < 1e-20
    return _unit(either(none, 1.0, c), either(none, 0.0, s))


def crowds(roots: SX, tried: SX) -> tuple[SX, SX]:
    """(means (8, 2), doubtful): for each root the mean of those within CROWD of it;
    whether a multiple root is likely.

    A root of multiplicity m is known to the m-th root of rounding only, but the mean of what it
    splits into is known well. Doubtful is a crowd of three or more that led to something singular,
    and a root on the unit circle that led nowhere.
    """
    rows = [[roots[i, 0], roots[i, 1]] for i in range(ROOTS)]
    far = [fabs(sqrt(x * x + y * y) - 1.0) for x, y in rows]
    near = [r < CROWD for r in far]
    sums, counts = [list(row) for row in rows], [SX(1)] * ROOTS
    doubtful = SX(0)
    for i in range(ROOTS):
        nowhere = both(tried[2 * i, 4] >= 1.0, tried[2 * i + 1, 4] >= 1.0)
        doubtful = any_of(doubtful, both(nowhere, far[i] < ON_CIRCLE))
        for j in range(i):
            apart = (rows[i][0] - rows[j][0]) ** 2 + (rows[i][1] - rows[j][1]) ** 2
            joined = both(near[i], near[j], apart < CROWD**2)
            for a, b in ((i, j), (j, i)):
                sums[a] = [s + casadi.if_else(joined, x, 0) for s, x in zip(sums[a], rows[b])]
                counts[a] = counts[a] + joined
    means = [casadi.horzcat(s[0] / n, s[1] / n) for s, n in zip(sums, counts)]
    for k, n in enumerate(counts):
        doubtful = any_of(doubtful, both(n > 2, any_of(tried[2 * k, 5], tried[2 * k + 1, 5])))
    return casadi.vertcat(*means), doubtful


def kept(tried: SX) -> SX:
    """(16,): 1 for rows (c5, s5, c6, s6, error, double) of `tried` that are solutions,
    of equal ones for the best.

    Rows are compared by two projections of their four numbers: others are as near in both once in
    1e11 pairs.
    """
    rows = [[tried[i, k] for k in range(6)] for i in range(2 * ROOTS)]
    keys = [
        [sum(w * x for w, x in zip(weights, row[:4])) for weights in _PROJECTIONS] for row in rows
    ]
    keep = [row[4] < 1.0 for row in rows]
    for i in range(len(rows)):
        for j in range(i):
            same = SX((keys[i][0] - keys[j][0]) ** 2 + (keys[i][1] - keys[j][1]) ** 2 < SAME**2)
            worse = rows[i][4] >= rows[j][4]
            keep[i] = both(keep[i], 1 - both(same, worse))
            keep[j] = both(keep[j], 1 - both(same, 1 - worse))
    return casadi.vertcat(*keep)


_PROJECTIONS = ((0.61, 0.47, -0.53, 0.34), (0.29, -0.71, 0.43, 0.48))
