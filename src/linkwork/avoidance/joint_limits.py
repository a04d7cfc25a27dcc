"""Joint limits over the arm angle: where a joint of a seven-axis arm meets a limit, in closed form.

While the tool is held, shoulder and wrist turn with the arm angle psi, and every entry of their
rotations R is A sin psi + B cos psi + C. With e1, e2, e3 the three axes of either at zero and E_i
the turn about e_i, R = E1 E2 E3 and

    q1 = l   only where   e2' E1(-l) R e3 = e2' e3
    q2 = l   only where   e1' R e3 = e1' E2(l) e3
    q3 = l   only where   e2' E3(l) R' e1 = e2' e1

each of which at most two arm angles meet. Branches begin and cease where e1' R e3 leaves the range
of e1' E2 e3, which is less than -1 .. 1 where twists are no right angles. Where q2 is singular, e1
= R e3, branches change places; the first and last hold there for every l. Between neighbouring ones
of all these angles nothing changes, so that one look into each piece decides it.
Source: [Shimizu2008] (joints as functions of the arm angle).
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from linkwork.avoidance.arcs import TURN, WHOLE, wrapped
from linkwork.inverse.analytic.screws import Chain, turn

SAMPLES = np.array([0.3, 0.3 + TURN / 3, 0.3 + 2 * TURN / 3])
"""Arm angles that A, B and C are computed from."""
APART = 1e-11
"""Breaks nearer than this [rad] are one."""


def turns_of(
    chain: Chain, pose: np.ndarray, swing: np.ndarray, elbows: np.ndarray, q4: float
) -> tuple[np.ndarray, np.ndarray]:
    """Rotations (n, 3, 3) of shoulder and wrist with the tool at a pose (4, 4) and the elbow at
    points (n, 3), whether or not their axes can make them.

    swing   (13,) of the pose, see `Elbow.swing`;  q4: angle of the elbow
    """
    shoulder, wrist = swing[:3], swing[:3] + swing[12] * swing[3:6]
    axis, point = chain.directions[3], chain.points[3]
    bend = _about(axis, q4)
    elbow_at_zero = point + ((shoulder - point) @ axis) * axis - shoulder
    in_tool = pose[:3, :3].T @ (wrist - pose[:3, 3])
    wrist_at_zero = chain.home[:3, :3] @ in_tool + chain.home[:3, 3]
    bent = point + bend @ (wrist_at_zero - point) - shoulder
    before = _basis(elbow_at_zero, bent)
    of_shoulder = (
        _basis(elbows - shoulder, np.broadcast_to(wrist - shoulder, elbows.shape)) @ before.T
    )
    of_wrist = np.swapaxes(of_shoulder @ bend, 1, 2) @ pose[:3, :3] @ chain.home[:3, :3].T
    return of_shoulder, of_wrist


def breaks_of(
    axes: np.ndarray, R: np.ndarray, limits: Sequence[tuple[float, float]]
) -> list[float]:
    """Arm angles at which three axes (3, 3), meeting in a point, may enter or leave their limits,
    or begin or cease to reach their rotation.

    R        (3, 3, 3) that rotation at SAMPLES;  limits: (lower, upper) of each, infinite where
             there is none
    """
    e1, e2, e3 = axes
    reach = R @ e3
    breaks: list[float] = []
    middle = (e1 @ e2) * (e2 @ e3)
    half = np.linalg.norm(np.cross(e1, e2)) * np.linalg.norm(np.cross(e2, e3))
    for end in (middle - half, middle + half):
        breaks += _crossings(reach @ e1, float(end))
    for k, both in enumerate(limits):
        for limit in both:
            if not math.isfinite(limit):
                continue
            E = _about(axes[k], limit)
            if k == 0:
                breaks += _crossings(reach @ (E @ e2), float(e2 @ e3))
            elif k == 1:
                breaks += _crossings(reach @ e1, float(e1 @ E @ e3))
            else:
                breaks += _crossings(np.swapaxes(R, 1, 2) @ e1 @ (E.T @ e2), float(e2 @ e1))
    return breaks


def pieces(breaks: list[float]) -> np.ndarray:
    """Arcs (n, 2) between neighbouring breaks, once around; the whole turn where there are none."""
    ordered = np.sort(wrapped(np.array(breaks)))
    ordered = ordered[np.diff(ordered, prepend=-math.inf) > APART]
    if not len(ordered):
        return WHOLE.copy()
    return np.stack([ordered, np.r_[ordered[1:], ordered[0] + TURN]], axis=1)


def runs(arcs: np.ndarray, inside: np.ndarray) -> np.ndarray:
    """Arcs (k, 2) of the pieces (n, 2), once around, that are inside (n,): neighbours joined."""
    if inside.all():
        return WHOLE.copy()
    begins = np.flatnonzero(inside & ~np.roll(inside, 1))
    ends = np.flatnonzero(inside & ~np.roll(inside, -1))
    if not len(begins):
        return np.empty((0, 2))
    if ends[0] < begins[0]:
        ends = np.roll(ends, -1)
    start, end = arcs[begins, 0], arcs[ends, 1]
    return np.stack([start, np.where(end > start, end, end + TURN)], axis=1)


def _basis(first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """Right-handed axes (..., 3, 3) in columns: the first along one vector (..., 3),
    the second towards the other."""
    x = first / np.linalg.norm(first, axis=-1, keepdims=True)
    z = np.cross(first, second)
    z = z / np.linalg.norm(z, axis=-1, keepdims=True)
    return np.stack([x, np.cross(z, x), z], axis=-1)


def _about(axis: np.ndarray, angle: np.ndarray | float) -> np.ndarray:
    """Rotations (..., 3, 3) about an axis through the origin."""
    return turn(axis, np.zeros(3), np.asarray(angle, dtype=float))[..., :3, :3]


def _wave(values: np.ndarray) -> tuple[float, float, float]:
    """(A, B, C) of A sin psi + B cos psi + C with values (3,) at SAMPLES."""
    return (
        2.0 / 3.0 * float(values @ np.sin(SAMPLES)),
        2.0 / 3.0 * float(values @ np.cos(SAMPLES)),
        float(values.mean()),
    )


def _crossings(values: np.ndarray, level: float) -> list[float]:
    """Where a wave with values (3,) at SAMPLES has a level."""
    A, B, C = _wave(values)
    size = math.hypot(A, B)
    if size < 1e-14 or abs(level - C) > size * (1.0 + 1e-12):
        return []
    middle, half = math.atan2(A, B), math.acos(max(-1.0, min(1.0, (level - C) / size)))
    return [middle - half, middle + half]
