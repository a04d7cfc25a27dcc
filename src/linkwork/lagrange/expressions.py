"""Expressions: what a user writes (functions, CasADi expressions, numbers) as checked CasADi
expressions."""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import casadi
import numpy as np
from casadi import SX

from linkwork.engine import forks
from linkwork.errors import InvalidInput, UnknownName, did_you_mean, listed

_BREAKS = {
    casadi.OP_FABS: "abs",
    casadi.OP_SIGN: "sign",
    casadi.OP_COPYSIGN: "copysign",
    casadi.OP_FLOOR: "floor",
    casadi.OP_CEIL: "ceil",
    casadi.OP_FMOD: "fmod",
    casadi.OP_REMAINDER: "remainder",
    casadi.OP_FMIN: "min",
    casadi.OP_FMAX: "max",
    casadi.OP_IF_ELSE_ZERO: "if_else",
    casadi.OP_LT: "<",
    casadi.OP_LE: "<=",
    casadi.OP_EQ: "==",
    casadi.OP_NE: "!=",
}
"""Operations whose first or second derivative jumps."""


@dataclass
class Symbols:
    """One symbol a name, shared by every system made from another by an edit,
    so that traced columns stay valid.

    q, v, a     coordinate -> its symbol, that of its velocity, that of its acceleration
    variables   name -> symbol of a number that may change; t: time
    """

    q: dict[str, SX] = field(default_factory=dict)
    v: dict[str, SX] = field(default_factory=dict)
    a: dict[str, SX] = field(default_factory=dict)
    variables: dict[str, SX] = field(default_factory=dict)
    t: SX = field(default_factory=lambda: SX.sym("t"))

    def declare(self, name: str, symbol: SX | None = None) -> None:
        """A coordinate; a symbol of the user's own stands for it where one is given."""
        if name not in self.q:
            self.q[name] = SX.sym(name) if symbol is None else symbol
            self.v[name], self.a[name] = SX.sym(f"{name}'"), SX.sym(f"{name}''")

    def variable(self, name: str) -> None:
        self.variables.setdefault(name, SX.sym(name))


class Names:
    """The symbols a user's function gets: q.theta, q["theta"], q[0],
    or unpacked in the order of the coordinates."""

    def __init__(self, ordered: Mapping[str, SX], others: Mapping[str, SX], who: str) -> None:
        self._ordered, self._all, self._who = dict(ordered), {**ordered, **others}, who

    def __getattr__(self, name: str) -> SX:
        if name.startswith("__"):
            raise AttributeError(name)
        return self[name]

    def __getitem__(self, key: str | int) -> SX:
        if isinstance(key, str):
            if key not in self._all:
                raise undeclared(self._who, key, self._all)
            return self._all[key]
        symbols = list(self._ordered.values())
        if not -len(symbols) <= key < len(symbols):
            # IndexError ends Python's own iteration, and says the same to a person
            raise IndexError(f"{self._who} uses coordinate {key} of {len(symbols)}")
        return symbols[key]

    def __iter__(self) -> Iterator[SX]:
        return iter(self._ordered.values())

    def __len__(self) -> int:
        return len(self._ordered)


