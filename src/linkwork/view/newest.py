"""Newest: work on what a person drags, where only the newest of many events counts."""

from __future__ import annotations

import threading
from collections.abc import Callable


class Newest:
    """Many events come while one is worked on; the work is done once more for the last of them.
    It reads what it works on itself, so nothing old waits in a queue.

    `after` follows when nothing waits and no hand holds on (`held`)."""

    def __init__(self, work: Callable[[], None], after: Callable[[], None] | None = None) -> None:
        self._work, self._after = work, after
        self._busy, self._waiting = threading.Lock(), threading.Event()
        self.held = False

    def __call__(self) -> None:
        self._waiting.set()
        worked = False
        while self._waiting.is_set() and self._busy.acquire(blocking=False):
            try:
                self._waiting.clear()
                self._work()
                worked = True
            finally:
                self._busy.release()
        if worked and not self.held and self._after is not None:
            self._after()
