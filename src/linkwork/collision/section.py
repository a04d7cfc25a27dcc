"""Clearance over a motion: the part of a report about what a robot could touch."""

from __future__ import annotations

from html import escape

from linkwork.collision.model import model
from linkwork.collision.obstacles import Obstacles
from linkwork.errors import LinkworkError
from linkwork.loads import Analysis
from linkwork.robot import Robot
from linkwork.view.clearance import told

_KINDS = {"sphere", "capsule", "tapered_capsule", "box", "cylinder"}


def section(robot: Robot, analysis: Analysis | None, obstacles: Obstacles | None = None) -> str:
    """The least distance of the robot from itself and obstacles over the motion: curve, instant,
    pair and picture.

    Shapes are the described ones where machine code knows them all. Meshes are looked at only among
    obstacles that somebody gives, as capsules around them: fitting them takes a while.
    """
    if analysis is None:
        return ""
    kinds = {shape.kind for body in robot.model.bodies for shape in body.collisions}
    if obstacles is None and not (kinds and kinds <= _KINDS):
        return ""
    try:
        made = model(robot, "described" if kinds <= _KINDS else "capsules")
        return told(made, analysis.time, analysis.q, obstacles)
    except LinkworkError as error:
        return f"<h2>Clearance</h2><p>{escape(str(error))}</p>"
