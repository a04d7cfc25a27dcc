"""Linear models of mechanisms and whole loops, against python-control,
matrix exponentials and simulations."""

from __future__ import annotations

import functools

import numpy as np
import pytest
from scipy.linalg import expm

import linkwork as lw
from linkwork.control import closed_loop, linearise, root_locus, stability_map
from linkwork.control.matrix_exponential import matrix_exponential
from linkwork.errors import InvalidInput, NotPossible, UnknownName
from linkwork.simulation import PD, PID, DeadTime, Encoder, GravityCompensation, Sampled, Saturated

Q = np.array([0.5, 1.1])


@functools.cache
def arm():
    return lw.load("rehabilitation-arm")


@functools.cache
def one():
    """The arm's forearm alone: one joint, no gravity along it."""
    return arm().locked(theta1=0.0)


def small_motion(law, offset, periods, period, **options):
    """Rows of a simulation that starts a hair off equilibrium, in units of the hair."""
    hair = 1e-6
    run = lw.simulate(
        arm(),
        Q + hair * np.array(offset),
        duration=periods * period,
        step=1e-4,
        sample=period,
        control=law,
        friction=False,
        energy_tolerance=np.inf,
        **options,
    )
    return (run.q - Q) / hair


def linear_motion(loop, offset, periods):
    x = np.zeros(len(loop.A))
    x[:2] = offset
    for name, place in loop._maps.trace.places.items():
        if name.endswith("_sensed"):  # sample number, two readings, the filter's speed
            x[place] = [0.0, *offset, *offset, 0.0, 0.0]
    rows = [x]
    for _ in range(periods):
        rows.append(loop.A @ rows[-1])
    return np.array(rows)[:, :2]


def test_linearised_dynamics_are_the_derivatives_of_the_accelerations():
    v, tau = np.array([0.3, -0.2]), np.array([1.0, 2.0])
    found = linearise(arm(), Q, v, tau)
    d_dq, d_dv, d_dtau = arm().forward_dynamics_derivatives(Q, v, tau)
    np.testing.assert_allclose(
        found.A, np.block([[np.zeros((2, 2)), np.eye(2)], [d_dq, d_dv]]), atol=1e-12
    )
    np.testing.assert_allclose(found.B[2:], d_dtau, atol=1e-12)


FLOATING = """<robot name="twin"><link name="base"><inertial><origin xyz="0.02 -0.01 0.03"/><mass value="4"/>
<inertia ixx="0.3" ixy="0.01" ixz="0" iyy="0.4" iyz="0.02" izz="0.5"/></inertial></link>
<link name="arm"><inertial><origin xyz="0 0 0.2"/><mass value="1"/>
<inertia ixx="0.05" ixy="0" ixz="0" iyy="0.05" iyz="0" izz="0.01"/></inertial></link>
<joint name="hip" type="continuous"><parent link="base"/><child link="arm"/><origin xyz="0.1 0 0"/><axis xyz="0 1 0"/>
</joint></robot>"""


