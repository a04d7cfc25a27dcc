"""The recursive method: one joint at a time, each to the minimum of the error along its own
coordinate.

No Jacobian is inverted and singular configurations need no care; limits on position and on speed
are intervals that a joint does not leave. Sweeps repeat on a point until it is reached, or nothing
moves any more. Convergence is linear, and slow near the edge of the workspace: a tracker and a
source of starts, beside the numeric method for single poses.

Where nothing moves and the goal is not reached the configuration is stationary: the goal is out of
reach, limits block the way, or all links lie on one line through the goal. A small kick of
alternate signs leaves the last kind.

Source: [Nicolato2005] section 3; see sweep.py for the equations and their corrections.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import casadi
import numpy as np
from casadi import SX

from linkwork import configurations
from linkwork.engine.scan import Scan, keyed_scan
from linkwork.errors import InvalidInput, NotPossible, UnknownName, did_you_mean
from linkwork.inverse.mechanism import Mechanism
from linkwork.inverse.moves import BEST_FIRST, Interval, Rule, sweep
from linkwork.inverse.numeric import Solver
from linkwork.inverse.pairs import POINT, Pair, pairs_of
from linkwork.inverse.result import InverseKinematics
from linkwork.inverse.search_loop import ENDLESS, Shapes
from linkwork.inverse.sweep import Walk, hinge, slide

CONVERGED, STALLED, SWEEPS_USED = 0, 1, 2
STILL = 1e-11
"""A sweep in which no joint moves farther [rad, m] has come to rest."""
KICKS = 3


@dataclass(frozen=True)
class Run:
    """Settings of a call. speeds: (lowest, highest) move of q between two points, or None;
    tolerance [m], [rad]."""

    rule: Rule
    limits: tuple[np.ndarray, np.ndarray]
    speeds: tuple[np.ndarray, np.ndarray] | None
    tolerance: tuple[float, float]
    sweeps: int
    kick: float


class Sweeper:
    """The compiled sweeps for a solver's goals and a rule."""

    def __init__(self, solver: Solver, rule: Rule, limited: bool) -> None:
        self.solver, self.rule, self.limited = solver, rule, limited
        self.mechanism = solver.mechanism
        refuse_chain(solver)
        n = len(self.mechanism.q)
        state: Shapes = {"x": n, "start": n, "i": (), "kicked": ()}
        parameters: Shapes = {"lower": n, "upper": n, "tolerance": 2, "most": (), "kick": ()}
        if limited:
            parameters |= {"slowest": n, "fastest": n}
        record: Shapes = {"reached": n, "sweeps": (), "code": ()}
        key, sequences = solver.key(Sweeper, rule, limited), {"target": solver.size}
        self.scan: Scan = keyed_scan(
            key, [self._step], state, parameters, sequences, record, name=solver.who
        )

    def walk(self, x: SX, target: SX) -> Walk:
        m = self.mechanism
        return Walk(m, x, pairs_of(self.solver.who, self.solver.goals, m.places, target, m.length))

    def _step(self, k: SX, **given: SX) -> dict[str, SX]:
        x, start, i, kicked = given["x"], given["start"], given["i"], given["kicked"]
        walk = self.walk(x, given["target"])
        before = _reached(walk, given["tolerance"])
        intervals = self._intervals(given)
        largest = sweep(walk, self.rule, intervals, self.mechanism.reach)
        after = _reached(walk, given["tolerance"])
        there = casadi.logic_or(before, after)
        still = casadi.logic_and(largest < STILL, casadi.logic_not(there))
        kicks = casadi.logic_and(still, casadi.logic_and(kicked < KICKS, given["kick"] > 0))
        stalled = casadi.logic_and(still, casadi.logic_not(kicks))
        used = casadi.logic_and(
            i + 1 >= given["most"], casadi.logic_not(casadi.logic_or(there, stalled))
        )
        ends = casadi.logic_or(there, casadi.logic_or(stalled, used))
        rest = casadi.vertcat(*walk.x)
        kicked_to = [
            casadi.fmin(
                casadi.fmax(walk.x[j] + (-1) ** j * given["kick"], intervals[j].lower),
                intervals[j].upper,
            )
            for j in range(len(walk.x))
        ]
        reached = casadi.if_else(before, x, casadi.if_else(kicks, casadi.vertcat(*kicked_to), rest))
        return {
            "x": reached,
            "start": casadi.if_else(ends, reached, start),
            "i": casadi.if_else(ends, 0, i + 1),
            "kicked": casadi.if_else(ends, 0, kicked + kicks),
            "reached": reached,
            "sweeps": i + casadi.logic_not(before),
            "code": casadi.if_else(there, CONVERGED, casadi.if_else(stalled, STALLED, SWEEPS_USED)),
            "advance": ends,
        }

    def _intervals(self, given: dict[str, SX]) -> list[Interval]:
        intervals = []
        for j in range(len(self.mechanism.q)):
            floor, ceiling = given["lower"][j], given["upper"][j]
            low, high = floor, ceiling
            if self.limited:
                low = casadi.fmax(low, given["start"][j] + given["slowest"][j])
                high = casadi.fmin(high, given["start"][j] + given["fastest"][j])
            intervals.append(Interval(low, high, floor, ceiling))
        return intervals


