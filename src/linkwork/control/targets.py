"""Targets checked before a run: joint ranges, reach and singularities,
each with the time at which it happens."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from linkwork.arguments import finite_doubles
from linkwork.errors import InvalidInput, NotPossible
from linkwork.poses import pose_numbers
from linkwork.simulation.numeric import NumericPlant
from linkwork.simulation.plants import plant_of
from linkwork.simulation.signals import Source
from linkwork.simulation.targets import beyond_range, followed
from linkwork.simulation.task_space import AXES, TaskSpace
from linkwork.subject import RobotLike, subject_of


def check_target(
    robot: RobotLike,
    target: Any,
    times: ArrayLike,
    frame: str | None = None,
    axes: Any = AXES,
    q: ArrayLike | None = None,
) -> np.ndarray:
    """Joints (T, nq) along a target, or NotPossible with the joint or frame,
    the number and the time.

    target   configurations as for PD, or with a frame as for CartesianImpedance: a function of
             time, or rows (T, n) at `times` (T,) [s]
    frame    also asks whether the frame gets there, and whether its Jacobian along `axes` is
             singular on the way;
             q (nq,): where the joints begin, on the branch that is meant (left out: neutral)
    """
    subject = subject_of(robot, "check_target")
    instants = np.atleast_1d(finite_doubles(times, "check_target: times"))
    rows = _rows(target, instants)
    if frame is not None:
        rows = _followed(robot, rows, instants, TaskSpace.of(frame, axes, "check_target"), q)
    elif rows.shape[-1] != subject.nq:
        raise InvalidInput(
            f"check_target: target has {rows.shape[-1]} numbers a row, expected {subject.nq}"
        )
    if words := beyond_range(subject, rows, instants):
        raise NotPossible(f"check_target: {words}")
    return rows


def _rows(target: Any, times: np.ndarray) -> np.ndarray:
    if callable(target):
        function = Source(target, "check_target: target").function
        assert function is not None
        return np.array([np.ravel(function(np.asarray(t))[0]) for t in times])
    rows = pose_numbers(target, "check_target: target")
    if not np.isfinite(rows).all():
        raise InvalidInput("check_target: target is not finite")
    if rows.ndim == 1:
        return np.broadcast_to(rows, (len(times), len(rows)))
    if rows.shape[0] != len(times):
        raise InvalidInput(
            f"check_target: target has shape {rows.shape}, expected rows ({len(times)}, n)"
        )
    return rows.reshape(len(times), -1)  # poses (T, 4, 4) become rows of sixteen


def _followed(
    robot: RobotLike, rows: np.ndarray, times: np.ndarray, space: TaskSpace, q: Any
) -> np.ndarray:
    plant = NumericPlant(plant_of(robot))
    if not plant.flat:
        raise NotPossible(
            f"check_target: {plant.who} has quaternions; frames of plain joints are followed"
        )
    if rows.shape[-1] not in space.sizes:
        expected = " or ".join(map(str, space.sizes))
        raise InvalidInput(
            f"check_target: target has {rows.shape[-1]} numbers a row, expected {expected}"
        )
    at = np.array(
        plant.neutral() if q is None else finite_doubles(q, "check_target: q"), dtype=float
    )
    if at.shape != (plant.nq,):
        raise InvalidInput(f"check_target: q has shape {at.shape}, expected ({plant.nq},)")
    try:
        return followed(plant, rows, times, space, at)
    except NotPossible as refusal:
        raise NotPossible(f"check_target: {refusal}") from None
