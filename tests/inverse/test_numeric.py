"""Numeric inverse kinematics: judged by Pinocchio's forward kinematics, by closed forms,
and by its own invariances."""

from __future__ import annotations

import functools

import casadi
import numpy as np
import pinocchio as pin
import pytest

import linkwork as lw
from linkwork.errors import InvalidInput, NotPossible, UnknownName
from linkwork.inverse.numeric import Solver
from linkwork.inverse.solve import inverse_kinematics
from linkwork.inverse.targets import Goal
from linkwork.loops.assembly import reference
from tests.inverse.chains import gantry, iiwa, longest_chain, rotation_angle
from tests.pinocchio_models import twin
from tests.robots_list import MACHINES, robot

PANDA, TOOL = "panda/panda", "panda_hand_tcp"
ARMS = ("ur/ur5_robot", "xarm/xarm7", "kinova/kinova", "pr2/pr2", "allegro_hand/allegro_right_hand")
"""As machine code: limits of every kind, endless joints, slides, a short chain.
The others in CasADi's evaluation."""


@functools.cache
def panda():
    return robot(PANDA)


@functools.cache
def iiwa_arm():
    return iiwa()


def targets(arm, frame, count, seed=0):
    return arm.pose(arm.random(count, seed=seed), frame)


def by_pinocchio(name, q, frame):
    """Poses (n, 4, 4) of a frame of the independent robot."""
    pair = twin(name)
    data, found = pair.model.createData(), []
    for row in q:
        pin.framesForwardKinematics(pair.model, data, pair.q(row))
        found.append(data.oMf[pair.model.getFrameId(frame)].homogeneous.copy())
    return np.array(found)


@pytest.mark.parametrize("name", ARMS)
def test_pinocchio_finds_the_frame_where_it_was_wanted(name):
    arm = twin(name).robot
    frame, _ = longest_chain(arm)
    T = by_pinocchio(name, arm.random(60, seed=1), frame)
    found = arm.inverse_kinematics(T, frame)
    assert found.success.all()
    reached = by_pinocchio(name, found.q, frame)
    scale = 1 + np.abs(T[:, :3, 3]).max()
    # the tolerance of the call, in entries of the matrix
    assert np.abs(reached - T).max() < 2e-9 * scale
    assert (found.q >= arm.limits.lower).all()
    assert (found.q <= arm.limits.upper).all()
    assert (found.error <= 1e-9).all()


def by_casadi(arm, goals, targets, q0=None, most=600):
    """(q, stopped) of one target in CasADi's own evaluation:
    the mathematics of the loop without our machine code."""
    solver = Solver("test", arm.subject, tuple(goals), tuple(np.shape(t) for t in targets))
    numbers, _, bad, _ = solver.pack.function()(*targets)
    assert not float(bad)
    loop, state = solver.loop(False, False), solver.plain_start()
    if q0 is not None:
        state[loop.x] = state[loop.best] = q0[solver.moving]
        state[loop.attempt] = -1
    for _ in range(most):
        state, _, stop = loop.scan.function(state, numbers, casadi.DM(0, 1))
        if float(stop) > 0:
            break
    q = solver.neutral.copy() if q0 is None else q0.copy()
    q[solver.moving] = np.array(state).ravel()[loop.best]
    return q, float(stop) > 0


@functools.cache
def chains() -> dict[str, str]:
    """A published machine -> the tip of its longest chain; three joints or more, equal ones
    once."""
    found, known = {}, set()
    for name in MACHINES:
        arm = robot(name, mimic="independent")
        frame, freedom = longest_chain(arm)
        if freedom >= 3 and (arm.subject.tree.fingerprint, frame) not in known and name not in ARMS:
            known.add((arm.subject.tree.fingerprint, frame))
            found[name] = frame
    return found


@pytest.mark.parametrize("part", range(4))
def test_every_published_machine_in_casadis_evaluation(part):
    assert len(chains()) > 25
    for name, frame in list(chains().items())[part::4]:
        arm = robot(name, mimic="independent")
        pose = arm.function("pose", frame)
        T = np.array(pose(arm.random(seed=3)))
        q, stopped = by_casadi(arm, [Goal(frame)], [T])
        assert stopped, name
        assert np.abs(np.array(pose(q)) - T).max() < 2e-9, name


