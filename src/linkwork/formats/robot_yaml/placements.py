"""Placements of a .robot.yaml: a position with one of the notations for a rotation, or a DH row."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from linkwork.errors import InvalidModel, did_you_mean
from linkwork.formats.dh import transform
from linkwork.formats.robot_yaml.schema import Entry
from linkwork.formats.robot_yaml.variables import Scope
from linkwork.model.number import IDENTITY, ZERO, Matrix, Vector
from linkwork.model.placement import HERE, Placement
from linkwork.model.rotation import (
    from_axis_angle,
    from_euler,
    from_matrix,
    from_quaternion,
    from_rpy,
)

AXES: dict[str, Vector] = {"x": (1.0, 0.0, 0.0), "y": (0.0, 1.0, 0.0), "z": (0.0, 0.0, 1.0)}
AXES |= {f"-{name}": (-x or 0.0, -y or 0.0, -z or 0.0) for name, (x, y, z) in AXES.items()}


def axis(direction: Any, scope: Scope) -> Vector:
    """An axis: "z", "-x", or three numbers."""
    return AXES[direction] if isinstance(direction, str) else scope.numbers(direction)


def placement(entry: Entry, key: str, scope: Scope, points: Mapping[str, Any] | None) -> Placement:
    """The placement under a key, the identity where there is none.

    `points` are the named points of the body it is seen from; None: no point can be meant there.
    """
    at = entry.get(key)
    if at is None:
        return HERE
    if isinstance(at, tuple):
        return Placement(position=scope.numbers(at))
    position = scope.numbers(at["xyz"]) if "xyz" in at else ZERO
    if "point" in at:
        if points is None or at["point"] not in points:
            near = did_you_mean(at["point"], points or ())
            scope.reader.refuse(at.at("point"), f'unknown point "{at["point"]}"{near}')
        position = scope.numbers(points[at["point"]])
    if "dh" in at:
        row = at["dh"]
        numbers = {
            name: scope.number(row[name]) for name in ("a", "alpha", "d", "theta") if name in row
        }
        return Placement(position=position) @ transform(
            row.get("convention", "standard"), **numbers
        )
    return Placement(rotation(at, scope), position)


def rotation(entry: Entry, scope: Scope) -> Matrix:
    """The rotation of a mapping with one of the notations, the identity where there is none."""
    for notation, read in _ROTATIONS.items():
        if notation in entry:
            try:
                return read(entry[notation], scope)
            except InvalidModel as error:
                scope.reader.refuse(entry.at(notation), str(error))
    return IDENTITY


_ROTATIONS = {
    "zxz": lambda x, scope: from_euler("zxz", scope.numbers(x)),
    "rpy": lambda x, scope: from_rpy(scope.numbers(x)),
    "quaternion": lambda x, scope: from_quaternion(scope.numbers(x)),
    "matrix": lambda x, scope: from_matrix([scope.numbers(row) for row in x]),
    "axis_angle": lambda x, scope: from_axis_angle(
        axis(x["axis"], scope), scope.number(x["angle"])
    ),
    "euler": lambda x, scope: from_euler(x["sequence"], scope.numbers(x["angles"])),
}
