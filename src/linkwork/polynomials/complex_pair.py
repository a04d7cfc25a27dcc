"""Complex: a complex number as a pair of symbols."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import casadi
from casadi import SX


class Complex:
    """re + i im over CasADi symbols, with the arithmetic of complex numbers."""

    __slots__ = ("im", "re")

    def __init__(self, re: Any, im: Any = 0.0) -> None:
        self.re, self.im = SX(re), SX(im)

    @staticmethod
    def of(x: Any) -> Complex:
        """A Complex from a Complex, a symbol or a Python number."""
        if isinstance(x, Complex):
            return x
        return Complex(x.real, x.imag) if isinstance(x, complex) else Complex(x)

    @staticmethod
    def direction(angle: SX) -> Complex:
        """exp(i angle)."""
        return Complex(casadi.cos(angle), casadi.sin(angle))

    def __add__(self, other: Any) -> Complex:
        o = Complex.of(other)
        return Complex(self.re + o.re, self.im + o.im)

    def __sub__(self, other: Any) -> Complex:
        o = Complex.of(other)
        return Complex(self.re - o.re, self.im - o.im)

    def __rsub__(self, other: Any) -> Complex:
        return Complex.of(other) - self

    def __neg__(self) -> Complex:
        return Complex(-self.re, -self.im)

    def __mul__(self, other: Any) -> Complex:
        o = Complex.of(other)
        return Complex(self.re * o.re - self.im * o.im, self.re * o.im + self.im * o.re)

    def __truediv__(self, other: Any) -> Complex:
        return self * Complex.of(other).inverse()

    def __rtruediv__(self, other: Any) -> Complex:
        return Complex.of(other) * self.inverse()

    __radd__, __rmul__ = __add__, __mul__

    def inverse(self) -> Complex:
        """1 / z."""
        scale = 1.0 / self.abs2()
        return Complex(self.re * scale, -self.im * scale)

    def conjugate(self) -> Complex:
        return Complex(self.re, -self.im)

    def abs2(self) -> SX:
        """|z|^2."""
        return self.re * self.re + self.im * self.im

    def size(self) -> SX:
        """|re| + |im|: between |z| and 1.42 |z|, without a square root."""
        return casadi.fabs(self.re) + casadi.fabs(self.im)

    def where(self, condition: Any, other: Any) -> Complex:
        """This number where the condition holds, the other one elsewhere."""
        o = Complex.of(other)
        return Complex(
            casadi.if_else(condition, self.re, o.re), casadi.if_else(condition, self.im, o.im)
        )


def numbers(pairs: SX) -> list[Complex]:
    """The complex numbers of an (n, 2) symbol."""
    return [Complex(pairs[i, 0], pairs[i, 1]) for i in range(pairs.shape[0])]


def pairs(values: Sequence[Complex]) -> SX:
    """(n, 2): the other way round."""
    return casadi.vertcat(*[casadi.horzcat(z.re, z.im) for z in values])
