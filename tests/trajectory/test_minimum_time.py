"""Minimum time: closed forms, the published case, toppra, a convex programme,
and limits kept in motion."""

from __future__ import annotations

import casadi
import numpy as np
import pinocchio as pin
import pytest
import toppra
from toppra import algorithm, constraint

import linkwork as lw
from linkwork.errors import InvalidInput, NotPossible
from linkwork.model import Body, Joint, Limits, MassProperties, Model
from linkwork.robot import Robot
from linkwork.trajectory import Path, minimum_time, path_coefficients, quintic
from linkwork.trajectory.reachability import UNLIMITED, fastest
from tests.christoffel5 import drawn_model
from tests.pinocchio_models import twin

LIMITS = np.array([25.0, 25.0, 20.0, 15.0, 8.0])
LINE = Path.line(np.zeros(5), [1.0, -0.5, 0.8, 0.6, -1.2])


@pytest.fixture(scope="module")
def five():
    return Robot(drawn_model())


def one_joint(J: float = 0.5, effort: float = np.inf) -> Robot:
    matter = MassProperties(0.0, (0, 0, 0), ((J, 0, 0), (0, J, 0), (0, 0, J)))
    joint = Joint("hinge", "revolute", None, "wheel", limits=(Limits(effort=effort),))
    return Robot(
        Model(name="wheel", bodies=(Body("wheel", matter),), joints=(joint,))
    ).with_gravity((0, 0, 0))


def arm_and_path(seed: int = 3):
    """xArm7 on a spline through five configurations, with torques three times those that hold
    it."""
    robot, rng = twin("xarm/xarm7").robot, np.random.default_rng(seed)
    low, high = np.maximum(robot.limits.lower, -2), np.minimum(robot.limits.upper, 2)
    waypoints = low + (high - low) * rng.uniform(0.2, 0.8, size=(5, 7))
    held = np.abs(robot.gravity_torque(waypoints)).max(axis=0)
    return robot, waypoints, np.maximum(3 * held, 5.0) + 3.0


def convex_programme(robot: Robot, path: Path, limits: np.ndarray, N: int) -> float:
    """The least duration on N intervals, all at once: [Verscheure2009],
    solved by an interior-point method."""
    s = np.linspace(0, 1, N + 1)
    h, k = 1 / N, path_coefficients(robot, path, s)
    b = casadi.SX.sym("b", N + 1)
    a = (b[1:] - b[:-1]) / (2 * h)
    used = []
    for j in range(robot.nv):  # at both ends of every interval
        for at in (slice(0, N), slice(1, N + 1)):
            used.append((k.m[at, j] * a + k.c[at, j] * b[at] + k.d[at, j]) / limits[j])
    root = casadi.vertcat(0, casadi.sqrt(b[1:-1]), 0)
    problem = {"x": b, "f": casadi.sum1(2 * h / (root[1:] + root[:-1])), "g": casadi.vertcat(*used)}
    solver = casadi.nlpsol(
        "nlp", "ipopt", problem, {"ipopt.print_level": 0, "print_time": 0, "ipopt.tol": 1e-9}
    )
    ends = np.r_[0.0, np.full(N - 1, np.inf), 0.0]
    found = solver(x0=0.1 * np.minimum(s, 1 - s) + 1e-3, lbx=0, ubx=ends, lbg=-1, ubg=1)
    assert solver.stats()["success"]
    return float(found["f"])


def swept(robot: Robot, path: Path, limits: np.ndarray, N: int) -> float:
    """The duration that the two sweeps find on N intervals, without the replay inside them."""
    s = np.linspace(0, 1, N + 1)
    k = path_coefficients(robot, path, s)
    ends = [np.hstack([x[:-1], x[1:]]) for x in (k.m, k.c, -limits - k.d, limits - k.d)]
    part = np.repeat([0.0, 1.0], robot.nv)
    sd = np.sqrt(fastest(np.diff(s), *ends, part, np.full(N + 1, UNLIMITED), 0.0, 0.0))
    return float((2 * np.diff(s) / (sd[1:] + sd[:-1])).sum())


def by_toppra(pair, waypoints, s, limits, N, velocity=None) -> float:
    path, data, model = (
        toppra.SplineInterpolator(s, waypoints, bc_type="natural"),
        pair.model.createData(),
        pair.model,
    )
    bands = [
        constraint.JointTorqueConstraint(
            lambda q, v, a: pin.rnea(model, data, q, v, a),
            np.stack([-limits, limits], axis=1),
            np.zeros(len(limits)),
            discretization_scheme=constraint.DiscretizationType.Interpolation,
        )
    ]
    if velocity is not None:
        bands.append(constraint.JointVelocityConstraint(np.stack([-velocity, velocity], axis=1)))
    grid = np.linspace(0, 1, N)
    return (
        algorithm.TOPPRA(bands, path, gridpoints=grid, solver_wrapper="seidel")
        .compute_trajectory(0, 0)
        .duration
    )


