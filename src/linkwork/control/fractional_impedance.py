"""Fractional impedance: a Cartesian spring whose damping is of first and of fractional order."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from linkwork.arguments import as_doubles, choice, finite_doubles
from linkwork.control.checks import positive, whole
from linkwork.control.fractional import checked_order, fractional_weights
from linkwork.control.maths import exponential, logarithm
from linkwork.control.stability import SampledStability
from linkwork.control.task_law import BoundTaskLaw, gain_rows, task_source, times, transposed_times
from linkwork.errors import InvalidInput
from linkwork.simulation.algebra import joined, part
from linkwork.simulation.bound import Bound
from linkwork.simulation.controllers import Controller
from linkwork.simulation.plant import Plant
from linkwork.simulation.sampling import Sampled
from linkwork.simulation.task_space import AXES, TaskSpace


class FractionalImpedance(Controller):
    """tau = J' [(K - c HD) e + D e' + HD e^(order)] + forces that hold the arm still,
    e = target - place.

    frame          whose place is controlled;  axes: of ("x", "y", "z", "rx", "ry", "rz"), world
                   axes
    stiffness K    [N/m, N m/rad];  damping D [N s/m, N m s/rad];  half_damping HD
                   [N s^order/m, ...]: a number, one an axis, a symmetric positive semidefinite
                   matrix, or batches (..., m), (..., m, m) of them
    target         as many numbers as axes (position [m], rotation vector [rad]), a pose, a function
                   of time, PerStep
    memory, order  of the fractional derivative, by samples of the error; samples before the first
                   are zero
    compensate     c = the filter's dc gain, so that the stiffness at rest is K exactly (eq. 17);
                   False: c = 0 (eq. 14). K - c HD may well be negative: the filter gives back what
                   is taken.
    model          robot that the law believes in for gravity and springs; left out: the real one
                   with its payload
    velocity       "difference": e' is the backward difference of samples, as the paper's results
                   imply; "measured"

    It runs inside Sampled, whose period is that of the filter. Gravity (and springs) are
    compensated by the law itself: do not add GravityCompensation. What the gripper holds is known
    if it is the run's payload.
    Source: [Bruzzone2022] eq. 11, 14, 17. Corrected: K = 8e5 N/m is printed for 8e3 N/m.
    """

    def __init__(
        self,
        frame: str,
        stiffness: ArrayLike,
        damping: ArrayLike,
        half_damping: ArrayLike,
        target: Any,
        axes: Any = AXES,
        memory: int = 10,
        order: float = 0.5,
        compensate: bool = True,
        model: Any = None,
        velocity: str = "difference",
    ) -> None:
        who = "FractionalImpedance"
        self.space = TaskSpace.of(frame, axes, who)
        m = len(self.space.axes)
        self.stiffness = gain_rows(stiffness, m, f"{who}: stiffness")
        self.damping = gain_rows(damping, m, f"{who}: damping")
        self.half_damping = gain_rows(half_damping, m, f"{who}: half_damping")
        self.target = task_source(target, who)
        self.memory, self.order = whole(memory, f"{who}: memory"), checked_order(order, who)
        self.compensate, self.model = bool(compensate), model
        self.velocity = choice(velocity, ("difference", "measured"), f"{who}: velocity")
        self.balances = True
        self._gains: dict[float, np.ndarray] = {}

    def bound(self, plant: Plant, prefix: str = "control") -> Bound:
        return _BoundFractional(self, plant, prefix)

    @property
    def weights(self) -> np.ndarray:
        """Weights (memory + 1,) of the fractional derivative."""
        return fractional_weights(self.order, self.memory)

    def compensated_stiffness(self, period: float) -> np.ndarray:
        """K - c HD (..., m, m): what multiplies the present error [N/m]; negative is normal."""
        m = len(self.space.axes)
        lost = self.weights.sum() * positive(period, "FractionalImpedance: period") ** -self.order
        rows = self.stiffness - (lost * self.half_damping if self.compensate else 0.0)
        return rows.reshape(*rows.shape[:-1], m, m)

    def history_gains(self, period: float) -> np.ndarray:
        """(m, (memory + 1) m): the wrench is this times the errors in one row,
        newest first (one gain set).

        A_0 = K + D/T + c HD (w_0 - sum w),  A_1 = -D/T + c HD w_1,  A_j = c HD w_j,  c = T^-order
        """
        m, T = len(self.space.axes), positive(period, "FractionalImpedance: period")
        if T in self._gains:
            return self._gains[T]
        if self.stiffness.ndim + self.damping.ndim + self.half_damping.ndim > 3:
            raise InvalidInput(
                "FractionalImpedance: wrench needs one gain set, this law has a batch of them"
            )
        K, D, HD = (x.reshape(m, m) for x in (self.stiffness, self.damping, self.half_damping))
        parts = [T**-self.order * w * HD for w in self.weights]
        parts[0] = parts[0] + K + D / T
        parts[1] = parts[1] - D / T
        if self.compensate:
            parts[0] = parts[0] - T**-self.order * self.weights.sum() * HD
        self._gains.clear()  # one period at a time is kept
        return self._gains.setdefault(T, np.ascontiguousarray(np.hstack(parts)))

    def wrench(self, errors: ArrayLike, period: float) -> np.ndarray:
        """The Cartesian force (m,) [N, N m] after errors (n, m), newest first; older ones are
        zero."""
        if type(errors) is np.ndarray and errors.dtype == np.float64:
            history = errors
        else:
            history = as_doubles(errors, "FractionalImpedance: errors")
        m = len(self.space.axes)
        if history.ndim != 2 or history.shape[1] != m:
            raise InvalidInput(
                f"FractionalImpedance: errors has shape {history.shape}, expected (n, {m}), "
                "newest first"
            )
        flat = history.ravel()
        # a finite square says that all are finite; an overflowing one asks each of them
        if not math.isfinite(flat.dot(flat)) and not np.isfinite(history).all():
            finite_doubles(history, "FractionalImpedance: errors")
        gains = self._gains.get(period) if type(period) is float else None
        if gains is None:
            gains = self.history_gains(period)
        width = gains.shape[1]
        if flat.size == width:
            return gains.dot(flat)
        size = min(flat.size, width)
        return gains[:, :size].dot(flat[:size])

    def split(self, period: float) -> Controller:
        """The same law with its stiffness and compensation continuous and only its damping sampled
        (scheme C)."""
        held = FractionalImpedance.__new__(FractionalImpedance)
        held.__dict__ |= self.__dict__
        held._gains = {}
        held.stiffness, held.compensate, held.balances = 0.0 * self.stiffness, False, False
        spring = TaskSpring.__new__(TaskSpring)
        spring.space, spring.target, spring.model = self.space, self.target, self.model
        stiffness = self.compensated_stiffness(period)
        spring.stiffness = stiffness.reshape(*stiffness.shape[:-2], -1)
        return spring + Sampled(held, period)


def _force(law: Any, gains: Mapping[str, Any], errors: Any, rate: Any, period: Any) -> Any:
    """(K - c HD) e + D e' + HD T^-order sum_j w_j e_j."""
    m, weights = len(law.space.axes), law.weights
    scale = exponential(-law.order * logarithm(period))
    e = errors[0]
    force = times(gains["stiffness"], m, e) + times(gains["damping"], m, rate)
    filtered = weights[0] * errors[0]
    for w, past in zip(weights[1:], errors[1:], strict=True):
        filtered = filtered + w * past
    # the constant part of the filter is taken off here, so that the stiffness stays K
    if law.compensate:
        filtered = filtered - weights.sum() * e
    return force + times(gains["half_damping"], m, scale * filtered)


