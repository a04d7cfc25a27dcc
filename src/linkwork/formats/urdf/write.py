"""Writing a model as URDF, as far as the format can hold it.

What is read back has the same kinematics, dynamics and points: numbers are written with all their
digits. Where URDF has no word of its own:

- cylindrical and universal joints become two joints with a massless link between, same coordinates
  in the same order;
- named frames and points become massless links on fixed joints, which other tools use as frames;
  the world, when joints stand on it, becomes a massless root link. Each is marked by an attribute
  of linkwork's namespace, by which linkwork reads them back as what they were;
- the rotor inertia of a joint becomes `armature` of <dynamics>, which linkwork reads and other
  tools pass over;
- a bound that is infinite is written as the largest double, since other readers refuse "inf"; a
  revolute joint without position limits is written as continuous.

Helical and ball joints, closed loops, another gravity than (0, 0, -9.81) and live variables cannot
be written: NotPossible lists every reason. What does not change the mechanism and has no place in
URDF is left out with one
warning: drawing lines, shapes of other kinds, motions, named configurations, notes.
"""

from __future__ import annotations

import logging
import math
import os
import re
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from urllib.parse import quote

from linkwork.errors import NotPossible
from linkwork.formats.files import file_name, write_atomically
from linkwork.formats.urdf.vocabulary import JOINT_TYPES, NAMESPACE, SHAPES
from linkwork.formats.xml import quoted
from linkwork.model.body import Body, Shape
from linkwork.model.joint import Joint, Limits
from linkwork.model.model import GRAVITY, Model
from linkwork.model.number import Number, has_symbols
from linkwork.model.placement import HERE, Placement
from linkwork.model.rotation import to_rpy

log = logging.getLogger("linkwork")

NAMESPACE_ADDRESS = "urn:linkwork:urdf"
_NOT_IN_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_UNLIMITED = Limits()


def write_urdf(model: Model, path: str | os.PathLike[str]) -> None:
    """Write a robot to a URDF file: the whole file or nothing."""
    write_atomically(path, urdf_text(model, Path(os.path.abspath(file_name(path))).parent))


def urdf_text(model: Model, folder: Path | None = None) -> str:
    """The robot as URDF. Meshes inside `folder` are named relative to it,
    others by file:// address."""
    reasons = list(_reasons(model))
    if reasons:
        raise NotPossible(f'robot "{model.name}" cannot be written as URDF: {"; ".join(reasons)}')
    lost = [what for what, part in _left_out(model) if part]
    if lost:
        log.warning('robot "%s": URDF has no place for %s', model.name, ", ".join(lost))
    rows = ['<?xml version="1.0" encoding="utf-8"?>']
    rows.append(f'<robot name={quoted(model.name)} xmlns:{NAMESPACE}="{NAMESPACE_ADDRESS}">')
    rows += [f"  {row}" for row in _rows(model, folder)]
    return "\n".join([*rows, "</robot>", ""])


def _left_out(model: Model) -> list[tuple[str, object]]:
    return [
        ("drawing lines", any(body.lines for body in model.bodies)),
        (
            "some shapes",
            not all(
                _can_be_drawn(s) for body in model.bodies for s in (*body.visuals, *body.collisions)
            ),
        ),
        ("motions", model.motions),
        ("named configurations", model.configurations),
        ("motors and tendons", model.carried),
        ("notes", model.notes or any(body.note for body in model.bodies)),
    ]


def _reasons(model: Model) -> Iterator[str]:
    """Everything about a model that URDF cannot hold."""
    if model.elements:
        yield (
            f'it has {len(model.elements)} closed-loop elements (loops="open" writes the tree '
            "without them)"
        )
    if has_symbols(model.gravity) or model.gravity != GRAVITY:
        yield f"its gravity is {model.gravity}, that of a URDF {GRAVITY}"
    for joint in model.joints:
        yield from _reasons_of_joint(joint)
    names = [
        model.name,
        *(b.name for b in model.bodies),
        *(j.name for j in model.joints),
        *(f.name for f in model.frames),
    ]
    names += [name for body in model.bodies for name, _ in body.points]
    names += [
        text
        for body in model.bodies
        for s in (*body.visuals, *body.collisions)
        for text in (s.name, s.mesh)
        if text
    ]
    for name in names:
        if _NOT_IN_XML.search(name):
            yield f"the name {name!r} has characters that XML cannot hold"
    live = [
        *(b.name for b in model.bodies if _has_live_numbers(b)),
        *(j.name for j in model.joints if _is_live(j)),
    ]
    if live:
        yield f'"{live[0]}" depends on live variables'


