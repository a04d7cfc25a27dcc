"""Rotations from every notation, against scipy."""

from __future__ import annotations

import itertools
import math

import casadi
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial.transform import Rotation

from linkwork.errors import InvalidModel
from linkwork.model.rotation import (
    about,
    from_axis_angle,
    from_euler,
    from_matrix,
    from_quaternion,
    from_rpy,
    snapped,
    to_euler,
    to_rpy,
)

RNG = np.random.default_rng(0)
# A product of two rotations of entries up to one: a few roundings.
ROUNDING = 2e-15

angles = st.floats(-7.0, 7.0)


@pytest.mark.parametrize(
    "sequence", ["".join(s) for s in itertools.product("XYZ", repeat=3) if s[0] != s[1] != s[2]]
)
def test_euler_angles_of_every_sequence(sequence):
    for _ in range(5):
        a = RNG.uniform(-4, 4, size=3)
        expected = Rotation.from_euler(sequence, a).as_matrix()  # capitals: moving axes
        assert np.abs(np.array(from_euler(sequence, a.tolist())) - expected).max() < ROUNDING
        assert from_euler(sequence.lower(), a.tolist()) == from_euler(sequence, a.tolist())


def test_euler_zxz_is_written_out():
    """[Goncalves2022] eq. 2 with entry (1, 3) corrected to s1 s2."""
    (c1, s1), (c2, s2), (c3, s3) = ((math.cos(x), math.sin(x)) for x in (0.3, -1.1, 2.0))
    expected = [
        [c1 * c3 - s1 * c2 * s3, -c1 * s3 - s1 * c2 * c3, s1 * s2],
        [s1 * c3 + c1 * c2 * s3, -s1 * s3 + c1 * c2 * c3, -c1 * s2],
        [s2 * s3, s2 * c3, c2],
    ]
    assert np.abs(np.array(from_euler("ZXZ", (0.3, -1.1, 2.0))) - expected).max() < ROUNDING


@pytest.mark.parametrize(
    ("sequence", "given_angles"), [("xy", (1, 2)), ("xyw", (1, 2, 3)), ("xyz", (1, 2)), ("", ())]
)
def test_euler_angles_of_no_sequence_are_refused(sequence, given_angles):
    with pytest.raises(InvalidModel, match="expected three letters of x, y, z and three angles"):
        from_euler(sequence, given_angles)


def test_rpy_is_about_fixed_axes():
    for _ in range(20):
        a = RNG.uniform(-4, 4, size=3)
        expected = Rotation.from_euler("xyz", a).as_matrix()  # small letters: fixed axes
        assert np.abs(np.array(from_rpy(a.tolist())) - expected).max() < ROUNDING


def test_quaternion_and_axis_angle():
    for _ in range(20):
        q, axis, angle = RNG.normal(size=4), RNG.normal(size=3), float(RNG.uniform(-7, 7))
        assert (
            np.abs(np.array(from_quaternion(q.tolist())) - Rotation.from_quat(q).as_matrix()).max()
            < ROUNDING
        )
        expected = Rotation.from_rotvec(angle * axis / np.linalg.norm(axis)).as_matrix()
        assert (
            np.abs(np.array(from_axis_angle(tuple(axis.tolist()), angle)) - expected).max()
            < ROUNDING
        )


def test_directions_of_no_length_are_refused():
    with pytest.raises(InvalidModel, match="length zero, expected a unit quaternion"):
        from_quaternion((0.0, 0.0, 0.0, 0.0))
    with pytest.raises(InvalidModel, match="length zero, expected a direction"):
        from_axis_angle((0.0, 0.0, 0.0), 1.0)


def test_right_angles_are_exact():
    """A traced program folds exact zeros and ones, so cos(pi/2) must be 0 and not 6e-17."""
    turns = [k * math.pi / 2 for k in range(-4, 5)]
    for rpy in itertools.product(turns, repeat=3):
        assert {x for row in from_rpy(rpy) for x in row} <= {0.0, 1.0, -1.0}
    for axis in "xyz":
        assert {x for row in about(axis, math.pi) for x in row} <= {0.0, 1.0, -1.0}


def test_snapping_touches_rounding_only():
    near = ((1.0 - 3e-16, 3e-16, 1e-15), (-3e-16, 0.5, -1.0 + 2e-16), (1e-12, 1.0 - 1e-15, -0.0))
    (a, b, c), (d, e, f), (g, h, i) = snapped(near)
    assert (a, b, d, e, f, g) == (1.0, 0.0, 0.0, 0.5, -1.0, 1e-12)
    assert (c, h) == (1e-15, 1.0 - 1e-15)
    assert math.copysign(1.0, i) == 1.0


