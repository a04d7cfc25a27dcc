"""Track: inverse kinematics along a path, each point from the answer of the one before,
in machine code.

The damped steps of descent.py run on a point until it is reached, then go on to the next. There are
no other starts: what cannot be reached from the point before is reported, not jumped to. With a
sampling time the joints' speeds are
limited: no joint moves farther between two points than its limit allows.
"""

from __future__ import annotations

from typing import Any

import casadi
import numpy as np
from casadi import DM, SX

from linkwork import configurations
from linkwork.engine.scan import Scan, keyed_scan
from linkwork.errors import InvalidInput
from linkwork.inverse.descent import least_weights, step_towards
from linkwork.inverse.numeric import SearchSettings, Solver
from linkwork.inverse.result import InverseKinematics
from linkwork.inverse.search_loop import (
    ENDLESS,
    HUGE,
    LONG_PATIENCE,
    LONG_PROGRESS,
    PATIENCE,
    WISHES,
    Shapes,
    wish_share,
)


def track(
    solver: Solver,
    targets: tuple[np.ndarray, ...],
    q0: np.ndarray | None,
    settings: SearchSettings,
    dt: float | None,
) -> InverseKinematics:
    """Answers (..., T, nq) for a path of T targets; q0 (..., nq), or None:
    any answer for the first point."""
    numbers, checks, bad, beyond = solver.pack.call(targets, None, solver.context)
    if np.any(bad):
        solver.refuse(checks)
    if numbers.ndim < 2 or not numbers.shape[-2]:
        raise InvalidInput(
            f"{solver.who}: track needs a path of targets (..., T, shape), got a batch "
            f"{numbers.shape[:-1]}"
        )
    if q0 is None:
        first = tuple(
            np.take(t, 0, axis=-1 - len(f)) for t, f in zip(targets, solver.formats, strict=True)
        )
        q0 = solver.many(first, None, settings).q
    limits = solver.limits if settings.limits is None else settings.limits
    floor, ceiling = (x[solver.moving] for x in limits)
    single = np.array([at for at, _ in solver.mechanism.single], dtype=int)
    x0 = np.clip(q0[..., solver.moving], floor, ceiling)
    values: dict[str, Any] = {
        "lower": np.clip(floor[single], -ENDLESS, ENDLESS),
        "upper": np.clip(ceiling[single], -ENDLESS, ENDLESS),
        "farthest": _farthest(solver, dt),
        "tolerance": _weighted(solver, settings.tolerance),
    }
    if settings.prefer is not None:
        values["preferred"] = np.clip(settings.prefer[..., solver.moving], floor, ceiling)[
            ..., single
        ]
    run = _scan_of(solver, settings.prefer is not None)
    tracked = run(
        x=x0,
        previous=x0[..., single],
        i=0.0,
        before=np.full(2, HUGE),
        target=numbers,
        steps=numbers.shape[-2],
        **values,
    )
    batch = tracked.record["reached"].shape[:-1]
    near = np.broadcast_to(q0[..., None, :], (*batch, q0.shape[-1]))
    return solver.judged(
        tracked.record["reached"],
        numbers,
        near,
        beyond,
        tracked.record["count"].astype(int),
        limits,
        settings.tolerance,
    )


def _farthest(solver: Solver, dt: float | None) -> np.ndarray:
    """How far each one-coordinate joint may move between two points."""
    speeds = configurations.limits(solver.subject).velocity[list(solver.mechanism.v)]
    limits = np.array([speeds[v] for _, v in solver.mechanism.single])
    return np.full(len(limits), ENDLESS) if dt is None else np.minimum(limits * dt, ENDLESS)


def _weighted(solver: Solver, tolerance: tuple[float, float]) -> float:
    metre, radian = least_weights(solver.mechanism, solver.goals)
    return min(tolerance[0] * metre, tolerance[1] * radian)


def _scan_of(solver: Solver, wish: bool) -> Scan:
    known = solver.tracks
    if wish not in known:
        m = solver.mechanism
        n, s = len(m.q), len(m.single)
        state: Shapes = {"x": n, "previous": s, "i": (), "before": 2}
        parameters: Shapes = {"lower": s, "upper": s, "farthest": s, "tolerance": ()}
        if wish:
            parameters["preferred"] = s
        record: Shapes = {"reached": n, "count": ()}

        def step(k: SX, **given: SX) -> dict[str, SX]:
            return _step(solver, wish, given)

        name = f"{solver.who} (track)"
        sequences: Shapes = {"target": solver.size}
        known[wish] = keyed_scan(
            solver.key(_step, wish), [step], state, parameters, sequences, record, name=name
        )
    return known[wish]


def _step(solver: Solver, wish: bool, given: dict[str, SX]) -> dict[str, SX]:
    m = solver.mechanism
    x, previous, i, before = given["x"], given["previous"], given["i"], given["before"]
    lower = casadi.fmax(given["lower"], previous - given["farthest"])
    upper = casadi.fmin(given["upper"], previous + given["farthest"])
    wanted = None
    if wish:
        wanted = SX(DM.zeros(m.n))
        for j, (at, v) in enumerate(m.single):
            wanted[v] = wish_share(i) * (given["preferred"][j] - x[at])
    step = step_towards(m, solver.goals, x, given["target"], lower, upper, wanted)
    near = casadi.logic_and(step.bound < given["tolerance"], step.cut <= 0)
    here = step.ee < given["tolerance"] ** 2
    plain = i - WISHES if wish else i  # steps for the goals alone
    over = plain + 1 >= LONG_PATIENCE
    slow = casadi.logic_and(plain >= PATIENCE, step.ee > LONG_PROGRESS * before[1])
    # Every point takes a step, also one within the tolerance:
    # standing still until it is left would be a stair.
    here = casadi.logic_and(here, plain >= (0 if wish else 1))
    moves = casadi.logic_or(casadi.logic_or(near, here), casadi.logic_or(slow, over))
    reached = casadi.if_else(casadi.logic_and(here, casadi.logic_not(near)), x, step.x)
    return {
        "x": reached,
        "previous": casadi.if_else(
            moves, casadi.vertcat(*[reached[at] for at, _ in m.single]), previous
        ),
        "i": casadi.if_else(moves, 0, i + 1),
        "before": casadi.if_else(moves, HUGE, casadi.vertcat(step.ee, before[0])),
        "reached": reached,
        "count": i + 1,
        "advance": moves,
    }
