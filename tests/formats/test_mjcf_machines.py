"""Closed machines leave as MJCF: static loads and one second of motion agree with MuJoCo;
the others refuse by element.

Truth: mujoco. Its constraints give way (impedance at most 0.9999, time constant two steps), so the
motion is compared at 1e-5 with steps of 0.5 ms, and seen at 1e-7. Static loads come from MuJoCo's
own forces, Jacobians of the equalities and moments of the actuators, with the constraints taken as
rigid: the same to rounding, asked for at 1e-9.
"""

from __future__ import annotations

import logging

import mujoco
import numpy as np
import pytest
from scipy.integrate import solve_ivp

import linkwork as lw
from linkwork.errors import InvalidFile, NotPossible
from linkwork.formats.mjcf import mjcf_text, read_mjcf_text

STEP = 5e-4
MACHINES = {
    "four-bar": ({}, 0.97),
    "slider-crank": ({}, 0.97),
    "five-bar": ({}, 0.99),
    "watt-drone": ({}, 0.8),
    "stephenson-iii": ({}, 1.01),  # near a dead point
    "delta": ({"motor_0": 0.3, "motor_1": 0.3, "motor_2": 0.3, "z": -0.54}, 0.97),
    "stewart-gough": ({"z": 0.6, "yaw": 0.1}, 0.97),
    # its arms hang: raised, the light hands would turn any rounding into motion
    "charmie": (
        {"d4": 0.1},
        0.9,
    ),
}
"""Where each machine stands, and the part of its static load that its drives give while it
moves."""


@pytest.fixture(autouse=True)
def _quiet(tmp_path, monkeypatch):
    """MuJoCo writes its warnings to a file in the present folder;
    ours name what MJCF has no place for."""
    monkeypatch.chdir(tmp_path)
    logging.getLogger("linkwork").setLevel(logging.ERROR)
    yield
    logging.getLogger("linkwork").setLevel(logging.NOTSET)


class Both:
    """One robot in linkwork and, through a file, in MuJoCo."""

    def __init__(self, robot: lw.Robot, path) -> None:
        self.robot = robot
        lw.save(robot, path)
        self.again = lw.load(path)
        self.model = mujoco.MjModel.from_xml_path(str(path))
        self.model.opt.timestep = STEP
        self.model.opt.integrator = mujoco.mjtIntegrator.mjINT_RK4
        self.model.opt.disableflags |= (
            mujoco.mjtDisableBit.mjDSBL_LIMIT | mujoco.mjtDisableBit.mjDSBL_CONTACT
        )
        self.data = mujoco.MjData(self.model)

    def named(self, kind: int, count: int) -> list[str]:
        return [mujoco.mj_id2name(self.model, kind, k) for k in range(count)]

    def qpos(self, q: np.ndarray) -> np.ndarray:
        """MuJoCo's coordinates, followers included."""
        joints = self.robot.model.joints
        # in the order of q, which need not be the file's
        at = dict(zip(self.robot.joints, q, strict=True))
        for joint in joints:
            if joint.mimic is not None:
                at[joint.name] = joint.mimic.multiplier * at[joint.mimic.joint] + joint.mimic.offset
        return np.array(
            [at[name] for name in self.named(mujoco.mjtObj.mjOBJ_JOINT, self.model.njnt)]
        )

    def static_loads(self, q: np.ndarray) -> np.ndarray:
        """Forces of the drives that hold q, with rigid constraints: J' f + B u = bias - passive."""
        model, data = self.model, self.data
        data.qpos[:], data.qvel[:] = self.qpos(q), 0.0
        moments = []
        for k in range(model.nu):
            data.ctrl[:] = np.eye(model.nu)[k]
            mujoco.mj_forward(model, data)
            moments.append(data.qfrc_actuator.copy())
        data.ctrl[:] = 0.0
        mujoco.mj_forward(model, data)
        equalities = np.array(data.efc_J).reshape(data.nefc, model.nv)[: data.ne]
        # closed where linkwork says it is
        assert np.abs(data.efc_pos[: data.ne]).max(initial=0.0) < 1e-12
        rows = np.hstack([equalities.T, np.array(moments).T])
        forces = data.qfrc_bias - data.qfrc_passive
        found, *_ = np.linalg.lstsq(rows, forces, rcond=1e-10)
        np.testing.assert_allclose(rows @ found, forces, atol=1e-9 * np.abs(forces).max())
        return found[data.ne :]

    def after(self, q: np.ndarray, efforts: np.ndarray, duration: float) -> np.ndarray:
        """qpos after a time at constant efforts."""
        mujoco.mj_resetData(self.model, self.data)
        self.data.qpos[:], self.data.ctrl[:] = self.qpos(q), efforts
        for _ in range(round(duration / STEP)):
            mujoco.mj_step(self.model, self.data)
        return np.array(self.data.qpos)


