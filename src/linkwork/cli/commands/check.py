"""linkwork check: is a description valid?"""

from __future__ import annotations

from typing import Annotated

import typer

import linkwork as lw
from linkwork.cli.arguments import Json, names
from linkwork.cli.output import console, print_json
from linkwork.cli.progress import working
from linkwork.model.validation import validated


def check(
    file: Annotated[
        str,
        typer.Argument(help="A description: .urdf, .xml or .robot.yaml, or a built-in name.", autocompletion=names),
    ],
    level: Annotated[str, typer.Option(help="physical, positive or any: how strict about inertia.")] = "physical",
    as_json: Json = False,
) -> None:
    """Validate a description: names, tree, axes, limits, mass properties; errors carry file and line.

    Example:  linkwork check my.robot.yaml
    """
    with working(f"checking {file}"):
        robot = lw.load(file, check="any")
        validated(robot.model, level)
    if as_json:
        print_json({"file": file, "level": level, "valid": True, "bodies": len(robot.bodies), "nv": robot.nv})
    else:
        console().print(f"{file}: valid ({level}), {len(robot.bodies)} bodies, nv = {robot.nv}")
