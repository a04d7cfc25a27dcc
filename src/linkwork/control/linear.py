"""Linear models: of a mechanism about a state, and of a whole closed loop with its sample times and delays, exactly."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import casadi
import numpy as np
from casadi import SX
from numpy.typing import ArrayLike

from linkwork.arguments import as_doubles
from linkwork.control.state_space import StateSpace
from linkwork.errors import InvalidInput, NotPossible, UnknownName, did_you_mean
from linkwork.simulation.algebra import part
from linkwork.simulation.controllers import as_controller
from linkwork.simulation.friction import Friction, friction_of
from linkwork.simulation.plant import Plant
from linkwork.simulation.plants import plant_of
from linkwork.simulation.sensors import BoundEncoder, Encoder

TICK = 1e-9
"""Times are whole numbers of this [s] when common steps are sought."""
MOST_STEPS = 20_000
"""Steps of a common period that are multiplied out."""


def linearise(
    robot: Any, q: ArrayLike, v: ArrayLike | None = None, tau: ArrayLike | None = None, payload: Any = None
) -> StateSpace:
    """x' = A x + B u about a state: x = (dq, dv) (2 nv), u = dtau (nv) [N m, N], y = dq.

    q (nq,), v (nv,) default at rest, tau (nv,) default what holds the state (accelerations zero). Where q holds
    quaternions dq is the small motion q (+) dq, in the axes of a body that moves on with v. Friction is left out.
    """
    plant = plant_of(robot, payload)
    at = _state(plant, q, v, "linearise")
    mechanism = _mechanism(plant, Friction())
    force = mechanism.holding(*at) if tau is None else _numbers(tau, plant.nv, "linearise: tau")
    A, B = mechanism.matrices(*at, force)
    n = plant.nv
    C = np.hstack([np.eye(n), np.zeros((n, n))])
    return StateSpace(A, B, C, np.zeros((n, n)), None, plant.v_names, plant.v_names)


def _numbers(given: Any, n: int, who: str) -> np.ndarray:
    found = as_doubles(given, who)
    if found.shape != (n,) or not np.isfinite(found).all():
        raise InvalidInput(f"{who} has shape {found.shape}, expected ({n},) finite numbers")
    return found


def _state(plant: Plant, q: Any, v: Any, who: str) -> tuple[np.ndarray, np.ndarray]:
    speed = np.zeros(plant.nv) if v is None else _numbers(v, plant.nv, f"{who}: v")
    return _numbers(q, plant.nq, f"{who}: q"), speed


def _carried(plant: Plant) -> Plant:
    """The plant with its one payload as numbers."""
    for name, x in plant.parameters.items():
        if x.ndim != 1:
            raise InvalidInput(f"linearise: {name} is a batch {x.shape[:-1]}, expected one payload")
    return plant.carrying({name: SX(x) for name, x in plant.parameters.items()})


class _Mechanism:
    """Derivatives of a plant's accelerations by the state and the forces, traced once."""

    def __init__(self, plant: Plant, friction: Friction) -> None:
        self.plant, n = plant, plant.nv
        own, t = _carried(plant), SX(0.0)
        q, d, v, tau = SX.sym("q", plant.nq), SX.sym("d", n), SX.sym("v", n), SX.sym("tau", n)
        lost = SX.zeros(n)
        for k, at in enumerate(friction.viscous):
            lost[at] = float(np.ravel(friction.parameters["friction_viscous"])[k]) * v[at]
        moved = own.integrate(q, d)
        # `pulled` tells how d changes as seen from q at rest, v - [v, d] / 2 to first order; q goes on with v too, and
        # from there the neighbour leaves with v - [v, d]: the same where coordinates are plain numbers
        leaving = 2 * own.pulled(d, v) - v
        rates = casadi.vertcat(leaving, own.acceleration(moved, v, tau - lost, t, {}))
        A = casadi.substitute(casadi.jacobian(rates, casadi.vertcat(d, v)), d, SX.zeros(n))
        B = casadi.substitute(casadi.jacobian(rates, tau), d, SX.zeros(n))
        self._matrices = casadi.Function("matrices", [q, v, tau], [A, B], {"cse": True})
        holding = own.inverse(q, v, SX.zeros(n), t) + lost
        self._holding = casadi.Function("holding", [q, v], [holding], {"cse": True})

    def holding(self, q: np.ndarray, v: np.ndarray) -> np.ndarray:
        return np.array(self._holding(q, v)).ravel()

    def matrices(self, q: np.ndarray, v: np.ndarray, tau: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        A, B = self._matrices(q, v, tau)
        return np.array(A), np.array(B)


def _mechanism(plant: Plant, friction: Friction) -> _Mechanism:
    """Kept with the robot or System, for these payloads and this friction."""
    owner, numbers = plant.identity
    damping = np.ravel(friction.parameters.get("friction_viscous", ())).tolist()
    loads = [np.ravel(x).tolist() for x in plant.parameters.values()]
    return owner.once(
        (_Mechanism, numbers, repr((friction.viscous, damping, loads))), lambda: _Mechanism(plant, friction)
    )


@dataclass(frozen=True)
class ClosedLoop:
    """A mechanism under its control, linear about a state.

    A        the exact map over one common period of all sampled laws (or the generator, where none is sampled)
    period   that common period [s], or None;  steps: parts of it between which something happens
    """

    A: np.ndarray
    period: float | None
    joints: tuple[str, ...]
    _parts: Any = None

    @property
    def poles(self) -> np.ndarray:
        return StateSpace(self.A, *_nothing(len(self.A)), self.period).poles

    @property
    def radius(self) -> float:
        """Largest |eigenvalue| a common period; below 1 everything fades. exp(largest real part) where continuous."""
        found = self.poles
        return float(np.abs(found).max() if self.period is not None else np.exp(found.real.max()))

    @property
    def stable(self) -> bool:
        return self.radius < 1.0

    def loop_gain(self, joint: str | int) -> StateSpace:
        """L of one joint's force, cut where the law gives it, the other joints closed: what Bode and margins are of.

        For one sampled law (with what runs continuously beside it), or for continuous laws alone.
        """
        if isinstance(joint, str) and joint not in self.joints:
            raise UnknownName(f'loop_gain: there is no joint "{joint}"{did_you_mean(joint, self.joints)}')
        at = self.joints.index(joint) if isinstance(joint, str) else int(joint)
        if not -len(self.joints) <= at < len(self.joints):
            raise InvalidInput(f"loop_gain: joint is {joint!r}, expected 0 to {len(self.joints) - 1}")
        return self._parts.cut(at)


def _nothing(n: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    return np.zeros((n, 1)), np.zeros((1, n)), np.zeros((1, 1))


def closed_loop(
    robot: Any,
    control: Any,
    q: ArrayLike,
    v: ArrayLike | None = None,
    t: float = 0.0,
    payload: Any = None,
    friction: bool = True,
    sensors: Encoder | None = None,
) -> ClosedLoop:
    """A robot or System with its controller, linear about (q, v) at time t, every period, delay and hold exact.

    The state is taken as an equilibrium: what the law leaves over is held by something else. friction: damping of the
    description; dry friction, noise and resolution have no derivative and are left out. Laws must be smooth there: a
    sliding mode is not.
    """
    return _Builder(robot, control, payload, friction, sensors).at(q, v, t)


def stability_map(
    robot: Any, control: Any, q: ArrayLike, payload: Any = None, friction: bool = True, sensors: Encoder | None = None
) -> np.ndarray:
    """Spectral radius (...,) of the closed loop at configurations q (..., nq); below 1 is stable."""
    rows = as_doubles(q, "stability_map: q")
    builder = _Builder(robot, control, payload, friction, sensors)
    flat = rows.reshape(-1, rows.shape[-1])
    return np.array([builder.at(each).radius for each in flat]).reshape(rows.shape[:-1])


def root_locus(
    robot: Any, controller: Callable[[float], Any], values: Iterable[float], q: ArrayLike, **options: Any
) -> np.ndarray:
    """Poles (values, n) of the closed loop for controller(value), each column one branch followed by nearness."""
    from scipy.optimize import linear_sum_assignment

    rows: list[np.ndarray] = []
    for value in values:
        poles = closed_loop(robot, controller(value), q, **options).poles
        if rows:
            if len(poles) != len(rows[-1]):
                raise InvalidInput("root_locus: the controllers have different numbers of states")
            _, order = linear_sum_assignment(np.abs(rows[-1][:, None] - poles[None, :]))
            poles = poles[order]
        rows.append(poles)
    return np.array(rows)


class _Builder:
    """Traces a loop once; `at` gives its matrices in a state."""

    def __init__(self, robot: Any, control: Any, payload: Any, friction: bool, sensors: Encoder | None) -> None:
        self.plant = plant = plant_of(robot, payload)
        self.mechanism = _mechanism(plant, friction_of(bool(friction), plant))
        self.bound = as_controller(control).bound(plant)
        if self.bound.python or self.bound.sequences:
            why = self.bound.python or "rows a step are no law"
            raise NotPossible(f"closed_loop: {why}")
        if self.bound.past:
            raise InvalidInput("closed_loop: the law needs samples of the past; put it inside Sampled(law, period)")
        self.samplers = self.bound.samplers()
        self.encoders = [
            None if sensors is None else _ideal(sensors, plant, f"{s.name}_encoder", s.timing[0]) for s in self.samplers
        ]
        self._timing()
        self._trace()

    def _timing(self) -> None:
        """Common step and common period of all sampled laws."""
        self.marks = [[round(x / TICK) for x in s.timing] for s in self.samplers]
        if not self.samplers:
            return
        self.tick = math.gcd(*[x for marks in self.marks for x in marks])
        self.common = math.lcm(*[marks[0] for marks in self.marks])
        if self.common // self.tick > MOST_STEPS:
            raise NotPossible(
                f"closed_loop: periods, delays and offsets have a common period of {self.common // self.tick} steps of "
                f"{self.tick * TICK:g} s, expected at most {MOST_STEPS}"
            )
        for sampler, marks in zip(self.samplers, self.marks, strict=True):
            sampler.slots = marks[1] // marks[0] + 1

    def _trace(self) -> None:
        """Derivatives of every law by the state (d, v, s, what sampled laws hold, remember and have under way)."""
        plant, n, bound = self.plant, self.plant.nv, self.bound
        own = _carried(plant)
        sizes = {"d": n, "v": n, "s": bound.states}
        for sampler, encoder in zip(self.samplers, self.encoders, strict=True):
            sizes |= sampler.sizes
            if encoder is not None:
                sizes[f"{sampler.name}_sensed"] = encoder.memory
        self.sizes, at = sizes, np.cumsum([0, *sizes.values()])
        self.places = {name: slice(int(a), int(b)) for name, a, b in zip(sizes, at[:-1], at[1:], strict=True)}
        self.size = int(at[-1])
        q, t, x = SX.sym("q", plant.nq), SX.sym("t"), SX.sym("x", self.size)
        known = {name: x[place] if place.stop > place.start else SX(0, 1) for name, place in self.places.items()}
        p: dict[str, Any] = dict(known)
        for name, numbers in bound.parameters.items():
            if numbers.size != numbers.shape[-1]:
                raise InvalidInput(f"closed_loop: {name} has shape {numbers.shape}: a batch of gain sets; choose one")
            p[name] = SX(numbers.ravel())
        moved, v = own.integrate(q, known["d"]), known["v"]
        tau, rate = bound.law(own, t, moved, v, part(known["s"], 0, bound.states), p)
        rows = [casadi.densify(casadi.jacobian(f, x)) for f in (tau, rate)]
        self._flow = casadi.Function("flow", [q, t, x], rows, {"cse": True})
        self._samples = []
        for sampler, encoder in zip(self.samplers, self.encoders, strict=True):
            period = SX(sampler.timing[0])
            memory = known.get(f"{sampler.name}_memory", SX(0, 1))
            seen, speed, sensed = moved, v, SX(0, 1)
            if encoder is not None:
                own_numbers = {name: SX(np.ravel(y)) for name, y in encoder.parameters.items()}
                kept = known[f"{sampler.name}_sensed"]
                seen, speed, sensed = encoder.read(own, moved, v, kept, p | own_numbers, period)
            u, after = sampler.inner.sample(own, t, seen, speed, memory, p, period)
            values = [u, after, sensed]
            jacobians = [casadi.densify(casadi.jacobian(f, x)) for f in values]
            self._samples.append(casadi.Function("sample", [q, t, x], [*values, *jacobians], {"cse": True}))

    def at(self, q: ArrayLike, v: ArrayLike | None = None, t: float = 0.0) -> ClosedLoop:
        place, speed = _state(self.plant, q, v, "closed_loop")
        nominal = self._nominal(place, speed, t)
        A, B = self.mechanism.matrices(place, speed, self.mechanism.holding(place, speed))
        by_law, by_state = (np.array(x) for x in self._flow(place, t, nominal))
        n = self.plant.nv
        G = np.zeros((self.size, self.size))
        G[: 2 * n, : 2 * n] = A
        states = self.places["s"]
        G[states] = by_state
        parts = _Parts(self, G, B, by_law, [self._jacobians(k, place, t, nominal) for k in range(len(self.samplers))])
        whole, period = parts.whole()
        return ClosedLoop(whole, period, self.plant.v_names, parts)

    def _nominal(self, q: np.ndarray, v: np.ndarray, t: float) -> np.ndarray:
        """The state with memories as they are after the mechanism has long stood there."""
        x = np.zeros(self.size)
        x[self.places["v"]] = v
        for k, sampler in enumerate(self.samplers):
            encoder = self.encoders[k]
            for _ in range(sampler.inner.kept + 2 + (0 if encoder is None else encoder.memory)):
                u, after, sensed, *_ = self._samples[k](q, t, x)
                for name, value in (("held", u), ("memory", after), ("sensed", sensed)):
                    spot = self.places.get(f"{sampler.name}_{name}")
                    if spot is not None:
                        x[spot] = np.array(value).ravel()
        return x

    def _jacobians(self, k: int, q: np.ndarray, t: float, nominal: np.ndarray) -> list[np.ndarray]:
        return [np.array(x) for x in self._samples[k](q, t, nominal)[3:]]


class _Parts:
    """Flow between events and what happens at them, as matrices."""

    def __init__(self, builder: _Builder, G: np.ndarray, B: np.ndarray, law: np.ndarray, samples: list[Any]) -> None:
        self.builder, self.generator, self.B, self.law, self.samples = builder, G, B, law, samples

    def flow(self, law: np.ndarray) -> np.ndarray:
        n = self.builder.plant.nv
        full = self.generator.copy()
        full[: 2 * n] += self.B @ law
        return full

    def whole(self, cut: int | None = None) -> tuple[np.ndarray, float | None]:
        """The map over a common period; with a joint cut its column of inputs is the last."""
        from scipy.linalg import expm

        b = self.builder
        if not b.samplers:
            return self.flow(self.law), None
        extra = cut is not None
        size = b.size + extra
        G = np.zeros((size, size))
        G[: b.size, : b.size] = self.flow(self.law)
        drift = expm(G * b.tick * TICK)
        found = np.eye(size)
        for k in range(b.common // b.tick):
            found = drift @ self._events(k * b.tick, size, cut) @ found
        return found, b.common * TICK

    def _events(self, now: int, size: int, cut: int | None) -> np.ndarray:
        """What changes at an instant, sampled laws one after the other."""
        b, n = self.builder, self.builder.plant.nv
        found = np.eye(size)
        for sampler, (period, delay, offset), jacobians in zip(b.samplers, b.marks, self.samples, strict=True):
            step = np.eye(size)
            held = b.places[f"{sampler.name}_held"]
            queue = b.places.get(f"{sampler.name}_queue")
            if (now - offset) % period == 0:
                for name, rows in zip(("memory", "sensed"), jacobians[1:], strict=True):
                    spot = b.places.get(f"{sampler.name}_{name}")
                    if spot is not None:
                        step[spot, : b.size], step[spot, b.size :] = rows, 0.0
                goes = held if queue is None else slice(queue.start, queue.start + n)
                if queue is not None and sampler.slots > 1:
                    step[queue.start + n : queue.stop] = np.eye(size)[queue.start : queue.stop - n]
                step[goes, : b.size], step[goes, b.size :] = jacobians[0], 0.0
                if cut is not None:
                    step[goes.start + cut] = np.eye(size)[-1]
            found = step @ found
            if queue is not None and (now - offset - delay) % period == 0:
                step = np.eye(size)
                step[held] = np.eye(size)[queue.stop - n : queue.stop]
                found = step @ found
        return found

    def cut(self, joint: int) -> StateSpace:
        b, n = self.builder, self.builder.plant.nv
        joint %= n
        name = (b.plant.v_names[joint],)
        if not b.samplers:
            law = self.law.copy()
            law[joint] = 0.0
            return StateSpace(
                self.flow(law),
                self._input(joint),
                -self.law[joint : joint + 1],
                np.zeros((1, 1)),
                None,
                name,
                name,
            )
        if len(b.samplers) > 1 or not hasattr(b.bound, "timing"):
            raise NotPossible("loop_gain: laws of several rates have no one frequency response; use poles and radius")
        whole, period = self.whole(joint)
        size = b.size
        row = -self.samples[0][0][joint : joint + 1]
        return StateSpace(whole[:size, :size], whole[:size, size:], row, np.zeros((1, 1)), period, name, name)

    def _input(self, joint: int) -> np.ndarray:
        n = self.builder.plant.nv
        column = np.zeros((self.builder.size, 1))
        column[: 2 * n] = self.B[:, joint : joint + 1]
        return column


def _ideal(given: Encoder, plant: Plant, name: str, period: float) -> BoundEncoder:
    """The encoder without noise and steps between readings: they have no derivative."""
    cutoff = given.cutoff if given.velocity == "filtered" else None
    smooth = Encoder(delay=given.delay, velocity=given.velocity, cutoff=cutoff)
    return BoundEncoder(smooth, plant, name, period)
