"""Fractional order: derivatives and integrals of any order in (-1, 2) by Gruenwald and Letnikov's
sum."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from linkwork.arguments import as_doubles, finite_doubles
from linkwork.control.checks import positive, whole
from linkwork.errors import InvalidInput


def checked_order(order: Any, who: str) -> float:
    """An order of differentiation: 0.5 is the half derivative, negative ones integrate."""
    try:
        value = float(order)
    except (TypeError, ValueError):
        raise InvalidInput(f"{who}: order is {order!r}, expected a number in (-1, 2)") from None
    if not -1.0 < value < 2.0:
        raise InvalidInput(f"{who}: order {order!r} is outside (-1, 2)")
    return value


def fractional_weights(order: float, memory: int) -> np.ndarray:
    """Weights w_0 .. w_memory (memory + 1,) of the sum that gives a derivative of fractional order.

        x^(order)(k T) = T^-order sum_j w_j x((k - j) T),    w_0 = 1,  w_j = (1 - (1 + order)/j) w_{j-1}

    w_j = (-1)^j binomial(order, j). Source: [Bruzzone2022] eq. 15 and 16 for order 1/2.
    """
    who = "fractional_weights"
    order, memory = checked_order(order, who), whole(memory, f"{who}: memory")
    ratios = 1.0 - (1.0 + order) / np.arange(1, memory + 1)
    return np.concatenate([[1.0], np.cumprod(ratios)])


def fractional_derivative(
    x: ArrayLike, period: float, order: float, memory: int | None = None
) -> np.ndarray:
    """The derivative (..., T) of fractional order of whole signals (..., T) sampled every `period`
    [s].

    memory   how many past samples count; left out: all. Signals are zero before their first sample.
    """
    from scipy.signal import oaconvolve  # here, because it takes longer to import than the rest

    who = "fractional_derivative"
    signal, order = finite_doubles(x, f"{who}: x"), checked_order(order, who)
    period = positive(period, f"{who}: period")
    if signal.ndim < 1 or signal.shape[-1] < 1:
        raise InvalidInput(
            f"{who}: x has shape {signal.shape}, expected (..., T) with T of at least 1"
        )
    length = signal.shape[-1]
    reach = length - 1 if memory is None else min(whole(memory, f"{who}: memory"), length - 1)
    if reach < 1:
        return signal * period**-order
    weights = fractional_weights(order, reach)
    weights = weights.reshape((1,) * (signal.ndim - 1) + weights.shape)
    return oaconvolve(signal, weights, axes=-1)[..., :length] * period**-order


class FractionalFilter:
    """A derivative of fractional order of samples as they come, with a short memory.

    order    in (-1, 2); period: time between samples [s]; memory: past samples that count
             (n of the paper)
    shape    of one sample; () for a number
    The filter starts empty: samples before the first are zero. Source: [Bruzzone2022] section 3.
    """

    def __init__(
        self, order: float, period: float, memory: int = 10, shape: int | tuple[int, ...] = ()
    ) -> None:
        self.order = checked_order(order, "FractionalFilter")
        self.period = positive(period, "FractionalFilter: period")
        self.memory = whole(memory, "FractionalFilter: memory")
        self.shape = (shape,) if isinstance(shape, int) else tuple(shape)
        self.weights = fractional_weights(self.order, self.memory)
        self.gains = self.weights * self.period**-self.order
        # A ring kept twice over: from the newest sample on, memory + 1 rows stand in order of age.
        self._history = np.zeros((2 * (self.memory + 1), *self.shape))
        self._newest = 0

    @property
    def dc_gain(self) -> float:
        """What a constant 1 gives once the memory is full [s^-order]."""
        return float(self.gains.sum())

    @property
    def equivalent_damping(self) -> float:
        """The filter less its dc gain acts on slow signals as this times their first derivative
        [s^(1-order)].

        -T^(1-order) sum_j j w_j; for the half derivative sqrt(T) n S_n, nearly sqrt(n T / pi).
        """
        return float(-self.period * (np.arange(self.memory + 1) * self.gains).sum())

    def frequency_response(self, omega: ArrayLike) -> np.ndarray:
        """Complex gain (...,) at angular frequencies omega (...,) [rad/s]."""
        at = finite_doubles(omega, "FractionalFilter: omega")
        delays = np.arange(self.memory + 1) * self.period
        return np.exp(-1j * at[..., None] * delays) @ self.gains

    def update(self, sample: ArrayLike, interval: float | None = None) -> np.ndarray:
        """The derivative after one more sample; `interval` since the last one is checked if
        given."""
        if type(sample) is np.ndarray and sample.dtype == np.float64:
            value = sample
        else:
            value = as_doubles(sample, "FractionalFilter: sample")
        if value.shape != self.shape:
            raise InvalidInput(
                f"FractionalFilter: sample has shape {value.shape}, expected {self.shape}"
            )
        flat = value.ravel()
        # a finite square says that all are finite; an overflowing one asks each of them
        if not math.isfinite(flat.dot(flat)) and not np.isfinite(value).all():
            raise InvalidInput(
                f"FractionalFilter: sample is {value.tolist()}: it is not taken into the history"
            )
        if interval is not None and abs(interval - self.period) > 1e-6 * self.period:
            raise InvalidInput(
                f"FractionalFilter: the sample interval changed from {1e3 * self.period:g} to "
                f"{1e3 * interval:g} ms: the history is no longer valid; make a new filter"
            )
        size = self.memory + 1
        at = self._newest = self._newest - 1 if self._newest else self.memory
        self._history[at] = self._history[at + size] = value
        window = self._history[at : at + size]
        return (
            self.gains.dot(window) if window.ndim < 3 else np.tensordot(self.gains, window, axes=1)
        )

    def reset(self) -> None:
        """Forget every sample."""
        self._history[:] = 0.0