def test_a_floating_body_is_linear_in_its_own_axes():
    """Accelerations by Pinocchio's derivatives; the way of a neighbour, in the body's axes,
    by its integrate."""
    pin = pytest.importorskip("pinocchio")
    model = pin.buildModelFromXML(FLOATING, pin.JointModelFreeFlyer())
    data, robot = model.createData(), lw.load(text=FLOATING, root="floating")
    generator = np.random.default_rng(0)
    q = pin.integrate(model, pin.neutral(model), generator.normal(size=7))
    v, tau = generator.normal(size=7), generator.normal(size=7)
    # ours counts the angle of a continuous joint, Pinocchio its cosine and sine
    found = linearise(robot, np.append(q[:7], np.arctan2(q[8], q[7])), v, tau)
    d_dq, d_dv, d_dtau = pin.computeABADerivatives(model, data, q, v, tau)
    np.testing.assert_allclose(found.A[7:], np.hstack([d_dq, d_dv]), atol=1e-10)
    np.testing.assert_allclose(found.B[7:], d_dtau, atol=1e-10)
    h, hair = 1e-5, 1e-3

    def drift(dq, dv):
        """How fast a neighbour leaves, by central differences in time and in the hair."""
        way = 0.0
        for side in (1, -1):
            there = pin.integrate(model, q, side * hair * dq)
            ends = [
                pin.difference(
                    model,
                    pin.integrate(model, q, k * h * v),
                    pin.integrate(model, there, k * h * w),
                )
                for k, w in ((1, v + side * hair * dv), (-1, v + side * hair * dv))
            ]
            way = way + side * (ends[0] - ends[1]) / (2 * h)
        return way / (2 * hair)

    zero = np.zeros(7)
    columns = [drift(e, zero) for e in np.eye(7)] + [drift(zero, e) for e in np.eye(7)]
    # hair^2 and rounding / (h hair)
    np.testing.assert_allclose(found.A[:7], np.array(columns).T, atol=1e-5)


def test_the_sampled_map_is_the_matrix_exponential():
    period, kp, kd = 5e-3, np.array([20.0, 10.0]), np.array([2.0, 0.5])
    model = linearise(arm(), Q)
    held = expm(np.block([[model.A, model.B], [np.zeros((2, 6))]]) * period)
    A, B = held[:4, :4], held[:4, 4:]
    law = -np.hstack([np.diag(kp), np.diag(kd)])
    found = closed_loop(arm(), Sampled(PD(kp, kd, Q), period), Q, friction=False)
    expected = np.linalg.eigvals(A + B @ law)
    np.testing.assert_allclose(
        np.sort(np.abs(found.poles))[-4:], np.sort(np.abs(expected)), rtol=1e-9
    )
    late = closed_loop(arm(), Sampled(PD(kp, kd, Q), period, delay=2 * period), Q, friction=False)
    zero, I = np.zeros((2, 2)), np.eye(2)
    chain = np.block([[A, np.zeros((4, 2)), B], [law, zero, zero], [np.zeros((2, 4)), I, zero]])
    np.testing.assert_allclose(late.radius, np.abs(np.linalg.eigvals(chain)).max(), rtol=1e-9)
    dead = closed_loop(arm(), Sampled(DeadTime(PD(kp, kd, Q), 2), period), Q, friction=False)
    np.testing.assert_allclose(dead.radius, late.radius, rtol=1e-9)


@pytest.mark.parametrize(
    "law, period, options",
    [
        (Sampled(PD(20.0, 2.0, Q), 1e-3, delay=1.5e-3), 1e-3, {}),
        (Sampled(PD(10.0, 0.0, Q), 2e-3) + Sampled(PD(0.0, 1.0, Q), 3e-3, delay=1e-3), 6e-3, {}),
        (Sampled(PID(20.0, 30.0, 2.0, Q), 2e-3), 2e-3, {}),
        (
            Sampled(GravityCompensation() + PD(20.0, 2.0, Q), 2e-3),
            2e-3,
            {"sensors": Encoder(delay=2e-3, velocity="filtered", cutoff=150.0)},
        ),
    ],
    ids=["fraction of a period late", "two rates", "integral", "encoder"],
)
def test_a_small_motion_is_the_linear_one(law, period, options):
    """A hair of 1e-6 leaves 1e-5 of nonlinearity; steps of 0.1 ms leave 1e-9."""
    law = law if options else GravityCompensation() + law
    loop = closed_loop(arm(), law, Q, friction=False, **options)
    assert loop.period == pytest.approx(period)
    simulated = small_motion(law, [1.0, -0.5], 20, period, **options)
    np.testing.assert_allclose(linear_motion(loop, [1.0, -0.5], 20), simulated, atol=2e-5)


