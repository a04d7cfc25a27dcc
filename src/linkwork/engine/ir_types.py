"""Types of LLVM's language that every part of the engine writes: scalars, lanes, constants, intrinsics."""

from __future__ import annotations

from collections.abc import Sequence

from llvmlite import ir

DOUBLE, FLOAT = ir.DoubleType(), ir.FloatType()
I1, I8, I32, I64 = ir.IntType(1), ir.IntType(8), ir.IntType(32), ir.IntType(64)
POINTER = ir.PointerType()


def lanes(width: int, scalar: ir.Type = DOUBLE) -> ir.Type:
    """The type of one value for `width` samples; one sample is a plain scalar."""
    return scalar if width == 1 else ir.VectorType(scalar, width)


def constant(type_: ir.Type, number: float) -> ir.Constant:
    """A number in every lane."""
    if isinstance(type_, ir.VectorType):
        return ir.Constant(type_, [ir.Constant(type_.element, number)] * type_.count)
    return ir.Constant(type_, number)


def suffix(type_: ir.Type) -> str:
    """How LLVM names a type in an intrinsic: f64, v4f64, v4i64."""
    if isinstance(type_, ir.VectorType):
        return f"v{type_.count}{suffix(type_.element)}"
    return {DOUBLE: "f64", FLOAT: "f32"}.get(type_) or f"i{type_.width}"


def declared(module: ir.Module, name: str, result: ir.Type, arguments: Sequence[ir.Type]) -> ir.Function:
    """The function of that full name (LLVM's own, or one from outside), declared once a module."""
    known = module.globals.get(name)
    return known if known is not None else ir.Function(module, ir.FunctionType(result, arguments), name)


def intrinsic(builder: ir.IRBuilder, name: str, result: ir.Type, arguments: Sequence[ir.Type]) -> ir.Function:
    """`declared` in the module that a builder writes."""
    return declared(builder.module, name, result, arguments)
