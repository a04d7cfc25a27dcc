"""The machine code of sharing: jobs whose pieces any thread takes by fetch-add,
mailboxes of workers that spin.

A job and a letter box are rows of 64-bit words. No function here needs the interpreter, and each
tells by atomic changes of one word who may do what:

    NEXT of a job         whoever adds a piece to it has taken that piece
    STATUS of a letter box, between its worker and those who have work:
        ASLEEP -> AWAKE -> ASLEEP       by the worker
        AWAKE -> CLAIMED -> POSTED      by whoever puts a job in
        POSTED -> TAKEN -> AWAKE        by the worker, which computes the job while TAKEN
        POSTED -> AWAKE                 by whoever put the job in and no longer needs help
"""

from __future__ import annotations

import ctypes
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any

from llvmlite import ir

from linkwork.engine import machine
from linkwork.engine.ir_types import DOUBLE, I32, I64, POINTER, intrinsic
from linkwork.engine.loader import loaded_once
from linkwork.engine.writer import Writer

# A job: the next sample to take, samples done, the first bad one; how many there are, a piece's;
# what computes them (codegen.py) with its arguments; scratch memory, and how many doubles of it
# each thread has for itself.
NEXT, DONE, BAD, SAMPLES, SIZE, RUN, INPUTS, STRIDES, OUTPUTS, SCRATCH, OWN, JOB_WORDS = range(12)
# A letter box: its status, the job in it, which part of the scratch memory the worker has.
# Two lines of the cache.
STATUS, JOB, PART = range(3)
BOX = 16
ASLEEP, AWAKE, CLAIMED, POSTED, TAKEN = range(5)
NONE_BAD = 2**62

_ARGUMENTS = {
    # (job, part, patience): compute pieces until none is left, then look at the work of others
    "take": 3,
    "serve": 2,  # (box, patience): be awake and compute jobs until none came for so many looks
    # (boxes, count, job, wanted): put the job into so many boxes of workers that are awake;
    # gives how many
    "post": 4,
    # (boxes, count, job, patience): take the job out again; gives 1 if no worker has it any more
    "retract": 4,
    # (boxes, count, job, wanted): compute it all with so many; 0 if fewer are awake,
    # and nothing is done
    "share": 4,
}
LOOKS = 5_000
"""At a worker that is about to finish, some 100 us, before the system is asked to let it."""
# operations of a piece: some 10 us; so much that the cache is read in long runs
SMALLEST = 100_000
LARGEST = 2_000_000
PIECES = 32  # of each thread, unless they become smaller or larger than that


