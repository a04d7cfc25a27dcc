"""Joint bounds: how much longer a motion must take so that joints keep their limits."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from linkwork import configurations
from linkwork.arguments import as_doubles, flag
from linkwork.errors import InvalidInput


@dataclass(frozen=True)
class JointBounds:
    """Largest speed, acceleration and jerk of the joints (nv,); infinite where there is none."""

    speed: np.ndarray
    acceleration: np.ndarray
    jerk: np.ndarray

    @staticmethod
    def of(who: str, subject: Any, joint_limits: bool, joint_jerk: ArrayLike | None) -> JointBounds:
        free = np.full(subject.nv, np.inf)
        jerk = free
        if joint_jerk is not None:
            jerk = np.broadcast_to(as_doubles(joint_jerk, f"{who}: joint_jerk"), (subject.nv,))
            if not (jerk > 0.0).all():
                raise InvalidInput(f"{who}: joint_jerk is {joint_jerk}, expected numbers > 0")
        if not flag(joint_limits, f"{who}: joint_limits"):
            return JointBounds(free, free, jerk)
        limits = configurations.limits(subject)
        most = [
            np.where(np.asarray(x) > 0.0, x, np.inf) for x in (limits.velocity, limits.acceleration)
        ]
        return JointBounds(most[0], most[1], jerk)

    def excess(self, time: np.ndarray, v: np.ndarray, a: np.ndarray) -> float:
        """By what factor time must be stretched so that all are kept; at least 1."""
        change = np.diff(a, axis=0) / np.diff(time)[:, None]
        factors = [1.0]
        kept = (v, self.speed), (a, self.acceleration), (change, self.jerk)
        for order, (values, most) in enumerate(kept, 1):
            worst = float((np.abs(values) / most).max(initial=0.0))
            factors.append(worst ** (1.0 / order))
        return max(factors)
