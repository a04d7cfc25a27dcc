"""Four-bars through poses, points and mixes: complete sets,
against published counts and sampled linkages."""

from __future__ import annotations

import numpy as np
import pytest

from linkwork.errors import NotPossible
from linkwork.synthesis import PlanarTask, check, cognates, dyads, four_bar, four_bars, mixes
from linkwork.synthesis.four_bars import starts
from tests.synthesis.examples import CRANK_ROCKER, TABLE_4

PROBLEM_3 = np.array(
    [
        0.25,
        0.52 + 0.1j,
        0.8 + 0.7j,
        1.2 + 1j,
        1.4 + 1.3j,
        1.1 + 1.48j,
        0.7 + 1.4j,
        0.2 + 1j,
        0.02 + 0.4j,
    ]
)
"""[Wampler1992] problem 3; its 64 real triples are certified in [Hauenstein2012]."""


def sampled(count, seed, lengths=(4.0, 1.0, 3.5, 2.5), tip=1.5 + 2j):
    """Poses of a crank-rocker at random crank angles."""
    g, a, b, c = lengths
    theta = np.sort(np.random.default_rng(seed).uniform(0.2, 6.0, size=count))
    pin = a * np.exp(1j * theta)
    reach = g - pin
    cosine = (np.abs(reach) ** 2 + b**2 - c**2) / (2 * np.abs(reach) * b)
    turn = reach / np.abs(reach) * np.exp(1j * np.arccos(cosine))
    return pin + tip * turn, np.unwrap(np.angle(turn))


def meets(found, task):
    """Plain distances of the pivots at every position, from the rotations that came along."""
    links = found.linkages
    coupler = links.topology.moving.index("coupler")
    turns = np.exp(1j * links.rotations[..., coupler])
    worst = 0.0
    for ground, moving in (("A", "B"), ("D", "C")):
        arm = links.at(moving) - task.positions[0]
        length = np.abs(task.positions + arm[:, None] * turns - links.at(ground)[:, None])
        worst = max(worst, (np.abs(length - length[:, :1]) / (1 + length[:, :1])).max(initial=0))
    return worst


def test_problem_3_has_exactly_64_real_triples():
    task = PlanarTask(PROBLEM_3)
    found = four_bars(task)
    assert len(found) == 64
    assert found.expected == 1442 and found.roots >= 1440
    assert meets(found, task) < 1e-9


def test_nine_points_of_a_four_bar_give_it_back_with_its_cognates():
    positions, _ = sampled(9, 4)
    found = four_bars(PlanarTask(positions))
    every = cognates(found.linkages)
    ground = np.sort_complex(np.stack([every.at("A"), every.at("D")], axis=-1).reshape(-1, 2))
    assert np.abs(ground - [0, 4]).max(axis=-1).min() < 1e-9
    true = four_bar([0, 4], [1, 3], positions[0])
    assert cognates(true).batch == (3,)


@pytest.mark.parametrize("poses", [4, 3, 2])
def test_mixes_are_complete(poses):
    n = poses + mixes.points_of(poses)
    positions, angles = sampled(n, poses)
    angles[poses:] = np.nan
    task = PlanarTask(positions, angles)
    found = four_bars(task)
    assert found.roots == found.expected == mixes.COUNTS[poses]
    assert meets(found, task) < 1e-9
    pair = np.sort_complex(found.ground)
    assert np.abs(pair - [0, 4]).max(axis=-1).min() < 1e-9
    # another order of the positions: the same linkages, begun at another position
    order = np.random.default_rng(1).permutation(n)
    other = four_bars(task[order])
    assert len(other) == len(found)
    key = lambda f: np.sort(np.abs(f.ground[:, 0] - f.ground[:, 1]))
    assert key(other) == pytest.approx(key(found), rel=1e-6)


def test_five_poses_have_six_pairs():
    found = four_bars(CRANK_ROCKER)
    assert len(found) == found.expected == 6
    assert len(four_bars(TABLE_4)) == 1
    assert meets(found, CRANK_ROCKER) < 1e-9


@pytest.mark.parametrize("poses", [4, 3])
def test_monodromy_from_a_fresh_seed_finds_the_same_number(poses):
    x, p = mixes.generic(poses, 21)
    fresh = mixes.system(poses).monodromy(x, p, seed=21, symmetry=mixes.symmetry(poses))
    assert len(fresh) == mixes.COUNTS[poses] == len(starts(poses))


