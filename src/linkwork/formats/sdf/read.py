"""Reading SDF into a model: a <model> with its links and joints, as Gazebo and Drake take it."""

from __future__ import annotations

import math
import os
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Unpack

from linkwork.errors import InvalidFile, InvalidInput, InvalidModel, did_you_mean
from linkwork.formats.files import collected_later
from linkwork.formats.meshes import MeshFinder
from linkwork.formats.options import ReadOptions, RootedReading
from linkwork.formats.sdf.poses import MODEL, WORLD, Poses, number, numbers, only_model, placement
from linkwork.formats.sdf.shapes import Shapes
from linkwork.formats.strictness import Passed
from linkwork.formats.xml import Element, parse_xml, read_xml
from linkwork.model import elements as loops
from linkwork.model.body import Body
from linkwork.model.edit import with_base
from linkwork.model.inertia import MassProperties
from linkwork.model.joint import Joint, Limits, Mimic
from linkwork.model.model import GRAVITY, Frame, Model
from linkwork.model.number import ZERO, Vector, dot, scale, subtract, times, transpose
from linkwork.model.placement import HERE, Placement
from linkwork.model.validation import validated

TYPES = ("revolute", "continuous", "prismatic", "fixed", "ball", "universal")
_CLOSURES = {"revolute": "hinge", "continuous": "hinge", "ball": "point", "fixed": "weld"}
_ON_AXIS = 1e-12
UNBOUNDED = 1e16
"""What SDF writes for no limit."""


def read_sdf(
    path: str | os.PathLike[str],
    *,
    package_dirs: Sequence[str | os.PathLike[str]] = (),
    model: str | None = None,
    **options: Unpack[RootedReading],
) -> Model:
    """The robot an SDF file describes; options as in `read_urdf`,
    `model` names one of several models.

    Poses are resolved through `relative_to`, axes through `expressed_in` (version 1.7) or
    `use_parent_model_frame`. A hinge beside the origin of its link carries a massless body
    "link/joint". A second joint of a link closes a loop (revolute, ball and fixed ones). Without a
    joint to the world the model stands where its <pose> puts it.
    """
    chosen = ReadOptions.of("read_sdf", options)
    document = read_xml(path, content=True)
    return _read(document, chosen, MeshFinder(Path(document.source).parent, package_dirs), model)


def read_sdf_text(
    text: str | bytes,
    name: str = "sdf text",
    *,
    package_dirs: Sequence[str | os.PathLike[str]] = (),
    model: str | None = None,
    **options: Unpack[RootedReading],
) -> Model:
    """The robot that SDF text describes; `name` is what errors call the text.
    Options as in `read_sdf`."""
    chosen = ReadOptions.of("read_sdf", options)
    if not isinstance(text, (str, bytes)):
        raise InvalidInput(f"read_sdf_text: text is a {type(text).__name__}, expected str or bytes")
    return _read(parse_xml(text, name, content=True), chosen, MeshFinder(None, package_dirs), model)


@collected_later
def _read(document: Element, options: ReadOptions, meshes: MeshFinder, wanted: str | None) -> Model:
    passed = Passed(options.strict, document.source)
    if wanted is not None and not isinstance(wanted, str):
        raise InvalidInput(f"read_sdf: model is {wanted!r}, expected the name of a model")
    if document.tag != "sdf":
        other = {"robot": " (this is URDF)", "mujoco": " (this is MJCF)"}
        what = (
            f"the root element is <{document.tag[:60]}>{other.get(document.tag, '')}, "
            "expected <sdf>"
        )
        raise InvalidFile(f"{document.source}:{document.line}: {what}")
    element, world = only_model(document, wanted)
    model = _Reader(element, world, _version(document), options, meshes, passed).model()
    passed.say()
    return model if options.root == "fixed" else with_base(model, floating=True)


def _version(document: Element) -> tuple[int, int]:
    words = document.text("version", "1.7").split(".")
    if len(words) < 2 or not all(
        word.isascii() and word.isdigit() and len(word) < 4 for word in words[:2]
    ):
        raise document.error(f'has version="{document.text("version")[:60]}", expected such as 1.9')
    return int(words[0]), int(words[1])


