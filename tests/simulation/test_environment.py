"""Environment: many copies in one step, each as if it were alone."""

from __future__ import annotations

from dataclasses import replace

import casadi
import numpy as np
import pytest

import linkwork as lw
from linkwork.errors import InvalidInput
from linkwork.model import Joint, Limits, Model, Placement, validated
from linkwork.simulation.environment import Apart, Environment, Within
from tests.loops.machines import link

N = 37
FAR = (np.inf, np.inf, np.inf)


@pytest.fixture(scope="module")
def arm() -> lw.Robot:
    joints = (
        Joint(
            "shoulder",
            "revolute",
            None,
            "upper",
            axis=(0.0, 1.0, 0.0),
            limits=(Limits(-2.0, 2.0, 10.0, 8.0),),
        ),
        Joint(
            "elbow",
            "revolute",
            "upper",
            "lower",
            Placement(position=(0.5, 0.0, 0.0)),
            (0.0, 1.0, 0.0),
        ),
    )
    return lw.Robot(validated(Model("arm", (link("upper", 0.5), link("lower", 0.4)), joints)))


def reach(scene) -> casadi.SX:
    """The nearer the tip is to the goal the better; effort costs."""
    gap = scene.point("lower.tip") - scene.goal
    return -casadi.dot(gap, gap) - 1e-3 * casadi.dot(scene.effort, scene.effort) + 0 * scene.time


def goals(generator, n):
    return generator.uniform(-0.5, 0.5, (n, 3))


def test_a_step_is_the_integrator_s_step_and_the_reward_the_user_s(arm):
    start = np.random.default_rng(1).uniform(-0.5, 0.5, (N, 2))
    env = Environment(
        arm, N, reach, goal=goals, start=lambda g, n: (start[:n], 0 * start[:n]), scale=[3.0, 2.0]
    )
    first = env.reset(seed=0)
    assert np.array_equal(first, np.hstack([start, 0 * start, env.goals]))
    actions = np.random.default_rng(2).uniform(-1.5, 1.5, (N, 2))
    target = env.goals.copy()
    step = env.step(actions)
    q, v, h = start.copy(), 0 * start, 0.02 / 4
    effort = np.clip(actions, -1, 1) * [3.0, 2.0]
    for _ in range(4):
        v = v + h * arm.forward_dynamics(q, v, effort)
        q = q + h * v
    assert np.abs(step.observation - np.hstack([q, v, target])).max() < 1e-12
    tip = arm.points(q)["lower"]["tip"]
    expected = -((tip - target) ** 2).sum(1) - 1e-3 * (effort**2).sum(1)
    assert step.reward == pytest.approx(expected, abs=1e-12)
    assert not step.terminated.any()


def test_runge_kutta_follows_the_adaptive_simulation(arm):
    env = Environment(arm, 2, reach, goal=goals, method="rk4", substeps=20, period=0.1, scale=1.0)
    env.reset(seed=3)
    env.step(np.array([[0.5, -0.2], [0.0, 0.0]]))
    for k, torque in enumerate(([0.5, -0.2], [0.0, 0.0])):
        run = lw.simulate(
            arm, duration=0.1, sample=0.1, control=lambda t, q, v, torque=torque: casadi.DM(torque)
        )
        assert env.q[k] == pytest.approx(run.q[-1], abs=1e-7)


def test_runs_end_at_limits_and_in_time_and_begin_anew(arm):
    env = Environment(arm, N, reach, goal=goals, scale=40.0, steps=12, seed=5)
    env.reset()
    old_goals = env.goals.copy()
    pushed = np.zeros((N, 2))
    pushed[::2, 0] = 1.0  # every second shoulder is driven into its stop
    ended = np.zeros(N, dtype=bool)
    for k in range(12):
        step = env.step(pushed)
        if step.terminated.any():
            ended |= step.terminated
            assert np.array_equal(step.terminated, step.flags["joint limits"])
            assert not step.truncated[step.terminated].any()
            assert np.abs(step.final[step.terminated, 0]).min() > 2.0
            assert np.abs(step.observation[step.terminated, :4]).max() == 0.0
        assert step.truncated[1::2].all() if k == 11 else not step.truncated[1::2].any()
    assert ended[::2].all() and not ended[1::2].any()
    assert (env.goals[::2] != old_goals[::2]).all()
    assert (env.count[1::2] == 0).all()  # their time was up


def test_points_that_meet_or_leave_their_box_are_flagged(arm):
    box = Within("lower.tip", (-np.inf, -np.inf, -0.2), FAR)
    rules = {"apart": (Apart("lower.tip", "upper", 0.3),), "within": (box,)}
    folded, low, fine = (0.0, 3.0), (1.0, 0.0), (0.0, 0.3)
    start = np.array([folded, low, fine])
    env = Environment(
        arm, 3, lambda s: casadi.SX(0), start=lambda g, n: (start[:n], 0 * start[:n]), **rules
    )
    env.reset()
    step = env.step(np.zeros((3, 2)))
    assert list(step.flags["lower.tip meets upper"]) == [True, False, False]
    assert list(step.flags["lower.tip leaves its box"]) == [False, True, False]
    assert list(step.terminated) == [True, True, False]


