"""Mechanisms made linear: derivatives of a plant's accelerations by its state,
traced once for all its numbers."""

from __future__ import annotations

import casadi
import numpy as np
from casadi import SX

from linkwork.errors import InvalidInput
from linkwork.simulation.friction import Friction
from linkwork.simulation.plant import Plant


class Loads:
    """Payloads and live variables of a plant as one column of symbols,
    so that other numbers trace nothing anew."""

    def __init__(self, plant: Plant) -> None:
        self.sizes = {name: x.shape[-1] for name, x in plant.parameters.items()}
        self.symbols = SX.sym("loads", sum(self.sizes.values()))
        at = np.cumsum([0, *self.sizes.values()])
        spots = zip(self.sizes, at[:-1], at[1:], strict=True)
        self.carried = plant.carrying({name: self.symbols[int(a) : int(b)] for name, a, b in spots})

    @staticmethod
    def numbers(plant: Plant) -> np.ndarray:
        """The column's numbers for this plant."""
        for name, x in plant.parameters.items():
            if x.ndim != 1:
                raise InvalidInput(
                    f"linearise: {name} is a batch {x.shape[:-1]}, expected one set of numbers"
                )
        return np.concatenate([np.zeros(0), *plant.parameters.values()])


class Mechanism:
    """Derivatives of a plant's accelerations by the state and the forces, traced once."""

    def __init__(self, plant: Plant, friction: Friction) -> None:
        n, loads, t = plant.nv, Loads(plant), SX(0.0)
        carried = loads.carried
        q, d, v, tau = SX.sym("q", plant.nq), SX.sym("d", n), SX.sym("v", n), SX.sym("tau", n)
        lost = SX.zeros(n)
        for k, at in enumerate(friction.viscous):
            lost[at] = float(np.ravel(friction.parameters["friction_viscous"])[k]) * v[at]
        moved = carried.integrate(q, d)
        # `pulled` tells how d changes as seen from q at rest, v - [v, d] / 2 to first order; q goes
        # on with v too, and from there the neighbour leaves with v - [v, d]: the same where
        # coordinates are plain numbers
        leaving = 2 * carried.pulled(d, v) - v
        rates = casadi.vertcat(leaving, carried.acceleration(moved, v, tau - lost, t, {}))
        A = casadi.substitute(casadi.jacobian(rates, casadi.vertcat(d, v)), d, SX.zeros(n))
        B = casadi.substitute(casadi.jacobian(rates, tau), d, SX.zeros(n))
        inputs = [q, v, tau, loads.symbols]
        self._matrices = casadi.Function("matrices", inputs, [A, B], {"cse": True})
        holding = carried.inverse(q, v, SX.zeros(n), t) + lost
        self._holding = casadi.Function("holding", [q, v, loads.symbols], [holding], {"cse": True})

    def holding(self, q: np.ndarray, v: np.ndarray, loads: np.ndarray) -> np.ndarray:
        return np.array(self._holding(q, v, loads)).ravel()

    def matrices(
        self, q: np.ndarray, v: np.ndarray, tau: np.ndarray, loads: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        A, B = self._matrices(q, v, tau, loads)
        return np.array(A), np.array(B)


def mechanism_of(plant: Plant, friction: Friction) -> Mechanism:
    """Kept with the robot or System, for what it carries and this friction."""
    owner, numbers = plant.identity
    damping = np.ravel(friction.parameters.get("friction_viscous", ())).tolist()
    return owner.once(
        (Mechanism, numbers, repr((friction.viscous, damping))), lambda: Mechanism(plant, friction)
    )
