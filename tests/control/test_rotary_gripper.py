"""The rotary gripper: virtual work, ripple properties, sequence, lookup tables."""

from __future__ import annotations

import functools
from dataclasses import replace

import casadi
import numpy as np
import pytest

import linkwork as lw
from linkwork import errors
from linkwork.control import (
    GearTrain,
    GripForce,
    GripSequence,
    RotaryGripper,
    gripper_table,
    safe_force,
)
from linkwork.control.grip_simulation import PARAMETERS, _motion, differentiated
from linkwork.reproduce.paper_09 import ANGLE


@functools.cache
def robot() -> lw.Robot:
    return lw.load("rotary-gripper")


@functools.cache
def gripper() -> RotaryGripper:
    return RotaryGripper.from_robot(robot())


def test_train_robot_and_formulas_are_one_mechanism() -> None:
    assert RotaryGripper.from_robot("rotary-gripper") == gripper()
    for w1, w2 in np.random.default_rng(0).normal(size=(5, 2)):
        body, finger = gripper().rates(w1, w2)
        speeds = gripper().train.speeds({"motor1": w1, "motor2": w2})
        assert speeds["body"] == pytest.approx(float(body))
        assert speeds["finger"] == pytest.approx(float(finger))
        q = robot().from_actuators([w1, w2])[0]
        np.testing.assert_allclose(q, [body, finger], rtol=1e-12)


def test_virtual_work_of_force_and_holding_torque() -> None:
    K_t, force = gripper().torque_constant, 8.2
    for w1, w2 in np.random.default_rng(1).normal(size=(5, 2)):
        power = K_t * gripper().current(force) * w1 + K_t * gripper().holding_current(force) * w2
        assert power == pytest.approx(float(force * gripper().tip_speed(w1, w2)), abs=1e-12)


def test_without_friction_the_deviation_is_linear_and_mirrored() -> None:
    """Independent of the force, proportional to the acceleration,
    mirrored with the turn (digest 09, section 5)."""
    runs = gripper().simulate([3.0, 4.0, 5.7], ANGLE, velocity=5.6, feed_forward=False)
    deviation = runs["force"] - runs.force[:, None]
    np.testing.assert_allclose(deviation[1:], deviation[:1] + 0 * deviation[1:], atol=2e-10)
    back = gripper().simulate(4.0, -ANGLE, velocity=5.6, feed_forward=False)
    np.testing.assert_allclose(back["force"] - 4.0, -deviation[1], atol=2e-10)
    assert runs.sag[1] / 73.3 == pytest.approx(0.0034959, rel=1e-3)
    slow = gripper().simulate(4.0, ANGLE, velocity=5.6, acceleration=73.3 / 2, feed_forward=False)
    assert slow.sag == pytest.approx(runs.sag[1] / 2, rel=0.02)


def test_the_best_feed_forward_and_the_best_differentiator() -> None:
    sags = (
        gripper()
        .simulate(4.0, ANGLE, velocity=5.6, feed_forward=np.array([0.6, 0.9, 1.0, 1.4]))
        .sag
    )
    np.testing.assert_allclose(sags, [0.105, 0.0503, 0.0577, 0.152], rtol=0.01)
    times = (0.3e-3, 3.3e-3, 7e-3, 10e-3)
    ripple = [
        float(gripper().simulate(4.0, ANGLE, velocity=5.6, differentiator=T).sag) for T in times
    ]
    np.testing.assert_allclose(ripple, [0.119, 0.058, 0.0128, 0.040], rtol=0.03)
    assert gripper().best_differentiator == pytest.approx(7.0e-3, abs=0.1e-3)


def test_sampled_and_continuous_loops_agree() -> None:
    runs = [
        gripper().simulate(4.0, ANGLE, velocity=5.6, sampled=s).sag / 4.0 * 100
        for s in (True, False)
    ]
    assert abs(runs[0] - runs[1]) < 0.1  # percentage points


def test_turns_by_whole_rounds_change_nothing_but_the_angle() -> None:
    twice = gripper().simulate(4.0, [2 * np.pi, 4 * np.pi], velocity=5.6)
    # rows fall elsewhere on the ripple
    np.testing.assert_allclose(twice.sag[0], twice.sag[1], rtol=1e-4)
    np.testing.assert_allclose(twice.end, gripper().twist(4.0), atol=1e-6)


