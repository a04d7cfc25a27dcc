"""Search, ranking, sensitivities, functions."""

from __future__ import annotations

import numpy as np
import pytest

import linkwork as lw
from linkwork.errors import InvalidInput, NotPossible, UnknownName
from linkwork.synthesis import (
    Linkages,
    PlanarTask,
    chebyshev_spacing,
    check,
    function_generator,
    monte_carlo,
    rank,
    search,
    sensitivity,
    six_bars,
    tolerance_band,
)
from linkwork.synthesis.ranking import CRITERIA, pareto
from linkwork.synthesis.relative_dyads import couplers
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
    costs = np.stack(
        [-ranking.values["transmission"], ranking.values["size"], ranking.values["ratio"]], axis=-1
    )
    for k in np.flatnonzero(ranking.front)[:10]:
        assert not ((costs <= costs[k]).all(axis=-1) & (costs < costs[k]).any(axis=-1)).any()
    assert pareto(np.array([[0, 1], [1, 0], [1, 1]])).tolist() == [True, True, False]
    inside = rank(found.linkages, ["region"], region=(-1e3, -1e3, 1e3, 1e3))
    assert inside.values["region"].min() == 0


def test_six_bars_are_ranked_too():
    every = six_bars(CRANK_ROCKER, [-2 + 0j, -1.5 + 3j, 1.5 + 1.2j])
    same = [linkage for linkage in every if linkage.topology == every[0].topology]
    many = Linkages(every[0].topology, np.stack([linkage.points for linkage in same]))
    found = rank(many, CRITERIA, CRANK_ROCKER, region=(-1, -1, 1, 1))
    pivots = [p for p, *bodies in many.topology.pins if "ground" in bodies]
    outside = [max(abs(complex(max(abs(z.real) - 1, 0), max(abs(z.imag) - 1, 0))) for z in map(row.at, pivots))
               for row in same]  # fmt: skip
    assert found.values["region"] == pytest.approx(outside, rel=1e-12)
    assert (found.values["ratio"] >= 1).all() and len(found.order) == len(same)


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


@pytest.mark.parametrize("output", ["rocker", "slider"])
def test_five_pairs_of_a_known_linkage_give_it_back(output):
    """The coupler keeps its length; nothing else meets the pairs,
    by random starts of the equations."""
    random = np.random.default_rng(4)
    back = 0
    for _ in range(12):
        B, C = (random.normal(size=2) @ [1, 1j] for _ in range(2))
        phi = np.linspace(0, 0.8, 5)
        pin = B * np.exp(1j * phi)
        if output == "rocker":
            C += 1.0
            reach = pin - 1.0
            c, b = abs(C - 1.0), abs(C - B)
            cosine = (np.abs(reach) ** 2 + c**2 - b**2) / (2 * np.abs(reach) * c)
            side = np.sign(((B - 1.0).conjugate() * (C - 1.0)).imag)
            if np.abs(cosine).max() > 1:
                continue
            driven = np.unwrap(np.angle(reach) + side * np.arccos(cosine))
        else:
            inside = abs(C - B) ** 2 - (pin.imag - C.imag) ** 2
            if inside.min() < 0:
                continue
            driven = pin.real + np.sign((C - B).real) * np.sqrt(inside)
        found = function_generator(phi, driven, output=output)
        assert found.exact and found.complete and len(found) <= (3 if output == "rocker" else 4)
        off = np.abs(found.linkages.at("B") - B) + np.abs(found.linkages.at("C") - C)
        back += off.min() < 1e-6
    assert back >= 4


@pytest.mark.parametrize("n", [2, 3, 4])
def test_fewer_pairs_are_met_by_families(n):
    x, y = np.array([0, 0.3, 0.6, 0.9])[:n], np.array([0, 0.2, 0.43, 0.7])[:n]
    for output in ("rocker", "slider"):
        found = function_generator(x, y, output=output)
        assert found.exact and not found.complete and len(found) == 20
        assert found.rms.max() < 1e-9 and (np.diff(found.error) >= 0).all()


def test_pairs_that_no_assembly_meets_are_come_near_to():
    """Every coupler through these pairs passes a dead point between them: checked by its own
    sides."""
    x, y = np.array([0, 0.3, 0.6, 0.9, 1.2]), np.array([0, 0.2, 0.5, 0.7, 1.0])
    B, C = couplers(x[:4], y[:4], "rocker", 1000, np.random.default_rng(0))
    pin, tip = B[:, None] * np.exp(1j * x[:4]), 1 + (C - 1)[:, None] * np.exp(1j * y[:4])
    assert np.abs(np.abs(tip - pin) - np.abs(C - B)[:, None]).max() < 1e-9
    side = np.sign(((tip - pin).conj() * (tip - 1)).imag)
    assert (side != side[:, :1]).any(axis=1).all()
    for n in (4, 5):
        found = function_generator(x[:n], y[:n])
        assert len(found) and not found.exact and found.error[0] < 0.1


def test_a_link_that_turns_like_its_driver_is_a_parallelogram():
    x = np.linspace(0, 1, 5)
    found = function_generator(x, x)
    assert found.exact and not found.complete and found.error[0] < 1e-12
    A, D, B, C, _ = found.linkages.points.T
    assert np.abs((C - D) - (B - A)).max() < 1e-12


def test_many_pairs_are_met_by_least_squares():
    x = np.linspace(0, 1.5, 20)
    found = function_generator(x, 0.5 * x**2)
    assert not found.exact and np.degrees(found.error[0]) < 0.5
    assert (np.diff(found.rms) >= 0).all()


BAD = [
    (lambda: search(TABLE_4), NotPossible, "no tolerance"),
    (lambda: search(ZONE, samples=0), InvalidInput, "at least 1"),
    (lambda: search(ZONE, driver="motor"), UnknownName, "crank"),
    (lambda: rank(crank_rocker()), InvalidInput, "expected several"),
    (lambda: function_generator([0, 1], [0, 1, 2]), InvalidInput, "shape"),
    (
        lambda: function_generator([0, 1, 1, 2], [0, 2, 2, 1]),
        InvalidInput,
        "pairs 2 and 3 are equal",
    ),
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
