"""Controllers: laws tau(t, q, v) with a state of their own where they integrate."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, ClassVar

import numpy as np
from casadi import SX
from numpy.typing import ArrayLike

from linkwork.arguments import as_doubles, number
from linkwork.errors import InvalidInput
from linkwork.simulation.algebra import clipped, is_symbolic, joined, where
from linkwork.simulation.plant import Plant
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
    of_a_run                attributes with numbers that a run brings: tracing sees only their shapes
    python                  why the law cannot run inside machine code, or ""
    shares                  the law uses the mass matrix, which accelerations can share
    """

    states = 0
    python = ""
    shares = False
    of_a_run: ClassVar[tuple[str, ...]] = ("parameters", "sequences")

    def __init__(self) -> None:
        self.parameters: dict[str, np.ndarray] = {}
        self.sequences: dict[str, np.ndarray] = {}

    def law(self, plant: Plant, t: Any, q: Any, v: Any, s: Any, p: Mapping[str, Any]) -> tuple[Any, Any]:
        """(tau, rate of the law's own state)."""
        raise NotImplementedError

    def _number(self, name: str, given: Any, n: int, who: str, positive: bool = True) -> None:
        """A parameter (..., n): one number for all, or one a coordinate."""
        array = as_doubles(given, f"{who}")
        array = np.full(n, array) if array.ndim == 0 else array
        if array.shape[-1] != n:
            raise InvalidInput(f"{who} has shape {array.shape}, expected one number or (..., {n})")
        if not np.isfinite(array).all() or (positive and (array < 0).any()):
            raise InvalidInput(f"{who} is {np.ravel(array).tolist()}, expected finite numbers of at least 0")
        self.parameters[name] = array


class PD(Controller):
    """tau = kp (target - q) + kd (target' - v). Gains: one number or one a coordinate.

    target: a configuration (..., nq), a function of time that gives it (with its derivatives, or differentiated where
    it can be traced; it is read when the controller is made), or PerStep rows (with those of its rates).
    """

    def __init__(self, kp: ArrayLike, kd: ArrayLike, target: Any) -> None:
        self.kp, self.kd, self.target = kp, kd, Source(target, "PD: target")

    def bound(self, plant: Plant, prefix: str = "control") -> Bound:
        return _BoundPD(self, plant, prefix)


class PID(Controller):
    """tau = kp e + ki (integral of e) + kd (target' - v), e = target - q, held within +-limit.

    Anti-windup by conditional integration: where the force is at its limit and the error would drive it further, the
    integral waits.
    """

    def __init__(
        self, kp: ArrayLike, ki: ArrayLike, kd: ArrayLike, target: Any, limit: ArrayLike | None = None
    ) -> None:
        self.kp, self.ki, self.kd, self.limit = kp, ki, kd, limit
        self.target = Source(target, "PID: target")

    def bound(self, plant: Plant, prefix: str = "control") -> Bound:
        return _BoundPID(self, plant, prefix)


class GravityCompensation(Controller):
    """tau = the joint forces that hold the mechanism still, with what it carries (gravity, springs, potentials)."""

    def bound(self, plant: Plant, prefix: str = "control") -> Bound:
        return _BoundGravity()


class ComputedTorque(Controller):
    """tau = inverse dynamics of target'' + kd (target' - v) + kp (target - q), those of the robot with its payload."""

    def __init__(self, kp: ArrayLike, kd: ArrayLike, target: Any) -> None:
        self.kp, self.kd, self.target = kp, kd, Source(target, "ComputedTorque: target")

    def bound(self, plant: Plant, prefix: str = "control") -> Bound:
        return _BoundComputedTorque(self, plant, prefix)


class Saturated(Controller):
    """Another controller with its forces held within +-limit: one number or one a coordinate."""

    def __init__(self, controller: Any, limit: ArrayLike) -> None:
        self.controller, self.limit = as_controller(controller), limit

    def bound(self, plant: Plant, prefix: str = "control") -> Bound:
        return _BoundSaturated(self, plant, prefix)


class Sum(Controller):
    """Forces of several controllers added."""

    def __init__(self, parts: tuple[Controller, ...]) -> None:
        self.parts = parts

    def bound(self, plant: Plant, prefix: str = "control") -> Bound:
        return _BoundSum([part.bound(plant, f"{prefix}{k}") for k, part in enumerate(self.parts)])


