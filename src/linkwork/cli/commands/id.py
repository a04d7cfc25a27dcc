"""linkwork id: joint forces of a motion state."""

from __future__ import annotations

from typing import Annotated, Any

import numpy as np
import typer

import linkwork as lw
from linkwork.cli.answer import Answer, Table
from linkwork.cli.arguments import Configuration, RobotName, configuration, vector
from linkwork.cli.progress import working
from linkwork.errors import LinkworkError


def id_(
    robot: RobotName,
    q: Configuration = None,
    v: Annotated[str | None, typer.Option(help="Joint velocities; left out: zero.")] = None,
    a: Annotated[str | None, typer.Option(help="Joint accelerations; left out: zero.")] = None,
) -> Answer:
    """Inverse dynamics: the joint forces for a state and an acceleration;
    of its actuators where they differ.

    Example:  linkwork id ur5e --q random --a "1 0 0 0 0 0"
    """
    loaded = lw.load(robot)
    state = configuration(loaded, q), vector(v, loaded.nv, "--v"), vector(a, loaded.nv, "--a")
    with working(f"dynamics of {loaded.name}"):
        tau = loaded.inverse_dynamics(*state)
        actuators = _actuators(loaded, state) if loaded.model.elements else {}
    facts: dict[str, Any] = dict(zip(("q", "v", "a", "tau"), (*state, tau), strict=True))
    names = [n for n in loaded.joints for _ in range(loaded.model.joint(n).nv)]
    of = "tree's joints" if actuators else "joints"
    rows = list(zip(names, tau.tolist(), strict=True))
    shown: list[Table | str] = [
        Table(f"forces of the {of} of {loaded.name}", ("joint", "tau [N m, N]"), rows)
    ]
    if isinstance(actuators, str):
        facts |= {"actuators": None, "reason": actuators}
        shown.append(f"no forces of its actuators: {actuators}")
    elif actuators:
        facts["actuators"] = actuators
        title = f"forces of the actuators of {loaded.name}, with its loops and springs"
        shown.append(Table(title, ("actuator", "force [N m, N]"), list(actuators.items())))
    return Answer(facts, shown)


def _actuators(
    robot: lw.Robot, state: tuple[np.ndarray, np.ndarray, np.ndarray]
) -> dict[str, float] | str:
    """What drives a robot with closed loops, struts or springs, or why nothing can:
    not the tree's joints alone."""
    try:
        loads = robot.loads(*state)
    except LinkworkError as error:
        return str(error)
    return {name: float(loads.actuator(name)) for name in loads.actuators}
