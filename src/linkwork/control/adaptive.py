"""Adaptive control: the law of Slotine and Li,
which learns the inertial parameters while it tracks."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import casadi
from casadi import SX
from numpy.typing import ArrayLike

from linkwork.errors import NotPossible
from linkwork.loops.dynamics import has_constraints
from linkwork.simulation.bound import Bound
from linkwork.simulation.controllers import Controller, reference, tracked
from linkwork.simulation.own_model import OwnModel, model_or_plant
from linkwork.simulation.plant import Plant
from linkwork.simulation.robot_plant import RobotPlant
from linkwork.simulation.signals import Source


class Adaptive(Controller):
    """tau = M a_r + C v_r + g of the model + Y dtheta + damping s,  dtheta' = rate Y' s,
    s = v_r - v.

    slope [1/s]   v_r = target' + slope (target - q), a_r its rate
    damping       [N m s/rad, N s/m];  rate: how fast parameters follow, a number or one for each of
                  the 10 nb of robot.parameters() (mass, first moment, inertia of every body); 0
                  leaves one as the model has it
    model         what the law believes at the start; left out: the robot with its payload
                  (then there is nothing to learn). dtheta is the law's own state: what must be
                  added to the model's parameters.

    The error fades for any true parameters (Lyapunov); dtheta need not become the true difference.
    Units are SI; gravity and the payload are among what is learned: do not add GravityCompensation.
    Source: [Slotine1987] eq. 6-13; Y by the polarisation C(q, v) v_r = (c(v + v_r) - c(v - v_r)) /
    4.
    """

    def __init__(
        self, slope: ArrayLike, damping: ArrayLike, rate: ArrayLike, target: Any, model: Any = None
    ) -> None:
        self.slope, self.damping, self.rate = slope, damping, rate
        self.target, self.model = Source(target, "Adaptive: target"), model

    def bound(self, plant: Plant, prefix: str = "control") -> Bound:
        return _BoundAdaptive(self, plant, prefix)


@dataclass(frozen=True)
class _Regressed:
    """[M a_r + C v_r + g + Y dtheta, Y' s], over symbols."""

    def __call__(self, plant: Plant, q: SX, v: SX, v_r: SX, a_r: SX, theta: SX, s: SX) -> SX:
        assert isinstance(plant, RobotPlant)
        still = SX.zeros(plant.nv)
        Y = plant.regressor(q, still, a_r)
        Y = Y + 0.25 * (plant.regressor(q, v + v_r, still) - plant.regressor(q, v - v_r, still))
        return casadi.vertcat(plant.passive_inverse(q, v, v_r, a_r) + Y @ theta, Y.T @ s)


class _BoundAdaptive(Bound):
    def __init__(self, law: Adaptive, plant: Plant, prefix: str) -> None:
        super().__init__()
        if not isinstance(plant, RobotPlant) or has_constraints(plant.subject):
            raise NotPossible(
                f"Adaptive: {plant.who} has no regressor: it needs a robot whose joints are free"
            )
        self.prefix = prefix
        for name in ("slope", "damping"):
            self._number(f"{prefix}_{name}", getattr(law, name), plant.nv, f"Adaptive: {name}")
        self.states = 10 * len(plant.subject.model.bodies)
        self._number(f"{prefix}_rate", law.rate, self.states, "Adaptive: rate")
        self.target = tracked(self, law.target, plant, f"{prefix}_target", "Adaptive")
        self.model = None if law.model is None else OwnModel(law.model, plant, "Adaptive")

    def law(
        self, plant: Plant, t: Any, q: Any, v: Any, s: Any, p: Mapping[str, Any]
    ) -> tuple[Any, Any]:
        x, xd, xdd = reference(self.target, plant, t, v, p)
        slope = p[f"{self.prefix}_slope"]
        v_r, a_r = xd + slope * plant.difference(q, x), xdd + slope * (xd - v)
        error = v_r - v
        regressed = model_or_plant(self.model, plant).compute(
            _Regressed(), q, v, v_r, a_r, s, error
        )
        tau = regressed[: plant.nv] + p[f"{self.prefix}_damping"] * error
        return tau, p[f"{self.prefix}_rate"] * regressed[plant.nv :]
