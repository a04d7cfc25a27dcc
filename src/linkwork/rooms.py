"""Rooms: the folders of this package, found by their files and never listed.

A room is a folder with an `__init__.py`, whose first line says what the room is and whose `__all__`
has its public names: `linkwork.<room>.<name>`. Where it has them, these files plug it in
everywhere:

    quantities.py   QUANTITIES: its lines of the table of quantities (quantities/line.py)
    commands.py     its part of the command line: every public function of the file
                    (cli/application.py)
    panel.py        panel(stand): its part of the viewer (view/stand.py)
    section.py      section(robot, analysis, obstacles): its part of a report (view/report.py)
"""

from __future__ import annotations

import importlib
import pkgutil
from pathlib import Path
from types import ModuleType

PACKAGE = __name__.rpartition(".")[0]


def rooms() -> dict[str, Path]:
    """Room -> its folder, in the order of their names. Nothing is imported."""
    folders: dict[str, Path] = {}
    for folder in importlib.import_module(PACKAGE).__path__:
        for module in pkgutil.iter_modules([folder]):
            if module.ispkg and not module.name.startswith("_"):
                folders.setdefault(module.name, Path(folder) / module.name)
    return dict(sorted(folders.items()))


def room(name: str) -> ModuleType:
    """A room by its name."""
    return importlib.import_module(f"{PACKAGE}.{name}")


def files(part: str) -> dict[str, Path]:
    """Room -> its file `part`.py, of every room that has one. Nothing is imported."""
    expected = {name: folder / f"{part}.py" for name, folder in rooms().items()}
    return {name: file for name, file in expected.items() if file.is_file()}


def part(room: str, part: str) -> ModuleType:
    """One part of one room."""
    return importlib.import_module(f"{PACKAGE}.{room}.{part}")


def parts(part: str) -> dict[str, ModuleType]:
    """Room -> its module `part`, of every room that has one."""
    return {room: importlib.import_module(f"{PACKAGE}.{room}.{part}") for room in files(part)}
