"""Columns over symbols: what a study may ask of a robot by name, as in the columns of `analyse`."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property

import casadi
from casadi import SX

from linkwork import quantities
from linkwork.actuation.coordinates import forward
from linkwork.actuation.cranks import crank_factors, has_cranks
from linkwork.actuation.implicit import loop_rates, newton_step
from linkwork.actuation.layout import layout_of
from linkwork.errors import UnknownName, did_you_mean
from linkwork.loads.analyse import coordinate_names, wrench_label
from linkwork.loads.loads import loads_names
from linkwork.loads.members import member_names
from linkwork.subject import Subject

AXES = "xyz"
NEWTON_STEPS = 5
"""Between instants 0.2 rad apart the steps of a four-bar near its dead point move 0.4, 0.2, 2e-2, 3e-4 and 4e-8 rad."""
LAST_MOVE = 1e-5
"""A last move below this [rad, m] leaves an error of about 1e-10."""


class Columns:
    """Expressions of one instant; each is made when asked for.

    q, v, a, c, cd: symbols or expressions; live: symbol of every live variable
    """

    def __init__(self, subject: Subject, live: Mapping[str, SX], q: SX, v: SX, a: SX, c: SX, cd: SX) -> None:
        self.subject, self.live = subject, live
        self.given = {"q": q, "v": v, "a": a, "command": c, "command_rate": cd}

    @cached_property
    def loads(self) -> dict[str, SX]:
        """Results of the loads, by the name of the output."""
        function = quantities.trace(self.subject, "loads")
        names = [name for name, _ in quantities.quantity("loads").outputs]
        found = function.call([*(self.given[name] for name in "qva"), *self.live.values()])
        return dict(zip(names, found, strict=False))

    @cached_property
    def efforts(self) -> SX:
        """Efforts at the commands themselves."""
        if not has_cranks(self.subject):
            return self.loads["effort"]
        found, tree = SX(self.loads["effort"]), self.subject.traced_tree(self.live)
        factors = crank_factors(self.subject, tree, self.given["q"], self.given["command"])
        for k in range(factors.numel()):
            found[k] = found[k] * factors[k]
        return found

    @cached_property
    def positions(self) -> SX:
        function = quantities.trace(self.subject, "forward_kinematics")
        return function.call([self.given["q"], *self.live.values()])[1]

    @cached_property
    def member_lengths(self) -> SX:
        function = quantities.trace(self.subject, "members")
        return function.call([self.given["q"], self.given["v"], *self.live.values()])[1]

    @cached_property
    def known(self) -> dict[str, tuple[str, int, int]]:
        """Every name with (output, row, column) that gives it."""
        names = loads_names(self.subject)
        found: dict[str, tuple[str, int, int]] = {}

        def wrench(label: str, output: str, row: int) -> None:
            for i, axis in enumerate(AXES):
                found[f"force.{label}.{axis}"] = (output, row, i)
                found[f"moment.{label}.{axis}"] = (output, row, 3 + i)

        for k, name in enumerate(names.actuators):
            found[f"actuator.{name}"] = ("effort", k, 0)
        layout = layout_of(self.subject)
        for k, name in enumerate(layout.names):
            entry = layout.entries[k]
            if entry is not None:
                found[f"command.{name}"] = ("command", entry, 0)
            found[f"command_rate.{name}"] = ("command_rate", k, 0)
            found[f"power.{name}"] = ("power", k, 0)
        for label in "qva":
            for k, name in enumerate(coordinate_names(self.subject, label == "q")):
                found[f"{label}.{name}"] = (label, k, 0)
        for k, body in enumerate(names.bodies):
            wrench(wrench_label(body), "wrench", k)
            for i, axis in enumerate(AXES):
                found[f"position.{body}.{axis}"] = ("position", k, i)
        for k, name in enumerate(names.supports):
            wrench(f"support.{name}", "support", k)
        for k, name in enumerate(member_names(self.subject)):
            found[f"length.{name}"] = ("member", k, 0)
        for k, name in enumerate(names.springs):
            found[f"spring.{name}"], found[f"length.{name}"] = ("tension", k, 0), ("length", k, 0)
        for i, axis in enumerate(AXES):
            found[f"force.base.{axis}"], found[f"moment.base.{axis}"] = ("base", i, 0), ("base", 3 + i, 0)
        return found

    def __getitem__(self, name: str) -> SX:
        if name not in self.known:
            raise UnknownName(f'there is no column "{name}"{did_you_mean(name, self.known)}')
        output, row, column = self.known[name]
        match output:
            case "q" | "v" | "a" | "command" | "command_rate":
                return self.given[output][row]
            case "effort":
                return self.efforts[row]
            case "power":
                return self.efforts[row] * self.given["command_rate"][row]
            case "member":
                return self.member_lengths[row]
            case "position":
                return self.positions[row, column]
        return self.loads[output][row, column]


def motion_of_commands(
    subject: Subject, live: Mapping[str, SX], c: SX, cd: SX, cdd: SX, q_before: SX | None = None
) -> tuple[tuple[SX, SX, SX], SX]:
    """((q, v, a), margin): closed forms, or a few Newton steps from the coordinates of the instant before.

    margin is negative where a command is out of its range or a loop stays open: where the last step still moves far,
    for the error it leaves is about the square of its move.
    """
    tree = subject.traced_tree(live)
    margin = SX(1)
    if not layout_of(subject).implicit:
        motion, guards = forward(subject, tree, c, cd, cdd)
        for guard in guards:
            margin = casadi.fmin(margin, guard)
        return motion, margin
    assert q_before is not None
    q, move = q_before, SX(0)
    for _ in range(NEWTON_STEPS):
        q, move = newton_step(subject, tree, q, c)
    v, a = loop_rates(subject, tree, q, c, cd, cdd)
    return (q, v, a), LAST_MOVE - move


def stacked(expressions: list[SX]) -> SX:
    return casadi.vertcat(*expressions, SX(0, 1))
