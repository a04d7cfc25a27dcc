"""Differential inverse kinematics: the QP by its optimality conditions, tasks beside Pink,
limits and constraints."""

from __future__ import annotations

import functools
import sys

import numpy as np
import pinocchio as pin
import pytest

import linkwork as lw
from linkwork.errors import InvalidInput, NotPossible, UnknownName
from linkwork.inverse import qp
from linkwork.inverse.differential import TaskStack
from linkwork.inverse.qp import solve_qp
from linkwork.inverse.tasks import (
    CenterOfMassTask,
    FrameTask,
    JointCouplingTask,
    PostureTask,
    RelativeFrameTask,
)
from tests.pinocchio_models import twin
from tests.robots_list import robot

Q = np.array([0.3, -1.2, 1.1, -0.4, 0.7, 0.2])
FEET = ("FL_FOOT", "FR_FOOT", "HL_FOOT", "HR_FOOT")


@functools.cache
def ur5():
    return robot("ur/ur5_robot")


@functools.cache
def solo():
    return robot("solo/solo12", "floating")


def standing():
    q = solo().neutral()
    q[7:] = np.tile([0.0, 0.8, -1.6], 4)
    return q


@pytest.mark.parametrize("equalities", [0, 3])
@pytest.mark.parametrize("weakest", [1e-2, 1e-9, 1e-12])
def test_the_qp_is_solved_to_its_optimality_conditions(weakest, equalities):
    rng = np.random.default_rng(0)
    for _ in range(20):
        n = 9
        J, A = rng.normal(size=(5, n)), rng.normal(size=(equalities, n))
        H, c, b = (
            J.T @ J + weakest * np.eye(n),
            -J.T @ rng.normal(size=5),
            A @ rng.uniform(-0.2, 0.2, n),
        )
        lower, upper = np.full(n, -0.3), np.full(n, 0.3)
        lower[0], upper[0] = -np.inf, np.inf
        x = solve_qp("test", H, c, lower, upper, A, b)
        assert (x >= lower).all()
        assert (x <= upper).all()
        np.testing.assert_allclose(A @ x, b, atol=1e-9)
        free = (x > lower + 1e-9) & (x < upper - 1e-9)
        slope = H @ x + c
        y = (
            np.linalg.lstsq(A[:, free].T, -slope[free], rcond=None)[0]
            if equalities
            else np.zeros(0)
        )
        slope = slope + A.T @ y
        # a flat direction of curvature 1e-12 moves it by rounding
        assert np.abs(slope[free]).max(initial=0.0) < 1e-7
        assert (np.where(x <= lower + 1e-9, slope, -slope)[~free] > -1e-7).all()


def test_every_task_has_the_jacobian_of_its_error():
    body = solo()
    rng = np.random.default_rng(1)
    q = body.integrate(standing(), 0.2 * rng.normal(size=body.nv))
    T = np.eye(4)
    T[:3, :3], T[:3, 3] = pin.exp3(np.array([0.3, -0.2, 0.4])), [0.1, 0.2, 0.3]
    tasks = (
        FrameTask("FL_FOOT", body.pose(q, "FL_FOOT")),  # rotation errors are exact near zero
        RelativeFrameTask(
            "HL_FOOT", "FR_FOOT", np.linalg.inv(body.pose(q, "FR_FOOT")) @ body.pose(q, "HL_FOOT")
        ),
        PostureTask(standing()),
        CenterOfMassTask([0.1, 0.0, 0.3]),
        JointCouplingTask({"FL_HAA": 1.0, "FR_HAA": -2.0}, 0.3),
    )
    stack = TaskStack(body.subject, tasks)
    e, J = stack.call(q, stack.numbers)
    h = 1e-6
    for k in range(body.nv):
        d = np.zeros(body.nv)
        d[k] = h
        ends = [stack.call(body.integrate(q, s * d), stack.numbers)[0] for s in (1, -1)]
        np.testing.assert_allclose((ends[1] - ends[0]) / (2 * h), J[:, k], atol=1e-8)
    assert np.abs(e[:12]).max() < 1e-14


