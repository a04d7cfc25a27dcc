"""linkwork fk: where a frame is."""

from __future__ import annotations

from typing import Annotated

import typer

import linkwork as lw
from linkwork.cli.arguments import Configuration, Json, RobotName, configuration
from linkwork.cli.output import print_json, print_table


def register(app: typer.Typer) -> None:
    @app.command()
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
        if frame is not None:
            pose = loaded.pose(at, frame)
            if as_json:
                print_json({"q": at, "frame": frame, "pose": pose})
            else:
                print_table(f"pose of {frame} in the world", ("x", "y", "z", "position [m]"), pose[:3].tolist())
            return
        poses = loaded.forward_kinematics(at)
        if as_json:
            print_json({"q": at, "poses": {body: poses[body] for body in poses.bodies}})
        else:
            rows = [(body, *map(float, poses[body][:3, 3])) for body in poses.bodies]
            print_table(f"positions of the bodies of {loaded.name}", ("body", "x [m]", "y [m]", "z [m]"), rows)
