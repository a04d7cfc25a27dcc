"""Drives: currents, voltage limits, elastic gears and backlash between a law and the joints;
a motor on a shaft."""

from __future__ import annotations

import functools

import casadi
import numpy as np
import pytest

import linkwork as lw
from linkwork.control import (
    PMSM,
    Cascade,
    CurrentLoop,
    DCMotor,
    Inverter,
    JointDrives,
    PositionLoop,
    Thermal,
    VelocityLoop,
    motor,
    motors,
    spin,
)
from linkwork.control.drive_simulation import KEPT, STATE, _Drive, _numbers
from linkwork.errors import InvalidFile, InvalidInput, UnknownName
from linkwork.simulation import PD, GravityCompensation

Q = np.array([0.5, 1.1])
MOTOR = DCMotor(0.05, 0.5, 1e-3, 1e-5, peak_current=40.0)
MACHINE = PMSM(0.545, 3, 3.6, 0.036, 0.036, 0.015)


@functools.cache
def arm():
    return lw.load("rehabilitation-arm")


def run(command, drives, duration=0.05, step=1e-4, **options):
    options = {"friction": False, "energy_tolerance": np.inf} | options
    return lw.simulate(
        arm(), Q, duration=duration, step=step, control=command, drives=drives, **options
    )


def constant(tau):
    return lambda t, q, v: np.array(tau) + 0 * q


def test_a_current_loop_is_a_lag_of_its_bandwidth():
    found = run(constant([2.0, -1.0]), JointDrives(MOTOR, 50.0, bandwidth=400.0))
    expected = np.outer(1 - np.exp(-400.0 * found.time), [2.0, -1.0])
    np.testing.assert_allclose(found.tau, expected, atol=1e-6)
    np.testing.assert_allclose(
        JointDrives(MOTOR, 50.0).currents(found), expected / (50 * 0.05), atol=1e-6
    )


def test_voltage_ends_the_speed_and_peak_current_the_force():
    drives = JointDrives(MOTOR, 50.0, bandwidth=1000.0, voltage=6.0)
    found = run(constant([1e3, 0.0]), drives, 1.0, 2e-4)
    assert np.abs(found.tau[:, 0]).max() <= 50 * 0.05 * 6.0 / 0.5 + 1e-9  # stalled: U / R
    emf, amps = found.v[:, 0] * 50 * 0.05, drives.currents(found)[:, 0]
    # the whole supply stands over coil and resistance
    left = 6.0 - emf - 1e-3 * np.gradient(amps, found.time)
    np.testing.assert_allclose(0.5 * amps[10:-10], left[10:-10], atol=5e-3)
    weak = run(
        constant([1e3, 0.0]), JointDrives(DCMotor(0.05, 0.5, 1e-3, 1e-5, peak_current=2.0), 50.0)
    )
    assert np.abs(weak.tau[:, 0]).max() == pytest.approx(50 * 0.05 * 2.0, rel=1e-6)


def test_adaptive_steps_have_the_same_drives_and_energies_balance():
    law = GravityCompensation() + PD(20.0, 2.0, Q + 0.1)
    drives = JointDrives(MOTOR, 50.0, bandwidth=300.0, stiffness=500.0, gear_damping=0.5)
    fixed = run(law, drives, 0.2, 1e-4, sample=1e-3)
    adaptive = run(law, drives, 0.2, None, sample=1e-3, method="lsoda")
    np.testing.assert_allclose(fixed.q, adaptive.q, atol=1e-6)
    np.testing.assert_allclose(fixed.tau, adaptive.tau, atol=1e-4)
    assert np.abs(fixed["energy.balance"]).max() < 1e-6


def test_a_stiff_gear_adds_the_rotor_to_the_joint():
    """Seen at the joint the rotor weighs N^2 J; a stiff gear gives the accelerations of that
    arm."""
    heavy = DCMotor(0.05, 0.5, 1e-3, 4e-5)
    drives = JointDrives(heavy, 50.0, bandwidth=5e3, stiffness=2e5, gear_damping=30.0)
    push = arm().gravity_torque(Q) + [1.0, 0.0]
    found = run(constant(push), drives, 0.02, 2e-6, sample=1e-3)
    M = arm().mass_matrix(Q) + 50.0**2 * 4e-5 * np.eye(2)
    a = np.linalg.solve(M, [1.0, 0.0])
    np.testing.assert_allclose(
        found.v[-1] - found.v[10], a * 0.01, atol=0.06 * np.abs(a * 0.01).max()
    )


