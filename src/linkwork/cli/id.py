"""linkwork id: joint forces of a motion state."""

from __future__ import annotations

from typing import Annotated

import typer

import linkwork as lw
from linkwork.cli.arguments import Configuration, Json, RobotName, configuration, vector
from linkwork.cli.output import print_json, print_table
from linkwork.cli.progress import working


def register(app: typer.Typer) -> None:
    @app.command("id")
    def inverse_dynamics(
        robot: RobotName,
        q: Configuration = None,
        v: Annotated[str | None, typer.Option(help="Joint velocities; left out: zero.")] = None,
        a: Annotated[str | None, typer.Option(help="Joint accelerations; left out: zero.")] = None,
        as_json: Json = False,
    ) -> None:
        """Inverse dynamics: the joint forces for a state and an acceleration.

        Example:  linkwork id ur5e --q random --a "1 0 0 0 0 0"
        """
        loaded = lw.load(robot)
        state = configuration(loaded, q), vector(v, loaded.nv, "--v"), vector(a, loaded.nv, "--a")
        with working(f"dynamics of {loaded.name}"):
            tau = loaded.inverse_dynamics(*state)
        if as_json:
            print_json(dict(zip(("q", "v", "a", "tau"), (*state, tau), strict=True)))
        else:
            names = [n for n in loaded.joints for _ in range(loaded.model.joint(n).nv)]
            print_table(
                f"joint forces of {loaded.name}", ("joint", "tau [N m, N]"), zip(names, tau.tolist(), strict=True)
            )
