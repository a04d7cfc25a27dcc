"""Model: what a robot is, as frozen plain data in SI units."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar, TypeAlias

from linkwork.errors import UnknownName, did_you_mean
from linkwork.model.body import Body
from linkwork.model.carried import Carried
from linkwork.model.joint import Joint
from linkwork.model.number import Vector
from linkwork.model.placement import Placement

GRAVITY: Vector = (0.0, 0.0, -9.81)
Configurations: TypeAlias = tuple[tuple[str, tuple[tuple[str, tuple[float, ...]], ...]], ...]
"""(name of a configuration, ((joint, its q), ...)), ..."""


@dataclass(frozen=True, slots=True)
class Frame:
    """A named frame fixed to a body: T_body_frame."""

    name: str
    body: str
    placement: Placement = Placement()


@dataclass(frozen=True)
class Model:
    """A robot: bodies, the joints that make them a tree, and everything that hangs on it.

    bodies, joints   in the order of the description; each body has at most one joint of which it is
                     the child; a body without one stands fixed in the world
    frames           named frames on bodies (a body's own frame needs no entry)
    elements         closed-loop elements (struts, springs, bars, gears, loop closures) as data for
                     the loops room
    motions          named motions; configurations: named q by joint name
    variables        named numbers the description was built from (value used)
    notes            sources, assumptions and corrections, in words
    carried          what the description says beside the mechanism (motors, tendons) and linkwork
                     does not use
    """

    name: str
    bodies: tuple[Body, ...]
    joints: tuple[Joint, ...]
    frames: tuple[Frame, ...] = ()
    gravity: Vector = GRAVITY
    elements: tuple[Any, ...] = ()
    motions: tuple[Any, ...] = ()
    configurations: Configurations = ()
    variables: tuple[tuple[str, float], ...] = ()
    notes: tuple[str, ...] = field(default=(), compare=False)
    source: str = field(default="", compare=False)
    kinematic_only: bool = False  # no inertia is known: dynamics refuse by name
    carried: tuple[Carried, ...] = ()

    is_checked: ClassVar[bool] = (
        False  # True on one that `validated` has seen; what `replace` makes of it is unseen
    )

    def body(self, name: str) -> Body:
        return self._find("body", name, self.bodies)

    def joint(self, name: str) -> Joint:
        return self._find("joint", name, self.joints)

    def _find(self, what: str, name: str, among: tuple[Any, ...]) -> Any:
        for item in among:
            if item.name == name:
                return item
        raise UnknownName(
            f'robot "{self.name}" has no {what} '
            f'"{name}"{did_you_mean(name, (i.name for i in among))}'
        )