def test_an_answer_does_not_depend_on_its_place_nor_on_threads():
    arm, before = panda(), lw.threads()
    T = targets(arm, TOOL, 300)
    whole = arm.inverse_kinematics(T, TOOL)
    try:
        for n in (1, 3):
            lw.threads(n)
            assert np.array_equal(arm.inverse_kinematics(T[::-1], TOOL).q[::-1], whole.q)
    finally:
        lw.threads(before)
    assert np.array_equal(
        arm.inverse_kinematics(T[7:50].reshape(1, 43, 4, 4), TOOL).q[0], whole.q[7:50]
    )
    for k in (0, 5, 299):
        one = arm.inverse_kinematics(T[k], TOOL)
        assert np.array_equal(one.q, whole.q[k])
        assert (one.iterations, one.success) == (whole.iterations[k], True)
        assert one.q.shape == (arm.nq,)
        as_batch = arm.inverse_kinematics(T[k : k + 1], TOOL)
        assert as_batch.q.shape == (1, arm.nq)
        assert np.array_equal(as_batch.q[0], whole.q[k])


@pytest.mark.parametrize("method", ["numeric", "analytic", "recursive"])
def test_no_targets_give_no_answers(method):
    arm = iiwa_arm()
    found = arm.inverse_kinematics(np.zeros((0, 4, 4)), arm.bodies[-1], method=method)
    assert found.q.shape == (0, 7) and found.success.shape == (0,)


def test_almost_every_pose_of_seven_axis_arms_is_reached_within_the_limits():
    arm = iiwa_arm()
    frame = arm.bodies[-1]
    found = arm.inverse_kinematics(targets(arm, frame, 4000, seed=11), frame)
    assert found.success.mean() >= 0.999
    assert found.iterations.mean() < 15
    assert (np.abs(found.q) <= arm.limits.upper).all()


def test_from_a_given_start_the_answer_stays_near():
    arm = panda()
    q = arm.random(200, seed=5)
    near = np.clip(
        q + 0.02 * np.random.default_rng(0).normal(size=q.shape), arm.limits.lower, arm.limits.upper
    )
    found = arm.inverse_kinematics(arm.pose(q, TOOL), TOOL, near, restarts=0)
    moved = np.abs(found.q - near)[found.success]
    assert found.success.mean() > 0.9  # the others stand at limits or at the elbow's end
    assert np.median(moved.max(axis=1)) < 0.1
    again = arm.inverse_kinematics(arm.pose(q[0], TOOL), TOOL, q[0])
    assert np.array_equal(again.q, q[0])
    assert again.iterations == 1


def test_positions_and_a_tool_free_about_its_axis():
    arm = panda()
    T = targets(arm, TOOL, 80, seed=2)
    position = arm.inverse_kinematics(T[:, :3, 3], TOOL)
    assert position.success.all()
    np.testing.assert_allclose(arm.pose(position.q, TOOL)[:, :3, 3], T[:, :3, 3], atol=2e-9)
    five = arm.inverse_kinematics(T, TOOL, axes="x y z rx ry")
    reached = arm.pose(five.q, TOOL)
    assert five.success.all()
    np.testing.assert_allclose(reached[:, :3, 2:], T[:, :3, 2:], atol=2e-9)
    assert rotation_angle(reached[:, :3, :3], T[:, :3, :3]).max() > 0.1  # free about z


