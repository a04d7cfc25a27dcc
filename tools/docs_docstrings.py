"""Docstrings as pages show them: aligned lists become lists, names in brackets stay, "See room/file.py" leads there.

Docstrings are written for people who read the source: parameters stand in columns, a name and then what it is. Markdown
would run them together, take <name> for a tag, and knows no files. mkdocstrings reads this as an extension of griffe.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import griffe

API = Path(__file__).parent.parent / "docs" / "api.md"
ENTRY = re.compile(r"^(?P<name>[\w.,*|\"'\[\]() =-]*?\S)\s{2,}(?P<text>\S.*)$")
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
    if not entries or not _aligned(lines, entries):
        return _prose(block)
    before = "\n".join(lines[: entries[0]])
    items = []
    for k, following in zip(entries, [*entries[1:], len(lines)], strict=True):
        found = ENTRY.match(lines[k])
        assert found is not None
        rest = " ".join(line.strip() for line in lines[k + 1 : following])
        items.append(f"- `{found['name']}`: {_prose((found['text'] + ' ' + rest).strip())}")
    return "\n\n".join(part for part in (_prose(before), "\n".join(items)) if part)


def _aligned(lines: list[str], entries: list[int]) -> bool:
    """Whether everything after the first entry is an entry or its continuation, which is indented."""
    return all(k in entries or line.startswith(" ") for k, line in enumerate(lines) if k > entries[0])


def _prose(text: str) -> str:
    """Plain sentences: brackets that HTML would swallow are kept, files are named as modules and linked."""
    parts = re.split(r"(`[^`]*`)", text)
    for k in range(0, len(parts), 2):
        parts[k] = re.sub(r"<(?=[A-Za-z/])", "&lt;", parts[k])
        parts[k] = parts[k].replace("*", r"\*").replace("_", r"\_") if "|" not in parts[k] else parts[k]
        parts[k] = FILE.sub(_linked, parts[k].replace(r"\_", "_") if "See " in parts[k] else parts[k])
    return "".join(parts)


def _linked(found: re.Match[str]) -> str:
    module = "linkwork." + found["path"].replace("/", ".")
    if found["ending"] is None and "/" not in found["path"]:
        return found[0]
    known = re.findall(r"^::: (\S+)", API.read_text("utf-8"), re.M)
    anchor = module if module in known else next((name for name in known if name.startswith(f"{module}.")), None)
    return f"See [`{module}`][{anchor}]" if anchor else f"See `{module}`"
