"""Code blocks of Markdown pages: found, and run as a reader would."""

from __future__ import annotations

import importlib.util
import re
import shlex
import sys
import tomllib
from dataclasses import dataclass
from pathlib import Path

import linkwork
import linkwork.reproduce
from linkwork.quantities import table

ROOT = Path(__file__).parent.parent.parent
PAGES = (ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md")))
_FENCE = re.compile(r"^```(\w*)[ ]*(?:title=\"([^\"]+)\")?\s*$")
SHOWN_ONLY = {"text", "matlab"}
"""Languages that are not run: output, and other people's programs."""


@dataclass(frozen=True)
class Block:
    """A fenced block: its language, the file it stands for (or ""), its text, its line in the
    page."""

    language: str
    title: str
    text: str
    line: int


def blocks(page: Path) -> list[Block]:
    """Every fenced block, in order."""
    found: list[Block] = []
    opened: tuple[str, str, int] | None = None
    lines: list[str] = []
    for number, line in enumerate(page.read_text("utf-8").splitlines(), start=1):
        fence = _FENCE.match(line)
        if opened is None and fence:
            opened, lines = (fence[1], fence[2] or "", number), []
        elif opened is not None and line.rstrip() == "```":
            found.append(Block(opened[0], opened[1], "\n".join(lines) + "\n", opened[2]))
            opened = None
        elif opened is not None:
            lines.append(line)
    assert opened is None, f"{page.name}:{opened[2]}: a fence is never closed"
    return found


def pictures(page: Path) -> list[str]:
    """Names of the pictures of docs/images that a job page shows; its own code draws them."""
    return re.findall(r'<img src="\.\./images/([\w-]+\.png)"', page.read_text("utf-8"))


def run(page: Path, folder: Path, monkeypatch) -> None:
    """Run every block of a page in one folder, one after the other;
    Python blocks share their names.

    Rooms that a page adds to linkwork are gone afterwards.
    """
    monkeypatch.chdir(folder)
    for package in (linkwork, linkwork.reproduce):
        monkeypatch.setattr(package, "__path__", list(package.__path__))
    try:
        _run(page, folder, monkeypatch)
    finally:
        for name, module in list(sys.modules.items()):
            if name.startswith("linkwork.") and str(folder) in str(getattr(module, "__file__", "")):
                sys.modules.pop(name)
                vars(linkwork).pop(name.split(".")[1], None) if name.count(".") == 1 else None
        table._of_rooms.clear()


def _run(page: Path, folder: Path, monkeypatch) -> None:
    names: dict[str, object] = {"__name__": "__page__"}
    for block in blocks(page):
        where = f"{page.name}:{block.line}"
        if block.title:
            (folder / block.title).parent.mkdir(parents=True, exist_ok=True)
            (folder / block.title).write_text(block.text, "utf-8")
            if "/" in block.title:
                continue  # a file of a folder: others import it
        if block.language == "python" and _there(block.text):
            exec(compile("\n" * block.line + block.text, str(page), "exec"), names)
        elif block.language == "python":
            continue  # another tool, which is not installed here
        elif block.language == "sh":
            for line in block.text.splitlines():
                _command(line.split("#")[0].strip(), where, monkeypatch)
        elif block.language == "yaml":
            assert block.title, f"{where}: a YAML block needs a title, the file it is saved as"
        else:
            assert block.language in SHOWN_ONLY, (
                f"{where}: language {block.language!r} is not run; say text or python"
            )


def _there(text: str) -> bool:
    """Whether what a block says it needs in its first line ("# needs PACKAGE") is installed."""
    needed = re.match(r"# needs (\w+)\n", text)
    return needed is None or importlib.util.find_spec(needed[1]) is not None


def _command(line: str, where: str, monkeypatch) -> None:
    """linkwork's commands run in this process; make's targets must exist;
    tests/test_package.py installs by pip."""
    words = shlex.split(line)
    if not words:
        return
    if words[0] == "make":
        assert f"\n{words[1]}:" in (ROOT / "Makefile").read_text("utf-8"), (
            f"{where}: make has no target {words[1]!r}"
        )
        return
    if words[:2] == ["pip", "install"]:
        package, _, extras = words[2].rstrip("]").partition("[")
        known = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"][
            "optional-dependencies"
        ]
        unknown = set(filter(None, extras.split(","))) - set(known)
        assert package in ("linkwork", ".") and not unknown, (
            f"{where}: {line!r} installs something else"
        )
        return
    assert words[0] == "linkwork", f"{where}: {words[0]!r} is not a command of linkwork"
    from linkwork.cli.application import app, load_commands

    load_commands()
    monkeypatch.setattr(sys, "argv", words)
    outcome = app(args=words[1:], standalone_mode=False)
    assert not outcome, f"{where}: `{line}` ended with {outcome}"
