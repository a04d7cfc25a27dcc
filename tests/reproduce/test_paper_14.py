"""Paper 14: every acceptance number is met."""

from __future__ import annotations

from linkwork.reproduce import reproduce


def test_every_number_is_reproduced():
    (paper,) = reproduce("14")
    assert len(paper.cases) == 116
    missed = [
        f"{case.what}: {case.ours} for {case.published}" for case in paper.cases if not case.passed
    ]
    assert not missed, "\n".join(missed)
