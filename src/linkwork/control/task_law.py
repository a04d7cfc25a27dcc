"""Task law: what laws for a frame share: its error, its Jacobian, gains as matrices,
the model they compute with."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from casadi import SX

from linkwork import quantities
from linkwork.arguments import as_doubles
from linkwork.control.checks import definite
from linkwork.errors import InvalidInput
from linkwork.loops.dynamics import has_constraints
from linkwork.poses import pose_numbers
from linkwork.simulation.algebra import is_symbolic
from linkwork.simulation.bound import Bound
from linkwork.simulation.joint_foresight import ANGULAR, LINEAR
from linkwork.simulation.own_model import OwnModel, model_or_plant
from linkwork.simulation.plant import Plant
from linkwork.simulation.signals import PerStep, Signal, Source
from linkwork.simulation.task_space import TaskSpace


def task_source(target: Any, who: str) -> Source:
    """A target as given; poses (..., 4, 4) become rows of sixteen numbers."""
    if callable(target) or isinstance(target, PerStep):
        return Source(target, f"{who}: target")
    numbers = pose_numbers(target, f"{who}: target")
    if numbers.ndim >= 2 and numbers.shape[-2:] == (4, 4):
        numbers = numbers.reshape(*numbers.shape[:-2], 16)
    return Source(numbers, f"{who}: target")


def gain_rows(gain: Any, m: int, who: str) -> np.ndarray:
    """Gains (..., m m), row by row, from a number, m numbers, an (m, m) matrix,
    or batches (..., m), (..., m, m).

    Every matrix must be symmetric and positive semidefinite. An (m, m) array is one matrix, not m
    rows.
    """
    gains = as_doubles(gain, who)
    if gains.ndim < 2 or gains.shape == (m, m):
        return definite(gains, m, who, semi=True).reshape(m * m)
    if gains.shape[-2:] == (m, m):
        for matrix in gains.reshape(-1, m, m):
            definite(matrix, m, who, semi=True)
        return gains.reshape(*gains.shape[:-2], m * m)
    if gains.shape[-1] == 1:  # one number for all axes, of several gain sets
        gains = np.broadcast_to(gains, (*gains.shape[:-1], m))
    if gains.shape[-1] != m:
        raise InvalidInput(
            f"{who} has shape {gains.shape}, expected a number, (..., {m}) or (..., {m}, {m})"
        )
    if not np.isfinite(gains).all() or (gains < 0).any():
        raise InvalidInput(f"{who} contains {gains.min():g}, expected finite numbers of at least 0")
    rows = np.zeros((*gains.shape[:-1], m, m))
    rows[..., range(m), range(m)] = gains
    return rows.reshape(*gains.shape[:-1], m * m)


def times(rows: Any, m: int, x: Any) -> Any:
    """The product of a matrix in rows (m m) with a vector (m)."""
    if is_symbolic(rows) or is_symbolic(x):
        return SX(rows).reshape((m, m)).T @ x
    return np.reshape(rows, (m, m)) @ x


def transposed_times(jacobian: Any, force: Any) -> Any:
    """J' F: joint forces of a wrench."""
    return jacobian.T @ force


class BoundTaskLaw(Bound):
    """A law that follows a target of a frame.

    space, target   axes and what they should be;  model: own equations, or None: those of the plant
                    with its payload
    """

    def __init__(
        self, space: TaskSpace, target: Source, model: Any, plant: Plant, prefix: str, who: str
    ) -> None:
        super().__init__()
        self.prefix, self.space, self.who = prefix, space, who
        self.target = Signal(target, space.sizes, f"{prefix}_target")
        self.parameters |= self.target.parameters
        self.sequences |= self.target.sequences
        self.model = None if model is None else OwnModel(model, plant, who)
        if self.target.python is not None:
            self.python = f"{who}: target: {self.target.python.why_not}"

    def gains(self, name: str, gain: Any) -> None:
        self.parameters[f"{self.prefix}_{name}"] = gain_rows(
            gain, len(self.space.axes), f"{self.who}: {name}"
        )

    def believed(self, plant: Plant) -> Plant:
        """What the law computes with."""
        return model_or_plant(self.model, plant)

    def errors(self, plant: Plant, t: Any, q: Any, p: Mapping[str, Any]) -> tuple[Any, Any, Any]:
        """(error (m), its Jacobian (m, nv), target's rate (m); zero where the target has none or is
        a pose)."""
        target, rate, _ = self.target.with_rates(t, p)
        error, jacobian = self.space.split(plant.compute(self.space, q, target), plant.nv)
        moving = 0.0 * error if self.target.size == 16 else rate
        return error, jacobian, moving

    def single(self, *names: str) -> list[np.ndarray] | None:
        """These gains as (m, m) matrices, where the run has one set of them."""
        m = len(self.space.axes)
        rows = [self.parameters[f"{self.prefix}_{name}"] for name in names]
        return None if any(x.ndim > 1 for x in rows) else [x.reshape(m, m) for x in rows]

    def mass(self, plant: Plant, q: np.ndarray) -> np.ndarray | None:
        """What the frame weighs along its axes at q (m, m);
        None where it is singular or the plant has no frames."""
        subject = getattr(plant, "subject", None)
        if subject is None or has_constraints(subject):
            return None
        J = quantities.evaluate(subject, "jacobian", {"q": q}, frame=self.space.frame)[
            self.space.rows
        ]
        mobility = J @ np.linalg.solve(quantities.evaluate(subject, "mass_matrix", {"q": q}), J.T)
        if np.linalg.cond(mobility) > 1e9:
            return None
        mass = np.linalg.inv(mobility)
        return 0.5 * (mass + mass.T)

    @property
    def units(self) -> list[tuple[str, str, str]]:
        """Of damping, mass and stiffness along each axis."""
        return [LINEAR if row < 3 else ANGULAR for row in self.space.rows]
