"""linkwork report: one HTML file about a robot and a motion."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

import linkwork as lw
from linkwork.cli.answer import Answer
from linkwork.cli.arguments import RobotName
from linkwork.cli.motions import motion_of
from linkwork.cli.progress import working
from linkwork.errors import InvalidInput


def report(
    robot: RobotName,
    motion: Annotated[
        str | None,
        typer.Option(
            help="A named motion, or a CSV file (time, q.JOINT, ...); left out: the "
            "description alone."
        ),
    ] = None,
    out: Annotated[
        Path | None, typer.Option(help="The file to write; left out: ROBOT.html.")
    ] = None,
    figures: Annotated[
        Path | None,
        typer.Option(help="A folder for every figure as a file of its own; needs --motion."),
    ] = None,
    forms: Annotated[
        str, typer.Option("--format", help="Of those files, with commas.")
    ] = "png,svg,csv,parquet",
    steps: Annotated[int, typer.Option(help="Instants of the motion that are analysed.")] = 1001,
    obstacles: Annotated[
        Path | None,
        typer.Option(
            help=".obstacles.yaml, a MoveIt scene or a URDF around the robot; needs --motion."
        ),
    ] = None,
) -> Answer:
    """Write a report that opens offline: animation, loads, energies, a self-check,
    sources and corrections.

    Example:  linkwork report charmie --motion validation --out charmie.html --figures figures
    """
    from linkwork.view.report import write_report

    loaded = lw.load(robot)
    if figures is not None and motion is None:
        raise InvalidInput("report: --figures are those of a motion; name it with --motion")
    if obstacles is not None and motion is None:
        raise InvalidInput("report: --obstacles are those of a motion; name it with --motion")
    around = None if obstacles is None else lw.collision.load_obstacles(obstacles)
    target = out if out is not None else Path(f"{loaded.name}.html")
    with working("analysing") as tick:
        name, chosen = ("", None) if motion is None else motion_of(loaded, motion, "report")
        analysis = None if chosen is None else loaded.analyse(chosen, steps=steps)
        title = loaded.name if motion is None else f"{loaded.name}, motion {name}"
        written = [write_report(loaded, target, analysis, title, around)]
        if figures is not None and analysis is not None:
            from linkwork.view.report_figures import write_figures

            written += write_figures(
                loaded, analysis, figures, forms.replace(",", " ").split(), tick
            )
    facts = {"robot": loaded.name, "motion": motion}
    return Answer(facts, [f"{title}: open {target} in a browser"], written)