def _reasons_of_joint(joint: Joint) -> Iterator[str]:
    about = f'joint "{joint.name}"'
    if joint.type in ("helical", "ball"):
        yield f"{about} is {joint.type}"
    if joint.type in ("planar", "floating"):
        if any(limit != _UNLIMITED for limit in joint.limits):
            yield f"{about} is {joint.type} and has limits"
        for label in ("damping", "friction", "armature"):
            if len(set(_per_coordinate(getattr(joint, label), joint.nv))) > 1:
                yield f"{about} is {joint.type} and has a different {label} for each coordinate"


def _has_live_numbers(body: Body) -> bool:
    m = body.mass_properties
    shapes = tuple(
        (s.size, s.placement.rotation, s.placement.position)
        for s in (*body.visuals, *body.collisions)
    )
    return has_symbols(
        (m.mass, m.com, m.inertia, tuple(position for _, position in body.points), shapes)
    )


def _is_live(joint: Joint) -> bool:
    T = joint.placement
    return has_symbols(
        (
            T.rotation,
            T.position,
            joint.axis,
            joint.second_axis,
            joint.damping,
            joint.friction,
            joint.armature,
        )
    )


def _rows(model: Model, folder: Path | None) -> Iterator[str]:
    """The lines inside <robot>: links in the order of the bodies, then joints in their order."""
    names = _Names(model)
    children = {joint.child for joint in model.joints}
    roots = [body.name for body in model.bodies if body.name not in children]
    standing = any(joint.parent is None for joint in model.joints) or len(roots) > 1
    world = names.link("world")
    if standing:
        yield f'<link name={quoted(world)} {NAMESPACE}:is="world"/>'
    for body in model.bodies:
        yield from _link(body, folder)
    if standing:
        for root in roots:
            yield from _joint(Joint(names.joint(f"{root}_in_world"), "fixed", world, root))
    for joint in model.joints:
        yield from _joints(replace(joint, parent=world) if joint.parent is None else joint, names)
    for frame in model.frames:
        yield f'<link name={quoted(frame.name)} {NAMESPACE}:is="frame"/>'
        yield from _joint(
            Joint(
                names.joint(f"{frame.name}_frame"), "fixed", frame.body, frame.name, frame.placement
            )
        )
    for body in model.bodies:
        for point, position in body.points:
            name = names.link(f"{body.name}_{point}")
            yield (
                f'<link name={quoted(name)} {NAMESPACE}:is="point" '
                f"{NAMESPACE}:point={quoted(point)}/>"
            )
            T = Placement(position=position)
            yield from _joint(Joint(names.joint(f"{name}_point"), "fixed", body.name, name, T))


class _Names:
    """Free names for the links and joints that only the file has."""

    def __init__(self, model: Model) -> None:
        self.links = {body.name for body in model.bodies} | {frame.name for frame in model.frames}
        self.joints = {joint.name for joint in model.joints}

    def link(self, wish: str) -> str:
        return self._free(wish, self.links)

    def joint(self, wish: str) -> str:
        return self._free(wish, self.joints)

    def _free(self, wish: str, taken: set[str]) -> str:
        name, count = wish, 1
        while name in taken:
            count += 1
            name = f"{wish}_{count}"
        taken.add(name)
        return name


def _link(body: Body, folder: Path | None) -> Iterator[str]:
    rows = []
    if body.has_inertia:
        m = body.mass_properties
        (xx, xy, xz), (_, yy, yz), (_, _, zz) = m.inertia
        tensor = {"ixx": xx, "ixy": xy, "ixz": xz, "iyy": yy, "iyz": yz, "izz": zz}
        rows += [
            "<inertial>",
            f'  <origin xyz="{_numbers(m.com)}"/>',
            f'  <mass value="{_number(m.mass)}"/>',
        ]
        rows += [f"  <inertia {_attributes(tensor)}/>", "</inertial>"]
    for tag, shapes in (("visual", body.visuals), ("collision", body.collisions)):
        for shape in shapes:
            rows += _shape(tag, shape, folder) if _can_be_drawn(shape) else ()
    if not rows:
        yield f"<link name={quoted(body.name)}/>"
        return
    yield f"<link name={quoted(body.name)}>"
    yield from (f"  {row}" for row in rows)
    yield "</link>"


def _can_be_drawn(shape: Shape) -> bool:
    return shape.kind in SHAPES and (shape.kind != "mesh" or bool(shape.mesh))


