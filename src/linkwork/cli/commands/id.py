"""linkwork id: joint forces of a motion state."""

from __future__ import annotations

from typing import Annotated

import numpy as np
import typer

import linkwork as lw
from linkwork.cli.arguments import Configuration, Json, RobotName, configuration, vector
from linkwork.cli.output import console, print_json, print_table
from linkwork.cli.progress import working
from linkwork.errors import LinkworkError


def id_(
    robot: RobotName,
    q: Configuration = None,
    v: Annotated[str | None, typer.Option(help="Joint velocities; left out: zero.")] = None,
    a: Annotated[str | None, typer.Option(help="Joint accelerations; left out: zero.")] = None,
    as_json: Json = False,
) -> None:
    """Inverse dynamics: the joint forces for a state and an acceleration; of its actuators where they differ.

    Example:  linkwork id ur5e --q random --a "1 0 0 0 0 0"
    """
    loaded = lw.load(robot)
    state = configuration(loaded, q), vector(v, loaded.nv, "--v"), vector(a, loaded.nv, "--a")
    with working(f"dynamics of {loaded.name}"):
        tau = loaded.inverse_dynamics(*state)
        actuators = _actuators(loaded, state) if loaded.model.elements else {}
    if as_json:
        facts = dict(zip(("q", "v", "a", "tau"), (*state, tau), strict=True))
        told = {"actuators": None, "reason": actuators} if isinstance(actuators, str) else {"actuators": actuators}
        print_json(facts | (told if actuators else {}))
    else:
        names = [n for n in loaded.joints for _ in range(loaded.model.joint(n).nv)]
        of = "tree's joints" if actuators else "joints"
        print_table(
            f"forces of the {of} of {loaded.name}",
            ("joint", "tau [N m, N]"),
            zip(names, tau.tolist(), strict=True),
        )
        if isinstance(actuators, str):
            console().print(f"no forces of its actuators: {actuators}", markup=False)
        elif actuators:
            title = f"forces of the actuators of {loaded.name}, with its loops and springs"
            print_table(title, ("actuator", "force [N m, N]"), list(actuators.items()))


def _actuators(robot: lw.Robot, state: tuple[np.ndarray, np.ndarray, np.ndarray]) -> dict[str, float] | str:
    """What drives a robot with closed loops, struts or springs, or why nothing can: not the tree's joints alone."""
    try:
        loads = robot.loads(*state)
    except LinkworkError as error:
        return str(error)
    return {name: float(loads.actuator(name)) for name in loads.actuators}
