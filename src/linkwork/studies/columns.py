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
from linkwork.loads.columns import columns_of
from linkwork.loads.loads import loads_names
from linkwork.subject import Subject

NEWTON_STEPS = 5
"""Between instants 0.2 rad apart the steps of a four-bar near its dead point move 0.4, 0.2, 2e-2,
3e-4 and 4e-8 rad."""
LAST_MOVE = 1e-5
"""A last move below this [rad, m] leaves an error of about 1e-10."""


class Columns:
    """Expressions of one instant; each is made when asked for.

    q, v, a, c, cd: symbols or expressions; live: symbol of every live variable
    """

    def __init__(
        self, subject: Subject, live: Mapping[str, SX], q: SX, v: SX, a: SX, c: SX, cd: SX
    ) -> None:
        self.subject, self.live = subject, live
        self.given = {"q": q, "v": v, "a": a, "command": c, "command_rate": cd}

    @cached_property
    def loads(self) -> dict[str, SX]:
        """Results of the loads, by the name of the output."""
        function = quantities.trace(self.subject, "loads")
        names = [name for name, _ in quantities.quantity("loads").outputs]
        loads = function.call([*(self.given[name] for name in "qva"), *self.live.values()])
        return dict(zip(names, loads, strict=False))

    @cached_property
    def efforts(self) -> SX:
        """Efforts at the commands themselves."""
        if not has_cranks(self.subject):
            return self.loads["effort"]
        efforts, tree = SX(self.loads["effort"]), self.subject.traced_tree(self.live)
        factors = crank_factors(self.subject, tree, self.given["q"], self.given["command"])
        for k in range(factors.numel()):
            efforts[k] = efforts[k] * factors[k]
        return efforts

    @cached_property
    def positions(self) -> SX:
        function = quantities.trace(self.subject, "forward_kinematics")
        return function.call([self.given["q"], *self.live.values()])[1]

    @cached_property
    def member_lengths(self) -> SX:
        function = quantities.trace(self.subject, "members")
        return function.call([self.given["q"], self.given["v"], *self.live.values()])[1]

    def __getitem__(self, name: str) -> SX:
        known = columns_of(self.subject)
        if name not in known:
            raise UnknownName(f'there is no column "{name}"{did_you_mean(name, known)}')
        column = known[name]
        match column.source:
            case "q" | "v" | "a" | "command" | "command_rate":
                source = self.given[column.source]
            case "effort":
                source = self.efforts
            case "power":
                return column.of_symbols(self.efforts) * column.of_symbols(
                    self.given["command_rate"]
                )
            case "member":
                return self._length(name.partition(".")[2], column.at[0])
            case "position":
                source = self.positions
            case _:
                source = self.loads[column.source]
        return column.of_symbols(source)

    def _length(self, member: str, k: int) -> SX:
        """Of a spring from the loads, which have it already."""
        springs = loads_names(self.subject).springs
        return (
            self.loads["length"][springs.index(member)]
            if member in springs
            else self.member_lengths[k]
        )


def motion_of_commands(
    subject: Subject, live: Mapping[str, SX], c: SX, cd: SX, cdd: SX, q_before: SX | None = None
) -> tuple[tuple[SX, SX, SX], SX]:
    """((q, v, a), margin): closed forms, or a few Newton steps from the coordinates of the instant
    before.

    margin is negative where a command is out of its range or a loop stays open: where the last step
    still moves far, for the error it leaves is about the square of its move.
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
