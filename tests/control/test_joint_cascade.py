"""Joint cascades: multi-rate loops over motors against an exact matrix exponential, and on an
arm."""

from __future__ import annotations

import functools
from pathlib import Path

import numpy as np
import pytest
from scipy.linalg import expm

import linkwork as lw
from linkwork.control import Cascade, CurrentLoop, DCMotor, JointCascade, PositionLoop, VelocityLoop
from linkwork.errors import InvalidInput
from linkwork.simulation import GravityCompensation, simulate

MOTOR = DCMotor(
    torque_constant=0.05, resistance=0.5, inductance=1e-3, inertia=1e-5, peak_current=20.0
)
BLOCK = """<robot name="block"><link name="world"/><link name="block"><inertial><mass value="2"/>
<inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/></inertial></link>
<joint name="x" type="prismatic"><parent link="world"/><child link="block"/><axis xyz="1 0 0"/>
<limit lower="-9" upper="9" effort="100" velocity="100"/></joint></robot>"""
N, MASS = 200.0, 2.0  # radians of the motor a metre


@pytest.fixture(scope="module")
def block(tmp_path_factory) -> lw.Robot:
    place: Path = tmp_path_factory.mktemp("cascade") / "block.urdf"
    place.write_text(BLOCK)
    return lw.load(place)


@functools.cache
def arm() -> lw.Robot:
    return lw.load("rehabilitation-arm")


def loops(delay: int = 1, current: float = np.inf, speed: float = np.inf) -> Cascade:
    return Cascade(
        CurrentLoop(2000.0, 50e-6, delay, limit=current),
        VelocityLoop(200.0, every=4),
        PositionLoop(40.0, 1.0, speed, every=8),
    )


def exact(
    target: float, delay: int, voltage: float, current: float, speed: float, samples: int
) -> np.ndarray:
    """(place, speed, current) after every current period: the linear plant by its exponential,
    the loops as printed."""
    K, R, L, T = MOTOR.torque_constant, MOTOR.resistance, MOTOR.inductance, 50e-6
    A = np.array(
        [[0, 1, 0, 0], [0, 0, N * K / MASS, 0], [0, -K * N / L, -R / L, 1 / L], [0, 0, 0, 0]]
    )
    hold = expm(A * T)
    J, x = MASS / N**2, np.zeros(4)
    asked = torque = slow = w_i = following = 0.0
    rows = [x[:3]]
    for k in range(samples):
        if k % 8 == 0:
            asked = np.clip(N * 40.0 * (target - x[0]), -speed, speed)
        if k % 4 == 0:
            known = slow - 200.0 * J * N * x[1]
            most = K * min(MOTOR.peak_current, current)
            torque = np.clip(200.0 * J * (asked - N * x[1]) + known, -most, most)
            slow += 4 * T * 200.0 * (torque - known)
        known = w_i - 2000.0 * L * x[2]
        u = np.clip(2000.0 * L * (torque / K - x[2]) + known, -voltage, voltage)
        w_i += T * 2000.0 * (u - known)
        x[3], following = (following, u) if delay else (u, 0.0)
        x = hold @ x
        rows.append(x[:3].copy())
    return np.array(rows)


@pytest.mark.parametrize(
    ("delay", "voltage", "current", "speed"),
    [(0, 1e9, 1e9, 1e9), (1, 1e9, 1e9, 1e9), (1, 6.0, 4.0, 30.0)],
)
def test_three_rates_are_the_exact_sampled_system(block, delay, voltage, current, speed) -> None:
    """RK4 with two steps a current period misses the exponential by (h R/L)^5,
    about 1e-10 of the motion."""
    servo = JointCascade(loops(delay, current, speed), MOTOR, [0.1], N, voltage)
    run = simulate(
        block,
        duration=0.1,
        step=25e-6,
        sample=50e-6,
        control=servo.control,
        drives=servo.drives,
        energy_tolerance=np.inf,
    )
    rows = exact(0.1, delay, voltage, current, speed, 2000)
    np.testing.assert_allclose(run.q[:, 0], rows[:, 0], atol=1e-9)
    np.testing.assert_allclose(servo.currents(run)[:, 0], rows[:, 2], atol=1e-6)
    assert rows[-1, 0] > 0.01  # it is on its way


def test_an_arm_holds_by_fed_forward_gravity_and_follows() -> None:
    q = np.array([0.3, 0.8])

    def target(t):
        return [0.3 + 0.2 * t * t, 0.8 - 0.1 * t]

    servo = JointCascade(loops(), MOTOR, target, 100.0, 48.0, GravityCompensation())
    options = {
        "control": servo.control,
        "drives": servo.drives,
        "friction": False,
        "energy_tolerance": np.inf,
    }
    run = simulate(arm(), q, [0.0, -0.1], duration=0.2, step=50e-6, sample=1e-3, **options)
    wanted = np.array([target(t) for t in run.time])
    assert np.abs(run.q - wanted).max() < 2e-3
    adaptive = simulate(
        arm(), q, [0.0, -0.1], duration=0.02, sample=1e-3, method="dop853", **options
    )
    np.testing.assert_allclose(adaptive.q, run.q[:21], atol=1e-7)  # RK4 at 50 us
    many = simulate(
        arm(),
        np.stack([q, q + 0.1]),
        [0.0, -0.1],
        duration=0.02,
        step=50e-6,
        sample=1e-3,
        **options,
    )
    np.testing.assert_array_equal(many.q[0], run.q[:21])


def test_fed_gravity_holds_an_arm_from_the_first_sample() -> None:
    """Without it the integral of the velocity loop must learn the weight,
    and the arm sags meanwhile."""
    q, sags = np.array([0.3, 0.8]), []
    for fed in (GravityCompensation(), None):
        servo = JointCascade(loops(), MOTOR, q, 100.0, 48.0, fed)
        options = {
            "control": servo.control,
            "drives": servo.drives,
            "friction": False,
            "energy_tolerance": np.inf,
        }
        run = simulate(arm(), q, duration=0.03, step=50e-6, sample=1e-3, **options)
        sags.append(np.abs(run.q - q).max())
    assert sags[0] < 0.1 * sags[1]


def test_refusals_name_what_is_wrong(block) -> None:
    servo = JointCascade(loops(), MOTOR, [0.1], N)
    with pytest.raises(InvalidInput, match="commands volts"):
        simulate(block, duration=1e-3, step=50e-6, control=servo.control)
    with pytest.raises(InvalidInput, match="with a position loop"):
        JointCascade(Cascade(), MOTOR, [0.1])
    with pytest.raises(InvalidInput, match="no whole number of steps of 3e-05"):
        simulate(block, duration=3e-4, step=3e-5, control=servo.control, drives=servo.drives)
