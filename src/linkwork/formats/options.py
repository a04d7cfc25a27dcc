"""Options that the readers of URDF, MJCF and SDF share, checked once."""

from __future__ import annotations

from dataclasses import dataclass

from linkwork.arguments import choice
from linkwork.model.inertia import LEVELS

CHOICES = {"check": LEVELS, "mimic": ("follow", "independent"), "root": ("fixed", "floating")}


@dataclass(frozen=True)
class ReadOptions:
    """What to do with what a file says; `reader` is what errors call the function that was asked. See `read_urdf`."""

    reader: str
    check: str = "any"
    mimic: str = "follow"
    root: str = "fixed"
    strict: bool | None = None
    visuals: bool = True

    def __post_init__(self) -> None:
        for label, choices in CHOICES.items():
            choice(getattr(self, label), choices, f"{self.reader}: {label}")
