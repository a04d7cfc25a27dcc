"""Analyse: the seven steps from a description and a motion to every load, as one pipeline over a whole batch.

    1 description       the model: bodies, joints, elements
    2 inputs            commands of motors and actuators over time
    3 indirect joints   joint coordinates that struts, gears and loops decide
    4 poses             recursive forward kinematics
    5 auxiliary bodies  struts, springs, bars, sliders
    6 Newton-Euler      wrenches of the open tree
    7 loads of loops    reactions shared among everything that supports a body (6 and 7 are one kernel)

Source: [Goncalves2023] section 3.
"""

from __future__ import annotations

import csv
import importlib.util
import logging
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from linkwork import quantities
from linkwork.actuation.conversion import from_actuators
from linkwork.actuation.coordinates import to_actuators
from linkwork.actuation.layout import layout_of
from linkwork.actuation.motions import Motions, SampledMotion
from linkwork.actuation.rates import with_rates
from linkwork.arguments import as_doubles
from linkwork.configurations import places
from linkwork.errors import InvalidInput, NotPossible, UnknownName, did_you_mean
from linkwork.formats.files import write_atomically
from linkwork.formats.tables import parquet_bytes
from linkwork.loads.commanded import commanded
from linkwork.loads.loads import Loads, loads
from linkwork.loads.members import Members, member_names, members
from linkwork.model.elements import Spring
from linkwork.results import Poses
from linkwork.subject import Subject

AXES = "xyz"
GROUND = "base"
"""Whose force and moment are those of the ground on the whole robot, in the names of columns."""
log = logging.getLogger("linkwork")


