"""Loader: compiled code by its key, from the cache if it is there, else compiled and put there."""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from linkwork.engine import cache, machine, python_call

counts = {"traced": 0, "compiled": 0, "loaded": 0}  # what the engine did in this process, for tests and `doctor`
TABLE = "call_table"  # exported by code that calls Python: addresses of this process, filled in after loading


def loaded(
    key: str, compile_: Callable[[], tuple[dict[str, Any], bytes]], exports: Sequence[str]
) -> tuple[machine.Code, dict[str, Any]]:
    """(code, its header) for a key; `compile_` gives the header and an object file with the exported names."""
    found = cache.load(key)
    if found is None:
        counts["compiled"] += 1
        with _collector_at_rest():
            header, object_file = compile_()
        cache.save(key, header, object_file)
    else:
        header, object_file = found
        counts["loaded"] += 1
    code = machine.Code(object_file, exports)
    if TABLE in exports:
        python_call.fill_table(code.addresses[TABLE])
    return code, header


@contextmanager
def _collector_at_rest() -> Iterator[None]:
    """No garbage collection meanwhile: tracing makes very many objects, and going through them took a tenth."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()
