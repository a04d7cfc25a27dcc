"""Live variables: inputs of every kernel, given per call, broadcast, and free of compiling."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

import linkwork as lw
from linkwork.engine.kernel import counts
from linkwork.errors import InvalidInput, NotPossible, UnknownName


@pytest.fixture(scope="module")
def charmie() -> lw.Robot:
    return lw.load("charmie", live=["upper_arm"])


def test_live_values_give_what_a_rebuilt_robot_gives(charmie):
    q = charmie.random(4, seed=1)
    for length in (0.12, 0.145, 0.2):
        rebuilt = lw.load("charmie").with_variables(upper_arm=length)
        expected = np.array([rebuilt.function("pose", "hand")(x) for x in q])
        found = charmie.pose(q, "hand", variables={"upper_arm": length})
        np.testing.assert_allclose(found, expected, atol=1e-15)


def test_live_dynamics_are_those_of_a_rebuilt_robot():
    robot = lw.load("rehabilitation-arm", live=["l1", "l2"])
    q, v, a = np.random.default_rng(2).uniform(-1, 1, (3, 2))
    rebuilt = lw.load("rehabilitation-arm").with_variables(l1=0.4, l2=0.3)
    expected = np.array(rebuilt.function("inverse_dynamics")(q, v, a)).ravel()
    found = robot.inverse_dynamics(q, v, a, variables={"l1": 0.4, "l2": 0.3})
    np.testing.assert_allclose(found, expected, rtol=1e-13)
    half = robot.inverse_dynamics(q, v, a, variables={"l2": 0.3})
    other = lw.load("rehabilitation-arm").with_variables(l2=0.3)
    np.testing.assert_allclose(
        half, np.array(other.function("inverse_dynamics")(q, v, a)).ravel(), rtol=1e-13
    )


def test_values_broadcast_against_configurations(charmie):
    q, lengths = charmie.random(3, seed=4), np.linspace(0.1, 0.2, 5)
    one_a_sample = charmie.pose(q, "hand", variables={"upper_arm": lengths[:3]})
    every_pair = charmie.pose(q, "hand", variables={"upper_arm": lengths[:, None]})
    assert one_a_sample.shape == (3, 4, 4)
    assert every_pair.shape == (5, 3, 4, 4)
    np.testing.assert_array_equal(every_pair[[0, 1, 2], [0, 1, 2]], one_a_sample)
    single = charmie.pose(q[0], "hand", variables={"upper_arm": lengths})
    np.testing.assert_array_equal(single, every_pair[:, 0])


def test_left_out_values_are_the_present_ones(charmie):
    q = charmie.random(seed=5)
    np.testing.assert_array_equal(
        charmie.pose(q, "hand"), charmie.pose(q, "hand", variables={"upper_arm": 0.145})
    )
    longer = charmie.with_variables(upper_arm=0.2)
    np.testing.assert_array_equal(
        longer.pose(q, "hand"), charmie.pose(q, "hand", variables={"upper_arm": 0.2})
    )
    np.testing.assert_allclose(
        charmie.points(q)["12a"]["D"], charmie.pose(q, "hand")[:3, 3], atol=1e-15
    )


def test_another_value_compiles_nothing(charmie):
    q = charmie.random(seed=6)
    charmie.pose(q, "hand", variables={"upper_arm": 0.15})
    before = dict(counts)
    for k in range(20):
        charmie.pose(q, "hand", variables={"upper_arm": 0.15 + 1e-4 * k})
    assert counts == before


def test_another_value_of_the_robot_shares_its_kernels(charmie):
    q = charmie.random(seed=6)
    charmie.pose(q, "hand")
    before = counts["compiled"], counts["traced"], counts["loaded"]
    pickle.loads(pickle.dumps(charmie)).pose(q, "hand")
    assert (counts["compiled"], counts["traced"], counts["loaded"]) == before


def test_an_edited_robot_keeps_its_live_variables(charmie):
    robot = charmie.with_frame("wrist", "12a", (0, 0, 0.01))
    q = robot.random(seed=7)
    short, long = (robot.pose(q, "wrist", variables={"upper_arm": x}) for x in (0.1, 0.2))
    assert np.linalg.norm(short[:3, 3] - long[:3, 3]) > 0.05


def test_what_is_not_live_is_refused_by_name(charmie):
    q = charmie.neutral()
    with pytest.raises(
        UnknownName, match='robot "charmie" has no variable "uper_arm"; did you mean "upper_arm"'
    ):
        charmie.pose(q, "hand", variables={"uper_arm": 0.1})
    with pytest.raises(
        InvalidInput, match='"forearm" of robot "charmie" is not live; load it with live='
    ):
        charmie.pose(q, "hand", variables={"forearm": 0.1})
    with pytest.raises(InvalidInput, match='"upper_arm" of robot "charmie" is not live'):
        lw.load("charmie").pose(q, "hand", variables={"upper_arm": 0.1})
    with pytest.raises(UnknownName, match='has no variable "lower_arm"'):
        lw.load("charmie", live=["lower_arm"])
    with pytest.raises(UnknownName, match='has no variable "hand"'):
        charmie.with_variables(hand=0.2)
    with pytest.raises(InvalidInput, match="finite"):
        charmie.pose(q, "hand", variables={"upper_arm": np.nan})
    with pytest.raises(InvalidInput):
        charmie.pose(q, "hand", variables={"upper_arm": "long"})


def test_a_urdf_has_no_live_variables(tmp_path):
    file = lw.save(lw.load("arm-2"), tmp_path / "arm.urdf")
    with pytest.raises(NotPossible, match="has no variables that could be live"):
        lw.load(file, live=["length"])


def test_what_follows_other_variables_is_said_to(tmp_path):
    text = "linkwork: 1\nname: a\nvariables: {long: 100 mm, half: '${long/2}'}\nbodies: {b: {}}\n"
    (tmp_path / "a.robot.yaml").write_text(
        text + "joints: {j: {type: revolute, child: b, placement: [0, 0, '${half}']}}\n"
    )
    # one name alone is taken for a list of one
    robot = lw.load(tmp_path / "a.robot.yaml", live="long")
    assert robot.pose(np.zeros(1), "b", variables={"long": 0.4})[2, 3] == pytest.approx(0.2)
    for work in (
        lambda: robot.with_variables(half=0.1),
        lambda: robot.pose(np.zeros(1), "b", variables={"half": 0.1}),
        lambda: robot.gradient("pose", "half", frame="b"),
        lambda: lw.load(tmp_path / "a.robot.yaml", live=["half"]),
        lambda: robot.with_frame("f", "b").with_variables(half=0.1),
    ):
        with pytest.raises(
            UnknownName, match='"half" of robot "a" is the expression "long/2": set what it follows'
        ):
            work()


def test_robots_locked_almost_alike_do_not_share_code():
    """Arrays print eight digits, or as many as a user likes;
    none of that may decide what is compiled."""
    robot = lw.load("rehabilitation-arm", live=["l1", "l2"])
    joint = robot.joints[0]
    with np.printoptions(precision=1):
        near, far = (robot.locked(**{joint: np.array([0.3 + step])}) for step in (0.0, 0.02))
        q = np.zeros(robot.nq - 1)
        torques = [locked.gravity_torque(q) for locked in (near, far)]
    plain = lw.load("rehabilitation-arm")
    expected = [plain.locked(**{joint: at}).gravity_torque(q) for at in (0.3, 0.32)]
    assert not np.allclose(torques[0], torques[1], rtol=1e-4)
    np.testing.assert_allclose(torques, expected, rtol=1e-13)
