"""PlanarTask: what a linkage shall do, as positions of a body in the plane."""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import Any

import numpy as np

from linkwork.arguments import as_doubles, broadcast, number
from linkwork.errors import InvalidInput, NotPossible
from linkwork.results import short_repr

SAME = 1e-9
"""Positions that differ by less [of the task's size, rad] are equal."""


@short_repr
@dataclass(frozen=True, init=False, eq=False)
class PlanarTask:
    """Positions of a body in the plane, for one task or a batch of them.

    positions   (..., n) complex or (..., n, 2) real [m]
    angles      (..., n) [rad]; NaN: a point without orientation; None: points alone
    timing      (..., n) rotation of the driving link at each position [rad], where it is prescribed
    velocities  (..., n, 3): vx, vy [m/s], rate [rad/s] at a position; NaN: none
    tolerance   (..., n, 3): how far x, y [m] and angle [rad] may be off; one number or three stand
                for all
    weights     (..., n) of the positions where they are only approached
    """

    positions: np.ndarray
    angles: np.ndarray
    timing: np.ndarray | None
    velocities: np.ndarray | None
    tolerance: np.ndarray | None
    weights: np.ndarray | None

    def __init__(
        self,
        positions: Any,
        angles: Any = None,
        *,
        timing: Any = None,
        velocities: Any = None,
        tolerance: Any = None,
        weights: Any = None,
    ) -> None:
        places = complex_points(positions, "PlanarTask: positions")
        if places.ndim < 1:
            raise InvalidInput(
                "PlanarTask: positions is one point, expected (..., n) complex or (..., n, 2) real"
            )
        n = places.shape[-1]
        turns = np.full(n, np.nan) if angles is None else as_doubles(angles, "PlanarTask: angles")
        _expect(turns, (n,), "angles")
        if np.isinf(turns).any():
            raise InvalidInput(
                "PlanarTask: angles are infinite; NaN stands for a position without orientation"
            )
        parts: dict[str, np.ndarray | None] = {
            "timing": None,
            "velocities": None,
            "tolerance": None,
            "weights": None,
        }
        if timing is not None:
            parts["timing"] = _finite(timing, (n,), "timing")
        if velocities is not None:
            parts["velocities"] = as_doubles(velocities, "PlanarTask: velocities")
            _expect(parts["velocities"], (n, 3), "velocities")
        if tolerance is not None:
            wide = as_doubles(tolerance, "PlanarTask: tolerance")
            wide = (
                np.broadcast_to(wide, (n, 3)).copy()
                if wide.ndim < 2 and wide.size in (1, 3)
                else wide
            )
            parts["tolerance"] = _not_negative(_finite(wide, (n, 3), "tolerance"), "tolerance")
        if weights is not None:
            shares = _not_negative(_finite(weights, (n,), "weights"), "weights")
            parts["weights"] = shares
            if not (shares.max(axis=-1, initial=0.0) > 0).all():
                raise InvalidInput("PlanarTask: weights are all zero, expected a positive one")
        shapes = {"positions": places.shape[:-1], "angles": turns.shape[:-1]}
        one = {"timing": 1, "velocities": 2, "tolerance": 2, "weights": 1}
        shapes |= {
            name: x.shape[: x.ndim - one[name]] for name, x in parts.items() if x is not None
        }
        batch = broadcast(shapes, "PlanarTask")
        object.__setattr__(self, "positions", np.broadcast_to(places, (*batch, n)))
        object.__setattr__(self, "angles", np.broadcast_to(turns, (*batch, n)))
        for name, value in parts.items():
            object.__setattr__(self, name, value)

    @property
    def n(self) -> int:
        """How many positions."""
        return self.positions.shape[-1]

    @property
    def batch(self) -> tuple[int, ...]:
        """The leading dimensions: () for one task."""
        return self.positions.shape[:-1]

    @property
    def size(self) -> np.ndarray:
        """(...,) the largest distance of a position from position 1 [m]; 1 where all are equal."""
        size = np.abs(self.positions - self.positions[..., :1]).max(axis=-1)
        return np.where(size > 0, size, 1.0)

    @property
    def displacements(self) -> np.ndarray:
        """delta_j = P_j - P_1, (..., n-1) complex."""
        return self.positions[..., 1:] - self.positions[..., :1]

    @property
    def rotations(self) -> np.ndarray:
        """alpha_j relative to position 1, (..., n-1) [rad]."""
        return self.angles[..., 1:] - self.angles[..., :1]

    @property
    def oriented(self) -> np.ndarray:
        """(n,): whether a position has an angle in every task of the batch."""
        return np.isfinite(self.angles).reshape(-1, self.n).all(axis=0)

    def __len__(self) -> int:
        return self.n

    def __getitem__(self, chosen: Any) -> PlanarTask:
        """The same task with some of its positions: task[:4], task[[0, 2, 3]]."""
        take = lambda x, axis: (
            None if x is None else np.take(x, np.arange(self.n)[chosen], axis=axis)
        )
        places = np.arange(self.n)[chosen]
        if np.ndim(places) != 1:
            raise InvalidInput(
                f"PlanarTask: {chosen!r} chooses one position, expected several: task[:4]"
            )
        return PlanarTask(
            self.positions[..., places],
            self.angles[..., places],
            timing=take(self.timing, -1),
            velocities=take(self.velocities, -2),
            tolerance=take(self.tolerance, -2),
            weights=take(self.weights, -1),
        )

    def moved(
        self, translation: Any = 0.0, rotation: float = 0.0, scale: float = 1.0
    ) -> PlanarTask:
        """The task turned by `rotation` [rad], scaled,
        then shifted by `translation` (complex or (x, y)) [m]."""
        shift = complex_points(translation, "moved: translation")
        turn, scale = number(rotation, "moved: rotation"), number(scale, "moved: scale")
        if scale <= 0:
            raise InvalidInput(f"moved: scale is {scale}, expected a positive number")
        factor = scale * np.exp(1j * turn)
        velocities, tolerance = self.velocities, self.tolerance
        if velocities is not None:
            v = (velocities[..., 0] + 1j * velocities[..., 1]) * factor
            velocities = np.stack([v.real, v.imag, velocities[..., 2]], axis=-1)
        if tolerance is not None:
            tolerance = tolerance * np.array([scale, scale, 1.0])
        return PlanarTask(
            factor * self.positions + shift,
            self.angles + turn,
            timing=self.timing,
            velocities=velocities,
            tolerance=tolerance,
            weights=self.weights,
        )


