"""Batch call: a builtin function that reads plain batches of numpy arrays itself and runs a kernel's machine code.

Looking at a handful of arrays from Python costs as much as a hundred samples of a small robot. One function in machine
code, compiled once for all kernels, does it instead; what it must know about a kernel (shapes, where its code is) it
reads from a table of numbers. Whatever is not a plain batch goes to an ordinary Python function, as in python_call.py.
"""

from __future__ import annotations

import ctypes
import math
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

import numpy as np
from llvmlite import ir

from linkwork.engine import buffers, machine, python_call, writer
from linkwork.engine.codegen import POINTER
from linkwork.engine.emit import I32, I64
from linkwork.engine.python_call import CARRAY, DATA, DESCR, DIMENSIONS, FLAGS, NDIM, TABLE, TYPE, WRITEABLE
from linkwork.engine.threads import WORTH_SHARING, in_use
from linkwork.engine.writer import Writer

Shapes = Sequence[tuple[int, ...]]
_DOUBLE, _POINTER = np.dtype(np.float64), ctypes.c_void_p
# A kernel's table: these words, then a stride for each input, then ENTRY words for each input and result.
RUN, MOST, SCRATCH, INPUTS, RESULTS, BYTES, HEADER = range(7)
ENTRY = 5  # rank, up to three dimensions, size
LARGEST_RANK, LARGEST_COUNT, DEEPEST = 3, 64, 24  # dimensions of a value, arrays of a call, dimensions of a batch


class Batches:
    """The table of one kernel. Its code may come later: until then every call goes to the fallback."""

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
        words = [0, 0, 0, len(inputs), len(outputs), 8 * max(sizes[len(inputs) :]), *sizes[: len(inputs)]]
        for shape, size in zip(shapes, sizes, strict=True):
            words += [len(shape), *shape, *[0] * (LARGEST_RANK - len(shape)), size]
        self._table = np.array(words, dtype=np.int64)

    def loaded(self, run: int, scratch: int, operations: int) -> None:
        """From now on the machine code at address `run` is used."""
        if self.possible:
            self._table[MOST], self._table[SCRATCH] = WORTH_SHARING // max(1, operations), scratch
            self._table[RUN] = run

    def for_one_thread(self, samples: int) -> bool:
        """Whether machine code that is loaded takes so many samples without sharing them."""
        return not self.possible or in_use.value == 1 or samples <= self._table[MOST]

    def places(self, lead: tuple[int, ...], args: Sequence[Any], outs: Sequence[Any]) -> tuple[Any, Any, Any] | None:
        """(inputs, strides, outputs) as machine code takes them, of plain arrays; None if they are anything else."""
        count = len(self._shapes) - len(outs)
        if not self.possible or len(args) != count:
            return None
        for array, shape in zip((*args, *outs), self._shapes, strict=True):
            if type(array) is not np.ndarray or array.dtype is not _DOUBLE or array.shape != lead + shape:
                return None
            if not array.flags.carray and (not array.flags.c_contiguous or not array.flags.aligned):
                return None
        addresses = [ctypes.c_size_t.from_address(id(a) + DATA).value for a in (*args, *outs)]
        for at, o in zip(addresses[count:], outs, strict=True):
            if not o.flags.writeable:
                return None
            if any(x < at + o.nbytes and at < x + a.nbytes for x, a in zip(addresses[:count], args, strict=True)):
                return None
        strides = ctypes.c_void_p(self._table.ctypes.data + 8 * HEADER)
        return (_POINTER * count)(*addresses[:count]), strides, (_POINTER * len(outs))(*addresses[count:])

    def builtin(self, name: str, fallback: Callable[..., Any]) -> Callable[..., Any]:
        """A function of the inputs, or of the inputs and arrays for the results; `fallback` gets the same arguments."""
        if not self.possible:
            return fallback
        itself = np.array([self._table.ctypes.data, id(fallback)], dtype=np.uint64).view(_Itself)
        itself.kept = (self._table, fallback)
        return python_call.builtin(name, _code().addresses["call_batch"], itself)


class _Itself(np.ndarray):
    """What the builtin is handed as itself: addresses of the table and of the fallback, both kept alive."""

    kept: tuple[np.ndarray, Callable[..., Any]]


