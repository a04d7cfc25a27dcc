"""Targets: what is asked of a frame, and the arrays that say where it shall be."""

from __future__ import annotations

import functools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import casadi
import numpy as np
from casadi import SX

from linkwork.arguments import as_doubles, choice, name_list
from linkwork.errors import InvalidInput
from linkwork.foreign_poses import is_rotation

TASKS = ("pose", "position", "orientation", "pointing")
AXES = ("x", "y", "z", "rx", "ry", "rz")
_DEFECT = 1e-6
"""How far R'R may be from the identity; what is within is brought to the nearest rotation."""
_LAST_ROW = 1e-9
_SHORT = 1e-12


@dataclass(frozen=True)
class Goal:
    """What is asked of a frame.

    frame      its name
    task       "pose": target (..., 4, 4). "position": (..., 3) [m], or (..., 4, 4) of which the
               position counts. "orientation": (..., 3, 3) or (..., 4, 4). "pointing": (..., 3), a
               direction in world axes along which the frame's own `direction` shall look
    axes       which of x y z rx ry rz count, in axes of the target; left out: all that the task
               has. Two of the three rotations leave the frame free to turn about the third axis of
               the target
    weights    how much x y z rx ry rz count where not all can be reached (only their ratios
               matter). Left out, one radian weighs as much as half the chain's reach
    """

    frame: str
    task: str = "pose"
    axes: tuple[str, ...] | None = None
    direction: tuple[float, float, float] = (0.0, 0.0, 1.0)
    weights: tuple[float, ...] | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.frame, str):
            raise InvalidInput(f"goal: frame is {self.frame!r}, expected its name")
        choice(self.task, TASKS, f'goal of frame "{self.frame}": task')
        if self.axes is not None:
            object.__setattr__(self, "axes", self._ordered(self.axes))
        direction = as_doubles(self.direction, f'goal of frame "{self.frame}": direction')
        length = float(np.linalg.norm(direction)) if direction.shape == (3,) else math.nan
        if not length > 1e-12 or not math.isfinite(length):
            raise InvalidInput(
                f'goal of frame "{self.frame}": direction is {self.direction!r}, expected a '
                "3-vector"
            )
        object.__setattr__(self, "direction", tuple((direction / length).tolist()))
        if self.weights is not None:
            weights = as_doubles(self.weights, f'goal of frame "{self.frame}": weights')
            if weights.shape != (6,) or not (np.isfinite(weights).all() and (weights > 0).all()):
                raise InvalidInput(
                    f'goal of frame "{self.frame}": weights is {self.weights!r}, expected six '
                    "positive numbers for "
                    f"{', '.join(AXES)}; leave out what shall not count with `axes`"
                )
            object.__setattr__(self, "weights", tuple(weights.tolist()))

    def _ordered(self, axes: Any) -> tuple[str, ...]:
        given = name_list(
            axes.replace(",", " ").split() if isinstance(axes, str) else axes,
            f'goal of frame "{self.frame}": axes',
        )
        allowed = {"pose": AXES, "position": AXES[:3], "orientation": AXES[3:], "pointing": ()}[
            self.task
        ]
        wrong = [a for a in given if a not in allowed]
        if wrong or not given or len(set(given)) < len(given):
            raise InvalidInput(
                f'goal of frame "{self.frame}": axes is {axes!r}, expected some of '
                f"{', '.join(allowed) or 'none'} "
                f'for task "{self.task}"'
            )
        return tuple(a for a in AXES if a in given)

    @property
    def positions(self) -> tuple[int, ...]:
        """Which of x, y, z count."""
        if self.task not in ("pose", "position"):
            return ()
        return tuple(k for k in range(3) if self.axes is None or AXES[k] in self.axes)

    @property
    def rotations(self) -> tuple[int, ...]:
        """Which of rx, ry, rz count (a pointing frame has none: its direction counts)."""
        if self.task not in ("pose", "orientation"):
            return ()
        return tuple(k for k in range(3) if self.axes is None or AXES[3 + k] in self.axes)

    @property
    def turned(self) -> bool:
        """Does the target's rotation matter?"""
        return bool(self.rotations) or 0 < len(self.positions) < 3

    @property
    def size(self) -> int:
        """Numbers of one target as the kernels get it: rotation by rows,
        then position or direction."""
        return (9 if self.turned else 0) + (3 if self.positions or self.task == "pointing" else 0)


Format = tuple[int, ...]


