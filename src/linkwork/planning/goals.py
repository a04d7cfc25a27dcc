"""Goals: where a motion is to end: configurations,
or poses of a frame whose configurations are looked for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import casadi
import numpy as np

from linkwork import configurations
from linkwork.arguments import as_doubles, number
from linkwork.errors import InvalidInput, LinkworkError
from linkwork.inverse.analytic import inverse_kinematics_all
from linkwork.inverse.residual import gap
from linkwork.inverse.solve import inverse_kinematics
from linkwork.inverse.targets import Goal, packed
from linkwork.inverse.tasks import TaskScene
from linkwork.loops.assembly import has_closures
from linkwork.planning.constraints import Constraint, Manifold
from linkwork.planning.space import Space
from linkwork.poses import pose_numbers
from linkwork.subject import Subject

STARTS = 64  # from which the numeric solver begins
FREE_VALUES = 24  # of the free parameter of a seven-axis arm
MOST = 32  # configurations kept of all poses
SAME = 1e-4  # [rad, m] configurations nearer than that are one


@dataclass(frozen=True)
class PoseGoal:
    """A frame at one of some poses.

    frame       a body or frame of the robot
    poses       (4, 4) or (k, 4, 4), world axes; with task "position" also (3,) or (k, 3)
    tolerance   how exactly [m, rad], one number or (position, rotation)
    axes        names of those of x y z rx ry rz that count, in axes of the target; None: all
    starts      from how many configurations the numeric solver begins where there is no closed form
    """

    frame: str
    poses: Any
    tolerance: Any = 1e-6
    axes: Any = None
    starts: int = STARTS

    def __post_init__(self) -> None:
        poses = pose_numbers(self.poses, "PoseGoal: poses")
        if poses.shape[-2:] == (4, 4) and poses.ndim in (2, 3):
            rows: np.ndarray = poses.reshape(-1, 4, 4)
        elif poses.shape[-1:] == (3,) and poses.ndim in (1, 2):
            rows = poses.reshape(-1, 3)
        else:
            raise InvalidInput(
                f"PoseGoal: poses has shape {poses.shape}, expected (4, 4), (k, 4, 4), (3,) or "
                "(k, 3)"
            )
        if not np.isfinite(rows).all():
            raise InvalidInput("PoseGoal: poses is not finite")
        both = np.broadcast_to(as_doubles(self.tolerance, "PoseGoal: tolerance"), (2,))
        if not (both > 0.0).all():
            raise InvalidInput(
                f"PoseGoal: tolerance is {self.tolerance!r}, expected positive numbers [m, rad]"
            )
        if number(self.starts, "PoseGoal: starts") < 1:
            raise InvalidInput(f"PoseGoal: starts is {self.starts}, expected at least 1")
        object.__setattr__(self, "poses", rows)
        object.__setattr__(self, "axes", Goal(self.frame, self.task, self.axes).axes)

    @property
    def task(self) -> str:
        """What of the frame counts: "pose" or "position"."""
        return "pose" if self.poses.shape[-2:] == (4, 4) else "position"

    def configurations(
        self, space: Space, start: np.ndarray, seed: int = 0, constraints: Sequence[Constraint] = ()
    ) -> np.ndarray:
        """Configurations (k, nq) within the limits that bring the frame there,
        nearest to the start first."""
        subject = space.subject
        subject.place_of(self.frame)  # an unknown frame is said by name
        of = (
            self._of
            if not constraints and not has_closures(subject)
            else partial(self._keeping, constraints)
        )
        rows = [q for pose in self.poses for q in of(subject, space, pose, start, seed)]
        return sorted_apart(space, np.array(rows).reshape(-1, subject.nq), start)

    def _of(
        self, subject: Subject, space: Space, pose: np.ndarray, start: np.ndarray, seed: int
    ) -> list[np.ndarray]:
        if pose.shape == (4, 4) and self.axes is None and space.free.all():
            closed = self._closed(subject, pose, start)
            if closed is not None:
                return _all_within(space, closed)
        begin = np.concatenate(
            [start[None], configurations.random(subject, int(self.starts) - 1, seed)]
        )
        begin = np.where(space.free, begin, start)
        targets = np.broadcast_to(pose, (len(begin), *pose.shape)).copy()
        options: dict[str, Any] = {"tolerance": self.tolerance}
        if self.axes is not None:
            options["axes"] = self.axes
        answer = inverse_kinematics(subject, targets, self.frame, begin, "numeric", options)
        rows = answer.q[answer.success]
        held = (np.abs(rows - start) <= 1e-9) | space.free
        return _all_within(space, rows[held.all(axis=1)])

    def _keeping(
        self,
        constraints: Sequence[Constraint],
        subject: Subject,
        space: Space,
        pose: np.ndarray,
        start: Any,
        seed: int,
    ) -> list[np.ndarray]:
        """Configurations that bring the frame there and keep constraints: both solved together,
        from many starts."""
        here = Constraint(_GoalTask(self, pose), tolerance=float(np.min(self.tolerance)))
        manifold = Manifold(space, [*constraints, here])
        begin = np.concatenate(
            [start[None], configurations.random(subject, int(self.starts) - 1, seed)]
        )
        rows, kept = manifold.projected(np.where(space.free, begin, start), manifold.numbers(start))
        return list(rows[kept])

    def _closed(self, subject: Subject, pose: np.ndarray, start: np.ndarray) -> np.ndarray | None:
        """Every posture where the axes have closed forms, or None."""
        try:
            one = inverse_kinematics_all(subject, pose, self.frame, start, None)
            if one.free is None:
                return one.q
            values = np.linspace(-np.pi, np.pi, FREE_VALUES, endpoint=False)
            return np.concatenate(
                [one.q, inverse_kinematics_all(subject, pose, self.frame, start, values).q]
            )
        except LinkworkError:
            return None


class _GoalTask:
    """A pose goal as a task: its rows are those of inverse kinematics, in axes of the target."""

    gain, damping = 1.0, 0.0

    def __init__(self, goal: PoseGoal, pose: np.ndarray) -> None:
        self.goal = Goal(goal.frame, goal.task, goal.axes)
        self.pose = pose

    @property
    def key(self) -> tuple:
        return "goal", self.goal.frame, self.goal.task, self.goal.axes

    def numbers(self, subject: Subject) -> np.ndarray:
        target = casadi.DM(self.pose)
        return np.array(casadi.DM(packed(self.goal, casadi.SX(target))[0])).ravel()

    def costs(self, subject: Subject) -> np.ndarray:
        return np.ones(len(self.goal.positions) + len(self.goal.rotations))

    def rows(self, scene: TaskScene, numbers: casadi.SX) -> tuple[casadi.SX, casadi.SX]:
        place = scene.subject.place_of(self.goal.frame)
        rows = gap(scene.tree, scene.q_tree, (self.goal,), (place,), numbers, 1.0)
        return rows.e, rows.J @ scene.G


def sorted_apart(space: Space, rows: np.ndarray, start: np.ndarray) -> np.ndarray:
    """Configurations, nearest to the start first, of those that are the same only one,
    at most MOST."""
    order = np.argsort(space.distance(np.broadcast_to(start, rows.shape), rows), kind="stable")
    kept: list[np.ndarray] = []
    for q in rows[order]:
        if all(
            np.abs(space.difference(q[None].copy(), other[None])).max() > SAME for other in kept
        ):
            kept.append(q)
        if len(kept) == MOST:
            break
    return np.array(kept).reshape(-1, rows.shape[1])


def _all_within(space: Space, rows: np.ndarray) -> list[np.ndarray]:
    """Those of some configurations that are within the limits,
    moved by whole turns where that helps."""
    moved = (_within(space, q) for q in rows)
    return [q for q in moved if q is not None]


def _within(space: Space, q: np.ndarray) -> np.ndarray | None:
    """The configuration moved by whole turns into the limits, or None."""
    moved = q.copy()
    bounded = np.array(space.turns) == 0.0
    for k in np.flatnonzero(bounded & space.free):
        if moved[k] > space.upper[k] + 1e-9 and moved[k] - 2 * np.pi >= space.lower[k] - 1e-9:
            moved[k] -= 2 * np.pi
        elif moved[k] < space.lower[k] - 1e-9 and moved[k] + 2 * np.pi <= space.upper[k] + 1e-9:
            moved[k] += 2 * np.pi
    inside = (moved >= space.lower - 1e-9) & (moved <= space.upper + 1e-9)
    if not (inside | ~bounded | ~space.free).all():
        return None
    return np.where(bounded & space.free, np.clip(moved, space.lower, space.upper), moved)