AXIS = np.array([0.6, 0.0, 0.8])
PARTS = {
    "orientation": (
        Goal("link7", "orientation"),
        lambda T: T[:3, :3],
        lambda R, S: rotation_angle(R[:3, :3], S[:3, :3]),
    ),
    "pointing": (
        Goal("link7", "pointing", direction=(0.6, 0.0, 0.8)),
        lambda T: T[:3, 2],
        lambda R, S: np.abs(R[:3, :3] @ AXIS - S[:3, 2]).max(),
    ),
    "in a plane": (
        Goal("link7", "position", axes=("x", "y")),
        lambda T: T,
        lambda R, S: np.abs(S[:3, :3].T @ (R - S)[:3, 3])[:2].max(),
    ),
    "one rotation": (
        Goal("link7", axes=("x", "y", "z", "rz")),
        lambda T: T,
        lambda R, S: max(np.abs(R - S)[:3, 3].max(), abs(pin.log3(R[:3, :3].T @ S[:3, :3])[2])),
    ),
    "uneven weights": (
        Goal("link7", weights=(1, 2, 3, 0.1, 0.2, 0.3)),
        lambda T: T,
        lambda R, S: np.abs(R - S).max(),
    ),
}


@pytest.mark.parametrize(("goal", "part", "error"), PARTS.values(), ids=PARTS)
def test_parts_of_a_pose(goal, part, error):
    arm = iiwa_arm()
    for T in targets(arm, "link7", 4, seed=2):
        q, stopped = by_casadi(arm, [goal], [part(T)])
        reached = arm.pose(q, "link7")
        assert stopped
        assert error(reached, T) < 2e-9
        if goal.axes:
            assert np.abs(reached - T).max() > 1e-3  # what is free is not held


def test_several_frames_at_once():
    hand = robot("allegro_hand/allegro_right_hand")
    tips = [f"link_{k}_tip" for k in ("3.0", "7.0", "15.0")]
    q = hand.random(40, seed=4)
    T = [hand.pose(q, f) for f in tips]
    goals = [
        tips[0],
        Goal(tips[1], task="position"),
        Goal(tips[2], task="pointing", direction=(1, 0, 0)),
    ]
    found = hand.inverse_kinematics([T[0], T[1][:, :3, 3], T[2][:, :3, 0]], goals)
    assert found.success.all()
    np.testing.assert_allclose(hand.pose(found.q, tips[0]), T[0], atol=2e-9)
    np.testing.assert_allclose(hand.pose(found.q, tips[1])[:, :3, 3], T[1][:, :3, 3], atol=2e-9)
    np.testing.assert_allclose(hand.pose(found.q, tips[2])[:, :3, 0], T[2][:, :3, 0], atol=2e-9)


def test_a_floating_base_with_its_feet_held():
    body = robot("solo/solo12", "floating")
    feet = ["FL_FOOT", "FR_FOOT", "HL_FOOT", "HR_FOOT"]
    q0 = body.neutral()
    q0[7:] = np.tile([0.0, 0.8, -1.6], 4)
    held = [body.pose(q0, foot)[:3, 3] for foot in feet]
    goals = [Goal("base_link"), *(Goal(f, task="position") for f in feet)]
    rng = np.random.default_rng(0)
    for _ in range(3):
        base = np.eye(4)
        base[:3, :3], base[:3, 3] = pin.exp3(0.1 * rng.normal(size=3)), 0.02 * rng.normal(size=3)
        q, stopped = by_casadi(body, goals, [base, *held], q0)
        assert stopped
        np.testing.assert_allclose(body.pose(q, "base_link"), base, atol=2e-9)
        for foot, p in zip(feet, held, strict=True):
            np.testing.assert_allclose(body.pose(q, foot)[:3, 3], p, atol=2e-9)
        assert abs(np.linalg.norm(q[3:7]) - 1) < 1e-12


CLOSED = {"five-bar": "lower_right.C", "delta": "platform", "slider-crank": "piston"}


@pytest.mark.parametrize("name", CLOSED)
def test_closed_loops_stay_closed(name):
    machine, frame = lw.load(name), CLOSED[name]
    home = reference(machine.subject)
    c = machine.to_actuators(home)[0]
    for change in 0.1 * np.random.default_rng(0).uniform(-1, 1, (3, len(c))):
        wanted = machine.from_actuators(c + change, q0=home)[0]
        p = machine.pose(wanted, frame)[:3, 3]
        if name == "five-bar":
            found = machine.inverse_kinematics(p, frame, home)
            q, stopped = found.q, found.success
        else:
            q, stopped = by_casadi(machine, [Goal(frame, "position")], [p], home)
        assert stopped
        np.testing.assert_allclose(machine.pose(q, frame)[:3, 3], p, atol=2e-9)
        np.testing.assert_allclose(q, wanted, atol=1e-7)  # 1e-9 of a loop near a dead point


