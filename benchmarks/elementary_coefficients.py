"""Which polynomials approximate the elementary functions best? Prints the numbers of
engine/elementary/coefficients.py.

    python benchmarks/elementary_coefficients.py [SIN COS ...]

About a minute for all of them.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from mpmath import mp, mpf

Real = Callable[[mpf], mpf]
mp.dps = 45
LEAST = mpf(10) ** -12  # the weights divide by r
SPARE = 1 + mpf(2) ** -12  # a reduced argument exceeds its interval a little


@dataclass(frozen=True)
class Fit:
    """function(r) = start r^(k-2) + r^k P(r^2) on [0, last],
    the error measured relative to `relative`."""

    function: Real
    start: int
    power: int
    last: mpf
    count: int
    relative: Real

    def target(self, z: mpf) -> mpf:
        r = mp.sqrt(z)
        return (self.function(r) - self.start * r ** (self.power - 2)) / r**self.power

    def weight(self, z: mpf) -> mpf:
        r = mp.sqrt(z)
        return r**self.power / self.relative(r)


def fit(
    function: Real, start: int, power: int, last: mpf, count: int, relative: Real | None = None
) -> Fit:
    return Fit(function, start, power, last, count, relative or function)


FITS = {
    "SIN": fit(mp.sin, 1, 3, mp.pi / 4 * SPARE, 6),
    "COS": fit(mp.cos, 1, 2, mp.pi / 4 * SPARE, 6),
    "TAN": fit(mp.tan, 1, 3, mp.pi / 4 * SPARE, 14),
    "ATAN": fit(mp.atan, 1, 3, mpf(1), 20),
    "ASIN": fit(mp.asin, 1, 3, mpf(1) / 2, 12),
    "SINH": fit(mp.sinh, 1, 3, mp.log(2) / 2 * SPARE, 5),
    "COSH": fit(mp.cosh, 1, 2, mp.log(2) / 2 * SPARE, 6, lambda r: 1 - mp.exp(-r)),
    "LOG": fit(lambda s: 2 * mp.atanh(s), 2, 3, 3 - 2 * mp.sqrt(2), 7),
}

CONSTANTS = {
    "HALF_PI": (lambda: mp.pi / 2, 3, 53),
    "PI": (lambda: +mp.pi, 2, 53),
    "LN2": (lambda: mp.log(2), 2, 53),
    "LN2_SHORT": (lambda: mp.log(2), 2, 42),
    "TWO_OVER_PI": (lambda: 2 / mp.pi, 1, 53),
    "LOG2_E": (lambda: 1 / mp.log(2), 1, 53),
}
"""Value, number of parts, bits of the first part."""


def chebyshev(low: mpf, high: mpf, count: int) -> list[mpf]:
    return [low + (high - low) * (1 - mp.cos(mp.pi * i / count)) / 2 for i in range(count + 1)]


def remez(target: Real, weight: Real, count: int, low: mpf, high: mpf) -> list[mpf]:
    """The `count` coefficients that minimise the largest |weight (target - polynomial)| on
    [low, high]."""
    points, samples = chebyshev(low, high, count), chebyshev(low, high, 40 * (count + 1))
    for _ in range(12):
        matrix, right = mp.matrix(count + 1, count + 1), mp.matrix(count + 1, 1)
        for i, z in enumerate(points):
            for j in range(count):
                matrix[i, j] = weight(z) * z**j
            matrix[i, count] = (-1) ** i
            right[i] = weight(z) * target(z)
        *coefficients, level = mp.lu_solve(matrix, right)
        errors = [weight(z) * (target(z) - mp.polyval(coefficients[::-1], z)) for z in samples]
        extremes = alternating_extremes(errors)
        if len(extremes) <= count or max(map(abs, errors)) < abs(level) * mpf("1.02"):
            break
        while len(extremes) > count + 1:
            extremes.pop(0 if abs(errors[extremes[0]]) < abs(errors[extremes[-1]]) else -1)
        points = [samples[k] for k in extremes]
    return coefficients


def alternating_extremes(errors: Sequence[mpf]) -> list[int]:
    """The place of the largest error in every run of one sign."""
    runs: list[list[int]] = [[0]]
    for k in range(1, len(errors)):
        if (errors[k] > 0) == (errors[k - 1] > 0):
            runs[-1].append(k)
        else:
            runs.append([k])
    return [max(run, key=lambda k: abs(errors[k])) for run in runs]


def rounded(case: Fit, sequential: int = 5) -> list[float]:
    """The minimax coefficients as doubles: the first ones rounded in turn,
    the rest fitted again each time."""
    done: list[float] = []
    high = case.last**2
    for k in range(min(case.count, sequential)):
        rest = lambda z, k=k: (case.target(z) - sum(c * z**j for j, c in enumerate(done))) / z**k
        following = remez(rest, lambda z, k=k: case.weight(z) * z**k, case.count - k, LEAST, high)
        done.append(float(following[0]))
    return done + [float(c) for c in following[1:]]


def worst(case: Fit, coefficients: Sequence[float]) -> mpf:
    """The largest relative error of the rounded polynomial."""
    points = [LEAST + (case.last**2 - LEAST) * k / 2000 for k in range(2001)]
    exact = list(map(mpf, reversed(coefficients)))
    return max(abs(case.weight(z) * (case.target(z) - mp.polyval(exact, z))) for z in points)


def parts(value: mpf, count: int, bits: int) -> list[float]:
    """Doubles that add up to the value, the first cut to a number of bits."""
    found: list[float] = []
    for k in range(count):
        number = float(value)
        if k == 0 and bits < 53:
            fraction, exponent = math.frexp(number)
            number = math.ldexp(math.floor(fraction * 2**bits), exponent - bits)
        found.append(number)
        value -= mpf(number)
    return found


def main(names: Sequence[str]) -> None:
    for name in names:
        if name in CONSTANTS:
            value, count, bits = CONSTANTS[name]
            with mp.workdps(70):  # three parts of pi/2 have 50 digits
                print(name, *(number.hex() for number in parts(value(), count, bits)))
            continue
        coefficients = rounded(FITS[name])
        print(name, f"2^{float(mp.log(worst(FITS[name], coefficients), 2)):.1f}")
        for k in range(0, len(coefficients), 4):
            print("   ", *(number.hex() for number in coefficients[k : k + 4]), flush=True)


if __name__ == "__main__":
    main(sys.argv[1:] or [*FITS, *CONSTANTS])
