"""Dyads: the published task, recomputed answers, and laws that hold for any task."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import linkwork as lw
from linkwork.errors import InvalidInput, NotPossible
from linkwork.synthesis import (
    PlanarTask,
    burmester,
    compatibility,
    dyads,
    four_bars,
    image_poles,
    poles,
    slider_circle,
)
from tests.synthesis.examples import CRANK_ROCKER, TABLE_4, random_tasks

rad = np.deg2rad


def distances(task, found):
    """|moving pivot at position j - ground|, (..., m, n)."""
    arm = (found.moving - task.positions[..., :1])[..., None]
    turned = arm * np.exp(1j * (task.angles - task.angles[..., :1]))[..., None, :]
    return np.abs(task.positions[..., None, :] + turned - found.ground[..., None])


def test_table_4_has_two_dyads():
    found = dyads(TABLE_4)
    expected = rad(
        [
            [-11.585297, -13.202036, -25.525619, -42.316300],
            [20.862236, 33.480653, 65.142024, 94.362176],
        ]
    )
    assert np.abs(found.beta - expected).max() < 1e-8
    assert np.abs(found.W - [43.461685 - 1.876166j, 202.877343 - 119.733786j]).max() < 1e-6
    assert np.abs(found.Z - [-9.364053 - 31.267915j, -249.961530 + 101.322481j]).max() < 1e-6
    assert np.abs(found.ground - [-55.797633 + 55.179081j, 25.384188 + 40.446305j]).max() < 1e-6
    assert np.abs(found.moving - [-12.335947 + 53.302915j, 228.261530 - 79.287481j]).max() < 1e-6
    assert found.near_trivial.tolist() == [False, True]
    assert found.residual.max() < 1e-13


def test_the_papers_scan_of_the_linkages_agrees():
    exact, scanned = dyads(TABLE_4), dyads(TABLE_4, method="linkage")
    assert np.abs(exact.beta - scanned.beta).max() < 1e-10
    four = dyads(CRANK_ROCKER, method="linkage")
    assert np.abs(four.beta - dyads(CRANK_ROCKER).beta).max() < 1e-9


def test_crank_rocker_has_four_dyads():
    found = dyads(CRANK_ROCKER)
    assert len(found) == 4
    by_first = {round(float(np.degrees(b[0])), 2): k for k, b in enumerate(found.beta)}
    crank, rocker, third, far = (by_first[b] for b in (60.0, 7.98, -46.04, -1.23))
    assert abs(found.W[crank] - (0.93969260 + 0.34202037j)) < 1e-6
    assert abs(found.Z[rocker] - (-2.10418293 + 0.26909968j)) < 1e-6
    assert abs(found.W[third] - (0.98971392 + 0.31374535j)) < 1e-6
    assert abs(found.W[far] - (-18.9665033 + 34.5135982j)) < 1e-5


def test_four_positions_and_a_rotation():
    found = dyads(TABLE_4[:4], beta={2: rad(-10)})
    expected = {-11.524032: 51.712926 - 3.463769j, 24.055931: 5.583780 + 0.632928j}
    assert len(found) == 2
    for beta, vector in zip(np.degrees(found.beta[:, 1]), found.W):
        near = min(expected, key=lambda x: abs(x - beta))
        assert abs(near - beta) < 1e-6 and abs(vector - expected[near]) < 1e-6


def test_three_and_two_positions():
    three = dyads(TABLE_4[:3], beta={2: rad(30), 3: rad(60)})
    assert abs(three.W[0] - (10.348595 - 11.671032j)) < 1e-6
    assert abs(three.Z[0] - (-50.973212 - 7.093426j)) < 1e-6
    two = dyads(TABLE_4[:2], beta={2: rad(30)}, Z=1 + 2j)
    assert two.Z[0] == pytest.approx(1 + 2j, abs=1e-12)
    assert distances(TABLE_4[:2], two).std(axis=-1).max() < 1e-12


CHOICES = [
    (4, {"ground_line": [0j, 1j]}),
    (4, {"moving_line": [3 + 4j, 10j]}),
    (3, {"ground": 3 + 4j}),
    (3, {"moving": -5 + 30j}),
    (3, {"W": 20 - 3j}),
    (3, {"moving_line": [3 + 4j, 10j], "ground_line": [0j, 1 + 0j]}),
    (3, {"beta": {2: 0.4}, "moving_line": [3 + 4j, 10j]}),
    (2, {"ground": 3 + 4j, "moving_line": [0j, 1 + 0j]}),
    (2, {"W": 9 - 3j, "ground_line": [0j, 12 + 45j]}),
]


@pytest.mark.parametrize(("n", "choice"), CHOICES, ids=[f"{n} {'+'.join(c)}" for n, c in CHOICES])
def test_conditions_on_pivots_take_the_place_of_rotations(n, choice):
    task = TABLE_4[:n]
    found = dyads(task, **choice)
    assert len(found) >= 1
    lengths = distances(task, found)
    assert (np.abs(lengths - lengths[:, :1]) / lengths[:, :1]).max() < 1e-9
    for name in ("ground", "moving"):
        if name in choice:
            assert np.abs(getattr(found, name) - choice[name]).max() < 1e-9
        if f"{name}_line" in choice:
            p, q = choice[f"{name}_line"]
            off = ((getattr(found, name) - p) / (q - p)).imag * abs(q - p)
            assert np.abs(off).max() < 1e-6  # pivots may be a hundred task sizes away
    if "W" in choice:
        assert np.abs(found.W - choice["W"]).max() < 1e-9


def test_a_velocity_counts_as_a_position():
    """Four positions and the velocity at the second of them, of a known crank-rocker."""
    four = CRANK_ROCKER[:4]
    true = dyads(CRANK_ROCKER)
    crank, rocker = (int(np.abs(true.ground - g).argmin()) for g in (0, 4))
    # the velocity of the coupler for a crank rate of 1, from both pivots' velocities
    W, Z, beta = true.W, true.Z, true.beta[:, 0]
    alpha = four.rotations[0]
    wc, wr = W[crank] * np.exp(1j * beta[crank]), W[rocker] * np.exp(1j * beta[rocker])
    zc, zr = Z[crank] * np.exp(1j * alpha), Z[rocker] * np.exp(1j * alpha)
    A = np.array([[wr.real, (zr - zc).real], [wr.imag, (zr - zc).imag]])
    _, rate = np.linalg.solve(A, [wc.real, wc.imag])
    v = 1j * wc + 1j * rate * zc
    velocities = np.full((4, 3), np.nan)
    velocities[1] = v.real, v.imag, rate
    task = PlanarTask(four.positions, four.angles, velocities=velocities)
    found = dyads(task)
    for k in (crank, rocker):
        assert np.abs(found.ground - true.ground[k]).min() < 1e-6
        assert np.abs(found.W - true.W[k]).min() < 1e-6
    pairs = four_bars(task)
    assert (
        pairs.family == "4 poses + 1 velocity" and len(pairs) == len(found) * (len(found) - 1) // 2
    )
    wanted = np.sort_complex(true.ground[[crank, rocker]])
    near = np.abs(np.sort_complex(pairs.ground) - wanted).max(axis=-1)
    assert near.min() < 1e-6
    with pytest.raises(NotPossible, match="at most 5 poses"):
        four_bars(
            PlanarTask(CRANK_ROCKER.positions, CRANK_ROCKER.angles, velocities=np.ones((5, 3)))
        )


def test_a_pivot_on_a_pole_leaves_the_other_one_open():
    """There the body turns from one pose to the other: no circle, or any, goes through both
    places."""
    task = TABLE_4[:3]
    centers, images = poles(task), image_poles(task)
    for choice in (
        {"ground": centers[1, 2]},
        {"moving": centers[1, 2]},
        {"Z": task.positions[0] - centers[1, 2]},
    ):
        with pytest.raises(NotPossible, match="on the pole of positions 1 and 2") as caught:
            dyads(task, **choice)
        assert "\n" not in str(caught.value)
    with pytest.raises(NotPossible, match="moving is on the pole of positions 2 and 3"):
        dyads(task, moving=images[2, 3])
    with pytest.raises(NotPossible, match="ground is on the pole of positions 1 and 2"):
        dyads(task[:2], {2: 0.3}, ground=centers[1, 2])
    found = dyads(task, ground=np.array([centers[1, 3], 1 + 2j]))  # in a batch it is data
    assert "pole of positions 1 and 3" in found.reason[0] and not found.valid[0].any()
    assert found.reason[1] == "" and found.valid[1].any()


def test_pivots_and_lines_make_batches():
    lines = np.array([[0j, 1j], [1, 1j], [0, 5 + 2j]])
    found = dyads(TABLE_4[:4], ground_line=lines)
    for k, line in enumerate(lines):
        one = dyads(TABLE_4[:4], ground_line=line)
        assert np.array_equal(one.W, found.W[k][found.valid[k]])
    pivots = np.array([[3 + 1j, 5], [2j, 1]])
    found = dyads(TABLE_4[:3], moving=pivots)
    assert found.valid.shape == (2, 2, 4)
    assert np.array_equal(
        dyads(TABLE_4[:3], moving=pivots[1, 0]).ground, found.ground[1, 0][found.valid[1, 0]]
    )
    assert PlanarTask(TABLE_4.positions, timing=np.zeros((3, 5))).batch == (3,)


def test_path_with_timing_gives_the_crank_back():
    """P_j and the crank's rotation at five positions: the body's rotation is what is unknown."""
    true = dyads(CRANK_ROCKER)
    crank = int(np.abs(true.ground).argmin())
    timing = np.concatenate([[0.0], true.beta[crank]])
    found = dyads(PlanarTask(CRANK_ROCKER.positions, timing=timing))
    k = int(np.abs(found.W - true.W[crank]).argmin())
    assert abs(found.W[k] - true.W[crank]) < 1e-6
    assert abs(found.Z[k] - true.Z[crank]) < 1e-6
    assert np.abs(found.beta[k] - CRANK_ROCKER.rotations).max() < 1e-7


@pytest.mark.parametrize("kind", ["PR", "RP"])
def test_four_positions_have_one_slider(kind):
    found = dyads(TABLE_4[:4], kind=kind)
    assert len(found) == 1
    P, u = TABLE_4.positions[:4], np.exp(1j * TABLE_4.angles[:4])
    on_body = found.moving[0] - P[0]
    points = P + on_body * u if kind == "PR" else P[0] + (found.ground[0] - P) / u
    along = (points - points[0]) * np.conj(found.direction[0])
    assert np.abs(along.imag).max() < 1e-12
    assert np.abs(along.real[1:] - found.travel[0]).max() < 1e-10


def test_slider_points_of_three_positions_lie_on_a_circle():
    centre, radius = slider_circle(TABLE_4[:3])
    P, u = TABLE_4.positions[:3], np.exp(1j * TABLE_4.angles[:3])
    for t in np.linspace(0, 6, 7):
        points = P + (centre + radius * np.exp(1j * t) - P[0]) * u
        assert abs(((points[1] - points[0]).conjugate() * (points[2] - points[0])).imag) < 1e-10
    found = dyads(TABLE_4[:3], kind="PR", moving_line=[centre, centre + 1])
    assert np.abs(np.abs(found.moving - centre) - radius).max() < 1e-9


def test_ranges_are_exact():
    feasible = np.degrees(compatibility(TABLE_4).ranges)
    assert np.abs(feasible - [[-28.111, 21.456], [109.404, 115.198]]).max() < 1e-3
    (low, high) = compatibility(TABLE_4[:4]).ranges[0]
    assert np.degrees([high - 2 * np.pi, low]) == pytest.approx([23.0386, 109.4038], abs=1e-4)
    for inside, outside in ((low + 1e-6, low - 1e-6), (high - 1e-6, high + 1e-6)):
        assert len(dyads(TABLE_4[:4], beta={2: inside})) == 2
        with pytest.raises(NotPossible, match="feasible"):
            dyads(TABLE_4[:4], beta={2: outside})


def test_printed_deltas():
    size = float(TABLE_4.size)
    found = compatibility(TABLE_4).deltas * size
    printed = [
        [-1.2736 + 0.1990j, 0.9214 - 3.4612j, 1.5541 + 3.7924j, -1.2018 - 0.5302j],
        [-3.3851 + 1.1261j, 5.2149 - 9.7840j, -0.6280 + 9.1881j, -1.2018 - 0.5302j],
    ]
    assert np.abs(found - printed).max() < 1e-3  # Table 4 is rounded in its last digit
    assert np.abs(found.sum(axis=-1)).max() < 1e-14 * size


def test_counts_are_even_and_nothing_is_trivial():
    task = random_tasks(2000, 5, 1)
    found = dyads(task)
    assert set(found.valid.sum(axis=-1)) <= {0, 2, 4}
    lengths = distances(task, found)
    spread = np.abs(lengths - lengths[..., :1]) / (1 + lengths[..., :1])
    assert spread[found.valid].max() < 1e-9
    still = np.abs(found.beta).max(axis=-1)
    with_body = np.abs(np.exp(1j * found.beta) - np.exp(1j * task.rotations)[:, None]).max(axis=-1)
    assert still[found.valid].min() > 1e-7 and with_body[found.valid].min() > 1e-7
    assert (found.reason[~found.valid.any(axis=-1)] == "no real dyad meets the conditions").all()


def test_batch_equals_single_bit_for_bit():
    task = random_tasks(24, 5, 2)
    many = dyads(task)
    before = lw.threads()
    try:
        for count in (1, 2):
            lw.threads(count)
            for k in range(24):
                one = dyads(PlanarTask(task.positions[k], task.angles[k]))
                assert np.array_equal(one.ground, many.ground[k][many.valid[k]])
                assert np.array_equal(one.beta, many.beta[k][many.valid[k]])
    finally:
        lw.threads(before)


@settings(deadline=None, max_examples=40)
@given(st.integers(0, 10_000), st.floats(-3, 3), st.floats(0.01, 100), st.permutations(range(1, 5)))
def test_moving_turning_scaling_reordering(seed, rotation, scale, order):
    task = random_tasks(1, 5, seed)
    task = PlanarTask(task.positions[0], task.angles[0])
    plain = dyads(task)
    if not len(plain) or plain.condition.max() > 1e6:
        return
    factor = scale * np.exp(1j * rotation)
    moved = dyads(task.moved(3 - 2j, rotation, scale))
    tight = 1e-7 * np.abs(plain.W).max() * scale  # condition up to 1e6
    assert np.abs(moved.W - factor * plain.W).max() < tight
    assert np.abs(moved.ground - (factor * plain.ground + 3 - 2j)).max() < 3 * tight
    other = dyads(task[[0, *order]])
    assert len(other) == len(plain)
    nearest = np.abs(other.ground[:, None] - plain.ground).argmin(axis=0)
    assert np.abs(other.ground[nearest] - plain.ground).max() < 3 * tight / scale
    back = dyads(task[[2, 1, 0, 3, 4]])  # position 1 exchanged: the same pivots
    assert (
        np.abs(np.sort_complex(back.ground) - np.sort_complex(plain.ground)).max()
        < 1e-6 * np.abs(plain.W).max()
    )


@pytest.mark.parametrize("seed", range(4))
def test_any_four_bar_is_found_again(seed):
    random = np.random.default_rng(seed)
    while True:
        ground = np.array([0.0, 3.0]) + 0.1 * (random.normal(size=2) + 1j * random.normal(size=2))
        crank, coupler, rocker = random.uniform(0.6, 3.0, size=3)
        tip = random.normal() + 1j * random.normal()
        angles = np.sort(random.uniform(0, 2, size=5))
        pin = ground[0] + crank * np.exp(1j * angles)
        reach = ground[1] - pin
        c = (np.abs(reach) ** 2 + coupler**2 - rocker**2) / (2 * np.abs(reach) * coupler)
        if (np.abs(c) < 0.98).all():
            break
    direction = reach / np.abs(reach) * np.exp(1j * np.arccos(c))
    task = PlanarTask(pin + tip * direction, np.angle(direction))
    found = dyads(task)
    for pivot, arm in ((ground[0], pin[0]), (ground[1], pin[0] + coupler * direction[0])):
        k = np.abs(found.ground - pivot).argmin()
        assert abs(found.ground[k] - pivot) < 1e-6 and abs(found.moving[k] - arm) < 1e-6


P3, A3 = [0, 1, 2 + 1j], [0, 0.3, 0.5]
VELOCITIES, TIMING = (
    {name: np.ones(shape)} for name, shape in (("velocities", (4, 3)), ("timing", 4))
)
with_part = lambda part: PlanarTask(TABLE_4.positions[:4], TABLE_4.angles[:4], **part)
BAD = [
    (
        lambda: dyads(TABLE_4[:4], {3: 1.0}),
        NotPossible,
        "beta.3. = 1 rad cannot close the compatibility linkage; feas",
    ),
    (lambda: dyads(TABLE_4[:4], {2: rad(60)}), NotPossible, r"feasible: .1.90946, 6.68528"),
    (
        lambda: dyads(TABLE_4[:3], moving=np.ones((2, 3)) * 1j, beta={2: np.zeros(4)}),
        InvalidInput,
        "shape",
    ),
    (lambda: burmester(with_part(VELOCITIES)), NotPossible, "burmester: the task has velocities"),
    (lambda: burmester(with_part(TIMING)), NotPossible, "burmester: the task has timing"),
    (lambda: four_bars(with_part(TIMING)), NotPossible, "four_bars: the task has timing"),
    (
        lambda: PlanarTask([0j, 1], tolerance=-0.1),
        InvalidInput,
        "tolerance holds -0.1, expected no negative number",
    ),
    (lambda: PlanarTask([0j, 1], weights=[1, -2]), InvalidInput, "weights holds -2"),
    (lambda: PlanarTask([0j, 1], weights=[0, 0]), InvalidInput, "weights are all zero"),
    (lambda: dyads(PlanarTask([0j], [0.0])), NotPossible, "at least 2"),
    (lambda: dyads(random_tasks(1, 6, 0)), NotPossible, "at most 5 exact positions; use fit"),
    (
        lambda: dyads(PlanarTask([0j, 1, 2, 1, 4], [0, 0.3, 0.5, 0.3, 0.1])),
        NotPossible,
        "positions 2 and 4 are equal",
    ),
    (lambda: dyads(PlanarTask([0j, 1, 2, 1j, 4], np.ones(5))), NotPossible, "pure translation"),
    (lambda: dyads(PlanarTask([0j, 1, 2, 1j, 4])), NotPossible, "position 1 has no angle"),
    (lambda: dyads(TABLE_4[:4]), NotPossible, "1 free choices, got 0"),
    (lambda: dyads(TABLE_4, beta={2: 0.1}), NotPossible, "0 free choices, got 1"),
    (lambda: dyads(TABLE_4[:4], beta={7: 0.1}), InvalidInput, "position 7"),
    (lambda: dyads(TABLE_4[:4], beta=0.1), InvalidInput, "expected {position: angle}"),
    (lambda: dyads(TABLE_4[:4], beta={2: np.nan}), InvalidInput, "not finite"),
    (lambda: dyads(TABLE_4[:4], kind="PP"), InvalidInput, "kind"),
    (lambda: dyads(TABLE_4, kind="PR"), NotPossible, "at most 4"),
    (lambda: dyads([1, 2, 3]), InvalidInput, "PlanarTask"),
    (lambda: dyads(TABLE_4[:4], ground_line=[1j, 1j]), InvalidInput, "both points are equal"),
    (lambda: dyads(TABLE_4, tail=[0j, 1]), InvalidInput, "tail has shape"),
    (lambda: PlanarTask([0j, np.nan], [0, 1]), InvalidInput, "not finite"),
    (lambda: PlanarTask([[1, 2, 3]], [0]), InvalidInput, "expected complex numbers or real"),
    (lambda: PlanarTask([0j, 1], [0, 1, 2]), InvalidInput, "angles has shape"),
    (lambda: PlanarTask([0j, 1], [0, np.inf]), InvalidInput, "infinite"),
    (lambda: TABLE_4.moved(scale=-1), InvalidInput, "positive"),
]


@pytest.mark.parametrize(("call", "error", "words"), BAD, ids=[words for _, _, words in BAD])
def test_bad_input_gets_one_sentence(call, error, words):
    with pytest.raises(error, match=words.replace("{", r"\{")) as caught:
        call()
    assert "\n" not in str(caught.value)


def test_degenerate_tasks_of_a_batch_end_and_say_so():
    """All poses equal, the body turned about one point, two poses equal: conditions that are
    alike."""
    positions, angles = random_tasks(4, 5, 8).positions.copy(), random_tasks(4, 5, 8).angles.copy()
    positions[0], angles[0] = 1 + 2j, 0.5
    positions[1] = (2 - 1j) + 0.7 * np.exp(1j * angles[1])
    positions[2, 1:], angles[2, 1:] = positions[2, 0], angles[2, 0] + 0.1 * np.arange(1, 5)
    positions[3, 4], angles[3, 4] = positions[3, 0], angles[3, 0]
    found = dyads(PlanarTask(positions, angles))
    assert found.reason[0] and found.reason[3] == "positions 1 and 5 are equal"
    assert not found.valid[[0, 3]].any()
    assert (found.residual[found.valid] < 1e-9).all()


def test_an_unlucky_task_of_a_batch_is_data():
    task = random_tasks(3, 5, 3)
    positions, angles = task.positions.copy(), task.angles.copy()
    positions[1, 3], angles[1, 3] = positions[1, 1], angles[1, 1]
    found = dyads(PlanarTask(positions, angles))
    assert not found.valid[1].any()
    assert found.reason[1] == "positions 2 and 4 are equal"
