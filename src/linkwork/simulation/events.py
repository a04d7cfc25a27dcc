"""Events: functions of the state that are watched for their zeros."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from linkwork.errors import InvalidInput
from linkwork.formats.tabular import Tabular
from linkwork.results import short_repr
from linkwork.simulation.plant import Plant
from linkwork.simulation.tracing import UserFunction


@dataclass(frozen=True)
class Event:
    """function(t, q, v) crossing zero; upwards (direction 1), downwards (-1) or either way (0).

    A terminal event ends the run (of its sample in a batch) at the crossing.
    """

    name: str
    function: Callable[[Any, Any, Any], Any]
    terminal: bool = False
    direction: int = 0
    # its trace is among the functions of `Events`
    of_a_run: ClassVar[tuple[str, ...]] = (
        "name",
        "function",
    )


@short_repr
@dataclass(frozen=True)
class Crossing(Tabular, rows="time"):
    """An event that happened: when, and in which state; `sample` is the place in the batch."""

    name: str
    time: float
    q: np.ndarray
    v: np.ndarray
    sample: tuple[int, ...] = ()


class Events:
    """All events of a run, as one vector of functions."""

    def __init__(self, events: tuple[Event, ...], plant: Plant) -> None:
        self.watched = events
        names = [event.name for event in events]
        for event in events:
            if names.count(event.name) > 1:
                raise InvalidInput(f'simulate: two events have the name "{event.name}"')
            if not callable(event.function):
                raise InvalidInput(
                    f'Event "{event.name}": function is {event.function!r}, expected a function '
                    "(t, q, v)"
                )
            if event.direction not in (-1, 0, 1):
                raise InvalidInput(
                    f'Event "{event.name}": direction is {event.direction!r}, expected -1, 0 or 1'
                )
        arguments: list[tuple[str, Any]] = [("t", ()), ("q", plant.nq), ("v", plant.nv)]
        self.functions = [
            UserFunction(event.function, arguments, f'event "{event.name}"') for event in events
        ]
        untraced = [f for f in self.functions if f.function is None]
        told = [f"{f.who} cannot be traced: {f.why_not}" for f in untraced]
        self.python = told[0] if told else ""

    def values(self, t: Any, q: Any, v: Any) -> list[Any]:
        return [f(t, q, v)[0][0] for f in self.functions]

    def crossed(self, k: int, before: Any, after: Any) -> Any:
        """True (or 1) where event k happened between two values."""
        rising, falling = (before < 0) * (after >= 0), (before > 0) * (after <= 0)
        direction = self.watched[k].direction
        return rising if direction > 0 else falling if direction < 0 else rising + falling

    def located(
        self, k: int, t0: float, t1: float, state: Callable[[float], tuple[np.ndarray, np.ndarray]]
    ) -> tuple[float, np.ndarray, np.ndarray]:
        """Where event k is zero between two times, for a state that can be interpolated:
        bisection to rounding."""

        def value(t: float) -> float:
            return float(self.functions[k](np.asarray(t), *state(t))[0][0])

        low, high, g = t0, t1, value(t0)
        for _ in range(60):
            middle = (low + high) / 2
            if middle in (low, high):
                break
            now = value(middle)
            if (now > 0) == (g > 0) and now != 0:
                low = middle
            else:
                high = middle
        q, v = state(high)
        return high, q, v
