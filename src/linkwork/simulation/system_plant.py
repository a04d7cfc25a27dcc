"""Systems as plants: their Lagrangian equations, constraints included."""

from __future__ import annotations

from typing import Any

import casadi
import numpy as np
from casadi import SX

from linkwork.errors import InvalidInput, LinkworkError, UnknownName, did_you_mean
from linkwork.lagrange.system import System
from linkwork.lagrange.traces import applied
from linkwork.simulation.plant import Plant, Wrenches
from linkwork.spatial.linear import factored


class SystemPlant(Plant):
    """A System of positions; constraints are part of its accelerations."""

    def __init__(self, system: System) -> None:
        self.system = system
        self.who = f'system "{system.name}"'
        self.nq = self.nv = system.nq
        self.q_names = self.v_names = system.coordinates
        self.time_dependent = system.time_dependent
        self.parameters = {}
        self._functions: dict[str, casadi.Function] = {}

    def acceleration(self, q: SX, v: SX, tau: SX, t: SX, wrenches: Wrenches) -> SX:
        for body, wrench in wrenches.items():
            tau = tau + self._applied(body, q, t, wrench)
        if self.sharing:
            h = self._traced("bias", [q, v], t)[0]
            return factored(self._traced("mass_matrix", [q], t)[0]).solve(tau - h)
        return self._traced("forward_dynamics", [q, v, tau], t)[0]

    def inverse(self, q: SX, v: SX, a: SX, t: SX) -> SX:
        if self.sharing:
            return self._traced("mass_matrix", [q], t)[0] @ a + self._traced("bias", [q, v], t)[0]
        return self._traced("inverse_dynamics", [q, v, a], t)[0]

    def gravity(self, q: SX, t: SX) -> SX:
        return self._traced("gravity_torque", [q], t)[0]

    def mass_matrix(self, q: SX, t: SX) -> SX:
        return self._traced("mass_matrix", [q], t)[0]

    def energy(self, q: SX, v: SX, t: SX) -> SX:
        return casadi.vertcat(*self._traced("energy", [q, v], t))

    def dissipated(self, q: SX, v: SX, t: SX) -> SX:
        return self._traced("dissipated_power", [q, v], t)[0]

    def external_power(self, q: SX, v: SX, t: SX, wrenches: Wrenches) -> SX:
        power = SX(0.0)
        for body, wrench in wrenches.items():
            power = power + casadi.dot(self._applied(body, q, t, wrench), v)
        return power

    def neutral(self) -> Any:
        return [0.0] * self.nq

    @property
    def identity(self) -> tuple[Any, str]:
        return self.system, ""

    def force_size(self, name: str, size: int) -> None:
        if name not in self.system.bodies:
            known = did_you_mean(name, self.system.bodies)
            raise UnknownName(
                f'simulate: {self.who} has no body "{name}" for a force to act on{known}'
            )
        if size not in (2, 3, 6):
            raise InvalidInput(
                f'simulate: force on "{name}" has {size} elements, expected 3, or 6 with its moment'
            )

    def diagnosis(self, q: np.ndarray, v: np.ndarray, t: float) -> str:
        try:
            self.system.forward_dynamics(q, v, np.zeros(self.nv), t)
        except LinkworkError as error:
            return str(error)
        return ""

    def _applied(self, body: str, q: SX, t: SX, wrench: SX) -> SX:
        key = f"{body}:{wrench.shape[0]}"
        if key not in self._functions:
            symbol = SX.sym("wrench", wrench.shape[0])
            padded = casadi.vertcat(symbol, 0) if symbol.shape[0] == 2 else symbol
            tau = applied(self.system, body, padded)
            values = self.system.variables
            if values:
                names = casadi.vertcat(*[self.system.scope.symbols.variables[n] for n in values])
                tau = casadi.substitute(tau, names, SX(list(values.values())))
            scope = self.system.scope
            self._functions[key] = casadi.Function(
                "applied", [scope.q, scope.symbols.t, symbol], [tau]
            )
        return self._functions[key](q, t, wrench)

    def _traced(self, name: str, arguments: list[SX], t: SX) -> list[SX]:
        if name not in self._functions:
            self._functions[name] = self.system.function(name)
        inputs = [*arguments, *([t] if self.time_dependent else [])]
        return self._functions[name].call([SX(x) for x in inputs])
