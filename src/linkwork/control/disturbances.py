"""Disturbance bounds: which accelerations a payload,
a wrench or wrong masses cause that a law does not know."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from linkwork import quantities
from linkwork.arguments import as_doubles
from linkwork.errors import InvalidInput
from linkwork.model.payload import Payload
from linkwork.subject import RobotLike, subject_of


def disturbance_bound(
    robot: RobotLike,
    q: ArrayLike,
    wrench: Mapping[str, ArrayLike] | None = None,
    payload: Payload | None = None,
    variables: Mapping[str, Any] | None = None,
    v: ArrayLike | None = None,
    a: ArrayLike | None = None,
) -> np.ndarray:
    """D (nv,) [rad/s^2, m/s^2]: the largest |d| of each joint over q (..., nq),
    d = M^-1 (forces that the law ignores).

    M is the mass matrix that the law believes in: a payload makes the true one larger, so this errs
    to the safe side.

    wrench     {frame or body: (..., 6)} forces [N, N m] in world axes that the law does not know,
               any signs of theirs
    payload    what the gripper carries unknown to the law
    variables  live variables whose true values differ from those of the law's model
    v, a       state and wanted acceleration of the motion (left out: at rest)
    """
    subject = subject_of(robot, "disturbance_bound")
    rows = np.atleast_2d(as_doubles(q, "disturbance_bound: q")).reshape(-1, subject.nq)
    zeros = np.zeros((len(rows), subject.nv))
    state = {"q": rows, "v": zeros if v is None else v, "a": zeros if a is None else a}
    real: dict[str, Any] = {}
    if payload is not None:
        real["payload"] = payload
    if variables is not None:
        real["variables"] = dict(variables)
    believed = quantities.evaluate(subject, "inverse_dynamics", state)
    true = quantities.evaluate(subject, "inverse_dynamics", state, **real) if real else believed
    mass = quantities.evaluate(subject, "mass_matrix", {"q": rows})
    worst = np.abs(np.linalg.solve(mass, (true - believed)[..., None])[..., 0])
    for frame, forces in (wrench or {}).items():
        push = as_doubles(forces, f'disturbance_bound: wrench on "{frame}"')
        if push.shape[-1:] != (6,):
            raise InvalidInput(
                f'disturbance_bound: wrench on "{frame}" has shape {push.shape}, expected (..., 6)'
            )
        J = quantities.evaluate(subject, "jacobian", {"q": rows}, frame=frame)
        # d = M^-1 J' w is largest when every component of the wrench pushes the same way
        per_component = np.abs(np.linalg.solve(mass, np.swapaxes(J, -1, -2)))
        worst = worst + per_component @ np.abs(push.reshape(-1, 6)).max(axis=0)
    return worst.max(axis=0)
