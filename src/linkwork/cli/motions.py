"""Motions as people name them: one of the robot's own, or a CSV file of joint coordinates over time."""

from __future__ import annotations

import csv
import io
from typing import Any

import numpy as np

import linkwork as lw
from linkwork.actuation.rates import with_rates
from linkwork.errors import InvalidFile, InvalidInput, did_you_mean
from linkwork.formats.files import read_bounded

LARGEST = 256 * 2**20


def motion_of(robot: lw.Robot, text: str | None, who: str) -> tuple[str, Any]:
    """(its name, what `robot.analyse` takes); left out: the robot's first.

    A file has columns time, q.JOINT, and may have v.JOINT and a.JOINT, as `minimum-time --out` and `simulate --out`
    write them; or time and names of motors and actuators (crank, or command.crank), of which some may be left out.
    Rates that are missing are differentiated by a spline, as `robot.analyse` does.
    """
    if text is not None and text.endswith(".csv"):
        return text.rpartition("/")[2].removesuffix(".csv"), _read(robot, text)
    if text is not None:
        return text, robot.motions[text].name
    if not len(robot.motions):
        raise InvalidInput(f'{who}: robot "{robot.name}" has no named motions; give a file: --motion path.csv')
    name = next(iter(robot.motions))
    return name, name


def _read(robot: lw.Robot, path: str) -> dict[str, np.ndarray]:
    text = read_bounded(path, LARGEST).decode("utf-8-sig", "replace")  # spreadsheets put a mark in front
    rows = list(csv.reader(io.StringIO(text)))
    while rows and not rows[-1]:  # blank lines at the end
        rows.pop()
    if len(rows) < 3:
        raise InvalidFile(f"{path}: has {max(0, len(rows) - 1)} rows below its header, expected at least 2")
    header = rows[0]
    table = np.empty((len(rows) - 1, len(header)))
    for k, row in enumerate(rows[1:]):
        try:
            table[k] = [float(cell) for cell in row] if len(row) == len(header) else np.nan
        except ValueError:
            table[k] = np.nan
        if not np.isfinite(table[k]).all():
            raise InvalidFile(f"{path}:{k + 2}: expected {len(header)} numbers")
    columns = dict(zip(header, table.T, strict=True))
    if "time" not in columns:
        raise InvalidFile(f'{path}:1: there is no column "time"{did_you_mean("time", columns)}')
    time = columns["time"]
    if not (np.diff(time) > 0).all():
        raise InvalidFile(f"{path}:{int(np.argmin(np.diff(time) > 0)) + 3}: time does not grow")
    if robot.nq != robot.nv:
        raise InvalidInput(f'{path}: robot "{robot.name}" has joints with several coordinates; use robot.analyse')
    commands = {name.removeprefix("command."): values for name, values in columns.items() if name != "time"}
    if commands and commands.keys() <= set(robot.actuators):
        from linkwork.loads.analyse import commands_by_name  # `report --help` does not wait for a room

        by_name = commands_by_name(robot.subject, {"time": time, **commands})
        c, cd, cdd = with_rates(robot.subject, dict(by_name), ("c", "cd", "cdd"), path)
        return {"time": time, **dict(zip("qva", robot.from_actuators(c, cd, cdd), strict=True))}
    q = _columns(robot, columns, "q", path)
    motion = {"time": time, "q": q}
    motion |= {k: _columns(robot, columns, k, path) for k in ("v", "a") if f"{k}.{robot.joints[0]}" in columns}
    q, v, a = with_rates(robot.subject, motion, ("q", "v", "a"), path)
    return {"time": time, "q": q, "v": v, "a": a}


def _columns(robot: lw.Robot, columns: dict[str, np.ndarray], label: str, path: str) -> np.ndarray:
    names = [f"{label}.{joint}" for joint in robot.joints]
    for name in names:
        if name not in columns:
            raise InvalidFile(f'{path}:1: there is no column "{name}"{did_you_mean(name, columns)}')
    return np.column_stack([columns[name] for name in names])
