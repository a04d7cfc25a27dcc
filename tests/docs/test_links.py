"""Links inside the repository lead somewhere."""

from __future__ import annotations

import re

import pytest

from tests.docs.code_blocks import PAGES, ROOT

MORE = (ROOT / "CONTRIBUTING.md", ROOT / "CHANGELOG.md")


@pytest.mark.parametrize("page", (*PAGES, *MORE), ids=lambda p: str(p.relative_to(ROOT)))
def test_links_lead_somewhere(page):
    text = re.sub(r"^```.*?^```", "", page.read_text("utf-8"), flags=re.S | re.M)
    targets = re.findall(r"\]\(([^)\s]+)\)", text)
    gone = [t for t in targets if "://" not in t and not (page.parent / t.partition("#")[0]).exists()]
    assert not gone


def test_every_page_is_in_the_navigation():
    listed = set(re.findall(r"[\w/-]+\.md", (ROOT / "mkdocs.yml").read_text("utf-8")))
    assert listed == {str(p.relative_to(ROOT / "docs")) for p in PAGES if p.is_relative_to(ROOT / "docs")}
