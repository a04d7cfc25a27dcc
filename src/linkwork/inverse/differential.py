"""Differential inverse kinematics: the joint velocity that does the best for weighted tasks within
limits, by one QP.

    minimise over dq = v dt:   sum_tasks |W (gain e - J dq)|^2 + (mu + damping |W e|^2) |dq|^2

with intervals for every joint from its limits of position, speed and acceleration, and with tasks
that must be met exactly as equalities; so are the robot's own loops, which stay closed. Errors and
Jacobians of all tasks are one compiled kernel.

Source: [Caron2024] for the weighting and the limits.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, fields, is_dataclass
from typing import TYPE_CHECKING, Any, Protocol

import casadi
import numpy as np
from casadi import SX

from linkwork import configurations
from linkwork.arguments import as_doubles, finite_rows, number
from linkwork.engine.compile import CompiledFunction
from linkwork.engine.kernel import Context
from linkwork.errors import InvalidInput
from linkwork.inverse.mechanism import limits_of, stroke
from linkwork.inverse.qp import ENDLESS, solve_qp
from linkwork.inverse.tasks import Task, TaskScene, singles
from linkwork.loops.assembly import constraints, has_closures
from linkwork.recursions.mimic import maps, tree_coordinates
from linkwork.subject import Subject

if TYPE_CHECKING:
    from linkwork.inverse.barriers import Barrier

WHO = "differential_inverse_kinematics"
APPROACH = 0.5
"""Of the way to a position limit that one step may go, so that joints slow down before it."""
DEPENDENT = 1e-9
"""A row of the loops' Jacobian of this size, against the largest,
says nothing that the others do not."""


def differential_inverse_kinematics(
    subject: Subject,
    q: Any,
    tasks: Sequence[Task],
    dt: float,
    v: Any = None,
    limits: Any = True,
    acceleration: Any = None,
    constraints: Sequence[Task] = (),
    damping: float = 1e-12,
    barriers: Sequence[Barrier] = (),
) -> np.ndarray:
    """The velocity (nv,) for one configuration, or (..., nv) for a batch, one QP each.

    limits         True: the robot's position and speed limits; False: none; or (lower, upper) of q
                   with its own speeds
    acceleration   largest change of v [rad/s^2, m/s^2], one number or (nv,); v is then the present
                   velocity
    constraints    tasks that hold exactly (feet on the ground); their costs do not matter
    damping        mu
    barriers       inequalities G dq <= h that hold at every step (barriers.py): distances that are
                   kept
    A joint outside its range moves back as fast as its speed limit allows.
    """
    step, least = number(dt, f"{WHO}: dt"), number(damping, f"{WHO}: damping")
    if not step > 0:
        raise InvalidInput(f"{WHO}: dt is {dt!r}, expected a positive time [s]")
    if not least >= 0:
        raise InvalidInput(f"{WHO}: damping is {damping!r}, expected a number that is not negative")
    aims = TaskStack(subject, _several(tasks, "tasks"))
    holds = TaskStack(subject, _several(constraints, "constraints"))
    if not aims.tasks and not holds.tasks:
        raise InvalidInput(f"{WHO}: there is no task")
    at = as_doubles(q, f"{WHO}: q")
    if at.ndim == 0 or at.shape[-1] != subject.nq:
        raise InvalidInput(
            f"{WHO}: q has shape {at.shape}, expected (..., {subject.nq}): robot "
            f'"{subject.model.name}"'
        )
    bounds = _Bounds(subject, limits, acceleration, v, step, at.shape[:-1])
    moves = Moves(subject, step, bounds, barriers)
    rows = at.reshape(-1, subject.nq)
    ways = np.array([moves.best(row, aims, holds, least, k) for k, row in enumerate(rows)])
    return ways.reshape((*at.shape[:-1], subject.nv)) / step


def _several(tasks: Any, label: str) -> tuple[Task, ...]:
    """Some tasks; one alone is taken for a list of one."""
    if hasattr(tasks, "rows"):
        return (tasks,)
    if not isinstance(tasks, Iterable):
        raise InvalidInput(f"{WHO}: {label} is {tasks!r}, expected a list of tasks")
    return tuple(tasks)


class Aims(Protocol):
    """What a step does its best for."""

    def objective(self, q: np.ndarray, damping: float) -> tuple[np.ndarray, np.ndarray]: ...


class Moves:
    """The best step dq within everything that limits it;
    what stays the same from step to step is kept."""

    def __init__(
        self,
        subject: Subject,
        dt: float,
        bounds: _Bounds | None = None,
        barriers: Sequence[Barrier] = (),
    ) -> None:
        self.subject, self.dt = subject, dt
        self.bounds = bounds or _Bounds(subject, True, None, None, dt, ())
        self.loops, self.walls = _Loops(subject), _Walls(subject, barriers, dt)

    def best(
        self,
        q: np.ndarray,
        aims: Aims,
        holds: TaskStack,
        damping: float = 1e-12,
        k: int = 0,
        rows: tuple[np.ndarray, np.ndarray] | None = None,
    ) -> np.ndarray:
        """dq (nv,) for sample k of a batch; `rows` (G, h) of G dq <= h, where they are known, in
        the place of barriers."""
        H, c = aims.objective(q, damping)
        A, b = holds.equalities(q)
        if self.loops.any:
            closing, gap = self.loops.equalities(q)
            A, b = np.concatenate([A, closing]), np.concatenate([b, gap])
        lower, upper = self.bounds.of(q, k)
        rows = self.walls.rows(q) if rows is None else rows
        if not len(rows[1]):
            return solve_qp(WHO, H, c, lower, upper, A, b)
        return solve_qp(WHO, H, c, lower, upper, A, b, *_reachable(*rows, lower, upper))


class _Walls:
    """The rows of all barriers: G dq <= h."""

    def __init__(self, subject: Subject, barriers: Any, dt: float) -> None:
        self.subject, self.dt = subject, dt
        self.barriers = (barriers,) if hasattr(barriers, "rows") else tuple(barriers)
        for barrier in self.barriers:
            if not callable(getattr(barrier, "rows", None)):
                raise InvalidInput(
                    f"{WHO}: {barrier!r} is not a barrier, expected something with rows(q, dt)"
                )

    def rows(self, q: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """(G, h) of all barriers."""
        parts = [barrier.rows(q, self.dt) for barrier in self.barriers]
        G = np.concatenate([np.zeros((0, self.subject.nv)), *(rows for rows, _ in parts)])
        return G, np.concatenate([np.zeros(0), *(most for _, most in parts)])


def _reachable(
    G: np.ndarray, h: np.ndarray, lower: np.ndarray, upper: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """A row that asks for more than the limits allow asks for half of what they do."""
    reached = np.minimum(G * np.maximum(lower, -ENDLESS), G * np.minimum(upper, ENDLESS)).sum(
        axis=1
    )
    return G, np.maximum(h, 0.5 * reached)


class _Loops:
    """What keeps the loops of a robot closed, and closes them where earlier steps have left a gap:
    J dq = -r."""

    def __init__(self, subject: Subject) -> None:
        self.subject = subject
        self.any = has_closures(subject)

    def equalities(self, q: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """(A, b) of A dq = b, independent rows of length one:
        closures of planar loops say much twice."""
        r, J, _ = constraints(self.subject, q)
        U, sizes, Vt = np.linalg.svd(J, full_matrices=False)
        kept = sizes > DEPENDENT * max(1.0, sizes.max(initial=0.0))
        return Vt[kept], -(U[:, kept].T @ r) / sizes[kept]


class TaskStack:
    """Some tasks as one kernel: (q, numbers) -> (e, J)."""

    def __init__(self, subject: Subject, tasks: tuple[Task, ...]) -> None:
        self.subject, self.tasks = subject, tasks
        for task in tasks:
            parts = ("rows", "numbers", "costs", "gain", "damping", "key")
            if not all(hasattr(task, part) for part in parts):
                raise InvalidInput(f"{WHO}: {task!r} is not a task")
            gain = number(task.gain, f"{WHO}: gain")
            damping = number(task.damping, f"{WHO}: damping of a task")
            if not 0 <= gain <= 1 or not damping >= 0:
                raise InvalidInput(
                    f"{WHO}: gain {task.gain!r} must lie in [0, 1], damping {task.damping!r} "
                    "not below 0"
                )
        if not tasks:
            return
        self.numbers = np.concatenate([task.numbers(subject) for task in tasks])
        costs = [task.costs(subject) for task in tasks]
        self.costs = np.concatenate(costs)
        sizes = [len(c) for c in costs]
        self.gains = np.array([task.gain for task in tasks]).repeat(sizes)
        self.dampings = np.array([task.damping for task in tasks]).repeat(sizes)
        self.call = _kernel_of(subject, tasks)

    def towards(self, tasks: tuple[Task, ...]) -> TaskStack:
        """The stack of other tasks; where these have other targets alone it is this one,
        turned towards them."""
        same = len(tasks) == len(self.tasks) and all(
            _weighs_alike(own, other) for own, other in zip(self.tasks, tasks, strict=True)
        )
        if not same or not tasks:
            return TaskStack(self.subject, tasks)
        self.tasks = tasks
        self.numbers = np.concatenate([task.numbers(self.subject) for task in tasks])
        return self

    def objective(self, q: np.ndarray, damping: float) -> tuple[np.ndarray, np.ndarray]:
        """(H, c) of dq."""
        # squares of huge numbers, which the solver refuses by name
        with np.errstate(over="ignore", invalid="ignore"):
            return self._objective(q, damping)

    def _objective(self, q: np.ndarray, damping: float) -> tuple[np.ndarray, np.ndarray]:
        n = self.subject.nv
        if not self.tasks:
            return damping * np.eye(n), np.zeros(n)
        e, J = self.call(q, self.numbers)
        error, slope = self.costs * e, self.costs[:, None] * J
        H = slope.T @ slope
        H.reshape(-1)[:: n + 1] += damping + self.dampings @ (error * error)
        return H, -slope.T @ (self.gains * error)

    def equalities(self, q: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """(A, b) of A dq = b."""
        if not self.tasks:
            return np.zeros((0, self.subject.nv)), np.zeros(0)
        e, J = self.call(q, self.numbers)
        return J, self.gains * e


def _weighs_alike(first: Task, other: Task) -> bool:
    """Whether two tasks differ in their targets alone."""
    if first is other:
        return True
    if first.key != other.key or not is_dataclass(first):
        return False
    return all(
        _plainly_equal(getattr(first, name), getattr(other, name))
        for name in _weights_of(type(first))
    )


@functools.cache
def _weights_of(kind: type) -> tuple[str, ...]:
    return tuple(field.name for field in fields(kind) if field.name != "target")


def _plainly_equal(one: Any, other: Any) -> bool:
    return type(one) is type(other) and isinstance(one, (float, int, str, tuple)) and one == other


class _Bounds:
    """Intervals of dq for every joint."""

    def __init__(
        self,
        subject: Subject,
        limits: Any,
        acceleration: Any,
        v: Any,
        dt: float,
        batch: tuple[int, ...],
    ) -> None:
        facts = _facts_of(subject)
        self.at_q, self.at_v = facts.at_q, facts.at_v
        self.floor, self.ceiling = (
            (facts.floor, facts.ceiling) if limits is True else limits_of(WHO, subject, limits)
        )
        self.fast = np.full(subject.nv, np.inf) if limits is False else facts.speed * dt
        # every coordinate has its own speed
        self.whole = len(self.at_q) == subject.nq == subject.nv
        self.change: np.ndarray | None = None
        now = None if v is None else self._now(subject, v, batch)
        if acceleration is not None:
            a = as_doubles(acceleration, f"{WHO}: acceleration")
            if a.shape not in ((), (subject.nv,)) or not (a > 0).all():
                raise InvalidInput(
                    f"{WHO}: acceleration has shape {a.shape}, expected positive numbers "
                    f"({subject.nv},)"
                )
            if now is None:
                raise InvalidInput(f"{WHO}: acceleration limits need the present velocity v")
            self.change, self.present = np.broadcast_to(a, (subject.nv,)) * dt * dt, now * dt

    @staticmethod
    def _now(subject: Subject, v: Any, batch: tuple[int, ...]) -> np.ndarray:
        """The present velocity, one row a configuration."""
        now = finite_rows(
            v, subject.nv, f"{WHO}: v", f'robot "{subject.model.name}" has nv = {subject.nv}'
        )
        if now.ndim > 1 and now.shape[:-1] != batch:
            raise InvalidInput(
                f"{WHO}: v has shape {now.shape}, expected ({subject.nv},) or "
                f"{(*batch, subject.nv)}"
            )
        return np.broadcast_to(now, (*batch, subject.nv)).reshape(-1, subject.nv)

    def of(self, q: np.ndarray, k: int) -> tuple[np.ndarray, np.ndarray]:
        """(lower, upper) of dq. A narrower limit gives way where a wider one leaves it nothing:
        never empty."""
        lower, upper = -self.fast, self.fast
        if self.change is not None:
            now = self.present[k]
            lower, upper = (
                np.minimum(np.maximum(now + s * self.change, lower), upper) for s in (-1.0, 1.0)
            )
        if self.whole and self.change is None:
            low, high = APPROACH * (self.floor - q), APPROACH * (self.ceiling - q)
            return np.minimum(np.maximum(low, lower), upper), np.maximum(
                np.minimum(high, upper), lower
            )
        values, v = q[self.at_q], self.at_v
        low = APPROACH * (self.floor[self.at_q] - values)
        high = APPROACH * (self.ceiling[self.at_q] - values)
        lower, upper = lower.copy(), upper.copy()
        least, most = lower[v], upper[v]
        lower[v] = np.minimum(np.maximum(least, low), most)
        upper[v] = np.maximum(np.minimum(most, high), least)
        return lower, upper


@dataclass(frozen=True)
class _Facts:
    """What a subject's limits are, and where its one-coordinate joints stand in q and in v."""

    floor: np.ndarray
    ceiling: np.ndarray
    speed: np.ndarray
    at_q: np.ndarray
    at_v: np.ndarray


