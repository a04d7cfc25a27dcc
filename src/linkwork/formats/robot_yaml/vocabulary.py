"""Vocabulary: every key of a .robot.yaml, as data."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from linkwork.formats.robot_yaml.drawn import Drawn
from linkwork.formats.robot_yaml.reading import Kind
from linkwork.formats.robot_yaml.schema import (
    Choice,
    Either,
    Flag,
    Integer,
    Listed,
    Name,
    Named,
    Number,
    Numbers,
    Record,
    Text,
    Variant,
)
from linkwork.formats.robot_yaml.units import ANGLES, LENGTHS, MASSES
from linkwork.formats.robot_yaml.variables import REMARKS, VariableKind
from linkwork.model.element_fields import Role, fields_of, first_paragraph
from linkwork.model.elements import DIRECTIONS, KINDS, OTHERS, FourBarLoop
from linkwork.model.inertia import LEVELS
from linkwork.model.joint import TYPES

VERSION = 1
LENGTH, ANGLE, PLAIN = Number("length"), Number("angle"), Number("number")
COORDINATE = Number(None)
POSITION = Numbers("length")

AXIS = Either(
    'an axis such as "z", "-x" or a list of 3 numbers',
    {"text": Choice("axis", ("x", "y", "z", "-x", "-y", "-z")), "list": Numbers("number")},
)

DH_ROW: dict[str, Kind] = {"a": LENGTH, "alpha": ANGLE, "d": LENGTH, "theta": ANGLE}
CONVENTION = Choice("DH convention", ("standard", "modified"))

ROTATIONS: dict[str, Kind] = {
    "zxz": Numbers("angle"),
    "rpy": Numbers("angle"),
    "quaternion": Numbers("number", 4),
    "matrix": Listed(Numbers("number"), 3),
    "axis_angle": Record("rotation", {"axis": AXIS, "angle": ANGLE}, ("axis", "angle")),
    "euler": Record(
        "rotation", {"sequence": Name(), "angles": Numbers("angle")}, ("sequence", "angles")
    ),
    "dh": Record("DH row", {**DH_ROW, "convention": CONVENTION}),
}
PLACEMENT = Either(
    "a position, or a mapping with xyz and a rotation",
    {
        "list": POSITION,
        "map": Record(
            "placement",
            {"xyz": POSITION, "point": Name(), **ROTATIONS},
            one_of=(("xyz", "point"), tuple(ROTATIONS)),
        ),
    },
)
ROTATION = Record(
    "rotation",
    {key: kind for key, kind in ROTATIONS.items() if key != "dh"},
    one_of=(tuple(ROTATIONS),),
)

SHAPE_KINDS = ("box", "sphere", "cylinder", "capsule", "mesh")
END = Either("a point of the body by its name, or a position", {"text": Name(), "list": POSITION})
SHAPE = Record(
    "shape",
    {
        "kind": Choice("shape", SHAPE_KINDS),
        "start": END,
        "end": END,
        "radius": LENGTH,
        "size": Either(
            "a size or a list of sizes", {"text": LENGTH, "list": Numbers("length", None, 3)}
        ),
        "scale": Either("a scale or three of them", {"text": PLAIN, "list": Numbers("number")}),
        "placement": PLACEMENT,
        "color": Numbers("number", None, 4),
        "mesh": Name(),
        "name": Name(),
    },
    ("kind",),
    keys={
        "size": "box: three sides; sphere: radius; cylinder, capsule: radius and length",
        "scale": "of a mesh: factor of its file's numbers",
        "placement": "where it sits in axes of the body",
        "color": "red, green, blue and optionally opacity, 0 to 1",
        "mesh": "file of a mesh, beside the description",
    },
)

INERTIA = Either(
    "the three diagonal entries, or a mapping with xx, yy, zz",
    {
        "list": Numbers("inertia"),
        "map": Record(
            "inertia",
            {
                **{key: Number("inertia") for key in ("xx", "yy", "zz", "xy", "xz", "yz")},
                "about": Choice("reference", ("com", "joint")),
            },
            ("xx", "yy", "zz"),
        ),
    },
)
MATTER: dict[str, Kind] = {"mass": Number("mass"), "com": POSITION, "inertia": INERTIA}

BODY = Record(
    "body",
    {
        **MATTER,
        "points": Named(POSITION, "point"),
        "lines": Listed(Listed(Name(), 100)),
        "shapes": Listed(SHAPE),
        "visuals": Drawn(SHAPE),
        "collisions": Listed(SHAPE),
        **REMARKS,
    },
    keys={
        "mass": "left out: it weighs nothing",
        "com": "centre of mass in axes of the body",
        "inertia": "about the centre of mass, in axes of the body",
        "points": "named places on the body, for elements, lines and results",
        "lines": "names of points to be joined in drawings",
        "shapes": "drawn, and counted in collisions",
        "visuals": "only drawn",
        "collisions": "only counted in collisions",
    },
)

LIMITS_OF_ONE = Record(
    "limit",
    {
        key: Number(None, infinite=True)
        for key in ("lower", "upper", "velocity", "effort", "acceleration")
    },
)
LIMITS = Either(
    "[lower, upper], or a mapping with lower, upper, velocity, effort, acceleration",
    {"list": Numbers(None, 2), "map": LIMITS_OF_ONE, "maps": Listed(LIMITS_OF_ONE, 6)},
)
RESISTANCE = Either(
    "a number, or one a coordinate", {"text": COORDINATE, "list": Numbers(None, None, 6)}
)
MIMIC = Record("mimic", {"joint": Name(), "multiplier": PLAIN, "offset": COORDINATE}, ("joint",))

JOINT = Record(
    "joint",
    {
        "type": Choice("joint type", TYPES),
        "parent": Name(),
        "child": Name(),
        "placement": PLACEMENT,
        "axis": AXIS,
        "second_axis": AXIS,
        "pitch": LENGTH,
        "limits": LIMITS,
        "mimic": MIMIC,
        "damping": RESISTANCE,
        "friction": RESISTANCE,
        "armature": RESISTANCE,
        **REMARKS,
    },
    ("type", "child"),
    keys={
        "parent": "left out: the world",
        "child": "the body that it moves",
        "placement": "of the joint's frame in axes of the parent; the child's frame where the "
        "joint is at zero",
        "axis": "in the joint's frame",
        "second_axis": "of a universal joint",
        "pitch": "of a helical joint: length for a turn",
        "limits": "lower and upper end; a mapping also takes velocity, effort and acceleration",
        "mimic": "follows another joint: multiplier * q + offset",
        "damping": "effort for each speed",
        "friction": "dry friction: largest effort without motion",
        "armature": "inertia of the rotor, seen from the joint",
    },
)
FRAME = Record("frame", {"body": Name(), "placement": PLACEMENT, **REMARKS}, ("body",))

TABLE_ROW = Record(
    "DH row",
    {
        "link": Name(),
        "name": Name(),
        "joint": Choice("joint type", ("revolute", "prismatic")),
        **DH_ROW,
        "offset": COORDINATE,
        **MATTER,
        "parent": Integer(),
        "limits": LIMITS,
        "shapes": Listed(SHAPE),
        **dict.fromkeys(("damping", "friction", "armature"), RESISTANCE),
        **REMARKS,
    },
)
DH_TABLE = Record(
    "DH table",
    {
        "convention": CONVENTION,
        "base": PLACEMENT,
        "base_shapes": Listed(SHAPE),
        "parent": Name(),
        "rows": Listed(TABLE_ROW, 1000),
        **REMARKS,
    },
    ("convention", "rows"),
)

POINT = Either(
    'a point such as "body.point", or a mapping with body and at',
    {
        "text": Name(),
        "map": Record(
            "point",
            {"body": Name(), "point": Name(), "at": POSITION},
            ("body",),
            (("point", "at"),),
        ),
    },
)
BRANCH = Integer(-1, 1)
NAMES = Listed(Name(), 1000)


def _kind(role: Role) -> Kind:
    """How a field of that role is written."""
    match role.kind:
        case "number":
            return Number(role.dimension, role.infinite)
        case "word":
            return Choice(role.what, role.choices)
        case "words":
            return Listed(Choice(role.what, role.choices), len(role.choices))
    return _WRITTEN[role.kind]


def _element(what: str, kind: type, common: Mapping[str, Kind]) -> Record:
    """The record of an element (or of a part of one): a key for each field of its class."""
    fields = fields_of(kind)
    return Record(
        what,
        {**common, **{key: _kind(field.role) for key, field in fields.items()}},
        tuple(key for key, field in fields.items() if field.is_needed),
        about=first_paragraph(kind),
        keys={key: field.description for key, field in fields.items()},
    )


_WRITTEN: dict[str, Kind] = {
    "point": POINT,
    "axis": AXIS,
    "direction": AXIS,
    "coordinate": COORDINATE,
    "coordinates": Numbers(None, None),
    "branch": BRANCH,
    "flag": Flag(),
    "joint": Name(),
    "joints": NAMES,
    "bar": Name(),
    "names": NAMES,
    "rotation": ROTATION,
    "matrix": Listed(Numbers("number", None), 100),
    "terms": Named(PLAIN, "joint"),
}
_WRITTEN["loops"] = Listed(_element("four-bar loop", FourBarLoop, {}), 10)

ELEMENTS: dict[str, Record] = {
    word: _element(word.replace("_", " "), kind, {"type": Name(), **REMARKS})
    for word, kind in KINDS.items()
}
SHARING = Record(
    "sharing rule",
    {
        "body": Name(),
        "direction": Choice("direction", DIRECTIONS),
        "parts": Named(PLAIN, "support"),
        "others": Choice("rule for other supports", OTHERS),
        "support": Name(),
        "weights": Numbers("number", 6),
        **REMARKS,
    },
    one_of=(("body", "support"),),
)

PAIRS = Listed(Numbers(None, 2), 100_000)
TRACK = Record(
    "track",
    {
        "start": COORDINATE,
        "rate": COORDINATE,
        "acceleration": Either(
            "a number, or a list of [time, acceleration]", {"text": COORDINATE, "list": PAIRS}
        ),
        "waypoints": PAIRS,
        "interpolation": Choice("interpolation", ("linear", "cubic", "quintic")),
        "polynomial": Numbers(None, None, 50),
        "pieces": Listed(
            Record(
                "piece",
                {"time": Number("time"), "polynomial": Numbers(None, None, 50)},
                ("time", "polynomial"),
            ),
            100_000,
        ),
    },
    one_of=(
        ("start", "waypoints", "polynomial", "pieces"),
        ("rate", "waypoints", "polynomial", "pieces"),
    ),
)
TRACKS = Named(
    Either("a track, or one a coordinate", {"map": TRACK, "maps": Listed(TRACK, 6)}), "name"
)
MOTION = Record(
    "motion",
    {"duration": Number("time"), "joints": TRACKS, "actuators": TRACKS, **REMARKS},
    ("duration",),
)
CONFIGURATION = Named(
    Either("a number, or one a coordinate", {"text": COORDINATE, "list": Numbers(None, None, 7)})
)


VARIABLES = Named(VariableKind(), "variable")
CHAIN_FIELDS: dict[str, Kind] = {
    "bodies": Named(BODY, "body"),
    "joints": Named(JOINT, "joint"),
    "frames": Named(FRAME, "frame"),
    "elements": Named(Variant("element", ELEMENTS), "element"),
}
CHAIN = Record("chain", {"variables": VARIABLES, **CHAIN_FIELDS, **REMARKS}, ("bodies", "joints"))
PLACED = Record(
    "placed chain",
    {
        "chain": Name(),
        "parent": Name(),
        "placement": PLACEMENT,
        "count": Integer(1, 1000),
        "index": Name(),
        "prefix": Text(),
        "suffix": Text(),
        "mirror": Choice("mirror axis", ("x", "y", "z")),
        "with": Named(VariableKind(), "variable"),
        **REMARKS,
    },
    ("chain",),
)
UNITS = Record(
    "set of units",
    {
        "length": Choice("length unit", LENGTHS),
        "angle": Choice("angle unit", ANGLES),
        "mass": Choice("mass unit", MASSES),
        "inertia": Name(),
    },
)
ROBOT = Record(
    "robot",
    {
        "linkwork": Integer(VERSION, VERSION),
        "name": Name(),
        "description": Text(),
        "units": UNITS,
        "gravity": Numbers("gravity"),
        "check": Choice("check level", LEVELS),
        "variables": VARIABLES,
        **CHAIN_FIELDS,
        "dh": DH_TABLE,
        "chains": Named(CHAIN, "chain"),
        "placed": Named(PLACED, "placed chain"),
        "sharing": Listed(SHARING, 10_000),
        "configurations": Named(CONFIGURATION, "configuration"),
        "motions": Named(MOTION, "motion"),
        **REMARKS,
    },
    ("linkwork", "name"),
    about="A robot or a machine: bodies, joints that make them a tree, and elements that close "
    "its loops.",
    keys={
        "linkwork": "version of this format",
        "units": "of bare numbers; any number may carry its own",
        "gravity": "acceleration of free fall [m/s^2]",
        "check": "how strictly mass properties are judged",
        "variables": 'names for numbers, used as "${name}"; a design study varies them',
        "frames": "named frames on bodies, such as a tool",
        "elements": "struts, gears, springs, loop closures",
        "dh": "a chain given by Denavit-Hartenberg rows",
        "chains": "chains that are written once and placed often",
        "placed": "copies of chains",
        "sharing": "how redundant supports share loads",
        "configurations": "named coordinates by joint",
        "motions": "named motions of joints or actuators",
    },
)


def json_schema() -> dict[str, Any]:
    """The JSON schema of .robot.yaml, for editors that complete and check while one types."""
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        **ROBOT.json(),
        "title": "linkwork robot description",
    }
