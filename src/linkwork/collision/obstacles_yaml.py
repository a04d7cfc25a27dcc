"""The .obstacles.yaml format: obstacles by name, in any unit, each with a type; read and written.

units: {length: mm, angle: deg}
obstacles:
  table: {type: box, size: [800, 1200, 50], placement: [500, 0, -25]}
  pole:  {type: cylinder, radius: 40, length: 900, placement: {xyz: [300, 300, 450], rpy: [0, 10,
         0]}}
  floor: {type: half_space, normal: z, offset: -50}
"""

from __future__ import annotations

import os
from typing import Any

import numpy as np

from linkwork.collision import shapes
from linkwork.collision.fields import Cloud, HeightField
from linkwork.collision.obstacles import Obstacle, Obstacles
from linkwork.errors import InvalidFile, InvalidInput, LinkworkError, NotPossible
from linkwork.formats.files import write_atomically
from linkwork.formats.meshes import MeshFinder
from linkwork.formats.robot_yaml import write
from linkwork.formats.robot_yaml.document import Node
from linkwork.formats.robot_yaml.placements import axis, placement
from linkwork.formats.robot_yaml.reading import Kind, Reader
from linkwork.formats.robot_yaml.schema import (
    Either,
    Entry,
    Listed,
    Named,
    Numbers,
    Record,
    Text,
    Variant,
)
from linkwork.formats.robot_yaml.units import Units
from linkwork.formats.robot_yaml.variables import Scope, empty_scope
from linkwork.formats.robot_yaml.vocabulary import AXIS, LENGTH, PLACEMENT, PLAIN, POSITION, UNITS

_POINTS = Listed(POSITION)
_COMMON: dict[str, Kind] = {"type": Text(), "note": Text()}


def _record(word: str, needed: dict[str, Kind], **more: Kind) -> Record:
    return Record(word.replace("_", " "), {**_COMMON, **needed, **more}, tuple(needed))


OBSTACLE = Variant(
    "obstacle",
    {
        "sphere": _record("sphere", {"radius": LENGTH}, center=POSITION),
        "capsule": _record("capsule", {"start": POSITION, "end": POSITION, "radius": LENGTH}),
        "tapered_capsule": _record(
            "tapered_capsule",
            {"start": POSITION, "end": POSITION, "start_radius": LENGTH, "end_radius": LENGTH},
        ),
        "box": _record("box", {"size": POSITION}, placement=PLACEMENT),
        "cylinder": _record("cylinder", {"radius": LENGTH, "length": LENGTH}, placement=PLACEMENT),
        "half_space": _record("half_space", {"normal": AXIS, "offset": LENGTH}),
        "convex": _record("convex", {"vertices": _POINTS}, placement=PLACEMENT, margin=LENGTH),
        "mesh": Record(
            "mesh",
            {
                **_COMMON,
                "file": Text(),
                "scale": Either(
                    "a scale or three of them", {"text": PLAIN, "list": Numbers("number")}
                ),
                "vertices": _POINTS,
                "faces": Listed(Numbers("number")),
                "placement": PLACEMENT,
                "margin": LENGTH,
            },
            (),
            (("file", "vertices"),),
        ),
        "cloud": _record("cloud", {"points": _POINTS}, radius=LENGTH),
        "height_field": _record(
            "height_field",
            {"heights": Listed(Numbers("length", None, 100_000))},
            cell=Numbers("length", 2),
            origin=POSITION,
        ),
    },
)
DOCUMENT = Record(
    "scene", {"units": UNITS, "obstacles": Named(OBSTACLE, "name"), "note": Text()}, ("obstacles",)
)


def obstacles_of(node: Node, source: str, meshes: MeshFinder) -> Obstacles:
    """The obstacles of a parsed document."""
    plain = Reader(source, Units())
    told = node.value.get("units") if node.kind == "map" else None
    units = Units() if told is None else Units(**UNITS.read(told, "units", plain))
    reader = Reader(source, units)
    entries = DOCUMENT.read(node, "", reader)["obstacles"]
    scope = empty_scope(reader)
    shapes: list[Obstacle] = []
    for name, entry in entries.items():
        try:
            shapes.append(_shape(name, entry, scope, meshes))
        except InvalidFile:
            raise
        except LinkworkError as error:
            reader.refuse(entry.place, str(error))
    return Obstacles(shapes)


