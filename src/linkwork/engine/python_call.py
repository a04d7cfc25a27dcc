"""Python call: a compiled kernel as a builtin function (METH_FASTCALL) that reads numpy arrays
itself.

A single call through ctypes costs more than the mathematics of a small robot. Instead the compiled
module contains a function in CPython's vectorcall form; it checks in machine code that every
argument is a plain float64 array of the right shape, makes the result array, computes, checks
finiteness, and returns. Whatever is not exactly that (lists, batches, wrong shapes, NaN) goes to an
ordinary Python function, which converts or explains.
"""

from __future__ import annotations

import ctypes
import sys
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

import numpy as np
from llvmlite import ir

from linkwork.engine import machine, threads
from linkwork.engine.call_writer import (
    CARRAY,
    DATA,
    DESCR,
    DIMENSIONS,
    FLAGS,
    FUNCTIONS,
    NDIM,
    NPY_DOUBLE,
    NULL,
    TABLE,
    TABLE_NAME,
    TYPE,
    WRITEABLE,
    CallWriter,
    new_table,
)
from linkwork.engine.ir_types import I32, I64, POINTER
from linkwork.engine.workers import workers

_PYARRAY_NEW = 93  # index in numpy's table of C functions


def emit_call(
    module: ir.Module,
    single: ir.Function,
    inputs: Sequence[tuple[int, ...]],
    outputs: Sequence[tuple[int, ...]],
) -> None:
    """Define `call(self, args, nargs)` and the table of addresses it needs."""
    function = ir.Function(module, ir.FunctionType(POINTER, [POINTER, POINTER, I64]), "call")
    fallback, args, nargs = function.args
    function.append_basic_block("entry")
    start, slow = function.append_basic_block("start"), function.append_basic_block("slow")
    w = CallWriter(function, new_table(module), slow)
    b = w.b
    in_pointers, out_pointers = w.words(max(1, len(inputs))), w.words(max(1, len(outputs)))
    b.branch(start)
    b.position_at_end(start)

    # every argument a plain array of its own shape
    w.require(w.equal(nargs, len(inputs)))
    for j, shape in enumerate(inputs):
        array = w.word(args, j, POINTER)
        w.require_type(array)
        w.require(w.equal(w.rank(array), len(shape)))
        w.require_doubles(array, CARRAY)
        dimensions = w.field(array, DIMENSIONS, POINTER)
        for axis, size in enumerate(shape):
            w.require(w.equal(w.word(dimensions, axis), size))
        w.put(w.field(array, DATA, I64), in_pointers, j)

    # a new array for every result
    results: list[ir.Value] = []

    def forget() -> None:
        for earlier in results:
            w.call("decref", ir.VoidType(), earlier)

    for j, shape in enumerate(outputs):
        sizes = ir.GlobalVariable(module, ir.ArrayType(I64, max(1, len(shape))), f"call_shape{j}")
        sizes.linkage, sizes.global_constant = "internal", True
        sizes.initializer = ir.Constant(sizes.value_type, list(shape) or [1])
        array = w.new_array(ir.Constant(I32, len(shape)), b.bitcast(sizes, POINTER))
        made = w.at_null(array)
        forget()
        b.ret(NULL)  # numpy has set MemoryError
        b.position_at_end(made)
        results.append(array)
        w.put(w.field(array, DATA, I64), out_pointers, j)

    # compute; what is not finite is explained by the slow way
    bad = b.call(single, [in_pointers, out_pointers])
    good, refuse = function.append_basic_block("good"), function.append_basic_block("refuse")
    b.cbranch(w.equal(bad, 0), good, refuse)
    b.position_at_end(refuse)
    forget()
    b.branch(slow)
    b.position_at_end(good)
    if len(results) == 1:
        b.ret(results[0])
    else:
        bundle = w.call("tuple_new", POINTER, w.number(len(results)))
        for j, array in enumerate(results):
            w.call("tuple_set", I32, bundle, w.number(j), array)
        b.ret(bundle)
    w.call_slowly(fallback, args, nargs)


class _MethodDef(ctypes.Structure):
    _fields_ = (
        ("name", ctypes.c_char_p),
        ("meth", ctypes.c_void_p),
        ("flags", ctypes.c_int),
        ("doc", ctypes.c_char_p),
    )


