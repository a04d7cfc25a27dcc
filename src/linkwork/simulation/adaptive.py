"""Adaptive steps through SciPy's DOP853 and LSODA: the error is held, the step follows."""

from __future__ import annotations

import weakref
from collections.abc import Callable, Iterator
from typing import Any

import casadi
import numpy as np
from casadi import SX

from linkwork.engine import keys
from linkwork.engine.kernel import Context, Kernel, Signature
from linkwork.errors import ComputationError, NotPossible
from linkwork.simulation.controllers import Sampled
from linkwork.simulation.crossings import numbers_of
from linkwork.simulation.events import Crossing
from linkwork.simulation.loop import WORKS, Loop
from linkwork.simulation.numeric import NumericPlant
from linkwork.simulation.raw import Raw, shown
from linkwork.simulation.structure import bare

METHODS = {"dop853": "DOP853", "lsoda": "LSODA"}
_SAME = 1e-9  # of a period: two instants that differ by less are one


def run(
    loop: Loop,
    q: np.ndarray,
    v: np.ndarray,
    times: np.ndarray,
    method: str,
    tolerance: float,
    sampled: Sampled | None,
    tick: Callable[[int], None] | None,
) -> Raw:
    """q (B, nq), v (B, nv) -> rows at the given times, one sample after the other.

    Quaternions are integrated as four numbers, whose length the equation keeps, and brought back to unit length before
    anything is computed from them and in every row.
    """
    if loop.sequences:
        raise NotPossible(f'simulate: rows a step need a fixed step; "{method}" chooses its own. Use method="rk4"')
    if loop.stops.hard:
        raise NotPossible(
            f'simulate: end stops with restitution need a fixed step, not "{method}"; give them stiffness'
        )
    from scipy import integrate  # here, because it takes longer to import than the rest of linkwork

    solver = getattr(integrate, METHODS[method])
    raw = Raw.empty(len(q), times, loop.plant.nq, loop.plant.nv, len(WORKS))
    plant = NumericPlant(loop.plant)
    for sample in range(len(q)):
        p = numbers_of(loop, sample, len(q), 0)
        motion = _Motion(loop, plant.carrying(p), p, solver, tolerance, raw, sample, tick)
        motion.run(q[sample], v[sample], sampled)
    raw.crossings.sort(key=lambda crossing: crossing.time)
    return raw


