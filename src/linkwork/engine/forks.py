"""Forks: a child of fork has one thread, and none of the locks that the parent's other threads
held.

What must not be cut in two (LLVM, the stock of buffers) has a lock that a fork takes first, so that
no other thread is inside at that moment; parent and child both give it back. CasADi's own locks
follow in fork_mutexes.py. What a single object guards (a kernel that is compiled just then) gets a
new lock in the child, where nobody will come back to open the old one. A process with one thread
does nothing of this. Who compiles also logs, so a fork has to take the lock of `logging` last: what
was registered first is taken last, hence its import here.
"""

from __future__ import annotations

import logging  # noqa: F401 - forks take its lock, too: after ours, if it is registered before
import os
import sys
import threading
import weakref
from collections.abc import Callable
from functools import cached_property
from typing import Any

from llvmlite.binding import ffi

_awaited: list[tuple[int, Any]] = []  # (rank, lock): taken in this order, outer ones first
_owners: weakref.WeakSet[Any] = weakref.WeakSet()
_modules: list[tuple[str, str]] = []
_taken: list[Any] = []
_to_do: list[Callable[[], None]] = []


def awaited(lock: Any, rank: int) -> Any:
    """A lock that a fork takes and gives back; who holds one waits only for higher ranks."""
    _awaited.append((rank, lock))
    _awaited.sort(key=lambda entry: entry[0])
    return lock


def renewed(owner: Any) -> threading.RLock:
    """A lock for the attribute `_lock` of an object, which gets a new one in a child of fork."""
    _owners.add(owner)
    return threading.RLock()


def renewed_in_module(module: str, name: str) -> threading.RLock:
    """A lock for a name of a module, which gets a new one in a child of fork."""
    _modules.append((module, name))
    return threading.RLock()


def before_the_first(work: Callable[[], None]) -> None:
    """What is made ready before the first fork of a process that has several threads."""
    _to_do.append(work)


def _before() -> None:
    if threading.active_count() > 1:
        while _to_do:
            _to_do.pop()()
        for _, lock in _awaited:
            lock.acquire()
            _taken.append(lock)


def _after_in_parent() -> None:
    while _taken:
        _taken.pop().release()


def _after_in_child() -> None:
    if not _taken:
        return
    _after_in_parent()
    for owner in list(_owners):
        owner._lock = threading.RLock()
    for module, name in _modules:
        setattr(sys.modules[module], name, threading.RLock())
    _renew_cached_properties()


def _renew_cached_properties() -> None:
    """Until Python 3.12 a cached property has a lock,
    held while its value is computed for any object."""
    if not hasattr(cached_property(len), "lock"):
        return
    for name, module in list(sys.modules.items()):
        if not name.startswith("linkwork"):
            continue
        for kind in list(vars(module).values()):
            if isinstance(kind, type) and kind.__module__ == name:
                for attribute in vars(kind).values():
                    if isinstance(attribute, cached_property):
                        attribute.lock = threading.RLock()  # type: ignore[attr-defined]


class _LibraryLock:
    """llvmlite's own lock, which every call into LLVM holds, garbage that is collected included."""

    def acquire(self) -> None:
        ffi.lib._lock.__enter__()

    def release(self) -> None:
        ffi.lib._lock.__exit__(None, None, None)


if hasattr(os, "register_at_fork"):
    os.register_at_fork(
        before=_before, after_in_parent=_after_in_parent, after_in_child=_after_in_child
    )
if hasattr(getattr(ffi.lib, "_lock", None), "__enter__"):
    awaited(_LibraryLock(), 9)
