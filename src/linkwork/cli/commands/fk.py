"""linkwork fk: where a frame is."""

from __future__ import annotations

from typing import Annotated

import numpy as np
import typer

import linkwork as lw
from linkwork.cli.answer import Answer, Table
from linkwork.cli.arguments import Configuration, RobotName, configuration
from linkwork.cli.output import tidy
from linkwork.cli.progress import working


def fk(
    robot: RobotName,
    q: Configuration = None,
    frame: Annotated[
        str | None, typer.Option(help="A body, frame or point; left out: every body.")
    ] = None,
) -> Answer:
    """Forward kinematics: poses at a configuration.

    Example:  linkwork fk ur5e --q "0 -90deg 90deg 0 0 0" --frame tool0
    """
    loaded = lw.load(robot)
    at = configuration(loaded, q)
    return _all(loaded, at) if frame is None else _one(loaded, at, frame)


def _one(robot: lw.Robot, q: np.ndarray, frame: str) -> Answer:
    with working(f"pose of {frame}"):
        pose = robot.pose(q, frame)
    table = Table(f"pose of {frame} in the world", ("x", "y", "z", "position [m]"), tidy(pose[:3]))
    return Answer({"q": q, "frame": frame, "pose": pose}, [table])


def _all(robot: lw.Robot, q: np.ndarray) -> Answer:
    with working(f"poses of {robot.name}"):
        poses = robot.forward_kinematics(q)
    rows = [(body, *tidy(poses[body][:3, 3])) for body in poses.bodies]
    table = Table(
        f"positions of the bodies of {robot.name}", ("body", "x [m]", "y [m]", "z [m]"), rows
    )
    return Answer({"q": q, "poses": {body: poses[body] for body in poses.bodies}}, [table])
