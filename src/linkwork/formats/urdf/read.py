"""Reading URDF into a model."""

from __future__ import annotations

import math
import os
import sys
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Unpack

from linkwork.errors import InvalidFile, InvalidInput, InvalidModel, did_you_mean, listed
from linkwork.formats.files import collected_later
from linkwork.formats.meshes import MeshFinder
from linkwork.formats.options import ReadOptions, RootedReading
from linkwork.formats.strictness import Passed
from linkwork.formats.urdf.geometry import Shapes, placement
from linkwork.formats.urdf.vocabulary import EXPAND, JOINT_TYPES, NAMESPACE, check_words, is_xacro
from linkwork.formats.xml import Element, parse_xml, read_xml
from linkwork.model.body import Body
from linkwork.model.inertia import MassProperties
from linkwork.model.joint import Joint, Limits, Mimic
from linkwork.model.model import Frame, Model
from linkwork.model.number import ZERO
from linkwork.model.validation import validated

ROOT_JOINT = "root_joint"
"""Name of the floating joint that root="floating" puts under the root link (Pinocchio's name for
it)."""


def read_urdf(
    path: str | os.PathLike[str],
    *,
    package_dirs: Sequence[str | os.PathLike[str]] = (),
    **options: Unpack[RootedReading],
) -> Model:
    """The robot a URDF file describes.

    check          level for mass properties: "physical", "positive" or "any"
                   (one warning lists what is not physical)
    mimic          "follow": mimicking joints have no coordinate of their own; "independent": the
                   tags are ignored
    root           "floating" lets the root link move in the world by a floating joint "root_joint"
    package_dirs   where to look for the packages of package:// meshes, before the usual places
    strict         None: what is wrong in a drawing detail warns, what could change the mechanics is
                   refused; False: left-over xacro elements, reversed limits and second elements are
                   passed over too; True: neither
    visuals        False: <visual> and <material> are not read at all

    A mesh that cannot be found keeps its name. <limit> without lower and upper means zero for both,
    as URDF says; without velocity or effort that one is unlimited; a revolute or prismatic joint
    without <limit> is unlimited.
    """
    chosen = ReadOptions.of("read_urdf", options)
    robot = read_xml(path)
    file = Path(robot.source)
    return _model(robot, file.stem, chosen, MeshFinder(file.parent, package_dirs))


def read_urdf_text(
    text: str | bytes,
    name: str = "urdf text",
    *,
    package_dirs: Sequence[str | os.PathLike[str]] = (),
    folder: str | os.PathLike[str] | None = None,
    **options: Unpack[RootedReading],
) -> Model:
    """The robot that URDF text describes; `name` is what errors call the text.
    Options as in `read_urdf`.

    folder   where meshes with relative names lie; None: they keep their names
    """
    chosen = ReadOptions.of("read_urdf", options)
    if not isinstance(text, (str, bytes)):
        raise InvalidInput(
            f"read_urdf_text: text is a {type(text).__name__}, expected str or bytes"
        )
    place = None if folder is None else Path(folder)
    return _model(parse_xml(text, name), name, chosen, MeshFinder(place, package_dirs))


@collected_later
def _model(robot: Element, default_name: str, options: ReadOptions, meshes: MeshFinder) -> Model:
    passed = Passed(options.strict, robot.source)
    _check_root_tag(robot)
    if not options.visuals:
        _take_out_visuals(robot)
    check_words(robot, passed)
    shapes = Shapes(robot, meshes, passed)
    lines = {("joint", e.text("name")): e.line for e in robot.all("joint")}
    lines |= {("body", e.text("name")): e.line for e in robot.all("link")}
    model = Model(
        name=robot.text("name", "") or default_name,
        bodies=tuple(_body(link, shapes, passed) for link in robot.all("link")),
        joints=_following(
            [_joint(joint, passed) for joint in robot.all("joint")], options.mimic, passed
        ),
        source=robot.source,
    )
    if not model.bodies:
        raise robot.error("has no <link>, expected at least one")
    try:
        model = validated(
            replace(model, kinematic_only=not any(b.has_inertia for b in model.bodies)),
            options.check,
        )
    except InvalidModel as error:
        line = lines.get(error.culprit, robot.line) if error.culprit else robot.line
        raise InvalidFile(f"{robot.source}:{line}: {error}") from None
    passed.say()
    root = _root(model, robot)
    model = _with_marks(model, robot)
    return model if options.root == "fixed" else _floating(model, root)


