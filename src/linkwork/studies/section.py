"""What each actuator must do: the part of a report about sizing."""

from __future__ import annotations

from linkwork.loads import Analysis
from linkwork.robot import Robot
from linkwork.studies.actuators import duties
from linkwork.view.html import table


def section(robot: Robot, analysis: Analysis | None, obstacles: object = None) -> str:
    """Peak, rms, speed, power and travel of every actuator over the motion."""
    if analysis is None:
        return ""
    units = {"linear": ("N", "m"), "rotary": ("N m", "rad")}
    rows = []
    for duty in duties(robot, [analysis]):
        force, way = units[duty.kind]
        numbers = (duty.peak, duty.rms, duty.speed, duty.power, duty.travel)
        rows.append((duty.name, force, *numbers, way))
    header = (
        "actuator",
        "effort in",
        "peak",
        "rms",
        "fastest [/s]",
        "peak power [W]",
        "travel",
        "travel in",
    )
    return f"<h2>What each actuator must do</h2>{table('actuators', header, rows)}"
