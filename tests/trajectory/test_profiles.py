"""Ordinary time laws: boundary conditions, limits met exactly, joints together."""

from __future__ import annotations

import numpy as np
import pytest

from linkwork.errors import InvalidInput
from linkwork.trajectory import cubic, quintic, septic, trapezoid

START, END = np.array([0.0, 1.0, -0.5]), np.array([2.0, 0.2, -0.5])
LAWS = {"cubic": cubic, "quintic": quintic, "septic": septic, "trapezoid": trapezoid}


@pytest.mark.parametrize("name", LAWS)
@pytest.mark.parametrize("together", [True, False])
def test_starts_and_ends_at_rest_and_keeps_the_limits(name, together):
    law = LAWS[name](
        START, END, velocity=[1.5, 0.4, 1.0], acceleration=[3.0, 2.0, 1.0], synchronised=together
    )
    t = np.linspace(0, law.duration, 20_001)
    q, v, a = law.at(t)
    np.testing.assert_allclose(q[[0, -1]], [START, END], atol=1e-14)
    np.testing.assert_allclose(v[[0, -1]], 0, atol=1e-12)
    use = np.abs(v).max(axis=0) / [1.5, 0.4, 1.0], np.abs(a).max(axis=0) / [3.0, 2.0, 1.0]
    # the shortest duration uses one of them up
    assert max(use[0].max(), use[1].max()) == pytest.approx(1.0, abs=1e-6)
    if not together:
        np.testing.assert_allclose(np.maximum(*use)[:2], 1.0, atol=1e-6)
    assert (q[:, 2] == -0.5).all()


@pytest.mark.parametrize("name", LAWS)
def test_derivatives_by_differences(name):
    law = LAWS[name](START, END, velocity=1.0, acceleration=2.0)
    t, h = np.linspace(0.01, 0.99, 83) * law.duration, 1e-6
    _, v, a = law.at(t)
    np.testing.assert_allclose(v, (law.at(t + h)[0] - law.at(t - h)[0]) / (2 * h), atol=1e-8)
    # not across a corner of the trapezoid
    smooth = np.abs(law.at(t + h)[2] - law.at(t - h)[2]).max(axis=1) < 1e-3
    np.testing.assert_allclose(
        a[smooth], ((law.at(t + h)[1] - law.at(t - h)[1]) / (2 * h))[smooth], atol=1e-6
    )
    assert smooth.mean() > 0.9


@pytest.mark.parametrize("name", LAWS)
def test_synchronised_joints_move_on_a_straight_line(name):
    law = LAWS[name](START, END, velocity=[1.0, 0.1, 1.0], acceleration=2.0)
    q, _, _ = law.at(np.linspace(0, law.duration, 50))
    way = (q - START)[:, :2] / (END - START)[:2]
    np.testing.assert_allclose(way[:, 0], way[:, 1], atol=1e-14)


def test_smoothness_grows_with_the_degree():
    """At the start: the cubic's acceleration jumps, the quintic's jerk, the septic's not even
    that."""
    t = np.array([0.0, 1e-4])
    a = {
        name: LAWS[name](START, END, duration=1.0).at(t)[2][:, 0]
        for name in ("cubic", "quintic", "septic")
    }
    assert a["cubic"][0] == 12.0
    assert a["quintic"][0] == 0.0
    assert a["quintic"][1] == pytest.approx(120 * 1e-4, rel=1e-3)
    assert abs(a["septic"][1]) < 1e-4


@pytest.mark.parametrize(
    ("law", "peaks"),
    [(quintic, (1.875, 5.773502691896258, 60.0)), (septic, (2.1875, 7.513188404399293, 52.5))],
)
def test_duration_from_each_limit_alone(law, peaks):
    for order, (name, peak) in enumerate(zip(("velocity", "acceleration", "jerk"), peaks), 1):
        assert law([0.0], [2.0], **{name: 3.0}).duration == pytest.approx(
            (peak * 2 / 3) ** (1 / order), rel=1e-12
        )
    jerk = (
        np.diff(law([0.0], [1.0], duration=1.0).at(np.linspace(0, 1, 100_001))[2][:, 0]) * 100_000
    )
    assert np.abs(jerk).max() == pytest.approx(peaks[2], rel=1e-3)


def test_trapezoid_in_closed_form():
    assert trapezoid([0.0], [3.0], 1.0, 2.0).duration == pytest.approx(3.5)  # way / v + v / a
    # a triangle: 2 sqrt(way / a)
    assert trapezoid([0.0], [0.5], 10.0, 2.0).duration == pytest.approx(1.0)
    q, v, a = trapezoid([0.0], [3.0], 1.0, 2.0).at([0.25, 1.75, 3.25])
    np.testing.assert_allclose(q[:, 0], [0.0625, 1.5, 2.9375])
    np.testing.assert_allclose(v[:, 0], [0.5, 1.0, 0.5])
    np.testing.assert_allclose(a[:, 0], [2.0, 0.0, -2.0])
    stretched = trapezoid([0.0], [3.0], 1.0, 2.0, duration=7.0)
    assert stretched.duration == 7.0
    assert np.abs(stretched.at(np.linspace(0, 7, 1000))[1]).max() == pytest.approx(0.5)


def test_limits_that_do_not_bind_may_be_infinite():
    assert trapezoid([0.0], [0.5], np.inf, 2.0).duration == pytest.approx(1.0)
    assert quintic([0.0, 0.0], [1.0, 1.0], velocity=[1.0, np.inf]).duration == pytest.approx(1.875)
    standing = quintic([1.0, 0.0], [1.0, 2.0], velocity=1.0, synchronised=False)
    assert standing.durations.tolist() == [0.0, 3.75]
    assert trapezoid([0.0, 0.0], [1.0, 1.0], 1.0, [np.inf, 1.0]).duration == pytest.approx(2.0)


def test_before_and_after_it_stands():
    law = quintic(START, END, duration=2.0)
    q, v, a = law.at([-1.0, 3.0])
    np.testing.assert_allclose(q, [START, END])
    assert (v == 0).all()
    assert (a == 0).all()


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: quintic(START, END), "neither limits nor a duration"),
        (lambda: quintic(START, END, velocity=1.0, duration=0.1), "expected at least 3.75 s"),
        (lambda: quintic(START, END, velocity=-1.0), "positive"),
        (lambda: quintic(START, END, velocity=[1.0, 2.0]), "3 of them"),
        (lambda: quintic(START, END[:2], velocity=1.0), "one length"),
        (lambda: trapezoid(START, END, 1.0, 0.0), "acceleration"),
        (lambda: quintic(START, END, velocity=np.inf), "neither limits nor a duration"),
        (
            lambda: quintic(START, END, velocity=[1.0, np.inf, 1.0], synchronised=False),
            "nothing limits coordinate 1",
        ),
        (lambda: trapezoid(START, END, 1.0, np.inf), "acceleration is inf, expected a finite one"),
        (lambda: quintic(START, END, duration="long"), "duration"),
        (lambda: quintic(START, END, duration=0.0), "expected a positive time"),
        (lambda: quintic(START, END, duration=1.0).at([0.0, np.nan]), "at: t is not finite"),
    ],
)
def test_refusals(make, words):
    with pytest.raises(InvalidInput, match=words):
        make()
