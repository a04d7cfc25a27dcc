"""Doors: whatever a public call raises about its arguments is ours,
in words that name the argument.

Numbers pass `arguments.as_doubles` inside; a door is what stands around everything else. It costs
nothing that can be measured while calls succeed. Where one ends in somebody else's exception, its
arguments are held against their
annotations: the first that does not fit is named, with what came and what was expected, and the
exception is kept as the cause. Where all fit, the fault is ours and goes out as it is; so does what
a function of the caller's own raised.
"""

from __future__ import annotations

import functools
import inspect
import re
import sys
import types
import typing
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from pathlib import Path
from time import perf_counter
from typing import Any, TypeVar

import numpy as np

from linkwork.arguments import as_doubles, flag, shown
from linkwork.errors import InvalidFile, InvalidInput, LinkworkError, WrongCall, did_you_mean
from linkwork.interrupts import heard

Kind = TypeVar("Kind", bound=type)
Flags = tuple[tuple[str, int], ...]
"""(name, place among the arguments) of parameters;
one that has no place stands behind all that can come."""
MARK = "__linkwork_door__"
_FLOATS = frozenset({float, np.float64, np.float32, np.float16})
QUICK = 1e-3
"""Seconds; a call that took less the last time has no interrupt to remember."""
_SIZES = (
    *(
        "Maximum allowed",
        "negative dimensions",
        "must be non-negative",
        "could not be broadcast",
        "array is too big",
    ),
    "embedded null byte",
)
"""What numpy and the system say of sizes, shapes and names of files that arguments ask for."""
_NO_SINGLE_NUMBER = frozenset(
    (
        "str",
        "bool",
        "int",
        "None",
        "ArrayLike",
        "np.ndarray",
        "Mapping",
        "Path",
        "RobotLike",
        "Obstacles",
        "Around",
    )
    + ("Values", "Variables", "Forces", "Payloads")
)
"""Words of annotations of arguments that are no single number,
or whose numbers are asked for inside."""
DIRECT = "__linkwork_direct__"
"""Attribute of a class whose methods refuse arguments in machine code, or are called by a solver in
every step: a door would cost more than they do."""
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


def open_doors(room: str) -> None:
    """Put a door around every public function of a room,
    the making of its public classes and their methods.

    A public name that is a module of ours with public names of its own has them opened there.
    """
    for name in sys.modules[room].__all__:
        inside = vars(sys.modules[room]).get(name)
        if isinstance(inside, types.ModuleType) and hasattr(inside, "__all__"):
            open_doors(inside.__name__)
        else:
            open_door(room, name)


def open_door(room: str, name: str) -> None:
    """The same for one name; nothing where the room has not loaded it yet,
    or where it has its door."""
    module = sys.modules[room]
    value = vars(module).get(name)
    if callable(value) and not isinstance(value, type) and not hasattr(value, MARK):
        guarded = door(value, name)
        # where it is found again, as pickle does
        guarded.__module__, guarded.__qualname__ = (
            room,
            name,
        )
        setattr(module, name, guarded)
    elif (
        isinstance(value, type)
        and not issubclass(value, BaseException)
        and not getattr(value, "_is_protocol", False)
    ):
        with_door(value, methods=DIRECT not in vars(value))
        for base in value.__mro__[1:]:  # methods that it has from classes of ours
            ours = base.__module__.startswith("linkwork") and not getattr(
                base, "_is_protocol", False
            )
            if ours and DIRECT not in vars(base):
                with_door(base, methods=True)


def with_door(kind: Kind, methods: bool = False) -> Kind:
    """A class whose making has a door; with `methods` its own public methods too."""
    making = vars(kind).get("__init__")
    if isinstance(making, types.FunctionType) and not hasattr(making, MARK):
        # else it only stores
        if hasattr(kind, "__post_init__") or making.__code__.co_filename != "<string>":
            kind.__init__ = door(making, kind.__name__, numbers=False)  # type: ignore[misc]
    for name, value in list(vars(kind).items()) if methods else ():
        if (
            isinstance(value, types.FunctionType)
            and not name.startswith("_")
            and not hasattr(value, MARK)
        ):
            setattr(kind, name, door(value, name))
        elif isinstance(value, (staticmethod, classmethod)) and not name.startswith("_"):
            if hasattr(value.__func__, MARK):
                continue
            setattr(kind, name, type(value)(door(value.__func__, name)))
    return kind


