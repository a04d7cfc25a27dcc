"""Descent: one damped least-squares step towards the goals inside the joint limits, over symbols.

    minimise |W (e - J dx)|^2 + lambda |dx / u|^2,      lambda = DAMPING |W e|^2        (Levenberg-Marquardt)

over the joints that are free to move: one that stands on a limit and is pulled outwards rests for
this step. With fewer rows than joints the step comes from the rows' own system,

    (J F J' + lambda W^-2) y = e,      dx = F J' y,      F = free u^2

where weights cost nothing, and e - J dx = lambda W^-2 y is known without computing it. Damping by
the squared error needs no rejected steps; it vanishes at the solution, so convergence is quadratic.

Source: [Sugihara2011] for the damping; resting joints on a limit is the projected Newton step of
[Bertsekas1982].
"""

from __future__ import annotations

from dataclasses import dataclass

import casadi
import numpy as np
from casadi import SX

from linkwork.inverse.mechanism import Mechanism
from linkwork.inverse.residual import gap
from linkwork.inverse.targets import Goal
from linkwork.spatial.linear import factored, from_lower

DAMPING = 0.03
_LEAST_DAMPING = 1e-14
"""Of the squared length: keeps the system solvable where goals contradict each other or a row is
lost."""


@dataclass(frozen=True)
class Step:
    """ee: squared weighted error before the step; x: where it leads, within the limits; bound:
    of the error there.

    The bound holds where no limit cut the step short (`cut` = 0): what damping left over, plus the
    reach times the square of the sum of all moves, because no second derivative of a chain exceeds
    its reach.
    """

    ee: SX
    x: SX
    bound: SX
    cut: SX


def step_towards(
    mechanism: Mechanism,
    goals: tuple[Goal, ...],
    x: SX,
    target: SX,
    lower: SX,
    upper: SX,
    wish: SX | None = None,
) -> Step:
    """One step from x. lower, upper: of the coordinates in `mechanism.single`; wish:
    dx preferred where goals allow."""
    # what is missing, weighted; loops that must close are further rows
    q = mechanism.in_tree(x)
    error = gap(mechanism.tree, q, goals, mechanism.places, target, mechanism.length)
    e, J = error.e, mechanism.columns(error.J)
    weights = [w * scale(mechanism, goals) for w in error.weights]
    loops = mechanism.loop_rows(q)
    if loops is not None:
        e, J = casadi.vertcat(e, -loops[0]), casadi.vertcat(J, mechanism.columns(loops[1]))
        weights += [max(weights)] * loops[0].numel()
    J = casadi.densify(J)
    m, n = J.shape
    w = np.array(weights)
    ee = sum((float(w[i] ** 2) * e[i] * e[i] for i in range(m)), SX(0))
    damping = DAMPING * ee + _LEAST_DAMPING * mechanism.length**2

    # damped least squares over the coordinates that limits leave free,
    # by the smaller of J J' and J'J
    free = _free(mechanism, x, J, e, w, lower, upper)
    moves = [free[j] * float(mechanism.units[j] ** 2) for j in range(n)]
    rest = e
    if wish is not None:
        wish = casadi.vertcat(*[wish[j] * free[j] for j in range(n)])
        rest = e - J @ wish
    if m <= n:
        F = casadi.horzcat(*[J[:, j] * moves[j] for j in range(n)])
        A = [[casadi.dot(F[i, :], J[k, :]) for k in range(i + 1)] for i in range(m)]
        for i in range(m):
            A[i][i] += damping * float(w[i] ** -2)
        y = factored(from_lower(A)).solve(rest)
        dx = F.T @ y
        left = damping * casadi.sqrt(sum(float(w[i] ** -2) * y[i] * y[i] for i in range(m)))
    else:
        B = casadi.horzcat(*[J[:, j] * free[j] for j in range(n)])
        weighted = casadi.vertcat(*[B[i, :] * float(w[i] ** 2) for i in range(m)])
        A = [[casadi.dot(weighted[:, i], B[:, k]) for k in range(i + 1)] for i in range(n)]
        for j in range(n):
            A[j][j] += damping * float(mechanism.units[j] ** -2)
        y = factored(from_lower(A)).solve(weighted.T @ rest)
        dx = casadi.vertcat(*[y[j] * free[j] for j in range(n)])
        missing = rest - J @ dx
        left = casadi.sqrt(sum(float(w[i] ** 2) * missing[i] * missing[i] for i in range(m)))
    if wish is not None:
        dx = dx + wish

    # within the limits, and a bound of the error there
    moved = mechanism.moved(x, dx)
    inside = SX(moved)
    for (at, _), low, high in zip(
        mechanism.single, casadi.vertsplit(lower), casadi.vertsplit(upper), strict=True
    ):
        inside[at] = _clamped(moved[at], low, high)
    size = sum(casadi.fabs(dx[j]) * float(1 / mechanism.units[j]) for j in range(n))
    bound = left + (mechanism.reach + mechanism.length) * size * size
    return Step(ee, inside, bound, casadi.sumsqr(moved - inside))


def scale(mechanism: Mechanism, goals: tuple[Goal, ...]) -> float:
    """Brings weights of the caller's own to the size of ours, so that only their ratios matter."""
    weights = [w for goal in goals for w in goal.weights or ()]
    return max(1.0, mechanism.length) / max(weights) if weights else 1.0


def least_weights(mechanism: Mechanism, goals: tuple[Goal, ...]) -> tuple[float, float]:
    """The smallest weight of a metre and of a radian."""
    ours = (1.0,) * 3 + (mechanism.length,) * 3
    table = [[w * scale(mechanism, goals) for w in goal.weights or ours] for goal in goals]
    return min(w for row in table for w in row[:3]), min(w for row in table for w in row[3:])


def _free(
    mechanism: Mechanism, x: SX, J: SX, e: SX, w: np.ndarray, lower: SX, upper: SX
) -> list[SX]:
    """1 for joints that may move, 0 for those on a limit that the error pulls outwards.

    A joint that is not pulled at all moves all the same where the others need it: to rest it would
    throw the motion of a redundant arm into its null space for one step.
    """
    free = [SX(1)] * mechanism.n
    weighted = casadi.vertcat(*[e[i] * float(w[i] ** 2) for i in range(len(w))])
    for (at, k), low, high in zip(
        mechanism.single, casadi.vertsplit(lower), casadi.vertsplit(upper), strict=True
    ):
        if _unbounded(low) and _unbounded(high):
            continue
        pull = casadi.dot(J[:, k], weighted)
        room = casadi.if_else(pull > 0, high - x[at], x[at] - low)
        free[k] = room > 0
    return free


def _unbounded(limit: SX) -> bool:
    return limit.is_constant() and np.isinf(float(limit))


def _clamped(x: SX, low: SX, high: SX) -> SX:
    if not _unbounded(low):
        x = casadi.fmax(x, low)
    return x if _unbounded(high) else casadi.fmin(x, high)