def goals_of(
    who: str, frame: Any, target: Any, task: str | None, **details: Any
) -> tuple[tuple[Goal, ...], tuple[Any, ...]]:
    """(goals, targets) of a call: frames by name, as `Goal`,
    or several of these with a list of targets.

    Without a task a target (..., 4, 4) is a pose, a rotation of another library an orientation, any
    other a position.
    """
    several = isinstance(frame, Sequence) and not isinstance(frame, str)
    frames = tuple(frame) if several else (frame,)
    if not frames:
        raise InvalidInput(f"{who}: frame is empty, expected a name, a Goal, or several of them")
    is_list = isinstance(target, Sequence) and not isinstance(target, np.ndarray)
    if several and not (is_list and len(target) == len(frames)):
        kind = type(target).__name__
        raise InvalidInput(
            f"{who}: target is a {kind}, expected a list of {len(frames)} targets, one a frame"
        )
    targets = tuple(as_doubles(t, f"{who}: target") for t in (target if several else (target,)))
    goals = []
    turns = [is_rotation(t) for t in (target if several else (target,))]
    for f, t, turn in zip(frames, targets, turns, strict=True):
        if isinstance(f, Goal):
            goals.append(f)
        elif isinstance(f, str):
            usual = "pose" if t.shape[-2:] == (4, 4) else "orientation" if turn else "position"
            goals.append(Goal(f, usual if task is None else task, **details))
        else:
            raise InvalidInput(
                f"{who}: frame is {f!r}, expected a name, a Goal, or several of them"
            )
    if len({g.frame for g in goals}) < len(goals):
        raise InvalidInput(
            f"{who}: frame names {[g.frame for g in goals]}, expected each frame once"
        )
    return tuple(goals), targets


def format_of(who: str, goal: Goal, target: np.ndarray) -> Format:
    """The shape of one target among those that the goal's task accepts."""
    accepted: dict[str, tuple[Format, ...]] = {
        "pose": ((4, 4),),
        "position": ((4, 4),) if goal.turned else ((4, 4), (3,)),
        "orientation": ((4, 4), (3, 3)),
        "pointing": ((3,),),
    }
    for shape in accepted[goal.task]:
        if target.shape[-len(shape) :] == shape:
            return shape
    listed = " or ".join(f"(..., {', '.join(map(str, s))})" for s in reversed(accepted[goal.task]))
    raise InvalidInput(
        f'{who}: target has shape {target.shape}, expected {listed} for task "{goal.task}"'
    )


def packed(goal: Goal, target: SX) -> tuple[SX, SX]:
    """(numbers of `goal.size`, checks) of one target, over symbols:
    rotation brought to the nearest one, then the rest.

    checks: defect of R'R, determinant, distance of the last row from (0, 0, 0, 1), length of a
    direction.
    """
    parts, defect, det, last, length = [], SX(0), SX(1), SX(0), SX(1)
    if target.shape == (4, 4):
        last = casadi.mmax(casadi.fabs(target[3, :] - SX([[0, 0, 0, 1]])))
    if goal.turned:
        R = target[0:3, 0:3]
        gap = casadi.fabs(R.T @ R - SX.eye(3))
        for k in range(9):
            defect = casadi.fmax(defect, gap[k])
        det = casadi.dot(R[:, 0], casadi.cross(R[:, 1], R[:, 2]))
        for _ in range(2):  # Newton's iteration for the polar factor squares the defect
            R = 1.5 * R - 0.5 * R @ R.T @ R
        parts.append(casadi.reshape(R.T, 9, 1))
    if goal.task == "pointing":
        length = casadi.sqrt(casadi.sumsqr(target))
        parts.append(target / casadi.fmax(length, 1e-300))
    elif goal.positions:
        parts.append(target[0:3, 3] if target.shape == (4, 4) else target)
    return casadi.vertcat(*parts), casadi.vertcat(defect, det, last, length)


def fault(checks: SX) -> SX:
    """1 where the checks of a target refuse it."""
    defect, det, last, length = casadi.vertsplit(checks)
    bad = (defect > _DEFECT, det < 0, last > _LAST_ROW, length < _SHORT)
    return functools.reduce(casadi.logic_or, bad)


def refuse(who: str, goal: Goal, checks: np.ndarray) -> None:
    """Say what is wrong with the first target whose checks (..., 4) refuse it."""
    defect, det, last, length = np.moveaxis(checks, -1, 0)
    no_row = "the last row of a rigid transform is (0, 0, 0, 1), this one differs by {last:.3g}"
    no_rotation = (
        "the rotation part is not a rotation matrix (det = {det:.6g}, R'R differs from the "
        "identity by {defect:.3g}, up to 1e-6 is mended)"
    )
    no_direction = "a direction of length zero points nowhere"
    rotated = (defect > _DEFECT) | (det < 0)
    refusals = (last > _LAST_ROW, no_row), (rotated, no_rotation), (length < _SHORT, no_direction)
    for bad, sentence in refusals:
        if np.any(bad):
            k = tuple(np.argwhere(bad)[0])
            where = f"[{', '.join(str(int(i)) for i in k)}]" if k else ""
            values = {"defect": defect[k], "det": det[k], "last": last[k]}
            raise InvalidInput(
                f'{who}: target{where} of frame "{goal.frame}": {sentence.format(**values)}'
            )
