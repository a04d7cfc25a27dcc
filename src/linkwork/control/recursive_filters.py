"""Recursive filters: fractional derivatives with a long memory at a small, constant cost a
sample."""

from __future__ import annotations

from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from linkwork.arguments import finite_doubles
from linkwork.control.checks import positive, whole
from linkwork.control.fractional import checked_order, fractional_weights
from linkwork.errors import InvalidInput


class ExponentialFilter:
    """A fractional derivative with endless memory, its weights as a sum of `terms` exponentials.

    For j >= 1 the weights of order a in (-1, 1) are moments of a Jacobi weight,

        w_j = -(sin(pi a)/pi) integral_0^1 x^(j-1) x^-a (1-x)^a dx,

    so Gauss-Jacobi quadrature gives w_j = sum_i c_i x_i^(j-1): exact for j <= 2 terms, and each
    term is one number carried from sample to sample. Orders of 1 and more act on the backward
    difference.
    """

    def __init__(self, order: float, period: float, terms: int = 12) -> None:
        from scipy.special import roots_jacobi

        self.order = checked_order(order, "ExponentialFilter")
        self.period = positive(period, "ExponentialFilter: period")
        self.terms = whole(terms, "ExponentialFilter: terms")
        self.differences = int(self.order >= 1.0)
        a = self.order - self.differences
        nodes, masses = roots_jacobi(self.terms, a, -a)  # weight (1-x)^a (1+x)^-a on [-1, 1]
        self.ratios = 0.5 * (1.0 + nodes)
        self.masses = -np.sin(np.pi * a) / np.pi * 0.5 * masses  # dx/2; the powers of 2 cancel
        self._terms = np.zeros(self.terms)
        self._last = 0.0

    def weights(self, memory: int) -> np.ndarray:
        """The weights w_0 .. w_memory that this filter applies."""
        memory = whole(memory, "ExponentialFilter: memory")
        powers = self.ratios ** np.arange(memory)[:, None]
        w = np.concatenate([[1.0], powers @ self.masses])
        return np.concatenate([w[:1], np.diff(w)]) if self.differences else w

    def error(self, memory: int) -> float:
        """Largest error of any weight up to `memory`, measured against the exact ones."""
        exact = fractional_weights(self.order, memory)
        return float(np.abs(self.weights(memory) - exact).max())

    def update(self, sample: float) -> float:
        """The derivative after one more sample: terms multiply-adds, whatever the memory."""
        value = float(sample)
        if not np.isfinite(value):
            raise InvalidInput(
                f"ExponentialFilter: sample is {value}: it is not taken into the history"
            )
        past = self._last if self.differences else 0.0
        moved = value - past
        derivative = moved + float(self.masses @ self._terms)
        self._terms = self.ratios * self._terms + moved
        self._last = value
        return derivative * self.period**-self.order


class OustaloupFilter:
    """s^order between two frequencies as a rational filter,
    run sample by sample as a bank of first-order parts.

    low, high   band [rad/s] inside which the phase is kept;  terms: pairs of poles and zeros, 2
                terms + 1 of them
    Source: [Oustaloup2000] section III; the parts are discretised by the bilinear rule.
    """

    def __init__(
        self, order: float, period: float, low: float, high: float, terms: int = 4
    ) -> None:
        self.order = checked_order(order, "OustaloupFilter")
        self.period = positive(period, "OustaloupFilter: period")
        self.low = positive(low, "OustaloupFilter: low")
        self.high = positive(high, "OustaloupFilter: high")
        self.terms = whole(terms, "OustaloupFilter: terms")
        if not self.low < self.high:
            raise InvalidInput(
                f"OustaloupFilter: low {low:g} rad/s is not below high {high:g} rad/s"
            )
        if self.high * self.period > 2.0 * np.pi:
            raise InvalidInput(
                f"OustaloupFilter: high {high:g} rad/s is beyond the sampling rate of "
                f"{self.period:g} s"
            )
        n, a = self.terms, self.order
        k = np.arange(-n, n + 1)
        span = self.high / self.low
        self.zeros = -self.low * span ** ((k + n + 0.5 * (1 - a)) / (2 * n + 1))
        self.poles = -self.low * span ** ((k + n + 0.5 * (1 + a)) / (2 * n + 1))
        self.gain = self.high**a
        self._state = np.zeros(len(self.poles))
        self._input = 0.0

    @cached_property
    def residues(self) -> np.ndarray:
        """c_i of gain (1 + sum_i c_i / (s - p_i))."""
        others = self.poles[:, None] - self.poles[None, :]
        np.fill_diagonal(others, 1.0)
        return np.prod(self.poles[:, None] - self.zeros[None, :], axis=1) / np.prod(others, axis=1)

    def frequency_response(self, omega: ArrayLike) -> np.ndarray:
        """Complex gain (...,) of the continuous filter at omega (...,) [rad/s]."""
        s = 1j * finite_doubles(omega, "OustaloupFilter: omega")
        return self.gain * np.prod(
            (s[..., None] - self.zeros) / (s[..., None] - self.poles), axis=-1
        )

    def error(self, omega: ArrayLike) -> np.ndarray:
        """Relative error (...,) of the gain against (i omega)^order."""
        at = finite_doubles(omega, "OustaloupFilter: omega")
        exact = (1j * at) ** self.order
        return np.abs(self.frequency_response(at) - exact) / np.abs(exact)

    def update(self, sample: float) -> float:
        """The derivative after one more sample."""
        value = float(sample)
        if not np.isfinite(value):
            raise InvalidInput(
                f"OustaloupFilter: sample is {value}: it is not taken into the history"
            )
        half = 0.5 * self.period
        mean = half * (value + self._input)
        self._state = ((1 + half * self.poles) * self._state + mean) / (1 - half * self.poles)
        self._input = value
        return float(self.gain * (value + self.residues @ self._state))
