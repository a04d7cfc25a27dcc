"""Solve: all inverse-kinematic solutions of a robot's frame, from whatever family it is in."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from linkwork import configurations
from linkwork.arguments import are_finite, as_doubles, finite
from linkwork.errors import InvalidInput, NotPossible
from linkwork.inverse.analytic.classify import Classification, classified
from linkwork.inverse.analytic.family import Family, Rows, beside_singular, merge
from linkwork.inverse.analytic.general_6r import General6R
from linkwork.inverse.analytic.solutions import Solutions
from linkwork.poses import pose_numbers
from linkwork.subject import Subject

WHO = "inverse_kinematics_all"
SCANNED = 48
"""Values of a seven-axis arm's free parameter that are tried where none is given and neutral
reaches nothing."""
DEFECT = 1e-6
"""How far a target may be from a rigid motion (largest entry of R'R - 1);
it is brought to the nearest one."""


def one_pose(who: str, target: ArrayLike) -> np.ndarray:
    """One target (4, 4), finite and a rigid motion."""
    T = finite(target, (4, 4), f"{who}: target")
    R = T[:3, :3]
    off = (
        np.abs(R.T @ R - np.eye(3)).max(),
        abs(np.linalg.det(R) - 1.0),
        np.abs(T[3] - [0, 0, 0, 1]).max(),
    )
    if not max(off) <= DEFECT:
        raise InvalidInput(_no_motion(f"{who}: target", max(off)))
    return T


def _no_motion(who: str, defect: float) -> str:
    return (
        f"{who} is no rigid motion: R'R, det R or the last row is off by {defect:.3g}, expected "
        f"at most {DEFECT:.0e}"
    )


def inverse_kinematics_all(
    subject: Subject,
    target: ArrayLike,
    frame: str,
    q0: ArrayLike | None = None,
    free: ArrayLike | None = None,
) -> Solutions:
    """Every configuration that brings the frame to the target; see
    `Robot.inverse_kinematics_all`."""
    family, goal, batch = _door(subject, target, frame)
    start = _start(subject, family, q0, batch)
    values = _free(family, free)
    rows = family.rows(goal, start, values)
    scanned = 0
    if family.free and free is None and q0 is None and not (rows.state > 0).any(axis=1).all():
        # the neutral value of the free parameter reaches some target not at all:
        # look at all of its range
        scanned, values = SCANNED, np.linspace(-np.pi, np.pi, SCANNED, endpoint=False)
        rows = family.rows(goal, start, values)
    if not family.exact:
        _complete(subject, family, rows, goal, start)
    worst = int(np.argmax(rows.defect)) if len(rows.defect) else 0
    if len(rows.defect) and not rows.defect[worst] <= DEFECT:
        where = f"[{', '.join(map(str, np.unravel_index(worst, batch)))}]" if batch else ""
        raise InvalidInput(_no_motion(f"{WHO}: target{where}", rows.defect[worst]))
    return _solutions(subject, family, rows, values, batch, scanned)


def _complete(
    subject: Subject, family: Family, rows: Rows, goal: np.ndarray, q0: np.ndarray
) -> None:
    """Postures come in pairs: where polishing nominal ones has lost one, it is looked for again.

    Where postures have labels beside the one that is left alone, else by the general solver.
    """
    if len(family.chain) != 6 or family.free:
        return
    odd = np.flatnonzero((rows.state // 4).sum(axis=1) % 2 == 1)
    if family.branches is not None:
        for i in odd:
            beside_singular(family, rows, goal, int(i))
    elif len(odd):
        chain = family.chain
        general = subject.once((General6R, chain.frame), lambda: General6R.of(subject, chain))
        merge(rows, general.rows(goal[odd], q0), odd)


def solver(subject: Subject, frame: str, position: bool = False) -> Family:
    """The solver of a frame for poses or for points, or NotPossible."""
    classification = classified(subject, frame)
    family = classification.point if position else classification.pose
    if family is None:
        raise NotPossible(f"{WHO}: {_nothing(classification, position)}")
    return family


def _nothing(classification: Classification, position: bool) -> str:
    who = f'robot "{classification.robot}", frame "{classification.frame}"'
    if position and classification.pose is not None:
        return (
            f"{who}: {classification.title} has closed forms for poses (4, 4), not for "
            "positions (3,)"
        )
    if not position and classification.point is not None:
        return (
            f"{who}: {classification.title} has closed forms for positions (3,), not for "
            "poses (4, 4)"
        )
    others = "".join(f"\n  not {name}: {why}" for name, why in classification.others.items())
    return f"{who} has no closed form: {classification.title}; use inverse_kinematics{others}"


def _door(
    subject: Subject, target: ArrayLike, frame: str
) -> tuple[Family, np.ndarray, tuple[int, ...]]:
    """The family and the targets as (N, 4, 4) or (N, 3), with the batch's shape."""
    goal = pose_numbers(target, f"{WHO}: target")
    pose = goal.ndim >= 2 and goal.shape[-2:] == (4, 4)
    if not pose and (goal.ndim < 1 or goal.shape[-1] != 3):
        raise InvalidInput(
            f"{WHO}: target has shape {goal.shape}, expected (..., 4, 4) or positions (..., 3)"
        )
    family = solver(subject, frame, position=not pose)
    if not are_finite(goal):
        where = tuple(np.argwhere(~np.isfinite(goal))[0])
        raise InvalidInput(
            f"{WHO}: target[{', '.join(map(str, where))}] is {goal[where]}, expected finite numbers"
        )
    shape = (4, 4) if pose else (3,)
    batch = goal.shape[: goal.ndim - len(shape)]
    return family, goal.reshape(-1, *shape), batch


def _start(
    subject: Subject, family: Family, q0: ArrayLike | None, batch: tuple[int, ...]
) -> np.ndarray:
    """The chain's part of q0 as (n,) or (N, n); without one the neutral configuration."""
    if q0 is None:
        return family.rest
    q = as_doubles(q0, f"{WHO}: q0")
    if q.ndim < 1 or q.shape[-1] != subject.nq or q.shape[:-1] not in ((), batch):
        expected = f"({subject.nq},)" if not batch else f"({subject.nq},) or {(*batch, subject.nq)}"
        raise InvalidInput(
            f'{WHO}: q0 has shape {q.shape}, expected {expected}: robot "{subject.model.name}" has '
            f"nq = {subject.nq}"
        )
    if not np.isfinite(q).all():
        raise InvalidInput(f"{WHO}: q0 has numbers that are not finite")
    starts = np.ascontiguousarray(q[..., list(family.chain.columns)])
    return starts if starts.ndim == 1 else starts.reshape(-1, len(family.chain))


def _free(family: Family, free: ArrayLike | None) -> np.ndarray | None:
    if free is None:
        return None
    if not family.free:
        raise InvalidInput(f"{WHO}: free is given, but {family.title} has no free parameter")
    values = np.atleast_1d(as_doubles(free, f"{WHO}: free"))
    if values.ndim != 1 or not len(values) or not np.isfinite(values).all():
        raise InvalidInput(
            f"{WHO}: free has shape {values.shape}, expected finite values (k,): {family.free}"
        )
    return values


def _solutions(
    subject: Subject,
    family: Family,
    rows: Rows,
    free: np.ndarray | None,
    batch: tuple[int, ...],
    scanned: int,
) -> Solutions:
    m = rows.state.shape[-1]
    valid = rows.state > 0
    branch = None
    if family.branches is not None:
        branch = family.branch_rows
        branch = branch if m == family.slots else np.tile(branch, (m // family.slots, 1))
    values = None if free is None else np.repeat(free, family.slots)
    details: dict[str, Any] = {
        "family": family.name,
        "exact": family.exact,
        "length": family.chain.length,
        "branch_names": family.branch_names,
        "free_name": family.free,
        "scanned": scanned,
    }
    if not batch:
        where = valid[0].nonzero()[0]
        return Solutions(
            q=_whole(subject, family, rows.q[0].take(where, axis=0)),
            residual=rows.residual[0].take(where),
            valid=np.ones(len(where), dtype=bool),
            state=rows.state[0].take(where),
            branch=None if branch is None else branch.take(where, axis=0),
            free=None if values is None else values.take(where),
            explain=lambda index: family.reason(rows.distances[0]),
            **details,
        )
    q = _whole(subject, family, rows.q)
    empty = np.where(valid, 0.0, np.nan)
    np.add(q, empty[..., None], out=q)  # adding is faster than assigning through a mask
    np.add(rows.residual, empty, out=rows.residual)
    return Solutions(
        q=q.reshape(*batch, m, q.shape[-1]),
        residual=rows.residual.reshape(*batch, m),
        valid=valid.reshape(*batch, m),
        state=rows.state.reshape(*batch, m),
        branch=None if branch is None else np.broadcast_to(branch, (*batch, *branch.shape)),
        free=None if values is None else np.broadcast_to(values, (*batch, m)),
        explain=lambda index: family.reason(rows.distances[np.ravel_multi_index(index, batch)]),
        **details,
    )


def _whole(subject: Subject, family: Family, q: np.ndarray) -> np.ndarray:
    """The chain's coordinates in the robot's q; joints off the chain are at neutral."""
    columns = list(family.chain.columns)
    if columns == list(range(subject.nq)):
        return q
    whole = np.broadcast_to(configurations.neutral(subject), (*q.shape[:-1], subject.nq)).copy()
    whole[..., columns] = q
    return whole