def complex_points(x: Any, who: str) -> np.ndarray:
    """Points in the plane as complex numbers: complex (...,) as they are, real (..., 2) as x + i y;
    finite."""
    try:
        array = np.asarray(x)
    except ValueError as error:
        raise InvalidInput(f"{who} is not an array of numbers: {error}") from None
    if array.dtype.kind == "c":
        points = array.astype(complex)
    elif array.ndim == 0 and array.dtype.kind in "fiu":
        points = array.astype(complex)
    else:
        real = as_doubles(array, who)
        if real.shape[-1] != 2:
            raise InvalidInput(
                f"{who} has shape {real.shape}, expected complex numbers or real (..., 2)"
            )
        points = real[..., 0] + 1j * real[..., 1]
    if not np.isfinite(points).all():
        raise InvalidInput(f"{who} holds a number that is not finite (number {_first_bad(points)})")
    return points


def _first_bad(points: np.ndarray) -> int:
    return int(np.flatnonzero(~np.isfinite(points))[0]) + 1


def _finite(x: Any, shape: tuple[int, ...], name: str) -> np.ndarray:
    array = as_doubles(x, f"PlanarTask: {name}")
    _expect(array, shape, name)
    if not np.isfinite(array).all():
        raise InvalidInput(f"PlanarTask: {name} is not finite")
    return array


def _not_negative(array: np.ndarray, name: str) -> np.ndarray:
    if (array < 0).any():
        raise InvalidInput(f"PlanarTask: {name} holds {array.min():g}, expected no negative number")
    return array


def _expect(array: Any, shape: tuple[int, ...], name: str) -> None:
    if array.shape[max(0, array.ndim - len(shape)) :] != shape:
        told = ", ".join(map(str, shape))
        raise InvalidInput(f"PlanarTask: {name} has shape {array.shape}, expected (..., {told})")


def as_task(task: Any, who: str) -> PlanarTask:
    """A PlanarTask, or a sentence."""
    if not isinstance(task, PlanarTask):
        raise InvalidInput(
            f"{who}: task is {type(task).__name__}, expected a linkwork.synthesis.PlanarTask"
        )
    return task


def check_count(task: PlanarTask, least: int, most: int, who: str, beyond: str) -> None:
    """The number of positions that an exact chain can meet."""
    if task.n < least:
        raise NotPossible(f"{who}: the task has {task.n} position, expected at least {least}")
    if task.n > most:
        raise NotPossible(f"{who}: the task has {task.n} positions; {beyond}")


def check_poses(task: PlanarTask, who: str) -> None:
    """Every position has an angle."""
    if np.isfinite(task.angles).all():
        return
    missing = np.flatnonzero(~task.oriented)
    if len(missing):
        raise NotPossible(
            f"{who}: position {missing[0] + 1} has no angle; four_bars takes mixes of poses and "
            "points, fit any task"
        )


def exact_poses(task: Any, who: str) -> PlanarTask:
    """The task where it says poses and nothing else."""
    task = as_task(task, who)
    check_poses(task, who)
    refuse(task, who, "velocities", "timing")
    return task


def refuse(task: PlanarTask, who: str, *parts: str) -> None:
    """Velocities and timing that nothing here would read are not passed over in silence."""
    if "velocities" in parts and task.velocities is not None and np.isfinite(task.velocities).any():
        raise NotPossible(
            f"{who}: the task has velocities; dyads and triads meet them, and four_bars "
            "beside poses"
        )
    if "timing" in parts and task.timing is not None:
        raise NotPossible(f"{who}: the task has timing; dyads and fit meet it")


@functools.cache
def _pairs(n: int) -> tuple[np.ndarray, np.ndarray]:
    """(k, j) of every pair of positions, k < j."""
    return np.triu_indices(n, 1)


def troubles(task: PlanarTask) -> np.ndarray:
    """(...,) why a task of poses has no answer of its own: equal positions or pure translation;
    "" where it has."""
    reasons = np.full(task.batch, "", dtype=object)
    first, second = _pairs(task.n)
    turn = np.exp(1j * task.angles)
    apart = (
        np.abs(task.positions[..., second] - task.positions[..., first])
        > SAME * task.size[..., None]
    )
    apart |= np.abs(turn[..., second] - turn[..., first]) > SAME
    for place in [] if apart.all() else np.flatnonzero(~apart.reshape(-1, len(first)).all(axis=0)):
        equal = ~apart[..., place] & (reasons == "")
        reasons[equal] = f"positions {first[place] + 1} and {second[place] + 1} are equal"
    still = (np.abs(turn[..., 1:] - turn[..., :1]) <= SAME).all(axis=-1)
    if not still.any():
        return reasons
    text = (
        "pure translation: all angles are equal, so that every point of the body moves alike "
        "and Z is arbitrary"
    )
    reasons[still & (reasons == "")] = text
    return reasons
