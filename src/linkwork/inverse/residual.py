"""Residual: how far frames are from their goals, with the Jacobian that closes the gap,
over symbols."""

from __future__ import annotations

import math
from dataclasses import dataclass

import casadi
import numpy as np
from casadi import SX

from linkwork.inverse.targets import Goal
from linkwork.model.placement import Placement
from linkwork.model.tree import Tree
from linkwork.recursions.jacobians import jacobian
from linkwork.recursions.poses import frame_pose
from linkwork.spatial import Transform, cross, skew, vector
from linkwork.spatial.vector import angle_over_sine, rotation_vector

Place = tuple[int, Placement]


@dataclass(frozen=True)
class Gap:
    """e: what is missing (m rows); J (m, nv of the tree): e falls by J dv; weights:
    one a row [1, m/rad]."""

    e: SX
    J: SX
    weights: tuple[float, ...]


def gap(
    tree: Tree, q: SX, goals: tuple[Goal, ...], places: tuple[Place, ...], target: SX, length: float
) -> Gap:
    """The rows of all goals. `length` [m]: what a radian weighs where a goal has no weights of its
    own."""
    e, J, weights, at = [], [], [], 0
    for goal, place in zip(goals, places, strict=True):
        R_d, p_d = unpacked(goal, target[at : at + goal.size])
        at += goal.size
        J_world, R = jacobian(tree, q, place)
        p = frame_pose(tree, q, place).p
        w = goal.weights or (1.0,) * 3 + (length,) * 3
        if goal.positions:
            whole = len(goal.positions) == 3 and len(set(w[:3])) == 1
            rows = list(range(3)) if whole else list(goal.positions)
            turn = SX.eye(3) if whole or not goal.turned else R_d.T
            e.append((turn @ (p_d - p))[rows])
            J.append((turn @ J_world[0:3, :])[rows, :])
            weights += [w[k] for k in goal.positions]
        if goal.rotations or goal.task == "pointing":
            e_w, J_w, w_w = _turning_rows(goal, R, J_world[3:6, :], R_d, p_d, w)
            e.append(e_w)
            J.append(J_w)
            weights += w_w
    return Gap(casadi.vertcat(*e), casadi.vertcat(*J), tuple(weights))


def _turning_rows(
    goal: Goal, R: SX, J_w: SX, R_d: SX, direction: SX, w: tuple[float, ...]
) -> tuple[SX, SX, list[float]]:
    """Rows of a rotation error: all of it, the two that point an axis, or one alone."""
    if goal.task == "pointing":
        return (*_pointing(R, J_w, vector(goal.direction), direction), [max(w[3:])] * 2)
    if len(goal.rotations) == 3:
        if len(set(w[3:])) == 1:
            return rotation_vector(R_d @ R.T), J_w, list(w[3:])
        # in the frame's own axes, so that each axis has its own weight
        e = rotation_vector(R.T @ R_d)
        return e, R.T @ J_w, list(w[3:])
    if len(goal.rotations) == 2:
        free = ({0, 1, 2} - set(goal.rotations)).pop()
        return (
            *_pointing(R, J_w, vector(np.eye(3)[free].tolist()), R_d[:, free]),
            [w[3 + k] for k in goal.rotations],
        )
    # One rotation alone: the others may be large,
    # so the rate of the rotation vector is not the angular velocity.
    e = rotation_vector(R.T @ R_d)
    rate = _inverse_left_jacobian(e) @ R.T @ J_w
    k = goal.rotations[0]
    return e[k], rate[k, :], [w[3 + k]]


def _pointing(R: SX, J_w: SX, axis: SX, direction: SX) -> tuple[SX, SX]:
    """Two rows: the turn that brings the frame's axis onto the direction, seen across the axis."""
    a = np.array(casadi.DM(axis)).ravel()
    b1 = np.cross(a, np.eye(3)[int(np.argmin(np.abs(a)))])
    b1 /= np.linalg.norm(b1)
    across = SX(casadi.DM(np.vstack([b1, np.cross(a, b1)]))) @ R.T
    n = cross(R @ axis, direction)
    return across @ (n * angle_over_sine(n, casadi.dot(R @ axis, direction))), across @ J_w


def _inverse_left_jacobian(w: SX) -> SX:
    """d(w)/dt = this @ angular velocity, for the rotation vector w of R' R_d with R turning in its
    own axes.

    With R' R_d = exp(w) and R' = -[W] R' the vector w falls as the frame turns towards the target.
    """
    tt = casadi.fmax(casadi.dot(w, w), 1e-8)
    half = casadi.sqrt(tt) / 2
    coefficient = (1 - half * casadi.cos(half) / casadi.sin(half)) / tt
    W = skew(w)
    return SX.eye(3) - W / 2 + coefficient * (W @ W)


def unpacked(goal: Goal, x: SX) -> tuple[SX, SX]:
    """(R_d, p_d or direction) from a goal's flat numbers; empty where the goal has none."""
    if not goal.turned:
        return SX(0, 0), x
    return casadi.reshape(x[0:9], 3, 3).T, x[9:]


def errors(
    tree: Tree, q: SX, goals: tuple[Goal, ...], places: tuple[Place, ...], target: SX
) -> tuple[SX, SX]:
    """(position error [m], rotation error [rad]) of the worst goal, from forward kinematics
    alone."""
    position, turn, at = SX(0), SX(0), 0
    for goal, place in zip(goals, places, strict=True):
        R_d, p_d = unpacked(goal, target[at : at + goal.size])
        at += goal.size
        T = frame_pose(tree, q, place)
        position = casadi.fmax(position, _position_error(goal, T, R_d, p_d))
        turn = casadi.fmax(turn, _rotation_error(goal, T, R_d, p_d))
    return position, turn


def _position_error(goal: Goal, T: Transform, R_d: SX, p_d: SX) -> SX:
    if not goal.positions:
        return SX(0)
    d = p_d - T.p
    if len(goal.positions) < 3:
        d = (R_d.T @ d)[list(goal.positions)]
    return casadi.sqrt(casadi.sumsqr(d))


def _rotation_error(goal: Goal, T: Transform, R_d: SX, direction: SX) -> SX:
    """Angles by half-angle sines, exact to rounding also where they are small."""
    if goal.task == "pointing":
        return _angle_between(T.R @ vector(goal.direction), direction)
    if not goal.rotations:
        return SX(0)
    if len(goal.rotations) == 3:
        return 2 * casadi.asin(
            casadi.fmin(1, casadi.sqrt(casadi.sumsqr(T.R - R_d)) / (2 * math.sqrt(2)))
        )
    if len(goal.rotations) == 2:
        free = ({0, 1, 2} - set(goal.rotations)).pop()
        return _angle_between(T.R[:, free], R_d[:, free])
    return casadi.fabs(rotation_vector(T.R.T @ R_d)[goal.rotations[0]])


def _angle_between(a: SX, b: SX) -> SX:
    return 2 * casadi.asin(casadi.fmin(1, casadi.sqrt(casadi.sumsqr(a - b)) / 2))
