"""Closed-loop elements of a .robot.yaml as the dataclasses of `model.elements`."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from typing import Any

from linkwork.errors import did_you_mean
from linkwork.formats.robot_yaml.context import WORLD, Build, dimension
from linkwork.formats.robot_yaml.parts import Part, own_names
from linkwork.formats.robot_yaml.placements import axis, rotation
from linkwork.formats.robot_yaml.schema import Entry, Place
from linkwork.formats.robot_yaml.variables import Scope, remarks
from linkwork.model import elements as model
from linkwork.model.number import ZERO
from linkwork.model.placement import Placement


def read_elements(build: Build, robot: Entry, scope: Scope) -> tuple[model.Element, ...]:
    """Every element of every part, then the rules of sharing."""
    own = own_names(build.all_parts, "elements")
    bars = {name for name, (_, entry) in own.items() if entry["type"] == "bar"}
    found = [_READERS[entry["type"]](_Element(build, name, part, entry, bars)) for name, (part, entry) in own.items()]
    return (*found, *(_rule(build, entry, scope, own) for entry in robot.get("sharing", ())))


class _Element:
    """One element being read: its fields as the dataclasses want them. A field left out is left out there too."""

    def __init__(self, build: Build, name: str, part: Part, entry: Entry, bars: set[str]) -> None:
        self.build, self.name, self.part, self.entry, self.bars = build, name, part, entry, bars

    @property
    def common(self) -> dict[str, Any]:
        return {"name": self.name, "assumed": "assumption" in self.entry, "note": "\n".join(remarks(self.entry))}

    def numbers(self, *keys: str) -> dict[str, Any]:
        """Numbers that may be symbols, by key."""
        return {key: self.part.scope.number(self.entry[key]) for key in keys if key in self.entry}

    def plain(self, *keys: str) -> dict[str, Any]:
        """Numbers that may not."""
        return {key: self.part.scope.plain_number(self.entry[key]) for key in keys if key in self.entry}

    def as_given(self, *keys: str) -> dict[str, Any]:
        """Words and flags."""
        return {key: self.entry[key] for key in keys if key in self.entry}

    def sign(self) -> dict[str, Any]:
        if self.entry.get("branch", 1) == 0:
            self.build.reader.refuse(self.entry.at("branch"), "branch is 0, expected 1 or -1")
        return self.as_given("branch")

    def joint(self, key: str = "joint") -> dict[str, Any]:
        if key not in self.entry:
            return {}
        return {key: self.build.joint(self.part, self.entry[key], self.entry.at(key)).name}

    def of_joint(self, **quantities: str) -> dict[str, Any]:
        """Numbers whose dimension depends on the element's joint: key -> quantity."""
        kind = self.build.joints[self.joint()["joint"]].type
        scope, entry = self.part.scope, self.entry
        return {
            key: scope.number(entry[key], dimension(quantity, kind))
            for key, quantity in quantities.items()
            if key in entry
        }

    def points(self, *keys: str) -> dict[str, Any]:
        return {key: self._point(self.entry[key], self.entry.at(key)) for key in keys}

    def turning(self, *keys: str) -> dict[str, Any]:
        """Axes of hinges."""
        given = {key: axis(self.entry[key], self.part.scope) for key in keys if key in self.entry}
        return {key: self.part.mirror.turning(value) for key, value in given.items()}

    def direction(self, key: str) -> dict[str, Any]:
        if key not in self.entry:
            return {}
        return {key: self.part.mirror.position(axis(self.entry[key], self.part.scope))}

    def _point(self, given: str | Entry, place: Place) -> model.Point:
        if isinstance(given, str):
            body, label = self._split(given, place)
            return self._named(body, label, place)
        if "point" in given:
            return self._named(given["body"], given["point"], given.at("point"))
        position = self.part.scope.numbers(given["at"]) if "at" in given else ZERO
        bar = self.part.meant(given["body"], "elements")
        if bar in self.bars:
            x, y, z = position
            return model.Point(bar, (x, y, -z if self.part.mirror.axis else z))  # axes of a bar: z is its hinge
        if given["body"] in self.part.entry.get("bodies", ()):  # what lies outside a chain is not mirrored with it
            position = self.part.mirror.position(position)
        return model.Point(self.build.body(self.part, given, "body"), position)

    def _split(self, text: str, place: Place) -> tuple[str, str]:
        """The text "body.point" cut at a dot; names may hold dots themselves, so the known body decides."""
        candidates = [(text[:k], text[k + 1 :]) for k, c in enumerate(text) if c == "."]
        for body, label in candidates:
            if self.part.meant(body, "bodies") in self.build.bodies:
                return body, label
        known = [f"{body}.{label}" for body, points in self.build.body_points.items() for label in points]
        self.build.reader.refuse(
            place, f'"{text}" is no point of a body written "body.point"{did_you_mean(text, known)}'
        )

    def _named(self, body: str, label: str, place: Place) -> model.Point:
        full = self.part.meant(body, "bodies")
        found = self.build.bodies.get(full)
        position = None if found is None else dict(found.points).get(label)
        if found is None or position is None:
            what, known = ("body", self.build.bodies) if found is None else ("point", dict(found.points))
            name = body if found is None else label
            self.build.reader.refuse(place, f'unknown {what} "{name}"{did_you_mean(name, known)}')
        return model.Point(full, position, label)