def test_margins_and_responses_are_those_of_python_control():
    peer = pytest.importorskip("control")
    law = GravityCompensation() + PD(20.0, 2.0, Q)
    for loop in (closed_loop(arm(), law, Q), closed_loop(arm(), Sampled(law, 5e-3, delay=5e-3), Q)):
        gain = loop.loop_gain("theta2")
        theirs = gain.to_control()
        w = np.array([0.3, 3.0, 30.0, 300.0])
        np.testing.assert_allclose(
            gain.frequency_response(w)[:, 0, 0],
            np.ravel(peer.frequency_response(theirs, w).complex),
            rtol=1e-8,
        )
        if gain.period is None:
            continue
        ours = gain.margins()
        gains, phases, *_ = peer.stability_margins(theirs, returnall=True)
        known = ours.gain if np.isfinite(ours.gain) else ours.smallest
        assert np.abs(gains / known - 1).min() < 1e-3
        phase = np.abs(phases).min()
        assert np.rad2deg(ours.phase) == pytest.approx(phase, rel=1e-4)


def test_the_gain_margin_is_where_the_loop_becomes_unstable():
    def loop(factor):
        return closed_loop(
            one(), Sampled(PD(20.0 * factor, 2.0 * factor, Q[1:]), 5e-3, delay=5e-3), Q[1:]
        )

    margin = loop(1.0).loop_gain(0).margins().gain
    assert loop(0.999 * margin).stable and not loop(1.001 * margin).stable
    margins = loop(0.2).loop_gain(0).margins()
    slower = Sampled(
        PD(4.0, 0.4, Q[1:]), 5e-3, delay=5e-3 + 1e-5 * np.floor(0.999e5 * margins.delay)
    )
    assert closed_loop(one(), slower, Q[1:]).stable
    slower = Sampled(
        PD(4.0, 0.4, Q[1:]), 5e-3, delay=5e-3 + 1e-5 * np.ceil(1.001e5 * margins.delay)
    )
    assert not closed_loop(one(), slower, Q[1:]).stable


def test_the_loop_gain_of_a_continuous_law_is_its_gains_times_the_plant():
    """L = (kp, kd) (s - A)^-1 B of the joint that is cut, the other one closed."""
    kp, kd = np.array([20.0, 10.0]), np.array([2.0, 0.5])
    loop, model = closed_loop(arm(), PD(kp, kd, Q), Q, friction=False), linearise(arm(), Q)
    K = np.hstack([np.diag(kp), np.diag(kd)])
    w = np.array([0.5, 3.0, 20.0, 200.0])
    for joint, other in ((0, 1), (1, 0)):
        closed = model.A - np.outer(model.B[:, other], K[other])
        expected = [
            K[joint] @ np.linalg.solve(1j * x * np.eye(4) - closed, model.B[:, joint]) for x in w
        ]
        np.testing.assert_allclose(
            loop.loop_gain(joint).frequency_response(w)[:, 0, 0], expected, rtol=1e-9
        )
    np.testing.assert_allclose(
        np.sort_complex(loop.poles), np.sort_complex(np.linalg.eigvals(model.A - model.B @ K))
    )


def test_root_locus_follows_its_branches_into_instability():
    mass = 1.0 / linearise(one(), Q[1:]).B[1, 0]
    limit = 2.0 * mass / 5e-3  # of pure damping on a held mass
    values = limit * np.linspace(0.05, 1.1, 30)
    rows = root_locus(one(), lambda kd: Sampled(PD(20.0, kd, Q[1:]), 5e-3), values, Q[1:])
    steps = np.abs(np.diff(rows, axis=0)).max()
    assert steps < 0.3  # no branch jumps
    radius = np.abs(rows).max(axis=1)
    assert radius[0] < 1 < radius[-1]
    assert values[np.argmax(radius > 1)] == pytest.approx(limit, rel=0.06)


def test_a_map_of_radii_follows_the_configurations():
    law = Sampled(GravityCompensation() + PD(20.0, 2.0, Q), 5e-3)
    rows = np.array([[Q, Q + 0.1], [Q + 0.5, Q - 0.5]])
    found = stability_map(arm(), law, rows)
    assert found.shape == (2, 2)
    assert found[1, 0] == pytest.approx(closed_loop(arm(), law, rows[1, 0]).radius, rel=1e-12)


