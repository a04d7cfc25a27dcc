"""Vocabulary: every key of a .robot.yaml, as data."""

from __future__ import annotations

from typing import Any

from linkwork.formats.robot_yaml.drawn import Drawn
from linkwork.formats.robot_yaml.schema import (
    Choice,
    Either,
    Flag,
    Integer,
    Kind,
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
from linkwork.model.elements import CLOSURE_KINDS, DIRECTIONS, ENDS, OTHERS, SPRING_KINDS, WELD_DIRECTIONS
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
    "euler": Record("rotation", {"sequence": Name(), "angles": Numbers("angle")}, ("sequence", "angles")),
    "dh": Record("DH row", {**DH_ROW, "convention": CONVENTION}),
}
PLACEMENT = Either(
    "a position, or a mapping with xyz and a rotation",
    {
        "list": POSITION,
        "map": Record(
            "placement", {"xyz": POSITION, "point": Name(), **ROTATIONS}, one_of=(("xyz", "point"), tuple(ROTATIONS))
        ),
    },
)
ROTATION = Record("rotation", {key: kind for key, kind in ROTATIONS.items() if key != "dh"}, one_of=(tuple(ROTATIONS),))

SHAPE_KINDS = ("box", "sphere", "cylinder", "capsule", "mesh")
SHAPE = Record(
    "shape",
    {
        "kind": Choice("shape", SHAPE_KINDS),
        "size": Either("a size or a list of sizes", {"text": LENGTH, "list": Numbers("length", None, 3)}),
        "scale": Either("a scale or three of them", {"text": PLAIN, "list": Numbers("number")}),
        "placement": PLACEMENT,
        "color": Numbers("number", None, 4),
        "mesh": Name(),
        "name": Name(),
    },
    ("kind",),
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
)

LIMITS_OF_ONE = Record(
    "limit",
    {key: Number(None, infinite=True) for key in ("lower", "upper", "velocity", "effort", "acceleration")},
)
LIMITS = Either(
    "[lower, upper], or a mapping with lower, upper, velocity, effort, acceleration",
    {"list": Numbers(None, 2), "map": LIMITS_OF_ONE, "maps": Listed(LIMITS_OF_ONE, 6)},
)
RESISTANCE = Either("a number, or one a coordinate", {"text": COORDINATE, "list": Numbers(None, None, 6)})
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
        **dict.fromkeys(("damping", "friction", "armature"), RESISTANCE),
        **REMARKS,
    },
)
DH_TABLE = Record(
    "DH table",
    {"convention": CONVENTION, "base": PLACEMENT, "parent": Name(), "rows": Listed(TABLE_ROW, 1000), **REMARKS},
    ("convention", "rows"),
)

POINT = Either(
    'a point such as "body.point", or a mapping with body and at',
    {
        "text": Name(),
        "map": Record("point", {"body": Name(), "point": Name(), "at": POSITION}, ("body",), (("point", "at"),)),
    },
)
SIGN = Integer(-1, 1)
NAMES = Listed(Name(), 1000)
FOUR_BAR_LOOP = Record(
    "four-bar loop",
    {**dict.fromkeys(("ground", "crank", "coupler", "rocker"), LENGTH), "branch": SIGN},
    ("ground", "crank", "coupler", "rocker"),
)


def _element(what: str, fields: dict[str, Kind], needed: tuple[str, ...]) -> Record:
    return Record(what, {"type": Name(), **fields, **REMARKS}, needed)