def _check_root_tag(robot: Element) -> None:
    if robot.tag != "robot":
        if is_xacro(robot):
            raise robot.error(f"is xacro, not URDF; {EXPAND}")
        other = {
            "mujoco": " (this is MJCF)",
            "sdf": " (this is SDF)",
            "COLLADA": " (this is a mesh)",
        }
        what = f"the root element is <{robot.tag}>{other.get(robot.tag, '')}, expected <robot>"
        raise InvalidFile(f"{robot.source}:{robot.line}: {what}")


def _take_out_visuals(robot: Element) -> None:
    """Leave out what is only drawn before anything looks at it."""
    robot.children = [child for child in robot if child.tag != "material"]
    for link in robot.all("link"):
        link.children = [child for child in link if child.tag != "visual"]
        for shape in link.all("collision"):
            shape.children = [child for child in shape if child.tag != "material"]


def _body(link: Element, shapes: Shapes, passed: Passed) -> Body:
    inertial = link.only("inertial", passed)
    return Body(
        name=link.text("name"),
        mass_properties=MassProperties()
        if inertial is None
        else _mass_properties(inertial, passed),
        visuals=shapes.visuals(link),
        collisions=shapes.collisions(link),
        has_inertia=inertial is not None,
    )


def _mass_properties(inertial: Element, passed: Passed) -> MassProperties:
    """In body axes: URDF gives the inertia in the axes of the inertial <origin>,
    which may be turned."""
    tensor = inertial.needed("inertia", passed)
    xx, yy, zz = (tensor.number(label) for label in ("ixx", "iyy", "izz"))
    xy, xz, yz = (tensor.number(label, 0.0) for label in ("ixy", "ixz", "iyz"))
    mass = inertial.needed("mass", passed).number("value")
    matter = MassProperties(mass, ZERO, ((xx, xy, xz), (xy, yy, yz), (xz, yz, zz)))
    return matter.seen_from(placement(inertial.only("origin", passed)))


def _joint(element: Element, passed: Passed) -> Joint:
    name, kind = element.text("name"), element.text("type")
    if kind not in JOINT_TYPES:
        raise element.error(
            f'has type "{kind}"; linkwork reads '
            f"{', '.join(JOINT_TYPES)}{did_you_mean(kind, JOINT_TYPES)}"
        )
    joint = Joint(
        name,
        kind,
        parent=element.needed("parent", passed).text("link"),
        child=element.needed("child", passed).text("link"),
        placement=placement(element.only("origin", passed)),
    )
    axis, dynamics, mimic = (element.only(tag, passed) for tag in ("axis", "dynamics", "mimic"))
    if joint.kind.has_axis:
        x, y, z = (1.0, 0.0, 0.0) if axis is None else axis.numbers("xyz", 3)
        joint = replace(joint, axis=(x, y, z), limits=_limits(element, kind, passed))
    if dynamics is not None and kind != "fixed":
        damping, friction, armature = (
            dynamics.number(each, 0.0) for each in ("damping", "friction", "armature")
        )
        joint = replace(joint, damping=damping, friction=friction, armature=armature)
    if mimic is not None:
        rule = Mimic(
            mimic.text("joint"), mimic.number("multiplier", 1.0), mimic.number("offset", 0.0)
        )
        joint = replace(joint, mimic=rule)
    return joint


def _following(joints: list[Joint], mimic: str, passed: Passed) -> tuple[Joint, ...]:
    """The joints with the mimic rules that can be kept.

    Published files let fixed joints follow others, and name leaders that do not exist: the first
    cannot move, the second move on their own.
    """
    if mimic == "independent":
        return tuple(replace(joint, mimic=None) for joint in joints)
    names = {joint.name for joint in joints}
    kept = []
    for joint in joints:
        rule = joint.mimic
        if rule is not None and joint.type == "fixed":
            passed.remark(f'joint "{joint.name}" is fixed and does not follow "{rule.joint}"')
            joint = replace(joint, mimic=None)
        elif rule is not None and rule.joint not in names:
            near = passed.near(rule.joint, names)
            passed.remark(
                f'joint "{joint.name}" moves on its own: its leader "{rule.joint}" does not '
                f"exist{near}"
            )
            joint = replace(joint, mimic=None)
        kept.append(joint)
    return tuple(kept)


