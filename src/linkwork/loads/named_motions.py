"""Named motions: columns over time, from a mapping, a table of pandas or a CSV file,
as the arrays of a robot.

    time, q.JOINT                       all joints; v.JOINT and a.JOINT too, or neither is
                                        differentiated
    time, q[0], q[1], ...               the same in the order of the robot's coordinates, v[k] and
                                        a[k] too
    time, COMMAND or command.COMMAND    motors and actuators, such as "crank"; what is left out
                                        stays where the robot stands first
    time, c or q, and rates             arrays of all commands or coordinates, as they are

What results write (`to_csv`, `to_pandas`) is read again: columns beside those of the joints are not
looked at.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from linkwork.actuation.coordinates import to_actuators
from linkwork.actuation.layout import layout_of
from linkwork.arguments import as_doubles
from linkwork.configurations import coordinate_names
from linkwork.errors import InvalidFile, InvalidInput, LinkworkError, UnknownName, did_you_mean
from linkwork.formats.tables import read_csv
from linkwork.loops.assembly import home
from linkwork.subject import Subject


def is_file(motion: Any) -> bool:
    """Whether a motion is the path of a table."""
    return isinstance(motion, (str, Path)) and str(motion).endswith(".csv")


def is_table(motion: Any) -> bool:
    """Whether columns can be asked for by name: a mapping, or a table of pandas or polars."""
    return isinstance(motion, Mapping) or (
        hasattr(motion, "columns") and hasattr(motion, "__getitem__")
    )


def is_motion(motion: Any) -> bool:
    """Whether something is one motion as `robot.analyse` takes it: a name, a file, a table,
    a motion, a run."""
    own = any(hasattr(motion, name) for name in ("sample", "commands", "motion"))
    return own or isinstance(motion, (str, Path)) or is_table(motion)


def arrays_of(subject: Subject, motion: Any, who: str = "analyse: motion") -> Mapping[str, Any]:
    """{"time", "c" | "q", ...} of a table in any of its forms."""
    if is_file(motion):
        who, columns = f"{motion}:1", read_csv(motion)
        if "time" not in columns:
            raise InvalidFile(f'{who}: there is no column "time"{did_you_mean("time", columns)}')
        _check_time(str(motion), columns["time"])
    else:
        columns = {str(name): motion[name] for name in _names(motion)}
    if not is_file(motion) and any(name in columns for name in ("c", "q")):
        return columns
    columns = _by_name(subject, columns)
    named = {
        name.removeprefix("command."): values for name, values in columns.items() if name != "time"
    }
    if is_file(motion) and not named:
        raise InvalidFile(
            f'{who}: there is no column beside "time", expected q.JOINT of all joints, or commands'
        )
    if named and named.keys() <= set(layout_of(subject).names):
        return _commands(subject, columns.get("time", ()), named)
    if any(name.startswith("q.") for name in columns):
        unknown = InvalidFile if is_file(motion) else UnknownName
        return _coordinates(subject, columns, who, unknown)
    return _commands(subject, columns.get("time", ()), named) if named else columns


def _names(motion: Any) -> Iterable[Any]:
    return motion if isinstance(motion, Mapping) else motion.columns


def _by_name(subject: Subject, columns: Mapping[str, Any]) -> dict[str, Any]:
    """Columns that motions without a robot write, "q[2]", by the names of this robot's
    coordinates."""
    if "q[0]" not in columns:
        return dict(columns)
    names = {
        f"{label}[{k}]": f"{label}.{name}"
        for label in "qva"
        for k, name in enumerate(coordinate_names(subject, label == "q"))
    }
    return {names.get(name, name): values for name, values in columns.items()}


def _check_time(path: str, time: np.ndarray) -> None:
    if not (np.diff(time) > 0).all():
        raise InvalidFile(f"{path}:{int(np.argmin(np.diff(time) > 0)) + 3}: time does not grow")


def _coordinates(
    subject: Subject, columns: Mapping[str, Any], who: str, unknown: type[LinkworkError]
) -> dict[str, Any]:
    arrays = {"time": columns.get("time", ())}
    for label in "qva":
        names = [f"{label}.{name}" for name in coordinate_names(subject, label == "q")]
        if label != "q" and not any(name in columns for name in names):
            continue
        for name in names:
            if name not in columns:
                raise unknown(f'{who}: there is no column "{name}"{did_you_mean(name, columns)}')
        arrays[label] = np.column_stack(
            [as_doubles(columns[name], f'{who}: "{name}"') for name in names]
        )
    return arrays


def _commands(subject: Subject, time: Any, named: Mapping[str, Any]) -> dict[str, np.ndarray]:
    """Commands given by the names of motors and actuators, as {"time", "c"}."""
    layout = layout_of(subject)
    entries = {
        name: at for name, at in zip(layout.names, layout.entries, strict=True) if at is not None
    }
    for name in named:
        if name not in entries:
            near = did_you_mean(name, [*entries, "time", "c", "q"])
            raise UnknownName(
                f'analyse: motion has "{name}"{near}; commands of this robot: {", ".join(entries)}'
            )
    times = as_doubles(time, "analyse: time")
    rest = to_actuators(subject, home(subject))[0]
    c = np.broadcast_to(rest, (*times.shape, len(rest))).copy()
    for name, given in named.items():
        values = as_doubles(given, f'analyse: "{name}"')
        if values.shape not in ((), times.shape):
            raise InvalidInput(
                f'analyse: "{name}" has shape {values.shape}, expected {times.shape} as time has'
            )
        c[:, entries[name]] = values
    return {"time": times, "c": c}
