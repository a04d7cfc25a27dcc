"""Kinds of joints, one row a kind: what every room asks about a joint before it knows its numbers.

A new kind is a row here, and either its chain of others or its motion in `recursions/joints.py` and
`model/joint_motion.py`; then its word in the formats that have one. What counts coordinates, asks
for their units, or asks whether it is a hinge, a slide or a screw follows from the row
(tests/model/test_kinds.py counts the files that name a kind).
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class JointKind:
    """One kind of joint.

    nq, nv       numbers of coordinates of configuration and of velocity
    slides       velocity coordinates that are lengths [m]; the others are angles [rad]
    has_axis     whether a direction decides how it moves
    has_pitch    whether its one coordinate turns, and slides by its pitch
    chain        (kind, axis) of the simple joints it becomes when the tree is built; () where
                 recursions know it. An axis is a field of the joint, or "x", "y": those of the
                 plane whose normal is `axis`
    """

    name: str
    nq: int
    nv: int
    slides: tuple[int, ...] = ()
    has_axis: bool = True
    has_pitch: bool = False
    chain: tuple[tuple[str, str], ...] = ()

    @property
    def is_simple(self) -> bool:
        return not self.chain

    @property
    def quaternion(self) -> bool:
        """Whether the last four coordinates of configuration are one."""
        return self.nq > self.nv

    @property
    def has_second_axis(self) -> bool:
        return any(axis == "second_axis" for _, axis in self.chain)

    @property
    def is_fixed(self) -> bool:
        return self.nv == 0

    @property
    def is_hinge(self) -> bool:
        """Whether it turns about its axis and does nothing else."""
        return self.nv == 1 and not self.slides and not self.has_pitch

    @property
    def is_slide(self) -> bool:
        """Whether it slides along its axis and does nothing else."""
        return self.nv == 1 and bool(self.slides)

    @property
    def is_ball(self) -> bool:
        """Whether it turns freely about a point."""
        return self.quaternion and not self.slides

    @property
    def is_free(self) -> bool:
        """Whether it moves freely."""
        return self.quaternion and len(self.slides) == 3

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


FIXED, REVOLUTE, PRISMATIC, BALL, FLOATING = "fixed", "revolute", "prismatic", "ball", "floating"
"""Kinds that joints are made of where no file says which."""
_ROWS = (
    JointKind(FIXED, 0, 0, has_axis=False),
    JointKind(REVOLUTE, 1, 1),
    JointKind("continuous", 1, 1, chain=((REVOLUTE, "axis"),)),
    JointKind(PRISMATIC, 1, 1, slides=(0,)),
    JointKind("helical", 1, 1, has_pitch=True),
    JointKind("cylindrical", 2, 2, slides=(1,), chain=((REVOLUTE, "axis"), (PRISMATIC, "axis"))),
    JointKind("universal", 2, 2, chain=((REVOLUTE, "axis"), (REVOLUTE, "second_axis"))),
    JointKind(
        "planar",
        3,
        3,
        slides=(0, 1),
        chain=((PRISMATIC, "x"), (PRISMATIC, "y"), (REVOLUTE, "axis")),
    ),
    JointKind(BALL, 4, 3, has_axis=False),
    JointKind(FLOATING, 7, 6, slides=(0, 1, 2), has_axis=False),
)
KINDS: dict[str, JointKind] = {kind.name: kind for kind in _ROWS}
