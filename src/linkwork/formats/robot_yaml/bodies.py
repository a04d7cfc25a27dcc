"""Bodies of a .robot.yaml: matter, points, lines and shapes."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator

from linkwork.errors import InvalidFile, did_you_mean
from linkwork.formats.robot_yaml.context import Build
from linkwork.formats.robot_yaml.parts import Part, own_names
from linkwork.formats.robot_yaml.schema import Entry
from linkwork.formats.robot_yaml.shapes import Points, read_shape
from linkwork.formats.robot_yaml.variables import Scope, remarks
from linkwork.model.body import Body, Shape
from linkwork.model.inertia import MassProperties, steiner
from linkwork.model.number import ZERO, Matrix, matrix_sum, scale


def read_bodies(build: Build) -> None:
    """Every body of every part."""
    for full, (part, entry) in own_names(build.all_parts, "bodies").items():
        build.places["body", full] = part.placed or entry
        build.body_points[full] = entry.get("points", {})
        build.bodies[full] = _body(build, full, part, entry)


def _body(build: Build, name: str, part: Part, entry: Entry) -> Body:
    scope, mirror = part.scope, part.mirror
    named = entry.get("points", {})
    points = [(label, mirror.position(scope.numbers(p))) for label, p in named.items()]
    both = entry.get("shapes", ())
    colliding = [
        read_shape(build, part, shape, named) for shape in (*both, *entry.get("collisions", ()))
    ]
    return Body(
        name,
        mirror.matter(matter(entry, scope)),
        tuple(points),
        _lines(build, entry) if "lines" in entry else (),
        tuple(_visuals(build, part, (*both, *entry.get("visuals", ())), named)),
        tuple(colliding),
        has_inertia="mass" in entry or "inertia" in entry,
        note="\n".join(remarks(entry)),
    )


def matter(entry: Entry, scope: Scope) -> MassProperties:
    """Mass, centre of mass and inertia of a body or DH row,
    turned to the inertia about the centre of mass."""
    mass = scope.number(entry["mass"]) if "mass" in entry else 0.0
    com = scope.numbers(entry["com"]) if "com" in entry else ZERO
    written = entry.get("inertia")
    if written is None:
        return MassProperties(mass, com)
    if isinstance(written, tuple):
        xx, yy, zz = scope.numbers(written)
        return MassProperties(mass, com, ((xx, 0.0, 0.0), (0.0, yy, 0.0), (0.0, 0.0, zz)))
    xx, yy, zz, xy, xz, yz = (
        scope.number(written.get(each, 0.0)) for each in ("xx", "yy", "zz", "xy", "xz", "yz")
    )
    inertia: Matrix = ((xx, xy, xz), (xy, yy, yz), (xz, yz, zz))
    if written.get("about", "com") == "joint":
        a, b, c = steiner(mass, com)
        inertia = matrix_sum(inertia, (scale(-1.0, a), scale(-1.0, b), scale(-1.0, c)))
    return MassProperties(mass, com, inertia)


def _lines(build: Build, entry: Entry) -> tuple[tuple[str, str], ...]:
    """Pairs of points; a longer list is a polyline."""
    points, pairs = entry.get("points", {}), []
    for line in entry.get("lines", ()):
        if len(line) < 2:
            build.reader.refuse(
                entry.at("lines"), f"a line has {len(line)} points, expected two or more"
            )
        for label in line:
            if label not in points:
                build.reader.refuse(
                    entry.at("lines"), f'unknown point "{label}"{did_you_mean(label, points)}'
                )
        pairs += list(itertools.pairwise(line))
    return tuple(pairs)


def _visuals(build: Build, part: Part, entries: Iterable[Entry], points: Points) -> Iterator[Shape]:
    """What is drawn: a shape that contradicts itself is passed over, the others stay."""
    for entry in entries if build.reader.visuals else ():
        try:
            yield read_shape(build, part, entry, points)
        except InvalidFile as error:
            if build.reader.passed is None:
                raise
            build.reader.passed.detail(error, "it is not drawn")
