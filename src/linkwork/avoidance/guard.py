"""Speed guard: how much of its speed a tool may keep so near to an obstacle."""

from __future__ import annotations

import math

from linkwork.arguments import number
from linkwork.errors import InvalidInput

SLOWEST = 1e-3
"""What is left of the speed just before contact, by the exponential law."""
STILL = 1e-9
"""A clearance must grow by more than this [m] to count as a retreat:
in contact the last bits alone decide nothing."""


def approaches(clearance: float, before: float) -> bool:
    """Whether a motion is no retreat, by the clearance [m] now and before it."""
    return clearance <= before + STILL


def speed_scale(clearance: float, threshold: float, approaching: bool = True) -> float:
    """The factor in [0, 1] for the tool's speed at a clearance [m].

        1 from `threshold` on, exp(ln(1000) (clearance - threshold) / threshold) below, 0 in contact

    A motion that does not approach keeps its speed: slowing a retreat only prolongs the danger.
    """
    distance = number(clearance, "speed_scale: clearance")
    limit = number(threshold, "speed_scale: threshold")
    if limit <= 0.0:
        raise InvalidInput(f"speed_scale: threshold is {limit}, expected a distance > 0 m")
    if not approaching or distance >= limit:
        return 1.0
    if distance <= 0.0:
        return 0.0
    return math.exp(-math.log(SLOWEST) * (distance - limit) / limit)