# closed forms


def test_one_joint_is_bang_bang():
    """T = 2 sqrt(J way / tau), half of it accelerating."""
    law = minimum_time(one_joint(), Path.line([0.0], [2.0]), [3.0], points=401)
    assert law.duration == pytest.approx(1.154700538379, abs=1e-6)
    np.testing.assert_allclose(np.abs(law.saturation), 1.0, atol=1e-9)
    assert (np.diff(np.sign(law.torque[:, 0])) != 0).sum() == 1


def test_the_duration_grows_with_the_root_of_the_inertia():
    path = Path.line([0.0], [2.0])
    loads = lw.Payload("wheel", 0.0, inertia=np.array([0.0, 0.5, 1.5])[:, None, None] * np.eye(3))
    law = minimum_time(one_joint(), path, [3.0], payload=loads)
    assert law.duration.shape == (3,)
    np.testing.assert_allclose(law.duration / law.duration[0], np.sqrt([1.0, 2.0, 4.0]), rtol=1e-12)
    q, v, _ = law[2].at([0.0, law.duration[2] / 2, law.duration[2]])
    np.testing.assert_allclose(q[:, 0], [0, 1, 2], atol=1e-9)
    np.testing.assert_allclose(v[[0, 2], 0], 0, atol=1e-9)


def test_velocity_and_acceleration_limits_make_the_trapezoid():
    robot, path = one_joint(), Path.line([0.0], [2.0])
    law = minimum_time(
        robot, path, [100.0], velocity_limits=[1.0], acceleration_limits=[4.0], points=2001
    )
    assert law.duration == pytest.approx(2.0 / 1.0 + 1.0 / 4.0, abs=1e-5)
    assert np.abs(law.at(np.linspace(0, law.duration, 500))[1]).max() == pytest.approx(
        1.0, abs=1e-9
    )


def test_speeds_at_the_ends():
    """sd: 1 -> 1 on [0, 1] with |q''| <= 2 * 2 / 2: peak at the middle from x' = 2 u."""
    law = minimum_time(
        one_joint(), Path.line([0.0], [2.0]), [3.0], start_speed=1.0, end_speed=1.0, points=2001
    )
    u = 3.0 / 0.5 / 2.0
    peak = np.sqrt(1 + u)  # x = 1 + 2 u s at s = 1/2
    assert law.speed[1000] == pytest.approx(peak, rel=1e-9)
    assert law.duration == pytest.approx(2 * (peak - 1) / u, rel=1e-9)


# other people's numbers


def test_the_five_joint_case(five):
    law = minimum_time(five, LINE, LIMITS, points=801)
    assert law.duration == pytest.approx(1.08149, abs=2e-4)
    assert np.interp(0.5, law.s, law.speed) == pytest.approx(1.642, abs=2e-3)
    assert (law.active == 0).all()  # joint 1 all along
    used = np.abs(law.saturation).max(axis=1)
    assert used.max() <= 1 + 1e-9
    fine = minimum_time(five, LINE, LIMITS, points=4001)
    assert (np.abs(fine.saturation).max(axis=1) > 0.999).mean() > 0.999
    # one switch from accelerating to braking
    assert (np.diff(np.sign(fine.acceleration)) != 0).sum() == 1


def test_a_convex_programme_agrees(five):
    """The sweeps solve the discrete problem exactly;
    rows without inertia they keep at both ends of an interval."""
    for N in (100, 400):
        assert swept(five, LINE, LIMITS, N) == pytest.approx(
            convex_programme(five, LINE, LIMITS, N), abs=2e-7
        )
    robot, waypoints, limits = arm_and_path()
    path, N = Path.through(waypoints), 150
    ours, theirs = swept(robot, path, limits, N), convex_programme(robot, path, limits, N)
    assert theirs * (1 - 1e-7) < ours < theirs * (1 + 2e-3)  # 1e-5 with 1001 points


@pytest.mark.parametrize("velocity", [None, np.full(7, 2.5)])
def test_toppra_is_not_faster(velocity):
    """With its better mode, in which torques hold at both ends of an interval."""
    robot, waypoints, limits = arm_and_path()
    s = np.concatenate([[0], np.cumsum(np.linalg.norm(np.diff(waypoints, axis=0), axis=1))])
    s /= s[-1]
    speeds = np.inf if velocity is None else velocity
    ours = minimum_time(
        robot, Path.through(waypoints, s), limits, velocity_limits=speeds, points=800
    ).duration
    theirs = by_toppra(twin("xarm/xarm7"), waypoints, s, limits, 800, velocity)
    assert ours == pytest.approx(theirs, rel=2e-3)
    assert ours <= theirs * (1 + 1e-4)