def test_backlash_is_crossed_without_force():
    """From the middle of its play the motor turns half the play before the joint feels anything."""
    drives = JointDrives(
        MOTOR, 50.0, bandwidth=2e3, stiffness=500.0, backlash=0.02, gear_damping=0.1
    )
    free = lw.simulate(arm(), Q, duration=0.02, step=1e-5, friction=False, energy_tolerance=np.inf)
    found = run(constant([5.0, 0.0]), drives, 0.02, 1e-5)
    touch = int(np.argmax(np.abs(found.tau[:, 0]) > 0))
    np.testing.assert_allclose(found.q[:touch], free.q[:touch], atol=1e-12)
    assert (found.tau[:touch, 1] == 0).all()
    # 2 A on 1e-5 kg m^2 through 50:1, lagging by 1/bandwidth:
    # (t - lag)^2 * 100 rad/s^2 less the joint's own way
    t = found.time[touch]
    turned = 100.0 * (t * t - 2 * t * 5e-4 + 2 * 5e-4**2) - (found.q[touch, 0] - Q[0])
    assert turned == pytest.approx(0.01, rel=0.01)


def test_one_run_and_any_lane_have_the_same_bits():
    law = GravityCompensation() + PD(20.0, 2.0, Q + 0.1)
    many = run(law, JointDrives(MOTOR, 50.0, bandwidth=np.linspace(200.0, 400.0, 9)[:, None]))
    one = run(law, JointDrives(MOTOR, 50.0, bandwidth=250.0))
    np.testing.assert_array_equal(many.q[2], one.q)


def test_temperature_follows_the_losses():
    thermal = Thermal(resistance=3.0, capacity=20.0)
    assert thermal.overload_time(10.0) == np.inf
    losses = 100.0
    t = thermal.overload_time(losses)
    assert thermal.ambient + losses * 3.0 * (1 - np.exp(-t / 60.0)) == pytest.approx(
        155.0, rel=1e-12
    )
    drives = JointDrives(MOTOR, 50.0)
    found = run(constant([2.5, 0.0]), drives, 0.1)
    heat = drives.temperatures(found, Thermal(3.0, 0.02))[-1]
    amps = drives.currents(found)[:-1, 0]
    expected = sum(
        0.5 * i**2 * 3 * (1 - np.exp(-1e-4 / 0.06)) * np.exp(-(0.1 - 1e-4 * (k + 1)) / 0.06)
        for k, i in enumerate(amps)
    )
    assert heat[0] == pytest.approx(25.0 + expected, rel=1e-9)


def test_a_motor_reaches_its_speed_as_its_loop_says():
    """Far from the limits the speed is a first-order lag of the loop's bandwidth,
    a load is integrated away."""
    found = spin(
        MACHINE,
        Cascade(velocity=VelocityLoop(2 * np.pi * 4)),
        10.0,
        duration=0.6,
        inverter=Inverter(540.0),
    )
    expected = 10.0 * (1 - np.exp(-2 * np.pi * 4 * found.time))
    assert np.abs(found["speed"] - expected).max() < 0.3
    loaded = spin(
        MACHINE,
        Cascade(),
        10.0,
        load=lambda t: 5.0 * (t > 0.3),
        duration=1.2,
        inverter=Inverter(540.0),
    )
    assert loaded["speed"][1190 * 4] == pytest.approx(10.0, abs=0.01)
    assert loaded["torque"][-1] == pytest.approx(5.0, abs=0.02)
    assert loaded["current_q"][-1] == pytest.approx(5.0 / (1.5 * 3 * 0.545), rel=5e-3)
    assert abs(loaded["current_d"][-1]) < 0.02


