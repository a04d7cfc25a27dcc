"""What every writer of IR, LLVM's language, shares: types, lanes, constants, intrinsics;
builder or type come first."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cache, lru_cache

from llvmlite import ir

DOUBLE, FLOAT = ir.DoubleType(), ir.FloatType()
I1, I8, I32, I64 = ir.IntType(1), ir.IntType(8), ir.IntType(32), ir.IntType(64)
POINTER = ir.PointerType()
KEPT = 8192
"""Constants that are kept: those of robots that are gone must not stay."""


@cache
def lanes(width: int, scalar: ir.Type = DOUBLE) -> ir.Type:
    """The type of one value for `width` samples; one sample is a plain scalar. Kept,
    because a type keeps its text."""
    return scalar if width == 1 else ir.VectorType(scalar, width)


def width_of(type_: ir.Type) -> int:
    """Number of lanes of a type."""
    return type_.count if isinstance(type_, ir.VectorType) else 1


def scalar_of(type_: ir.Type) -> ir.Type:
    """The type of one lane."""
    return type_.element if isinstance(type_, ir.VectorType) else type_


def constant(type_: ir.Type, number: float) -> ir.Constant:
    """A number in every lane. Kept: writing constants out is most of writing a formula."""
    # -0.0 equals 0.0 and NaN not even itself
    digits = number.hex() if isinstance(number, float) else number
    return _constant(scalar_of(type_), width_of(type_), digits)


@lru_cache(maxsize=KEPT)
def _constant(scalar: ir.Type, width: int, digits: str | int) -> ir.Constant:
    one = ir.Constant(scalar, float.fromhex(digits) if isinstance(digits, str) else digits)
    return one if width == 1 else ir.Constant(lanes(width, scalar), [one] * width)


@lru_cache(maxsize=KEPT)
def number_of(n: int) -> ir.Constant:
    """A 64-bit word; kept, as other constants are."""
    return ir.Constant(I64, n)


def suffix(type_: ir.Type) -> str:
    """How LLVM names a type in an intrinsic: f64, v4f64, v4i64."""
    if isinstance(type_, ir.VectorType):
        return f"v{type_.count}{suffix(type_.element)}"
    return {DOUBLE: "f64", FLOAT: "f32"}.get(type_) or f"i{type_.width}"


def declared(
    module: ir.Module, name: str, result: ir.Type, arguments: Sequence[ir.Type]
) -> ir.Function:
    """The function of that full name (LLVM's own, or one from outside), declared once a module."""
    known = module.globals.get(name)
    return (
        known
        if known is not None
        else ir.Function(module, ir.FunctionType(result, arguments), name)
    )


def intrinsic(
    builder: ir.IRBuilder, name: str, result: ir.Type, arguments: Sequence[ir.Type]
) -> ir.Function:
    """`declared` in the module that a builder writes."""
    return declared(builder.module, name, result, arguments)


def any_lane(builder: ir.IRBuilder, mask: ir.Value) -> ir.Value:
    """One truth value: is any lane of a mask set?"""
    if width_of(mask.type) == 1:
        return mask
    flags = ir.IntType(width_of(mask.type))
    return builder.icmp_unsigned("!=", builder.bitcast(mask, flags), ir.Constant(flags, 0))


def is_true(builder: ir.IRBuilder, x: ir.Value) -> ir.Value:
    """Where a number is not zero; NaN counts as true, as in C."""
    return builder.fcmp_unordered("!=", x, constant(x.type, 0.0))


def in_every_lane(builder: ir.IRBuilder, x: ir.Value, width: int) -> ir.Value:
    """A scalar in every lane (a splat)."""
    if width == 1:
        return x
    none = ir.Constant(lanes(width, x.type), ir.Undefined)
    first = builder.insert_element(none, x, ir.Constant(I32, 0))
    return builder.shuffle_vector(first, none, ir.Constant(lanes(width, I32), [0] * width))


@contextmanager
def counted(builder: ir.IRBuilder, count: ir.Value) -> Iterator[ir.Value]:
    """for k in range(count): ..."""
    before = builder.block
    head, body, after = (builder.append_basic_block(name) for name in ("for", "do", "done"))
    builder.branch(head)
    builder.position_at_end(head)
    k = builder.phi(I64)
    k.add_incoming(number_of(0), before)
    builder.cbranch(builder.icmp_signed("<", k, count), body, after)
    builder.position_at_end(body)
    yield k
    k.add_incoming(builder.add(k, number_of(1)), builder.block)
    builder.branch(head)
    builder.position_at_end(after)
