"""Passes: a program as CasADi traced it becomes the one that is compiled; one idea a file."""

from __future__ import annotations

from linkwork.engine.passes.fuse import fused, without_dead_code
from linkwork.engine.passes.reciprocals import with_shared_reciprocals
from linkwork.engine.passes.schedule import scheduled
from linkwork.engine.passes.selects import with_selects
from linkwork.engine.passes.sums import chained
from linkwork.engine.program import Program


def optimised(program: Program) -> Program:
    """The shortened program, with values near their uses."""
    return scheduled(shortened(program))


def shortened(program: Program) -> Program:
    """Branches as selections, reciprocals shared, sums chained, multiply-adds fused,
    dead values removed."""
    return without_dead_code(fused(chained(with_shared_reciprocals(with_selects(program)))))