def test_strokes_of_struts_are_limits():
    charmie = lw.load("charmie")
    frame = charmie.bodies[-1]
    T = targets(charmie, frame, 30)
    found = charmie.inverse_kinematics(T, frame)
    c = charmie.to_actuators(found.q)[0]
    struts = {e.name: e for e in charmie.model.elements if type(e).__name__ == "LinearActuator"}
    assert struts
    for k, name in enumerate(charmie.actuators):
        if name in struts:
            assert (c[:, k] >= float(struts[name].lower) - 1e-12).all()
            assert (c[:, k] <= float(struts[name].upper) + 1e-12).all()


def test_joints_that_follow_others():
    arm = panda()  # its second finger follows the first
    assert arm.nq == 8
    T = targets(arm, "panda_rightfinger", 50)
    found = arm.inverse_kinematics(T, "panda_rightfinger")
    assert found.success.all()
    np.testing.assert_allclose(arm.pose(found.q, "panda_rightfinger"), T, atol=2e-9)


def test_limits_of_the_call():
    arm = panda()
    T = targets(arm, TOOL, 100, seed=8)
    lower, upper = arm.limits.lower.copy(), arm.limits.upper.copy()
    lower[0], upper[0] = -0.5, 0.5
    narrow = arm.inverse_kinematics(T, TOOL, limits=(lower, upper), restarts=20)
    assert (np.abs(narrow.q[:, 0]) <= 0.5).all()
    assert 0 < narrow.success.mean() < 1
    wide = arm.inverse_kinematics(T, TOOL, limits=False)
    assert wide.success.all()
    assert (np.abs(wide.q[:, :7]) <= np.pi + 1e-12).all()  # whole turns taken off
    assert ((wide.q < arm.limits.lower) | (wide.q > arm.limits.upper)).any()


def test_a_preferred_configuration():
    arm = panda()
    q = arm.random(60, seed=9)
    T, home = arm.pose(q, TOOL), arm.q(panda_joint2=-0.4, panda_joint4=-2.0, panda_joint6=1.6)
    plain = arm.inverse_kinematics(T, TOOL, home)
    near = arm.inverse_kinematics(T, TOOL, home, prefer="near")
    assert near.success.all()
    distances = [np.linalg.norm((found.q - home)[:, :7], axis=1) for found in (plain, near)]
    assert np.mean(distances[1]) < np.mean(distances[0])
    J = arm.jacobian(near.q, TOOL)[..., :7]
    inner = ~near.on_limit[:, :7].any(axis=1)
    null = [np.eye(7) - np.linalg.pinv(j) @ j for j in J]
    slope = np.array(
        [np.linalg.norm(n @ d) for n, d in zip(null, (near.q - home)[:, :7], strict=True)]
    )
    assert np.median(slope[inner]) < 1e-3  # stationary along what the task leaves free