def test_frames_and_postures_agree_with_pink_to_second_order_in_the_error():
    pink = pytest.importorskip("pink")
    pair = twin("ur/ur5_robot")
    configuration = pink.Configuration(pair.model, pair.model.createData(), Q)
    differences = []
    for size in (1e-2, 1e-3, 1e-4):
        T = ur5().pose(Q + size * np.array([1, -0.5, 0.7, 0.3, -0.2, 0.4]), "tool0")
        frame = pink.tasks.FrameTask(
            "tool0", position_cost=1.0, orientation_cost=0.5, gain=0.8, lm_damping=0.1
        )
        frame.set_target(pin.SE3(T[:3, :3], T[:3, 3]))
        posture = pink.tasks.PostureTask(cost=1e-2)
        posture.set_target(Q + 10 * size)
        theirs = pink.solve_ik(configuration, [frame, posture], 1.0, solver="daqp")
        tasks = [
            FrameTask("tool0", T, 1.0, 0.5, gain=0.8, damping=0.1),
            PostureTask(Q + 10 * size, 1e-2),
        ]
        ours = ur5().differential_inverse_kinematics(Q, tasks, 1.0)
        differences.append(np.abs(ours - theirs).max())
        assert differences[-1] < 3 * size**2
    assert differences[2] < 1e-3 * differences[0]


def test_whole_body_tasks_agree_with_pink():
    pink = pytest.importorskip("pink")
    pair, body = twin("solo/solo12", "floating"), solo()
    q = standing()
    configuration = pink.Configuration(pair.model, pair.model.createData(), pair.q(q))
    com = body.center_of_mass(q) + [1e-5, 2e-5, -1e-5]
    relative = np.linalg.inv(body.pose(q, "FL_FOOT")) @ body.pose(q, "HR_FOOT")
    relative[0, 3] += 1e-5
    their_com = pink.tasks.ComTask(cost=2.0)
    their_com.set_target(com)
    their_relative = pink.tasks.RelativeFrameTask("HR_FOOT", "FL_FOOT", 1.0, 0.1)
    their_relative.set_target(pin.SE3(relative[:3, :3], relative[:3, 3]))
    feet, their_feet = [], []
    for foot in FEET[:3]:
        T = body.pose(q, foot)
        feet.append(FrameTask(foot, T, 1.0, 0.0))
        task = pink.tasks.FrameTask(foot, 1.0, 0.0)
        task.set_target(pin.SE3(T[:3, :3], T[:3, 3]))
        their_feet.append(task)
    theirs = pink.solve_ik(
        configuration,
        [their_com, their_relative, *their_feet],
        1.0,
        solver="daqp",
        damping=1e-6,
        limits=[],
    )
    tasks = [
        CenterOfMassTask(com, 2.0),
        RelativeFrameTask("HR_FOOT", "FL_FOOT", relative, 1.0, 0.1),
        *feet,
    ]
    ours = body.differential_inverse_kinematics(q, tasks, 1.0, limits=False, damping=1e-6)
    np.testing.assert_allclose(ours, theirs[pair.index], atol=1e-8)


def test_an_arm_follows_its_tool_within_speed_and_acceleration():
    arm, dt = lw.load("ur5e"), 0.02
    q, v = np.array([0.1, -1.4, 1.6, -1.7, -1.5, 0.2]), np.zeros(6)
    T = arm.pose(np.array([0.9, -1.1, 1.2, -1.5, -1.2, 0.6]), "tool0")
    task, most = FrameTask("tool0", T), 15.0
    for _ in range(200):
        new = arm.differential_inverse_kinematics(
            q, [task, PostureTask(q, 1e-4)], dt, v, acceleration=most
        )
        assert (np.abs(new - v) <= most * dt * (1 + 1e-9)).all()
        assert (np.abs(new) <= arm.limits.velocity * (1 + 1e-12)).all()
        q, v = arm.integrate(q, new * dt), new
    assert np.abs(arm.pose(q, "tool0") - T).max() < 1e-6


