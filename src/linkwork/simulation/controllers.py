"""Controllers: laws tau(t, q, v) with a state of their own where they integrate."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, ClassVar

import numpy as np
from casadi import SX
from numpy.typing import ArrayLike

from linkwork import quantities
from linkwork.arguments import as_doubles
from linkwork.configurations import places
from linkwork.errors import InvalidInput
from linkwork.loops.dynamics import has_constraints
from linkwork.simulation.algebra import clipped, is_symbolic, joined, larger, smaller, where
from linkwork.simulation.algebra import part as cut
from linkwork.simulation.foresight import HeldLoop
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


class Bound:
    """A controller for one plant.

    parameters, sequences   numbers and rows by name, for the scan
    states                  how many numbers the law integrates
    of_a_run                attributes with numbers that a run brings: tracing sees only their
                            shapes
    memory                  how many numbers a sampled law keeps between its samples, if not its
                            `states`
    past                    the law needs its own past samples, so that it runs inside Sampled only
    python                  why the law cannot run inside machine code, or ""
    shares                  the law uses the mass matrix, which accelerations can share
    """

    states = 0
    memory = 0
    past = False
    python = ""
    shares = False
    of_a_run: ClassVar[tuple[str, ...]] = ("parameters", "sequences")

    def __init__(self) -> None:
        self.parameters: dict[str, np.ndarray] = {}
        self.sequences: dict[str, np.ndarray] = {}

    def law(
        self, plant: Plant, t: Any, q: Any, v: Any, s: Any, p: Mapping[str, Any]
    ) -> tuple[Any, Any]:
        """(tau, rate of the law's own state)."""
        raise NotImplementedError

    def sample(
        self, plant: Plant, t: Any, q: Any, v: Any, m: Any, p: Mapping[str, Any], period: Any
    ) -> tuple[Any, Any]:
        """(force held from this sample on, memory for the next one);
        what a law integrates moves by forward Euler."""
        tau, rate = self.law(plant, t, q, v, m, p)
        return tau, m + period * rate if self.states else m

    def foresee(self, plant: Plant, q: np.ndarray, period: float, delay: float) -> str:
        """What will go wrong when the law is sampled like this from configuration q (nq,),
        in words; else nothing."""
        told = [
            part.foresee(plant, q, period, delay)
            for part in self.inside
            if not hasattr(part, "timing")
        ]
        return next((words for words in told if words), "")

    @property
    def kept(self) -> int:
        """Numbers that a sampled run of this law carries from sample to sample."""
        return self.memory or self.states

    @property
    def inside(self) -> list[Bound]:
        """The laws that this one is made of."""
        return []

    def samplers(self) -> list[Any]:
        """Every sampled law in it, inner ones first."""
        inner = [sampler for part in self.inside for sampler in part.samplers()]
        return [*inner, self] if hasattr(self, "timing") else inner

    def _number(self, name: str, value: Any, n: int, who: str, positive: bool = True) -> None:
        """A parameter (..., n): one number for all, or one a coordinate."""
        array = as_doubles(value, f"{who}")
        array = np.full(n, array) if array.ndim == 0 else array
        # one number for all joints, of several gain sets
        if array.shape[-1] == 1 and array.ndim > 1:
            array = np.broadcast_to(array, (*array.shape[:-1], n))
        if array.shape[-1] != n:
            raise InvalidInput(f"{who} has shape {array.shape}, expected one number or (..., {n})")
        if not np.isfinite(array).all() or (positive and (array < 0).any()):
            raise InvalidInput(
                f"{who} is {np.ravel(array).tolist()}, expected finite numbers of at least 0"
            )
        self.parameters[name] = array


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
        self.kp, self.kd, self.target, self.model = (
            kp,
            kd,
            Source(target, "ComputedTorque: target"),
            model,
        )

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
        if (
            any(x.ndim > 1 for x in gains)
            or not isinstance(plant, RobotPlant)
            or has_constraints(plant.subject)
        ):
            return ""
        return joint_foresight(
            plant, q, np.diag(gains[0]), np.diag(gains[1]), period, delay, self.who
        )


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
        tau = (
            self.function(float(t), q, v)[0]
            if self.function.function is None
            else self.function(t, q, v)[0]
        )
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


def joint_foresight(
    plant: RobotPlant,
    q: np.ndarray,
    stiffness: Any,
    damping: Any,
    period: float,
    delay: float,
    who: str,
) -> str:
    """Whether joints on sampled springs and dampers (nv, nv) are stable at q;
    a sentence if they are not."""
    M = quantities.evaluate(plant.subject, "mass_matrix", {"q": q})
    joints = [joint for joint, _, _ in places(plant.subject)]
    units = [
        LINEAR if k in joint.kind.slides else ANGULAR for joint in joints for k in range(joint.nv)
    ]
    words = HeldLoop(M, stiffness, damping, period, delay).told(plant.v_names, units)
    return f"{who}: {words}" if words else ""


ANGULAR = ("N m s/rad", "kg m^2", "N m/rad")
LINEAR = ("N s/m", "kg", "N/m")
"""Units of damping, mass and stiffness of a coordinate."""


def absorb(outer: Bound, parts: list[Bound]) -> None:
    """Let a law that is made of others carry their numbers, states and properties."""
    memory = sum(part.kept for part in parts) if any(part.memory for part in parts) else 0
    for part in parts:
        outer.parameters |= part.parameters
        outer.sequences |= part.sequences
        outer.states += part.states
        outer.python = outer.python or part.python
        outer.shares = outer.shares or part.shares
        outer.past = outer.past or part.past
    outer.memory = memory