# what holds


def test_limits_are_kept_in_motion():
    robot, waypoints, limits = arm_and_path()
    path = Path.through(waypoints)
    law = minimum_time(robot, path, limits, points=4001, acceleration_limits=np.full(7, 12.0))
    q, v, a = law.at(np.linspace(0, law.duration, 3001))
    np.testing.assert_allclose(q[[0, -1]], waypoints[[0, -1]], atol=1e-12)
    np.testing.assert_allclose(v[[0, -1]], 0, atol=1e-6)
    assert np.abs(a).max() <= 12.0 * (1 + 1e-4)
    assert (np.abs(v) / robot.limits.velocity).max() <= 1 + 1e-4
    assert (np.abs(robot.inverse_dynamics(q, v, a)) / limits).max() <= 1 + 1e-4
    h = 1e-5
    t = np.linspace(0.1, 0.9, 50) * law.duration
    np.testing.assert_allclose(
        law.at(t)[1], (law.at(t + h)[0] - law.at(t - h)[0]) / (2 * h), atol=1e-3
    )


@pytest.mark.parametrize("name", ["ur/ur5_robot", "xarm/xarm7", "panda/panda"])
def test_no_limit_is_exceeded_between_the_points(name):
    """Random paths with the default grid, replayed ten times finer:
    1.026 of the torque limit with middles alone."""
    robot, rng = twin(name).robot, np.random.default_rng(1)
    low, high = np.maximum(robot.limits.lower, -2), np.minimum(robot.limits.upper, 2)
    for _ in range(7):
        waypoints = low + (high - low) * rng.uniform(0.2, 0.8, size=(5, robot.nv))
        limits = np.maximum(3 * np.abs(robot.gravity_torque(waypoints)).max(axis=0), 5.0) + 3.0
        law = minimum_time(robot, Path.through(waypoints), limits)
        part = np.linspace(0.0, 1.0, 11)[:-1]
        q, v, a = law.at((law.t[:-1, None] + np.diff(law.t)[:, None] * part).ravel())
        assert (np.abs(robot.inverse_dynamics(q, v, a)) / limits).max() <= 1 + 1e-4
        assert (np.abs(v) / robot.limits.velocity).max() <= 1 + 1e-4
        assert law.worst <= 1 + 1e-4


def test_coarse_grids_hold_the_limits_too():
    robot, waypoints, limits = arm_and_path()
    law = minimum_time(robot, Path.through(waypoints), limits, velocity_limits=np.inf, points=201)
    q, v, a = law.at(np.linspace(0, law.duration, 5001))
    # middles alone: 1.116
    assert (np.abs(robot.inverse_dynamics(q, v, a)) / limits).max() <= 1 + 1e-3
    assert (
        law.duration
        < 1.01
        * minimum_time(robot, Path.through(waypoints), limits, velocity_limits=np.inf).duration
    )


def test_velocities_of_the_description_hold_unless_told_not_to():
    robot = lw.load("ur5e")
    path = Path.line([0, -1.5, 1.0, 0, 0, 0], [2.5, -1.0, 0.5, 1.0, 0, 2.0])
    told, own, given = (
        minimum_time(robot, path, velocity_limits=limit)
        for limit in (np.inf, None, robot.limits.velocity)
    )
    v = {
        name: law.at(np.linspace(0, law.duration, 2001))[1]
        for name, law in (("told", told), ("own", own))
    }
    assert (np.abs(v["own"]) <= robot.limits.velocity * (1 + 1e-4)).all()
    assert (np.abs(v["told"]) > robot.limits.velocity).any()
    assert own.duration == given.duration > told.duration


def test_limits_of_one_side_and_of_the_description(five):
    both = np.stack([-LIMITS, LIMITS])
    assert minimum_time(five, LINE, both).duration == minimum_time(five, LINE, LIMITS).duration
    weaker = minimum_time(five, LINE, np.stack([-LIMITS, 0.8 * LIMITS])).duration
    assert weaker > minimum_time(five, LINE, LIMITS).duration
    own = minimum_time(one_joint(effort=3.0), Path.line([0.0], [2.0]))
    assert own.duration == pytest.approx(1.154700538379, abs=1e-6)


