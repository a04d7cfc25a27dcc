"""Curves and landmarks of four positions."""

from __future__ import annotations

import numpy as np
import pytest

from linkwork.errors import InvalidInput, NotPossible
from linkwork.synthesis import (
    burmester,
    center_cubic,
    circle_cubic,
    dyads,
    image_poles,
    opposite_points,
    poles,
)
from linkwork.synthesis.poles import cubic_value
from tests.synthesis.examples import TABLE_4, random_tasks

FOUR = TABLE_4[:4]


def off(cubic, points):
    """How far points are from a cubic: value over slope [m]."""
    h = 1e-6
    slope = np.hypot(
        cubic_value(cubic, points + h) - cubic_value(cubic, points - h),
        cubic_value(cubic, points + 1j * h) - cubic_value(cubic, points - 1j * h),
    ) / (2 * h)
    return np.abs(cubic_value(cubic, points)) / slope


def test_poles_of_table_4():
    found = poles(FOUR)
    assert abs(found[1, 2] - (12.078432 + 45.320013j)) < 1e-6
    assert abs(found[3, 4] - (1.348324 + 32.281071j)) < 1e-6
    assert abs(image_poles(FOUR)[2, 4] - (-4.687788 + 39.757392j)) < 1e-6
    assert abs(opposite_points(FOUR)[2, 3] - (-19.041389 + 46.080299j)) < 1e-6
    assert abs(opposite_points(FOUR, image=True)[1, 2] - (26.559392 + 38.947931j)) < 1e-6


def test_center_cubic_of_table_4():
    expected = [
        1,
        4.473498,
        1,
        4.473498,
        -202.68963,
        -110.56784,
        -518.46051,
        2741.10602,
        19917.15386,
        -253345.38862,
    ]
    assert center_cubic(FOUR) == pytest.approx(expected, rel=1e-6)


def test_landmarks_lie_on_their_cubics():
    center, circle = center_cubic(FOUR), circle_cubic(FOUR)
    on_center = np.array([*poles(FOUR).values(), *opposite_points(FOUR).values()])
    on_circle = np.array([*image_poles(FOUR).values(), *opposite_points(FOUR, image=True).values()])
    assert off(center, on_center).max() < 1e-9
    assert off(circle, on_circle).max() < 1e-9


@pytest.mark.parametrize("seed", range(5))
def test_every_point_of_the_curve_is_a_dyad_and_on_the_cubics(seed):
    batch = random_tasks(5, 4, 7)
    task = type(batch)(batch.positions[seed], batch.angles[seed])
    curve = burmester(task, 400)
    near = curve.valid & (np.abs(curve.center) < 30) & (np.abs(curve.circle) < 30)
    arm = (curve.circle - task.positions[0])[:, None] * np.exp(1j * (task.angles - task.angles[0]))
    lengths = np.abs(task.positions + arm - curve.center[:, None])
    assert (np.abs(lengths - lengths[:, :1]) / (1e-3 + lengths[:, :1]))[near].max() < 1e-9
    assert off(center_cubic(task), curve.center[near]).max() < 1e-6
    assert off(circle_cubic(task), curve.circle[near]).max() < 1e-6
    assert len(curve) >= 400 and set(curve.piece) == set(range(curve.piece.max() + 1))


def test_points_are_even_and_pass_through_infinity():
    curve = burmester(FOUR, 2000)
    size, origin = float(FOUR.size), FOUR.positions[0]
    on_sphere = lambda z: (
        np.abs(np.diff(z)) / np.sqrt((1 + np.abs(z[1:]) ** 2) * (1 + np.abs(z[:-1]) ** 2))
    )
    steps = on_sphere((curve.center - origin) / size) + on_sphere((curve.circle - origin) / size)
    assert np.percentile(steps, 99) < 1.6 * np.median(steps)
    assert np.abs(curve.center - origin).max() > 100 * size


def test_five_position_dyads_lie_on_the_cubics_of_all_subsets():
    found = dyads(TABLE_4)
    for left_out in range(5):
        task = TABLE_4[[k for k in range(5) if k != left_out]]
        assert off(center_cubic(task), found.ground).max() < 1e-6


def test_bad_input():
    with pytest.raises(NotPossible, match="expected one task of four"):
        burmester(TABLE_4)
    with pytest.raises(InvalidInput, match="at least 8"):
        burmester(FOUR, 2)
    with pytest.raises(NotPossible, match="4 poses"):
        center_cubic(TABLE_4)
