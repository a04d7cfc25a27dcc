"""Rates of an impedance: stiffness, target and wrench that change no faster than an arm near people
should."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import casadi
import numpy as np
from casadi import SX
from numpy.typing import ArrayLike

from linkwork.control.checks import positive_array
from linkwork.control.maths import absolute
from linkwork.errors import InvalidInput
from linkwork.simulation.algebra import clipped, is_symbolic, joined, part, where
from linkwork.simulation.plant import Plant
from linkwork.simulation.task_space import AXES, TaskSpace
from linkwork.spatial.vector import exponential, rotation_vector

ENDLESS = 1e12
"""Stands for no limit: symbols know no infinity."""


@dataclass(frozen=True)
class Rates:
    """How much stiffness, target and wrench of a CartesianImpedance may change in a second; None:
    at once.

    stiffness [N/m/s, N m/rad/s], target [m/s, rad/s], wrench [N/s, N m/s]: one number, or one an
    axis. At its first sample the limited target is where the frame is and the wrench is zero, so
    that nothing jumps when the law is switched on; the stiffness begins as it is wanted. On the way
    to another stiffness every matrix in between is a mean of both, so that it stays positive.
    """

    stiffness: ArrayLike | None = None
    target: ArrayLike | None = None
    wrench: ArrayLike | None = None

    def __post_init__(self) -> None:
        if self.stiffness is None and self.target is None and self.wrench is None:
            raise InvalidInput("Rates: nothing is limited, expected stiffness, target or wrench")


@dataclass(frozen=True)
class _Place:
    """Where a frame is (16), row by row, over symbols."""

    frame: str

    def __call__(self, plant: Plant, q: SX) -> SX:
        return casadi.reshape(plant.pose(q, self.frame).T, 16, 1)


@dataclass(frozen=True)
class _Towards:
    """A pose (16) moved towards another by at most a way along and about each world axis (6),
    over symbols."""

    def __call__(self, plant: Plant, now: SX, wanted: SX, most: SX) -> SX:
        here, there = (casadi.reshape(x, 4, 4).T for x in (now, wanted))
        turn = rotation_vector(there[0:3, 0:3] @ here[0:3, 0:3].T)
        moved = SX.eye(4)
        moved[0:3, 0:3] = exponential(clipped(turn, most[3:6])) @ here[0:3, 0:3]
        moved[0:3, 3] = here[0:3, 3] + clipped(there[0:3, 3] - here[0:3, 3], most[0:3])
        return casadi.reshape(moved.T, 16, 1)


class BoundRates:
    """Rates in a run. They keep whether they have begun, then target,
    stiffness and wrench of the last sample.

    numbers   limits by name, for the run;  sizes: of what is kept
    """

    of_a_run: ClassVar[tuple[str, ...]] = ("numbers",)

    def __init__(
        self, rates: Rates, space: TaskSpace, target_size: int, prefix: str, wrench: bool
    ) -> None:
        if rates.wrench is not None and not wrench:
            raise InvalidInput("Rates: wrench is limited, but the law commands none")
        self.space, self.prefix, m = space, prefix, len(space.axes)
        wanted = {"target": (rates.target, target_size), "stiffness": (rates.stiffness, m * m)}
        wanted["wrench"] = (rates.wrench, m)
        self.sizes = {name: size for name, (limit, size) in wanted.items() if limit is not None}
        self.numbers: dict[str, np.ndarray] = {}
        for name in self.sizes:
            limit = positive_array(wanted[name][0], f"Rates: {name}")
            if limit.ndim > 1 or limit.shape not in ((), (m,)):
                raise InvalidInput(
                    f"Rates: {name} has shape {limit.shape}, expected one number or ({m},), one "
                    "an axis"
                )
            rows = np.broadcast_to(limit, (m,))
            if name == "stiffness":  # an element couples two axes
                rows = np.sqrt(np.outer(rows, rows)).ravel()
            elif name == "target" and target_size == 16:
                full = np.full(len(AXES), ENDLESS)
                full[space.rows] = rows
                rows = full
            self.numbers[f"{prefix}_rate_{name}"] = np.array(rows)

    @property
    def memory(self) -> int:
        return 1 + sum(self.sizes.values())

    def moved(
        self,
        plant: Plant,
        q: Any,
        m: Any,
        p: Mapping[str, Any],
        period: Any,
        wanted: Mapping[str, Any],
    ) -> tuple[dict[str, Any], dict[str, Any], Any]:
        """(what holds now, what held at the last sample, memory), of target,
        stiffness and wrench where limited."""
        begins, at = m[0] < 0.5, 1
        now, before, kept = {}, {}, [1.0]
        for name, size in self.sizes.items():
            goal, most = wanted[name], period * p[f"{self.prefix}_rate_{name}"]
            first = (
                self._here(plant, q, size)
                if name == "target"
                else (goal if name == "stiffness" else 0.0 * goal)
            )
            last = where(begins, first, part(m, at, at + size))
            if name == "stiffness":
                now[name] = last + _share(goal - last, most) * (goal - last)
            elif size == 16 and name == "target":
                now[name] = plant.compute(_Towards(), last, goal, most)
            else:
                now[name] = last + clipped(goal - last, most)
            before[name] = last
            kept.append(now[name])
            at += size
        return now, before, joined(kept)

    def _here(self, plant: Plant, q: Any, size: int) -> Any:
        if size == 16:
            return plant.compute(_Place(self.space.frame), q)
        zero = SX.zeros(size) if is_symbolic(q) else np.zeros(size)
        return -self.space.split(plant.compute(self.space, q, zero), plant.nv)[0]


def _share(change: Any, most: Any) -> Any:
    """The part of a change that keeps every element within its limit."""
    shares = where(
        absolute(change) > most, most / where(absolute(change) > most, absolute(change), 1.0), 1.0
    )
    return casadi.mmin(shares) if is_symbolic(shares) else np.min(shares)
