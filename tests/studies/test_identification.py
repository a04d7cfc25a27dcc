"""Identification: base parameters, confidence, physical consistency, excitation,
robots made of what was found."""

from __future__ import annotations

import functools
import sys

import numpy as np
import pytest

import linkwork as lw
from linkwork.errors import InvalidInput, NotPossible
from linkwork.studies.pseudo_inertia import parameters_of, pseudo_inertia

DAMPING = np.array([5.0, 6.0, 4.0, 1.0, 1.0, 0.5])
DRY = np.array([3.0, 4.0, 2.0, 1.0, 0.7, 0.4])


@functools.cache
def ur5e() -> lw.Robot:
    return lw.load("ur5e")


@functools.cache
def two_bars() -> lw.Robot:
    """Two bars of length 0.7 and 0.5 m in a vertical plane."""
    inertia = [[0.01, 0, 0], [0, 0.03, 0], [0, 0, 0.03]]
    rows = [
        {
            "a": a,
            "d": 0.0,
            "alpha": 0.0,
            "theta": 0.0,
            "mass": m,
            "com": (-0.2, 0.03, 0.0),
            "inertia": inertia,
        }
        for a, m in ((0.7, 2.0), (0.5, 1.0))
    ]
    return lw.Robot.from_dh(rows).with_gravity((0.0, -9.81, 0.0))


