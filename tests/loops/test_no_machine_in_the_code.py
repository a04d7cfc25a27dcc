"""The rooms are general: the robots of the papers stand in data files, not in code."""

from __future__ import annotations

import re
from pathlib import Path

import linkwork

SOURCE = Path(linkwork.__file__).parent
OF_THE_PAPERS = ("robots", "reproduce")
"""Data files, and the cases and figures of the papers."""
NAMES = re.compile(r"charmie|(?<![\w.%:])(4d|5s|5d|4sl[abc]|4sr[abc])(?![\w.])", re.IGNORECASE)
HELP = re.compile(r"\bExamples?:")
"""A line of a command's help may show a robot by its name."""


def test_no_robot_of_a_paper_is_named_outside_data_and_reproductions():
    found = []
    files = [
        file
        for file in SOURCE.rglob("*.py")
        if not str(file.relative_to(SOURCE)).startswith(OF_THE_PAPERS)
    ]
    assert len(files) > 150
    for file in files:
        for number, line in enumerate(file.read_text().splitlines(), 1):
            shown = "commands" in (file.stem, file.parent.name) and HELP.search(line)
            if NAMES.search(line) and not shown:
                found.append(f"{file.relative_to(SOURCE)}:{number}: {line.strip()}")
    assert not found, "\n".join(found)


def test_the_search_would_find_them():
    for line in ('load("charmie")', 'if name == "4d":', "spring 5s pulls"):
        assert NAMES.search(line)
    for line in ("%4d", "x.5s", "a4d = 1", "0.5s"):
        assert not NAMES.search(line)
