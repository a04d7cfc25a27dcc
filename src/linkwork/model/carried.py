"""Carried: what a description says beside the mechanism,
kept as data that linkwork itself does not use."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Carried:
    """A motor, a tendon, a coupling that no element of linkwork can hold,
    in the words of the format it came from.

    kind         the format and its word: "mjcf actuator motor", "mjcf tendon spatial", "mjcf
                 equality tendon"
    attributes   ((word, text), ...) as the format writes them, what it inherits included
    parts        what stands inside it, of the same form: the path of a tendon
    """

    kind: str
    name: str = ""
    attributes: tuple[tuple[str, str], ...] = ()
    parts: tuple[Carried, ...] = ()

    def get(self, word: str) -> str | None:
        """An attribute, or None."""
        return dict(self.attributes).get(word)
