"""Applied: external forces on a robot."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from casadi import SX

from linkwork.spatial import Force, Transform, cross


@dataclass(frozen=True)
class Applied:
    """A force and a moment at a point fixed in a node, their directions fixed in the world;
    all in node axes now."""

    node: int
    point: SX
    force: SX
    moment: SX

    def moved(self, T: Transform) -> Applied:
        """`T @ applied`: in the parent's axes, from the parent's origin."""
        return Applied(self.node, T.R @ self.point + T.p, T.R @ self.force, T.R @ self.moment)

    @property
    def at_origin(self) -> Force:
        """The same as a force at the origin."""
        return Force(self.force, self.moment + cross(self.point, self.force))


def at_origins(applied: Iterable[Applied]) -> dict[int, Force]:
    """Node -> the sum of what acts on it, in node axes at its origin; not on the world."""
    total: dict[int, Force] = {}
    for one in applied:
        if one.node:
            total[one.node] = (
                total[one.node] + one.at_origin if one.node in total else one.at_origin
            )
    return total
