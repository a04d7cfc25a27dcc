"""linkwork view: a robot in the browser."""

from __future__ import annotations

from typing import Annotated

import typer

import linkwork as lw
from linkwork.cli.arguments import Configuration, RobotName, configuration
from linkwork.cli.output import console


def register(app: typer.Typer) -> None:
    @app.command()
    def view(
        robot: RobotName,
        q: Configuration = None,
        motion: Annotated[str | None, typer.Option(help="A named motion to play.")] = None,
        port: Annotated[int, typer.Option(help="0 takes a free one.")] = 8080,
        host: Annotated[
            str, typer.Option(help="Who may connect: this machine alone unless you say otherwise.")
        ] = "127.0.0.1",
        seconds: Annotated[float | None, typer.Option(help="End after this long; left out: until Ctrl-C.")] = None,
    ) -> None:
        """Show a robot in the browser: sliders, motions, forces, a target to drag.

        Example:  linkwork view charmie --motion validation
        """
        import time

        from linkwork.view.viewer import Viewer

        loaded = lw.load(robot)
        with Viewer(loaded, host, port) as viewer:
            viewer.show(configuration(loaded, q))
            if motion is not None:
                viewer.load_motion(motion)
                viewer.playing.value = True
            console().print(f"{loaded.name}: open {viewer.address} (Ctrl-C ends)")
            if seconds is None:
                viewer.wait()
            else:
                time.sleep(seconds)
