"""Fixed steps in Python, for what cannot be traced: the same step as inside machine code,
over numbers."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from linkwork import deadlines
from linkwork.errors import ComputationError
from linkwork.simulation.crossings import find_crossings, numbers_of
from linkwork.simulation.metrics import KINDS
from linkwork.simulation.numeric import NumericPlant
from linkwork.simulation.raw import Raw, not_finite
from linkwork.simulation.step_loop import WORKS, StepLoop
from linkwork.simulation.tracing import NotFinite


def run(
    loop: StepLoop,
    q: np.ndarray,
    v: np.ndarray,
    start: float,
    h: float,
    steps: int,
    every: int,
    tick: Callable[[int], None] | None,
) -> Raw:
    """As `fixed.run`, one sample after the other."""
    plant = NumericPlant(loop.plant)
    watch = bool(loop.events.watched)
    keep = 1 if watch else every
    time = start + h * (keep * np.arange(steps // keep + 1))
    raw = Raw.empty(len(q), time, plant.nq, plant.nv, len(WORKS))
    kept = (
        {name: np.full((len(q), steps + 1, n), np.nan) for name, n in loop.sizes.items()}
        if watch
        else {}
    )
    for sample in range(len(q)):
        state = {name: np.zeros(n) for name, n in loop.sizes.items()}
        state["q"], state["v"] = q[sample].copy(), v[sample].copy()
        for k in range(steps + 1):
            deadlines.check()
            t, told = start + h * k, ""
            # stages that are due, then the step
            try:
                p = numbers_of(loop, sample, len(q), k)
                for stage in loop.stages():
                    due, update = stage(
                        plant.carrying(p), state, p, k, np.asarray(t), np.asarray(h)
                    )
                    state = {**state, **update()} if due else state
                done = loop.step(plant.carrying(p), state, p, k, np.asarray(t), np.asarray(h))
                finite = all(np.isfinite(x).all() for x in done.values())
            except ComputationError as error:
                finite, told = False, str(error) if isinstance(error, NotFinite) else ""
            if finite and loop.metrics is not None and k < steps:
                row = loop.metrics.row(
                    plant.carrying(p), t, state["q"], state["v"], done["tau"], p, h, t - start
                )
                _add_figures(raw, row, sample)
            # the row of this instant, where one is wanted
            if k % keep == 0:
                before = {**state, "tau": done["tau"] if finite else np.full(plant.nv, np.nan)}
                if watch and finite:
                    before["g"] = done["g"]
                # pairs, not a dictionary: what is kept for events has names of rows, too
                states = ("q", raw.q), ("v", raw.v), ("tau", raw.tau), ("w", raw.works)
                for name, rows in (*states, *kept.items()):
                    rows[sample, k // keep] = before[name]
            # where it ends, or goes on
            if not finite:
                if k < steps:
                    raw.end[sample] = t
                    raw.failure[sample] = not_finite(
                        loop.plant.carrying(p), t, state["q"], state["v"], h, told
                    )
                break
            if watch and np.any(done.pop("stop") > 0):
                break
            done.pop("tau")
            state = {name: np.asarray(done[name], dtype=float) for name in loop.sizes}
            if tick is not None:
                tick(1)
    if watch:
        find_crossings(loop, raw, kept, h)
        raw.thin(every)
    return raw


def _add_figures(raw: Raw, row: Mapping[str, Any], sample: int) -> None:
    """A row of figures into those of a sample: sums grow, extremes are kept."""
    for name, x in row.items():
        figure = name.removeprefix("metric_")
        so_far = raw.metrics.setdefault(figure, np.zeros((len(raw.q), np.size(x))))
        rule = np.add if KINDS[figure] == "sum" else np.maximum
        so_far[sample] = rule(so_far[sample], x)