def test_a_position_loop_follows_and_batches_are_single_runs():
    cascade = Cascade(velocity=VelocityLoop(2 * np.pi * 20), position=PositionLoop(30.0))
    found = spin(MACHINE, cascade, 2.0, duration=1.0)
    assert found["angle"][-1] == pytest.approx(2.0, abs=1e-4)
    many = spin(MACHINE, cascade, np.array([1.0, 2.0, 3.0]), duration=0.1)
    np.testing.assert_array_equal(
        many["angle"][1], spin(MACHINE, cascade, 2.0, duration=0.1)["angle"]
    )


@pytest.mark.parametrize("limit, corner", [("circle", 1 / np.sqrt(3)), ("hexagon", 2 / 3)])
def test_the_bridge_gives_what_its_link_allows(limit, corner):
    import casadi

    a, b = casadi.SX.sym("a"), casadi.SX.sym("b")
    held = casadi.Function("held", [a, b], list(Inverter(300.0, limit).held(a, b)))
    angles = np.deg2rad(np.arange(0, 360, 5))
    reached = np.array([[float(x) for x in held(1e4 * np.cos(t), 1e4 * np.sin(t))] for t in angles])
    size = np.hypot(*reached.T)
    assert size.max() == pytest.approx(300.0 * corner, rel=1e-9)
    assert size.min() == pytest.approx(300.0 / np.sqrt(3), rel=1e-9)
    np.testing.assert_allclose(np.arctan2(*reached.T[::-1]) % (2 * np.pi), angles, atol=1e-9)
    inside = held(10.0, 5.0)
    assert [float(x) for x in inside] == [10.0, 5.0]


def test_speeds_are_those_of_motulator():
    """The same machine, gains, sample time and link; speeds within half a per cent of the
    largest."""
    control = pytest.importorskip("motulator.drive.control.sm")
    from motulator.drive import model
    from motulator.drive.utils import SynchronousMachinePars

    par = SynchronousMachinePars(n_p=3, R_s=3.6, L_d=0.036, L_q=0.036, psi_f=0.545)
    machine, shaft = model.SynchronousMachine(par), model.StiffMechanicalSystem(J=0.015)
    system = model.Drive(model.VoltageSourceConverter(u_dc=540), machine, shaft)
    cfg = control.CurrentReferenceCfg(par, nom_w_m=2 * np.pi * 75, max_i_s=1.5 * np.sqrt(2) * 5)
    ctrl = control.CurrentVectorControl(par, cfg, J=0.015, T_s=250e-6, sensorless=False)
    ctrl.ref.w_m = lambda t: 3 * 40.0
    system.mechanics.tau_L = lambda t: 3.0 * (t > 0.15)
    theirs = model.Simulation(system, ctrl)
    theirs.simulate(t_stop=0.3)
    cascade = Cascade(CurrentLoop(limit=1.5 * np.sqrt(2) * 5), VelocityLoop(2 * np.pi * 4))
    ours = spin(MACHINE, cascade, 40.0, lambda t: 3.0 * (t > 0.15), 0.3, Inverter(540.0))
    t = np.asarray(theirs.mdl.mechanics.data.t)
    speed = np.interp(ours.time, t, np.asarray(theirs.mdl.mechanics.data.w_M))
    assert np.abs(ours["speed"] - speed).max() < 5e-3 * speed.max()


def test_motors_come_from_sheets_with_their_sources(tmp_path):
    assert set(motors()) == {"pmsm-2.2kw", "gripper-8lva"}
    for name in motors():
        assert motor(name).resistance > 0
    assert motor("pmsm-2.2kw").torque(0.0, 1.0) == pytest.approx(1.5 * 3 * 0.545)
    mine = tmp_path / "mine.yaml"
    numbers = "torque_constant: 0.1, resistance: 1.0, inductance: 1.0e-3, inertia: 1.0e-5"
    mine.write_text(f"a: {{kind: dc, source: me, {numbers}}}\n")
    assert motor("a", mine).torque_constant == 0.1
    mine2 = tmp_path / "wrong.yaml"
    for text, words in (
        ("a: {kind: dc}", "source"),
        ("a: {kind: dc, source: me}", "missing"),
        ("a: {kind: ac}", "kind"),
        ("a: {kind: dc, source: me, torqe: 1}", "torque_constant"),
        ("- 1", "mapping"),
    ):
        place = mine2.with_name(f"{words}.yaml")
        place.write_text(text)
        with pytest.raises(InvalidFile, match=words):
            motor("a", place)
    with pytest.raises(UnknownName, match="pmsm"):
        motor("pmsm-2kw")


