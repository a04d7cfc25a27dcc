"""Writing a model as .robot.yaml: numbers with all their digits, SI units,
everything a model holds."""

from __future__ import annotations

import math
import os
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import fields
from typing import Any, TypeAlias

from linkwork.errors import NotPossible
from linkwork.formats.files import write_atomically
from linkwork.formats.robot_yaml.variables import REMARKS
from linkwork.formats.robot_yaml.vocabulary import VERSION
from linkwork.model import elements
from linkwork.model.body import Body, Shape
from linkwork.model.element_fields import fields_of, type_name
from linkwork.model.inertia import MassProperties
from linkwork.model.joint import Joint, Limits
from linkwork.model.model import GRAVITY, Model
from linkwork.model.motions import DescribedMotion, Pieces
from linkwork.model.number import IDENTITY, ZERO, Matrix, has_symbols
from linkwork.model.placement import Placement

Node: TypeAlias = "str | list[Node] | dict[str, Node]"
WIDTH = 110
"""Longest line in flow style."""
_SECTIONS = ("bodies", "joints", "frames", "elements", "configurations", "motions")
_OF_PARTS = re.compile(r"(chains\.[^:]*\.)?(bodies|elements|motions)\.")
"""Notes of these are written with them."""
_PLAIN = re.compile(r"[A-Za-z_][A-Za-z0-9_./-]*")
_WORDS = {"null", "true", "false", "yes", "no", "on", "off", "y", "n", "~"}
_AXES = {(1.0, 0.0, 0.0): "x", (0.0, 1.0, 0.0): "y", (0.0, 0.0, 1.0): "z"}
_AXES |= {(-1.0, 0.0, 0.0): "-x", (0.0, -1.0, 0.0): "-y", (0.0, 0.0, -1.0): "-z"}


def write_robot_yaml(model: Model, path: str | os.PathLike[str]) -> None:
    """Write a model to a file; variables are written as the numbers they have, not as
    expressions."""
    write_atomically(path, robot_yaml_text(model))


def robot_yaml_text(model: Model) -> str:
    """The model as .robot.yaml text, in SI units;
    reading it gives the model back (rounding of rotations apart)."""
    if has_symbols(
        tuple(n for j in model.joints for n in (*j.placement.position, *j.placement.rotation))
    ):
        raise NotPossible(f'robot "{model.name}" has live variables; write it with their values')
    return "\n".join(_emitted(_document(model))) + "\n"


def _document(model: Model) -> dict[str, Node]:
    """Keys of the file in order; a value is formatted text, a list or a mapping."""
    bodies = {body.name: body for body in model.bodies}
    named = [e for e in model.elements if hasattr(e, "name")]
    rules = [e for e in model.elements if not hasattr(e, "name")]
    everything: dict[str, Node] = {
        "linkwork": str(VERSION),
        "name": _text(model.name),
        **_remarks(note for note in model.notes if not _OF_PARTS.match(note)),
        "units": {"length": "m", "angle": "rad", "mass": "kg"},
        "gravity": _numbers(model.gravity) if model.gravity != GRAVITY else {},
        "check": "any",
        "bodies": {_text(body.name): _body(body) or {} for body in model.bodies},
        "joints": {_text(joint.name): _joint(joint) for joint in model.joints},
        "frames": {
            _text(f.name): {"body": _text(f.body), **_placed(f.placement)} for f in model.frames
        },
        "elements": {_text(e.name): _element(e, bodies) for e in named},
        "sharing": [_rule(rule) for rule in rules],
        "configurations": {
            _text(name): {_text(j): _one_or_list(q) for j, q in some}
            for name, some in model.configurations
        },
        "motions": {_text(motion.name): _motion(motion) for motion in model.motions},
    }
    return {key: value for key, value in everything.items() if value}


def _emitted(document: dict[str, Node]) -> Iterator[str]:
    """Block style where a value is a section or long, flow style where it fits in a line."""
    for key, value in document.items():
        if isinstance(value, dict) and key in _SECTIONS:
            yield f"{key}:"
            for name, entry in value.items():
                yield from _entry(name, entry, 2)
        else:
            yield from _entry(key, value, 0)


def _entry(key: str, value: Node, indent: int) -> Iterator[str]:
    line = f"{' ' * indent}{key}: {_flow(value)}"
    if (
        isinstance(value, str)
        or len(line) <= WIDTH
        or (isinstance(value, list) and not _is_long(value))
    ):
        yield line
        return
    yield f"{' ' * indent}{key}:"
    if isinstance(value, dict):
        for inner, each in value.items():
            yield from _entry(inner, each, indent + 2)
    else:
        yield from (f"{' ' * indent}  - {_flow(each)}" for each in value)


