"""Joints of a .robot.yaml, and the bodies and joints of its DH table."""

from __future__ import annotations

import math
from collections.abc import Container
from dataclasses import replace
from typing import Any

from linkwork.errors import did_you_mean
from linkwork.formats.dh import BASE, Row, links
from linkwork.formats.robot_yaml.bodies import matter
from linkwork.formats.robot_yaml.context import WORLD, Build, dimension
from linkwork.formats.robot_yaml.parts import Part, own_names
from linkwork.formats.robot_yaml.placements import axis, placement
from linkwork.formats.robot_yaml.reading import Value, refusal
from linkwork.formats.robot_yaml.schema import Entry
from linkwork.formats.robot_yaml.shapes import read_shape
from linkwork.formats.robot_yaml.variables import Scope, remarks
from linkwork.model.body import Shape
from linkwork.model.joint import SIZES, Joint, Limits, Mimic
from linkwork.model.kinds import KINDS
from linkwork.model.number import is_symbol
from linkwork.model.placement import HERE, Placement

_RESISTANCES = {"damping": "damping", "friction": "effort", "armature": "armature"}
"""key of a joint -> the quantity whose dimension it has"""


def read_dh_table(build: Build, table: Entry | None, scope: Scope) -> None:
    """The bodies and joints of the section "dh"."""
    if table is None:
        return
    root = build.body(build.all_parts[0], table, "parent") if "parent" in table else None
    base = placement(table, "base", scope, build.body_points.get(root or ""))
    rows = [_row(build, entry, i, scope) for i, entry in enumerate(table["rows"])]
    bodies, joints = links(rows, table["convention"], base, root)
    shapes = {
        row.link or f"link{i + 1}": _shapes(build, table["rows"][i], "shapes")
        for i, row in enumerate(rows)
    }
    if root is None:
        shapes[BASE] = _shapes(build, table, "base_shapes")
    elif "base_shapes" in table:
        build.reader.refuse(
            table.at("base_shapes"),
            f'this table stands on body "{root}", which has shapes of its own',
        )
    for body in bodies:
        _new(build, "body", body.name, build.bodies, table)
        drawn, colliding = shapes.get(body.name, ((), ()))
        build.bodies[body.name] = replace(body, visuals=drawn, collisions=colliding)
    for joint in joints:
        _new(build, "joint", joint.name, build.joints, table)
        build.joints[joint.name] = joint


def _shapes(build: Build, entry: Entry, key: str) -> tuple[tuple[Shape, ...], tuple[Shape, ...]]:
    """(visuals, collisions) of a link of a DH table, in axes of its frame."""
    shapes = tuple(read_shape(build, build.all_parts[0], shape, {}) for shape in entry.get(key, ()))
    return (shapes if build.reader.visuals else (), shapes)


def _new(build: Build, kind: str, name: str, known: Container[str], table: Entry) -> None:
    if name in known:
        build.reader.refuse(table.place, f'{kind} name "{name}" is used twice')
    build.places[kind, name] = table.place


def _row(build: Build, entry: Entry, i: int, scope: Scope) -> Row:
    kind = entry.get("joint", "revolute")
    parent = entry.get("parent", i - 1)
    if parent >= i:
        build.reader.refuse(
            entry.at("parent"), f"parent {parent} of row {i} does not come before it"
        )
    has_matter = "mass" in entry or "inertia" in entry
    return Row(
        kind,
        **{key: scope.number(entry[key]) for key in ("a", "alpha", "d", "theta") if key in entry},
        offset=scope.number(entry.get("offset", 0.0), dimension("position", kind)),
        matter=matter(entry, scope) if has_matter else None,
        parent=None if i == 0 else parent,
        limits=_limits(build, entry, kind, scope),
        name=entry.get("name", ""),
        link=entry.get("link", ""),
        note="\n".join(remarks(entry)),
        **_resistance(build, entry, kind, scope),
    )


def read_joints(build: Build, mimic: str) -> None:
    """Every joint of every part; mimic "independent" leaves their rules out."""
    entries = own_names(build.all_parts, "joints")
    for full, (part, entry) in entries.items():
        build.places["joint", full] = part.placed or entry
        if full in build.joints:
            build.reader.refuse(entry.place, f'joint name "{full}" is used twice')
        build.joints[full] = _joint(build, full, part, entry)
    for full, (part, entry) in entries.items():
        if "mimic" in entry and mimic == "follow":
            build.joints[full] = _following(build, full, part, entry["mimic"])


