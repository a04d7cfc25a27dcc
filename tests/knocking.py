"""Knocking: every public callable of every room, found by introspection,
and fifty kinds of hostile arguments."""

from __future__ import annotations

import collections
import contextlib
import datetime
import decimal
import fractions
import importlib
import inspect
import io
import logging
import math
import pathlib
import pkgutil
import random
import signal
import threading
import time
import types
import warnings
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import casadi
import numpy as np

import linkwork as lw
from linkwork.doors import DIRECT
from linkwork.errors import LinkworkError
from tests.knocking_arguments import by_name
from tests.knocking_objects import examples

ASIDE = frozenset({"engine", "recursions", "spatial", "cli", "reproduce", "quantities", "robots"})
"""Rooms below the public surface (symbols go in there), the shell, and papers,
which have their own tests."""
UNSAFE = frozenset(
    {
        *(
            "lw.save",
            "lw.threads",
            "lw.Robot.export_c",
            "lw.Robot.view",
            "lw.Robot.save",
            "lw.Robot.show",
        ),
        *(
            "lw.view.Viewer",
            "lw.view.show",
            "lw.view.Inline",
            "lw.view.write_figures",
            "lw.view.write_report",
        ),
    }
)
"""What writes files, opens a server or changes the process; their doors are tested beside them."""
BASES = frozenset({"lw.control.ReachingLaw", "lw.trajectory.Motion"})
"""Classes that are made by their children alone."""
SPOKEN = ("__call__",)
"""Methods that people call without their names; brackets speak as those of Python and numpy do."""
SECONDS = 4.0
"""Of processor time for one call."""


class Raises:
    """A tensor on another device, one that requires gradients, ...:
    its conversion raises what nobody knows."""

    def __array__(self, *_: Any, **__: Any) -> np.ndarray:
        raise RuntimeError("can't convert a tensor on another device\nuse .cpu() first")


class Shy:
    """Cannot be shown."""

    def __repr__(self) -> str:
        raise ZeroDivisionError

    __str__ = __repr__


class Endless:
    """Iterates for ever, but not in a test."""

    def __iter__(self) -> Iterator[int]:
        return iter(range(3))

    def __len__(self) -> int:
        return -1


def kinds() -> list[Any]:
    """Fifty kinds of argument that are never, or hardly ever, right."""
    nan, inf = float("nan"), float("inf")
    return [
        *(
            None,
            True,
            False,
            0,
            1,
            -1,
            10**400,
            -(10**30),
            0.5,
            -0.0,
            nan,
            inf,
            -inf,
            1e308,
            1e-320,
            3 + 4j,
        ),
        *(
            "",
            "x",
            "a" * 5000,
            "\x00",
            "../..",
            "naïve\u202e",
            b"bytes",
            bytearray(3),
            memoryview(b"abc"),
        ),
        *(
            (),
            [],
            {},
            set(),
            [[]],
            [1, [2, 3]],
            ["a", 1],
            {"a": nan},
            {1: 2},
            {"q": [nan]},
            range(3),
            slice(2),
        ),
        *(
            np.zeros(0),
            np.zeros((2, 3, 0)),
            np.full(6, nan),
            np.array([1, None]),
            np.array(["a"]),
            np.float32(nan),
        ),
        *(
            np.zeros((1,) * 40),
            np.zeros(3, dtype=[("x", float)]),
            np.zeros(2, dtype="V8"),
            np.zeros(3, dtype="M8[s]"),
        ),
        *(
            np.ma.masked_array([1.0, 2.0], [True, False]),
            np.zeros(3, dtype=complex),
            np.zeros((2, 2), dtype=bool),
        ),
        *(
            casadi.SX.sym("x"),
            casadi.MX.sym("x", 3),
            casadi.DM([1, 2]),
            Raises(),
            Shy(),
            Endless(),
            object(),
            int,
        ),
        *(
            lambda *a, **k: None,
            lambda: 1 / 0,
            print,
            np.sin,
            lw,
            io.StringIO("x"),
            pathlib.Path("/nowhere"),
        ),
        *(
            decimal.Decimal("NaN"),
            fractions.Fraction(1, 3),
            datetime.date(2020, 1, 1),
            collections.Counter("ab"),
        ),
        *(
            (x for x in (1, 2)),
            iter([1.0]),
            NotImplemented,
            Ellipsis,
            type("T", (), {})(),
            Exception("x"),
        ),
    ]


@dataclass(frozen=True)
class Door:
    """A public callable with the names of its parameters; `bound` where it is a method of a
    robot."""

    name: str
    call: Callable[..., Any]
    parameters: tuple[inspect.Parameter, ...]


