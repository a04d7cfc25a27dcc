"""Functions of floats: the few that the processor has itself, and those of doubles, rounded once.

Sine and cosine of a float are those of the same number in doubles: half a unit in the last place,
at every width.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from llvmlite import ir

from linkwork.engine.builder import lane_by_lane
from linkwork.engine.ir_types import FLOAT, constant, lanes, scalar_of, width_of


def is_narrow(kind: ir.Type) -> bool:
    """Whether a type is floats, one or several."""
    return scalar_of(kind) == FLOAT


def _of_llvm(name: str) -> Callable[..., ir.Value]:
    return lambda b, *values: lane_by_lane(b, name, *values)


def _sign(b: ir.IRBuilder, x: ir.Value) -> ir.Value:
    zero, one, minus = (constant(x.type, number) for number in (0.0, 1.0, -1.0))
    negative = b.select(b.fcmp_ordered("<", x, zero), minus, x)
    return b.select(b.fcmp_ordered(">", x, zero), one, negative)


IN_PLACE: dict[str, Callable[..., ir.Value]] = {
    **{name: _of_llvm(name) for name in ("sqrt", "fabs", "floor", "ceil", "copysign")},
    "sign": _sign,
    # of finite numbers: one instruction each
    "fmin": lambda b, x, y: b.select(b.fcmp_ordered("<", y, x), y, x),
    "fmax": lambda b, x, y: b.select(b.fcmp_ordered(">", y, x), y, x),
}


def emit_narrow(
    b: ir.IRBuilder, name: str, calls: Sequence[Sequence[ir.Value]], wide: Callable[..., list]
) -> list[ir.Value | tuple[ir.Value, ...]]:
    """`name` of floats; `wide(builder, name, calls)` emits that of doubles."""
    if name in IN_PLACE:
        return [IN_PLACE[name](b, *call) for call in calls]
    kind = calls[0][0].type
    double = lanes(width_of(kind))
    doubles = wide(b, name, [[b.fpext(x, double) for x in call] for call in calls])
    return [
        tuple(b.fptrunc(x, kind) for x in r) if isinstance(r, tuple) else b.fptrunc(r, kind)
        for r in doubles
    ]
