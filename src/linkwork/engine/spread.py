"""Spread: numbers that fill a box evenly, from a counter alone."""

from __future__ import annotations

from llvmlite import ir

from linkwork.engine.routines import Doubles, Routine, Value

PRIMES = (2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37)
# above so many dimensions the sequence is a hash of the counter:
# Halton's pairs of large primes are stripes
HALTON = 12


def write_spread(module: ir.Module, size: int) -> ir.Function:
    """Define spread(counter, shift, lower, span, point):
    the counter-th of points spread evenly over a box.

    Halton's sequence: digits of the counter in base p, mirrored at the point, shifted modulo 1 by
    numbers of a seed.
    """
    r = Routine(module, "spread", 5)
    counter, shift, lower, span, point = r.arguments
    shifts, lowers, spans, target = (Doubles(r, x) for x in (shift, lower, span, point))
    for c in range(size):
        fraction = mirrored(r, counter, PRIMES[c]) if size <= HALTON else hashed(r, counter, c)
        moved = fraction + shifts[c]
        target[c] = r.multiply_add(moved - r.floor(moved), spans[c], lowers[c])
    r.give(0)
    return r.function


def mirrored(r: Routine, counter: Value, base: int) -> Value:
    """The digits of a counter in a base, mirrored at the point."""
    left, total, digit = r.whole(counter), r.number(0.0), r.number(1.0 / base)
    with r.loop():
        r.leave(left < 1)
        total.set(total + digit * (left % base).as_number())
        left.set(left // base)
        digit.set(digit * (1.0 / base))
    return Value(r, total.ir)


def hashed(r: Routine, counter: Value, column: int) -> Value:
    """A number 0 .. 1 of the counter and the column alone (the finaliser of splitmix64)."""
    b = r.b
    x = (counter * 64 + column) * -7046029254386353131
    for shift, factor in ((30, -4658895280553007687), (27, -7723592293110705685)):
        x = Value(r, b.xor(x.ir, b.lshr(x.ir, ir.Constant(x.ir.type, shift)))) * factor
    x = Value(r, b.xor(x.ir, b.lshr(x.ir, ir.Constant(x.ir.type, 31))))
    return Value(r, b.lshr(x.ir, ir.Constant(x.ir.type, 11))).as_number() * 2.0**-53
