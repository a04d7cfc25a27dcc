"""Reciprocals (strength reduction): one division a divisor,
because it costs as much as a dozen products."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

from linkwork.engine.program import Operation, Program

_DENOMINATOR = {"div": 1, "inv": 0}


def with_shared_reciprocals(program: Program) -> Program:
    """The same program with x/d and y/d written x*(1/d), y*(1/d) where d divides twice."""
    code = program.code
    divides = Counter(op.args[_DENOMINATOR[op.name]] for op in code if op.name in _DENOMINATOR)
    if max(divides.values(), default=0) < 2:
        return program
    new: list[Operation] = []
    at: list[int] = []
    reciprocal: dict[int, int] = {}
    for op in code:
        args = op.args if op.name == "input" else tuple(at[a] for a in op.args)
        if op.name in _DENOMINATOR and divides[op.args[_DENOMINATOR[op.name]]] > 1:
            d = args[-1]
            if d not in reciprocal:
                new.append(Operation("inv", (d,)))
                reciprocal[d] = len(new) - 1
            if op.name == "inv":
                at.append(reciprocal[d])
                continue
            new.append(Operation("mul", (args[0], reciprocal[d])))
        else:
            new.append(Operation(op.name, args, op.value))
        at.append(len(new) - 1)
    outputs = tuple(tuple(at[v] if v >= 0 else -1 for v in output) for output in program.outputs)
    return replace(program, code=tuple(new), outputs=outputs)
