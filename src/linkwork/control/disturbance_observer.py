"""Disturbance observer: what a law's model does not know,
estimated from momentum inside the loop and taken off."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import casadi
from casadi import SX
from numpy.typing import ArrayLike

from linkwork.errors import NotPossible
from linkwork.loops.dynamics import has_constraints
from linkwork.simulation.algebra import joined, part, where
from linkwork.simulation.bound import Bound, absorb
from linkwork.simulation.controllers import Controller, as_controller
from linkwork.simulation.own_model import OwnModel, model_or_plant
from linkwork.simulation.plant import Plant
from linkwork.simulation.robot_plant import RobotPlant


class DisturbanceObserver(Controller):
    """tau = law - r,   r = gain (p - p0 - integral (tau + C' v - g + r) dt),   p = M v.

    r [N m, N] follows every joint force that the model does not know (payload, friction, contact)
    with the lag 1/gain and is taken off: what is left of a constant force fades. gain [1/s]: number
    or one a joint. share: part of r that is taken off, 1 all of it, 0 observes only. model: the
    robot that is believed; left out: the real one with payload. It keeps samples of the past, so it
    stands inside Sampled. Below about 1/(3 periods) the gain is safe.
    Source: [DeLuca2005] eq. 9, as a memory of the loop.
    """

    def __init__(
        self, controller: Any, gain: ArrayLike, model: Any = None, share: float = 1.0
    ) -> None:
        self.controller = as_controller(controller)
        self.gain = gain
        self.model = model
        self.share = share

    def bound(self, plant: Plant, prefix: str = "control") -> Bound:
        return _BoundObserver(self, plant, prefix)


@dataclass(frozen=True)
class _Momentum:
    """[M v, C' v - g], over symbols."""

    def __call__(self, plant: Plant, q: SX, v: SX) -> SX:
        assert isinstance(plant, RobotPlant)
        return casadi.vertcat(
            plant.mass_matrix(q, SX(0)) @ v, plant.coriolis(q, v).T @ v - plant.gravity(q, SX(0))
        )


def check_momentum(plant: Plant, who: str) -> None:
    """Refuse a plant whose joints are not free: it has no momentum of theirs."""
    if not isinstance(plant, RobotPlant) or has_constraints(plant.subject):
        raise NotPossible(f"{who}: {plant.who} has no momentum of free joints")


@dataclass(frozen=True)
class Residual:
    """The momentum observer at one sample: r (nv), and what the integral is to go on with.

    memory of it: whether it has begun, p0 (nv), the integral (nv)
    """

    r: Any
    first: Any
    so_far: Any
    drift: Any

    @staticmethod
    def of(model: Plant, q: Any, v: Any, memory: Any, gain: Any) -> Residual:
        n = model.nv
        both = model.compute(_Momentum(), q, v)
        momentum, drift = both[:n], both[n:]
        first = where(memory[0] < 0.5, momentum, part(memory, 1, 1 + n))
        so_far = part(memory, 1 + n, 1 + 2 * n)
        return Residual(gain * (momentum - first - so_far), first, so_far, drift)

    def after(self, tau: Any, period: Any) -> Any:
        """Its memory once the force tau acts."""
        return joined([1.0, self.first, self.so_far + period * (tau + self.drift + self.r)])


class _BoundObserver(Bound):
    def __init__(self, law: DisturbanceObserver, plant: Plant, prefix: str) -> None:
        super().__init__()
        check_momentum(plant, "DisturbanceObserver")
        self.inner, self.prefix, n = law.controller.bound(plant, prefix), prefix, plant.nv
        absorb(self, [self.inner])
        self._number(f"{prefix}_observer", law.gain, n, "DisturbanceObserver: gain")
        self._number(f"{prefix}_share", law.share, n, "DisturbanceObserver: share")
        self.model = (
            None if law.model is None else OwnModel(law.model, plant, "DisturbanceObserver")
        )
        # kept after the inner law's: whether it has begun, p0, the integral
        self.memory, self.states, self.past = self.inner.kept + 1 + 2 * n, 0, True

    @property
    def inside(self) -> list[Bound]:
        return [self.inner]

    def sample(
        self, plant: Plant, t: Any, q: Any, v: Any, m: Any, p: Mapping[str, Any], period: Any
    ) -> tuple[Any, Any]:
        at, model = self.inner.kept, model_or_plant(self.model, plant)
        residual = Residual.of(model, q, v, part(m, at, self.memory), p[f"{self.prefix}_observer"])
        wanted, after = self.inner.sample(plant, t, q, v, part(m, 0, at), p, period)
        tau = wanted - p[f"{self.prefix}_share"] * residual.r
        return tau, joined([after, residual.after(tau, period)])
