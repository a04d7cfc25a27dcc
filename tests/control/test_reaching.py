"""Reaching laws: published times and bands, quadrature, and what every law must obey."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.integrate import quad, solve_ivp
from scipy.optimize import brentq
from scipy.special import gamma

from linkwork.control import (
    AdaptiveRate,
    BoundaryLayer,
    ConstantRate,
    Decaying,
    ExponentialReaching,
    PowerExponential,
    PowerRate,
    ReachingLaw,
    SuperTwisting,
    Twisting,
    crossover,
)
from linkwork.errors import InvalidInput, NotPossible

ERL = ExponentialReaching(2.0, 0.1, 2.0, 0.5)
POWER = PowerExponential(2.0, 0.1, 2.0, 0.5, 0.25)
STARTS = [0.1, 1.0, 5.0, 20.0]


def laws(k: float, phi: float, alpha: float, p: float, varphi: float) -> list:
    powered = PowerExponential(k, phi, alpha, p, varphi)
    plain = [ConstantRate(k), ExponentialReaching(k, phi, alpha, p), PowerRate(k, varphi), powered]
    layers = [BoundaryLayer(law, 0.05) for law in plain[:2]]
    return [*plain, Decaying(powered), *layers]


PARAMETERS = (
    st.floats(0.1, 10),
    st.floats(0.05, 1),
    st.floats(0.2, 5),
    st.floats(0.3, 2),
    st.floats(0.1, 0.9),
)


def test_published_times() -> None:
    """Digest 10, section 5, to its printed digits."""
    np.testing.assert_allclose(
        ERL.reaching_time(STARTS), [0.034857, 0.183649, 0.460936, 1.224708], atol=1e-6
    )
    np.testing.assert_allclose(
        POWER.reaching_time(STARTS), [0.085884, 0.274931, 0.496438, 0.912359], atol=1e-6
    )
    full = Decaying(POWER)
    np.testing.assert_allclose(
        full.reaching_time(STARTS), [0.006122, 0.050250, 0.169453, 0.477985], atol=2e-6
    )
    assert full.reaching_time(1.0, start=5.0) == pytest.approx(0.222561, abs=2e-6)
    assert full.parity == pytest.approx(2.549510, abs=1e-6)


def test_a_time_to_reach_from_the_smallest_number_takes_no_time_to_compute():
    """The tolerance of the integration, a part of it, was 0 there:
    steps of no length (found by knocking)."""
    tiny = np.nextafter(0.0, 1.0)
    assert 0.0 <= np.max(Decaying(POWER).reaching_time(tiny)) < 1e-150


def test_published_crossover_and_bands() -> None:
    assert crossover(POWER, ERL) == pytest.approx(6.85136, abs=1e-5)
    bands = PowerExponential(1.0, 0.1, 2.0, 0.5, 0.25).band([0.25, 0.5, 1.0, 2.0])
    np.testing.assert_allclose(bands, [0.00269363, 0.02190350, 0.10553683, 0.33815751], atol=1e-7)
    with pytest.raises(NotPossible, match="first law is faster"):
        crossover(ConstantRate(2.0), ConstantRate(1.0))


@settings(max_examples=40)
@given(*PARAMETERS, st.floats(0.01, 30))
def test_times_are_integrals_of_one_over_the_rate(k, phi, alpha, p, varphi, nu) -> None:
    """In x = u^m the singular end becomes smooth enough for quadrature to 1e-8."""
    for law in laws(k, phi, alpha, p, varphi)[:4]:
        m = 12.0

        def slowness(u: float, law=law, m=m) -> float:
            x = u**m
            return m * u ** (m - 1) / abs(float(law.rate(x))) if u > 0 else 0.0

        expected = quad(slowness, 0.0, nu ** (1 / m), epsabs=1e-12, epsrel=1e-10, limit=200)[0]
        assert float(law.reaching_time(nu)) == pytest.approx(expected, rel=1e-7)


@settings(max_examples=25)
@given(*PARAMETERS, st.floats(-20, 20), st.floats(1e-4, 1e-2))
def test_every_law_is_odd_and_never_away_from_zero(k, phi, alpha, p, varphi, nu, h) -> None:
    for law in laws(k, phi, alpha, p, varphi):
        for rate in (law.rate, lambda x, law=law: law.discrete_rate(x, h)):
            assert rate(-nu) == -rate(nu)
            assert nu * rate(nu) <= 0.0
        after = nu + h * law.discrete_rate(nu, h)
        assert after * nu >= -1e-15 * nu * nu  # implicit never passes the surface
        assert law.largest_rate(nu) >= abs(law.discrete_rate(nu, h)) * (1 - 1e-12)


@given(*PARAMETERS, st.floats(0.01, 20))
def test_times_scale_with_the_gain_and_grow_with_the_start(k, phi, alpha, p, varphi, nu) -> None:
    once, twice = laws(k, phi, alpha, p, varphi)[:4], laws(2 * k, phi, alpha, p, varphi)[:4]
    for law, double in zip(once, twice, strict=True):
        assert double.reaching_time(nu) == pytest.approx(0.5 * law.reaching_time(nu))
        assert law.reaching_time(1.01 * nu) > law.reaching_time(nu)
        law.gain = law.gain_for(0.3, nu)
        assert law.reaching_time(nu) == pytest.approx(0.3)
    once = laws(k, phi, alpha, p, varphi)
    assert once[1].reaching_time(nu) <= once[0].reaching_time(nu) * (1 + 1e-12)


@settings(max_examples=8)
@given(*PARAMETERS, st.floats(0.01, 20))
def test_bounds_of_the_times(k, phi, alpha, p, varphi, nu) -> None:
    """Eq. 14 of the paper with its Gamma(1 + 1/p); the term that decays in time only hurries."""
    erl, powered = laws(k, phi, alpha, p, varphi)[1], laws(k, phi, alpha, p, varphi)[3]
    bound = phi * nu / k + (1 - phi) * gamma(1 + 1 / p) / (k * alpha ** (1 / p))
    assert erl.reaching_time(nu) <= bound * (1 + 1e-12)
    assert Decaying(powered).reaching_time(nu) <= powered.reaching_time(nu) * (1 + 1e-9)


@given(*PARAMETERS, st.floats(0.01, 20))
def test_limits_of_the_parameters(k, phi, alpha, p, varphi, nu) -> None:
    assert ExponentialReaching(k, 1.0, alpha, p).rate(nu) == pytest.approx(ConstantRate(k).rate(nu))
    near = PowerExponential(k, phi, alpha, p, 1e-9)
    assert near.rate(nu) == pytest.approx(ExponentialReaching(k, phi, alpha, p).rate(nu), rel=1e-6)
    assert PowerExponential(k, 1.0, alpha, p, varphi).rate(nu) == pytest.approx(
        PowerRate(k, varphi).rate(nu)
    )


@settings(max_examples=40)
@given(*PARAMETERS, st.floats(1e-3, 5), st.floats(1e-5, 2e-3))
def test_implicit_rule_solves_its_equation(k, phi, alpha, p, varphi, nu, h) -> None:
    for law in laws(k, phi, alpha, p, varphi):
        x = nu + h * float(law.discrete_rate(nu, h))
        jump = float(law.jump(law.numbers, 0.0))
        if nu <= h * jump:
            assert x == 0.0
        else:
            assert x + h * float(law.magnitude(law.numbers, x, 0.0)) == pytest.approx(nu, rel=1e-8)


@pytest.mark.parametrize("steep", [False, True], ids=["drawn", "saturating"])
@pytest.mark.parametrize("exponent", [0.0, 0.95], ids=["exponential", "power"])
def test_newton_steps_of_the_implicit_rule_are_its_bisection(exponent: float, steep: bool) -> None:
    """100 000 laws a case; saturating: period times gain/offset near |nu|,
    where the equation is an S."""
    draw, n = np.random.default_rng(3), 100_000

    def spread(low: float, high: float) -> np.ndarray:
        return np.exp(draw.uniform(np.log(low), np.log(high), n))

    gain, offset, alpha, nu, h = (
        spread(*x) for x in ((0.05, 100), (0.01, 1), (0.1, 50), (1e-4, 20), (1e-5, 0.02))
    )
    h = nu * offset / gain * spread(0.2, 5.0) if steep else h
    law = PowerExponential(
        gain, offset, alpha, draw.uniform(0.1, 3.0, n), exponent * draw.uniform(0.02, 1.0, n)
    )
    jump = law.jump(law.numbers, 0.0)
    low, high = np.zeros(n), np.maximum(nu - h * jump, 0.0)
    rest = high.copy()
    for _ in range(60):
        x = 0.5 * (low + high)
        beyond = x + h * law.smooth(law.numbers, x, 0.0) > rest
        low, high = np.where(beyond, low, x), np.where(beyond, x, high)
    expected = np.where(rest > 0, 0.5 * (low + high), 0.0)
    assert (np.abs(nu + h * law.discrete_rate(nu, h) - expected) / nu).max() < 1e-12


class Cubic(ReachingLaw):
    """A user's own law, r = -(K + nu^2) sgn nu, that says nothing but its rate."""

    def jump(self, p, t):
        return p["gain"]

    def smooth(self, p, x, t):
        return x * x


