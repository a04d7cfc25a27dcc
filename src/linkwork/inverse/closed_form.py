"""One posture by closed form: of all that a target has,
the one within the limits that is nearest to the start.

Closed forms decide: a target without a posture has none. So they are a method of their own, and the
last word of the automatic one: where the numeric search gives up, an arm of an exact family either
has a posture within its limits after all, or the reason why there is none.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from linkwork import deadlines
from linkwork.errors import NotPossible
from linkwork.inverse.analytic.classify import classified
from linkwork.inverse.analytic.solutions import Solutions
from linkwork.inverse.analytic.solve import inverse_kinematics_all
from linkwork.inverse.analytic.solve import solver as family_of
from linkwork.inverse.blocking import MOST, nearest_outside
from linkwork.inverse.numeric import Limits, Solver
from linkwork.inverse.result import InverseKinematics
from linkwork.inverse.seeds import box

_TURN = 2.0 * np.pi
_ROUNDING = 1e-12  # rad: an angle this little past a limit is on it
SWIVELS = 48
"""Values of the free parameter that are tried, over a turn,
where that of the start leads to nothing within limits."""
ROUND = 10_000
"""Targets that are solved between two looks at the clock."""


@dataclass(frozen=True)
class Chosen:
    """x (N, moving coordinates): one posture a target, NaN where there is none; count (N,):
    postures in all."""

    x: np.ndarray
    count: np.ndarray
    reason: list[str]


def closed_form(
    solver: Solver,
    target: np.ndarray,
    q0: np.ndarray | None,
    limits: Limits,
    tolerance: tuple[float, float],
    free: Any,
) -> InverseKinematics:
    """Answers for one target or a batch (...); see `solve.analytic`."""
    who, subject = solver.who, solver.subject
    goal = solver.goals[0]
    numbers, checks, bad, beyond = solver.pack.call((target,), None, solver.context)
    if np.any(bad):
        solver.refuse(checks)
    family = family_of(subject, goal.frame, position=goal.task == "position")
    if tuple(sorted(family.chain.columns)) != tuple(sorted(solver.moving.tolist())):
        raise NotPossible(
            f'{who}: joints that follow others move frame "{goal.frame}"; use method="numeric"'
        )
    start, shape = _start(solver, q0, limits), solver.formats[0]
    batch = np.broadcast_shapes(numbers.shape[:-1], start.shape[:-1])
    numbers = np.broadcast_to(numbers, (*batch, numbers.shape[-1]))
    beyond = np.broadcast_to(beyond, batch)
    starts = (
        start
        if start.ndim == 1
        else np.broadcast_to(start, (*batch, subject.nq)).reshape(-1, subject.nq)
    )
    chosen = _all_chosen(
        solver, np.broadcast_to(target, (*batch, *shape)).reshape(-1, *shape), starts, limits, free
    )
    rest = np.clip(starts[..., solver.moving], *(x[solver.moving] for x in limits))
    x = np.where(np.isnan(chosen.x), rest, chosen.x).reshape(*batch, len(solver.moving))
    answer = solver.judged(x, numbers, q0, beyond, np.zeros(batch, dtype=int), limits, tolerance)
    return _with_reasons(solver, answer, chosen.reason, limits, "the start")


def decides(solver: Solver) -> bool:
    """Whether a closed form knows every posture: six axes of an exact family, and a whole pose."""
    if len(solver.goals) != 1 or solver.mechanism.elements:
        return False
    goal = solver.goals[0]
    if goal.task != "pose" or goal.axes:
        return False
    family = classified(solver.subject, goal.frame).pose
    # the general solver may lose a root where its matrices are singular
    return family is not None and family.exact and not family.free and family.name != "general_6r"


def settled(
    solver: Solver,
    answer: InverseKinematics,
    target: np.ndarray,
    q0: np.ndarray | None,
    limits: Limits,
    tolerance: tuple[float, float],
) -> InverseKinematics:
    """The answer of a search, with what it did not reach decided by the closed form."""
    batch = np.shape(answer.success)
    left = np.flatnonzero(~np.reshape(answer.success, -1))
    starts = (
        q0
        if q0 is None or q0.ndim == 1
        else np.broadcast_to(q0, (*batch, q0.shape[-1])).reshape(-1, q0.shape[-1])[left]
    )
    targets = np.broadcast_to(target, (*batch, 4, 4)).reshape(-1, 4, 4)
    last = closed_form(solver, targets[left], starts, limits, tolerance, None)
    reasons = [""] * int(np.prod(batch))
    for i, reached, why in zip(left, last.success, last.reason, strict=True):
        told, given_back, _ = why.partition("; the start")
        # a posture short of the tolerance is no reason
        reasons[i] = told if given_back and not reached else ""
    if not last.success.any():
        return _with_reasons(solver, answer, reasons, limits)
    better = left[last.success]

    def joined(before: Any, after: np.ndarray) -> Any:
        whole = np.array(before)
        whole.reshape(len(reasons), -1)[better] = after[last.success].reshape(len(better), -1)
        return whole if whole.shape else whole.item()

    whole = InverseKinematics(
        joined(answer.q, last.q),
        joined(answer.success, last.success),
        joined(answer.position_error, last.position_error),
        joined(answer.rotation_error, last.rotation_error),
        answer.iterations,
        joined(answer.code, last.code),
        limits,
        answer.explain,
    )
    return _with_reasons(solver, whole, reasons, limits)


def _start(solver: Solver, q0: np.ndarray | None, limits: Limits) -> np.ndarray:
    """q0, or the middle of the ranges."""
    if q0 is not None:
        return q0
    q = solver.neutral.copy()
    single = [at for at, _ in solver.mechanism.single]
    q[solver.moving[single]] = box(solver.mechanism, *(x[solver.moving][single] for x in limits))[0]
    return q


def _all_chosen(
    solver: Solver, target: np.ndarray, start: np.ndarray, limits: Limits, free: Any
) -> Chosen:
    """The nearest posture within the limits, a target (N, ...);
    few targets are told which limit is in the way."""
    told = len(target) <= MOST
    parts = [
        _chosen(solver, target[some], start if start.ndim == 1 else start[some], limits, free, told)
        for some in deadlines.rounds(len(target), ROUND)
    ]
    x, count = (np.concatenate([getattr(part, name) for part in parts]) for name in ("x", "count"))
    return Chosen(x, count, [why for part in parts for why in part.reason])


def _chosen(
    solver: Solver, target: np.ndarray, start: np.ndarray, limits: Limits, free: Any, told: bool
) -> Chosen:
    subject, frame = solver.subject, solver.goals[0].frame
    columns = solver.moving
    low, high = (x[columns] for x in limits)
    solutions = inverse_kinematics_all(subject, target, frame, start, free)
    x, count = _nearest(solutions, columns, start, low, high), solutions.count
    without = np.flatnonzero(np.isnan(x).any(axis=-1))
    if len(without) and free is None and solutions.free_name:
        starts = start if start.ndim == 1 else start[without]
        around = inverse_kinematics_all(
            subject, target[without], frame, starts, _TURN * np.arange(SWIVELS) / SWIVELS
        )
        x[without] = _nearest(around, columns, starts, low, high)
        count[without] = around.count
    reasons = [""] * len(target)
    for i in np.flatnonzero(np.isnan(x).any(axis=-1)):
        some = f"{count[i]} posture{'s' if count[i] > 1 else ''}, none within the limits"
        if count[i] and told and solutions.valid[i].any():
            some += f": {nearest_outside(solver, solutions.q[i][solutions.valid[i]], limits)}"
        reasons[i] = some if count[i] else solutions.reason[i]
    return Chosen(x, count, reasons)


def _nearest(
    solutions: Solutions, columns: np.ndarray, start: np.ndarray, low: np.ndarray, high: np.ndarray
) -> np.ndarray:
    """(N, n): of the rows of each target, turned by whole turns towards the start,
    the nearest inside; NaN: none."""
    q, near = solutions.q[..., columns], start[..., columns]
    near = near if near.ndim == 1 else near[:, None]
    first, last = np.ceil((low - q - _ROUNDING) / _TURN), np.floor((high - q + _ROUNDING) / _TURN)
    inside = solutions.valid & (first <= last).all(axis=-1)
    with np.errstate(invalid="ignore"):
        turned = q + _TURN * np.minimum(np.maximum(np.round((near - q) / _TURN), first), last)
    turned = np.minimum(np.maximum(turned, low), high)
    far = np.where(inside, np.nan_to_num(((turned - near) ** 2).sum(axis=-1)), np.inf)
    best = np.argmin(far, axis=-1)[:, None]
    x = np.take_along_axis(turned, best[..., None], axis=1)[:, 0]
    return np.where(np.isfinite(np.take_along_axis(far, best, axis=1)), x, np.nan)


def _with_reasons(
    solver: Solver,
    answer: InverseKinematics,
    reasons: list[str],
    limits: Limits,
    given_back: str = "the nearest configuration found",
) -> InverseKinematics:
    """The answer with the closed form's words where it has some; reasons:
    one a target of the flattened batch."""
    batch = np.shape(answer.success)

    def explain(result: InverseKinematics, index: tuple[int, ...]) -> str:
        why = reasons[int(np.ravel_multi_index(index, batch)) if batch else 0]
        if not why or np.asarray(result.success)[index]:
            return answer.explain(result, index)
        position, turn = (
            np.asarray(x)[index] for x in (result.position_error, result.rotation_error)
        )
        return f"{why}; {given_back} is {position:.4g} m and {turn:.4g} rad away"

    fields = (
        answer.success,
        answer.position_error,
        answer.rotation_error,
        answer.iterations,
        answer.code,
    )
    return InverseKinematics(answer.q, *fields, limits, explain)