@pytest.mark.parametrize("poses", [4, 3, 2, 1])
def test_kept_starts_are_solutions(poses):
    kept = starts(poses)
    assert len(kept) == mixes.COUNTS[poses]
    size, _ = mixes.system(poses).corrections(kept.solutions, kept.parameters)
    assert size.max() < 1e-9


def test_cognates_draw_the_same_path():
    """Three four-bars, moved by their own cranks, meet the points of the first one's path."""
    positions, angles = sampled(9, 8)
    true = four_bar([0, 4], [positions[0] - (1.5 + 2j) * np.exp(1j * angles[0]), 0], positions[0])
    B = true.at("B")
    C = B + 3.5 * np.exp(1j * angles[0])
    true = four_bar([0, 4], [B, C], positions[0])
    for linkage in cognates(true):
        A, D, B, C, P = (complex(linkage.at(n)) for n in "ADBCP")
        # where its coupler must turn so that the tracer is at each point:
        # both links keep their lengths
        for point in positions:
            t = np.linspace(-np.pi, np.pi, 20001)
            u = np.exp(1j * t)
            off = np.abs(np.abs(point + (B - P) * u - A) - abs(B - A))
            off += np.abs(np.abs(point + (C - P) * u - D) - abs(C - D))
            assert off.min() < 2e-3


FAMILIES = [
    PlanarTask(PROBLEM_3[:2], [0, 1.0]),
    PlanarTask(PROBLEM_3[:3], [0, 0.3, 0.5]),
    PlanarTask(PROBLEM_3[:4], [0, 0.3, 0.5, 0.7]),
    PlanarTask(PROBLEM_3[:5]),
    PlanarTask(PROBLEM_3[:4], [0, 0.3, np.nan, np.nan]),
    PlanarTask(PROBLEM_3[:6], [np.nan, 0.3, np.nan, 0.5, 0.7, np.nan]),
    PlanarTask(PROBLEM_3[:7]),
    PlanarTask(PROBLEM_3[:8]),
]


@pytest.mark.parametrize("task", FAMILIES, ids=lambda t: f"{t.oriented.sum()} poses of {t.n}")
def test_fewer_conditions_leave_families(task):
    samples = 100 if task.n < 6 else 10
    found = four_bars(task, samples=samples, seed=3)
    assert len(found) > 5 and "family" in found.family
    assert meets(found, task) < 1e-9
    coupler = found.linkages.topology.moving.index("coupler")
    posed = np.flatnonzero(task.oriented)
    turned = (
        found.linkages.rotations[:, posed, coupler]
        - found.linkages.rotations[:, posed[:1], coupler]
    )
    wanted = task.angles[posed] - task.angles[posed[:1]]
    assert np.abs(np.exp(1j * turned) - np.exp(1j * wanted)).max(initial=0.0) < 1e-12
    if task.n < 8:  # there one draw takes a second
        again = four_bars(task, samples=samples, seed=3)
        assert np.array_equal(again.ground, found.ground)


CIRCLE = np.exp(1j * np.linspace(0, 5, 9))
BAD = [
    (PlanarTask(np.linspace(0, 1, 9) * (1 + 2j)), "one line"),
    (PlanarTask(CIRCLE), "one circle"),
    (PlanarTask(np.append(PROBLEM_3, 5j)), "at most 5 poses or 9 points exact; use fit"),
    (PlanarTask(PROBLEM_3[[0, 1, 2, 3, 4, 5, 6, 7, 3]]), "positions 4 and 9 are equal"),
    (PlanarTask(PROBLEM_3[:5], np.zeros(5)), "pure translation"),
    (PlanarTask(PROBLEM_3[:1]), "at least 2"),
]


@pytest.mark.parametrize(("task", "words"), BAD, ids=[words for _, words in BAD])
def test_bad_input_gets_one_sentence(task, words):
    with pytest.raises(NotPossible, match=words):
        four_bars(task)


def test_five_poses_without_a_real_dyad_have_no_four_bar():
    task = PlanarTask([0, 1, 2 + 1j, 3 + 1j, 3 + 2j], [0, 0.2, 0.5, 0.6, 0.9])
    assert len(dyads(task).W) == 0
    none = four_bars(task)
    assert len(none.linkages) == 0
    assert len(check(none.linkages, task).kind) == 0
