"""Doors: whatever a public call raises about its arguments is ours,
in words that name the argument.

Numbers pass `arguments.as_doubles` inside; a door is what stands around everything else. It costs
nothing that can be measured while calls succeed. Where one ends in somebody else's exception, its
arguments are held against their annotations (blame.py): the first that does not fit is named, and
the exception is kept as the cause. Where all fit, the fault is ours and goes out as it is; so does
what a function of the caller's own raised.
"""

from __future__ import annotations

import functools
import inspect
import re
import sys
import types
from collections.abc import Callable, Mapping
from time import perf_counter
from typing import Any, TypeVar

import numpy as np

from linkwork.arguments import flag
from linkwork.blame import blamed
from linkwork.errors import InvalidInput, LinkworkError
from linkwork.interrupts import heard

Kind = TypeVar("Kind", bound=type)
Method = TypeVar("Method", bound=Callable[..., Any])
Flags = tuple[tuple[str, int], ...]
"""(name, place among the arguments) of parameters;
one that has no place stands behind all that can come."""
MARK = "__linkwork_door__"
_FLOATS = frozenset({float, np.float64, np.float32, np.float16})
QUICK, UNHEARD = 1e-3, 0.1
"""Seconds: a call that took less than the first has no interrupt to remember,
nor have those that begin within the second after it: a handler of signals costs microseconds."""
_NOWHERE = (sys.maxsize, sys.maxsize)
"""The places of single numbers of a function that takes none."""
_NO_SINGLE_NUMBER = frozenset(
    "str bool int None ArrayLike np.ndarray Mapping Path RobotLike Obstacles Around Values "
    "Variables Forces Payloads".split()
)
"""Words of annotations of arguments that are no single number,
or whose numbers are asked for inside."""
DIRECT = "__linkwork_direct__"
"""Attribute of a class whose methods refuse arguments in machine code, or are called by a solver in
every step: a door would cost more than they do. Its making has the quickest one."""


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
        guarded.__module__, guarded.__qualname__ = room, name
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
            made = direct_door if DIRECT in vars(kind) else functools.partial(door, numbers=False)
            kind.__init__ = made(making, kind.__name__)  # type: ignore[misc]
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
    quick_until = 0.0
    # places of single numbers: all, until the first call has read the annotations
    first, last = (0, sys.maxsize) if numbers else _NOWHERE

    @functools.wraps(function)
    def guarded(*args: Any, **options: Any) -> Any:
        nonlocal quick_until, first, last
        if len(args) > first:
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
            if began < quick_until:
                return function(*args, **options)
            result = heard(function, *args, **options)
            ended = perf_counter()
            quick_until = ended + UNHEARD if ended - began < QUICK else 0.0
            if numbers:
                first, last = _single_numbers(function)
            return result
        except (LinkworkError, KeyboardInterrupt):
            quick_until = 0.0
            raise
        except Exception as error:
            quick_until = 0.0
            told = blamed(function, who, args, options, error)
            if told is None:
                raise
            raise told from error

    setattr(guarded, MARK, True)
    return guarded


def without_door(function: Method) -> Method:
    """A method that takes no arguments and no time, asked inside others many times: nothing could
    be said of its arguments."""
    setattr(function, MARK, True)
    return function


def direct_door(function: Callable[..., Any], who: str) -> Callable[..., Any]:
    """The same around what asks for its numbers itself and takes no time: nothing is looked at
    before, and nothing listened to."""

    @functools.wraps(function)
    def guarded(*args: Any, **options: Any) -> Any:
        try:
            return function(*args, **options)
        except LinkworkError:
            raise
        except Exception as error:
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
    return (places[0], places[-1] + 1) if places else _NOWHERE


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
