"""Mesh files: where the name in a description points to on this disk."""

from __future__ import annotations

import os
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from urllib.parse import unquote, urlsplit

from linkwork.formats.files import file_name

_PACKAGE_SCHEMES = ("package", "model")


class MeshFinder:
    """Finds mesh files for a description that lies in `folder` (None: it came as text, and nothing
    is relative).

    package://name/rest   `name` is looked for in the given package folders, around the description
                          (a folder of that
    model://name/rest     name above it, or beside one above it), then where ROS keeps packages
                          (ROS_PACKAGE_PATH, AMENT_PREFIX_PATH)
    file:///path, /path   as it stands
    path                  relative to the description
    anything else         kept as a name: nothing is ever fetched
    """

    def __init__(
        self, folder: Path | None, package_dirs: Sequence[str | os.PathLike[str]] = ()
    ) -> None:
        self.folder = None if folder is None else Path(os.path.abspath(folder))
        folders = (package_dirs,) if isinstance(package_dirs, (str, os.PathLike)) else package_dirs
        self.package_dirs = [Path(os.path.abspath(file_name(each))) for each in folders]
        self.packages = cache(self._packages)

    def find(self, filename: str) -> str:
        """The absolute path of a mesh that exists, or the name as it was given."""
        try:
            return next(
                (str(path) for path in self._candidates(filename) if path.is_file()), filename
            )
        except (
            OSError,
            ValueError,
        ):  # a name no file can have: too long, a null character, a broken address
            return filename

    def _candidates(self, filename: str) -> list[Path]:
        address = urlsplit(filename)
        if address.scheme in _PACKAGE_SCHEMES:
            rest = unquote(address.path).lstrip("/")
            return [
                Path(os.path.normpath(package / rest)) for package in self.packages(address.netloc)
            ]
        if address.scheme == "file":
            return self._relative(unquote(address.netloc + address.path))
        return [] if "://" in filename else self._relative(filename)

    def _relative(self, name: str) -> list[Path]:
        if os.path.isabs(name):
            return [Path(name)]
        return [] if self.folder is None else [Path(os.path.normpath(self.folder / name))]

    def _packages(self, name: str) -> list[Path]:
        """Folders that may be the package `name`, best first."""
        above = [] if self.folder is None else [self.folder, *self.folder.parents]
        ros = [Path(p) for p in os.environ.get("ROS_PACKAGE_PATH", "").split(os.pathsep) if p]
        ament = [
            Path(p) / "share"
            for p in os.environ.get("AMENT_PREFIX_PATH", "").split(os.pathsep)
            if p
        ]
        named = [each for each in [*self.package_dirs, *above] if each.name == name]
        inside = [each / name for each in [*self.package_dirs, *above, *ros, *ament]]
        return [each for each in [*named, *inside] if each.is_dir()]