def test_power_from_nowhere_is_told() -> None:
    assert gripper().drives.creates_power
    assert not gripper().drives.consistent().creates_power
    honest = replace(gripper(), drives=gripper().drives.consistent())
    ours, theirs = (g.simulate(4.0, ANGLE, velocity=5.6).sag for g in (honest, gripper()))
    assert abs(ours - theirs) < 0.02  # the current loop rejects the back-EMF


def test_lookup_tables_are_monotone_and_inverted() -> None:
    table = GripForce([0.0, 0.2, 0.5, 1.0], [0.0, 2.0, 7.5, 13.0])
    forces = np.linspace(0.1, 12.9, 30)
    np.testing.assert_allclose(table.force(table.current(forces)), forces, atol=1e-9)
    assert GripForce([0.0, 1.0], [0.0, 10.0], friction=0.05).current(5.0) == pytest.approx(0.55)
    longer = replace(gripper(), finger_length=2 * gripper().finger_length)
    assert longer.force(1.0) == pytest.approx(float(gripper().force(1.0)) / 2)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: gripper().current(48.1), "48.1 N needs 3.507 A, limit 3.5 A"),
        (lambda: gripper().simulate(60.0, 0.5), "needs"),
        (lambda: gripper().simulate(4.0, 0.5, start=0.0), "no turn while closing"),
        (lambda: gripper().simulate(4.0, 0.5, sample=1.5e-5), "no whole number"),
        (lambda: gripper().simulate(-4.0, 0.5), "force is -4"),
        (lambda: replace(gripper(), cone=0.0), "cone is 0"),
        (lambda: GripForce([0.0, 1.0, 2.0], [0.0, 3.0, 2.5]), "not monotone"),
        (lambda: GripForce([0.0, 1.0], [0.0, 3.0]).current(9.0), "outside the table"),
        (lambda: safe_force(1.0, 1.27), "no safe force"),
        (lambda: safe_force(15.2, 1.27, needed=9.0), "9 N are needed, but 8.863 N are safe"),
        (lambda: gripper().simulate(4.0, np.nan), "turn (is|contains) nan"),
        (lambda: gripper().simulate(4.0, 0.5, stiffness=0.0), "stiffness is 0"),
        (lambda: gripper().simulate(4.0, 0.5, friction=-0.1), "friction is -0.1"),
        (lambda: gripper().simulate(4.0, 0.5, duration=1e9), "steps, expected at most"),
        (lambda: GripForce.fit([0.0, 1.0], [3.0, 1.0], points=2), "do not rise with the currents"),
        (lambda: GripForce.fit([0.0, 1.0], [3.0, 1.0]), "rows of at least 9"),
        (
            lambda: GripForce.through(3.0, "motor", "jaw", 0.1, 0.05, 2.0),
            "train is float, expected GearTrain",
        ),
        (lambda: RotaryGripper.from_robot("charmee"), "expected a Robot"),
        (lambda: RotaryGripper.from_robot(lw.load("arm-2")), "has no variables"),
    ],
)
def test_refusals_name_the_number(call, words: str) -> None:
    with pytest.raises(errors.InvalidInput, match=words):
        call()


def test_a_cycle_has_its_time_and_an_order_that_holds_the_object() -> None:
    """92 ms to close and to open, 130 ms to lift and turn: 314 ms (section 4 of the paper)."""
    told = GripSequence(gripper(), stroke=0.092).grip(8.2)
    assert told.turn(np.deg2rad(45.0), lasting=0.13).open().end == pytest.approx(0.314, abs=1e-15)
    turning = told.turn(np.deg2rad(40.0))
    assert turning.end - told.end == pytest.approx(0.198819, abs=1e-6)
    for wrong, words in (
        (
            lambda: told.turn(0.5, at=0.05),
            r"turn by 28.65 deg at 0.05 s: grip at 8.2 N from 0 s lasts until 0.092 s",
        ),
        (
            lambda: turning.grip(5.0, at=0.2),
            r"grip at 5 N at 0.2 s: turn by 40 deg from 0.092 s lasts until 0.2908",
        ),
        (lambda: turning.open(at=0.2), r"open at 0.2 s: turn by 40 deg"),
        (lambda: told.grip(60.0), "60 N"),
    ):
        with pytest.raises(errors.LinkworkError, match=words):
            wrong()
    assert turning.grip(5.0).end == turning.end  # holding already: a new force takes no stroke


