"""Foreseen: what is known to go wrong with gains and targets before anything moves."""

from __future__ import annotations

import logging
from collections.abc import Iterator

import numpy as np
from casadi import DM

from linkwork.errors import NotPossible
from linkwork.loops.dynamics import has_constraints
from linkwork.simulation.bound import Bound
from linkwork.simulation.numeric import NumericPlant
from linkwork.simulation.plant import Plant
from linkwork.simulation.signals import Signal, Source
from linkwork.simulation.targets import beyond_range, followed
from linkwork.simulation.task_space import TaskSpace
from linkwork.subject import Subject

log = logging.getLogger(__name__)
INSTANTS = 201
"""Instants of a target over time that a run looks at beforehand."""
FOLLOWED = 21
"""Instants at which it also looks for the joints of a frame's target,
beside those of its extreme places."""
TRIALS = 20
"""Other configurations from which a place is sought before it is called out of reach."""


def foresee(
    plant: Plant, bound: Bound, q: np.ndarray, start: float, duration: float, step: float
) -> str:
    """Words about a run from q (nq,), also in the log:
    gains of sampled laws (batches are a search), targets."""
    told = [
        foreseen_gains(plant, bound, q),
        foreseen_target(plant, bound, q, start, duration, step),
    ]
    for words in filter(None, told):
        log.warning("simulate: %s", words)
    return "; ".join(filter(None, told))


def foreseen_gains(plant: Plant, bound: Bound, q: np.ndarray) -> str:
    """Which gain of a sampled law is unstable at q (nq,), with its limit, in words; else
    nothing."""
    for sampler in bound.samplers():
        period, delay, _ = sampler.timing
        if words := sampler.inner.foresee(plant, q, period, delay):
            return str(words)
    return ""


def foreseen_target(
    plant: Plant, bound: Bound, q: np.ndarray, start: float, duration: float, step: float
) -> str:
    """What is wrong with the targets of a run's laws, in words; else nothing.

    Of batches the first sample's. Frames are followed where joints are plain numbers without closed
    loops; joints that are not needed for a place may stay in their ranges elsewhere, so that only
    arms without spare ones are told of.
    """
    subject = getattr(plant, "subject", None)
    if not isinstance(subject, Subject):
        return ""
    plant = plant.carrying(
        {name: x.reshape(-1, x.shape[-1])[0] for name, x in plant.parameters.items()}
    )
    for signal, space in _targets(bound):
        times, rows = _over(signal.source, start, duration, step)
        if not len(times):
            continue
        words = ""
        if space is None:
            words = beyond_range(subject, rows, times) if rows.shape[1] == plant.nq else ""
        elif plant.flat and not has_constraints(subject):
            words = _along(plant, subject, rows, times, space, q)
        if words:
            return f"{signal.source.who}: {words}"
    return ""


def _along(
    plant: Plant,
    subject: Subject,
    rows: np.ndarray,
    times: np.ndarray,
    space: TaskSpace,
    q: np.ndarray,
) -> str:
    chosen = _telling(rows)
    try:
        path = followed(NumericPlant(plant), rows[chosen], times[chosen], space, q, TRIALS)
    except NotPossible as refusal:
        return str(refusal)
    return beyond_range(subject, path, times[chosen]) if plant.nv == len(space.axes) else ""


def _telling(rows: np.ndarray) -> np.ndarray:
    """Which of many rows to look at: evenly spread ones,
    and those at the extreme places of each number."""
    if len(rows) == 1:
        return np.zeros(1, dtype=int)
    even = np.linspace(0, len(rows) - 1, FOLLOWED).round().astype(int)
    return np.unique(np.concatenate([even, rows.argmin(axis=0), rows.argmax(axis=0)]))


def _targets(bound: Bound) -> Iterator[tuple[Signal, TaskSpace | None]]:
    target, space = getattr(bound, "target", None), getattr(bound, "space", None)
    if isinstance(target, Signal):
        yield target, space
    for part in bound.inside:
        yield from _targets(part)


def _over(
    source: Source, start: float, duration: float, step: float
) -> tuple[np.ndarray, np.ndarray]:
    """(times (T,), rows (T, n)) of a target during a run;
    functions that Python alone can call are left to the run."""
    if source.kind == "rows":
        rows = source.array.reshape(-1, *source.array.shape[-2:])[0]
        chosen = np.unique(np.linspace(0, len(rows) - 1, INSTANTS).round().astype(int))
        return start + step * chosen, rows[chosen]
    if source.kind == "numbers":
        return np.array([start]), source.array.reshape(-1, source.array.shape[-1])[:1]
    assert source.function is not None
    if source.function.function is None:
        return np.zeros(0), np.zeros((0, 0))
    times = start + duration * np.linspace(0.0, 1.0, INSTANTS)
    return times, np.array(source.function.function.call([DM(times[None, :])])[0]).T
