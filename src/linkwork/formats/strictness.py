"""Strictness: what a reader passes over in a file, one option with three levels for every format.

    strict    a detail that is only drawn    mechanics with a plain meaning    everything else
    None      passed over, named             refused                           refused
    False     passed over, named             passed over, named                refused
    True      refused                        refused                           refused

What was passed over is said in one warning a file, line by line.
"""

from __future__ import annotations

import logging
from typing import Protocol

from linkwork.errors import InvalidFile, InvalidInput, listed

log = logging.getLogger("linkwork")


class Place(Protocol):
    """Where something stands in a file, and the error that says so (an XML element, words of MJCF)."""

    @property
    def line(self) -> int: ...

    @property
    def described(self) -> str: ...

    def error(self, sentence: str) -> InvalidFile: ...


class Passed:
    """What one file lets pass; `source` is what warnings call the file."""

    def __init__(self, strict: bool | None, source: str) -> None:
        if strict is not None and not isinstance(strict, bool):
            raise InvalidInput(f"strict is {strict!r}, expected None (drawing details warn), False or True")
        self.strict = strict
        self.source = source
        self.remarks: list[str] = []

    def drawn(self, place: Place, sentence: str) -> None:
        """A detail that is only drawn: named, and refused by strict=True alone."""
        if self.strict is True:
            raise place.error(sentence)
        self.remarks.append(_at(place, sentence))

    def plain(self, place: Place, sentence: str, meaning: str) -> None:
        """Something of the mechanics that is wrong as it stands; `meaning` is what strict=False takes it for."""
        if self.strict is not False:
            raise place.error(f"{sentence} (strict=False: {meaning})")
        self.remarks.append(_at(place, f"{sentence}: {meaning}"))

    def remark(self, sentence: str) -> None:
        """Something that is left out of the robot and is no fault of the file."""
        if self.strict is True:
            raise InvalidFile(f"{self.source}: {sentence} (strict=True)")
        self.remarks.append(sentence)

    def say(self) -> None:
        """The one warning of the file."""
        if self.remarks:
            log.warning("%s: %s", self.source, listed(self.remarks))


def _at(place: Place, sentence: str) -> str:
    return f"line {place.line}: {place.described} {sentence}"
