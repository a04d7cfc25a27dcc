"""LQR: gains that minimise a quadratic cost of errors and forces, about a point or along a
motion."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from linkwork.control.checks import definite, positive
from linkwork.control.linear import linearise
from linkwork.errors import InvalidInput, NotPossible
from linkwork.simulation.algebra import is_symbolic, joined
from linkwork.simulation.bound import Bound
from linkwork.simulation.controllers import Controller
from linkwork.simulation.numeric import NumericPlant
from linkwork.simulation.plant import Plant
from linkwork.simulation.plants import Mechanism, plant_of
from linkwork.simulation.signals import PerStep, Signal, Source


class LQR(Controller):
    """tau = tau_0 - gain (q - q_0, v - v_0): the least of  integral x' Q x + u' R u  for small
    errors.

    robot, q      Robot or System and the configuration that is held; tau_0 holds it there
                  (payload= included)
    state_cost Q  number, (2 nv,) for errors of position then of velocity, or a matrix
    effort_cost R number, (nv,) or a matrix
    period        [s]: gains for a law inside Sampled(law, period), exact for held forces; left out:
                  continuous

    gain (nv, 2 nv) [N m/rad; N m s/rad];  cost (2 nv, 2 nv): x' P x is what an error x costs in
    all. `LQR.along` follows a motion with gains of its own at every step.
    """

    def __init__(
        self,
        robot: Mechanism,
        q: ArrayLike,
        state_cost: ArrayLike = 1.0,
        effort_cost: ArrayLike = 1.0,
        period: float | None = None,
        payload: Any = None,
    ) -> None:
        from scipy.linalg import solve_continuous_are, solve_discrete_are

        plant = plant_of(robot, payload)
        Q, R = _costs(plant, state_cost, effort_cost)
        model = linearise(robot, q, payload=payload)
        try:
            if period is None:
                self.cost = solve_continuous_are(model.A, model.B, Q, R)
                self.gain = np.linalg.solve(R, model.B.T @ self.cost)
            else:
                held = model.sampled(positive(period, "LQR: period"))
                self.cost = solve_discrete_are(held.A, held.B, Q, R)
                self.gain = _gain(held.A, held.B, R, self.cost)
        except np.linalg.LinAlgError as error:
            raise NotPossible(f"LQR: no gain holds {plant.who} here: {error}") from None
        place = np.asarray(q, dtype=float)
        tau = _holding(plant, place, np.zeros(plant.nv), np.zeros(plant.nv))
        self.gains: Any = Source(self.gain.ravel(), "LQR: gain")
        self.target, self.speed = Source(place, "LQR: q"), Source(np.zeros(plant.nv), "LQR: v")
        self.force = Source(tau, "LQR: force")

    @classmethod
    def along(
        cls,
        robot: Mechanism,
        motion: PerStep,
        step: float,
        state_cost: ArrayLike = 1.0,
        effort_cost: ArrayLike = 1.0,
        payload: Any = None,
    ) -> LQR:
        """Gains along a motion with its rates, PerStep(q, v, a), one row a step [s]:
        backwards Riccati, exact holds.

        The last row's gains are those of holding its configuration. The motion's own forces are fed
        forward.
        """
        plant = plant_of(robot, payload)
        if (
            not isinstance(motion, PerStep)
            or motion.velocity is None
            or motion.acceleration is None
        ):
            raise InvalidInput("LQR: motion, expected PerStep(q, velocity, acceleration)")
        if not plant.flat:
            raise NotPossible(
                f"LQR: along a motion {plant.who} needs plain joints; it has quaternions"
            )
        Q, R = _costs(plant, state_cost, effort_cost)
        h = positive(step, "LQR: step")
        source = Source(motion, "LQR: motion")
        rows: list[np.ndarray] = [
            source.array,
            source.rows["velocity"],
            source.rows["acceleration"],
        ]
        if rows[0].ndim != 2 or rows[0].shape[1] != plant.nq:
            raise InvalidInput(
                f"LQR: motion has shape {rows[0].shape}, expected (steps, {plant.nq})"
            )
        forces = np.array(
            [_holding(plant, x, v, a) for x, v, a in zip(rows[0], rows[1], rows[2], strict=True)]
        )
        law = cls.__new__(cls)
        last = LQR(robot, rows[0][-1], Q, R, h, payload)
        P, gains = last.cost, []
        for x, v, tau in zip(rows[0][::-1], rows[1][::-1], forces[::-1], strict=True):
            held = linearise(robot, x, v, tau, payload).sampled(h)
            K = _gain(held.A, held.B, R, P)
            P = Q + held.A.T @ P @ (held.A - held.B @ K)
            P = 0.5 * (P + P.T)
            gains.append(K.ravel())
        law.cost, law.gain = P, np.array(gains[::-1]).reshape(-1, plant.nv, 2 * plant.nv)
        law.gains = Source(PerStep(np.array(gains[::-1])), "LQR: gain")
        law.target = Source(PerStep(rows[0]), "LQR: q")
        law.speed = Source(PerStep(rows[1]), "LQR: v")
        law.force = Source(PerStep(forces), "LQR: force")
        return law

    def bound(self, plant: Plant, prefix: str = "control") -> Bound:
        return _BoundLQR(self, plant, prefix)


def _costs(plant: Plant, state_cost: Any, effort_cost: Any) -> tuple[np.ndarray, np.ndarray]:
    Q = definite(state_cost, 2 * plant.nv, "LQR: state_cost", semi=True)
    return Q, definite(effort_cost, plant.nv, "LQR: effort_cost")


def _gain(A: np.ndarray, B: np.ndarray, R: np.ndarray, P: np.ndarray) -> np.ndarray:
    return np.linalg.solve(R + B.T @ P @ B, B.T @ P @ A)


def _holding(plant: Plant, q: np.ndarray, v: np.ndarray, a: np.ndarray) -> np.ndarray:
    """Joint forces of a state and its accelerations."""
    numeric = NumericPlant(plant)
    return numeric.carrying({name: np.ravel(x) for name, x in plant.parameters.items()}).inverse(
        q, v, a, np.zeros(())
    )


class _BoundLQR(Bound):
    def __init__(self, law: LQR, plant: Plant, prefix: str) -> None:
        super().__init__()
        n = plant.nv
        sizes = {"gains": 2 * n * n, "target": plant.nq, "speed": n, "force": n}
        self.parts = {
            name: Signal(getattr(law, name), (size,), f"{prefix}_{name}")
            for name, size in sizes.items()
        }
        for signal in self.parts.values():
            self.parameters |= signal.parameters
            self.sequences |= signal.sequences

    def law(
        self, plant: Plant, t: Any, q: Any, v: Any, s: Any, p: Mapping[str, Any]
    ) -> tuple[Any, Any]:
        gains, target, speed, force = (signal.at(t, p)[0] for signal in self.parts.values())
        error = joined([plant.difference(q, target), speed - v])
        n = plant.nv
        if is_symbolic(gains) or is_symbolic(error):
            from casadi import SX

            return force + SX(gains).reshape((2 * n, n)).T @ error, s
        return force + np.reshape(gains, (n, 2 * n)) @ error, s