ELEMENTS: dict[str, Record] = {
    "linear_actuator": _element(
        "linear actuator",
        {
            "foot": POINT,
            "head": POINT,
            "joint": Name(),
            "branch": SIGN,
            "ends": Choice("kind of ends", ENDS),
            "axis": AXIS,
            "lower": LENGTH,
            "upper": Number("length", infinite=True),
            "force": Number("force", infinite=True),
            "speed": Number("speed", infinite=True),
            "rod": LENGTH,
            "direction": AXIS,
        },
        ("foot", "head"),
    ),
    "gear": _element("gear", {"joint": Name(), "ratio": PLAIN, "offset": ANGLE}, ("joint",)),
    "belt": _element(
        "belt",
        {
            "joint": Name(),
            "driving_radius": LENGTH,
            "driven_radius": LENGTH,
            "crossed": Flag(),
            "carrier": Name(),
            "offset": ANGLE,
        },
        ("joint", "driving_radius", "driven_radius"),
    ),
    "differential": _element(
        "differential",
        {
            "joints": NAMES,
            "motors": NAMES,
            "matrix": Listed(Numbers("number", None), 100),
            "offset": Numbers(None, None),
        },
        ("joints", "motors", "matrix"),
    ),
    "four_bar": _element(
        "four-bar",
        {"joint": Name(), "loops": Listed(FOUR_BAR_LOOP, 10), "crank_offset": ANGLE, "offset": ANGLE},
        ("joint", "loops"),
    ),
    "coupling": _element("coupling", {"terms": Named(PLAIN, "joint"), "offset": COORDINATE}, ("terms",)),
    "spring": _element(
        "spring",
        {
            "first": POINT,
            "second": POINT,
            "stiffness": Number("stiffness"),
            "free_length": LENGTH,
            "pretension": Number("force"),
            "kind": Choice("kind of spring", SPRING_KINDS),
            "ends": Choice("kind of ends", ENDS),
        },
        ("first", "second", "stiffness"),
    ),
    "torsion_spring": _element(
        "torsion spring",
        {"joint": Name(), "stiffness": COORDINATE, "free": COORDINATE, "pretension": COORDINATE},
        ("joint", "stiffness"),
    ),
    "damper": _element(
        "damper", {"first": POINT, "second": POINT, "damping": Number("damping")}, ("first", "second", "damping")
    ),
    "bar": _element("bar", {"pivot": POINT, "length": LENGTH, "axis": AXIS, "branch": SIGN}, ("pivot", "length")),
    "slider": _element("slider", {"bar": Name(), "guide": POINT, "direction": AXIS}, ("bar", "guide")),
    "loop_closure": _element(
        "loop closure",
        {
            "kind": Choice("kind of loop closure", CLOSURE_KINDS),
            "first": POINT,
            "second": POINT,
            "axis": AXIS,
            "second_axis": AXIS,
            "direction": AXIS,
            "length": LENGTH,
            "rotation": ROTATION,
            "second_rotation": ROTATION,
            "directions": Listed(Choice("direction", WELD_DIRECTIONS), 6),
            "dependent": NAMES,
        },
        ("kind", "first", "second"),
    ),
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
        "acceleration": Either("a number, or a list of [time, acceleration]", {"text": COORDINATE, "list": PAIRS}),
        "waypoints": PAIRS,
        "interpolation": Choice("interpolation", ("linear", "cubic", "quintic")),
        "polynomial": Numbers(None, None, 50),
        "pieces": Listed(
            Record("piece", {"time": Number("time"), "polynomial": Numbers(None, None, 50)}, ("time", "polynomial")),
            100_000,
        ),
    },
    one_of=(("start", "waypoints", "polynomial", "pieces"), ("rate", "waypoints", "polynomial", "pieces")),
)
TRACKS = Named(Either("a track, or one a coordinate", {"map": TRACK, "maps": Listed(TRACK, 6)}), "name")
MOTION = Record("motion", {"duration": Number("time"), "joints": TRACKS, "actuators": TRACKS, **REMARKS}, ("duration",))
CONFIGURATION = Named(Either("a number, or one a coordinate", {"text": COORDINATE, "list": Numbers(None, None, 7)}))


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
)


def json_schema() -> dict[str, Any]:
    """The JSON schema of .robot.yaml, for editors that complete and check while one types."""
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        **ROBOT.json(),
        "title": "linkwork robot description",
    }
