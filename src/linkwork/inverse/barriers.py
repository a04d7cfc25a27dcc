"""Barriers: inequality rows G dq <= h beside the tasks of differential inverse kinematics.

A barrier has `rows(q, dt) -> (G, h)`. `CollisionBarrier` lets distances fall no faster than

    d/dt distance >= -gain (distance - minimum)

for the nearest pairs of a collision model, so that they approach the minimum and do not pass it [Ames2019].
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from linkwork.arguments import number
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
        from linkwork.collision import CollisionModel, Obstacles  # who has a barrier has the room open already

        if not isinstance(self.model, CollisionModel):
            raise InvalidInput(f"CollisionBarrier: model is {self.model!r}, expected a CollisionModel")
        if not number(self.gain, "CollisionBarrier: gain") > 0.0:
            raise InvalidInput(f"CollisionBarrier: gain is {self.gain!r}, expected a positive number [1/s]")
        number(self.minimum, "CollisionBarrier: minimum")
        if self.obstacles is not None and not isinstance(self.obstacles, Obstacles):
            object.__setattr__(self, "obstacles", Obstacles(self.obstacles))

    def rows(self, q: np.ndarray, dt: float) -> tuple[np.ndarray, np.ndarray]:
        clearances = self.model.clearances(q, self.obstacles, nearest=self.nearest)
        some = np.isfinite(clearances.distance)
        return -clearances.gradient[some], self.gain * dt * (clearances.distance[some] - self.minimum)
