"""Limits of what a sampled law commands: how fast its force may change,
and dead time of whole samples."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from numpy.typing import ArrayLike

from linkwork.errors import InvalidInput
from linkwork.simulation.algebra import clipped, joined, part
from linkwork.simulation.bound import Bound, absorb
from linkwork.simulation.controllers import Controller, as_controller
from linkwork.simulation.plant import Plant

LONGEST_DEAD_TIME = 1000
"""Samples that a force may be late; the loop carries them all."""


class RateLimited(Controller):
    """Another law whose force changes by at most `rate` [N m/s, N/s] a second:
    one number or one a coordinate.

    The force starts from zero. It needs the force of the sample before, so it stands inside
    Sampled.
    """

    def __init__(self, controller: Any, rate: ArrayLike) -> None:
        self.controller, self.rate = as_controller(controller), rate

    def bound(self, plant: Plant, prefix: str = "control") -> Bound:
        return _BoundRateLimited(self, plant, prefix)


class DeadTime(Controller):
    """Another law whose force acts `samples` samples late, nothing before that;
    it stands inside Sampled.

    The law still sees the present state: a bus or a drive is slow, not the sensor
    (Encoder has a delay for that).
    """

    def __init__(self, controller: Any, samples: int = 1) -> None:
        self.controller = as_controller(controller)
        if (
            isinstance(samples, bool)
            or int(samples) != samples
            or not 1 <= samples <= LONGEST_DEAD_TIME
        ):
            raise InvalidInput(
                f"DeadTime: samples is {samples!r}, expected a whole number from 1 to "
                f"{LONGEST_DEAD_TIME}"
            )
        self.samples = int(samples)

    def bound(self, plant: Plant, prefix: str = "control") -> Bound:
        return _BoundDeadTime(self, plant, prefix)


class _BoundAfter(Bound):
    """A law behind another whose memory comes first, its own `extra` numbers after it."""

    def __init__(self, inner: Bound, extra: int) -> None:
        super().__init__()
        self.inner = inner
        absorb(self, [inner])
        self.memory, self.states, self.past = inner.kept + extra, 0, True

    @property
    def inside(self) -> list[Bound]:
        return [self.inner]


class _BoundRateLimited(_BoundAfter):
    def __init__(self, law: RateLimited, plant: Plant, prefix: str) -> None:
        super().__init__(law.controller.bound(plant, prefix), plant.nv)
        self.name = f"{prefix}_slew"
        self._number(self.name, law.rate, plant.nv, "RateLimited: rate")

    def sample(
        self, plant: Plant, t: Any, q: Any, v: Any, m: Any, p: Mapping[str, Any], period: Any
    ) -> tuple[Any, Any]:
        at = self.inner.kept
        wanted, after = self.inner.sample(plant, t, q, v, part(m, 0, at), p, period)
        last = part(m, at, at + plant.nv)
        tau = last + clipped(wanted - last, period * p[self.name])
        return tau, joined([after, tau])


class _BoundDeadTime(_BoundAfter):
    def __init__(self, law: DeadTime, plant: Plant, prefix: str) -> None:
        super().__init__(law.controller.bound(plant, prefix), plant.nv * law.samples)
        self.samples = law.samples

    def sample(
        self, plant: Plant, t: Any, q: Any, v: Any, m: Any, p: Mapping[str, Any], period: Any
    ) -> tuple[Any, Any]:
        at, n = self.inner.kept, plant.nv
        tau, after = self.inner.sample(plant, t, q, v, part(m, 0, at), p, period)
        last = at + n * self.samples
        return part(m, last - n, last), joined([after, tau, part(m, at, last - n)])
