"""linkwork fk: where a frame is."""

from __future__ import annotations

from typing import Annotated

import numpy as np
import typer

import linkwork as lw
from linkwork.cli.arguments import Configuration, Json, RobotName, configuration
from linkwork.cli.output import print_json, print_table, tidy
from linkwork.cli.progress import working


def fk(
    robot: RobotName,
    q: Configuration = None,
    frame: Annotated[str | None, typer.Option(help="A body, frame or point; left out: every body.")] = None,
    as_json: Json = False,
) -> None:
    """Forward kinematics: poses at a configuration.

    Example:  linkwork fk ur5e --q "0 -90deg 90deg 0 0 0" --frame tool0
    """
    loaded = lw.load(robot)
    at = configuration(loaded, q)
    if frame is None:
        _show_all(loaded, at, as_json)
    else:
        _show_one(loaded, at, frame, as_json)


def _show_one(robot: lw.Robot, q: np.ndarray, frame: str, as_json: bool) -> None:
    with working(f"pose of {frame}"):
        pose = robot.pose(q, frame)
    if as_json:
        print_json({"q": q, "frame": frame, "pose": pose})
    else:
        print_table(f"pose of {frame} in the world", ("x", "y", "z", "position [m]"), tidy(pose[:3]))


def _show_all(robot: lw.Robot, q: np.ndarray, as_json: bool) -> None:
    with working(f"poses of {robot.name}"):
        poses = robot.forward_kinematics(q)
    if as_json:
        print_json({"q": q, "poses": {body: poses[body] for body in poses.bodies}})
    else:
        rows = [(body, *tidy(poses[body][:3, 3])) for body in poses.bodies]
        print_table(f"positions of the bodies of {robot.name}", ("body", "x [m]", "y [m]", "z [m]"), rows)