class Law(Controller):
    """A function tau(t, q, v) of the user's own; it runs inside machine code if CasADi can trace it."""

    def __init__(self, function: Callable[[Any, Any, Any], Any]) -> None:
        self.function = function

    def bound(self, plant: Plant, prefix: str = "control") -> Bound:
        return _BoundLaw(self.function, plant)


class Sampled:
    """A controller that runs at instants 0, period, 2 period, ...; its force is held between them.

    delay   time from measuring to acting [s]; limit: forces are held within +-limit (one number or one a coordinate)
    With a fixed step, period and delay are whole numbers of steps. A Python function is called once a period, so that
    it may keep something between calls.
    """

    def __init__(self, controller: Any, period: float, delay: float = 0.0, limit: ArrayLike | None = None) -> None:
        self.controller = as_controller(controller if limit is None else Saturated(controller, limit))
        self.period, self.delay = _duration("period", period), _duration("delay", delay, zero=True)


def _duration(name: str, given: Any, zero: bool = False) -> float:
    time = number(given, f"Sampled: {name}")
    if time < 0 or (time == 0 and not zero):
        raise InvalidInput(f"Sampled: {name} is {given!r}, expected a {'time' if zero else 'positive time'} in seconds")
    return time


def as_controller(given: Any) -> Controller:
    """A controller, or a function (t, q, v) as one."""
    if isinstance(given, Controller):
        return given
    if isinstance(given, Sampled):
        raise InvalidInput("simulate: Sampled is the outermost controller; put the others inside it")
    if callable(given):
        return Law(given)
    raise InvalidInput(f"simulate: control is {type(given).__name__}, expected a controller or a function (t, q, v)")


class _BoundPD(Bound):
    def __init__(self, given: PD | PID | ComputedTorque, plant: Plant, prefix: str) -> None:
        super().__init__()
        who = type(given).__name__
        self.prefix = prefix
        self._number(f"{prefix}_kp", given.kp, plant.nv, f"{who}: kp")
        self._number(f"{prefix}_kd", given.kd, plant.nv, f"{who}: kd")
        self.target = Signal(given.target, (plant.nq,), f"{prefix}_target")
        self.parameters |= self.target.parameters
        self.sequences |= self.target.sequences
        for at in plant.quaternions if given.target.function is None else ():
            if (np.abs((given.target.array[..., at] ** 2).sum(-1) - 1) > 2e-6).any():
                raise InvalidInput(f"{who}: target: the quaternion of a floating or ball joint is off unit length")
        for rate, rows in given.target.rows.items():
            if rows.shape[-1] != plant.nv:
                raise InvalidInput(
                    f"{who}: target: {rate} has {rows.shape[-1]} elements a row, expected {plant.nv}: {plant.who}"
                )
        if self.target.python is not None:
            self.python = f"{who}: target: {self.target.python.why_not}"

    def errors(self, plant: Plant, t: Any, q: Any, v: Any, p: Mapping[str, Any]) -> tuple[Any, Any, Any]:
        """(position error, velocity error, reference acceleration)."""
        x, xd, xdd = self.target.with_rates(t, p)
        if not plant.flat and self.target.kind != "function" and not self.target.source.rows:
            xd = xdd = 0.0 * v
        return plant.difference(q, x), xd - v, xdd

    def law(self, plant: Plant, t: Any, q: Any, v: Any, s: Any, p: Mapping[str, Any]) -> tuple[Any, Any]:
        e, ed, _ = self.errors(plant, t, q, v, p)
        return p[f"{self.prefix}_kp"] * e + p[f"{self.prefix}_kd"] * ed, s


