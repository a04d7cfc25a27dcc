"""Fused multiply-adds (FP contraction), decided once in the program:
every vector width computes the same bits."""

from __future__ import annotations

from dataclasses import replace

from linkwork.engine.program import Operation, Program

_PRODUCTS = ("mul", "sq")
_SUMS = ("add", "sub")


def fused(program: Program) -> Program:
    """Replace x*y + z, x*y - z and z - x*y by one operation each where that saves the product.

    A product is fused into a sum if that sum is its only use, or if all of its uses are sums free
    to take it: the product then disappears. Names: "fma" x*y + z, "fms" x*y - z, "fnma" z - x*y.
    Each rounds once.
    """
    code = list(program.code)
    for k, a in _taken(program).items():
        op, x = code[k], code[a]
        factors = x.args * 2 if x.name == "sq" else x.args
        left, right = op.args
        if op.name == "add":
            code[k] = Operation("fma", (*factors, right if left == a else left))
        elif left == a:
            code[k] = Operation("fms", (*factors, right))
        else:
            code[k] = Operation("fnma", (*factors, left))
    return replace(program, code=tuple(code))


def _taken(program: Program) -> dict[int, int]:
    """Sum -> the product that it absorbs."""
    code = program.code
    uses: list[list[int]] = [[] for _ in code]
    for k, op in enumerate(code):
        if op.name != "input":
            for a in op.args:
                uses[a].append(k)
    results = {v for output in program.outputs for v in output if v >= 0}
    is_free = [op.name in _PRODUCTS and a not in results for a, op in enumerate(code)]
    # products whose only use is this sum
    taken: dict[int, int] = {}
    for k, op in enumerate(code):
        if op.name in _SUMS:
            own = [a for a in op.args if is_free[a] and len(uses[a]) == 1]
            if own:
                taken[k] = own[-1]
    # products of several uses, all of them sums that have taken nothing
    for a, sums in enumerate(uses):
        if is_free[a] and len(sums) > 1 and len(set(sums)) == len(sums):
            if all(code[k].name in _SUMS and k not in taken for k in sums):
                taken.update(dict.fromkeys(sums, a))
    return taken


def without_dead_code(program: Program) -> Program:
    """The same program with only what its outputs need."""
    needed = {v for output in program.outputs for v in output if v >= 0}
    for k in range(len(program.code) - 1, -1, -1):
        if k in needed and program.code[k].name != "input":
            needed.update(program.code[k].args)
    kept = sorted(needed)
    new = {old: k for k, old in enumerate(kept)}
    moved = lambda op: Operation(op.name, tuple([new[a] for a in op.args]), op.value)
    operations = [program.code[k] for k in kept]
    code = tuple(op if op.name == "input" else moved(op) for op in operations)
    outputs = tuple(tuple(new.get(v, -1) for v in output) for output in program.outputs)
    return replace(program, code=code, outputs=outputs)
