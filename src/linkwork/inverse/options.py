"""Options of the ways to solve, checked: what comes in becomes numbers and arrays,
or a sentence about it."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from linkwork import configurations
from linkwork.arguments import are_finite, as_doubles, choice
from linkwork.errors import InvalidInput
from linkwork.inverse.mechanism import limits_of
from linkwork.inverse.moves import PENALTIES
from linkwork.inverse.numeric import Solver
from linkwork.inverse.seeds import box
from linkwork.subject import Subject


def start_of(
    who: str,
    subject: Subject,
    q0: Any,
    bounds: tuple[np.ndarray, np.ndarray],
    solver: Solver,
    clip: bool,
) -> np.ndarray:
    """Where sweeps begin: q0, or the middle of the ranges."""
    if q0 is None:
        q = solver.neutral.copy()
        single = [at for at, _ in solver.mechanism.single]
        q[solver.moving[single]] = box(
            solver.mechanism, *(x[solver.moving][single] for x in bounds)
        )[0]
        return q
    q = configuration_of(who, subject, "q0", q0)
    if clip:
        return np.clip(q, *bounds)
    outside = (q < bounds[0]) | (q > bounds[1])
    outside[..., [k for k in range(subject.nq) if k not in solver.moving]] = False
    if outside.any():
        k = tuple(np.argwhere(outside)[0])
        low, high = (x[k[-1]] for x in bounds)
        raise InvalidInput(
            f"{who}: q0{list(map(int, k))} = {q[k]:g} is outside [{low:g}, {high:g}]; "
            "clip_start=True moves it there"
        )
    return q


def penalty_of(
    who: str, subject: Subject, given: Any, bounds: tuple[np.ndarray, np.ndarray], solver: Solver
) -> str | None:
    """The kind of penalty, which needs limits at every joint that moves; None: none."""
    if given is None or given is False:
        return None
    kind = "one_sided" if given is True else choice(given, PENALTIES, f"{who}: penalty")
    for joint, q, _ in configurations.places(subject):
        for k in range(q.start, q.stop):
            if k in solver.moving and not (np.isfinite(bounds[0][k]) and np.isfinite(bounds[1][k])):
                raise InvalidInput(f'{who}: penalty needs finite limits for joint "{joint.name}"')
    return kind


def speeds_of(
    who: str, subject: Subject, given: Any, dt: float | None
) -> tuple[np.ndarray, np.ndarray] | None:
    """(lowest, highest) move of every q in one sampling interval."""
    if given is None or given is False:
        return None
    if dt is None:
        raise InvalidInput(f"{who}: velocity_limits need the sampling time dt [s]")
    if given is True:
        highest = np.full(subject.nq, np.inf)
        for _, q, v in configurations.places(subject):
            if q.stop - q.start == v.stop - v.start:
                highest[q] = configurations.limits(subject).velocity[v]
        return -highest * dt, highest * dt
    lowest, highest = limits_of(f"{who}: velocity_limits", subject, given)
    if (lowest > 0).any() or (highest < 0).any():
        raise InvalidInput(f"{who}: velocity_limits: every range of speed must contain 0")
    return lowest * dt, highest * dt


def not_negative(who: str, label: str, x: Any) -> float:
    """A finite number of at least 0."""
    if not 0 <= (value := _plain(x)) < math.inf:
        raise InvalidInput(f"{who}: {label} is {x!r}, expected a number that is not negative")
    return value


def configuration_of(who: str, subject: Subject, label: str, given: Any) -> np.ndarray:
    """A configuration or a batch of them, checked."""
    q = as_doubles(given, f"{who}: {label}")
    if q.ndim == 0 or q.shape[-1] != subject.nq:
        name = subject.model.name
        raise InvalidInput(
            f'{who}: {label} has shape {q.shape}, expected (..., {subject.nq}): robot "{name}"'
        )
    if not are_finite(q):
        where = tuple(np.argwhere(~np.isfinite(q))[0])
        raise InvalidInput(
            f"{who}: {label}{list(map(int, where))} is {q[where]}, expected finite numbers"
        )
    return q


def preferred(
    who: str, subject: Subject, given: Any, q0: np.ndarray | None, solver: Solver
) -> np.ndarray | None:
    """The configuration that answers shall be near to; None: any will do."""
    if given is None:
        return None
    if isinstance(given, str):
        if choice(given, ("near", "center"), f"{who}: prefer") == "near":
            return solver.neutral if q0 is None else q0
        centre = solver.neutral.copy()
        single = [at for at, _ in solver.mechanism.single]
        bounds = (x[solver.moving][single] for x in solver.limits)
        centre[solver.moving[single]] = box(solver.mechanism, *bounds)[0]
        return centre
    return configuration_of(who, subject, "prefer", given)


def refuse_batch(
    who: str,
    q0: np.ndarray | None,
    targets: tuple[np.ndarray, ...],
    formats: tuple[Any, ...],
    path: bool = False,
) -> None:
    """Starts and targets of batches that do not go together."""
    if q0 is None or q0.ndim == 1:
        return
    leads = [
        t.shape[: max(0, t.ndim - len(f) - path)] for t, f in zip(targets, formats, strict=True)
    ]
    try:
        np.broadcast_shapes(q0.shape[:-1], *leads)
    except ValueError:
        told = f"{' and '.join(str(lead) for lead in leads)} of {'paths' if path else 'targets'}"
        raise InvalidInput(
            f"{who}: q0 has shape {q0.shape}, which does not go with the batch {told}"
        ) from None


def tolerances(who: str, given: Any) -> tuple[float, float]:
    """([m], [rad]) of one number or two."""
    pair = tuple(given) if np.ndim(given) == 1 else (given, given)
    values = [_plain(t) for t in pair]
    if len(values) != 2 or not all(0 < t < math.inf for t in values):
        raise InvalidInput(
            f"{who}: tolerance is {given!r}, expected a positive number, or two: [m] and [rad]"
        )
    return values[0], values[1]


def _plain(x: Any) -> float:
    """A real number of Python or NumPy as a float; NaN for anything else."""
    real = isinstance(x, (int, float, np.integer, np.floating)) and not isinstance(x, bool)
    return float(x) if real else math.nan


def flag(who: str, label: str, value: Any) -> bool:
    """True or False, and nothing that merely counts as such."""
    if not isinstance(value, (bool, np.bool_)):
        raise InvalidInput(f"{who}: {label} is {value!r}, expected True or False")
    return bool(value)


def interval(who: str, dt: Any) -> float | None:
    """A sampling time [s]; None: none."""
    if dt is None:
        return None
    if not 0 < (seconds := _plain(dt)) < math.inf:
        raise InvalidInput(f"{who}: dt is {dt!r}, expected a positive time [s]")
    return seconds
