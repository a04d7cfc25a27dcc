"""Questions about a design: sweep, balance, actuators."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import numpy as np
import typer

import linkwork as lw
from linkwork.cli.answer import Answer, Table
from linkwork.cli.arguments import RobotName, payload_of, value
from linkwork.cli.motions import motion_of
from linkwork.cli.progress import working
from linkwork.errors import InvalidInput
from linkwork.formats.files import write_atomically
from linkwork.formats.tables import csv_text

GROUP = "study"
"""Its commands are written `linkwork study sweep`."""
SHOWN = 40
"""Most designs of a sweep that are printed; --out and --json have them all."""
MotionName = Annotated[
    str | None, typer.Option("--motion", help="A named motion; left out: the robot's first.")
]


def sweep(
    robot: RobotName,
    vary: Annotated[
        list[str], typer.Option(help="variable=first:last:count [SI]; several make a grid.")
    ],
    column: Annotated[
        list[str], typer.Option(help="A column of `analyse`, such as actuator.act5.")
    ],
    motion: MotionName = None,
    reduce: Annotated[str, typer.Option(help="peak, max, min, mean or rms.")] = "peak",
    steps: Annotated[int, typer.Option(help="Instants of the motion.")] = 1000,
    out: Annotated[Path | None, typer.Option(help="A CSV file: one row a design.")] = None,
) -> Answer:
    """Run a motion with every design of a grid of variables.

    Example:  linkwork study sweep charmie --vary torso_spring=0:2000:21 --column actuator.act5
    """
    from linkwork.studies.sweep import sweep as swept

    axes = dict(_axis(text) for text in vary)
    grid = np.meshgrid(*axes.values(), indexing="ij")
    designs = {name: x.ravel() for name, x in zip(axes, grid, strict=True)}
    loaded = lw.load(robot, live=list(axes))
    with working("designs") as tick:
        reduced = dict.fromkeys(column, reduce)
        swept_designs = swept(loaded, _motion(loaded, motion), designs, reduced, steps, tick)
    header = [*designs, *swept_designs.results]
    rows = list(
        zip(
            *(x.tolist() for x in (*designs.values(), *swept_designs.results.values())), strict=True
        )
    )
    best = {name: int(swept_designs.best(name)) for name in swept_designs.results}
    if out is not None:
        write_atomically(out, csv_text({**designs, **swept_designs.results}))
    shown = sorted({*range(0, len(rows), -(-len(rows) // SHOWN)), len(rows) - 1, *best.values()})
    title = f"{len(rows)} designs of {loaded.name}" + (
        f", {len(shown)} shown" if len(shown) < len(rows) else ""
    )
    table = Table(title, ["design", *header], [(k, *rows[k]) for k in shown])
    lines = []
    for name, k in best.items():
        at = ", ".join(f"{variable} = {designs[variable][k]:.6g}" for variable in designs)
        lines.append(f"smallest {name}: {swept_designs.results[name][k]:.6g} at {at}")
    if not swept_designs.valid.all():
        lines.append(
            f"{np.count_nonzero(~swept_designs.valid)} designs are not valid: their loops do "
            "not close"
        )
    facts = {
        "variables": designs,
        "results": swept_designs.results,
        "valid": swept_designs.valid,
        "best": best,
    }
    return Answer({"robot": loaded.name, **facts}, [table, *lines], [] if out is None else [out])


def balance(
    robot: RobotName,
    variable: Annotated[
        list[str], typer.Option(help="A variable that may change, such as torso_spring.")
    ],
    actuator: Annotated[
        list[str] | None, typer.Option(help="Whose effort counts; left out: all.")
    ] = None,
    motion: MotionName = None,
    poses: Annotated[int, typer.Option(help="Poses of the motion at rest.")] = 21,
) -> Answer:
    """The values of springs, masses or lengths that carry a robot's weight best.

    Example:  linkwork study balance charmie --variable torso_spring --actuator act5
    """
    from linkwork.studies.balancing import balance as balanced

    loaded = lw.load(robot, live=variable)
    chosen = loaded.motions[_motion(loaded, motion)]
    commands = chosen.commands(np.linspace(0.0, chosen.duration, poses))[0]
    with working("balancing"):
        balancing = balanced(loaded, commands, actuators=actuator or None)
    facts = {
        "variables": balancing.variables,
        "saving": balancing.saving,
        "reason": balancing.reason,
    }
    present = dict(loaded.model.variables)
    rows = [(name, float(present[name]), best) for name, best in balancing.variables.items()]
    table = Table(
        f"balance of {loaded.name} over {poses} poses", ("variable [SI]", "now", "best"), rows
    )
    return Answer(
        {"robot": loaded.name, **facts},
        [table, f"rms effort at rest falls by {100 * balancing.saving:.1f} %"],
    )


def actuators(
    robot: RobotName,
    motion: Annotated[
        str | None,
        typer.Option(
            help="A named motion, or a CSV file (time, q.JOINT, ...); left out: the first."
        ),
    ] = None,
    payload: Annotated[float, typer.Option(help="Mass at the last frame [kg].")] = 0.0,
    margin: Annotated[float, typer.Option(help="On effort and power.")] = 1.5,
    catalogue: Annotated[
        Path | None, typer.Option(help="A CSV file; left out: generic sizes.")
    ] = None,
    pictures: Annotated[
        Path | None, typer.Option(help="A folder for the duties in the torque-speed plane.")
    ] = None,
) -> Answer:
    """What every actuator must do over a motion,
    and the smallest motor and gear of a catalogue that can.

    Example:  linkwork study actuators charmie --margin 2
              linkwork study actuators ur5e --motion cycle.csv --payload 5 --pictures duties
    """
    from linkwork.studies.actuators import select
    from linkwork.studies.lines import catalogue as read

    loaded = lw.load(robot)
    lines = read(catalogue)
    _, sampled = motion_of(loaded, motion, "study actuators")
    with working("analysing"):
        selection = select(loaded, sampled, lines, margin, payload=payload_of(loaded, payload))
    rows = []
    for name, sized in selection.items():
        duty, best = sized.duty, sized.best.name if sized.best else "none"
        rows.append((name, duty.kind, duty.peak, duty.rms, duty.speed, duty.power, best))
    keys = ("actuator", "kind", "peak", "rms", "speed", "power", "choice")
    units = ("peak [N, N m]", "rms [N, N m]", "speed [m/s, rad/s]", "power [W]")
    table = Table(
        f"actuators of {loaded.name}, margin {margin:g}",
        ("actuator", "kind", *units, "choice"),
        rows,
    )
    facts = {"robot": loaded.name, "actuators": [dict(zip(keys, row, strict=True)) for row in rows]}
    written = []
    if pictures is not None:
        pictures.mkdir(parents=True, exist_ok=True)
        for name, each in selection.items():
            if each.best is not None:
                written.append(pictures / f"{name.replace('/', '_')}.png")
                each.picture(path=written[-1])
    return Answer(facts, [table], written)


def _axis(text: str) -> tuple[str, np.ndarray]:
    name, _, rest = text.partition("=")
    parts = rest.split(":")
    if not name or len(parts) != 3 or not parts[2].isdigit() or int(parts[2]) < 1:
        raise InvalidInput(
            f"--vary: {text!r}, expected variable=first:last:count such as torso_spring=0:2000:21"
        )
    return name, np.linspace(
        value(parts[0], f"--vary {name}"), value(parts[1], f"--vary {name}"), int(parts[2])
    )


def _motion(robot: lw.Robot, motion: str | None) -> str:
    if motion is not None:
        return robot.motions[motion].name
    if not len(robot.motions):
        raise InvalidInput(f'study: robot "{robot.name}" has no named motions')
    return next(iter(robot.motions))
