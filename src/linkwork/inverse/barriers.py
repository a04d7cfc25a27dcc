"""Barriers: inequality rows G dq <= h beside the tasks of differential inverse kinematics.

A barrier has `rows(q, dt) -> (G, h)`. `CollisionBarrier` lets distances fall no faster than

    d/dt distance >= -gain (distance - minimum)

for the nearest pairs of a collision model, so that they approach the minimum and do not pass it
[Ames2019].
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from linkwork.arguments import number, whole
from linkwork.errors import InvalidInput

if TYPE_CHECKING:
    from linkwork.collision import CollisionModel, Obstacles


class Barrier(Protocol):
    """What gives rows of G dq <= h for a configuration and a step of time."""

    def rows(self, q: np.ndarray, dt: float) -> tuple[np.ndarray, np.ndarray]: ...


@dataclass(frozen=True)
class CollisionBarrier:
    """Keeps the robot of a collision model away from obstacles and from itself.

    gain      [1/s] how fast the way to the minimum may be used up
    minimum   [m] distance that is kept; where it is smaller already the robot moves away
    nearest   how many pairs are looked at, nearest first
    """

    model: CollisionModel
    obstacles: Obstacles | Sequence[Any] | None = None
    gain: float = 5.0
    minimum: float = 0.02
    nearest: int = 10

    def __post_init__(self) -> None:
        # who has a barrier has the room open already
        from linkwork.collision import (
            CollisionModel,
            Obstacles,
        )

        if not isinstance(self.model, CollisionModel):
            raise InvalidInput(
                f"CollisionBarrier: model is {self.model!r}, expected a CollisionModel"
            )
        if not number(self.gain, "CollisionBarrier: gain") > 0.0:
            raise InvalidInput(
                f"CollisionBarrier: gain is {self.gain!r}, expected a positive number [1/s]"
            )
        number(self.minimum, "CollisionBarrier: minimum")
        whole(self.nearest, "CollisionBarrier: nearest", 1, "a whole number of pairs from 1 on")
        if self.obstacles is not None and not isinstance(self.obstacles, Obstacles):
            object.__setattr__(self, "obstacles", Obstacles(self.obstacles))

    @cached_property
    def _probe(self) -> Callable[[np.ndarray], tuple[np.ndarray, np.ndarray]]:
        return self.model.probe(self.obstacles)

    def distances(self, q: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """(m,) [m] of the nearest pairs, the least first, and their gradients (m, nv)."""
        distance, gradient = self._probe(q)
        order = distance.argsort(kind="stable")[: self.nearest]
        nearest = distance[order]
        if len(nearest) and nearest[-1] == np.inf:  # pairs of shapes that nothing is near to
            order = order[np.isfinite(nearest)]
            nearest = distance[order]
        return nearest, gradient[order]

    def rows(self, q: np.ndarray, dt: float) -> tuple[np.ndarray, np.ndarray]:
        return self.rows_of(*self.distances(q), dt)

    def rows_of(
        self, distance: np.ndarray, gradient: np.ndarray, dt: float
    ) -> tuple[np.ndarray, np.ndarray]:
        """The rows for distances that are known already."""
        return -gradient, self.gain * dt * (distance - self.minimum)
