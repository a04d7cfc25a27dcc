"""The ways to solve: options checked, then the method that was asked for."""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from linkwork.arguments import as_doubles, choice
from linkwork.errors import InvalidInput, did_you_mean
from linkwork.inverse.mechanism import limits_of
from linkwork.inverse.numeric import RESTARTS, TOLERANCE, Settings, Solver, plain_of, remember_plain, solver_of
from linkwork.inverse.result import InverseKinematics
from linkwork.inverse.seeds import box
from linkwork.inverse.targets import format_of, goals_of
from linkwork.inverse.track import track as track_path
from linkwork.subject import Subject

WHO = "inverse_kinematics"


def inverse_kinematics(
    subject: Subject, target: Any, frame: Any, q0: Any, method: str, options: Mapping[str, Any]
) -> InverseKinematics:
    """One call for every method; a plain single target takes the shortest way."""
    if not options and type(frame) is str and type(target) is np.ndarray and method == "auto":
        plain = plain_of(subject, frame, target.shape)
        start = None if q0 is None else configuration_of(WHO, subject, "q0", q0)
        if plain is not None and (start is None or start.ndim == 1):
            return plain(target, start)
    solve = METHODS[choice(method, tuple(METHODS), f"{WHO}: method")]
    known = list(inspect.signature(solve).parameters)[5:]
    for name in options:
        if name not in known:
            raise InvalidInput(
                f'{WHO}: method "{method}" has no option {name!r}{did_you_mean(name, known)}; it has {known}'
            )
    return solve(WHO, subject, target, frame, q0, **options)


def numeric(
    who: str,
    subject: Subject,
    target: Any,
    frame: Any,
    q0: Any = None,
    *,
    task: str | None = None,
    axes: Any = None,
    direction: Any = (0.0, 0.0, 1.0),
    weights: Any = None,
    limits: Any = True,
    tolerance: Any = TOLERANCE,
    restarts: int = RESTARTS,
    prefer: Any = None,
    track: bool = False,
    dt: float | None = None,
) -> InverseKinematics:
    """Configurations for one target, a batch, or a path, by damped least squares in machine code.

    task, axes, direction, weights   of frames given by name; see `targets.Goal`
    limits       True: the robot's own (joint limits and strokes); False: none; or (lower, upper) of q
    tolerance    [m] and [rad], one number or two: within it forward kinematics of the answer must reach the target
    restarts     further starts after the first, see seeds.py; 0: only from q0
    prefer       "near": of all answers around the start the one nearest to q0; "center": nearest to the middle of the
                 ranges; or a configuration (..., nq) to be near to
    track        targets (..., T, shape) are points of a path; each starts from the answer before it, see track.py
    dt           sampling time of the path [s]: joints keep their speed limits from point to point
    """
    details = {"axes": axes, "direction": _tuple(direction), "weights": _tuple(weights)}
    goals, targets = goals_of(who, frame, target, task, **details)
    formats = tuple(format_of(who, goal, t) for goal, t in zip(goals, targets, strict=True))
    solver = solver_of(who, subject, goals, formats)
    start = None if q0 is None else configuration_of(who, subject, "q0", q0)
    settings = Settings(
        limits=None if limits is True else limits_of(who, subject, limits),
        tolerance=_tolerances(who, tolerance),
        restarts=_whole(who, "restarts", restarts, 0),
        prefer=_preferred(who, subject, prefer, start, solver),
    )
    usual = task is axes is weights is prefer is None and limits is True
    if _flag(who, "track", track):
        return track_path(solver, targets, start, settings, _interval(who, dt))
    if dt is not None:
        raise InvalidInput(f"{who}: dt is {dt!r}, but only a path has a sampling time; give track=True")
    if usual and isinstance(frame, str) and (tolerance, restarts) == (TOLERANCE, RESTARTS):
        remember_plain(subject, frame, formats[0], solver)
        if targets[0].shape == formats[0] and (start is None or start.ndim == 1):
            return solver.plain(targets[0], start)
    return solver.many(targets, start, settings)


def configuration_of(who: str, subject: Subject, label: str, given: Any) -> np.ndarray:
    """A configuration or a batch of them, checked."""
    q = as_doubles(given, f"{who}: {label}")
    if q.ndim == 0 or q.shape[-1] != subject.nq:
        name = subject.model.name
        raise InvalidInput(f'{who}: {label} has shape {q.shape}, expected (..., {subject.nq}): robot "{name}"')
    if not np.isfinite(q).all():
        where = tuple(np.argwhere(~np.isfinite(q))[0])
        raise InvalidInput(f"{who}: {label}{list(map(int, where))} is {q[where]}, expected finite numbers")
    return q


def _preferred(who: str, subject: Subject, given: Any, q0: np.ndarray | None, solver: Solver) -> np.ndarray | None:
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


def _tolerances(who: str, given: Any) -> tuple[float, float]:
    pair = tuple(given) if isinstance(given, (tuple, list)) else (given, given)
    if len(pair) != 2 or not all(isinstance(t, (int, float)) and t > 0 and math.isfinite(t) for t in pair):
        raise InvalidInput(f"{who}: tolerance is {given!r}, expected a positive number, or two: [m] and [rad]")
    return float(pair[0]), float(pair[1])


def _flag(who: str, label: str, value: Any) -> bool:
    if not isinstance(value, (bool, np.bool_)):
        raise InvalidInput(f"{who}: {label} is {value!r}, expected True or False")
    return bool(value)


def _interval(who: str, dt: Any) -> float | None:
    if dt is not None and not (isinstance(dt, (int, float)) and dt > 0 and math.isfinite(dt)):
        raise InvalidInput(f"{who}: dt is {dt!r}, expected a positive time [s]")
    return dt


def _whole(who: str, label: str, n: Any, least: int) -> int:
    if isinstance(n, bool) or not isinstance(n, (int, np.integer)) or n < least:
        raise InvalidInput(f"{who}: {label} is {n!r}, expected a whole number of at least {least}")
    return int(n)


def _tuple(x: Any) -> Any:
    return None if x is None else tuple(np.asarray(x, dtype=float).ravel().tolist())


METHODS: dict[str, Callable[..., InverseKinematics]] = {"auto": numeric, "numeric": numeric}
