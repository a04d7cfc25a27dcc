"""Payload: matter held by a body, given with each call."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np


@dataclass(frozen=True)
class Payload:
    """Matter added to `body`, in that body's axes; every number may be a batch.

    mass     (...) [kg];  com (..., 3) [m]
    inertia  (..., 3, 3) about the payload's own centre of mass [kg m^2]; left out: a point mass
    """

    body: str
    mass: Any
    com: Any = (0.0, 0.0, 0.0)
    inertia: Any = None

    def arrays(self) -> tuple[Any, Any, Any]:
        """(mass, com, inertia) with the inertia filled in."""
        return self.mass, self.com, np.zeros((3, 3)) if self.inertia is None else self.inertia
