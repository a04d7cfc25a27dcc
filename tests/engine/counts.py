"""What a program consists of."""

from collections import Counter

from linkwork.engine.program import Program


def census(program: Program) -> dict[str, int]:
    """How often each operation occurs."""
    return dict(Counter(op.name for op in program.code))
