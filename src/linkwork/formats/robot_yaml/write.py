"""Writing a model as .robot.yaml: numbers with all their digits, SI units, everything a model holds."""

from __future__ import annotations

import math
import os
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import fields
from typing import Any

from linkwork.errors import NotPossible
from linkwork.formats.files import write_atomically
from linkwork.formats.robot_yaml.vocabulary import VERSION
from linkwork.model import elements
from linkwork.model.body import Body, Shape
from linkwork.model.inertia import MassProperties
from linkwork.model.joint import Joint, Limits
from linkwork.model.model import GRAVITY, Model
from linkwork.model.motions import Motion
from linkwork.model.number import IDENTITY, ZERO, Matrix, has_symbols
from linkwork.model.placement import Placement

_PLAIN = re.compile(r"[A-Za-z_][A-Za-z0-9_./-]*")
_WORDS = {"null", "true", "false", "yes", "no", "on", "off", "y", "n", "~"}
_AXES = {(1.0, 0.0, 0.0): "x", (0.0, 1.0, 0.0): "y", (0.0, 0.0, 1.0): "z"}
_AXES |= {(-1.0, 0.0, 0.0): "-x", (0.0, -1.0, 0.0): "-y", (0.0, 0.0, -1.0): "-z"}


def write_robot_yaml(model: Model, path: str | os.PathLike[str]) -> None:
    """Write a model to a file; variables are written as the numbers they have, not as expressions."""
    write_atomically(path, robot_yaml_text(model))


def robot_yaml_text(model: Model) -> str:
    """The model as .robot.yaml text, in SI units; reading it gives the model back (rounding of rotations apart)."""
    if has_symbols(tuple(n for j in model.joints for n in (*j.placement.position, *j.placement.rotation))):
        raise NotPossible(f'robot "{model.name}" has live variables; write it with their values')
    return "\n".join(_lines(model)) + "\n"


def _lines(model: Model) -> Iterator[str]:
    yield f"linkwork: {VERSION}"
    yield f"name: {_text(model.name)}"
    if model.notes:
        yield f"note: {_list(map(_text, model.notes))}"
    yield "units: {length: m, angle: rad, mass: kg}"
    if model.gravity != GRAVITY:
        yield f"gravity: {_numbers(model.gravity)}"
    yield "check: any"
    if model.variables:
        yield f"# built with {', '.join(f'{name} = {value!r}' for name, value in model.variables)} [SI]"
    yield from _section("bodies", ((body.name, _body(body)) for body in model.bodies))
    yield from _section("joints", ((joint.name, _joint(joint)) for joint in model.joints))
    frames = ((f.name, {"body": _text(f.body), **_placed(f.placement)}) for f in model.frames)
    yield from _section("frames", frames)
    named = [e for e in model.elements if hasattr(e, "name")]
    yield from _section("elements", ((e.name, _element(e)) for e in named))
    rules = [e for e in model.elements if not hasattr(e, "name")]
    if rules:
        yield "sharing:"
        yield from (f"  - {_map(_rule(rule))}" for rule in rules)
    yield from _section(
        "configurations", ((name, {_text(j): _one_or_list(q) for j, q in some}) for name, some in model.configurations)
    )
    yield from _section("motions", ((motion.name, _motion(motion)) for motion in model.motions))


def _section(title: str, entries: Iterable[tuple[str, dict[str, str]]]) -> Iterator[str]:
    """`title:` and an entry a line, or a key a line where that would be long."""
    first = True
    for name, entry in entries:
        if first:
            yield f"{title}:"
            first = False
        short = f"  {_text(name)}: {_map(entry)}"
        if len(short) <= 100:
            yield short
        else:
            yield f"  {_text(name)}:"
            yield from (f"    {key}: {value}" for key, value in entry.items())


def _body(body: Body) -> dict[str, str]:
    entry = _matter(body.mass_properties) if body.has_inertia else {}
    if body.points:
        entry["points"] = _map({_text(label): _numbers(p) for label, p in body.points})
    if body.lines:
        entry["lines"] = _list(_list(map(_text, line)) for line in body.lines)
    if body.visuals and body.visuals == body.collisions:
        entry["shapes"] = _list(map(_shape, body.visuals))
    else:
        entry |= {k: _list(map(_shape, getattr(body, k))) for k in ("visuals", "collisions") if getattr(body, k)}
    return entry


def _matter(m: MassProperties) -> dict[str, str]:
    entry = {"mass": _number(m.mass)}
    if m.com != ZERO:
        entry["com"] = _numbers(m.com)
    (xx, xy, xz), (_, yy, yz), (_, _, zz) = m.inertia
    if (xy, xz, yz) != (0.0, 0.0, 0.0):
        parts = {"xx": xx, "yy": yy, "zz": zz, "xy": xy, "xz": xz, "yz": yz}
        entry["inertia"] = _map({key: _number(x) for key, x in parts.items()})
    elif (xx, yy, zz) != (0.0, 0.0, 0.0):
        entry["inertia"] = _numbers((xx, yy, zz))
    return entry


def _shape(shape: Shape) -> str:
    entry = {"kind": shape.kind}
    if shape.kind == "mesh":
        entry |= {"mesh": _text(shape.mesh or ""), "scale": _numbers(shape.size)}
    else:
        entry["size"] = _numbers(shape.size)
    entry |= _placed(shape.placement)
    if shape.color is not None:
        entry["color"] = _numbers(shape.color)
    if shape.name is not None:
        entry["name"] = _text(shape.name)
    return _map(entry)


