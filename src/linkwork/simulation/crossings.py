"""Crossings: where events happened between two rows, found by repeating part of a step."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from linkwork.simulation.events import Crossing
from linkwork.simulation.numeric import NumericPlant
from linkwork.simulation.raw import Raw
from linkwork.simulation.step_loop import StepLoop


def find_crossings(loop: StepLoop, raw: Raw, kept: Mapping[str, np.ndarray], h: float) -> None:
    """Locate every event of rows that follow each other at every step;
    cut each sample at its first terminal one."""
    numeric = NumericPlant(loop.plant)
    crossings: list[tuple[float, int, Crossing]] = []
    for sample in range(len(raw.q)):
        cut = np.inf
        here: list[tuple[float, int, Crossing]] = []
        g = kept["g"][sample]
        for j, event in enumerate(loop.events.watched):
            with np.errstate(invalid="ignore"):
                hits = np.flatnonzero(loop.events.crossed(j, g[:-1, j], g[1:, j]))
            for k in hits:
                time, q, v = _located(loop, numeric, raw, kept, sample, int(k), j, h)
                here.append((time, j, Crossing(event.name, time, q, v, (sample,))))
                if event.terminal:
                    cut = min(cut, time)
                    break
        if np.isfinite(cut):
            later = raw.time > cut
            for rows in (raw.q, raw.v, raw.tau, raw.works):
                rows[sample, later] = np.nan
            raw.end[sample] = cut
            raw.failure.pop(sample, None)
        crossings += [one for one in here if one[0] <= cut]
    raw.crossings = [crossing for _, _, crossing in sorted(crossings, key=lambda one: one[:2])]


def _located(
    loop: StepLoop,
    plant: NumericPlant,
    raw: Raw,
    kept: Mapping[str, np.ndarray],
    sample: int,
    k: int,
    event: int,
    h: float,
) -> tuple[float, np.ndarray, np.ndarray]:
    t0 = float(raw.time[k])
    state = {name: rows[sample, k] for name, rows in kept.items()}
    p = numbers_of(loop, sample, len(raw.q), k)
    plant = plant.carrying(p)

    def after(t: float) -> tuple[np.ndarray, np.ndarray]:
        if t == t0:
            return state["q"], state["v"]
        done = loop.step(plant, state, p, k, np.asarray(t0), np.asarray(t - t0))
        return done["q"], done["v"]

    return loop.events.located(event, t0, t0 + h, after)


def numbers_of(loop: StepLoop, sample: int, samples: int, k: int) -> dict[str, np.ndarray]:
    """Parameters and rows of step k for one sample of a batch."""
    p = {}
    for name, x in loop.parameters.items():
        p[name] = x[sample] if x.ndim > 1 and len(x) == samples else x.reshape(x.shape[-1:])
    for name, x in loop.sequences.items():
        rows = x[sample] if x.ndim > 2 and len(x) == samples else x.reshape(x.shape[-2:])
        p[name] = rows[min(k, len(rows) - 1)]
    return p
