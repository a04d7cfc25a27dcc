"""Attach: parts of other models in the place of every <attach>,
with a prefix before each of their names.

As MuJoCo 4.0 does it: a part keeps the settings of its own file (units, folders, how mass is
inferred) and its own default classes, which nobody else can name. Equalities, tendons and actuators
come along where everything they name does; keyframes place the joints that came. Gravity is that of
the main file, or with <compiler conflict="merge"> that of the part where the main file says none.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from linkwork.errors import did_you_mean
from linkwork.formats.files import read_bounded
from linkwork.formats.mjcf.attached import Attached, below, copied
from linkwork.formats.mjcf.bodies import described_bodies
from linkwork.formats.mjcf.defaults import MAIN, Defaults
from linkwork.formats.mjcf.document import MOST_ELEMENTS, expanded
from linkwork.formats.mjcf.folders import Folders
from linkwork.formats.mjcf.replicate import REFERENCES, replicate
from linkwork.formats.mjcf.settings import CompilerSettings, settings
from linkwork.formats.mjcf.vocabulary import check_words
from linkwork.formats.xml import Element

DEEPEST = 10
"""Models that may stand in one another."""

LONGEST_PREFIX = 100
# in this order: a tendon that came may be named by the others
SECTIONS = (
    "tendon",
    "equality",
    "actuator",
)
_ASSETS = {"mesh": "mesh", "material": "material", "hfield": "hfield"}
_KINDS = {"freejoint": "joint"}
_SIZES = {"free": 7, "ball": 4, "slide": 1, "hinge": 1}


@dataclass
class _Work:
    """What is open above a model, and how many elements all of them made."""

    above: tuple[str, ...] = ()
    made: list[int] = field(default_factory=lambda: [0])

    def count(self, element: Element, number: int) -> None:
        self.made[0] += number
        if self.made[0] > MOST_ELEMENTS:
            raise element.error(
                f"makes more than {MOST_ELEMENTS} elements, with what models attach"
            )


@dataclass(frozen=True)
class _Part:
    """A model to attach from: its document, classes, settings,
    and the joints with their numbers of coordinates."""

    root: Element
    folder: Path
    settings: CompilerSettings
    defaults: Defaults
    joints: tuple[tuple[Element, int], ...]


def assembled(
    content: bytes | str, source: str, folders: Folders, work: _Work | None = None
) -> tuple[Element, CompilerSettings]:
    """The root of an MJCF text and its settings: includes,
    attached models and copies in their places, words known."""
    tags: set[str] = set()
    root = expanded(content, source, folders, tags)
    check_words(root)
    if "attach" in tags or "model" in tags:
        models = [each for section in root.all("asset") for each in section.all("model")]
        _attach_all(root, models, folders, work or _Work())
    compiler = settings(root)
    if "replicate" in tags:
        replicate(root, compiler)
    return root, compiler


def _attach_all(root: Element, models: list[Element], folders: Folders, work: _Work) -> None:
    parts: dict[str, _Part] = {}
    for model in models:
        part = _read(model, folders, work)
        parts[model.attributes.get("name") or part.root.text("model", "") or "MuJoCo Model"] = part
    before = [(section, list(section.children)) for tag in SECTIONS for section in root.all(tag)]
    seen: dict[tuple[str, str], Element] = {}
    attachments = 0
    stack = list(reversed(root.all("worldbody")))
    while stack:
        element = stack.pop()
        if element.tag in ("body", "frame") and element.attributes.get("name"):
            seen[element.tag, element.attributes["name"]] = element
        for k, child in enumerate(element.children):
            if child.tag == "attach":
                attachments += 1
                element.children[k] = _attached(
                    child, element, root, parts, before, seen, attachments, work
                )
        stack.extend(reversed(element.children))


def _read(model: Element, folders: Folders, work: _Work) -> _Part:
    """The model that an asset names, with what it attaches itself."""
    name = model.text("file")
    beside = [Path(os.path.dirname(model.source))] if os.path.isabs(model.source) else []
    path = folders.find(name, [*folders.open[:1], *beside, *folders.open[1:]])
    if path is None:
        raise model.error(
            f'names "{name[:200]}", and there is no such file below {folders.described}'
        )
    if path in work.above:
        raise model.error(f'attaches from "{name[:200]}", which attaches from this file')
    if len(work.above) >= DEEPEST:
        raise model.error(f"stands deeper than {DEEPEST} models in one another")
    inside = _Work((*work.above, path), work.made)
    root, compiler = assembled(read_bounded(path), path, folders.beside(Path(path).parent), inside)
    work.count(model, 1 + sum(1 for _ in below(root)))
    defaults = Defaults(root)
    bodies = described_bodies(root, defaults, compiler)
    joints = [part.words for body in bodies for part in body.joints]
    sizes = [
        7 if each.own.tag == "freejoint" else _SIZES.get(each.text("type", "hinge"), 1)
        for each in joints
    ]
    return _Part(
        root,
        Path(path).parent,
        compiler,
        defaults,
        tuple(zip([each.own for each in joints], sizes)),
    )


def _attached(
    attach: Element,
    parent: Element,
    root: Element,
    parts: dict[str, _Part],
    before: list[tuple[Element, list[Element]]],
    seen: dict[tuple[str, str], Element],
    number: int,
    work: _Work,
) -> Element:
    """The frame that stands in the place of one <attach>."""
    prefix = attach.text("prefix", "")
    if not attach.has("prefix") or len(prefix) > LONGEST_PREFIX:
        raise attach.error(f"has no prefix, or a longer one than {LONGEST_PREFIX} characters")
    name = attach.attributes.get("model")
    if name is None:
        return _attached_self(attach, parent, before, seen, prefix, work)
    if name not in parts:
        raise attach.error(
            f'names the model "{name[:60]}", which is no asset{did_you_mean(name, parts)}'
        )
    part = parts[name]
    source = _source(attach, part.root)
    classes = f"{prefix}{number}/"
    frame = Attached(
        "frame", {}, attach.line, attach.source, parent, [], "", part.settings, part.folder
    )
    frame.attributes["childclass"] = _class_around(source, part.defaults)
    twins = _fill(frame, source, attach, work)
    kept = _names(frame)
    copies = [_copied_section(part.root, tag, kept, root, twins, work) for tag in SECTIONS]
    wanted = [
        (section, each)
        for section in part.root.all("asset")
        for each in section
        if each.tag != "model"
    ]
    copies += [_attached_asset(each, section, root, part) for section, each in wanted]
    copies += [_default_section(part, root)]
    work.count(attach, sum(1 + sum(1 for _ in below(each)) for each in copies))
    for each in (frame, *copies):
        _rename(each, prefix, classes, part.defaults)
    root.children += copies
    _keyframes(root, part, prefix, twins)
    if settings_of_conflict(root) == "merge" and not any(
        option.has("gravity") for option in root.all("option")
    ):
        root.children += [copied(each, root) for each in part.root.all("option")]
    return frame


def settings_of_conflict(root: Element) -> str:
    """What <compiler conflict> says about options of attached models: "warning",
    "merge" or "error"."""
    choices = [each.attributes["conflict"] for each in root.all("compiler") if each.has("conflict")]
    return choices[-1] if choices else "warning"


def _attached_self(
    attach: Element,
    parent: Element,
    before: list[tuple[Element, list[Element]]],
    seen: dict[tuple[str, str], Element],
    prefix: str,
    work: _Work,
) -> Element:
    """A part of the file itself once more: classes and assets are shared,
    bodies and what names them are not."""
    kinds = [kind for kind in ("body", "frame") if attach.has(kind)]
    if len(kinds) != 1:
        raise attach.error("names no model, expected a body or a frame of this file")
    source = seen.get((kinds[0], attach.text(kinds[0])))
    if source is None:
        raise attach.error(
            f'names the {kinds[0]} "{attach.text(kinds[0])[:60]}", which does not stand before it'
        )
    above: Element | None = attach.parent
    while above is not None:
        if above is source:
            raise attach.error(f"stands in the {kinds[0]} that it attaches")
        above = above.parent
    frame = Element(
        "frame", {"childclass": _childclass(source)}, attach.line, attach.source, parent
    )
    _fill(frame, source, attach, work)
    kept = _names(frame)
    for section, children in before:
        for each in _that_came(children, kept, section.tag):
            copy = copied(each, section)
            work.count(attach, 1 + sum(1 for _ in below(copy)))
            _rename_all(copy, prefix, REFERENCES)
            section.children.append(copy)
    _rename_all(frame, prefix, {})
    return frame


def _source(attach: Element, root: Element) -> Element:
    """What is attached: a body, a frame, or without either all that stands in the world of the
    model."""
    worlds = root.all("worldbody")
    kinds = [kind for kind in ("body", "frame") if attach.has(kind)]
    if len(kinds) > 1:
        raise attach.error("names a body and a frame, expected one of them or neither")
    whole = Element("frame", {}, attach.line, attach.source, root)
    whole.children = [each for world in worlds for each in world]
    if not kinds:
        return whole
    name = attach.text(kinds[0])
    if (kinds[0], name) == ("body", "world"):
        body = Element("body", {"name": "world"}, attach.line, attach.source, root)
        body.children = whole.children
        return body
    candidates = {
        each.attributes.get("name", ""): each for each in below(whole) if each.tag == kinds[0]
    }
    if name not in candidates:
        near = did_you_mean(name, candidates)
        raise attach.error(
            f'names the {kinds[0]} "{name[:60]}", which its model does not have{near}'
        )
    return candidates[name]


def _fill(frame: Element, source: Element, attach: Element, work: _Work) -> dict[int, Element]:
    twins: dict[int, Element] = {}
    work.count(attach, 1 + sum(1 for _ in below(source)))
    frame.children.append(copied(source, frame, twins))
    return twins


def _childclass(source: Element) -> str:
    """The class of the bodies and frames around an element."""
    at = source.parent
    while at is not None:
        if at.has("childclass"):
            return at.attributes["childclass"]
        at = at.parent
    return MAIN


def _class_around(source: Element, defaults: Defaults) -> str:
    at = source.parent
    while at is not None:
        if at.tag in ("body", "frame") and defaults.named(at, "childclass"):
            return at.attributes["childclass"]
        at = at.parent
    return MAIN


def _names(frame: Element) -> set[tuple[str, str]]:
    """(kind, name) of everything that came."""
    named = ((_KINDS.get(each.tag, each.tag), each.attributes.get("name")) for each in below(frame))
    return {("body", "world"), *((kind, name) for kind, name in named if name)}


def _that_came(rows: list[Element], kept: set[tuple[str, str]], tag: str) -> Iterator[Element]:
    """Rows of a section of which everything they name came along."""
    for row in rows:
        parts = [row, *below(row)]
        named = [
            (REFERENCES[w], v)
            for part in parts
            for w, v in part.attributes.items()
            if w in REFERENCES
        ]
        if all(each in kept for each in named):
            if tag == "tendon" and row.attributes.get("name"):
                kept.add(("tendon", row.attributes["name"]))
            yield row


def _copied_section(
    source: Element,
    tag: str,
    kept: set[tuple[str, str]],
    root: Element,
    twins: dict[int, Element],
    work: _Work,
) -> Element:
    section = Element(tag, {}, source.line, source.source, root)
    rows = [row for each in source.all(tag) for row in each]
    for row in _that_came(rows, kept, tag):
        copy = copied(row, section, twins)
        copy.attributes.setdefault("class", MAIN)
        section.children.append(copy)
    return section


def _attached_asset(asset: Element, around: Element, root: Element, part: _Part) -> Element:
    """A section with one asset of a part: meshes of nested parts keep their own folder and
    settings."""
    known, folder = part.settings, part.folder
    if isinstance(around, Attached) and around.settings is not None and around.folder is not None:
        known, folder = around.settings, around.folder
    section = Attached("asset", {}, asset.line, asset.source, root, [], "", known, folder)
    copy = copied(asset, section)
    if not copy.attributes.get("name") and copy.attributes.get("file"):
        copy.attributes["name"] = os.path.splitext(os.path.basename(copy.attributes["file"]))[0]
    if copy.tag in ("mesh", "material"):
        copy.attributes.setdefault("class", MAIN)
    section.children.append(copy)
    return section


def _default_section(part: _Part, root: Element) -> Element:
    """The classes of a part below one of their own, which inherits from nobody."""
    top = Attached(
        "default",
        {"class": MAIN},
        part.root.line,
        part.root.source,
        root,
        [],
        "",
        part.settings,
        None,
    )
    for section in part.root.all("default"):
        if isinstance(section, Attached):  # classes of a part within the part
            top.children.append(copied(section, top))
        else:
            top.children += [copied(each, top) for each in section]
    return top


def _rename(top: Element, prefix: str, classes: str, defaults: Defaults) -> None:
    """Put the prefix before every name and reference,
    and give classes names that no file can write."""
    for each in (top, *below(top)):
        words = each.attributes
        for word in ("class", "childclass"):
            if word in words:
                if each.tag != "default":
                    defaults.named(each, word)
                words[word] = classes + words[word]
        if words.get("name"):
            words["name"] = prefix + words["name"]
        for word in words.keys() & (REFERENCES.keys() | _ASSETS.keys()):
            is_world = REFERENCES.get(word) == "body" and words[word] == "world"
            if words[word] and not is_world:
                words[word] = prefix + words[word]


def _rename_all(top: Element, prefix: str, references: dict[str, str]) -> None:
    for each in (top, *below(top)):
        words = each.attributes
        for word in ({"name"} | references.keys()) & words.keys():
            if words[word] and not (word != "name" and words[word] == "world"):
                words[word] = prefix + words[word]


def _keyframes(root: Element, part: _Part, prefix: str, twins: dict[int, Element]) -> None:
    """The keyframes of a part, as numbers of the joints that came;
    all others stand at their reference."""
    keys = [key for section in part.root.all("keyframe") for key in section.all("key")]
    section = Element("keyframe", {}, part.root.line, part.root.source, root)
    total = sum(size for _, size in part.joints)
    for key in keys:
        if isinstance(key, Attached):
            places = list(key.places)
        else:
            numbers = key.few("qpos", 0, total) if key.attributes.get("qpos", "").strip() else ()
            places, at = [], 0
            for joint, size in part.joints:
                if at + size <= len(numbers):
                    places.append((joint, numbers[at : at + size]))
                at += size
        came = tuple((twins[id(joint)], q) for joint, q in places if id(joint) in twins)
        words = {"name": prefix + key.attributes["name"]} if key.attributes.get("name") else {}
        section.children.append(
            Attached("key", words, key.line, key.source, section, [], "", None, None, came)
        )
    if section.children:
        root.children.append(section)
