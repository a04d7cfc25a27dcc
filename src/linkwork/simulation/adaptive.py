"""Adaptive steps, by Dormand and Prince's method or SciPy's LSODA: the error is held,
the step follows."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import casadi
import numpy as np
from casadi import SX

from linkwork import deadlines
from linkwork.engine import keys
from linkwork.engine.kernel import Context, Kernel, Signature
from linkwork.engine.traced import traced
from linkwork.errors import ComputationError, NotPossible
from linkwork.simulation.crossings import numbers_of
from linkwork.simulation.dormand_prince import DormandPrince
from linkwork.simulation.events import Crossing
from linkwork.simulation.numeric import NumericPlant
from linkwork.simulation.raw import Raw, shown
from linkwork.simulation.step_loop import WORKS, StepLoop
from linkwork.simulation.structure import bare

METHODS = ("dop853", "lsoda")
RUNAWAY = 1e6
"""Speed [rad/s, m/s] that no machine has; steps that follow such a motion become ever shorter and
never end."""
_SAME = 1e-9  # of a period: two instants that differ by less are one


def run(
    loop: StepLoop,
    q: np.ndarray,
    v: np.ndarray,
    times: np.ndarray,
    method: str,
    tolerance: float,
    tick: Callable[[int], None] | None,
) -> Raw:
    """q (B, nq), v (B, nv) -> rows at the given times, one sample after the other.

    Quaternions are integrated as four numbers, whose length the equation keeps, and brought back to
    unit length before anything is computed from them and in every row.
    """
    if loop.sequences:
        raise NotPossible(
            f'simulate: rows a step need a fixed step; "{method}" chooses its own. Use method="rk4"'
        )
    if loop.stops.hard:
        raise NotPossible(
            f'simulate: end stops with restitution need a fixed step, not "{method}"; give them '
            "stiffness"
        )
    solver = _solver(method)
    raw = Raw.empty(len(q), times, loop.plant.nq, loop.plant.nv, len(WORKS))
    plant = NumericPlant(loop.plant)
    for sample in range(len(q)):
        p = numbers_of(loop, sample, len(q), 0)
        motion = _Motion(loop, plant.carrying(p), p, solver, tolerance, raw, sample, tick)
        motion.run(q[sample], v[sample])
    raw.crossings.sort(key=lambda crossing: crossing.time)
    return raw


def _solver(method: str) -> Any:
    if method == "dop853":
        return DormandPrince
    # here, because it takes longer to import than the rest of linkwork
    from scipy.integrate import (
        LSODA,
    )

    return LSODA


class _Motion:
    """One sample on its way; rows are written into `raw` as they are reached."""

    def __init__(
        self,
        loop: StepLoop,
        plant: NumericPlant,
        p: dict[str, Any],
        solver: Any,
        tolerance: float,
        raw: Raw,
        sample: int,
        tick: Callable[[int], None] | None,
    ) -> None:
        self.loop = loop
        self.plant = plant
        self.p = p
        self.solver = solver
        self.tolerance = tolerance
        self.raw, self.sample, self.tick = raw, sample, tick
        self.cuts = (plant.nq, plant.nq + plant.nv, plant.nq + plant.nv + loop.states)
        self.quaternions = loop.plant.quaternions
        self.row = 0

    def run(self, q: np.ndarray, v: np.ndarray) -> None:
        y = np.concatenate([q, v, np.zeros(self.loop.states + len(WORKS))])
        begin, end = float(self.raw.time[0]), float(self.raw.time[-1])
        samplers = self.loop.control.samplers()
        if not samplers:
            self._segment(begin, end, y)
            return
        self.p |= {f"{s.name}_held": np.zeros(self.plant.nv) for s in samplers}
        memories = [np.zeros(s.inner.kept) for s in samplers]
        sensed = [np.zeros(s.sensor.memory if s.sensor is not None else 0) for s in samplers]
        under_way: dict[tuple[int, int], np.ndarray] = {}
        for t0, t1, marks in _instants(begin, end, [s.timing for s in samplers]):
            for j, sampler in enumerate(samplers):
                q, v, s, _ = self._parts(y)
                known = dict(self.p)
                if self.loop.drives is not None:
                    known["drive_state"] = s[self.loop.states - self.loop.drives.states :]
                for k in marks.get((j, "measures"), ()):
                    period = np.asarray(sampler.timing[0])
                    if sampler.sensor is not None:
                        q, v, sensed[j] = sampler.sensor.read(
                            self.plant, q, v, sensed[j], known, period
                        )
                    under_way[j, k], memories[j] = sampler.inner.sample(
                        self.plant, np.asarray(t0), q, v, memories[j], known, period
                    )
                for k in marks.get((j, "acts"), ()):
                    self.p[f"{sampler.name}_held"] = under_way.pop((j, k))
            reached = self._segment(t0, t1, y)
            if reached is None:
                return
            y = reached

    def _segment(self, begin: float, end: float, y: np.ndarray) -> np.ndarray | None:
        """Integrate from begin to end; the state there, or None where the motion ends before."""
        rate = self._rate()

        def derivative(t: float, y: np.ndarray) -> np.ndarray:
            deadlines.check()
            q, v, s, _ = self._parts(y)
            return rate(np.array(t), q, v, s)

        self._write(begin, lambda _: y)
        t, failure = begin, ""
        try:
            solver = self.solver(
                derivative, begin, y, end, rtol=self.tolerance, atol=1e-2 * self.tolerance
            )
            events = self._events(begin, y)
            while solver.status == "running":
                failure = solver.step() or ""
                if solver.status == "failed":
                    break
                dense = solver.dense_output()
                now = self._events(solver.t, solver.y)
                stopped = self._crossings(events, now, t, solver.t, dense)
                self._write(solver.t if stopped is None else stopped, dense)
                if stopped is not None:
                    self.raw.end[self.sample] = stopped
                    return None
                t, y, events = solver.t, solver.y, now
                fastest = float(np.abs(self._parts(y)[1]).max(initial=0.0))
                if fastest > RUNAWAY:
                    failure = (
                        f"a speed of {fastest:.3g} rad/s or m/s: the motion runs away, as "
                        "with gains too large"
                    )
                    break
        except ComputationError as error:
            failure = str(error)
        if not failure:
            return y
        q, v, _, _ = self._parts(y)
        failure = self.loop.plant.carrying(self.p).diagnosis(q, v, t) or failure
        self.raw.end[self.sample] = t
        self.raw.failure[self.sample] = (
            f"stopped at t = {t:.6g} s in q = {shown(q)}, v = {shown(v)}: {failure}"
        )
        return None

    def _rate(self) -> Callable[..., np.ndarray]:
        """(t, q, v, s) -> rates of q, v, s and the works: one compiled function,
        or in Python what cannot be traced."""
        if not self.loop.python:
            compiled_rate = _compiled_rate(self.loop)
            fixed = [
                np.ascontiguousarray(self.p[name])
                for name in (*self.loop.parameters, *_held(self.loop))
            ]
            return lambda *state: compiled_rate(*state, *fixed)
        rate = self.loop.rate(self.plant, self.p)

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

    def _write(self, until: float, state: Callable[[float], np.ndarray]) -> None:
        """Rows up to a time that have not been written."""
        raw = self.raw
        while self.row < len(raw.time) and raw.time[self.row] <= until + 1e-12 * max(
            1.0, abs(until)
        ):
            t = float(raw.time[self.row])
            q, v, s, w = self._parts(state(t))
            tau = self.loop.forces_of(self.plant, np.asarray(t), q, v, s, self.p)[0]
            at = (self.sample, self.row)
            raw.q[at], raw.v[at], raw.tau[at], raw.works[at] = q, v, tau, w
            self.row += 1
            if self.tick is not None:
                self.tick(1)

    def _events(self, t: float, y: np.ndarray) -> list[float]:
        q, v, _, _ = self._parts(y)
        return [float(g) for g in self.loop.events.values(np.asarray(t), q, v)]

    def _crossings(
        self,
        before: list[float],
        after: list[float],
        t0: float,
        t1: float,
        dense: Callable[[float], np.ndarray],
    ) -> float | None:
        """Write down what happened in a step; the time of the first terminal event, or None."""

        def state(t: float) -> tuple[np.ndarray, np.ndarray]:
            q, v, _, _ = self._parts(dense(t))
            return q, v

        crossings = []
        for k, event in enumerate(self.loop.events.watched):
            if self.loop.events.crossed(k, before[k], after[k]):
                t, q, v = self.loop.events.located(k, t0, t1, state)
                crossings.append((event, Crossing(event.name, t, q, v, (self.sample,))))
        stop = min((crossing.time for event, crossing in crossings if event.terminal), default=None)
        self.raw.crossings += [
            crossing for _, crossing in crossings if stop is None or crossing.time <= stop
        ]
        return stop


_RATES = "the equations of motion"


def _compiled_rate(loop: StepLoop) -> Callable[..., np.ndarray]:
    """The rates of everything that is integrated as one compiled function,
    made once for a plant and a structure."""
    owner, numbers = loop.plant.identity
    template, structure = bare(loop)
    kept: dict[str, Callable[..., np.ndarray]] = owner.once(_compiled_rate, dict)
    if structure is None:  # the loop can do what no key knows
        made = _rate_kernel(template, None)
        return kept.setdefault(made.traced_key(), made.caller(Context(loop.plant.who)))
    key = keys.key(structure, numbers)
    if key not in kept:
        plant_key = loop.plant.key
        full = None if plant_key is None else keys.key("rates", structure, plant_key)
        kept[key] = _rate_kernel(template, full).caller(Context(loop.plant.who))
    return kept[key]


def _rate_kernel(loop: StepLoop, key: str | None) -> Kernel:
    """(t, q, v, s, parameters ..., held forces ...) -> the rates of q, v, s and of the works."""
    plant, states = loop.plant, loop.states
    inputs: dict[str, tuple[int, ...]] = {
        "t": (),
        "q": (plant.nq,),
        "v": (plant.nv,),
        "s": (states,),
    }
    inputs |= {name: x.shape[-1:] for name, x in loop.parameters.items()}
    inputs |= dict.fromkeys(_held(loop), (plant.nv,))

    def rates(t: SX, q: SX, v: SX, s: SX, *others: SX) -> SX:
        p = dict(zip((*loop.parameters, *_held(loop)), others, strict=True))
        a, rate_s, powers = loop.rate(plant.carrying(p), p)(t, q, v, s)
        return casadi.vertcat(plant.rate(q, v), a, rate_s, powers(v))

    results = (("rates", (plant.nq + plant.nv + states + len(WORKS),)),)
    return traced(Signature(_RATES, tuple(inputs.items()), results), rates, key)


def _held(loop: StepLoop) -> list[str]:
    """Names of the forces that sampled laws hold."""
    return [f"{sampler.name}_held" for sampler in loop.control.samplers()]


def _instants(
    begin: float, end: float, timings: list[tuple[float, float, float]]
) -> Iterator[tuple[float, float, dict[tuple[int, str], list[int]]]]:
    """(from, to, what happens at `from`: {(sampled law, "measures" or "acts"): its samples}) over
    all instants."""
    marks: list[tuple[float, int, str, int]] = [(begin, -1, "begins", 0)]
    for j, (period, delay, offset) in enumerate(timings):
        count = int(np.ceil((end - begin) / period)) + 1
        first = begin + offset
        marks += [(first + k * period, j, "measures", k) for k in range(count)]
        marks += [(first + k * period + delay, j, "acts", k) for k in range(count)]
    same = _SAME * min(period for period, _, _ in timings)
    merged: list[tuple[float, dict[tuple[int, str], list[int]]]] = []
    for t, j, what, k in sorted(marks, key=lambda mark: mark[0]):
        if not merged or t - merged[-1][0] > same:
            merged.append((t, {}))
        merged[-1][1].setdefault((j, what), []).append(k)
    merged = [mark for mark in merged if mark[0] < end - same]
    ends = [mark[0] for mark in merged[1:]] + [end]
    for (t, happens), until in zip(merged, ends, strict=True):
        yield t, until, happens
