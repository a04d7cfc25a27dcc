"""Words: an element as its default classes complete it."""

from __future__ import annotations

from collections.abc import Sequence

from linkwork.errors import InvalidFile, did_you_mean
from linkwork.formats.xml import Element


class Words:
    """Attributes of an element, each from the first holder that has it: the element itself, then its default classes.

    A number that is wrong in a default class is reported where it stands, not where it is used.
    """

    def __init__(self, *holders: Element) -> None:
        self.holders = holders

    @property
    def own(self) -> Element:
        return self.holders[0]

    def holder(self, *attributes: str) -> Element:
        """The first element that has one of the attributes; the element itself if none has."""
        return next((each for each in self.holders if any(map(each.has, attributes))), self.own)

    def error(self, sentence: str) -> InvalidFile:
        return self.own.error(sentence)

    def has(self, attribute: str) -> bool:
        return self.holder(attribute).has(attribute)

    def text(self, attribute: str, default: str | None = None) -> str:
        return self.holder(attribute).text(attribute, default)

    def number(self, attribute: str, default: float | None = None) -> float:
        return self.holder(attribute).number(attribute, default)

    def numbers(self, attribute: str, count: int, default: tuple[float, ...] | None = None) -> tuple[float, ...]:
        return self.holder(attribute).numbers(attribute, count, default)

    def few(self, attribute: str, least: int, most: int, default: Sequence[float]) -> tuple[float, ...]:
        holder = self.holder(attribute)
        return holder.few(attribute, least, most) if holder.has(attribute) else tuple(default)

    def overlaid(self, attribute: str, default: Sequence[float]) -> tuple[float, ...]:
        """As many numbers as the default has; who gives fewer replaces the first ones and inherits the others."""
        numbers = list(default)
        for holder in reversed(self.holders):
            if holder.has(attribute):
                given = holder.few(attribute, 1, len(numbers))
                numbers[: len(given)] = given
        return tuple(numbers)

    def whole(self, attribute: str, default: int) -> int:
        """A whole number."""
        value = self.number(attribute, float(default))
        if value != int(value):
            raise self.holder(attribute).error(f'has {attribute}="{value:g}", expected a whole number')
        return int(value)

    def choice(self, attribute: str, choices: Sequence[str], default: str) -> str:
        """One of the words."""
        value = self.text(attribute, default)
        if value not in choices:
            expected = f"expected one of {', '.join(choices)}{did_you_mean(value, choices)}"
            raise self.holder(attribute).error(f'has {attribute}="{value[:60]}", {expected}')
        return value

    def flag(self, attribute: str, default: bool) -> bool:
        return self.choice(attribute, ("true", "false"), "true" if default else "false") == "true"
