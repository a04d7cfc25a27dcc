"""Judging a run: figures of merit from its rows, and laws compared on one motion."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from linkwork.arguments import as_doubles
from linkwork.control.checks import positive, positive_array
from linkwork.errors import InvalidInput
from linkwork.poses import pose_numbers
from linkwork.simulation import simulate
from linkwork.simulation.numeric import NumericPlant
from linkwork.simulation.plants import Mechanism, plant_of
from linkwork.simulation.signals import Source
from linkwork.simulation.task_space import AXES, TaskSpace


def judge(
    run: Any,
    target: Any = None,
    frame: str | None = None,
    axes: Any = AXES,
    robot: Mechanism | None = None,
    slope: ArrayLike | None = None,
    width: float = 0.02,
) -> dict[str, np.ndarray]:
    """Figures of a run: a mapping of names to numbers (...,) or (..., n),
    over the integrator's rows.

    target   numbers, rows (T, n) at the run's times, or a function of time; left out: the run's
             last row
    frame    compare the frame along `axes` instead of the joints; needs the robot. Targets then are
             numbers of the axes (world position [m], rotation vector [rad]) or poses (4, 4),
             (T, 4, 4); rotations differ by the rotation vector of R_target R'
    squared_error [ISE], absolute_error [IAE], timed_error [ITAE], rms, max_error, steady_error
    (last tenth), overshoot (part of the first error), rise (10 to 90 %), settling (into 2 %) [s]
    for a target that stands still; effort (sum of integrals of tau^2), peak, energy
    (integral of |tau v|), variation (of tau per second: chatter)

    slope    [1/s] of a sliding surface nu = e' + slope e: adds reaching_time [s], when |nu| of a
             joint first is within `width` of its largest, and band, the largest |nu| from then on;
             NaN where it never gets there
    """
    t = run.time
    wanted = target_rows(target, run, frame)
    e = (
        wanted - run.q
        if frame is None
        else _missing(robot, run.q, wanted, TaskSpace.of(frame, axes, "judge"))
    )
    h = np.diff(t)
    tau, v = run.tau[..., :-1, :], run.v[..., :-1, :]
    size = np.abs(e[..., :-1, :])
    weight = h[:, None]
    span = t[-1] - t[0]
    figures = {
        "squared_error": (e[..., :-1, :] ** 2 * weight).sum((-1, -2)),
        "absolute_error": (size * weight).sum(-2),
        "timed_error": (size * (t[:-1, None] - t[0]) * weight).sum(-2),
        "rms": np.sqrt((size**2 * weight).sum(-2) / span),
        "max_error": np.abs(e).max(-2),
        "steady_error": np.abs(e[..., -max(1, len(t) // 10) :, :]).mean(-2),
        "effort": (tau**2 * weight).sum((-1, -2)),
        "peak": np.abs(run.tau).max(-2),
        "energy": (np.abs(tau * v) * weight).sum((-1, -2)),
        "variation": np.abs(np.diff(run.tau, axis=-2)).sum(-2) / span,
    }
    if np.ptp(wanted, axis=-2).max() == 0.0:
        figures |= _step_figures(e, t)
    if slope is not None:
        if frame is not None:
            raise InvalidInput("judge: slope is of joints, expected no frame with it")
        rate = run.v - np.gradient(wanted, t, axis=-2)
        figures |= _sliding_figures(
            rate - positive_array(slope, "judge: slope") * e, t, positive(width, "judge: width")
        )
    return {name: np.asarray(x) for name, x in figures.items()}


def _sliding_figures(nu: np.ndarray, t: np.ndarray, width: float) -> dict[str, np.ndarray]:
    """When each sliding variable (..., T, n) gets near zero, and how far it leaves it
    afterwards."""
    size = np.abs(nu)
    near = size <= width * size.max(-2, keepdims=True)
    first = near.argmax(-2)
    later = np.arange(len(t))[:, None] >= first[..., None, :]
    reached = near.any(-2)
    band = np.where(later, size, 0.0).max(-2)
    return {
        "reaching_time": np.where(reached, t[first] - t[0], np.nan),
        "band": np.where(reached, band, np.nan),
    }


def _step_figures(e: np.ndarray, t: np.ndarray) -> dict[str, np.ndarray]:
    """Overshoot, rise and settling of each coordinate;
    NaN for one that starts at its target or never settles."""
    first = e[..., :1, :]
    with np.errstate(invalid="ignore", divide="ignore"):
        part = np.where(np.abs(first) > 0, e / first, np.nan)  # 1 at the start, 0 at the target
    over = np.maximum(-np.nanmin(part, axis=-2, initial=0.0), 0.0)

    def first_time(reached: np.ndarray) -> np.ndarray:
        return np.where(reached.any(-2), t[reached.argmax(-2)], np.nan)

    rise = first_time(part <= 0.1) - first_time(part <= 0.9)
    outside = ~(np.abs(part) <= 0.02)
    last = t[len(t) - 1 - outside[..., ::-1, :].argmax(-2)]
    settled = np.where(outside.any(-2), last, t[0]) - t[0]
    settled = np.where(outside[..., -1, :], np.nan, settled)
    return {"overshoot": over, "rise": rise, "settling": settled}


def target_rows(target: Any, run: Any, frame: str | None = None) -> np.ndarray:
    """A target of `judge` at the run's times: rows (T, n); poses become sixteen numbers."""
    t = run.time
    if target is None:
        if frame is not None:
            raise InvalidInput("judge: target is missing, expected where the frame should be")
        return np.broadcast_to(run.q[..., -1:, :], run.q.shape)
    if callable(target):
        function = Source(target, "judge: target").function
        assert function is not None
        return np.array([np.ravel(function(np.asarray(x))[0]) for x in t])
    rows = (
        as_doubles(target, "judge: target")
        if frame is None
        else pose_numbers(target, "judge: target")
    )
    if frame is not None and rows.shape[-2:] == (4, 4) and rows.ndim in (2, 3):
        rows = rows.reshape(*rows.shape[:-2], 16)
    if rows.ndim >= 2 and rows.shape[-2] not in (1, len(t)):
        raise InvalidInput(
            f"judge: target has {rows.shape[-2]} rows, expected one for each of the {len(t)} times"
        )
    return rows if rows.ndim >= 2 else np.broadcast_to(rows, (len(t), rows.shape[-1]))


