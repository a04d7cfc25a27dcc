"""Analyse: the seven steps from a description and a motion to every load,
as one pipeline over a whole batch.

    1 description       the model: bodies, joints, elements
    2 inputs            commands of motors and actuators over time
    3 indirect joints   joint coordinates that struts, gears and loops decide
    4 poses             recursive forward kinematics
    5 auxiliary bodies  struts, springs, bars, sliders
    6 Newton-Euler      wrenches of the open tree
    7 loads of loops    reactions shared among everything that supports a body
                        (6 and 7 are one kernel)

Source: [Goncalves2023] section 3.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from linkwork import quantities
from linkwork.actuation.conversion import from_actuators
from linkwork.actuation.coordinates import to_actuators
from linkwork.actuation.motions import Motions, SampledMotion
from linkwork.actuation.rates import with_rates
from linkwork.arguments import as_doubles, whole
from linkwork.errors import InvalidInput, UnknownName, did_you_mean, listed
from linkwork.formats.tabular import Tabular
from linkwork.loads.columns import columns_of
from linkwork.loads.commanded import commanded
from linkwork.loads.loads import Loads, loads
from linkwork.loads.members import Members, member_names, members
from linkwork.loads.named_motions import arrays_of, is_file, is_table
from linkwork.model.elements import Spring
from linkwork.results import Poses
from linkwork.subject import Subject

log = logging.getLogger("linkwork")


@dataclass(frozen=True, repr=False)
class Analysis(Tabular):
    """Everything about one motion; each array has one row an instant.

    time (n,); commands, rates, accelerations (n, nc) of `loads.actuators`; q, v, a; poses, members,
    loads
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
        """name -> (n,): time, command.*, q.*, v.*, a.*, position.BODY.x, force.BODY.x, actuator.*,
        ...

        force.base.* and moment.base.* are what the ground applies (`loads.base`); see
        `loads.columns`.
        """
        listed = columns_of(self.subject)
        sources = {column.source: self._source(column.source) for column in listed.values()}
        columns = {"time": self.time}
        for name, column in listed.items():
            columns[name] = column.of(sources)
        return columns

    def _source(self, source: str) -> np.ndarray:
        """The array (n, ...) whose elements columns are."""
        loads = self.loads
        match source:
            case "q" | "v" | "a":
                return getattr(self, source)
            case "command" | "command_rate":
                return self.c if source == "command" else self.cd
            case "position":
                return self.poses.position
            case "power":
                return loads.efforts[:, : self.cd.shape[1]] * self.cd
            case "member":
                return np.stack([self.members[name].length for name in self.members], axis=1)
        return {
            "effort": loads.efforts,
            "wrench": loads.wrenches,
            "support": loads.supports,
            "tension": loads.tensions,
            "base": loads.base,
        }[source]

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the columns."""
        return tuple(self.columns)

    def __getitem__(self, column: str) -> np.ndarray:
        """(n,): one column by name."""
        if column not in self.columns:
            ending = [
                name
                for name in self.columns
                if name.split(".", 1)[-1] == str(column).split(".", 1)[-1]
            ]
            kinds = dict.fromkeys(name.split(".", 1)[0] for name in self.columns)
            near = (
                f"; did you mean {' or '.join(ending[:6])}?"
                if ending
                else did_you_mean(column, self.columns)
            )
            known = f"names begin with {listed(kinds, 20)}"
            raise UnknownName(f'analyse: there is no column "{column}"{near or ";"} {known}')
        return self.columns[column]

    def __len__(self) -> int:
        return len(self.time)

    def __repr__(self) -> str:
        robot, end = self.subject.model.name, float(self.time[-1]) if len(self) else 0.0
        return (
            f'<Analysis of "{robot}": {len(self)} instants to {end:.4g} s, {len(self.columns)} '
            "columns>"
        )

    def _table(self) -> Mapping[str, np.ndarray]:
        return self.columns


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

    motion   a name of `robot.motions`, a motion of `lw.trajectory`, a simulation, or arrays:
             {"time": (n,), "c": (n, nc), "cd", "cdd"} of commands, {"time", "q", "v", "a"} of
             joints, or columns by name, {"time": (n,), "crank": (n,)}, also as a table of pandas or
             a path "x.csv" (loads/named_motions.py); rates left out are differentiated by a spline
             of degree 5 through all instants (actuation/rates.py); one instant alone is a pose at
             rest
    times    instants (n,) [s]; left out, `steps` of them over the whole motion; arrays have their
             own
    variables   values of live variables, one each or one an instant
    """
    time, c, cd, cdd, motion_of_tree = _inputs(subject, motion, times, steps)
    # step 3
    q, v, a = (
        motion_of_tree
        if motion_of_tree is not None
        else from_actuators(subject, c, cd, cdd, variables=variables)
    )
    if motion_of_tree is not None:
        c, cd, cdd = to_actuators(subject, q, v, a, variables)
    poses = _poses(subject, q, variables)
    auxiliary = _auxiliary_bodies(subject, q, v, variables)
    # steps 6 and 7
    borne = commanded(subject, c, q, loads(subject, q, v, a, forces, payload, variables), variables)
    if variables is None:
        _warn_of_loose_springs(subject, borne)
    return Analysis(subject, time, c, cd, cdd, q, v, a, poses, auxiliary, borne)


