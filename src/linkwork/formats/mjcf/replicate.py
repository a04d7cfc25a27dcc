"""Replicate: copies of a part of the tree, each turned and moved on from the one before."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterator

from linkwork.formats.mjcf.attached import Attached, twin
from linkwork.formats.mjcf.orientation import from_euler_sequence
from linkwork.formats.mjcf.settings import CompilerSettings
from linkwork.formats.mjcf.words import Words
from linkwork.formats.xml import Element
from linkwork.model.number import ZERO, Matrix, Vector, add, times

MOST_COPIES = 50_000
_KINDS = {"freejoint": "joint"}
# attributes by which equalities, tendons and actuators name something,
# and the kind of what they name
REFERENCES = {
    **dict.fromkeys(("body", "body1", "body2"), "body"),
    **dict.fromkeys(("joint", "jointinparent", "joint1", "joint2"), "joint"),
    **dict.fromkeys(
        ("site", "site1", "site2", "refsite", "cranksite", "slidersite", "sidesite"), "site"
    ),
    **dict.fromkeys(("tendon", "tendon1", "tendon2"), "tendon"),
    "geom": "geom",
}


class Copies:
    """Where names have gone: (kind, name in the file) -> the endings its copies got."""

    def __init__(self) -> None:
        self.endings: dict[tuple[str, str], list[str]] = defaultdict(list)
        self.made = 0
        # id of an element -> it, and its first copy
        self.first: dict[int, tuple[Element, Element]] = {}

    def count(self, element: Element) -> None:
        self.made += 1
        if self.made > MOST_COPIES:
            raise element.error(f"makes more than {MOST_COPIES} copies of elements")


def replicate(root: Element, settings: CompilerSettings) -> None:
    """Put frames with copies in the place of every <replicate> of the bodies,
    and copy what refers to them.

    Copy k stands turned by k times `euler` at the sum of the turned offsets before it. Names get
    `sep` and k behind them, with as many digits as `count` has; inside out where one <replicate>
    stands in another. MuJoCo takes `prefix` and does nothing with it, and so does linkwork.
    """
    copies = Copies()
    order: list[Element] = []
    stack = list(root.all("worldbody"))
    while stack:
        element = stack.pop()
        order.append(element)
        stack.extend(
            [child for child in element.children if child.children or child.tag == "replicate"]
        )
    for element in reversed(order):  # inner ones first
        if "replicate" in [child.tag for child in element.children]:
            element.children = [
                part for child in element for part in _replaced(child, element, settings, copies)
            ]
    _copy_referring(root, copies)
    for key in (each for section in root.all("keyframe") for each in section.all("key")):
        # the first copies stand where the keyframe places them, as in MuJoCo
        if isinstance(key, Attached):
            key.places = tuple((_first(joint, copies), q) for joint, q in key.places)


def _first(element: Element, copies: Copies) -> Element:
    while id(element) in copies.first:
        element = copies.first[id(element)][1]
    return element


def _replaced(
    child: Element, parent: Element, settings: CompilerSettings, copies: Copies
) -> Iterator[Element]:
    if child.tag != "replicate":
        yield child
        return
    words = Words(child)
    count = words.whole("count", -1)
    if not 0 <= count <= MOST_COPIES:
        raise child.error(
            f'has count="{child.text("count")[:60]}", expected how many copies to make'
        )
    x, y, z = words.numbers("offset", 3, (0.0, 0.0, 0.0))
    turn = words.numbers("euler", 3, (0.0, 0.0, 0.0))
    for inner in child.children:
        if inner.tag in ("joint", "freejoint"):
            raise inner.error(
                "stands directly in <replicate>, which copies bodies, expected it in a <body>"
            )
    position: Vector = ZERO
    names = [
        (_KINDS.get(e.tag, e.tag), e.attributes["name"])
        for e in _all(child)
        if e.attributes.get("name")
    ]
    if not all(math.isfinite(count * angle) for angle in turn):
        raise child.error("turns its copies beyond the numbers")
    for k in range(count):
        R = from_euler_sequence((k * turn[0], k * turn[1], k * turn[2]), settings)
        ending = words.text("sep", "") + str(k).zfill(len(str(count)))
        yield _frame(child, parent, position, R, ending, copies)
        for kind, name in names:
            copies.endings[kind, name].append(ending)
        position = add(position, times(R, (x, y, z)))


def _frame(
    source: Element, parent: Element, p: Vector, R: Matrix, ending: str, copies: Copies
) -> Element:
    """<frame pos xyaxes> with a copy of what stands in the replicate."""
    numbers = " ".join(
        repr(float(x)) for x in (R[0][0], R[1][0], R[2][0], R[0][1], R[1][1], R[2][1])
    )
    attributes = {"pos": " ".join(repr(float(x)) for x in p), "xyaxes": numbers}
    if source.has("childclass"):
        attributes["childclass"] = source.text("childclass")
    frame = Element("frame", attributes, source.line, source.source, parent)
    frame.children = [_copied(child, frame, ending, copies) for child in source.children]
    return frame


def _copied(element: Element, parent: Element, ending: str, copies: Copies) -> Element:
    top: Element | None = None
    stack = [(element, parent)]
    while stack:
        original, above = stack.pop()
        copies.count(original)
        attributes = dict(original.attributes)
        if attributes.get("name"):
            attributes["name"] += ending
        copy = twin(original, above)
        copy.attributes = attributes
        copies.first.setdefault(id(original), (original, copy))
        if top is None:
            top = copy
        else:
            above.children.append(copy)
        stack.extend((child, copy) for child in reversed(original.children))
    assert top is not None
    return top


def _all(element: Element) -> Iterator[Element]:
    stack = list(element.children)
    while stack:
        each = stack.pop()
        yield each
        stack.extend(each.children)


def _copy_referring(root: Element, copies: Copies) -> None:
    """Copies of the equalities, tendons and actuators that name something which was copied."""
    if not copies.made:
        return
    for tag in ("tendon", "equality", "actuator"):
        for section in root.all(tag):
            done: list[Element] = []
            waiting = list(reversed(section.children))
            while waiting:
                element = waiting.pop()
                again = _referring(element, section, copies)
                if not again:
                    done.append(element)
                # a copy names copies again where replicates are nested
                waiting.extend(reversed(again))
            section.children = done


def _referring(element: Element, section: Element, copies: Copies) -> list[Element]:
    """The element once for each copy of the first thing it names that was copied;
    [] if it names none."""
    parts = [element, *_all(element)]
    named = [
        (REFERENCES[w], v) for part in parts for w, v in part.attributes.items() if w in REFERENCES
    ]
    endings = next((copies.endings[key] for key in named if key in copies.endings), [])
    clones = []
    for ending in endings:
        copy = _copied(element, section, "", copies)
        for part in [copy, *_all(copy)]:
            for word, value in part.attributes.items():
                if word in REFERENCES and ending in copies.endings.get(
                    (REFERENCES[word], value), ()
                ):
                    part.attributes[word] = value + ending
        if copy.attributes.get("name"):
            copy.attributes["name"] += ending
        clones.append(copy)
    if endings and section.tag == "tendon" and element.attributes.get("name"):
        copies.endings["tendon", element.attributes["name"]] += endings
    return clones
