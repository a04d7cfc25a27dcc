"""Closed-loop elements of a .robot.yaml as the dataclasses of `model.elements`."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from typing import Any

from linkwork.errors import did_you_mean
from linkwork.formats.robot_yaml.context import WORLD, Build, dimension
from linkwork.formats.robot_yaml.parts import Part, own_names
from linkwork.formats.robot_yaml.placements import axis, rotation
from linkwork.formats.robot_yaml.reading import Place
from linkwork.formats.robot_yaml.schema import Entry
from linkwork.formats.robot_yaml.variables import Scope, remarks
from linkwork.model import elements as model
from linkwork.model.element_fields import Role, fields_of
from linkwork.model.joint import Joint
from linkwork.model.number import ZERO, Matrix, Vector
from linkwork.model.placement import Placement


def read_elements(build: Build, robot: Entry, scope: Scope) -> tuple[model.Element, ...]:
    """Every element of every part, then the rules of sharing."""
    entries = own_names(build.all_parts, "elements")
    bars = {name for name, (_, entry) in entries.items() if entry["type"] == "bar"}
    elements = [
        _Element(build, name, part, entry, bars).read() for name, (part, entry) in entries.items()
    ]
    return (*elements, *(_rule(build, entry, scope, entries) for entry in robot.get("sharing", ())))


class _Element:
    """One element being read: its fields as the dataclasses want them.
    A field left out is left out there too."""

    def __init__(self, build: Build, name: str, part: Part, entry: Entry, bars: set[str]) -> None:
        self.build, self.name, self.part, self.entry, self.bars = build, name, part, entry, bars

    def read(self) -> model.Element:
        kind = model.KINDS[self.entry["type"]]
        note = "\n".join(remarks(self.entry))
        return kind(
            self.name,
            assumed="assumption" in self.entry,
            note=note,
            **self.fields(kind, self.entry),
        )

    def fields(self, kind: type, entry: Entry) -> dict[str, Any]:
        """What an entry gives of the fields of a class."""
        described = {key: field.role for key, field in fields_of(kind).items() if key in entry}
        return {key: _READ[role.kind](self, entry, key, role) for key, role in described.items()}

    def number(self, entry: Entry, key: str, role: Role) -> Any:
        """It may be a symbol, where a live variable may stand."""
        return (
            self.part.scope.number(entry[key])
            if role.live
            else self.part.scope.plain_number(entry[key])
        )

    def branch(self, entry: Entry, key: str, _: Role) -> int:
        if entry[key] == 0:
            self.build.reader.refuse(entry.at(key), f"{key} is 0, expected 1 or -1")
        return entry[key]

    def as_given(self, entry: Entry, key: str, _: Role) -> Any:
        return entry[key]

    def joint(self, entry: Entry, key: str, _: Role) -> str:
        return self.build.joint(self.part, entry[key], entry.at(key)).name

    def joints(self, entry: Entry, key: str, _: Role) -> tuple[str, ...]:
        return tuple(self.build.joint(self.part, name, entry.at(key)).name for name in entry[key])

    def coordinate(self, entry: Entry, key: str, role: Role) -> Any:
        """A number whose dimension depends on the (first) joint that the element names."""
        return self.part.scope.number(
            entry[key], dimension(role.dimension, self._own_joints()[0].type)
        )

    def coordinates(self, entry: Entry, key: str, role: Role) -> tuple[Any, ...]:
        joints = self._own_joints()
        if entry[key] and len(entry[key]) != len(joints):
            self.build.reader.refuse(
                entry.at(key), f"{key} has {len(entry[key])} numbers, expected {len(joints)}"
            )
        scope = self.part.scope
        return tuple(
            scope.number(x, dimension(role.dimension, j.type)) for x, j in zip(entry[key], joints)
        )

    def terms(self, entry: Entry, key: str, _: Role) -> tuple[tuple[str, Any], ...]:
        names = [self.build.joint(self.part, name, entry.at(key, name)).name for name in entry[key]]
        if not names:
            self.build.reader.refuse(entry.at(key), f"{key} is empty, expected one joint or more")
        return tuple(
            (name, self.part.scope.number(x)) for name, x in zip(names, entry[key].values())
        )

    def _own_joints(self) -> list[Joint]:
        named = self.entry.get("joints", self.entry.get("terms", (self.entry.get("joint"),)))
        return [self.build.joint(self.part, name, self.entry.place) for name in named]

    def bar(self, entry: Entry, key: str, _: Role) -> str:
        bar = self.part.meant(entry[key], "elements")
        if bar not in self.bars:
            self.build.reader.refuse(
                entry.at(key), f'unknown bar "{entry[key]}"{did_you_mean(bar, self.bars)}'
            )
        return bar

    def names(self, entry: Entry, key: str, _: Role) -> tuple[str, ...]:
        return tuple(self.part.named(name) for name in entry[key])

    def matrix(self, entry: Entry, key: str, _: Role) -> tuple[tuple[Any, ...], ...]:
        return tuple(self.part.scope.numbers(row) for row in entry[key])

    def loops(self, entry: Entry, key: str, _: Role) -> tuple[model.FourBarLoop, ...]:
        return tuple(
            model.FourBarLoop(**self.fields(model.FourBarLoop, loop)) for loop in entry[key]
        )

    def axis(self, entry: Entry, key: str, _: Role) -> Vector:
        """Of a hinge."""
        return self.part.mirror.turning(axis(entry[key], self.part.scope))

    def direction(self, entry: Entry, key: str, _: Role) -> Vector:
        return self.part.mirror.position(axis(entry[key], self.part.scope))

    def rotation(self, entry: Entry, key: str, _: Role) -> Matrix:
        return self.part.mirror.placement(Placement(rotation(entry[key], self.part.scope))).rotation

    def point(self, entry: Entry, key: str, _: Role) -> model.Point:
        return self._point(entry[key], entry.at(key))

    def _point(self, point: str | Entry, place: Place) -> model.Point:
        if isinstance(point, str):
            body, label = self._split(point, place)
            return self._named(body, label, place)
        if "point" in point:
            return self._named(point["body"], point["point"], point.at("point"))
        position = self.part.scope.numbers(point["at"]) if "at" in point else ZERO
        bar = self.part.meant(point["body"], "elements")
        if bar in self.bars:
            x, y, z = position
            # axes of a bar: z is its hinge
            return model.Point(bar, (x, y, -z if self.part.mirror.axis else z))
        # what lies outside a chain is not mirrored with it
        if point["body"] in self.part.entry.get("bodies", ()):
            position = self.part.mirror.position(position)
        return model.Point(self.build.body(self.part, point, "body"), position)

    def _split(self, text: str, place: Place) -> tuple[str, str]:
        """The text "body.point" cut at a dot; names may hold dots themselves,
        so the known body decides."""
        candidates = [(text[:k], text[k + 1 :]) for k, c in enumerate(text) if c == "."]
        for body, label in candidates:
            if self.part.meant(body, "bodies") in self.build.bodies:
                return body, label
        known = [
            f"{body}.{label}" for body, points in self.build.body_points.items() for label in points
        ]
        self.build.reader.refuse(
            place, f'"{text}" is no point of a body written "body.point"{did_you_mean(text, known)}'
        )

    def _named(self, body: str, label: str, place: Place) -> model.Point:
        full = self.part.meant(body, "bodies")
        holder = self.build.bodies.get(full)
        position = None if holder is None else dict(holder.points).get(label)
        if holder is None or position is None:
            what, known = (
                ("body", self.build.bodies) if holder is None else ("point", dict(holder.points))
            )
            name = body if holder is None else label
            self.build.reader.refuse(place, f'unknown {what} "{name}"{did_you_mean(name, known)}')
        return model.Point(full, position, label)


_READ: dict[str, Callable[[_Element, Entry, str, Role], Any]] = {
    **dict.fromkeys(("word", "words", "flag"), _Element.as_given),
    "axis": _Element.axis,
    "bar": _Element.bar,
    "branch": _Element.branch,
    "coordinate": _Element.coordinate,
    "coordinates": _Element.coordinates,
    "direction": _Element.direction,
    "joint": _Element.joint,
    "joints": _Element.joints,
    "loops": _Element.loops,
    "matrix": _Element.matrix,
    "names": _Element.names,
    "number": _Element.number,
    "point": _Element.point,
    "rotation": _Element.rotation,
    "terms": _Element.terms,
}


def _rule(
    build: Build, entry: Entry, scope: Scope, elements: Iterable[str]
) -> model.Share | model.Stiffness:
    supports = [*build.joints, *elements]

    def check(name: str, place: Place) -> None:
        if name not in supports:
            build.reader.refuse(
                place, f'unknown joint or element "{name}"{did_you_mean(name, supports)}'
            )

    note = "\n".join(remarks(entry))
    if "support" in entry:
        check(entry["support"], entry.at("support"))
        if "direction" in entry or "parts" in entry:
            build.reader.refuse(
                entry.place, 'the weights of a support have no "direction" and no "parts"'
            )
        weights = scope.numbers(entry["weights"]) if "weights" in entry else (1.0,) * 6
        return model.Stiffness(entry["support"], weights, note)
    if not {"body", "direction", "parts"} <= set(entry) or "weights" in entry:
        build.reader.refuse(
            entry.place, "a rule has body, direction and parts, or support and weights"
        )
    body = build.body(build.all_parts[0], entry, "body")
    for name in entry["parts"]:
        check(name, entry.at("parts", name))
    parts = tuple((name, scope.number(x)) for name, x in entry["parts"].items())
    if not math.isclose(sum(x for _, x in parts), 1.0, rel_tol=1e-9):
        build.reader.refuse(entry.at("parts"), "the parts do not sum to 1")
    return model.Share(
        body or WORLD, entry["direction"], parts, entry.get("others", "nothing"), note
    )
