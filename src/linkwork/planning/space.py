"""Space: the configurations that a planner moves in: limits, turns without end, weights,
joints that are held."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from linkwork import configurations
from linkwork.arguments import finite_rows, name_list
from linkwork.errors import InvalidInput, NotPossible, UnknownName, did_you_mean
from linkwork.subject import Subject

BEYOND = 1e-9  # by which a configuration may lie outside its limits and counts as on them


@dataclass(frozen=True)
class Space:
    """A box of configurations (nq,).

    lower, upper   limits [rad, m]; those of a joint that turns without end are -pi and pi, for
                   samples alone
    turns          2 pi for a joint that turns without end, else 0
    weights        by which differences of a coordinate count in distances
    free           (nq,) bool: coordinates that the planner moves; the others keep their value at
                   the start
    """

    subject: Subject
    lower: np.ndarray
    upper: np.ndarray
    turns: tuple[float, ...]
    weights: tuple[float, ...]
    free: np.ndarray

    @staticmethod
    def of(
        subject: Subject, joints: Sequence[str] | None, weights: ArrayLike | None, who: str
    ) -> Space:
        """The space of a robot, or of some of its joints."""
        bounds = configurations.limits(subject)
        lower, upper = np.array(bounds.lower), np.array(bounds.upper)
        turns = np.zeros(subject.nq)
        free = np.full(subject.nq, joints is None)
        names = [joint.name for joint, _, _ in configurations.places(subject)]
        wanted = names if joints is None else name_list(joints, f"{who}: joints")
        for name in wanted:
            if name not in names:
                raise UnknownName(
                    f'{who}: robot "{subject.model.name}" has no joint '
                    f'"{name}"{did_you_mean(name, names)}'
                )
        for joint, at, _ in configurations.places(subject):
            free[at] = joint.name in wanted
            if joint.nq > joint.nv and joint.name in wanted:
                raise NotPossible(
                    f'{who}: joint "{joint.name}" is {joint.kind.name}: orientations are not '
                    "planned yet"
                )
            for k in range(at.start, at.stop):
                if np.isfinite(lower[k]) and np.isfinite(upper[k]):
                    continue
                if free[k] and (
                    joint.nq != 1 or 0 in joint.kind.slides or joint.kind.name != "continuous"
                ):
                    raise NotPossible(
                        f'{who}: joint "{joint.name}" ({joint.kind.name}) has no limits; give '
                        "it some, "
                        "or make it continuous if it turns without end"
                    )
                lower[k], upper[k], turns[k] = -math.pi, math.pi, 2.0 * math.pi
        own = np.ones(subject.nq) if weights is None else _weights(weights, subject.nq, who)
        return Space(subject, lower, upper, tuple(turns.tolist()), tuple(own.tolist()), free)

    def configuration(self, q: Any, label: str) -> np.ndarray:
        """Configurations (..., nq), finite and within the limits."""
        if (
            type(q) is np.ndarray
            and q.dtype == np.float64
            and q.ndim
            and q.shape[-1] == self.subject.nq
        ):
            low, high = self._bounds
            if ((q >= low) & (q <= high)).all():  # the usual case, in a tenth of the time
                return np.ascontiguousarray(q)
        why = f'robot "{self.subject.model.name}" has nq = {self.subject.nq}'
        rows = finite_rows(q, self.subject.nq, label, why)
        wraps = np.array(self.turns) > 0.0
        outside = ~wraps & self.free & ((rows < self.lower - BEYOND) | (rows > self.upper + BEYOND))
        if outside.any():
            place = tuple(np.argwhere(outside)[0])
            k = int(place[-1])
            raise InvalidInput(
                f"{label}[{', '.join(map(str, map(int, place)))}] is {rows[place]:.6g}, outside "
                "the limits "
                f'{self.lower[k]:.6g} .. {self.upper[k]:.6g} of joint "{self.joint_of(k)}"'
            )
        return rows

    @cached_property
    def _bounds(self) -> tuple[np.ndarray, np.ndarray]:
        """What a configuration may be: any number where a joint turns without end or is held."""
        bound = self.free & ~(np.array(self.turns) > 0.0)
        most = np.finfo(float).max
        return np.where(bound, self.lower - BEYOND, -most), np.where(
            bound, self.upper + BEYOND, most
        )

    @cached_property
    def _span(self) -> np.ndarray:
        return self.upper - self.lower

    @cached_property
    def all_free(self) -> bool:
        return bool(self.free.all())

    def joint_of(self, k: int) -> str:
        """The name of the joint that a coordinate belongs to."""
        return next(
            joint.name
            for joint, at, _ in configurations.places(self.subject)
            if at.start <= k < at.stop
        )

    def box(self, start: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """(lower, span) of samples; a joint that is held has no span."""
        if self.all_free:
            return self.lower, self._span
        lower = np.where(self.free, self.lower, start)
        return lower, np.where(self.free, self.upper - self.lower, 0.0)

    def difference(self, q0: np.ndarray, q1: np.ndarray) -> np.ndarray:
        """From q0 to q1, the shorter way where a joint turns without end."""
        way = q1 - q0
        for k in np.flatnonzero(self.turns):
            way[..., k] -= self.turns[k] * np.rint(way[..., k] / self.turns[k])
        return way

    def unwrapped(self, path: np.ndarray) -> np.ndarray:
        """Waypoints (m, nq) without jumps of whole turns."""
        if not any(self.turns):
            return path
        rows = path.copy()
        for k in np.flatnonzero(self.turns):
            jumps = np.rint(np.diff(path[:, k]) / self.turns[k])
            rows[1:, k] -= self.turns[k] * np.cumsum(jumps)
        return rows

    def distance(self, q0: np.ndarray, q1: np.ndarray) -> np.ndarray:
        """Weighted distances (...,)."""
        return np.linalg.norm(self.difference(q0, q1) * np.array(self.weights), axis=-1)


def _weights(weights: ArrayLike, nq: int, who: str) -> np.ndarray:
    rows = np.broadcast_to(
        finite_rows(np.atleast_1d(weights), np.atleast_1d(weights).shape[-1], f"{who}: weights"), nq
    )
    if (rows <= 0.0).any():
        raise InvalidInput(f"{who}: weights is {rows.tolist()}, expected positive numbers")
    return rows
