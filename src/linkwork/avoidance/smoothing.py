"""Critically damped filter: a second-order low pass without overshoot, exact for a held input.

    G(s) = p^2 / (s + p)^2,   m = p T
    y(n) = h1 x(n-1) + h2 x(n-2) + b1 y(n-1) + b2 y(n-2)
    h1 = 1 - e^-m (1 + m),  h2 = e^-m (m - 1 + e^-m),  b1 = 2 e^-m,  b2 = -e^-2m

Source: [Simas2022] eqs. 1-3 (eq. 2 exchanges input and output on its left side).
"""

from __future__ import annotations

import logging
import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from linkwork.arguments import as_doubles, number
from linkwork.avoidance.arcs import wrapped_one
from linkwork.errors import InvalidInput

log = logging.getLogger(__name__)
SETTLED = 3.89
"""Time constants after which a step has come to 90 %."""


@dataclass(frozen=True)
class Coefficients:
    """Of the filter's difference equation."""

    h1: float
    h2: float
    b1: float
    b2: float


class CriticallyDampedFilter:
    """One signal, sampled every `period` [s]; `rate` [1/s] is the double pole.

    A step of size D moves with at most D rate / e, begins with the acceleration rate^2 D, and is at
    50, 90, 98 % after 1.68, 3.89, 5.83 / rate; a ramp of speed w lags by 2 w / rate. angle=True:
    the input is an angle, followed the short way round; the output is continuous and may leave
    (-pi, pi].
    """

    def __init__(self, rate: float, period: float, angle: bool = False) -> None:
        self.rate, self.period = _positive(rate, "rate"), _positive(period, "period")
        self.angle = bool(angle)
        m = self.rate * self.period
        if m > 1.0:
            log.warning(
                "CriticallyDampedFilter: rate x period = %.3g > 1: the output follows in a few "
                "samples, and its "
                "acceleration is no longer that of the continuous filter",
                m,
            )
        self.coefficients = _coefficients(m)
        self.reset(0.0)

    @classmethod
    def design(
        cls,
        period: float,
        reaction_time: float | None = None,
        max_acceleration: float | None = None,
        max_step: float | None = None,
        angle: bool = False,
    ) -> CriticallyDampedFilter:
        """A filter that comes to 90 % within `reaction_time` [s], or whose acceleration keeps below
        `max_acceleration` for steps up to `max_step` (rate = sqrt(acceleration / step))."""
        by_time = reaction_time is not None
        by_limits = max_acceleration is not None and max_step is not None
        if by_time == by_limits:
            raise InvalidInput(
                "CriticallyDampedFilter.design: expected reaction_time, or max_acceleration with "
                "max_step"
            )
        if by_time:
            rate = SETTLED / _positive(reaction_time, "reaction_time")
        else:
            acceleration = _positive(max_acceleration, "max_acceleration")
            rate = math.sqrt(acceleration / _positive(max_step, "max_step"))
        return cls(rate, period, angle)

    def reset(self, value: float) -> None:
        """Stand at a value as if it had always been there: the next samples do not jump."""
        start = number(value, "CriticallyDampedFilter.reset: value")
        self._inputs, self._outputs = (start, start), (start, start)

    @property
    def value(self) -> float:
        """The newest output."""
        return self._outputs[0]

    def step(self, value: float) -> float:
        """The next output; `value` is the input from now on and shows from the next sample."""
        newest = number(value, "CriticallyDampedFilter.step: value")
        (x1, x2), (y1, y2), c = self._inputs, self._outputs, self.coefficients
        if self.angle:
            newest = x1 + wrapped_one(newest - x1)
        output = c.h1 * x1 + c.h2 * x2 + c.b1 * y1 + c.b2 * y2
        self._inputs, self._outputs = (newest, x1), (output, y1)
        return output

    def run(self, signal: ArrayLike) -> np.ndarray:
        """Outputs (n,) for a whole signal (n,), from the present state on."""
        values = as_doubles(signal, "CriticallyDampedFilter.run: signal")
        if values.ndim != 1 or not np.isfinite(values).all():
            raise InvalidInput(
                f"CriticallyDampedFilter.run: signal has shape {values.shape}, expected finite "
                "numbers (n,)"
            )
        return np.array([self.step(float(value)) for value in values])


def _coefficients(m: float) -> Coefficients:
    """By expm1, which keeps the digits that 1 - e^-m (1 + m) loses for small m."""
    decay = math.exp(-m)
    lost = -math.expm1(-m)  # 1 - e^-m
    return Coefficients(lost - m * decay, decay * (m - lost), 2 * decay, -(decay**2))


def _positive(value: object, name: str) -> float:
    size = number(value, f"CriticallyDampedFilter: {name}")
    if size <= 0.0:
        raise InvalidInput(f"CriticallyDampedFilter: {name} is {size}, expected a number > 0")
    return size
