"""Polish: Newton's steps on the robot's own forward kinematics, for rows that are nearly
solutions."""

from __future__ import annotations

from typing import Any

import casadi
import numpy as np
from casadi import SX, fabs, fmax

from linkwork.engine.kernel import Kernel
from linkwork.engine.scan import Scan, keyed_scan
from linkwork.inverse.analytic.angles import either, wrapped
from linkwork.inverse.analytic.candidates import (
    CONTINUUM,
    ISOLATED,
    TANGENT,
    TOLERANCE,
    pose_error,
    true_pose,
)
from linkwork.inverse.analytic.screws import Chain
from linkwork.model import Placement, Tree
from linkwork.quantities import Inputs, kernel_of
from linkwork.recursions.jacobians import jacobian
from linkwork.spatial import Transform
from linkwork.spatial.linear import factored
from linkwork.subject import Subject

MOST_STEPS = 25
SINGULAR = 1e-6
"""Smallest singular value of the scaled Jacobian below which a posture is singular."""
_LEAST = 1e-30
"""Least pivot of Newton's equations, where a posture is singular."""
PUSH = 1e-2
"""How far [rad] a singular row is pushed to see whether it is one of infinitely many."""


def polished(
    subject: Subject, chain: Chain, q: np.ndarray, target: np.ndarray, hold: int | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """(q, residual): rows (..., n) after Newton's steps towards the targets (..., 4, 4) or points
    (..., 3).

    hold: a joint of the chain that stays where it is.
    """
    position = target.shape[-1] == 3
    run = _newton(subject, chain, position, hold)(q=q, target=target, steps=MOST_STEPS)
    q = run.state["q"]
    q = q - 2 * np.pi * np.ceil((q - np.pi) / (2 * np.pi))
    return q, residuals(subject, chain, position)(q, target)


def residuals(subject: Subject, chain: Chain, position: bool = False) -> Kernel:
    """The kernel (q of the chain, target) -> how far true FK is from the target
    [of the arm's length, rad]."""
    return _kernel_about(subject, chain, "chain_point_residual" if position else "chain_residual")


def traced_residual(tree: Tree, x: Inputs) -> tuple[SX]:
    """How far true FK is from a target (4, 4) or (3,): a line of the table."""
    chain, target = x.about, x.own["target"]
    position = target.shape == (3, 1)
    T = true_pose(tree, x.frame, chain, x.own["q"])
    return (pose_error(T, _goal(target, position), chain.length, position),)


def _kernel_about(subject: Subject, chain: Chain, line: str) -> Kernel:
    return subject.once(
        (_kernel_about, line, chain.key), lambda: kernel_of(subject, line, chain.frame, about=chain)
    )


def _newton(subject: Subject, chain: Chain, position: bool, hold: int | None) -> Scan:
    return subject.once(
        (_newton, chain.key, position, hold), lambda: _scan(subject, chain, position, hold)
    )


def _scan(subject: Subject, chain: Chain, position: bool, hold: int | None) -> Scan:
    """q += J' (J J' + small)^-1 e, with lengths in units of the arm's; square arms:
    Newton's method.

    No joint turns by more than half a radian a step. The small term keeps a singular posture from
    dividing by zero.
    """
    n, L = len(chain), chain.length
    tree, frame = subject.tree, subject.place_of(chain.frame)

    def step(q: SX, target: SX, k: SX) -> dict[str, Any]:
        goal = _goal(target, position)
        T, J = true_pose(tree, frame, chain, q), _columns(tree, frame, chain, q)
        p, w = (goal.p - T.p) / L, casadi.inv_skew(goal.R @ T.R.T - T.R @ goal.R.T) / 2
        e = p if position else casadi.vertcat(p, w)
        J = J[:3, :] / L if position else casadi.vertcat(J[:3, :] / L, J[3:, :])
        if hold is not None:
            J[:, hold] = 0
        rows = e.numel()
        if rows <= n:
            A = J @ J.T + 1e-16 * SX.eye(rows)
            dq = J.T @ factored(A, _LEAST).solve(e)
        else:
            dq = factored(J.T @ J + 1e-16 * SX.eye(n), _LEAST).solve(J.T @ e)
        longest = casadi.mmax(fabs(dq))
        dq = dq * either(longest > 0.5, 0.5 / fmax(longest, 0.5), 1.0)
        return {"q": wrapped(q + dq), "stop": pose_error(T, goal, L, position) < 1e-15}

    target = {"target": (3,) if position else (4, 4)}
    key = subject.key(_scan, chain.frame, chain.columns, L, position, hold)
    return keyed_scan(key, [step], {"q": n}, target, name="polish")


def _goal(T: SX, position: bool) -> Transform:
    return Transform(SX.eye(3), T) if position else Transform(T[:3, :3], T[:3, 3])


def _columns(tree: Tree, frame: tuple[int, Placement], chain: Chain, q: SX) -> SX:
    """The Jacobian (6, n) of the frame for the chain's coordinates alone."""
    q_tree = SX(tree.nq, 1)
    places = [tree.independent[0][column] for column in chain.columns]
    for k, at in enumerate(places):
        q_tree[at] = q[k]
    J, _ = jacobian(tree, q_tree, frame)
    rates = {node.q: node.v for node in tree.nodes if node.nv}
    return casadi.densify(casadi.horzcat(*[J[:, rates[at]] for at in places]))


def distinct(
    q: np.ndarray, state: np.ndarray, residual: np.ndarray, same: float | np.ndarray = 1e-6
) -> np.ndarray:
    """State (N, M) with what missed its target and rows of q (N, M, n) that repeat an earlier one
    removed.

    same: how near [rad] to a row a later one must be to repeat it, for all or for each (N, M).
    """
    valid = (state > 0) & (residual <= TOLERANCE)
    first = np.argsort(~valid, axis=1, kind="stable")[
        :, : np.count_nonzero(valid, axis=1).max(initial=0)
    ]
    angles = np.take_along_axis(q, first[..., None], axis=1)
    kept = np.take_along_axis(valid, first, axis=1)
    near = np.take_along_axis(np.broadcast_to(same, state.shape), first, axis=1)
    for i in range(1, first.shape[1]):
        apart = np.abs((angles[:, i, None] - angles[:, :i] + np.pi) % (2 * np.pi) - np.pi).max(
            axis=-1
        )
        kept[:, i] &= ~(kept[:, :i] & (apart < near[:, :i])).any(axis=-1)
    np.put_along_axis(valid, first, kept, axis=1)
    return np.where(valid, state, 0.0)


def kinds(
    subject: Subject, chain: Chain, q: np.ndarray, target: np.ndarray, state: np.ndarray
) -> np.ndarray:
    """State (N, M) with the kind of every row decided on the true arm: isolated, tangent,
    or part of a continuum.

    A row is singular where the smallest singular value of its Jacobian is below `SINGULAR`. Pushed
    along the motion that does not move the frame and polished again, a point of a continuum stays
    away, a double root comes back.
    """
    where = np.nonzero(state > 0)
    if not len(where[0]):
        return state
    state = np.where(state > 0, ISOLATED + 4.0, 0.0)
    singular, idle = _singular(jacobian_kernel(subject, chain)(q[where]))
    if not len(singular):
        return state
    rows = tuple(w[singular] for w in where)
    start = q[rows]
    pushed, error = polished(subject, chain, start + PUSH * idle, target[rows[0]])
    apart = np.abs((pushed - start + np.pi) % (2 * np.pi) - np.pi).max(axis=-1)
    endless = (error <= TOLERANCE) & (apart > PUSH / 10)
    state[rows] = np.where(endless, CONTINUUM + 4.0, TANGENT + 8.0)
    return state


def _singular(J: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(which, idle): the singular ones of J (k, 6, n),
    and the motion (which, n) that moves the frame least.

    Of square ones the determinant clears most: the smallest singular value is at least |det J| /
    |J|^5.
    """
    which = np.arange(len(J))
    if J.shape[-1] == 6:
        size = np.sqrt((J**2).sum(axis=(-1, -2)))
        which = np.flatnonzero(np.abs(np.linalg.det(J)) < SINGULAR * size**5)
    _, sigma, Vt = np.linalg.svd(J[which])
    small = sigma[:, -1] < SINGULAR if len(which) else np.zeros(0, dtype=bool)
    return which[small], Vt[small, -1]


def jacobian_kernel(subject: Subject, chain: Chain) -> Kernel:
    """The kernel q of the chain (n,) -> its Jacobian (6, n) in world axes,
    lengths in units of the arm's."""
    return _kernel_about(subject, chain, "chain_jacobian")


def traced_jacobian(tree: Tree, x: Inputs) -> tuple[SX]:
    """The chain's Jacobian in units of the arm's length: a line of the table."""
    J = _columns(tree, x.frame, x.about, x.own["q"])
    return (casadi.vertcat(J[:3, :] / x.about.length, J[3:, :]),)
