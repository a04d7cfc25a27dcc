"""Targets followed before a run: joint ranges, reach and singularities,
each with the time at which it happens."""

from __future__ import annotations

import numpy as np

from linkwork.configurations import places
from linkwork.errors import NotPossible
from linkwork.simulation.numeric import NumericPlant
from linkwork.simulation.task_space import TaskSpace
from linkwork.subject import Subject

STEPS = 60
"""Steps of the search for joints that put a frame on its target, from those of the instant
before."""
NEAR = 1e-9
"""What may be missing to a target [m, rad]."""
FLAT = 1e-3
"""A Jacobian whose smallest singular value is below this part of its largest is taken for
singular."""


def beyond_range(subject: Subject, rows: np.ndarray, times: np.ndarray) -> str:
    """The first joint of rows (T, nq) that leaves its range, with the number and the time,
    in words; else nothing."""
    for joint, at, _ in places(subject):
        if joint.nq != 1 or not joint.limits:
            continue
        for bound, side in ((joint.limits[0].lower, -1.0), (joint.limits[0].upper, 1.0)):
            # a range may be endless, never NaN
            over = side * (rows[:, at.start] - float(bound)) > 1e-9
            if over.any():
                k = int(np.argmax(over))
                size, unit = (1e3, "mm") if joint.kind.slides else (np.rad2deg(1.0), "deg")
                return (
                    f'joint "{joint.name}" = {size * rows[k, at.start]:.4g} {unit} is '
                    f"{'above' if side > 0 else 'below'} {size * float(bound):.4g} {unit} at t = "
                    f"{times[k]:.4g} s"
                )
    return ""


def followed(
    plant: NumericPlant,
    rows: np.ndarray,
    times: np.ndarray,
    space: TaskSpace,
    q: np.ndarray,
    trials: int = 0,
) -> np.ndarray:
    """Joints (T, nq) that keep a frame on its target,
    from instant to instant by damped Gauss-Newton steps.

    trials   random configurations to begin from where q does not lead to the first place
    """
    path, side = [], 0.0
    for t, row in zip(times, rows, strict=True):
        q, e, J = _placed(plant, space, q, row)
        told = f'"{space.frame}" along {", ".join(space.axes)}'
        least, draw = np.abs(e).max(), np.random.default_rng(0)
        for _ in range(trials if least >= 1e3 * NEAR else 0):
            elsewhere, missing, slopes = _placed(
                plant, space, draw.uniform(-np.pi, np.pi, plant.nq), row
            )
            if np.abs(missing).max() < least:
                q, e, J, least = elsewhere, missing, slopes, np.abs(missing).max()
        if least >= 1e3 * NEAR:
            raise NotPossible(
                f"the target of {told} is outside the workspace at t = {t:.4g} s: "
                f"about {least:.2g} m or rad are missing"
            )
        sizes = np.linalg.svd(J, compute_uv=False)
        turned = np.sign(np.linalg.det(J)) if J.shape[0] == J.shape[1] else 0.0
        if sizes[-1] < FLAT * sizes[0] or turned * side < 0:
            raise NotPossible(
                f"the path of {told} meets a singularity at t = {t:.4g} s "
                f"(singular values {sizes[0]:.3g} to {sizes[-1]:.3g})"
            )
        side = turned
        path.append(q)
    return np.array(path)


def _placed(
    plant: NumericPlant, space: TaskSpace, q: np.ndarray, row: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """(joints, what is missing, Jacobian) nearest to a place, from q."""
    e, J = space.split(plant.compute(space, q, row), plant.nv)
    for _ in range(STEPS):
        if np.abs(e).max() < NEAR:
            break
        damped = J @ J.T + 1e-6 * (np.trace(J @ J.T) * (e @ e) + 1e-12) * np.eye(len(e))
        q = q + J.T @ np.linalg.solve(damped, e)
        e, J = space.split(plant.compute(space, q, row), plant.nv)
    return q, e, J