def test_a_law_of_ones_own_needs_its_rate_alone() -> None:
    nu, h, gain = np.geomspace(1e-3, 1e3, 200), 0.01, 2.0
    rest = np.maximum(nu - h * gain, 0.0)
    after = (np.sqrt(1.0 + 4.0 * h * rest) - 1.0) / (2.0 * h)  # h x^2 + x = rest
    assert nu + h * Cubic(gain).discrete_rate(nu, h) == pytest.approx(after, rel=1e-11, abs=1e-12)


@settings(max_examples=40)
@given(*PARAMETERS, st.floats(0.05, 0.95))
def test_the_band_holds_the_disturbance(k, phi, alpha, p, varphi, part) -> None:
    """On the edge of the band the law's rate equals the disturbance;
    sliding laws below K have none."""
    powered = PowerExponential(k, phi, alpha, p, varphi)
    d = part * k
    edge = float(powered.band(d))
    assert abs(float(powered.rate(edge))) == pytest.approx(d, rel=1e-9)
    assert edge <= (d / k) ** (1 / varphi) * (1 + 1e-9)
    assert ConstantRate(k).band(d) == 0.0
    assert ConstantRate(k).band(1.01 * k) == np.inf
    assert BoundaryLayer(ConstantRate(k), 0.05).band(d) == pytest.approx(0.05 * part)


