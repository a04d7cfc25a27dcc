"""Signals: numbers, functions of time, or one row a step, for references and external forces."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import casadi
import numpy as np
from casadi import SX

from linkwork.arguments import as_doubles
from linkwork.errors import InvalidInput
from linkwork.simulate.tracing import UserFunction


@dataclass(frozen=True, eq=False)
class PerStep:
    """One row a step, (steps, n) or (..., steps, n) for a batch, held during the step. For fixed steps only."""

    values: Any


class Source:
    """What a user gave for a signal, read once: a function is traced when the controller or the run is made."""

    def __init__(self, given: Any, who: str) -> None:
        self.who, self.function, self.array, self.kind = who, None, np.zeros(0), "numbers"
        if isinstance(given, PerStep):
            self.kind, self.array = "rows", as_doubles(given.values, who)
            if self.array.ndim < 2:
                raise InvalidInput(f"{who} has shape {self.array.shape}, expected (..., steps, n)")
        elif callable(given):
            self.kind, self.function = "function", UserFunction(given, [("t", ())], who)
        else:
            self.array = as_doubles(given, who)
        if not np.isfinite(self.array).all():
            raise InvalidInput(f"{who} contains {self.array[~np.isfinite(self.array)][0]}, expected finite numbers")

    @cached_property
    def found(self) -> list[int]:
        """Numbers of elements of what the signal gives: itself, and its derivatives where a function gives them."""
        return self.function.sizes() if self.function is not None else [int(x) for x in self.array.shape[-1:] or (0,)]

    @cached_property
    def rates(self) -> UserFunction:
        """A traced function of time with its first two derivatives."""
        assert self.function is not None and self.function.function is not None
        traced, t = self.function.function, SX.sym("t")
        results = traced.call([t])
        x = results[0]
        xd = results[1] if len(results) > 1 else casadi.jacobian(x, t)
        whole = casadi.Function("rates", [t], [casadi.densify(e) for e in (x, xd, casadi.jacobian(xd, t))])
        return UserFunction(lambda t: tuple(whole.call([t])), [("t", ())], self.who)


class Signal:
    """A vector over time in one run, under a name of its own.

    parameters   numbers that may differ between the samples of a batch, by name
    sequences    rows a step, by name
    """

    def __init__(self, source: Source, sizes: tuple[int, ...], name: str) -> None:
        self.source, self.name, self.kind, self.size = source, name, source.kind, source.found[0]
        if self.size not in sizes:
            raise InvalidInput(f"{source.who} has {self.size} elements, expected {' or '.join(map(str, sizes))}")
        self.parameters: dict[str, np.ndarray] = {name: source.array} if self.kind == "numbers" else {}
        self.sequences: dict[str, np.ndarray] = {name: source.array} if self.kind == "rows" else {}

    @property
    def python(self) -> UserFunction | None:
        """The function, if it must be called in Python."""
        function = self.source.function
        return function if function is not None and function.function is None else None

    @property
    def text(self) -> str:
        """The structure of the signal, as a key; numbers are not part of it."""
        function = self.source.function
        traced = function.text if function is not None and function.function is not None else ""
        return f"{self.name} {self.kind} {self.size} {traced}"

    def at(self, t: Any, p: Mapping[str, Any]) -> list[Any]:
        """The vector at time t, and its derivatives where the function gives them."""
        return [p[self.name]] if self.source.function is None else self.source.function(t)

    def with_rates(self, t: Any, p: Mapping[str, Any]) -> list[Any]:
        """[x, x', x'']: as given, or by differentiating a traced function of time; zero for numbers and rows."""
        function = self.source.function
        if function is None:
            x = p[self.name]
            return [x, 0.0 * x, 0.0 * x]
        if len(self.source.found) >= 3:
            return function(t)[:3]
        if function.function is None:
            raise InvalidInput(
                f"{self.source.who} cannot be differentiated ({function.why_not}); let it give position, velocity and "
                "acceleration"
            )
        return self.source.rates(t)
