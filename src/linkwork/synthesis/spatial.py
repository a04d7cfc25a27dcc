"""Spatial: spherical four-bars through five orientations,
and bodies on five legs through seven poses.

A spherical dyad is a fixed direction g and a direction w of the body, given at position 1: the
angle between them stays the same. A leg is a point b of the ground and a point p of the body
(at position 1): their distance stays.

    g' (R_j - I) w = 0                                                        j = 2 .. 5,   6 solutions
    (d_j + R_j p - b)^2 = (p - b)^2,  d_j + R_j p the moved point             j = 2 .. 7,  20 solutions

Both are bilinear (bilinear.py). Two spherical dyads make a spherical four-bar; five legs leave a
body one freedom.
Source: [McCarthy2011] sections 8.3 and 10.2; [Innocenti1995] for the twenty legs.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np

from linkwork.arguments import as_doubles
from linkwork.errors import InvalidInput, NotPossible
from linkwork.formats.tabular import Tabular
from linkwork.results import short_repr
from linkwork.synthesis import bilinear

ORIENTATIONS, POSES = 5, 7
MEETS = 1e-9
"""How far angles [rad] and distances [task sizes] may change between positions."""
FAR = 1e4
"""Legs longer than this [task sizes] are beyond what a workshop and rounding allow."""
EQUAL = 1e-9


@dataclass(frozen=True, kw_only=True)
class _Pairs(Tabular, rows="valid"):
    """What dyads and legs have in common: a fixed and a carried axis or point each,
    and how well they keep apart."""

    ground: np.ndarray
    moving: np.ndarray
    residual: np.ndarray
    valid: np.ndarray
    roots: np.ndarray
    reason: np.ndarray

    def __len__(self) -> int:
        return self.valid.shape[-1]


@short_repr
@dataclass(frozen=True, kw_only=True)
class SphericalDyads(_Pairs):
    """Directions that keep their angle: of one task (m, ...), real answers alone;
    of a batch slots with `valid`.

    ground, moving  (..., m, 3) unit vectors at position 1; a direction and its opposite are the
                    same axis
    angle           (..., m) between them [rad]
    residual        (..., m) largest change of that angle over the orientations [rad]
    roots           (...,) complex solutions that were found, of 6
    reason          (...,) why a task has no answer, or ""
    """

    angle: np.ndarray


@short_repr
@dataclass(frozen=True, kw_only=True)
class Legs(_Pairs):
    """Links between two ball joints: of one task (m, ...), real answers alone;
    of a batch slots with `valid`.

    ground, moving  (..., m, 3) points at position 1 [m], world axes
    length          (..., m) [m]
    residual        (..., m) largest change of the length over the poses [task sizes]
    roots           (...,) complex solutions that were found, of 20
    reason          (...,) why a task has no answer, or ""
    """

    length: np.ndarray


@short_repr
@dataclass(frozen=True)
class SphericalFourBar(Tabular, rows="ground", within=1, aside=("rotations",)):
    """Axes through one centre at position 1, as unit vectors: ground (2, 3) and moving (2, 3),
    crank first.

    rotations   (n, 3, 3) of the coupler, those of the task
    radius      of the sphere on which its robot has its pins [m]
    """

    ground: np.ndarray
    moving: np.ndarray
    rotations: np.ndarray
    radius: float = 1.0


@short_repr
@dataclass(frozen=True)
class FiveLegs(Tabular, rows="ground", within=1, aside=("poses",)):
    """A body on five legs: ground (5, 3), moving (5, 3) points at position 1 [m],
    and the poses (n, 4, 4)."""

    ground: np.ndarray
    moving: np.ndarray
    poses: np.ndarray


def spherical_dyads(rotations: Any) -> SphericalDyads:
    """Every pair of a fixed and a carried axis through five orientations (..., 5, 3, 3) of a body;
    up to six."""
    who = "spherical_dyads"
    R = _rotations(rotations, ORIENTATIONS, who)
    reason = _equal(R, np.zeros(R.shape[:-1]), who)
    # R_j R_1': directions are told in world axes at position 1
    relative = R @ np.swapaxes(R[..., :1, :, :], -1, -2)
    M = relative[..., 1:, :, :] - np.eye(3)
    g, w, real, roots = bilinear.real_pairs(M, _chart())
    g, w = (x / np.linalg.norm(x, axis=-1, keepdims=True) for x in (g, w))
    carried = np.einsum("...jrc,...mc->...mjr", relative, w)
    angles = _angle(g[..., None, :], carried)
    flip = np.where(angles[..., 0] > 0.5 * np.pi, -1.0, 1.0)  # the nearer end of the axis
    w, angles = w * flip[..., None], np.where(flip[..., None] < 0, np.pi - angles, angles)
    residual = np.abs(angles - angles[..., :1]).max(axis=-1)
    valid = real & (residual < MEETS) & (angles[..., 0] > 1e-6) & (reason == "")[..., None]
    parts = {
        "ground": g,
        "moving": w,
        "angle": angles[..., 0],
        "residual": residual,
        "valid": valid,
    }
    reason = _none(reason, valid, "no real spherical dyad meets the orientations")
    return SphericalDyads(**_sorted(parts, "angle"), roots=roots.sum(axis=-1), reason=reason)


def legs(poses: Any) -> Legs:
    """Every link between two ball joints (SS dyad) through seven poses (..., 7, 4, 4) of a body;
    up to twenty."""
    who = "legs"
    T = as_doubles(poses, f"{who}: poses")
    if T.ndim < 3 or T.shape[-3:] != (POSES, 4, 4):
        raise InvalidInput(f"{who}: poses has shape {T.shape}, expected (..., {POSES}, 4, 4)")
    if not np.isfinite(T).all():
        raise InvalidInput(f"{who}: poses are not finite")
    R, p = _rotations(T[..., :3, :3], POSES, who), T[..., :3, 3]
    centre = p.mean(axis=-2, keepdims=True)
    size = np.maximum(np.linalg.norm(p - centre, axis=-1).max(axis=-1), 1e-300)
    reason = _equal(R, p / size[..., None, None], who)
    relative = R @ np.swapaxes(R[..., :1, :, :], -1, -2)
    unit = (p - centre) / size[..., None, None]
    # x -> relative x + moved
    moved = unit - np.einsum("...jrc,...c->...jr", relative, unit[..., 0, :])
    d, U = moved[..., 1:, :], relative[..., 1:, :, :]
    M = np.zeros((*d.shape[:-1], 4, 4))
    M[..., :3, :3] = np.eye(3) - U
    M[..., :3, 3] = -d
    M[..., 3, :3] = np.einsum("...jr,...jrc->...jc", d, U)
    M[..., 3, 3] = 0.5 * (d * d).sum(axis=-1)
    b, x, real, roots = bilinear.real_pairs(M, np.eye(4))
    finite = (np.abs(b[..., 3]) > 1.0 / FAR) & (np.abs(x[..., 3]) > 1.0 / FAR)
    b, x = (v[..., :3] / np.where(finite, v[..., 3], 1.0)[..., None] for v in (b, x))
    carried = np.einsum("...jrc,...mc->...mjr", relative, x) + moved[..., None, :, :]
    length = np.linalg.norm(carried - b[..., None, :], axis=-1)
    residual = np.abs(length - length[..., :1]).max(axis=-1)
    valid = real & finite & (residual < MEETS * (1.0 + length[..., 0])) & (reason == "")[..., None]
    L = size[..., None]
    ground, moving = b * L[..., None] + centre, x * L[..., None] + centre
    parts = {
        "ground": ground,
        "moving": moving,
        "length": length[..., 0] * L,
        "residual": residual,
        "valid": valid,
    }
    reason = _none(reason, valid, "no real leg meets the poses")
    return Legs(**_sorted(parts, "length"), roots=roots.sum(axis=-1), reason=reason)


def spherical_four_bars(rotations: Any) -> tuple[SphericalFourBar, ...]:
    """Every spherical four-bar whose coupler takes five orientations (5, 3, 3):
    each pair of dyads once, up to 15."""
    dyads = _one_task(spherical_dyads(rotations), "spherical_four_bars")
    R = np.array(rotations, dtype=float)
    pick = lambda x, pair: x[list(pair)]
    pairs = combinations(range(len(dyads)), 2)
    return tuple(
        SphericalFourBar(pick(dyads.ground, pair), pick(dyads.moving, pair), R) for pair in pairs
    )


def five_legs(poses: Any, most: int = 100) -> tuple[FiveLegs, ...]:
    """Bodies on five legs (5-SS linkages) through seven poses (7, 4, 4):
    every five of the real legs, shortest first.

    most   how many come back at most: twenty real legs would make 15 504
    """
    single = _one_task(legs(poses), "five_legs")
    T = np.array(poses, dtype=float)
    chosen = sorted(combinations(range(len(single)), 5), key=lambda five: max(five))[:most]
    return tuple(
        FiveLegs(single.ground[list(five)], single.moving[list(five)], T) for five in chosen
    )


def _one_task(answers: Any, who: str) -> Any:
    if answers.valid.ndim != 1:
        raise NotPossible(
            f"{who}: the task is a batch of shape {answers.valid.shape[:-1]}, expected one task"
        )
    return answers


def _rotations(R: Any, count: int, who: str) -> np.ndarray:
    R = as_doubles(R, f"{who}: rotations")
    if R.ndim < 3 or R.shape[-3:] != (count, 3, 3):
        raise InvalidInput(f"{who}: rotations has shape {R.shape}, expected (..., {count}, 3, 3)")
    if not np.isfinite(R).all():
        raise InvalidInput(f"{who}: rotations are not finite")
    off = np.abs(np.swapaxes(R, -1, -2) @ R - np.eye(3)).max()
    if off > 1e-6 or (np.linalg.det(R) < 0).any():
        raise InvalidInput(
            f"{who}: a rotation is none: its columns are off by {off:.1e}, or it mirrors"
        )
    return R


def _equal(R: np.ndarray, p: np.ndarray, who: str) -> np.ndarray:
    """(...,) the sentence about the first two equal positions, or ""; of one task it is raised."""
    n = R.shape[-3]
    reason = np.full(R.shape[:-3], "", dtype=object)
    for j in range(n):
        for k in range(j):
            turned = np.abs(R[..., j, :, :] - R[..., k, :, :]).max(axis=(-1, -2))
            apart = np.abs(p[..., j, :] - p[..., k, :]).max(axis=-1)
            same = (turned < EQUAL) & (apart < EQUAL) & (reason == "")
            reason = np.where(same, f"positions {k + 1} and {j + 1} are equal", reason)
    if reason.ndim == 0 and reason[()]:
        raise NotPossible(f"{who}: {reason[()]}; move one of them")
    return reason


def _none(reason: np.ndarray, valid: np.ndarray, sentence: str) -> np.ndarray:
    return np.where(~valid.any(axis=-1) & (reason == ""), sentence, reason)


def _sorted(parts: dict[str, np.ndarray], by: str) -> dict[str, np.ndarray]:
    """Parts (..., m) or (..., m, 3), the valid ones first and smallest `by` first;
    of one task the valid ones alone."""
    valid = parts["valid"]
    order = np.argsort(np.where(valid, parts[by], np.inf), axis=-1, kind="stable")
    ordered = {}
    for name, part in parts.items():
        index = order[..., None] if part.ndim > order.ndim else order
        ordered[name] = np.take_along_axis(part, index, axis=order.ndim - 1)
    if order.ndim > 1:
        return ordered
    return {name: part[: int(valid.sum())] for name, part in ordered.items()}


def _angle(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Between unit vectors, exact near 0 and pi."""
    return np.arctan2(np.linalg.norm(np.cross(a, b), axis=-1), (a * b).sum(axis=-1))


def _chart() -> np.ndarray:
    """Complex coordinates of directions; the one real direction that they put at infinity is
    nobody's axis."""
    turned = np.exp(1j * np.array([0.0, 1.1, 2.7]))
    return turned[:, None] * np.exp(2j * np.pi * np.outer(range(3), range(3)) / 3.0) / np.sqrt(3.0)
