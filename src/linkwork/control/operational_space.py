"""Operational space: tasks of lw.tasks with gains, one above the other, as joint forces."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import casadi
import numpy as np
from casadi import SX

from linkwork.control.checks import positive
from linkwork.errors import InvalidInput, NotPossible
from linkwork.inverse.tasks import TaskScene
from linkwork.loops.dynamics import has_constraints
from linkwork.recursions.mimic import maps, tree_coordinates
from linkwork.simulation.bound import Bound
from linkwork.simulation.controllers import Controller
from linkwork.simulation.own_model import OwnModel, model_or_plant
from linkwork.simulation.plant import Plant
from linkwork.simulation.robot_plant import RobotPlant
from linkwork.spatial.linear import factored

SOFT = 1e-7
"""Part of its trace added to a task's mobility,
so that a singular task asks for little instead of everything."""


@dataclass(frozen=True)
class Level:
    """Tasks of lw.tasks with the same priority; rows of cost 0 are free.

    stiffness [1/s^2], damping [1/s]: the error of every row obeys e'' + damping e' + stiffness e =
    0; damping left
    out: critical, 2 sqrt(stiffness)
    """

    tasks: Any
    stiffness: float = 100.0
    damping: float | None = None


class OperationalSpace(Controller):
    """tau = inverse dynamics of accelerations that meet the levels in order of priority.

        a_1 = J_1# (x_1'' - J_1' v),   a_k = a_{k-1} + N_{k-1} (J_k N_{k-1})#
                                       (x_k'' - J_k' v - J_k a_{k-1})

    with J# = M^-1 J' (J M^-1 J')^-1 (dynamically consistent), x'' = stiffness e - damping J v. What
    no level asks for moves without force but for `rest_damping` [1/s] (joints slow down in what is
    left over).

    levels   Level(tasks), highest priority first; tasks of lw.tasks: FrameTask, RelativeFrameTask,
             CenterOfMassTask, PostureTask ...: targets in m and rad, world axes
    model    robot that the law believes in (masses, gravity); left out: the real one with its
             payload
    Gravity is part of the inverse dynamics: do not add GravityCompensation. Source: [Khatib1987];
    [Siciliano1991].
    """

    def __init__(
        self, levels: Sequence[Level] | Level, rest_damping: float = 5.0, model: Any = None
    ) -> None:
        stack = (levels,) if isinstance(levels, Level) else tuple(levels)
        if not stack or not all(isinstance(level, Level) for level in stack):
            raise InvalidInput(
                "OperationalSpace: levels, expected Level(tasks, stiffness, damping), or several"
            )
        self.levels, self.model = stack, model
        self.rest_damping = positive(rest_damping, "OperationalSpace: rest_damping", zero=True)

    def bound(self, plant: Plant, prefix: str = "control") -> Bound:
        return _BoundOperational(self, plant, prefix)


@dataclass(frozen=True)
class _Stack:
    """Accelerations (nv) of the levels, over symbols: q, v, numbers of all tasks,
    gains (2 a level), rest damping."""

    tasks: tuple[tuple[Any, ...], ...]
    rows: tuple[tuple[int, ...], ...]
    keys: tuple[Any, ...]

    def __hash__(self) -> int:
        return hash((self.keys, self.rows))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Stack) and (self.keys, self.rows) == (other.keys, other.rows)

    def __call__(self, plant: Plant, q: SX, v: SX, numbers: SX, gains: SX, rest: SX) -> SX:
        assert isinstance(plant, RobotPlant)
        subject, n = plant.subject, plant.nv
        at, levels = 0, []
        symbol = SX.sym("q", plant.nq)
        scene = TaskScene(
            subject,
            subject.tree,
            symbol,
            tree_coordinates(subject.tree, symbol),
            maps(subject.tree)[2],
        )
        for tasks, kept in zip(self.tasks, self.rows, strict=True):
            errors, slopes = [], []
            for task in tasks:
                size = len(task.numbers(subject))
                e, J = task.rows(scene, numbers[at : at + size])
                at += size
                errors.append(e)
                slopes.append(SX(J))
            e, J = casadi.vertcat(*errors)[list(kept)], casadi.vertcat(*slopes)[list(kept), :]
            # J' v: what accelerates by itself
            turning = casadi.jtimes(J @ v, symbol, plant.rate(symbol, v))
            levels.append([casadi.substitute(x, symbol, q) for x in (e, J, turning)])
        solver = factored(plant.mass_matrix(q, SX(0)))
        a, N = SX.zeros(n), SX.eye(n)
        for k, (e, J, turning) in enumerate(levels):
            wanted = gains[2 * k] * e - gains[2 * k + 1] * (J @ v) - turning
            free = J @ N
            MJ = casadi.horzcat(*[solver.solve(free[row, :].T) for row in range(free.shape[0])])
            mobility = free @ MJ
            soft = mobility + SOFT * (casadi.trace(mobility) + SOFT) * SX.eye(free.shape[0])
            inverse = factored(soft)
            a = a + N @ (MJ @ inverse.solve(wanted - J @ a))  # N again: what rounding lets through
            N = N - N @ MJ @ casadi.horzcat(*[inverse.solve(free[:, j]) for j in range(n)])
        return a - rest * (N @ v)


class _BoundOperational(Bound):
    def __init__(self, law: OperationalSpace, plant: Plant, prefix: str) -> None:
        super().__init__()
        if not isinstance(plant, RobotPlant) or has_constraints(plant.subject):
            raise NotPossible(f"OperationalSpace: {plant.who} needs joints that are free")
        self.prefix, subject = prefix, plant.subject
        tasks, rows, numbers, gains = [], [], [], []
        for level in law.levels:
            several = (
                tuple(level.tasks) if isinstance(level.tasks, (list, tuple)) else (level.tasks,)
            )
            for task in several:
                if not all(hasattr(task, name) for name in ("rows", "numbers", "costs", "key")):
                    raise InvalidInput(f"OperationalSpace: {task!r} is no task of lw.tasks")
            stiffness = positive(level.stiffness, "Level: stiffness", zero=True)
            damping = 2.0 * np.sqrt(stiffness) if level.damping is None else level.damping
            costs = np.concatenate([task.costs(subject) for task in several])
            tasks.append(several)
            rows.append(tuple(int(k) for k in np.flatnonzero(costs)))
            numbers += [task.numbers(subject) for task in several]
            gains += [stiffness, positive(damping, "Level: damping", zero=True)]
        keys = tuple(tuple(task.key for task in several) for several in tasks)
        self.stack = _Stack(tuple(tasks), tuple(rows), keys)
        self.parameters[f"{prefix}_numbers"] = np.concatenate(numbers)
        self.parameters[f"{prefix}_gains"] = np.array(gains, dtype=float)
        self.parameters[f"{prefix}_rest"] = np.array([law.rest_damping])
        self.model = None if law.model is None else OwnModel(law.model, plant, "OperationalSpace")

    def law(
        self, plant: Plant, t: Any, q: Any, v: Any, s: Any, p: Mapping[str, Any]
    ) -> tuple[Any, Any]:
        numbers, gains, rest = (p[f"{self.prefix}_{name}"] for name in ("numbers", "gains", "rest"))
        model = model_or_plant(self.model, plant)
        a = model.compute(self.stack, q, v, numbers, gains, rest)
        return model.inverse(q, v, a, t), s
