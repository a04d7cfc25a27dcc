"""Attached: an element that came from another model and keeps that model's settings."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from linkwork.formats.mjcf.settings import CompilerSettings
from linkwork.formats.xml import Element


@dataclass(slots=True, eq=False)
class Attached(Element):
    """A frame, a section of classes or assets, or a keyframe of a model that another one attaches.

    settings   what <compiler> of its own file says: units of angles, where meshes lie, how mass is
               inferred
    folder     where its own file lies
    places     of a keyframe: (joint, its numbers in MuJoCo's order) of each joint that was attached
    """

    settings: CompilerSettings | None = None
    folder: Path | None = None
    places: tuple[tuple[Element, tuple[float, ...]], ...] = field(default=(), repr=False)


def copied(
    element: Element, parent: Element | None, twins: dict[int, Element] | None = None
) -> Element:
    """A copy of an element and all that stands in it; `twins` gets id of each original -> its
    copy."""
    top: Element | None = None
    stack = [(element, parent)]
    while stack:
        original, above = stack.pop()
        copy = twin(original, above)
        if twins is not None:
            twins[id(original)] = copy
        if top is None:
            top = copy
        else:
            assert above is not None
            above.children.append(copy)
        stack.extend((child, copy) for child in reversed(original.children))
    assert top is not None
    return top


def twin(original: Element, parent: Element | None) -> Element:
    """The element once more, without what stands in it."""
    words = dict(original.attributes)
    if isinstance(original, Attached):
        settings, folder, places = original.settings, original.folder, original.places
        return Attached(
            original.tag,
            words,
            original.line,
            original.source,
            parent,
            [],
            "",
            settings,
            folder,
            places,
        )
    return Element(original.tag, words, original.line, original.source, parent)


def below(element: Element) -> Iterator[Element]:
    """Everything that stands in an element, in the order of the file."""
    stack = list(reversed(element.children))
    while stack:
        each = stack.pop()
        yield each
        stack.extend(reversed(each.children))
