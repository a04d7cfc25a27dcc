"""Paper 07: every acceptance number is met, and the measured operation counts have the shape the
digest found."""

from __future__ import annotations

import numpy as np

from linkwork.reproduce import reproduce
from linkwork.reproduce.paper_07 import complexity


def test_every_number_is_reproduced():
    (paper,) = reproduce("07")
    assert len(paper.cases) == 52
    missed = [
        f"{case.what}: {case.ours} for {case.published}" for case in paper.cases if not case.passed
    ]
    assert not missed, "\n".join(missed)


def test_operations_of_n_links():
    """Sums are linear in n, tables quadratic; differentiating every Lagrangian alone costs most."""
    count = complexity((3, 6, 9, 12))
    for label in ("full", "recursive"):
        assert len(set(np.diff(count[label]))) == 1, count[label]
    for label in ("naive", "columns"):
        assert (np.diff(count[label], 2) > 0).all()
    assert count["naive"][-1] > 2.5 * count["columns"][-1] > 2.5 * count["recursive"][-1]
