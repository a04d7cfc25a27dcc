"""Blame: which argument of a call that failed does not fit, said in words.

The arguments are held against their annotations: the first that does not fit is named, with what
came and what was expected.
"""

from __future__ import annotations

import functools
import inspect
import types
import typing
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from linkwork.arguments import as_doubles, shown
from linkwork.errors import InvalidFile, InvalidInput, LinkworkError, WrongCall, did_you_mean

_SIZES = (
    "Maximum allowed",
    "negative dimensions",
    "must be non-negative",
    "could not be broadcast",
    "array is too big",
    "embedded null byte",
)
"""What numpy and the system say of sizes, shapes and names of files that arguments ask for."""
_WORDS = {
    float: "a number",
    int: "a whole number",
    str: "text",
    bool: "True or False",
    np.ndarray: "an array of numbers",
    type(None): "None",
    Callable: "a function",
    typing.Callable: "a function",
    Hashable: "something that can be a key",
    Mapping: "a mapping by name",
    Path: "a path",
}


def blamed(
    function: Callable[..., Any],
    who: str,
    args: tuple[Any, ...],
    options: dict[str, Any],
    error: Exception,
) -> LinkworkError | None:
    """What to say about the arguments of a call that ended in somebody else's exception;
    None where they fit."""
    signature = inspect.signature(function)
    try:
        bound = signature.bind(*args, **options).arguments
    except TypeError:
        return _wrong_call(signature, who, args, options)
    arguments = {name: value for name, value in bound.items() if name != "self"}
    # faults that are not the arguments', and files
    if isinstance(error, NameError) or _of_the_caller(arguments, error):
        return None  # no argument makes a name unknown
    if isinstance(error, OSError):
        return InvalidFile(f"{who}: {_told(error)}")
    # an argument that does not fit its annotation
    hints = _hints(function)
    for name, value in arguments.items():
        if expected := misfit(value, hints.get(name, Any), name):
            return InvalidInput(
                f"{who}: {name} is {shown(value)}, expected {expected} ({_told(error)})"
            )
    # an object of the caller's that is called and fails
    for name, value in arguments.items():
        if callable(value) and not hasattr(value, "__code__") and hints.get(name) is not None:
            if "Callable" in str(hints[name]):
                return InvalidInput(f"{who}: {name} = {shown(value)} raised {_told(error)}")
    # sizes that no array has
    speaks_of_sizes = any(words in str(error) for words in _SIZES)
    if speaks_of_sizes or isinstance(error, (MemoryError, OverflowError)):
        sizes = [
            name
            for name, value in arguments.items()
            if not callable(value) and not hasattr(value, "subject")
        ]
        if sizes:
            came = ", ".join(f"{name} = {shown(arguments[name])}" for name in sizes)
            return InvalidInput(
                f"{who}: no array has the size that {came} asks for: {_told(error)}"
            )
    # whatever is annotated so widely that nothing could be told before
    loose = [name for name in arguments if _is_open(hints.get(name, Any))]
    told = str(error)
    named = [name for name in loose if f"'{type(arguments[name]).__name__}'" in told] or loose
    if named:
        came = ", ".join(f"{name} = {shown(arguments[name])}" for name in named)
        return InvalidInput(f"{who}: there is no answer for {came}: {_told(error)}")
    return None


def _wrong_call(
    signature: inspect.Signature, who: str, args: tuple[Any, ...], options: dict[str, Any]
) -> WrongCall | None:
    """What to say where arguments are missing, unknown or too many;
    None where Python's own sentence says it."""
    known = [
        p for p in signature.parameters.values() if p.kind not in (p.VAR_KEYWORD, p.VAR_POSITIONAL)
    ]
    known = [p for p in known if p.name not in ("self", "cls")]
    kinds = {p.kind for p in signature.parameters.values()}
    names = [p.name for p in known]
    takes = f"{who}({', '.join(n.name if n.default is n.empty else f'{n.name}=' for n in known)})"
    for name in () if inspect.Parameter.VAR_KEYWORD in kinds else options:
        if name not in names:
            near = did_you_mean(name, names) or ";"
            return WrongCall(f'{who}: there is no argument "{name}"{near} {takes}')
    given = len(args) - any(name in signature.parameters for name in ("self", "cls"))
    places = [p.name for p in known if p.kind is not p.KEYWORD_ONLY]
    if given > len(places) and inspect.Parameter.VAR_POSITIONAL not in kinds:
        return WrongCall(
            f"{who}: {given} arguments without a name, expected at most {len(places)}: {takes}"
        )
    missing = [
        p.name for p in known if p.default is p.empty and p.name not in {*places[:given], *options}
    ]
    return WrongCall(f"{who}: {' and '.join(missing)} missing; {takes}") if missing else None


