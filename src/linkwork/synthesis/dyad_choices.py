"""Dyad choices: what a task leaves free, as conditions on the pivots of a dyad."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from linkwork.arguments import as_doubles
from linkwork.errors import InvalidInput, NotPossible
from linkwork.synthesis import conditions
from linkwork.synthesis.task import PlanarTask, complex_points


def chosen_rotations(beta: Any, n: int, batch: tuple[int, ...], who: str) -> dict[int, np.ndarray]:
    """The free rotations by position."""
    if beta is None:
        return {}
    if not isinstance(beta, Mapping):
        raise InvalidInput(
            f"{who}: beta is {type(beta).__name__}, expected {{position: angle}}, such as "
            f"{{2: 0.5}}"
        )
    chosen = {}
    for j, angle in beta.items():
        if not isinstance(j, (int, np.integer)) or not 2 <= j <= n:
            raise InvalidInput(f"{who}: beta names position {j!r}, expected one of 2 .. {n}")
        chosen[int(j)] = as_doubles(angle, f"{who}: beta[{j}]")
        if not np.isfinite(chosen[int(j)]).all():
            raise InvalidInput(f"{who}: beta[{j}] is not finite")
        try:
            np.broadcast_shapes(batch, chosen[int(j)].shape)
        except ValueError:
            raise InvalidInput(
                f"{who}: beta[{j}] has shape {chosen[int(j)].shape}, the tasks {batch}"
            ) from None
    return chosen


def shapes_of(asked: dict[str, Any], batch: tuple[int, ...], who: str) -> list[tuple[int, ...]]:
    """Batches of chosen points and lines, which go with those of the tasks."""
    shapes = []
    for name, value in asked.items():
        shape = complex_points(value, f"{who}: {name}").shape
        shape = shape[:-1] if "line" in name else shape
        try:
            np.broadcast_shapes(batch, shape)
        except ValueError:
            raise InvalidInput(
                f"{who}: {name} has a batch of shape {shape}, the tasks {batch}"
            ) from None
        shapes.append(shape)
    return shapes


def condition_rows(
    task: PlanarTask,
    met: np.ndarray,
    d: np.ndarray,
    alpha: np.ndarray,
    size: np.ndarray,
    chosen: dict[int, np.ndarray],
    asked: dict[str, Any],
    timed: bool,
    who: str,
) -> np.ndarray:
    """The four conditions (..., 4, 7), or a sentence about how many there are."""
    unit, u = d[..., 0] + 1j * d[..., 1], np.exp(1j * alpha)
    parts = []
    for j in range(2, task.n + 1):
        if j in chosen:
            parts.append(conditions.rotation(unit[..., j - 2], u[..., j - 2], chosen[j]))
        else:
            parts.append(met[..., j - 2, None, :])
    if task.velocities is not None:
        parts += _velocity_rows(task, unit, u, size, who)
    origin = task.positions[..., 0]
    at = {
        name: complex_points(x, f"{who}: {name}") for name, x in asked.items() if "line" not in name
    }
    if timed and asked:
        raise NotPossible(
            f"{who}: with timing the free choices are rotations of the body: "
            f"beta={{position: angle}}"
        )
    if "W" in at:
        parts.append(conditions.equal(-1.0, 1.0, at["W"] / size))
    if "Z" in at:
        parts.append(conditions.equal(0.0, -1.0, at["Z"] / size))
    if "ground" in at:
        parts.append(conditions.equal(1.0, 0.0, (at["ground"] - origin) / size))
    if "moving" in at:
        parts.append(conditions.equal(0.0, 1.0, (at["moving"] - origin) / size))
    for name, which in (("ground_line", "a"), ("moving_line", "z")):
        if name in asked:
            line = conditions.on_line(asked[name], which, origin, size, f"{who}: {name}")
            parts.append(line[..., None, :])
    count = sum(part.shape[-2] for part in parts)
    if count != 4:
        free, used = 5 - task.n, count - (task.n - 1)
        raise NotPossible(
            f"{who}: {task.n} positions leave {free} free choices, got {used}: a rotation in beta, "
            "a line or a "
            "velocity counts one, W, Z, ground and moving two each"
        )
    batch = np.broadcast_shapes(*[part.shape[:-2] for part in parts])
    return np.concatenate(
        [np.broadcast_to(part, (*batch, *part.shape[-2:])) for part in parts], axis=-2
    )


def _velocity_rows(
    task: PlanarTask, unit: np.ndarray, u: np.ndarray, size: np.ndarray, who: str
) -> list[np.ndarray]:
    assert task.velocities is not None
    known = np.isfinite(task.velocities).all(axis=-1)
    rows = []
    for j in range(task.n):
        if not known[..., j].any():
            continue
        if not known[..., j].all():
            raise NotPossible(
                f"{who}: velocities of position {j + 1} are given for some tasks of the batch only"
            )
        v = (task.velocities[..., j, 0] + 1j * task.velocities[..., j, 1]) / size
        dj = unit[..., j - 1] if j else np.zeros(unit.shape[:-1], dtype=complex)
        uj = u[..., j - 1] if j else np.ones(unit.shape[:-1], dtype=complex)
        rows.append(conditions.velocity(dj, uj, v, task.velocities[..., j, 2])[..., None, :])
    return rows
