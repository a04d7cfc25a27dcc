"""Folders: where a description may take its other files from, and nowhere else."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from linkwork.errors import InvalidInput, listed
from linkwork.formats.files import file_name


class Folders:
    """The folder of a description (None: it came as text) and the further folders its reader was
    given.

    Includes and meshes are opened only where their real path, symbolic links followed, lies below
    one of them.
    """

    def __init__(self, base: Path | None, further: Sequence[str | os.PathLike[str]] = ()) -> None:
        named = (further,) if isinstance(further, (str, os.PathLike)) else further
        if not isinstance(named, Sequence):
            raise InvalidInput(f"read_mjcf: folders is {further!r}, expected a list of folders")
        self.base = None if base is None else Path(os.path.abspath(base))
        self.open = [] if self.base is None else [self.base]
        self.open += [Path(os.path.abspath(file_name(each))) for each in named]
        self._real = [os.path.realpath(each) for each in self.open]

    def beside(self, base: Path) -> Folders:
        """The same open folders, seen from another base within them:
        the place of a model that is attached."""
        folders = Folders(None, self.open)
        folders.base, folders.open, folders._real = base, [base, *self.open], self._real
        return folders

    def find(self, name: str, among: Sequence[Path]) -> str | None:
        """The real path of the first file of that name in these folders that lies below an open
        one, or None."""
        candidates = [name] if os.path.isabs(name) else [os.path.join(each, name) for each in among]
        try:
            paths = map(os.path.realpath, candidates)
            return next(
                (path for path in paths if self._is_below(path) and os.path.isfile(path)), None
            )
        except (OSError, ValueError):  # a name no file can have: too long, a null character
            return None

    def _is_below(self, path: str) -> bool:
        return any(os.path.commonpath([folder, path]) == folder for folder in self._real)

    @property
    def described(self) -> str:
        return listed(f'"{each}"' for each in self.open) or "no folder (give folders=...)"
