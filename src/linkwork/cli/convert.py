"""linkwork convert: from one description format to another."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

import linkwork as lw
from linkwork.cli.output import console


def register(app: typer.Typer) -> None:
    @app.command()
    def convert(
        source: Annotated[str, typer.Argument(help="A built-in name or a file.")],
        target: Annotated[Path, typer.Argument(help="The file to write: .urdf, .xml or .robot.yaml.")],
    ) -> None:
        """Write a robot in another format; refuses, with the reasons, what that format cannot hold.

        Example:  linkwork convert ur5e ur5e.urdf
        """
        robot = lw.load(source)
        lw.save(robot, target)
        console().print(f"wrote {target}: {len(robot.bodies)} bodies, nv = {robot.nv}")
