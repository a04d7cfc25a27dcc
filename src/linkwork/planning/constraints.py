"""Constraints: what a motion keeps all along, and the configurations that do so,
by Newton's method in SIMD lanes.

A constraint says in which box the rows e(q) of a task lie; rows without a cost are free. With r the
part of e outside its box, and J = -de/dq of the rows that lie outside, one step is

    dq = M J' (J M J' + mu I)^-1 r,          M: 1 for joints that move, 0 for those that are held

of least length, cut at LONGEST, and stopped at the limits of the joints. mu is small against J M
J': closures of planar loops say much twice. Closed loops of a robot are constraints of all its
motions. Source: [Berenson2009] (projection).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import casadi
import numpy as np
from casadi import SX

from linkwork import quantities
from linkwork.arguments import as_doubles
from linkwork.engine.staged import Packed, StagedKernel, StagedSignature
from linkwork.engine.stages import Stages
from linkwork.errors import InvalidInput, NotPossible
from linkwork.inverse.tasks import FrameTask, RelativeFrameTask, TaskScene
from linkwork.loops.assembly import constraint_labels, has_closures
from linkwork.planning.space import Space
from linkwork.recursions.mimic import maps, tree_coordinates
from linkwork.recursions.poses import frame_pose
from linkwork.spatial import cross
from linkwork.spatial.linear import factored
from linkwork.spatial.vector import angle_over_sine
from linkwork.subject import Subject

TOLERANCE = 1e-3  # [m, rad]
LONGEST = 0.5  # of a step of Newton's method [rad, m]
DAMPING = 1e-10  # mu, of the mean diagonal
EXACT = 0.1  # of the tolerance: how near to the manifold projected configurations are
ITERATIONS = 30
FAR = 1e6  # a limit where there is none
OPERATIONS = 1_500
CLOSURES = "closed loops"


@dataclass(frozen=True, eq=False)
class Constraint:
    """Rows of a task within a box, along a whole motion.

    task           of `lw.tasks`: FrameTask, RelativeFrameTask, CenterOfMassTask, JointCouplingTask;
                   rows whose cost is 0 are free. Two rotations of a frame keep the direction of the
                   third axis: it may spin
    lower, upper   the box of what is missing to the target, a number or one a row [m, rad]; 0: the
                   target exactly
    tolerance      [m, rad] a number or one a row; motions stay within it
    """

    task: Any
    lower: Any = 0.0
    upper: Any = 0.0
    tolerance: Any = TOLERANCE

    def __post_init__(self) -> None:
        if not all(hasattr(self.task, name) for name in ("rows", "numbers", "costs", "key")):
            raise InvalidInput(f"Constraint: task is {self.task!r}, expected one of lw.tasks")
        low, high, near = (
            as_doubles(getattr(self, n), f"Constraint: {n}")
            for n in ("lower", "upper", "tolerance")
        )
        if np.isnan(low).any() or np.isnan(high).any() or (low > high).any():
            raise InvalidInput(
                f"Constraint: lower {self.lower!r} is above upper {self.upper!r}, or not a number"
            )
        if not (np.isfinite(near) & (near > 0.0)).all():
            raise InvalidInput(
                f"Constraint: tolerance is {self.tolerance!r}, expected positive numbers [m, rad]"
            )

    def box(self, subject: Subject) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """(which rows count, lower, upper, tolerance), each (rows,)."""
        counts = self.task.costs(subject) > 0.0
        if not counts.any():
            raise InvalidInput(
                f"Constraint: every cost of {label_of(self.task)} is 0, expected a row that counts"
            )
        parts = []
        for name in ("lower", "upper", "tolerance"):
            given = as_doubles(getattr(self, name), f"Constraint: {name}")
            if given.shape not in ((), counts.shape):
                expected = f"a number or {counts.shape} for {label_of(self.task)}"
                raise InvalidInput(
                    f"Constraint: {name} has shape {given.shape}, expected {expected}"
                )
            parts.append(np.clip(np.broadcast_to(given, counts.shape), -FAR, FAR))
        return counts, *parts


def label_of(task: Any) -> str:
    """How messages call a task."""
    return " ".join(str(part) for part in task.key)


class Manifold:
    """All constraints of a motion, compiled: how far configurations are off,
    and the nearest that keep them."""

    def __init__(self, space: Space, constraints: Sequence[Constraint]) -> None:
        self.space, self.constraints = space, tuple(constraints)
        self.subject = space.subject
        self.loops = has_closures(self.subject)
        boxes = [one.box(self.subject) for one in self.constraints]
        self.targets = [one.task.numbers(self.subject) for one in self.constraints]
        self.counts = tuple(tuple(np.flatnonzero(box[0]).tolist()) for box in boxes)
        own = [
            np.concatenate([box[k][box[0]] for box in boxes] or [np.zeros(0)]) for k in (1, 2, 3)
        ]
        closing = len(constraint_labels(self.subject)) if self.loops else 0
        ends = np.zeros(closing), np.zeros(closing), np.full(closing, 1e-2 * TOLERANCE)
        self.lower, self.upper, self.tolerance = (
            np.concatenate([a, b]) for a, b in zip(own, ends, strict=True)
        )
        self.labels = [
            label_of(c.task) for c, rows in zip(constraints, self.counts, strict=True) for _ in rows
        ]
        self.labels += [CLOSURES] * closing

    @property
    def rows(self) -> int:
        return len(self.labels)

    def numbers(self, start: np.ndarray) -> np.ndarray:
        """What the kernel is told besides q: targets, box, tolerances,
        limits and which joints move."""
        turns = np.array(self.space.turns) > 0.0
        low, high = np.where(turns, -FAR, self.space.lower), np.where(turns, FAR, self.space.upper)
        free = self.space.free
        limits = (np.where(free, low, start), np.where(free, high, start), free.astype(float))
        return np.concatenate(
            [*self.targets, self.lower, self.upper, 1.0 / self.tolerance, *limits]
        )

    @cached_property
    def kernel(self) -> StagedKernel:
        """(q, numbers) -> the next configuration, and how far q is off in tolerances."""
        nq, size = self.subject.nq, len(self.numbers(self.space.lower))
        signature = StagedSignature(
            "project", (("q", nq), ("numbers", size)), (), (("next", nq), ("off", 1)), OPERATIONS
        )
        made = (Manifold, self.counts, tuple(one.task.key for one in self.constraints), size)
        return self.subject.once(
            made, lambda: StagedKernel(signature, lambda k: self._recipe(k, size))
        )

    def off(self, q: np.ndarray, numbers: np.ndarray) -> np.ndarray:
        """How far configurations (..., nq) are off, in tolerances (...,)."""
        return self.kernel((q, numbers), Packed((), {}))[1]

    def projected(
        self, q: np.ndarray, numbers: np.ndarray, iterations: int = ITERATIONS
    ) -> tuple[np.ndarray, np.ndarray]:
        """Configurations (n, nq) near q that keep the constraints, and which of them do (n,)."""
        rows, kept, open_ = q.copy(), np.zeros(len(q), dtype=bool), np.arange(len(q))
        for _ in range(iterations + 1):
            following, off = self.kernel((rows[open_], numbers), Packed((), {}))
            wrong = off > EXACT
            kept[open_[~wrong]] = True
            open_ = open_[wrong]
            if not len(open_):
                break
            rows[open_] = following[wrong]
        return rows, kept

    def explained(self, q: np.ndarray) -> list[tuple[str, float, float]]:
        """(constraint, how far it is off [m, rad], its tolerance) of what q (nq,) breaks,
        the worst first."""
        residual = np.array(casadi.DM(self._residual(q))).ravel()
        beyond = np.abs(residual - np.clip(residual, self.lower, self.upper))
        order = np.argsort(-beyond / self.tolerance)
        return [
            (self.labels[k], float(beyond[k]), float(self.tolerance[k]))
            for k in order
            if beyond[k] > self.tolerance[k]
        ]

    def _residual(self, q: np.ndarray) -> Any:
        symbols, numbers = SX.sym("q", self.subject.nq), SX.sym("n", len(self.numbers(q)))
        function = casadi.Function("off", [symbols, numbers], [self._rows(symbols, numbers)])
        return function(q, self.numbers(q))

    def _rows(self, q: SX, numbers: SX) -> SX:
        """e of all constraints, stacked, then what keeps loops open."""
        tree = self.subject.tree
        scene = TaskScene(self.subject, tree, q, tree_coordinates(tree, q), maps(tree)[2])
        parts, at = [], 0
        for constraint, wanted in zip(self.constraints, self.counts, strict=True):
            task = constraint.task
            size = len(task.numbers(self.subject))
            parts.append(_task_rows(task, scene, numbers[at : at + size], wanted))
            at += size
        if self.loops:
            residual = quantities.trace(self.subject, "constraints").call(
                [q, SX.zeros(self.subject.nv)]
            )[0]
            parts.append(-casadi.reshape(residual, residual.numel(), 1))
        return casadi.vertcat(*parts)

    def _recipe(self, k: Stages, size: int) -> None:
        nq, m = self.subject.nq, self.rows
        q, numbers = k.input("q", nq), k.input("numbers", size)
        at = size - 3 * m - 3 * nq
        lower, upper, per = (numbers[at + i * m : at + (i + 1) * m] for i in range(3))
        low, high, free = (
            numbers[at + 3 * m + i * nq : at + 3 * m + (i + 1) * nq] for i in range(3)
        )
        e = self._rows(q, numbers)
        r = e - casadi.fmin(casadi.fmax(e, lower), upper)
        inside = casadi.logic_and(r == 0, lower < upper)
        J = -casadi.jacobian(e, q) * casadi.repmat(1 - inside, 1, nq)
        moving = J * casadi.repmat(free.T, m, 1)
        A = casadi.densify(moving @ J.T)
        A += SX.eye(m) * (DAMPING * casadi.trace(A) / m + 1e-30)
        dq = moving.T @ factored(A).solve(r)
        dq *= casadi.fmin(1.0, LONGEST / casadi.fmax(casadi.norm_2(dq), 1e-30))
        following, off = k.variable(nq), k.variable()
        k.assign(following, casadi.fmin(casadi.fmax(q + dq, low), high))
        k.assign(off, casadi.mmax(casadi.fabs(r) * per))
        k.output("next", following)
        k.output("off", off)


def _task_rows(task: Any, scene: TaskScene, numbers: SX, wanted: Sequence[int]) -> SX:
    """The rows of a task that count; two rotations of a frame as the tilt of the third axis,
    smooth for any spin."""
    e = task.rows(scene, numbers)[0]
    turns = [k - 3 for k in wanted if k >= 3]
    if not isinstance(task, (FrameTask, RelativeFrameTask)) or len(turns) != 2:
        return e[list(wanted)]
    place = scene.subject.place_of
    R = frame_pose(scene.tree, scene.q_tree, place(task.frame)).R
    if isinstance(task, RelativeFrameTask):
        R = frame_pose(scene.tree, scene.q_tree, place(task.root)).R.T @ R
    spin = ({0, 1, 2} - set(turns)).pop()
    axis = SX(np.eye(3)[spin])
    R_d = casadi.reshape(numbers[0:9], 3, 3).T
    here = R @ (R_d.T @ axis)
    n = cross(here, axis)
    tilt = n * angle_over_sine(n, casadi.dot(here, axis))
    return casadi.vertcat(e[[k for k in wanted if k < 3]], tilt[turns])


def manifold_of(space: Space, constraints: Any, who: str = "plan") -> Manifold | None:
    """The constraints of a motion, checked; None where there is nothing to keep."""
    if isinstance(constraints, Constraint) or hasattr(constraints, "rows"):
        constraints = (constraints,)
    if not isinstance(constraints, Sequence):
        raise InvalidInput(
            f"{who}: constraints is {constraints!r}, expected a list of lw.tasks or Constraint"
        )
    listed = [x if isinstance(x, Constraint) else Constraint(x) for x in constraints]
    if not listed and not has_closures(space.subject):
        return None
    return Manifold(space, listed)


def refuse_off(manifold: Manifold, start: np.ndarray) -> None:
    """A start that breaks a constraint, or constraints that contradict each other there."""
    if float(manifold.off(start, manifold.numbers(start))) <= 1.0:
        return
    label, beyond, tolerance = manifold.explained(start)[0]
    what = (
        f'plan: start breaks the constraint "{label}" by {beyond:.3g} [m, rad], its tolerance '
        f"is {tolerance:.3g}"
    )
    nearest, kept = manifold.projected(start[None], manifold.numbers(start))
    if kept[0]:
        away = float(np.abs(nearest[0] - start).max())
        raise InvalidInput(
            f"{what}; lw.planning.project gives a configuration that keeps all, {away:.3g} away"
        )
    left = manifold.explained(nearest[0])
    names = ", ".join(
        f'"{name}" by {by:.3g}' for name, by, _ in {row[0]: row for row in left[::-1]}.values()
    )
    raise NotPossible(
        f"{what}; constraints contradict each other at the start: no configuration near it keeps "
        "all, the best breaks "
        f"{names or 'a limit of a joint'}"
    )
