"""Keys: names for compiled code, each made of everything that decided the code.

A key is the SHA-256 of its parts, and every part is written down in full: a number by its bits, an
array by all of its bytes, a program by all of its operations, an object by its class and all of its
attributes. What cannot be written down so (a function, a file, an object of a class that linkwork
does not know) is refused, because a key that leaves something out would sooner or later name two
different things. Such things are keyed by the program that was traced.
"""

from __future__ import annotations

import hashlib
import os
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import fields, is_dataclass
from functools import cache, partial
from pathlib import Path
from typing import Any

import casadi
import numpy as np

from linkwork.engine.program import Program

PACKAGE = Path(__file__).resolve().parent.parent
MAKE_NO_CODE = frozenset(("cli", "view", "reproduce", "robot", "library", "__init__", "__main__"))
"""Rooms and modules at the top of the house: what they contain is compiled by the rooms below,
or by its program."""
PLUGGED_IN_ABOVE = ("commands.py", "panel.py", "section.py")
"""Files of any room that belong to the command line, the viewer and reports (rooms.py)."""


class NoKey(Exception):
    """Something has no canonical text; its message says what."""


def key(*parts: Any) -> str:
    """One key of all parts; NoKey if one of them cannot be written down in full."""
    lines: list[str] = []
    for part in parts:
        _write(part, lines)
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()


def is_own(maker: Any) -> bool:
    """Whether a function or class is among the sources of `sources_hash`."""
    return _is_code_module(module_of(maker))


def module_of(maker: Any) -> str:
    """The module in which a function or class was written."""
    while isinstance(maker, partial):
        maker = maker.func
    return getattr(maker, "__module__", None) or type(maker).__module__


def sources_hash() -> str:
    """A hash of CasADi's version and of those sources as they are now:
    code of another version is never run."""
    digest = hashlib.sha256(casadi.CasadiMeta.version().encode())
    for name in code_files():
        content = (PACKAGE / name).read_bytes()
        digest.update(f"{name} {len(content)}\n".encode())
        digest.update(content)
    return digest.hexdigest()


def sources_stamp() -> tuple[str, float]:
    """(a hash of what the system knows of those sources without reading them, when the last of them
    changed [s]).

    Sizes, times and places on the disk: no write leaves them all as they were, and Python's own
    bytecode rests on less.
    """
    # texts alone: hundreds of other objects wake the garbage collector, which takes 30 ms
    facts: list[str] = []
    newest = 0
    for name, file in _code_entries(""):
        status = file.stat()
        times = status.st_mtime_ns, status.st_ctime_ns
        facts.append(f"{name} {status.st_size} {times} {status.st_ino} {status.st_dev}")
        newest = max(newest, *times)
    facts.sort()
    versions = casadi.CasadiMeta.version()
    return hashlib.sha256("\n".join([versions, *facts]).encode()).hexdigest(), 1e-9 * newest


def code_files() -> list[str]:
    """The sources that can decide what is compiled, every room below the facade:
    their paths within the package."""
    return sorted(name for name, _ in _code_entries(""))


def _code_entries(inside: str) -> Iterator[tuple[str, os.DirEntry[str]]]:
    """(path within the package, entry of its folder) of these sources,
    below a folder "" or "room/"."""
    with os.scandir(os.path.join(PACKAGE, inside)) as entries:
        for entry in entries:
            if not inside and entry.name.removesuffix(".py") in MAKE_NO_CODE:
                continue
            if entry.name.endswith(".py"):
                if entry.name not in PLUGGED_IN_ABOVE:
                    yield inside + entry.name, entry
            elif entry.is_dir(follow_symlinks=False):
                yield from _code_entries(f"{inside}{entry.name}/")


@cache
def _is_code_module(name: str) -> bool:
    """Whether a module is one of `code_files`."""
    place = getattr(sys.modules.get(name), "__file__", None)
    parts = name.split(".")
    if place is None or parts[0] != PACKAGE.name or len(parts) < 2 or parts[1] in MAKE_NO_CODE:
        return False
    if f"{parts[-1]}.py" in PLUGGED_IN_ABOVE:
        return False
    return Path(place).resolve().is_relative_to(PACKAGE)


def _write(x: Any, lines: list[str]) -> None:
    """The canonical text of a value: its type, then its contents,
    with their number where there are several."""
    writer = _WRITERS.get(type(x))
    if writer is not None:
        writer(x, lines)
    elif isinstance(x, type):
        lines.append(f"class {_name_of(x)}")
    elif hasattr(type(x), "decided_by"):  # an object that says itself what decides its code
        lines.append(f"decided {_name_of(type(x))}")
        _write(x.decided_by(), lines)
    elif isinstance(x, np.generic):
        _write_array(np.asarray(x), lines)
    elif isinstance(x, Mapping):
        _write_mapping(x, lines)
    elif is_dataclass(x):
        lines.append(f"object {_name_of(type(x))}")
        for each in fields(x):
            _write(getattr(x, each.name), lines)
    elif hasattr(x, "__dict__"):
        lines.append(f"object {_name_of(type(x))}")
        _write_mapping(vars(x), lines)
    else:
        raise NoKey(f"{type(x).__module__}.{type(x).__qualname__} cannot be part of a key")


def _name_of(kind: type) -> str:
    """A class by its full name, which says all about it only if it is one of ours."""
    at_top = getattr(sys.modules.get(kind.__module__), kind.__qualname__, None) is kind
    if not at_top or not is_own(kind):
        raise NoKey(f"class {kind.__module__}.{kind.__qualname__} is not one of linkwork's")
    return f"{kind.__module__}.{kind.__qualname__}"


def _write_items(x: Any, lines: list[str]) -> None:
    lines.append(f"{type(x).__name__} {len(x)}")
    for each in x:
        _write(each, lines)


def _write_set(x: Any, lines: list[str]) -> None:
    _write_items(sorted(key(each) for each in x), lines)


def _write_mapping(x: Mapping[Any, Any], lines: list[str]) -> None:
    lines.append(f"mapping {len(x)}")
    for name, each in x.items():
        _write(name, lines)
        _write(each, lines)


def _write_array(x: np.ndarray, lines: list[str]) -> None:
    if x.dtype.hasobject:
        raise NoKey(f"an array of {x.dtype} cannot be part of a key")
    digest = hashlib.sha256(np.ascontiguousarray(x).tobytes()).hexdigest()
    lines.append(f"array {x.dtype.str} {x.shape} {digest}")


_WRITERS: dict[type, Callable[[Any, list[str]], None]] = {
    type(None): lambda x, lines: lines.append("none"),
    bool: lambda x, lines: lines.append(f"bool {x}"),
    int: lambda x, lines: lines.append(f"int {x}"),
    float: lambda x, lines: lines.append(f"float {x.hex()}"),
    str: lambda x, lines: lines.append(f"str {len(x)} {x}"),
    bytes: lambda x, lines: lines.append(f"bytes {x.hex()}"),
    slice: lambda x, lines: lines.append(f"slice {x.start} {x.stop} {x.step}"),
    tuple: _write_items,
    list: _write_items,
    set: _write_set,
    frozenset: _write_set,
    dict: _write_mapping,
    np.ndarray: _write_array,
    Program: lambda x, lines: lines.append(f"program\n{x.text()}"),
    casadi.Function: lambda x, lines: lines.append(f"function {x.serialize()}"),
    casadi.SX: lambda x, lines: lines.append(f"expression {x.serialize()}"),
    casadi.DM: lambda x, lines: lines.append(f"matrix {x.serialize()}"),
}
