"""Path coefficients: the equations of motion along a path, as functions of one coordinate."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike

from linkwork import quantities
from linkwork.arguments import as_doubles, choice, finite_doubles
from linkwork.errors import InvalidInput, NotPossible
from linkwork.formats.tabular import Tabular
from linkwork.model.payload import Payload
from linkwork.results import short_repr
from linkwork.subject import RobotLike, Subject, subject_of
from linkwork.trajectory.path import Path


@short_repr
@dataclass(frozen=True)
class PathCoefficients(Tabular, rows="m", within=1):
    """tau = m sdd + c sd^2 + d along a path, each (..., points, nv).

    Source: [Safeea2019] eqs. 5, 32-34: m = A q', c = A q'' + sum_ij c^k_ij q'_i q'_j, d = g.
    """

    m: np.ndarray
    c: np.ndarray
    d: np.ndarray

    def torque(self, speed: ArrayLike, acceleration: ArrayLike) -> np.ndarray:
        """Joint forces for sd and sdd (..., points)."""
        sd = finite_doubles(speed, "torque: speed")
        sdd = finite_doubles(acceleration, "torque: acceleration")
        sd, sdd = sd[..., None], sdd[..., None]
        return self.m * sdd + self.c * sd**2 + self.d


def path_coefficients(
    robot: RobotLike,
    path: Path,
    s: ArrayLike,
    payload: Payload | Sequence[Payload] | None = None,
    method: str = "newton_euler",
) -> PathCoefficients:
    """m, c, d at the places s (points,) of a path;
    with a batch of payloads (...) they are (..., points, nv).

    "newton_euler": m and c are inverse dynamics of (0, q') and (q', q'') without gravity: linear in
    the joints. "christoffel": the paper's route over mass matrix and symbols; the same numbers.
    """
    subject, at = subject_of(robot, "path_coefficients"), as_doubles(s, "path_coefficients: s")
    choice(method, ("newton_euler", "christoffel"), "path_coefficients: method")
    if at.ndim != 1:
        raise InvalidInput(f"path_coefficients: s has shape {at.shape}, expected (points,)")
    check_fits(subject, path, "path_coefficients")
    q, first, second = path(at)
    if method == "newton_euler":
        return coefficients_of(subject, q, first, second, payload)
    loads = _beside_points(payload)
    M = quantities.evaluate(subject, "mass_matrix", {"q": q}, payload=loads)
    symbols = quantities.evaluate(subject, "christoffel", {"q": q}, payload=loads)
    curved = np.einsum("...kij,...i,...j->...k", symbols, first, first)
    straight = (np.einsum("...kj,...j->...k", M, x) for x in (first, second))
    m, c = next(straight), next(straight) + curved
    return PathCoefficients(
        m, c, quantities.evaluate(subject, "gravity_torque", {"q": q}, payload=loads)
    )


def coefficients_of(
    subject: Subject,
    q: np.ndarray,
    first: np.ndarray,
    second: np.ndarray,
    payload: Payload | Sequence[Payload] | None = None,
) -> PathCoefficients:
    """m, c, d where a path has the configurations q (points, nv) and the derivatives `first` and
    `second` by s."""
    values = {"q": q, "v": first, "a": second}
    loads = _beside_points(payload)
    return PathCoefficients(
        *quantities.evaluate(subject, "path_coefficients", values, payload=loads)
    )


def check_fits(subject: Subject, path: Path, who: str) -> None:
    """A path has one coordinate a degree of freedom, and as many as the robot."""
    name = subject.model.name
    if not isinstance(path, Path):
        raise InvalidInput(
            f"{who}: path is {type(path).__name__}, expected a Path: Path.through(waypoints)"
        )
    if subject.nq != subject.nv:
        raise NotPossible(
            f'{who}: robot "{name}" has ball or floating joints; a path through their quaternions '
            "is no curve q(s)"
        )
    if path.size != subject.nq:
        raise InvalidInput(
            f'{who}: path has {path.size} coordinates, expected {subject.nq}: robot "{name}" has '
            f"nq = {subject.nq}"
        )


def _beside_points(payload: Payload | Sequence[Payload] | None) -> list[Payload] | None:
    """Payloads whose batch stands before the points of the path."""
    if payload is None:
        return None
    loads = [payload] if isinstance(payload, Payload) else list(payload)
    spread = []
    for load in loads:
        mass, com, inertia = (np.asarray(x, dtype=float) for x in load.arrays())
        spread.append(
            replace(
                load, mass=mass[..., None], com=com[..., None, :], inertia=inertia[..., None, :, :]
            )
        )
    return spread