def test_the_compared_grippers_are_data() -> None:
    rows = gripper_table()
    speeds = {row["name"]: row["finger_speed_mm_s"] for row in rows}
    assert len(rows) == 10 and speeds["Romanov v2"] is None
    # 56 as printed
    assert speeds["Romanov v1"] / speeds["Schunk EGS 25"] == pytest.approx(11.67, abs=0.01)


def test_the_simulated_motor_is_that_of_the_formulas() -> None:
    """A gripper with twice the torque per ampere needs half the current,
    at rest in the loop as by eq. 8."""
    strong = replace(gripper(), torque_constant=2 * gripper().torque_constant)
    for one in (gripper(), strong):
        still = one.simulate(4.0, 0.0, duration=0.12)
        np.testing.assert_allclose(still["current1"], one.current(4.0), rtol=1e-9)
        np.testing.assert_allclose(still["current2"], one.holding_current(4.0), rtol=1e-9)
        np.testing.assert_allclose(still["turn"], one.twist(4.0), rtol=1e-9)


def test_drives_keep_what_they_say_of_their_motors() -> None:
    """A constant of their own was overwritten, and K_e = K_t undone: such a motor created power."""
    consistent = replace(
        gripper(), torque_constant=0.3, drives=lw.control.GripperDrives().consistent()
    ).drives
    assert consistent.torque_constant == consistent.back_emf == 0.3
    plain = replace(gripper(), torque_constant=0.3, drives=lw.control.GripperDrives()).drives
    assert (plain.torque_constant, plain.back_emf) == (0.3, lw.control.GripperDrives().back_emf)
    own = lw.control.GripperDrives(torque_constant=0.3, back_emf=0.3)
    assert replace(gripper(), torque_constant=0.3, drives=own).drives == own
    with pytest.raises(
        errors.InvalidInput, match=r"torque_constant is 0\.42, but that of drives is 0\.3"
    ):
        replace(gripper(), torque_constant=0.42, drives=own)


@pytest.mark.parametrize("honest", [True, False])
def test_energy_without_voltage_never_grows_where_one_motor_has_one_constant(honest: bool) -> None:
    """Magnetic, kinetic and contact energy at random states;
    the paper's K_e < K_t makes some of it from nothing."""
    drives = gripper().drives.consistent() if honest else gripper().drives
    K_t, L = drives.torque_constant, drives.inductance
    J1, J2 = drives.inertias
    g_f, g_c, l_f = gripper().finger_ratio, gripper().turn_ratio, gripper().finger_length
    sizes = {
        "motor": [K_t, drives.back_emf, L, drives.resistance, J1, J2],
        "train": [g_f, g_c, l_f, 1.0],
    }
    numbers = sizes | {"contact": [2000.0, 5.0], "rubbing": [0.01, 0.01]}
    p = {name: casadi.DM(numbers.get(name, np.zeros(size))) for name, size in PARAMETERS.items()}
    x = casadi.SX.sym("x", 6)
    squeezed = casadi.fmax(0, l_f * (x[2] + x[4] / g_c) / g_f)
    energy = 0.5 * (
        L * (x[0] ** 2 + x[1] ** 2) + J1 * x[3] ** 2 + J2 * x[5] ** 2 + 2000.0 * squeezed**2
    )
    power = casadi.gradient(energy, x).T @ _motion(x, casadi.SX.zeros(2), p)[0]
    states = np.random.default_rng(2).normal(size=(2000, 6)) * [1.0, 1.0, 0.3, 5.0, 0.3, 5.0]
    powers = np.array(casadi.Function("power", [x], [power]).map(2000)(states.T)).ravel()
    assert bool(powers.max() <= 1e-12) is honest


def test_the_differentiator_finds_the_slope_of_a_ramp() -> None:
    """After ten of its time constants within 5e-5, at the step of the current loop."""
    T, h, slope, kept = 3.3e-3, 50e-6, 73.3, 0.0
    for k in range(round(10 * T / h) + 1):
        rate, change = differentiated(slope * k * h, kept, T)
        kept = kept + h * change
    assert rate == pytest.approx(slope, rel=5e-5)


