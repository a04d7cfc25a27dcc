"""Sensors, slew rates and dead time: what a real machine puts between a law and the joints."""

from __future__ import annotations

import functools

import numpy as np
import pytest
from scipy import stats

import linkwork as lw
from linkwork.errors import InvalidInput
from linkwork.simulation import PD, DeadTime, Encoder, RateLimited, Sampled, Saturated
from linkwork.simulation.noise import normals, uniforms

GOAL = np.array([0.5, 1.1])
START = np.array([0.3, 0.8])


@functools.cache
def arm():
    return lw.load("rehabilitation-arm")


def run(control, sensors=None, duration=0.2, **options):
    options = {"step": 1e-3, "friction": False, "energy_tolerance": np.inf} | options
    return lw.simulate(arm(), START, duration=duration, control=control, sensors=sensors, **options)


def spied(kept):
    """A law in Python that writes down what it is told."""

    def law(t, q, v):
        kept.append((float(t), np.array(q, dtype=float), np.array(v, dtype=float)))
        return 20.0 * (GOAL - q) - 2.0 * v

    return law


def test_noise_is_uniform_normal_and_uncorrelated():
    numbers = np.arange(20_000.0)
    u, w = uniforms(7.0, numbers, 0)
    assert stats.kstest(u, "uniform").pvalue > 1e-3 and stats.kstest(w, "uniform").pvalue > 1e-3
    x, y = normals(7.0, numbers, 0)
    other, _ = normals(8.0, numbers, 0)
    channel, _ = normals(7.0, numbers, 1)
    assert stats.kstest(x, "norm").pvalue > 1e-3
    for a, b in ((x, y), (x, other), (x, channel), (x[1:], x[:-1])):
        assert abs(np.corrcoef(a, b)[0, 1]) < 4 / np.sqrt(len(a))


def test_the_hash_is_that_of_whole_numbers():
    p, add = 67_108_859, (40_503_601, 11_400_714, 27_654_847)
    for seed, sample, channel in ((0, 0, 0), (123, 45_678, 3), (p - 1, p - 1, 5)):
        x = pow(seed + add[0], 3, p)
        x = pow(x + sample, 3, p)
        x = pow(x + (channel + 1) * add[1], 3, p)
        x = pow(x + add[2], 3, p)
        assert uniforms(float(seed), float(sample), channel)[0] == (x + 0.5) / p


def test_readings_are_multiples_of_the_resolution_and_late():
    kept = []
    found = run(
        Sampled(spied(kept), 2e-3), Encoder(resolution=1e-3, delay=4e-3, velocity="difference")
    )
    q = np.array([row[1] for row in kept])
    np.testing.assert_allclose(q / 1e-3, np.round(q / 1e-3), atol=1e-9)
    true = found.q[::2]
    np.testing.assert_allclose(q[2:], true[: len(q) - 2], atol=0.5e-3 + 1e-12)
    np.testing.assert_allclose(
        [row[2] for row in kept][3:], np.diff(q, axis=0)[2:] / 2e-3, atol=1e-9
    )


def test_a_filtered_speed_is_the_difference_through_a_low_pass():
    kept = []
    run(Sampled(spied(kept), 1e-3), Encoder(velocity="filtered", cutoff=200.0))
    q, v = (np.array([row[k] for row in kept]) for k in (1, 2))
    pole, speed = np.exp(-0.2), np.zeros(2)
    for k in range(1, len(q)):
        speed = pole * speed + (1 - pole) * (q[k] - q[k - 1]) / 1e-3
        np.testing.assert_allclose(v[k], speed, atol=1e-9)


def test_noise_is_the_same_alone_in_a_batch_and_in_python():
    sensors = Encoder(noise=1e-3, velocity_noise=1e-2, seed=5)
    law = Sampled(PD(20.0, 2.0, GOAL), 1e-3)
    alone = run(law, sensors)
    batch = lw.simulate(
        arm(),
        np.tile(START, (11, 1)),
        duration=0.2,
        step=1e-3,
        control=law,
        friction=False,
        sensors=Encoder(noise=1e-3, velocity_noise=1e-2, seed=np.arange(11)),
        energy_tolerance=np.inf,
    )
    assert (batch.q[5] == alone.q).all() and (batch.q[4] != alone.q).any()
    in_python = run(Sampled(spied([]), 1e-3), sensors)
    assert in_python.where == "Python"
    np.testing.assert_allclose(in_python.q, alone.q, atol=1e-12)
    assert np.std(batch.tau[:, 0, 0] - 20 * (GOAL - START)[0]) > 5e-3


