"""Methods: the quantities of a system of positions, a signature and a docstring each."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from linkwork.once import Keeper

Variables = Mapping[str, ArrayLike] | None


class SystemQuantities(Keeper):
    """What can be asked of a system: q, v, a, tau (..., n), the time t (...),
    and values of its variables."""

    if TYPE_CHECKING:

        @property
        def bodies(self) -> tuple[str, ...]: ...

        def _evaluate(
            self, name: str, t: ArrayLike, variables: Variables, *arguments: ArrayLike
        ) -> Any: ...

        def _solve(
            self, name: str, t: ArrayLike, variables: Variables, *arguments: ArrayLike
        ) -> Any: ...

    def inverse_dynamics(
        self,
        q: ArrayLike,
        v: ArrayLike,
        a: ArrayLike,
        t: ArrayLike = 0.0,
        variables: Variables = None,
    ) -> np.ndarray:
        """Forces tau (..., n) for the accelerations a: the sum of all columns.
        Constraint forces are not among them."""
        return self._evaluate("inverse_dynamics", t, variables, q, v, a)

    def forward_dynamics(
        self,
        q: ArrayLike,
        v: ArrayLike,
        tau: ArrayLike,
        t: ArrayLike = 0.0,
        variables: Variables = None,
    ) -> np.ndarray:
        """Accelerations a (..., n) under the forces tau and, where there are constraints,
        their multipliers."""
        return self._solve("forward_dynamics", t, variables, q, v, tau)

    def constraint_forces(
        self,
        q: ArrayLike,
        v: ArrayLike,
        tau: ArrayLike,
        t: ArrayLike = 0.0,
        variables: Variables = None,
    ) -> np.ndarray:
        """Multipliers (..., m): M a + h = tau + Phi_q' lambda."""
        return self._solve("multipliers", t, variables, q, v, tau)

    def mass_matrix(
        self, q: ArrayLike, t: ArrayLike = 0.0, variables: Variables = None
    ) -> np.ndarray:
        """M (..., n, n); of a Lagrangian that is not quadratic in v: at rest."""
        return self._evaluate("mass_matrix", t, variables, q)

    def bias(
        self, q: ArrayLike, v: ArrayLike, t: ArrayLike = 0.0, variables: Variables = None
    ) -> np.ndarray:
        """h (..., n): the forces without acceleration, tau = M a + h; drag included."""
        return self._evaluate("bias", t, variables, q, v)

    def gravity_torque(
        self, q: ArrayLike, t: ArrayLike = 0.0, variables: Variables = None
    ) -> np.ndarray:
        """Forces (..., n) that hold the system still against gravity, springs and potentials."""
        return self._evaluate("gravity_torque", t, variables, q)

    def torque_table(
        self,
        q: ArrayLike,
        v: ArrayLike,
        a: ArrayLike,
        t: ArrayLike = 0.0,
        variables: Variables = None,
    ) -> np.ndarray:
        """Which term causes which force: tau_ki (..., n, terms), one row a coordinate,
        one column a term; sums to tau.

        Each column has the bits it would have alone, whatever its neighbours are.
        """
        return self._evaluate("torque_table", t, variables, q, v, a)

    def energy(
        self, q: ArrayLike, v: ArrayLike, t: ArrayLike = 0.0, variables: Variables = None
    ) -> tuple[np.ndarray, np.ndarray]:
        """Kinetic and potential energy (...) [J]."""
        return self._evaluate("energy", t, variables, q, v)

    def dissipated_power(
        self, q: ArrayLike, v: ArrayLike, t: ArrayLike = 0.0, variables: Variables = None
    ) -> np.ndarray:
        """v . dR/dv (...) [W]: what drag takes out."""
        return self._evaluate("dissipated_power", t, variables, q, v)

    def positions(
        self, q: ArrayLike, t: ArrayLike = 0.0, variables: Variables = None
    ) -> dict[str, np.ndarray]:
        """World position (..., 3) of every body's centre by name."""
        positions = self._evaluate("positions", t, variables, q)
        return {name: positions[..., k, :] for k, name in enumerate(self.bodies)}

    def constraint_residual(
        self, q: ArrayLike, v: ArrayLike, t: ArrayLike = 0.0, variables: Variables = None
    ) -> tuple[np.ndarray, np.ndarray]:
        """Phi and its rate (..., m): zero for a state that obeys the constraints."""
        return self._evaluate("constraints", t, variables, q, v)
