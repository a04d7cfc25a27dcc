"""Packets: W values in the lanes of one LLVM vector,
with Python operators that each emit one instruction.

`Reals` are W doubles, `Bits` the same W words read as integers, `Mask` W truth values; W = 1 is a
plain scalar. The formulas of this package are written once over these and so mean the same at every
width. A Python number as operand becomes a constant in every lane. No instruction carries a
fast-math flag and nothing fuses by itself: `times_plus` is the only fused operation, so all widths
give the same bits.
"""

from __future__ import annotations

from collections.abc import Sequence

from llvmlite import ir

from linkwork.engine.builder import lane_by_lane
from linkwork.engine.ir_types import I64, any_lane, constant, lanes, width_of

SIGN = 1 << 63


class _Packet:
    """W values of one kind and the builder that continues them."""

    __slots__ = ("builder", "value", "width")

    def __init__(self, builder: ir.IRBuilder, value: ir.Value):
        self.builder = builder
        self.value = value
        self.width = width_of(value.type)


class Mask(_Packet):
    """W truth values."""

    __slots__ = ()

    def __and__(self, other: Mask) -> Mask:
        return Mask(self.builder, self.builder.and_(self.value, other.value))

    def __or__(self, other: Mask) -> Mask:
        return Mask(self.builder, self.builder.or_(self.value, other.value))

    def any(self) -> ir.Value:
        """One truth value: is any lane set?"""
        return any_lane(self.builder, self.value)

    def choose(self, yes: Reals | float, no: Reals | float) -> Reals:
        """Lane by lane `yes` where set, else `no`."""
        type_ = lanes(self.width)
        one, other = (x.value if isinstance(x, Reals) else constant(type_, x) for x in (yes, no))
        return Reals(self.builder, self.builder.select(self.value, one, other))

    def signs(self) -> Bits:
        """Words with the top bit set where the mask is."""
        words = lanes(self.width, I64)
        return Bits(
            self.builder, self.builder.select(self.value, constant(words, SIGN), constant(words, 0))
        )


class Bits(_Packet):
    """W words of 64 bits; shifts are logical."""

    __slots__ = ()

    def _operand(self, other: Bits | int) -> ir.Value:
        return other.value if isinstance(other, Bits) else constant(self.value.type, other)

    def __add__(self, other: Bits | int) -> Bits:
        return Bits(self.builder, self.builder.add(self.value, self._operand(other)))

    def __sub__(self, other: Bits | int) -> Bits:
        return Bits(self.builder, self.builder.sub(self.value, self._operand(other)))

    def __rsub__(self, other: int) -> Bits:
        return Bits(self.builder, self.builder.sub(self._operand(other), self.value))

    def __and__(self, other: Bits | int) -> Bits:
        return Bits(self.builder, self.builder.and_(self.value, self._operand(other)))

    def __or__(self, other: Bits | int) -> Bits:
        return Bits(self.builder, self.builder.or_(self.value, self._operand(other)))

    def __xor__(self, other: Bits | int) -> Bits:
        return Bits(self.builder, self.builder.xor(self.value, self._operand(other)))

    def __lshift__(self, count: int) -> Bits:
        return Bits(self.builder, self.builder.shl(self.value, self._operand(count)))

    def __rshift__(self, count: int) -> Bits:
        return Bits(self.builder, self.builder.lshr(self.value, self._operand(count)))

    def top(self) -> Mask:
        """Where the highest bit is set."""
        return Mask(self.builder, self.builder.icmp_signed("<", self.value, self._operand(0)))

    def reals(self) -> Reals:
        """The same bits read as doubles."""
        return Reals(self.builder, self.builder.bitcast(self.value, lanes(self.width)))


