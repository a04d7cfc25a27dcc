"""Python call: a compiled kernel as a builtin function (METH_FASTCALL) that reads numpy arrays itself.

A single call through ctypes costs more than the mathematics of a small robot. Instead the compiled module contains a
function in CPython's vectorcall form; it checks in machine code that every argument is a plain float64 array of the
right shape, makes the result array, computes, checks finiteness, and returns. Whatever is not exactly that (lists,
batches, wrong shapes, NaN) goes to an ordinary Python function, which converts or explains.
"""

from __future__ import annotations

import ctypes
import sys
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

import numpy as np
from llvmlite import ir

from linkwork.engine import threads
from linkwork.engine.emit import I8, I32, I64, POINTER
from linkwork.engine.workers import workers

# Offsets of PyObject and PyArrayObject (numpy 1.x and 2.x, 64 bit); `available` verifies them before use.
TYPE, DATA, NDIM, DIMENSIONS, DESCR, FLAGS = 8, 16, 24, 32, 56, 64
CARRAY, WRITEABLE = 0x0001 | 0x0100, 0x0400  # C contiguous and aligned
NPY_DOUBLE = 12
_PYARRAY_NEW = 93  # index in numpy's table of C functions
_FUNCTIONS = dict(
    vectorcall="PyObject_Vectorcall",
    incref="Py_IncRef",
    decref="Py_DecRef",
    tuple_new="PyTuple_New",
    tuple_set="PyTuple_SetItem",
    malloc="PyMem_RawMalloc",
    free="PyMem_RawFree",
    save_thread="PyEval_SaveThread",
    restore_thread="PyEval_RestoreThread",
)
TABLE = ("array_type", "float64", "array_new", "threads", "workers", *_FUNCTIONS)


def emit_call(
    module: ir.Module, single: ir.Function, inputs: Sequence[tuple[int, ...]], outputs: Sequence[tuple[int, ...]]
) -> None:
    """Define `call(self, args, nargs)` and the table of addresses it needs."""
    table = ir.GlobalVariable(module, ir.ArrayType(I64, len(TABLE)), "call_table")
    table.initializer = ir.Constant(table.value_type, [0] * len(TABLE))
    function = ir.Function(module, ir.FunctionType(POINTER, [POINTER, POINTER, I64]), "call")
    fallback, args, nargs = function.args
    b = ir.IRBuilder(function.append_basic_block("entry"))
    slow = function.append_basic_block("slow")

    def known(name: str, type_: ir.Type = POINTER) -> ir.Value:
        return b.load(b.gep(table, [ir.Constant(I64, TABLE.index(name))], source_etype=I64), typ=type_)

    def field(pointer: ir.Value, offset: int, type_: ir.Type) -> ir.Value:
        return b.load(b.gep(pointer, [ir.Constant(I64, offset)], source_etype=I8), typ=type_)

    def require(condition: ir.Value) -> None:
        following = function.append_basic_block()
        b.cbranch(condition, following, slow)
        b.position_at_end(following)

    def equal(x: ir.Value, y: ir.Value | int) -> ir.Value:
        if isinstance(y, int):
            y = ir.Constant(x.type, y)
        return b.icmp_unsigned("==", x, y)

    in_pointers = b.alloca(I64, max(1, len(inputs)))
    out_pointers = b.alloca(I64, max(1, len(outputs)))
    require(equal(nargs, len(inputs)))
    for j, shape in enumerate(inputs):
        array = b.load(b.gep(args, [ir.Constant(I64, j)], source_etype=I64), typ=POINTER)
        require(equal(field(array, TYPE, POINTER), known("array_type")))
        require(equal(field(array, NDIM, I32), len(shape)))
        require(equal(field(array, DESCR, POINTER), known("float64")))
        flags = b.and_(field(array, FLAGS, I32), ir.Constant(I32, CARRAY))
        require(equal(flags, CARRAY))
        dimensions = field(array, DIMENSIONS, POINTER)
        for axis, size in enumerate(shape):
            require(equal(field(dimensions, 8 * axis, I64), size))
        b.store(field(array, DATA, I64), b.gep(in_pointers, [ir.Constant(I64, j)]))

    new_type = ir.FunctionType(POINTER, [POINTER, I32, POINTER, I32, POINTER, POINTER, I32, I32, POINTER])
    decref_type = ir.FunctionType(ir.VoidType(), [POINTER])
    null = ir.Constant(POINTER, None)
    results: list[ir.Value] = []

    def call(name: str, type_: ir.FunctionType, arguments: list[ir.Value]) -> ir.Value:
        return b.call(b.inttoptr(known(name, I64), type_.as_pointer()), arguments)

    for j, shape in enumerate(outputs):
        sizes = ir.GlobalVariable(module, ir.ArrayType(I64, max(1, len(shape))), f"call_shape{j}")
        sizes.linkage, sizes.global_constant = "internal", True
        sizes.initializer = ir.Constant(sizes.value_type, list(shape) or [1])
        zero = ir.Constant(I32, 0)
        arguments = [
            known("array_type"),
            ir.Constant(I32, len(shape)),
            b.bitcast(sizes, POINTER),
            ir.Constant(I32, NPY_DOUBLE),
        ]
        array = call("array_new", new_type, [*arguments, null, null, zero, zero, null])
        failed, made = function.append_basic_block(), function.append_basic_block()
        b.cbranch(equal(array, null), failed, made)
        b.position_at_end(failed)
        for earlier in results:
            call("decref", decref_type, [earlier])
        b.ret(null)  # numpy has set MemoryError
        b.position_at_end(made)
        results.append(array)
        b.store(field(array, DATA, I64), b.gep(out_pointers, [ir.Constant(I64, j)]))

    bad = b.call(single, [b.bitcast(in_pointers, POINTER), b.bitcast(out_pointers, POINTER)])
    good, refuse = function.append_basic_block("good"), function.append_basic_block("refuse")
    b.cbranch(equal(bad, 0), good, refuse)
    b.position_at_end(refuse)
    for array in results:
        call("decref", decref_type, [array])
    b.branch(slow)
    b.position_at_end(good)
    if len(results) == 1:
        b.ret(results[0])
    else:
        bundle = call("tuple_new", ir.FunctionType(POINTER, [I64]), [ir.Constant(I64, len(results))])
        for j, array in enumerate(results):
            call("tuple_set", ir.FunctionType(I32, [POINTER, I64, POINTER]), [bundle, ir.Constant(I64, j), array])
        b.ret(bundle)
    b.position_at_end(slow)
    b.ret(call("vectorcall", ir.FunctionType(POINTER, [POINTER, POINTER, I64, POINTER]), [fallback, args, nargs, null]))


