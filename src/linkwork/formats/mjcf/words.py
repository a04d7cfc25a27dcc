"""Words: an element as its default classes complete it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from linkwork.errors import InvalidFile, did_you_mean
from linkwork.formats.xml import Element

Holder = tuple[int, Element, int]
"""(rank, element that has an attribute, how many words it gives);
the nearest element has the lowest rank"""

Inherited = Mapping[str, tuple[Holder, ...]]
"""attribute -> who hands it down, the nearest first; see `inherited_from`"""

NOTHING: Inherited = {}


def inherited_from(
    elements: Sequence[Element], behind: Inherited = NOTHING, rank: int = 0
) -> Inherited:
    """What elements hand down, the nearest first, with what stands `behind` all of them.

    One behind others counts where it gives more numbers than they. `rank` is that of the first
    element, lower than any behind it.
    """
    by_attribute: dict[str, list[Holder]] = {}
    for k, element in enumerate(elements):
        for attribute, text in element.attributes.items():
            holders, count = by_attribute.setdefault(attribute, []), len(text.split())
            if not holders or count > holders[-1][2]:
                holders.append((rank + k, element, count))
    handed = dict(behind)
    for attribute, holders in by_attribute.items():
        more = [holder for holder in behind.get(attribute, ()) if holder[2] > holders[-1][2]]
        handed[attribute] = (*holders, *more)
    return handed


class Words:
    """Attributes of an element: its own, and where it has none those of its default classes.

    A number that is wrong in a default class is reported where it stands, not where it is used.
    """

    __slots__ = ("inherited", "own")

    def __init__(self, own: Element, inherited: Inherited = NOTHING) -> None:
        self.own, self.inherited = own, inherited

    def holder(self, *attributes: str) -> Element:
        """The nearest element that has one of the attributes; the element itself if none has."""
        for each in attributes:
            if each in self.own.attributes:
                return self.own
        if not self.inherited:
            return self.own
        candidates = [self.inherited[each][0] for each in attributes if each in self.inherited]
        return min(candidates, key=lambda held: held[0])[1] if candidates else self.own

    def holders(self, attribute: str) -> list[Element]:
        """Every element that has the attribute, the nearest first."""
        first = [self.own] if attribute in self.own.attributes else []
        return first + [holder for _, holder, _ in self.inherited.get(attribute, ())]

    @property
    def attributes(self) -> dict[str, str]:
        """Every attribute, own or inherited."""
        handed = {word: holders[0][1].attributes[word] for word, holders in self.inherited.items()}
        return handed | self.own.attributes

    def error(self, sentence: str) -> InvalidFile:
        return self.own.error(sentence)

    def has(self, attribute: str) -> bool:
        return attribute in self.own.attributes or attribute in self.inherited

    def has_none_of(self, attributes: frozenset[str]) -> bool:
        inherited = self.inherited
        return attributes.isdisjoint(self.own.attributes) and (
            not inherited or attributes.isdisjoint(inherited)
        )

    def text(self, attribute: str, default: str | None = None) -> str:
        if attribute in self.own.attributes:
            return self.own.text(attribute, default)
        if default is not None and attribute not in self.inherited:
            return default
        return self.holder(attribute).text(attribute, default)

    def number(self, attribute: str, default: float | None = None) -> float:
        if attribute in self.own.attributes:
            return self.own.number(attribute, default)
        if default is not None and attribute not in self.inherited:
            return default
        return self.holder(attribute).number(attribute, default)

    def numbers(
        self, attribute: str, count: int, default: tuple[float, ...] | None = None
    ) -> tuple[float, ...]:
        if attribute in self.own.attributes:
            return self.own.numbers(attribute, count, default)
        if default is not None and attribute not in self.inherited:
            return default
        return self.holder(attribute).numbers(attribute, count, default)

    def few(
        self, attribute: str, least: int, most: int, default: Sequence[float]
    ) -> tuple[float, ...]:
        holder = self.holder(attribute)
        return holder.few(attribute, least, most) if holder.has(attribute) else tuple(default)

    def overlaid(self, attribute: str, default: Sequence[float]) -> tuple[float, ...]:
        """As many numbers as the default has; who gives fewer replaces the first ones and inherits
        the others."""
        if attribute not in self.own.attributes and attribute not in self.inherited:
            return tuple(default)
        if attribute not in self.inherited:
            leading = self.own.few(attribute, 1, len(default))
            return (*leading, *default[len(leading) :])
        numbers = list(default)
        for holder in reversed(self.holders(attribute)):
            leading = holder.few(attribute, 1, len(numbers))
            numbers[: len(leading)] = leading
        return tuple(numbers)

    def whole(self, attribute: str, default: int) -> int:
        """A whole number."""
        if attribute not in self.own.attributes and attribute not in self.inherited:
            return default
        value = self.number(attribute, float(default))
        if value != int(value):
            raise self.holder(attribute).error(
                f'has {attribute}="{value:g}", expected a whole number'
            )
        return int(value)

    def choice(self, attribute: str, choices: Sequence[str], default: str) -> str:
        """One of the words."""
        if attribute not in self.own.attributes and attribute not in self.inherited:
            return default
        value = self.text(attribute, default)
        if value not in choices:
            expected = f"expected one of {', '.join(choices)}{did_you_mean(value, choices)}"
            raise self.holder(attribute).error(f'has {attribute}="{value[:60]}", {expected}')
        return value

    def flag(self, attribute: str, default: bool) -> bool:
        return self.choice(attribute, ("true", "false"), "true" if default else "false") == "true"