def states(robot: lw.Robot, n: int, seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    q = robot.random(n, seed=seed)
    v, a = 1.5 * rng.normal(size=(2, n, robot.nv))
    return q, v, a


def measured(n: int, seed: int, noise: float = 0.0) -> tuple[np.ndarray, ...]:
    """States of the UR5e with its torques: friction as above,
    and noise as a part of each joint's rms."""
    q, v, a = states(ur5e(), n, seed)
    tau = ur5e().inverse_dynamics(q, v, a) + DAMPING * v + DRY * np.sign(v)
    level = noise * np.sqrt((tau**2).mean(axis=0))
    return q, v, a, tau + level * np.random.default_rng(1000 + seed).normal(size=tau.shape), level


def test_the_count_of_base_parameters_is_the_rank_of_the_regressor():
    base = lw.studies.base_parameters(ur5e())
    Y = ur5e().regressor(*states(ur5e(), 400, 1)).reshape(-1, base.matrix.shape[1])
    assert len(base) == np.linalg.matrix_rank(Y, tol=1e-9 * np.linalg.norm(Y)) == 36
    np.testing.assert_allclose(
        Y[:, base.columns] @ base.matrix @ ur5e().parameters(), Y @ ur5e().parameters(), atol=1e-9
    )


def test_the_panda_has_as_many_base_parameters_as_published():
    # [Gaz2019]: 43 dynamic coefficients
    assert len(lw.studies.base_parameters(lw.load("panda"))) == 43


def test_two_bars_have_the_combinations_of_the_textbook():
    # [Gautier1991] section V, by hand: M2 goes to the first bar, at the distance of the second
    # axis; the origins of bodies of a standard table stand at their ends, so moments of the second
    # bar are about its tip.
    base = lw.studies.base_parameters(two_bars())
    assert len(base) == 6
    m1, m2, c, s = 2.0, 1.0, -0.2, 0.03
    about_axis = [0.03 + m * ((a + c) ** 2 + s**2) for m, a in ((m1, 0.7), (m2, 0.5))]
    moments = {
        "pull 1": m1 * (0.7 + c) + m2 * 0.7,
        "pull 2": m2 * (0.5 + c),
        "inertia 1": about_axis[0] + 0.49 * m2,
    }
    # what the torques must show, from states at rest and from unit accelerations
    level = two_bars().gravity_torque(np.zeros(2))
    np.testing.assert_allclose(
        level, 9.81 * np.array([moments["pull 1"] + moments["pull 2"], moments["pull 2"]])
    )
    M = two_bars().mass_matrix(np.array([0.3, np.pi / 2]))
    np.testing.assert_allclose(M[0, 0] - 2 * 0.7 * m2 * -s, moments["inertia 1"] + about_axis[1])
    Y = two_bars().regressor(*states(two_bars(), 50, 3)).reshape(100, -1)
    np.testing.assert_allclose(
        Y[:, base.columns] @ base.values, Y @ two_bars().parameters(), atol=1e-10
    )


def test_exact_data_give_the_true_base_parameters():
    q, v, a, tau, _ = measured(500, 2)
    found = lw.studies.identify(ur5e(), q, v, a, tau, physical=False)
    np.testing.assert_allclose(found.values, found.base.values, atol=1e-8)
    np.testing.assert_allclose(found.damping, DAMPING, atol=1e-8)
    np.testing.assert_allclose(found.friction, DRY, atol=1e-8)
    np.testing.assert_allclose(found.base.matrix @ found.parameters, found.base.values, atol=1e-8)


def test_torques_of_unseen_motions_lie_within_twice_the_noise_and_every_mass_is_physical():
    q, v, a, tau, noise = measured(2000, 3, 0.01)
    scale = np.repeat(
        1.0 + 0.4 * np.random.default_rng(5).uniform(-1.0, 1.0, len(ur5e().bodies)), 10
    )
    # what a drawing says, wrong by up to 40 %
    guess = ur5e().with_parameters(scale * ur5e().parameters())
    found = lw.studies.identify(guess, q, v, a, tau)
    better = guess.with_parameters(found)
    q, v, a, tau, _ = measured(1000, 4)
    error = better.inverse_dynamics(q, v, a) + better.friction_torque(v) - tau
    assert (np.abs(error) < 2.0 * noise).all()
    # 2000 samples: 1.6 % is one standard deviation
    np.testing.assert_allclose(found.noise, noise, rtol=0.1)
    for body in better.model.bodies:
        assert body.mass_properties.problem("physical") is None
    heavy = found.parameters.reshape(-1, 10)
    heavy = heavy[heavy[:, 0] > 0.0]
    assert len(heavy) == 6
    assert np.linalg.eigvalsh(pseudo_inertia(heavy)).min() > 0.0


def test_data_that_pull_out_of_the_physical_are_answered_inside():
    # Six samples a parameter with heavy noise: the free fit has bodies that cannot exist,
    # the physical one has not.
    q, v, a, tau, _ = measured(60, 6, 0.2)
    free = lw.studies.identify(ur5e(), q, v, a, tau, physical=False)
    kept = lw.studies.identify(ur5e(), q, v, a, tau)
    bodies = ur5e().parameters().reshape(-1, 10)[:, 0] > 0.0
    assert np.linalg.eigvalsh(pseudo_inertia(free.parameters.reshape(-1, 10)[bodies])).min() < 0.0
    assert np.linalg.eigvalsh(pseudo_inertia(kept.parameters.reshape(-1, 10)[bodies])).min() > 0.0
    assert (kept.friction >= 0.0).all()
    assert (kept.damping >= 0.0).all()


def test_confidence_intervals_cover_the_truth_95_of_100_times():
    robot, truth = two_bars(), lw.studies.base_parameters(two_bars()).values
    rng = np.random.default_rng(0)
    hits = []
    for trial in range(200):
        q, v, a = states(robot, 60, 100 + trial)
        tau = robot.inverse_dynamics(q, v, a) + np.array([0.5, 0.1]) * rng.normal(size=(60, 2))
        lower, upper = lw.studies.identify(
            robot, q, v, a, tau, friction=False, physical=False
        ).interval()
        hits.append((lower < truth) & (truth < upper))
    # 1200 intervals, those of one trial correlated: one standard deviation is 1 %
    assert 0.93 < np.mean(hits) < 0.97


def test_rotor_inertias_are_found_where_a_link_does_not_hide_them():
    q, v, a = states(ur5e(), 300, 8)
    rotors = np.array([0.0, 0.0, 0.2, 0.1, 0.05, 0.02])
    tau = ur5e().inverse_dynamics(q, v, a) + rotors * a
    found = lw.studies.identify(ur5e(), q, v, a, tau, friction=False, armature=True, physical=False)
    # rotors of the first two joints, one behind the other at a right angle, and inertias of their
    # links are one thing to the torques, as [Gautier1991] regroups them
    assert found.extra == tuple(f"{name}.armature" for name in ur5e().joints[2:])
    np.testing.assert_allclose(found.armature, rotors, atol=1e-8)


def test_a_floating_arm_shows_ten_parameters_and_seven_a_joint():
    # Mass, first moment along the axis and one inertia of a link behind a revolute joint belong to
    # its carrier; the first of six links here is carried by a body without mass.
    assert len(lw.studies.base_parameters(ur5e().with_base(floating=True))) == 10 + 5 * 7


def test_motions_that_do_not_show_a_parameter_are_refused_by_its_name():
    robot = two_bars()
    q = np.tile(robot.neutral(), (50, 1))
    with pytest.raises(NotPossible, match=r"do not show .*excitation"):
        lw.studies.identify(robot, q, np.zeros((50, 2)), np.ones((50, 2)), np.zeros((50, 2)))


def test_pseudo_inertia_of_a_cloud_of_points_is_its_matrix_of_moments():
    rng = np.random.default_rng(2)
    points, masses = rng.normal(size=(40, 3)), rng.uniform(0.1, 1.0, 40)
    raised = np.column_stack([points, np.ones(40)])
    I = sum(m * (p @ p * np.eye(3) - np.outer(p, p)) for m, p in zip(masses, points))
    moments = (I[0, 0], I[0, 1], I[1, 1], I[0, 2], I[1, 2], I[2, 2])
    parameters = np.array([masses.sum(), *(masses @ points), *moments])
    P = pseudo_inertia(parameters)
    np.testing.assert_allclose(P, raised.T @ (masses[:, None] * raised), atol=1e-12)
    np.testing.assert_allclose(parameters_of(P), parameters, atol=1e-12)


def test_with_parameters_gives_the_robot_back():
    q, v, a = states(ur5e(), 20, 9)
    again = ur5e().with_parameters(ur5e().parameters())
    np.testing.assert_allclose(
        again.inverse_dynamics(q, v, a), ur5e().inverse_dynamics(q, v, a), atol=1e-10
    )
    with pytest.raises(
        InvalidInput, match=r"with_parameters: parameters has shape \(3,\), expected \(90,\)"
    ):
        ur5e().with_parameters(np.zeros(3))


def test_an_excitation_keeps_its_limits_rests_at_its_ends_and_shows_everything():
    robot = two_bars()
    found = lw.studies.excitation(robot, 5.0, velocity=2.0, acceleration=(8.0, 9.0), seed=3)
    assert (np.abs(found.v) <= 2.0 * 0.9 * 1.001).all()
    assert (np.abs(found.a) <= np.array([8.0, 9.0]) * 0.9 * 1.001).all()
    for x in (found.v, found.a):
        np.testing.assert_allclose(x[[0, -1]], 0.0, atol=1e-10)
    np.testing.assert_allclose(found.q[0], found.q[-1], atol=1e-12)
    rates = np.gradient(found.q, found.time, axis=0)
    # second differences at 100 Hz
    np.testing.assert_allclose(rates[5:-5], found.v[5:-5], atol=5e-3)
    random = robot.regressor(*states(robot, 500, 1)).reshape(1000, -1)[
        :, lw.studies.base_parameters(robot).columns
    ]
    assert found.condition < 2.0 * np.linalg.cond(random / np.linalg.norm(random, axis=0))
    tau = robot.inverse_dynamics(found.q, found.v, found.a)
    result = lw.studies.identify(robot, found.q, found.v, found.a, tau, physical=False)
    np.testing.assert_allclose(result.values, result.base.values, atol=1e-8)


def test_an_excitation_stays_where_it_is_allowed():
    found = lw.studies.excitation(
        two_bars(), 5.0, velocity=1.0, acceleration=3.0, allowed=lambda q: q[:, 0] < 1.2
    )
    assert (found.q[:, 0] < 1.25).all()
    with pytest.raises(NotPossible, match="allowed"):
        lw.studies.excitation(two_bars(), 5.0, allowed=lambda q: np.zeros(len(q), dtype=bool))


def test_results_have_the_doors_of_tables(tmp_path):
    q, v, a, tau, _ = measured(100, 2)
    found = lw.studies.identify(ur5e(), q, v, a, tau, physical=False)
    assert repr(found).startswith("<Identification: 36 base parameters, 12 of friction")
    frame = found.to_pandas()
    assert list(frame.columns) == ["combination", "value", "deviation", "described"]
    assert len(frame) == 48
    lines = found.to_csv(tmp_path / "found.csv").read_text().splitlines()
    assert len(lines) == 49
    assert float(lines[1].rsplit(",", 3)[1]) == found.values[0]
    assert "<table>" in found._repr_html_()
    table = found.to_numpy()
    assert table.shape == (48, 4) and table.dtype == object and table[0, 1] == found.values[0]


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"tau": np.zeros((50, 5))}, r"tau has shape \(50, 5\), expected \(n, 6\)"),
        ({"q": np.full((50, 6), np.nan)}, "q is not finite in row 0"),
        ({"v": np.zeros((49, 6))}, "numbers of samples differ"),
        ({"belief": -1.0}, "belief is -1.0, expected a positive number"),
    ],
)
def test_wrong_samples_are_refused(change, words):
    q, v, a, tau, _ = measured(50, 2)
    with pytest.raises(InvalidInput, match=words):
        lw.studies.identify(ur5e(), **({"q": q, "v": v, "a": a, "tau": tau} | change))


def test_machines_with_loops_and_a_missing_solver_are_refused(monkeypatch):
    with pytest.raises(NotPossible, match="closed loops"):
        lw.studies.base_parameters(lw.load("four-bar"))
    monkeypatch.setitem(sys.modules, "clarabel", None)
    q, v, a, tau, _ = measured(100, 2)
    with pytest.raises(NotPossible, match=r"linkwork\[identify\]"):
        lw.studies.identify(ur5e(), q, v, a, tau)