def _linear_actuator(e: _Element) -> model.LinearActuator:
    return model.LinearActuator(
        **e.common,
        **e.points("foot", "head"),
        **e.joint(),
        **e.sign(),
        **e.as_given("ends"),
        **e.turning("axis"),
        **e.numbers("lower", "upper", "rod"),
        **e.plain("force", "speed"),
        **e.direction("direction"),
    )


def _gear(e: _Element) -> model.Gear:
    return model.Gear(**e.common, **e.joint(), **e.numbers("ratio", "offset"))


def _belt(e: _Element) -> model.Belt:
    radii = e.numbers("driving_radius", "driven_radius", "offset")
    return model.Belt(**e.common, **e.joint(), **radii, **e.as_given("crossed"), **e.joint("carrier"))


def _differential(e: _Element) -> model.Differential:
    scope, entry = e.part.scope, e.entry
    joints = [e.build.joint(e.part, name, entry.at("joints")) for name in entry["joints"]]
    matrix = tuple(scope.numbers(row) for row in entry["matrix"])
    offset = entry.get("offset", ())
    if len(matrix) != len(joints) or any(len(row) != len(entry["motors"]) for row in matrix):
        expected = f"{len(joints)} rows (joints) of {len(entry['motors'])} numbers (motors)"
        e.build.reader.refuse(entry.at("matrix"), f"expected a matrix of {expected}")
    if offset and len(offset) != len(joints):
        e.build.reader.refuse(entry.at("offset"), f"offset has {len(offset)} numbers, expected {len(joints)}")
    return model.Differential(
        **e.common,
        joints=tuple(joint.name for joint in joints),
        motors=tuple(e.part.named(motor) for motor in entry["motors"]),
        matrix=matrix,
        offset=tuple(scope.number(x, dimension("position", j.type)) for x, j in zip(offset, joints)),
    )


def _four_bar(e: _Element) -> model.FourBar:
    scope = e.part.scope
    lengths = ("ground", "crank", "coupler", "rocker")
    loops = tuple(
        model.FourBarLoop(**{key: scope.number(loop[key]) for key in lengths}, branch=_branch(e, loop))
        for loop in e.entry["loops"]
    )
    return model.FourBar(**e.common, **e.joint(), loops=loops, **e.numbers("crank_offset", "offset"))


def _branch(e: _Element, loop: Entry) -> int:
    if loop.get("branch", 1) == 0:
        e.build.reader.refuse(loop.at("branch"), "branch is 0, expected 1 or -1")
    return loop.get("branch", 1)


