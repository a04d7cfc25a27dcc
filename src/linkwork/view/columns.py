"""Columns: the names of everything that can be plotted, without computing any of it."""

from __future__ import annotations

from linkwork.actuation.layout import layout_of
from linkwork.loads.analyse import GROUND, coordinate_names, wrench_label
from linkwork.loads.loads import loads_names
from linkwork.loads.members import member_names
from linkwork.model.elements import LinearActuator
from linkwork.robot import Robot

AXES = "xyz"
_UNITS = {"position": "m", "force": "N", "moment": "N m", "power": "W", "length": "m", "spring": "N"}
_SLIDING = {"q": "m", "v": "m/s", "a": "m/s^2", "command": "m", "command_rate": "m/s", "actuator": "N"}
_TURNING = {"q": "rad", "v": "rad/s", "a": "rad/s^2", "command": "rad", "command_rate": "rad/s", "actuator": "N m"}


def column_names(robot: Robot) -> tuple[str, ...]:
    """Names of the columns of `robot.analyse(...)`, time left out; of a robot without masses those of its positions."""
    subject = robot.subject
    found = [f"{label}.{name}" for label in "qva" for name in coordinate_names(subject, label == "q")]
    found += [f"position.{body}.{axis}" for body in robot.bodies for axis in AXES]
    if robot.model.kinematic_only:
        return tuple(found)
    layout, names = layout_of(subject), loads_names(subject)
    for name, entry in zip(layout.names, layout.entries, strict=True):
        found += [f"command.{name}"] * (entry is not None) + [f"command_rate.{name}"]
    found += [f"actuator.{name}" for name in names.actuators]
    found += [f"power.{name}" for name in names.actuators[: layout.sizes[1]]]
    found += [f"length.{name}" for name in member_names(subject)]
    found += [f"spring.{name}" for name in names.springs]
    bodies = (wrench_label(body) for body in names.bodies)
    for place in (*bodies, *(f"support.{name}" for name in names.supports), GROUND):
        found += [f"{kind}.{place}.{axis}" for kind in ("force", "moment") for axis in AXES]
    return tuple(found)


def unit(robot: Robot, column: str) -> str:
    """The unit of a column; empty where a joint mixes lengths and angles."""
    kind, _, name = column.partition(".")
    if kind in _UNITS:
        return _UNITS[kind]
    struts = {e.name for e in robot.model.elements if isinstance(e, LinearActuator)}
    types = {joint.name: joint.type for joint in robot.model.joints}
    if name in struts or types.get(name) == "prismatic":
        return _SLIDING.get(kind, "")
    return _TURNING.get(kind, "") if types.get(name, "revolute") in ("revolute", "continuous", "helical") else ""
