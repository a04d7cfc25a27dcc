"""Distances and depths of cylinders: coal may stop a few micrometres before the direction that
separates best.

The signed distance of convex shapes is the largest gap between their shadows over all directions n,

    gap(n) = n' (p_B - p_A) - h_A(n) - h_B(n)      h: how far a shape reaches from its middle

so an answer whose distance is not the gap along its own normal is improved by steps of the normal,
while they help.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

Answer = tuple[float, np.ndarray, np.ndarray, np.ndarray]

AGREE = 1e-7  # [m] distance and gap are one
FIRST, LAST = 1e-2, 1e-9  # [rad] steps of the normal


def improved(
    library: Any, first: Any, at: Any, second: Any, other_at: Any, answer: Answer
) -> Answer:
    """The answer where distance and normal agree, else that of the best normal nearby."""
    mine, its = _reach(library, first, at), _reach(library, second, other_at)
    if mine is None or its is None:
        return answer
    way = np.ravel(other_at.getTranslation()) - np.ravel(at.getTranslation())
    gap = lambda n: n @ way - mine(n) - its(n)
    distance, point, _, normal = answer
    if abs(float(gap(normal[None])[0]) - distance) <= AGREE:
        return answer
    normal, distance = _steepest(gap, normal)
    return distance, point, point + distance * normal, normal


def _steepest(
    gap: Callable[[np.ndarray], np.ndarray], normal: np.ndarray
) -> tuple[np.ndarray, float]:
    """(direction, its gap): the largest one around a normal,
    by steps to eight sides that are halved."""
    angles = np.arange(8) * (np.pi / 4.0)
    best, step = float(gap(normal[None])[0]), FIRST
    while step > LAST:
        side = np.cross(normal, np.eye(3)[np.argmin(np.abs(normal))])
        side /= np.linalg.norm(side)
        ways = np.outer(np.cos(angles), side) + np.outer(np.sin(angles), np.cross(normal, side))
        around = normal + step * ways
        around /= np.linalg.norm(around, axis=1)[:, None]
        gaps = gap(around)
        k = int(gaps.argmax())
        if gaps[k] > best:
            normal, best = around[k], float(gaps[k])
        else:
            step *= 0.5
    return normal, best


def _reach(library: Any, solid: Any, place: Any) -> Callable[[np.ndarray], np.ndarray] | None:
    """How far a solid reaches from its middle along directions (k, 3);
    None where it is not the same on both sides."""
    R = np.array(place.getRotation())
    if isinstance(solid, library.Cylinder):
        radius, half = solid.radius, solid.halfLength
        return lambda n: radius * np.hypot(n @ R[:, 0], n @ R[:, 1]) + half * np.abs(n @ R[:, 2])
    if isinstance(solid, library.Capsule):
        radius, half = solid.radius, solid.halfLength
        return lambda n: radius + half * np.abs(n @ R[:, 2])
    if isinstance(solid, library.Box):
        sides = np.ravel(solid.halfSide)
        return lambda n: np.abs(n @ R) @ sides
    return None