def _is_long(items: list[Node]) -> bool:
    """True for a list worth a line an item: of sentences, lists or mappings rather than numbers."""
    return any(not isinstance(item, str) or len(item) > 30 for item in items)


def _flow(value: Node) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, list):
        return f"[{', '.join(map(_flow, value))}]"
    return "{" + ", ".join(f"{key}: {_flow(each)}" for key, each in value.items()) + "}"


def _remarks(notes: Iterable[str]) -> dict[str, Node]:
    """Notes that say what they are ("source: ...") under their own keys, the others under
    "note"."""
    by_key: dict[str, list[Node]] = {}
    for line in (line for note in notes for line in note.splitlines()):
        key, _, rest = line.partition(": ")
        known = key in REMARKS and rest
        by_key.setdefault(key if known else "note", []).append(_text(rest if known else line))
    return {key: lines[0] if len(lines) == 1 else lines for key, lines in by_key.items()}


def _body(body: Body) -> dict[str, Node]:
    entry: dict[str, Node] = _matter(body.mass_properties) if body.has_inertia else {}
    if body.points:
        entry["points"] = {_text(label): _numbers(p) for label, p in body.points}
    if body.lines:
        entry["lines"] = [[_text(label) for label in line] for line in body.lines]
    if body.visuals and body.visuals == body.collisions:
        entry["shapes"] = [_shape(shape) for shape in body.visuals]
    else:
        entry |= {
            k: [_shape(s) for s in getattr(body, k)]
            for k in ("visuals", "collisions")
            if getattr(body, k)
        }
    return entry | _remarks([body.note])


def _matter(m: MassProperties) -> dict[str, Node]:
    entry: dict[str, Node] = {"mass": _number(m.mass)}
    if m.com != ZERO:
        entry["com"] = _numbers(m.com)
    (xx, xy, xz), (_, yy, yz), (_, _, zz) = m.inertia
    if (xy, xz, yz) != (0.0, 0.0, 0.0):
        parts = {"xx": xx, "yy": yy, "zz": zz, "xy": xy, "xz": xz, "yz": yz}
        entry["inertia"] = {key: _number(x) for key, x in parts.items()}
    elif (xx, yy, zz) != (0.0, 0.0, 0.0):
        entry["inertia"] = _numbers((xx, yy, zz))
    return entry


def _shape(shape: Shape) -> Node:
    entry: dict[str, Node] = {"kind": shape.kind}
    if shape.kind == "mesh":
        entry |= {"mesh": _text(shape.mesh or ""), "scale": _numbers(shape.size)}
    else:
        entry["size"] = _numbers(shape.size)
    entry |= _placed(shape.placement)
    if shape.color is not None:
        entry["color"] = _numbers(shape.color)
    if shape.name is not None:
        entry["name"] = _text(shape.name)
    return entry


def _joint(joint: Joint) -> dict[str, Node]:
    entry: dict[str, Node] = {"type": joint.type}
    if joint.parent is not None:
        entry["parent"] = _text(joint.parent)
    entry |= {"child": _text(joint.child), **_placed(joint.placement)}
    if joint.kind.has_axis:
        entry["axis"] = _axis(joint.axis)
    if joint.kind.has_second_axis:
        entry["second_axis"] = _axis(joint.second_axis)
    if joint.kind.has_pitch:
        entry["pitch"] = _number(joint.pitch * 2.0 * math.pi)
    if joint.limits:
        limits = [_limits(limit) for limit in joint.limits]
        entry["limits"] = limits[0] if len(limits) == 1 else limits
    if joint.mimic is not None:
        rule = {
            "multiplier": _number(joint.mimic.multiplier),
            "offset": _number(joint.mimic.offset),
        }
        entry["mimic"] = {"joint": _text(joint.mimic.joint), **rule}
    for key in ("damping", "friction", "armature"):
        value = getattr(joint, key)
        if isinstance(value, tuple) or value != 0.0:
            entry[key] = _one_or_list(value if isinstance(value, tuple) else (value,))
    return entry


def _limits(limit: Limits) -> Node:
    parts = {f.name: getattr(limit, f.name) for f in fields(limit)}
    return {key: _number(x) for key, x in parts.items() if math.isfinite(x)}


def _placed(T: Placement) -> dict[str, Node]:
    if T.rotation == IDENTITY:
        return {} if T.position == ZERO else {"placement": _numbers(T.position)}
    entry: dict[str, Node] = {} if T.position == ZERO else {"xyz": _numbers(T.position)}
    return {"placement": {**entry, "matrix": _matrix(T.rotation)}}


