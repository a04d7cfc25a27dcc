"""Deadlines: how much work a call may be asked for before it starts,
and how long it may take once it has.

A limit of time holds for everything inside it, loops in machine code included: whoever waits for
them (engine/scan.py) looks at the clock, and searches in Python look between their steps.
"""

from __future__ import annotations

import functools
import math
import os
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any, TypeVar, cast

import numpy as np

from linkwork.arguments import number, shown
from linkwork.errors import InvalidInput, NotPossible

Search = TypeVar("Search", bound=Callable[..., Any])
MOST_STEPS = 10**11
"""Steps of all samples together that a run may take, some hours of work:
more is a slip of a number."""


@dataclass(frozen=True)
class _Limit:
    end: float
    seconds: float
    who: str


_limit: ContextVar[_Limit | None] = ContextVar("linkwork time limit", default=None)


@contextmanager
def time_limit(seconds: Any, who: str) -> Iterator[None]:
    """Everything inside ends with NotPossible after so many seconds; None: as long as it takes."""
    if seconds is None:
        yield
        return
    allowed = number(seconds, f"{who}: time_limit")
    if allowed <= 0.0:
        raise InvalidInput(f"{who}: time_limit is {allowed:g}, expected seconds above 0, or None")
    around = _limit.get()
    end = time.monotonic() + allowed
    token = _limit.set(
        around if around is not None and around.end < end else _Limit(end, allowed, who)
    )
    try:
        yield
        check()
    finally:
        _limit.reset(token)


def limited(function: Search) -> Search:
    """A search with an option time_limit: all that it does ends with NotPossible after so many
    seconds."""

    @functools.wraps(function)
    def within(*args: Any, **options: Any) -> Any:
        with time_limit(options.get("time_limit"), function.__name__):
            return function(*args, **options)

    return cast(Search, within)


def check() -> None:
    """Raise where the time of a limit around this call is over."""
    limit = _limit.get()
    if limit is not None and time.monotonic() >= limit.end:
        raise NotPossible(
            f"{limit.who}: not done within time_limit = {limit.seconds:g} s; give more, or ask "
            "for less"
        )


def rounds(count: int, size: int) -> Iterator[slice]:
    """Slices of at most `size` that cover `count` rows, at least one:
    between them Ctrl-C and limits are heard."""
    for begin in range(0, max(1, count), size):
        check()
        yield slice(begin, min(begin + size, count))


def wait(lock: threading.Lock) -> None:
    """Wait for a lock, no longer than a limit around this call allows. Ctrl-C ends it at once."""
    limit = _limit.get()
    if limit is None:
        lock.acquire()
    elif not lock.acquire(timeout=max(0.0, limit.end - time.monotonic())):
        check()


def check_steps(steps: float, who: str, most: int = MOST_STEPS, why: str = "") -> None:
    """Refuse a run of more steps than anybody waits for; `why` says what makes them slow."""
    if not steps <= most:
        raise InvalidInput(
            f"{who}: {steps:.3g} steps, expected at most {most:.0e}{why}; set step= or duration="
        )


def check_memory(size: float, what: str, cure: str) -> None:
    """Refuse what would need more than half of this machine's memory:
    the system ends a process that takes it all."""
    if size > memory() / 2:
        raise InvalidInput(
            f"{what} need {size / 1e9:.3g} GB, and this machine has {memory() / 1e9:.3g} GB; {cure}"
        )


def memory() -> float:
    """Bytes of memory of this machine, endless where the system does not say."""
    try:
        return float(os.sysconf("SC_PHYS_PAGES")) * float(os.sysconf("SC_PAGE_SIZE"))
    except (AttributeError, OSError, ValueError):
        return math.inf


def counted(value: Any, who: str, least: int, most: int, cure: str = "") -> int:
    """A whole number of things to be computed, refused before the first of them where that would
    never end.

    who    "call: argument";  cure: what to set instead, where it is not that argument
    """
    if (
        isinstance(value, (bool, np.bool_))
        or not isinstance(value, (int, np.integer))
        or value < least
    ):
        raise InvalidInput(f"{who} is {shown(value)}, expected a whole number of at least {least}")
    if value > most:
        told = f"{float(value):.3g}" if value < 10**300 else "more than 1e300"
        name = cure or who.rpartition(" ")[2]
        raise InvalidInput(f"{who} is {told}, expected at most {most:.0e}: set {name}=")
    return int(value)