def _reached(walk: Walk, tolerance: SX) -> SX:
    """Every goal within its tolerance, by squares:
    tolerance is (distance^2, sin^2 of half the angle)."""
    tests = []
    for group in sorted({pair.group for pair in walk.pairs}):
        members = [pair for pair in walk.pairs if pair.group == group]
        for pair in members:
            if pair.kind == POINT:
                gap = (
                    walk.gap(pair)
                    if pair.metric is None
                    else _rows_alone(pair) @ walk.world_gap(pair)
                )
                tests.append(casadi.sumsqr(gap) < tolerance[0])
        turns = [casadi.sumsqr(walk.gap(pair)) for pair in members if pair.kind != POINT]
        if turns:
            tests.append(sum(turns) < (8 if len(turns) == 3 else 4) * tolerance[1])
    return functools.reduce(casadi.logic_and, tests)


def _rows_alone(pair: Pair) -> SX:
    """The rows of a pair's metric without their weights."""
    assert pair.metric is not None
    return casadi.vertcat(
        *[row / casadi.sqrt(casadi.sumsqr(row)) for row in casadi.vertsplit(pair.metric)]
    )


def refuse_chain(solver: Solver) -> None:
    """Ball and floating joints and closed loops are not for this method."""
    if solver.mechanism.elements:
        raise NotPossible(
            f"{solver.who}: the recursive method needs an open chain; robot "
            f'"{solver.subject.model.name}" has closed '
            f'loops, which method="numeric" keeps closed'
        )
    for joint, q, v in configurations.places(solver.subject):
        if q.stop - q.start != v.stop - v.start and set(range(q.start, q.stop)) & set(
            solver.mechanism.q
        ):
            raise NotPossible(
                f"{solver.who}: the recursive method moves turning and sliding joints; joint "
                f'"{joint.name}" is a '
                f'{joint.type} joint, which method="numeric" can move'
            )


def sweeper_of(solver: Solver, rule: Rule, limited: bool) -> Sweeper:
    """The compiled sweeps, made once."""
    return solver.once((sweeper_of, rule, limited), lambda: Sweeper(solver, rule, limited))


def run(
    solver: Solver, targets: tuple[np.ndarray, ...], q0: np.ndarray, settings: Run, path: bool
) -> InverseKinematics:
    """Answers for targets (...), or for paths (..., T); q0 (..., nq) within the limits."""
    numbers, checks, bad, _ = solver.pack.call(targets, None, solver.context)
    if np.any(bad):
        solver.refuse(checks)
    if path and (numbers.ndim < 2 or not numbers.shape[-2]):
        raise InvalidInput(
            f"{solver.who}: track needs a path of targets (..., T, shape), got a batch "
            f"{numbers.shape[:-1]}"
        )
    rows = numbers if path else numbers[..., None, :]
    sweeper = sweeper_of(solver, settings.rule, settings.speeds is not None)
    x0 = q0[..., solver.moving]
    lower, upper = (np.clip(x[solver.moving], -ENDLESS, ENDLESS) for x in settings.limits)
    values: dict[str, Any] = {"lower": lower, "upper": upper}
    if settings.speeds is not None:
        slowest, fastest = (np.clip(x[solver.moving], -ENDLESS, ENDLESS) for x in settings.speeds)
        values |= {"slowest": slowest, "fastest": fastest}
    distance, angle = settings.tolerance
    sweeps_run = sweeper.scan(
        x=x0,
        start=x0,
        i=0.0,
        kicked=0.0,
        **values,
        tolerance=np.array([distance**2, math.sin(min(angle, math.pi) / 2) ** 2]),
        most=float(
            settings.sweeps * (len(solver.moving) if settings.rule.order == BEST_FIRST else 1)
        ),
        kick=settings.kick,
        target=rows,
        steps=rows.shape[-2],
    )
    drop = slice(None) if path else 0
    x = sweeps_run.record["reached"][..., drop, :]
    sweeps, code = (sweeps_run.record[n][..., drop].astype(int) for n in ("sweeps", "code"))
    return _judged(solver, x, numbers, q0[..., None, :] if path else q0, sweeps, code, settings)


def _judged(
    solver: Solver,
    x: np.ndarray,
    numbers: np.ndarray,
    q0: np.ndarray,
    sweeps: np.ndarray,
    code: np.ndarray,
    settings: Run,
) -> InverseKinematics:
    position, turn = solver.verify.call((x, numbers), None, solver.context)
    q = np.array(np.broadcast_to(q0, (*x.shape[:-1], solver.subject.nq)))
    q[..., solver.moving] = x
    success = (
        (position <= settings.tolerance[0]) & (turn <= settings.tolerance[1]) & (code == CONVERGED)
    )
    explain = functools.partial(_explain, solver)
    if success.shape:
        return InverseKinematics(q, success, position, turn, sweeps, code, settings.limits, explain)
    plain = bool(success), float(position), float(turn), int(sweeps), int(code)
    return InverseKinematics(q, *plain, settings.limits, explain)


