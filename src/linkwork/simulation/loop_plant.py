"""Robots with loops as plants: closures, couplings, springs and dampers beside the recursions."""

from __future__ import annotations

from typing import Any

import casadi
import numpy as np
from casadi import SX

from linkwork.loops.assembly import reference
from linkwork.loops.dynamics import (
    constrained_acceleration,
    damper_power,
    element_energy,
    element_forces,
    open_loops,
)
from linkwork.loops.singular import singular_reason
from linkwork.simulation.plant import Plant, Wrenches
from linkwork.simulation.robot_plant import RobotPlant

ALPHA = 10.0
"""Stabilisation of simulations [1/s]: a loop that is open by 1 mm is closed to 1 um in about a
second."""


class LoopPlant(RobotPlant):
    """A robot with closures, couplings, springs or dampers, for simulations."""

    def acceleration(self, q: SX, v: SX, tau: SX, t: SX, wrenches: Wrenches) -> SX:
        h = self._traced("inverse_dynamics", [q, v, SX(self.nv, 1)], wrenches=wrenches)
        M = self._traced("mass_matrix", [q])
        free = tau + element_forces(self.subject.tree, q, v) - h
        return constrained_acceleration(self.subject, self.subject.tree, q, v, free, M, SX(ALPHA))[
            0
        ]

    def responses(self, q: SX, t: SX, places: tuple[int, ...]) -> list[SX]:
        return Plant.responses(self, q, t, places)  # M alone does not know the loops

    def inverse(self, q: SX, v: SX, a: SX, t: SX) -> SX:
        return self._traced("inverse_dynamics", [q, v, a]) - element_forces(self.subject.tree, q, v)

    def gravity(self, q: SX, t: SX) -> SX:
        return self._traced("gravity_torque", [q]) - element_forces(
            self.subject.tree, q, SX.zeros(self.nv)
        )

    def energy(self, q: SX, v: SX, t: SX) -> SX:
        kinetic, potential = self._all("energy", [q, v])
        return casadi.vertcat(kinetic, potential + element_energy(self.subject.tree, q))

    def dissipated(self, q: SX, v: SX, t: SX) -> SX:
        return damper_power(self.subject.tree, q, v)

    def refusal(self, q: np.ndarray, v: np.ndarray) -> str:
        return open_loops(self.subject, q, v)

    def diagnosis(self, q: np.ndarray, v: np.ndarray, t: float) -> str:
        return singular_reason(self.subject, q)

    def neutral(self) -> Any:
        return reference(self.subject)