def test_position_limits_are_not_crossed():
    arm, dt = lw.load("ur5e"), 0.02
    q = np.array([0.1, -1.4, 1.6, -1.7, -1.5, 0.2])
    lower, upper = q - 0.05, q + 0.05
    T = arm.pose(q + 0.5, "tool0")
    for _ in range(60):
        q = arm.integrate(
            q,
            dt
            * arm.differential_inverse_kinematics(
                q, [FrameTask("tool0", T)], dt, limits=(lower, upper)
            ),
        )
        assert (q >= lower).all()
        assert (q <= upper).all()
    outside = q + np.array([0.2, 0, 0, 0, 0, 0])
    back = arm.differential_inverse_kinematics(
        outside, [PostureTask(outside)], dt, limits=(lower, upper)
    )
    assert back[0] < 0


def test_feet_held_as_constraints_stay_while_the_body_moves():
    body, dt = solo(), 0.05
    q = standing()
    feet = {foot: body.pose(q, foot) for foot in FEET}
    holds = [_PositionOnly(foot, T) for foot, T in feet.items()]
    T = body.pose(q, "base_link")
    T[:3, 3] += [0.02, 0.01, -0.03]
    T[:3, :3] = pin.exp3(np.array([0.05, -0.03, 0.1])) @ T[:3, :3]
    for _ in range(40):
        v = body.differential_inverse_kinematics(
            q,
            [FrameTask("base_link", T, gain=0.5), PostureTask(standing(), 1e-3)],
            dt,
            constraints=holds,
            limits=False,
        )
        q = body.integrate(q, v * dt)
    assert np.abs(body.pose(q, "base_link") - T).max() < 1e-4
    for foot, held in feet.items():
        np.testing.assert_allclose(body.pose(q, foot)[:3, 3], held[:3, 3], atol=1e-8)


class _PositionOnly(FrameTask):
    """A foot that may turn: the first three rows of a frame task, as a user would write it."""

    @property
    def key(self):
        return ("foot", self.frame)

    def costs(self, subject):
        return np.ones(3)

    def rows(self, scene, numbers):
        e, J = super().rows(scene, numbers)
        return e[0:3], J[0:3, :]


def test_a_batch_is_one_problem_a_row():
    arm = ur5()
    q = arm.random(4, seed=1)
    tasks = [FrameTask("tool0", arm.pose(Q, "tool0")), PostureTask(Q)]
    whole = arm.differential_inverse_kinematics(q, tasks, 0.1)
    assert whole.shape == (4, 6)
    for k in range(4):
        assert np.array_equal(arm.differential_inverse_kinematics(q[k], tasks, 0.1), whole[k])


def test_one_task_alone_is_a_list_of_one():
    arm, task = ur5(), PostureTask(Q, cost=1.0)
    one, listed = (
        arm.differential_inverse_kinematics(Q + 0.1, some, 0.1) for some in (task, [task])
    )
    assert np.array_equal(one, listed)


@pytest.mark.parametrize(
    ("name", "frame"), [("four-bar", "rocker"), ("five-bar", "lower_right"), ("delta", "platform")]
)
def test_loops_stay_closed_on_the_way(name, frame):
    """A frame goes where the actuators can bring it; a gap at the start is closed, too."""
    robot = lw.load(name)
    reference = robot.assemble().q
    c = robot.to_actuators(reference)[0]
    goal = robot.from_actuators(c + 0.2)[0]
    task = FrameTask(frame, robot.pose(goal, frame))
    q = reference + 1e-3
    gaps = []
    for _ in range(40):
        q = robot.integrate(q, 0.1 * robot.differential_inverse_kinematics(q, [task], 0.1))
        gaps.append(robot.assemble(q).q - q)
    assert np.abs(gaps[-1]).max() < 1e-10
    assert np.abs(gaps).max() < 0.05  # of the first long steps: second order in their length
    assert q == pytest.approx(goal, abs=1e-8)


def test_joints_coupled_by_a_task():
    arm, q = ur5(), Q.copy()
    names = arm.joints
    task = JointCouplingTask({names[0]: 1.0, names[1]: 2.0}, value=0.5)
    for _ in range(30):
        q = arm.integrate(
            q, 0.1 * arm.differential_inverse_kinematics(q, [task, PostureTask(Q, 1e-3)], 0.1)
        )
    assert q[0] + 2 * q[1] == pytest.approx(0.5, abs=1e-4)


