"""Search, ranking, sensitivities, functions."""

from __future__ import annotations

import numpy as np
import pytest

import linkwork as lw
from linkwork.errors import InvalidInput, NotPossible, UnknownName
from linkwork.synthesis import (
    PlanarTask,
    chebyshev_spacing,
    check,
    function_generator,
    monte_carlo,
    rank,
    search,
    sensitivity,
    tolerance_band,
)
from linkwork.synthesis.ranking import pareto
from tests.synthesis.examples import CRANK_ROCKER, TABLE_4
from tests.synthesis.test_linkages import crank_rocker

ZONE = PlanarTask(TABLE_4.positions, TABLE_4.angles, tolerance=(1.5, 1.5, 0.1))


@pytest.fixture(scope="module")
def found():
    return search(ZONE, 2000, seed=1)


def test_what_is_found_has_no_defect_and_lies_in_the_zone(found):
    assert len(found) > 10
    verdict = check(found.linkages, found.tasks)
    assert verdict.good.all()
    assert (np.diff(verdict.transmission_min) <= 1e-12).all()
    off = found.tasks.positions - TABLE_4.positions
    assert np.abs(off.real).max() <= 1.5 and np.abs(off.imag).max() <= 1.5
    assert np.abs(found.tasks.angles - TABLE_4.angles).max() <= 0.1
    assert found.samples == 2000 and found.pairs > 1000


def test_the_same_seed_finds_the_same_with_any_threads(found):
    before = lw.threads()
    try:
        lw.threads(1)
        assert np.array_equal(search(ZONE, 2000, seed=1).linkages.points, found.linkages.points)
    finally:
        lw.threads(before)


def test_four_positions_are_searched_too():
    task = PlanarTask(TABLE_4.positions[:4], TABLE_4.angles[:4], tolerance=0.05)
    some = search(task, 500, seed=2, least_transmission=np.deg2rad(20))
    assert (some.verdict.transmission_min >= np.deg2rad(20)).all()


def test_ranking_and_its_front(found):
    ranking = rank(found.linkages, {"transmission": 2, "size": 1, "ratio": 1})
    assert sorted(ranking.order) == list(range(len(found)))
    assert ranking.front.any()
    costs = np.stack([-ranking.values["transmission"], ranking.values["size"], ranking.values["ratio"]], axis=-1)
    for k in np.flatnonzero(ranking.front)[:10]:
        assert not ((costs <= costs[k]).all(axis=-1) & (costs < costs[k]).any(axis=-1)).any()
    assert pareto(np.array([[0, 1], [1, 0], [1, 1]])).tolist() == [True, True, False]
    inside = rank(found.linkages, ["region"], region=(-1e3, -1e3, 1e3, 1e3))
    assert inside.values["region"].min() == 0


def test_sensitivities_are_the_slopes_of_the_motion():
    linkage = crank_rocker()
    found = sensitivity(linkage, CRANK_ROCKER)
    assert found.slope.shape == (5, 3, 10)
    h = 1e-6
    # one dimension at a time, by solving the loops again with the driver held
    deviations = []
    for k in range(10):
        moved = linkage.points.copy()
        moved[k // 2] += h * (1j if k % 2 else 1.0)
        other = type(linkage)(linkage.topology, moved, linkage.rotations)
        deviations.append(_tracer(other, linkage.rotations) - _tracer(linkage, linkage.rotations))
    numeric = np.stack(deviations, axis=-1) / h
    assert np.abs(numeric - found.slope).max() < 1e-4 * np.abs(found.slope).max()


def _tracer(linkage, rotations):
    from linkwork.synthesis.kinematics import pairs_of_points, posture_kernel

    kernel = posture_kernel(linkage.topology)
    x, points = rotations.copy(), pairs_of_points(linkage.points)
    free = [k for k, b in enumerate(linkage.topology.moving) if b != linkage.topology.driver]
    for _ in range(20):
        r, J, y, _ = kernel(x, points)
        x[..., free] -= np.linalg.solve(J[..., free], r[..., None])[..., 0]
    return y


def test_monte_carlo_stays_within_the_band():
    linkage = crank_rocker()
    band = tolerance_band(sensitivity(linkage, CRANK_ROCKER), 1e-4)
    spread = np.abs(monte_carlo(linkage, CRANK_ROCKER, 1e-4, samples=500))
    assert (spread.max(axis=0) <= band * 1.02 + 1e-12).all()
    assert (spread.max(axis=0)[1:] > 0.4 * band[1:]).all()


def test_five_pairs_of_a_function_are_met():
    x = chebyshev_spacing(0, 90, 5)
    found = function_generator(x, np.sin(np.deg2rad(x)), scale=(np.pi / 180, np.deg2rad(60)))
    assert found.exact and found.rms[0] < 1e-9
    assert np.degrees(found.error[0]) < 3
    # against the linkage itself: the driven angle at the pairs
    A, D, B, C, _ = found.linkages.points[0]
    phi = np.deg2rad(x - x[0])
    pin = A + (B - A) * np.exp(1j * phi)
    psi = np.sin(np.deg2rad(x)) * np.deg2rad(60)
    tip = D + (C - D) * np.exp(1j * (psi - psi[0]))
    assert np.abs(np.abs(tip - pin) - abs(C - B)).max() < 1e-8


def test_many_pairs_are_met_by_least_squares():
    x = np.linspace(0, 1.5, 20)
    found = function_generator(x, 0.5 * x**2)
    assert not found.exact and np.degrees(found.error[0]) < 0.5
    assert (np.diff(found.rms) >= 0).all()


BAD = [
    (lambda: search(TABLE_4), NotPossible, "no tolerance"),
    (lambda: search(ZONE, samples=0), InvalidInput, "at least 1"),
    (lambda: search(ZONE, driver="motor"), InvalidInput, "crank"),
    (lambda: rank(crank_rocker()), InvalidInput, "expected several"),
    (lambda: function_generator([0, 1], [0, 1, 2]), InvalidInput, "shape"),
    (lambda: function_generator([0, 1, 2], [1, 1, 1]), NotPossible, "nothing to generate"),
]


@pytest.mark.parametrize(("call", "error", "words"), BAD, ids=[words for _, _, words in BAD])
def test_bad_input_gets_one_sentence(call, error, words):
    with pytest.raises(error, match=words):
        call()


def test_unknown_criteria_are_named(found):
    with pytest.raises(UnknownName, match="transmission"):
        rank(found.linkages, ["transmision"])
    with pytest.raises(InvalidInput, match="needs the task"):
        rank(found.linkages, ["torque"])
