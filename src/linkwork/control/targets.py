"""Targets checked before a run: joint ranges, reach and singularities, each with the time at which it happens."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from linkwork.arguments import as_doubles, finite_doubles
from linkwork.configurations import places
from linkwork.errors import InvalidInput, NotPossible
from linkwork.simulation.numeric import NumericPlant
from linkwork.simulation.plants import plant_of
from linkwork.simulation.signals import Source
from linkwork.simulation.task_space import AXES, TaskSpace
from linkwork.subject import Subject

STEPS = 60
"""Steps of the search for joints that put a frame on its target, from those of the instant before."""
NEAR = 1e-9
"""What may be missing to a target [m, rad]."""
FLAT = 1e-3
"""A Jacobian whose smallest singular value is below this part of its largest is taken for singular."""


def check_target(
    robot: Any,
    target: Any,
    times: ArrayLike,
    frame: str | None = None,
    axes: Any = AXES,
    q: ArrayLike | None = None,
) -> np.ndarray:
    """Joints (T, nq) along a target, or NotPossible with the joint or frame, the number and the time.

    target   configurations as for PD, or with a frame as for CartesianImpedance: a function of time, or rows (T, n) at
             `times` (T,) [s]
    frame    also asks whether the frame gets there, and whether its Jacobian along `axes` is singular on the way;
             q (nq,): where the joints begin, on the branch that is meant (left out: neutral)
    """
    subject = getattr(robot, "subject", robot)
    if not isinstance(subject, Subject):
        raise InvalidInput(f"check_target: robot is {type(robot).__name__}, expected a Robot")
    instants = np.atleast_1d(finite_doubles(times, "check_target: times"))
    rows = _rows(target, instants)
    if frame is not None:
        rows = _followed(robot, rows, instants, TaskSpace.of(frame, axes, "check_target"), q)
    elif rows.shape[-1] != subject.nq:
        raise InvalidInput(f"check_target: target has {rows.shape[-1]} numbers a row, expected {subject.nq}")
    _within(subject, rows, instants)
    return rows


def _rows(target: Any, times: np.ndarray) -> np.ndarray:
    if callable(target):
        function = Source(target, "check_target: target").function
        assert function is not None
        return np.array([np.ravel(function(np.asarray(t))[0]) for t in times])
    rows = as_doubles(target, "check_target: target")
    if rows.ndim == 1:
        return np.broadcast_to(rows, (len(times), len(rows)))
    if rows.shape[0] != len(times) or not np.isfinite(rows).all():
        raise InvalidInput(f"check_target: target has shape {rows.shape}, expected finite rows ({len(times)}, n)")
    return rows.reshape(len(times), -1)  # poses (T, 4, 4) become rows of sixteen


def _within(subject: Subject, rows: np.ndarray, times: np.ndarray) -> None:
    for joint, at, _ in places(subject):
        if joint.nq != 1 or not joint.limits:
            continue
        for bound, beyond in ((joint.limits[0].lower, -1.0), (joint.limits[0].upper, 1.0)):
            if not np.isfinite(float(bound)):
                continue
            over = beyond * (rows[:, at.start] - float(bound)) > 1e-9
            if over.any():
                k = int(np.argmax(over))
                turns = not joint.kind.slides
                size, unit = (np.rad2deg(1.0), "deg") if turns else (1e3, "mm")
                raise NotPossible(
                    f'check_target: joint "{joint.name}" = {size * rows[k, at.start]:.4g} {unit} is '
                    f"{'above' if beyond > 0 else 'below'} {size * float(bound):.4g} {unit} at t = {times[k]:.4g} s"
                )


def _followed(robot: Any, rows: np.ndarray, times: np.ndarray, space: TaskSpace, q: Any) -> np.ndarray:
    """Joints that keep the frame on its target, from instant to instant by damped Gauss-Newton steps."""
    plant = NumericPlant(plant_of(robot))
    if not plant.flat:
        raise NotPossible(f"check_target: {plant.who} has quaternions; frames of plain joints are followed")
    if rows.shape[-1] not in space.sizes:
        expected = " or ".join(map(str, space.sizes))
        raise InvalidInput(f"check_target: target has {rows.shape[-1]} numbers a row, expected {expected}")
    at = np.array(plant.neutral() if q is None else finite_doubles(q, "check_target: q"), dtype=float)
    if at.shape != (plant.nq,):
        raise InvalidInput(f"check_target: q has shape {at.shape}, expected ({plant.nq},)")
    found, side = [], 0.0
    for t, row in zip(times, rows, strict=True):
        e, J = space.split(plant.compute(space, at, row), plant.nv)
        for _ in range(STEPS):
            if np.abs(e).max() < NEAR:
                break
            damped = J @ J.T + 1e-6 * (np.trace(J @ J.T) * (e @ e) + 1e-12) * np.eye(len(e))
            at = at + J.T @ np.linalg.solve(damped, e)
            e, J = space.split(plant.compute(space, at, row), plant.nv)
        told = f'"{space.frame}" along {", ".join(space.axes)}'
        if np.abs(e).max() >= 1e3 * NEAR:
            raise NotPossible(
                f"check_target: the target of {told} is outside the workspace at t = {t:.4g} s: "
                f"{np.abs(e).max():.3g} m or rad are missing"
            )
        sizes = np.linalg.svd(J, compute_uv=False)
        turned = np.sign(np.linalg.det(J)) if J.shape[0] == J.shape[1] else 0.0
        if sizes[-1] < FLAT * sizes[0] or turned * side < 0:
            raise NotPossible(
                f"check_target: the path of {told} meets a singularity at t = {t:.4g} s "
                f"(singular values {sizes[0]:.3g} to {sizes[-1]:.3g})"
            )
        side = turned
        found.append(at.copy())
    return np.array(found)
