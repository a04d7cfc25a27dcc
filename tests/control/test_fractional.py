"""Fractional derivatives: weights against binomials, signals against closed forms,
filters against each other."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import binom

from linkwork.control import (
    ExponentialFilter,
    FractionalFilter,
    OustaloupFilter,
    fractional_derivative,
    fractional_weights,
)
from linkwork.errors import InvalidInput

PUBLISHED = [1, -0.5, -0.125, -0.0625, -0.0390625, -0.02734375, -0.0205078125, -0.01611328125]
PUBLISHED += [-0.013092041015625, -0.0109100341796875, -0.009273529052734375]
ORDERS = st.floats(-0.95, 1.95)


def test_published_weights_are_exact() -> None:
    assert fractional_weights(0.5, 10).tolist() == PUBLISHED
    assert fractional_weights(0.5, 10).sum() == 0.17619705200195312  # binomial(20, 10)/4^10


@given(ORDERS)
def test_weights_are_signed_binomials(order: float) -> None:
    j = np.arange(31)
    expected = (-1.0) ** j * binom(order, j)
    np.testing.assert_allclose(fractional_weights(order, 30), expected, rtol=1e-11, atol=1e-14)


def test_half_derivative_twice_is_the_backward_difference() -> None:
    w = fractional_weights(0.5, 200)
    twice = np.convolve(w, w)[:201]
    np.testing.assert_allclose(twice, [1.0, -1.0, *[0.0] * 199], atol=1e-15)


def test_orders_zero_and_one_are_the_limits() -> None:
    np.testing.assert_allclose(fractional_weights(1e-13, 20), [1.0, *[0.0] * 20], atol=1e-12)
    np.testing.assert_allclose(fractional_weights(1.0, 20), [1.0, -1.0, *[0.0] * 19], atol=0)


@pytest.mark.parametrize(
    ("signal", "exact", "error"),
    [
        (lambda t: t, 2 / np.sqrt(np.pi), -7.05e-4),
        (lambda t: t**2, 8 / (3 * np.sqrt(np.pi)), -2.82e-3),
        (lambda t: np.ones_like(t), 1 / np.sqrt(np.pi), -3.53e-4),
    ],
)
def test_half_derivatives_at_one_converge_to_closed_forms(signal, exact, error) -> None:
    """The errors of digest 12, 4.2: first order in the period. Backwards in sign: ours minus
    exact."""
    found = []
    for period in (5e-3, 2.5e-3):
        t = np.arange(round(1 / period) + 1) * period
        found.append(fractional_derivative(signal(t), period, 0.5)[-1] - exact)
    assert abs(found[0]) == pytest.approx(abs(error), rel=5e-3)
    assert found[0] / found[1] == pytest.approx(2.0, rel=0.01)


def test_half_derivative_of_a_sine_is_the_sine_an_eighth_later() -> None:
    """After the start has faded: sqrt(w) sin(w t + pi/4); GL is first order in the period."""
    period, omega = 1e-3, 6.0
    t = np.arange(20_000) * period
    late = slice(15_000, None)
    expected = np.sqrt(omega) * np.sin(omega * t + np.pi / 4)
    found = fractional_derivative(np.sin(omega * t), period, 0.5)
    np.testing.assert_allclose(found[late], expected[late], atol=8e-3)


@settings(max_examples=30)
@given(ORDERS, st.integers(1, 40))
def test_streaming_equals_the_whole_signal(order: float, memory: int) -> None:
    x = np.random.default_rng(3).normal(size=(3, 120))
    filter_ = FractionalFilter(order, 0.01, memory, shape=3)
    streamed = np.stack([filter_.update(x[:, k]) for k in range(120)], axis=-1)
    whole = fractional_derivative(x, 0.01, order, memory)
    np.testing.assert_allclose(streamed, whole, rtol=0, atol=1e-12 * np.abs(whole).max())


def test_published_gains_of_the_filter() -> None:
    filter_ = FractionalFilter(0.5, 0.005, 10)
    assert filter_.dc_gain == pytest.approx(2.491802606, abs=1e-9)
    assert filter_.equivalent_damping == pytest.approx(np.sqrt(0.005) * 10 * filter_.weights.sum())
    assert filter_.equivalent_damping == pytest.approx(0.12459, abs=1e-5)
    slow = filter_.frequency_response(1e-4)
    assert slow.real == pytest.approx(filter_.dc_gain)
    assert slow.imag == pytest.approx(1e-4 * filter_.equivalent_damping, rel=1e-6)


def test_a_nan_sample_never_enters_the_history() -> None:
    disturbed, clean = FractionalFilter(0.5, 0.01, 4), FractionalFilter(0.5, 0.01, 4)
    for x in (1.0, 2.0):
        disturbed.update(x)
        clean.update(x)
    for sample in (np.nan, np.array(np.nan), np.inf):
        with pytest.raises(
            InvalidInput, match=r"sample is (nan|inf): it is not taken into the history"
        ):
            disturbed.update(sample)
    assert disturbed.update(3.0) == clean.update(3.0)


def test_exponential_filter_has_exact_weights_up_to_twice_its_terms() -> None:
    for order in (-0.5, 0.5, 0.9, 1.5):
        assert ExponentialFilter(order, 1e-3, 12).error(24) < 1e-13
    # measured, 10 000 samples by 40 numbers
    assert ExponentialFilter(0.5, 1e-3, 40).error(10_000) < 2e-6
    x = np.random.default_rng(0).normal(size=60)
    recursive = ExponentialFilter(0.5, 1e-3, 30)
    streamed = [recursive.update(value) for value in x]
    np.testing.assert_allclose(streamed, fractional_derivative(x, 1e-3, 0.5), rtol=0, atol=1e-11)


def test_oustaloup_keeps_gain_and_phase_inside_its_band() -> None:
    filter_ = OustaloupFilter(0.5, 1e-4, 0.1, 1000.0, terms=6)
    assert filter_.error(np.geomspace(3.0, 30.0, 20)).max() < 0.025
    # what it begins with is gone after two seconds
    narrow = OustaloupFilter(0.5, 1e-4, 5.0, 1000.0, terms=6)
    t = np.arange(24_000) * 1e-4
    streamed = np.array([narrow.update(x) for x in np.sin(20.0 * t)])[-4_000:]
    gain = narrow.frequency_response(20.0)
    expected = np.abs(gain) * np.sin(20.0 * t[-4_000:] + np.angle(gain))
    np.testing.assert_allclose(streamed, expected, atol=2e-4 * np.abs(gain))


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: fractional_weights(2.5, 10), "order 2.5 is outside"),
        (lambda: fractional_weights(-1.0, 10), "outside"),
        (lambda: fractional_weights(0.5, 0), "memory is 0"),
        (lambda: FractionalFilter(0.5, 0.0), "period is 0"),
        (lambda: FractionalFilter(0.5, 0.005).update(1.0, interval=0.0042), "from 5 to 4.2 ms"),
        (lambda: FractionalFilter(0.5, 0.005, shape=2).update([1.0, 2.0, 3.0]), "shape"),
        (lambda: fractional_derivative([1.0, np.inf], 1e-3, 0.5), "x contains inf"),
        (lambda: OustaloupFilter(0.5, 1e-3, 10.0, 1.0), "not below"),
    ],
)
def test_refusals_name_the_number(call, words: str) -> None:
    with pytest.raises(InvalidInput, match=words):
        call()
