"""Workers: the pool of threads of kernels and scans, which spin for a moment after their work.

To wake a sleeping thread takes the system as long as some thousand samples of a small robot. A
worker that is still awake finds the next job in its mailbox by itself, in machine code.
"""

from __future__ import annotations

import ctypes
import os
import threading
import time
from collections.abc import Callable
from queue import SimpleQueue
from typing import Any

import numpy as np

from linkwork.engine.sharing_code import BOX, LOOKS, function

MOST = 1023  # workers: one less than the threads that can be asked for
STAYS = 5_000  # looks for more work, some 100 us, before a worker goes to sleep
Work = tuple[Callable[[], None], threading.Lock]


class Workers:
    """Those of this process; a forked child has none and makes its own."""

    def __init__(self) -> None:
        # where their letter boxes are and how many, for machine code
        self.roll = (ctypes.c_int64 * 2)()
        self._start()
        if hasattr(os, "register_at_fork"):
            os.register_at_fork(after_in_child=self._start)

    def _start(self) -> None:
        self._lock = threading.Lock()
        self._work: SimpleQueue[Work] = SimpleQueue()
        self._boxes = np.zeros((MOST, BOX), dtype=np.int64)
        self.roll[0], self.roll[1] = self._boxes.ctypes.data, 0
        self._held: dict[int, Any] = {}  # by the address of the job
        self._at_work: list[None] = []  # one entry for each worker that does what it was woken for

    @property
    def occupied(self) -> int:
        """Workers that do what they were woken for; new work beside them would wait."""
        return len(self._at_work) + self._work.qsize()

    def post(self, job: int, wanted: int, held: Any) -> int:
        """Give the job at an address (sharing_code.py) to so many workers that are awake;
        gives how many there were.

        `held` is kept alive until `retract`, for ever if an interrupt comes between the two.
        """
        if not self.roll[1]:
            return 0
        self._held[job] = held
        posted = function("post")(*self.roll, job, wanted)
        if not posted:
            del self._held[job]
        return posted

    def retract(self, job: int) -> None:
        """Come back when no worker reads the job any more."""
        while not function("retract")(*self.roll, job, LOOKS):
            time.sleep(0)
        del self._held[job]

    def hand_over(
        self, work: Callable[[], None], times: int, busy: int = 0
    ) -> list[threading.Lock]:
        """Wake so many workers to do the work once each, beside those that are busy; gives locks,
        free afterwards."""
        with self._lock:
            while self.roll[1] < min(times + busy, MOST):
                box = self.roll[0] + 8 * BOX * self.roll[1]
                threading.Thread(
                    target=_live,
                    args=(self._work, self._at_work, box),
                    name="linkwork",
                    daemon=True,
                ).start()
                self.roll[1] += 1
        locks = []
        for _ in range(times):
            lock = threading.Lock()
            lock.acquire()
            locks.append(lock)
            self._work.put((work, lock))
        return locks


def _live(queue: SimpleQueue[Work], at_work: list[None], box: int) -> None:
    while True:
        work, lock = queue.get()
        at_work.append(None)
        try:
            work()
        finally:
            at_work.pop()
            lock.release()
            del work  # with what it keeps alive, before the next wait
        function("serve")(box, STAYS)


workers = Workers()