def _shape(tag: str, shape: Shape, folder: Path | None) -> Iterator[str]:
    yield f"<{tag} name={quoted(shape.name)}>" if shape.name else f"<{tag}>"
    yield from (f"  {row}" for row in _origin(shape.placement))
    shape = shape.without_empty_length()
    size = [_number(x) for x in shape.size]
    inside = {
        "box": lambda: f'<box size="{" ".join(size)}"/>',
        "sphere": lambda: f'<sphere radius="{size[0]}"/>',
        "cylinder": lambda: f'<cylinder radius="{size[0]}" length="{size[1]}"/>',
        "capsule": lambda: f'<capsule radius="{size[0]}" length="{size[1]}"/>',
        "mesh": lambda: (
            f"<mesh filename={quoted(_mesh_name(shape.mesh or '', folder))} "
            f'scale="{" ".join(size)}"/>'
        ),
    }[shape.kind]()
    yield f"  <geometry>{inside}</geometry>"
    if shape.color is not None:
        rgba = _numbers(shape.color)
        yield f'  <material name="rgba {rgba}"><color rgba="{rgba}"/></material>'
    yield f"</{tag}>"


def _mesh_name(mesh: str, folder: Path | None) -> str:
    if not os.path.isabs(mesh):
        return mesh
    inside = folder is not None and Path(mesh).is_relative_to(folder)
    return str(Path(mesh).relative_to(folder)) if inside and folder else f"file://{quote(mesh)}"


def _joints(joint: Joint, names: _Names) -> Iterator[str]:
    """The joint, or the two joints and the link between that stand for a cylindrical or universal
    one."""
    pair = joint.kind.chain
    if joint.type in JOINT_TYPES or len(pair) != 2:
        yield from _joint(joint)
        return
    between = names.link(f"{joint.name}_between")
    yield f"<link name={quoted(between)}/>"
    damping, friction, armature = (
        _per_coordinate(x, 2) for x in (joint.damping, joint.friction, joint.armature)
    )
    for k, (kind, axis) in enumerate(pair):
        half = Joint(
            names.joint(f"{joint.name}_{k + 1}"),
            kind,
            parent=joint.parent if k == 0 else between,
            child=between if k == 0 else joint.child,
            placement=joint.placement if k == 0 else HERE,
            axis=getattr(joint, axis),
            limits=joint.limits[k : k + 1],
            damping=damping[k],
            friction=friction[k],
            armature=armature[k],
        )
        yield from _joint(half)


def _joint(joint: Joint) -> Iterator[str]:
    limit = joint.limits[0] if joint.limits and joint.nv == 1 else _UNLIMITED
    kind = joint.type
    if joint.kind.is_hinge:
        kind = "continuous" if limit.lower == -math.inf and limit.upper == math.inf else "revolute"
    yield f'<joint name={quoted(joint.name)} type="{kind}">'
    yield from (f"  {row}" for row in _origin(joint.placement))
    yield f"  <parent link={quoted(str(joint.parent))}/>"
    yield f"  <child link={quoted(joint.child)}/>"
    if joint.kind.has_axis:
        yield f'  <axis xyz="{_numbers(joint.axis)}"/>'
    numbers = {"effort": limit.effort, "velocity": limit.velocity}
    if limit.acceleration < math.inf:
        numbers["acceleration"] = limit.acceleration
    if kind in ("revolute", "prismatic"):
        numbers = {"lower": limit.lower, "upper": limit.upper, **numbers}
        yield f"  <limit {_attributes(numbers)}/>"
    elif limit != _UNLIMITED:
        yield f"  <limit {_attributes(numbers)}/>"
    resistance = {
        label: _per_coordinate(getattr(joint, label), 1)[0]
        for label in ("damping", "friction", "armature")
    }
    if resistance["armature"] == 0.0:
        del resistance["armature"]
    if any(resistance.values()):
        yield f"  <dynamics {_attributes(resistance)}/>"
    if joint.mimic is not None:
        rule = {"multiplier": joint.mimic.multiplier, "offset": joint.mimic.offset}
        yield f"  <mimic joint={quoted(joint.mimic.joint)} {_attributes(rule)}/>"
    yield "</joint>"


def _origin(placement: Placement) -> Iterator[str]:
    if placement != HERE:
        yield (
            f'<origin xyz="{_numbers(placement.position)}" '
            f'rpy="{_numbers(to_rpy(placement.rotation))}"/>'
        )


def _per_coordinate(value: Number | tuple[Number, ...], count: int) -> tuple[Number, ...]:
    return value if isinstance(value, tuple) else (value,) * count


def _attributes(numbers: dict[str, float]) -> str:
    return " ".join(f'{label}="{_number(x)}"' for label, x in numbers.items())


def _numbers(values: tuple[Number, ...]) -> str:
    return " ".join(_number(x) for x in values)


def _number(x: Number) -> str:
    """All digits; infinite as the largest double."""
    return repr(max(min(float(x), sys.float_info.max), -sys.float_info.max))
