"""Batch call: a builtin function that reads plain batches of numpy arrays itself and runs a
kernel's machine code.

Looking at a handful of arrays from Python costs as much as a hundred samples of a small robot. One
function in machine code, compiled once for all kernels, does it instead; what it must know about a
kernel (shapes, where its code is) it reads from a table of numbers. Whatever is not a plain batch
goes to an ordinary Python function, as in python_call.py.
"""

from __future__ import annotations

import ctypes
import math
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

import numpy as np
from llvmlite import ir

from linkwork.engine import buffers, machine, python_call, sharing_code
from linkwork.engine.call_writer import (
    CARRAY,
    DATA,
    DIMENSIONS,
    NULL,
    TABLE_NAME,
    WRITEABLE,
    CallWriter,
    new_table,
)
from linkwork.engine.ir_types import I32, I64, POINTER
from linkwork.engine.loader import loaded_once
from linkwork.engine.sharing_code import BAD, JOB_WORDS, NONE_BAD, PIECES, piece_limits
from linkwork.engine.threads import WORTH_SHARING

Shapes = Sequence[tuple[int, ...]]
_DOUBLE, _POINTER = np.dtype(np.float64), ctypes.c_void_p
# A kernel's table: these words, then a stride for each input,
# then ENTRY words for each input and result.
RUN, MOST, SCRATCH, INPUTS, RESULTS, BYTES, GRAIN, SMALL, LARGE, HEADER = range(10)
ENTRY = 5  # rank, up to three dimensions, size
# dimensions of a value, arrays of a call, dimensions of a batch
LARGEST_RANK = 3
LARGEST_COUNT = 64
DEEPEST = 24


class Batches:
    """The table of one kernel. Until its code comes, every call goes to the fallback."""

    def __init__(self, inputs: Shapes, outputs: Shapes) -> None:
        self._shapes = shapes = [*inputs, *outputs]
        self.possible = (
            python_call.available()
            and 0 < len(inputs) <= len(shapes) <= LARGEST_COUNT
            and len(outputs) > 0
            and all(len(shape) <= LARGEST_RANK for shape in shapes)
        )
        if not self.possible:
            return
        sizes = [math.prod(shape) for shape in shapes]
        words = [
            0,
            0,
            0,
            len(inputs),
            len(outputs),
            8 * max(sizes[len(inputs) :]),
            1,
            1,
            1,
            *sizes[: len(inputs)],
        ]
        for shape, size in zip(shapes, sizes, strict=True):
            words += [len(shape), *shape, *[0] * (LARGEST_RANK - len(shape)), size]
        self._table = np.array(words, dtype=np.int64)

    def loaded(self, run: int, scratch: int, operations: int, grain: int) -> None:
        """From now on the machine code at address `run` is used,
        which computes `grain` samples at once."""
        if self.possible:
            self._table[MOST], self._table[SCRATCH] = WORTH_SHARING // max(1, operations), scratch
            self._table[GRAIN] = grain
            self._table[SMALL : LARGE + 1] = piece_limits(operations, grain)
            self._table[RUN] = run

    def places(
        self, lead: tuple[int, ...], args: Sequence[Any], outs: Sequence[Any]
    ) -> tuple[Any, Any, Any] | None:
        """(inputs, strides, outputs) as machine code takes them, of plain arrays;
        None if they are anything else."""
        count = len(self._shapes) - len(outs)
        if not self.possible or len(args) != count:
            return None
        for array, shape in zip((*args, *outs), self._shapes, strict=True):
            if (
                type(array) is not np.ndarray
                or array.dtype is not _DOUBLE
                or array.shape != lead + shape
            ):
                return None
            if not array.flags.carray and (not array.flags.c_contiguous or not array.flags.aligned):
                return None
        addresses = [ctypes.c_size_t.from_address(id(a) + DATA).value for a in (*args, *outs)]
        for at, o in zip(addresses[count:], outs, strict=True):
            if not o.flags.writeable:
                return None
            if any(
                x < at + o.nbytes and at < x + a.nbytes
                for x, a in zip(addresses[:count], args, strict=True)
            ):
                return None
        strides = (ctypes.c_int64 * count).from_buffer(self._table.data, 8 * HEADER)
        return (
            (_POINTER * count)(*addresses[:count]),
            strides,
            (_POINTER * len(outs))(*addresses[count:]),
        )

    def builtin(self, name: str, fallback: Callable[..., Any]) -> Callable[..., Any]:
        """A function of the inputs, or of the inputs and arrays for the results;
        `fallback` gets the same arguments."""
        if not self.possible:
            return fallback
        itself = np.array([self._table.ctypes.data, id(fallback)], dtype=np.uint64).view(_Itself)
        itself.kept = (self._table, fallback)
        return python_call.builtin(name, _code().addresses["call_batch"], itself)


class _Itself(np.ndarray):
    """What the builtin is handed as itself: addresses of the table and of the fallback,
    both kept alive."""

    kept: tuple[np.ndarray, Callable[..., Any]]


