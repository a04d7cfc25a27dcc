"""Foresight: whether a sampled spring and damper hold the masses of a mechanism,
before anything moves."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

# a radius above 1 by more than this is told: springs and gravity of the mechanism are not counted
_CLEAR = 1e-6


@dataclass(frozen=True)
class HeldLoop:
    """M x'' = f, f = -K x - D x' measured every period, acting `delay` later and held:
    its exact map.

    mass, stiffness, damping (m, m);  period, delay [s]
    """

    mass: np.ndarray
    stiffness: np.ndarray
    damping: np.ndarray
    period: float
    delay: float = 0.0

    @property
    def matrix(self) -> np.ndarray:
        """(x, v, forces of the samples before) from sample to sample."""
        m, T = len(self.mass), self.period
        whole = int(np.floor(self.delay / T + 1e-9))
        rest = max(self.delay - whole * T, 0.0)
        rest = 0.0 if rest < 1e-9 * T else rest
        past = whole + (rest > 0)
        size, one, compliance = m * (2 + past), np.eye(m), np.linalg.inv(self.mass)
        now = np.zeros((m, size))
        now[:, :m], now[:, m : 2 * m] = -self.stiffness, -self.damping

        def force(age: int) -> np.ndarray:
            rows = np.zeros((m, size))
            rows[:, m * (1 + age) : m * (2 + age)] = one
            return now if age == 0 else rows

        A = np.zeros((size, size))
        A[:m, :m], A[:m, m : 2 * m], A[m : 2 * m, m : 2 * m] = one, T * one, one
        for acting, begins, ends in ((force(past), 0.0, rest), (force(whole), rest, T)):
            lasts = ends - begins
            if lasts > 0:
                A[:m] += lasts * (T - 0.5 * (begins + ends)) * compliance @ acting
                A[m : 2 * m] += lasts * compliance @ acting
        for age in range(past):
            A[m * (2 + age) : m * (3 + age)] = force(age)
        return A

    @property
    def radius(self) -> float:
        return float(np.abs(np.linalg.eigvals(self.matrix)).max())

    def told(self, names: Sequence[str], units: Sequence[tuple[str, str, str]]) -> str:
        """A sentence if it is unstable, with the limit of the gain that is to blame; else nothing.

        names of the coordinates;  units: (of damping, of mass, of stiffness) for each
        """
        if self.radius <= 1.0 + _CLEAR:
            return ""
        worst = self._worst()
        factor = _largest(lambda x: replace(self, damping=x * self.damping).radius)
        kind, gain = "damping", float(self.damping[worst, worst])
        if not factor or not gain:
            kind, gain = "stiffness", float(self.stiffness[worst, worst])
            factor = _largest(lambda x: replace(self, stiffness=x * self.stiffness).radius)
        d_unit, m_unit, k_unit = units[worst]
        seen = 1.0 / float(np.linalg.inv(self.mass)[worst, worst])
        late = f" with {1e3 * self.delay:g} ms of delay" if self.delay else ""
        limit = (
            f"limit {factor * gain:.4g}"
            if factor
            else f"no smaller {kind} helps: add damping or a shorter period"
        )
        unit = d_unit if kind == "damping" else k_unit
        return (
            f'{kind} {gain:g} {unit} of "{names[worst]}" is unstable at {1e3 * self.period:g} '
            f"ms{late} for "
            f"{seen:.4g} {m_unit}; {limit}"
        )

    def _worst(self) -> int:
        """The coordinate that moves most in the mode that grows fastest."""
        values, vectors = np.linalg.eig(self.matrix)
        mode = vectors[:, int(np.argmax(np.abs(values)))]
        return int(np.argmax(np.abs(mode[len(self.mass) : 2 * len(self.mass)])))


def _largest(radius: Callable[[float], float]) -> float:
    """The largest factor below 1 with radius at most 1; 0: none."""
    trials = [x for x in np.geomspace(1.0, 1e-4, 40) if radius(float(x)) <= 1.0 + _CLEAR]
    if not trials:
        return 0.0
    low, high = float(trials[0]), min(float(trials[0]) * 1.3, 1.0)
    for _ in range(40):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if radius(middle) <= 1.0 + _CLEAR else (low, middle)
    return low
