"""Xacro: macro files expanded to URDF text by the package xacro, where it is installed.

Xacro evaluates Python expressions of the file: expand only files that you trust.
"""

from __future__ import annotations

import contextlib
import importlib
import io
import os
from collections.abc import Mapping
from typing import Any

from linkwork.errors import InvalidFile, InvalidInput, NotPossible
from linkwork.formats.files import LARGEST, file_name, read_bounded


def expanded(path: str | os.PathLike[str], mappings: Mapping[str, str] | None = None) -> str:
    """The URDF text of a .xacro file; `mappings` are its arguments,
    as `name:=value` of the command xacro."""
    replacements = {} if mappings is None else mappings
    if not isinstance(replacements, Mapping) or not all(
        isinstance(key, str) for key in replacements
    ):
        raise InvalidInput(
            f'load: mappings is {mappings!r}, expected a dictionary such as {{"name": "ur5e"}}'
        )
    shown = file_name(path)
    read_bounded(shown)  # a missing file, a folder or a huge one is refused as everywhere
    package = _package(shown)
    said = io.StringIO()  # xacro prints its warnings
    try:
        with contextlib.redirect_stderr(said):
            document = package.process_file(
                shown, mappings={key: str(value) for key, value in replacements.items()}
            )
            text = str(document.toprettyxml(indent="  "))
    except Exception as error:  # expressions of the file raise whatever Python raises
        raise InvalidFile(
            f"{shown}: xacro cannot expand it: {type(error).__name__}: {_first_line(error)}"
        ) from error
    if len(text) > LARGEST:
        raise InvalidFile(
            f"{shown}: expands to {len(text) / 2**20:.0f} MB, expected at most "
            f"{LARGEST / 2**20:.0f} MB"
        )
    return text


def _package(shown: str) -> Any:
    try:
        return importlib.import_module("xacro")
    except ImportError:
        raise NotPossible(
            f"{shown}: is a macro file, which the package xacro expands: pip install xacro"
        ) from None


def _first_line(error: Exception) -> str:
    lines = str(error).strip().splitlines()
    return lines[0] if lines else "no reason given"