def _limits(joint: Element, kind: str, passed: Passed) -> tuple[Limits, ...]:
    limit = joint.only("limit", passed)
    if limit is None or kind == "planar":
        return ()
    velocity, effort = (_largest(limit, each, passed) for each in ("velocity", "effort"))
    # URDF 1.2 tells speeding up from slowing down;
    # a motion within the smaller of both is within each
    acceleration = min(
        _largest(limit, each, passed) or math.inf for each in ("acceleration", "deceleration")
    )
    if kind == "continuous":
        return (Limits(velocity=velocity, effort=effort, acceleration=acceleration),)
    lower, upper = (_open(limit.number(each, 0.0, infinite=True)) for each in ("lower", "upper"))
    if lower > upper:
        passed.plain(
            limit.error(f"has lower {lower:g} above upper {upper:g}"), "the joint has no limit"
        )
        lower, upper = -math.inf, math.inf
    return (Limits(lower, upper, velocity, effort, acceleration),)


def _largest(limit: Element, attribute: str, passed: Passed) -> float:
    """The largest velocity, effort or acceleration; published files write -1 where there is
    none."""
    value = _open(limit.number(attribute, math.inf, infinite=True))
    if value >= 0.0:
        return value
    passed.detail(limit.error(f"has {attribute} {value:g}, which is negative"), "there is no limit")
    return math.inf


def _open(bound: float) -> float:
    """A bound; the largest double stands for none (see write.py: other readers of URDF refuse
    "inf")."""
    return math.copysign(math.inf, bound) if abs(bound) >= sys.float_info.max else bound


def _root(model: Model, robot: Element) -> str:
    """The one link that is no joint's child."""
    children = {joint.child for joint in model.joints}
    roots = [body.name for body in model.bodies if body.name not in children]
    if len(roots) != 1:  # none at all is a circle, refused before
        names = listed(f'"{name}"' for name in roots)
        raise robot.error(
            f"has {len(roots)} root links ({names}), expected one; join the others to it by joints"
        )
    return roots[0]


def _floating(model: Model, root: str) -> Model:
    if root not in (body.name for body in model.bodies):
        raise InvalidInput(
            f'read_urdf: root="floating", but {model.source} already says how the robot stands in '
            "the world"
        )
    taken = any(joint.name == ROOT_JOINT for joint in model.joints)
    name = f"{root}_{ROOT_JOINT}" if taken else ROOT_JOINT
    return replace(model, joints=(Joint(name, "floating", None, root), *model.joints))


def _with_marks(model: Model, robot: Element) -> Model:
    """Links that linkwork wrote for its own frames, points and the world, turned back into them."""
    mark = f"{NAMESPACE}:is"
    marked = [link for link in robot.all("link") if mark in link.attributes]
    if not marked:
        return model
    above = {joint.child: joint for joint in model.joints}
    below = Counter(joint.parent for joint in model.joints)
    frames, points = list(model.frames), {body.name: list(body.points) for body in model.bodies}
    gone: set[str] = set()
    world = None
    for link in marked:
        name, kind, joint = link.text("name"), link.attributes[mark], above.get(link.text("name"))
        gone.add(name)
        if kind == "world" and joint is None and below[name]:
            world = name
        elif (
            kind in ("frame", "point")
            and not below[name]
            and joint is not None
            and joint.type == "fixed"
        ):
            parent = str(joint.parent)
            below[parent] -= 1
            if kind == "frame":
                frames.append(Frame(name, parent, joint.placement))
            else:
                points[parent].append((link.text(f"{NAMESPACE}:point"), joint.placement.position))
        else:
            expected = "world (a root), frame or point (fixed, without children)"
            raise link.error(f'is marked {mark}="{kind}", expected {expected}')
    for link in marked:
        joint = above.get(link.text("name"))
        if joint is not None and joint.parent in gone:
            raise link.error(
                f'is marked {mark}="{link.attributes[mark]}" on a link that is marked itself'
            )
    bodies = (replace(b, points=tuple(points[b.name])) for b in model.bodies if b.name not in gone)
    joints = (
        replace(j, parent=None) if j.parent == world else j
        for j in model.joints
        if j.child not in gone
    )
    return replace(model, bodies=tuple(bodies), joints=tuple(joints), frames=tuple(frames))
