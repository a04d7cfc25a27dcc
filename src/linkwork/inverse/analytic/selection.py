"""Selection: one solution out of all, by a policy; and one after the other along a path."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from linkwork.arguments import as_doubles, finite, finite_doubles, flag, number, shown
from linkwork.errors import InvalidInput, NotPossible
from linkwork.inverse.analytic import villalobos
from linkwork.inverse.analytic.polish import jacobian_kernel
from linkwork.inverse.analytic.solutions import Solutions
from linkwork.inverse.analytic.solve import inverse_kinematics_all, one_pose, solver
from linkwork.inverse.analytic.villalobos import Arm, Choice, Thresholds
from linkwork.subject import RobotLike, subject_of

Policy = Callable[[Solutions, np.ndarray], np.ndarray]
"""(solutions of a batch (...), previous q (..., nq)) -> cost (..., M),
infinite where a row is not to be taken."""


def minimal_displacement(weights: ArrayLike | None = None, circular: bool = True) -> Policy:
    """The smallest weighted distance from the previous q; circular:
    angles that differ by a turn are the same."""
    who = "minimal_displacement"
    flag(circular, f"{who}: circular")
    given = None if weights is None else finite_doubles(weights, f"{who}: weights")
    if given is not None and not (given >= 0).all():
        raise InvalidInput(
            f"{who}: weights is {given.tolist()}, expected numbers that are not negative"
        )

    def cost(solutions: Solutions, previous: np.ndarray) -> np.ndarray:
        step = solutions.q - previous[..., None, :]
        if circular:
            step = (step + np.pi) % (2 * np.pi) - np.pi
        w = (
            np.ones(step.shape[-1])
            if given is None
            else finite(given, step.shape[-1:], f"{who}: weights")
        )
        return np.sqrt((w * step**2).sum(axis=-1))

    return cost


def largest_manipulability(robot: RobotLike, frame: str) -> Policy:
    """The largest product of the Jacobian's singular values."""
    subject = subject_of(robot, "largest_manipulability")
    chain = solver(subject, frame).chain

    def cost(solutions: Solutions, previous: np.ndarray) -> np.ndarray:
        q = np.nan_to_num(solutions.q[..., list(chain.columns)])
        J = jacobian_kernel(subject, chain)(np.ascontiguousarray(q))
        return -np.linalg.svd(J, compute_uv=False).prod(axis=-1)

    return cost


def within_limits(lower: ArrayLike, upper: ArrayLike, then: Policy | None = None) -> Policy:
    """Only rows inside the limits (nq,) as they are; among them as `then` says,
    by default the nearest."""
    for name, x in (("lower", lower), ("upper", upper)):
        if np.isnan(as_doubles(x, f"within_limits: {name}")).any():
            raise InvalidInput(
                f"within_limits: {name} contains nan, expected limits, infinite where there is none"
            )
    if then is not None and not callable(then):
        raise InvalidInput(
            f"within_limits: then is {shown(then)}, expected a policy such as "
            "minimal_displacement()"
        )
    after = then or minimal_displacement(circular=False)

    def cost(solutions: Solutions, previous: np.ndarray) -> np.ndarray:
        low, high = solutions.limits(lower, upper)
        inside = ((solutions.q >= low) & (solutions.q <= high)).all(axis=-1)
        return np.where(inside, after(solutions, previous), np.inf)

    return cost


