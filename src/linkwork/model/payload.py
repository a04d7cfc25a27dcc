"""Payload: matter held by a body, given with each call."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from linkwork.arguments import as_doubles
from linkwork.errors import InvalidInput

_ROUNDING = 1e-9  # of the largest entry of an inertia


@dataclass(frozen=True)
class Payload:
    """Matter added to a body or a named frame, `body`, in its axes; every number may be a batch.

    mass     (...) [kg];  com (..., 3) [m]
    inertia  (..., 3, 3) about the payload's own centre of mass [kg m^2]; left out: a point mass
    """

    body: str
    mass: Any
    com: Any = (0.0, 0.0, 0.0)
    inertia: Any = None

    def __post_init__(self) -> None:
        who = f'Payload on "{self.body}":'
        shapes: tuple[tuple[int, ...], ...] = ((), (3,), (3, 3))
        for name, array, shape in zip(
            ("mass", "com", "inertia"), self.arrays(), shapes, strict=True
        ):
            numbers = as_doubles(array, f"{who} {name}")
            if numbers.shape[numbers.ndim - len(shape) :] != shape or numbers.ndim < len(shape):
                expected = ", ".join(("...", *map(str, shape)))
                raise InvalidInput(f"{who} {name} has shape {numbers.shape}, expected ({expected})")
            if not np.isfinite(numbers).all():
                raise InvalidInput(f"{who} {name} is not finite")
            if name == "mass" and (numbers < 0).any():
                raise InvalidInput(f"{who} mass is {numbers.min():g}, expected no negative number")
            if name == "inertia" and self.inertia is not None:
                _check_inertia(numbers, who)

    def arrays(self) -> tuple[Any, Any, Any]:
        """(mass, com, inertia) with the inertia filled in."""
        return self.mass, self.com, np.zeros((3, 3)) if self.inertia is None else self.inertia


def _check_inertia(I: np.ndarray, who: str) -> None:
    """Symmetric, and no principal minor below zero: no moment about any axis is negative."""
    size = np.abs(I).max(axis=(-1, -2))
    if (np.abs(I - np.swapaxes(I, -1, -2)).max(axis=(-1, -2)) > _ROUNDING * size).any():
        raise InvalidInput(f"{who} inertia is not symmetric")
    moments = np.diagonal(I, axis1=-2, axis2=-1)
    pairs = [
        moments[..., i] * moments[..., j] - I[..., i, j] ** 2 for i, j in ((0, 1), (0, 2), (1, 2))
    ]
    minors = ((moments.min(axis=-1), 1), (np.minimum.reduce(pairs), 2), (np.linalg.det(I), 3))
    if any((minor < -_ROUNDING * size**order).any() for minor, order in minors):
        raise InvalidInput(f"{who} inertia has a negative moment of inertia about some axis")
