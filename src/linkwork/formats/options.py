"""Options that the readers of URDF, MJCF and SDF share, checked once."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any, TypedDict

from linkwork.arguments import choice
from linkwork.errors import did_you_mean
from linkwork.model.inertia import LEVELS

CHOICES = {"check": LEVELS, "mimic": ("follow", "independent"), "root": ("fixed", "floating")}


class Reading(TypedDict, total=False):
    """Options of every reader; see `read_urdf`."""

    check: str
    mimic: str
    strict: bool | None
    visuals: bool


class RootedReading(Reading, total=False):
    """Options of readers whose format does not say how the root stands in the world."""

    root: str


@dataclass(frozen=True)
class ReadOptions:
    """What to do with what a file says; `reader` is what errors call the function that was asked.
    See `read_urdf`."""

    reader: str
    check: str = "any"
    mimic: str = "follow"
    root: str = "fixed"
    strict: bool | None = None
    visuals: bool = True

    def __post_init__(self) -> None:
        for label, choices in CHOICES.items():
            choice(getattr(self, label), choices, f"{self.reader}: {label}")

    @classmethod
    def of(cls, reader: str, options: Mapping[str, Any], rooted: bool = True) -> ReadOptions:
        """The options of a call by name; `rooted`: whether `root` is among them."""
        names = [
            field.name
            for field in fields(cls)
            if field.name != "reader" and (rooted or field.name != "root")
        ]
        for name in options:
            if name not in names:
                raise TypeError(
                    f"{reader}() got an unexpected keyword argument "
                    f"{name!r}{did_you_mean(name, names)}"
                )
        return cls(reader, **options)
