"""Loader: compiled code by its key, from the cache if it is there, else compiled and put there."""

from __future__ import annotations

import gc
import logging
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from llvmlite import ir

from linkwork.engine import cache, fork_mutexes, forks, keys, machine  # noqa: F401 - forks find the mutexes
from linkwork.engine.codegen import new_module
from linkwork.engine.waiting import waiting

log = logging.getLogger(__name__)
# what the engine did in this process, for tests and `doctor`
counts = {
    "traced": 0,
    "compiled": 0,
    "loaded": 0,
}
_lock = forks.awaited(threading.RLock(), 1)
_for_ever: dict[str, machine.Code] = {}


def loaded(
    key: str,
    compile_: Callable[[], tuple[dict[str, Any], bytes]],
    exports: Sequence[str],
    what: str = "code",
) -> tuple[machine.Code, dict[str, Any]]:
    """(code, its header) for a key; `compile_` gives the header and an object file with the
    exported names.

    `what` is compiled, for a person who waits (waiting.py) and for the log.
    """
    kept = cache.load(key)
    if kept is None:
        counts["compiled"] += 1
        start = time.perf_counter()
        with _collector_at_rest(), waiting(f"compiling {what}"):
            header, object_file = compile_()
        log.info("compiled %s in %.2f s", what, time.perf_counter() - start)
        cache.save(key, header, object_file)
    else:
        header, object_file = kept
        counts["loaded"] += 1
    return machine.Code(object_file, exports), header


def loaded_once(
    name: str, emit: Callable[[ir.Module], object], exports: Sequence[str]
) -> machine.Code:
    """Code that knows no robot; it stays for the life of the process."""

    def compile_() -> tuple[dict[str, Any], bytes]:
        module = new_module(name.replace(" ", "_"))
        emit(module)
        return {}, machine.compile_object(str(module))

    # two threads may want it first at the same time, and one copy would be dropped in use
    with _lock:
        if name not in _for_ever:
            _for_ever[name], _ = loaded(keys.key("once", name), compile_, exports)
        return _for_ever[name]


@contextmanager
def _collector_at_rest() -> Iterator[None]:
    """No garbage collection meanwhile: tracing makes very many objects,
    and going through them took a tenth."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()
