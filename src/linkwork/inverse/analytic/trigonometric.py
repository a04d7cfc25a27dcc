"""Trigonometric polynomials over symbols: sum_k a_k cos(k t) + b_k sin(k t)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import casadi
from casadi import SX


@dataclass(frozen=True)
class Trig:
    """cosines[k] and sines[k] for k = 0 .. degree; sines[0] is zero."""

    cosines: tuple[Any, ...]
    sines: tuple[Any, ...]

    @staticmethod
    def affine(constant: Any, cosine: Any, sine: Any) -> Trig:
        return Trig((constant, cosine), (0, sine))

    @property
    def degree(self) -> int:
        return len(self.cosines) - 1

    def __add__(self, other: Trig) -> Trig:
        longer, shorter = (self, other) if self.degree >= other.degree else (other, self)
        pad = (0,) * (longer.degree - shorter.degree)
        return Trig(
            tuple(a + b for a, b in zip(longer.cosines, shorter.cosines + pad)),
            tuple(a + b for a, b in zip(longer.sines, shorter.sines + pad)),
        )

    def __neg__(self) -> Trig:
        return Trig(tuple(-a for a in self.cosines), tuple(-b for b in self.sines))

    def __sub__(self, other: Trig) -> Trig:
        return self + (-other)

    def __mul__(self, other: Trig) -> Trig:
        """cos i cos j = (cos(i - j) + cos(i + j)) / 2, and so on."""
        n = self.degree + other.degree
        c, s = [SX(0)] * (n + 1), [SX(0)] * (n + 1)
        for i, (a, b) in enumerate(zip(self.cosines, self.sines)):
            for j, (p, q) in enumerate(zip(other.cosines, other.sines)):
                cc, ss, cs, sc = a * p / 2, b * q / 2, a * q / 2, b * p / 2
                c[abs(i - j)] += cc + ss
                c[i + j] += cc - ss
                s[i + j] += cs + sc
                s[abs(i - j)] += (sc - cs) if i >= j else (cs - sc)
        s[0] = SX(0)
        return Trig(tuple(c), tuple(s))

    def at(self, cosine: SX, sine: SX) -> SX:
        """The value of an affine one (degree 1) where cos and sin are given."""
        return self.cosines[0] + self.cosines[1] * cosine + self.sines[1] * sine

    def slope(self, cosine: SX, sine: SX) -> SX:
        """The derivative of an affine one by its angle."""
        return self.sines[1] * cosine - self.cosines[1] * sine

    def pairs(self) -> SX:
        """(degree + 1, 2): rows (a_k, b_k)."""
        return casadi.vertcat(
            *[casadi.horzcat(SX(a), SX(b)) for a, b in zip(self.cosines, self.sines)]
        )
