"""CasADi's mutexes at a fork: taken and given back by machine code, inside fork itself.

A call of CasADi may hold one of them while other threads of Python run, and a child of fork would
wait for it for ever. So a fork takes them. Code in Python cannot: between taking and giving back it
may lose the interpreter's lock to a thread that keeps it while it waits for the mutex, and both
wait. Inside fork the interpreter's lock stays where it is; whoever holds a mutex there is in C++,
needs nothing of Python, and comes to its end.
"""

from __future__ import annotations

import ctypes
import os
from importlib import import_module

import llvmlite.binding as llvm

from linkwork.engine import forks, machine

MUTEXES = (
    "_ZN6casadi6SXElem10mutex_tempE",
    "_ZN6casadi2MX10mutex_tempE",
    "_ZN6casadi8Sparsity14cachingmap_mtxE",
)
"""Outer ones first: marks on symbols while a function is made, and the store of sparsities."""
HANDLERS = ("prepare", "parent", "child")
REGISTER = ("pthread_atfork", "__register_atfork")
"""Where a C library has its handlers of fork; glibc has the first for linkers alone."""

_kept: list[machine.Code] = []  # the process calls it until its end


def register() -> None:
    """Let every fork of this process take CasADi's mutexes;
    nothing where CasADi or the system has none."""
    process, addresses = ctypes.CDLL(None), _addresses()
    names = [name for name in REGISTER if hasattr(process, name)]
    if not addresses or not names:
        return
    lock, unlock = (
        _address(getattr(process, f"pthread_mutex_{verb}")) for verb in ("lock", "unlock")
    )
    taken = _function("prepare", lock, addresses)
    given_back = [_function(name, unlock, addresses[::-1]) for name in HANDLERS[1:]]
    text = "\n".join([f'target triple = "{llvm.get_default_triple()}"', taken, *given_back])
    code = machine.Code(machine.compile_object(text), HANDLERS)
    handlers = [ctypes.c_void_p(code.addresses[name]) for name in HANDLERS]
    # of no library that could be unloaded
    owner = [None] if names[0] == "__register_atfork" else []
    if getattr(process, names[0])(*handlers, *owner) == 0:
        _kept.append(code)


def _addresses() -> list[int]:
    """Where this CasADi has the mutexes."""
    try:
        library = ctypes.CDLL(import_module("casadi._casadi").__file__)
    except OSError:
        return []
    addresses = []
    for name in MUTEXES:
        try:
            addresses.append(ctypes.addressof(ctypes.c_char.in_dll(library, name)))
        except ValueError:  # a CasADi without it
            continue
    return addresses


def _address(function: ctypes._NamedFuncPointer) -> int:
    return ctypes.cast(function, ctypes.c_void_p).value or 0


def _function(name: str, call: int, mutexes: list[int]) -> str:
    """A function in LLVM's text form that makes one call for each mutex."""
    calls = [
        f"  call i32 inttoptr (i64 {call} to ptr)(ptr inttoptr (i64 {mutex} to ptr))"
        for mutex in mutexes
    ]
    return "\n".join([f"define void @{name}() {{", *calls, "  ret void", "}"])


if hasattr(os, "register_at_fork"):
    forks.before_the_first(register)