def test_refusals_name_what_is_wrong():
    for make, words in (
        (lambda: JointDrives(MOTOR, backlash=0.1), "stiffness"),
        (lambda: JointDrives([]), "motors"),
        (lambda: run(constant([0.0, 0.0]), JointDrives([MOTOR] * 3)), "3 motors"),
        (lambda: run(constant([0.0, 0.0]), 3), "JointDrives"),
        (lambda: CurrentLoop(1e5), "too fast"),
        (lambda: Cascade(velocity=VelocityLoop(2000.0)), "slower"),
        (lambda: Inverter(300.0, "square"), "limit"),
        (lambda: Thermal(1.0, 1.0, 25.0, 20.0), "highest"),
        (lambda: spin(MACHINE, step=1.7e-4), "whole part"),
        (lambda: spin(MOTOR), "PMSM"),
    ):
        with pytest.raises(InvalidInput, match=words):
            make()


def test_a_winding_ends_at_its_losses_times_the_thermal_resistance():
    thermal = Thermal(resistance=2.0, capacity=0.01)  # 20 ms: all transients end
    turning = spin(MACHINE, reference=20.0, load=3.0, duration=0.8, thermal=thermal)
    losses = 1.5 * MACHINE.resistance * (turning["current_d"] ** 2 + turning["current_q"] ** 2)
    assert losses[-1] > 1.0
    np.testing.assert_allclose(
        turning["temperature"][-1], thermal.ambient + 2.0 * losses[-1], rtol=1e-3
    )


def test_dead_time_takes_its_voltage_along_the_current():
    bridge = Inverter(540.0, dead_time=2e-6, switching=1e4)
    currents, numbers = (
        np.array([3.0, 4.0]),
        _numbers(MACHINE, Cascade(), 0.0, 0.0, 0.0, 0.0, None)[0],
    )
    state = casadi.DM([*currents, 0.0, 0.0, 0.0])

    def rates(inverter):
        drive = _Drive((1, 0, 0), inverter, 1e-4, 1, (None, None))
        values = {name: casadi.DM(x) for name, x in numbers.items()}
        return np.array(
            casadi.DM(drive.rates(state, casadi.DM(0), values, casadi.DM(0), casadi.DM(0)))
        ).ravel()[:2]

    taken = (rates(Inverter(540.0)) - rates(bridge)) * [MACHINE.inductance_d, MACHINE.inductance_q]
    np.testing.assert_allclose(taken, bridge.lost * currents / 5.0, rtol=1e-6)


@pytest.mark.parametrize("late", [0, 1])
def test_voltages_lead_by_the_way_that_the_rotor_turns(late):
    """A torque asked of a machine without current is a voltage along q,
    where that is in the middle of its period."""
    angle, speed, T = 0.3, 200.0, 5e-4
    numbers = _numbers(MACHINE, Cascade(), 0.0, 0.0, 0.0, 0.0, None)[0]
    state = dict.fromkeys((*STATE, *KEPT), casadi.DM(0)) | {
        name: casadi.DM(x) for name, x in numbers.items()
    }
    state |= {"angle": casadi.DM(angle), "speed": casadi.DM(speed), "torque_set": casadi.DM(2.0)}
    command = _Drive((1, 0, late), Inverter(1e6), T, 1, (None, None)).current(casadi.DM(0), **state)
    u_a, u_b = (float(command[name]) for name in (("next_a", "next_b") if late else ("u_a", "u_b")))
    along_q = MACHINE.pole_pairs * (angle + speed * T * (late + 0.5)) + np.pi / 2
    np.testing.assert_allclose(
        [u_a, u_b] / np.hypot(u_a, u_b), [np.cos(along_q), np.sin(along_q)], atol=1e-12
    )