class _Reader:
    """The parts of one <model>."""

    def __init__(
        self,
        element: Element,
        world: Element | None,
        version: tuple[int, int],
        options: ReadOptions,
        meshes: MeshFinder,
        passed: Passed,
    ) -> None:
        self.element, self.world, self.version = element, world, version
        self.options, self.passed = options, passed
        for tag in ("include", "model"):
            for inner in element.all(tag):
                raise inner.error(
                    "takes parts from another model, which linkwork does not read; join them in one"
                )
        self.poses = Poses(element)
        self.T_world_model = placement(element.only("pose"))
        self.frame_names = {frame.text("name") for frame in element.all("frame")}
        self.links = {link.text("name"): link for link in element.all("link")}
        if not self.links:
            raise element.error("has no <link>, expected at least one")
        self.shapes = Shapes(meshes, passed, options.visuals)
        self.between: list[Body] = []
        self.elements: list[loops.Element] = []

    def model(self) -> Model:
        joints = [joint for each in self._tree_joints() for joint in each]
        bodies = (*(self._body(name, link) for name, link in self.links.items()), *self.between)
        joints = [*self._standing(joints), *joints]
        model = Model(
            name=self.element.text("name"),
            bodies=bodies,
            joints=tuple(
                joints
                if self.options.mimic == "follow"
                else (replace(j, mimic=None) for j in joints)
            ),
            frames=tuple(self._frames()),
            gravity=self._gravity(),
            elements=tuple(self.elements),
            source=self.element.source,
            kinematic_only=not any(body.has_inertia for body in bodies),
        )
        lines = {("joint", e.text("name")): e.line for e in self.element.all("joint")}
        lines |= {("body", name): link.line for name, link in self.links.items()}
        try:
            return validated(model, self.options.check)
        except InvalidModel as error:
            line = (
                lines.get(error.culprit, self.element.line) if error.culprit else self.element.line
            )
            raise InvalidFile(f"{self.element.source}:{line}: {error}") from None

    # bodies

    def _body(self, name: str, link: Element) -> Body:
        inertial = link.only("inertial", self.passed)
        gravity = link.all("gravity")
        if gravity and gravity[0].content.strip() in ("false", "0"):
            self.passed.remark(
                f'line {link.line}: link "{name}" is drawn down by gravity, though the file '
                "says not"
            )
        matter = MassProperties() if inertial is None else _matter(inertial)
        visuals = self.shapes.visuals(link)
        return Body(
            name, matter, (), (), visuals, self.shapes.collisions(link), inertial is not None
        )

    def _frames(self) -> list[Frame]:
        frames = []
        for frame in self.element.all("frame"):
            name = frame.text("name")
            link = self.poses.link_of(frame.attributes.get("attached_to", ""), frame, self.links)
            if link is None:
                self.passed.remark(
                    f"left out <frame> on line {frame.line}, which is attached to no link"
                )
                continue
            T = self.poses.of(link, frame).inverse() @ self.poses.of(name, frame)
            frames.append(Frame(name, link, T))
        return frames

    def _gravity(self) -> Vector:
        gravity = None if self.world is None else self.world.only("gravity")
        if gravity is None:
            return GRAVITY
        x, y, z = numbers(gravity, 3)
        return (x, y, z)

    def _standing(self, joints: Sequence[Joint]) -> list[Joint]:
        """Fixed joints for links that hang on nothing and do not stand at the origin."""
        held = {joint.child for joint in joints}
        welds = []
        for name, link in self.links.items():
            T = self.T_world_model @ self.poses.of(name, link)
            if name not in held and T != HERE:
                welds.append(Joint(f"{name}_fixed", "fixed", None, name, T))
        return welds

    # joints

    def _tree_joints(self) -> list[list[Joint]]:
        children: dict[str, Element] = {}
        chains = []
        for element in self.element.all("joint"):
            child, parent = (self._end(element, tag) for tag in ("child", "parent"))
            if child is None:
                raise element.error("has the world as its child, expected a link")
            if child in children:
                self._close(element, parent, child, children[child])
                continue
            children[child] = element
            chains.append(self._joint(element, parent, child))
        return chains

    def _end(self, joint: Element, tag: str) -> str | None:
        """The link at one end of a joint, through the frame it may name; None: the world."""
        name = joint.needed(tag).content.strip()
        if name == WORLD:
            return None
        if name not in self.links and name not in self.frame_names:
            near = did_you_mean(name, [*self.links, WORLD])
            raise joint.error(f'has a {tag} "{name[:60]}", which does not exist{near}')
        link = self.poses.link_of(name, joint, self.links)
        if link is None:
            raise joint.error(f'has a {tag} "{name[:60]}", which is attached to no link')
        return link

    def _joint(self, element: Element, parent: str | None, child: str) -> list[Joint]:
        """The joint; through a massless body where its axis does not pass through the origin of the
        child."""
        name, kind = element.text("name"), self._kind(element)
        T_parent, T_child, T_joint = self._places(element, parent, child)
        seen = T_child.inverse() @ T_joint  # T_child_joint
        start = T_parent.inverse() @ T_child
        if kind == "fixed":
            return [Joint(name, kind, parent, child, start)]
        axis = element.only("axis")
        joint = Joint(name, kind, parent, child, start)
        if joint.kind.has_axis:
            direction = self._axis(element, "axis", T_child)
            damping, friction = _resistance(axis)
            joint = replace(
                joint, axis=direction, limits=_limits(axis, self.passed), mimic=self._mimic(axis)
            )
            joint = replace(joint, damping=damping, friction=friction)
            if kind == "revolute" and (not joint.limits or math.isinf(joint.limits[0].upper)):
                joint = replace(joint, type="continuous")
            self._spring(name, axis)
        if joint.kind.has_second_axis:
            joint = replace(
                joint, second_axis=self._axis(element, "axis2", T_child), limits=(), mimic=None
            )
        offset = seen.position if joint.kind.is_ball or joint.kind.has_second_axis else ZERO
        if joint.kind.is_hinge:
            offset = subtract(seen.position, scale(dot(seen.position, joint.axis), joint.axis))
        if math.hypot(*offset) <= _ON_AXIS * (1.0 + math.hypot(*seen.position)):
            return [joint]
        moved = Placement(position=offset)
        massless = f"{child}/{name}"
        self.between.append(
            Body(massless, has_inertia=False, note=f'carries link "{child}" beside its joint')
        )
        fixed = Joint(f"{child}_fixed", "fixed", massless, child, moved.inverse())
        return [replace(joint, child=massless, placement=start @ moved), fixed]

    def _kind(self, element: Element) -> str:
        kind = element.text("type")
        if kind not in TYPES:
            near = did_you_mean(kind, TYPES)
            raise element.error(f'has type "{kind[:60]}"; linkwork reads {", ".join(TYPES)}{near}')
        return kind

    def _places(
        self, element: Element, parent: str | None, child: str
    ) -> tuple[Placement, Placement, Placement]:
        """T_model_x of parent, child and joint; the world is where the model's pose has it."""
        T_parent = (
            self.T_world_model.inverse() if parent is None else self.poses.of(parent, element)
        )
        return T_parent, self.poses.of(child, element), self.poses.of(element.text("name"), element)

    def _axis(self, joint: Element, tag: str, T_child: Placement) -> Vector:
        """A direction in axes of the child, which are those of the joint when it is at zero."""
        axis = joint.needed(tag)
        written = axis.only("xyz")
        x, y, z = (0.0, 0.0, 1.0) if written is None else numbers(written, 3)
        length = math.hypot(x, y, z)
        if not 1e-12 <= length < math.inf:
            raise axis.error(f"points nowhere: {x:g} {y:g} {z:g}, expected a direction")
        direction: Vector = (x / length, y / length, z / length)
        named = "" if written is None else written.attributes.get("expressed_in", "")
        old = axis.only("use_parent_model_frame")
        in_model = self.version < (1, 5) or (
            old is not None and old.content.strip() in ("true", "1")
        )
        frame = named or (MODEL if in_model else joint.text("name"))
        R_model_frame = self.poses.of(frame, axis).rotation
        return times(transpose(T_child.rotation), times(R_model_frame, direction))

    def _mimic(self, axis: Element | None) -> Mimic | None:
        """q = multiplier (q_leader - reference) + offset."""
        rule = None if axis is None else axis.only("mimic")
        if rule is None:
            return None
        multiplier = number(rule, "multiplier", 1.0)
        offset = number(rule, "offset", 0.0) - multiplier * number(rule, "reference", 0.0)
        return Mimic(rule.text("joint"), multiplier, offset)

    def _spring(self, name: str, axis: Element | None) -> None:
        dynamics = None if axis is None else axis.only("dynamics")
        stiffness = number(dynamics, "spring_stiffness", 0.0)
        if stiffness:
            free = number(dynamics, "spring_reference", 0.0)
            self.elements.append(loops.TorsionSpring(f"{name}_spring", name, stiffness, free))

    def _close(self, element: Element, parent: str | None, child: str, first: Element) -> None:
        """A second joint of one link closes a loop."""
        name, kind = element.text("name"), self._kind(element)
        if kind not in _CLOSURES:
            why = (
                f'is the second {kind} joint of link "{child}" (the first is on line {first.line})'
            )
            raise element.error(f"{why}; loops are closed by {', '.join(_CLOSURES)} joints")
        T_parent, T_child, T_joint = self._places(element, parent, child)
        seen = [T_parent.inverse() @ T_joint, T_child.inverse() @ T_joint]
        closure = loops.LoopClosure(
            name,
            _CLOSURES[kind],
            loops.Point(parent, seen[0].position),
            loops.Point(child, seen[1].position),
        )
        if kind == "fixed":
            closure = replace(closure, rotation=seen[0].rotation, second_rotation=seen[1].rotation)
        elif kind != "ball":
            axis = self._axis(element, "axis", T_child)
            in_parent = times(transpose(T_parent.rotation), times(T_child.rotation, axis))
            closure = replace(closure, axis=in_parent, second_axis=axis)
        self.elements.append(closure)


