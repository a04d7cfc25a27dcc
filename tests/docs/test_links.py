"""Links inside the repository lead somewhere, to headings too;
`make docs` checks those that mkdocs makes."""

from __future__ import annotations

import re

import pytest

from tests.docs.code_blocks import PAGES, ROOT

MORE = (ROOT / "CONTRIBUTING.md", ROOT / "CHANGELOG.md")


@pytest.mark.parametrize("page", (*PAGES, *MORE), ids=lambda p: str(p.relative_to(ROOT)))
def test_links_lead_somewhere(page):
    gone = [
        t
        for t in _targets(page)
        if "://" not in t and not (page.parent / t.partition("#")[0]).exists()
    ]
    assert not gone


@pytest.mark.parametrize("page", (*PAGES, *MORE), ids=lambda p: str(p.relative_to(ROOT)))
def test_anchors_are_headings(page):
    gone = []
    for target in _targets(page):
        name, _, anchor = target.partition("#")
        other = page.parent / name if name else page
        if (
            anchor
            and "://" not in target
            and other.suffix == ".md"
            and anchor not in _anchors(other)
        ):
            gone.append(target)
    assert not gone


def test_a_wrong_anchor_is_noticed(tmp_path):
    page = tmp_path / "page.md"
    page.write_text("# A heading, here\n[x](#a-heading-here) [y](#nowhere)\n")
    assert _anchors(page) == {"a-heading-here"} and _targets(page) == [
        "#a-heading-here",
        "#nowhere",
    ]


def test_settings_make_every_broken_link_an_error():
    text = (ROOT / "mkdocs.yml").read_text("utf-8")
    assert re.search(r"validation:\n  links: \{not_found: warn, anchors: warn,", text)
    assert "mkdocs build --strict" in (ROOT / "Makefile").read_text("utf-8")
    assert "make docs" in (ROOT / ".ci" / "run").read_text("utf-8")


def _targets(page) -> list[str]:
    text = re.sub(r"^```.*?^```", "", page.read_text("utf-8"), flags=re.S | re.M)
    return re.findall(r"\]\(([^)\s]+)\)", text) + re.findall(r'<img src="([^"]+)"', text)


def _anchors(page) -> set[str]:
    """What headings are called in links: lower case, words joined by hyphens."""
    text = re.sub(r"^```.*?^```", "", page.read_text("utf-8"), flags=re.S | re.M)
    words = [
        re.sub(r"[^\w\s-]", "", line).strip().lower()
        for line in re.findall(r"^#+ (.*)$", text, re.M)
    ]
    return {re.sub(r"[\s-]+", "-", heading) for heading in words}


def test_every_page_is_in_the_navigation():
    listed = set(re.findall(r"[\w/-]+\.md", (ROOT / "mkdocs.yml").read_text("utf-8")))
    assert listed == {
        str(p.relative_to(ROOT / "docs")) for p in PAGES if p.is_relative_to(ROOT / "docs")
    }


def test_every_recursion_is_on_the_mathematics_page():
    text = (ROOT / "docs" / "mathematics.md").read_text("utf-8")
    room = ROOT / "src" / "linkwork" / "recursions"
    modules = {
        ".".join(p.relative_to(room).with_suffix("").parts)
        for p in room.rglob("*.py")
        if p.stem != "__init__"
    }
    assert {m for m in modules if f"::: linkwork.recursions.{m}\n" not in text} == set()


def test_every_job_of_the_papers_has_a_page():
    rows = re.findall(
        r"^\| .* \| \[.*\]\((.*\.md)\) \| ([\d, ]*?) ?\|$",
        (ROOT / "docs/jobs/index.md").read_text(),
        re.M,
    )
    assert {name for name, _ in rows} | {"index.md"} == {
        p.name for p in (ROOT / "docs" / "jobs").glob("*.md")
    }
    # some jobs have no paper
    covered = {number for _, numbers in rows if numbers for number in numbers.split(", ")}
    assert covered == {"01", "02", "03", "04", "05", "07", "09", "10", "12", "13", "14", "15"}


def test_every_public_name_is_in_the_reference():
    import linkwork

    text = (ROOT / "docs" / "api.md").read_text("utf-8")
    told = {"LinkworkError", "__version__", "trajectory", "studies"}  # in their rooms' sections
    missing = [
        name
        for name in linkwork.__all__
        if name not in told and f"::: linkwork.{name}\n" not in text
    ]
    assert not missing


def test_every_public_name_of_every_room_is_in_the_reference():
    """Rows between the markers of docs/api.md; `python tools/readme_table.py rooms` writes them."""
    from linkwork import rooms

    text = (ROOT / "docs" / "api.md").read_text("utf-8")
    table = text.partition("<!-- begin rooms -->")[2].partition("<!-- end rooms -->")[0]
    listed = {
        room: re.findall(r"`(\w+)`", names)
        for room, names in re.findall(r"^\| `lw\.(\w+)` .* \| (.*) \|$", table, re.M)
    }
    expected = {name: list(rooms.room(name).__all__) for name in rooms.rooms()}
    assert listed == {name: names for name, names in expected.items() if names}, (
        "python tools/readme_table.py rooms"
    )