def test_the_time_to_a_boundary_layer_is_that_of_the_way_outside_it() -> None:
    for law in (ConstantRate(2.0), ERL):
        layered = BoundaryLayer(law, 0.05)
        outside = quad(lambda x, law=law: 1 / abs(float(law.rate(x))), 0.05, 1.3, epsabs=1e-12)[0]
        assert layered.reaching_time(1.3) == pytest.approx(outside, rel=1e-9)
        assert layered.reaching_time(0.04) == 0.0


@pytest.mark.parametrize("part", [0.2, 0.8, 0.99, 1.01, 3.0])
def test_implicit_steps_that_end_in_a_boundary_layer_and_just_outside_it(part: float) -> None:
    """Steps from width + part h |r|(width): below 1 they end inside, where sgn is nu/width;
    by bracketing."""
    law, width, h = ExponentialReaching(2.0, 0.1, 20.0, 0.5), 0.05, 0.01
    nu = width + part * h * abs(float(law.rate(width)))

    def missing(x: float) -> float:
        return x + h * abs(float(law.rate(x))) * min(x / width, 1.0) - nu

    after = nu + h * float(BoundaryLayer(law, width).discrete_rate(nu, h))
    assert after == pytest.approx(brentq(missing, 1e-9, nu, xtol=1e-15), rel=1e-9)
    assert (after < width) is (part < 1)


def test_super_twisting_time_against_integration_in_regular_variables() -> None:
    """With u = sgn sqrt|nu| and dt = 2|u| ds the arcs are smooth; each is integrated to its
    event."""
    for k1, k2 in ((1.5, 1.0), (1.0, 2.0), (3.0, 1.0), (2.0, 0.5)):
        u, w, time = 1.3, 0.0, 0.0
        for _ in range(60):

            def arc(s, y, k1=k1, k2=k2):
                return [-k1 * y[0] + y[1], -2.0 * k2 * y[0], 2.0 * y[0]]

            def crossed(s, y):
                return y[0] if s > 1e-9 else 1.0

            crossed.terminal, crossed.direction = True, -1
            run = solve_ivp(
                arc, (0.0, 80.0), [u, w, 0.0], "DOP853", events=crossed, rtol=1e-12, atol=1e-14
            )
            time += run.y[2, -1]
            if run.status == 0 or abs(run.y[1, -1]) < 1e-12:
                break
            u, w = 0.0, -run.y[1, -1]  # mirrored into nu > 0
        assert SuperTwisting(k1, k2).reaching_time(1.3**2) == pytest.approx(time, rel=1e-8)


def test_twisting_time_against_its_swings() -> None:
    k1, k2, e, total = 3.0, 1.0, 2.0, 0.0
    for _ in range(200):
        v = np.sqrt(2 * (k1 - k2) * e)
        total += v / (k1 - k2) + v / (k1 + k2)
        e = v * v / (2 * (k1 + k2))
    assert Twisting(k1, k2).reaching_time(2.0) == pytest.approx(total)


