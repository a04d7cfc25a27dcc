"""Threads: how many compute a batch, and from which size on."""

from __future__ import annotations

import ctypes
import os

from linkwork.errors import InvalidInput

WORTH_SHARING = 3_000_000  # operations below which waking a worker costs more than it gives


def _cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


in_use = ctypes.c_int64(_cores())  # where machine code can read it


def threads(n: int | None = None) -> int:
    """How many threads batches use; `threads(n)` sets it. At the start:
    the cores that this process may use."""
    if n is not None:
        if isinstance(n, bool) or not isinstance(n, int) or not 1 <= n <= 1024:
            raise InvalidInput(f"threads: n is {n!r}, expected a whole number from 1 to 1024")
        in_use.value = n
    return in_use.value
