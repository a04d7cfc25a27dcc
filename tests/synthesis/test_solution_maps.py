"""Solution maps: every pair of dyads of four poses, judged one by one."""

from __future__ import annotations

import xml.etree.ElementTree as ElementTree

import numpy as np
import pytest

from linkwork.errors import InvalidInput, NotPossible
from linkwork.synthesis import check, solution_map
from tests.synthesis.examples import CRANK_ROCKER, TABLE_4


def test_a_map_judges_pairs_as_check_does():
    task = CRANK_ROCKER[:4]
    found = solution_map(task, 40)
    assert found.valid.shape == (40, 40) and not found.valid.diagonal().any()
    assert found.good.any() and (~found.good & found.valid).any()
    random = np.random.default_rng(0)
    some = np.argwhere(found.valid)
    for i, j in some[random.choice(len(some), 25, replace=False)]:
        linkage = found.linkage(int(i), int(j))
        verdict = check(linkage, task)
        assert str(verdict.kind) == found.kind[i, j]
        assert bool(verdict.good) == bool(found.good[i, j])
        assert float(verdict.transmission_min) == pytest.approx(
            found.transmission_min[i, j], abs=1e-12
        )
    assert np.isnan(found.transmission_min[~found.valid]).all()


def test_the_best_of_a_map_come_first():
    found = solution_map(CRANK_ROCKER[:4], 40)
    angles = [found.transmission_min[pair] for pair in found.best(5)]
    assert len(angles) == 5 and angles == sorted(angles, reverse=True)
    assert angles[0] == found.transmission_min[found.good].max()


def test_the_picture_has_a_colour_for_every_pair():
    found = solution_map(TABLE_4[:4], 24)
    root = ElementTree.fromstring(found.svg(cell=2.0))
    cells = [r for r in root.iter("{http://www.w3.org/2000/svg}rect") if float(r.get("y")) < 48]
    drawn = sum(float(r.get("width")) / 2.0 for r in cells)
    assert drawn == found.valid.sum()


@pytest.mark.parametrize("samples", [0, True, 3.5, 10_000])
def test_samples_that_are_none(samples):
    with pytest.raises(InvalidInput, match="samples"):
        solution_map(TABLE_4[:4], samples)


def test_other_tasks_are_refused():
    with pytest.raises(NotPossible, match="expected one task of four"):
        solution_map(TABLE_4, 40)
    found = solution_map(TABLE_4[:4], 12)
    with pytest.raises(NotPossible, match="make no linkage"):
        found.linkage(3, 3)
