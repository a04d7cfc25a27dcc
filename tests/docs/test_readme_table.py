"""The tables of the README say what was measured and what is reproduced."""

from __future__ import annotations

import importlib.util
import inspect
import json
import re

import pytest

from linkwork.reproduce import module_of, papers
from tests.docs.code_blocks import ROOT

_spec = importlib.util.spec_from_file_location("readme_table", ROOT / "tools" / "readme_table.py")
readme_table = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(readme_table)

ABOUT = {"about": {"cpu": "some", "python": "3.11"}}


def test_a_measured_row_is_written_with_units_and_ratio():
    row = {
        "question": "inverse dynamics",
        "case": "UR5",
        "ours": 16.5e-9,
        "peer": 840e-9,
        "peer_name": "pin",
        "unit": "s",
    }
    text = readme_table.benchmark_table({**ABOUT, "rows": [{**row, "ratio": 840 / 16.5}]})
    assert (
        "| inverse dynamics | UR5 | 16.5 ns | 840 ns pin | 50.9x |" in text
        and "cpu some, python 3.11" in text
    )


def test_only_what_stands_between_markers_changes():
    page = "a\n<!-- begin x -->\nold\n<!-- end x -->\nb\n<!-- begin y -->\nkept\n<!-- end y -->\n"
    new = readme_table.filled(page, {"x": "new \\1\n"})
    assert new == page.replace("old\n", "\nnew \\1\n\n")
    assert readme_table.filled(new, {"x": "new \\1\n"}) == new


@pytest.mark.parametrize("page", ["README.md", "docs/benchmarks.md"])
def test_the_tables_are_what_was_measured(page):
    """`make bench` writes docs/benchmarks.json and both pages; none of the three changes alone."""
    measured = json.loads((ROOT / "docs" / "benchmarks.json").read_text("utf-8"))
    text = (ROOT / page).read_text("utf-8")
    assert readme_table.filled(text, readme_table.benchmark_tables(measured)) == text
    assert measured["rows"][0]["question"] in text and measured["about"]["cpu"] in text


def test_the_summary_shows_the_worst_case_too():
    rows = [
        {
            "question": "a",
            "case": c,
            "ours": 1.0,
            "peer": r,
            "peer_name": f"{c} x call",
            "unit": "s",
            "ratio": r,
        }
        for c, r in (("6", 3.0), ("7", 0.5), ("9", 8.0))
    ]
    text = readme_table.summary_table({**ABOUT, "rows": rows})
    assert "| a | n x call | 3 | 0.5x (7) | 8x (9) |" in text


def test_the_readme_shows_ten_questions_and_the_page_all_of_them():
    rows = {
        page: (ROOT / page).read_text("utf-8").count("x (")
        for page in ("README.md", "docs/benchmarks.md")
    }
    (readme,) = re.findall(
        r"begin ten benchmarks -->\n(.*?)\nMeasured", (ROOT / "README.md").read_text("utf-8"), re.S
    )
    assert len(readme.strip().splitlines()) == 2 + len(readme_table.TEN) == 12
    assert rows["docs/benchmarks.md"] > 2 * rows["README.md"]


def test_the_readme_claims_no_paper_that_is_not_computed():
    text = (ROOT / "README.md").read_text("utf-8")
    claimed = re.findall(r"^\| (\d\d) \|.*\| (\d+) of (\d+) \|$", text, re.M)
    assert claimed and {number for number, _, _ in claimed} <= set(papers())
    assert all(passed == total for _, passed, total in claimed)


def test_every_key_of_a_paper_is_in_the_references():
    keys = set(
        re.findall(r"^@\w+\{(\w+),", (ROOT / "docs" / "references.bib").read_text("utf-8"), re.M)
    )
    assert {key for _, key, _ in readme_table.NOT_YET.values()} <= keys
    computed = {int(number) for number in papers()}
    assert {*readme_table.NOT_YET, *computed} == set(range(1, 18)) and not computed & {
        *readme_table.NOT_YET
    }
    for number in papers():
        text = inspect.getsource(module_of(number))
        (key,) = re.findall(r'Paper\(\s*\d+,\s*"(\w+)"', text)
        assert key in keys


def test_the_readme_has_a_line_for_every_room():
    """The first lines of the rooms; `python tools/readme_table.py rooms` writes them."""
    text = (ROOT / "README.md").read_text("utf-8")
    assert readme_table.filled(text, {"rooms in a line": readme_table.rooms_in_a_line()}) == text


def test_the_page_of_the_elements_says_what_their_fields_say():
    page = (ROOT / "docs" / "elements.md").read_text("utf-8")
    assert readme_table.filled(page, {"elements": readme_table.elements_sections()}) == page
