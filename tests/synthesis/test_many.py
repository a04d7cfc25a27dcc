"""Many tasks of nine points and of paths: `make truth`, some ten minutes; one of nine points runs
always, and five paths in test_fit.py."""

from __future__ import annotations

import os
import sys

import numpy as np
import pytest

from linkwork.synthesis import PlanarTask, fit, four_bars, mixes
from linkwork.synthesis.four_bars import starts
from tests.synthesis.test_fit import crank_rocker_path

TRUTH = bool(os.environ.get("LINKWORK_TRUTH"))


def random_points(seed):
    random = np.random.default_rng(seed)
    return random.uniform(-1, 1, size=9) + 1j * random.uniform(-1, 1, size=9)


def passes(linkages, P):
    """(m,) how far [task sizes] each four-bar's tracer stays from the worst point,
    by circles alone.

    The pin B lies on the crank's circle and as far from the point as on the coupler: two places,
    and in the better one the rocker has its length.
    """
    A, D, B, C, T = (linkages.at(name)[:, None] for name in "ADBCP")
    crank, arm, rocker = np.abs(B - A), np.abs(B - T), np.abs(C - D)
    reach = P - A
    distance = np.abs(reach)
    along = (crank**2 - arm**2 + distance**2) / (2 * distance)
    across = np.sqrt(np.maximum(crank**2 - along**2, 0.0))
    off = np.full(along.shape, np.inf)
    for side in (1j, -1j):
        pin = A + reach / distance * (along + side * across)
        other = P + (C - T) * (pin - P) / (B - T)
        gap = np.abs(np.abs(other - D) - rocker) + np.abs(np.abs(pin - P) - arm)
        off = np.minimum(off, gap)
    return off.max(axis=-1) / np.abs(P - P[0]).max()


def triples(linkages):
    """(m, 3) ground pivots of each linkage and its cognates, in one order."""
    A, D, B, C, T = (linkages.at(name) for name in "ADBCP")
    third = A + (T - B) / (C - B) * (D - A)
    return np.sort_complex(np.stack([A, D, third], axis=-1))


def one_task(seed):
    P = random_points(seed)
    found = four_bars(PlanarTask(P))
    links = found.linkages
    longest = np.abs(np.stack([links.at("B") - links.at("A"), links.at("C") - links.at("D")])).max(
        axis=0
    )
    assert (passes(links, P) <= 1e-7 * np.maximum(1.0, longest)).all()
    return found


def test_nine_points_are_met_by_circles_alone():
    assert len(one_task(2)) == 9


@pytest.mark.skipif(not TRUTH, reason="takes minutes: make truth")
def test_a_hundred_tasks_of_nine_points_lose_nothing(monkeypatch):
    """All give at least 1440 roots, most all 1442;
    another set of starts finds the same real linkages."""
    kept = [one_task(seed) for seed in range(100)]
    other = mixes.system(1).monodromy(*mixes.generic(1, 77), seed=77, symmetry=mixes.symmetry(1))
    assert len(other) == 1442 == len(starts(1))
    # the package's name four_bars is the function, not its module
    monkeypatch.setattr(sys.modules["linkwork.synthesis.four_bars"], "starts", lambda poses: other)
    roots = []
    for seed, first in enumerate(kept):
        second = one_task(seed)
        roots.append((first.roots, second.roots))
        mine, theirs = triples(first.linkages), triples(second.linkages)
        assert mine.shape == theirs.shape
        apart = (
            np.abs(mine[:, None] - theirs).max(axis=-1) / (1 + np.abs(mine).max(axis=-1))[:, None]
        )
        assert apart.min(axis=0).max(initial=0) < 1e-5 and apart.min(axis=1).max(initial=0) < 1e-5
    roots = np.array(roots)
    assert roots.min() >= 1440 and (roots == 1442).sum(axis=0).min() >= 60


@pytest.mark.skipif(not TRUTH, reason="takes minutes: make truth")
def test_two_hundred_paths_of_crank_rockers_are_found_again():
    """By exact distance to the curve: 95 of 100 to 1e-8 of the path's size, all below 1e-3."""
    off = []
    for seed in range(200):
        points, _ = crank_rocker_path(16, 1000 + seed)
        found = fit(PlanarTask(points), seed=seed)
        off.append(found.worst[0] / np.abs(points - points.mean()).max())
    off = np.array(off)
    assert off.max() < 1e-3
    assert (off < 1e-8).mean() >= 0.95
