"""Buffers (a free list): memory of large results, given back when the result is forgotten,
used by the next call.

The operating system hands out new memory page by page and clears each page first, which takes a
good part of the time of a small kernel (`python -m benchmarks engine`). A result has its memory to
itself as long as it, or any view of it, lives. When more waits than may be kept, what was given
back longest ago goes, so sizes that nobody asks for any more do not stay.
"""

from __future__ import annotations

import ctypes
import math
import threading
from typing import Any

import numpy as np

from linkwork.engine import forks

# bytes: below, malloc reuses memory itself; above, keeping it would cost too much
SMALLEST = 1 << 18
LARGEST = 1 << 25
KEPT = 1 << 25  # bytes kept in all

_lock = forks.awaited(threading.Lock(), 3)
_free: list[ctypes.Array] = []  # in the order given back; at most KEPT / SMALLEST of them
_kept = 0
_DOUBLE = np.dtype(np.float64)


class _Lease(np.ndarray):
    """Stands between a result and its block: views keep it alive,
    and when it goes the block is free again."""

    def __del__(self) -> None:
        # not a part of a lease, which somebody may take from a result's base
        if isinstance(self.base, ctypes.Array):
            _give_back(self.base)


def empty(shape: tuple[int, ...]) -> np.ndarray:
    """Like np.empty(shape): a C-contiguous float64 array with memory of its own."""
    global _kept
    count = math.prod(shape)
    if not SMALLEST <= 8 * count <= LARGEST:
        return np.empty(shape)
    block: Any = None
    with _lock:
        for place in range(len(_free) - 1, -1, -1):
            if len(_free[place]) == count:
                block = _free.pop(place)
                _kept -= 8 * count
                break
    if block is None:
        # numpy would look through an array or a memoryview to its owner, past the lease;
        # not through a ctypes array
        block = (ctypes.c_double * count).from_buffer(np.empty(count).data)
    return np.ndarray(shape, _DOUBLE, np.ndarray.__new__(_Lease, (count,), _DOUBLE, block))


def _give_back(block: ctypes.Array) -> None:
    global _kept
    # a destructor may run inside `empty` on this very thread: then the memory simply goes
    if not _lock.acquire(blocking=False):
        return
    try:
        _free.append(block)
        _kept += 8 * len(block)
        while _kept > KEPT:
            _kept -= 8 * len(_free.pop(0))
    finally:
        _lock.release()


def kept() -> int:
    """Bytes that wait for their next use."""
    return _kept