class _MethodDef(ctypes.Structure):
    _fields_ = (("name", ctypes.c_char_p), ("meth", ctypes.c_void_p), ("flags", ctypes.c_int), ("doc", ctypes.c_char_p))


class _Module(str):
    """The module's name as a builtin function has it; the function so keeps its own definition alive."""

    definition: _MethodDef


_METH_FASTCALL = 0x0080


def builtin(name: str, address: int, fallback: Any) -> Callable[..., Any]:
    """A builtin function around the compiled `call`, which is handed `fallback`: what gets all but the fast path."""
    module = _Module(__name__)  # CPython keeps a bare pointer to a definition, and a reference to the module's name
    module.definition = _MethodDef(name.encode(), address, _METH_FASTCALL, None)
    new = ctypes.pythonapi.PyCFunction_NewEx
    new.restype, new.argtypes = ctypes.py_object, [ctypes.c_void_p, ctypes.py_object, ctypes.py_object]
    return new(ctypes.addressof(module.definition), fallback, module)


def fill_table(address: int) -> None:
    """Write the addresses of this process into a loaded module's table."""
    values = (ctypes.c_int64 * len(TABLE)).from_address(address)
    for k, name in enumerate(TABLE):
        values[k] = _addresses()[name]


@cache
def _addresses() -> dict[str, int]:
    functions = {
        name: ctypes.cast(getattr(ctypes.pythonapi, symbol), ctypes.c_void_p).value or 0
        for name, symbol in _FUNCTIONS.items()
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
    """True if this interpreter and numpy are laid out as the compiled call expects (checked on a live array)."""
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
        kinds = [ctypes.c_void_p, ctypes.c_int, ctypes.c_void_p, ctypes.c_int] + [ctypes.c_void_p] * 2
        kinds += [ctypes.c_int] * 2 + [ctypes.c_void_p]
        new = ctypes.PYFUNCTYPE(ctypes.py_object, *kinds)(_addresses()["array_new"])
        made = new(id(np.ndarray), 2, dimensions, NPY_DOUBLE, None, None, 0, 0, None)
        return type(made) is np.ndarray and made.shape == (2, 3) and made.dtype == np.float64
    except (AttributeError, ImportError, ValueError):
        return False
