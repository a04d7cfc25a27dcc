"""linkwork view: robots in the browser; linkwork report: one HTML file about a robot and a motion."""

from __future__ import annotations

import contextlib
from pathlib import Path
from typing import Annotated

import typer

import linkwork as lw
from linkwork.cli.arguments import Configuration, Json, RobotName, configuration
from linkwork.cli.motions import motion_of
from linkwork.cli.output import console, print_json
from linkwork.cli.progress import working
from linkwork.errors import InvalidInput


def view(
    robot: RobotName,
    beside: Annotated[list[str] | None, typer.Option(help="Another robot beside it; may be given again.")] = None,
    q: Configuration = None,
    motion: Annotated[
        str | None, typer.Option(help="A motion to play: a name, or a CSV file (time, q.JOINT, ...).")
    ] = None,
    port: Annotated[int, typer.Option(help="0 takes a free one; a taken one is passed over for the next.")] = 8080,
    host: Annotated[
        str, typer.Option(help="Who may connect: this machine alone unless you say otherwise.")
    ] = "127.0.0.1",
    seconds: Annotated[float | None, typer.Option(help="End after this long; left out: until Ctrl-C.")] = None,
) -> None:
    """Show robots in the browser: sliders, motions, loads, plots, a target to drag.

    Examples:  linkwork view charmie --motion validation      linkwork view ur5e --beside ur10e
    """
    from linkwork.view.viewer import Viewer

    loaded, others = lw.load(robot), [lw.load(name) for name in beside or ()]
    with contextlib.ExitStack() as opened:
        with console().status(f"opening {loaded.name}"):
            viewer = opened.enter_context(Viewer(loaded, host, port))
            for other in others:
                viewer.add(other)
            if q is not None:
                viewer.show(configuration(loaded, q))
            if motion is not None:
                viewer.load_motion(motion_of(loaded, motion, "view")[1])
                viewer.playing.value = True
        taken = f" (port {port} is not free)" if port not in (0, viewer.port) else ""
        console().print(f"{loaded.name}: open {viewer.address}{taken} (Ctrl-C ends)")
        viewer.wait(seconds)


def report(
    robot: RobotName,
    motion: Annotated[
        str | None,
        typer.Option(help="A named motion, or a CSV file (time, q.JOINT, ...); left out: the description alone."),
    ] = None,
    out: Annotated[Path | None, typer.Option(help="The file to write; left out: ROBOT.html.")] = None,
    figures: Annotated[
        Path | None, typer.Option(help="A folder for every figure as a file of its own; needs --motion.")
    ] = None,
    forms: Annotated[str, typer.Option("--format", help="Of those files, with commas.")] = "png,svg,csv,parquet",
    steps: Annotated[int, typer.Option(help="Instants of the motion that are analysed.")] = 1001,
    as_json: Json = False,
) -> None:
    """Write a report that opens offline: animation, loads, energies, a self-check, sources and corrections.

    Example:  linkwork report charmie --motion validation --out charmie.html --figures figures
    """
    from linkwork.view.report import write_report

    loaded = lw.load(robot)
    if figures is not None and motion is None:
        raise InvalidInput("report: --figures are those of a motion; name it with --motion")
    target = out if out is not None else Path(f"{loaded.name}.html")
    with working("analysing") as tick:
        name, given = ("", None) if motion is None else motion_of(loaded, motion, "report")
        analysis = None if given is None else loaded.analyse(given, steps=steps)
        title = loaded.name if motion is None else f"{loaded.name}, motion {name}"
        written = [write_report(loaded, target, analysis, title)]
        if figures is not None and analysis is not None:
            from linkwork.view.report_figures import write_figures

            written += write_figures(loaded, analysis, figures, forms.replace(",", " ").split(), tick)
    if as_json:
        print_json({"robot": loaded.name, "motion": motion, "wrote": written})
        return
    console().print(f"wrote {target}: open it in a browser", markup=False)
    if figures is not None:
        console().print(f"wrote {len(written) - 1} files of figures to {figures}", markup=False)
