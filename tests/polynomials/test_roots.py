"""All roots, against numpy's eigenvalues and 40 digits."""

from __future__ import annotations

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import linkwork as lw
from linkwork.errors import InvalidInput
from linkwork.polynomials import roots


def apart(found, expected):
    """Largest distance from an expected root to the nearest found one, relative."""
    return (
        np.abs(found[:, None] - expected).min(axis=0) / np.maximum(np.abs(expected), 1e-3)
    ).max()


@pytest.mark.parametrize("degree", [1, 2, 3, 4, 6, 9])
def test_random_polynomials_have_the_roots_of_numpy(degree):
    random = np.random.default_rng(degree)
    c = random.normal(size=(200, degree + 1)) + 1j * random.normal(size=(200, degree + 1))
    found = roots(c)
    assert found.shape == (200, degree)
    for row, ours in zip(c, found):
        assert apart(ours, np.roots(row)) < 1e-10  # eigenvalues of companions lose a few digits


def test_forty_digits():
    random = np.random.default_rng(3)
    c = random.normal(size=(20, 7)) + 1j * random.normal(size=(20, 7))
    found = roots(c)
    with mpmath.workdps(40):
        for row, ours in zip(c, found):
            exact = np.array(
                [complex(z) for z in mpmath.polyroots([mpmath.mpc(z) for z in row], maxsteps=200)]
            )
            assert apart(ours, exact) < 1e-13  # condition of these roots is below 1e2


@settings(deadline=None)
@given(st.lists(st.tuples(st.floats(-1, 1), st.floats(-1, 1)), min_size=2, max_size=6))
def test_every_root_makes_its_polynomial_small(pairs):
    c = np.array([complex(*p) for p in pairs])
    c[0] += 2.0  # a leading coefficient that is not small
    z = roots(c)
    size = np.polyval(np.abs(c), np.abs(z))
    # a root at zero is found to 1e-150
    assert (np.abs(np.polyval(c, z)) <= 1e-14 * size + 1e-100).all()


def test_batch_equals_single_bit_for_bit_with_any_threads():
    random = np.random.default_rng(0)
    c = random.normal(size=(37, 5)) + 1j * random.normal(size=(37, 5))
    one_by_one = np.stack([roots(row) for row in c])
    threads = lw.threads()
    try:
        for count in (1, 2):
            lw.threads(count)
            assert np.array_equal(roots(c), one_by_one)
    finally:
        lw.threads(threads)
    assert np.array_equal(roots(c.reshape(37, 1, 5))[:, 0], one_by_one)


def test_special_polynomials():
    assert apart(roots([1, -6, 11, -6]), np.array([1.0, 2.0, 3.0])) < 1e-14
    assert np.abs(np.sort(roots([1, -1, 0]).real) - [0, 1]).max() < 1e-15
    assert np.abs(roots([1, 2, 1]) + 1).max() < 1e-7  # a double root has half the digits
    wide = roots([1.0, -1e8, 1.0])
    assert apart(wide, np.array([1e8, 1e-8])) < 1e-13


@pytest.mark.parametrize(
    ("coefficients", "words"),
    [
        ([1.0], "at least 1"),
        ([0.0, 1.0, 2.0], "first coefficient"),
        ([1.0, np.nan], "not finite"),
        (["a", "b"], "dtype"),
    ],
)
def test_bad_coefficients(coefficients, words):
    with pytest.raises(InvalidInput, match=words):
        roots(coefficients)
