"""Sampled stability: whether a spring with sampled damping holds a mass, before anything moves."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from linkwork.control.checks import definite, positive, whole
from linkwork.control.fractional import fractional_weights
from linkwork.control.state_space import pole_table
from linkwork.errors import InvalidInput, NotPossible
from linkwork.formats.tabular import Tabular
from linkwork.results import short_repr
from linkwork.simulation.numeric import NumericPlant
from linkwork.simulation.plants import Mechanism, plant_of


@short_repr
@dataclass(frozen=True)
class SampledStability(Tabular):
    """A mass on a sampled law F = (K - c HD) e + D (e - e_1)/T + HD T^-order sum_j w_j e_j,
    held over T.

    mass, stiffness, damping, half_damping   symmetric matrices (m, m) [kg, N/m, N s/m, N s^order/m]
    period T [s]; memory, order: of the fractional term; delay: whole periods between measuring and
    acting
    """

    mass: np.ndarray
    stiffness: np.ndarray
    damping: np.ndarray
    half_damping: np.ndarray
    period: float
    memory: int = 10
    delay: int = 0
    order: float = 0.5
    compensate: bool = True

    def _table(self) -> dict[str, np.ndarray]:
        poles = np.linalg.eigvals(self.matrix)
        return pole_table(poles[np.argsort(-np.abs(poles), kind="stable")], self.period)

    @property
    def matrix(self) -> np.ndarray:
        """The exact map from sample to sample of (x, v, past errors, forces under way)."""
        m, n, T = len(self.mass), max(self.memory, 1), self.period
        weights = fractional_weights(self.order, n) * T**-self.order
        size = m * (2 + n + self.delay)
        one, compliance = np.eye(m), np.linalg.inv(self.mass)
        lost = weights.sum() if self.compensate else 0.0
        # the force of this sample as rows over the state; e = -x, past errors follow the velocity
        force = np.zeros((m, size))
        now = self.stiffness - lost * self.half_damping + self.damping / T
        now = now + weights[0] * self.half_damping
        force[:, :m] = -now
        for j in range(1, n + 1):
            at = slice(m * (1 + j), m * (2 + j))
            force[:, at] += weights[j] * self.half_damping - (self.damping / T if j == 1 else 0.0)
        acts = force
        if self.delay:
            acts = np.zeros((m, size))
            acts[:, size - m :] = one
        A = np.zeros((size, size))
        A[:m, :m], A[:m, m : 2 * m] = one, T * one
        A[:m] += 0.5 * T * T * compliance @ acts
        A[m : 2 * m, m : 2 * m] = one
        A[m : 2 * m] += T * compliance @ acts
        A[2 * m : 3 * m, :m] = -one  # the present error becomes the newest of the past
        for j in range(1, n):
            A[m * (2 + j) : m * (3 + j), m * (1 + j) : m * (2 + j)] = one
        for d in range(self.delay):
            at = slice(m * (2 + n + d), m * (3 + n + d))
            if d == 0:
                A[at] = force
            else:
                A[at, m * (1 + n + d) : m * (2 + n + d)] = one
        return A

    @property
    def radius(self) -> float:
        """The largest magnitude of an eigenvalue; below 1 every error fades."""
        return float(np.abs(np.linalg.eigvals(self.matrix)).max())

    @property
    def stable(self) -> bool:
        return self.radius < 1.0

    @property
    def largest_damping(self) -> float:
        """The largest damping, the same for every axis [N s/m],
        that is stable with the rest as it is; 0: none."""
        return self._largest("damping")

    @property
    def largest_half_damping(self) -> float:
        """The largest fractional damping, the same for every axis,
        that is stable with the rest as it is."""
        return self._largest("half_damping")

    @property
    def largest_stiffness(self) -> float:
        """The largest stiffness, the same for every axis [N/m],
        that is stable with the rest as it is; 0: none."""
        return self._largest("stiffness")

    def _largest(self, name: str) -> float:
        one = np.eye(len(self.mass))

        def stable(gain: float) -> bool:
            return _with(self, name, gain * one).stable

        scale = float(np.abs(self.mass).max()) / self.period
        scale *= {
            "damping": 1.0,
            "half_damping": self.period ** (self.order - 1.0),
            "stiffness": 1 / self.period,
        }[name]
        trials = scale * np.geomspace(1e-4, 10.0, 120)
        good = [gain for gain in trials if stable(gain)]
        if not good:
            return 0.0
        low, high = good[-1], good[-1] * 1.15
        while stable(high):
            high *= 1.15
        for _ in range(60):
            middle = 0.5 * (low + high)
            low, high = (middle, high) if stable(middle) else (low, middle)
        return float(low)

    def __str__(self) -> str:
        masses = np.linalg.eigvalsh(self.mass)
        if not self.stable and self.half_damping.max() == 0 and not self.largest_damping:
            return (
                f"stiffness {float(np.abs(self.stiffness).max()):g} N/m is unstable at "
                f"{1e3 * self.period:g} ms for "
                f"{masses[0]:.1f} kg, whatever the damping (limit {self.largest_stiffness:.0f})"
            )
        damping = float(np.abs(self.damping).max())
        verdict = "stable" if self.stable else "unstable"
        known = (
            f"limit {self.largest_damping:.0f}"
            if self.half_damping.max() == 0
            else f"radius {self.radius:.5f}"
        )
        return (
            f"damping {damping:g} N s/m is {verdict} at {1e3 * self.period:g} ms for "
            f"{masses[0]:.1f} kg ({known})"
        )


def _with(loop: SampledStability, name: str, gain: np.ndarray) -> SampledStability:
    if name == "damping":
        return replace(loop, damping=gain)
    return (
        replace(loop, half_damping=gain)
        if name == "half_damping"
        else replace(loop, stiffness=gain)
    )


def sampled_stability(
    mass: Any,
    stiffness: Any,
    damping: Any = 0.0,
    half_damping: Any = 0.0,
    period: float = 1e-3,
    memory: int = 10,
    delay: float = 0,
    order: float = 0.5,
    compensate: bool = True,
) -> SampledStability:
    """Stability of a sampled Cartesian law on a mass: numbers, one an axis,
    or symmetric matrices (m, m).

    damping acts on the backward difference of the error over the period; delay counts whole
    periods.
    """
    who = "sampled_stability"
    m = (
        max(np.ndim(x) and len(np.atleast_1d(x)) for x in (mass, stiffness, damping, half_damping))
        or 1
    )
    if float(delay) != int(delay):
        raise InvalidInput(f"{who}: delay is {delay!r}, expected a whole number of periods")
    return SampledStability(
        definite(mass, m, f"{who}: mass"),
        definite(stiffness, m, f"{who}: stiffness", semi=True),
        definite(damping, m, f"{who}: damping", semi=True),
        definite(half_damping, m, f"{who}: half_damping", semi=True),
        positive(period, f"{who}: period"),
        whole(memory, f"{who}: memory"),
        whole(int(delay), f"{who}: delay", least=0),
        order,
        compensate,
    )


def cartesian_mass(
    robot: Mechanism, q: Any, frame: str, axes: Any, payload: Any = None
) -> np.ndarray:
    """The mass matrix (..., m, m) that a frame shows along axes: (J M^-1 J')^-1 [kg, kg m^2]."""
    from linkwork.simulation.task_space import TaskSpace

    space = TaskSpace.of(frame, axes, "cartesian_mass")
    plant = NumericPlant(plant_of(robot, payload))
    rows = np.asarray(q, dtype=float)
    flat = rows.reshape(-1, plant.nq)
    p = {name: np.reshape(x, (-1,)) for name, x in plant.parameters.items()}
    carried = plant.carrying(p)
    masses = []
    for configuration in flat:
        _, J = space.split(
            carried.compute(space, configuration, np.zeros(len(space.axes))), plant.nv
        )
        M = carried.compute(_Mass(), configuration).reshape(plant.nv, plant.nv)
        mobility = J @ np.linalg.solve(M, J.T)
        if np.linalg.cond(mobility) > 1e12:
            raise NotPossible(
                f'cartesian_mass: the Jacobian of "{frame}" along {", ".join(space.axes)} is '
                "singular at "
                f"q = {configuration.round(4).tolist()}"
            )
        masses.append(np.linalg.inv(mobility))
    m = len(space.axes)
    return np.array(masses).reshape(*rows.shape[:-1], m, m)


@dataclass(frozen=True)
class _Mass:
    def __call__(self, plant: Any, q: Any) -> Any:
        import casadi

        return casadi.reshape(plant.mass_matrix(q, casadi.SX(0)), -1, 1)
