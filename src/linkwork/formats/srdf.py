"""SRDF: what MoveIt knows of a robot beside its URDF, as plain data.

Groups, named poses, end effectors, and the pairs of links that no collision check needs to look at.
The names are those of a robot that the file does not hold: who uses them checks them.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from graphlib import CycleError, TopologicalSorter

from linkwork.errors import InvalidFile, InvalidInput, listed
from linkwork.formats.strictness import Passed
from linkwork.formats.xml import Element, parse_xml, read_xml
from linkwork.model.number import Vector


@dataclass(frozen=True)
class Group:
    """Joints and links that act together, by name; `chains` are (base link, tip link)."""

    name: str
    links: tuple[str, ...] = ()
    joints: tuple[str, ...] = ()
    chains: tuple[tuple[str, str], ...] = ()
    groups: tuple[str, ...] = ()


@dataclass(frozen=True)
class NamedPose:
    """A named pose of a group ("" where the file names none): (joint, its coordinates), ...
    [rad, m]."""

    name: str
    group: str
    joints: tuple[tuple[str, tuple[float, ...]], ...]


@dataclass(frozen=True)
class EndEffector:
    """A group that hangs on `parent_link` of another group."""

    name: str
    group: str
    parent_link: str
    parent_group: str = ""


@dataclass(frozen=True)
class VirtualJoint:
    """How the robot stands in the world: "fixed", "planar" or "floating"."""

    name: str
    type: str
    parent_frame: str
    child_link: str


@dataclass(frozen=True)
class DisabledPair:
    """Two links whose contact is not looked at, and why ("Adjacent", "Never", "User", ...)."""

    first: str
    second: str
    reason: str = ""


@dataclass(frozen=True)
class Sphere:
    """A sphere that stands for a part of a link: center in link axes [m], radius [m]."""

    link: str
    center: Vector
    radius: float


@dataclass(frozen=True)
class Semantics:
    """A whole SRDF file.

    disabled           pairs without a check; `enabled` are checked although a rule would leave them
                       out
    default_disabled   links that are checked only against what `enabled` names
    spheres            spheres that stand for links
    """

    robot: str
    groups: tuple[Group, ...] = ()
    poses: tuple[NamedPose, ...] = ()
    end_effectors: tuple[EndEffector, ...] = ()
    virtual_joints: tuple[VirtualJoint, ...] = ()
    passive_joints: tuple[str, ...] = ()
    disabled: tuple[DisabledPair, ...] = ()
    enabled: tuple[DisabledPair, ...] = ()
    default_disabled: tuple[str, ...] = ()
    spheres: tuple[Sphere, ...] = ()


_VIRTUAL = ("fixed", "planar", "floating")
_READ = (
    *(
        "group",
        "group_state",
        "end_effector",
        "virtual_joint",
        "passive_joint",
        "disable_collisions",
    ),
    *("enable_collisions", "disable_default_collisions", "link_sphere_approximation"),
)


def read_srdf(path: str | os.PathLike[str], strict: bool | None = None) -> Semantics:
    """What an SRDF file says; `strict` as in `load`."""
    return _semantics(read_xml(path), strict)


def read_srdf_text(
    text: str | bytes, name: str = "srdf text", strict: bool | None = None
) -> Semantics:
    """What SRDF text says; `name` is what errors call the text."""
    if not isinstance(text, (str, bytes)):
        raise InvalidInput(
            f"read_srdf_text: text is a {type(text).__name__}, expected str or bytes"
        )
    return _semantics(parse_xml(text, name), strict)


def _semantics(robot: Element, strict: bool | None) -> Semantics:
    passed = Passed(strict, robot.source)
    if robot.tag != "robot":
        raise InvalidFile(
            f"{robot.source}:{robot.line}: the root element is <{robot.tag[:60]}>, expected <robot>"
        )
    if robot.all("link"):
        raise robot.all("link")[0].error("stands in a file that was to be SRDF; this is URDF")
    for child in robot:
        if child.tag not in _READ:
            passed.remark(f"left out <{child.tag[:60]}> on line {child.line}")
    semantics = Semantics(
        robot=robot.text("name", ""),
        groups=tuple(_group(element) for element in robot.all("group")),
        poses=tuple(_pose(element, passed) for element in robot.all("group_state")),
        end_effectors=tuple(_end_effector(element) for element in robot.all("end_effector")),
        virtual_joints=tuple(_virtual_joint(element) for element in robot.all("virtual_joint")),
        passive_joints=tuple(element.text("name") for element in robot.all("passive_joint")),
        disabled=tuple(_pair(element) for element in robot.all("disable_collisions")),
        enabled=tuple(_pair(element) for element in robot.all("enable_collisions")),
        default_disabled=tuple(
            element.text("link") for element in robot.all("disable_default_collisions")
        ),
        spheres=tuple(
            _sphere(at, element)
            for at in robot.all("link_sphere_approximation")
            for element in at.all("sphere")
        ),
    )
    _check_groups(robot, semantics, passed)
    passed.say()
    return semantics


def _group(element: Element) -> Group:
    return Group(
        name=element.text("name"),
        links=tuple(each.text("name") for each in element.all("link")),
        joints=tuple(each.text("name") for each in element.all("joint")),
        chains=tuple(
            (each.text("base_link"), each.text("tip_link")) for each in element.all("chain")
        ),
        groups=tuple(each.text("name") for each in element.all("group")),
    )


def _pose(element: Element, passed: Passed) -> NamedPose:
    joints: dict[str, tuple[float, ...]] = {}
    for joint in element.all("joint"):
        name = joint.text("name")
        if name in joints:
            passed.plain(
                joint.error(f'names the joint "{name}" a second time'), "the later value counts"
            )
        joints[name] = joint.few("value", 1, 7)
    return NamedPose(element.text("name"), element.text("group", ""), tuple(joints.items()))


def _end_effector(element: Element) -> EndEffector:
    name, group, link = (element.text(each) for each in ("name", "group", "parent_link"))
    return EndEffector(name, group, link, element.text("parent_group", ""))


def _virtual_joint(element: Element) -> VirtualJoint:
    kind = element.text("type")
    if kind not in _VIRTUAL:
        raise element.error(f'has type "{kind[:60]}", expected one of {", ".join(_VIRTUAL)}')
    return VirtualJoint(
        element.text("name"), kind, element.text("parent_frame"), element.text("child_link")
    )


def _pair(element: Element) -> DisabledPair:
    return DisabledPair(element.text("link1"), element.text("link2"), element.text("reason", ""))


def _sphere(holder: Element, element: Element) -> Sphere:
    x, y, z = element.numbers("center", 3)
    radius = element.number("radius")
    if radius < 0.0:
        raise element.error(f"has a negative radius: {radius:g} m")
    return Sphere(holder.text("link"), (x, y, z), radius)


def _check_groups(robot: Element, semantics: Semantics, passed: Passed) -> None:
    """No name stands for two groups and none holds itself;
    a name without a group is remarked (published files)."""
    groups: dict[str, Group] = {}
    for group in semantics.groups:
        if group.name in groups:
            raise robot.error(f'has two groups "{group.name}", expected different names')
        groups[group.name] = group
    used = [(f'group "{group.name}"', name) for group in semantics.groups for name in group.groups]
    used += [(f'pose "{pose.name}"', pose.group) for pose in semantics.poses if pose.group]
    used += [(f'end effector "{each.name}"', each.group) for each in semantics.end_effectors]
    known = listed(groups, 6) or "none"
    for who, name in used:
        if name not in groups:
            passed.remark(
                f'{who} names the group "{name}", which does not exist; there are {known}'
            )
    order = TopologicalSorter(
        {name: [each for each in g.groups if each in groups] for name, g in groups.items()}
    )
    try:
        order.prepare()
    except CycleError as error:
        raise robot.error(f"has groups that hold themselves: {listed(error.args[1], 6)}") from None