def test_adaptive_steps_read_the_same_sensors():
    sensors = Encoder(resolution=1e-4, noise=1e-4, delay=1e-3, velocity="filtered", cutoff=300.0)
    law = Sampled(PD(20.0, 2.0, GOAL), 1e-3)
    adaptive = lw.simulate(
        arm(),
        START,
        duration=0.05,
        sample=1e-3,
        control=law,
        sensors=sensors,
        friction=False,
        method="dop853",
    )
    fixed = run(law, sensors, duration=0.05, step=5e-4, sample=1e-3)
    np.testing.assert_allclose(adaptive.q, fixed.q, atol=1e-7)


def test_rate_limit_and_dead_time_act_on_the_samples():
    plain = run(Sampled(PD(20.0, 2.0, GOAL), 1e-3))
    slow = run(Sampled(RateLimited(PD(20.0, 2.0, GOAL), 100.0), 1e-3))
    assert (
        np.abs(np.diff(slow.tau, axis=0)).max() <= 0.1 + 1e-12
        and abs(slow.tau[0, 0]) <= 0.1 + 1e-12
    )
    assert np.abs(np.diff(plain.tau, axis=0)).max() > 0.5  # the limit is what holds it
    # towards the goal
    np.testing.assert_allclose(slow.tau[:5], 0.1 * np.arange(1, 6)[:, None] * [1, 1], rtol=1e-12)
    late = run(Sampled(DeadTime(PD(20.0, 2.0, GOAL), 3), 1e-3))
    delayed = run(Sampled(PD(20.0, 2.0, GOAL), 1e-3, delay=3e-3))
    assert (late.tau[:3] == 0).all()
    np.testing.assert_array_equal(late.q, delayed.q)


def test_limits_need_not_be_symmetric():
    found = run(Saturated(PD(20.0, 2.0, GOAL), 3.0, lower=[-0.5, 0.0]))
    assert (found.tau <= 3.0).all() and (found.tau >= [-0.5, 0.0]).all()
    assert found.tau.max() == 3.0 and found.tau[:, 0].min() == -0.5


@pytest.mark.parametrize(
    "make, words",
    [
        (lambda: Encoder(delay=-1.0), "delay"),
        (lambda: Encoder(seed=0.5), "seed"),
        (lambda: Encoder(velocity="tacho"), "velocity"),
        (lambda: Encoder(velocity="filtered"), "cutoff"),
        (lambda: Encoder(velocity="difference", velocity_noise=1.0), "velocity_noise"),
        (lambda: DeadTime(PD(1.0, 1.0, GOAL), 0), "samples"),
        (lambda: run(Sampled(PD(1.0, 1.0, GOAL), 1e-3), Encoder(delay=1.5e-3)), "whole number"),
        (lambda: run(Sampled(PD(1.0, 1.0, GOAL), 1e-3), Encoder(noise=-1.0)), "noise"),
        (lambda: run(PD(1.0, 1.0, GOAL), Encoder()), "Sampled"),
        (lambda: run(RateLimited(PD(1.0, 1.0, GOAL), 1.0)), "Sampled"),
        (lambda: run(Sampled(PD(1.0, 1.0, GOAL), 1e-3), 3), "Encoder"),
        (lambda: run(Saturated(PD(1.0, 1.0, GOAL), -2.0, lower=3.0)), "reversed"),
    ],
)
def test_refusals_name_what_is_wrong(make, words):
    with pytest.raises(InvalidInput, match=words):
        make()


@pytest.mark.parametrize("late", [0.0, 2e-3])
def test_readings_before_the_first_follow_the_speed_at_the_start(late) -> None:
    """A joint that is moving already is not told to stand: the first difference is its speed."""
    start, speed = np.array([0.3, 0.8]), np.array([0.7, -0.4])
    arm = lw.load("rehabilitation-arm")
    law = Sampled(lambda t, q, v: 1e-3 * v, 1e-3)
    encoder = Encoder(velocity="difference", delay=late)
    run = lw.simulate(
        arm, start, speed, duration=2e-3, step=1e-3, control=law, sensors=encoder, friction=False
    )
    np.testing.assert_allclose(run.tau[0], 1e-3 * speed, rtol=1e-10)
