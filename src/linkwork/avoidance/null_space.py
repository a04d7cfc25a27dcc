"""Null-space avoidance: any redundant robot keeps its tasks exactly while the rest of it makes way,
one QP a step.

    minimise   |q + dq - posture|^2
    such that  tasks:  J dq = e                     the tool stays on its path
               distances:  d(distance) >= -gain dt (distance - minimum)
               joints within their limits of position and speed

Where no step does all of that, the tasks give way and the distances do not: the tool follows as far
as it can, and the speed guard says how much of its speed it may keep. Source: [Ames2019] for the
rows of distances.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from linkwork import configurations, quantities
from linkwork.arguments import finite, number, shown
from linkwork.avoidance.guard import approaches, speed_scale
from linkwork.avoidance.smoothing import CriticallyDampedFilter
from linkwork.collision import CollisionModel, Obstacles
from linkwork.errors import InvalidInput, NotPossible
from linkwork.formats.tabular import Tabular
from linkwork.inverse.barriers import CollisionBarrier
from linkwork.inverse.differential import Moves, TaskStack
from linkwork.inverse.tasks import PostureTask, Task, singles
from linkwork.results import short_repr
from linkwork.subject import Subject

HEAVY = 1e6  # weight of the posture's cost of tasks that give way


@short_repr
@dataclass(frozen=True)
class NullSpaceStep(Tabular, rows="clearance"):
    """What one step decided.

    q, v          (nq,), (nv,) the configuration after the step and the velocity to it [rad/s, m/s]
    clearance     [m] the least distance at q; inf where there is nothing to touch
    speed_scale   factor in [0, 1] for the speed of the tasks, from the guard
    status        "clear"; "avoiding" (a distance is within twice its minimum); "blocked"
                  (the tasks gave way)
    """

    q: np.ndarray
    v: np.ndarray
    clearance: float
    speed_scale: float
    status: Literal["clear", "avoiding", "blocked"]


class _Posture:
    """As a `PostureTask` of cost 1: |q + dq - target|^2 over coordinates that are no part of a
    quaternion."""

    def __init__(self, subject: Subject, target: np.ndarray) -> None:
        pairs = np.array(singles(subject), dtype=int).reshape(-1, 2)
        self.at_q, self.at_v = pairs[:, 0], pairs[:, 1]
        self.weights, self.target = np.zeros((subject.nv, subject.nv)), target
        self.weights[self.at_v, self.at_v] = 1.0

    def objective(self, q: np.ndarray, damping: float) -> tuple[np.ndarray, np.ndarray]:
        """(H, c) of dq."""
        H, c = self.weights.copy(), np.zeros(len(self.weights))
        H.reshape(-1)[:: len(H) + 1] += damping
        c[self.at_v] = (q - self.target)[self.at_q]
        return H, c


class NullSpaceAvoidance:
    """Keeps a robot off obstacles and off itself while its tasks are met.

    model       the robot with shapes
    tasks       what is kept exactly, such as `lw.tasks.FrameTask(tool, pose)`; each step may bring
                others
    obstacles   each step may bring others
    gain        [1/s] how fast the way to the minimum may be used up;  minimum: distance that is
                kept [m]
    posture     (nq,) where the spare freedom goes; left out, q0;  filter: smooths the posture that
                is followed
    period      of a step [s];  nearest: how many pairs are looked at
    threshold   distance [m] below which the guard slows the tasks; left out, three times the
                minimum
    """

    def __init__(
        self,
        model: CollisionModel,
        tasks: Sequence[Task] | Task,
        obstacles: Obstacles | Sequence[Any] | None = None,
        gain: float = 5.0,
        minimum: float = 0.02,
        filter: CriticallyDampedFilter | None = None,
        posture: ArrayLike | None = None,
        q0: ArrayLike | None = None,
        period: float = 0.01,
        nearest: int = 10,
        threshold: float | None = None,
    ) -> None:
        self.barrier = CollisionBarrier(model, obstacles, gain, minimum, nearest)
        self.model, self.subject = model, model.subject
        nq = self.subject.nq
        self.q = (
            configurations.neutral(self.subject)
            if q0 is None
            else finite(q0, (nq,), "NullSpaceAvoidance: q0")
        )
        self.posture = (
            self.q.copy()
            if posture is None
            else finite(posture, (nq,), "NullSpaceAvoidance: posture")
        )
        self.period = number(period, "NullSpaceAvoidance: period")
        if not self.period > 0.0:
            raise InvalidInput(
                f"NullSpaceAvoidance: period is {self.period:g}, expected a positive time [s]"
            )
        if not self.barrier.minimum > 0.0:
            raise InvalidInput(
                f"NullSpaceAvoidance: minimum is {minimum!r}, expected a distance > 0 m"
            )
        self.tasks = _several(tasks)
        # no joint turns by a quaternion
        self._plain = len(singles(self.subject)) == nq == self.subject.nv
        self._moves = Moves(self.subject, self.period)
        self._aims = _Posture(self.subject, self.posture)
        self._holds = TaskStack(self.subject, self.tasks)
        self._near = self.barrier.distances(self.q)
        self.threshold = (
            3.0 * self.barrier.minimum if threshold is None else number(threshold, "threshold")
        )
        self._filters = None
        if filter is not None:
            self._filters = [CriticallyDampedFilter(filter.rate, filter.period) for _ in range(nq)]
            for smoother, value in zip(self._filters, self.q, strict=True):
                smoother.reset(float(value))
        self._last = math.inf

    def step(
        self,
        tasks: Sequence[Task] | Task | None = None,
        obstacles: Obstacles | Sequence[Any] | None = None,
    ) -> NullSpaceStep:
        """One step of `period`; tasks and obstacles that are given here stay until others are."""
        if tasks is not None:
            self.tasks = _several(tasks)
            self._holds = self._holds.towards(self.tasks)
        if obstacles is not None:
            before = self.barrier
            settings = (before.gain, before.minimum, before.nearest)
            self.barrier = CollisionBarrier(self.model, obstacles, *settings)
            self._near = self.barrier.distances(self.q)
        self._aims.target = self._wanted()
        rows = self.barrier.rows_of(*self._near, self.period)
        blocked = False
        try:
            way = self._moves.best(self.q, self._aims, self._holds, rows=rows)
        except NotPossible:
            blocked = True
            weak = PostureTask(self._aims.target, cost=1.0 / HEAVY)
            softly: tuple[Any, ...] = (weak, *self.tasks)
            aims = TaskStack(self.subject, softly)
            way = self._moves.best(self.q, aims, TaskStack(self.subject, ()), rows=rows)
        v = way / self.period
        self.q = (
            self.q + way
            if self._plain
            else quantities.evaluate(self.subject, "integrate", {"q": self.q, "v": way})
        )
        self._near = self.barrier.distances(self.q)  # of the next step too, while obstacles stay
        clearance = float(self._near[0][0]) if len(self._near[0]) else math.inf
        approaching = approaches(clearance, self._last)
        self._last = clearance
        scale = (
            1.0 if math.isinf(clearance) else speed_scale(clearance, self.threshold, approaching)
        )
        near = clearance < 2.0 * self.barrier.minimum
        return NullSpaceStep(
            self.q.copy(),
            v,
            clearance,
            scale,
            "blocked" if blocked else "avoiding" if near else "clear",
        )

    def _wanted(self) -> np.ndarray:
        if self._filters is None:
            return self.posture
        both = zip(self._filters, self.posture, strict=True)
        return np.array([smoother.step(float(x)) for smoother, x in both])


def _several(tasks: Any) -> tuple[Any, ...]:
    """Some tasks; one alone is taken for a list of one."""
    several = (
        (tasks,) if _is_task(tasks) else tuple(tasks) if isinstance(tasks, (list, tuple)) else None
    )
    if several is None or not all(_is_task(task) for task in several):
        raise InvalidInput(
            f"tasks is {shown(tasks)}, expected a task or a list of tasks (lw.tasks)"
        )
    return several


def _is_task(x: Any) -> bool:
    """Whether it has what a task has: CasADi's symbols have rows, too."""
    return hasattr(x, "rows") and hasattr(x, "key")
