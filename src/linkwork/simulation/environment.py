"""Environment: many copies of a robot stepped at once in machine code, for training controllers."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import casadi
import numpy as np
from casadi import SX

from linkwork import configurations, quantities
from linkwork.actuation.efforts import generalised
from linkwork.actuation.layout import layout_of
from linkwork.arguments import as_doubles, choice, whole
from linkwork.engine.compile import CompiledFunction, compile
from linkwork.engine.scan import Scan, scan
from linkwork.errors import InvalidInput, NotPossible
from linkwork.formats.tabular import Tabular
from linkwork.results import short_repr
from linkwork.simulation.friction import friction_of
from linkwork.simulation.plant import Plant
from linkwork.simulation.plants import plant_of
from linkwork.simulation.steppers import STEPPERS
from linkwork.subject import RobotLike, Subject, subject_of

if TYPE_CHECKING:
    from linkwork.collision import CollisionModel

Sampler = Callable[[np.random.Generator, int], Any]


@dataclass(frozen=True)
class Apart:
    """Two points (frames, or "body.point") that must stay `distance` [m] apart:
    collision with itself, by points."""

    first: str
    second: str
    distance: float


@dataclass(frozen=True)
class Within:
    """A point that must stay inside a box in world axes [m]: reach, ground, ceiling."""

    frame: str
    lower: tuple[float, float, float]
    upper: tuple[float, float, float]


@dataclass
class StepScene:
    """What a reward or an observation may use: symbols of one copy.

    q, v, effort   state after the step and the efforts during it;  goal: the copy's own numbers;
                   time: since reset [s]
    """

    subject: Subject
    q: SX
    v: SX
    effort: SX
    goal: SX
    time: SX
    _places: dict[str, SX] = field(default_factory=dict)

    def point(self, frame: str) -> SX:
        """Position (3) of a frame, body or "body.point" in world axes [m]."""
        if frame not in self._places:
            present = self.subject.variable_values(None)
            pose = quantities.trace(self.subject, "pose", frame).call([self.q, *map(SX, present)])[
                0
            ]
            self._places[frame] = pose[0:3, 3]
        return self._places[frame]


@short_repr
@dataclass(frozen=True)
class Step(Tabular, rows="reward"):
    """observation (n, m), reward (n,), terminated (n,): a limit was broken; truncated (n,):
    time was up.

    flags: which limit, by name, (n,) each. Copies that ended have been reset: observation is their
    first new one, `final` (n, m) the last of the old run.
    """

    observation: np.ndarray
    reward: np.ndarray
    terminated: np.ndarray
    truncated: np.ndarray
    flags: dict[str, np.ndarray]
    final: np.ndarray


class Environment:
    """`copies` of a robot, each with its own state and goal.

    robot         any robot; closed loops, springs and dampers take part in its motion
    reward        function of a `StepScene` to a scalar, traced once and run in machine code
    observation   function of a `StepScene` to a column; left out: q, v and the goal
    period        time of one step [s]; `substeps` of the integrator inside it; method "rk4" or
                  "semi_implicit_euler"
    scale         efforts [N, N m] for actions of 1, one an actuator; left out: the joints' effort
                  limits, else 1
    goal          (generator, n) -> (n, k): goals of freshly reset copies;  start: (generator, n) ->
                  q, v of them; left
                  out: the neutral (or assembled) configuration at rest
    apart, within what ends a run besides joint limits;  steps: after how many a run is truncated
    collision     a CollisionModel of the robot: touching itself or the `obstacles` ends a run, flag
                  "collision"
    friction      damping and dry friction of the robot's description; False leaves them out
    """

    def __init__(
        self,
        robot: RobotLike,
        copies: int,
        reward: Callable[[StepScene], SX],
        observation: Callable[[StepScene], SX] | None = None,
        period: float = 0.02,
        substeps: int = 4,
        method: str = "semi_implicit_euler",
        scale: Any = None,
        goal: Sampler | None = None,
        start: Callable[[np.random.Generator, int], tuple[Any, Any]] | None = None,
        apart: Sequence[Apart] = (),
        within: Sequence[Within] = (),
        steps: int = 1000,
        seed: int | None = None,
        friction: bool = True,
        collision: CollisionModel | None = None,
        obstacles: Any = None,
    ) -> None:
        self.robot, self.subject = robot, subject_of(robot, "Environment")
        self.plant: Plant = plant_of(self.subject)
        self.friction = friction_of(friction, self.plant, "Environment")
        self.copies = whole(copies, "Environment: copies")
        self.steps = whole(steps, "Environment: steps")
        self.substeps, self.period = whole(substeps, "Environment: substeps"), float(period)
        if not self.period > 0.0:
            raise InvalidInput(f"Environment: period is {period}, expected a positive time")
        self.method = choice(method, tuple(STEPPERS), "Environment: method")
        self.apart, self.within = tuple(apart), tuple(within)
        self.collision, self.obstacles = _colliding(self.subject, collision, obstacles)
        self._reward, self._observation = reward, observation or _everything
        self._goal, self._start = goal, start
        self._generator = np.random.default_rng(seed)
        self.actions = layout_of(self.subject).names
        self.scale = self._scales(scale)
        self._goal_size = (
            0
            if goal is None
            else np.atleast_2d(np.asarray(goal(np.random.default_rng(0), 1))).shape[-1]
        )
        self.q = np.zeros((self.copies, self.plant.nq))
        self.v = np.zeros((self.copies, self.plant.nv))
        self.goals = np.zeros((self.copies, self._goal_size))
        self.count = np.zeros(self.copies, dtype=int)

    def reset(self, seed: int | None = None) -> np.ndarray:
        """First observations (copies, m) of new runs."""
        if seed is not None:
            self._generator = np.random.default_rng(seed)
        self._renew(np.ones(self.copies, dtype=bool))
        return self._judge(np.zeros((self.copies, len(self.actions))))[0]

    def step(self, actions: Any) -> Step:
        """Move every copy by one period under actions (copies, actuators), cut to -1 .. 1,
        times `scale`."""
        chosen = as_doubles(actions, "Environment: actions")
        if chosen.shape != (self.copies, len(self.actions)):
            raise InvalidInput(
                f"Environment: actions has shape {chosen.shape}, expected "
                f"({self.copies}, {len(self.actions)}): "
                f"{', '.join(self.actions)}"
            )
        if not np.isfinite(chosen).all():
            raise InvalidInput("Environment: actions are not finite")
        effort = np.clip(chosen, -1.0, 1.0) * self.scale
        moved = self._loop(q=self.q, v=self.v, effort=effort, steps=self.substeps)
        self.q, self.v = moved.state["q"], moved.state["v"]
        self.count += 1
        observation, reward, flags = self._judge(effort)
        flags["failed"] = moved.failed
        terminated = np.any(list(flags.values()), axis=0)
        truncated = (self.count >= self.steps) & ~terminated
        final = observation
        ended = terminated | truncated
        if ended.any():
            self._renew(ended)
            observation = np.where(
                ended[:, None], self._judge(np.zeros_like(effort))[0], observation
            )
        return Step(observation, reward, terminated, truncated, flags, final)

    def to_gymnasium(self, render_mode: str | None = None) -> Any:
        """A gymnasium.Env over the only copy (needs gymnasium). render_mode: None or
        "rgb_array"."""
        return self._gymnasium().GymnasiumEnv(self, render_mode)

    def to_gymnasium_vector(self, render_mode: str | None = None) -> Any:
        """A gymnasium.vector.VectorEnv over all copies (needs gymnasium);
        ended copies begin anew in the same step."""
        return self._gymnasium().GymnasiumVectorEnv(self, render_mode)

    def _gymnasium(self) -> Any:
        try:
            from linkwork.simulation import gymnasium_envs
        except ImportError:
            raise NotPossible(
                "to_gymnasium needs the package gymnasium: pip install 'linkwork[gym]'"
            ) from None
        return gymnasium_envs

    def _judge(self, effort: np.ndarray) -> tuple[np.ndarray, np.ndarray, dict[str, np.ndarray]]:
        observation, reward, margins = self._judging(
            self.q, self.v, effort, self.goals, self.count * self.period
        )
        margins = margins.reshape(self.copies, -1)
        flags = {name: margins[:, k] < 0.0 for k, name in enumerate(self._margin_names)}
        if self.collision is not None:
            # a copy that failed is flagged as such
            finite = np.asarray(np.isfinite(self.q).all(axis=1))
            flags["collision"] = finite & self.collision.collides(
                np.where(finite[:, None], self.q, 0.0), self.obstacles
            )
        return observation.reshape(self.copies, -1), np.asarray(reward), flags

    def _renew(self, which: np.ndarray) -> None:
        n = int(which.sum())
        if self._start is None:
            q, v = np.asarray(self.plant.neutral(), dtype=float), np.zeros(self.plant.nv)
        else:
            q, v = (np.asarray(x, dtype=float) for x in self._start(self._generator, n))
            if words := self.plant.refusal(q, v):
                raise InvalidInput(f"Environment: start: {words}")
        self.q[which], self.v[which] = q, v
        self.count[which] = 0
        if self._goal is not None:
            self.goals[which] = np.asarray(self._goal(self._generator, n), dtype=float).reshape(
                n, self._goal_size
            )

    @cached_property
    def _loop(self) -> Scan:
        """The integrator over one period."""
        h = self.period / self.substeps
        tree = self.subject.traced_tree({})
        friction = self.friction

        def acceleration(q: SX, v: SX, effort: SX, rubbing: Any) -> SX:
            tau = generalised(self.subject, tree, q, effort)
            lost = friction.force(v, friction.parameters, rubbing) if friction else 0
            return self.plant.acceleration(q, v, tau - lost, SX(0), {})

        def step(q: SX, v: SX, effort: SX, k: SX) -> dict[str, SX]:
            rubbing = None
            if friction.dry:
                free = acceleration(q, v, effort, np.zeros(len(friction.dry)))
                rubbing = friction.held(self.plant, q, v, SX(0), free, SX(h), friction.parameters)

            def rate(t: Any, q: SX, v: SX, s: Any) -> tuple[SX, SX, Callable[[Any], SX]]:
                return acceleration(q, v, effort, rubbing), SX(0, 1), lambda _: SX(0, 1)

            after = STEPPERS[self.method](self.plant, rate, SX(0), q, v, SX(0, 1), SX(0, 1), SX(h))
            return {"q": after[0], "v": after[1]}

        return scan(
            step,
            {"q": self.plant.nq, "v": self.plant.nv},
            {"effort": len(self.actions)},
            name="Environment",
        )

    @cached_property
    def _judging(self) -> CompiledFunction:
        """(q, v, effort, goal, time) -> observation, reward, margins."""

        def judge(q: SX, v: SX, effort: SX, goal: SX, time: SX) -> tuple[SX, SX, SX]:
            scene = StepScene(self.subject, q, v, effort, goal, time)
            reward = SX(self._reward(scene))
            if reward.numel() != 1:
                raise InvalidInput(
                    f"Environment: reward has size {reward.shape}, expected a scalar"
                )
            return (
                SX(self._observation(scene)),
                reward,
                casadi.vertcat(*self._margins(scene), SX(0, 1)),
            )

        state = {"q": self.plant.nq, "v": self.plant.nv, "effort": len(self.actions)}
        return compile(judge, {**state, "goal": self._goal_size, "time": ()}, "Environment")

    @property
    def _margin_names(self) -> tuple[str, ...]:
        apart = (f"{rule.first} meets {rule.second}" for rule in self.apart)
        return ("joint limits", *apart, *(f"{rule.frame} leaves its box" for rule in self.within))

    def _margins(self, scene: StepScene) -> list[SX]:
        """What must not be negative, in the order of the names."""
        limits = configurations.limits(self.subject)
        inside = SX(1)
        for k, (low, high) in enumerate(zip(limits.lower, limits.upper, strict=True)):
            if np.isfinite(low):
                inside = casadi.fmin(inside, scene.q[k] - low)
            if np.isfinite(high):
                inside = casadi.fmin(inside, high - scene.q[k])
        margins = [inside]
        for rule in self.apart:
            gap = scene.point(rule.first) - scene.point(rule.second)
            margins.append(casadi.dot(gap, gap) - rule.distance**2)
        for box in self.within:
            at, margin = scene.point(box.frame), SX(1)
            for k in range(3):
                if np.isfinite(box.lower[k]):
                    margin = casadi.fmin(margin, at[k] - box.lower[k])
                if np.isfinite(box.upper[k]):
                    margin = casadi.fmin(margin, box.upper[k] - at[k])
            margins.append(margin)
        return margins

    def _scales(self, scale: Any) -> np.ndarray:
        if scale is not None:
            return np.broadcast_to(np.asarray(scale, dtype=float), (len(self.actions),)).copy()
        scales = np.ones(len(self.actions))
        limits = configurations.limits(self.subject).effort
        for _, at_cd, _, at_v, _, nv in layout_of(self.subject).direct:
            forces = limits[at_v : at_v + nv]
            scales[at_cd : at_cd + nv] = np.where(np.isfinite(forces), forces, 1.0)
        elements: Mapping[str, Any] = {
            getattr(e, "name", ""): e for e in self.subject.model.elements
        }
        for k, name in enumerate(self.actions):
            force = getattr(elements.get(name), "force", np.inf)
            if np.isfinite(force):
                scales[k] = force
        return scales


def _colliding(subject: Subject, model: Any, obstacles: Any) -> tuple[CollisionModel | None, Any]:
    """A model of this robot and obstacles that are packed once."""
    if model is None:
        if obstacles is not None:
            raise InvalidInput(
                "Environment: obstacles need a collision model: collision=lw.collision.model(robot)"
            )
        return None, None
    from linkwork.collision import CollisionModel, Obstacles

    if not isinstance(model, CollisionModel):
        raise InvalidInput(f"Environment: collision is {model!r}, expected a CollisionModel")
    if model.subject.fingerprint != subject.fingerprint:
        other = model.subject.model.name
        raise InvalidInput(
            f'Environment: collision is a model of "{other}", expected '
            f'"{subject.model.name}" itself'
        )
    if obstacles is not None and not isinstance(obstacles, Obstacles):
        obstacles = Obstacles(obstacles)
    return model, obstacles


def _everything(scene: StepScene) -> SX:
    return casadi.vertcat(scene.q, scene.v, scene.goal)
