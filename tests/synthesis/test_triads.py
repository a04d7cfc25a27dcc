"""Triads of 2 to 7 positions, against recomputed answers and pypolsys where it is installed."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from linkwork.errors import InvalidInput, NotPossible
from linkwork.synthesis import PlanarTask, compatibility, triads
from linkwork.synthesis.triad_system import generic, starts, system
from tests.synthesis.examples import ALPHA, BETA, GAMMA, TRIAD, V, W, Z, random_tasks

rad = np.deg2rad

SEVEN = [
    [-13.743241, 7.732966, -35.802192, 61.003922, 7.586505, -64.380869],
    [-10, 12, -25, 30, 18, -40],
    [8.644674, -6.568727, 15.099305, -59.331393, -17.776119, -0.348469],
    [21.363118, -23.023331, 58.054138, 161.944549, -63.960034, 131.222024],
    [23.647236, 42.512272, 67.951715, 176.784843, 117.677293, 160.499730],
]


def test_seven_positions_have_exactly_five():
    found = triads(TRIAD, ALPHA)
    assert np.abs(found.beta - rad(SEVEN)).max() < 1e-7
    assert found.residual.max() < 1e-13
    assert np.abs([found.W[1] - W, found.V[1] - V, found.Z[1] - Z]).max() < 1e-10


def test_six_positions_at_a_chosen_rotation():
    found = triads(TRIAD[:6], ALPHA[:6], {2: rad(-10)})
    assert sorted(np.degrees(found.beta[:, 1])) == pytest.approx(
        [4.438159, 12, 32.270693, 62.218664], abs=1e-6
    )
    k = int(np.degrees(found.beta[:, 1]).argmax())
    assert np.degrees(found.beta[k, 2:]) == pytest.approx(
        [-46.149115, -145.884710, 109.927393], abs=1e-6
    )
    assert abs(found.W[k] - (1.246989 + 1.656777j)) < 1e-6
    assert abs(found.V[k] - (0.163163 - 1.020721j)) < 1e-6
    assert abs(found.Z[k] - (-0.770088 + 0.478065j)) < 1e-6


def test_any_rotation_may_be_the_chosen_one():
    for j in range(2, 7):
        found = triads(TRIAD[:6], ALPHA[:6], {j: BETA[j - 1]})
        assert np.abs(found.beta - BETA[1:6]).max(axis=-1).min() < 1e-9
        assert np.abs(found.beta[:, j - 2] - BETA[j - 1]).max() < 1e-9


def test_five_positions():
    found = triads(TRIAD[:5], ALPHA[:5], {2: rad(-10), 5: rad(30)})
    other = int(np.abs(found.W - W).argmax())
    assert len(found) == 2
    assert np.degrees(found.beta[other, 1:3]) == pytest.approx([140.033947, -36.573732], abs=1e-6)
    assert abs(found.W[other] - (0.707500 - 0.280094j)) < 1e-6
    assert abs(found.Z[other] - (1.314787 + 4.610319j)) < 1e-6


@pytest.mark.parametrize(
    ("n", "choice"),
    [(4, {}), (3, {"Z": Z}), (3, {"V": V}), (2, {"V": V, "Z": Z})],
    ids=["4", "3 Z", "3 V", "2"],
)
def test_fewer_positions_are_linear(n, choice):
    rotations = {j: BETA[j - 1] for j in range(2, n + 1)}
    found = triads(TRIAD[:n], ALPHA[:n], rotations, **choice)
    assert len(found) == 1
    assert (
        abs(found.W[0] - W) < 1e-12 and abs(found.V[0] - V) < 1e-12 and abs(found.Z[0] - Z) < 1e-12
    )


def test_a_batch_of_rotations():
    sweep = np.linspace(-3, 3, 60)  # not zero, where a trivial root is among them
    found = triads(TRIAD[:6], ALPHA[:6], {2: sweep})
    assert found.valid.shape == (60, 6)
    assert set(found.valid.sum(axis=-1)) <= {0, 2, 4, 6}
    answered = np.flatnonzero(found.valid.any(axis=-1))
    assert len(answered) > 5
    for k in answered:
        one = triads(TRIAD[:6], ALPHA[:6], {2: sweep[k]})
        assert np.array_equal(one.beta, found.beta[k][found.valid[k]])


def test_the_feasible_intervals_of_triads_are_exact():
    """The loop closes just inside, for some rotation of its other links, and for none just
    outside."""
    linkage = compatibility(TRIAD[:5], ALPHA[:5])
    others = np.linspace(-np.pi, np.pi, 200_001)
    closes = lambda beta2: np.isfinite(linkage.solve(beta2, others)[0]).any()
    assert linkage.ranges
    for low, high in linkage.ranges:
        assert closes(low + 1e-6) and closes(high - 1e-6)
        assert not closes(low - 1e-6) and not closes(high + 1e-6)


def test_the_compatibility_linkage_of_a_triad_has_its_rotations():
    five, six = (compatibility(TRIAD[:n], ALPHA[:n]) for n in (5, 6))
    both = five.solve(*BETA[1:3])
    assert np.abs(np.stack(both, axis=-1) - BETA[3:5]).max(axis=-1).min() < 1e-12
    polygons = six.drawing(*BETA[1:3])
    assert len(polygons) == 4 and max(abs(polygon[-1]) for polygon in polygons) < 1e-14


def test_seven_positions_have_an_odd_number():
    task = random_tasks(40, 7, 5)
    alpha = np.random.default_rng(6).uniform(-3, 3, size=(40, 7))
    found = triads(task, alpha)
    assert (found.valid.sum(axis=-1) % 2 == 1).all()
    assert found.valid.sum(axis=-1).max() <= 11
    assert found.residual[found.valid].max() < 1e-9


@settings(deadline=None, max_examples=25)
@given(st.integers(0, 10_000), st.floats(-3, 3), st.floats(0.01, 100), st.permutations(range(1, 7)))
def test_any_triad_is_found_again_wherever_its_task_is(seed, rotation, scale, order):
    """Its own vectors are among the answers; a task moved, turned, scaled moves them all;
    the order does not matter."""
    random = np.random.default_rng(seed)
    vectors = random.normal(size=(3, 2)) @ [1, 1j]
    alpha, beta, gamma = np.concatenate(
        [np.zeros((3, 1)), random.uniform(-2, 2, size=(3, 6))], axis=1
    )
    turned = [x * (np.exp(1j * angles) - 1) for x, angles in zip(vectors, (alpha, beta, gamma))]
    task = PlanarTask(sum(turned), gamma)
    found = triads(task, alpha)
    if found.condition.max() > 1e4:
        return
    assert len(found) % 2 == 1
    tight = 1e-7 * max(np.abs(x).max() for x in (found.W, found.V, found.Z))
    off = [np.abs(answers - x) for answers, x in zip((found.W, found.V, found.Z), vectors)]
    k = int(np.max(off, axis=0).argmin())
    assert (
        np.max(off, axis=0)[k] < tight
        and np.abs(found.beta[k] - np.angle(np.exp(1j * beta[1:]))).max() < 1e-6
    )
    moved = triads(task.moved(2 - 1j, rotation, scale), alpha + rotation)
    assert np.abs(moved.V - scale * np.exp(1j * rotation) * found.V).max() < scale * tight
    places = [0, *order]
    other = triads(task[places], alpha[places])
    assert np.abs(np.sort_complex(other.V) - np.sort_complex(found.V)).max() < tight


def test_monodromy_from_a_fresh_seed_finds_seventeen():
    x, p = generic(11)
    fresh = system().monodromy(x, p, seed=11)
    assert len(fresh) == len(starts()) == 17
    assert system().corrections(starts().solutions, starts().parameters)[0].max() < 1e-11


def test_triads_of_a_thousand_task_sizes_are_not_lost():
    """Rows of 500 random tasks whose fifth triad has links of 870 to 2500 task sizes."""
    random = np.random.default_rng(0)
    points = random.normal(size=(500, 7)) + 1j * random.normal(size=(500, 7))
    angles = random.uniform(-3, 3, size=(500, 7))
    alpha = np.random.default_rng(2).uniform(-3, 3, size=(500, 7))
    some = [180, 238, 459]
    found = triads(PlanarTask(points[some], angles[some]), alpha[some])
    assert list(found.valid.sum(axis=-1)) == [5, 5, 5]
    longest = [
        np.abs(np.where(found.valid, x, 0)).max(axis=-1) for x in (found.W, found.V, found.Z)
    ]
    assert (np.max(longest, axis=0) > 100).all()


def test_seventeen_roots_agree_with_pypolsys():
    pypolsys = pytest.importorskip("pypolsys")
    from sympy import expand, symbols

    a, g, d = np.exp(1j * ALPHA[1:]) - 1, np.exp(1j * TRIAD.rotations) - 1, TRIAD.displacements
    v, w, z, V_, W_, Z_ = names = symbols("v w z V_ W_ Z_")
    rows = []
    for aj, gj, dj in zip(a, g, d):
        first = v + complex(dj) - w * complex(aj) - z * complex(gj)
        second = V_ + complex(np.conj(dj)) - W_ * complex(np.conj(aj)) - Z_ * complex(np.conj(gj))
        rows.append(expand(first * second - v * V_))
    system_ = pypolsys.utils.fromSympy([r.as_poly(*names) for r in rows])
    pypolsys.polsys.init_poly(*system_)
    pypolsys.polsys.init_partition(*pypolsys.utils.make_mh_part(6, [[1, 2, 3], [4, 5, 6]]))
    pypolsys.polsys.solve(1e-8, 1e-14, 0.0)
    roots = pypolsys.polsys.myroots
    finite = [r[:6] for r in roots.T if abs(r[6]) > 1e-6]
    theirs = [
        r for r in finite if np.abs(r[3:] - r[:3].conj()).max() < 1e-6 * (1 + np.abs(r).max())
    ]
    ours = triads(TRIAD, ALPHA)
    real = np.array([[x, y, w] for x, y, w in zip(ours.V, ours.W, ours.Z)])
    for row in real:
        assert min(np.abs(row - r[:3]).max() for r in theirs) < 1e-6


TURNS = np.linspace(0.1, 0.9, 7)


def moving(t):
    """(P, alpha, beta, gamma and their rates) of the triad W, V, Z at times t,
    as one would write them down."""
    angles = np.array(
        [0.9 * t + 0.2 * np.sin(t), 0.3 * t * t - 0.5 * t, 0.4 * t - 0.25 * np.sin(2 * t)]
    )
    rates = np.array([0.9 + 0.2 * np.cos(t), 0.6 * t - 0.5, 0.4 - 0.5 * np.cos(2 * t)])
    links = np.array([W, V, Z])[:, None] * np.exp(1j * angles)
    return links.sum(axis=0), (1j * rates * links).sum(axis=0), angles, rates


def test_velocities_count_as_positions_infinitely_near():
    """Five positions and velocities at two of them, against the same as positions a moment
    later."""
    t, at = np.array([0, 0.4, 0.9, 1.3, 1.9]), [0, 3]
    P, speed, (alpha, beta, gamma), (alpha_rate, _, gamma_rate) = moving(t)
    velocities, rates = np.full((5, 3), np.nan), np.full(5, np.nan)
    velocities[at], rates[at] = (
        np.stack([speed.real, speed.imag, gamma_rate], axis=-1)[at],
        alpha_rate[at],
    )
    task = PlanarTask(P, gamma, velocities=velocities)
    exact = triads(task, alpha, alpha_rates=rates)
    assert np.abs(exact.beta - (beta - beta[0])[1:]).max(axis=-1).min() < 1e-9
    true = np.array([W, V, Z])
    assert np.abs(np.stack([exact.W, exact.V, exact.Z], axis=-1) - true).max(axis=-1).min() < 1e-9
    assert len(exact) % 2 == 1 and exact.residual.max() < 1e-12
    later = np.concatenate([t, t[at] + 1e-5])
    P, _, (alpha7, _, gamma7), _ = moving(later)
    near = triads(PlanarTask(P, gamma7), alpha7)
    assert len(near) == len(exact) and np.abs(near.W - exact.W).max() < 1e-2 * np.abs(exact.W).max()
    # how fast a velocity is does not matter, which way it goes does; a batch gives the same
    both = np.stack([velocities * 3, velocities * [-1, 1, 1]])
    batch = triads(
        PlanarTask(task.positions, gamma, velocities=both),
        alpha,
        alpha_rates=np.stack([3 * rates, rates]),
    )
    assert np.abs(batch.W[0][batch.valid[0]] - exact.W).max() < 1e-9
    assert np.abs(batch.W[1][batch.valid[1]] - W).min() > 1e-3
    # rates alone make a batch, too
    turning = triads(task, alpha, alpha_rates=np.stack([rates, 2 * rates]))
    assert (
        turning.valid.shape[0] == 2
        and np.abs(turning.W[0][turning.valid[0]] - exact.W).max() < 1e-9
    )


WITH_VELOCITY = PlanarTask(TRIAD.positions, GAMMA, velocities=np.ones((7, 3)))
TWO_VELOCITIES = PlanarTask(
    TRIAD.positions[:5], GAMMA[:5], velocities=np.ones((5, 3)) * [[1], [1], *[[np.nan]] * 3]
)
BAD = [
    (
        lambda: triads(TRIAD[:5], ALPHA[:5], {2: 2.5, 5: 0.5}),
        NotPossible,
        r"beta\[2\] = 2.5 rad .* feasible: \[-0.29",
    ),
    (
        lambda: triads(TRIAD[:5], ALPHA[:5], {2: -0.29, 3: 3.0}),
        NotPossible,
        r"beta\[3\] = 3 rad .* feasible: \[",
    ),
    (
        lambda: triads(TRIAD[:6], ALPHA[:6], {2: 2.5}),
        NotPossible,
        r"beta\[2\] = 2.5 rad .* feasible: \[-0.29",
    ),
    (
        lambda: compatibility(TRIAD[:5], ALPHA[:5]).solve(0.1),
        InvalidInput,
        "expected 2: beta2, beta3",
    ),
    (lambda: compatibility(TRIAD[:5], ALPHA[:4]), InvalidInput, "alpha has shape"),
    (
        lambda: triads(WITH_VELOCITY, ALPHA),
        NotPossible,
        "7 positions and 7 velocities, expected seven together",
    ),
    (lambda: triads(TWO_VELOCITIES, ALPHA[:5]), InvalidInput, "alpha_rates"),
    (lambda: triads(TWO_VELOCITIES, ALPHA[:5], alpha_rates=[1, 2]), InvalidInput, "finite at 1, 2"),
    (
        lambda: triads(TWO_VELOCITIES, ALPHA[:5], {2: 0.1}, alpha_rates=np.ones(5)),
        NotPossible,
        "no free choices",
    ),
    (lambda: triads(TRIAD, ALPHA[:5]), InvalidInput, "expected"),
    (lambda: triads(random_tasks(1, 8, 0), np.zeros(8)), NotPossible, "at most 7"),
    (lambda: triads(PlanarTask(TRIAD.positions, np.zeros(7)), ALPHA), NotPossible, "gamma = 0"),
    (lambda: triads(TRIAD, TRIAD.angles), NotPossible, "alpha = gamma"),
    (lambda: triads(TRIAD[:6], ALPHA[:6]), NotPossible, "1 free choices"),
    (lambda: triads(TRIAD, ALPHA, {2: 0.1}), NotPossible, "0 free choices"),
    (lambda: triads(TRIAD, ALPHA, Z=1j), NotPossible, "at most 5"),
]


@pytest.mark.parametrize(("call", "error", "words"), BAD, ids=[words for _, _, words in BAD])
def test_bad_input_gets_one_sentence(call, error, words):
    with pytest.raises(error, match=words):
        call()
