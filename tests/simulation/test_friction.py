"""Damping and dry friction of the description in simulations: MuJoCo, Pinocchio, closed forms,
the energy account."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import casadi
import mujoco
import numpy as np
import pinocchio as pin
import pytest
from scipy.integrate import solve_ivp

import linkwork as lw
from linkwork.errors import InvalidInput
from linkwork.model import Body, Joint, MassProperties, Model
from linkwork.simulation.environment import Environment
from tests.published import URDFS
from tests.simulation.mechanisms import DOUBLE_PENDULUM, ur5

PENDULUM = """<mujoco><option timestep="1e-4" integrator="RK4"/><worldbody>
<body><joint name="swing" axis="0 1 0" damping="{damping}"/><inertial pos="0 0 -0.5" mass="2" diaginertia=".2 .2 .2"/>
<body pos="0 0 -1"><joint name="elbow" axis="0 1 0" damping="0.3"/>
<inertial pos="0 0 -0.4" mass="1" diaginertia=".03 .03 .01"/></body></body></worldbody></mujoco>"""


def slide(friction: float, mass: float = 2.0, damping: float = 0.0, tilt: float = 0.0) -> lw.Robot:
    """A block on a rail along x; gravity pulls it along by `tilt` of g."""
    matter = MassProperties(
        mass, (0.0, 0.0, 0.0), ((0.1, 0.0, 0.0), (0.0, 0.1, 0.0), (0.0, 0.0, 0.1))
    )
    rail = Joint(
        "rail", "prismatic", None, "block", axis=(1.0, 0.0, 0.0), friction=friction, damping=damping
    )
    return lw.Robot(
        Model("slide", (Body("block", matter),), (rail,), gravity=(9.81 * tilt, 0.0, -9.81))
    )


def rubbing_ur5(damping: float | np.ndarray, friction: float | np.ndarray) -> lw.Robot:
    model = ur5().model
    numbers = zip(
        np.broadcast_to(damping, 6).tolist(), np.broadcast_to(friction, 6).tolist(), strict=True
    )
    joints = list(model.joints)
    for k, joint in enumerate(joints):
        if joint.type == "revolute":
            d, f = next(numbers)
            joints[k] = replace(joint, damping=d, friction=f)
    return lw.Robot(replace(model, joints=tuple(joints)))


@pytest.mark.parametrize("options", [{}, {"step": 1e-3}], ids=["adaptive", "fixed"])
def test_damping_of_the_description_acts_as_in_mujoco(
    options: dict[str, Any], tmp_path: Path
) -> None:
    text = PENDULUM.format(damping=2)
    model = mujoco.MjModel.from_xml_string(text)
    data = mujoco.MjData(model)
    data.qpos[:] = 2.0, 0.5
    for _ in range(20_000):
        mujoco.mj_step(model, data)
    path = tmp_path / "pendulum.xml"
    path.write_text(text)
    run = lw.simulate(lw.load(path), [2.0, 0.5], duration=2.0, **options)
    # both are of fourth order: ours with 1 ms is off by 1e-9
    assert np.allclose(run.q[-1], data.qpos, rtol=0, atol=1e-7)
    assert np.allclose(run.v[-1], data.qvel, rtol=0, atol=1e-7)
    assert np.abs(run["energy.balance"]).max() < 1e-7
    assert run["energy.dissipated"][-1] > 20.0


@pytest.mark.parametrize("method", ["rk4", "semi_implicit_euler", "lsoda"])
def test_a_block_stops_where_coulomb_says(method: str) -> None:
    mass, friction, speed = 2.0, 3.0, 1.2
    options = {} if method == "lsoda" else {"step": 1e-3}
    run = lw.simulate(slide(friction, mass), [0.0], [speed], duration=1.5, method=method, **options)
    stops = mass * speed / friction  # 0.8 s
    t = run.time
    sliding = t < stops
    exact = speed * t - friction / mass * t**2 / 2
    # semi-implicit Euler is off by h v / 2; LSODA smooths the last 1e-4 m/s
    allowed = {"rk4": 1e-9, "semi_implicit_euler": 1e-3, "lsoda": 1e-4}[method]
    assert np.abs(run.q[sliding, 0] - exact[sliding]).max() < allowed
    assert abs(run.q[-1, 0] - mass * speed**2 / (2 * friction)) < allowed
    assert np.abs(run.v[t > stops + 0.01]).max() < (1e-12 if method != "lsoda" else 1e-6)
    assert run["energy.dissipated"][-1] == pytest.approx(mass * speed**2 / 2, rel=1e-5)
    assert np.abs(run["energy.balance"]).max() < 1e-6


def test_dry_friction_that_is_strong_enough_holds_the_arm_where_it_is() -> None:
    robot = rubbing_ur5(0.0, 150.0)
    start = np.array([0.3, -1.2, 0.9, -0.4, 0.7, 0.2])
    assert np.abs(robot.gravity_torque(start)).max() < 100.0
    run = lw.simulate(robot, start, duration=0.5, step=1e-3)
    assert np.abs(run.q - start).max() < 1e-10  # 500 steps, each off by rounding
    assert np.abs(run.v).max() < 1e-10


def test_a_slope_moves_a_block_only_beyond_its_friction() -> None:
    weight = 2.0 * 9.81 * 0.2
    still = lw.simulate(slide(weight * 1.001, tilt=0.2), duration=1.0, step=1e-3)
    moves = lw.simulate(slide(weight * 0.999, tilt=0.2), duration=1.0, step=1e-3)
    assert np.abs(still.q).max() < 1e-14
    assert moves.q[-1, 0] == pytest.approx(0.001 * weight / 2.0 / 2, rel=1e-9)


def test_an_arm_that_slides_moves_as_pinocchio_and_scipy_say() -> None:
    path = next(path for path in URDFS.values() if path.name == "ur5_robot.urdf")
    model = pin.buildModelFromUrdf(str(path))
    data = model.createData()
    q, v = np.array([0.3, -1.2, 0.9, -0.4, 0.7, 0.2]), np.array([2.0, -1.5, 1.4, 2.2, -2.6, 1.8])
    inertia = np.diag(ur5().mass_matrix(q))
    damping, friction = 0.5 * inertia, 3.0 * inertia  # no joint stops at once
    robot = rubbing_ur5(damping, friction)

    def rate(_: float, y: np.ndarray) -> np.ndarray:
        lost = damping * y[6:] + friction * np.sign(y[6:])
        return np.concatenate([y[6:], pin.aba(model, data, y[:6], y[6:], -lost)])

    truth = solve_ivp(
        rate, (0, 0.05), np.concatenate([q, v]), method="DOP853", rtol=1e-11, atol=1e-12
    )
    assert (np.sign(truth.y[6:]) == np.sign(v)[:, None]).all(), (
        "a joint stopped: the reference would not know"
    )
    run = lw.simulate(robot, q, v, duration=0.05, step=1e-4)
    assert np.allclose(run.q[-1], truth.y[:6, -1], rtol=0, atol=1e-8)
    assert np.allclose(run.v[-1], truth.y[6:, -1], rtol=0, atol=1e-7)


def test_fixed_and_adaptive_runs_meet_as_steps_fall() -> None:
    robot = rubbing_ur5(0.5, 2.0)
    start = np.array([0.3, -1.2, 0.9, -0.4, 0.7, 0.2])
    smooth = lw.simulate(robot, start, duration=0.5, sample=0.1).q[-1]
    off = [
        np.abs(lw.simulate(robot, start, duration=0.5, step=h).q[-1] - smooth).max()
        for h in (4e-3, 1e-3)
    ]
    assert off[1] < 1e-3 and off[1] < off[0]


def test_left_out_friction_gives_the_bits_of_a_robot_without() -> None:
    options = {"duration": 0.2, "step": 1e-3}
    start = np.array([0.3, -1.2, 0.9, -0.4, 0.7, 0.2])
    none = lw.simulate(ur5(), start, friction=False, **options)
    assert (lw.simulate(rubbing_ur5(0.5, 2.0), start, friction=False, **options).q == none.q).all()
    assert not (lw.simulate(rubbing_ur5(0.5, 2.0), start, **options).q == none.q).all()


def test_what_runs_in_python_rubs_as_machine_code_does() -> None:
    robot = slide(3.0, damping=0.4)
    options: dict[str, Any] = {"duration": 0.5, "step": 1e-3}

    def opaque(t: Any, q: Any, v: Any) -> Any:
        return np.array([float(np.sin(5 * float(t)) > 0) * 4.0])

    machine = lw.simulate(
        robot, [0.0], [1.0], control=lambda t, q, v: 4.0 * (casadi.sin(5 * t) > 0), **options
    )
    python = lw.simulate(robot, [0.0], [1.0], control=opaque, **options)
    assert (machine.where, python.where) == ("machine code", "Python")
    assert np.allclose(machine.q, python.q, rtol=0, atol=1e-12)


def test_a_batch_rubs_as_each_alone() -> None:
    robot = rubbing_ur5(0.5, 5.0)
    q = robot.random(9, seed=0)
    batch = lw.simulate(robot, q, duration=0.05, step=1e-3)
    for k in range(9):
        assert (lw.simulate(robot, q[k], duration=0.05, step=1e-3).q == batch.q[k]).all()


def test_copies_of_an_environment_rub_too() -> None:
    def last(friction: bool) -> float:
        world = Environment(
            slide(3.0),
            4,
            lambda s: s.q[0],
            start=lambda g, n: (np.zeros((n, 1)), np.ones((n, 1))),
            friction=friction,
        )
        world.reset(0)
        for _ in range(50):
            step = world.step(np.zeros((4, 1)))
        return float(step.observation[0, 0])

    assert last(False) == pytest.approx(1.0)
    assert last(True) == pytest.approx(1.0 / 3.0, abs=5e-3)  # m v^2 / 2 F, Euler's steps of 5 ms


@pytest.mark.parametrize("wanted", [None, "no", 1, 0.5, [True]])
def test_friction_is_a_flag(wanted: Any) -> None:
    with pytest.raises(InvalidInput, match="friction"):
        lw.simulate(slide(1.0), duration=0.1, friction=wanted)


def test_a_system_loses_by_its_own_terms() -> None:
    with pytest.raises(InvalidInput, match="its own terms"):
        lw.simulate(DOUBLE_PENDULUM, duration=0.1, friction=False)
