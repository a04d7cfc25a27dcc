"""Strictness: what a reader passes over in a file, one option with three levels for every format.

    strict    a detail that is only drawn    mechanics with a plain meaning    everything else
    None      passed over, named             refused                           refused
    False     passed over, named             passed over, named                refused
    True      refused                        refused                           refused

What was passed over is said in one warning a file, line by line.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable

from linkwork.errors import InvalidFile, InvalidInput, did_you_mean, listed

log = logging.getLogger("linkwork")


MOST_SUGGESTED = 3
"""How many names of one file that is read all the same get a suggestion."""


class Passed:
    """What one file lets pass; `source` is what warnings call the file."""

    def __init__(self, strict: bool | None, source: str) -> None:
        if strict is not None and not isinstance(strict, bool):
            raise InvalidInput(
                f"strict is {strict!r}, expected None (drawing details warn), False or True"
            )
        self.strict = strict
        self.source = source
        self._remarks: dict[str, None] = {}  # in order, each once
        self._said = False
        self._suggested = 0

    def detail(self, error: InvalidFile, meaning: str = "") -> None:
        """A detail that changes no mechanics, mostly one that is only drawn:
        refused by strict=True alone."""
        if self.strict is True:
            raise error
        self._note(error, meaning)

    def plain(self, error: InvalidFile, meaning: str) -> None:
        """Something of the mechanics that is wrong as it stands;
        `meaning` is what strict=False takes it for."""
        if self.strict is not False:
            raise InvalidFile(f"{error} (strict=False: {meaning})")
        self._note(error, meaning)

    def remark(self, sentence: str) -> None:
        """Something that is left out of the robot and is no fault of the file."""
        if self.strict is True:
            raise InvalidFile(f"{self.source}: {sentence} (strict=True)")
        self._remarks[sentence] = None

    def near(self, name: str, choices: Iterable[str]) -> str:
        """`; did you mean "x"?` for the first few names of a file, nothing for the others:
        work is bounded."""
        self._suggested += 1
        return did_you_mean(name, choices) if self._suggested <= MOST_SUGGESTED else ""

    def say(self) -> None:
        """The one warning of the file."""
        if self._remarks and not self._said:
            self._said = True
            log.warning("%s: %s", self.source, listed(self._remarks))

    def _note(self, error: InvalidFile, meaning: str) -> None:
        """`line 7: ...`, or `other.xml:7: ...` where the line stands in a file that this one
        includes."""
        said = str(error)
        prefix = f"{self.source}:"
        place = f"line {said[len(prefix) :]}" if said.startswith(prefix) else said
        self._remarks[f"{place}: {meaning}" if meaning else place] = None