def piece_limits(operations: int, grain: int) -> tuple[int, int]:
    """How many samples a piece has at least and at most, in whole grains."""
    per_grain = grain * max(1, operations)
    return grain * max(1, SMALLEST // per_grain), grain * max(1, LARGEST // per_grain)


@cache
def function(name: str) -> Any:
    """One of the functions above, callable with numbers; the interpreter goes on meanwhile."""
    code = loaded_once("sharing", emit, tuple(_ARGUMENTS))
    return ctypes.CFUNCTYPE(ctypes.c_int64, *[ctypes.c_int64] * _ARGUMENTS[name])(
        code.addresses[name]
    )


def emit(module: ir.Module) -> dict[str, ir.Function]:
    """Define all functions in a module."""
    take = _emit_take(module)
    _emit_serve(module, take)
    _emit_share(module, _emit_post(module), take, _emit_retract(module))
    return {name: module.globals[name] for name in _ARGUMENTS}


def _begin(module: ir.Module, name: str) -> tuple[Writer, list[ir.Value]]:
    """A function that is to be written, and its arguments."""
    function = ir.Function(module, ir.FunctionType(I64, [I64] * _ARGUMENTS[name]), name)
    function.append_basic_block("entry")
    return Writer(function), list(function.args)


def _pointer(w: Writer, address: ir.Value) -> ir.Value:
    return w.b.inttoptr(address, POINTER)


@contextmanager
def _each_box(
    w: Writer, address: ir.Value, count: ir.Value, counter: ir.Value
) -> Iterator[ir.Value]:
    """Every mailbox of a row of them; the counter begins at zero."""
    boxes = _pointer(w, address)
    w.put(w.number(0), counter, 0)
    with w.loop(count) as k:
        yield w.place(boxes, w.b.mul(k, w.number(BOX)))


def _read(w: Writer, row: ir.Value, index: int) -> ir.Value:
    return w.b.load_atomic(w.place(row, index), "acquire", 8, typ=I64)


def _write(w: Writer, row: ir.Value, index: int, value: ir.Value | int) -> None:
    w.b.atomic_rmw("xchg", w.place(row, index), w.number(value), "release")


def _changed(w: Writer, row: ir.Value, index: int, before: int, after: int) -> ir.Value:
    """Whether the word was `before` and is now `after`."""
    exchange = w.b.cmpxchg(
        w.place(row, index), w.number(before), w.number(after), "acq_rel", "acquire"
    )
    return w.b.extract_value(exchange, 1)


def _pause(w: Writer) -> None:
    if machine.has_pause():
        # leaves the core to its other thread
        w.b.call(intrinsic(w.b, "llvm.x86.sse2.pause", ir.VoidType(), []), [])


def _once_more(
    w: Writer, looks: ir.Value, patience: ir.Value, again: ir.Block, tired: ir.Block
) -> None:
    """Count a look that found nothing; go on with `again`, or with `tired` after so many."""
    looked = w.b.add(w.word(looks, 0), w.number(1))
    w.put(looked, looks, 0)
    w.b.cbranch(w.b.icmp_signed("<", looked, patience), again, tired)


def _emit_take(module: ir.Module) -> ir.Function:
    w, (job, part, patience) = _begin(module, "take")
    b, job = w.b, _pointer(w, job)
    head, body, found, finish, rest, look, done = (
        w.function.append_basic_block(name)
        for name in ("head", "body", "found", "finish", "rest", "look", "done")
    )
    samples, size, looks = w.word(job, SAMPLES), w.word(job, SIZE), w.words()
    inputs, strides, outputs = (w.word(job, k, POINTER) for k in (INPUTS, STRIDES, OUTPUTS))
    scratch = b.gep(
        w.word(job, SCRATCH, POINTER), [b.mul(part, w.word(job, OWN))], source_etype=DOUBLE
    )
    run = b.inttoptr(w.word(job, RUN), ir.FunctionType(I64, [POINTER] * 4 + [I64] * 2).as_pointer())
    w.put(w.number(0), looks, 0)
    b.branch(head)

    b.position_at_end(head)
    begin = b.atomic_rmw("add", w.place(job, NEXT), size, "monotonic")
    b.cbranch(b.icmp_signed("<", begin, samples), body, rest)

    b.position_at_end(body)
    beyond = b.add(begin, size)
    end = b.select(b.icmp_signed("<", beyond, samples), beyond, samples)
    bad = b.call(run, [inputs, strides, outputs, scratch, begin, end])
    b.cbranch(b.icmp_signed(">=", bad, w.number(0)), found, finish)
    b.position_at_end(found)
    b.atomic_rmw("min", w.place(job, BAD), bad, "monotonic")
    b.branch(finish)
    b.position_at_end(finish)
    b.atomic_rmw("add", w.place(job, DONE), b.sub(end, begin), "release")
    b.branch(head)

    b.position_at_end(rest)
    b.cbranch(b.icmp_signed("<", _read(w, job, DONE), samples), look, done)
    b.position_at_end(look)
    _once_more(w, looks, patience, rest, done)
    b.position_at_end(done)
    b.ret(w.number(0))
    return w.function


def _emit_serve(module: ir.Module, take: ir.Function) -> None:
    w, (box, patience) = _begin(module, "serve")
    b, box, looks = w.b, _pointer(w, box), w.words()
    fresh, look, work, none, tired, asleep = (
        w.function.append_basic_block(name)
        for name in ("fresh", "look", "work", "none", "tired", "asleep")
    )
    b.branch(fresh)
    b.position_at_end(fresh)
    _write(w, box, STATUS, AWAKE)
    w.put(w.number(0), looks, 0)
    b.branch(look)
    b.position_at_end(look)
    b.cbranch(_changed(w, box, STATUS, POSTED, TAKEN), work, none)
    b.position_at_end(work)
    b.call(take, [w.word(box, JOB), w.word(box, PART), w.number(0)])
    b.branch(fresh)
    b.position_at_end(none)
    _pause(w)
    _once_more(w, looks, patience, look, tired)
    b.position_at_end(tired)
    b.cbranch(_changed(w, box, STATUS, AWAKE, ASLEEP), asleep, look)
    b.position_at_end(asleep)
    b.ret(w.number(0))


def _emit_post(module: ir.Module) -> ir.Function:
    w, (boxes, count, job, wanted) = _begin(module, "post")
    b, posted = w.b, w.words()
    with _each_box(w, boxes, count, posted) as box:
        with b.if_then(b.icmp_signed("<", w.word(posted, 0), wanted)):
            with b.if_then(_changed(w, box, STATUS, AWAKE, CLAIMED)):
                part = b.add(w.word(posted, 0), w.number(1))
                w.put(part, posted, 0)
                _write(w, box, JOB, job)
                _write(w, box, PART, part)
                _write(w, box, STATUS, POSTED)
    b.ret(w.word(posted, 0))
    return w.function


def _emit_retract(module: ir.Module) -> ir.Function:
    w, (boxes, count, job, patience) = _begin(module, "retract")
    b, looks = w.b, w.words()
    with _each_box(w, boxes, count, looks) as box:
        again, mine, busy, wait, late, free = (
            w.function.append_basic_block(name)
            for name in ("again", "mine", "busy", "wait", "late", "free")
        )
        b.branch(again)
        b.position_at_end(again)
        b.cbranch(w.equal(_read(w, box, JOB), job), mine, free)
        b.position_at_end(mine)
        b.cbranch(_changed(w, box, STATUS, POSTED, AWAKE), free, busy)
        b.position_at_end(busy)
        b.cbranch(w.equal(_read(w, box, STATUS), TAKEN), wait, free)
        b.position_at_end(wait)
        _pause(w)
        _once_more(w, looks, patience, again, late)
        b.position_at_end(late)
        b.ret(w.number(0))
        b.position_at_end(free)
    b.ret(w.number(1))
    return w.function


def _emit_share(
    module: ir.Module, post: ir.Function, take: ir.Function, retract: ir.Function
) -> None:
    w, (boxes, count, job, wanted) = _begin(module, "share")
    b, awake = w.b, w.words()
    enough, some, wait, rest, done, none = (
        w.function.append_basic_block(name)
        for name in ("enough", "some", "wait", "rest", "done", "none")
    )
    w.put(w.number(0), awake, 0)
    with w.loop(count) as k:
        status = _read(w, w.place(_pointer(w, boxes), b.mul(k, w.number(BOX))), STATUS)
        w.put(b.add(w.word(awake, 0), b.zext(w.equal(status, AWAKE), I64)), awake, 0)
    b.cbranch(b.icmp_signed("<", w.word(awake, 0), wanted), none, enough)
    b.position_at_end(enough)
    # another call may have been faster
    b.cbranch(w.equal(b.call(post, [boxes, count, job, wanted]), 0), none, some)
    b.position_at_end(some)
    b.call(take, [job, w.number(0), w.number(0)])
    b.branch(wait)
    b.position_at_end(wait)
    b.cbranch(w.equal(b.call(retract, [boxes, count, job, w.number(LOOKS)]), 1), done, rest)
    b.position_at_end(rest)
    if machine.can_yield():
        known = module.globals.get("sched_yield")
        b.call(known or ir.Function(module, ir.FunctionType(I32, []), "sched_yield"), [])
    b.branch(wait)
    b.position_at_end(done)
    b.ret(w.number(1))
    b.position_at_end(none)
    b.ret(w.number(0))
