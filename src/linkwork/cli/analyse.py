"""linkwork analyse: every load over a motion."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import numpy as np
import typer

import linkwork as lw
from linkwork.cli.arguments import Json, RobotName
from linkwork.cli.output import console, print_json, print_table
from linkwork.errors import InvalidInput, listed


def register(app: typer.Typer) -> None:
    @app.command()
    def analyse(
        robot: RobotName,
        motion: Annotated[str | None, typer.Option(help="A named motion of the robot; left out: its first.")] = None,
        out: Annotated[Path | None, typer.Option(help="Folder for the columns as CSV.")] = None,
        as_json: Json = False,
    ) -> None:
        """The seven steps over a motion: positions, joint loads, actuator forces, spring loads, ground forces.

        Example:  linkwork analyse charmie --motion validation --out out
        """
        loaded = lw.load(robot)
        if motion is None and not len(loaded.motions):
            raise InvalidInput(f'analyse: robot "{loaded.name}" has no named motions')
        chosen = motion if motion is not None else next(iter(loaded.motions))
        analysis = loaded.analyse(chosen)
        efforts = {n.removeprefix("actuator."): c for n, c in analysis.columns.items() if n.startswith("actuator.")}
        rows = [(n, float(np.abs(c).max()), float(np.sqrt(np.mean(c**2)))) for n, c in efforts.items()]
        if as_json:
            facts = {n: {"peak": p, "rms": r} for n, p, r in rows}
            print_json({"robot": loaded.name, "motion": chosen, "columns": analysis.names, "actuators": facts})
        else:
            title = f"{loaded.name}, motion {chosen}: {len(analysis.time)} instants, {len(analysis.names)} columns"
            print_table(title, ("actuator", "peak [N, N m]", "rms [N, N m]"), rows)
            console().print(f"columns: {listed(analysis.names, 8)}")
        if out is not None:
            out.mkdir(parents=True, exist_ok=True)
            target = out / f"{loaded.name}-{chosen}.csv"
            analysis.to_csv(target)
            if not as_json:
                console().print(f"wrote {target}")
