"""Columns: the names of everything that can be plotted, without computing any of it."""

from __future__ import annotations

from linkwork.configurations import places
from linkwork.loops.layout import layout_of
from linkwork.loops.loads import loads_names
from linkwork.loops.members import member_names
from linkwork.robot import Robot

AXES = "xyz"


def column_names(robot: Robot) -> tuple[str, ...]:
    """Names of the columns of `robot.analyse(...)`, time left out; of a robot without masses those of its positions."""
    subject = robot.subject
    found = [f"{label}.{name}" for label in "qva" for name in coordinate_names(robot, label == "q")]
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
    for place in (*names.bodies, *(f"support.{name}" for name in names.supports), "base"):
        found += [f"{kind}.{place}.{axis}" for kind in ("force", "moment") for axis in AXES]
    return tuple(dict.fromkeys(found))  # a body named "base" shares its names with the whole robot's wrench


def coordinate_names(robot: Robot, positions: bool) -> list[str]:
    """Names of the entries of q, or of v: the joint's, numbered where it has several coordinates."""
    found: list[str] = []
    for joint, _, _ in places(robot.subject):
        size = joint.nq if positions else joint.nv
        found += [joint.name] if size == 1 else [f"{joint.name}[{k}]" for k in range(size)]
    return found
