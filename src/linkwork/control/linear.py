"""Linear models: of a mechanism about a state,
and of a whole closed loop with its sample times and delays, exactly."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from linkwork import deadlines
from linkwork.arguments import as_doubles, finite_doubles
from linkwork.control.linear_mechanism import Loads, mechanism_of
from linkwork.control.loop_maps import ROUND, LoopTrace
from linkwork.control.state_space import StateSpace, pole_table
from linkwork.errors import InvalidInput, UnknownName, did_you_mean
from linkwork.formats.tabular import Tabular
from linkwork.results import short_repr
from linkwork.simulation.friction import Friction
from linkwork.simulation.plant import Plant
from linkwork.simulation.plants import Mechanism, plant_of
from linkwork.simulation.sensors import Encoder


def linearise(
    robot: Mechanism,
    q: ArrayLike,
    v: ArrayLike | None = None,
    tau: ArrayLike | None = None,
    payload: Any = None,
) -> StateSpace:
    """x' = A x + B u about a state: x = (dq, dv) (2 nv), u = dtau (nv) [N m, N], y = dq.

    q (nq,), v (nv,) default at rest, tau (nv,) default what holds the state (accelerations zero).
    Where q holds quaternions dq is the small motion q (+) dq, in the axes of a body that moves on
    with v. Friction is left out.
    """
    plant = plant_of(robot, payload)
    at = _state(plant, q, v, "linearise")
    mechanism, loads = mechanism_of(plant, Friction()), Loads.numbers(plant)
    force = (
        mechanism.holding(*at, loads) if tau is None else _numbers(tau, plant.nv, "linearise: tau")
    )
    A, B = mechanism.matrices(*at, force, loads)
    n = plant.nv
    C = np.hstack([np.eye(n), np.zeros((n, n))])
    return StateSpace(A, B, C, np.zeros((n, n)), None, plant.v_names, plant.v_names)


def _numbers(values: Any, n: int, who: str) -> np.ndarray:
    numbers = as_doubles(values, who)
    if numbers.shape != (n,) or not np.isfinite(numbers).all():
        raise InvalidInput(f"{who} has shape {numbers.shape}, expected ({n},) finite numbers")
    return numbers


def _state(plant: Plant, q: Any, v: Any, who: str) -> tuple[np.ndarray, np.ndarray]:
    speed = np.zeros(plant.nv) if v is None else _numbers(v, plant.nv, f"{who}: v")
    return _numbers(q, plant.nq, f"{who}: q"), speed


@short_repr
@dataclass(frozen=True)
class ClosedLoop(Tabular):
    """A mechanism under its control, linear about a state.

    A        the exact map over one common period of all sampled laws (or the generator, where none
             is sampled)
    period   that common period [s], or None;  steps: parts of it between which something happens
    """

    A: np.ndarray
    period: float | None
    joints: tuple[str, ...]
    _maps: Any = None

    def _table(self) -> dict[str, np.ndarray]:
        return pole_table(self.poles, self.period)

    @property
    def poles(self) -> np.ndarray:
        return StateSpace(self.A, *_nothing(len(self.A)), self.period).poles

    @property
    def radius(self) -> float:
        """Largest |eigenvalue| a common period; below 1 everything fades.
        exp(largest real part) where continuous."""
        poles = self.poles
        return float(np.abs(poles).max() if self.period is not None else np.exp(poles.real.max()))

    @property
    def stable(self) -> bool:
        return self.radius < 1.0

    def loop_gain(self, joint: str | int) -> StateSpace:
        """L of one joint's force, cut where the law gives it, the other joints closed:
        what Bode and margins are of.

        For one sampled law (with what runs continuously beside it), or for continuous laws alone.
        """
        if isinstance(joint, str) and joint not in self.joints:
            raise UnknownName(
                f'loop_gain: there is no joint "{joint}"{did_you_mean(joint, self.joints)}'
            )
        at = self.joints.index(joint) if isinstance(joint, str) else int(joint)
        if not -len(self.joints) <= at < len(self.joints):
            raise InvalidInput(
                f"loop_gain: joint is {joint!r}, expected 0 to {len(self.joints) - 1}"
            )
        return self._maps.cut(at)


def _nothing(n: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    return np.zeros((n, 1)), np.zeros((1, n)), np.zeros((1, 1))


def closed_loop(
    robot: Mechanism,
    control: Any,
    q: ArrayLike,
    v: ArrayLike | None = None,
    t: float = 0.0,
    payload: Any = None,
    friction: bool = True,
    sensors: Encoder | None = None,
    variables: Mapping[str, Any] | None = None,
) -> ClosedLoop:
    """A robot or System with its controller, linear about (q, v) at time t, every period,
    delay and hold exact.

    The state is taken as an equilibrium: what the law leaves over is held by something else.
    friction: damping of the description; dry friction, noise and resolution have no derivative and
    are left out. Laws must be smooth there: a sliding mode is not. variables: values of live
    variables.
    """
    plant = plant_of(robot, payload, variables)
    traced = LoopTrace(plant, control, friction, sensors)
    if traced.sets:
        raise InvalidInput(
            f"closed_loop: a batch of gain sets {traced.sets}; choose one, or ask stability_map"
        )
    return loop_at(traced, *_state(plant, q, v, "closed_loop"), t)


def loop_at(traced: LoopTrace, q: np.ndarray, v: np.ndarray, t: float = 0.0) -> ClosedLoop:
    """The loop about a state, from a trace that is there already."""
    maps = traced.maps(q, v, t)
    return ClosedLoop(maps.whole()[0], traced.period, traced.plant.v_names, maps)


def stability_map(
    robot: Mechanism,
    control: Any,
    q: ArrayLike,
    payload: Any = None,
    friction: bool = True,
    sensors: Encoder | None = None,
    variables: Mapping[str, Any] | None = None,
) -> np.ndarray:
    """Spectral radius (...,) of the closed loop at configurations q (..., nq) and gain sets;
    below 1 is stable.

    control   as for closed_loop; its gains may be batches (..., 1) or (..., n) that broadcast with
              q's: the map of a law over its gains is one call
    """
    plant = plant_of(robot, payload, variables)
    rows = finite_doubles(q, "stability_map: q")
    if rows.ndim < 1 or rows.shape[-1] != plant.nq:
        raise InvalidInput(
            f"stability_map: q has shape {rows.shape}, expected (..., {plant.nq}): {plant.who}"
        )
    traced = LoopTrace(plant, control, friction, sensors)
    try:
        shape = np.broadcast_shapes(rows.shape[:-1], traced.sets)
    except ValueError:
        raise InvalidInput(
            f"stability_map: q {rows.shape[:-1]} and gains {traced.sets} do not broadcast"
        ) from None
    radii = np.empty(shape)
    sets = np.broadcast_to(np.arange(traced.gains.shape[1]).reshape(traced.sets), shape).ravel()
    flat = radii.reshape(-1)
    for place, asked in _by_place(rows, shape):
        needed, which = np.unique(sets[asked], return_inverse=True)
        parts = deadlines.rounds(len(needed), ROUND)
        some = [
            traced.maps(place, np.zeros(plant.nv), chosen=needed[part]).radii() for part in parts
        ]
        flat[asked] = np.concatenate(some)[which]
    return radii


def _by_place(rows: np.ndarray, shape: tuple[int, ...]) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Every configuration of rows (..., nq) once,
    with the places of an array of `shape` that ask for it."""
    every = rows.reshape(-1, rows.shape[-1])
    numbers: dict[bytes, int] = {}
    owner = np.array(
        [numbers.setdefault(row.tobytes(), len(numbers)) for row in every], dtype=np.int64
    )
    wide = np.broadcast_to(owner.reshape(rows.shape[:-1]), shape).ravel()
    order = np.argsort(wide, kind="stable")
    ends = np.searchsorted(wide[order], np.arange(len(numbers) + 1))
    for k, row in enumerate(numbers):
        if ends[k] < ends[k + 1]:
            yield np.frombuffer(row), order[ends[k] : ends[k + 1]]


def root_locus(
    robot: Mechanism,
    controller: Callable[[float], Any],
    values: Iterable[float],
    q: ArrayLike,
    **options: Any,
) -> np.ndarray:
    """Poles (values, n) of the closed loop for controller(value),
    each column one branch followed by nearness."""
    from scipy.optimize import linear_sum_assignment

    rows: list[np.ndarray] = []
    for value in values:
        poles = closed_loop(robot, controller(value), q, **options).poles
        if rows:
            if len(poles) != len(rows[-1]):
                raise InvalidInput("root_locus: the controllers have different numbers of states")
            _, order = linear_sum_assignment(np.abs(rows[-1][:, None] - poles[None, :]))
            poles = poles[order]
        rows.append(poles)
    return np.array(rows)