def test_a_map_of_radii_over_gains_is_that_of_each_set():
    """A PID with delay (memory, queue) and a law beside it that runs continuously:
    every kind of state at once."""
    kp, kd = np.array([5.0, 20.0, 80.0])[:, None, None], np.array([0.5, 3.0])[None, :, None]

    def law(kp, kd):
        return PD(0.3 * kp, 0.0, Q) + Sampled(PID(kp, 3.0, kd, Q), 2e-3, 3e-3)

    found = stability_map(arm(), law(kp, kd), Q)
    alone = [
        [closed_loop(arm(), law(float(a), float(b)), Q).radius for b in kd.ravel()]
        for a in kp.ravel()
    ]
    np.testing.assert_allclose(found, alone, rtol=1e-11)
    places = np.stack([Q, Q + 0.4, Q - 0.4])[:, None, :]  # configurations and gains broadcast
    assert stability_map(arm(), law(kp, kd), places)[0, 1] == pytest.approx(found[0, 1], rel=1e-12)
    with pytest.raises(InvalidInput, match="do not broadcast"):
        stability_map(arm(), law(kp, kd), np.stack([Q] * 5))


def test_refusals_name_what_is_wrong():
    loop = closed_loop(arm(), Sampled(PD(1.0, 1.0, Q), 1e-3) + Sampled(PD(1.0, 1.0, Q), 2e-3), Q)
    with pytest.raises(NotPossible, match="several rates"):
        loop.loop_gain(0)
    with pytest.raises(UnknownName, match="did you mean"):
        loop.loop_gain("theta")
    with pytest.raises(InvalidInput, match="batch of gain sets"):
        closed_loop(arm(), PD(np.ones((3, 2)), 1.0, Q), Q)
    with pytest.raises(InvalidInput, match="q has shape"):
        closed_loop(arm(), Saturated(PD(1.0, 1.0, Q), 1.0), Q[:1])
    with pytest.raises(NotPossible, match="common period"):
        closed_loop(arm(), Sampled(PD(1.0, 1.0, Q), 1e-3) + Sampled(PD(1.0, 1.0, Q), 0.99999e-3), Q)


def test_exponentials_of_many_matrices_are_scipys() -> None:
    """Small and large ones in one batch; what is no number stays none and harms no other."""
    sizes = np.array([1e-6, 0.05, 1.0, 20.0])[:, None, None]
    G = sizes * np.random.default_rng(0).normal(size=(4, 12, 12))
    G = np.concatenate([G, np.full((1, 12, 12), np.nan), np.zeros((1, 12, 12))])
    ours = matrix_exponential(G)
    for mine, given in zip(ours[:4], G[:4], strict=True):
        theirs = expm(given)
        np.testing.assert_allclose(mine, theirs, rtol=0.0, atol=1e-11 * np.abs(theirs).max())
    assert np.isnan(ours[4]).all()
    np.testing.assert_array_equal(ours[5], np.eye(12))


def test_equal_gain_sets_of_a_continuous_law_have_one_radius():
    """They are one map, and every set asked for its own: an IndexError."""
    alone = stability_map(arm(), PD(20.0, 2.0, Q), Q)
    np.testing.assert_allclose(
        stability_map(arm(), PD(np.full((5, 1), 20.0), 2.0, Q), Q), np.full(5, alone), rtol=1e-12
    )
    # one set each
    pairs = stability_map(arm(), PD(np.array([[20.0], [30.0]]), 2.0, Q), np.stack([Q, Q + 0.1]))
    assert pairs[0] == pytest.approx(float(alone), rel=1e-12) and pairs.shape == (2,)
    assert stability_map(arm(), PD(np.zeros((0, 1)), 2.0, Q), Q).shape == (0,)