def _joint(build: Build, name: str, part: Part, entry: Entry) -> Joint:
    scope, mirror, kind = part.scope, part.mirror, entry["type"]
    child = build.body(part, entry, "child")
    if child is None:
        build.reader.refuse(
            entry.at("child"), 'the world cannot be the child of a joint; "child" names a body'
        )
    T, points = HERE, None
    if "parent" in entry:
        parent = build.body(part, entry, "parent")
        points = part.entry.get("bodies", {}).get(entry["parent"], {}).get("points")
    else:
        parent, T = _hung(build, part)
    T = T @ mirror.placement(placement(entry, "placement", scope, points))
    row = KINDS[kind]
    if mirror.axis is not None and row.slides and row.turns and not row.quaternion:
        sentence = (
            f"a {kind} joint has no mirrored one with the same coordinates; write that side by hand"
        )
        build.reader.refuse(entry.at("type"), sentence)
    turned = mirror.position if row.is_slide else mirror.turning
    first = turned(axis(entry["axis"], scope)) if "axis" in entry else turned((0.0, 0.0, 1.0))
    second = (
        turned(axis(entry["second_axis"], scope))
        if "second_axis" in entry
        else turned((1.0, 0.0, 0.0))
    )
    pitch = scope.number(entry.get("pitch", 0.0)) / (2.0 * math.pi)
    return Joint(
        name,
        kind,
        parent,
        child,
        T,
        axis=first if row.has_axis else (0.0, 0.0, 1.0),
        second_axis=second if row.has_second_axis else (1.0, 0.0, 0.0),
        pitch=(-pitch if mirror.axis else pitch) if row.has_pitch else 0.0,
        limits=_limits(build, entry, kind, scope),
        **_resistance(build, entry, kind, scope),
    )


def _hung(build: Build, part: Part) -> tuple[str | None, Placement]:
    """What a joint without a parent hangs on: the world, or what its chain was placed on."""
    if part.parent is None or part.parent == WORLD:
        return None, part.at
    if part.parent not in build.bodies:
        near = did_you_mean(part.parent, build.bodies)
        assert part.placed is not None
        build.reader.refuse(part.placed, f'unknown body "{part.parent}"{near}')
    return part.parent, part.at


def _limits(build: Build, entry: Entry, kind: str, scope: Scope) -> tuple[Limits, ...]:
    written, count = entry.get("limits"), SIZES[kind][1]
    if written is None:
        return ()
    if count == 0:
        build.reader.refuse(entry.at("limits"), f"a {kind} joint has no coordinate to limit")
    if isinstance(written, tuple) and not isinstance(written[0] if written else None, Entry):
        lower, upper = (scope.plain_number(x, dimension("position", kind)) for x in written)
        by_coordinate = [Limits(lower, upper)]
    else:
        by_coordinate = [
            _limit(entry, kind, k, scope)
            for k, entry in enumerate(written if isinstance(written, tuple) else [written])
        ]
    if len(by_coordinate) != count:
        build.reader.refuse(
            entry.at("limits"),
            f"limits are given {len(by_coordinate)} times, a {kind} joint has {count}",
        )
    return tuple(_in_order(build, entry, limits) for limits in by_coordinate)


def _in_order(build: Build, entry: Entry, limits: Limits) -> Limits:
    """Limits, without a range where strict=False passes over a reversed one."""
    if build.reader.passed is None or not limits.lower > limits.upper:
        return limits
    sentence = f"lower limit {limits.lower:g} is above upper limit {limits.upper:g}"
    error = refusal(build.reader.source, entry.at("limits"), sentence)
    build.reader.passed.plain(error, "the joint has no limit")
    return replace(limits, lower=-math.inf, upper=math.inf)


def _limit(entry: Entry, kind: str, coordinate: int, scope: Scope) -> Limits:
    def number(key: str, quantity: str, default: float) -> float:
        return scope.plain_number(entry.get(key, default), dimension(quantity, kind, coordinate))

    return Limits(
        number("lower", "position", -math.inf),
        number("upper", "position", math.inf),
        number("velocity", "velocity", math.inf),
        number("effort", "effort", math.inf),
        number("acceleration", "acceleration", math.inf),
    )


def _resistance(build: Build, entry: Entry, kind: str, scope: Scope) -> dict[str, Any]:
    if _RESISTANCES.keys().isdisjoint(entry):
        return {}
    count, resistances = SIZES[kind][1], {}
    for key, quantity in _RESISTANCES.items():
        resistance = entry.get(key)
        if resistance is None:
            continue
        if isinstance(resistance, tuple):
            if len(resistance) != count:
                build.reader.refuse(
                    entry.at(key),
                    f"{key} has {len(resistance)} numbers, a {kind} joint has {count}",
                )
            resistances[key] = tuple(
                scope.number(x, dimension(quantity, kind, k)) for k, x in enumerate(resistance)
            )
        else:
            resistances[key] = scope.number(resistance, dimension(quantity, kind))
    return resistances


def _following(build: Build, name: str, part: Part, rule: Entry) -> Joint:
    joint = build.joints[name]
    leader = build.joint(part, rule["joint"], rule.at("joint"))
    for key in ("multiplier", "offset"):
        value = rule.get(key)
        live = isinstance(value, Value) and is_symbol(part.scope.number(value, "number"))
        if live:
            build.reader.refuse(
                rule.at(key), f"a live variable cannot change the {key} of a mimic joint"
            )
    multiplier = part.scope.plain_number(rule.get("multiplier", 1.0))
    offset = part.scope.plain_number(rule.get("offset", 0.0), dimension("position", joint.type))
    return replace(joint, mimic=Mimic(leader.name, multiplier, offset))
