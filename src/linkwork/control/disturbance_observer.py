"""Disturbance observer: what a law's model does not know, estimated from momentum inside the loop and taken off."""

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
from linkwork.simulation.controllers import Bound, Controller, absorb, as_controller
from linkwork.simulation.own_model import OwnModel, model_or_plant
from linkwork.simulation.plant import Plant
from linkwork.simulation.robot_plant import RobotPlant


class DisturbanceObserver(Controller):
    """tau = law - r,   r = gain (p - p0 - integral (tau + C' v - g + r) dt),   p = M v.

    r [N m, N] follows every joint force that the model does not know (payload, friction, contact) with the lag 1/gain
    and is taken off: what is left of a constant force fades. gain [1/s]: number or one a joint. share: part of r that
    is taken off, 1 all of it, 0 observes only. model: the robot that is believed; left out: the real one with payload.
    It keeps samples of the past, so it stands inside Sampled. Below about 1/(3 periods) the gain is safe.
    Source: [DeLuca2005] eq. 9, as a memory of the loop.
    """

    def __init__(self, controller: Any, gain: ArrayLike, model: Any = None, share: float = 1.0) -> None:
        self.controller, self.gain, self.model, self.share = as_controller(controller), gain, model, share

    def bound(self, plant: Plant, prefix: str = "control") -> Bound:
        return _BoundObserver(self, plant, prefix)


@dataclass(frozen=True)
class _Momentum:
    """[M v, C' v - g], over symbols."""

    def __call__(self, plant: Plant, q: SX, v: SX) -> SX:
        assert isinstance(plant, RobotPlant)
        return casadi.vertcat(plant.mass_matrix(q, SX(0)) @ v, plant.coriolis(q, v).T @ v - plant.gravity(q, SX(0)))


class _BoundObserver(Bound):
    def __init__(self, given: DisturbanceObserver, plant: Plant, prefix: str) -> None:
        super().__init__()
        if not isinstance(plant, RobotPlant) or has_constraints(plant.subject):
            raise NotPossible(f"DisturbanceObserver: {plant.who} has no momentum of free joints")
        self.inner, self.prefix, n = given.controller.bound(plant, prefix), prefix, plant.nv
        absorb(self, [self.inner])
        self._number(f"{prefix}_observer", given.gain, n, "DisturbanceObserver: gain")
        self._number(f"{prefix}_share", given.share, n, "DisturbanceObserver: share")
        self.model = None if given.model is None else OwnModel(given.model, plant, "DisturbanceObserver")
        # kept after the inner law's: whether it has begun, p0, the integral
        self.memory, self.states, self.past = self.inner.kept + 1 + 2 * n, 0, True

    @property
    def inside(self) -> list[Bound]:
        return [self.inner]

    def sample(
        self, plant: Plant, t: Any, q: Any, v: Any, m: Any, p: Mapping[str, Any], period: Any
    ) -> tuple[Any, Any]:
        n, at = plant.nv, self.inner.kept
        found = model_or_plant(self.model, plant).compute(_Momentum(), q, v)
        momentum, drift = found[:n], found[n:]
        begins = m[at] < 0.5
        first = where(begins, momentum, part(m, at + 1, at + 1 + n))
        so_far = part(m, at + 1 + n, at + 1 + 2 * n)
        r = p[f"{self.prefix}_observer"] * (momentum - first - so_far)
        wanted, after = self.inner.sample(plant, t, q, v, part(m, 0, at), p, period)
        tau = wanted - p[f"{self.prefix}_share"] * r
        return tau, joined([after, 1.0, first, so_far + period * (tau + drift + r)])