def select(
    solutions: Solutions, previous: ArrayLike, policy: Policy | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """(q (..., nq), row (...,)): the row of least cost, NaN and -1 where there is none. Default:
    least displacement."""
    q0 = as_doubles(previous, "select: previous")
    n = solutions.q.shape[-1]
    batch = solutions.valid.shape[:-1]
    if q0.shape not in ((n,), (*batch, n)) or not np.isfinite(q0).all():
        raise InvalidInput(
            f"select: previous has shape {q0.shape}, expected finite ({n},) or {(*batch, n)}"
        )
    if policy is not None and not callable(policy):
        raise InvalidInput(
            f"select: policy is {policy!r}, expected one such as minimal_displacement()"
        )
    if solutions.valid.shape[-1] == 0:
        return np.full((*batch, n), np.nan), np.full(batch, -1)
    with np.errstate(invalid="ignore"):
        cost = (policy or minimal_displacement())(solutions, np.broadcast_to(q0, (*batch, n)))
    cost = np.where(solutions.valid & ~np.isnan(cost), cost, np.inf)
    row = np.argmin(cost, axis=-1)
    best = np.take_along_axis(cost, row[..., None], axis=-1)[..., 0]
    row = np.where(np.isfinite(best), row, -1)
    q = np.take_along_axis(solutions.q, np.maximum(row, 0)[..., None, None], axis=-2)[..., 0, :]
    return np.where((row >= 0)[..., None], q, np.nan), row


@dataclass(frozen=True)
class Track:
    """A path followed posture by posture.

    q         (N, nq), angles without jumps of a turn; NaN from the first target without solution
    changes   rows at which the posture had to be another one than before (its branch, or a step
              beyond `jump`)
    missing   rows without solution; reason: why, for the first of them
    """

    q: np.ndarray
    changes: tuple[int, ...]
    missing: tuple[int, ...]
    reason: str


def track(
    robot: RobotLike, targets: ArrayLike, frame: str, q0: ArrayLike, jump: float = 0.5
) -> Track:
    """Follow targets (N, 4, 4) from q0 with the nearest solution each time; see `Track`.

    Postures are told apart by continuity: arms with offset wrists change posture without meeting a
    singularity, so labels would not do.
    """
    subject = subject_of(robot, "track")
    goals = as_doubles(targets, "track: targets")
    if goals.ndim != 3 or goals.shape[1:] != (4, 4) or not len(goals):
        raise InvalidInput(
            f"track: targets has shape {goals.shape}, expected (N, 4, 4) with N >= 1"
        )
    longest = number(jump, "track: jump")
    now = as_doubles(q0, "track: q0")
    if now.shape != (subject.nq,) or not np.isfinite(now).all():
        raise InvalidInput(f"track: q0 has shape {now.shape}, expected finite ({subject.nq},)")
    everything = inverse_kinematics_all(subject, goals, frame, now)
    endless = (everything.kind == "continuum").any(axis=-1)
    q = np.full((len(goals), subject.nq), np.nan)
    changes, missing, label = [], [], None
    for i in range(len(goals)):
        postures = (
            inverse_kinematics_all(subject, goals[i], frame, now) if endless[i] else everything[i]
        )
        chosen, row = select(postures, now)
        if row < 0:
            missing.append(i)
            continue
        step = (chosen - now + np.pi) % (2 * np.pi) - np.pi
        branch = (
            None
            if postures.branch is None or endless[i]
            else tuple(int(s) for s in postures.branch[row])
        )
        jumped = i > 0 and float(np.abs(step).max()) > longest
        if jumped or (branch is not None and label is not None and branch != label):
            changes.append(i)
        label = branch if branch is not None else label
        now = q[i] = now + step
    reason = everything.reason[missing[0]] if missing else ""
    return Track(q, tuple(changes), tuple(missing), reason)


@dataclass(frozen=True)
class Decision:
    """What the finite-state machine decided: q (nq,) or None, and the paper's own account of it."""

    q: np.ndarray | None
    choice: Choice


def finite_state_machine(
    robot: RobotLike,
    target: ArrayLike,
    frame: str,
    previous: ArrayLike | None = None,
    thresholds: Thresholds | None = None,
    tie: int = 1,
) -> Decision:
    """One posture of a UR/TM arm, decided joint by joint ([Villalobos2022] algorithm 2);
    see villalobos.algorithm_2.

    Angles are compared in the canonical zeros of the family. thresholds: default scale-free;
    Thresholds.paper() counts millimetres, so give it to an arm described in them.
    """
    subject = subject_of(robot, "finite_state_machine")
    family = solver(subject, frame)
    if family.name != "ur" or not family.exact:
        raise NotPossible(
            f'finite_state_machine: robot "{subject.model.name}" is {family.title}, expected '
            "exact UR/TM"
        )
    T = one_pose("finite_state_machine", target)
    if tie not in (1, -1):
        raise InvalidInput(
            f"finite_state_machine: tie is {tie!r}, expected 1 or -1: the sign that is tried first"
        )
    if thresholds is not None and not isinstance(thresholds, Thresholds):
        raise InvalidInput(
            f"finite_state_machine: thresholds is {thresholds!r}, expected Thresholds"
        )
    placed, size = family.canonical.placed, family.size
    arm = Arm(0.0, size.a2, size.a3, size.d4, size.d5, 0.0)
    columns = list(family.chain.columns)
    start = np.zeros(subject.nq)
    if previous is not None:
        start = finite(previous, (subject.nq,), "finite_state_machine: previous")
    theta0 = placed.sign * start[columns] + placed.offset
    goal = np.linalg.inv(placed.base) @ T @ np.linalg.inv(placed.tool)
    choice = villalobos.algorithm_2(
        arm, goal, theta0.tolist(), thresholds or Thresholds.scale_free(arm), tie
    )
    if choice.posture is None:
        return Decision(None, choice)
    q = start.copy()
    q[columns] = placed.sign * (np.array(choice.posture.theta) - placed.offset)
    q[columns] = (q[columns] + np.pi) % (2 * np.pi) - np.pi
    return Decision(q, choice)