def _explain(solver: Solver, result: InverseKinematics, index: tuple[int, ...]) -> str:
    code, position, turn, sweeps = (
        np.asarray(x)[index]
        for x in (result.code, result.position_error, result.rotation_error, result.iterations)
    )
    away = f"{position:.4g} m and {turn:.4g} rad away after {sweeps} sweeps"
    if code == CONVERGED:
        return f"converged: {away}"
    if code == SWEEPS_USED:
        return f"sweeps used up: still {away}"
    names = [
        joint.name
        for joint, q, _ in configurations.places(solver.subject)
        for _ in range(q.start, q.stop)
    ]
    held = [n for n, limit in zip(names, result.on_limit[index], strict=True) if limit]
    if held:
        return f"stalled with {', '.join(held)} on a limit: {away}"
    return f"stalled, unreachable or stationary: no joint alone gets closer; {away}"


def order_of(who: str, mechanism: Mechanism, order: Any, partial: bool) -> tuple[int, ...] | str:
    """The coordinates of a sweep: "base_to_tip", "tip_to_base", "best_first",
    or a list of joint names."""
    count = len(mechanism.q)
    if isinstance(order, str):
        named: dict[str, tuple[int, ...] | str] = {
            "base_to_tip": tuple(range(count)),
            "tip_to_base": tuple(reversed(range(count))),
            BEST_FIRST: BEST_FIRST,
        }
        if order not in named:
            raise InvalidInput(
                f"{who}: order is {order!r}, expected one of {list(named)} or a list of joints"
            )
        return named[order]
    coordinates = _coordinates_by_name(mechanism)
    if not isinstance(order, Sequence) or not order:
        raise InvalidInput(
            f"{who}: order is {order!r}, expected a list of joints out of {list(coordinates)}"
        )
    for name in order:
        if not isinstance(name, str) or name not in coordinates:
            near = did_you_mean(str(name), coordinates)
            raise UnknownName(
                f'{who}: order names "{name}"{near}; moving joints are {list(coordinates)}'
            )
    chosen = tuple(k for name in order for k in coordinates[name])
    if len(set(chosen)) < len(chosen) or (not partial and len(chosen) < count):
        missing = [name for name in coordinates if name not in order]
        raise InvalidInput(
            f"{who}: order is {list(order)}, expected each joint once; partial=True lets "
            f"{missing} rest"
        )
    return chosen


def _coordinates_by_name(mechanism: Mechanism) -> dict[str, list[int]]:
    coordinates: dict[str, list[int]] = {}
    for joint, q, _ in configurations.places(mechanism.subject):
        entries = [mechanism.q.index(k) for k in range(q.start, q.stop) if k in mechanism.q]
        if entries:
            coordinates[joint.name] = entries
    return coordinates


@dataclass(frozen=True)
class JointStep:
    """What one joint alone can do: H(d) = const - 2 (A cos d + B sin d); d: exact step;
    small_angle: the paper's."""

    A: float
    B: float
    d: float
    small_angle: float


def step_of(
    solver: Solver, q: np.ndarray, joint: str, targets: tuple[np.ndarray, ...]
) -> JointStep:
    """The step of one turning or sliding joint at q towards one target;
    for a sliding joint A and B are zero."""
    refuse_chain(solver)
    coordinates = _coordinates_by_name(solver.mechanism)
    if not isinstance(joint, str) or joint not in coordinates:
        raise UnknownName(
            f'joint_step: no joint "{joint}" moves the frame{did_you_mean(joint, coordinates)}'
        )
    numbers, checks, bad, _ = solver.pack.call(targets, None, solver.context)
    if np.any(bad):
        solver.refuse(checks)
    m = solver.mechanism
    pairs = pairs_of(solver.who, solver.goals, m.places, SX(casadi.DM(numbers)), m.length)
    walk = Walk(m, SX(casadi.DM(q[solver.moving])), pairs)
    nodes = [
        i for i, drives in walk.drives.items() if any(k in coordinates[joint] for k, _, _ in drives)
    ]
    if walk.tree.nodes[nodes[0]].row.is_slide:
        d = float(casadi.DM(slide(walk, nodes[0])))
        return JointStep(0.0, 0.0, d, d)
    wave, small = hinge(walk, nodes[0], m.reach)
    A, B, none, short = (
        float(casadi.DM(casadi.evalf(x))) for x in (wave.A, wave.B, wave.none, small)
    )
    return JointStep(A, B, 0.0 if none else math.atan2(B, A), short)