def test_a_row_without_inertia_limits_the_speed():
    """m~ = 0 somewhere on the path: the row is c x <= limit there, and the sweeps pass it."""
    robot = twin("ur/ur5_robot").robot
    q0 = np.array([0.0, -1.0, 1.0, -1.0, 0.5, 0.0])
    path = Path.of(lambda s: [q0[0] + casadi.sin(6 * s), *(x + 0.6 * s for x in q0[1:])], 6)
    limits = 1.5 * np.abs(robot.gravity_torque(path(np.linspace(0, 1, 200))[0])).max(axis=0) + 2.0
    coarse, fine = (minimum_time(robot, path, limits, points=n) for n in (501, 4001))
    assert (np.diff(np.sign(path_coefficients(robot, path, fine.middle).m[:, 0])) != 0).any()
    assert coarse.duration == pytest.approx(fine.duration, rel=5e-3)
    assert np.abs(fine.saturation).max() <= 1 + 1e-6


@pytest.mark.parametrize(
    ("change", "error", "words"),
    [
        ({"torque_limits": LIMITS[:4]}, InvalidInput, r"expected \(5,\)"),
        ({"torque_limits": -LIMITS}, InvalidInput, "above zero"),
        (
            {"torque_limits": 0.01 * LIMITS},
            NotPossible,
            r'static torque of joint "joint_\d" at s = .*path cannot be held',
        ),
        ({"velocity_limits": [0.0] * 5}, InvalidInput, "velocity_limits"),
        ({"points": 2}, InvalidInput, "points"),
        ({"start_speed": -1.0}, InvalidInput, "start_speed"),
        ({"start_speed": "fast"}, InvalidInput, "start_speed"),
        ({"end_speed": None}, InvalidInput, "end_speed"),
        (
            {"path": np.zeros((3, 5))},
            InvalidInput,
            r"path is .*expected a Path: Path.through\(waypoints\)",
        ),
        ({"path": [[0.0] * 5, [1.0] * 5]}, InvalidInput, "expected a Path"),
        ({"robot": "five"}, InvalidInput, "robot is 'five', expected a robot"),
        ({"start_speed": 99.0}, NotPossible, "start_speed is 99"),
        ({"end_speed": 99.0}, NotPossible, "end_speed is 99"),
    ],
)
def test_refusals(five, change, error, words):
    with pytest.raises(error, match=words):
        minimum_time(**{"robot": five, "path": LINE, "torque_limits": LIMITS, **change})


def test_it_stands_before_and_after():
    law = minimum_time(one_joint(), Path.line([0.0], [2.0]), [3.0], start_speed=0.5, end_speed=0.5)
    q, v, a = law.at([-1.0, law.duration + 1.0])
    assert q[:, 0].tolist() == pytest.approx([0.0, 2.0])
    assert (v == 0).all()
    assert (a == 0).all()
    with pytest.raises(InvalidInput, match="at: t is not finite"):
        law.at([0.0, np.nan])


def test_laws_are_shown_in_a_line():
    path = Path.line([0.0], [2.0])
    assert repr(path) == "<Path of 1 coordinates>"
    assert repr(minimum_time(one_joint(), path, [3.0])) == "<TimeLaw 1.155 s, 1001 points>"
    loads = lw.Payload("wheel", 0.0, inertia=np.array([0.0, 1.5])[:, None, None] * np.eye(3))
    batch = minimum_time(one_joint(), path, [3.0], payload=loads, points=401)
    assert repr(batch) == "<TimeLaw (2,) 1.155 to 2.309 s, 401 points>"
    none = minimum_time(one_joint(), path, [3.0], payload=lw.Payload("wheel", np.zeros(0)))
    assert repr(none) == "<TimeLaw (0,) 1001 points>"
    assert repr(quintic([0.0], [1.0], duration=2.0)) == "<PointToPoint 1 coordinates, 2 s>"


def test_one_law_has_no_parts():
    with pytest.raises(InvalidInput, match="this is one law, expected a batch of them"):
        minimum_time(one_joint(), Path.line([0.0], [2.0]), [3.0])[0]


def test_refusals_of_the_path(five):
    with pytest.raises(NotPossible, match="stands still"):
        minimum_time(five, Path.of(lambda s: [casadi.fmax(s - 0.5, 0)] * 5, 5), LIMITS)
    with pytest.raises(InvalidInput, match="expected 5"):
        minimum_time(five, Path.line([0.0], [1.0]), LIMITS)
    with pytest.raises(NotPossible, match="nothing limits the speed"):
        minimum_time(one_joint(), Path.line([0.0], [1.0]), [np.inf])


def test_joints_without_limits_that_decide_are_refused():
    """Of several joints the one that decides must have a limit; a robot without efforts has
    none."""
    with pytest.raises(NotPossible, match="nothing limits the torques near s"):
        minimum_time(lw.load("charmie"), Path.line(np.zeros(21), np.full(21, 0.1)))
