"""Durations: steps, rows and instants of a run, as many as fit."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from linkwork import deadlines
from linkwork.arguments import number, shown
from linkwork.errors import InvalidInput, LinkworkError

DEFAULT_STEP = 1e-3
MOST_ROWS = 10**8
SHORTEST = 1e-100
"""Duration [s] below which squares of steps are no numbers any more."""
# a duration may miss a whole number of steps by this part of a step: decimals are not binary
_WHOLE = 1e-6


def fixed_steps(
    duration: float, step: float | None, sample: float | None, record: bool, runs: int
) -> tuple[float, int, int]:
    """(step [s], how many, how many of them a row) of a run with fixed steps."""
    h = positive("step", DEFAULT_STEP if step is None else step)
    steps, every = whole_steps(duration, h, "duration", "step"), 1
    deadlines.check_steps(steps * runs, "simulate")
    if sample is not None:
        every = whole_steps(sample, h, "sample", "step")
        if steps % every:
            raise InvalidInput(
                f"simulate: duration {duration:g} s is no multiple of sample {sample:g} s"
            )
    return h, steps, every if record else steps


def instants(duration: float, sample: float | None, start: float) -> np.ndarray:
    """Times of the rows of an adaptive run [s], a thousand where nobody says how far apart."""
    duration = positive("duration", duration)
    rows = 1000
    if sample is not None:
        rows = whole_steps(duration, positive("sample", sample), "duration", "sample")
    if rows > MOST_ROWS:
        raise InvalidInput(
            f"simulate: {rows:.3g} rows, expected at most {MOST_ROWS:.0e}; set sample= or duration="
        )
    times = start + duration * np.arange(rows + 1) / rows
    if duration < SHORTEST or not (np.diff(times) > 0.0).all():
        raise InvalidInput(
            f"simulate: duration is {duration:g} s from {start:g} s, too short to tell its "
            "instants apart"
        )
    return times


def positive(name: str, time: Any, endless: bool = False) -> float:
    """A number above zero; with `endless` it may be infinite."""
    if endless and isinstance(time, float) and time == math.inf:
        return time
    try:
        value = number(time, name)
    except LinkworkError:
        raise InvalidInput(
            f"simulate: {name} is {shown(time)}, expected a positive number"
        ) from None
    if not value > 0:
        raise InvalidInput(f"simulate: {name} is {shown(time)}, expected a positive number")
    return value


def whole_steps(long: float, short: float, name: str, of: str, zero: bool = False) -> int:
    """How many times one time fits into another; a whole number or refused."""
    ratio = (0.0 if zero and long == 0 else positive(name, long)) / short
    count = round(ratio)
    if abs(ratio - count) > _WHOLE * max(1.0, ratio) or (count == 0 and not zero):
        raise InvalidInput(
            f"simulate: {name} {long:g} s is no whole number of {of}s of {short:g} s ({ratio:.6g})"
        )
    return count