class _BoundFractional(BoundTaskLaw):
    past = True

    def __init__(self, law: FractionalImpedance, plant: Plant, prefix: str) -> None:
        super().__init__(law.space, law.target, law.model, plant, prefix, "FractionalImpedance")
        for name in ("stiffness", "damping", "half_damping"):
            self.parameters[f"{prefix}_{name}"] = getattr(law, name)
        self.order, self.compensate = law.order, law.compensate
        self.weights = law.weights
        self.velocity, self.balances = law.velocity, law.balances
        self.memory = law.memory * len(self.space.axes)

    def sample(
        self, plant: Plant, t: Any, q: Any, v: Any, m: Any, p: Mapping[str, Any], period: Any
    ) -> tuple[Any, Any]:
        model, n = self.believed(plant), len(self.space.axes)
        e, jacobian, moving = self.errors(plant, t, q, p)
        past = [m[k * n : (k + 1) * n] for k in range(self.memory // n)]
        rate = (e - past[0]) / period if self.velocity == "difference" else moving - jacobian @ v
        gains = {
            name: p[f"{self.prefix}_{name}"] for name in ("stiffness", "damping", "half_damping")
        }
        tau = transposed_times(jacobian, _force(self, gains, [e, *past], rate, period))
        return tau + model.gravity(q, t) if self.balances else tau, joined(
            [e, part(m, 0, self.memory - n)]
        )

    def foresee(self, plant: Plant, q: np.ndarray, period: float, delay: float) -> str:
        """Its own exact map, from the stiffness that holds in this run;
        split laws (scheme C) are not judged."""
        gains, mass = self.single("stiffness", "damping", "half_damping"), self.mass(plant, q)
        if gains is None or mass is None or not self.balances or self.velocity != "difference":
            return ""
        memory, late = self.memory // len(self.space.axes), round(delay / period)
        K, D, HD = gains
        verdict = SampledStability(
            mass, K, D, HD, period, memory, late, self.order, self.compensate
        )
        if verdict.radius <= 1.0 + 1e-6:
            return ""
        if not HD.any():
            return f"FractionalImpedance: {verdict}"
        half = float(HD.max())
        return (
            f"FractionalImpedance: half damping {half:g} is unstable at {1e3 * period:g} ms for "
            f"{np.linalg.eigvalsh(mass)[0]:.4g} kg; limit {verdict.largest_half_damping:.4g}"
        )


class TaskSpring(Controller):
    """tau = J' K (target - place) + forces that hold the arm still; K any symmetric matrix,
    also a negative one.

    Continuous. On its own it does not damp: it is the elastic part of other laws.
    """

    def __init__(
        self, frame: str, stiffness: ArrayLike, target: Any, axes: Any = AXES, model: Any = None
    ) -> None:
        self.space = TaskSpace.of(frame, axes, "TaskSpring")
        self.stiffness = gain_rows(stiffness, len(self.space.axes), "TaskSpring: stiffness")
        self.target, self.model = task_source(target, "TaskSpring"), model

    def bound(self, plant: Plant, prefix: str = "control") -> Bound:
        return _BoundSpring(self, plant, prefix)


class _BoundSpring(BoundTaskLaw):
    def __init__(self, spring: TaskSpring, plant: Plant, prefix: str) -> None:
        super().__init__(spring.space, spring.target, spring.model, plant, prefix, "TaskSpring")
        self.parameters[f"{prefix}_stiffness"] = spring.stiffness

    def law(
        self, plant: Plant, t: Any, q: Any, v: Any, s: Any, p: Mapping[str, Any]
    ) -> tuple[Any, Any]:
        e, jacobian, _ = self.errors(plant, t, q, p)
        force = times(p[f"{self.prefix}_stiffness"], len(self.space.axes), e)
        return transposed_times(jacobian, force) + self.believed(plant).gravity(q, t), s
