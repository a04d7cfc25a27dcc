"""Threads: how many compute a batch, and the workers among them."""

from __future__ import annotations

import ctypes
import os
import threading
from collections.abc import Callable
from queue import SimpleQueue

from linkwork.errors import InvalidInput

WORTH_SHARING = 3_000_000  # operations below which waking a worker costs more than it gives


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


class Workers:
    """Threads that wait for work; a forked child has none and makes its own."""

    def __init__(self) -> None:
        self._start()
        if hasattr(os, "register_at_fork"):
            os.register_at_fork(after_in_child=self._start)

    def _start(self) -> None:
        self._lock = threading.Lock()
        self._work: SimpleQueue[tuple[Callable[[], None], threading.Lock]] = SimpleQueue()
        self._count = 0

    def hand_over(self, work: Callable[[], None], times: int) -> list[threading.Lock]:
        """Have so many workers each do the work once, when they come to it; gives locks that are free afterwards."""
        with self._lock:
            while self._count < times:
                threading.Thread(target=_serve, args=(self._work,), name="linkwork", daemon=True).start()
                self._count += 1
        locks = []
        for _ in range(times):
            lock = threading.Lock()
            lock.acquire()
            locks.append(lock)
            self._work.put((work, lock))
        return locks


def _serve(queue: SimpleQueue[tuple[Callable[[], None], threading.Lock]]) -> None:
    while True:
        work, lock = queue.get()
        try:
            work()
        finally:
            lock.release()
            del work  # with what it keeps alive, before the next wait


workers = Workers()
