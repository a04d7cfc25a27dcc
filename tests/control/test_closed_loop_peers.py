"""Closed loops of real robots beside Pinocchio with SciPy's adaptive integrator,
and beside MuJoCo's servos."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import mujoco
import numpy as np
import pinocchio as pin
from scipy.integrate import solve_ivp

import linkwork as lw
from linkwork.control import CartesianImpedance
from linkwork.simulation import PD, ComputedTorque, GravityCompensation, Sampled, simulate
from tests.pinocchio_models import Twin, twin

PERIOD, STEP = 5e-3, 5e-4
Forces = Callable[[float, np.ndarray, np.ndarray], np.ndarray]


def held_motion(
    pair: Twin, model: pin.Model, q: np.ndarray, v: np.ndarray, law: Forces, samples: int
) -> np.ndarray:
    """q (samples + 1, nq) as Pinocchio has it: the law's force held over each period,
    ABA integrated to 1e-11."""
    data, floats = model.createData(), model.joints[1].nq == 7
    y, rows = np.concatenate([pair.q(q), pair.v(v)]), [pair.q(q)]
    for k in range(samples):
        tau = law(k * PERIOD, y[: model.nq], y[model.nq :])

        def rate(_: float, y: np.ndarray, tau: np.ndarray = tau) -> np.ndarray:
            q, v = y[: model.nq], y[model.nq :]
            moved = v
            if floats:  # body axes: p' = R v, and the quaternion's rate is half its product with w
                x, y_, z, w = q[3:7]
                turn = pin.Quaternion(w, x, y_, z).normalized().toRotationMatrix()
                a, b, c = v[3:6]
                spin = 0.5 * np.array(
                    [
                        w * a + y_ * c - z * b,
                        w * b + z * a - x * c,
                        w * c + x * b - y_ * a,
                        -x * a - y_ * b - z * c,
                    ]
                )
                moved = np.concatenate([turn @ v[:3], spin, v[6:]])
            return np.concatenate([moved, pin.aba(model, data, q, v, tau)])

        y = solve_ivp(rate, (0.0, PERIOD), y, method="DOP853", rtol=1e-11, atol=1e-13).y[:, -1]
        rows.append(y[: model.nq].copy())
    return np.array(rows)


def compared(
    pair: Twin, model: pin.Model, q, v, ours, theirs: Forces, samples: int, atol: float, **options
) -> None:
    settings = {
        "step": STEP,
        "sample": PERIOD,
        "friction": False,
        "energy_tolerance": np.inf,
    } | options
    run = simulate(
        pair.robot, q, v, duration=samples * PERIOD, control=Sampled(ours, PERIOD), **settings
    )
    assert run.where == "machine code"
    rows = held_motion(pair, model, q, v, theirs, samples)
    found = np.array([pair.q(x) for x in run.q])
    assert np.abs(rows[-1] - rows[0]).max() > 0.05  # it moves
    np.testing.assert_allclose(found, rows, atol=atol)


def test_impedance_of_a_ur5_against_aba_and_scipy() -> None:
    """Jacobian, logarithm and gravity by Pinocchio. RK4 at 0.5 ms: 1e-8 rad."""
    pair = twin("ur/ur5_robot")
    model, tool = pair.model, "tool0"
    data, frame = model.createData(), model.getFrameId(tool)
    q = np.array([0.3, -1.2, 1.4, -1.0, -1.3, 0.4])
    goal = pair.robot.pose(q + [0.1, -0.1, 0.15, 0.1, -0.1, 0.2], tool)
    K, D = np.array([800.0] * 3 + [20.0] * 3), np.array([60.0] * 3 + [1.0] * 3)

    def law(t: float, q: np.ndarray, v: np.ndarray) -> np.ndarray:
        pin.computeJointJacobians(model, data, q)
        pin.updateFramePlacements(model, data)
        J = pin.getFrameJacobian(model, data, frame, pin.LOCAL_WORLD_ALIGNED)
        at = data.oMf[frame]
        e = np.r_[goal[:3, 3] - at.translation, pin.log3(goal[:3, :3] @ at.rotation.T)]
        return J.T @ (K * e - D * (J @ v)) + pin.computeGeneralizedGravity(model, data, q)

    ours = CartesianImpedance(tool, K, D, target=goal)
    compared(pair, model, q, np.zeros(6), ours, law, 60, 1e-7)


def test_computed_torque_of_a_panda_with_an_unknown_payload_against_aba_and_scipy() -> None:
    pair = twin("panda/panda")
    robot, model, n = pair.robot, pair.model, pair.robot.nv
    heavy, data = model.copy(), model.createData()
    hand = model.frames[model.getFrameId("panda_hand")]
    com = np.array([0.0, 0.02, 0.06])
    heavy.appendBodyToJoint(
        hand.parentJoint, pin.Inertia(2.0, com, np.zeros((3, 3))), hand.placement
    )
    q = np.array([0.1, -0.5, 0.2, -1.9, 0.1, 1.6, 0.5, 0.01, 0.01])[:n]
    amplitude = np.array([0.3, 0.2, -0.2, 0.3, 0.2, -0.3, 0.4, 0.005, 0.005])[:n]

    def target(t):
        return [q[k] + amplitude[k] * t * t for k in range(n)]

    def law(t: float, at: np.ndarray, v: np.ndarray) -> np.ndarray:
        wanted = pair.q(q + amplitude * t * t)
        a = 2 * pair.v(amplitude) + 50.0 * (wanted - at) + 10.0 * (2 * t * pair.v(amplitude) - v)
        return pin.rnea(model, data, at, v, a)

    ours = ComputedTorque(50.0, 10.0, target, model=robot)
    payload = lw.Payload("panda_hand", 2.0, com=tuple(com))
    compared(pair, heavy, q, np.zeros(n), ours, law, 80, 1e-7, payload=payload)


def test_a_floating_quadruped_under_pd_against_aba_and_scipy() -> None:
    """Solo12 in the air: forces on all 18 coordinates, errors by the logarithm of poses."""
    pair = twin("solo/solo12", "floating")
    robot, model = pair.robot, pair.model
    q = robot.integrate(robot.neutral(), 0.2 * np.sin(np.arange(robot.nv)))
    goal = robot.integrate(q, 0.3 * np.cos(np.arange(robot.nv)))
    v = 0.2 * np.sin(1.0 + np.arange(robot.nv))
    kp = np.r_[np.full(6, 2.0), np.full(12, 0.5)]
    kd = np.r_[np.full(6, 0.4), np.full(12, 0.02)]

    def law(t: float, at: np.ndarray, v: np.ndarray) -> np.ndarray:
        return pair.v(kp) * pin.difference(model, at, pair.q(goal)) - pair.v(kd) * v

    compared(pair, model, q, v, PD(kp, kd, goal), law, 20, 1e-6)


def _mujoco(
    robot: lw.Robot, folder: Path, actuators: str, stiff_friction: bool = False
) -> mujoco.MjModel:
    """The robot as MJCF with servos; contacts and limits off, as they are not simulated here."""
    place = folder / "robot.xml"
    lw.save(robot, place)
    text = place.read_text().replace("</mujoco>", f"<actuator>{actuators}</actuator></mujoco>")
    if stiff_friction:  # MuJoCo's dry friction is a soft constraint: as hard as its step allows
        hard = 'solreffriction="0.0004 1" solimpfriction="0.9999 0.9999 0.001"'
        text = text.replace("frictionloss=", f"{hard} frictionloss=")
    place.write_text(text)
    model = mujoco.MjModel.from_xml_path(str(place))
    model.opt.timestep, model.opt.integrator = 1e-4, mujoco.mjtIntegrator.mjINT_RK4
    model.opt.disableflags |= (
        mujoco.mjtDisableBit.mjDSBL_CONTACT | mujoco.mjtDisableBit.mjDSBL_LIMIT
    )
    return model


def _servos(kind: str, joints, gains: str) -> str:
    return "".join(f'<{kind} joint="{joint}" {gains}/>' for joint in joints)


def _rubbing(robot: lw.Robot, damping: float, friction: float) -> lw.Robot:
    joints = [
        replace(j, damping=damping, friction=friction) if j.nv == 1 else j
        for j in robot.model.joints
    ]
    return lw.Robot(replace(robot.model, joints=tuple(joints)))


def test_position_servos_damping_and_dry_friction_are_mujocos(tmp_path: Path) -> None:
    """Without dry friction both are of fourth order; with it MuJoCo's is soft by a small time,
    4e-4 s."""
    plain = lw.load("ur5e")
    q = 0.3 * np.sin(1.0 + np.arange(plain.nv))
    goal = q + 0.2 * np.cos(np.arange(plain.nv))
    for friction, atol in ((0.0, 1e-6), (1.5, 2e-3)):
        robot = _rubbing(plain, 1.0, friction)
        model = _mujoco(
            robot, tmp_path, _servos("position", robot.joints, 'kp="60" kv="4"'), friction > 0
        )
        data = mujoco.MjData(model)
        data.qpos[:], data.ctrl[:] = q, goal
        mujoco.mj_step(model, data, 3000)
        options = {"duration": 0.3, "step": 1e-4, "sample": 0.3, "energy_tolerance": np.inf}
        run = simulate(robot, q, control=PD(60.0, 4.0, goal), **options)
        np.testing.assert_allclose(run.q[-1], data.qpos, atol=atol)
        assert np.abs(run.q[-1] - q).max() > 0.05


def test_velocity_servos_are_mujocos(tmp_path: Path) -> None:
    robot = _rubbing(lw.load("ur5e"), 0.5, 0.0)
    q, speed = 0.3 * np.sin(1.0 + np.arange(6)), np.array([0.4, -0.3, 0.5, 0.2, -0.6, 0.7])
    model = _mujoco(robot, tmp_path, _servos("velocity", robot.joints, 'kv="1"'))
    data = mujoco.MjData(model)
    data.qpos[:], data.ctrl[:] = q, speed
    mujoco.mj_step(model, data, 3000)

    def moving(t):
        return [q[k] + speed[k] * t for k in range(6)]

    options = {"duration": 0.3, "step": 1e-4, "sample": 0.3, "energy_tolerance": np.inf}
    run = simulate(robot, q, control=PD(0.0, 1.0, moving), **options)
    np.testing.assert_allclose(run.q[-1], data.qpos, atol=1e-6)


def test_servos_of_a_floating_quadruped_are_mujocos(tmp_path: Path) -> None:
    robot = _rubbing(twin("solo/solo12", "floating").robot, 0.01, 0.0)
    legs = [joint.name for joint in robot.model.joints if joint.nv == 1]
    model = _mujoco(robot, tmp_path, _servos("position", legs, 'kp="1.5" kv="0.02"'))
    data = mujoco.MjData(model)
    q = robot.integrate(robot.neutral(), 0.2 * np.sin(np.arange(robot.nv)))
    goal = q[7:] + 0.3 * np.cos(np.arange(12))
    at = np.array([model.joint(name).qposadr[0] for name in legs])
    data.qpos[:3], data.qpos[3:7], data.qpos[at] = q[:3], q[[6, 3, 4, 5]], q[7:]
    data.ctrl[:] = goal
    mujoco.mj_step(model, data, 2000)
    gains = np.r_[np.zeros(6), np.full(12, 1.5)], np.r_[np.zeros(6), np.full(12, 0.02)]
    law = PD(*gains, np.concatenate([q[:7], goal]))
    run = simulate(
        robot, q, duration=0.2, step=1e-4, sample=0.2, control=law, energy_tolerance=np.inf
    )
    np.testing.assert_allclose(run.q[-1][:3], data.qpos[:3], atol=1e-6)
    turned = run.q[-1][[6, 3, 4, 5]]
    np.testing.assert_allclose(turned * np.sign(turned @ data.qpos[3:7]), data.qpos[3:7], atol=1e-6)
    np.testing.assert_allclose(run.q[-1][7:], data.qpos[at], atol=1e-6)


def test_gravity_of_a_wrong_model_is_what_an_arm_sags_by() -> None:
    """Statics by Pinocchio alone: kp e equals the payload's gravity where the arm rests."""
    pair = twin("ur/ur5_robot")
    q = np.array([0.3, -1.2, 1.4, -1.0, -1.3, 0.4])
    law = GravityCompensation(model=pair.robot) + PD(300.0, 60.0, q)
    payload = lw.Payload("wrist_3_link", 1.0, com=(0.0, 0.0, 0.1))
    run = simulate(
        pair.robot,
        q,
        duration=4.0,
        step=1e-3,
        sample=4.0,
        control=law,
        payload=payload,
        friction=False,
    )
    heavy = pair.model.copy()
    heavy.appendBodyToJoint(
        6, pin.Inertia(1.0, np.array([0.0, 0.0, 0.1]), np.zeros((3, 3))), pin.SE3.Identity()
    )
    gravity = [
        pin.computeGeneralizedGravity(m, m.createData(), run.q[-1]) for m in (heavy, pair.model)
    ]
    np.testing.assert_allclose(300.0 * (q - run.q[-1]), gravity[0] - gravity[1], atol=1e-5)
