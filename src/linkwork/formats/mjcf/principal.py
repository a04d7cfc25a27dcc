"""Principal moments as MuJoCo wants them: none negative, no one above the sum of the others,
not even by rounding."""

from __future__ import annotations

import numpy as np

from linkwork.model.inertia import MassProperties
from linkwork.model.number import IDENTITY, Matrix, Vector
from linkwork.model.rotation import from_matrix

ROUNDING = 1e-13
"""Of the largest moment: what a sum of double numbers may have lost."""

SMALLEST = 1e-15
"""MuJoCo's smallest mass and moment of a moving body (mjMINVAL)."""


def principal(matter: MassProperties) -> tuple[Vector, Matrix]:
    """Principal moments and R_body_principal; body axes where the inertia is diagonal already."""
    I = np.array(matter.inertia, dtype=float)
    if np.count_nonzero(I - np.diag(np.diagonal(I))) == 0:
        a, b, c = (float(x) for x in np.diagonal(I))
        return _mended((a, b, c)), IDENTITY
    with np.errstate(all="ignore"):
        moments, axes = np.linalg.eigh(I)
    axes = axes * np.sign(np.linalg.det(axes))
    a, b, c = (float(x) for x in moments)
    return _mended((a, b, c)), from_matrix(axes.tolist())


def _mended(moments: Vector) -> Vector:
    """What rounding alone has put out of order, put right: A + B >= C, A >= 0."""
    largest = max(moments)
    a, b, c = (0.0 if -ROUNDING * largest <= m < 0.0 else m for m in moments)
    a = b + c if 0.0 < a - (b + c) <= ROUNDING * largest else a
    b = a + c if 0.0 < b - (a + c) <= ROUNDING * largest else b
    c = a + b if 0.0 < c - (a + b) <= ROUNDING * largest else c
    return (a, b, c)


def problem(matter: MassProperties) -> str | None:
    """Why MuJoCo refuses these mass properties, or None."""
    moments, _ = principal(matter)
    a, b, c = sorted(moments)
    shown = ", ".join(f"{m:.6g}" for m in (a, b, c))
    if a < 0.0:
        return f"has principal moments {shown} kg m^2, and MuJoCo allows none that is negative"
    if c > a + b:
        return f"has principal moments {shown} kg m^2, and MuJoCo asks for A + B >= C"
    return None


def is_enough_to_move(matter: MassProperties) -> bool:
    """Whether MuJoCo lets a body of these mass properties move."""
    return matter.mass >= SMALLEST and min(principal(matter)[0]) >= SMALLEST
