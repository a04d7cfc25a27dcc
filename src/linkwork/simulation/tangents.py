"""Tangents: a loop run together with its derivatives along directions of its parameters
(forward mode)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import casadi
import numpy as np
from casadi import SX

from linkwork.engine.scan import keyed_scan
from linkwork.errors import NotPossible
from linkwork.simulation.bound import Bound
from linkwork.simulation.events import Events
from linkwork.simulation.friction import Friction
from linkwork.simulation.metrics import KINDS, Metrics
from linkwork.simulation.plant import Plant
from linkwork.simulation.step_loop import StepLoop
from linkwork.simulation.stops import Stops

SUMS = tuple(name for name, kind in KINDS.items() if kind == "sum")
"""Figures that are integrals: they have derivatives everywhere."""


def tangent_figures(
    plant: Plant,
    control: Bound,
    directions: Sequence[Mapping[str, np.ndarray]],
    q: np.ndarray,
    v: np.ndarray,
    metrics: Metrics,
    friction: Friction,
    step: float,
    steps: int,
    method: str = "rk4",
) -> tuple[dict[str, np.ndarray], list[dict[str, np.ndarray]]]:
    """(figures, their derivatives along each direction of the control's parameters),
    one lane a direction.

    control       its timings are whole numbers of steps
    directions    {parameter: tangent of its shape}; a parameter that is missing does not move
    """
    loop = StepLoop(
        plant, control, {}, Stops((), plant), Events((), plant), method, None, metrics, friction
    )
    if loop.python:
        raise NotPossible(f"figure_gradient: {loop.python}")
    _count_timings(control, step)
    sizes = loop.sizes
    parameters = {name: x.shape[-1:] for name, x in loop.parameters.items()}
    moving = sorted({name for direction in directions for name in direction})

    # one step with its tangents, the figures that are sums beside it
    def derived(values: dict[str, SX], symbols: Mapping[str, SX]) -> dict[str, SX]:
        """The tangents of values, by those of the state and of the parameters that move."""
        inputs = [symbols[name] for name in (*sizes, *moving)]
        tangents = [symbols[f"d_{name}"] for name in (*sizes, *moving)]
        x, dx = casadi.vertcat(*inputs), casadi.vertcat(*tangents)
        return {f"d_{name}": casadi.jtimes(SX(value), x, dx) for name, value in values.items()}

    def advance(k: SX, h: SX, **symbols: SX) -> dict[str, SX]:
        state = {name: symbols[name] for name in sizes}
        p = {name: symbols[name] for name in parameters}
        carried, t = plant.carrying(p), k * h
        out = loop.step(carried, state, p, k, t, h)
        row = metrics.row(carried, t, state["q"], state["v"], out.pop("tau"), p, h, t)
        row = {name: x for name, x in row.items() if name.removeprefix("metric_") in SUMS}
        return {**out, **row, **derived({**out, **row}, symbols)}

    def staged(stage: Any) -> Any:
        def run(k: SX, h: SX, **symbols: SX) -> dict[str, SX]:
            state = {name: symbols[name] for name in sizes}
            p = {name: symbols[name] for name in parameters}
            due, update = stage(plant.carrying(p), state, p, k, k * h, h)
            changed = update()
            return {"due": due, **changed, **derived(changed, symbols)}

        return run

    reduce = {f"{lead}metric_{name}": "sum" for name in SUMS for lead in ("", "d_")}
    scan = keyed_scan(
        None,
        [advance],
        {**sizes, **{f"d_{name}": size for name, size in sizes.items()}},
        {"h": (), **parameters, **{f"d_{name}": parameters[name] for name in moving}},
        name=f"gradient {plant.who}",
        stages=[staged(stage) for stage in loop.stages()],
        reduce=reduce,
    )
    # every lane starts at the same state and moves along its own direction
    lanes = len(directions)
    first: dict[str, Any] = {}
    for name, size in sizes.items():
        start = {"q": q, "v": v}.get(name, np.zeros(size))
        first[name], first[f"d_{name}"] = np.tile(start, (lanes, 1)), np.zeros((lanes, size))
    for name, x in loop.parameters.items():
        first[name] = x.reshape(-1)
    for name in moving:
        shape = parameters[name]
        first[f"d_{name}"] = np.array(
            [np.broadcast_to(d.get(name, np.zeros(shape)), shape) for d in directions]
        )
    done = scan(**first, h=step, steps=steps)
    if done.failed.any():
        raise NotPossible("figure_gradient: the run does not stay finite with these gains")

    def rows(lead: str, lane: int) -> dict[str, np.ndarray]:
        return {name: np.atleast_1d(done.reduced[f"{lead}metric_{name}"][lane]) for name in SUMS}

    return rows("", 0), [rows("d_", lane) for lane in range(lanes)]


def _count_timings(control: Bound, step: float) -> None:
    """Periods and delays of sampled laws in whole steps, as parameters of the run."""
    for sampler in control.samplers():
        counts = sampler.in_steps(lambda time, name: round(time / step))
        off = [abs(n * step - time) for n, time in zip(counts, sampler.timing, strict=True)]
        if any(apart > 1e-6 * step for apart in off):
            raise NotPossible(
                f"figure_gradient: {sampler.timing} s are no whole numbers of steps of {step:g} s"
            )
        control.parameters[f"{sampler.name}_timing"] = counts