def _missing(
    robot: Mechanism | None, q: np.ndarray, wanted: np.ndarray, space: TaskSpace
) -> np.ndarray:
    """What a frame lacks to its target along its axes (..., T, m), as a law would see it."""
    if robot is None:
        raise InvalidInput("judge: a frame needs robot=, whose frame it is")
    if wanted.shape[-1] not in space.sizes:
        expected = " or ".join(map(str, space.sizes))
        raise InvalidInput(
            f"judge: target has {wanted.shape[-1]} numbers a row, expected {expected}"
        )
    plant = NumericPlant(plant_of(robot))
    goals = np.broadcast_to(wanted, (*q.shape[:-1], wanted.shape[-1])).reshape(-1, wanted.shape[-1])
    pairs = zip(q.reshape(-1, q.shape[-1]), goals, strict=True)
    rows = np.array(
        [space.split(plant.compute(space, at, goal), plant.nv)[0] for at, goal in pairs]
    )
    return rows.reshape(*q.shape[:-1], len(space.axes))


def compare(
    laws: Mapping[str, Any] | Iterable[Any],
    robot: Mechanism,
    q: Any,
    target: Any = None,
    cases: Mapping[str, Mapping[str, Any]] | None = None,
    **options: Any,
) -> dict[str, dict[str, np.ndarray]]:
    """Figures of several controllers on one run: {law: figures}; options are those of lw.simulate.

    cases   {name: options of it}, as {"2 kg": {"payload": ...}, "rough": {"friction": ...}}: every
            law in every one of them, as {"law, case": figures}
    """
    named = (
        dict(laws)
        if isinstance(laws, Mapping)
        else {f"{k} {type(law).__name__}": law for k, law in enumerate(laws)}
    )
    figures_by_law = {}
    for name, law in named.items():
        for case, changes in ({"": {}} if cases is None else cases).items():
            run = simulate(robot, q, control=law, **{**options, **changes})
            figures_by_law[f"{name}, {case}" if cases is not None else name] = judge(run, target)
    return figures_by_law
