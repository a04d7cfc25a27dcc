"""Tracking laws of joints that know the model: feed-forward,
PD+ and the passive law of Slotine and Li."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from casadi import SX
from numpy.typing import ArrayLike

from linkwork.simulation.bound import Bound
from linkwork.simulation.controllers import Controller, reference, tracked
from linkwork.simulation.own_model import OwnModel, model_or_plant
from linkwork.simulation.plant import Plant
from linkwork.simulation.signals import Source


class FeedForward(Controller):
    """tau = inverse dynamics of the target's own motion [N m, N];
    add a PD for what the model does not know.

    model: robot that the law believes in; left out: the real one with its payload. Gravity is part
    of it, at the target's configuration: do not add GravityCompensation.
    """

    def __init__(self, target: Any, model: Any = None) -> None:
        self.target, self.model = Source(target, "FeedForward: target"), model

    def bound(self, plant: Plant, prefix: str = "control") -> Bound:
        return _BoundFeedForward(self, plant, prefix)


class _BoundFeedForward(Bound):
    def __init__(self, law: FeedForward, plant: Plant, prefix: str) -> None:
        super().__init__()
        self.target = tracked(self, law.target, plant, f"{prefix}_target", "FeedForward")
        self.model = None if law.model is None else OwnModel(law.model, plant, "FeedForward")

    def law(
        self, plant: Plant, t: Any, q: Any, v: Any, s: Any, p: Mapping[str, Any]
    ) -> tuple[Any, Any]:
        x, xd, xdd = reference(self.target, plant, t, v, p)
        return model_or_plant(self.model, plant).inverse(x, xd, xdd, t), s


class Passivity(Controller):
    """tau = M a_r + C v_r + g + damping (v_r - v) + stiffness e; v_r = target' + slope e,
    a_r its rate, e = target - q.

    slope [1/s], damping [N m s/rad], stiffness [N m/rad]: numbers or one a joint. With slope 0 it
    is PD+. It needs no inverse of the mass matrix and keeps the error's energy from growing.
    Gravity is part of it.
    Source: [Slotine1987] eq. 6-9; PD+: [Paden1988].
    """

    def __init__(
        self,
        slope: ArrayLike,
        damping: ArrayLike,
        target: Any,
        stiffness: ArrayLike = 0.0,
        model: Any = None,
    ) -> None:
        self.slope, self.damping, self.stiffness = slope, damping, stiffness
        self.target, self.model = Source(target, "Passivity: target"), model

    def bound(self, plant: Plant, prefix: str = "control") -> Bound:
        return _BoundPassivity(self, plant, prefix)


class PDPlus(Passivity):
    """tau = M target'' + C target' + g + kp e + kd e' (kp [N m/rad], kd [N m s/rad])."""

    def __init__(self, kp: ArrayLike, kd: ArrayLike, target: Any, model: Any = None) -> None:
        super().__init__(0.0, kd, target, kp, model)


@dataclass(frozen=True)
class _Forces:
    """M a + C(q, v) v_r + g, over symbols."""

    def __call__(self, plant: Plant, q: SX, v: SX, v_r: SX, a_r: SX) -> SX:
        return plant.passive_inverse(q, v, v_r, a_r)


class _BoundPassivity(Bound):
    def __init__(self, law: Passivity, plant: Plant, prefix: str) -> None:
        super().__init__()
        self.prefix = prefix
        for name in ("slope", "damping", "stiffness"):
            self._number(
                f"{prefix}_{name}", getattr(law, name), plant.nv, f"{type(law).__name__}: {name}"
            )
        self.target = tracked(self, law.target, plant, f"{prefix}_target", type(law).__name__)
        self.model = None if law.model is None else OwnModel(law.model, plant, type(law).__name__)

    def law(
        self, plant: Plant, t: Any, q: Any, v: Any, s: Any, p: Mapping[str, Any]
    ) -> tuple[Any, Any]:
        x, xd, xdd = reference(self.target, plant, t, v, p)
        slope = p[f"{self.prefix}_slope"]
        e, ed = plant.difference(q, x), xd - v
        v_r, a_r = xd + slope * e, xdd + slope * ed
        tau = model_or_plant(self.model, plant).compute(_Forces(), q, v, v_r, a_r)
        tau = tau + p[f"{self.prefix}_damping"] * (v_r - v) + p[f"{self.prefix}_stiffness"] * e
        return tau, s
