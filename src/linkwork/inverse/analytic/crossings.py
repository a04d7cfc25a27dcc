"""Crossings: real roots of a trigonometric polynomial, each alone in its bin,
with a proof that there are no others.

f, f' and f'' are sampled at 64 angles. Between two of them a function g differs from the cubic with
its values and slopes at both ends by at most h^4 max|g^(4)| / 384, and the cubic stays within its
four Bernstein coefficients: if these have one sign and are further from zero than that, g has no
zero in the bin. For g = f the bin holds no root; for g = f' it holds one root if f changes its
sign, else none. A bin that neither clears is open: it is cut into 16, and if one of these is still
open there may be a double root, or two that are very near to each other. That bound is the
remainder of cubic Hermite interpolation, with max|f^(n)| <= sum_k k^n |(a_k, b_k)|.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import reduce
from typing import Any

import casadi
import numpy as np
from casadi import SX, fabs, fmax, fmin

from linkwork.inverse.analytic.angles import any_of
from linkwork.inverse.analytic.trigonometric import Trig

BINS, CUTS = 64, 16
WIDTH = 2.0 * math.pi / BINS


def _middles(count: int) -> np.ndarray:
    """(count, 3): cos and sin of the middle of each bin, and half its width [rad]."""
    t = 2.0 * math.pi * (np.arange(count) + 0.5) / count
    return np.stack([np.cos(t), np.sin(t), np.full(count, math.pi / count)], axis=-1)


COARSE, FINE = _middles(BINS), _middles(BINS * CUTS)
_WORD = 32


def crossings(f: Trig) -> tuple[SX, SX]:
    """(roots (2,), open (2,)) of a polynomial of degree 4, as words of 32 bits: bins with a root,
    and open ones."""
    values, slopes, curves = (_around(g) for g in _derivatives(f))
    least = _remainders(f, WIDTH)
    roots, unclear = [SX(0), SX(0)], [SX(0), SX(0)]
    for j in range(BINS):
        ends = [(g[j], g[(j + 1) % BINS]) for g in (values, slopes, curves)]
        crosses, is_open = _decided(ends, WIDTH, least)
        bit = float(1 << (j % _WORD))
        roots[j // _WORD] += crosses * (1 - is_open) * bit
        unclear[j // _WORD] += is_open * bit
    return casadi.vertcat(*roots), casadi.vertcat(*unclear)


def cut(f: Trig, middle: SX) -> tuple[SX, SX]:
    """(roots, undecided) of one bin cut into 16: a word of 16 bits,
    and whether one of these is still open.

    middle (3,): a row of `COARSE`.
    """
    width = WIDTH / CUTS
    local = _turned_by(f, _multiples(middle[0], middle[1], f.degree))
    angles = [(j - CUTS / 2) * width for j in range(CUTS + 1)]
    values, slopes, curves = ([_constant_at(g, t) for t in angles] for g in _derivatives(local))
    least = _remainders(f, width)
    # at an end where f is zero but for rounding,
    # the bin beside may have another opinion on its sign
    rounding = 1e-13 * sum(fabs(a) + fabs(b) for a, b in zip(f.cosines, f.sines))
    roots, undecided = SX(0), fmin(fabs(values[0]), fabs(values[-1])) <= rounding
    for j in range(CUTS):
        crosses, is_open = _decided(
            [(g[j], g[j + 1]) for g in (values, slopes, curves)], width, least
        )
        roots += crosses * float(1 << j)
        undecided = any_of(undecided, is_open)
    return roots, undecided


def bins(words: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(row, bin) of every bit that is set in words (N, 2)."""
    at = np.flatnonzero(
        np.unpackbits(words.astype("<u4").view(np.uint8), bitorder="little").view(bool)
    )
    return at >> 6, at & (BINS - 1)


