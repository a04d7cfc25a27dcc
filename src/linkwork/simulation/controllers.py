"""Controllers: laws tau(t, q, v) with a state of their own where they integrate."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from casadi import SX
from numpy.typing import ArrayLike

from linkwork.errors import InvalidInput
from linkwork.loops.dynamics import has_constraints
from linkwork.simulation.algebra import clipped, is_symbolic, joined, larger, smaller, where
from linkwork.simulation.algebra import part as cut
from linkwork.simulation.bound import Bound, absorb
from linkwork.simulation.joint_foresight import joint_foresight
from linkwork.simulation.own_model import OwnModel, model_or_plant
from linkwork.simulation.plant import Plant
from linkwork.simulation.robot_plant import RobotPlant
from linkwork.simulation.signals import Signal, Source
from linkwork.simulation.tracing import UserFunction


class Controller:
    """A law over symbols or numbers. `bound` fits it to a plant and gives what runs."""

    def bound(self, plant: Plant, prefix: str = "control") -> Bound:
        raise NotImplementedError

    def __add__(self, other: Any) -> Controller:
        return Sum((self, as_controller(other)))


class PD(Controller):
    """tau = kp (target - q) + kd (target' - v). Gains: one number or one a coordinate.

    target: a configuration (..., nq), a function of time that gives it (with its derivatives, or
    differentiated where it can be traced; it is read when the controller is made), or PerStep rows
    (with those of its rates).
    """

    def __init__(self, kp: ArrayLike, kd: ArrayLike, target: Any) -> None:
        self.kp, self.kd, self.target = kp, kd, Source(target, "PD: target")

    def bound(self, plant: Plant, prefix: str = "control") -> Bound:
        return _BoundPD(self, plant, prefix)


class PID(Controller):
    """tau = kp e + ki (integral of e) + kd (target' - v), e = target - q, held within +-limit.

    Anti-windup by conditional integration: where the force is at its limit and the error would
    drive it further, the integral waits.
    """

    def __init__(
        self,
        kp: ArrayLike,
        ki: ArrayLike,
        kd: ArrayLike,
        target: Any,
        limit: ArrayLike | None = None,
    ) -> None:
        self.kp, self.ki, self.kd, self.limit = kp, ki, kd, limit
        self.target = Source(target, "PID: target")

    def bound(self, plant: Plant, prefix: str = "control") -> Bound:
        return _BoundPID(self, plant, prefix)


class GravityCompensation(Controller):
    """tau = the joint forces [N m, N] that hold the mechanism still: gravity,
    springs and potentials.

    It knows the payload of the run. model: another Robot with the same joints, whose forces are
    taken instead (without payload, or with other masses): what the controller of a real machine
    believes.
    """

    def __init__(self, model: Any = None) -> None:
        self.model = model

    def bound(self, plant: Plant, prefix: str = "control") -> Bound:
        return _BoundGravity(self.model, plant)


class ComputedTorque(Controller):
    """tau = inverse dynamics of target'' + kd (target' - v) + kp (target - q),
    those of the robot with its payload.

    kp [1/s^2], kd [1/s]: the error obeys e'' + kd e' + kp e = 0. model: another Robot with the same
    joints, whose inverse dynamics are taken instead (no payload, other masses).
    """

    def __init__(self, kp: ArrayLike, kd: ArrayLike, target: Any, model: Any = None) -> None:
        self.kp, self.kd, self.model = kp, kd, model
        self.target = Source(target, "ComputedTorque: target")

    def bound(self, plant: Plant, prefix: str = "control") -> Bound:
        return _BoundComputedTorque(self, plant, prefix)


class Saturated(Controller):
    """Another controller with its forces held within +-limit, or lower .. limit:
    a number or one a coordinate."""

    def __init__(self, controller: Any, limit: ArrayLike, lower: ArrayLike | None = None) -> None:
        self.controller, self.limit, self.lower = as_controller(controller), limit, lower

    def bound(self, plant: Plant, prefix: str = "control") -> Bound:
        return _BoundSaturated(self, plant, prefix)


class Sum(Controller):
    """Forces of several controllers added."""

    def __init__(self, parts: tuple[Controller, ...]) -> None:
        self.parts = parts

    def bound(self, plant: Plant, prefix: str = "control") -> Bound:
        return _BoundSum([part.bound(plant, f"{prefix}{k}") for k, part in enumerate(self.parts)])


class Law(Controller):
    """A function tau(t, q, v) of the user's own;
    it runs inside machine code if CasADi can trace it."""

    def __init__(self, function: Callable[[Any, Any, Any], Any]) -> None:
        self.function = function

    def bound(self, plant: Plant, prefix: str = "control") -> Bound:
        return _BoundLaw(self.function, plant)


def as_controller(law: Any) -> Controller:
    """A controller, or a function (t, q, v) as one."""
    if isinstance(law, Controller):
        return law
    if callable(law):
        return Law(law)
    raise InvalidInput(
        f"simulate: control is {type(law).__name__}, expected a controller or a function (t, q, v)"
    )


def tracked(bound: Bound, target: Source, plant: Plant, name: str, who: str) -> Signal:
    """A configuration to follow, checked; its numbers become those of the law."""
    signal = Signal(target, (plant.nq,), name)
    bound.parameters |= signal.parameters
    bound.sequences |= signal.sequences
    for at in plant.quaternions if target.function is None else ():
        if (np.abs((target.array[..., at] ** 2).sum(-1) - 1) > 2e-6).any():
            raise InvalidInput(
                f"{who}: target: the quaternion of a floating or ball joint is off unit length"
            )
    for rate, rows in target.rows.items():
        if rows.shape[-1] != plant.nv:
            raise InvalidInput(
                f"{who}: target: {rate} has {rows.shape[-1]} elements a row, expected {plant.nv}: "
                f"{plant.who}"
            )
    if signal.python is not None:
        bound.python = f"{who}: target: {signal.python.why_not}"
    return signal


def reference(signal: Signal, plant: Plant, t: Any, v: Any, p: Mapping[str, Any]) -> list[Any]:
    """[x, x', x''] of a target; at rest where numbers or bare rows say no rates."""
    x, xd, xdd = signal.with_rates(t, p)
    if not plant.flat and signal.kind != "function" and not signal.source.rows:
        xd = xdd = 0.0 * v
    return [x, xd, xdd]


class _BoundPD(Bound):
    def __init__(self, law: PD | PID | ComputedTorque, plant: Plant, prefix: str) -> None:
        super().__init__()
        self.who = who = type(law).__name__
        self.prefix = prefix
        self._number(f"{prefix}_kp", law.kp, plant.nv, f"{who}: kp")
        self._number(f"{prefix}_kd", law.kd, plant.nv, f"{who}: kd")
        self.target = tracked(self, law.target, plant, f"{prefix}_target", who)

    def errors(
        self, plant: Plant, t: Any, q: Any, v: Any, p: Mapping[str, Any]
    ) -> tuple[Any, Any, Any]:
        """(position error, velocity error, reference acceleration)."""
        x, xd, xdd = reference(self.target, plant, t, v, p)
        return plant.difference(q, x), xd - v, xdd

    def law(
        self, plant: Plant, t: Any, q: Any, v: Any, s: Any, p: Mapping[str, Any]
    ) -> tuple[Any, Any]:
        e, ed, _ = self.errors(plant, t, q, v, p)
        return p[f"{self.prefix}_kp"] * e + p[f"{self.prefix}_kd"] * ed, s

    def foresee(self, plant: Plant, q: np.ndarray, period: float, delay: float) -> str:
        gains = [self.parameters[f"{self.prefix}_{name}"] for name in ("kp", "kd")]
        if any(x.ndim > 1 for x in gains):
            return ""
        if not isinstance(plant, RobotPlant) or has_constraints(plant.subject):
            return ""
        stiffness, damping = map(np.diag, gains)
        return joint_foresight(plant, q, stiffness, damping, period, delay, self.who)


class _BoundPID(_BoundPD):
    def __init__(self, law: PID, plant: Plant, prefix: str) -> None:
        super().__init__(law, plant, prefix)
        self.states = plant.nv
        self._number(f"{prefix}_ki", law.ki, plant.nv, "PID: ki")
        self.limited = law.limit is not None
        if law.limit is not None:
            self._number(f"{prefix}_limit", law.limit, plant.nv, "PID: limit")

    def law(
        self, plant: Plant, t: Any, q: Any, v: Any, s: Any, p: Mapping[str, Any]
    ) -> tuple[Any, Any]:
        e, ed, _ = self.errors(plant, t, q, v, p)
        u = p[f"{self.prefix}_kp"] * e + p[f"{self.prefix}_ki"] * s + p[f"{self.prefix}_kd"] * ed
        if not self.limited:
            return u, e
        held = clipped(u, p[f"{self.prefix}_limit"])
        beyond = u - held
        return held, where(beyond * e > 0, 0.0 * e, e)


class _BoundComputedTorque(_BoundPD):
    def __init__(self, law: ComputedTorque, plant: Plant, prefix: str) -> None:
        super().__init__(law, plant, prefix)
        self.model = None if law.model is None else OwnModel(law.model, plant, "ComputedTorque")
        self.shares = self.model is None

    def law(
        self, plant: Plant, t: Any, q: Any, v: Any, s: Any, p: Mapping[str, Any]
    ) -> tuple[Any, Any]:
        e, ed, xdd = self.errors(plant, t, q, v, p)
        a = xdd + p[f"{self.prefix}_kp"] * e + p[f"{self.prefix}_kd"] * ed
        return model_or_plant(self.model, plant).inverse(q, v, a, t), s

    def foresee(self, plant: Plant, q: np.ndarray, period: float, delay: float) -> str:
        return ""  # its gains are rates of the error, not stiffness and damping of a mass


class _BoundGravity(Bound):
    def __init__(self, model: Any, plant: Plant) -> None:
        super().__init__()
        self.model = None if model is None else OwnModel(model, plant, "GravityCompensation")

    def law(
        self, plant: Plant, t: Any, q: Any, v: Any, s: Any, p: Mapping[str, Any]
    ) -> tuple[Any, Any]:
        return model_or_plant(self.model, plant).gravity(q, t), s


class _BoundSaturated(Bound):
    def __init__(self, law: Saturated, plant: Plant, prefix: str) -> None:
        super().__init__()
        self.inner, self.name = law.controller.bound(plant, prefix), f"{prefix}_saturation"
        self._number(self.name, law.limit, plant.nv, "Saturated: limit", positive=law.lower is None)
        self.lopsided = law.lower is not None
        if law.lower is not None:
            self._number(
                f"{self.name}_lower", law.lower, plant.nv, "Saturated: lower", positive=False
            )
            if (self.parameters[f"{self.name}_lower"] > self.parameters[self.name]).any():
                raise InvalidInput(
                    f"Saturated: limits are reversed: lower {law.lower!r} above {law.limit!r}"
                )
        absorb(self, [self.inner])

    def law(
        self, plant: Plant, t: Any, q: Any, v: Any, s: Any, p: Mapping[str, Any]
    ) -> tuple[Any, Any]:
        tau, rate = self.inner.law(plant, t, q, v, s, p)
        return self._held(tau, p), rate

    def _held(self, tau: Any, p: Mapping[str, Any]) -> Any:
        if not self.lopsided:
            return clipped(tau, p[self.name])
        return larger(smaller(tau, p[self.name]), p[f"{self.name}_lower"])

    def sample(
        self, plant: Plant, t: Any, q: Any, v: Any, m: Any, p: Mapping[str, Any], period: Any
    ) -> tuple[Any, Any]:
        tau, after = self.inner.sample(plant, t, q, v, m, p, period)
        return self._held(tau, p), after

    @property
    def inside(self) -> list[Bound]:
        return [self.inner]


class _BoundSum(Bound):
    def __init__(self, parts: list[Bound]) -> None:
        super().__init__()
        self.parts = parts
        absorb(self, parts)

    def law(
        self, plant: Plant, t: Any, q: Any, v: Any, s: Any, p: Mapping[str, Any]
    ) -> tuple[Any, Any]:
        total, rates, at = 0.0, [], 0
        for part in self.parts:
            tau, rate = part.law(plant, t, q, v, cut(s, at, at + part.states), p)
            total, at = total + tau, at + part.states
            rates.append(rate)
        return total, joined(rates)

    def sample(
        self, plant: Plant, t: Any, q: Any, v: Any, m: Any, p: Mapping[str, Any], period: Any
    ) -> tuple[Any, Any]:
        total, after, at = 0.0, [], 0
        for part in self.parts:
            tau, kept = part.sample(plant, t, q, v, cut(m, at, at + part.kept), p, period)
            total, at = total + tau, at + part.kept
            after.append(kept)
        return total, joined(after)

    @property
    def inside(self) -> list[Bound]:
        return self.parts


class _BoundLaw(Bound):
    def __init__(self, function: Callable[..., Any], plant: Plant) -> None:
        super().__init__()
        who = f"control {getattr(function, '__name__', type(function).__name__)}"
        self.function = UserFunction(function, [("t", ()), ("q", plant.nq), ("v", plant.nv)], who)
        if self.function.function is None:
            self.python = f"{who} cannot be traced: {self.function.why_not}"
        else:
            sizes = self.function.sizes()
            if sizes != [plant.nv]:
                raise InvalidInput(f"{who} gives {sizes} numbers, expected {plant.nv}: {plant.who}")

    def law(
        self, plant: Plant, t: Any, q: Any, v: Any, s: Any, p: Mapping[str, Any]
    ) -> tuple[Any, Any]:
        if is_symbolic(q):
            return self.function(t, q, v)[0], s
        time = float(t) if self.function.function is None else t
        tau = self.function(time, q, v)[0]
        if tau.shape != (plant.nv,):
            raise InvalidInput(
                f"{self.function.who} gave shape {tau.shape} at t = {float(t):g}, expected "
                f"({plant.nv},)"
            )
        return tau, s


class _BoundNothing(Bound):
    def law(
        self, plant: Plant, t: Any, q: Any, v: Any, s: Any, p: Mapping[str, Any]
    ) -> tuple[Any, Any]:
        return (SX.zeros(plant.nv) if is_symbolic(q) else np.zeros(plant.nv)), s


def nothing() -> Bound:
    """No control: the mechanism moves freely."""
    return _BoundNothing()