def _matter(inertial: Element) -> MassProperties:
    """In link axes: SDF gives the inertia in axes of the inertial <pose>;
    moments that are not given are 1 kg m^2."""
    tensor = inertial.only("inertia")
    xx, yy, zz = (number(tensor, label, 1.0) for label in ("ixx", "iyy", "izz"))
    xy, xz, yz = (number(tensor, label, 0.0) for label in ("ixy", "ixz", "iyz"))
    mass = number(inertial, "mass", 1.0)
    matter = MassProperties(mass, ZERO, ((xx, xy, xz), (xy, yy, yz), (xz, yz, zz)))
    return matter.seen_from(placement(inertial.only("pose")))


def _limits(axis: Element | None, passed: Passed) -> tuple[Limits, ...]:
    limit = None if axis is None else axis.only("limit")
    if limit is None:
        return ()
    lower, upper = (
        _open(number(limit, tag, math.copysign(UNBOUNDED, s)))
        for tag, s in (("lower", -1), ("upper", 1))
    )
    velocity, effort = (_largest(number(limit, tag, -1.0)) for tag in ("velocity", "effort"))
    if lower > upper:
        passed.plain(
            limit.error(f"has lower {lower:g} above upper {upper:g}"), "the joint has no limit"
        )
        lower, upper = -math.inf, math.inf
    limits = Limits(lower, upper, velocity, effort)
    return () if limits == Limits() else (limits,)


def _open(bound: float) -> float:
    return math.copysign(math.inf, bound) if abs(bound) >= UNBOUNDED else bound


def _largest(value: float) -> float:
    """SDF writes a negative number where there is no limit."""
    return math.inf if value < 0.0 or value >= UNBOUNDED else value


def _resistance(axis: Element | None) -> tuple[float, float]:
    """Damping and dry friction."""
    dynamics = None if axis is None else axis.only("dynamics")
    return number(dynamics, "damping", 0.0), number(dynamics, "friction", 0.0)
