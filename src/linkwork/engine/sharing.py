"""Sharing: one batch computed by several threads, which take pieces of it in machine code.

The calling thread begins at once and a worker joins in as soon as it is awake; nobody waits for a
piece that has not been begun, and no piece needs the interpreter. What is computed depends only on
the sample, so that any sharing gives the same bits.
"""

from __future__ import annotations

import ctypes
from typing import Any

import numpy as np

from linkwork import deadlines
from linkwork.engine.sharing_code import BAD, DONE, NONE_BAD, PIECES, function, piece_limits
from linkwork.engine.threads import WORTH_SHARING, threads
from linkwork.engine.workers import workers

ROUND = 10**9
"""Operations of one call of machine code, some 50 ms, half a second where they are arctangents.
Between calls Ctrl-C and limits of time are heard."""
WRITING = 200  # operations in whose time a double reaches memory that a busy system has yet to give
# looks at the work of others, some 100 us, before the interpreter is asked to wait for them
PATIENCE = 200_000


def run_shared(
    run: int,
    inputs: int,
    strides: int,
    outputs: int,
    scratch: int,
    samples: int,
    operations: int,
    grain: int,
    alive: Any,
    written: int = 0,
) -> int:
    """Call the machine code at address `run` on all samples, in pieces of whole grains;
    gives what `run` gives.

    inputs, strides, outputs   addresses of what `run` takes (codegen.py); scratch: doubles that
                               each thread needs
    alive                      what must not be freed before the last thread is done
    written                    doubles of results that a sample has
    """
    most = max(grain, ROUND // max(operations, WRITING * written, 1) // grain * grain)
    first_bad = -1
    for begin in range(0, max(samples, 1), most):
        places = (run, inputs, strides, outputs)
        bad = _run_round(
            begin, min(begin + most, samples), places, scratch, operations, grain, alive
        )
        first_bad = bad if first_bad < 0 else first_bad
    return first_bad


def _run_round(
    begin: int,
    end: int,
    places: tuple[int, int, int, int],
    scratch: int,
    operations: int,
    grain: int,
    alive: Any,
) -> int:
    """The samples from `begin` to before `end`; the first bad one, or -1."""
    samples = end - begin
    shares = min(threads(), -(-samples // grain)) if samples * operations >= WORTH_SHARING else 1
    small, large = piece_limits(operations, grain)
    size = (
        min(max(small, samples // (PIECES * shares) // grain * grain), large)
        if shares > 1
        else samples
    )
    own = np.empty(shares * scratch)
    words = (begin, begin, NONE_BAD, end, size, *places, own.ctypes.data, scratch)
    job, take = (ctypes.c_int64 * len(words))(*words), function("take")
    place, held = ctypes.addressof(job), (alive, own, job)
    posted = workers.post(place, shares - 1, held) if shares > 1 else 0
    parts = list(range(posted + 1, shares))

    # one that is woken may come when everything is done and this call has returned:
    # it still reads the job
    def help_out(held: Any = held) -> None:
        take(place, parts.pop(), 0)

    deadlines.check()
    others = workers.hand_over(help_out, len(parts), busy=posted) if parts else []
    take(place, 0, PATIENCE)
    if posted:
        workers.retract(place)
    for other in others:
        if job[DONE] == end:
            break
        other.acquire()
    return -1 if job[BAD] == NONE_BAD else job[BAD]
