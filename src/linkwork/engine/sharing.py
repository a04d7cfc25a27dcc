"""Sharing: one batch computed by several threads, which take pieces of it in machine code.

The calling thread begins at once and a worker joins in whenever the system wakes it; nobody waits for a piece that has
not been begun, and no piece needs the interpreter. What is computed depends only on the sample, so that any sharing
gives the same bits.
"""

from __future__ import annotations

import ctypes
from functools import cache
from typing import Any

import numpy as np
from llvmlite import ir

from linkwork.engine import machine
from linkwork.engine.emit import I64, POINTER
from linkwork.engine.threads import WORTH_SHARING, threads, workers
from linkwork.engine.writer import Writer, compiled_once

SMALLEST, LARGEST = 100_000, 2_000_000  # operations of a piece: some 10 us; so much that the cache is read in long runs
PATIENCE = 200_000  # looks at the work of others, some 100 us, before the interpreter is asked to wait for them
NONE_BAD = 2**62
# The state of one call: the next sample to take, samples done, the first bad one; how many there are, and a piece's.
NEXT, DONE, BAD, SAMPLES, SIZE = range(5)


def run_shared(
    run: int,
    inputs: Any,
    strides: Any,
    outputs: Any,
    scratch: int,
    samples: int,
    operations: int,
    grain: int,
    alive: Any,
) -> int:
    """Call the machine code at address `run` on all samples, in pieces of whole grains; gives what `run` gives.

    inputs, strides, outputs   as `run` takes them (codegen.py); scratch: doubles that each thread needs of its own
    alive                      what must not be freed before the last thread is done
    """
    work = samples * max(1, operations)
    shares = min(threads(), -(-samples // grain)) if work >= WORTH_SHARING else 1
    piece = min(max(SMALLEST, work // (32 * shares)), LARGEST)
    size = grain * max(1, piece * samples // (work * grain))
    state = np.array([0, 0, NONE_BAD, samples, size if shares > 1 else samples], dtype=np.int64)

    code, place = _take(), state.ctypes.data

    # a worker may come when everything is done and this call has returned: it still reads the state
    def take(patience: int = 0, alive: Any = (alive, state)) -> None:
        own = np.empty(scratch)
        code(place, run, inputs, strides, outputs, own.ctypes.data, patience)

    others = workers.hand_over(take, shares - 1) if shares > 1 else []
    take(PATIENCE)
    for other in others:
        if state[DONE] == samples:
            break
        other.acquire()
    return -1 if state[BAD] == NONE_BAD else int(state[BAD])


@cache
def _take() -> Any:
    address = _code().addresses["take"]
    return ctypes.CFUNCTYPE(None, *[ctypes.c_void_p] * 6, ctypes.c_int64)(address)


@cache
def _code() -> machine.Code:
    return compiled_once("sharing", _emit, ("take",))


def _emit(module: ir.Module) -> None:
    """Define `take(state, run, inputs, strides, outputs, scratch, patience)`: compute pieces until none is left."""
    type_ = ir.FunctionType(ir.VoidType(), [POINTER, I64, *[POINTER] * 4, I64])
    function = ir.Function(module, type_, "take")
    state, run, inputs, strides, outputs, scratch, patience = function.args
    function.append_basic_block("entry")
    head, body, found, finish, rest, look, done = (
        function.append_basic_block(name) for name in ("head", "body", "found", "finish", "rest", "look", "done")
    )
    w = Writer(function)
    b = w.b
    samples, size, looks = w.word(state, SAMPLES), w.word(state, SIZE), w.words()
    w.put(w.number(0), looks, 0)
    b.branch(head)

    b.position_at_end(head)
    begin = b.atomic_rmw("add", w.place(state, NEXT), size, "monotonic")
    b.cbranch(b.icmp_signed("<", begin, samples), body, rest)

    b.position_at_end(body)
    beyond = b.add(begin, size)
    end = b.select(b.icmp_signed("<", beyond, samples), beyond, samples)
    run_type = ir.FunctionType(I64, [POINTER] * 4 + [I64] * 2)
    bad = b.call(b.inttoptr(run, run_type.as_pointer()), [inputs, strides, outputs, scratch, begin, end])
    b.cbranch(b.icmp_signed(">=", bad, w.number(0)), found, finish)
    b.position_at_end(found)
    b.atomic_rmw("min", w.place(state, BAD), bad, "monotonic")
    b.branch(finish)
    b.position_at_end(finish)
    b.atomic_rmw("add", w.place(state, DONE), b.sub(end, begin), "release")
    b.branch(head)

    b.position_at_end(rest)
    ready = b.load_atomic(w.place(state, DONE), "acquire", 8, typ=I64)
    b.cbranch(b.icmp_signed("<", ready, samples), look, done)
    b.position_at_end(look)
    looked = b.add(w.word(looks, 0), w.number(1))
    w.put(looked, looks, 0)
    b.cbranch(b.icmp_signed("<", looked, patience), rest, done)
    b.position_at_end(done)
    b.ret_void()
