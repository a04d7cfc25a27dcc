"""The machine: which CPU this is, how wide its vectors are, and LLVM's text to addresses."""

from __future__ import annotations

import ctypes
import hashlib
import threading
from collections.abc import Sequence
from functools import cache

import llvmlite
import llvmlite.binding as llvm

from linkwork.engine import forks
from linkwork.engine.elementary import EXTERNALS
from linkwork.engine.target import WIDTHS
from linkwork.errors import ComputationError

_lock = forks.awaited(threading.RLock(), 2)  # the target machine is one for all threads
_GENERATION = 32  # libraries of one linker
# the linker that takes the next library, once for each that it may still take
_generation: list[llvm.LLJIT] = []


@cache
def _initialise() -> None:
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    missing = [symbol for symbol, address in EXTERNALS.items() if not address]
    if missing:
        raise ComputationError(f"the C library has no function for {', '.join(missing)}")


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
    widest = next(width for feature, width in WIDTHS if not feature or features.get(feature))
    return (*(width for _, width in WIDTHS if width <= widest), 1)


@cache
def has_pause() -> bool:
    """Whether this CPU has x86's instruction for threads that wait awake."""
    return llvm.get_default_triple().startswith(("x86_64", "i686"))


def can_yield() -> bool:
    """Whether the C library lets a thread give up its turn."""
    return "sched_yield" in _library_functions()


@cache
def identity() -> str:
    """What compiled code depends on beside the program: CPU, features, LLVM, llvmlite."""
    parts = (*cpu(), llvm.llvm_version_info, llvmlite.__version__)
    return hashlib.sha256(repr(parts).encode()).hexdigest()


@cache
def _target_machine(level: int = 2) -> llvm.TargetMachine:
    return _new_target_machine(level)


def compile_object(text: str, registers: bool = False, level: int = 2) -> bytes:
    """Machine code, as an object file, of a module in LLVM's text form.

    `registers`: let LLVM turn memory of a call into registers and simplify conditions first; no
    arithmetic changes.
    `level`: effort of the code generator. Code for one sample and code of long programs is as fast
    with 1, which takes a tenth to a quarter less time: what is left out reorders instructions once
    more after registers are given, as the processor does by itself. Short programs on wide vectors
    can be a tenth slower with it.
    """
    with _lock:
        # which keeps every number of the module
        module = llvm.parse_assembly(text, llvm.create_context())
        module.verify()
        if registers:
            builder = llvm.create_pass_builder(
                _target_machine(), llvm.create_pipeline_tuning_options(speed_level=1)
            )
            passes = llvm.create_new_module_pass_manager()
            passes.add_sroa_pass()
            passes.add_instruction_combine_pass()
            passes.add_simplify_cfg_pass()
            passes.run(module, builder)
        return _target_machine(level).emit_object(module)


class Code:
    """An object file in memory, ready to run; `addresses` of the exported names.
    Lives as long as this object.

    A symbol that the object needs and nobody gives is an error here, not a crash later. LLVM keeps
    the tables of a library that is gone as long as its linker lives, so that a linker takes only
    some and goes with the last of them.
    """

    def __init__(self, object_file: bytes, exports: Sequence[str]) -> None:
        with _lock:
            library = llvm.JITLibraryBuilder().add_object_img(object_file)
            for name, address in (*EXTERNALS.items(), *_library_functions().items()):
                library.import_symbol(name, address)
            for name in exports:
                library.export_symbol(name)
            try:
                if not _generation:
                    _generation.extend([_new_linker()] * _GENERATION)
                self._linker = _generation.pop()
                self._tracker = library.link(self._linker, f"library{len(_generation)}")
            except RuntimeError as error:
                raise ComputationError(f"compiled code cannot be linked: {error}") from None
        self.addresses: dict[str, int] = {name: self._tracker[name] for name in exports}


def _new_linker() -> llvm.LLJIT:
    # JITLink keeps the sections of an object together, as the small code model needs
    _initialise()
    return llvm.create_lljit_compiler(_new_target_machine(), use_jit_link=True)


@cache
def _library_functions() -> dict[str, int]:
    """What the code generator itself calls: block copies, and fma on a CPU that has none;
    and a way to wait."""
    library = ctypes.CDLL(None)
    names = ("memcpy", "memset", "memmove", "fma", "sched_yield")
    return {
        n: ctypes.cast(getattr(library, n), ctypes.c_void_p).value or 0
        for n in names
        if hasattr(library, n)
    }


def _new_target_machine(level: int = 2) -> llvm.TargetMachine:
    # A linker takes ownership of its target machine. The small code model reads constants in place,
    # where the large one spends an instruction and a register on every address.
    name, features = cpu()
    target = llvm.Target.from_default_triple()
    return target.create_target_machine(
        cpu=name, features=features, opt=level, reloc="pic", codemodel="small", jit=True
    )


def assembly(text: str) -> str:
    """The assembly listing of a module, to look at what the code generator made."""
    with _lock:
        return _target_machine().emit_assembly(llvm.parse_assembly(text))
