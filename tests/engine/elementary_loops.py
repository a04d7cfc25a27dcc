"""Every elementary function as a loop over arrays in machine code,
for tests and benchmarks of the functions alone."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from functools import cache

import llvmlite.binding as llvm
import numpy as np
from llvmlite import ir

from linkwork.engine import elementary

WIDTHS = (1, 2, 4, 8)
NAMES = tuple(elementary.FUNCTIONS)
DOUBLE, WORD = ir.DoubleType(), ir.IntType(64)


def lanes(width: int) -> ir.Type:
    return DOUBLE if width == 1 else ir.VectorType(DOUBLE, width)


def results_of(name: str) -> int:
    return 2 if name == "sincos" else 1


@cache
def text(width: int) -> str:
    """LLVM's text of one module with a loop over each function."""
    module = ir.Module(name=f"elementary{width}")
    for name in NAMES:
        _define(module, name, width)
    return str(module)


def _define(module: ir.Module, name: str, width: int) -> None:
    """void loop_name(count, inputs ..., outputs ...) over arrays whose length is a multiple of the
    width."""
    inputs, outputs = elementary.FUNCTIONS[name], results_of(name)
    signature = ir.FunctionType(ir.VoidType(), [WORD] + [ir.PointerType()] * (inputs + outputs))
    function = ir.Function(module, signature, f"loop_{name}")
    count, *pointers = function.args
    entry, loop, done = (function.append_basic_block() for _ in range(3))
    builder = ir.IRBuilder(entry)
    builder.branch(loop)
    builder.position_at_end(loop)
    at = builder.phi(WORD)
    at.add_incoming(WORD(0), entry)
    places = [builder.gep(pointer, [at], source_etype=DOUBLE) for pointer in pointers]
    arguments = [builder.load(place, typ=lanes(width), align=8) for place in places[:inputs]]
    result = elementary.emit(builder, name, *arguments)
    for value, place in zip(result if outputs > 1 else (result,), places[inputs:], strict=True):
        builder.store(value, place, align=8)
    following = builder.add(at, WORD(width))
    at.add_incoming(following, builder.block)
    builder.cbranch(builder.icmp_signed("<", following, count), loop, done)
    builder.position_at_end(done)
    builder.ret_void()


@cache
def _machine_code(width: int) -> llvm.ExecutionEngine:
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    for symbol, address in elementary.EXTERNALS.items():
        llvm.add_symbol(symbol, address)
    module = llvm.parse_assembly(text(width))
    module.verify()
    machine = llvm.Target.from_default_triple().create_target_machine(
        cpu=llvm.get_host_cpu_name(), features=llvm.get_host_cpu_features().flatten(), opt=2
    )
    engine = llvm.create_mcjit_compiler(module, machine)
    engine.finalize_object()
    return engine


@cache
def loop(name: str, width: int) -> Callable[..., None]:
    """The machine code itself: takes the count, then the addresses of inputs and outputs."""
    pointers = elementary.FUNCTIONS[name] + results_of(name)
    address = _machine_code(width).get_function_address(f"loop_{name}")
    return ctypes.CFUNCTYPE(None, ctypes.c_int64, *[ctypes.c_void_p] * pointers)(address)


def evaluate(name: str, width: int, *arguments: np.ndarray) -> tuple[np.ndarray, ...]:
    """The results (n,) of a function for arguments (n,), in code of a width."""
    count = len(arguments[0])
    padded = [np.concatenate([a, np.full(-count % 8, 0.5)]).astype(float) for a in arguments]
    results = [np.empty_like(padded[0]) for _ in range(results_of(name))]
    loop(name, width)(len(padded[0]), *(array.ctypes.data for array in (*padded, *results)))
    return tuple(result[:count] for result in results)
