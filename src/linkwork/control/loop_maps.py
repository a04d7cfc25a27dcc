"""Loop maps: a mechanism with its laws traced once, and its exact linear maps for any gains,
payloads and states."""

from __future__ import annotations

import math
from functools import cached_property
from typing import Any

import casadi
import numpy as np
from casadi import SX

from linkwork.control.linear_mechanism import Loads, mechanism_of
from linkwork.control.matrix_exponential import matrix_exponential
from linkwork.control.state_space import StateSpace
from linkwork.errors import InvalidInput, NotPossible
from linkwork.simulation.algebra import part
from linkwork.simulation.controllers import as_controller
from linkwork.simulation.friction import friction_of
from linkwork.simulation.plant import Plant
from linkwork.simulation.sensors import BoundEncoder, Encoder

TICK = 1e-9
"""Times are whole numbers of this [s] when common steps are sought."""
MOST_STEPS = 20_000
"""Steps of a common period that are multiplied out."""
ROUND = 10_000
"""Gain sets whose poles are found without a look at the clock."""


class LoopTrace:
    """A plant under a controller. Gains, periods, payloads and variables are inputs:
    `renew` brings others.

    sets    leading shape of the gains, () for one set; count: how many sets, 0 for one that is no
            batch
    """

    def __init__(self, plant: Plant, control: Any, friction: bool, sensors: Encoder | None) -> None:
        self.sensors, self.friction = sensors, friction_of(bool(friction), plant)
        self._read(plant, control)
        self.mechanism = mechanism_of(plant, self.friction)
        self._trace()

    def renew(self, plant: Plant, control: Any) -> bool:
        """Take other numbers of the same loop; False where it is another loop,
        which must be traced itself."""
        before = self._structure()
        self._read(plant, control)
        return self._structure() == before

    def _read(self, plant: Plant, control: Any) -> None:
        """Numbers of a controller and a plant, and the times of its samples."""
        self.plant, self.bound = plant, as_controller(control).bound(plant)
        if self.bound.python or self.bound.sequences:
            why = self.bound.python or "rows a step are no law"
            raise NotPossible(f"closed_loop: {why}")
        if self.bound.past:
            raise InvalidInput(
                "closed_loop: the law needs samples of the past; put it inside Sampled(law, period)"
            )
        self.samplers = self.bound.samplers()
        self.encoders: list[BoundEncoder | None] = [None] * len(self.samplers)
        if self.sensors is not None:
            timed = [(f"{s.name}_encoder", s.timing[0]) for s in self.samplers]
            self.encoders = [_ideal(self.sensors, plant, *encoder) for encoder in timed]
        self._timing()
        shapes = [x.shape[:-1] for x in self.bound.parameters.values()]
        try:
            self.sets = np.broadcast_shapes((), *shapes)
        except ValueError:
            raise InvalidInput(
                f"closed_loop: shapes {shapes} of the gains do not broadcast"
            ) from None
        self.count = math.prod(self.sets) if self.sets else 0
        self.gains = self._columns()
        self.loads = Loads.numbers(plant)

    def _columns(self) -> np.ndarray:
        """Every gain set as a column (gains, sets)."""
        count = math.prod(self.sets)
        rows = [
            np.broadcast_to(x, (*self.sets, x.shape[-1])) for x in self.bound.parameters.values()
        ]
        return np.concatenate(
            [np.zeros((0, count)), *(x.reshape(count, x.shape[-1]).T for x in rows)]
        )

    def _structure(self) -> tuple[Any, ...]:
        laws = [type(part).__qualname__ for part in _every(self.bound)]
        sizes = {name: x.shape[-1] for name, x in self.bound.parameters.items()}
        return (
            laws,
            sizes,
            [s.sizes for s in self.samplers],
            self.plant.identity,
            tuple(self.plant.parameters),
        )

    def _timing(self) -> None:
        """Common step and common period of all sampled laws."""
        self.marks = [[round(x / TICK) for x in s.timing] for s in self.samplers]
        self.period: float | None = None
        if not self.samplers:
            return
        self.tick = math.gcd(*[x for marks in self.marks for x in marks])
        self.common = math.lcm(*[marks[0] for marks in self.marks])
        self.period = self.common * TICK
        if self.common // self.tick > MOST_STEPS:
            raise NotPossible(
                "closed_loop: periods, delays and offsets have a common period of "
                f"{self.common // self.tick} steps of "
                f"{self.tick * TICK:g} s, expected at most {MOST_STEPS}"
            )
        for sampler, marks in zip(self.samplers, self.marks, strict=True):
            sampler.slots = marks[1] // marks[0] + 1

    def _trace(self) -> None:
        """Derivatives of every law by the state (d, v, s, what sampled laws hold, remember and have
        under way)."""
        plant, n, bound = self.plant, self.plant.nv, self.bound
        loads = Loads(plant)
        carried = loads.carried
        sizes = {"d": n, "v": n, "s": bound.states}
        for sampler, encoder in zip(self.samplers, self.encoders, strict=True):
            sizes |= sampler.sizes
            if encoder is not None:
                sizes[f"{sampler.name}_sensed"] = encoder.memory
        at = np.cumsum([0, *sizes.values()])
        self.places = {
            name: slice(int(a), int(b)) for name, a, b in zip(sizes, at[:-1], at[1:], strict=True)
        }
        self.size = int(at[-1])
        q, t, x = SX.sym("q", plant.nq), SX.sym("t"), SX.sym("x", self.size)
        known = {
            name: x[place] if place.stop > place.start else SX(0, 1)
            for name, place in self.places.items()
        }
        gains = {name: SX.sym(name, rows.shape[-1]) for name, rows in bound.parameters.items()}
        times = SX.sym("times", len(self.samplers))
        inputs = [q, t, x, casadi.vertcat(SX(0, 1), *gains.values()), times, loads.symbols]
        p: dict[str, Any] = known | gains
        moved, v = carried.integrate(q, known["d"]), known["v"]
        tau, rate = bound.law(carried, t, moved, v, part(known["s"], 0, bound.states), p)
        rows = [casadi.densify(casadi.jacobian(f, x)) for f in (tau, rate)]
        self._flow = casadi.Function("flow", inputs, rows, {"cse": True})
        self._samples = []
        for k, (sampler, encoder) in enumerate(zip(self.samplers, self.encoders, strict=True)):
            memory = known.get(f"{sampler.name}_memory", SX(0, 1))
            seen, speed, sensed = moved, v, SX(0, 1)
            if encoder is not None:
                own_numbers = {name: SX(np.ravel(y)) for name, y in encoder.parameters.items()}
                kept = known[f"{sampler.name}_sensed"]
                seen, speed, sensed = encoder.read(
                    carried, moved, v, kept, p | own_numbers, times[k]
                )
            u, after = sampler.inner.sample(carried, t, seen, speed, memory, p, times[k])
            values = [u, after, sensed]
            jacobians = [casadi.densify(casadi.jacobian(f, x)) for f in values]
            self._samples.append(
                casadi.Function("sample", inputs, [*values, *jacobians], {"cse": True})
            )

    def maps(
        self, q: np.ndarray, v: np.ndarray, t: float = 0.0, chosen: np.ndarray | None = None
    ) -> LoopMaps:
        """The linear maps about (q, v), of every gain set, or of those with the chosen numbers."""
        mechanism = self.mechanism
        numbers = self.gains if chosen is None else self.gains[:, chosen]
        count = numbers.shape[1]
        run = (numbers, np.array([s.timing[0] for s in self.samplers]), self.loads)
        nominal = self._nominal(q, v, t, run, count)
        A, B = mechanism.matrices(q, v, mechanism.holding(q, v, self.loads), self.loads)
        by_law, by_state = _split(self._flow(q, t, nominal, *run), count)
        if (
            np.ptp(by_law, axis=0).max(initial=0.0) == 0.0
            and np.ptp(by_state, axis=0).max(initial=0.0) == 0.0
        ):
            # what runs continuously is the same for all sets
            by_law = by_law[:1]
            by_state = by_state[:1]
        n = self.plant.nv
        G = np.zeros((len(by_law), self.size, self.size))
        G[:, : 2 * n, : 2 * n] = A
        G[:, self.places["s"]] = by_state
        samples = [_split(f(q, t, nominal, *run)[3:], count) for f in self._samples]
        return LoopMaps(self, G, B, by_law, samples, count)

    def _nominal(
        self, q: np.ndarray, v: np.ndarray, t: float, run: tuple[Any, ...], count: int
    ) -> np.ndarray:
        """The states (size, count) with memories as they are after the mechanism has long stood
        there."""
        x = np.zeros((self.size, count))
        x[self.places["v"]] = v[:, None]
        for k, sampler in enumerate(self.samplers):
            encoder = self.encoders[k]
            if not sampler.inner.kept and encoder is None:
                continue  # it remembers nothing, and what it holds no law sees
            for _ in range(sampler.inner.kept + 2 + (0 if encoder is None else encoder.memory)):
                u, after, sensed, *_ = self._samples[k](q, t, x, *run)
                for name, value in (("held", u), ("memory", after), ("sensed", sensed)):
                    spot = self.places.get(f"{sampler.name}_{name}")
                    if spot is not None:
                        x[spot] = np.array(value)
        return x


