"""linkwork view: robots in the browser."""

from __future__ import annotations

import contextlib
from pathlib import Path
from typing import Annotated

import typer

import linkwork as lw
from linkwork.cli.answer import Answer
from linkwork.cli.arguments import Configuration, RobotName, configuration
from linkwork.cli.motions import motion_of
from linkwork.cli.progress import working
from linkwork.errors import InvalidInput


def view(
    robot: RobotName,
    beside: Annotated[
        list[str] | None, typer.Option(help="Another robot beside it; may be given again.")
    ] = None,
    q: Configuration = None,
    motion: Annotated[
        str | None,
        typer.Option(help="A motion to play: a name, or a CSV file (time, q.JOINT, ...)."),
    ] = None,
    port: Annotated[
        int, typer.Option(help="0 takes a free one; a taken one is passed over for the next.")
    ] = 8080,
    host: Annotated[
        str, typer.Option(help="Who may connect: this machine alone unless you say otherwise.")
    ] = "127.0.0.1",
    name: Annotated[
        list[str] | None,
        typer.Option(help="Another name by which browsers reach this machine; may be given again."),
    ] = None,
    record: Annotated[
        Path | None,
        typer.Option(help="Write the motion as a film (.gif, .mp4) or a picture (.png), and end."),
    ] = None,
    seconds: Annotated[
        float | None, typer.Option(help="End after this long; left out: until Ctrl-C.")
    ] = None,
) -> Answer:
    """Show robots in the browser: sliders, motions, loads, plots, a target to drag.

    Examples:  linkwork view charmie --motion validation      linkwork view ur5e --beside ur10e
               linkwork view four-bar --record four-bar.gif
    """
    if record is not None:
        return _recorded(lw.load(robot), record, q, motion, beside or [])
    from linkwork.view.viewer import Viewer

    loaded, others = lw.load(robot), [lw.load(name) for name in beside or ()]
    with contextlib.ExitStack() as opened:
        with working(f"opening {loaded.name}"):
            viewer = opened.enter_context(Viewer(loaded, host, port, name or ()))
            for other in others:
                viewer.add(other)
            if q is not None:
                viewer.show(configuration(loaded, q))
            if motion is not None:
                viewer.load_motion(motion_of(loaded, motion, "view")[1])
                viewer.playing.value = True
        kept = opened.pop_all()  # open until `then` ends it
    taken = f" (port {port} is not free)" if port not in (0, viewer.port) else ""
    facts = {"robots": [loaded.name, *(other.name for other in others)], "address": viewer.address}

    def wait() -> None:
        with kept:
            viewer.wait(seconds)

    return Answer(facts, [f"{loaded.name}: open {viewer.address}{taken} (Ctrl-C ends)"], then=wait)


def _recorded(
    robot: lw.Robot, path: Path, q: str | None, motion: str | None, beside: list[str]
) -> Answer:
    """A film of the motion, or a picture of one configuration, without a browser."""
    if beside:
        raise InvalidInput("view: --record shows one robot; the viewer's own button films several")
    facts = {"robot": robot.name, "motion": motion}
    with working(f"drawing {robot.name}") as tick:
        if path.suffix.lower() == ".png":
            robot.picture(None if q is None else configuration(robot, q), path)
        else:
            if q is not None:
                raise InvalidInput(
                    "view: --q with --record needs a picture, such as --record robot.png"
                )
            name, chosen = motion_of(robot, motion, "view")
            facts["motion"] = name
            lw.view.record(robot, path, chosen, progress=tick)
    return Answer(facts, [], [path])