def public(robot: lw.Robot) -> dict[str, Any]:
    """Name -> functions and classes of lw, of every room and of the modules that rooms show,
    and a robot's methods."""
    named: dict[str, Any] = {
        f"lw.{name}": getattr(lw, name) for name in lw.__all__ if not name.startswith("_")
    }
    for info in pkgutil.iter_modules(lw.__path__):
        if info.ispkg and info.name not in ASIDE:
            room = importlib.import_module(f"linkwork.{info.name}")
            for name in getattr(room, "__all__", ()):
                named.setdefault(f"lw.{info.name}.{name}", getattr(room, name))
    for name, module in list(named.items()):
        for inside in (
            getattr(module, "__all__", ()) if isinstance(module, types.ModuleType) else ()
        ):
            named[f"{name}.{inside}"] = getattr(module, inside)
    for name in dir(robot):
        if not name.startswith("_") and callable(getattr(robot, name)):
            named[f"lw.Robot.{name}"] = getattr(robot, name)
    return named


def methods_of(kind: type) -> Iterator[str]:
    """Names of the methods of a public class that people call, those of its class alone left
    out."""
    for name in dir(kind):
        static = inspect.getattr_static(kind, name)
        # index, count, ... as Python's own lists have
        if getattr(static, "__module__", "") == "collections.abc":
            continue
        if name in getattr(kind, "__dataclass_fields__", ()):  # a function that is kept
            continue
        if inspect.isfunction(static) and (not name.startswith("_") or name in SPOKEN):
            yield name


def doors(robot: lw.Robot, methods: bool = True) -> list[Door]:
    """Everything public that can be called, with the methods of an object of every public class."""
    named = public(robot)
    made = examples(robot) if methods else {}
    for name, kind in list(named.items()):
        if (
            not isinstance(kind, type)
            or kind is lw.Robot
            or name in UNSAFE
            or issubclass(kind, BaseException)
        ):
            continue
        for method in dir(kind):
            static = inspect.getattr_static(kind, method)
            if isinstance(static, (staticmethod, classmethod)) and not method.startswith("_"):
                named[f"{name}.{method}"] = getattr(kind, method)
        if kind in made and DIRECT not in vars(kind):
            named |= {
                f"{name}.{method}": getattr(made[kind], method) for method in methods_of(kind)
            }
    listed = []
    for name, call in sorted(named.items()):
        if name in UNSAFE or not callable(call) or getattr(call, "_is_protocol", False):
            continue
        if isinstance(call, type) and issubclass(call, BaseException):
            continue
        with contextlib.suppress(TypeError, ValueError):
            listed.append(Door(name, call, tuple(inspect.signature(call).parameters.values())))
    return listed


def draw(
    door: Door, good: dict[str, Any], generator: random.Random
) -> tuple[list[Any], dict[str, Any]]:
    """Arguments of one call: most right where that is known, one or more hostile."""
    hostile = kinds()
    args: list[Any] = []
    options: dict[str, Any] = {}
    wild = generator.random() < 0.3
    known = [p for p in door.parameters if p.kind not in (p.VAR_POSITIONAL, p.VAR_KEYWORD)]
    chosen = generator.choice(known).name if known else ""
    for p in known:
        needed = p.default is p.empty
        if p.name != chosen and not needed and not (wild and generator.random() < 0.3):
            continue
        bad = p.name == chosen or wild or p.name not in good
        value = generator.choice(hostile) if bad else good[p.name]
        if p.kind is p.KEYWORD_ONLY or options:
            options[p.name] = value
        elif needed or len(args) == [x.name for x in known].index(p.name):
            args.append(value)
        else:
            options[p.name] = value
    return args, options


FILLINGS: tuple[Any, ...] = (0.5, [0.5, 0.5, 0.5], 1, [0.1] * 6)
"""Arguments tried where a parameter's name says nothing."""


HUGE: dict[str, tuple[Any, ...]] = {"int": (10**12,), "float": (1e12, 1e-12)}
"""Numbers that a parameter of that annotation takes, and that may stand for work without end."""


Answered = tuple[list[inspect.Parameter], dict[str, Any]]
_answered: dict[str, Answered] = {}


def answered(door: Door, good: dict[str, Any]) -> Answered:
    """The parameters of a door and arguments with which it answers,
    both empty where none are known; asked once."""
    if door.name not in _answered:
        _answered[door.name] = _tried(door, good)
    return _answered[door.name]


def _tried(door: Door, good: dict[str, Any]) -> Answered:
    known = [p for p in door.parameters if p.kind in (p.POSITIONAL_OR_KEYWORD, p.KEYWORD_ONLY)]
    asked = by_name(door.name)
    needed = [p.name for p in known if p.default is p.empty or p.name in asked]
    if any(p.kind is p.VAR_KEYWORD for p in door.parameters):
        needed += [name for name in asked if name not in needed]
    for filling in FILLINGS:
        right = {name: good.get(name, filling) for name in needed}
        if _is_answered(door, right):
            return known, right
    return [], {}


