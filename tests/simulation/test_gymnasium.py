"""An Environment as a gymnasium.Env and VectorEnv, judged by gymnasium's own checker."""

from __future__ import annotations

import functools

import casadi
import numpy as np
import pytest

import linkwork as lw
from linkwork.errors import InvalidInput
from linkwork.simulation import Environment

gymnasium = pytest.importorskip("gymnasium")


def reward(scene) -> casadi.SX:
    return -casadi.sumsqr(scene.q - scene.goal)


def goals(generator, n):
    return generator.uniform(-0.5, 0.5, (n, 2))


def start(generator, n):
    return generator.uniform(-0.1, 0.1, (n, 2)), np.zeros((n, 2))


@functools.cache
def arm() -> lw.Robot:
    return lw.load("arm-2")


def environment(copies: int, steps: int = 5) -> Environment:
    return Environment(arm(), copies, reward, goal=goals, start=start, steps=steps, seed=0)


def test_gymnasium_finds_nothing_wrong_with_one_copy():
    from gymnasium.utils.env_checker import check_env

    env = environment(1).to_gymnasium(render_mode="rgb_array")
    assert isinstance(env, gymnasium.Env)
    # observations have no bounds; nothing else
    with pytest.warns(UserWarning, match=r"-?infinity") as said:
        check_env(env)
    others = [
        str(w.message)
        for w in said
        if "infinity" not in str(w.message) and "spec" not in str(w.message)
    ]
    assert not others
    observation, info = env.reset(seed=3)
    assert observation.shape == (6,) and info == {}
    picture = env.render()
    assert picture.dtype == np.uint8 and picture.shape == (480, 480, 3) and picture.std() > 1.0
    for _ in range(4):
        assert env.step(np.zeros(2))[2:4] == (False, False)
    last = env.step(np.zeros(2))
    # the goal of the run that ends, not of the next
    assert last[3] and np.array_equal(last[0][4:], observation[4:])


def test_a_vector_of_copies_is_each_copy_alone():
    together = environment(7).to_gymnasium_vector()
    assert isinstance(together, gymnasium.vector.VectorEnv)
    first, _ = together.reset(seed=4)
    assert together.observation_space.contains(first) and together.num_envs == 7
    actions = np.linspace(-1, 1, 14).reshape(7, 2)
    plain = environment(7)
    assert np.array_equal(plain.reset(seed=4), first)
    for k in range(5):
        observation, rewards, terminated, truncated, info = together.step(actions)
        step = plain.step(actions)
        assert np.array_equal(observation, step.observation) and np.array_equal(
            rewards, step.reward
        )
        assert truncated.all() == (k == 4) and not terminated.any()
    assert np.array_equal(info["final_obs"], step.final) and info["_final_obs"].all()
    wrapped = gymnasium.wrappers.vector.RecordEpisodeStatistics(
        environment(7).to_gymnasium_vector()
    )
    wrapped.reset(seed=1)
    for _ in range(5):
        *_, info = wrapped.step(actions)
    assert info["episode"]["l"].tolist() == [5] * 7


def test_several_copies_are_no_single_env():
    with pytest.raises(InvalidInput, match="the environment has 2 copies, expected 1"):
        environment(2).to_gymnasium()
    with pytest.raises(
        InvalidInput, match="render_mode is 'human', expected None or \"rgb_array\""
    ):
        environment(1).to_gymnasium("human")
