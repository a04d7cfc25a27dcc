"""Default classes: which attributes an element inherits."""

from __future__ import annotations

from linkwork.errors import did_you_mean
from linkwork.formats.mjcf.attached import Attached
from linkwork.formats.mjcf.vocabulary import ACTUATORS
from linkwork.formats.mjcf.words import NOTHING, Inherited, Words, inherited_from
from linkwork.formats.xml import Element

MAIN = "main"


class Defaults:
    """The classes of a file: main, and the classes nested in it,
    each with its own elements on top of its parent's.

    Several <default> at the top level are one main; what a later one says does not reach classes of
    an earlier one.
    """

    def __init__(self, root: Element) -> None:
        self.parents: dict[str, str | None] = {MAIN: None}
        self.sections: dict[str, list[Element]] = {MAIN: []}
        # how many sections of main a class inherits from: those up to its own
        self.seen: dict[str, int] = {}
        for top in root.all("default"):
            # classes of another model, which inherit nothing from this one
            if isinstance(top, Attached):
                self._add_nested([(top, None)])
                continue
            if top.text("class", MAIN) != MAIN:
                raise top.error(
                    f'has class "{top.text("class")[:60]}", expected none or "{MAIN}" at the '
                    "top level"
                )
            self._collect(top)
        self._inherited: dict[tuple[str | tuple[str, ...], str], Inherited] = {}
        self._handed: dict[tuple[str | tuple[str, ...], str, int], tuple[Inherited, int]] = {}

    def _collect(self, top: Element) -> None:
        self.sections[MAIN].append(top)
        self._add_nested([(section, MAIN) for section in reversed(top.all("default"))])

    def _add_nested(self, waiting: list[tuple[Element, str | None]]) -> None:
        while waiting:
            section, parent = waiting.pop()
            name = section.text("class")
            if name in self.sections:
                raise section.error(f'names the class "{name[:60]}" a second time')
            self.parents[name] = None if isinstance(section, Attached) else parent
            self.sections[name] = [section]
            self.seen[name] = len(self.sections[MAIN])
            waiting.extend((child, name) for child in reversed(section.all("default")))

    def words(self, element: Element, childclass: str | None = None) -> Words:
        """The element with its class (its own, or that of the bodies and frames around it, or main)
        behind it."""
        named = self.named(element, "class") or childclass or MAIN
        return Words(element, self.inherited(element.tag, named))

    def actuator(self, element: Element) -> Words:
        """An actuator of any kind: in MuJoCo all kinds share one default."""
        return Words(element, self.inherited(ACTUATORS, self.named(element, "class") or MAIN))

    def tendon(self, element: Element) -> Words:
        """A spatial or a fixed tendon, whose defaults stand under <tendon>."""
        return Words(element, self.inherited("tendon", self.named(element, "class") or MAIN))

    def equality(self, element: Element) -> Words:
        return Words(element, self.inherited("equality", self.named(element, "class") or MAIN))

    def named(self, element: Element, attribute: str) -> str | None:
        """The class an attribute names, which must exist."""
        name = element.attributes.get(attribute)
        if name is not None and name not in self.sections:
            near = did_you_mean(name, self.sections)
            raise element.error(
                f'has {attribute}="{name[:60]}", and there is no such default class{near}'
            )
        return name

    def inherited(self, tags: str | tuple[str, ...], name: str) -> Inherited:
        """What a class and those around it hand down to elements of a tag;
        every section is looked through once."""
        known = self._inherited.get((tags, name))
        if known is not None:
            return known
        wanted = (tags,) if isinstance(tags, str) else tags
        waiting: list[tuple[str, int]] = []
        at: tuple[str, int] | None = (name, len(self.sections[name]) - 1)
        while at is not None and (tags, *at) not in self._handed:
            waiting.append(at)
            at = self._behind(*at)
        handed, lowest = (NOTHING, 0) if at is None else self._handed[(tags, *at)]
        for at in reversed(waiting):
            section = self.sections[at[0]][at[1]] if self.sections[at[0]] else None
            children = () if section is None else reversed(section.children)
            here = [each for each in children if each.tag in wanted]
            if here:
                lowest -= len(here)
                handed = inherited_from(here, handed, lowest)
            self._handed[(tags, *at)] = handed, lowest
        self._inherited[tags, name] = handed
        return handed

    def _behind(self, name: str, k: int) -> tuple[str, int] | None:
        """The section that the k-th section of a class inherits from."""
        if k > 0:
            return name, k - 1
        parent = self.parents[name]
        if parent is None:
            return None
        return parent, (self.seen[name] if parent == MAIN else len(self.sections[parent])) - 1
