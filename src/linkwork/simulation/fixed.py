"""Fixed steps inside machine code: a whole trajectory, or thousands, as one scan."""

from __future__ import annotations

import copy
import functools
from collections.abc import Callable
from typing import Any

import casadi
import numpy as np
from casadi import SX

from linkwork.engine import keys, machine
from linkwork.engine.scan import Scan, ScanResult, keyed_scan
from linkwork.errors import ComputationError
from linkwork.once import Keeper
from linkwork.simulation.crossings import find_crossings, numbers_of
from linkwork.simulation.metrics import KINDS
from linkwork.simulation.numeric import NumericPlant
from linkwork.simulation.plant import Plant
from linkwork.simulation.raw import Raw, not_finite, shown
from linkwork.simulation.step_loop import WORKS, Stage, StepLoop
from linkwork.simulation.structure import bare
from linkwork.simulation.system_plant import SystemPlant

SHARED_UP_TO = 12
"""Coordinates up to which accelerations by a shared mass matrix are tried beside the shortest
way."""

Tick = Callable[[int], None]
_NONE = SX(0)


def run(
    loop: StepLoop,
    q: np.ndarray,
    v: np.ndarray,
    start: float,
    h: float,
    steps: int,
    every: int,
    tick: Tick | None,
) -> Raw:
    """q (B, nq), v (B, nv) -> rows at every `every`-th step, both ends included.

    One step more than asked runs, so that the last row has its force too.
    """
    watch = bool(loop.events.watched)
    keep = 1 if watch else every
    compiled = _scan_of(loop)
    parts = _pieces(steps + 1, keep, tick)
    rows = -(-(steps + 1) // keep)
    time = start + h * keep * np.arange(rows)
    samples = len(q)
    raw = Raw.empty(samples, time, loop.plant.nq, loop.plant.nv, len(WORKS))
    kept = (
        {name: np.full((samples, rows, n), np.nan) for name, n in loop.sizes.items()}
        if watch
        else {}
    )
    state = _initial(loop, q, v)
    alive = np.arange(samples)
    first = 0
    for count in parts:
        done = _advance(loop, compiled, state, alive, samples, start, h, first, count, keep, steps)
        for name, reduced in done.reduced.items():
            _reduce(
                raw, name.removeprefix("metric_"), reduced.reshape(len(alive), -1), alive, samples
            )
        at = slice(first // keep, first // keep + -(-count // keep))
        # pairs, not a dictionary: what is kept for events has names of rows, too
        states = ("q", raw.q), ("v", raw.v), ("tau", raw.tau), ("w", raw.works)
        for name, target in (*states, *kept.items()):
            recorded = done.record[f"row_{name}"]
            target[alive, at] = recorded.reshape(len(alive), at.stop - at.start, target.shape[-1])
        for name in state:
            state[name][alive] = done.state[name]
        _close(loop, raw, done, alive, state, start, h, first, steps)
        alive = alive[~(done.stopped | done.failed)]
        first += count
        if tick is not None:
            tick(count)
        if not len(alive):
            break
    if watch:
        find_crossings(loop, raw, kept, h)
        raw.thin(every)
    return raw


def _advance(
    loop: StepLoop,
    compiled: Scan,
    state: dict[str, np.ndarray],
    alive: np.ndarray,
    samples: int,
    start: float,
    h: float,
    first: int,
    count: int,
    keep: int,
    final: int,
) -> ScanResult:
    """Some steps of the samples that still run."""

    def own(array: np.ndarray, inner: int) -> np.ndarray:
        """The rows of the samples alive; what all samples share stays shared."""
        lead = array.shape[: array.ndim - inner]
        return array[alive] if lead and lead[0] == samples and samples > 1 else array

    carried: dict[str, Any] = {name: x[alive] for name, x in state.items()}
    carried |= {name: own(x, 1) for name, x in loop.parameters.items()}
    for name, x in loop.sequences.items():
        rows = own(x, 2)[..., first : first + count, :]
        missing = count - rows.shape[-2]
        carried[name] = (
            np.concatenate([rows, *[x[..., -1:, :]] * missing], axis=-2) if missing > 0 else rows
        )
    # Two vectors a lane group hide the latency of a step that waits for itself
    # (python -m benchmarks simulate).
    wide = 2 * machine.widths()[0]
    width = wide if len(alive) >= wide else None
    if loop.metrics is not None:
        carried["final"] = float(final)
    return compiled(
        **carried, h=h, start=start, first=float(first), steps=count, every=keep, width=width
    )


def _reduce(raw: Raw, name: str, reduced: np.ndarray, alive: np.ndarray, samples: int) -> None:
    """Figures of some more steps; those of a sample that has ended stay."""
    rule = {"sum": np.add, "max": np.maximum}[KINDS[name]]
    so_far = raw.metrics.setdefault(name, np.zeros((samples, reduced.shape[1])))
    so_far[alive] = rule(so_far[alive], reduced)


def _close(
    loop: StepLoop,
    raw: Raw,
    done: ScanResult,
    alive: np.ndarray,
    state: dict[str, np.ndarray],
    start: float,
    h: float,
    first: int,
    steps: int,
) -> None:
    """Write down which samples ended in these steps, and why."""
    for j in np.flatnonzero(done.failed) if done.failed.any() else ():
        k = first + int(done.steps[j])
        if k >= steps:
            continue  # only the step beyond the end failed
        sample = int(alive[j])
        raw.end[sample] = start + k * h
        last = {name: x[sample] for name, x in state.items()}
        p = numbers_of(loop, sample, len(raw.q), k)
        told = _control_to_blame(loop, last, p, start + k * h, h)
        raw.failure[sample] = not_finite(
            loop.plant.carrying(p), start + k * h, last["q"], last["v"], h, told
        )


def _control_to_blame(
    loop: StepLoop, state: dict[str, np.ndarray], p: dict[str, np.ndarray], t: float, h: float
) -> str:
    """What the control gives in the last finite state, or within a step from there,
    if that is no finite number."""
    plant = NumericPlant(loop.plant).carrying(p)
    for part in (0.0, 0.5 * h, h):
        q = plant.integrate(state["q"], part * state["v"])
        try:
            known = loop.known(state, p)
            states = state.get("s", np.zeros(0))[: loop.control.states]
            loop.control.law(plant, np.asarray(t + part), q, state["v"], states, known)
            for sampler in loop.control.samplers():
                sampler.update(
                    plant, {**state, "q": q}, known, 0, np.asarray(t + part), np.asarray(h)
                )
        except ComputationError as error:
            return f"in q = {shown(q)} there is no finite force: {error}"
    return ""


def _initial(loop: StepLoop, q: np.ndarray, v: np.ndarray) -> dict[str, np.ndarray]:
    state = {name: np.zeros((len(q), n)) for name, n in loop.sizes.items()}
    state["q"], state["v"] = q.copy(), v.copy()
    return state


def _pieces(total: int, keep: int, tick: Tick | None) -> list[int]:
    """All steps at once, or in about a hundred pieces when somebody watches;
    each but the last a multiple of `keep`."""
    if tick is None:
        return [total]
    size = max(keep, total // 100 // keep * keep)
    return [min(size, total - at) for at in range(0, total, size)]


def built(owner: Keeper) -> dict[str, Scan]:
    """Key -> loop, of all that were compiled for a robot or system."""
    return owner.once(built, dict)


def _scan_of(loop: StepLoop) -> Scan:
    """The compiled loop of this structure for this plant, made once."""
    owner, numbers = loop.plant.identity
    template, structure = bare(loop)
    kept = built(owner)
    if structure is None:  # the loop can do what no key knows
        made = build(template, None)
        return kept.setdefault(keys.key("traced", made.program), made)
    key = keys.key(structure, numbers)
    if key not in kept:
        plant_key = loop.plant.key
        kept[key] = build(template, None if plant_key is None else keys.key(structure, plant_key))
    return kept[key]


def build(loop: StepLoop, key: str | None) -> Scan:
    """The scan of a loop: its state carried, every row recorded as it is before the step.

    Accelerations come by the shortest way, or by a mass matrix that the control shares, whichever
    is shorter in all.
    """
    plant, sizes = loop.plant, loop.sizes
    ways = [plant]
    constrained = isinstance(plant, SystemPlant) and bool(plant.system.constraints)
    if loop.control.shares and plant.nv <= SHARED_UP_TO and not constrained:
        ways.append(copy.copy(plant))
        ways[1].sharing = True
    parameters = {name: x.shape[-1:] for name, x in loop.parameters.items()}
    sequences = {name: x.shape[-1:] for name, x in loop.sequences.items()}
    rows = ["q", "v", "tau", "w"] + (
        [name for name in sizes if name not in ("q", "v", "w")] if loop.events.watched else []
    )

    def step(
        plant: Plant, k: SX, h: SX, start: SX, first: SX, final: SX = _NONE, **symbols: SX
    ) -> dict[str, SX]:
        state = {name: symbols[name] for name in sizes}
        p = {name: symbols[name] for name in (*parameters, *sequences)}
        index = k + first
        carried, t = plant.carrying(p), start + index * h
        out = loop.step(carried, state, p, index, t, h)
        if loop.metrics is not None:
            weight = casadi.if_else(index < final, h, 0.0)
            out |= loop.metrics.row(
                carried, t, state["q"], state["v"], out["tau"], p, weight, t - start
            )
        before = {**state, "tau": out.pop("tau")}
        if "g" in state:
            before["g"] = out["g"]
        return {**out, **{f"row_{name}": before[name] for name in rows}}

    def staged(
        stage: Stage, k: SX, h: SX, start: SX, first: SX, final: SX = _NONE, **symbols: SX
    ) -> dict[str, SX]:
        """A sampled law's instants: its part of the state, where it is due."""
        state = {name: symbols[name] for name in sizes}
        p = {name: symbols[name] for name in (*parameters, *sequences)}
        index = k + first
        due, update = stage(plant.carrying(p), state, p, index, start + index * h, h)
        return {"due": due, **update()}

    fixed: dict[str, tuple[int, ...]] = {"h": (), "start": (), "first": ()}
    if loop.metrics is not None:
        fixed["final"] = ()
    return keyed_scan(
        key,
        [functools.partial(step, way) for way in ways],
        sizes,
        {**fixed, **parameters},
        sequences,
        record={f"row_{name}": sizes.get(name, plant.nv) for name in rows},
        name=f"simulate {plant.who}",
        stages=[functools.partial(staged, stage) for stage in loop.stages()],
        reduce=None if loop.metrics is None else loop.metrics.kinds,
    )
