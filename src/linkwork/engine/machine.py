"""The machine: which CPU this is, how wide its vectors are, and text of LLVM to callable addresses."""

from __future__ import annotations

import hashlib
import threading
from functools import cache

import llvmlite
import llvmlite.binding as llvm

from linkwork.engine.elementary import EXTERNALS
from linkwork.errors import ComputationError

_lock = threading.RLock()  # LLVM's global context is not safe for two threads


@cache
def _initialise() -> None:
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    for symbol, address in EXTERNALS.items():
        if not address:
            raise ComputationError(f'the C library has no function for "{symbol}"')
        llvm.add_symbol(symbol, address)


@cache
def cpu() -> tuple[str, str]:
    """(name, feature string) of this CPU as LLVM knows it."""
    _initialise()
    features = llvm.get_host_cpu_features()
    return llvm.get_host_cpu_name(), features.flatten()


@cache
def widths() -> tuple[int, ...]:
    """Vector widths that this CPU runs at full speed, widest first, and 1."""
    _initialise()
    features = llvm.get_host_cpu_features()
    widest = 8 if features.get("avx512f") else 4 if features.get("avx") else 2
    return tuple(w for w in (8, 4, 2, 1) if w <= widest)


@cache
def identity() -> str:
    """What compiled code depends on besides the program: CPU, features, LLVM and llvmlite versions."""
    parts = (*cpu(), llvm.llvm_version_info, llvmlite.__version__)
    return hashlib.sha256(repr(parts).encode()).hexdigest()


@cache
def _target_machine() -> llvm.TargetMachine:
    name, features = cpu()
    target = llvm.Target.from_default_triple()
    return target.create_target_machine(cpu=name, features=features, opt=2, jit=True)


def compile_object(text: str) -> bytes:
    """Machine code, as an object file, of a module in LLVM's text form."""
    with _lock:
        module = llvm.parse_assembly(text)
        module.verify()
        return _target_machine().emit_object(module)


class Code:
    """An object file in memory, ready to run. `address(name)` is a function's address; lives as long as this object."""

    def __init__(self, object_file: bytes) -> None:
        with _lock:
            _initialise()
            self._engine = llvm.create_mcjit_compiler(llvm.parse_assembly(""), _new_target_machine())
            self._engine.add_object_file(llvm.ObjectFileRef.from_data(object_file))
            self._engine.finalize_object()

    def address(self, name: str) -> int:
        with _lock:
            address = self._engine.get_function_address(name)
        if not address:
            raise ComputationError(f'compiled code has no function "{name}"')
        return address

    def data_address(self, name: str) -> int:
        """Address of a global variable of the compiled code."""
        with _lock:
            return self._engine.get_global_value_address(name)


def _new_target_machine() -> llvm.TargetMachine:
    # an execution engine takes ownership of its target machine
    name, features = cpu()
    return llvm.Target.from_default_triple().create_target_machine(cpu=name, features=features, opt=2, jit=True)


def assembly(text: str) -> str:
    """The assembly listing of a module, to look at what the code generator made."""
    with _lock:
        return _target_machine().emit_assembly(llvm.parse_assembly(text))
