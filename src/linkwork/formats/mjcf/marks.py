"""Marks: what linkwork writes beside MJCF's own words, so that it reads back what it wrote.

They are <custom><text name="linkwork.kind:name" data="..."/>, which MuJoCo keeps and no simulation
looks at:

    point     site -> the name of the body's point that the site stands for
    between   joint -> a massless body that stood behind it: its frame (position, then the rows of
              the rotation, seen from the body that holds the joint, all joints at their references)
              and its name
    limits    joint -> lower, upper, velocity, effort where MJCF cannot hold them; "inf" where there
              is none
    acceleration  joint -> its largest accelerations, where it has limits of them
    end       site -> the closure of which it is an end: no frame of the model
    dependent closure -> the joints that it decides, as a JSON list
    coupling  equality -> it is a coupling, whose first joint keeps its coordinate, and no mimic
              rule
    spring    joint -> the name of its spring
    element   a closed-loop element as JSON (element_marks.py), which MJCF says in other words
    row       "section:name" of an equality, a tendon or an actuator that says such an element once
              more
    points    massless body behind a joint -> its points, as a JSON list of [name, [x, y, z]]
    body      "world": the model has a body of that name, though nothing is on it
    order     "bodies": the names of all bodies in the model's order, as a JSON list, where it is
              not the file's
"""

from __future__ import annotations

import json
import math
from dataclasses import dataclass, field, replace

from linkwork.errors import InvalidModel
from linkwork.formats.mjcf.element_marks import from_text
from linkwork.formats.mjcf.joints import Between
from linkwork.formats.xml import Element
from linkwork.model import elements as loops
from linkwork.model.joint import Limits
from linkwork.model.number import Vector
from linkwork.model.placement import Placement
from linkwork.model.rotation import from_matrix

PREFIX = "linkwork."
KINDS = (
    *(
        "point",
        "between",
        "limits",
        "acceleration",
        "end",
        "dependent",
        "coupling",
        "spring",
        "body",
        "order",
    ),
    *("element", "row", "points"),
)


@dataclass
class Marks:
    """The marks of a file, by what they are about."""

    points: dict[str, str] = field(default_factory=dict)
    between: dict[str, Between] = field(default_factory=dict)
    limits: dict[str, tuple[Limits, ...]] = field(default_factory=dict)
    accelerations: dict[str, tuple[float, ...]] = field(default_factory=dict)
    ends: dict[str, str] = field(default_factory=dict)
    dependent: dict[str, tuple[str, ...]] = field(default_factory=dict)
    couplings: dict[str, str] = field(default_factory=dict)
    springs: dict[str, str] = field(default_factory=dict)
    bodies: dict[str, str] = field(default_factory=dict)
    order: tuple[str, ...] = ()
    elements: list[loops.Element] = field(default_factory=list)
    rows: dict[str, str] = field(default_factory=dict)
    between_points: dict[str, tuple[tuple[str, Vector], ...]] = field(default_factory=dict)


def marks(root: Element) -> Marks:
    marked = Marks()
    for text in (each for custom in root.all("custom") for each in custom.all("text")):
        label = text.attributes.get("name", "")
        kind, divided, name = label.removeprefix(PREFIX).partition(":")
        if not label.startswith(PREFIX) or not divided or kind not in KINDS:
            continue
        data = text.text("data")
        match kind:
            case "point":
                marked.points[name] = data
            case "between":
                marked.between[name] = _between(text, data)
            case "limits":
                marked.limits[name] = _limits(text, data)
            case "acceleration":
                marked.accelerations[name] = tuple(_numbers(text, data.split()))
            case "end":
                marked.ends[name] = data
            case "dependent":
                marked.dependent[name] = _names(text, data)
            case "coupling":
                marked.couplings[name] = data
            case "spring":
                marked.springs[name] = data
            case "body":
                marked.bodies[name] = data
            case "order":
                marked.order = _names(text, data)
            case "element":
                marked.elements.append(from_text(text, data))
            case "row":
                marked.rows[name] = data
            case "points":
                marked.between_points[name] = _points(text, data)
    for name, largest in marked.accelerations.items():
        if len(largest) == len(marked.limits.get(name, ())):
            pairs = zip(marked.limits[name], largest)
            marked.limits[name] = tuple(replace(limit, acceleration=x) for limit, x in pairs)
    return marked


def _limits(text: Element, data: str) -> tuple[Limits, ...]:
    numbers = _numbers(text, data.split())
    if not numbers or len(numbers) % 4:
        raise text.error("has data that is not four limits a coordinate")
    return tuple(Limits(*numbers[k : k + 4]) for k in range(0, len(numbers), 4))


def _names(text: Element, data: str) -> tuple[str, ...]:
    try:
        names = json.loads(data)
    except (ValueError, RecursionError):
        names = None
    if not isinstance(names, list) or not all(isinstance(each, str) for each in names):
        raise text.error("has data that is not a list of names")
    return tuple(names)


def _points(text: Element, data: str) -> tuple[tuple[str, Vector], ...]:
    try:
        points = [(label, (float(x), float(y), float(z))) for label, (x, y, z) in json.loads(data)]
    except (ValueError, TypeError, RecursionError):
        points = [(None, (math.nan,) * 3)]
    if not all(isinstance(label, str) and all(map(math.isfinite, at)) for label, at in points):
        raise text.error("has data that is not a list of points")
    return tuple(points)


def _between(text: Element, data: str) -> Between:
    words = data.split(" ", 12)
    numbers = _numbers(text, words[:12])
    if len(words) != 13 or not words[12] or not all(map(math.isfinite, numbers)):
        raise text.error("has data that is not a frame and a name")
    x, y, z, *R = numbers
    try:
        return Between(words[12], Placement(from_matrix((R[0:3], R[3:6], R[6:9])), (x, y, z)))
    except InvalidModel as error:
        raise text.error(f"has data that is not a frame: {error}") from None


def _numbers(text: Element, words: list[str]) -> list[float]:
    try:
        numbers = [float(word) for word in words]
    except ValueError:
        raise text.error("has data that are not numbers") from None
    if any(map(math.isnan, numbers)):
        raise text.error("has data that are not numbers")
    return numbers
