"""simulate: motion over time of robots and systems, with controllers, forces,
events and energy accounts."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, TypeVar

import numpy as np
from numpy.typing import ArrayLike

from linkwork import deadlines
from linkwork.arguments import as_doubles, choice, mapping, number
from linkwork.errors import InvalidInput, NotPossible
from linkwork.model.payload import Payload
from linkwork.progress import counted
from linkwork.simulation import adaptive, fixed, stepwise
from linkwork.simulation.bound import Bound
from linkwork.simulation.controllers import Controller, as_controller, nothing
from linkwork.simulation.durations import (
    DEFAULT_STEP,
    fixed_steps,
    instants,
    positive,
    whole_steps,
)
from linkwork.simulation.events import Event, Events
from linkwork.simulation.foreseen import foresee
from linkwork.simulation.friction import Friction, friction_of
from linkwork.simulation.metrics import Metrics
from linkwork.simulation.outcome import outcome
from linkwork.simulation.plant import Plant
from linkwork.simulation.plants import Mechanism, plant_of
from linkwork.simulation.result import Simulation
from linkwork.simulation.sensors import Encoder, attach
from linkwork.simulation.signals import Signal, Source
from linkwork.simulation.step_loop import WORKS, StepLoop
from linkwork.simulation.steppers import STEPPERS
from linkwork.simulation.stops import EndStop, Stops
from linkwork.simulation.system_plant import SystemPlant

Item = TypeVar("Item", EndStop, Event)
LEAST_TOLERANCE = 1e-14
MOST_IN_PYTHON = 10**9
"""Steps of a law or event that cannot be compiled: a day of work and more."""


def simulate(
    mechanism: Mechanism,
    q: ArrayLike | None = None,
    v: ArrayLike | None = None,
    *,
    duration: float,
    method: str | None = None,
    step: float | None = None,
    sample: float | None = None,
    control: Any = None,
    forces: Mapping[str, Any] | None = None,
    disturbance: Any = None,
    payload: Payload | Sequence[Payload] | None = None,
    variables: Mapping[str, Any] | None = None,
    friction: Any = True,
    sensors: Encoder | None = None,
    drives: Any = None,
    stops: Sequence[EndStop] = (),
    events: Sequence[Event] = (),
    start: float = 0.0,
    tolerance: float = 1e-9,
    energy_tolerance: float = 0.1,
    failures: str = "raise",
    metrics: Metrics | None = None,
    record: bool = True,
    progress: bool | Callable[[int, int], None] = False,
    time_limit: float | None = None,
) -> Simulation:
    """The motion of a Robot or a System from a state, or from a batch of states (..., nq),
    (..., nv).

    method    "dop853" or "lsoda" (adaptive, relative error `tolerance`), "rk4" or
              "semi_implicit_euler" (fixed `step` [s], a whole trajectory in machine code, batches
              on all lanes and threads). Default: dop853 for one state without `step`
              (lsoda where there is dry friction), else rk4.
    sample    time between rows of the result [s] (a multiple of step); default: every step, or a
              thousandth of the duration for adaptive methods
    control   a controller (PD, PID, GravityCompensation, ComputedTorque, sums of them, Saturated,
              Sampled) or a function tau(t, q, v). What CasADi can trace runs inside machine code;
              anything else runs step by step in Python, and the result says so (`where`, `why`).
    forces    {body or frame: force}: six numbers (force, moment; world axes, at that origin), a
              function of time that gives them, or PerStep rows; on bodies of a System three numbers
              will do
    disturbance  joint forces [N m, N] that no controller knows: numbers (..., nv), a function of
                 time, PerStep rows
    payload   a Payload or several, the same for all samples or a batch that broadcasts with the
              states; new numbers compile nothing. GravityCompensation and ComputedTorque know what
              their sample carries; a function tau(t, q, v) knows what it is told.
    variables {name: (...)}: live variables of the robot, also batches; new values compile nothing
    friction  damping and dry friction of the robot's description; False leaves them out; Viscous,
              Coulomb, Stribeck, LuGre, or several of them, take their place. Fixed steps hold dry
              friction exactly (a joint that sticks stands still); adaptive methods smooth it below
              1e-4 rad/s or m/s
    sensors   Encoder: what sampled laws are told of the state; left out they know it exactly
    drives    control.JointDrives: motors, current loops, voltage limits and gears between the law
              and the joints; tau of the result is then what reaches the joints
    stops     EndStop for coordinates that reach the end of their range; events: Event, watched for
              their zeros
    energy_tolerance  part of the energy moved by which the balance of energies may be off before a
                      fixed step counts as
              too large
    failures  "raise": SimulationStopped with the sentence and `.partial`, everything computed until
              then; "keep": the result, with success and reason for every sample
    metrics   Metrics: figures of the run, computed beside it over the integrator's rows
              (fixed steps); the result's `metrics`. record=False keeps the first and the last row
              only: ten thousand runs then need no memory.
    time_limit  seconds after which it ends with NotPossible; None: as long as it takes
    progress  True shows a bar while it runs, on the error stream; a function is called with
              (rows done, all rows)
    """
    # what moves, from where, and what acts on it
    plant = plant_of(mechanism, payload, variables)
    if not plant.nv:
        raise NotPossible(f"simulate: {plant.who} has no joint that moves")
    start = number(start, "simulate: start")
    energy_tolerance = positive("energy_tolerance", energy_tolerance, endless=True)
    q0, v0, batch = _initial(plant, q, v, start)
    rubbing = friction_of(friction, plant)
    adaptive_method, method = _method(method, step, len(batch) > 0, bool(rubbing.dry))
    bound = _control(control, plant)
    if sensors is not None:
        attach(bound, sensors, plant)
    signals = _forces(forces, plant)
    ends, watched = _listed(stops, EndStop, "stops"), _listed(events, Event, "events")
    unknown = _disturbance(disturbance, plant)
    figures = None if metrics is None else _metrics(metrics, plant, adaptive_method)
    noticed = Stops(ends, plant), Events(watched, plant)
    # all of it as one step, for every sample of the batch
    loop = StepLoop(plant, bound, signals, *noticed, method, unknown, figures, rubbing)
    loop.drives = None if drives is None else _drives(drives, plant)
    choice(failures, ("raise", "keep"), "simulate: failures")
    batch = _with_parameters(batch, loop)
    q0, v0 = (_rows(x, batch) for x in (q0, v0))
    _spread(loop, batch)
    lasts = positive("duration", duration)
    asked_step = positive("step", DEFAULT_STEP if step is None else step)
    foreseen = foresee(plant, bound, q0[0], start, lasts, asked_step) if len(q0) else ""
    # the run itself
    if adaptive_method:
        h, times = None, instants(duration, sample, start)
        deadlines.check_steps(
            lasts * len(q0), "simulate", MOST_IN_PYTHON, "; adaptive ones take a second at most"
        )
        _check_memory(plant, len(q0) * len(times), False)
        with (
            counted(progress, "simulating", len(times) * len(q0)) as tick,
            deadlines.time_limit(time_limit, "simulate"),
        ):
            raw = adaptive.run(loop, q0, v0, times, method, _tolerance(tolerance), tick)
        where = "Python"
        why = loop.python or f"{method} chooses its steps in Python; it calls compiled functions"
    else:
        h, steps, every = fixed_steps(duration, step, sample, record, len(q0))
        _check_rows(loop, steps)
        _in_steps(loop, h)
        why = loop.python
        where = "Python" if why else "machine code"
        runner = stepwise.run if why else fixed.run
        if why:
            deadlines.check_steps(
                steps * len(q0), "simulate", MOST_IN_PYTHON, "; a law or event runs in Python"
            )
        whole = bool(watched)  # then every step is kept, not every row alone
        _check_memory(plant, len(q0) * ((steps if whole else steps // every) + 1), whole)
        total = (steps + 1) * (len(q0) if why else 1)
        with (
            counted(progress, "simulating", total) as tick,
            deadlines.time_limit(time_limit, "simulate"),
        ):
            raw = runner(loop, q0, v0, start, h, steps, every, tick)
    return outcome(loop, raw, batch, h, where, why, foreseen, energy_tolerance, failures)


def _initial(
    plant: Plant, q: Any, v: Any, t: float
) -> tuple[np.ndarray, np.ndarray, tuple[int, ...]]:
    q0 = as_doubles(plant.neutral() if q is None else q, "simulate: q")
    v0 = as_doubles(np.zeros(plant.nv) if v is None else v, "simulate: v")
    for name, x, n in (("q", q0, plant.nq), ("v", v0, plant.nv)):
        if x.ndim < 1 or x.shape[-1] != n:
            raise InvalidInput(
                f"simulate: {name} has shape {x.shape}, expected (..., {n}): {plant.who}"
            )
        if not np.isfinite(x).all():
            raise InvalidInput(
                f"simulate: {name} contains {x[~np.isfinite(x)][0]}, expected finite numbers"
            )
    try:
        batch = np.broadcast_shapes(q0.shape[:-1], v0.shape[:-1])
    except ValueError:
        raise InvalidInput(f"simulate: q {q0.shape} and v {v0.shape} do not broadcast") from None
    for at in plant.quaternions:
        if (np.abs((q0[..., at] ** 2).sum(-1) - 1) > 2e-6).any():
            raise InvalidInput(
                "simulate: the quaternion of a floating or ball joint in q is off unit length"
            )
    if isinstance(plant, SystemPlant) and plant.system.constraints:
        phi, rate = plant.system.constraint_residual(q0, v0, t)
        worst = max(np.abs(phi).max(initial=0.0), np.abs(rate).max(initial=0.0))
        if worst > 1e-6:
            raise InvalidInput(
                f"simulate: the initial state breaks the constraints of {plant.who} by "
                f"{worst:.3g}; "
                "q, v = system.consistent(q, v) gives the nearest state that obeys them"
            )
    if words := plant.refusal(q0, v0):
        raise InvalidInput(f"simulate: {words}")
    return q0, v0, batch


def _method(method: str | None, step: float | None, batch: bool, dry: bool) -> tuple[bool, str]:
    if method is None:
        adaptive_method = "lsoda" if dry else "dop853"  # dry friction is stiff near rest
        method = "rk4" if step is not None or batch else adaptive_method
    choice(method, (*adaptive.METHODS, *STEPPERS), "simulate: method")
    if method in adaptive.METHODS and step is not None:
        raise InvalidInput(
            f'simulate: step is given, but "{method}" chooses its own; use tolerance, or '
            'method="rk4"'
        )
    return method in adaptive.METHODS, method


def _control(control: Any, plant: Plant) -> Bound:
    if control is None:
        return nothing()
    bound = as_controller(control).bound(plant)
    if bound.past:
        needy = type(control).__name__
        raise InvalidInput(
            f"simulate: {needy} needs samples of the past; put it inside Sampled(law, period)"
        )
    return bound


def _in_steps(loop: StepLoop, h: float) -> None:
    """Periods, delays and offsets of sampled laws as numbers of steps, which the run brings."""
    for sampler in loop.control.samplers():
        steps = sampler.in_steps(
            lambda time, name: whole_steps(time, h, name, "step", zero=name != "period")
        )
        loop.control.parameters[f"{sampler.name}_timing"] = steps


def _disturbance(disturbance: Any, plant: Plant) -> Signal | None:
    if disturbance is None:
        return None
    signal = Signal(Source(disturbance, "simulate: disturbance"), (plant.nv,), "disturbance")
    if signal.source.rows:
        raise InvalidInput(f"{signal.source.who} has rates, expected rows alone")
    return signal


def _drives(drives: Any, plant: Plant) -> Any:
    """Drives in this run: what has `bound(plant)` with states and `act`."""
    if not hasattr(type(drives), "bound") or isinstance(drives, Controller):
        raise InvalidInput(
            f"simulate: drives is {type(drives).__name__}, expected control.JointDrives(...)"
        )
    return drives.bound(plant)


def _metrics(metrics: Any, plant: Plant, adaptive_method: bool) -> Metrics:
    if not isinstance(metrics, Metrics):
        raise InvalidInput(
            f"simulate: metrics is {type(metrics).__name__}, expected Metrics(target, ...)"
        )
    if adaptive_method:
        raise InvalidInput('simulate: metrics need a fixed step; use method="rk4"')
    return metrics.bound(plant)


def _forces(forces: Mapping[str, Any] | None, plant: Plant) -> dict[str, Signal]:
    signals = {}
    for k, (name, wrench) in enumerate(mapping(forces, "simulate: forces").items()):
        signal = Signal(Source(wrench, f'simulate: force on "{name}"'), (2, 3, 6), f"force{k}")
        if signal.source.rows:
            raise InvalidInput(f"{signal.source.who} has rates, expected rows alone")
        plant.force_size(name, signal.size)
        signals[name] = signal
    return signals


def _with_parameters(batch: tuple[int, ...], loop: StepLoop) -> tuple[int, ...]:
    """The batch of the initial states together with that of payloads, gains, targets and forces."""
    leads = {name: x.shape[:-1] for name, x in loop.parameters.items()}
    leads |= {name: x.shape[:-2] for name, x in loop.sequences.items()}
    if not any(leads.values()):
        return batch
    try:
        return np.broadcast_shapes(batch, *leads.values())
    except ValueError:
        told = ", ".join(f"{name} {lead}" for name, lead in leads.items() if lead)
        raise InvalidInput(
            f"simulate: batch shapes do not broadcast: states {batch}, {told}"
        ) from None


def _spread(loop: StepLoop, batch: tuple[int, ...]) -> None:
    """Parameters and rows that differ between samples as one row a sample;
    what all share stays one."""
    holders: list[Bound | Signal | Friction] = [loop.control, loop.friction, *loop.signals()]
    holders += [] if loop.drives is None else [loop.drives]
    groups = [(loop.plant.parameters, 1)]
    for holder in holders:
        groups += [(holder.parameters, 1), (holder.sequences, 2)]
    for numbers, inner in groups:
        for name, x in numbers.items():
            inside = x.shape[x.ndim - inner :]
            if math.prod(x.shape[: x.ndim - inner]) == 1:
                numbers[name] = x.reshape(inside)
            else:
                numbers[name] = np.broadcast_to(x, batch + inside).reshape(-1, *inside)


def _rows(x: np.ndarray, batch: tuple[int, ...]) -> np.ndarray:
    """A copy with one row a sample."""
    n = x.shape[-1]
    return np.array(np.broadcast_to(x, (*batch, n)) if x.shape[:-1] != batch else x).reshape(-1, n)


def _check_rows(loop: StepLoop, steps: int) -> None:
    for name, x in loop.sequences.items():
        if x.shape[-2] < steps:
            raise InvalidInput(
                f"simulate: {name} has {x.shape[-2]} rows, expected one a step: {steps}"
            )


def _check_memory(plant: Plant, rows: int, whole: bool) -> None:
    """Refuse rows that no memory holds: states, forces and works,
    and as much again as columns of the result."""
    size = 8.0 * rows * 4 * (plant.nq + 2 * plant.nv + len(WORKS))
    why = "; events keep every step" if whole else ""
    deadlines.check_memory(
        size, f"simulate: {rows:.3g} rows", f"set step=, sample= or record=False{why}"
    )


def _tolerance(chosen: Any) -> float:
    tolerance = positive("tolerance", chosen)
    if tolerance < LEAST_TOLERANCE:
        told = (
            f"expected at least {LEAST_TOLERANCE:g}: doubles hold no more, and steps would "
            "become endlessly small"
        )
        raise InvalidInput(f"simulate: tolerance is {tolerance:g}, {told}")
    return tolerance


def _listed(items: Any, kind: type[Item], name: str) -> tuple[Item, ...]:
    if isinstance(items, Iterable):
        listed = tuple(items)
        if all(isinstance(item, kind) for item in listed):
            return listed
    raise InvalidInput(
        f"simulate: {name} is {type(items).__name__}, expected a list of {kind.__name__}"
    )
