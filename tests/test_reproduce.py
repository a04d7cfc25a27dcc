"""Every published number is reproduced, and a case fed a wrong number fails."""

from __future__ import annotations

from dataclasses import replace

import pytest

from linkwork.errors import UnknownName
from linkwork.reproduce import papers, reproduce
from linkwork.reproduce.case import Case
from tests.docs.code_blocks import ROOT
from tools import readme_table

README = (ROOT / "README.md").read_text("utf-8").splitlines()


@pytest.mark.parametrize("number", sorted(papers()))
def test_published_numbers_are_reproduced(number):
    (paper,) = reproduce(number)
    assert paper.cases and paper.number == int(number)
    assert paper.title and paper.where
    row = readme_table.paper_row(paper.number, *readme_table.told_of(paper))
    assert row in README, "the README tells another number: python tools/readme_table.py papers"
    failed = [
        f"{c.what}: published {c.published}, ours {c.ours}, tolerance {c.tolerance}"
        for c in paper.cases
        if not c.passed
    ]
    assert not failed, "\n".join(failed)
    for case in paper.cases:
        for factor in (0.99, 1.01):
            wrong = replace(case, published=factor * case.published)
            # no per cent of it: a result that is off by twice what is allowed
            if case.published == 0:
                wrong = replace(case, ours=case.published + (2 * case.tolerance or 1.0))
            assert not wrong.passed, f"{case.what} does not notice a wrong number"


def test_a_case_that_is_not_a_number_fails():
    assert not Case("x", 1.0, float("nan"), 0.1).passed


def test_unknown_papers_are_named():
    with pytest.raises(UnknownName, match='no cases for paper "99"'):
        reproduce("99")