@dataclass(frozen=True)
class Scope:
    """What expressions of one system may mention."""

    symbols: Symbols
    coordinates: tuple[str, ...]
    variables: tuple[str, ...]

    @property
    def q(self) -> SX:
        return stacked(self.symbols.q[name] for name in self.coordinates)

    @property
    def v(self) -> SX:
        return stacked(self.symbols.v[name] for name in self.coordinates)

    @property
    def a(self) -> SX:
        return stacked(self.symbols.a[name] for name in self.coordinates)

    def names(self, which: Mapping[str, SX], who: str) -> Names:
        """The namespace a user's function gets: one of symbols.q and symbols.v,
        with the variables beside it."""
        others = {name: self.symbols.variables[name] for name in self.variables}
        return Names({name: which[name] for name in self.coordinates}, others, who)

    def position(self, given: Any, who: str, piecewise: bool = False) -> SX:
        """A point: one to three numbers, expressions of the coordinates,
        or a function (q) or (q, t); padded to 3."""
        x = self.smooth(given, who, piecewise)
        if x.shape[1] != 1 or not 1 <= x.shape[0] <= 3:
            raise InvalidInput(
                f"{who} has shape {x.shape}, expected one, two or three numbers (x, y, z)"
            )
        return casadi.vertcat(x, SX(3 - x.shape[0], 1))

    def smooth(self, given: Any, who: str, piecewise: bool = False) -> SX:
        """An expression of the coordinates, variables and time that has two derivatives everywhere
        it is defined."""
        x = self.evaluated(given, who, [self.names(self.symbols.q, who), self.symbols.t])
        self.check(x, who, velocities=False)
        if not piecewise:
            breaks = sorted(set(operations(x)) & set(_BREAKS))
            if breaks:
                raise InvalidInput(
                    f"{who} is not smooth: it uses {listed(_BREAKS[k] for k in breaks)}, and a "
                    "position needs two "
                    "derivatives; write it without, or say piecewise=True if the pieces join "
                    "smoothly"
                )
        return x

    def scalar(self, given: Any, who: str, velocities: bool = False) -> SX:
        """A scalar of q and t, or of q, v and t; a function gets as many of these as it has
        parameters."""
        arguments: list[Any] = [self.names(self.symbols.q, who)]
        arguments += [self.names(self.symbols.v, who)] if velocities else []
        x = self.evaluated(given, who, [*arguments, self.symbols.t])
        if x.shape != (1, 1):
            raise InvalidInput(f"{who} has shape {x.shape}, expected a scalar")
        self.check(x, who, velocities)
        return x

    def number(self, given: Any, who: str, positive: bool = False) -> SX:
        """A number or an expression of the variables alone; negative numbers are refused."""
        x = self.evaluated(given, who, [self._variables(who)])
        if x.shape != (1, 1):
            raise InvalidInput(f"{who} has shape {x.shape}, expected one number")
        self.check(x, who, velocities=False)
        moving = [name for name in self.coordinates if casadi.depends_on(x, self.symbols.q[name])]
        if moving or casadi.depends_on(x, self.symbols.t):
            raise InvalidInput(
                f"{who} depends on {listed(moving or ['t'])}, expected a number or variables only"
            )
        if x.is_constant() and (float(x) < 0.0 or (positive and float(x) == 0.0)):
            raise InvalidInput(
                f"{who} is {float(x):g}, expected "
                f"{'a positive' if positive else 'no negative'} number"
            )
        return x

    def _variables(self, who: str) -> Names:
        return Names({}, {name: self.symbols.variables[name] for name in self.variables}, who)

    def evaluated(self, given: Any, who: str, arguments: Sequence[Any]) -> SX:
        """A user's value as SX: a function is called with as many of the arguments as it has
        parameters."""
        if callable(given) and not isinstance(given, (SX, casadi.DM)):
            given = called(given, arguments, who)
        return as_expression(given, who)

    def check(self, x: SX, who: str, velocities: bool) -> None:
        """Only declared symbols, only finite constants."""
        s = self.symbols
        known = (
            [s.q[name] for name in self.coordinates]
            + [s.variables[name] for name in self.variables]
            + [s.t]
        )
        if velocities:
            known += [s.v[name] for name in self.coordinates]
        hashes = {symbol.element_hash() for symbol in known}
        for symbol in casadi.symvar(x):
            if symbol.element_hash() not in hashes:
                if not velocities and symbol.element_hash() in {
                    u.element_hash() for u in s.v.values()
                }:
                    raise InvalidInput(
                        f"{who} uses the velocity {symbol.name()}, expected coordinates and "
                        "time only"
                    )
                raise undeclared(who, symbol.name(), (*self.coordinates, *self.variables))
        if not np.isfinite(constants(x)).all():
            raise InvalidInput(
                f"{who} contains a number that is not finite; functions of Python's math module "
                "cannot follow symbols: "
                "take sin, cos, sqrt from casadi or numpy"
            )


_patching = forks.renewed_in_module(__name__, "_patching")