@pytest.mark.parametrize(
    ("call", "error", "says"),
    [
        (
            lambda a, t: a.differential_inverse_kinematics(Q, [], 0.1),
            InvalidInput,
            "there is no task",
        ),
        (lambda a, t: a.differential_inverse_kinematics(Q, [t], 0.0), InvalidInput, "dt is 0.0"),
        (
            lambda a, t: a.differential_inverse_kinematics(Q, [t], True),
            InvalidInput,
            "dt has dtype bool",
        ),
        (
            lambda a, t: a.differential_inverse_kinematics(Q, 5, 0.1),
            InvalidInput,
            "tasks is 5, expected a list of tasks",
        ),
        (
            lambda a, t: a.differential_inverse_kinematics(Q, [t], 0.1, damping=-1.0),
            InvalidInput,
            "damping is -1.0",
        ),
        (
            lambda a, t: a.differential_inverse_kinematics(Q, [t], 0.1, v=Q[:2]),
            InvalidInput,
            r"v has shape \(2,\)",
        ),
        (
            lambda a, t: a.differential_inverse_kinematics(
                [Q] * 3, [t], 0.1, v=[Q] * 2, acceleration=1.0
            ),
            InvalidInput,
            r"v has shape \(2, 6\), expected \(6,\) or \(3, 6\)",
        ),
        (
            lambda a, t: a.differential_inverse_kinematics(Q, [PostureTask(Q, "low")], 0.1),
            InvalidInput,
            "has dtype",
        ),
        (
            lambda a, t: a.differential_inverse_kinematics(Q, [PostureTask(Q, gain="low")], 0.1),
            InvalidInput,
            "gain has",
        ),
        (lambda a, t: JointCouplingTask(["wrist"]), InvalidInput, "expected a mapping by name"),
        (
            lambda a, t: a.differential_inverse_kinematics(Q[:3], [t], 0.1),
            InvalidInput,
            r"q has shape \(3,\)",
        ),
        (
            lambda a, t: a.differential_inverse_kinematics(Q, ["x"], 0.1),
            InvalidInput,
            "'x' is not a task",
        ),
        (
            lambda a, t: a.differential_inverse_kinematics(Q, [t], 0.1, acceleration=1.0),
            InvalidInput,
            "need the present",
        ),
        (
            lambda a, t: a.differential_inverse_kinematics(Q, [FrameTask("tool", np.eye(4))], 0.1),
            UnknownName,
            'did you mean "tool0"',
        ),
        (
            lambda a, t: a.differential_inverse_kinematics(
                Q, [FrameTask("tool0", np.ones((4, 4)))], 0.1
            ),
            InvalidInput,
            "not a rotation matrix",
        ),
        (
            lambda a, t: a.differential_inverse_kinematics(Q, [PostureTask(Q, -1.0)], 0.1),
            InvalidInput,
            "not negative",
        ),
        (
            lambda a, t: a.differential_inverse_kinematics(Q, [PostureTask(Q, gain=2.0)], 0.1),
            InvalidInput,
            "gain 2.0",
        ),
        (
            lambda a, t: a.differential_inverse_kinematics(
                Q, [JointCouplingTask({"wrist": 1.0})], 0.1
            ),
            UnknownName,
            'no joint "wrist"',
        ),
        (
            lambda a, t: a.differential_inverse_kinematics(
                Q, [t], 1e-3, constraints=[FrameTask("tool0", np.eye(4))]
            ),
            NotPossible,
            "cannot be met",
        ),
    ],
)
def test_bad_calls_are_refused(call, error, says):
    with pytest.raises(error, match=says):
        call(ur5(), PostureTask(Q))


def test_without_its_solver_the_error_says_what_to_install(monkeypatch):
    qp._daqp.cache_clear()
    monkeypatch.setitem(sys.modules, "daqp", None)
    task = PostureTask(np.zeros(6), cost=1.0)
    with pytest.raises(
        NotPossible, match=r"needs the QP solver DAQP: pip install 'linkwork\[qp\]'"
    ):
        ur5().differential_inverse_kinematics(np.full(6, 0.1), [task], 0.1)
    qp._daqp.cache_clear()
