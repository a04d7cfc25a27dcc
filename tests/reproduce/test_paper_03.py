"""Paper 03: every acceptance number is met."""

from __future__ import annotations

from linkwork.reproduce import reproduce


def test_every_number_is_reproduced():
    (paper,) = reproduce("03")
    assert sum(case.what.startswith("c^") for case in paper.cases) == 75
    missed = [
        f"{case.what}: {case.ours} for {case.published}" for case in paper.cases if not case.passed
    ]
    assert not missed, "\n".join(missed)
