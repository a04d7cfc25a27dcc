"""Selects (if-conversion): CasADi's if_else as one selection instead of two masks and a sum."""

from __future__ import annotations

from dataclasses import replace

from linkwork.engine.program import Operation, Program


def with_selects(program: Program) -> Program:
    """The same program with (c ? x : 0) + (not c ? y : 0) written as "select" c, x, y.

    That sum is how CasADi writes if_else(c, x, y). The masks disappear where nothing else uses
    them.
    """
    code = list(program.code)
    for k, op in enumerate(code):
        if op.name != "add":
            continue
        left, right = (code[a] for a in op.args)
        if left.name != "if_else_zero" or right.name != "if_else_zero":
            continue
        (c, x), (d, y) = left.args, right.args
        if code[d].name == "not" and code[d].args == (c,):
            code[k] = Operation("select", (c, x, y))
        elif code[c].name == "not" and code[c].args == (d,):
            code[k] = Operation("select", (d, y, x))
    return replace(program, code=tuple(code))