@cache
def _code() -> machine.Code:
    return python_call.filled(loaded_once("batch call", _emit, ("call_batch", TABLE_NAME)))


def _emit(module: ir.Module) -> None:
    """Define `call_batch(itself, args, nargs)` and the table of addresses it needs."""
    table = new_table(module)
    function = ir.Function(module, ir.FunctionType(POINTER, [POINTER, POINTER, I64]), "call_batch")
    _CallBatch(function, table, sharing_code.emit(module)["share"]).write()


class _CallBatch:
    """Writes the function, one method a stage."""

    def __init__(self, function: ir.Function, table: ir.Value, share: ir.Function) -> None:
        self.function, self.share = function, share
        itself, self.args, self.nargs = function.args
        function.append_basic_block("entry")
        start, self.slow, self.refuse = (
            function.append_basic_block(name) for name in ("start", "slow", "refuse")
        )
        self.w = w = CallWriter(function, table, self.slow)
        self.pointers, self.results = w.words(LARGEST_COUNT), w.words(LARGEST_COUNT)
        own = w.field(itself, DATA, POINTER)
        self.kernel, self.fallback = w.word(own, 0, POINTER), w.word(own, 1, POINTER)
        self.inputs, self.outputs = w.word(self.kernel, INPUTS), w.word(self.kernel, RESULTS)
        self.entries = w.place(self.kernel, w.b.add(self.inputs, w.number(HEADER)))
        w.b.branch(start)
        w.b.position_at_end(start)

    def write(self) -> None:
        w, b, block = self.w, self.w.b, self.function.append_basic_block
        given = b.icmp_signed("!=", self.nargs, self.inputs)
        w.require(b.icmp_signed("!=", w.word(self.kernel, RUN), w.number(0)))
        w.require(b.or_(b.not_(given), w.equal(self.nargs, b.add(self.inputs, self.outputs))))
        self.count_samples()
        # large results, whose memory is used again, are for Python to find:
        # their arrays are read when it has
        large = b.icmp_signed(
            ">=", b.mul(self.samples, w.word(self.kernel, BYTES)), w.number(buffers.SMALLEST)
        )
        w.require(b.or_(given, b.not_(large)))
        self.read_arrays()
        take, make, compute = block("take"), block("make"), block("compute")
        b.cbranch(given, take, make)
        b.position_at_end(take)
        self.take_results()
        b.branch(compute)
        b.position_at_end(make)
        self.make_results()
        b.branch(compute)
        b.position_at_end(compute)
        self.compute()
        self.hand_over()
        b.position_at_end(self.refuse)
        self.forget(self.outputs)
        b.branch(self.slow)
        w.slow = self.slow
        w.call_slowly(self.fallback, self.args, self.nargs)

    def entry(self, j: ir.Value) -> ir.Value:
        """What the table says of array j."""
        return self.w.place(self.entries, self.w.b.mul(j, self.w.number(ENTRY)))

    def count_samples(self) -> None:
        """How many there are, from the first array."""
        w, b = self.w, self.w.b
        first = w.word(self.args, 0, POINTER)
        w.require_type(first)
        self.depth = b.sub(b.sext(w.rank(first), I64), w.word(self.entries, 0))
        w.require(
            b.and_(
                b.icmp_signed(">", self.depth, w.number(0)),
                b.icmp_signed("<=", self.depth, w.number(DEEPEST)),
            )
        )
        self.lead, product = w.field(first, DIMENSIONS, POINTER), w.words()
        w.put(w.number(1), product, 0)
        with w.loop(self.depth) as k:
            w.put(b.mul(w.word(product, 0), w.word(self.lead, k)), product, 0)
        self.samples = w.word(product, 0)
        w.require(b.icmp_signed(">", self.samples, w.number(0)))

    def read_arrays(self) -> None:
        """Every array must be plain, and of the shape (batch, its own)."""
        w, b = self.w, self.w.b
        with w.loop(self.nargs) as j:
            array, entry = w.word(self.args, j, POINTER), self.entry(j)
            rank = w.word(entry, 0)
            read, written = ir.Constant(I32, CARRAY), ir.Constant(I32, CARRAY | WRITEABLE)
            w.require_type(array)
            w.require_doubles(array, b.select(b.icmp_signed("<", j, self.inputs), read, written))
            w.require(w.equal(b.sext(w.rank(array), I64), b.add(self.depth, rank)))
            dimensions = w.field(array, DIMENSIONS, POINTER)
            with w.loop(self.depth) as k:
                w.require(w.equal(w.word(dimensions, k), w.word(self.lead, k)))
            with w.loop(rank) as k:
                own = w.word(entry, b.add(k, w.number(1)))
                w.require(w.equal(w.word(dimensions, b.add(self.depth, k)), own))
            w.put(w.field(array, DATA, I64), self.pointers, j)

    def take_results(self) -> None:
        """Arrays that the caller gave, which must not lie over an input."""
        w, b = self.w, self.w.b

        def end(j: ir.Value) -> ir.Value:
            size = w.word(self.entry(j), ENTRY - 1)
            return b.add(w.word(self.pointers, j), b.mul(b.mul(self.samples, size), w.number(8)))

        with w.loop(self.outputs) as o:
            at = b.add(o, self.inputs)
            with w.loop(self.inputs) as i:
                before = b.icmp_unsigned("<=", end(at), w.word(self.pointers, i))
                w.require(b.or_(before, b.icmp_unsigned("<=", end(i), w.word(self.pointers, at))))
        with w.loop(self.outputs) as o:
            array = w.word(self.args, b.add(o, self.inputs), POINTER)
            w.call("incref", ir.VoidType(), array)
            w.put(array, self.results, o)

    def make_results(self) -> None:
        """New arrays."""
        w, b = self.w, self.w.b
        sizes = w.words(DEEPEST + LARGEST_RANK)
        with w.loop(self.depth) as k:
            w.put(w.word(self.lead, k), sizes, k)
        with w.loop(self.outputs) as o:
            at = b.add(o, self.inputs)
            entry = self.entry(at)
            rank = w.word(entry, 0)
            with w.loop(rank) as k:
                w.put(w.word(entry, b.add(k, w.number(1))), sizes, b.add(self.depth, k))
            array = w.new_array(b.trunc(b.add(self.depth, rank), I32), sizes)
            made = w.at_null(array)
            self.forget(o)
            b.ret(NULL)  # numpy has set MemoryError
            b.position_at_end(made)
            w.put(array, self.results, o)
            w.put(w.field(array, DATA, I64), self.pointers, at)

    def compute(self) -> None:
        """Run the kernel, while other Python threads may run;
        a large batch with the workers that are awake."""
        w, b = self.w, self.w.b
        few = b.icmp_signed("<=", self.samples, w.word(self.kernel, MOST))
        shares = b.select(few, w.number(1), w.word(w.known("threads"), 0))
        own = w.word(self.kernel, SCRATCH)
        scratch = w.call("malloc", POINTER, b.mul(b.mul(own, shares), w.number(8)))
        w.slow = self.refuse
        w.require(b.icmp_signed("!=", b.ptrtoint(scratch, I64), w.number(0)))
        places = (
            self.pointers,
            w.place(self.kernel, HEADER),
            w.place(self.pointers, self.inputs),
            scratch,
        )
        done, bad, job = w.words(), w.words(), w.words(JOB_WORDS)
        state = w.call("save_thread", POINTER)
        with b.if_else(w.equal(shares, 1)) as (alone, together):
            with alone:
                run_type = ir.FunctionType(I64, [POINTER] * 4 + [I64] * 2)
                run = b.inttoptr(w.word(self.kernel, RUN), run_type.as_pointer())
                w.put(b.call(run, [*places, w.number(0), self.samples]), bad, 0)
                w.put(w.number(1), done, 0)
            with together:
                words = (
                    0,
                    0,
                    NONE_BAD,
                    self.samples,
                    self.piece(shares),
                    w.word(self.kernel, RUN),
                    *places,
                    own,
                )
                for k, word in enumerate(words):
                    w.put(w.number(word), job, k)
                boxes, count = (w.word(w.known("workers"), k) for k in range(2))
                wanted = b.sub(shares, w.number(1))
                w.put(b.call(self.share, [boxes, count, b.ptrtoint(job, I64), wanted]), done, 0)
                first_bad = w.word(job, BAD)
                w.put(b.select(w.equal(first_bad, NONE_BAD), w.number(-1), first_bad), bad, 0)
        w.call("restore_thread", ir.VoidType(), state)
        w.call("free", ir.VoidType(), scratch)
        w.require(w.equal(w.word(done, 0), 1))
        w.require(b.icmp_signed("<", w.word(bad, 0), w.number(0)))

    def piece(self, shares: ir.Value) -> ir.Value:
        """Samples that a thread takes at once, as in sharing.py."""
        w, b = self.w, self.w.b
        small, large, grain = (w.word(self.kernel, k) for k in (SMALL, LARGE, GRAIN))
        size = b.sdiv(self.samples, b.mul(shares, w.number(PIECES)))
        size = b.mul(b.sdiv(size, grain), grain)
        size = b.select(b.icmp_signed("<", size, small), small, size)
        return b.select(b.icmp_signed("<", size, large), size, large)

    def hand_over(self) -> None:
        """The array, or a tuple of several."""
        w, b = self.w, self.w.b
        one, several = self.function.append_basic_block(), self.function.append_basic_block()
        b.cbranch(w.equal(self.outputs, 1), one, several)
        b.position_at_end(one)
        b.ret(w.word(self.results, 0, POINTER))
        b.position_at_end(several)
        bundle = w.call("tuple_new", POINTER, self.outputs)
        with w.loop(self.outputs) as o:
            w.call("tuple_set", I32, bundle, o, w.word(self.results, o, POINTER))
        b.ret(bundle)

    def forget(self, count: ir.Value) -> None:
        """Let go of the first so many results."""
        with self.w.loop(count) as o:
            self.w.call("decref", ir.VoidType(), self.w.word(self.results, o, POINTER))
