"""linkwork report: one HTML file about a robot and a motion."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

import linkwork as lw
from linkwork.cli.arguments import RobotName
from linkwork.cli.output import console


def register(app: typer.Typer) -> None:
    @app.command()
    def report(
        robot: RobotName,
        motion: Annotated[
            str | None, typer.Option(help="A named motion of the robot; left out: the description alone.")
        ] = None,
        out: Annotated[Path | None, typer.Option(help="The file to write; left out: ROBOT.html.")] = None,
        steps: Annotated[int, typer.Option(help="Instants of the motion that are analysed.")] = 1001,
    ) -> None:
        """Write a report that opens offline: animation, loads, energies, a self-check, sources and corrections.

        Example:  linkwork report charmie --motion validation --out charmie.html
        """
        from linkwork.view.report import write_report

        loaded = lw.load(robot)
        target = out if out is not None else Path(f"{loaded.name}.html")
        with console().status("analysing"):
            analysis = None if motion is None else loaded.analyse(motion, steps=steps)
            title = loaded.name if motion is None else f"{loaded.name}, motion {motion}"
            write_report(loaded, target, analysis, title)
        console().print(f"wrote {target}: open it in a browser")
