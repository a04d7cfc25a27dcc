"""Elementary functions as LLVM code on doubles or on vectors of W doubles, the same bits at every width.

    emit(builder, "tanh", x)                          the value of one function
    emit(builder, "sincos", x)                        two values from one reduction
    emit_together(builder, "sincos", [(x,), (y,)])    several at once, which then share the test for rare arguments

Errors stay below 2 ulp for sin, cos, sqrt and atan2 and below 4 ulp for all others.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from llvmlite import ir

from linkwork.engine.elementary import basic, exponential, hyperbolic, inverse_trigonometric, logarithmic, trigonometric
from linkwork.engine.elementary.guarded import Formula, inline, results_of, whole
from linkwork.engine.elementary.libm import EXTERNALS, per_lane
from linkwork.errors import UnknownName, did_you_mean

__all__ = ["EXTERNALS", "FUNCTIONS", "emit", "emit_together"]


class _Entry(NamedTuple):
    """A formula; how many arguments it takes; whether it is written in place or called; how many results it gives."""

    formula: Formula
    arguments: int
    in_place: bool
    results: int = 1


_TABLE = {
    "sincos": _Entry(trigonometric.sincos, 1, True, 2),
    "sin": _Entry(trigonometric.sin, 1, True),
    "cos": _Entry(trigonometric.cos, 1, True),
    "tan": _Entry(trigonometric.tan, 1, False),
    "asin": _Entry(inverse_trigonometric.asin, 1, False),
    "acos": _Entry(inverse_trigonometric.acos, 1, False),
    "atan": _Entry(inverse_trigonometric.atan, 1, False),
    "atan2": _Entry(inverse_trigonometric.atan2, 2, False),
    "sinh": _Entry(hyperbolic.sinh, 1, False),
    "cosh": _Entry(hyperbolic.cosh, 1, False),
    "tanh": _Entry(hyperbolic.tanh, 1, False),
    "asinh": _Entry(hyperbolic.asinh, 1, False),
    "acosh": _Entry(hyperbolic.acosh, 1, False),
    "atanh": _Entry(hyperbolic.atanh, 1, False),
    "exp": _Entry(exponential.exp, 1, False),
    "expm1": _Entry(exponential.expm1, 1, False),
    "log": _Entry(logarithmic.log, 1, False),
    "log1p": _Entry(logarithmic.log1p, 1, False),
    "pow": _Entry(lambda x, y: per_lane("pow", x, y), 2, False),
    "hypot": _Entry(basic.hypot, 2, False),
    "fmod": _Entry(basic.fmod, 2, False),
    "remainder": _Entry(lambda x, y: per_lane("remainder", x, y), 2, False),
    "erf": _Entry(lambda x: per_lane("erf", x), 1, False),
    "sqrt": _Entry(basic.sqrt, 1, True),
    "fabs": _Entry(basic.fabs, 1, True),
    "sign": _Entry(basic.sign, 1, True),
    "floor": _Entry(basic.floor, 1, True),
    "ceil": _Entry(basic.ceil, 1, True),
    "copysign": _Entry(basic.copysign, 2, True),
    "fmin": _Entry(basic.fmin, 2, True),
    "fmax": _Entry(basic.fmax, 2, True),
}

FUNCTIONS: dict[str, int] = {name: entry.arguments for name, entry in _TABLE.items()}
"""The names that `emit` knows, with their numbers of arguments."""


def emit(builder: ir.IRBuilder, name: str, *args: ir.Value) -> ir.Value | tuple[ir.Value, ...]:
    """Emit `name` of the values, whose type fixes the width. Gives a value, for "sincos" the pair (sin, cos).

    May end the current block: the builder continues in another one.
    """
    return emit_together(builder, name, [args])[0]


def emit_together(
    builder: ir.IRBuilder, name: str, calls: Sequence[Sequence[ir.Value]]
) -> list[ir.Value | tuple[ir.Value, ...]]:
    """Emit `name` for each list of arguments in `calls`, all of one type. As `emit`, but one branch guards them all."""
    if name not in _TABLE:
        raise UnknownName(f'there is no elementary function "{name}"{did_you_mean(name, _TABLE)}')
    formula, arguments, in_place, results = _TABLE[name]
    kind = calls[0][0].type

    def function() -> ir.Function:
        return whole(builder.module, name, formula, arguments, results, kind)

    if in_place:
        found = inline(builder, function, formula, calls)
    else:
        found = [results_of(builder, builder.call(function(), call)) for call in calls]
    return [values if results > 1 else values[0] for values in found]