def _coupling(e: _Element) -> model.Coupling:
    scope, terms = e.part.scope, e.entry["terms"]
    joints = [e.build.joint(e.part, name, e.entry.at("terms", name)) for name in terms]
    if not joints:
        e.build.reader.refuse(e.entry.at("terms"), "a coupling has one joint or more")
    offset = scope.number(e.entry.get("offset", 0.0), dimension("position", joints[0].type))
    parts = tuple((joint.name, scope.number(x)) for joint, x in zip(joints, terms.values()))
    return model.Coupling(**e.common, terms=parts, offset=offset)


def _spring(e: _Element) -> model.Spring:
    numbers = e.numbers("stiffness", "free_length", "pretension")
    return model.Spring(**e.common, **e.points("first", "second"), **numbers, **e.as_given("kind", "ends"))


def _torsion_spring(e: _Element) -> model.TorsionSpring:
    numbers = e.of_joint(stiffness="stiffness", free="position", pretension="effort")
    return model.TorsionSpring(**e.common, **e.joint(), **numbers)


def _damper(e: _Element) -> model.Damper:
    return model.Damper(**e.common, **e.points("first", "second"), **e.numbers("damping"))


def _bar(e: _Element) -> model.Bar:
    return model.Bar(**e.common, **e.points("pivot"), **e.numbers("length"), **e.turning("axis"), **e.sign())


def _slider(e: _Element) -> model.Slider:
    bar = e.part.meant(e.entry["bar"], "elements")
    if bar not in e.bars:
        e.build.reader.refuse(e.entry.at("bar"), f'unknown bar "{e.entry["bar"]}"{did_you_mean(bar, e.bars)}')
    return model.Slider(**e.common, bar=bar, **e.points("guide"), **e.direction("direction"))


def _loop_closure(e: _Element) -> model.LoopClosure:
    turns: dict[str, Any] = {
        key: e.part.mirror.placement(Placement(rotation(e.entry[key], e.part.scope))).rotation
        for key in ("rotation", "second_rotation")
        if key in e.entry
    }
    dependent = [e.build.joint(e.part, name, e.entry.at("dependent")).name for name in e.entry.get("dependent", ())]
    return model.LoopClosure(
        **e.common,
        **e.as_given("kind", "directions"),
        **e.points("first", "second"),
        **e.turning("axis", "second_axis"),
        **e.direction("direction"),
        **e.numbers("length"),
        **turns,
        dependent=tuple(dependent),
    )


_READERS: dict[str, Callable[[_Element], model.Element]] = {
    "linear_actuator": _linear_actuator,
    "gear": _gear,
    "belt": _belt,
    "differential": _differential,
    "four_bar": _four_bar,
    "coupling": _coupling,
    "spring": _spring,
    "torsion_spring": _torsion_spring,
    "damper": _damper,
    "bar": _bar,
    "slider": _slider,
    "loop_closure": _loop_closure,
}


def _rule(build: Build, entry: Entry, scope: Scope, elements: Iterable[str]) -> model.Share | model.Stiffness:
    supports = [*build.joints, *elements]

    def check(name: str, place: Place) -> None:
        if name not in supports:
            build.reader.refuse(place, f'unknown joint or element "{name}"{did_you_mean(name, supports)}')

    note = "\n".join(remarks(entry))
    if "support" in entry:
        check(entry["support"], entry.at("support"))
        if "direction" in entry or "parts" in entry:
            build.reader.refuse(entry.place, 'the weights of a support have no "direction" and no "parts"')
        weights = scope.numbers(entry["weights"]) if "weights" in entry else (1.0,) * 6
        return model.Stiffness(entry["support"], weights, note)
    if not {"body", "direction", "parts"} <= set(entry) or "weights" in entry:
        build.reader.refuse(entry.place, "a rule has body, direction and parts, or support and weights")
    body = build.body(build.all_parts[0], entry, "body")
    for name in entry["parts"]:
        check(name, entry.at("parts", name))
    parts = tuple((name, scope.number(x)) for name, x in entry["parts"].items())
    if not math.isclose(sum(x for _, x in parts), 1.0, rel_tol=1e-9):
        build.reader.refuse(entry.at("parts"), "the parts do not sum to 1")
    return model.Share(body or WORLD, entry["direction"], parts, entry.get("others", "nothing"), note)
