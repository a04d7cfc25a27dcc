"""Columns of an analysis: the name, the unit and the place of every number, for analyses,
studies and plots."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np
from casadi import SX

from linkwork.actuation.layout import layout_of
from linkwork.configurations import coordinate_names
from linkwork.loads.loads import loads_names
from linkwork.loads.members import member_names
from linkwork.model.elements import LinearActuator
from linkwork.subject import Subject

AXES = "xyz"
GROUND = "base"
"""Whose force and moment are those of the ground on the whole robot, in the names of columns."""
_UNITS = {
    "position": "m",
    "force": "N",
    "moment": "N m",
    "power": "W",
    "length": "m",
    "spring": "N",
}
_SLIDING = {
    "q": "m",
    "v": "m/s",
    "a": "m/s^2",
    "command": "m",
    "command_rate": "m/s",
    "actuator": "N",
}
_TURNING = {
    "q": "rad",
    "v": "rad/s",
    "a": "rad/s^2",
    "command": "rad",
    "command_rate": "rad/s",
    "actuator": "N m",
}


class Column(NamedTuple):
    """One number of every instant.

    unit     empty where a joint mixes lengths and angles
    source   what it is an element of: q v a command command_rate effort power position wrench
             support base member tension; of arrays over instants (`Analysis`) or of symbols of one
             instant (studies/columns.py)
    at       which element
    """

    unit: str
    source: str
    at: tuple[int, ...]

    def of(self, arrays: Mapping[str, np.ndarray]) -> np.ndarray:
        """(n,): the column of arrays (n, ...) by source."""
        where: tuple[Any, ...] = (slice(None), *self.at)
        return arrays[self.source][where]

    def of_symbols(self, x: SX) -> SX:
        """The element of one instant's source."""
        return x[self.at[0]] if len(self.at) == 1 else x[self.at[0], self.at[1]]


def columns_of(subject: Subject) -> dict[str, Column]:
    """Every column but time, by name; of a robot without masses those of its positions."""
    return subject.once(columns_of, lambda: dict(_listed(subject)))


def wrench_label(body: str) -> str:
    """How columns name the wrench of a body: by its name,
    except "body.base" where the ground's has that name."""
    return f"body.{body}" if body == GROUND else body


def _listed(subject: Subject) -> Iterator[tuple[str, Column]]:
    units = _Units(subject)
    weighed = not subject.model.kinematic_only
    layout = layout_of(subject) if weighed else None

    def each(kind: str, names: Iterable[str], source: str) -> Iterator[tuple[str, Column]]:
        for k, name in enumerate(names):
            yield f"{kind}.{name}", Column(units(kind, name), source, (k,))

    # commands, coordinates, places
    if layout is not None:
        for k, (name, entry) in enumerate(zip(layout.names, layout.entries, strict=True)):
            if entry is not None:
                yield f"command.{name}", Column(units("command", name), "command", (entry,))
            yield f"command_rate.{name}", Column(units("command_rate", name), "command_rate", (k,))
    for kind in "qva":
        yield from each(kind, coordinate_names(subject, kind == "q"), kind)
    for k, body in enumerate(subject.model.bodies):
        for i, axis in enumerate(AXES):
            yield f"position.{body.name}.{axis}", Column("m", "position", (k, i))
    if layout is None:
        return

    # loads
    names = loads_names(subject)
    for k, body_name in enumerate(names.bodies):
        yield from _wrench(wrench_label(body_name), "wrench", (k,))
    for k, name in enumerate(names.actuators):
        yield f"actuator.{name}", Column(units("actuator", name), "effort", (k,))
        if k < layout.sizes[1]:
            yield f"power.{name}", Column("W", "power", (k,))
    yield from each("length", member_names(subject), "member")
    yield from each("spring", names.springs, "tension")
    for k, name in enumerate(names.supports):
        yield from _wrench(f"support.{name}", "support", (k,))
    yield from _wrench(GROUND, "base", ())


def _wrench(label: str, source: str, at: tuple[int, ...]) -> Iterator[tuple[str, Column]]:
    for first, kind in ((0, "force"), (3, "moment")):
        for i, axis in enumerate(AXES):
            yield f"{kind}.{label}.{axis}", Column(_UNITS[kind], source, (*at, first + i))


class _Units:
    """Units of what a joint or an actuator has."""

    def __init__(self, subject: Subject) -> None:
        self.struts = {e.name for e in subject.model.elements if isinstance(e, LinearActuator)}
        self.joints = {joint.name: joint for joint in subject.model.joints}

    def __call__(self, kind: str, name: str) -> str:
        if kind in _UNITS:
            return _UNITS[kind]
        joint = self.joints.get(name)
        if name in self.struts or (joint is not None and joint.kind.is_slide):
            return _SLIDING.get(kind, "")
        return _TURNING.get(kind, "") if joint is None or joint.nv == 1 else ""
