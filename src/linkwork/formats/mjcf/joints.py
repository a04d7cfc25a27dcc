"""Joints of a body: MJCF puts several in one body, each with an anchor and a reference;
linkwork makes them a chain.

With T0 the placement of the body, a joint k with anchor p_k, axis a_k and reference r_k
(all in body axes)

    T_parent_body = T0 M_1(q_1 - r_1) M_2(q_2 - r_2) ...

where M_k(x) turns by x about a_k through p_k, or shifts by x a_k; and M_k(q - r) = M_k(-r) M_k(q).
Between two joints stands a massless body whose frame G_k (seen from the body, all joints at their
references) has its origin on the axis of joint k; the joint's placement is G_(k-1)^-1 M_k(-r_k)
G_k. The last joint carries the body itself if its axis runs through the body's origin, else a fixed
joint follows.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import NamedTuple

from linkwork.formats.mjcf.bodies import Described, Names, Part
from linkwork.formats.mjcf.orientation import SHORTEST, position
from linkwork.formats.mjcf.quaternion import to_quaternion
from linkwork.formats.mjcf.settings import CompilerSettings
from linkwork.formats.mjcf.vocabulary import JOINT_TYPES
from linkwork.formats.strictness import Passed
from linkwork.model.body import Body
from linkwork.model.joint import Joint, Limits
from linkwork.model.number import ZERO, Vector, dot, scale, subtract, times, transpose
from linkwork.model.placement import HERE, Placement
from linkwork.model.rotation import from_axis_angle

_Z: Vector = (0.0, 0.0, 1.0)
_AT_REST = (0.0, 0.0, 0.0, 1.0)
_MOVING = frozenset(("type", "axis", "ref", "pos"))
_RESISTING = frozenset(("damping", "frictionloss", "armature"))
_LIMITING = frozenset(("limited", "range", "actuatorfrclimited", "actuatorfrcrange"))
_ON_AXIS = 1e-15
"""An anchor nearer to the axis through the origin than this part of its distance lies on it."""


@dataclass(frozen=True)
class Between:
    """A massless body between two joints: its name and G,
    its frame seen from the body that the chain ends in."""

    name: str
    frame: Placement


class Chain(NamedTuple):
    """What the joints of one body become; `reference` is MuJoCo's qpos0 of each moving joint,
    in linkwork's order."""

    joints: tuple[Joint, ...]
    between: tuple[Body, ...]
    reference: tuple[tuple[str, tuple[float, ...]], ...]


@dataclass(slots=True, eq=False)
class _Moving:
    """One joint in body axes."""

    part: Part
    name: str
    type: str
    anchor: Vector
    axis: Vector
    reference: float

    @property
    def moved_back(self) -> Placement:
        """M(-r): the body's own motion from the joint's zero to its reference, undone."""
        if not self.reference:
            return HERE
        if self.type == "slide":
            return Placement(position=scale(-self.reference, self.axis))
        R = from_axis_angle(self.axis, -self.reference)
        return Placement(R, subtract(self.anchor, times(R, self.anchor)))

    @property
    def frame(self) -> Placement:
        """G: body axes, origin on the joint's axis as near as can be to the body's."""
        if self.type == "slide":
            return HERE
        p = self.anchor
        if p is ZERO or not any(p):
            return HERE
        if self.type == "hinge":
            p = subtract(p, scale(dot(p, self.axis), self.axis))
            if math.hypot(*p) <= _ON_AXIS * (1.0 + math.hypot(*self.anchor)):
                return HERE
        return Placement(position=p) if any(p) else HERE


def chain(
    body: Described,
    names: Names,
    joint_names: Names,
    known: Mapping[str, Between],
    passed: Passed,
) -> Chain:
    """The joints that carry a body; `known` says which bodies stood between joints when linkwork
    wrote the file."""
    if not body.joints:
        name = joint_names.free(f"{body.name}_fixed")
        return Chain((Joint(name, "fixed", body.parent, body.name, body.placement),), (), ())
    moving = [_moving(part, body, k, joint_names) for k, part in enumerate(body.joints)]
    if moving[0].type == "free":
        return _free(body, moving, passed)
    joints: list[Joint] = []
    between: list[Body] = []
    note = f'between the joints of body "{body.name}"'
    last = moving[-1]
    parent, T_parent_body = body.parent, body.placement
    for turn in moving:
        if turn.type == "free":
            raise turn.part.words.error("is free and not the only joint of its body")
        G = known[turn.name].frame if turn.name in known else turn.frame
        ends = turn is last and (G is HERE or G == HERE) and turn.name not in known
        child = body.name if ends else _between_name(body, turn, names, known)
        T = T_parent_body @ turn.moved_back @ G
        joints.append(
            _joint(turn, parent, child, T, _turned_back(G, turn.axis), turn.part.settings, passed)
        )
        if not ends:
            between.append(Body(child, has_inertia=False, note=note))
        parent, T_parent_body = child, HERE if G is HERE else G.inverse()
    if parent != body.name:
        fixed = joint_names.free(f"{body.name}_fixed")
        joints.append(Joint(fixed, "fixed", parent, body.name, T_parent_body))
    reference = [
        (turn.name, _AT_REST if turn.type == "ball" else (turn.reference,)) for turn in moving
    ]
    return Chain(tuple(joints), tuple(between), tuple(reference))


def _turned_back(G: Placement, axis: Vector) -> Vector:
    return axis if G is HERE else times(transpose(G.rotation), axis)


def _between_name(
    body: Described, moving: _Moving, names: Names, known: Mapping[str, Between]
) -> str:
    return (
        known[moving.name].name
        if moving.name in known
        else names.free(f"{body.name}/{moving.name}")
    )