@cache
def _code() -> machine.Code:
    code = writer.compiled_once("batch call", _emit, ("call_batch", "call_table"))
    python_call.fill_table(code.addresses["call_table"])
    return code


class CallWriter(Writer):
    """Also calls functions of the table of addresses, and leaves for `slow` where a condition does not hold."""

    def __init__(self, function: ir.Function, table: ir.Value, slow: ir.Block) -> None:
        super().__init__(function)
        self.table, self.slow = table, slow

    def known(self, name: str, type_: ir.Type = POINTER) -> ir.Value:
        return self.word(self.table, TABLE.index(name), type_)

    def call(self, name: str, result: ir.Type, *arguments: ir.Value) -> ir.Value:
        type_ = ir.FunctionType(result, [a.type for a in arguments])
        return self.b.call(self.b.inttoptr(self.known(name, I64), type_.as_pointer()), list(arguments))

    def require(self, condition: ir.Value) -> None:
        following = self.function.append_basic_block()
        self.b.cbranch(condition, following, self.slow)
        self.b.position_at_end(following)


def _emit(module: ir.Module) -> None:
    """Define `call_batch(itself, args, nargs)` and the table of addresses it needs."""
    table = ir.GlobalVariable(module, ir.ArrayType(I64, len(TABLE)), "call_table")
    table.initializer = ir.Constant(table.value_type, [0] * len(TABLE))
    function = ir.Function(module, ir.FunctionType(POINTER, [POINTER, POINTER, I64]), "call_batch")
    itself, args, nargs = function.args
    function.append_basic_block("entry")
    start, slow, refuse = (function.append_basic_block(name) for name in ("start", "slow", "refuse"))
    w = CallWriter(function, table, slow)
    b, null = w.b, ir.Constant(POINTER, None)
    pointers, results, sizes = w.words(LARGEST_COUNT), w.words(LARGEST_COUNT), w.words(DEEPEST + LARGEST_RANK)
    samples = w.words()
    own = w.field(itself, DATA, POINTER)
    kernel, fallback = w.word(own, 0, POINTER), w.word(own, 1, POINTER)
    inputs, outputs = w.word(kernel, INPUTS), w.word(kernel, RESULTS)
    b.branch(start)
    b.position_at_end(start)

    # how many samples: from the first array
    given = b.icmp_signed("!=", nargs, inputs)
    w.require(w.equal(b.icmp_signed("==", w.word(kernel, RUN), w.number(0)), 0))
    w.require(b.or_(b.not_(given), w.equal(nargs, b.add(inputs, outputs))))
    entries = w.place(kernel, b.add(inputs, w.number(HEADER)))
    first = w.word(args, 0, POINTER)
    w.require(w.equal(w.field(first, TYPE, POINTER), w.known("array_type")))
    depth = b.sub(b.sext(w.field(first, NDIM, I32), I64), w.word(entries, 0))
    w.require(b.and_(b.icmp_signed(">", depth, w.number(0)), b.icmp_signed("<=", depth, w.number(DEEPEST))))
    lead = w.field(first, DIMENSIONS, POINTER)
    w.put(w.number(1), samples, 0)
    with w.loop(depth) as k:
        w.put(b.mul(w.word(samples, 0), w.word(lead, k)), samples, 0)
    samples = w.word(samples, 0)
    alone = w.equal(w.word(w.known("threads"), 0), 1)
    w.require(b.icmp_signed(">", samples, w.number(0)))
    w.require(b.or_(alone, b.icmp_signed("<=", samples, w.word(kernel, MOST))))

    # every array: plain, and of the shape (batch, its own)
    with w.loop(nargs) as j:
        array = w.word(args, j, POINTER)
        entry = w.place(entries, b.mul(j, w.number(ENTRY)))
        rank = w.word(entry, 0)
        w.require(w.equal(w.field(array, TYPE, POINTER), w.known("array_type")))
        w.require(w.equal(w.field(array, DESCR, POINTER), w.known("float64")))
        wanted = b.select(b.icmp_signed("<", j, inputs), ir.Constant(I32, CARRAY), ir.Constant(I32, CARRAY | WRITEABLE))
        w.require(w.equal(b.and_(w.field(array, FLAGS, I32), wanted), wanted))
        w.require(w.equal(b.sext(w.field(array, NDIM, I32), I64), b.add(depth, rank)))
        dimensions = w.field(array, DIMENSIONS, POINTER)
        with w.loop(depth) as k:
            w.require(w.equal(w.word(dimensions, k), w.word(lead, k)))
        with w.loop(rank) as k:
            w.require(w.equal(w.word(dimensions, b.add(depth, k)), w.word(entry, b.add(k, w.number(1)))))
        w.put(w.field(array, DATA, I64), pointers, j)

    # results: those given, which must not lie over an input, or new ones
    take, make, compute = (function.append_basic_block(name) for name in ("take", "make", "compute"))
    b.cbranch(given, take, make)
    b.position_at_end(take)

    def end(j: ir.Value) -> ir.Value:
        size = w.word(w.place(entries, b.mul(j, w.number(ENTRY))), ENTRY - 1)
        return b.add(w.word(pointers, j), b.mul(b.mul(samples, size), w.number(8)))

    with w.loop(outputs) as o:
        at = b.add(o, inputs)
        with w.loop(inputs) as i:
            before = b.icmp_unsigned("<=", end(at), w.word(pointers, i))
            w.require(b.or_(before, b.icmp_unsigned("<=", end(i), w.word(pointers, at))))
    with w.loop(outputs) as o:
        array = w.word(args, b.add(o, inputs), POINTER)
        w.call("incref", ir.VoidType(), array)
        w.put(array, results, o)
    b.branch(compute)

    b.position_at_end(make)
    w.require(b.icmp_signed("<", b.mul(samples, w.word(kernel, BYTES)), w.number(buffers.SMALLEST)))
    with w.loop(depth) as k:
        w.put(w.word(lead, k), sizes, k)
    with w.loop(outputs) as o:
        at = b.add(o, inputs)
        entry = w.place(entries, b.mul(at, w.number(ENTRY)))
        rank = w.word(entry, 0)
        with w.loop(rank) as k:
            w.put(w.word(entry, b.add(k, w.number(1))), sizes, b.add(depth, k))
        zero, kind = ir.Constant(I32, 0), ir.Constant(I32, python_call.NPY_DOUBLE)
        rank = b.trunc(b.add(depth, rank), I32)
        array = w.call("array_new", POINTER, w.known("array_type"), rank, sizes, kind, null, null, zero, zero, null)
        failed, made = function.append_basic_block(), function.append_basic_block()
        b.cbranch(w.equal(b.ptrtoint(array, I64), 0), failed, made)
        b.position_at_end(failed)
        with w.loop(o) as k:
            w.call("decref", ir.VoidType(), w.word(results, k, POINTER))
        b.ret(null)  # numpy has set MemoryError
        b.position_at_end(made)
        w.put(array, results, o)
        w.put(w.field(array, DATA, I64), pointers, at)
    b.branch(compute)

    # compute, while other Python threads may run
    b.position_at_end(compute)
    scratch = w.call("malloc", POINTER, b.mul(w.word(kernel, SCRATCH), w.number(8)))
    w.slow = refuse
    w.require(b.icmp_signed("!=", b.ptrtoint(scratch, I64), w.number(0)))
    state = w.call("save_thread", POINTER)
    run_type = ir.FunctionType(I64, [POINTER] * 4 + [I64] * 2)
    arguments = [pointers, w.place(kernel, HEADER), w.place(pointers, inputs), scratch, w.number(0), samples]
    bad = b.call(b.inttoptr(w.word(kernel, RUN), run_type.as_pointer()), arguments)
    w.call("restore_thread", ir.VoidType(), state)
    w.call("free", ir.VoidType(), scratch)
    w.require(b.icmp_signed("<", bad, w.number(0)))
    one, several = function.append_basic_block(), function.append_basic_block()
    b.cbranch(w.equal(outputs, 1), one, several)
    b.position_at_end(one)
    b.ret(w.word(results, 0, POINTER))
    b.position_at_end(several)
    bundle = w.call("tuple_new", POINTER, outputs)
    with w.loop(outputs) as o:
        w.call("tuple_set", I32, bundle, o, w.word(results, o, POINTER))
    b.ret(bundle)

    b.position_at_end(refuse)
    with w.loop(outputs) as o:
        w.call("decref", ir.VoidType(), w.word(results, o, POINTER))
    b.branch(slow)
    b.position_at_end(slow)
    b.ret(w.call("vectorcall", POINTER, fallback, args, nargs, null))