def test_errors_of_the_whole_map_are_below_the_papers() -> None:
    """Digest 09: with friction at most 1.27 N over the tested speeds and accelerations,
    more at low speed."""
    speeds, rises = np.linspace(0.9, 5.6, 4)[:, None], np.linspace(17.5, 73.3, 3)
    k9 = gripper().couplings["equation 9"]
    map_ = gripper().simulate(
        4.0, ANGLE, velocity=speeds, acceleration=rises, coupling=k9, friction=0.0108
    )
    errors_ = np.maximum(map_.sag, map_.peak)
    assert errors_.max() < 1.27
    assert (errors_[0] >= errors_[-1]).all()
    np.testing.assert_allclose(errors_[[0, -1], -1], [0.64, 0.51], atol=0.05)


def test_currents_and_voltages_have_their_limits() -> None:
    """The peak current holds what is asked for; all voltage used,
    the integrators wait and the turn still arrives."""
    weak = replace(gripper(), drives=replace(gripper().drives, peak_current=0.3))
    hurried = {"velocity": 20.0, "acceleration": 2000.0}
    free, held = (weak.simulate(4.0, ANGLE, limited=on, **hurried) for on in (False, True))
    assert np.abs(free["current2"]).max() > 0.5 > 0.31 > np.abs(held["current2"]).max()
    slow = gripper().simulate(4.0, ANGLE, velocity=5.6, voltage=2.0, duration=1.0)
    # the grip helps to turn this way
    lost = gripper().drives.resistance * gripper().holding_current(4.0)
    fastest = (2.0 + lost) / gripper().drives.back_emf / gripper().turn_ratio
    assert np.abs(np.diff(slow["turn"])).max() < 1.05e-3 * fastest < 1e-3 * 5.6
    assert slow["turn"].max() < 1.01 * ANGLE
    assert slow.end == pytest.approx(float(gripper().twist(4.0)), abs=1e-5)


@pytest.mark.parametrize("sampled", [True, False])
def test_an_integrator_leads_back_from_the_limit(sampled: bool) -> None:
    """A feed-forward above the voltage held the motor there, at 19 N instead of 4,
    for as long as it turned."""
    soft = replace(gripper(), drives=replace(gripper().drives, current_gain=5.0))
    hurried = {"velocity": 5.6, "acceleration": 2000.0, "voltage": 5.0, "feed_forward": 12.0}
    run = soft.simulate(4.0, 3.0, sampled=sampled, **hurried)
    turning = (run.time > 0.4) & (run.time < 0.6)  # at even speed, from 0.1 s to 0.64 s
    assert run["force"].max() > 10.0
    np.testing.assert_allclose(run["force"][turning], 4.0, atol=1e-2)


def test_force_tables_come_from_trains_and_from_noisy_sweeps() -> None:
    body_held = gripper().train.ground("body", "motor2")
    drives = gripper().drives
    table = GripForce.through(
        body_held,
        "motor1",
        "finger",
        drives.torque_constant,
        gripper().finger_length,
        drives.peak_current,
    )
    np.testing.assert_allclose(table.force([0.5, 3.5]), gripper().force([0.5, 3.5]), rtol=1e-12)
    lossy = GearTrain().mesh("motor", "jaw", (20, 60), efficiency=0.9)
    assert GripForce.through(lossy, "motor", "jaw", 0.1, 0.05, 2.0).force(1.0) == pytest.approx(
        0.1 * 3 * 0.9 / 0.05
    )
    draw = np.random.default_rng(4)
    amps = draw.permutation(np.linspace(0.0, 3.0, 400))
    measured = 12.0 * amps + 2.0 * amps**2 + draw.normal(scale=0.3, size=400)
    fitted = GripForce.fit(amps, measured, friction=0.1)
    inside = np.linspace(0.3, 2.7, 25)
    np.testing.assert_allclose(fitted.force(inside), 12.0 * inside + 2.0 * inside**2, atol=0.4)
    assert (np.diff(fitted.forces) > 0).all()
    low, high = fitted.band(1.0)
    assert (low, high) == (fitted.force(0.9), fitted.force(1.1))
    assert fitted.current(fitted.force(0.9)) == pytest.approx(1.0)
