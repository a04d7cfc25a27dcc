"""The scene of paper 13, section 5: a tool on its circle, and two human arms that swing beside it.

What the paper leaves open is an argument: where the tool points, the plane in which the arms swing,
and which way.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

UPPER_ARM, FOREARM = 0.3196, 0.2465
BASE_RADIUS = 0.05


@dataclass(frozen=True)
class HumanArm:
    """Table 1: base [m], its turns a minute, and swing of shoulder and elbow
    (range, offset [rad], turns)."""

    base: tuple[float, float, float]
    turns: int
    shoulder: tuple[float, float, int]
    elbow: tuple[float, float, int]


ARMS = (
    HumanArm((-0.05, 0.5, 0.25), 5, (0.4, 0.4, 9), (0.4, 0.4, 7)),
    HumanArm((0.15, 0.5, -0.2), 11, (0.4, 0.2, 13), (0.4, 0.0, 9)),
)


def tool_pose(position: tuple[float, float, float]) -> np.ndarray:
    """The tool at a point, pointing down: x_e = x_b, y_e = z_b, z_e = -y_b."""
    T = np.eye(4)
    T[:3, :3] = np.array([[1.0, 0.0, 0.0], [0.0, 0.0, -1.0], [0.0, 1.0, 0.0]])
    T[:3, 3] = position
    return T


def circle(s: float, up: bool = False) -> np.ndarray:
    """Five laps on the circle of section 5; s in [0, 1). `up`: the tool points up,
    as in another reading."""
    turn = 10.0 * math.pi * s
    T = tool_pose((0.4 + 0.2 * math.cos(turn), 0.2, 0.2 + 0.2 * math.sin(turn)))
    if up:
        T[:3, :3] = np.array([[1.0, 0.0, 0.0], [0.0, 0.0, 1.0], [0.0, -1.0, 0.0]])
    return T


def human_points(
    s: ArrayLike, a_link: int = 21, plane: str = "xy", sign: float = 1.0
) -> np.ndarray:
    """Points (..., n, 3) on both human arms, at shares s (...) of the minute.

    Assumed: angles swing from x_b, the elbow's beyond the shoulder's; in the vertical plane "xy"
    both arms alike, about y_b ("xz") as mirror images: with a positive sign towards the plane
    z_b = 0 between them.
    """
    phase = 2.0 * math.pi * np.asarray(s, dtype=float)
    share = np.linspace(0.0, 1.0, a_link)[:, None]
    points = []
    for arm in ARMS:
        sense = sign if plane == "xy" else -sign * math.copysign(1.0, arm.base[2])
        turn = arm.turns * phase
        way = np.stack([np.cos(turn), np.zeros_like(turn), np.sin(turn)], axis=-1)
        base = np.array(arm.base) + BASE_RADIUS * way
        first = _swing(arm.shoulder, phase)
        joint = base + UPPER_ARM * _direction(sense * first, plane)
        hand = joint + FOREARM * _direction(sense * (first + _swing(arm.elbow, phase)), plane)
        for start, end in ((base, joint), (joint, hand)):
            points.append(start[..., None, :] + share * (end - start)[..., None, :])
    return np.concatenate(points, axis=-2)


def _swing(of: tuple[float, float, int], phase: np.ndarray) -> np.ndarray:
    wide, offset, turns = of
    return offset + wide * np.sin(turns * phase)


def _direction(angle: np.ndarray, plane: str) -> np.ndarray:
    c, s, none = np.cos(angle), np.sin(angle), np.zeros_like(angle)
    return np.stack([c, s, none] if plane == "xy" else [c, none, s], axis=-1)
