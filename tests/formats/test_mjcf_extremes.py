"""Numbers at the ends of the doubles, where MuJoCo's reader differs from ours:
closed forms say who is right.

Of 40 000 damaged files beside MuJoCo, 11 662 with such numbers, ten differ, in the four ways below.
An axis whose square overflows becomes zero there, and its joint stands still; a robot far from the
world's origin loses digits of its mass matrix there; a huge angle loses the same digits in both.
"""

from __future__ import annotations

import numpy as np
import pytest

import linkwork as lw

ARM = """<mujoco><worldbody><body name="a" pos="{base}">
  <joint name="j" type="{kind}" axis="{axis}"/><geom size="0.1" pos="{geom}"/>
  <body name="b" pos="0 0 0.4" euler="{euler}"><joint name="k" axis="0 1 0" pos="0.1 0 0"/>
  <geom type="box" size="0.1 0.2 0.3"/></body></body></worldbody></mujoco>"""
USUAL = {"base": "0 0 0", "kind": "hinge", "axis": "0 0 1", "geom": "0.3 0 0", "euler": "0 0 0"}
FAR = 99_999_999_999


def arm(**changed: str) -> lw.Robot:
    return lw.load(text=ARM.format(**{**USUAL, **changed}))


@pytest.mark.parametrize("kind", ["hinge", "slide"])
@pytest.mark.parametrize(
    "axis, direction", [("1e308 1 0", "1 0 0"), ("1 0 -1e308", "0 0 -1"), ("0 1e200 0", "0 1 0")]
)
def test_an_axis_whose_square_overflows_is_a_direction(axis, direction, kind):
    q = [0.7, -0.2]
    expected = arm(axis=direction, kind=kind).pose(q, "b")
    np.testing.assert_allclose(arm(axis=axis, kind=kind).pose(q, "b"), expected, rtol=0, atol=1e-15)
    # the joint moves
    assert np.abs(expected - arm(axis=direction, kind=kind).pose([0.0, -0.2], "b")).max() > 0.1


def test_a_mass_matrix_does_not_know_where_the_base_stands():
    q = [0.7, -0.2]
    np.testing.assert_array_equal(arm(base=f"0 {FAR} 0.5").mass_matrix(q), arm().mass_matrix(q))


def test_a_geom_far_away_does_not_touch_what_the_outer_joint_carries():
    q = [0.7, -0.2]
    far, near = arm(geom="1e5 0 0").mass_matrix(q), arm().mass_matrix(q)
    np.testing.assert_allclose(far[1:, 1:], near[1:, 1:], rtol=1e-14)
    # the inner joint carries it at its distance: m r^2 more, with m = 4/3 pi 1000 r^3 for r = 0.1
    mass = 4.0 / 3.0 * np.pi
    assert far[0, 0] - near[0, 0] == pytest.approx(mass * (1e10 - 0.3**2), rel=1e-14)


def test_a_huge_angle_is_its_remainder_up_to_the_rounding_of_radians():
    """99 999 999 999 degrees are 279; in radians neighbours of that number are 2.4e-7 apart."""
    assert FAR % 360 == 279
    turned, plain = (arm(euler=f"{angle} 5 7").pose([0.0, 0.0], "b") for angle in (FAR, 279))
    np.testing.assert_allclose(turned, plain, rtol=0, atol=2 * np.spacing(np.radians(FAR)))
