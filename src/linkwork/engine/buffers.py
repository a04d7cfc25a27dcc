"""Buffers: memory of large results, given back when the result is forgotten and used again by the next call.

The operating system hands out new memory page by page and clears each page first; for a kernel that computes a sample
in 20 ns that is a fifth of the time. A result has its memory to itself as long as it, or any view of it, lives. When
more waits than may be kept, what was given back longest ago goes, so sizes that nobody asks for any more do not stay.
"""

from __future__ import annotations

import math
import threading

import numpy as np

SMALLEST, LARGEST = 1 << 18, 1 << 25  # bytes: below, malloc reuses memory itself; above, keeping it would cost too much
KEPT = 1 << 25  # bytes kept in all

_lock = threading.Lock()
_free: list[np.ndarray] = []  # in the order given back; at most KEPT / SMALLEST of them
_kept = 0


class _Lease:
    """Owner of one block; numpy asks for its memory, and views keep it alive."""

    __slots__ = ("__array_interface__", "block")

    def __init__(self, block: np.ndarray, shape: tuple[int, ...]) -> None:
        self.block = block
        self.__array_interface__ = {**block.__array_interface__, "shape": shape, "strides": None}

    def __del__(self) -> None:
        _give_back(self.block)


def empty(shape: tuple[int, ...]) -> np.ndarray:
    """Like np.empty(shape): a C-contiguous float64 array with memory of its own."""
    global _kept
    size = 8 * math.prod(shape)
    if not SMALLEST <= size <= LARGEST:
        return np.empty(shape)
    block = None
    with _lock:
        for place in range(len(_free) - 1, -1, -1):
            if _free[place].nbytes == size:
                block = _free.pop(place)
                _kept -= size
                break
    return np.asarray(_Lease(np.empty(size // 8) if block is None else block, shape))


def _give_back(block: np.ndarray) -> None:
    global _kept
    # a destructor may run inside `empty` on this very thread: then the memory simply goes
    if not _lock.acquire(blocking=False):
        return
    try:
        _free.append(block)
        _kept += block.nbytes
        while _kept > KEPT:
            _kept -= _free.pop(0).nbytes
    finally:
        _lock.release()


def kept() -> int:
    """Bytes that wait for their next use."""
    return _kept