def test_a_collision_model_ends_runs_that_touch(arm):
    from linkwork.collision import CollisionModel, HalfSpace, Sphere

    shapes = {"lower": [Sphere((0.4, 0, 0), 0.05)], "upper": [Sphere((0, 0, 0), 0.1)]}
    model = CollisionModel(arm, shapes, pairs=[("lower", "upper")])
    folded, low, fine = (0.0, 3.0), (1.0, 0.0), (0.0, 0.3)
    start = np.array([folded, low, fine])
    given = dict(start=lambda g, n: (start[:n], 0 * start[:n]), collision=model)
    env = Environment(
        arm, 3, lambda s: casadi.SX(0), obstacles=[HalfSpace((0, 0, 1), -0.3)], **given
    )
    env.reset()
    step = env.step(np.zeros((3, 2)))
    assert list(step.flags["collision"]) == [True, True, False]
    assert list(step.terminated) == [True, True, False]
    free = Environment(arm, 3, lambda s: casadi.SX(0), **given)
    free.reset()
    assert list(free.step(np.zeros((3, 2))).flags["collision"]) == [True, False, False]
    with pytest.raises(InvalidInput, match="obstacles need a collision model"):
        Environment(arm, 3, lambda s: casadi.SX(0), obstacles=[])
    with pytest.raises(InvalidInput, match="collision is 3"):
        Environment(arm, 3, lambda s: casadi.SX(0), collision=3)
    ur5e = lw.load("ur5e")
    its = CollisionModel(ur5e, {ur5e.bodies[-1]: [Sphere((0, 0, 0), 1)]}, pairs=[])
    with pytest.raises(InvalidInput, match='model of "ur5e", expected "arm" itself'):
        Environment(arm, 3, lambda s: casadi.SX(0), collision=its)


def test_closed_loops_take_part():
    robot = lw.load("four-bar")
    env = Environment(robot, 5, lambda s: s.v[0], scale=5.0, substeps=10)
    env.reset()
    for _ in range(5):
        step = env.step(np.linspace(-1, 1, 5)[:, None])
    points = robot.points(env.q)
    assert np.abs(points["coupler"]["C"] - points["rocker"]["C"]).max() < 1e-3
    assert (np.diff(step.reward) > 0).all()


def test_the_same_seed_gives_the_same_runs_and_a_copy_does_not_see_its_neighbours(arm):
    actions = np.random.default_rng(0).uniform(-1, 1, (4, N, 2))

    def play(copies: int, some: slice) -> np.ndarray:
        env = Environment(arm, copies, reach, goal=goals, scale=2.0, seed=9)
        env.reset(seed=9)
        env.goals[:] = 0.1
        for a in actions:
            step = env.step(a[some])
        return step.observation[:, :4]

    whole = play(N, slice(None))
    assert np.array_equal(whole, play(N, slice(None)))
    assert np.array_equal(whole[10:12], play(2, slice(10, 12)))


def test_an_observation_of_one_s_own(arm):
    env = Environment(
        arm, 3, reach, lambda s: casadi.vertcat(s.point("lower.tip"), casadi.sin(s.q)), goal=goals
    )
    assert env.reset().shape == (3, 5)
    # the effort limit of the shoulder, 1 where none is known
    assert env.scale == pytest.approx([8.0, 1.0])


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda r: Environment(r, 0, reach), "copies is 0"),
        (lambda r: Environment(r, 2, reach, period=0.0), "period is 0.0"),
        (lambda r: Environment(r, 2, reach, method="euler"), "method is 'euler'"),
        (lambda r: Environment(r, 2, lambda s: s.q).reset(), "reward has size"),
        (
            lambda r: Environment(r, 2, reach).step(np.zeros((2, 3))),
            r"actions has shape \(2, 3\), expected \(2, 2\)",
        ),
        (
            lambda r: Environment(r, 2, reach).step(np.full((2, 2), np.nan)),
            "actions are not finite",
        ),
    ],
)
def test_what_cannot_be_stepped_is_refused(arm, call, sentence):
    with pytest.raises(InvalidInput, match=sentence):
        call(arm)


def test_a_tight_limit_ends_a_run_at_once(arm):
    narrow = replace(arm.model.joints[0], limits=(Limits(-0.01, 0.01),))
    robot = lw.Robot(validated(replace(arm.model, joints=(narrow, arm.model.joints[1]))))
    env = Environment(robot, 1, lambda s: casadi.SX(1), period=0.2, scale=5.0)
    env.reset()
    assert env.step(np.ones((1, 2))).terminated.all()