@given(
    angles,
    st.one_of(
        angles,
        st.sampled_from([math.pi / 2, -math.pi / 2]),
        st.floats(-1e-6, 1e-6).map(lambda x: math.pi / 2 + x),
    ),
    angles,
)
def test_rpy_gives_the_rotation_back_also_in_gimbal_lock(roll, pitch, yaw):
    R = from_rpy((roll, pitch, yaw))
    back = to_rpy(R)
    assert np.abs(np.array(from_rpy(back)) - np.array(R)).max() < ROUNDING
    assert abs(back[1]) <= math.pi / 2 + 1e-15


def test_rpy_of_a_turn_about_one_axis_is_that_angle():
    for k in range(3):
        rpy = [0.0, 0.0, 0.0]
        rpy[k] = 0.7
        assert to_rpy(from_rpy(rpy)) == pytest.approx(rpy, abs=1e-15)
    assert to_rpy(from_rpy((0.4, math.pi / 2, 0.0))) == pytest.approx(
        (0.4, math.pi / 2, 0.0), abs=1e-15
    )


def test_a_matrix_is_checked_and_made_orthogonal():
    R = Rotation.random(random_state=1).as_matrix()
    exact = np.array(from_matrix(R.tolist()))
    assert np.abs(exact - R).max() < ROUNDING
    rounded = np.array(from_matrix(np.round(R, 7).tolist()))
    assert np.abs(rounded.T @ rounded - np.eye(3)).max() < 1e-15
    assert np.abs(rounded - R).max() < 1e-7
    assert from_matrix(((1, 0, 0), (0, 0, -1), (0, 1, 0))) == about("x", math.pi / 2)


@pytest.mark.parametrize(
    ("rows", "sentence"),
    [
        ([[1, 0, 0], [0, 1, 0]], "expected 3 x 3"),
        ([[1, 0], [0, 1], [0, 0]], "expected 3 x 3"),
        ([[1, 0, 0], [0, 1, 0], [0, 0, 1.1]], "not orthogonal"),
        ([[1, 0, 0], [0, 1, 0], [0, 0, math.nan]], "not orthogonal"),
        ([[1, 0, 0], [0, 1, 0], [0, 0, -1]], "determinant -1"),
    ],
)
def test_a_matrix_that_is_no_rotation_is_refused(rows, sentence):
    with pytest.raises(InvalidModel, match=sentence):
        from_matrix(rows)


def test_symbols_pass_through():
    t = casadi.SX.sym("t")
    for build in (
        lambda x: from_rpy((x, 0.2, 0.3)),
        lambda x: from_axis_angle((1.0, 2.0, 3.0), x),
        lambda x: from_quaternion((0.1, x, 0.3, 0.4)),
    ):
        f = casadi.Function("f", [t], [casadi.vertcat(*[casadi.horzcat(*row) for row in build(t)])])
        assert np.abs(f(0.6).full() - np.array(build(0.6))).max() < ROUNDING


SEQUENCES = [a + b + c for a in "xyz" for b in "xyz" for c in "xyz" if a != b and b != c]


@pytest.mark.parametrize("sequence", SEQUENCES)
def test_euler_angles_give_every_rotation_back(sequence):
    """Random ones, and the singular middle angles: 0 and pi where the first axis comes again,
    else +-pi/2."""
    rng = np.random.default_rng(3)
    rotations = [*Rotation.random(1000, random_state=5).as_matrix()]
    singular = (0.0, math.pi) if sequence[0] == sequence[2] else (math.pi / 2, -math.pi / 2)
    for middle in singular:
        for off in (0.0, 1e-17, 1e-12, 1e-8, -1e-8, 1e-5):
            rotations += [
                np.array(from_euler(sequence, (a, middle + off, c)))
                for a, c in rng.uniform(-3, 3, (5, 2))
            ]
    assert len(SEQUENCES) == 12
    for R in rotations:
        R = tuple(map(tuple, R.tolist()))
        for zero in ("first", "third"):
            assert (
                np.abs(
                    np.array(from_euler(sequence, to_euler(sequence, R, zero))) - np.array(R)
                ).max()
                < 1e-14
            )


def test_where_two_turns_are_one_an_angle_is_zero():
    for sequence, middle in (("zxz", 0.0), ("zxz", math.pi), ("zyx", math.pi / 2)):
        R = from_euler(sequence, (0.7, middle, 0.4))
        assert abs(to_euler(sequence, R)[2]) < 1e-15
        assert to_euler(sequence, R, "first")[0] == 0.0


def test_the_paper_s_turn_about_y_is_none_at_zero():
    """[Goncalves2022] eq. 3 prints (pi/2, theta, 0), a quarter turn at theta = 0;
    (pi/2, theta, -pi/2) is meant."""
    assert from_euler("ZXZ", (math.pi / 2, 0.0, -math.pi / 2)) == about("y", 0.0)
    turned = from_euler("ZXZ", (math.pi / 2, 0.6, -math.pi / 2))
    assert np.abs(np.array(turned) - np.array(about("y", 0.6))).max() < 1e-15