def _joint(joint: Joint) -> dict[str, str]:
    entry = {"type": joint.type}
    if joint.parent is not None:
        entry["parent"] = _text(joint.parent)
    entry |= {"child": _text(joint.child), **_placed(joint.placement)}
    if joint.type not in ("fixed", "ball", "floating"):
        entry["axis"] = _axis(joint.axis)
    if joint.type == "universal":
        entry["second_axis"] = _axis(joint.second_axis)
    if joint.type == "helical":
        entry["pitch"] = _number(joint.pitch * 2.0 * math.pi)
    if joint.limits:
        each = [_limits(limit) for limit in joint.limits]
        entry["limits"] = each[0] if len(each) == 1 else _list(each)
    if joint.mimic is not None:
        rule = {"multiplier": _number(joint.mimic.multiplier), "offset": _number(joint.mimic.offset)}
        entry["mimic"] = _map({"joint": _text(joint.mimic.joint), **rule})
    for key in ("damping", "friction", "armature"):
        value = getattr(joint, key)
        if isinstance(value, tuple) or value != 0.0:
            entry[key] = _one_or_list(value if isinstance(value, tuple) else (value,))
    return entry


def _limits(limit: Limits) -> str:
    parts = {f.name: getattr(limit, f.name) for f in fields(limit)}
    return _map({key: _number(x) for key, x in parts.items() if math.isfinite(x)})


def _placed(T: Placement) -> dict[str, str]:
    if T.rotation == IDENTITY:
        return {} if T.position == ZERO else {"placement": _numbers(T.position)}
    entry = {} if T.position == ZERO else {"xyz": _numbers(T.position)}
    return {"placement": _map({**entry, "matrix": _matrix(T.rotation)})}


def _element(element: Any) -> dict[str, str]:
    """`type` and every field that differs from the dataclass's default."""
    kind = re.sub(r"(?<!^)(?=[A-Z])", "_", type(element).__name__).lower()
    entry = {"type": kind}
    for each in fields(element):
        value = getattr(element, each.name)
        if each.name in ("name", "assumed", "note") or value == each.default:
            continue
        entry[each.name] = _FIELDS.get(each.name, _value)(value)
    if element.assumed:
        entry["assumption"] = _text(_without_words(element.note) or "not published")
    elif element.note:
        entry["note"] = _text(element.note)
    return entry


def _without_words(note: str) -> str:
    return "; ".join(line.removeprefix("assumption: ") for line in note.splitlines())


def _value(value: Any) -> str:
    if isinstance(value, elements.Point):
        body = "world" if value.body is None else value.body
        return _map({"body": _text(body), "at": _numbers(value.position)})
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return str(value)
    if isinstance(value, str):
        return _text(value)
    if isinstance(value, tuple):
        return _list(map(_value, value))
    return _number(value)


def _loops(loops: tuple[elements.FourBarLoop, ...]) -> str:
    return _list(_map({f.name: _value(getattr(loop, f.name)) for f in fields(loop)}) for loop in loops)


_FIELDS: dict[str, Callable[[Any], str]] = {
    "terms": lambda terms: _map({_text(joint): _number(x) for joint, x in terms}),
    "rotation": lambda R: _map({"matrix": _matrix(R)}),
    "second_rotation": lambda R: _map({"matrix": _matrix(R)}),
    "loops": _loops,
}


def _rule(rule: elements.Share | elements.Stiffness) -> dict[str, str]:
    if isinstance(rule, elements.Stiffness):
        return {"support": _text(rule.support), "weights": _numbers(rule.weights)}
    parts = _map({_text(name): _number(x) for name, x in rule.parts})
    return {"body": _text(rule.body), "direction": rule.direction, "parts": parts}


def _motion(motion: Motion) -> dict[str, str]:
    entry = {"duration": _number(motion.duration)}
    for key, actuator in (("joints", False), ("actuators", True)):
        names = dict.fromkeys(track.name for track in motion.tracks if track.actuator is actuator)
        tracks = {}
        for name in names:
            own = sorted(
                (t for t in motion.tracks if t.name == name and t.actuator is actuator), key=lambda t: t.coordinate
            )
            each = [_map({"pieces": _list(_piece(*piece) for piece in track.pieces)}) for track in own]
            tracks[_text(name)] = each[0] if len(each) == 1 else _list(each)
        if tracks:
            entry[key] = _map(tracks)
    if motion.note:
        entry["note"] = _text(motion.note)
    return entry


def _piece(start: float, coefficients: tuple[float, ...]) -> str:
    return _map({"time": _number(start), "polynomial": _numbers(coefficients)})


def _axis(axis: tuple[Any, ...]) -> str:
    return _AXES.get(axis) or _numbers(axis)  # type: ignore[call-overload]


def _matrix(R: Matrix) -> str:
    return _list(map(_numbers, R))


def _one_or_list(values: tuple[Any, ...]) -> str:
    return _number(values[0]) if len(values) == 1 else _numbers(values)


def _numbers(values: Iterable[Any]) -> str:
    return _list(map(_number, values))


def _number(x: Any) -> str:
    x = float(x)
    if math.isinf(x):
        return ".inf" if x > 0.0 else "-.inf"
    return str(int(x)) if x == int(x) and abs(x) < 1e9 and math.copysign(1.0, x) > 0.0 else repr(x)


def _list(items: Iterable[str]) -> str:
    return f"[{', '.join(items)}]"


def _map(entry: dict[str, str]) -> str:
    return "{" + ", ".join(f"{key}: {value}" for key, value in entry.items()) + "}"


def _text(text: str) -> str:
    """A name or sentence, quoted where YAML or a reader might take it for something else."""
    if _PLAIN.fullmatch(text) and text.lower() not in _WORDS:
        return text
    escaped = "".join(_ESCAPES.get(c, c) if c.isprintable() else f"\\U{ord(c):08X}" for c in text)
    return f'"{escaped}"'


_ESCAPES = {"\\": "\\\\", '"': '\\"'}
