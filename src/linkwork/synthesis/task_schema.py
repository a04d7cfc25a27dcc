"""Task schema: what a `.task.yaml` may say, and the task that it says."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from linkwork.errors import InvalidFile
from linkwork.formats.robot_yaml.document import LARGEST, parse_document
from linkwork.formats.robot_yaml.reading import Kind, Reader
from linkwork.formats.robot_yaml.schema import (
    Choice,
    Integer,
    Listed,
    Name,
    Number,
    Numbers,
    Record,
    Text,
)
from linkwork.formats.robot_yaml.units import ANGLES, LENGTHS, Units
from linkwork.synthesis.chains import CHAINS
from linkwork.synthesis.functions import FunctionTask
from linkwork.synthesis.task import PlanarTask

__all__ = ["LARGEST", "parsed"]

UNITS = Record(
    "units", {"length": Choice("unit of length", LENGTHS), "angle": Choice("unit of angle", ANGLES)}
)
POSITION: dict[str, Kind] = {
    "at": Numbers("length", 2),
    "angle": Number("angle"),
    "tolerance": Numbers("number", 3),
    "weight": Number("number"),
    "timing": Number("angle"),
    "velocity": Numbers("number", 3),
}
BOUNDS = Record(
    "bounds",
    {"ground": Numbers("length", 4), "length": Numbers("length", 2), "ratio": Number("number")},
)
TASK = Record(
    "task",
    {
        "linkwork": Integer(),
        "name": Name(),
        "description": Text(),
        "units": UNITS,
        "positions": Listed(Record("position", POSITION, ("at",))),
        "pairs": Listed(Numbers("number", 2)),
        "output": Choice("output", ("rocker", "slider")),
        "scale": Numbers("number", 2),
        "topology": Choice("topology", tuple(CHAINS)),
        "bounds": BOUNDS,
        "best": Integer(),
        "driver": Choice("driver", ("crank", "rocker")),
        "samples": Integer(),
        "starts": Integer(),
        "seed": Integer(),
        "width": Number("length"),
        "hole": Number("length"),
    },
    ("linkwork", "name"),
    (("positions", "pairs"),),
)
OPTIONS = ("driver", "topology", "bounds", "best", "samples", "starts", "seed", "width", "hole")


def parsed(text: str | bytes, source: str) -> tuple[str, PlanarTask | FunctionTask, dict[str, Any]]:
    """(name, task, options by name) of a text; errors name line, column and key."""
    node = parse_document(text, source)
    units = Units()
    if node.kind == "map" and "units" in node.value:
        units = Units(**UNITS.read(node.value["units"], "units", Reader(source, Units())))
    entry = TASK.read(node, "", Reader(source, units))
    if entry["linkwork"] != 1:
        raise InvalidFile(f"{source}: linkwork is {entry['linkwork']}, expected 1")
    number = lambda x, what: _plain(x, what, source)
    options = {name: entry[name] for name in OPTIONS if name in entry}
    if "bounds" in options:
        limits = options["bounds"]
        options["bounds"] = {
            k: np.array([number(x, k) for x in np.atleast_1d(limits[k])]) for k in limits
        }
    if "pairs" in entry:
        return entry["name"], _function(entry, units, number, source), options
    for name in ("output", "scale"):
        if name in entry:
            raise InvalidFile(f'{source}: {name} belongs to "pairs" of a function')
    if "positions" not in entry:
        raise InvalidFile(f'{source}: a task needs "positions" or "pairs"')
    return entry["name"], _positions(entry["positions"], units, number, source), options


def _positions(
    rows: Any, units: Units, number: Callable[[Any, str], float], source: str
) -> PlanarTask:
    """The task of positions, and what some or all of them have besides place and angle."""
    if len(rows) < 2:
        raise InvalidFile(f"{source}: there are {len(rows)} positions, expected at least 2")
    at = [complex(number(row["at"][0], "at"), number(row["at"][1], "at")) for row in rows]
    angle = [number(row["angle"], "angle") if "angle" in row else np.nan for row in rows]
    parts: dict[str, Any] = {}
    if any("tolerance" in row for row in rows):
        length, turn = units.unit("length"), units.unit("angle")
        wide = [
            [number(x, "tolerance") for x in row["tolerance"]] if "tolerance" in row else [0, 0, 0]
            for row in rows
        ]
        parts["tolerance"] = [[length.to_si(x), length.to_si(y), turn.to_si(a)] for x, y, a in wide]
    if any("weight" in row for row in rows):
        parts["weights"] = [
            number(row["weight"], "weight") if "weight" in row else 1.0 for row in rows
        ]
    if any("timing" in row for row in rows):
        if not all("timing" in row for row in rows):
            raise InvalidFile(
                f"{source}: timing is given for some positions only, expected all or none"
            )
        parts["timing"] = [number(row["timing"], "timing") for row in rows]
    if any("velocity" in row for row in rows):
        units_of = [units.unit(d) for d in ("length", "length", "angle")]
        rate = lambda row: [
            u.to_si(number(x, "velocity")) for u, x in zip(units_of, row["velocity"])
        ]
        parts["velocities"] = [rate(row) if "velocity" in row else [np.nan] * 3 for row in rows]
    return PlanarTask(at, angle, **parts)


def _function(
    entry: Any, units: Units, number: Callable[[Any, str], float], source: str
) -> FunctionTask:
    """Pairs in radians and metres, or as they are where there is a scale."""
    if len(entry["pairs"]) < 2:
        raise InvalidFile(f"{source}: there are {len(entry['pairs'])} pairs, expected at least 2")
    x, y = np.array([[number(v, "pairs") for v in pair] for pair in entry["pairs"]]).T
    output = entry["output"] if "output" in entry else "rocker"
    if "scale" in entry:
        return FunctionTask(x, y, [number(v, "scale") for v in entry["scale"]], output)
    driven = units.unit("angle" if output == "rocker" else "length")
    return FunctionTask(units.unit("angle").to_si(x), driven.to_si(y), None, output)


def _plain(x: Any, what: str, source: str) -> float:
    if not isinstance(x, (int, float)):
        raise InvalidFile(f"{source}: {what} is an expression, expected a plain number")
    return float(x)