def test_along_a_path_joints_do_not_jump():
    arm = panda()
    home = arm.q(panda_joint2=-0.4, panda_joint4=-2.0, panda_joint6=1.6)
    t = np.linspace(0, 2 * np.pi, 400)
    path = np.tile(arm.pose(home, TOOL), (len(t), 1, 1))
    path[:, :3, 3] += 0.1 * np.stack([np.cos(t) - 1, np.sin(t), 0 * t], 1)
    found = arm.inverse_kinematics(path, TOOL, home, track=True)
    assert found.success.all()
    assert np.abs(np.diff(found.q, axis=0)).max() < 0.02
    assert found.iterations.mean() < 4
    np.testing.assert_allclose(arm.pose(found.q, TOOL), path, atol=2e-9)
    drift = np.abs(found.q[-1] - home).max()
    held = arm.inverse_kinematics(path, TOOL, home, track=True, prefer="near")
    assert held.success.all()
    assert np.abs(held.q[-1] - home).max() < 1e-3 < drift
    both = arm.inverse_kinematics(np.stack([path, path[::-1]]), TOOL, home, track=True)
    assert np.array_equal(both.q[0], found.q)
    starts = np.stack([home, home + 0.01])
    several = arm.inverse_kinematics(path, TOOL, starts, track=True)
    assert several.success.shape == (2, 400) and several.success.all()
    assert np.array_equal(several.q[0], found.q)
    dt = 1e-3
    hurried = arm.inverse_kinematics(path, TOOL, home, track=True, dt=dt)
    steps = np.abs(np.diff(np.vstack([home, hurried.q]), axis=0))
    assert (steps <= arm.limits.velocity * dt * (1 + 1e-12)).all()
    assert not hurried.success.all()


def test_what_cannot_be_reached_is_said():
    arm = iiwa_arm()
    frame = arm.bodies[-1]
    T = targets(arm, frame, 6)
    T[:3, :3, 3] *= 10
    found = arm.inverse_kinematics(T, frame)
    assert found.success.tolist() == [False] * 3 + [True] * 3
    assert all(
        text.startswith("out of reach: the chain is 0.926 m long") for text in found.reason[:3]
    )
    np.testing.assert_allclose(
        found.position_error,
        np.linalg.norm(arm.pose(found.q, frame)[:, :3, 3] - T[:, :3, 3], axis=1),
        atol=1e-12,
    )
    stretched = arm.pose(np.zeros(7), frame)
    stretched[2, 3] += 1e-4  # a tenth of a millimetre too far for the straight arm
    one = arm.inverse_kinematics(stretched, frame, restarts=5)
    assert not one.success
    assert one.position_error > 0.9e-4
    locked = arm.inverse_kinematics(T[4], frame, limits=(np.zeros(7), np.zeros(7)))
    assert not locked.success
    assert np.array_equal(locked.q, np.zeros(7))
    assert "a1" in locked.reason


def test_near_the_edge_of_the_workspace_nothing_is_claimed_falsely():
    arm = iiwa_arm()
    frame = arm.bodies[-1]
    straight = arm.pose(np.zeros(7), frame)
    assert arm.inverse_kinematics(straight, frame).success
    T = np.tile(straight, (200, 1, 1))
    T[:, 2, 3] += np.linspace(-1e-6, 1e-6, 200)
    found = arm.inverse_kinematics(T, frame, restarts=5)
    error = np.abs(arm.pose(found.q, frame) - T).max(axis=(1, 2))
    assert (error[found.success] < 2e-9).all()
    assert not found.success[T[:, 2, 3] > straight[2, 3] + 1e-8].any()


def test_targets_in_single_precision_are_mended():
    arm = panda()
    T = targets(arm, TOOL, 20)
    found = arm.inverse_kinematics(T.astype(np.float32), TOOL)
    assert found.success.all()
    np.testing.assert_allclose(arm.pose(found.q, TOOL), T, atol=1e-6)


def test_slides_count_in_metres():
    machine = gantry()
    p = np.random.default_rng(0).uniform(-2, 2, (20, 3))
    found = machine.inverse_kinematics(p, machine.bodies[-1])
    assert found.success.all()
    np.testing.assert_allclose(machine.pose(found.q, machine.bodies[-1])[:, :3, 3], p, atol=2e-9)


def bad(T, k, value):
    T = T.copy()
    T[k] = value
    return T