def with_huge(door: Door, good: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Calls that would be answered, but for one number that asks for work without end."""
    known, right = answered(door, good)
    for p in known:
        values = [
            x for kind, some in HUGE.items() if kind in str(p.annotation).split(" | ") for x in some
        ]
        for value in values:
            yield f"{p.name}={value:g}", {**right, p.name: value}


def with_nan(door: Door, good: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Calls that would be answered, but for one number that is none: the parameter's name,
    and the arguments."""
    known, right = answered(door, good)
    for p in known:
        spoilt = _spoilt(right.get(p.name, p.default), str(p.annotation))
        if spoilt is not None:
            yield p.name, {**right, p.name: spoilt}


def _spoilt(value: Any, annotation: str) -> Any:
    """A number that is none in the place of one of an argument's; None where it has no numbers."""
    if isinstance(value, Mapping) and "str]" not in annotation:
        numbers = [
            name
            for name, x in value.items()
            if isinstance(x, (int, float)) and not isinstance(x, bool)
        ]
        return {**value, numbers[-1]: math.nan} if numbers else None
    if isinstance(value, (list, tuple, np.ndarray)) and np.size(value):
        if _kind(value) not in "fiu":
            return None
        spoilt = np.array(value, dtype=float)
        spoilt.flat[-1] = np.nan
        return spoilt
    is_number = isinstance(value, float) or "float" in annotation or "ArrayLike" in annotation
    return np.float64(math.nan) if is_number and "Mapping" not in annotation else None


def _kind(value: Any) -> str:
    """The kind of an array's numbers; of what is no array that of objects."""
    try:
        return np.asarray(value).dtype.kind
    except ValueError:
        return "O"


def with_no_flag(door: Door, good: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Calls that would be answered, but for a flag that is neither True nor False."""
    if not any(str(p.annotation) == "bool" for p in door.parameters):
        return
    known, right = answered(door, good)
    for p in known:
        if str(p.annotation) == "bool":
            yield p.name, {**right, p.name: "no"}


def _is_answered(door: Door, options: dict[str, Any]) -> bool:
    return knock(door, [], options, refused=False) == ""


class TooLong(BaseException):
    """A call that took more processor time than it may."""


class _Watch:
    """Ends a call of the main thread that takes too long, however it waits.

    A timer of the process may wake a worker instead, and the main thread, which waits for it, hears
    nothing; and CasADi swallows what is raised in it. So a thread looks at the clock, and speaks to
    the main thread until it is heard.
    """

    EVERY = 0.2  # seconds
    IDLE = 10  # looks without a call, after which the thread goes

    def __init__(self) -> None:
        self.end = math.inf
        self.thread: threading.Thread | None = None

    @contextlib.contextmanager
    def watched(self) -> Iterator[None]:
        # and stays: a signal that comes late would end the process
        signal.signal(signal.SIGPROF, self._late)
        if self.thread is None or not self.thread.is_alive():
            self.thread = threading.Thread(target=self._look, daemon=True)
            self.thread.start()
        self.end = time.process_time() + SECONDS
        try:
            yield
        finally:
            self.end = math.inf

    def _late(self, *_: Any) -> None:
        if self.end < math.inf:
            raise TooLong

    def _look(self) -> None:
        main, idle = threading.main_thread().ident, 0
        while idle < self.IDLE:
            time.sleep(self.EVERY)
            idle = idle + 1 if self.end == math.inf else 0
            if time.process_time() > self.end:
                signal.pthread_kill(main, signal.SIGPROF)


_watch = _Watch()


def knock(door: Door, args: list[Any], options: dict[str, Any], refused: bool = True) -> str:
    """ "" where a call is answered or, with `refused`, refused in our words; else what happened."""

    try:
        with _watch.watched(), warnings.catch_warnings(), contextlib.redirect_stdout(io.StringIO()):
            warnings.simplefilter("ignore")
            door.call(*args, **options)
    except LinkworkError as error:
        return "" if refused else str(error)
    except TooLong:
        return f"took more than {SECONDS:g} s"
    except TypeError as error:
        missing = ("missing", "unexpected keyword", "positional argument", "multiple values")
        if error.__traceback__ is not None and error.__traceback__.tb_next is None:
            return ""  # the call itself did not fit: Python's own sentence
        return "" if any(word in str(error) for word in missing) else f"TypeError: {error}"
    except Exception as error:
        if _is_the_callers(error):
            return ""
        return f"{type(error).__name__}: {str(error)[:200]}"
    return ""


def _is_the_callers(error: Exception) -> bool:
    """Whether `lambda: 1 / 0` of `kinds` raised it:
    a function of the caller's own goes out as it is."""
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    return (
        trace is not None
        and trace.tb_frame.f_code.co_filename == __file__
        and "lambda" in str(trace.tb_frame.f_code)
    )


def quiet() -> contextlib.AbstractContextManager[None]:
    @contextlib.contextmanager
    def silent() -> Iterator[None]:
        logging.disable(logging.CRITICAL)
        try:
            yield
        finally:
            logging.disable(logging.NOTSET)

    return silent()