def _inputs(subject: Subject, motion: Any, times: Any, steps: int) -> tuple[Any, ...]:
    """Step 2: (time, c, cd, cdd, None), or (time, None, None, None, (q, v, a)) where joints are
    given themselves."""
    if isinstance(motion, str) and not is_file(motion):
        motion = Motions(subject)[motion]
    if not hasattr(motion, "sample") and hasattr(motion, "motion"):
        motion = motion.motion  # a result that has its own instants, such as a simulation
    if is_file(motion) or is_table(motion):
        if times is not None:
            raise InvalidInput("analyse: times is given beside arrays, which have their own time")
        return _given_arrays(subject, motion)
    if not hasattr(motion, "commands") and not hasattr(motion, "sample"):
        raise InvalidInput(
            f"analyse: motion is {motion!r}, expected a name, a motion, or arrays by name"
        )
    if times is None:
        count = whole(steps, "analyse: steps", 1, "a whole number of instants")
        times = np.linspace(0.0, motion.duration, count) if count > 1 else np.zeros(1)
    time = np.atleast_1d(as_doubles(times, "analyse: times"))
    if time.ndim != 1 or not np.isfinite(time).all():
        raise InvalidInput(f"analyse: times has shape {time.shape}, expected (n,) finite numbers")
    if hasattr(motion, "commands"):
        return (time, *motion.commands(time), None)
    return time, None, None, None, motion.sample(time)


def _given_arrays(subject: Subject, table: Any) -> tuple[Any, ...]:
    motion = arrays_of(subject, table)
    known = {"time", "c", "cd", "cdd", "q", "v", "a"}
    for name in motion:
        if name not in known:
            raise InvalidInput(
                f'analyse: motion has "{name}"{did_you_mean(name, known)}, expected {sorted(known)}'
            )
    if "time" not in motion or ("c" in motion) == ("q" in motion):
        raise InvalidInput(
            "analyse: motion needs time and either commands c or joint coordinates q"
        )
    names = ("c", "cd", "cdd") if "c" in motion else ("q", "v", "a")
    arrays = with_rates(subject, dict(motion), names, "analyse")
    time = as_doubles(motion["time"], "analyse: time")
    return (time, *arrays, None) if "c" in motion else (time, None, None, None, tuple(arrays))


def _poses(subject: Subject, q: np.ndarray, variables: Mapping[str, Any] | None) -> Poses:
    """Step 4."""
    rotation, position = quantities.evaluate(
        subject, "forward_kinematics", {"q": q}, variables=variables
    )
    return Poses(tuple(body.name for body in subject.model.bodies), rotation, position)


def _auxiliary_bodies(
    subject: Subject, q: np.ndarray, v: np.ndarray, variables: Mapping[str, Any] | None
) -> Members:
    """Step 5."""
    if not member_names(subject):
        n = len(q)
        return Members((), np.zeros((n, 0, 2, 3)), np.zeros((n, 0)), np.zeros((n, 0)))
    return members(subject, q, v, variables)


def _warn_of_loose_springs(subject: Subject, borne: Loads) -> None:
    """A tension spring shorter than its free length hangs loose: it carries nothing,
    which a designer wants to know."""
    for element in subject.model.elements:
        if isinstance(element, Spring) and element.kind == "tension":
            loose = borne.spring_length(element.name) < float(element.free_length)
            if loose.any():
                sentence = (
                    'robot "%s": spring "%s" is shorter than its free length %.6g m in %d '
                    "of %d instants"
                )
                numbers = (float(element.free_length), int(loose.sum()), loose.size)
                log.warning(
                    f"{sentence} and hangs loose", subject.model.name, element.name, *numbers
                )
