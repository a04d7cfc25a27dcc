"""Shapes of a .robot.yaml: by size and placement, or round ones from one point to another."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeAlias

from linkwork.errors import did_you_mean
from linkwork.formats.robot_yaml.context import Build
from linkwork.formats.robot_yaml.parts import Part
from linkwork.formats.robot_yaml.placements import placement
from linkwork.formats.robot_yaml.schema import Entry
from linkwork.formats.robot_yaml.variables import Scope
from linkwork.model.body import Shape
from linkwork.model.number import Number, Vector, add, is_symbol, norm, scale, subtract
from linkwork.model.placement import Placement
from linkwork.model.rotation import along

Points: TypeAlias = Mapping[str, Any]
"""Named points of a body, as its entry has them."""

_SIZES = {"box": 3, "sphere": 1, "cylinder": 2, "capsule": 2}
_ENDS = ("start", "end", "radius")
_ROUND = ("cylinder", "capsule")


def read_shape(build: Build, part: Part, entry: Entry, points: Points) -> Shape:
    """One shape of a body that has these points; what contradicts itself is refused with its
    line."""
    scope, kind, mirror = part.scope, entry["kind"], part.mirror
    refuse = build.reader.refuse
    mesh: str | None = None
    size: tuple[Number, ...] = ()
    T: Placement | None = None
    if kind == "mesh":
        if "mesh" not in entry or "size" in entry:
            refuse(
                entry.place,
                'a mesh has the key "mesh" with its file, and "scale" in the place of "size"',
            )
        mesh = build.meshes.find(entry["mesh"])
        scale = entry.get("scale", 1.0)
        scales = scope.numbers(scale) if isinstance(scale, tuple) else (scope.number(scale),) * 3
        size = mirror.position(scales)
    if any(key in entry for key in _ENDS):
        size, T = _between(build, scope, entry, points)
    elif mesh is None:
        size = _size(build, scope, entry)
    color = tuple(scope.plain_number(c) for c in entry.get("color", ()))
    if color and not (len(color) in (3, 4) and all(0.0 <= c <= 1.0 for c in color)):
        refuse(
            entry.at("color"),
            f"color is {color}, expected red, green, blue and optionally alpha from 0 to 1",
        )
    T = mirror.placement(placement(entry, "placement", scope, None) if T is None else T)
    r, g, b, a = (*color, 1.0)[:4] if color else (0.0,) * 4
    return Shape(kind, size, T, (r, g, b, a) if color else None, mesh, entry.get("name"))


def _size(build: Build, scope: Scope, entry: Entry) -> tuple[Number, ...]:
    """The numbers under "size", as many as the kind has."""
    kind, refuse = entry["kind"], build.reader.refuse
    if "mesh" in entry or "scale" in entry or "size" not in entry:
        instead = ' (or "start", "end" and "radius")' if kind in _ROUND else ""
        refuse(entry.place, f'a {kind} has the key "size"{instead}, and neither "mesh" nor "scale"')
    numbers = entry["size"]
    size = scope.numbers(numbers) if isinstance(numbers, tuple) else (scope.number(numbers),)
    if len(size) != _SIZES[kind]:
        refuse(entry.at("size"), f"size has {len(size)} numbers, a {kind} has {_SIZES[kind]}")
    if any(not is_symbol(x) and x < 0.0 for x in size):
        refuse(entry.at("size"), f"a size of the {kind} is negative")
    return size


def _between(
    build: Build, scope: Scope, entry: Entry, points: Points
) -> tuple[tuple[Number, ...], Placement]:
    """(size, placement) of a cylinder or capsule whose axis goes from "start" to "end"."""
    kind, refuse = entry["kind"], build.reader.refuse
    if kind not in _ROUND or any(key in entry for key in ("mesh", "scale", "size", "placement")):
        wanted = "belong to a cylinder or capsule, which then has neither size nor placement"
        refuse(entry.place, f'"start", "end" and "radius" {wanted}')
    missing = [key for key in _ENDS if key not in entry]
    if missing:
        refuse(
            entry.place,
            f'a {kind} from one point to another has "start", "end" and "radius", without '
            f"{missing[0]}",
        )
    radius = scope.number(entry["radius"])
    if not is_symbol(radius) and radius < 0.0:
        refuse(entry.at("radius"), f"the radius of the {kind} is negative")
    start, end = (_end(build, scope, entry, key, points) for key in ("start", "end"))
    way = subtract(end, start)
    middle = scale(0.5, add(start, end))
    if not any(is_symbol(x) for x in way):
        return (radius, norm(way)), Placement(along(way), middle)
    # a live length: its direction must not change with it
    moving = [k for k, x in enumerate(way) if is_symbol(x) or x != 0.0]
    if len(moving) != 1:
        refuse(
            entry.place,
            f"a {kind} with live variables in its ends goes along x, y or z of its body",
        )
    axis: list[Number] = [0.0, 0.0, 0.0]
    axis[moving[0]] = 1.0
    return (radius, norm((0.0, 0.0, way[moving[0]]))), Placement(
        along((axis[0], axis[1], axis[2])), middle
    )


def _end(build: Build, scope: Scope, entry: Entry, key: str, points: Points) -> Vector:
    """A position, given by its numbers or as a point of the body."""
    end = entry[key]
    if isinstance(end, tuple):
        return scope.numbers(end)
    if end not in points:
        build.reader.refuse(entry.at(key), f'unknown point "{end}"{did_you_mean(end, points)}')
    return scope.numbers(points[end])
