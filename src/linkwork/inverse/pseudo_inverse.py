"""The pseudo-inverse along a path: the classical resolution of redundancy,
integrated by Euler's rule.

    qd = J+ (v + K e) + (1 - J+ J) alpha dw/dq,      J+ = J' (J J')^-1                          (eqs. 6-8)

The first term alone gives the smallest speeds at every instant and, over a closed path, joints that
do not come back. The second moves within what the task leaves free, uphill on an objective w.

Source: [Nicolato2005] eqs. 6-8. Corrected: the text before eq. 6 prints dK/dq for J = d fk / dq.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import casadi
import numpy as np
from casadi import SX

from linkwork.engine.scan import Scan, scan
from linkwork.errors import InvalidInput
from linkwork.inverse.numeric import REACHED, Solver
from linkwork.inverse.residual import gap
from linkwork.inverse.result import InverseKinematics
from linkwork.spatial.linear import factored, from_lower

OBJECTIVES = ("manipulability", "limits")
FOLLOWED, LOST = REACHED, 1
Objective = Callable[[SX], Any]


@dataclass(frozen=True)
class PseudoInverseSettings:
    """dt [s]; gain K [1/s]; objective w(q) with its factor alpha; damping added to J J';
    tolerance [m], [rad]."""

    dt: float
    gain: float
    objective: str | Objective | None
    alpha: float
    damping: float
    tolerance: tuple[float, float]


def follow(
    solver: Solver,
    targets: tuple[np.ndarray, ...],
    velocity: np.ndarray | None,
    q0: np.ndarray,
    limits: tuple[np.ndarray, np.ndarray],
    settings: PseudoInverseSettings,
) -> InverseKinematics:
    """Joint motion (..., T, nq) for a path (..., T) that begins at q0:
    q[k] is where the arm is when target[k] is due.

    velocity (..., T, rows): of the targets, linear then angular, world axes; left out, from each
    target to the next.
    """
    numbers, checks, bad, _ = solver.pack.call(targets, None, solver.context)
    if np.any(bad):
        solver.refuse(checks)
    if numbers.ndim < 2 or numbers.shape[-2] < 2:
        raise InvalidInput(
            f"{solver.who}: the pseudo-inverse follows a path (..., T, shape), T >= 2, got "
            f"{numbers.shape[:-1]}"
        )
    runner = _scan_of(solver, limits, settings)
    rows = runner.names["sequences"]["velocity"][0]
    if velocity is None:
        velocity = _differences(solver, rows, numbers, settings.dt)
    if velocity.shape[-2:] != (numbers.shape[-2], rows):
        raise InvalidInput(
            f"{solver.who}: velocity has shape {velocity.shape}, expected "
            f"(..., {numbers.shape[-2]}, {rows})"
        )
    x0 = q0[..., solver.moving]
    run = runner(
        x=x0,
        target=numbers,
        velocity=velocity,
        gain=settings.gain,
        dt=settings.dt,
        steps=numbers.shape[-2],
    )
    x = run.record["q"]
    if run.failed.any():
        lost = np.isnan(x).any(axis=-1)
        last = np.broadcast_to(run.state["x"][..., None, :], x.shape)
        x = np.where(lost[..., None], last, x)
    position, turn = solver.verify.call((x, numbers), None, solver.context)
    q = np.array(np.broadcast_to(q0[..., None, :], (*x.shape[:-1], solver.subject.nq)))
    q[..., solver.moving] = x
    success = (position <= settings.tolerance[0]) & (turn <= settings.tolerance[1])
    code = np.where(success, FOLLOWED, LOST)
    count = np.broadcast_to(np.ones((), dtype=int), success.shape)
    return InverseKinematics(q, success, position, turn, count, code, limits, _explain)


def _scan_of(
    solver: Solver, limits: tuple[np.ndarray, np.ndarray], settings: PseudoInverseSettings
) -> Scan:
    m = solver.mechanism
    bounds = tuple(x[solver.moving] for x in limits)

    def step(x: SX, gain: SX, dt: SX, target: SX, velocity: SX, k: SX) -> dict[str, SX]:
        e, J, kept = _moved_rows(solver, x, target)
        A = [[casadi.dot(J[i, :], J[j, :]) for j in range(i + 1)] for i in range(len(kept))]
        for i in range(len(kept)):
            A[i][i] += settings.damping
        wanted = velocity[kept] + gain * e
        free = SX.zeros(m.n)
        if settings.objective is not None:
            free = settings.alpha * _gradient(solver, settings.objective, x, bounds)
            wanted = wanted - J @ free
        rate = J.T @ factored(from_lower(A)).solve(wanted) + free
        return {"x": m.moved(x, dt * rate), "q": x}

    x, target = SX.sym("x", len(m.q)), SX.sym("target", solver.size)
    size = gap(m.tree, m.in_tree(x), solver.goals, m.places, target, m.length).e.numel()
    kept = _moved_rows(solver, x, target)[2]
    if len(kept) > m.n:
        raise InvalidInput(
            f"{solver.who}: the task has {len(kept)} rows, more than the {m.n} joints a "
            "pseudo-inverse can use"
        )
    return scan(
        step,
        {"x": len(m.q)},
        {"gain": (), "dt": ()},
        {"target": solver.size, "velocity": size},
        record={"q": len(m.q)},
        name=solver.who,
    )


def _moved_rows(solver: Solver, x: SX, target: SX) -> tuple[SX, SX, list[int]]:
    """(e, J, which rows): those that some joint moves; a planar arm has no say in the others."""
    m = solver.mechanism
    error = gap(m.tree, m.in_tree(x), solver.goals, m.places, target, m.length)
    J = casadi.sparsify(m.columns(error.J))
    kept = [i for i in range(J.shape[0]) if J[i, :].nnz()]
    return error.e[kept], casadi.densify(J[kept, :]), kept


def _gradient(
    solver: Solver, objective: str | Objective, x: SX, bounds: tuple[np.ndarray, ...]
) -> SX:
    """dw/dx by automatic differentiation, one entry a one-coordinate joint."""
    m = solver.mechanism
    s = SX.sym("s", len(m.q))
    w = SX(_objective(solver, objective, s, bounds))
    if w.numel() != 1:
        raise InvalidInput(f"{solver.who}: objective gives {w.shape}, expected one number")
    slope = casadi.gradient(w, s)
    out = SX.zeros(m.n)
    for at, v in m.single:
        out[v] = slope[at]
    (out,) = casadi.substitute([out], [s], [x])
    return out


def _objective(
    solver: Solver, objective: str | Objective, s: SX, bounds: tuple[np.ndarray, ...]
) -> Any:
    m = solver.mechanism
    if callable(objective):
        neutral = SX(casadi.DM(solver.neutral))
        for k, at in enumerate(m.q):
            neutral[at] = s[k]
        return objective(neutral)
    if objective == "limits":
        lower, upper = bounds
        single = [at for at, _ in m.single if np.isfinite(lower[at]) and np.isfinite(upper[at])]
        terms = [
            ((s[at] - (lower[at] + upper[at]) / 2) / (upper[at] - lower[at])) ** 2 for at in single
        ]
        return -sum(terms, SX(0)) / (2 * max(1, len(single)))
    _, J, _ = _moved_rows(solver, s, SX.zeros(solver.size))
    return casadi.sqrt(casadi.det(J @ J.T))


def _differences(solver: Solver, rows: int, numbers: np.ndarray, dt: float) -> np.ndarray:
    """Velocities from each target to the next: what the solver's own rows say is missing from one
    to the other."""
    if len(solver.goals) != 1 or solver.goals[0].task != "position" or rows != 3:
        from scipy.spatial.transform import Rotation

        if len(solver.goals) != 1 or solver.goals[0].task != "pose" or rows != 6:
            raise InvalidInput(f"{solver.who}: give the velocity of the targets for this task")
        R = numbers[..., :9].reshape((*numbers.shape[:-1], 3, 3))
        turn = R[..., 1:, :, :] @ np.swapaxes(R[..., :-1, :, :], -1, -2)
        angular = (
            Rotation.from_matrix(turn.reshape(-1, 3, 3)).as_rotvec().reshape((*turn.shape[:-2], 3))
        )
        linear = np.diff(numbers[..., 9:], axis=-2)
        step = np.concatenate([linear, angular], axis=-1)
    else:
        step = np.diff(numbers, axis=-2)
    return np.concatenate([step, step[..., -1:, :]], axis=-2) / dt


def _explain(result: InverseKinematics, index: tuple[int, ...]) -> str:
    code, position, turn = (
        np.asarray(x)[index] for x in (result.code, result.position_error, result.rotation_error)
    )
    what = "followed" if code == FOLLOWED else "beside the path"
    return f"{what}: {position:.4g} m and {turn:.4g} rad away"
