"""Sliding surfaces: combinations of errors that, once zero, let the errors fade by themselves."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from linkwork.arguments import finite_doubles
from linkwork.control.checks import definite, positive_array, within
from linkwork.control.maths import absolute, power, sign
from linkwork.control.task_law import times
from linkwork.errors import InvalidInput
from linkwork.simulation.algebra import larger

Numbers = Mapping[str, Any]


class Surface:
    """nu = e' + slope e (+ integral times the integral of e),  e = q - target.

    slope      [1/s] a number, one a joint, or a symmetric positive matrix; on the surface e fades
               as exp(-slope t)
    integral   [1/s^2] as slope: removes what a constant disturbance would leave
    """

    states = 0
    of_a_run: ClassVar[tuple[str, ...]] = ("slope", "integral", "exponent", "power")
    slope: Any
    integral: Any

    def __init__(self, slope: ArrayLike, integral: ArrayLike | None = None) -> None:
        for name, gain in (("slope", slope), ("integral", integral)):
            # matrices and batches are judged where their joints are known
            if gain is not None and np.ndim(gain) < 2:
                positive_array(gain, f"Surface: {name}")
        self.slope, self.integral = slope, integral
        self.states = 0 if integral is None else 1  # integrals of e, one a joint

    def numbers(self, n: int) -> dict[str, np.ndarray]:
        """Parameters of a run; slopes of several gain sets are (..., n)."""
        numbers = {"slope": _rows(self.slope, n, "Surface: slope")}
        if self.integral is not None:
            numbers["integral"] = _rows(self.integral, n, "Surface: integral")
        return numbers

    def value(self, p: Numbers, e: Any, ed: Any, z: Any, n: int) -> Any:
        """nu; z is the integral of e."""
        nu = ed + times(p["slope"], n, e)
        return nu if not self.states else nu + times(p["integral"], n, z)

    def drift(self, p: Numbers, e: Any, ed: Any, n: int) -> Any:
        """What nu' has besides e'': nu' = e'' + drift."""
        drift = times(p["slope"], n, ed)
        return drift if not self.states else drift + times(p["integral"], n, e)


class TerminalSurface(Surface):
    """nu = e' + slope |e|^exponent sgn e, exponent in (0, 1): on it e reaches zero in finite time.

    Its rate has |e|^(exponent - 1), which is held finite near e = 0 (`floor`);
    NonsingularTerminalSurface has no such place. Time on the surface from e0:
    |e0|^(1 - exponent)/(slope (1 - exponent)).
    """

    def __init__(self, slope: ArrayLike, exponent: ArrayLike, floor: float = 1e-4) -> None:
        self.slope = positive_array(slope, "TerminalSurface: slope")
        self.exponent = within(exponent, "TerminalSurface: exponent", 0.0, 1.0, (False, False))
        self.floor = float(positive_array(floor, "TerminalSurface: floor"))
        self.integral = None

    def numbers(self, n: int) -> dict[str, np.ndarray]:
        numbers = {"slope": self.slope, "exponent": self.exponent}
        return {name: np.broadcast_to(x, (*np.shape(x)[:-1], n)) for name, x in numbers.items()}

    def value(self, p: Numbers, e: Any, ed: Any, z: Any, n: int) -> Any:
        return ed + p["slope"] * power(absolute(e), p["exponent"]) * sign(e)

    def drift(self, p: Numbers, e: Any, ed: Any, n: int) -> Any:
        size = larger(absolute(e), self.floor)
        return p["slope"] * p["exponent"] * power(size, p["exponent"] - 1.0) * ed

    def time(self, e0: ArrayLike) -> np.ndarray:
        """Time [s] on the surface from e0 to zero."""
        x = np.abs(finite_doubles(e0, "TerminalSurface: e0"))
        return x ** (1.0 - self.exponent) / (self.slope * (1.0 - self.exponent))


class NonsingularTerminalSurface(Surface):
    """nu = e + |e'|^power sgn e' / slope, power in (1, 2): finite time on the surface,
    nothing singular.

    Here nu' = e' + (power/slope) |e'|^(power-1) e''; the law's r is taken as the rate of nu' over
    that factor. Time on the surface from e0: power/(power - 1) |e0|^(1 - 1/power) slope^(-1/power).
    """

    def __init__(self, slope: ArrayLike, power: ArrayLike) -> None:
        self.slope = positive_array(slope, "NonsingularTerminalSurface: slope")
        self.power = within(power, "NonsingularTerminalSurface: power", 1.0, 2.0, (False, False))
        self.integral = None

    def numbers(self, n: int) -> dict[str, np.ndarray]:
        numbers = {"slope": self.slope, "power": self.power}
        return {name: np.broadcast_to(x, (*np.shape(x)[:-1], n)) for name, x in numbers.items()}

    def value(self, p: Numbers, e: Any, ed: Any, z: Any, n: int) -> Any:
        return e + power(absolute(ed), p["power"]) * sign(ed) / p["slope"]

    def drift(self, p: Numbers, e: Any, ed: Any, n: int) -> Any:
        """With r replacing the switching term: e'' = -slope/power |e'|^(2 - power) sgn e' + r."""
        return p["slope"] / p["power"] * power(absolute(ed), 2.0 - p["power"]) * sign(ed)

    def time(self, e0: ArrayLike) -> np.ndarray:
        """Time [s] on the surface from e0 to zero."""
        x = np.abs(finite_doubles(e0, "NonsingularTerminalSurface: e0"))
        share = self.power / (self.power - 1.0)
        return share * x ** (1.0 - 1.0 / self.power) * self.slope ** (-1.0 / self.power)


def _rows(gain: Any, n: int, who: str) -> np.ndarray:
    """(..., n n): a number, n numbers, a symmetric positive matrix,
    or batches (..., n) of diagonals."""
    gains = finite_doubles(gain, who)
    if gains.ndim < 2 or gains.shape == (n, n):
        return definite(gains, n, who).reshape(n * n)
    if gains.shape[-1] == 1:  # one number for all joints, of several gain sets
        gains = np.broadcast_to(gains, (*gains.shape[:-1], n))
    if gains.shape[-1] != n:
        raise InvalidInput(
            f"{who} has shape {gains.shape}, expected a number, (..., {n}) or ({n}, {n})"
        )
    positive_array(gains, who)
    rows = np.zeros((*gains.shape[:-1], n, n))
    rows[..., range(n), range(n)] = gains
    return rows.reshape(*gains.shape[:-1], n * n)
