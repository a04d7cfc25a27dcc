"""Merge (common subexpressions): several programs over the same arguments as one,
each with the bits it has alone.

Tracing functions together lets the compiler choose other products to fuse when a neighbour changes,
and the last bit of an untouched result moves. Programs optimised one by one and merged afterwards
share equal operations and nothing else.
"""

from __future__ import annotations

from collections.abc import Sequence

from linkwork.engine.program import Operation, Program


def merged(programs: Sequence[Program], name: str = "") -> Program:
    """One program with the outputs of all of them, in order;
    equal operations on equal values are computed once."""
    if not programs:
        raise AssertionError("merged: no programs")
    code: list[Operation] = []
    known: dict[tuple[str, tuple[int, ...], str], int] = {}
    outputs: list[tuple[int, ...]] = []
    for program in programs:
        assert program.inputs == programs[0].inputs, (program.inputs, programs[0].inputs)
        here: list[int] = []
        for op in program.code:
            args = op.args if op.name == "input" else tuple(here[a] for a in op.args)
            key = (op.name, args, op.value.hex())
            if key not in known:
                known[key] = len(code)
                code.append(op._replace(args=args))
            here.append(known[key])
        outputs += [tuple(here[v] if v >= 0 else -1 for v in output) for output in program.outputs]
    return Program(programs[0].inputs, tuple(code), tuple(outputs), name)