class _Module(str):
    """The module's name as a builtin function has it;
    the function so keeps its own definition alive."""

    definition: _MethodDef


_METH_FASTCALL = 0x0080


def builtin(name: str, address: int, fallback: Any) -> Callable[..., Any]:
    """A builtin function around the compiled `call`, which is handed `fallback`:
    what gets all but the fast path."""
    # CPython keeps a bare pointer to a definition, and a reference to the module's name
    module = _Module(__name__)
    module.definition = _MethodDef(name.encode(), address, _METH_FASTCALL, None)
    new = ctypes.pythonapi.PyCFunction_NewEx
    new.restype = ctypes.py_object
    new.argtypes = [ctypes.c_void_p, ctypes.py_object, ctypes.py_object]
    return new(ctypes.addressof(module.definition), fallback, module)


def exports() -> tuple[str, ...]:
    """The names that `emit_call` defines, where this process can use them."""
    return ("call", TABLE_NAME) if available() else ()


def filled(code: machine.Code) -> machine.Code:
    """The code with the addresses of this process in its table, if it has one."""
    if TABLE_NAME in code.addresses:
        values = (ctypes.c_int64 * len(TABLE)).from_address(code.addresses[TABLE_NAME])
        for k, name in enumerate(TABLE):
            values[k] = _addresses()[name]
    return code


@cache
def _addresses() -> dict[str, int]:
    functions = {
        name: ctypes.cast(getattr(ctypes.pythonapi, symbol), ctypes.c_void_p).value or 0
        for name, symbol in FUNCTIONS.items()
    }
    return {
        "array_type": id(np.ndarray),
        "float64": id(np.dtype(np.float64)),
        "array_new": _numpy_api()[_PYARRAY_NEW],
        "threads": ctypes.addressof(threads.in_use),
        "workers": ctypes.addressof(workers.roll),
        **functions,
    }


def _numpy_api() -> Any:
    from numpy._core import _multiarray_umath  # type: ignore[attr-defined]  # the capsule that C extensions import

    pointer = ctypes.pythonapi.PyCapsule_GetPointer
    pointer.restype, pointer.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    return ctypes.cast(pointer(_multiarray_umath._ARRAY_API, None), ctypes.POINTER(ctypes.c_size_t))


@cache
def available() -> bool:
    """True if this interpreter and numpy are laid out as the compiled call expects
    (checked on a live array)."""
    if sys.implementation.name != "cpython" or not getattr(sys, "_is_gil_enabled", lambda: True)():
        return False
    try:
        probe = np.arange(6.0).reshape(2, 3)
        sliced = probe[:, ::2]
        base = id(probe)
        dimensions = ctypes.c_void_p.from_address(base + DIMENSIONS).value or 0
        right = (
            ctypes.sizeof(ctypes.c_void_p) == 8
            and ctypes.c_size_t.from_address(base + TYPE).value == id(np.ndarray)
            and ctypes.c_size_t.from_address(base + DATA).value == probe.ctypes.data
            and ctypes.c_int32.from_address(base + NDIM).value == 2
            and list((ctypes.c_int64 * 2).from_address(dimensions)) == [2, 3]
            and ctypes.c_size_t.from_address(base + DESCR).value == id(np.dtype(np.float64))
            and ctypes.c_int32.from_address(base + FLAGS).value & CARRAY == CARRAY
            and not ctypes.c_int32.from_address(id(sliced) + FLAGS).value & 0x0001
            and ctypes.c_int32.from_address(base + FLAGS).value & WRITEABLE
        )
        if not right or not all(_addresses().values()):
            return False
        kinds = [ctypes.c_void_p, ctypes.c_int, ctypes.c_void_p, ctypes.c_int] + [
            ctypes.c_void_p
        ] * 2
        kinds += [ctypes.c_int] * 2 + [ctypes.c_void_p]
        new = ctypes.PYFUNCTYPE(ctypes.py_object, *kinds)(_addresses()["array_new"])
        made = new(id(np.ndarray), 2, dimensions, NPY_DOUBLE, None, None, 0, 0, None)
        return type(made) is np.ndarray and made.shape == (2, 3) and made.dtype == np.float64
    except (AttributeError, ImportError, ValueError):
        return False
