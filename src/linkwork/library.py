"""Library: robots by name or by file."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from linkwork.errors import NotPossible, UnknownName
from linkwork.formats.urdf import read_urdf, write_urdf
from linkwork.robot import Robot

_READERS = {".urdf": read_urdf}
_WRITERS = {".urdf": write_urdf}


def load(name: str | Path, live: Sequence[str] = (), **options: Any) -> Robot:
    """The robot of a file (.urdf).

    Options: root="fixed" | "floating"; mimic="follow" | "independent"; check="physical" | "positive" | "any".
    """
    path = Path(name)
    for ending, read in _READERS.items():
        if path.name.endswith(ending):
            return Robot(read(path, **options), live=live)
    raise UnknownName(f'there is no robot "{name}"; expected a file ending in {", ".join(_READERS)}')


def robots() -> dict[str, str]:
    """Names of the built-in robots, with one line each."""
    return {}


def save(robot: Robot, path: str | Path) -> Path:
    """Write a robot to a file; the ending names the format."""
    path = Path(path)
    for ending, write in _WRITERS.items():
        if path.name.endswith(ending):
            write(robot.model, path)
            return path
    raise NotPossible(f'save: "{path.name}" has an unknown ending, expected one of {", ".join(_WRITERS)}')
