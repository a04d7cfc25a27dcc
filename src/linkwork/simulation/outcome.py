"""Outcome: the result of a run, made of its raw rows."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from linkwork.errors import SimulationStopped
from linkwork.simulation import accounts
from linkwork.simulation.events import Crossing
from linkwork.simulation.metrics import OF_EACH
from linkwork.simulation.raw import Raw
from linkwork.simulation.result import Simulation, columns_of
from linkwork.simulation.step_loop import StepLoop


def outcome(
    loop: StepLoop,
    raw: Raw,
    batch: tuple[int, ...],
    h: float | None,
    where: str,
    why: str,
    foreseen: str,
    tolerance: float,
    failures: str,
) -> Simulation:
    """The result of a run; SimulationStopped with it where a sample failed and that shall raise."""
    plant = loop.plant
    columns = columns_of(plant.q_names, plant.v_names, raw.time, q=raw.q, v=raw.v, tau=raw.tau)
    columns |= accounts.energies(plant, raw.time, raw.q, raw.v, raw.works)
    if plant.time_dependent:
        # what moves a mechanism by the clock does work that no column counts
        del columns["energy.balance"]
    elif h is not None:
        _judge_step(raw, columns, h, tolerance)
    reason = np.full(len(raw.q), "", dtype=object)
    for sample, words in raw.failure.items():
        reason[sample] = words
    terminal = {event.name for event in loop.events.watched if event.terminal}
    for crossing in raw.crossings:
        if crossing.name in terminal and not reason[crossing.sample[0]]:
            reason[crossing.sample[0]] = f'event "{crossing.name}"'
    success = np.array([sample not in raw.failure for sample in range(len(raw.q))])

    def shaped(x: np.ndarray) -> np.ndarray:
        return x.reshape(batch + x.shape[1:]) if batch else x.reshape(x.shape[1:])

    result = Simulation(
        time=raw.time,
        q=shaped(raw.q),
        v=shaped(raw.v),
        tau=shaped(raw.tau),
        columns={name: x if name == "time" else shaped(x) for name, x in columns.items()},
        events=tuple(_placed(crossing, batch) for crossing in raw.crossings),
        success=shaped(success),
        reason=shaped(reason),
        end=shaped(raw.end),
        method=loop.method,
        step=h,
        where=where,
        why=why,
        foreseen=foreseen,
        metrics={name: _figure(name, x, shaped) for name, x in raw.metrics.items()},
    )
    if raw.failure and failures == "raise":
        sample, words = min(raw.failure.items())
        many = f" ({len(raw.failure)} of {len(raw.q)} samples)" if len(raw.q) > 1 else ""
        at = f" of sample {tuple(map(int, np.unravel_index(sample, batch)))}" if batch else ""
        known = f"; it was foreseen: {foreseen}" if foreseen else ""
        rows = "the rows until then are in the error's .partial"
        raise SimulationStopped(f"simulate{at}: {words}{many}{known}; {rows}", result)
    return result


def _figure(name: str, x: np.ndarray, shaped: Callable[[np.ndarray], np.ndarray]) -> np.ndarray:
    """(..., n) of figures of axes or joints, also of one; (...,) of those of a whole run."""
    return shaped(x if name in OF_EACH else x[:, 0])


def _judge_step(raw: Raw, columns: dict[str, np.ndarray], h: float, tolerance: float) -> None:
    """Cut a sample where its energies no longer balance: its step is too large."""
    rows = accounts.first_imbalance(columns, tolerance)
    for sample in np.flatnonzero(rows < len(raw.time)):
        k = int(rows[sample])
        off = columns["energy.balance"][sample, k]
        q, v = raw.q[sample, k], raw.v[sample, k]
        raw.failure[int(sample)] = (
            f"the energies are off by {off:.3g} J at t = {raw.time[k]:.6g} s in q = "
            f"{np.round(q, 4).tolist()}, "
            f"v = {np.round(v, 4).tolist()}: the step of {h:g} s is too large"
        )
        raw.end[sample] = raw.time[k]
        for rows_of in (raw.q, raw.v, raw.tau, raw.works):
            rows_of[sample, k + 1 :] = np.nan
        for name, column in columns.items():
            if name.startswith("energy"):
                column[sample, k + 1 :] = np.nan


def _placed(crossing: Crossing, batch: tuple[int, ...]) -> Crossing:
    at = tuple(int(i) for i in np.unravel_index(crossing.sample[0], batch)) if batch else ()
    return Crossing(crossing.name, crossing.time, crossing.q, crossing.v, at)
