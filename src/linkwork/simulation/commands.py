"""linkwork simulate: the motion of a robot over time."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import numpy as np
import typer

import linkwork as lw
from linkwork.arguments import choice
from linkwork.cli.answer import Answer, Table
from linkwork.cli.arguments import Configuration, RobotName, configuration, vector
from linkwork.cli.output import tidy
from linkwork.cli.progress import working
from linkwork.simulation import ComputedTorque, GravityCompensation


def simulate(
    robot: RobotName,
    duration: Annotated[float, typer.Option(help="How long [s].")] = 1.0,
    q: Configuration = None,
    v: Annotated[
        str | None, typer.Option(help="Joint velocities at the start; left out: zero.")
    ] = None,
    control: Annotated[
        str,
        typer.Option(
            help="none: falls freely; gravity: its weight is carried; hold: it is held at "
            "its start."
        ),
    ] = "none",
    stiffness: Annotated[
        float, typer.Option(help="Of hold: acceleration for a deviation [1/s^2].")
    ] = 100.0,
    damping: Annotated[
        float, typer.Option(help="Of hold: acceleration against a speed [1/s].")
    ] = 20.0,
    step: Annotated[
        float | None, typer.Option(help="A fixed step [s]; left out: chosen by the error.")
    ] = None,
    friction: Annotated[
        bool,
        typer.Option(
            "--friction/--no-friction", help="Damping and dry friction of the description."
        ),
    ] = True,
    out: Annotated[Path | None, typer.Option(help="A CSV file for every column.")] = None,
) -> Answer:
    """Forward dynamics over time, with the account of energies.

    Example:  linkwork simulate ur5e --q random --duration 2 --control hold --out fall.csv
    """
    loaded = lw.load(robot)
    start = configuration(loaded, q)
    laws = {
        "none": None,
        "gravity": GravityCompensation(),
        "hold": ComputedTorque(stiffness, damping, start),
    }
    law = laws[choice(control, tuple(laws), "simulate: --control")]
    speed = vector(v, loaded.nv, "--v")
    with working(f"simulating {loaded.name}") as tick:
        run = lw.simulate(
            loaded,
            start,
            speed,
            duration=duration,
            step=step,
            control=law,
            friction=friction,
            progress=tick,
        )
    written = [] if out is None else [run.to_csv(out)]
    drift = float(np.abs(run["energy.balance"]).max()) if "energy.balance" in run else None
    names = [n.removeprefix("q.") for n in run.columns if n.startswith("q.")]
    facts = {"time": float(run.time[-1]), "q": run.q[-1], "v": run.v[-1], "method": run.method}
    facts |= {"energy_off": drift, "columns": list(run.columns)}
    rows = zip(names, tidy(run.q[0]), tidy(run.q[-1]), strict=True)
    table = Table(
        f"{loaded.name}, {run.time[-1]:g} s by {run.method}",
        ("coordinate", "start", "end"),
        list(rows),
    )
    lines = [] if drift is None else [f"energies are off by at most {drift:.2e} J"]
    return Answer({"robot": loaded.name, **facts}, [table, *lines], written)