class _BoundPID(_BoundPD):
    def __init__(self, given: PID, plant: Plant, prefix: str) -> None:
        super().__init__(given, plant, prefix)
        self.states = plant.nv
        self._number(f"{prefix}_ki", given.ki, plant.nv, "PID: ki")
        self.limited = given.limit is not None
        if given.limit is not None:
            self._number(f"{prefix}_limit", given.limit, plant.nv, "PID: limit")

    def law(self, plant: Plant, t: Any, q: Any, v: Any, s: Any, p: Mapping[str, Any]) -> tuple[Any, Any]:
        e, ed, _ = self.errors(plant, t, q, v, p)
        u = p[f"{self.prefix}_kp"] * e + p[f"{self.prefix}_ki"] * s + p[f"{self.prefix}_kd"] * ed
        if not self.limited:
            return u, e
        held = clipped(u, p[f"{self.prefix}_limit"])
        beyond = u - held
        return held, where(beyond * e > 0, 0.0 * e, e)


class _BoundComputedTorque(_BoundPD):
    shares = True

    def law(self, plant: Plant, t: Any, q: Any, v: Any, s: Any, p: Mapping[str, Any]) -> tuple[Any, Any]:
        e, ed, xdd = self.errors(plant, t, q, v, p)
        a = xdd + p[f"{self.prefix}_kp"] * e + p[f"{self.prefix}_kd"] * ed
        return plant.inverse(q, v, a, t), s


class _BoundGravity(Bound):
    def law(self, plant: Plant, t: Any, q: Any, v: Any, s: Any, p: Mapping[str, Any]) -> tuple[Any, Any]:
        return plant.gravity(q, t), s


class _BoundSaturated(Bound):
    def __init__(self, given: Saturated, plant: Plant, prefix: str) -> None:
        super().__init__()
        self.inner, self.name = given.controller.bound(plant, prefix), f"{prefix}_saturation"
        self._number(self.name, given.limit, plant.nv, "Saturated: limit")
        _absorb(self, [self.inner])

    def law(self, plant: Plant, t: Any, q: Any, v: Any, s: Any, p: Mapping[str, Any]) -> tuple[Any, Any]:
        tau, rate = self.inner.law(plant, t, q, v, s, p)
        return clipped(tau, p[self.name]), rate


class _BoundSum(Bound):
    def __init__(self, parts: list[Bound]) -> None:
        super().__init__()
        self.parts = parts
        _absorb(self, parts)

    def law(self, plant: Plant, t: Any, q: Any, v: Any, s: Any, p: Mapping[str, Any]) -> tuple[Any, Any]:
        total, rates, at = 0.0, [], 0
        for part in self.parts:
            tau, rate = part.law(plant, t, q, v, s[at : at + part.states], p)
            total, at = total + tau, at + part.states
            rates.append(rate)
        return total, joined(rates)


class _BoundLaw(Bound):
    def __init__(self, function: Callable[..., Any], plant: Plant) -> None:
        super().__init__()
        who = f"control {getattr(function, '__name__', type(function).__name__)}"
        self.function = UserFunction(function, [("t", ()), ("q", plant.nq), ("v", plant.nv)], who)
        if self.function.function is None:
            self.python = f"{who} cannot be traced: {self.function.why_not}"
        else:
            found = self.function.sizes()
            if found != [plant.nv]:
                raise InvalidInput(f"{who} gives {found} numbers, expected {plant.nv}: {plant.who}")

    def law(self, plant: Plant, t: Any, q: Any, v: Any, s: Any, p: Mapping[str, Any]) -> tuple[Any, Any]:
        if is_symbolic(q):
            return self.function(t, q, v)[0], s
        tau = self.function(float(t), q, v)[0] if self.function.function is None else self.function(t, q, v)[0]
        if tau.shape != (plant.nv,):
            raise InvalidInput(
                f"{self.function.who} gave shape {tau.shape} at t = {float(t):g}, expected ({plant.nv},)"
            )
        return tau, s


class _BoundNothing(Bound):
    def law(self, plant: Plant, t: Any, q: Any, v: Any, s: Any, p: Mapping[str, Any]) -> tuple[Any, Any]:
        return (SX.zeros(plant.nv) if is_symbolic(q) else np.zeros(plant.nv)), s


def nothing() -> Bound:
    """No control: the mechanism moves freely."""
    return _BoundNothing()


def _absorb(outer: Bound, parts: list[Bound]) -> None:
    for part in parts:
        outer.parameters |= part.parameters
        outer.sequences |= part.sequences
        outer.states += part.states
        outer.python = outer.python or part.python
        outer.shares = outer.shares or part.shares
