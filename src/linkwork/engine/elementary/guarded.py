"""Guarded formulas: vector code for the usual arguments, the C library for rare ones,
one branch between them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import reduce
from operator import or_

from llvmlite import ir

from linkwork.engine.builder import Builder
from linkwork.engine.elementary.libm import per_lane
from linkwork.engine.elementary.packets import Mask, Reals
from linkwork.engine.ir_types import suffix

# How often the rare way is taken, as weights of the branch:
# its code is laid out behind everything else.
SELDOM = (1, 1 << 20)


@dataclass(frozen=True)
class Guarded:
    """Results where the formula holds; in the lanes of `rare` each takes the value of its C
    function in `names`."""

    usual: tuple[Reals, ...]
    rare: Mask
    names: tuple[str, ...]


Formula = Callable[..., Reals | Guarded]


def whole(
    module: ir.Module, name: str, formula: Formula, arguments: int, results: int, kind: ir.Type
) -> ir.Function:
    """The internal function `name` of values of type `kind` that holds a formula complete with its
    rare way.

    Written into the module at first use; gives a value, or a structure of several.
    """
    full = f"linkwork.{name}.{suffix(kind)}"
    known = module.globals.get(full)
    if known is not None:
        return known
    kinds = kind if results == 1 else ir.LiteralStructType([kind] * results)
    function = ir.Function(module, ir.FunctionType(kinds, [kind] * arguments), full)
    function.linkage = "internal"
    function.attributes.add("nounwind")
    builder = Builder(function.append_basic_block("entry"))
    given = [Reals(builder, argument) for argument in function.args]
    _return(builder, _completed(formula(*given), given), kinds)
    return function


def _return(builder: ir.IRBuilder, values: Sequence[ir.Value], kind: ir.Type) -> None:
    if len(values) == 1:
        builder.ret(values[0])
        return
    structure = ir.Constant(kind, ir.Undefined)
    for position, value in enumerate(values):
        structure = builder.insert_value(structure, value, position)
    builder.ret(structure)


def _completed(outcome: Reals | Guarded, arguments: Sequence[Reals]) -> list[ir.Value]:
    if isinstance(outcome, Reals):
        return [outcome.value]

    def replaced() -> list[ir.Value]:
        return [
            outcome.rare.choose(per_lane(name, *arguments), usual).value
            for name, usual in zip(outcome.names, outcome.usual, strict=True)
        ]

    return _unless(outcome.rare, [usual.value for usual in outcome.usual], replaced)


def inline(
    builder: ir.IRBuilder,
    function: Callable[[], ir.Function],
    formula: Formula,
    calls: Sequence[Sequence[ir.Value]],
) -> list[tuple[ir.Value, ...]]:
    """A formula in place for each of `calls`, with one common branch to the whole `function` if any
    lane is rare."""
    outcomes = [formula(*(Reals(builder, value) for value in arguments)) for arguments in calls]
    guarded = [outcome for outcome in outcomes if isinstance(outcome, Guarded)]
    if not guarded:
        return [(outcome.value,) for outcome in outcomes if isinstance(outcome, Reals)]

    def recomputed() -> list[ir.Value]:
        return [
            value
            for arguments in calls
            for value in results_of(builder, builder.call(function(), arguments))
        ]

    usual = [value.value for outcome in guarded for value in outcome.usual]
    values = iter(_unless(reduce(or_, (outcome.rare for outcome in guarded)), usual, recomputed))
    return [tuple(next(values) for _ in outcome.usual) for outcome in guarded]


def results_of(builder: ir.IRBuilder, result: ir.Value) -> tuple[ir.Value, ...]:
    """The members of a structure, or the one value."""
    if not isinstance(result.type, ir.LiteralStructType):
        return (result,)
    return tuple(
        builder.extract_value(result, position) for position in range(len(result.type.elements))
    )


def _unless(
    rare: Mask, usual: list[ir.Value], instead: Callable[[], list[ir.Value]]
) -> list[ir.Value]:
    """`usual`, or where any lane is rare what `instead` emits.
    Leaves the builder in the block where both ways meet."""
    builder = rare.builder
    seldom = rare.any()
    straight = builder.block
    detour = builder.append_basic_block("rare")
    onward = builder.append_basic_block("usual")
    builder.cbranch(seldom, detour, onward).set_weights(SELDOM)
    builder.position_at_end(detour)
    others = instead()
    builder.branch(onward)
    builder.position_at_end(onward)
    meetings = []
    for value, other in zip(usual, others, strict=True):
        meeting = builder.phi(value.type)
        meeting.add_incoming(value, straight)
        meeting.add_incoming(other, detour)
        meetings.append(meeting)
    return meetings
