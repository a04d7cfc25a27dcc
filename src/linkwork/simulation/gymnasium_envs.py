"""An Environment as gymnasium knows them: one copy as an Env, all copies as a VectorEnv.

Needs gymnasium: pip install 'linkwork[gym]'. What gymnasium adds is its shapes and words; steps,
rewards and ends are those of the `Environment`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import gymnasium
import numpy as np
from gymnasium.spaces import Box
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space

from linkwork import rooms
from linkwork.errors import InvalidInput, NotPossible

if TYPE_CHECKING:
    from linkwork.simulation.environment import Environment, Step

PIXELS = (480, 480)
"""Width and height of a rendered picture."""


class GymnasiumEnv(gymnasium.Env):
    """One copy of a robot: `reset`, `step`, `render` as gymnasium says; actions -1 .. 1."""

    metadata = {"render_modes": ["rgb_array"]}  # noqa: RUF012

    def __init__(self, environment: Environment, render_mode: str | None = None) -> None:
        if environment.copies != 1:
            raise InvalidInput(
                f"to_gymnasium: the environment has {environment.copies} copies, expected 1"
            )
        self.environment, self.render_mode = environment, _render_mode(render_mode)
        self.metadata = {**self.metadata, "render_fps": max(1, round(1.0 / environment.period))}
        self.action_space, self.observation_space = _spaces(environment)

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[np.ndarray, dict]:
        """(observation (m,), {}): a new run; the same seed begins the same run."""
        super().reset(seed=seed)
        return self.environment.reset(seed)[0], {}

    def step(self, action: Any) -> tuple[np.ndarray, float, bool, bool, dict[str, Any]]:
        """(observation, reward, terminated, truncated, info); info["flags"]:
        which limits ended the run."""
        step = self.environment.step(np.asarray(action, dtype=float)[None])
        flags = [name for name, broken in step.flags.items() if broken[0]]
        ends = bool(step.terminated[0]), bool(step.truncated[0])
        return step.final[0], float(step.reward[0]), *ends, {"flags": flags}

    def render(self) -> Any:
        """The robot as pixels (height, width, 3), where render_mode is "rgb_array"."""
        return _rendered(self.environment, 0) if self.render_mode == "rgb_array" else None


class GymnasiumVectorEnv(VectorEnv):
    """Every copy at once: arrays with the copies in front;
    a copy that ends begins anew in the same step.

    Its last observation is then in info["final_obs"], as gymnasium's AutoresetMode.SAME_STEP has
    it.
    """

    metadata = {"render_modes": ["rgb_array"], "autoreset_mode": AutoresetMode.SAME_STEP}  # noqa: RUF012

    def __init__(self, environment: Environment, render_mode: str | None = None) -> None:
        self.environment, self.render_mode = environment, _render_mode(render_mode)
        self.num_envs = environment.copies
        self.single_action_space, self.single_observation_space = _spaces(environment)
        self.action_space = batch_space(self.single_action_space, self.num_envs)
        self.observation_space = batch_space(self.single_observation_space, self.num_envs)

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[np.ndarray, dict]:
        """(observations (copies, m), {}): new runs of all copies."""
        super().reset(seed=seed)
        return self.environment.reset(seed), {}

    def step(
        self, actions: Any
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, dict[str, Any]]:
        """(observations, rewards, terminations, truncations, info)."""
        step: Step = self.environment.step(np.asarray(actions, dtype=float))
        info: dict[str, Any] = {"flags": step.flags}
        ended = step.terminated | step.truncated
        if ended.any():
            info |= {"final_obs": step.final, "_final_obs": ended}
        return step.observation, step.reward, step.terminated, step.truncated, info

    def render(self) -> Any:
        """A picture a copy, where render_mode is "rgb_array"."""
        if self.render_mode != "rgb_array":
            return None
        return tuple(_rendered(self.environment, k) for k in range(self.num_envs))


def _spaces(environment: Environment) -> tuple[Box, Box]:
    """(actions of one copy, observations of one copy)."""
    count = environment.reset().shape[1]
    return Box(-1.0, 1.0, (len(environment.actions),), np.float32), Box(
        -np.inf, np.inf, (count,), np.float64
    )


def _render_mode(mode: str | None) -> str | None:
    if mode not in (None, "rgb_array"):
        raise InvalidInput(f'to_gymnasium: render_mode is {mode!r}, expected None or "rgb_array"')
    return mode


def _rendered(environment: Environment, k: int) -> np.ndarray:
    if not hasattr(environment.robot, "nq"):
        raise NotPossible(
            "render: the environment was made of a description without looks, expected a Robot"
        )
    return rooms.part("view", "picture").image(environment.robot, environment.q[k], PIXELS)