@contextmanager
def symbols_without_values() -> Iterator[None]:
    """While this lasts, float() of a symbol is an error.

    CasADi answers NaN, so that a function with Python's math module, or one that compares float(q)
    with something, would be traced to a constant without complaint.
    """

    def refuse(x: SX) -> float:
        if not x.is_constant():
            raise TypeError(
                "a symbol has no value: float(), int() and functions of Python's math module "
                "need numbers"
            )
        return float(original(x))

    with _patching:
        original, whole = SX.__float__, SX.__int__
        SX.__float__ = refuse  # type: ignore[method-assign]
        SX.__int__ = lambda x: int(refuse(x))  # type: ignore[method-assign]
        try:
            yield
        finally:
            SX.__float__, SX.__int__ = original, whole  # type: ignore[method-assign]


def undeclared(who: str, name: str, known: Sequence[str] | Mapping[str, Any]) -> UnknownName:
    return UnknownName(
        f'{who} uses "{name}", which is not among the declared names '
        f"({listed(known)}){did_you_mean(name, known)}"
    )


def called(function: Callable[..., Any], arguments: Sequence[Any], who: str) -> Any:
    """A user's function of symbols, called with as many of the arguments as it has parameters."""
    parameters = [
        p
        for p in inspect.signature(function).parameters.values()
        if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD) and p.default is p.empty
    ]
    if not 1 <= len(parameters) <= len(arguments):
        raise InvalidInput(
            f"{who} is a function of {len(parameters)} arguments, expected 1 to {len(arguments)}"
        )
    try:
        with symbols_without_values(), warnings.catch_warnings():
            # casadi 3.8 announces another numpy mode
            warnings.simplefilter("ignore", FutureWarning)
            return function(*arguments[: len(parameters)])
    except IndexError as error:
        raise UnknownName(str(error) if str(error).startswith(who) else f"{who}: {error}") from None
    except (RuntimeError, NotImplementedError, TypeError) as error:
        text = str(error)
        if "a symbol has no value" in text:
            raise InvalidInput(f"{who}: {text}; take sin, cos, sqrt from casadi or numpy") from None
        if "truth value" in text:
            raise InvalidInput(
                f"{who} decides by a coordinate's value (if, min, max, while): such a function is "
                "not smooth and "
                "cannot be differentiated; write one expression"
            ) from None
        raise InvalidInput(
            f"{who} cannot be evaluated with symbols: {text.splitlines()[0]}"
        ) from None


def as_expression(given: Any, who: str) -> SX:
    """A number, an expression, or nested sequences of them as SX."""
    try:
        if isinstance(given, SX):
            return given
        if isinstance(given, (tuple, list, np.ndarray)):
            rows = [as_expression(row, who) for row in given]
            if all(row.shape == (1, 1) for row in rows):
                return casadi.vertcat(*rows) if rows else SX(0, 1)
            if all(row.shape[1] == 1 for row in rows) and len({row.shape for row in rows}) == 1:
                return casadi.vertcat(*[row.T for row in rows])
            raise InvalidInput(
                f"{who} has rows of shapes {listed(str(row.shape) for row in rows)}, expected "
                "equal rows"
            )
        return SX(given)
    except (NotImplementedError, RuntimeError, TypeError):
        raise InvalidInput(
            f"{who} is {given!r}, expected numbers or CasADi SX expressions"
        ) from None


def stacked(parts: Any) -> SX:
    """A column of scalars."""
    parts = list(parts)
    return casadi.vertcat(*parts) if parts else SX(0, 1)


def operations(x: SX) -> list[int]:
    """CasADi's operation codes in an expression."""
    f = casadi.Function("f", casadi.symvar(x), [x])
    return [f.instruction_id(k) for k in range(f.n_instructions())]


def constants(x: SX) -> list[float]:
    """The numbers in an expression."""
    f = casadi.Function("f", casadi.symvar(x), [x])
    return [
        f.instruction_constant(k)
        for k in range(f.n_instructions())
        if f.instruction_id(k) == casadi.OP_CONST
    ]
