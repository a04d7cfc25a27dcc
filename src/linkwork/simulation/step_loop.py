"""StepLoop: plant, control, forces, stops and events as one step, over symbols or numbers."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from casadi import SX

from linkwork.simulation.algebra import dot, is_symbolic, joined, part
from linkwork.simulation.bound import Bound
from linkwork.simulation.events import Events
from linkwork.simulation.friction import Friction
from linkwork.simulation.metrics import Metrics
from linkwork.simulation.plant import Plant
from linkwork.simulation.signals import Signal
from linkwork.simulation.steppers import STEPPERS
from linkwork.simulation.stops import Stops

Stage = Callable[..., tuple[Any, Callable[[], dict[str, Any]]]]
WORKS = ("control", "external", "stops", "dissipated")
"""Energies that are integrated beside the motion: what control,
external forces and end stops put in, what is lost."""


@dataclass
class StepLoop:
    """Everything a step needs except the numbers;
    the plant that a step gets carries those of its payloads.

    state names: q, v, s (the control's own), w (works), g (event values), and for every sampled law
    the force it holds, its memory and what is under way (sampling.py)
    """

    plant: Plant
    control: Bound
    forces: Mapping[str, Signal]
    stops: Stops
    events: Events
    method: str
    disturbance: Signal | None = None
    metrics: Metrics | None = None
    friction: Friction = field(default_factory=Friction)
    drives: Any = None

    @property
    def sizes(self) -> dict[str, int]:
        n = self.plant.nv
        sizes = {"q": self.plant.nq, "v": n, "s": self.states, "w": len(WORKS)}
        for sampler in self.control.samplers():
            sizes |= sampler.sizes
        if self.events.watched:
            sizes["g"] = len(self.events.watched)
        return {name: size for name, size in sizes.items() if size}

    @property
    def states(self) -> int:
        """Numbers integrated beside the motion: the control's, friction's, then the drives'."""
        rubbing = self.control.states + self.friction.states(self.plant.nv)
        return rubbing + (0 if self.drives is None else self.drives.states)

    @property
    def python(self) -> str:
        """Why this loop cannot run inside machine code, or ""."""
        signals = [s.python for s in self.signals() if s.python is not None]
        told = [f"{f.who} cannot be traced: {f.why_not}" for f in signals]
        return self.control.python or next(iter(told), "") or self.events.python

    def signals(self) -> list[Signal]:
        """Forces and joint forces from outside, and what metrics compare with."""
        signals = [
            *self.forces.values(),
            *([self.disturbance] if self.disturbance is not None else []),
        ]
        return [*signals, *(self.metrics.signals if self.metrics is not None else [])]

    @property
    def parameters(self) -> dict[str, np.ndarray]:
        parameters = self.plant.parameters | self.control.parameters | self.friction.parameters
        parameters |= {} if self.drives is None else self.drives.parameters
        for signal in self.signals():
            parameters |= signal.parameters
        return parameters

    @property
    def sequences(self) -> dict[str, np.ndarray]:
        sequences = dict(self.control.sequences)
        for signal in self.signals():
            sequences |= signal.sequences
        return sequences

    def wrenches(self, t: Any, p: Mapping[str, Any]) -> dict[str, Any]:
        return {name: signal.at(t, p)[0] for name, signal in self.forces.items()}

    def forces_of(
        self, plant: Plant, t: Any, q: Any, v: Any, s: Any, p: Mapping[str, Any]
    ) -> tuple[Any, Any, Any]:
        """(joint forces, behind the drives if there are some; rates of the control's and of the
        drives' states)."""
        tau, rate_s = self.control.law(plant, t, q, v, part(s, 0, self.control.states), p)
        if self.drives is None:
            return tau, rate_s, None
        first = self.states - self.drives.states
        tau, rate_d = self.drives.act(tau, v, part(s, first, self.states), p, self.plant.nv)
        return tau, rate_s, rate_d

    def rate(
        self, plant: Plant, p: Mapping[str, Any], seen: list[Any] | None = None, rubbing: Any = None
    ) -> Callable[..., Any]:
        """(t, q, v, s) -> (a, rate of s, powers); p holds the forces of sampled laws.

        seen      a list that gets the control's forces
        rubbing   dry friction where that is constant; left out it follows the speed
        """

        def rate(t: Any, q: Any, v: Any, s: Any) -> tuple[Any, Any, Callable[[Any], Any]]:
            states = self.control.states
            tau, rate_s, rate_d = self.forces_of(plant, t, q, v, s, p)
            if seen is not None:
                seen.append(tau)
            wrenches = self.wrenches(t, p)
            push = self.stops.force(plant, q, v) if self.stops.soft else None
            total = tau if push is None else tau + push
            lost = self.friction.force(v, p, rubbing) if self.friction else None
            if self.friction.models:
                rubs = states + self.friction.states(self.plant.nv)
                modelled, rate_z = self.friction.modelled(v, part(s, states, rubs), p)
                lost, rate_s = lost + modelled, joined([rate_s, rate_z])
            rate_s = rate_s if rate_d is None else joined([rate_s, rate_d])
            total = total if lost is None else total - lost
            unknown = None if self.disturbance is None else self.disturbance.at(t, p)[0]
            total = total if unknown is None else total + unknown
            a = plant.acceleration(q, v, total, t, wrenches)

            def powers(u: Any) -> Any:
                external = plant.external_power(q, u, t, wrenches) if wrenches else 0.0
                external = external if unknown is None else external + dot(unknown, u)
                stopped = dot(push, u) if push is not None else 0.0
                dissipated = plant.dissipated(q, u, t)
                if lost is not None:
                    dissipated = dissipated + dot(lost, u)
                return joined([dot(tau, u), external, stopped, dissipated])

            return a, rate_s, powers

        return rate

    def step(
        self, plant: Plant, state: Mapping[str, Any], p: Mapping[str, Any], k: Any, t: Any, h: Any
    ) -> dict[str, Any]:
        """One step from time t (the k-th): the next state, the force "tau" in action, and "stop".

        What sampled laws hold and remember stays; `stages` have changed it before where it is due.
        """
        q, v, w = state["q"], state["v"], state["w"]
        s = state.get("s", _empty(q))
        out: dict[str, Any] = self.sampled(state)
        p = {**p, **out}
        rubbing = None
        if self.friction.dry:
            free = self.rate(plant, p, rubbing=np.zeros(len(self.friction.dry)))(t, q, v, s)[0]
            rubbing = self.friction.held(plant, q, v, t, free, h, p)
        seen: list[Any] = []
        q1, v1, s1, w1 = STEPPERS[self.method](
            plant, self.rate(plant, p, seen, rubbing), t, q, v, s, w, h
        )
        tau = seen[0]
        if self.stops.hard:
            wrenches = self.wrenches(t + h, p)
            before = _total(plant, q1, v1, t + h)
            q1, v1 = self.stops.impact(plant, q1, v1, tau, t + h, wrenches)
            w1 = w1 + joined([0.0, 0.0, _total(plant, q1, v1, t + h) - before, 0.0])
        out |= {"q": q1, "v": v1, "w": w1, "tau": tau}
        if self.states:
            out["s"] = s1
        if self.events.watched:
            now = self.events.values(t, q, v)
            stop: Any = 0.0
            for j, event in enumerate(self.events.watched):
                if event.terminal:
                    stop = stop + (k > 0) * self.events.crossed(j, state["g"][j], now[j])
            out |= {"g": joined(now), "stop": stop}
        return out

    def sampled(self, state: Mapping[str, Any]) -> dict[str, Any]:
        """What sampled laws hold, remember and have under way."""
        return {name: state[name] for sampler in self.control.samplers() for name in sampler.sizes}

    def known(self, state: Mapping[str, Any], p: Mapping[str, Any]) -> dict[str, Any]:
        """What a sampled law can read beside the motion: numbers of the run, other laws' forces,
        the drives' states."""
        numbers = {**p, **self.sampled(state)}
        if self.drives is not None:
            numbers["drive_state"] = part(state["s"], self.states - self.drives.states, self.states)
        return numbers

    def stages(self) -> list[Stage]:
        """For every sampled law: (plant, state, p, k, t, h) -> (is it due, how its part of the
        state changes)."""

        def stage(sampler: Any) -> Stage:
            def run(plant: Plant, state: Any, p: Any, k: Any, t: Any, h: Any) -> tuple[Any, Any]:
                measures, acts = sampler.due(p, k)
                known = self.known(state, p)
                return measures + acts > 0, lambda: sampler.update(plant, state, known, k, t, h)

            return run

        return [stage(sampler) for sampler in self.control.samplers()]


def _total(plant: Plant, q: Any, v: Any, t: Any) -> Any:
    kinetic_potential = plant.energy(q, v, t)
    return kinetic_potential[0] + kinetic_potential[1]


def _empty(like: Any) -> Any:
    return SX(0, 1) if is_symbolic(like) else np.zeros(0)
