"""linkwork analyse: every load over a motion."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import numpy as np
import typer

import linkwork as lw
from linkwork.arguments import choice
from linkwork.cli.answer import Answer, Table
from linkwork.cli.arguments import RobotName
from linkwork.cli.motions import motion_of
from linkwork.cli.progress import working
from linkwork.errors import listed
from linkwork.formats.files import made_folder
from linkwork.loads.analyse import Analysis

FORMS = {"csv": ("csv",), "parquet": ("parquet",), "both": ("csv", "parquet")}


def analyse(
    robot: RobotName,
    motion: Annotated[
        str | None,
        typer.Option(
            help="A named motion, or a CSV file (time, q.JOINT, ...); left out: the first."
        ),
    ] = None,
    steps: Annotated[int, typer.Option(help="Instants of the motion.")] = 1001,
    out: Annotated[
        Path | None, typer.Option(help="Folder for the columns; it is made if it is not there.")
    ] = None,
    form: Annotated[
        str, typer.Option("--format", help="Of the columns: csv, parquet or both.")
    ] = "csv",
) -> Answer:
    """The seven steps over a motion: positions, joint loads, actuator forces, spring loads,
    ground forces.

    Example:  linkwork analyse charmie --motion validation --out out
    """
    loaded = lw.load(robot)
    chosen, sampled = motion_of(loaded, motion, "analyse")
    forms = FORMS[choice(form, tuple(FORMS), "analyse: --format")]
    with working(f"analysing {loaded.name}"):
        analysis = loaded.analyse(sampled, steps=steps)
        written = [] if out is None else _written(analysis, out, f"{loaded.name}-{chosen}", forms)
    efforts = {
        n.removeprefix("actuator."): c
        for n, c in analysis.columns.items()
        if n.startswith("actuator.")
    }
    rows = [(n, float(np.abs(c).max()), float(np.sqrt(np.mean(c**2)))) for n, c in efforts.items()]
    facts = {"columns": analysis.names, "actuators": {n: {"peak": p, "rms": r} for n, p, r in rows}}
    title = (
        f"{loaded.name}, motion {chosen}: {len(analysis.time)} instants, "
        f"{len(analysis.names)} columns"
    )
    table = Table(title, ("actuator", "peak [N, N m]", "rms [N, N m]"), rows)
    lines = [f"columns: {listed(analysis.names, 8)}"]
    return Answer({"robot": loaded.name, "motion": chosen, **facts}, [table, *lines], written)


def _written(analysis: Analysis, folder: Path, stem: str, forms: tuple[str, ...]) -> list[Path]:
    place = made_folder(folder)
    writers = {"csv": analysis.to_csv, "parquet": analysis.to_parquet}
    return [writers[form](place / f"{stem}.{form}") for form in forms]