def misfit(value: Any, hint: Any, name: str = "") -> str:
    """What an annotation expects, in words, where a value does not fit;
    nothing where it does or cannot be told."""
    if hint is Any or isinstance(hint, TypeVar) or hint is inspect.Parameter.empty:
        return _no_robot(value, name)
    if name == "seed" and isinstance(value, (int, np.integer)) and value < 0:
        return "a whole number that is not negative"
    origin = typing.get_origin(hint)
    if origin in (typing.Union, types.UnionType):
        if _is_array_like(hint):
            return "" if _converts(value) else "numbers"
        tried = [misfit(value, part) for part in typing.get_args(hint)]
        return "" if "" in tried else " or ".join(dict.fromkeys(tried))
    if origin is typing.Literal:
        choices = typing.get_args(hint)
        if any(value is c or (type(value) is type(c) and value == c) for c in choices):
            return ""
        return f"one of {choices}"
    kind = origin or hint
    fits = _FITS.get(kind)
    if fits is not None:
        return "" if fits(value) else _WORDS[kind]
    if not isinstance(kind, type):
        return ""
    if getattr(kind, "_is_protocol", False):
        return _no_robot(value, name)  # else it cannot be told from outside
    if not isinstance(value, kind):
        return _WORDS.get(kind, kind.__name__)
    if kind in (tuple, list, Sequence, Iterable, set, frozenset) or issubclass(kind, (tuple, list)):
        return _parts(value, typing.get_args(hint))
    return ""


_FITS: dict[Any, Callable[[Any], bool]] = {
    Callable: callable,
    typing.Callable: callable,
    float: lambda value: _converts(value) and np.ndim(value) == 0,
    bool: lambda value: isinstance(value, (bool, np.bool_)),
    int: lambda value: isinstance(value, (int, np.integer)) and not isinstance(value, bool),
    np.ndarray: lambda value: _converts(value) and bool(np.ndim(value)),
    Hashable: lambda value: _is_key(value),
}
"""Annotation -> whether a value fits, where that is more or less than being an instance of it."""


def _is_key(value: Any) -> bool:
    try:
        hash(value)
    except Exception:  # an object's __hash__ may raise whatever it likes
        return False
    return True


def _no_robot(value: Any, name: str) -> str:
    if name not in ("robot", "subject") or hasattr(value, "subject") or hasattr(value, "model"):
        return ""
    return "a robot: lw.load(name)"


def _parts(value: Any, hints: tuple[Any, ...]) -> str:
    """Whether the parts of a sequence fit; what can be looked at only once is left alone."""
    wanted = [h for h in hints if h is not Ellipsis]
    is_text = isinstance(value, (str, bytes, bytearray))
    if is_text and wanted and str not in wanted and Any not in wanted:
        return "a list, not text"
    if not hints or not isinstance(value, (tuple, list, np.ndarray, range)):
        lists = (tuple, list, set, frozenset, np.ndarray, str, bytes, range)
        return "" if isinstance(value, lists) else "a list"
    if isinstance(value, tuple) and Ellipsis not in hints and len(value) != len(hints):
        return f"{len(hints)} of them"
    for part in value[:100]:
        tried = [misfit(part, hint) for hint in wanted]
        if "" not in tried:
            return f"a list of {' or '.join(dict.fromkeys(tried))}"
    return ""


def _converts(value: Any) -> bool:
    try:
        return bool(np.isfinite(as_doubles(value, "")).all())
    except LinkworkError:
        return False


def _is_array_like(hint: Any) -> bool:
    return "_SupportsArray" in str(hint) or "Buffer" in str(hint)


def _is_open(hint: Any) -> bool:
    """An annotation that says nothing about what came."""
    return hint is Any or "Any" in str(hint) or isinstance(hint, TypeVar)


@functools.lru_cache(maxsize=1024)
def _hints(function: Callable[..., Any]) -> dict[str, Any]:
    try:
        return typing.get_type_hints(function)
    except Exception:  # names that only type checkers import
        return {}


def _of_the_caller(arguments: Mapping[str, Any], error: Exception) -> bool:
    """Whether a function among the arguments raised it: that is the caller's own affair."""
    codes = {getattr(value, "__code__", None) for value in arguments.values()} - {None}
    trace = error.__traceback__
    while trace is not None:
        if trace.tb_frame.f_code in codes:
            return True
        trace = trace.tb_next
    return False


def _told(error: Exception) -> str:
    lines = str(error).strip().splitlines()
    return f"{type(error).__name__}: {lines[0][:160]}" if lines else type(error).__name__