def standing(name: str) -> tuple[lw.Robot, np.ndarray]:
    robot = lw.load(name)
    joints, _ = MACHINES[name]
    q, _ = robot.consistent(robot.q(**joints), np.zeros(robot.nv))
    return robot, q


@pytest.mark.parametrize("name", MACHINES)
def test_a_closed_machine_agrees_with_mujoco(name, tmp_path):
    robot, q = standing(name)
    both = Both(robot, tmp_path / f"{name}.xml")
    still = np.zeros(robot.nv)
    # drives: as many as linkwork has, in its order
    assert tuple(both.named(mujoco.mjtObj.mjOBJ_ACTUATOR, both.model.nu)) == robot.actuators
    # static loads
    loads = robot.loads(q, still, still)
    ours = np.array([float(loads.actuator(drive)) for drive in robot.actuators])
    np.testing.assert_allclose(ours, both.static_loads(q), atol=1e-9 * np.abs(ours).max())
    # one second of motion
    efforts = MACHINES[name][1] * ours

    def rates(_: float, x: np.ndarray) -> np.ndarray:
        v = x[robot.nq :]
        return np.concatenate(
            [v, robot.loop_dynamics(x[: robot.nq], v, efforts, stabilisation=50.0)]
        )

    run = solve_ivp(
        rates, (0.0, 1.0), np.concatenate([q, still]), method="DOP853", rtol=1e-9, atol=1e-11
    )
    end = run.y[: robot.nq, -1]
    assert np.abs(run.y[: robot.nq].T - q).max() > 0.01  # it has moved, and may have swung back
    np.testing.assert_allclose(both.after(q, efforts, 1.0), both.qpos(end), atol=1e-5)


@pytest.mark.parametrize("name", MACHINES)
def test_a_closed_machine_comes_back_whole(name, tmp_path):
    robot, q = standing(name)
    both = Both(robot, tmp_path / f"{name}.xml")
    assert sorted(both.again.model.elements, key=repr) == sorted(robot.model.elements, key=repr)
    assert both.again.actuators == robot.actuators
    assert both.again.model.carried == robot.model.carried
    still = np.zeros(robot.nv)
    ours, theirs = (each.loads(q, still, still) for each in (robot, both.again))
    for drive in robot.actuators:
        assert float(theirs.actuator(drive)) == pytest.approx(
            float(ours.actuator(drive)), rel=1e-12, abs=1e-9
        )
    points = robot.points(q)
    for body in robot.model.bodies:
        for point, _ in body.points:
            np.testing.assert_allclose(
                both.again.points(q)[body.name][point], points[body.name][point], atol=1e-12
            )


PENDULUM = """linkwork: 1
name: machine
bodies:
  a: {mass: 1, com: [0.2, 0, 0], inertia: [0.01, 0.02, 0.02], points: {P: [0.4, 0, 0]}}
  b: {mass: 0.5, com: [0.1, 0, 0], inertia: [0.01, 0.02, 0.02], points: {P: [0.3, 0, 0.1]}}
joints:
  one: {type: revolute, child: a, axis: "y"}
  two: {type: revolute, parent: a, child: b, axis: "y", placement: [0.4, 0, 0]}
elements:
"""
ELEMENTS = {
    "gear": "  e: {type: gear, joint: one, ratio: 50}\n",
    "belt": "  e: {type: belt, joint: two, driving_radius: 0.02, driven_radius: 0.05, "
    "crossed: true}\n",
    "belt over a carrier": "  e: {type: belt, joint: two, driving_radius: 0.02, driven_radius: "
    "0.05, carrier: one}\n",
    "differential": "  e: {type: differential, joints: [one, two], motors: [m, n],"
    " matrix: [[0.5, 0.5], [0.5, -0.5]]}\n",
    "carriage behind": "  e: {type: linear_actuator, foot: {body: world, at: [0, 0, 0.2]}, head: "
    "a.P, joint: one,"
    " rod: 0.6, direction: x, branch: -1}\n",
    "carriage ahead": "  e: {type: linear_actuator, foot: {body: world, at: [0, 0, 0.2]}, head: "
    "a.P, joint: one,"
    " rod: 0.6, direction: x, branch: 1}\n",
    "spring that pulls": "  e: {type: spring, first: {body: world, at: [0, 0, 0.6]}, second: b.P, "
    "stiffness: 90}\n",
    "spring that hangs loose": "  e: {type: spring, first: {body: world, at: [0, 0, 0.6]}, second: "
    "b.P, stiffness: 90,"
    " free_length: 5}\n",
    "spring that pushes": "  e: {type: spring, first: {body: world, at: [0, 0, 0.6]}, second: b.P, "
    "stiffness: 90,"
    " free_length: 2, kind: compression}\n",
    "spring of both": "  e: {type: spring, first: {body: world, at: [0, 0, 0.6]}, second: b.P, "
    "stiffness: 90,"
    " free_length: 1, pretension: 20, kind: both}\n",
}


