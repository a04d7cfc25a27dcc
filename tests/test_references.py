"""Every citation key such as [Featherstone2008] resolves in docs/references.bib.

Read are the docstrings and comments of the package and the text of the robot data and the
documentation pages.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
BIBLIOGRAPHY = ROOT / "docs" / "references.bib"
KEY = re.compile(r"\[([A-Z][A-Za-z]+(?:19|20)\d\d[a-z]?)\]")
SOURCE = re.compile(r"\bSources?: (?!\[)\S.*")
"""A source that starts without a key; `Source: [Key] eq. 3` is what we write."""

READ = {"src/linkwork": (".py", ".yaml"), "docs": (".md",), "tests": (".py",)}


def entries(text: str) -> dict[str, str]:
    """key -> body of each entry of a BibTeX file; a key used twice is refused."""
    found = {}
    for kind, key, body in re.findall(
        r"^@(\w+)\{([^,\s]+),\n(.*?)^\}", text, flags=re.MULTILINE | re.DOTALL
    ):
        assert key not in found, f"{key} ({kind}) appears twice in references.bib"
        found[key] = body
    return found


def citations(text: str) -> list[tuple[int, str]]:
    """(line, key) of every citation in a text."""
    return [(i, key) for i, line in enumerate(text.splitlines(), 1) for key in KEY.findall(line)]


def keyless_sources(text: str) -> list[int]:
    """Lines that say `Source:` without a key."""
    return [i for i, line in enumerate(text.splitlines(), 1) if SOURCE.search(line)]


def files(folder: str, suffixes: tuple[str, ...]) -> list[Path]:
    return [
        path
        for path in sorted((ROOT / folder).rglob("*"))
        if path.suffix in suffixes and path != Path(__file__)
    ]


BOOK = entries(BIBLIOGRAPHY.read_text(encoding="utf-8"))


@pytest.mark.parametrize("folder", READ)
def test_every_citation_resolves(folder):
    unknown = [
        f"{path.relative_to(ROOT)}:{line}: [{key}] is not in docs/references.bib"
        for path in files(folder, READ[folder])
        for line, key in citations(path.read_text(encoding="utf-8"))
        if key not in BOOK
    ]
    assert not unknown, "\n".join(unknown)


def test_every_source_of_a_docstring_has_a_key():
    bare = [
        f"{path.relative_to(ROOT)}:{line}: write `Source: [Key] eq. ...` with a key of "
        "docs/references.bib"
        for path in files("src/linkwork", (".py",))
        for line in keyless_sources(path.read_text(encoding="utf-8"))
    ]
    assert not bare, "\n".join(bare)


@pytest.mark.parametrize("key", BOOK)
def test_an_entry_names_author_title_and_the_year_of_its_key(key):
    fields = dict(
        re.findall(r"^\s*(\w+)\s*=\s*\{(.*?)\},?\s*$", BOOK[key], flags=re.MULTILINE | re.DOTALL)
    )
    assert {"author", "title", "year"} <= set(fields)
    assert fields["year"] == re.search(r"\d{4}", key).group()
    surname = fields["author"].split(",")[0].replace("ç", "c").replace("é", "e")
    assert key.startswith(surname.replace(" ", "").replace("-", ""))


def test_the_bibliography_is_read_whole():
    assert len(BOOK) == BIBLIOGRAPHY.read_text(encoding="utf-8").count("\n@")
    assert len(BOOK) >= 21


def test_a_planted_citation_is_found():
    text = (
        '"""Poses.\n\n    Source: [Nobody1999] eq. 3, [Featherstone2008].\n    Source: a blog\n"""'
    )
    assert citations(text) == [(3, "Nobody1999"), (3, "Featherstone2008")]
    assert keyless_sources(text) == [4]
    assert "Nobody1999" not in BOOK
