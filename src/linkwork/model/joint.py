"""Joint: how one body moves on another."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

from linkwork.model.kinds import KINDS, JointKind
from linkwork.model.number import Number, Vector
from linkwork.model.placement import Placement
from linkwork.model.quickly_made import quickly_made

SIZES: dict[str, tuple[int, int]] = {kind.name: (kind.nq, kind.nv) for kind in KINDS.values()}
"""type -> (number of configuration coordinates, number of velocity coordinates)"""
TYPES = tuple(SIZES)


@dataclass(frozen=True, slots=True)
class Limits:
    """Range of one coordinate: position [rad or m], largest speed [rad/s or m/s], effort [N m or N]
    and acceleration [rad/s^2 or m/s^2]."""

    lower: float = -math.inf
    upper: float = math.inf
    velocity: float = math.inf
    effort: float = math.inf
    acceleration: float = math.inf


@dataclass(frozen=True, slots=True)
class Mimic:
    """This joint follows another: q = multiplier * q_joint + offset."""

    joint: str
    multiplier: float = 1.0
    offset: float = 0.0


@quickly_made
@dataclass(frozen=True, slots=True)
class Joint:
    """The joint between `parent` (None: the world) and `child`.

    placement   T_parent_joint at q = 0; the child frame coincides with the joint frame at q = 0
    axis        unit vector in joint axes: line of rotation or translation; normal of a planar
                joint; first axis of a universal joint (`second_axis` is the other, carried by the
                first)
    pitch       translation per angle of a helical joint [m/rad]
    limits      one `Limits` a velocity coordinate, or () for none
    damping     viscous friction [N m s/rad, N s/m], `friction` dry friction [N m, N], `armature`
                rotor inertia seen by the joint [kg m^2, kg]; numbers or one a velocity coordinate

    Coordinates: planar (x, y, angle); cylindrical (angle, displacement); universal
    (angle, second angle); ball quaternion (x, y, z, w); floating (position x, y, z, quaternion x,
    y, z, w).
    """

    name: str
    type: str
    parent: str | None
    child: str
    placement: Placement = Placement()
    axis: Vector = (0.0, 0.0, 1.0)
    second_axis: Vector = (1.0, 0.0, 0.0)
    pitch: Number = 0.0
    limits: tuple[Limits, ...] = ()
    mimic: Mimic | None = None
    damping: Number = 0.0
    friction: Number = 0.0
    armature: Number = 0.0

    @property
    def kind(self) -> JointKind:
        """The row of its type in model/kinds.py."""
        return KINDS[self.type]

    @property
    def nq(self) -> int:
        return SIZES[self.type][0]

    @property
    def nv(self) -> int:
        return SIZES[self.type][1]


def resolved_mimic(joints: Iterable[Joint]) -> dict[str, tuple[str, float, float]]:
    """Every mimicking joint by name: (independent joint it follows in the end, multiplier, offset).

    A follower of a follower is included. The joints have been validated: leaders exist and nobody
    follows in a circle.
    """
    rules = {joint.name: joint.mimic for joint in joints if joint.mimic is not None}
    resolved: dict[str, tuple[str, float, float]] = {}
    for name in rules:
        chain = [name]
        while chain[-1] in rules and chain[-1] not in resolved:
            chain.append(rules[chain[-1]].joint)
        leader, multiplier, offset = resolved.get(chain[-1], (chain[-1], 1.0, 0.0))
        for follower in reversed(chain[:-1]):
            rule = rules[follower]
            multiplier = rule.multiplier * multiplier
            offset = rule.multiplier * offset + rule.offset
            resolved[follower] = (leader, multiplier, offset)
    return resolved