def _every(bound: Any) -> list[Any]:
    return [bound, *[part for inner in bound.inside for part in _every(inner)]]


def _split(stacked: Any, count: int) -> list[np.ndarray]:
    """Matrices (count, rows, columns) from results that CasADi has put side by side."""
    wide = [np.array(x) for x in stacked]
    return [x.reshape(len(x), count, x.shape[1] // count).transpose(1, 0, 2) for x in wide]


class LoopMaps:
    """Flow between instants and what happens at them, as matrices (sets, size, size)."""

    def __init__(
        self,
        trace: LoopTrace,
        G: np.ndarray,
        B: np.ndarray,
        law: np.ndarray,
        samples: list[Any],
        count: int,
    ) -> None:
        self.trace, self.generator, self.B, self.law = trace, G, B, law
        self.samples, self.count = samples, count

    def flow(self, law: np.ndarray) -> np.ndarray:
        n = self.trace.plant.nv
        full = self.generator.copy()
        full[:, : 2 * n] += self.B @ law
        return full

    @cached_property
    def _drift(self) -> np.ndarray:
        """The flow over a tick: most of the work, and the same whichever joint is cut."""
        return matrix_exponential(self.flow(self.law) * self.trace.tick * TICK)

    def whole(self, cut: int | None = None) -> np.ndarray:
        """The maps over a common period; with a joint cut its column of inputs is the last."""
        trace = self.trace
        if not trace.samplers:
            return self.flow(self.law)
        size = trace.size + (cut is not None)
        drift = np.repeat(np.eye(size)[None], len(self.law), axis=0)  # an input stays what it is
        drift[:, : trace.size, : trace.size] = self._drift
        product = np.eye(size)[None]
        for k in range(trace.common // trace.tick):
            product = drift @ self._events(k * trace.tick, size, cut, product)
        return product

    def _events(self, now: int, size: int, cut: int | None, product: np.ndarray) -> np.ndarray:
        """What changes at an instant, sampled laws one after the other."""
        trace, n = self.trace, self.trace.plant.nv
        for sampler, (period, delay, offset), jacobians in zip(
            trace.samplers, trace.marks, self.samples, strict=True
        ):
            held = trace.places[f"{sampler.name}_held"]
            queue = trace.places.get(f"{sampler.name}_queue")
            if (now - offset) % period == 0:
                step = np.repeat(np.eye(size)[None], self.count, axis=0)
                for name, rows in zip(("memory", "sensed"), jacobians[1:], strict=True):
                    spot = trace.places.get(f"{sampler.name}_{name}")
                    if spot is not None:
                        step[:, spot, : trace.size], step[:, spot, trace.size :] = rows, 0.0
                goes = held if queue is None else slice(queue.start, queue.start + n)
                if queue is not None and sampler.slots > 1:
                    step[:, queue.start + n : queue.stop] = np.eye(size)[
                        queue.start : queue.stop - n
                    ]
                step[:, goes, : trace.size], step[:, goes, trace.size :] = jacobians[0], 0.0
                if cut is not None:
                    step[:, goes.start + cut] = np.eye(size)[-1]
                product = step @ product
            if queue is not None and (now - offset - delay) % period == 0:
                acts = np.eye(size)
                acts[held] = np.eye(size)[queue.stop - n : queue.stop]
                product = acts @ product
        return product

    def radii(self) -> np.ndarray:
        """Spectral radius (sets,) a common period; exp(largest real part) where nothing is
        sampled."""
        poles = np.linalg.eigvals(self._essential(self.whole()))
        radii = (
            np.abs(poles).max(axis=-1) if self.trace.samplers else np.exp(poles.real.max(axis=-1))
        )
        # sets that are one continuous law have one map
        return np.broadcast_to(radii, (self.count,))

    def _essential(self, whole: np.ndarray) -> np.ndarray:
        """Without states that a period forgets, columns of zeros:
        eigenvalues cost the cube of the size."""
        if not self.trace.samplers:
            return whole
        kept = np.abs(whole).max(axis=(0, 1)) > 0
        return whole[:, kept][:, :, kept] if kept.any() else whole

    def cut(self, joint: int) -> StateSpace:
        """L of one joint's force of the one gain set, the other joints closed."""
        trace, n = self.trace, self.trace.plant.nv
        if self.count > 1:
            raise InvalidInput(f"loop_gain: a batch of gain sets ({self.count}); choose one")
        joint %= n
        name = (trace.plant.v_names[joint],)
        nothing = np.zeros((1, 1))
        if not trace.samplers:
            law = self.law[:1].copy()
            law[:, joint] = 0.0
            column = np.zeros((trace.size, 1))
            column[: 2 * n] = self.B[:, joint : joint + 1]
            row = -self.law[0, joint : joint + 1]
            return StateSpace(self.flow(law)[0], column, row, nothing, None, name, name)
        if len(trace.samplers) > 1 or not hasattr(trace.bound, "timing"):
            raise NotPossible(
                "loop_gain: laws of several rates have no one frequency response; use poles "
                "and radius"
            )
        whole = self.whole(joint)[0]
        size = trace.size
        row = -self.samples[0][0][0, joint : joint + 1]
        return StateSpace(
            whole[:size, :size], whole[:size, size:], row, nothing, trace.period, name, name
        )


def _ideal(encoder: Encoder, plant: Plant, name: str, period: float) -> BoundEncoder:
    """The encoder without noise and steps between readings: they have no derivative."""
    cutoff = encoder.cutoff if encoder.velocity == "filtered" else None
    smooth = Encoder(delay=encoder.delay, velocity=encoder.velocity, cutoff=cutoff)
    return BoundEncoder(smooth, plant, name, period)
