"""Target: what the code generator assumes of a processor, in one place.

Only speed depends on these numbers, never a result. They are those of x86-64 processors of the last
ten years; an assumption that fails costs some time.
"""

from __future__ import annotations

LINE = 8
"""Doubles of a cache line, which are read and written together."""
WIDTHS = (("avx512f", 8), ("avx", 4), ("", 2))
"""Doubles in a vector register, by the feature that brings it;
the first that a processor has counts."""
INSTRUCTIONS = 2
"""Arithmetic instructions that are begun in a cycle."""
CYCLES = {"sin": 0, "cos": 0, "div": 13, "inv": 13, "sqrt": 19}
"""Latency of an operation [cycles]. Sines of inputs come first and are there when needed."""
USUAL_CYCLES = 4
"""Latency of every other operation, additions and multiplications above all."""
SHORT = 850
"""Operations of two tiles at once whose code fits the instruction cache."""


def latency(operation: str) -> int:
    """Cycles until the result of an operation is there."""
    return CYCLES.get(operation, USUAL_CYCLES)
