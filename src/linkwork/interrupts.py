"""Interrupts: Ctrl-C is heard although the code it falls into swallows it.

CasADi's conversions ask Python objects what they are and forget what those raise. A
KeyboardInterrupt that arrives there is lost (in two of three products of symbols), or becomes a
NotImplementedError or SystemError. So while a call of ours runs, an interrupt is remembered: it is
sent again until somebody hears it, and the call ends with it.
"""

from __future__ import annotations

import _thread
import signal
import sys
import threading
import time
from collections.abc import Callable
from typing import Any

AGAIN = 0.05
"""Seconds after which an interrupt that nobody heard is sent again."""

_MAIN = threading.main_thread().ident
_set_handler: Callable[[int, Any], Any] = getattr(signal.signal, "__wrapped__", signal.signal)
_get_handler: Callable[[int], Any] = getattr(signal.getsignal, "__wrapped__", signal.getsignal)


class _Interrupt:
    """The handler of one call: as Python's own, but it remembers."""

    def __init__(self) -> None:
        self.came = self.is_over = False
        self._lock = _thread.allocate_lock()

    def __call__(self, number: int, frame: Any) -> None:
        if self.is_over or isinstance(sys.exc_info()[1], KeyboardInterrupt):
            return  # it is on its way: whoever cleans up is left in peace
        if not self.came:
            self.came = True
            _thread.start_new_thread(self._repeat, ())
        raise KeyboardInterrupt

    def _repeat(self) -> None:
        while True:
            time.sleep(AGAIN)
            with self._lock:
                if self.is_over or not self.came:
                    return
                _thread.interrupt_main()

    def answer(self) -> None:
        """The call itself has dealt with what came: nothing is sent again, and it may return."""
        with self._lock:
            self.came = False

    def end(self) -> None:
        """Nothing is sent from here on."""
        # from here on the handler says nothing, and waiting cannot be disturbed
        self.is_over = self.came
        if self.came:
            with self._lock:
                pass
        # what is still pending is delivered first
        _set_handler(signal.SIGINT, signal.default_int_handler)


def wait_until(event: threading.Event, seconds: float | None = None) -> None:
    """Wait for the event, for some seconds or for Ctrl-C, which ends the wait and nothing else."""
    try:
        event.wait(seconds)
    except KeyboardInterrupt:
        interrupt = _get_handler(signal.SIGINT)
        if isinstance(interrupt, _Interrupt):
            interrupt.answer()


def heard(call: Callable[..., Any], *args: Any, **options: Any) -> Any:
    """call(*args, **options); an interrupt while it runs ends it with KeyboardInterrupt,
    whoever swallows that.

    Of the main thread, where Python's own handler stands; else, as inside another call of ours, the
    call alone.
    """
    if (
        _get_handler(signal.SIGINT) is not signal.default_int_handler
        or _thread.get_ident() != _MAIN
    ):
        return call(*args, **options)
    interrupt = _Interrupt()
    _set_handler(signal.SIGINT, interrupt)
    try:
        result = call(*args, **options)
    except KeyboardInterrupt:
        raise
    except BaseException as error:
        if interrupt.came:
            raise KeyboardInterrupt from error
        raise
    finally:
        interrupt.end()
    if interrupt.came:
        raise KeyboardInterrupt
    return result
