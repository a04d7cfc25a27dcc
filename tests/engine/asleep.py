"""Asking what happens while no worker is awake."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any


def when_all_are_asleep(call: Callable[[], Any]) -> Any:
    """None as soon as the call gives it, else what it gives after ten minutes of trying.

    A worker stays awake for 100 us, but on a busy machine one may wake late, or have no turn to
    fall asleep for long.
    """
    end = time.monotonic() + 600
    while (found := call()) is not None and time.monotonic() < end:
        time.sleep(0.01)
    return found
