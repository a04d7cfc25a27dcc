"""Papers 01 and 04: every published number is met, and the comparison can fail."""

from __future__ import annotations

from dataclasses import replace

import pytest

from linkwork.reproduce import reproduce


@pytest.mark.parametrize(("number", "least"), [("01", 100), ("04", 150)])
def test_every_published_number_is_met(number, least):
    (paper,) = reproduce(number)
    assert len(paper.cases) >= least
    assert not [case for case in paper.cases if not case.passed]
    assert not any(replace(case, ours=case.published + 2 * case.tolerance + 1e-9).passed for case in paper.cases)