def _shape(name: str, entry: Entry, scope: Scope, meshes: MeshFinder) -> Obstacle:
    """One obstacle. The shapes themselves check sizes; who calls adds the place."""
    kind = entry["type"]
    values = {
        key: _plain(entry[key], scope) for key in entry if key not in ("type", "note", "placement")
    }
    pose = placement(entry, "placement", scope, None)
    match kind:
        case "sphere":
            return shapes.Sphere(values.get("center", (0.0, 0.0, 0.0)), values["radius"], name)
        case "half_space":
            return shapes.HalfSpace(axis(entry["normal"], scope), values["offset"], name)
        case "capsule":
            return shapes.Capsule(**values, name=name)
        case "tapered_capsule":
            return shapes.TaperedCapsule(**values, name=name)
        case "box":
            return shapes.Box(values["size"], pose, name)
        case "cylinder":
            return shapes.Cylinder(values["radius"], values["length"], pose, name)
        case "convex":
            return shapes.Convex(
                np.array(values["vertices"]), pose, name, values.get("margin", 0.0)
            )
        case "mesh":
            return _mesh(name, entry, values, pose, scope, meshes)
        case "cloud":
            return Cloud(np.array(values["points"]), values.get("radius", 0.0), name)
    rows = {len(row) for row in values["heights"]}
    if len(rows) > 1:
        raise InvalidInput(
            f"heights has rows of {min(rows)} and of {max(rows)} numbers, expected equally "
            "long ones"
        )
    rest = {key: values[key] for key in ("cell", "origin") if key in values}
    return HeightField(np.array(values["heights"]), **rest, name=name)


def _mesh(
    name: str, entry: Entry, values: dict[str, Any], pose: Any, scope: Scope, meshes: MeshFinder
) -> shapes.Mesh:
    margin = values.get("margin", 0.0)
    if "file" in entry:
        mesh = shapes.Mesh.read(meshes.find(entry["file"]), values.get("scale", 1.0), pose, name)
        return mesh if not margin else mesh.grown(margin)
    if "vertices" not in entry or "faces" not in entry:
        scope.reader.refuse(entry.place, 'mesh has no "file", and not both "vertices" and "faces"')
    faces = np.array(values["faces"])
    if (faces.size and not (np.abs(faces) < 1e9).all()) or not np.array_equal(
        faces, np.rint(faces)
    ):
        scope.reader.refuse(entry.at("faces"), "faces holds a number that is no index")
    return shapes.Mesh(np.array(values["vertices"]), faces.astype(np.int64), pose, name, margin)


def _plain(value: Any, scope: Scope) -> Any:
    """Numbers of the file, also those with units of their own, as floats."""
    if isinstance(value, tuple):
        return tuple(_plain(part, scope) for part in value)
    return value if isinstance(value, str) else scope.number(value)


def write_obstacles_yaml(obstacles: Obstacles, path: str | os.PathLike[str]) -> None:
    """Write a file that `load_obstacles` gives back without loss, in metres."""
    write_atomically(path, obstacles_text(obstacles))


def obstacles_text(obstacles: Obstacles) -> str:
    """The text of a .obstacles.yaml."""
    entries = {write._text(str(shape.name)): _entry(shape) for shape in obstacles}
    if not entries:
        return "obstacles: {}\n"
    lines = [line for name, entry in entries.items() for line in write._entry(name, entry, 2)]
    return "\n".join(["obstacles:", *lines]) + "\n"


def _entry(shape: Obstacle) -> dict[str, Any]:
    number, numbers = write._number, write._numbers
    entry: dict[str, Any] = {"type": shape.kind}
    match shape:
        case shapes.Sphere():
            entry |= {"center": numbers(shape.center), "radius": number(shape.radius)}
        case shapes.Capsule():
            entry |= {
                "start": numbers(shape.start),
                "end": numbers(shape.end),
                "radius": number(shape.radius),
            }
        case shapes.TaperedCapsule():
            entry |= {"start": numbers(shape.start), "end": numbers(shape.end)}
            entry |= {key: number(getattr(shape, key)) for key in ("start_radius", "end_radius")}
        case shapes.Box():
            entry |= {"size": numbers(shape.size)} | write._placed(shape.pose)
        case shapes.Cylinder():
            entry |= {
                "radius": number(shape.radius),
                "length": number(shape.length),
            } | write._placed(shape.pose)
        case shapes.HalfSpace():
            entry |= {"normal": numbers(shape.normal), "offset": number(shape.offset)}
        case shapes.Convex():
            entry |= (
                {"vertices": [numbers(p) for p in shape.vertices]}
                | write._placed(shape.pose)
                | _margin(shape)
            )
        case shapes.Mesh():
            entry |= {
                "vertices": [numbers(p) for p in shape.vertices],
                "faces": [numbers(f) for f in shape.faces],
            }
            entry |= write._placed(shape.pose) | _margin(shape)
        case Cloud():
            entry |= {"points": [numbers(p) for p in shape.points], "radius": number(shape.radius)}
        case HeightField():
            entry |= {"heights": [numbers(row) for row in shape.heights]}
            entry |= {"cell": numbers(shape.cell), "origin": numbers(shape.origin)}
        case _:
            raise NotPossible(f"a shape of kind {shape.kind} cannot be written")
    return entry


def _margin(shape: Any) -> dict[str, Any]:
    return {"margin": write._number(shape.margin)} if shape.margin else {}
