"""Body: matter, named points and shapes that move together."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from linkwork.model.inertia import MassProperties
from linkwork.model.number import Number, Vector
from linkwork.model.placement import Placement
from linkwork.model.quickly_made import quickly_made


@quickly_made
@dataclass(frozen=True, slots=True)
class Shape:
    """Something to draw or to collide with, placed in the body frame.

    kind     size [m]
    box      (length x, width y, height z)
    sphere   (radius,)
    cylinder (radius, length along z)
    capsule  (radius, length of the straight part along z)
    mesh     (scale x, scale y, scale z), with `mesh` the file; a missing one is kept as a name and
             cannot be drawn
    """

    kind: str
    size: tuple[Number, ...]
    placement: Placement = Placement()
    color: tuple[float, float, float, float] | None = None
    mesh: str | None = None
    name: str | None = None

    def without_empty_length(self) -> Shape:
        """A capsule of no length is the ball it is; files of other tools know none of length 0."""
        if self.kind == "capsule" and not self.size[1]:
            return replace(self, kind="sphere", size=self.size[:1])
        return self


@quickly_made
@dataclass(frozen=True, slots=True)
class Body:
    """A rigid body. `points` are named positions in body axes [m]; `lines` join two of them,
    for drawing.

    `has_inertia` is False where the description gave no mass properties at all (a frame-like body).
    """

    name: str
    mass_properties: MassProperties = MassProperties()
    points: tuple[tuple[str, Vector], ...] = ()
    lines: tuple[tuple[str, str], ...] = ()
    visuals: tuple[Shape, ...] = ()
    collisions: tuple[Shape, ...] = ()
    has_inertia: bool = True
    note: str = field(default="", compare=False)
