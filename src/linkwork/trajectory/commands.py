"""linkwork minimum-time: the fastest motion along a path that the torques allow."""

from __future__ import annotations

from pathlib import Path as FilePath
from typing import TYPE_CHECKING, Annotated

import numpy as np
import typer

import linkwork as lw
from linkwork.cli.answer import Answer, Table
from linkwork.cli.arguments import RobotName, configuration, vector
from linkwork.cli.progress import working
from linkwork.errors import InvalidInput
from linkwork.formats.files import write_atomically
from linkwork.formats.tables import csv_text

if TYPE_CHECKING:
    from linkwork.trajectory import TimeLaw


def minimum_time(
    robot: RobotName,
    through: Annotated[
        list[str],
        typer.Option(
            help='A configuration on the way, as in --q of `fk`; twice or more: "0 -1 1 0 0 0".'
        ),
    ],
    torque: Annotated[
        str | None,
        typer.Option(help="Largest joint torques [N m, N]; left out: those of the description."),
    ] = None,
    velocity: Annotated[
        str | None,
        typer.Option(help="Largest joint velocities; left out: those of the description."),
    ] = None,
    points: Annotated[int, typer.Option(help="Points of the grid on the path.")] = 1001,
    out: Annotated[
        FilePath | None, typer.Option(help="A CSV file: time, q, v, a, 1001 rows.")
    ] = None,
) -> Answer:
    """The least time along a smooth path through configurations, within torque and velocity limits.

    Example:  linkwork minimum-time ur5e --through "0 -1 1 0 0 0" --through "1 -1.5 0.5 0 0 0"
    """
    from linkwork.trajectory import Path
    from linkwork.trajectory import minimum_time as fastest

    loaded = lw.load(robot)
    if len(through) < 2:
        raise InvalidInput(
            f"minimum-time: --through is given {len(through)} time, expected at least 2"
        )
    waypoints = np.array([configuration(loaded, text) for text in through])
    path = Path.line(*waypoints) if len(waypoints) == 2 else Path.through(waypoints)
    torques = None if torque is None else vector(torque, loaded.nv, "--torque")
    velocities = None if velocity is None else vector(velocity, loaded.nv, "--velocity")
    with working("sweeping the path"):
        law = fastest(loaded, path, torques, velocities, points=points)
    peaks = np.abs(law.torque).max(axis=0)
    if out is not None:
        write_atomically(out, _rows(loaded, law))
    facts = {
        "robot": loaded.name,
        "duration": law.duration,
        "peak_torque": peaks,
        "active": law.active,
    }
    share = np.array([(law.active == k).mean() for k in range(loaded.nv)])
    rows = list(zip(loaded.joints, peaks.tolist(), (100 * share).tolist(), strict=True))
    header = ("joint", "peak torque [N m, N]", "decides [% of the path]")
    return Answer(
        facts,
        [Table(f"{loaded.name}: {law.duration:.6g} s", header, rows)],
        [] if out is None else [out],
    )


def _rows(robot: lw.Robot, law: TimeLaw) -> str:
    times = np.linspace(0.0, law.duration, 1001)
    columns = {"time": times}
    for label, values in zip("qva", law.at(times), strict=True):
        columns |= {f"{label}.{name}": values[:, k] for k, name in enumerate(robot.joints)}
    return csv_text(columns)