@pytest.mark.parametrize(
    ("call", "error", "says"),
    [
        (
            lambda r, T: r.inverse_kinematics(bad(T, (0, 0), np.nan), TOOL),
            InvalidInput,
            r"target\[0, 0\] is nan",
        ),
        (
            lambda r, T: r.inverse_kinematics(bad(T, (0, 0), 2.0), TOOL),
            InvalidInput,
            "not a rotation matrix",
        ),
        (
            lambda r, T: r.inverse_kinematics(np.diag([1.0, 1.0, -1.0, 1.0]), TOOL),
            InvalidInput,
            "det = -1",
        ),
        (
            lambda r, T: r.inverse_kinematics(bad(T, (3, 0), 0.1), TOOL),
            InvalidInput,
            "last row of a rigid transform",
        ),
        (
            lambda r, T: r.inverse_kinematics(np.stack([T, bad(T, (0, 0), 2.0)]), TOOL),
            InvalidInput,
            r"target\[1\]",
        ),
        (lambda r, T: r.inverse_kinematics(np.zeros(5), TOOL), InvalidInput, r"has shape \(5,\)"),
        (lambda r, T: r.inverse_kinematics(T, "panda_tool"), UnknownName, "did you mean"),
        (lambda r, T: r.inverse_kinematics(T, "panda_link0"), NotPossible, "fixed in the world"),
        (
            lambda r, T: r.inverse_kinematics(T, TOOL, np.zeros(3)),
            InvalidInput,
            r"q0 has shape \(3,\)",
        ),
        (
            lambda r, T: r.inverse_kinematics(T, TOOL, np.full(8, np.inf)),
            InvalidInput,
            r"q0\[0\] is inf",
        ),
        (
            lambda r, T: r.inverse_kinematics(T, TOOL, method="magic"),
            InvalidInput,
            "expected one of 'auto'",
        ),
        (
            lambda r, T: r.inverse_kinematics(T, TOOL, restart=3),
            InvalidInput,
            'did you mean "restarts"',
        ),
        (lambda r, T: r.inverse_kinematics(T, TOOL, restarts=-1), InvalidInput, "restarts is -1"),
        (
            lambda r, T: r.inverse_kinematics(T, TOOL, tolerance=0.0),
            InvalidInput,
            "tolerance is 0.0",
        ),
        (lambda r, T: r.inverse_kinematics(T, TOOL, axes="x q"), InvalidInput, "axes is 'x q'"),
        (
            lambda r, T: r.inverse_kinematics(T, TOOL, weights=[1, 1, 1]),
            InvalidInput,
            "six positive numbers",
        ),
        (
            lambda r, T: r.inverse_kinematics(T, TOOL, weights="heavy"),
            InvalidInput,
            "weights has dtype",
        ),
        (
            lambda r, T: r.inverse_kinematics(T[:3, 2], TOOL, task="pointing", direction="x"),
            InvalidInput,
            "direction has",
        ),
        (
            lambda r, T: r.inverse_kinematics(T, TOOL, axes=5),
            InvalidInput,
            "axes is 5, expected a list of names",
        ),
        (lambda r, T: lw.Goal(5), InvalidInput, "frame is 5, expected its name"),
        (
            lambda r, T: r.inverse_kinematics(T, TOOL, tolerance=True),
            InvalidInput,
            "tolerance is True",
        ),
        (
            lambda r, T: r.inverse_kinematics(T, TOOL, tolerance="tight"),
            InvalidInput,
            "tolerance is 'tight'",
        ),
        (
            lambda r, T: r.inverse_kinematics(T, TOOL, tolerance=[1e-6, None]),
            InvalidInput,
            "tolerance is",
        ),
        (
            lambda r, T: r.inverse_kinematics(T, "x"),
            UnknownName,
            r'has no frame "x"\. All \d+ names',
        ),
        (
            lambda r, T: r.inverse_kinematics(
                np.stack([T, T]), TOOL, np.zeros(8), "pseudo_inverse", dt=0.1, alpha="much"
            ),
            InvalidInput,
            "alpha has dtype",
        ),
        (lambda r, T: r.inverse_kinematics(T, TOOL, task="grasp"), InvalidInput, "task is 'grasp'"),
        (
            lambda r, T: r.inverse_kinematics(T, TOOL, limits=(np.ones(8), np.zeros(8))),
            InvalidInput,
            "exceeds upper",
        ),
        (lambda r, T: r.inverse_kinematics(T, TOOL, prefer="far"), InvalidInput, "prefer is 'far'"),
        (lambda r, T: r.inverse_kinematics(T, TOOL, dt=0.1), InvalidInput, "track=True"),
        (lambda r, T: r.inverse_kinematics(T, TOOL, track=True), InvalidInput, "needs a path"),
        (lambda r, T: r.inverse_kinematics(T, [TOOL]), InvalidInput, "list of 1 targets"),
        (lambda r, T: r.inverse_kinematics([T, T], [TOOL, TOOL]), InvalidInput, "each frame once"),
        (
            lambda r, T: r.inverse_kinematics(np.zeros(3), TOOL, task="pointing"),
            InvalidInput,
            "points nowhere",
        ),
        (
            lambda r, T: r.inverse_kinematics(np.stack([T] * 3), TOOL, np.zeros((4, 8))),
            InvalidInput,
            r"q0 has shape \(4, 8\), which does not go with the batch \(3,\) of targets",
        ),
        (
            lambda r, T: r.inverse_kinematics(
                np.tile(T, (2, 5, 1, 1)), TOOL, np.zeros((3, 8)), track=True
            ),
            InvalidInput,
            r"q0 has shape \(3, 8\), which does not go with the batch \(2,\) of paths",
        ),
    ],
)
def test_bad_calls_are_refused(call, error, says):
    arm = panda()
    with pytest.raises(error, match=says):
        call(arm, arm.pose(arm.random(seed=0), TOOL))