def _facts_of(subject: Subject) -> _Facts:
    def facts() -> _Facts:
        pairs = np.array(singles(subject), dtype=int).reshape(-1, 2)
        speed = configurations.limits(subject).velocity
        return _Facts(*stroke(subject), speed, pairs[:, 0], pairs[:, 1])

    return subject.once(_facts_of, facts)


def _kernel_of(subject: Subject, tasks: tuple[Task, ...]) -> Callable[..., Any]:
    """(q, numbers) -> (e (m,), J (m, nv)), compiled once for tasks of these kinds and frames."""
    return subject.once(
        (_kernel_of, *(task.key for task in tasks)), lambda: _compiled(subject, tasks)
    )


def _compiled(subject: Subject, tasks: tuple[Task, ...]) -> Callable[..., Any]:
    tree = subject.tree
    q = SX.sym("q", subject.nq)
    scene = TaskScene(subject, tree, q, tree_coordinates(tree, q), maps(tree)[2])
    sizes = [len(task.numbers(subject)) for task in tasks]
    numbers, e, J, at = SX.sym("numbers", sum(sizes)), [], [], 0
    for task, size in zip(tasks, sizes, strict=True):
        rows = task.rows(scene, numbers[at : at + size])
        e.append(rows[0])
        J.append(rows[1])
        at += size
    function = casadi.Function(
        "tasks", [q, numbers], [casadi.vertcat(*e), casadi.vertcat(*J)], {"cse": True}
    )
    kernel = CompiledFunction(WHO, [("q", (subject.nq,)), ("targets", (sum(sizes),))], function)
    context = Context(
        f'robot "{subject.model.name}"',
        {"q": f'robot "{subject.model.name}" has nq = {subject.nq}'},
    )
    return kernel.caller(context)