class _Motion:
    """One sample on its way; rows are written into `raw` as they are reached."""

    def __init__(
        self,
        loop: Loop,
        plant: NumericPlant,
        p: dict[str, Any],
        solver: Any,
        tolerance: float,
        raw: Raw,
        sample: int,
        tick: Callable[[int], None] | None,
    ) -> None:
        self.loop, self.plant, self.p, self.solver, self.tolerance = loop, plant, p, solver, tolerance
        self.raw, self.sample, self.tick = raw, sample, tick
        self.cuts = (plant.nq, plant.nq + plant.nv, plant.nq + plant.nv + loop.control.states)
        self.quaternions = loop.plant.quaternions
        self.row = 0

    def run(self, q: np.ndarray, v: np.ndarray, sampled: Sampled | None) -> None:
        y = np.concatenate([q, v, np.zeros(self.loop.control.states + len(WORKS))])
        begin, end = float(self.raw.time[0]), float(self.raw.time[-1])
        if sampled is None:
            self._segment(begin, end, y, None)
            return
        under_way: dict[int, np.ndarray] = {}
        held = np.zeros(self.plant.nv)
        for t0, t1, measured, acting in _instants(begin, end, sampled):
            if measured is not None:
                q, v, s, w = self._parts(y)
                under_way[measured], rate = self.loop.control.law(self.plant, np.asarray(t0), q, v, s, self.p)
                y = np.concatenate([q, v, s + sampled.period * rate, w])
            if acting is not None:
                held = under_way.pop(acting)
            reached = self._segment(t0, t1, y, held)
            if reached is None:
                return
            y = reached

    def _segment(self, begin: float, end: float, y: np.ndarray, held: np.ndarray | None) -> np.ndarray | None:
        """Integrate from begin to end; the state there, or None where the motion ends before."""
        rate = self._rate(held)

        def derivative(t: float, y: np.ndarray) -> np.ndarray:
            q, v, s, _ = self._parts(y)
            return rate(np.array(t), q, v, s)

        self._write(begin, lambda _: y, held)
        t, failure = begin, ""
        try:
            solver = self.solver(derivative, begin, y, end, rtol=self.tolerance, atol=1e-2 * self.tolerance)
            events = self._events(begin, y)
            while solver.status == "running":
                failure = solver.step() or ""
                if solver.status == "failed":
                    break
                dense = solver.dense_output()
                now = self._events(solver.t, solver.y)
                stopped = self._crossings(events, now, t, solver.t, dense)
                self._write(solver.t if stopped is None else stopped, dense, held)
                if stopped is not None:
                    self.raw.end[self.sample] = stopped
                    return None
                t, y, events = solver.t, solver.y, now
        except ComputationError as error:
            failure = str(error)
        if not failure:
            return y
        q, v, _, _ = self._parts(y)
        failure = self.loop.plant.carrying(self.p).diagnosis(q, v, t) or failure
        self.raw.end[self.sample] = t
        self.raw.failure[self.sample] = f"stopped at t = {t:.6g} s in q = {shown(q)}, v = {shown(v)}: {failure}"
        return None

    def _rate(self, held: np.ndarray | None) -> Callable[..., np.ndarray]:
        """(t, q, v, s) -> rates of q, v, s and the works: one compiled function, or in Python what cannot be traced."""
        if not self.loop.python:
            compiled_rate = _compiled_rate(self.loop, held is not None)
            fixed = [np.ascontiguousarray(x) for x in self.p.values()] + ([] if held is None else [held])
            return lambda *state: compiled_rate(*state, *fixed)
        rate = self.loop.rate(self.plant, self.p, held)

        def in_python(t: np.ndarray, q: np.ndarray, v: np.ndarray, s: np.ndarray) -> np.ndarray:
            a, rate_s, powers = rate(t, q, v, s)
            return np.concatenate([self.plant.rate(q, v), a, rate_s, powers(v)])

        return in_python

    def _parts(self, y: np.ndarray) -> list[np.ndarray]:
        """q with unit quaternions, v, the control's own state, the works."""
        i, j, k = self.cuts
        parts = [y[:i], y[i:j], y[j:k], y[k:]]
        if self.quaternions:
            parts[0] = parts[0].copy()
            for at in self.quaternions:
                parts[0][at] /= np.linalg.norm(parts[0][at])
        return parts

    def _write(self, until: float, state: Callable[[float], np.ndarray], held: np.ndarray | None) -> None:
        """Rows up to a time that have not been written."""
        raw = self.raw
        while self.row < len(raw.time) and raw.time[self.row] <= until + 1e-12 * max(1.0, abs(until)):
            t = float(raw.time[self.row])
            q, v, s, w = self._parts(state(t))
            tau = held if held is not None else self.loop.control.law(self.plant, np.asarray(t), q, v, s, self.p)[0]
            at = (self.sample, self.row)
            raw.q[at], raw.v[at], raw.tau[at], raw.works[at] = q, v, tau, w
            self.row += 1
            if self.tick is not None:
                self.tick(1)

    def _events(self, t: float, y: np.ndarray) -> list[float]:
        q, v, _, _ = self._parts(y)
        return [float(g) for g in self.loop.events.values(np.asarray(t), q, v)]

    def _crossings(
        self, before: list[float], after: list[float], t0: float, t1: float, dense: Callable[[float], np.ndarray]
    ) -> float | None:
        """Write down what happened in a step; the time of the first terminal event, or None."""

        def state(t: float) -> tuple[np.ndarray, np.ndarray]:
            q, v, _, _ = self._parts(dense(t))
            return q, v

        found = []
        for k, event in enumerate(self.loop.events.given):
            if self.loop.events.crossed(k, before[k], after[k]):
                t, q, v = self.loop.events.located(k, t0, t1, state)
                found.append((event, Crossing(event.name, t, q, v, (self.sample,))))
        stop = min((crossing.time for event, crossing in found if event.terminal), default=None)
        self.raw.crossings += [crossing for _, crossing in found if stop is None or crossing.time <= stop]
        return stop


