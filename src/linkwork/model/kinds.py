"""Kinds of joints, one row a kind: what every room asks about a joint before it knows its numbers.

A new kind is a row here, its motion in `recursions/joints.py` and `model/motion.py`, its limits of writing in the
formats; everything that only counts coordinates or asks for their units follows from the row.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class JointKind:
    """One kind of joint.

    nq, nv       numbers of coordinates of configuration and of velocity
    slides       velocity coordinates that are lengths [m]; the others are angles [rad]
    has_axis     whether a direction decides how it moves
    quaternion   whether the last four coordinates of configuration are one
    is_simple    whether recursions know it; the others become chains of simple ones when the tree is built
    """

    name: str
    nq: int
    nv: int
    slides: tuple[int, ...] = ()
    has_axis: bool = True
    is_simple: bool = False

    @property
    def quaternion(self) -> bool:
        return self.nq > self.nv

    @property
    def turns(self) -> tuple[int, ...]:
        """Velocity coordinates that are angles."""
        return tuple(k for k in range(self.nv) if k not in self.slides)

    def unit(self, coordinate: int = 0) -> str:
        """ "m" or "rad"."""
        return "m" if coordinate in self.slides else "rad"

    @property
    def neutral(self) -> tuple[float, ...]:
        """Its coordinates where it does not move its child."""
        return (*(0.0,) * (self.nq - 1), 1.0) if self.quaternion else (0.0,) * self.nq


_ROWS = (
    JointKind("fixed", 0, 0, has_axis=False, is_simple=True),
    JointKind("revolute", 1, 1, is_simple=True),
    JointKind("continuous", 1, 1),
    JointKind("prismatic", 1, 1, slides=(0,), is_simple=True),
    JointKind("helical", 1, 1, is_simple=True),
    JointKind("cylindrical", 2, 2, slides=(1,)),
    JointKind("universal", 2, 2),
    JointKind("planar", 3, 3, slides=(0, 1)),
    JointKind("ball", 4, 3, has_axis=False, is_simple=True),
    JointKind("floating", 7, 6, slides=(0, 1, 2), has_axis=False, is_simple=True),
)
KINDS: dict[str, JointKind] = {kind.name: kind for kind in _ROWS}
SIMPLE = tuple(kind.name for kind in _ROWS if kind.is_simple)
"""Kinds that recursions know, in the order of the table."""
