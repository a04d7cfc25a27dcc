"""The reference as a browser gets it: built with the settings of `make docs`, and read as HTML."""

from __future__ import annotations

import re
from html.parser import HTMLParser

import pytest

import linkwork as lw
from tests.docs.code_blocks import ROOT

pytest.importorskip("mkdocs")
pytest.importorskip("mkdocstrings")

EMPTY = frozenset(("br", "hr", "img", "input", "link", "meta", "path", "source", "wbr"))
KNOWN = frozenset(
    "a article body button code div em footer form h1 h2 h3 h4 h5 h6 head header html label li "
    "main nav ol p pre "
    "script small span strong svg table tbody td th thead title tr ul".split()
)
"""Tags that the theme and Markdown write; another one is a name in brackets that became a tag."""


class Page(HTMLParser):
    """What a page has: its tags, what was left open, italics, sentences outside links and code,
    items of lists."""

    def __init__(self) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.open: list[str] = []
        self.crossed: list[str] = []
        self.italics: list[str] = []
        self.sentences: list[str] = []
        self.paragraphs: list[str] = []

    def handle_starttag(self, tag: str, attrs: list) -> None:
        self.tags.add(tag)
        if tag in EMPTY:
            return
        self.open.append(tag)
        if tag in ("em", "i"):
            self.italics.append("")
        if tag == "p":
            self.paragraphs.append("")

    def handle_endtag(self, tag: str) -> None:
        if tag not in EMPTY and (not self.open or self.open.pop() != tag):
            self.crossed.append(tag)

    def handle_data(self, data: str) -> None:
        if {"em", "i"} & set(self.open):
            self.italics[-1] += data
        if "p" in self.open:
            self.paragraphs[-1] += data
        if not {"a", "code", "script"} & set(self.open):
            self.sentences.append(data)


def page_of(html: str) -> Page:
    page = Page()
    page.feed(html)
    return page


@pytest.fixture(scope="module")
def html(tmp_path_factory) -> str:
    """The page without what no test here reads: an index for searching,
    long signatures broken by a formatter."""
    from mkdocs.commands.build import build
    from mkdocs.config import load_config

    folder = tmp_path_factory.mktemp("pages")
    (folder / "docs").mkdir()
    text = (ROOT / "docs" / "api.md").read_text("utf-8")
    (folder / "docs" / "index.md").write_text(
        f"---\nsearch: {{exclude: true}}\n---\n{text}", "utf-8"
    )
    places = {
        "docs_dir": str(folder / "docs"),
        "site_dir": str(folder / "site"),
        "nav": [{"API": "index.md"}],
    }
    config = load_config(str(ROOT / "mkdocs.yml"), **places)
    config["plugins"]["mkdocstrings"].config["handlers"]["python"]["options"]["line_length"] = 10**6
    build(config)
    return (folder / "site" / "index.html").read_text("utf-8")


def test_no_name_in_brackets_became_a_tag_and_every_tag_is_closed(html):
    page = page_of(html)
    assert page.tags <= KNOWN | EMPTY
    assert page.crossed == [] and page.open == []


def test_no_italics_run_on(html):
    assert [text for text in page_of(html).italics if len(text) > 60] == []


def test_every_see_leads_somewhere(html):
    assert [
        text for text in page_of(html).sentences if re.search(r"\bSee [\w/]+\.py\b", text)
    ] == []
    names = set(re.findall(r'\bid="([^"]+)"', html))
    assert [link for link in re.findall(r'href="#([^"]+)"', html) if link not in names] == []


def test_every_parameter_has_a_line_of_its_own(html):
    """An aligned list of a docstring: `name  what it is` must not stand within a paragraph of
    others."""
    run_on = re.compile(r"^\w+ {2,}\S.*\n\w+ {2,}\S", re.M)
    assert [text for text in page_of(html).paragraphs if run_on.search(text)] == []
    begin = html.index('id="linkwork.Robot.from_linkage"')
    assert (
        "<li><code>task</code>:" in html[begin : html.index('class="doc doc-heading"', begin + 100)]
    )


def test_every_public_name_has_its_heading(html):
    names = set(re.findall(r'\bid="linkwork\.(?:errors\.)?(\w+)"', html))
    assert {name for name in lw.__all__ if name not in lw.rooms.rooms()} - names <= {"__version__"}


def test_faults_are_noticed():
    page = page_of(
        "<p>from link<i> on all is italic, which is much too long for a word that is "
        "stressed</p><p>See a/b.py</p>"
    )
    assert page.crossed and len(page.italics[0]) > 60
    assert any("See a/b.py" in text for text in page.sentences)
