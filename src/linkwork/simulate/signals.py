"""Signals: numbers, functions of time, or one row a step, for references and external forces."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
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

    def array(self, size: int, who: str) -> np.ndarray:
        array = as_doubles(self.values, who)
        if array.ndim < 2 or array.shape[-1] != size:
            raise InvalidInput(f"{who} has shape {array.shape}, expected (..., steps, {size})")
        return array


class Signal:
    """A vector over time.

    parameters   numbers that may differ between the samples of a batch, by name
    sequences    rows a step, by name
    python       the function that could not be traced, or None
    """

    def __init__(self, given: Any, sizes: tuple[int, ...], name: str, who: str) -> None:
        self.name, self.who, self.sizes = name, who, sizes
        self.parameters: dict[str, np.ndarray] = {}
        self.sequences: dict[str, np.ndarray] = {}
        self._function: UserFunction | None = None
        if isinstance(given, PerStep):
            self.kind, self.size = "rows", self._one_of(np.shape(given.values)[-1:] or (0,))
            self.sequences = {name: given.array(self.size, who)}
        elif callable(given):
            self.kind = "function"
            self._function = UserFunction(given, [("t", ())], who)
            self.found = self._function.sizes()
            self.size = self._one_of((self.found[0],))
        else:
            array = as_doubles(given, who)
            self.kind, self.size = "numbers", self._one_of(array.shape[-1:] or (0,))
            if not np.isfinite(array).all():
                raise InvalidInput(f"{who} contains {array[~np.isfinite(array)][0]}, expected finite numbers")
            self.parameters = {name: array}

    def _one_of(self, size: tuple[int, ...]) -> int:
        if size[0] not in self.sizes:
            raise InvalidInput(f"{self.who} has {size[0]} elements, expected {' or '.join(map(str, self.sizes))}")
        return int(size[0])

    @property
    def python(self) -> UserFunction | None:
        """The function, if it must be called in Python."""
        return self._function if self._function is not None and self._function.function is None else None

    @property
    def text(self) -> str:
        """The structure of the signal, as a key; numbers are not part of it."""
        traced = self._function is not None and self._function.function is not None
        return f"{self.name} {self.kind} {self.size} {self._function.text if traced and self._function else ''}"

    def at(self, t: Any, p: Mapping[str, Any]) -> list[Any]:
        """The vector at time t, and its derivatives where the function gave or implies them."""
        if self._function is None:
            return [p[self.name]]
        return self._function(t)

    def with_rates(self, t: Any, p: Mapping[str, Any]) -> list[Any]:
        """[x, x', x'']: as given, or by differentiating a traced function of time; zero for numbers and rows."""
        found = self.at(t, p)
        if self._function is None:
            zero = 0.0 * found[0]
            return [found[0], zero, zero]
        if len(found) >= 3:
            return found[:3]
        if self._function.function is None:
            raise InvalidInput(
                f"{self.who} cannot be differentiated ({self._function.why_not}); let it give position, velocity and "
                "acceleration"
            )
        return self._derivatives()(t)

    def _derivatives(self) -> UserFunction:
        if not hasattr(self, "_rates"):
            f = self._function
            assert f is not None and f.function is not None
            traced, given = f.function, len(self.found)

            def rates(t: SX) -> tuple[SX, SX, SX]:
                results = traced.call([t])
                x = results[0]
                xd = results[1] if given > 1 else casadi.jacobian(x, t)
                return x, xd, casadi.jacobian(xd, t)

            s = SX.sym("t")
            whole = casadi.Function("rates", [s], [casadi.densify(x) for x in rates(s)])
            self._rates = UserFunction(lambda t: tuple(whole.call([t])), [("t", ())], self.who)
        return self._rates
