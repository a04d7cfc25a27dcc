"""Clearance over a motion: the part of a report about a robot that could touch itself."""

from __future__ import annotations

from html import escape

from linkwork.collision.model import model
from linkwork.errors import LinkworkError
from linkwork.loads import Analysis
from linkwork.robot import Robot
from linkwork.view.clearance import told

_KINDS = {"sphere", "capsule", "tapered_capsule", "box", "cylinder"}


def section(robot: Robot, analysis: Analysis | None) -> str:
    """The least distance between bodies of the robot over the motion: curve, instant, pair and picture of the worst.

    Of robots whose described shapes machine code knows; meshes would first have to be fitted.
    """
    if analysis is None:
        return ""
    kinds = {shape.kind for body in robot.model.bodies for shape in body.collisions}
    if not kinds or not kinds <= _KINDS:
        return ""
    try:
        made = model(robot)
        return told(made, analysis.time, analysis.q)
    except LinkworkError as error:
        return f"<h2>Clearance</h2><p>{escape(str(error))}</p>"
