"""Columns: the names of everything that can be plotted, without computing any of it."""

from __future__ import annotations

from linkwork.loads.columns import columns_of
from linkwork.robot import Robot

_ORDER = (
    "q",
    "v",
    "a",
    "position",
    "command",
    "command_rate",
    "actuator",
    "power",
    "length",
    "spring",
)
"""What is looked at first; forces and moments of every part come last."""


def column_names(robot: Robot) -> tuple[str, ...]:
    """Names of the columns of `robot.analyse(...)`, time left out;
    of a robot without masses those of its positions."""

    def rank(name: str) -> int:
        kind = name.partition(".")[0]
        return _ORDER.index(kind) if kind in _ORDER else len(_ORDER)

    return tuple(sorted(columns_of(robot.subject), key=rank))


def unit(robot: Robot, column: str) -> str:
    """The unit of a column; empty where a joint mixes lengths and angles."""
    return columns_of(robot.subject)[column].unit
