"""Adding a velocity to a configuration and taking it back, against exponentials in 40 digits."""

from __future__ import annotations

import mpmath
import numpy as np
import pytest

import linkwork as lw

mpmath.mp.dps = 40
ANGLES = [
    0.0,
    1e-12,
    1e-8,
    1e-5,
    3e-4,
    3e-3,
    0.02,
    0.0316,
    0.03163,
    0.05,
    0.0632,
    0.0633,
    0.3,
    1.0,
    2.0,
    3.1,
]
"""With both sides of the seams of the series: t^2 and (t/2)^2 = 1e-3, sin(t/2)^2 = 1e-10."""


@pytest.fixture(scope="module")
def floating():
    return lw.load("arm-2", root="floating")


def matrix(w):
    """[w] in 40 digits."""
    x, y, z = (mpmath.mpf(float(k)) for k in w)
    return mpmath.matrix([[0, -z, y], [z, 0, -x], [-y, x, 0]])


def exponential(w):
    """(exp [w], V(w)): sums of [w]^k / k! and [w]^k / (k + 1)!."""
    W, R, V, power = matrix(w), mpmath.eye(3), mpmath.eye(3), mpmath.eye(3)
    for k in range(1, 60):
        power = power * W / k
        R, V = R + power, V + power / (k + 1)
    return R, V


def rotation(xyzw):
    """1 + (2 / n) times what is not the unit matrix, n the squared length of the quaternion."""
    x, y, z, w = (mpmath.mpf(float(k)) for k in xyzw)
    rest = mpmath.matrix(
        [
            [-(y * y + z * z), x * y - w * z, x * z + w * y],
            [x * y + w * z, -(x * x + z * z), y * z - w * x],
            [x * z - w * y, y * z + w * x, -(x * x + y * y)],
        ]
    )
    return mpmath.eye(3) + 2 / (x * x + y * y + z * z + w * w) * rest


def cases(angle):
    """Configurations and velocities whose turn has that angle."""
    rng = np.random.default_rng(int(1e6 * angle))
    for _ in range(4):
        axis = rng.normal(size=3)
        yield (
            rng.normal(size=4),
            rng.normal(size=3),
            rng.normal(size=3),
            angle * axis / np.linalg.norm(axis),
        )


def as_array(M):
    return np.array(M.tolist(), dtype=float)


@pytest.mark.parametrize("angle", ANGLES)
def test_a_floating_base_follows_the_screw_of_its_velocity(floating, angle):
    for xyzw, p, u, w in cases(angle):
        xyzw /= np.linalg.norm(xyzw)
        q = np.concatenate([p, xyzw, [0.3, -0.4]])
        v = np.concatenate([u, w, [0.1, 0.2]])
        found = floating.integrate(q, v)
        R, (turn, V) = rotation(xyzw), exponential(w)
        step = as_array(R * V * mpmath.matrix([mpmath.mpf(float(k)) for k in u])).ravel()
        np.testing.assert_allclose(
            found[:3] - p, step, rtol=0, atol=8e-16 * (1 + np.abs(p).max() + np.abs(u).max())
        )
        np.testing.assert_allclose(
            as_array(rotation(found[3:7])), as_array(R * turn), rtol=0, atol=1e-15
        )
        assert np.linalg.norm(found[3:7]) == pytest.approx(1, abs=4e-16)
        np.testing.assert_array_equal(found[7:], q[7:] + v[6:])
        np.testing.assert_allclose(
            floating.difference(q, found), v, rtol=0, atol=4e-15 * (1 + np.abs(p).max())
        )


@pytest.mark.parametrize("angle", [a for a in ANGLES if 0 < a < 0.1])
def test_small_turns_keep_their_digits(floating, angle):
    """A turn of 1e-8 comes back with as many digits as one of 1."""
    for _, _, _, w in cases(angle):
        q = floating.neutral()
        v = np.concatenate([np.zeros(3), w, np.zeros(2)])
        moved = floating.integrate(q, v)
        half = [mpmath.mpf(float(k)) / 2 for k in w]
        size = mpmath.sqrt(sum(h * h for h in half))
        exact = np.array([float(mpmath.sin(size) / size * h) for h in half])
        np.testing.assert_allclose(moved[3:6], exact, rtol=6e-16)
        np.testing.assert_allclose(floating.difference(q, moved)[3:6], w, rtol=2e-15)


@pytest.mark.parametrize("angle", ANGLES)
def test_steps_from_the_origin_are_exact_to_rounding(floating, angle):
    for _, _, u, w in cases(angle):
        found = floating.integrate(floating.neutral(), np.concatenate([u, w, [0.0, 0.0]]))
        _, V = exponential(w)
        exact = as_array(V * mpmath.matrix([mpmath.mpf(float(k)) for k in u])).ravel()
        np.testing.assert_allclose(found[:3], exact, rtol=0, atol=4e-16 * np.linalg.norm(u))


def test_a_quaternion_and_its_negative_are_the_same_place(floating):
    q, v = floating.random(seed=3), 0.5 * np.random.default_rng(3).normal(size=floating.nv)
    moved = floating.integrate(q, v)
    moved[3:7] *= -1
    np.testing.assert_allclose(floating.difference(q, moved), v, rtol=0, atol=1e-14)
