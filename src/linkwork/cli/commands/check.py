"""linkwork check: is a description valid?"""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated

import typer

import linkwork as lw
from linkwork.cli.arguments import Json, names
from linkwork.cli.output import console, print_json, print_table
from linkwork.cli.progress import working
from linkwork.errors import InvalidInput
from linkwork.model.validation import validated


def check(
    file: Annotated[
        str | None,
        typer.Argument(
            help="A description: .urdf, .xml, .sdf or .robot.yaml, or a built-in name.", autocompletion=names
        ),
    ] = None,
    level: Annotated[str, typer.Option(help="physical, positive or any: how strict about inertia.")] = "physical",
    beside: Annotated[
        str | None,
        typer.Option(help="A folder: every URDF and MJCF below it, beside Pinocchio and MuJoCo."),
    ] = None,
    lenient: Annotated[
        bool, typer.Option("--lenient", help="With --beside: pass over what has a plain meaning (strict=False).")
    ] = False,
    as_json: Json = False,
) -> None:
    """Validate a description: names, tree, axes, limits, mass properties; errors carry file and line.

    Example:  linkwork check my.robot.yaml
    """
    if (file is None) == (beside is None):
        raise InvalidInput("check: expected a file, or --beside with a folder")
    if beside is not None:
        _check_beside(beside, lenient, as_json)
        return
    assert file is not None
    with working(f"checking {file}"):
        robot = lw.load(file, check="any")
        validated(robot.model, level)
    if as_json:
        print_json({"file": file, "level": level, "valid": True, "bodies": len(robot.bodies), "nv": robot.nv})
    else:
        console().print(f"{file}: valid ({level}), {len(robot.bodies)} bodies, nv = {robot.nv}")


def _check_beside(folder: str, lenient: bool, as_json: bool) -> None:
    """The table of a folder: what is loaded, refused with its reason, agrees and differs."""
    from linkwork.cli.beside import beside

    with working(f"reading {folder}"):
        rows = list(beside(folder, strict=False if lenient else None))
    verdicts = [row.verdict for row in rows]
    counts = {verdict: verdicts.count(verdict) for verdict in dict.fromkeys(sorted(verdicts))}
    if as_json:
        print_json({"folder": folder, "counts": counts, "files": [asdict(row) for row in rows]})
        return
    shown = [row for row in rows if row.verdict != "agree"]
    table = [(row.file, row.peer, row.verdict, f"{row.difference:.1e}", row.why) for row in shown]
    print_table(f"{folder}: all but those that agree", ("file", "peer", "verdict", "difference", "why"), table)
    total = ", ".join(f"{count} {verdict}" for verdict, count in counts.items())
    console().print(f"{len(rows)} files: {total or 'none'}")