def _moving(part: Part, body: Described, k: int, names: Names) -> _Moving:
    words = part.words
    kind = "free" if words.own.tag == "freejoint" else words.choice("type", JOINT_TYPES, "hinge")
    number = f"_{k + 1}" if len(body.joints) > 1 else ""
    name = words.own.attributes.get("name") or names.free(f"{body.name}_joint{number}")
    if kind == "free" or (part.around is HERE and words.has_none_of(_MOVING)):
        return _Moving(part, name, kind, ZERO, _Z, 0.0)
    axis = _Z
    if kind != "ball":
        x, y, z = words.numbers("axis", 3, _Z)
        length = math.hypot(x, y, z)
        if not SHORTEST <= length < math.inf:
            raise words.holder("axis").error(f'has axis="{x:g} {y:g} {z:g}", expected a direction')
        axis = _Z if length == z else (x / length, y / length, z / length)
        axis = axis if part.around is HERE else times(part.around.rotation, axis)
    reference = 0.0 if kind == "ball" else words.number("ref", 0.0)
    if kind == "hinge":
        reference *= part.settings.angle
    anchor = position(words) if part.around is HERE else part.around.at(position(words))
    return _Moving(part, name, kind, anchor, axis, reference)


def _free(body: Described, moving: list[_Moving], passed: Passed) -> Chain:
    """A free joint: its coordinates are the pose in the world,
    so the placement in the file is but a reference."""
    (free, *others) = moving
    words = free.part.words
    if others or body.parent is not None:
        where = "with other joints" if others else f'in a child of body "{body.parent}"'
        raise words.error(f"is free and stands {where}, expected alone in a body of the world")
    align = (
        words.choice("align", ("true", "false", "auto"), "auto")
        if words.own.tag == "freejoint"
        else "auto"
    )
    if not body.children and (align == "true" or (align == "auto" and body.settings.align_free)):
        passed.remark(
            f'the frame of body "{body.name}" stays where the file has it and is not aligned '
            "with inertia"
        )
    T = body.placement
    joint = _resisting(Joint(free.name, "floating", None, body.name), free, passed)
    if joint.armature:
        passed.remark(
            f'armature of free joint "{free.name}" acts on body axes, not on world axes as '
            "in MuJoCo"
        )
    return Chain((joint,), (), ((free.name, (*T.position, *to_quaternion(T.rotation))),))


def _joint(
    moving: _Moving,
    parent: str | None,
    child: str,
    T: Placement,
    axis: Vector,
    settings: CompilerSettings,
    passed: Passed,
) -> Joint:
    if moving.type == "ball":
        if _is_limited(moving, "limited", "range", settings):
            passed.remark(f'the range of ball joint "{moving.name}", a cone, is left out')
        return _resisting(Joint(moving.name, "ball", parent, child, T), moving, passed)
    limits = _limits(moving, settings, passed)
    bounded = bool(limits) and math.isfinite(limits[0].upper)
    kind = "prismatic" if moving.type == "slide" else "revolute" if bounded else "continuous"
    return _resisting(
        Joint(moving.name, kind, parent, child, T, axis, limits=limits), moving, passed
    )


def _resisting(joint: Joint, moving: _Moving, passed: Passed) -> Joint:
    """The joint with damping, dry friction and rotor inertia;
    <freejoint> has none and inherits none."""
    words = moving.part.words
    if words.own.tag == "freejoint" or words.has_none_of(_RESISTING):
        return joint
    damping, *higher = words.overlaid("damping", (0.0, 0.0, 0.0))
    if any(higher):
        passed.remark(f'joint "{moving.name}" keeps the linear part of its damping alone')
    friction, armature = words.number("frictionloss", 0.0), words.number("armature", 0.0)
    if min(damping, friction, armature) < 0.0:
        numbers = f"damping {damping:g}, frictionloss {friction:g}, armature {armature:g}"
        raise words.error(f"has {numbers}, expected numbers that are not negative")
    if not (damping or friction or armature):
        return joint
    return replace(joint, damping=damping, friction=friction, armature=armature)


def _limits(moving: _Moving, settings: CompilerSettings, passed: Passed) -> tuple[Limits, ...]:
    words = moving.part.words
    if words.has_none_of(_LIMITING):
        return ()
    lower, upper, effort = -math.inf, math.inf, math.inf
    if _is_limited(moving, "limited", "range", settings):
        unit = settings.angle if moving.type == "hinge" else 1.0
        lower, upper = (unit * x for x in words.numbers("range", 2, (0.0, 0.0)))
        if not lower < upper:
            error = words.holder("range").error(
                f"has range {lower:g} {upper:g}, expected a lower number first"
            )
            passed.plain(error, "the joint has no limit")
            lower, upper = -math.inf, math.inf
    if _is_limited(moving, "actuatorfrclimited", "actuatorfrcrange", settings):
        least, most = words.numbers("actuatorfrcrange", 2, (0.0, 0.0))
        effort = max(abs(least), abs(most))
    if lower == -math.inf and upper == effort == math.inf:
        return ()
    return (Limits(lower, upper, math.inf, effort),)


def _is_limited(moving: _Moving, attribute: str, extent: str, settings: CompilerSettings) -> bool:
    """Whether a range holds: said so, or by its being there (autolimits); 0 0 is no range."""
    words = moving.part.words
    said = words.choice(attribute, ("true", "false", "auto"), "auto")
    if said != "auto":
        return said == "true"
    has_range = any(words.numbers(extent, 2, (0.0, 0.0)))
    if has_range and not settings.limits_by_range:
        raise words.error(
            f'has {extent} but not {attribute}, and autolimits is "false": say {attribute}="true"'
        )
    return has_range
