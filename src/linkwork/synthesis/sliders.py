"""Sliders: a pin on a straight line in the place of one on a circle.

"PR": the moving pivot z slides on a line that is fixed to the ground: the vectors D_j = d_j + z
(u_j - 1) are parallel. "RP": the ground pivot slides on a line that is fixed to the body: the same
for the inverse motion. Three poses have a circle of such points, four have one.
Source: [Mather2023] eq. 22; [McCarthy2011] section 5.4 for the circle.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from linkwork.errors import NotPossible
from linkwork.formats.tabular import Tabular
from linkwork.results import short_repr
from linkwork.synthesis.task import (
    PlanarTask,
    check_count,
    check_poses,
    complex_points,
    exact_poses,
    refuse,
    troubles,
)


@short_repr
@dataclass(frozen=True)
class Sliders(Tabular, rows="valid"):
    """Chains with a slider: (m,) for one task, (..., m) with `valid` for a batch.

    moving      the pin on the body at position 1 ("PR"), or a point of the body's line ("RP"),
                complex [m]
    ground      a point of the fixed line ("PR"), or the pin on the ground ("RP"), complex [m]
    direction   of the line at position 1, a unit complex number
    travel      (..., m, n-1) along it since position 1 [m]
    residual    largest distance from the line [task sizes]
    """

    kind: str
    moving: np.ndarray
    ground: np.ndarray
    direction: np.ndarray
    travel: np.ndarray
    residual: np.ndarray
    valid: np.ndarray

    def __len__(self) -> int:
        return self.moving.shape[-1]


def sliders(task: PlanarTask, kind: str, choices: dict[str, Any], beta: Any) -> Sliders:
    """The slider chains of 2 to 4 poses; see `dyads`."""
    who = f'dyads(kind="{kind}")'
    check_count(task, 2, 4, who, "a slider meets at most 4 exact positions")
    check_poses(task, who)
    refuse(task, who, "velocities", "timing")
    pivot, line = ("moving", "moving_line") if kind == "PR" else ("ground", "ground_line")
    unknown = [name for name in choices if name not in (pivot, line)] + (["beta"] if beta else [])
    if unknown:
        raise NotPossible(
            f"{who}: {unknown[0]} is no choice for a slider; choose {pivot} or {line}"
        )
    reason = troubles(task)
    if not task.batch and reason[()]:
        raise NotPossible(f"{who}: {reason[()]}")
    size, origin = task.size, task.positions[..., 0]
    d, u = task.displacements / size[..., None], np.exp(1j * task.rotations)
    if kind == "RP":  # the ground as the body sees it
        d, u = -d / u, 1.0 / u
    if task.n == 4:
        _expect_choices(choices, (), who, task.n)
        z = _four(d, u)[..., None]
    elif pivot in choices and task.n == 2:
        z = ((complex_points(choices[pivot], f"{who}: {pivot}") - origin) / size)[..., None]
    elif line in choices and task.n == 3:
        ends = (complex_points(choices[line], f"{who}: {line}") - origin[..., None]) / size[
            ..., None
        ]
        z = _on_line(*circle_of(d, u), ends)
    else:
        _expect_choices(choices, (pivot if task.n == 2 else line,), who, task.n)
    D = d[..., None, :] + z[..., None] * (u[..., None, :] - 1.0)
    longest = np.take_along_axis(D, np.abs(D).argmax(axis=-1)[..., None], axis=-1)[..., 0]
    length = np.abs(longest)
    direction = longest / np.where(length > 0, length, 1.0)
    along = D * direction.conj()[..., None]
    residual = np.abs(along.imag).max(axis=-1)
    far = np.abs(z)
    is_exact = residual <= 1e-9 * (1.0 + far)
    valid = np.isfinite(z) & (length > 1e-9) & (far < 1e7) & is_exact & (reason == "")[..., None]
    at = origin[..., None] + z * size[..., None]
    parts = [at, at, direction, along.real * size[..., None, None], residual, valid]
    if not task.batch:
        parts = [part[valid] for part in parts]
    return Sliders(kind, *parts)


def slider_circle(task: PlanarTask, kind: str = "PR") -> tuple[complex, float]:
    """(centre, radius) of the points that lie on a straight line in three poses [m]."""
    who = "slider_circle"
    task = exact_poses(task, who)
    if task.n != 3 or task.batch:
        raise NotPossible(f"{who}: the task has {task.n} positions, expected one task of three")
    d, u = task.displacements / task.size, np.exp(1j * task.rotations)
    if kind == "RP":
        d, u = -d / u, 1.0 / u
    centre, radius = circle_of(d, u)
    return complex(task.positions[0] + centre * task.size), float(radius * task.size)


def _expect_choices(choices: dict[str, Any], wanted: tuple[str, ...], who: str, n: int) -> None:
    if set(choices) != set(wanted):
        told = " and ".join(wanted) or "no choice"
        raise NotPossible(f"{who}: {n} positions need {told}, got {', '.join(choices) or 'none'}")


def circle_of(d: np.ndarray, u: np.ndarray, j: int = 1) -> tuple[np.ndarray, np.ndarray]:
    """(centre, radius) of z with D_2 parallel to D_(j+2):
    Im(D_2* D_j) = 0 is  k |z|^2 + Re(z q) + c = 0."""
    e2, ej = u[..., 0] - 1.0, u[..., j] - 1.0
    d2, dj = d[..., 0], d[..., j]
    k, c = (e2.conj() * ej).imag, (d2.conj() * dj).imag
    # Im(x) = Re(-i x); Im(e2* z* dj) = Re(i e2 z dj*)
    q = -1j * d2.conj() * ej + 1j * dj.conj() * e2
    flat = np.abs(k) < 1e-14
    k = np.where(flat, 1e-14, k)
    centre = -q.conj() / (2.0 * k)
    return centre, np.sqrt(np.maximum(np.abs(centre) ** 2 - c / k, 0.0))


def _four(d: np.ndarray, u: np.ndarray) -> np.ndarray:
    """The common point of two circles other than the pole of positions 1 and 2, which is on both:
    its mirror image."""
    pole = -d[..., 0] / (u[..., 0] - 1.0)
    first, second = circle_of(d, u, 1)[0], circle_of(d, u, 2)[0]
    axis = second - first
    axis = axis / np.where(np.abs(axis) > 0, np.abs(axis), 1.0)
    return first + axis**2 * (pole - first).conj()


def _on_line(centre: np.ndarray, radius: np.ndarray, ends: np.ndarray) -> np.ndarray:
    """Where a line through two points meets the circle: (..., 2), NaN where it does not."""
    along = ends[..., 1] - ends[..., 0]
    along = along / np.abs(along)
    foot = ((centre - ends[..., 0]) * along.conj()).real * along + ends[..., 0]
    inside = radius**2 - np.abs(centre - foot) ** 2
    half = np.sqrt(np.where(inside >= 0, inside, np.nan))
    return np.stack([foot - half * along, foot + half * along], axis=-1)
