"""Sampled control: laws that run at instants of their own, each with its period, delay and
offset."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from linkwork.arguments import number
from linkwork.errors import InvalidInput
from linkwork.simulation.algebra import divides, joined, part, where
from linkwork.simulation.bound import Bound, absorb
from linkwork.simulation.controllers import Controller, Saturated, as_controller
from linkwork.simulation.plant import Plant


class Sampled(Controller):
    """A controller that runs at instants offset, offset + period, ...;
    its force is held between them.

    delay    time from measuring to acting [s];  offset: time of the first sample [s]
    limit    forces are held within +-limit (one number or one a coordinate)
    It stands alone or among others: a sum may hold several with different periods beside laws that
    run continuously. With a fixed step, period, delay and offset are whole numbers of steps, and
    new ones compile nothing. A Python function is called once a period, so that it may keep
    something between calls.
    """

    def __init__(
        self,
        controller: Any,
        period: float,
        delay: float = 0.0,
        offset: float = 0.0,
        limit: ArrayLike | None = None,
    ) -> None:
        self.controller = as_controller(
            controller if limit is None else Saturated(controller, limit)
        )
        self.period = _duration("period", period)
        self.delay = _duration("delay", delay, zero=True)
        self.offset = _duration("offset", offset, zero=True)

    def bound(self, plant: Plant, prefix: str = "control") -> Bound:
        return BoundSampled(self, plant, prefix)


def _duration(name: str, value: Any, zero: bool = False) -> float:
    time = number(value, f"Sampled: {name}")
    if time < 0 or (time == 0 and not zero):
        raise InvalidInput(
            f"Sampled: {name} is {value!r}, expected a {'time' if zero else 'positive time'} "
            "in seconds"
        )
    return time


class BoundSampled(Bound):
    """A sampled law in a run: the loop holds its force, its memory and what is under way.

    timing   (period, delay, offset) [s]: numbers of the run
    slots    how many computed forces are under way at once; delayed: whether any is
    """

    of_a_run: ClassVar[tuple[str, ...]] = ("parameters", "sequences", "timing")

    def __init__(self, law: Sampled, plant: Plant, prefix: str) -> None:
        super().__init__()
        self.name = f"{prefix}_sampled"
        self.inner = law.controller.bound(plant, prefix)
        absorb(self, [self.inner])
        self.nv, self.states, self.memory, self.past = plant.nv, 0, 0, False
        self.timing = (law.period, law.delay, law.offset)
        self.delayed, self.slots = law.delay > 0, 1
        self.sensor: Any = None  # BoundEncoder, where the run has sensors

    @property
    def inside(self) -> list[Bound]:
        return [self.inner]

    @property
    def sizes(self) -> dict[str, int]:
        """What the loop carries for it."""
        sizes = {"held": self.nv}
        if self.delayed:
            sizes["queue"] = self.nv * self.slots
        if self.inner.kept:
            sizes["memory"] = self.inner.kept
        if self.sensor is not None:
            sizes["sensed"] = self.sensor.memory
        return {f"{self.name}_{part}": size for part, size in sizes.items()}

    def in_steps(self, whole: Callable[[float, str], int]) -> np.ndarray:
        """(period, delay, offset) in steps; decides how many forces are under way."""
        names = ("period", "delay", "offset")
        counts = [whole(time, name) for time, name in zip(self.timing, names, strict=True)]
        self.slots = counts[1] // counts[0] + 1
        return np.array(counts, dtype=float)

    def law(
        self, plant: Plant, t: Any, q: Any, v: Any, s: Any, p: Mapping[str, Any]
    ) -> tuple[Any, Any]:
        return p[f"{self.name}_held"], s

    def due(self, p: Mapping[str, Any], k: Any) -> tuple[Any, Any]:
        """(does it measure, does a force begin to act) at step k."""
        timing = p[f"{self.name}_timing"]
        period, delay, index = timing[0], timing[1], k - timing[2]
        measures = divides(index, period) * (index >= 0)
        return measures, divides(index - delay, period) * (
            index >= delay
        ) if self.delayed else measures

    def update(
        self, plant: Plant, state: Mapping[str, Any], p: Mapping[str, Any], k: Any, t: Any, h: Any
    ) -> dict[str, Any]:
        """The parts of the state that change at an instant of this law."""
        n, name = plant.nv, self.name
        measures, acts = self.due(p, k)
        period = h * p[f"{name}_timing"][0]
        memory = state.get(f"{name}_memory", part(state["q"], 0, 0))
        q, v, kept = state["q"], state["v"], {}
        if self.sensor is not None:
            q, v, kept[f"{name}_sensed"] = self.sensor.read(
                plant, q, v, state[f"{name}_sensed"], p, period
            )
        u, after = self.inner.sample(plant, t, q, v, memory, p, period)
        if self.inner.kept:
            kept[f"{name}_memory"] = after
        if not self.delayed:
            return {f"{name}_held": u, **kept}
        # The force that acts is the one measured `delay` ago:
        # delay // period newer ones are under way.
        queue = state[f"{name}_queue"]
        newer = [queue[: n * (self.slots - 1)]] if self.slots > 1 else []
        queue = where(measures, joined([u, *newer]), queue)
        held = where(acts, queue[n * (self.slots - 1) :], state[f"{name}_held"])
        remembered = {part_: where(measures, x, state[part_]) for part_, x in kept.items()}
        return {f"{name}_held": held, f"{name}_queue": queue, **remembered}
