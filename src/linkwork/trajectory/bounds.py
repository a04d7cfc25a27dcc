"""Bounds: limits of torque, acceleration and velocity along a path as rows on the path's own
speed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from linkwork.model.payload import Payload
from linkwork.subject import Subject
from linkwork.trajectory.coefficients import PathCoefficients, coefficients_of
from linkwork.trajectory.path import Path
from linkwork.trajectory.reachability import UNLIMITED


@dataclass(frozen=True)
class Rows:
    """lower <= m u + c x <= upper, each (..., places, rows): torques of the joints,
    then accelerations if limited.

    u = d2s/dt2, x = (ds/dt)^2;  coefficients: the torques' own;  largest (places,): of x, for the
    velocities
    """

    m: np.ndarray
    c: np.ndarray
    lower: np.ndarray
    upper: np.ndarray
    coefficients: PathCoefficients
    largest: np.ndarray

    def among(self, places: slice) -> Rows:
        """Those of some of the places."""
        k = self.coefficients
        own = PathCoefficients(*(x[..., places, :] for x in (k.m, k.c, k.d)))
        m, c, lower, upper = (x[..., places, :] for x in (self.m, self.c, self.lower, self.upper))
        return Rows(m, c, lower, upper, own, self.largest[places])

    def share(self, u: np.ndarray, x: np.ndarray) -> np.ndarray:
        """(..., places, rows): part of each limit that u and x (..., places) use,
        with the sign of the force."""
        force = self.m * u[..., None] + self.c * x[..., None]
        return force / np.where(force > 0, self.upper, -self.lower)


@dataclass(frozen=True)
class Bounds:
    """The limits of one problem: torques (nv,), velocities and accelerations (nv,) or None."""

    subject: Subject
    path: Path
    payload: Payload | Sequence[Payload] | None
    lower: np.ndarray
    upper: np.ndarray
    velocity: np.ndarray | None
    acceleration: np.ndarray | None

    def rows(self, s: np.ndarray) -> Rows:
        """At places s (n,) of the path."""
        q, first, second = self.path(s)
        k = coefficients_of(self.subject, q, first, second, self.payload)
        parts = [(k.m, k.c, self.lower - k.d, self.upper - k.d)]
        if self.acceleration is not None:
            parts.append((first, second, -self.acceleration, self.acceleration))
        shape = (*k.m.shape[:-1], self.subject.nv)
        m, c, lower, upper = (
            np.concatenate([np.broadcast_to(part[i], shape) for part in parts], axis=-1)
            for i in range(4)
        )
        return Rows(m, c, lower, upper, k, self._largest(first))

    def _largest(self, first: np.ndarray) -> np.ndarray:
        """Largest (ds/dt)^2 that no joint's velocity limit forbids,
        where the path has the derivatives `first`."""
        if self.velocity is None:
            return np.full(len(first), UNLIMITED)
        rate = np.abs(first)
        speeds = np.where(rate > 0, self.velocity / np.where(rate > 0, rate, 1), np.inf)
        return np.minimum(speeds.min(axis=1) ** 2, UNLIMITED)
