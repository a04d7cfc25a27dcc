"""Docstrings as the API page shows them: every parameter its own line, names in brackets,
files that lead somewhere."""

from __future__ import annotations

import inspect
import re

import pytest

import linkwork as lw

griffe = pytest.importorskip("griffe")
markdown = pytest.importorskip("markdown")


def html_of(text: str) -> str:
    from tools.docs_docstrings import shown

    return markdown.markdown(shown(inspect.cleandoc(text)))


def test_every_parameter_is_an_item_with_its_continuation():
    page = html_of(lw.Robot.from_linkage.__doc__)
    items = re.findall(r"<li>(.*?)</li>", page, re.S)
    assert [re.match(r"<code>(\w+)</code>", item)[1] for item in items] == [
        "task",
        "plane",
        "live",
        "density",
    ]
    assert "are then <code>variables=</code> batches" in items[2]


def test_sentences_after_a_list_are_a_paragraph_of_their_own():
    page = html_of(
        "order    in (-1, 2)\nshape    of one sample;\n         () for a number\nIt starts empty. "
        "So it is."
    )
    assert re.findall(r"<code>(\w+)</code>", page) == ["order", "shape"]
    assert "() for a number</li>" in page and "<p>It starts empty. So it is.</p>" in page


def test_names_in_brackets_stay_and_stars_make_nothing_italic():
    page = html_of("A body link<i> of q_tree, v_tree and *args: position.*, force.*.")
    assert "link&lt;i&gt;" in page or "link&lt;i>" in page
    assert "<em>" not in page
    assert "position.*, force.*" in page


def test_files_are_named_as_modules_and_linked_where_the_page_has_them():
    from tools.docs_docstrings import shown

    assert shown("See no/such_file.py.") == "See `linkwork.no.such_file`."
    assert ".py" not in shown("It is so. See studies/sweep.py")
    assert "][linkwork.studies.sweep]" in shown("See studies/sweep.py")


def test_no_public_docstring_of_a_robot_runs_together():
    for name, method in inspect.getmembers(lw.Robot):
        if not name.startswith("_") and inspect.isroutine(method) and method.__doc__:
            page = html_of(method.__doc__)
            assert "<em>" not in page, name
            assert not re.search(r"See [a-z_/]+\.py", page), name
