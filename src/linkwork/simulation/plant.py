"""Plant: what can be simulated, as functions over symbols;
robot_plant.py and system_plant.py have the equations."""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping
from typing import Any, Self

import numpy as np
from casadi import SX

from linkwork.errors import NotPossible

Wrenches = Mapping[str, Any]


class Plant:
    """Equations of motion as functions over symbols; each result is a column.

    quaternions      where they stand in q; flat: there are none, and v is the derivative of q
    time_dependent   t enters the equations explicitly
    sharing          accelerations by the mass matrix that inverse dynamics shares, instead of the
                     shortest way
    parameters       numbers (..., n) in the equations that a run gives beside the state; see
                     `carrying`
    """

    who: str
    nq: int
    nv: int
    q_names: tuple[str, ...]
    v_names: tuple[str, ...]
    parameters: dict[str, Any]
    quaternions: tuple[slice, ...] = ()
    time_dependent = False
    sharing = False

    @property
    def flat(self) -> bool:
        return not self.quaternions

    def carrying(self, p: Mapping[str, Any]) -> Self:
        """The same plant with its parameters from p: symbols, or the numbers of one sample."""
        if not self.parameters:
            return self
        plant = copy.copy(self)
        plant.parameters = {name: p[name] for name in self.parameters}
        return plant

    def acceleration(self, q: Any, v: Any, tau: Any, t: Any, wrenches: Wrenches) -> Any:
        raise NotImplementedError

    def responses(self, q: Any, t: Any, places: tuple[int, ...]) -> list[Any]:
        """What one more unit of force on each of these coordinates adds to the accelerations:
        columns (nv) of M^-1.

        Accelerations are linear in the forces, also where loops are closed.
        """
        still = SX(self.nv, 1) if isinstance(q, SX) else np.zeros(self.nv)
        base = self.acceleration(q, still, still, t, {})
        units = np.eye(self.nv)
        return [self.acceleration(q, still, still + units[at], t, {}) - base for at in places]

    def inverse(self, q: Any, v: Any, a: Any, t: Any) -> Any:
        """Joint forces for the accelerations a, without external forces."""
        raise NotImplementedError

    def gravity(self, q: Any, t: Any) -> Any:
        raise NotImplementedError

    def energy(self, q: Any, v: Any, t: Any) -> Any:
        """(kinetic, potential) (2)."""
        raise NotImplementedError

    def dissipated(self, q: Any, v: Any, t: Any) -> Any:
        """Power lost inside the mechanism."""
        return SX(0.0)

    def external_power(self, q: Any, v: Any, t: Any, wrenches: Wrenches) -> Any:
        """Power of external forces."""
        raise NotImplementedError

    def integrate(self, q: Any, dv: Any) -> Any:
        return q + dv

    def difference(self, q0: Any, q1: Any) -> Any:
        return q1 - q0

    def rate(self, q: Any, v: Any) -> Any:
        """dq/dt."""
        return v

    def pulled(self, d: Any, v: Any) -> Any:
        """The rate of d in q (+) d that gives the velocity v there."""
        return v

    def pose(self, q: Any, frame: str) -> Any:
        """Homogeneous matrix (4, 4) of a frame in the world, over symbols."""
        raise NotPossible(f"{self.who} has no frames, only coordinates")

    def jacobian(self, q: Any, frame: str) -> Any:
        """(6, nv): linear and angular velocity of a frame in world axes for joint velocities,
        over symbols."""
        raise NotPossible(f"{self.who} has no frames, only coordinates")

    def mass_matrix(self, q: Any, t: Any) -> Any:
        """(nv, nv), over symbols."""
        raise NotImplementedError

    def passive_inverse(self, q: Any, v: Any, v_r: Any, a_r: Any) -> Any:
        """M a_r + C(q, v) v_r + g with M' - 2 C skew-symmetric, over symbols."""
        raise NotPossible(f"{self.who} has no Coriolis matrix")

    def compute(self, what: Callable[..., Any], *arguments: Any) -> Any:
        """what(plant, *arguments), a column; `what` writes it over symbols,
        and is a key (frozen, hashable)."""
        return what(self, *arguments)

    def neutral(self) -> Any:
        raise NotImplementedError

    @property
    def identity(self) -> tuple[Any, str]:
        """(what compiled functions belong to, the numbers they contain)."""
        raise NotImplementedError

    @property
    def key(self) -> str | None:
        """The key of everything that decides the equations, or None: only their program can say."""
        return None

    def force_size(self, name: str, size: int) -> None:
        """Refuse a force on something unknown or with the wrong number of elements."""
        raise NotImplementedError

    def diagnosis(self, q: np.ndarray, v: np.ndarray, t: float) -> str:
        """Why there is no acceleration in this state, if the plant itself knows; else nothing."""
        return ""

    def refusal(self, q: np.ndarray, v: np.ndarray) -> str:
        """Why no motion may start from states (..., nq), (..., nv); nothing where it may."""
        return ""