@given(st.floats(0.5, 5), st.floats(0.5, 20), st.floats(0.1, 4))
@settings(max_examples=25)
def test_the_largest_rate_of_super_twisting_is_met_on_its_way(
    k1: float, k2: float, nu: float
) -> None:
    """In u = sqrt(nu), ds = dt/(2u) the way to the surface is smooth;
    its largest |r| by integration."""
    law = SuperTwisting(k1, k2)
    motion = solve_ivp(
        lambda s, y: [y[1], -k1 * y[1] - 2 * k2 * y[0]],
        (0.0, 20.0),
        [np.sqrt(nu), -k1 * np.sqrt(nu)],
        method="DOP853",
        rtol=1e-11,
        atol=1e-12,
        dense_output=True,
        events=lambda s, y: y[0] - 1e-9,
    )
    end = motion.t_events[0][0] if len(motion.t_events[0]) else 20.0
    seen = np.abs(motion.sol(np.linspace(0.0, end, 4001))[1]).max()
    assert law.largest_rate(nu) == pytest.approx(seen, rel=1e-5)
    faster = SuperTwisting(*law.gain_for(0.4, nu))
    assert faster.reaching_time(nu) == pytest.approx(0.4)
    assert law.rate(-nu) == -law.rate(nu) and law.rate(nu) * nu < 0


@given(st.floats(0.2, 5), st.floats(0.5, 20), st.floats(0.1, 4), st.sampled_from([0.0, 0.05, 0.5]))
@settings(max_examples=25)
def test_a_growing_gain_has_its_time_and_its_largest_rate(
    gain: float, growth: float, nu: float, dead: float
) -> None:
    law = AdaptiveRate(gain, growth, dead)

    def rate(_: float, y: np.ndarray) -> list[float]:
        return [-(gain + y[1]), growth * y[0] if y[0] > dead else 0.0]

    def reached(_: float, y: np.ndarray) -> float:
        return y[0]

    reached.terminal = True
    motion = solve_ivp(
        rate,
        (0.0, 10.0 * nu / gain),
        [nu, 0.0],
        rtol=1e-10,
        atol=1e-12,
        events=reached,
        max_step=0.02,
    )
    assert law.reaching_time(nu) == pytest.approx(motion.t[-1], rel=1e-5)
    assert law.largest_rate(nu) == pytest.approx(gain + motion.y[1, -1], rel=1e-5)
    wanted = 0.7 * float(law.reaching_time(nu))
    assert AdaptiveRate(law.gain_for(wanted, nu), growth, dead).reaching_time(nu) == pytest.approx(
        wanted, rel=1e-9
    )
    assert law.band(0.9 * gain) == 0.0 and law.band(1.1 * gain) == dead


def test_bands_of_twisting_laws_are_their_conditions() -> None:
    assert Twisting(5.0, 2.0).band([1.9, 2.1]).tolist() == [0.0, np.inf]
    assert SuperTwisting(6.0, 4.0).band([2.0, 3.9, 4.1]).tolist() == [0.0, np.inf, np.inf]
    assert Twisting(5.0, 2.0).largest_rate() == 7.0
    law = Twisting(*Twisting(5.0, 2.0).gain_for(0.3, 0.7))
    assert law.reaching_time(0.7) == pytest.approx(0.3)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: ConstantRate(0.0), "gain is 0"),
        (lambda: ConstantRate(-2.0), "gain is -2"),
        (lambda: ExponentialReaching(1.0, 0.0, 2.0, 0.5), "offset is 0"),
        (lambda: ExponentialReaching(1.0, 1.2, 2.0, 0.5), "offset is 1.2"),
        (lambda: PowerExponential(1.0, 0.1, 2.0, 0.5, 1.0), "exponent is 1"),
        (lambda: PowerRate(1.0, -0.1), "exponent is -0.1"),
        (lambda: PowerExponential(1.0, 0.1, -2.0, 0.5, 0.25), "alpha is -2"),
        (lambda: ConstantRate([1.0, np.nan]), "gain is nan"),
        (lambda: Twisting(1.0, 2.0), "must be above"),
        (lambda: Decaying(3.0), "expected a reaching law"),
        (lambda: BoundaryLayer(ConstantRate(1.0), 0.0), "width is 0"),
    ],
)
def test_refusals_name_the_number(call, words: str) -> None:
    with pytest.raises(InvalidInput, match=words):
        call()
