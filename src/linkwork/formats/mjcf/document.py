"""The document: an MJCF file with its includes in their places."""

from __future__ import annotations

import os
from pathlib import Path

from linkwork.errors import InvalidFile
from linkwork.formats.files import read_bounded
from linkwork.formats.mjcf.folders import Folders
from linkwork.formats.xml import Element, parse_xml

DEEPEST = 2000
"""How deep elements may be nested: a body stands inside its parent,
so a chain of n links is n deep."""


MOST_ELEMENTS = 40_000
"""How many elements a file may have, with what it includes:
a hostile one costs seconds at most (tests/formats)."""


def expanded(content: bytes | str, source: str, folders: Folders, tags: set[str]) -> Element:
    """The root of an MJCF text with every <include file=.../> replaced by what stands inside that
    file's root.

    `tags` gets every tag of the text and of what it includes. A name is looked for beside the main
    file first, then beside the including one. No file is included twice, as in MuJoCo, so that
    nothing includes itself.
    """
    root = parse_xml(content, source, DEEPEST, tags=tags, most=MOST_ELEMENTS)
    if root.tag != "mujoco":
        other = {
            "robot": " (this is URDF)",
            "sdf": " (this is SDF)",
            "mujocoinclude": " (a part to include)",
        }
        what = f"the root element is <{root.tag[:60]}>{other.get(root.tag, '')}, expected <mujoco>"
        raise InvalidFile(f"{source}:{root.line}: {what}")
    if "include" not in tags:
        return root
    seen: dict[str, Element] = {}
    count = 1
    stack = [(root, 1)]  # those that hold others
    while stack:
        element, depth = stack.pop()
        if depth >= DEEPEST:
            raise element.children[0].error(f"is nested deeper than {DEEPEST}")
        element.children = _with_includes(element, folders, seen, tags)
        count += len(element.children)
        if count > MOST_ELEMENTS:
            raise element.error(
                f"makes more than {MOST_ELEMENTS} elements, with what the file includes"
            )
        stack.extend([(child, depth + 1) for child in element.children if child.children])
    return root


def _with_includes(
    element: Element, folders: Folders, seen: dict[str, Element], tags: set[str]
) -> list[Element]:
    """The children of an element, includes replaced by what they include,
    as often as that includes more."""
    if "include" not in [child.tag for child in element.children]:
        for child in element.children:
            child.parent = element
        return element.children
    children: list[Element] = []
    waiting = list(reversed(element.children))
    while waiting:
        child = waiting.pop()
        if child.tag == "include":
            waiting.extend(reversed(_included(child, folders, seen, tags)))
        else:
            child.parent = element
            children.append(child)
    return children


def _included(
    include: Element, folders: Folders, seen: dict[str, Element], tags: set[str]
) -> list[Element]:
    name = include.text("file")
    beside = [Path(os.path.dirname(include.source))] if os.path.isabs(include.source) else []
    path = folders.find(name, [*folders.open[:1], *beside, *folders.open[1:]])
    if path is None:
        raise include.error(
            f'names "{name[:200]}", and there is no such file below {folders.described}'
        )
    if path in seen:
        first = f"{seen[path].source}:{seen[path].line}"
        raise include.error(
            f'includes "{name}" a second time (first at {first}); MJCF includes a file once'
        )
    seen[path] = include
    return parse_xml(read_bounded(path), path, DEEPEST, tags=tags).children