class Reals(_Packet):
    """W doubles. Comparisons are false where a NaN takes part, except `beyond` and `below`."""

    __slots__ = ()

    def _operand(self, other: Reals | float) -> ir.Value:
        return other.value if isinstance(other, Reals) else constant(self.value.type, other)

    def __add__(self, other: Reals | float) -> Reals:
        return Reals(self.builder, self.builder.fadd(self.value, self._operand(other)))

    def __sub__(self, other: Reals | float) -> Reals:
        return Reals(self.builder, self.builder.fsub(self.value, self._operand(other)))

    def __rsub__(self, other: float) -> Reals:
        return Reals(self.builder, self.builder.fsub(self._operand(other), self.value))

    def __mul__(self, other: Reals | float) -> Reals:
        return Reals(self.builder, self.builder.fmul(self.value, self._operand(other)))

    def __truediv__(self, other: Reals | float) -> Reals:
        return Reals(self.builder, self.builder.fdiv(self.value, self._operand(other)))

    def __neg__(self) -> Reals:
        return Reals(self.builder, self.builder.fneg(self.value))

    def __abs__(self) -> Reals:
        return self.intrinsic("fabs")

    def _compared(self, sign: str, other: Reals | float) -> Mask:
        return Mask(self.builder, self.builder.fcmp_ordered(sign, self.value, self._operand(other)))

    def __lt__(self, other: Reals | float) -> Mask:
        return self._compared("<", other)

    def __gt__(self, other: Reals | float) -> Mask:
        return self._compared(">", other)

    def equals(self, other: Reals | float) -> Mask:
        """Where both are the same number; -0 equals 0."""
        return self._compared("==", other)

    def beyond(self, limit: float) -> Mask:
        """Where the value exceeds `limit` or is NaN."""
        return Mask(
            self.builder, self.builder.fcmp_unordered(">", self.value, self._operand(limit))
        )

    def below(self, limit: float) -> Mask:
        """Where the value is less than `limit` or NaN."""
        return Mask(
            self.builder, self.builder.fcmp_unordered("<", self.value, self._operand(limit))
        )

    def is_nan(self) -> Mask:
        return Mask(self.builder, self.builder.fcmp_unordered("uno", self.value, self.value))

    def bits(self) -> Bits:
        """The same bits read as integers."""
        return Bits(self.builder, self.builder.bitcast(self.value, lanes(self.width, I64)))

    def intrinsic(self, name: str, *others: Reals | float) -> Reals:
        """LLVM's own `name`: fabs, sqrt, floor, ceil, trunc, copysign, fma."""
        operands = (self._operand(other) for other in others)
        return Reals(self.builder, lane_by_lane(self.builder, name, self.value, *operands))

    def times_plus(self, factor: Reals | float, term: Reals | float) -> Reals:
        """self * factor + term, rounded once."""
        return self.intrinsic("fma", factor, term)

    def sqrt(self) -> Reals:
        return self.intrinsic("sqrt")

    def copysign(self, other: Reals) -> Reals:
        """The magnitude of this with the sign of the other."""
        return self.intrinsic("copysign", other)

    def flipped(self, signs: Bits) -> Reals:
        """The value with its sign bit flipped where the top bit of `signs` is set."""
        return (self.bits() ^ (signs & SIGN)).reals()

    def polynomial(self, coefficients: Sequence[float]) -> Reals:
        """c0 + c1 z + c2 z^2 + ... by Horner's scheme, z being this value."""
        *rest, second, last = coefficients
        result = self.times_plus(last, second)
        for coefficient in reversed(rest):
            result = result.times_plus(self, coefficient)
        return result

    def polynomial_in_pairs(self, coefficients: Sequence[float]) -> Reals:
        """The same by Horner's scheme in z^2 over the pairs c0 + c1 z, c2 + c3 z, ...:
        a chain of half the length.

        The number of coefficients is even. Where they alternate in sign a pair is small: rounding
        it costs little.
        """
        square = self * self
        pairs = [
            self.times_plus(odd, even)
            for even, odd in zip(coefficients[::2], coefficients[1::2], strict=True)
        ]
        result = pairs.pop()
        while pairs:
            result = result.times_plus(square, pairs.pop())
        return result