def door(function: Callable[..., Any], who: str, numbers: bool = True) -> Callable[..., Any]:
    """The function with a door around it.

    A single number that is none is refused here, for whoever forgets to ask; `numbers=False` lets
    it through: results of ours are made of what was found, and nan says that there was nothing. A
    flag that is none is refused as well.
    """

    flags = _flags(function)
    # what took no time the last time is not listened to: a handler of signals costs microseconds
    is_quick = False
    # places of single numbers: all, until the first call has read the annotations
    first, last = 0, sys.maxsize if numbers else 0

    @functools.wraps(function)
    def guarded(*args: Any, **options: Any) -> Any:
        nonlocal is_quick, first, last
        if last:
            for value in args[first:last]:
                if value.__class__ in _FLOATS and value != value:
                    raise _no_number(function, who, args, options)
        if options and numbers:
            for value in options.values():
                if value.__class__ in _FLOATS and value != value:
                    raise _no_number(function, who, args, options)
        if flags:
            _check_flags(flags, who, args, options)
        began = perf_counter()
        try:
            if is_quick:
                result = function(*args, **options)
                if perf_counter() - began >= QUICK:
                    is_quick = False
            else:
                result = heard(function, *args, **options)
                is_quick = perf_counter() - began < QUICK
                first, last = _single_numbers(function) if numbers else (0, 0)
            return result
        except (LinkworkError, KeyboardInterrupt):
            is_quick = False
            raise
        except Exception as error:
            is_quick = False
            told = blamed(function, who, args, options, error)
            if told is None:
                raise
            raise told from error

    setattr(guarded, MARK, True)
    return guarded


@functools.lru_cache(maxsize=4096)
def _single_numbers(function: Callable[..., Any]) -> tuple[int, int]:
    """From which place of a call up to which a single number may come, by the annotations:
    doors look at no others."""
    places: list[int] = []
    for place, argument in enumerate(inspect.signature(function).parameters.values()):
        if argument.kind is argument.VAR_POSITIONAL:
            return min(places, default=place), sys.maxsize
        words = set(re.findall(r"[\w.]+", str(argument.annotation)))
        if argument.name not in ("self", "cls") and not words <= _NO_SINGLE_NUMBER:
            places.append(place)
    return (places[0], places[-1] + 1) if places else (0, 0)


def _no_number(
    function: Callable[..., Any], who: str, args: tuple[Any, ...], options: dict[str, Any]
) -> InvalidInput:
    """What is said of the first argument that is nan."""
    try:
        arguments = inspect.signature(function).bind(*args, **options).arguments
    except TypeError:
        arguments = options  # an argument is missing or unknown, too
    named = [
        name for name, value in arguments.items() if value.__class__ in _FLOATS and value != value
    ]
    return InvalidInput(
        f"{who}: {named[0] if named else 'an argument'} is nan, expected a finite number"
    )


def _flags(function: Callable[..., Any]) -> Flags:
    """The parameters of a function that are annotated as True or False."""
    annotated = getattr(function, "__annotations__", {})
    names = [
        name for name, hint in annotated.items() if hint in ("bool", bool) and name != "return"
    ]
    if not names:
        return ()
    code = inspect.unwrap(function).__code__
    placed = code.co_varnames[: code.co_argcount]
    return tuple((name, placed.index(name) if name in placed else sys.maxsize) for name in names)


def _check_flags(flags: Flags, who: str, args: tuple[Any, ...], options: Mapping[str, Any]) -> None:
    """Refuse what would be taken for True or False and is neither."""
    for name, place in flags:
        if name in options:
            flag(options[name], f"{who}: {name}")
        elif place < len(args):
            flag(args[place], f"{who}: {name}")


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
    if isinstance(error, (MemoryError, OverflowError)) or any(
        words in str(error) for words in _SIZES
    ):
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
        return (
            ""
            if any(value is c or (type(value) is type(c) and value == c) for c in choices)
            else f"one of {choices}"
        )
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
    wanted = (
        name in ("robot", "subject")
        and not hasattr(value, "subject")
        and not hasattr(value, "model")
    )
    return "a robot: lw.load(name)" if wanted else ""


def _parts(value: Any, hints: tuple[Any, ...]) -> str:
    """Whether the parts of a sequence fit; what can be looked at only once is left alone."""
    wanted = [h for h in hints if h is not Ellipsis]
    if (
        isinstance(value, (str, bytes, bytearray))
        and wanted
        and str not in wanted
        and Any not in wanted
    ):
        return "a list, not text"
    if not hints or not isinstance(value, (tuple, list, np.ndarray, range)):
        return (
            ""
            if isinstance(value, (tuple, list, set, frozenset, np.ndarray, str, bytes, range))
            else "a list"
        )
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
