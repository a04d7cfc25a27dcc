"""Signals: numbers, functions of time, or one row a step, for references and external forces."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import casadi
import numpy as np
from casadi import SX

from linkwork.arguments import as_doubles
from linkwork.errors import InvalidInput
from linkwork.simulation.tracing import UserFunction


@dataclass(frozen=True, eq=False)
class PerStep:
    """One row a step, (steps, n) or (..., steps, n) for a batch, held during the step.
    For fixed steps only.

    velocity, acceleration   rows of the rates of a target, as a time law gives them:
                             PerStep(*law.at(t)); left out: 0
    """

    values: Any
    velocity: Any = None
    acceleration: Any = None


class Source:
    """What a user gave for a signal, read once: a function is traced when the controller or the run
    is made."""

    of_a_run: ClassVar[tuple[str, ...]] = ("who", "array", "rows")

    def __init__(self, source: Any, who: str) -> None:
        self.who, self.function, self.array, self.kind = who, None, np.zeros(0), "numbers"
        self.rows: dict[str, np.ndarray] = {}  # rates beside the rows
        if isinstance(source, PerStep):
            rows = _rows(source.values, who)
            self.kind, self.array, self.rows = "rows", rows, _rates(source, rows.shape[-2], who)
        elif hasattr(source, "at") and hasattr(source, "duration"):  # a motion gives q, v, a
            self.kind = "function"
            self.function = UserFunction(lambda t: tuple(source.at(t)), [("t", ())], who)
        elif callable(source):
            self.kind, self.function = "function", UserFunction(source, [("t", ())], who)
        else:
            self.array = as_doubles(source, who)
        if not np.isfinite(self.array).all():
            raise InvalidInput(
                f"{who} contains {self.array[~np.isfinite(self.array)][0]}, expected finite numbers"
            )

    @cached_property
    def found(self) -> list[int]:
        """Numbers of elements of what the signal gives: itself,
        and its derivatives where a function gives them."""
        return (
            self.function.sizes()
            if self.function is not None
            else [int(x) for x in self.array.shape[-1:] or (0,)]
        )

    @cached_property
    def rates(self) -> UserFunction:
        """A traced function of time with its first two derivatives."""
        assert self.function is not None and self.function.function is not None
        traced, t = self.function.function, SX.sym("t")
        results = traced.call([t])
        x = results[0]
        xd = results[1] if len(results) > 1 else casadi.jacobian(x, t)
        whole = casadi.Function(
            "rates", [t], [casadi.densify(e) for e in (x, xd, casadi.jacobian(xd, t))]
        )
        return UserFunction(lambda t: tuple(whole.call([t])), [("t", ())], self.who)


def _rows(values: Any, who: str) -> np.ndarray:
    rows = as_doubles(values, who)
    if rows.ndim < 2:
        raise InvalidInput(f"{who} has shape {rows.shape}, expected (..., steps, n)")
    if not np.isfinite(rows).all():
        raise InvalidInput(f"{who} contains {rows[~np.isfinite(rows)][0]}, expected finite numbers")
    return rows


def _rates(target: PerStep, steps: int, who: str) -> dict[str, np.ndarray]:
    """Rows of velocities and accelerations, as many as the rows they belong to."""
    if target.velocity is None and target.acceleration is not None:
        raise InvalidInput(f"{who}: acceleration is given without velocity, expected both")
    rates = {}
    for name in ("velocity", "acceleration"):
        if getattr(target, name) is not None:
            rows = _rows(getattr(target, name), f"{who}: {name}")
            if rows.shape[-2] != steps:
                raise InvalidInput(f"{who}: {name} has {rows.shape[-2]} rows, expected {steps}")
            rates[name] = rows
    return rates


class Signal:
    """A vector over time in one run, under a name of its own.

    parameters   numbers that may differ between the samples of a batch, by name
    sequences    rows a step, by name
    """

    of_a_run: ClassVar[tuple[str, ...]] = ("parameters", "sequences")

    def __init__(self, source: Source, sizes: tuple[int, ...], name: str) -> None:
        self.source, self.name, self.kind, self.size = source, name, source.kind, source.found[0]
        if self.size not in sizes:
            raise InvalidInput(
                f"{source.who} has {self.size} elements, expected {' or '.join(map(str, sizes))}"
            )
        self.parameters: dict[str, np.ndarray] = (
            {name: source.array} if self.kind == "numbers" else {}
        )
        self.sequences: dict[str, np.ndarray] = {name: source.array} if self.kind == "rows" else {}
        self.sequences |= {f"{name}_{rate}": rows for rate, rows in source.rows.items()}

    @property
    def python(self) -> UserFunction | None:
        """The function, if it must be called in Python."""
        function = self.source.function
        return function if function is not None and function.function is None else None

    def at(self, t: Any, p: Mapping[str, Any]) -> list[Any]:
        """The vector at time t, and its derivatives where the function gives them."""
        return [p[self.name]] if self.source.function is None else self.source.function(t)

    def with_rates(self, t: Any, p: Mapping[str, Any]) -> list[Any]:
        """[x, x', x'']: as given, or by differentiating a traced function of time;
        zero for numbers and bare rows."""
        function = self.source.function
        if function is None:
            x, rates = p[self.name], [p[f"{self.name}_{rate}"] for rate in self.source.rows]
            nothing = 0.0 * (rates[0] if rates else x)
            return [x, *rates, *[nothing] * (2 - len(rates))]
        if len(self.source.found) >= 3:
            return function(t)[:3]
        if function.function is None:
            raise InvalidInput(
                f"{self.source.who} cannot be differentiated ({function.why_not}); let it give "
                "position, velocity and "
                "acceleration"
            )
        return self.source.rates(t)
