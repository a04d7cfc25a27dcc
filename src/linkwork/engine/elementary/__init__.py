"""Elementary functions as LLVM code on doubles or on vectors of W doubles,
the same bits at every width.

    emit(builder, "tanh", x)                          the value of one function
    emit(builder, "sincos", x)                        two values from one reduction
    emit_together(builder, "sincos", [(x,), (y,)])    several at once, which then share the test for rare arguments

Zeros, denormals, infinities, NaN and huge arguments give what C99 asks for. The largest errors
found, in units in the last place, among some 10^7 arguments of every magnitude and beside every
seam of the formulas, rounded up:

    sin 1.6     cos 1.6     tan 3.3     asin 2.3    acos 1.2    atan 1.5    atan2 1.6
    sinh 2.3    cosh 1.9    tanh 2.9    asinh 1.8   acosh 2.2   atanh 2.1
    exp 1.1     expm1 2.1   log 0.9     log1p 1.4   sqrt 0.5    hypot 1.2   pow 0.6     erf 0.9

All others are exact. `pow`, `erf` and `remainder` are the C library's, called lane by lane, and so
are the values of rare arguments: of sin, cos, tan beyond 2^40, of log below 2^-1022, of cosh where
it is about to overflow, and the like. `tests/engine/test_elementary.py` holds every function to
this table.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

from llvmlite import ir

from linkwork.engine.elementary import (
    basic,
    exponential,
    hyperbolic,
    inverse_trigonometric,
    logarithmic,
    trigonometric,
)
from linkwork.engine.elementary.guarded import Formula, inline, results_of, whole
from linkwork.engine.elementary.libm import EXTERNALS, per_lane
from linkwork.engine.elementary.narrow import emit_narrow, is_narrow
from linkwork.errors import UnknownName, did_you_mean

__all__ = ["EXTERNALS", "FUNCTIONS", "emit", "emit_together"]

# A call spills every vector register; code in place costs compile time, and many copies of it
# overrun the instruction
# cache: in place is faster for the six joints of an arm and slower for a humanoid
# (`python -m benchmarks elementary`).
ALWAYS, SEVERAL, NEVER = math.inf, 12, 0


class _Entry(NamedTuple):
    """A formula; how many arguments it has; up to how many stand in place; its results."""

    formula: Formula
    arguments: int
    in_place: float
    results: int = 1


_TABLE = {
    "sincos": _Entry(trigonometric.sincos, 1, SEVERAL, 2),
    "sin": _Entry(trigonometric.sin, 1, SEVERAL),
    "cos": _Entry(trigonometric.cos, 1, SEVERAL),
    "tan": _Entry(trigonometric.tan, 1, NEVER),
    "asin": _Entry(inverse_trigonometric.asin, 1, NEVER),
    "acos": _Entry(inverse_trigonometric.acos, 1, NEVER),
    "atan": _Entry(inverse_trigonometric.atan, 1, NEVER),
    "atan2": _Entry(inverse_trigonometric.atan2, 2, NEVER),
    "sinh": _Entry(hyperbolic.sinh, 1, NEVER),
    "cosh": _Entry(hyperbolic.cosh, 1, NEVER),
    "tanh": _Entry(hyperbolic.tanh, 1, NEVER),
    "asinh": _Entry(hyperbolic.asinh, 1, NEVER),
    "acosh": _Entry(hyperbolic.acosh, 1, NEVER),
    "atanh": _Entry(hyperbolic.atanh, 1, NEVER),
    "exp": _Entry(exponential.exp, 1, NEVER),
    "expm1": _Entry(exponential.expm1, 1, NEVER),
    "log": _Entry(logarithmic.log, 1, NEVER),
    "log1p": _Entry(logarithmic.log1p, 1, NEVER),
    "pow": _Entry(lambda x, y: per_lane("pow", x, y), 2, NEVER),
    "hypot": _Entry(basic.hypot, 2, NEVER),
    "fmod": _Entry(basic.fmod, 2, NEVER),
    "remainder": _Entry(lambda x, y: per_lane("remainder", x, y), 2, NEVER),
    "erf": _Entry(lambda x: per_lane("erf", x), 1, NEVER),
    "sqrt": _Entry(basic.sqrt, 1, ALWAYS),
    "fabs": _Entry(basic.fabs, 1, ALWAYS),
    "sign": _Entry(basic.sign, 1, ALWAYS),
    "floor": _Entry(basic.floor, 1, ALWAYS),
    "ceil": _Entry(basic.ceil, 1, ALWAYS),
    "copysign": _Entry(basic.copysign, 2, ALWAYS),
    "fmin": _Entry(basic.fmin, 2, ALWAYS),
    "fmax": _Entry(basic.fmax, 2, ALWAYS),
}

FUNCTIONS: dict[str, int] = {name: entry.arguments for name, entry in _TABLE.items()}
"""The names that `emit` knows, with their numbers of arguments."""


def emit(builder: ir.IRBuilder, name: str, *args: ir.Value) -> ir.Value | tuple[ir.Value, ...]:
    """Emit `name` of the values, whose type fixes the width. Gives a value,
    for "sincos" the pair (sin, cos).

    May end the current block: the builder continues in another one.
    """
    return emit_together(builder, name, [args])[0]


def emit_together(
    builder: ir.IRBuilder, name: str, calls: Sequence[Sequence[ir.Value]]
) -> list[ir.Value | tuple[ir.Value, ...]]:
    """Emit `name` for each list of arguments in `calls`, all of one type. As `emit`,
    but one branch guards them all."""
    if name not in _TABLE:
        raise UnknownName(f'there is no elementary function "{name}"{did_you_mean(name, _TABLE)}')
    if not calls:
        return []
    formula, arguments, in_place, results = _TABLE[name]
    kind = calls[0][0].type
    if is_narrow(kind):
        return emit_narrow(builder, name, calls, emit_together)

    def function() -> ir.Function:
        return whole(builder.module, name, formula, arguments, results, kind)

    if len(calls) <= in_place:
        answers = inline(builder, function, formula, calls)
    else:
        answers = [results_of(builder, builder.call(function(), call)) for call in calls]
    return [values if results > 1 else values[0] for values in answers]