def test_legs_of_a_platform_keep_their_strokes():
    """The six lengths follow from the pose: it is reached where all lie in their strokes,
    and nowhere else."""
    robot = lw.load("stewart-gough")
    rng = np.random.default_rng(8)
    q = np.concatenate(
        [
            rng.uniform((-0.4, -0.4, 0.3), (0.4, 0.4, 1.6), (300, 3)),
            rng.uniform(-0.4, 0.4, (300, 3)),
        ],
        axis=1,
    )
    lengths = robot.to_actuators(q)[0]
    within = ((lengths >= 0.3) & (lengths <= 1.2)).all(axis=1)
    assert 60 < within.sum() < 240
    T = robot.pose(q, "platform")
    for method in ("auto", "numeric"):
        found = robot.inverse_kinematics(T, "platform", method=method, limits=method != "numeric")
        assert np.array_equal(found.success, within)
    assert robot.from_actuators(lengths[within], q0=q[within])[0] == pytest.approx(
        found.q[within], abs=1e-6
    )


def test_numbers_of_numpy_are_numbers():
    arm = panda()
    T = targets(arm, TOOL, 3, seed=5)
    plain = arm.inverse_kinematics(T, TOOL, tolerance=(1e-6, 2e-6))
    for pair in (np.array([1e-6, 2e-6]), [np.float64(1e-6), 2e-6]):
        assert np.array_equal(arm.inverse_kinematics(T, TOOL, tolerance=pair).q, plain.q)
    start = arm.inverse_kinematics(T[0], TOOL).q
    path = (T[:1].repeat(3, axis=0), TOOL, start)
    half = arm.inverse_kinematics(*path, track=True, dt=np.float32(0.5))
    assert np.array_equal(half.q, arm.inverse_kinematics(*path, track=True, dt=0.5).q)


def test_a_posture_short_of_the_tolerance_is_said_once():
    """No arithmetic of doubles reaches 1e-20 m, though the closed form knows the posture."""
    arm = lw.load("ur5e")
    found = arm.inverse_kinematics(arm.pose(arm.random(seed=1), "tool0"), "tool0", tolerance=1e-20)
    assert not found.success and found.error < 1e-14
    assert found.reason.count("the nearest configuration found is") == 1


def test_the_short_way_and_the_long_way_agree():
    arm = panda()
    T, q0 = targets(arm, TOOL, 5, seed=6), arm.random(seed=7)
    for target in T:
        long = inverse_kinematics(arm.subject, target[None], TOOL, q0, "numeric", {})
        short = arm.inverse_kinematics(target, TOOL, q0)
        assert np.array_equal(long.q[0], short.q)
        assert short.reason.startswith("reached within")
        assert long.position_error[0] == short.position_error
