"""linkwork check: is a description valid?"""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated

import typer

import linkwork as lw
from linkwork.cli.answer import Answer, Table
from linkwork.cli.arguments import names
from linkwork.cli.progress import working
from linkwork.errors import InvalidInput
from linkwork.model.validation import validated


def check(
    file: Annotated[
        str | None,
        typer.Argument(
            help="A description: .urdf, .xml, .sdf or .robot.yaml, or a built-in name.",
            autocompletion=names,
        ),
    ] = None,
    level: Annotated[
        str, typer.Option(help="physical, positive or any: how strict about inertia.")
    ] = "physical",
    beside: Annotated[
        str | None,
        typer.Option(help="A folder: every URDF and MJCF below it, beside Pinocchio and MuJoCo."),
    ] = None,
    lenient: Annotated[
        bool,
        typer.Option(
            "--lenient", help="With --beside: pass over what has a plain meaning (strict=False)."
        ),
    ] = False,
) -> Answer:
    """Validate a description: names, tree, axes, limits, mass properties;
    errors carry file and line.

    Example:  linkwork check my.robot.yaml
    """
    if (file is None) == (beside is None):
        raise InvalidInput("check: expected a file, or --beside with a folder")
    if beside is not None:
        return _check_beside(beside, lenient)
    assert file is not None
    with working(f"checking {file}"):
        robot = lw.load(file, check="any")
        validated(robot.model, level)
    facts = {
        "file": file,
        "level": level,
        "valid": True,
        "bodies": len(robot.bodies),
        "nv": robot.nv,
    }
    return Answer(facts, [f"{file}: valid ({level}), {len(robot.bodies)} bodies, nv = {robot.nv}"])


def _check_beside(folder: str, lenient: bool) -> Answer:
    """The table of a folder: what is loaded, refused with its reason, agrees and differs."""
    from linkwork.cli.beside import beside

    with working(f"reading {folder}"):
        rows = list(beside(folder, strict=False if lenient else None))
    verdicts = [row.verdict for row in rows]
    counts = {verdict: verdicts.count(verdict) for verdict in dict.fromkeys(sorted(verdicts))}
    shown = [row for row in rows if row.verdict != "agree"]
    cells = [(row.file, row.peer, row.verdict, f"{row.difference:.1e}", row.why) for row in shown]
    table = Table(
        f"{folder}: all but those that agree",
        ("file", "peer", "verdict", "difference", "why"),
        cells,
    )
    total = ", ".join(f"{count} {verdict}" for verdict, count in counts.items())
    facts = {"folder": folder, "counts": counts, "files": [asdict(row) for row in rows]}
    return Answer(facts, [table, f"{len(rows)} files: {total or 'none'}"])