@pytest.mark.parametrize("text", ELEMENTS.values(), ids=ELEMENTS)
def test_drives_and_springs_hold_what_they_hold_in_mujoco(text, tmp_path):
    robot = lw.load(text=PENDULUM + text)
    both = Both(robot, tmp_path / "m.xml")
    q, still = np.array([0.3, -0.7]), np.zeros(2)
    loads = robot.loads(q, still, still)
    ours = np.array([float(loads.actuator(drive)) for drive in robot.actuators])
    assert tuple(both.named(mujoco.mjtObj.mjOBJ_ACTUATOR, both.model.nu)) == robot.actuators
    np.testing.assert_allclose(both.static_loads(q), ours, rtol=1e-9, atol=1e-9)
    assert both.again.model.elements == robot.model.elements


def test_a_damper_damps_as_in_mujoco(tmp_path):
    element = (
        "  e: {type: damper, first: {body: world, at: [0, 0, 0.6]}, second: b.P, damping: 3}\n"
    )
    both = Both(lw.load(text=PENDULUM + element), tmp_path / "m.xml")
    q, v = np.array([0.3, -0.7]), np.array([0.5, 1.5])
    both.data.qpos[:], both.data.qvel[:] = q, v
    mujoco.mj_forward(both.model, both.data)
    ours = both.robot.loop_dynamics(q, v, np.zeros(2))
    np.testing.assert_allclose(ours, both.data.qacc, rtol=1e-9)


REFUSED = {
    "pretension": (
        "  e: {type: spring, first: {body: world}, second: b.P, stiffness: 90, free_length: 1, "
        "pretension: 5}\n",
        'spring "e" has pretension that ends where it hangs loose',
    ),
    "four-bar drive": (
        "  e: {type: four_bar, joint: one, loops: [{ground: 1, crank: 0.4, coupler: 1, rocker: "
        "0.8}]}\n",
        'MJCF has no word for a FourBar: "e"',
    ),
}


@pytest.mark.parametrize(("text", "reason"), REFUSED.values(), ids=REFUSED)
def test_what_mujoco_cannot_hold_is_refused_by_element(text, reason, tmp_path):
    with pytest.raises(NotPossible, match=reason):
        lw.save(lw.load(text=PENDULUM + text), tmp_path / "m.xml")


def test_a_bar_with_load_is_refused(tmp_path):
    with pytest.raises(NotPossible, match='MJCF has no word for a Bar: "4sla", "4sra"'):
        lw.save(lw.load("charmie").with_variables(balance_spring=1365.0), tmp_path / "c.xml")


@pytest.mark.parametrize(
    "data",
    [
        "",
        "[]",
        '{"element": "Robot"}',
        '{"element": "Gear"}',
        '{"element": "Gear", "name": "e", "joint": 3}',
    ]
    + [
        '{"element": "Gear", "name": "e", "joint": "one", "speed": 1}',
        '{"element": "Spring", "name": "e", "first": 1}',
    ],
)
def test_marks_that_are_no_elements_are_refused(data):
    model = lw.load(text=PENDULUM + ELEMENTS["gear"]).model
    text = mjcf_text(model)
    start = text.index("data=", text.index("linkwork.element"))
    end = text.index("/>", start)
    wrong = text[:start] + "data='" + (data or " ") + "'" + text[end:]
    with pytest.raises(InvalidFile, match="has data"):
        read_mjcf_text(wrong)
