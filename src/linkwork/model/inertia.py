"""Mass properties of a body: mass, centre of mass, inertia about it; their checks,
sums and change of frame."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from linkwork.errors import InvalidModel
from linkwork.model.number import (
    ZERO,
    Matrix,
    Number,
    Vector,
    add,
    all_floats,
    dot,
    has_symbols,
    is_symbol,
    matrix_sum,
    product,
    scale,
    subtract,
    transpose,
)
from linkwork.model.placement import Placement

LARGEST = 1e100
"""Largest mass, length and moment of a description:
mass times the square of a length stays a number."""

NO_INERTIA: Matrix = (ZERO, ZERO, ZERO)
LEVELS = ("physical", "positive", "any")
_ROUNDING = 1e-9  # of the largest moment: descriptions are printed with about that many digits


@dataclass(frozen=True, slots=True)
class MassProperties:
    """mass [kg], com: centre of mass in body axes [m], inertia: about the centre of mass,
    body axes [kg m^2]."""

    mass: Number = 0.0
    com: Vector = ZERO
    inertia: Matrix = NO_INERTIA

    def seen_from(self, T_parent_body: Placement) -> MassProperties:
        """The same matter described in the parent frame."""
        R = T_parent_body.rotation
        turned = product(product(R, self.inertia), transpose(R))
        return MassProperties(self.mass, T_parent_body.at(self.com), _mirrored(turned))

    def __add__(self, other: MassProperties) -> MassProperties:
        """Both bodies rigidly joined (same axes): masses add,
        parallel-axis theorem for the inertia."""
        if _is_nothing(other):
            return self
        if _is_nothing(self):
            return other
        mass = self.mass + other.mass
        weighted = add(scale(self.mass, self.com), scale(other.mass, other.com))
        massless = not is_symbol(mass) and mass == 0.0
        com = self.com if massless else scale(1.0 / mass, weighted)
        inertia = NO_INERTIA
        for part in (self, other):
            offset = steiner(part.mass, subtract(part.com, com))
            inertia = matrix_sum(inertia, matrix_sum(part.inertia, offset))
        return MassProperties(mass, com, inertia)

    def parameters(self) -> tuple[Number, ...]:
        """Mass, first moment (x, y, z), inertia about the origin (xx, xy, yy, xz, yz, zz),
        in body axes."""
        (xx, xy, xz), (_, yy, yz), (_, _, zz) = matrix_sum(
            self.inertia, steiner(self.mass, self.com)
        )
        return (self.mass, *scale(self.mass, self.com), xx, xy, yy, xz, yz, zz)

    def problem(self, level: str) -> str | None:
        """What is wrong with these numbers at a validation level, or None.

        `any`: finite, mass >= 0, symmetric; `positive`: inertia positive semidefinite too
        (definite for a body with mass is not asked of point masses); `physical`: also the triangle
        inequality A + B >= C of principal moments.
        """
        if level not in LEVELS:
            raise InvalidModel(
                f'check level "{level}" is unknown, expected one of {", ".join(LEVELS)}'
            )
        return mass_problem(self, level)


def mass_problem(matter: MassProperties, level: str) -> str | None:
    """`MassProperties.problem` of a known level."""
    mass, com, inertia = matter.mass, matter.com, matter.inertia
    if inertia is NO_INERTIA and com is ZERO and type(mass) is float and mass == 0.0:
        return None
    entries: tuple[Number, ...] = (*inertia[0], *inertia[1], *inertia[2])
    numbers = (mass, *com, *entries)
    if not all_floats(numbers):
        if has_symbols(numbers):
            return None
        entries = tuple(map(float, entries))
    xx, xy, xz, yx, yy, yz, zx, zy, zz = entries
    if not all(map(math.isfinite, numbers)):
        return "mass, centre of mass or inertia is not finite"
    if mass < 0.0:
        return f"mass {mass:g} kg is negative"
    largest = float(max(map(abs, entries)))
    if max(map(abs, numbers)) > LARGEST:
        said = f"mass {mass:g} kg, centre of mass {tuple(com)} m, largest moment {largest:g} kg m^2"
        return f"{said}: beyond {LARGEST:g}, where what is computed with them leaves the numbers"
    if largest == 0.0:
        return None
    if (xy, xz, yz) != (yx, zx, zy):
        if any(abs(a / largest - b / largest) > 1e-12 for a, b in ((xy, yx), (xz, zx), (yz, zy))):
            return "inertia is not symmetric"
    if level == "any":
        return None
    if not any((xy, xz, yz, yx, zx, zy)):
        A, B, C = sorted((xx / largest, yy / largest, zz / largest))
    else:
        scaled = np.array(inertia, dtype=float) / largest  # no overflow
        A, B, C = (float(moment) for moment in np.linalg.eigvalsh(scaled))
    if A >= -_ROUNDING and (level != "physical" or C - A - B <= _ROUNDING):
        return None
    shown = ", ".join(f"{moment * largest:.6g}" for moment in (A, B, C))
    if A < -_ROUNDING:
        return f"principal moments {shown} kg m^2 are not all positive"
    return (
        f"principal moments {shown} kg m^2 violate A + B >= C by {(C - A - B) * largest:.6g} kg m^2"
    )


def from_parameters(parameters: tuple[float, ...]) -> MassProperties:
    """The mass properties of ten parameters, as `MassProperties.parameters` gives them."""
    m, hx, hy, hz, xx, xy, yy, xz, yz, zz = (float(x) for x in parameters)
    about_origin = ((xx, xy, xz), (xy, yy, yz), (xz, yz, zz))
    if m == 0.0:
        return MassProperties(0.0, ZERO, about_origin)
    com = (hx / m, hy / m, hz / m)
    moved = steiner(m, com)
    rows = [[about_origin[i][j] - moved[i][j] for j in range(3)] for i in range(3)]
    return MassProperties(m, com, tuple(tuple(row) for row in rows))  # type: ignore[arg-type]


def steiner(mass: Number, r: Vector) -> Matrix:
    """Inertia of a point mass at r about the origin: m (r.r 1 - r r')."""
    rr = dot(r, r)
    return tuple(  # type: ignore[return-value]
        tuple(mass * ((rr if i == j else 0.0) - r[i] * r[j]) for j in range(3)) for i in range(3)
    )


def _mirrored(A: Matrix) -> Matrix:
    """A with the lower triangle copied from the upper one:
    exactly symmetric where rounding made it nearly so."""
    (xx, xy, xz), (_, yy, yz), (_, _, zz) = A
    return ((xx, xy, xz), (xy, yy, yz), (xz, yz, zz))


def _is_nothing(m: MassProperties) -> bool:
    if type(m.mass) is float and (m.mass != 0.0 or m.inertia is NO_INERTIA):
        return m.mass == 0.0
    return (
        not has_symbols((m.mass, m.inertia))
        and m.mass == 0.0
        and all(x == 0.0 for row in m.inertia for x in row)
    )