_rates: weakref.WeakKeyDictionary[Any, dict[str, Callable[..., np.ndarray]]] = weakref.WeakKeyDictionary()
_RATES = "the equations of motion"


def _compiled_rate(loop: Loop, held: bool) -> Callable[..., np.ndarray]:
    """The rates of everything that is integrated as one compiled function, made once for a plant and a structure."""
    owner, numbers = loop.plant.identity
    template, structure = bare(loop)
    kept = _rates.setdefault(owner, {})
    if structure is None:  # the loop can do what no key knows
        made = _rate_kernel(template, held, None)
        return kept.setdefault(made.traced_key(), made.caller(Context(loop.plant.who)))
    key = keys.key(structure, numbers, held)
    if key not in kept:
        plant_key = loop.plant.key
        full = None if plant_key is None else keys.key("rates", structure, plant_key, held)
        kept[key] = _rate_kernel(template, held, full).caller(Context(loop.plant.who))
    return kept[key]


def _rate_kernel(loop: Loop, held: bool, key: str | None) -> Kernel:
    """(t, q, v, s, parameters ..., held force) -> the rates of q, v, s and of the works."""
    plant, states = loop.plant, loop.control.states
    inputs: dict[str, tuple[int, ...]] = {"t": (), "q": (plant.nq,), "v": (plant.nv,), "s": (states,)}
    inputs |= {name: x.shape[-1:] for name, x in loop.parameters.items()}
    inputs |= {"held": (plant.nv,)} if held else {}

    def trace() -> casadi.Function:
        symbols = {name: SX.sym(name, *shape) for name, shape in inputs.items()}
        p = {name: symbols[name] for name in loop.parameters}
        t, q, v, s = (symbols[name] for name in ("t", "q", "v", "s"))
        a, rate_s, powers = loop.rate(plant.carrying(p), p, symbols["held"] if held else None)(t, q, v, s)
        rates = casadi.vertcat(plant.rate(q, v), a, rate_s, powers(v))
        return casadi.Function("rates", list(symbols.values()), [rates], {"cse": True})

    results = (("rates", (plant.nq + plant.nv + states + len(WORKS),)),)
    return Kernel(Signature(_RATES, tuple(inputs.items()), results), trace, key)


def _instants(begin: float, end: float, sampled: Sampled) -> Iterator[tuple[float, float, int | None, int | None]]:
    """(from, to, measurement made at `from`, measurement that acts from there), over a sampled control's instants."""
    period, delay = sampled.period, sampled.delay
    count = int(np.ceil((end - begin) / period)) + 1
    marks: list[tuple[float, int | None, int | None]] = [(begin + k * period, k, None) for k in range(count)]
    marks += [(begin + k * period + delay, None, k) for k in range(count)]
    merged: list[list[Any]] = []
    for t, measured, acting in sorted(marks, key=lambda mark: mark[0]):
        if not merged or t - merged[-1][0] > _SAME * period:
            merged.append([t, None, None])
        merged[-1][1] = measured if measured is not None else merged[-1][1]
        merged[-1][2] = acting if acting is not None else merged[-1][2]
    merged = [mark for mark in merged if mark[0] < end - _SAME * period]
    for here, following in zip(merged, [*merged[1:], [end, None, None]], strict=True):
        yield here[0], following[0], here[1], here[2]
