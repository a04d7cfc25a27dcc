"""Threads: tiles of a batch shared among workers; compiled code runs without the interpreter lock."""

from __future__ import annotations

import ctypes
import os
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

from linkwork.errors import InvalidInput

_lock = threading.Lock()
_pool: ThreadPoolExecutor | None = None
_pool_key: tuple[int, int] = (0, 0)
WORTH_SHARING = 3_000_000  # operations below which waking a worker costs more than it gives
PIECE = 1_000_000  # operations of a piece: long beside handing it out, short beside the whole


def _cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


in_use = ctypes.c_int64(_cores())  # where machine code can read it


def threads(n: int | None = None) -> int:
    """How many threads batches use; `threads(n)` sets it. At the start: the cores that this process may use."""
    if n is not None:
        if isinstance(n, bool) or not isinstance(n, int) or not 1 <= n <= 1024:
            raise InvalidInput(f"threads: n is {n!r}, expected a whole number from 1 to 1024")
        in_use.value = n
    return in_use.value


def run_shared(work: Callable[[int, int], int], samples: int, operations: int, grain: int) -> int:
    """Call work(begin, end) over 0 .. samples, in pieces of whole grains; gives the smallest answer that is not -1.

    The calling thread and the workers take pieces from one queue, so a worker that the system keeps waiting delays
    nobody. An answer depends only on the sample, so any sharing gives the same results.
    """
    total = samples * max(1, operations)
    shares = min(threads(), -(-samples // grain))
    if shares <= 1 or total < WORTH_SHARING:
        return work(0, samples)
    pieces = max(2 * shares, min(64 * shares, total // PIECE))
    size = grain * max(1, -(-samples // (grain * pieces)))
    starts = iter(range(0, samples, size))  # next() is atomic
    answers: list[int] = []

    def take() -> None:
        for begin in starts:
            answers.append(work(begin, min(samples, begin + size)))

    pool = _workers(shares - 1)
    waiting = [pool.submit(take) for _ in range(shares - 1)]
    take()
    for worker in waiting:
        if not worker.cancel():
            worker.result()
    bad = [a for a in answers if a >= 0]
    return min(bad) if bad else -1


def _workers(count: int) -> ThreadPoolExecutor:
    """A pool of at least `count` workers of this process (a forked child makes its own)."""
    global _pool, _pool_key
    with _lock:
        process, size = _pool_key
        if _pool is None or process != os.getpid() or size < count:
            _pool = ThreadPoolExecutor(count, thread_name_prefix="linkwork")
            _pool_key = (os.getpid(), count)
        return _pool


def _forget_lock() -> None:
    global _lock
    _lock = threading.Lock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_lock)
