"""linkwork convert: from one description format to another."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

import linkwork as lw
from linkwork.cli.answer import Answer
from linkwork.cli.arguments import names
from linkwork.cli.progress import working


def convert(
    source: Annotated[str, typer.Argument(help="A built-in name or a file.", autocompletion=names)],
    target: Annotated[Path, typer.Argument(help="The file to write: .urdf, .xml or .robot.yaml.")],
    loops: Annotated[
        str, typer.Option(help='"closed", or "open": the tree alone, closures are named.')
    ] = "closed",
) -> Answer:
    """Write a robot in another format; refuses, with the reasons, what that format cannot hold.

    Example:  linkwork convert ur5e ur5e.urdf
    """
    with working(f"converting {source}"):
        robot = lw.load(source)
        lw.save(robot, target, loops)
    facts = {"robot": robot.name, "bodies": len(robot.bodies), "nv": robot.nv}
    return Answer(facts, [f"{robot.name}: {len(robot.bodies)} bodies, nv = {robot.nv}"], [target])