@dataclass(frozen=True)
class Analysis:
    """Everything about one motion; each array has one row an instant.

    time (n,); commands, rates, accelerations (n, nc) of `loads.actuators`; q, v, a; poses, members, loads
    """

    subject: Subject
    time: np.ndarray
    c: np.ndarray
    cd: np.ndarray
    cdd: np.ndarray
    q: np.ndarray
    v: np.ndarray
    a: np.ndarray
    poses: Poses
    members: Members
    loads: Loads

    @cached_property
    def columns(self) -> dict[str, np.ndarray]:
        """name -> (n,): time, command.*, q.*, v.*, a.*, position.<body>.x, force.<body>.x, actuator.*, ...

        force.base.* and moment.base.* are what the ground applies (`loads.base`); see `wrench_label`.
        """
        found: dict[str, np.ndarray] = {"time": self.time}
        layout = layout_of(self.subject)
        for k, name in enumerate(layout.names):
            entry = layout.entries[k]
            if entry is not None:
                found[f"command.{name}"] = self.c[:, entry]
            found[f"command_rate.{name}"] = self.cd[:, k]
        for label, values in (("q", self.q), ("v", self.v), ("a", self.a)):
            for k, name in enumerate(coordinate_names(self.subject, label == "q")):
                found[f"{label}.{name}"] = values[:, k]
        for k, body in enumerate(self.poses.bodies):
            for i, axis in enumerate(AXES):
                found[f"position.{body}.{axis}"] = self.poses.position[:, k, i]
        for body in self.loads.bodies:
            _wrench(found, wrench_label(body), self.loads.joint_wrench(body))
        for k, name in enumerate(self.loads.actuators):
            found[f"actuator.{name}"] = self.loads.efforts[:, k]
            if k < self.cd.shape[1]:
                found[f"power.{name}"] = self.loads.efforts[:, k] * self.cd[:, k]
        for name in self.members:
            found[f"length.{name}"] = self.members[name].length
        for name in self.loads.springs:
            found[f"spring.{name}"] = self.loads.spring(name)
        for name in self.loads.support_names:
            _wrench(found, f"support.{name}", self.loads.support(name))
        _wrench(found, GROUND, self.loads.base)
        return found

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the columns."""
        return tuple(self.columns)

    def __getitem__(self, column: str) -> np.ndarray:
        """(n,): one column by name."""
        if column not in self.columns:
            raise UnknownName(f'analyse: there is no column "{column}"{did_you_mean(column, self.columns)}')
        return self.columns[column]

    def __len__(self) -> int:
        return len(self.time)

    def to_numpy(self) -> np.ndarray:
        """(n, columns) in the order of `names`."""
        return np.column_stack(list(self.columns.values()))

    def to_csv(self, path: str | Path) -> Path:
        """Write every column, one row an instant, with all digits."""
        rows = [list(self.columns), *([repr(float(x)) for x in row] for row in self.to_numpy())]
        text = _CsvText()
        csv.writer(text, lineterminator="\n").writerows(rows)
        write_atomically(Path(path), "".join(text.parts))
        return Path(path)

    def to_parquet(self, path: str | Path) -> Path:
        """Write every column as Parquet (needs pyarrow)."""
        _needs("pyarrow", "to_parquet")
        write_atomically(Path(path), parquet_bytes(self.columns))
        return Path(path)

    def to_pandas(self) -> Any:
        """A pandas.DataFrame of every column (needs pandas)."""
        _needs("pandas", "to_pandas")
        import pandas

        return pandas.DataFrame(dict(self.columns))


class _CsvText:
    """What csv writes into."""

    def __init__(self) -> None:
        self.parts: list[str] = []

    def write(self, text: str) -> None:
        self.parts.append(text)


def analyse(
    subject: Subject,
    motion: str | SampledMotion | Mapping[str, Any],
    times: Any = None,
    steps: int = 1001,
    forces: Mapping[str, Any] | None = None,
    payload: Any = None,
    variables: Mapping[str, Any] | None = None,
) -> Analysis:
    """The seven steps for a motion.

    motion   a name of `robot.motions`, a sampled motion, or arrays: {"time": (n,), "c": (n, nc), "cd", "cdd"} of
             commands or {"time", "q", "v", "a"} of joints; rates left out are differentiated by a spline of degree 5
             through all instants (actuation/rates.py); one instant alone is a pose at rest
    times    instants (n,) [s]; left out, `steps` of them over the whole motion; arrays have their own
    variables   values of live variables, one each or one an instant
    """
    time, c, cd, cdd, given = _inputs(subject, motion, times, steps)
    q, v, a = given if given is not None else from_actuators(subject, c, cd, cdd, variables=variables)  # step 3
    if given is not None:
        c, cd, cdd = to_actuators(subject, q, v, a, variables)
    poses = _poses(subject, q, variables)
    auxiliary = _auxiliary_bodies(subject, q, v, variables)
    found = commanded(subject, c, q, loads(subject, q, v, a, forces, payload, variables), variables)  # steps 6 and 7
    if variables is None:
        _warn_of_loose_springs(subject, found)
    return Analysis(subject, time, c, cd, cdd, q, v, a, poses, auxiliary, found)


def _inputs(subject: Subject, motion: Any, times: Any, steps: int) -> tuple[Any, ...]:
    """Step 2: (time, c, cd, cdd, None), or (time, None, None, None, (q, v, a)) where joints are given themselves."""
    if isinstance(motion, str):
        motion = Motions(subject)[motion]
    if isinstance(motion, Mapping):
        if times is not None:
            raise InvalidInput("analyse: times is given beside arrays, which have their own time")
        return _given_arrays(subject, motion)
    if not hasattr(motion, "commands") and not hasattr(motion, "sample"):
        raise InvalidInput(f"analyse: motion is {motion!r}, expected a name, a motion, or arrays by name")
    if times is None:
        if isinstance(steps, bool) or not isinstance(steps, (int, np.integer)) or steps < 1:
            raise InvalidInput(f"analyse: steps is {steps!r}, expected a whole number of instants")
        times = np.linspace(0.0, motion.duration, int(steps)) if steps > 1 else np.zeros(1)
    time = np.atleast_1d(as_doubles(times, "analyse: times"))
    if time.ndim != 1 or not np.isfinite(time).all():
        raise InvalidInput(f"analyse: times has shape {time.shape}, expected (n,) finite numbers")
    if hasattr(motion, "commands"):
        return (time, *motion.commands(time), None)
    return time, None, None, None, motion.sample(time)


def _given_arrays(subject: Subject, motion: Mapping[str, Any]) -> tuple[Any, ...]:
    known = {"time", "c", "cd", "cdd", "q", "v", "a"}
    for name in motion:
        if name not in known:
            raise InvalidInput(f'analyse: motion has "{name}"{did_you_mean(name, known)}, expected {sorted(known)}')
    if "time" not in motion or ("c" in motion) == ("q" in motion):
        raise InvalidInput("analyse: motion needs time and either commands c or joint coordinates q")
    names = ("c", "cd", "cdd") if "c" in motion else ("q", "v", "a")
    arrays = with_rates(subject, dict(motion), names, "analyse")
    time = as_doubles(motion["time"], "analyse: time")
    return (time, *arrays, None) if "c" in motion else (time, None, None, None, tuple(arrays))


def _poses(subject: Subject, q: np.ndarray, variables: Mapping[str, Any] | None) -> Poses:
    """Step 4."""
    rotation, position = quantities.evaluate(subject, "forward_kinematics", {"q": q}, variables=variables)
    return Poses(tuple(body.name for body in subject.model.bodies), rotation, position)


def _auxiliary_bodies(subject: Subject, q: np.ndarray, v: np.ndarray, variables: Mapping[str, Any] | None) -> Members:
    """Step 5."""
    if not member_names(subject):
        n = len(q)
        return Members((), np.zeros((n, 0, 2, 3)), np.zeros((n, 0)), np.zeros((n, 0)))
    return members(subject, q, v, variables)


def _warn_of_loose_springs(subject: Subject, found: Loads) -> None:
    """A tension spring shorter than its free length hangs loose: it carries nothing, which a designer wants to know."""
    for element in subject.model.elements:
        if isinstance(element, Spring) and element.kind == "tension":
            loose = found.spring_length(element.name) < float(element.free_length)
            if loose.any():
                sentence = 'robot "%s": spring "%s" is shorter than its free length %.6g m in %d of %d instants'
                numbers = (float(element.free_length), int(loose.sum()), loose.size)
                log.warning(f"{sentence} and hangs loose", subject.model.name, element.name, *numbers)


def _wrench(into: dict[str, np.ndarray], name: str, wrench: np.ndarray) -> None:
    for i, axis in enumerate(AXES):
        into[f"force.{name}.{axis}"] = wrench[:, i]
    for i, axis in enumerate(AXES):
        into[f"moment.{name}.{axis}"] = wrench[:, 3 + i]


def wrench_label(body: str) -> str:
    """How columns name the wrench of a body: by its name, except "body.base" where the ground's has that name."""
    return f"body.{body}" if body == GROUND else body


def coordinate_names(subject: Subject, positions: bool) -> list[str]:
    """Names of the entries of q or of v: the joint's, numbered where it has several coordinates."""
    found = []
    for joint, _, _ in places(subject):
        size = joint.nq if positions else joint.nv
        found += [joint.name] if size == 1 else [f"{joint.name}[{k}]" for k in range(size)]
    return found


def _needs(package: str, method: str) -> None:
    if importlib.util.find_spec(package) is None:
        raise NotPossible(f"{method} needs the package {package}, which is not installed: pip install {package}")
