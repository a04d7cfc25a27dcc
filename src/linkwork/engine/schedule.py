"""Schedule: the order in which a program computes its values."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from linkwork.engine.program import Operation, Program

WORTH = 0.8  # a smaller gain in waiting is lost again: Talos's inverse dynamics (0.97) ran 15 % slower reordered
LONG = 1000  # values below which the order makes no difference worth finding


def scheduled(program: Program) -> Program:
    """The same values in an order in which fewer of them wait in memory for their use, if there is one.

    CasADi computes the first result with all it needs, then the second, and so on. Results that share their
    intermediate values (three derivative matrices, say) are better computed element by element; from the last, because
    recursions number what they need least last. Talos's derivatives keep 390 values waiting instead of 1150.
    """
    if len(program.code) < LONG:
        return program
    longest = max(len(output) for output in program.outputs)
    together = [o[k] for k in range(longest) for o in program.outputs if k < len(o) and o[k] >= 0]
    order = _depth_first(program, together[::-1])
    if _waiting(program, order) > WORTH * _waiting(program, range(len(program.code))):
        return program
    new = [0] * len(program.code)
    for k, old in enumerate(order):
        new[old] = k
    code = []
    for old in order:
        op = program.code[old]
        code.append(op if op.name == "input" else Operation(op.name, tuple(new[a] for a in op.args), op.value))
    outputs = tuple(tuple(new[v] if v >= 0 else -1 for v in output) for output in program.outputs)
    return replace(program, code=tuple(code), outputs=outputs)


def _depth_first(program: Program, goals: Sequence[int]) -> list[int]:
    """Values as the goals ask for them, one goal after the other."""
    done = bytearray(len(program.code))
    order: list[int] = []
    for goal in goals:
        stack = [goal]
        while stack:
            k = stack[-1]
            op = program.code[k]
            missing = [] if done[k] or op.name == "input" else [a for a in op.args if not done[a]]
            if missing:
                stack += missing[::-1]
                continue
            stack.pop()
            if not done[k]:
                done[k] = 1
                order.append(k)
    return order


def _waiting(program: Program, order: Sequence[int]) -> int:
    """Sum over the values of the steps until their last use; constants stand in the code itself and do not wait."""
    first, last = [0] * len(program.code), [0] * len(program.code)
    for step, k in enumerate(order):
        first[k] = last[k] = step
        op = program.code[k]
        if op.name != "input":
            for a in op.args:
                last[a] = step
    return sum(last[k] - first[k] for k in order if program.code[k].name != "constant")
