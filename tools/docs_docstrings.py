"""Docstrings as pages show them: aligned lists become lists, names in brackets stay,
"See room/file.py" leads there.

Docstrings are written for people who read the source: parameters stand in columns, a name and then
what it is. Markdown would run them together, take <name> for a tag, and knows no files.
mkdocstrings reads this as an extension of griffe.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import griffe

API = Path(__file__).parent.parent / "docs" / "api.md"
ENTRY = re.compile(r"^(?P<name>[\w.,*|\"'\[\]() =/^-]*?\S)\s{2,}(?P<text>\S.*)$")
"""A line of an aligned list: a name, two spaces or more, what it is."""
FILE = re.compile(r"\bSee (?P<path>[a-z_]+(?:/[a-z_]+)*)(?P<ending>\.py)?\b(?=[.,;:)]|$| )")


class Shown(griffe.Extension):
    """Every docstring, rewritten as it is collected."""

    def on_object(self, *, obj: griffe.Object, **kwargs: Any) -> None:
        if obj.docstring is not None:
            obj.docstring.value = shown(obj.docstring.value)


def shown(text: str) -> str:
    """A docstring as Markdown."""
    return "\n\n".join(_block(block) for block in re.split(r"\n[ \t]*\n", text))


def _block(block: str) -> str:
    lines = block.split("\n")
    if all(line.startswith("    ") for line in lines):
        return block  # equations and code are indented already, and shown as they stand
    entries = [k for k, line in enumerate(lines) if ENTRY.match(line) and not line.startswith(" ")]
    end = _end_of_list(lines, entries) if entries else 0
    if not entries or (end < len(lines) and len(entries) < 2):
        return _prose(block)
    entries = [k for k in entries if k < end]
    items = []
    for k, following in zip(entries, [*entries[1:], end], strict=True):
        found = ENTRY.match(lines[k])
        assert found is not None
        rest = " ".join(line.strip() for line in lines[k + 1 : following])
        items.append(f"- `{found['name']}`: {_prose((found['text'] + ' ' + rest).strip())}")
    before = _prose("\n".join(lines[: entries[0]]))
    # sentences, and perhaps another list
    after = _block("\n".join(lines[end:])) if end < len(lines) else ""
    return "\n\n".join(part for part in (before, "\n".join(items), after) if part)


def _end_of_list(lines: list[str], entries: list[int]) -> int:
    """The first line after the first entry that is neither an entry nor indented: sentences
    follow."""
    for k in range(entries[0], len(lines)):
        if k not in entries and not lines[k].startswith(" "):
            return k
    return len(lines)


def _prose(text: str) -> str:
    """Plain sentences: brackets that HTML would swallow are kept,
    files are named as modules and linked."""
    parts = re.split(r"(`[^`]*`)", text)
    for k in range(0, len(parts), 2):
        parts[k] = re.sub(r"<(?=[A-Za-z/])", "&lt;", parts[k])
        parts[k] = (
            parts[k].replace("*", r"\*").replace("_", r"\_") if "|" not in parts[k] else parts[k]
        )
        parts[k] = FILE.sub(
            _linked, parts[k].replace(r"\_", "_") if "See " in parts[k] else parts[k]
        )
    return "".join(parts)


def _linked(found: re.Match[str]) -> str:
    module = "linkwork." + found["path"].replace("/", ".")
    if found["ending"] is None and "/" not in found["path"]:
        return found[0]
    known = re.findall(r"^::: (\S+)", API.read_text("utf-8"), re.M)
    anchor = (
        module
        if module in known
        else next((name for name in known if name.startswith(f"{module}.")), None)
    )
    return f"See [`{module}`][{anchor}]" if anchor else f"See `{module}`"