def _element(element: Any, bodies: dict[str, Body]) -> dict[str, Node]:
    """`type` and every field that differs from the dataclass's default."""
    kind: type = type(element)
    entry: dict[str, Node] = {"type": type_name(kind)}
    for key, field in fields_of(kind).items():
        value = getattr(element, key)
        if value == field.default:
            continue
        if field.role.kind == "point":
            entry[key] = _point(value, bodies)
        else:
            entry[key] = _WRITTEN.get(field.role.kind, _value)(value)
    entry |= _remarks([element.note])
    if element.assumed and "assumption" not in entry:
        entry["assumption"] = _text("not published")
    return entry


def _point(point: elements.Point, bodies: dict[str, Body]) -> Node:
    """By its name where the body knows it there."""
    points = dict(bodies[point.body].points) if point.body in bodies else {}
    if point.name and points.get(point.name) == point.position:
        return {"body": _text(str(point.body)), "point": _text(point.name)}
    return {
        "body": "world" if point.body is None else _text(point.body),
        "at": _numbers(point.position),
    }


def _value(value: Any) -> Node:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return str(value)
    if isinstance(value, str):
        return _text(value)
    if isinstance(value, tuple):
        return [_value(each) for each in value]
    return _number(value)


_WRITTEN: dict[str, Callable[[Any], Node]] = {
    "terms": lambda terms: {_text(joint): _number(x) for joint, x in terms},
    "rotation": lambda R: {"matrix": _matrix(R)},
    "loops": lambda loops: [
        {f.name: _value(getattr(loop, f.name)) for f in fields(loop)} for loop in loops
    ],
}


def _rule(rule: elements.Share | elements.Stiffness) -> dict[str, Node]:
    if isinstance(rule, elements.Stiffness):
        return {
            "support": _text(rule.support),
            "weights": _numbers(rule.weights),
            **_remarks([rule.note]),
        }
    parts: dict[str, Node] = {_text(name): _number(x) for name, x in rule.parts}
    others = {} if rule.others == "nothing" else {"others": rule.others}
    return {
        "body": _text(rule.body),
        "direction": rule.direction,
        "parts": parts,
        **others,
        **_remarks([rule.note]),
    }


def _motion(motion: DescribedMotion) -> dict[str, Node]:
    entry: dict[str, Node] = {"duration": _number(motion.duration)}
    for key, actuator in (("joints", False), ("actuators", True)):
        names = dict.fromkeys(track.name for track in motion.tracks if track.actuator is actuator)
        tracks: dict[str, Node] = {}
        for name in names:
            tracks_of_name = [
                track
                for track in motion.tracks
                if track.name == name and track.actuator is actuator
            ]
            by_coordinate = [
                _track(track.pieces)
                for track in sorted(tracks_of_name, key=lambda track: track.coordinate)
            ]
            tracks[_text(name)] = by_coordinate[0] if len(by_coordinate) == 1 else by_coordinate
        if tracks:
            entry[key] = tracks
    return entry | _remarks([motion.note])


def _track(pieces: Pieces) -> Node:
    if len(pieces) == 1:
        return {"polynomial": _numbers(pieces[0][1])}
    return {"pieces": [{"time": _number(t), "polynomial": _numbers(c)} for t, c in pieces]}


def _axis(axis: tuple[Any, ...]) -> Node:
    return _AXES.get(axis) or _numbers(axis)


def _matrix(R: Matrix) -> Node:
    return [_numbers(row) for row in R]


def _one_or_list(values: tuple[Any, ...]) -> Node:
    return _number(values[0]) if len(values) == 1 else _numbers(values)


def _numbers(values: Iterable[Any]) -> Node:
    return [_number(x) for x in values]


def _number(x: Any) -> str:
    x = float(x)
    if math.isinf(x):
        return ".inf" if x > 0.0 else "-.inf"
    return str(int(x)) if x == int(x) and abs(x) < 1e9 and math.copysign(1.0, x) > 0.0 else repr(x)


def _text(text: str) -> str:
    """A name or sentence, quoted where YAML or a reader might take it for something else."""
    if _PLAIN.fullmatch(text) and text.lower() not in _WORDS:
        return text
    escaped = "".join(_ESCAPES.get(c, c) if c.isprintable() else f"\\U{ord(c):08X}" for c in text)
    return f'"{escaped}"'


_ESCAPES = {"\\": "\\\\", '"': '\\"'}
