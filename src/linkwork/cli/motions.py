"""Motions as people name them: one of the robot's own,
or a CSV file of joint coordinates over time."""

from __future__ import annotations

from typing import Any

import numpy as np

import linkwork as lw
from linkwork.actuation.rates import with_rates
from linkwork.errors import InvalidInput


def motion_of(robot: lw.Robot, text: str | None, who: str) -> tuple[str, Any]:
    """(its name, what `robot.analyse` takes); left out: the robot's first.

    A file has columns time, q.JOINT, and may have v.JOINT and a.JOINT, as `minimum-time --out` and
    `simulate --out` write them; or time and names of motors and actuators (crank, or
    command.crank), of which some may be left out. Rates that are missing are differentiated by a
    spline, as `robot.analyse` does.
    """
    if text is not None and text.endswith(".csv"):
        return text.rpartition("/")[2].removesuffix(".csv"), _read(robot, text)
    if text is not None:
        return text, robot.motions[text].name
    if not len(robot.motions):
        raise InvalidInput(
            f'{who}: robot "{robot.name}" has no named motions; give a file: --motion path.csv'
        )
    name = next(iter(robot.motions))
    return name, name


def _read(robot: lw.Robot, path: str) -> dict[str, np.ndarray]:
    from linkwork.loads.named_motions import arrays_of  # `report --help` does not wait for a room

    given = dict(arrays_of(robot.subject, path))
    commanded = "c" in given
    rates = with_rates(
        robot.subject, given, ("c", "cd", "cdd") if commanded else ("q", "v", "a"), path
    )
    q, v, a = robot.from_actuators(rates[0], rates[1], rates[2]) if commanded else rates
    return {"time": given["time"], "q": q, "v": v, "a": a}