def fine_bins(words: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(row, part of its bin) of every bit that is set in words (N,)."""
    at = np.flatnonzero(
        np.unpackbits(words.astype("<u2").view(np.uint8), bitorder="little").view(bool)
    )
    return at >> 4, at & (CUTS - 1)


def within(f: Trig, middle: SX, steps: int) -> tuple[SX, SX]:
    """(cos, sin) of the root in a bin, by Newton's steps that do not leave it; middle (3,):
    see `COARSE`, `FINE`."""
    turn = SX(0)
    slope = _derivative(f)
    for _ in range(steps):
        multiples = _multiples(*_turned(middle, turn), f.degree)
        turn = fmax(fmin(turn - _at(f, multiples) / _at(slope, multiples), middle[2]), -middle[2])
    return _turned(middle, turn)


def _decided(ends: Sequence[tuple[SX, SX]], width: float, least: Sequence[SX]) -> tuple[SX, SX]:
    """(crosses, open) of one bin; ends: f, f' and f'' at both."""
    value, slope, curve = ends
    crosses = SX((value[0] < 0) != (value[1] < 0))
    empty, monotone = _clear(value, slope, width) > least[0], _clear(slope, curve, width) > least[1]
    return crosses, 1 - any_of(monotone, empty)


def _clear(g: tuple[SX, SX], slope: tuple[SX, SX], width: float) -> SX:
    """How far from zero the Bernstein coefficients of g in a bin stay on one side;
    negative if they do not."""
    all_four = *g, g[0] + slope[0] * (width / 3), g[1] - slope[1] * (width / 3)
    return fmax(reduce(fmin, all_four), -reduce(fmax, all_four))


def _remainders(f: Trig, width: float) -> list[SX]:
    """Of the cubics of f and of f'; and ten times the rounding of a sample."""
    sizes = [casadi.sqrt(a * a + b * b) for a, b in zip(f.cosines, f.sines)]
    return [
        sum(k**n * (k**4 * (width**4 / 384) + 1e-14) * size for k, size in enumerate(sizes))
        + 1e-14 * sizes[0]
        for n in (0, 1)
    ]


def _derivatives(f: Trig) -> tuple[Trig, Trig, Trig]:
    slope = _derivative(f)
    return f, slope, _derivative(slope)


def _derivative(f: Trig) -> Trig:
    return Trig(
        tuple(k * b for k, b in enumerate(f.sines)), tuple(-k * a for k, a in enumerate(f.cosines))
    )


def _around(f: Trig) -> list[SX]:
    """f of degree 4 at all angles j WIDTH: those a quarter of a turn apart share their products."""
    a, b = f.cosines, f.sines
    quarter = BINS // 4
    values: list[Any] = [None] * BINS
    for j in range(quarter):
        c, s = ([g(k * j * WIDTH) for k in range(5)] for g in (math.cos, math.sin))
        even, twice = a[0] + a[4] * c[4] + b[4] * s[4], a[2] * c[2] + b[2] * s[2]
        odd = a[1] * c[1] + b[1] * s[1] + a[3] * c[3] + b[3] * s[3]
        turned = b[1] * c[1] - a[1] * s[1] + a[3] * s[3] - b[3] * c[3]
        values[j], values[j + 2 * quarter] = even + twice + odd, even + twice - odd
        values[j + quarter], values[j + 3 * quarter] = even - twice + turned, even - twice - turned
    return values


def _turned_by(f: Trig, multiples: Sequence[tuple[SX, SX]]) -> Trig:
    """f(t + angle) as a polynomial in t; multiples: (cos, sin) of those of the angle."""
    pairs = [
        (a * c + b * s, b * c - a * s)
        for a, b, (c, s) in zip(f.cosines[1:], f.sines[1:], multiples, strict=True)
    ]
    return Trig((f.cosines[0], *(a for a, _ in pairs)), (0, *(b for _, b in pairs)))


def _constant_at(f: Trig, t: float) -> SX:
    return _at(f, [(math.cos(k * t), math.sin(k * t)) for k in range(1, f.degree + 1)])


def _at(f: Trig, multiples: Sequence[tuple[Any, Any]]) -> SX:
    terms = [f.cosines[k + 1] * c + f.sines[k + 1] * s for k, (c, s) in enumerate(multiples)]
    return reduce(lambda x, y: x + y, terms, SX(f.cosines[0]))


def _multiples(c: SX, s: SX, degree: int) -> list[tuple[SX, SX]]:
    """(cos, sin) of the angle's multiples 1 .. degree."""
    multiples = [(c, s)]
    for _ in range(degree - 1):
        x, y = multiples[-1]
        multiples.append((x * c - y * s, y * c + x * s))
    return multiples


def _turned(unit: SX, angle: SX) -> tuple[SX, SX]:
    """A unit vector turned by at most half a bin: the series of cos and sin to rounding."""
    x = angle * angle
    c = 1 - x / 2 * (1 - x / 12 * (1 - x / 30))
    s = angle * (1 - x / 6 * (1 - x / 20 * (1 - x / 42)))
    return c * unit[0] - s * unit[1], s * unit[0] + c * unit[1]
