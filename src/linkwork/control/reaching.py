"""Reaching laws: how fast a sliding variable nu is driven to zero, with exact times and bands.

A law is d nu/dt = r(nu, t), odd in nu and never away from zero. Its magnitude for x = |nu| > 0 is

    |r| = s(t) + f(x)        s: the jump at nu = 0 (what chatters),  f: continuous, f(0) = 0

Source: [Khan2022] eq. 6 and its comparators; times and bands as corrected: eq. 8 splits 1/(A + B)
into 1/A + 1/B, so eq. 9-13 and 18-25 are replaced by closed forms with the incomplete gamma
function.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from linkwork.arguments import finite_doubles
from linkwork.control.checks import positive_array, within
from linkwork.control.maths import absolute, exponential, logarithm, power, sign
from linkwork.errors import NotPossible
from linkwork.simulation.algebra import both, either, larger, smaller, where

NEWTON_STEPS = 13
"""Safeguarded Newton steps of the implicit rule: within 1e-12 of |nu| on 600 000 random exponential
laws, 600 000 power laws, and as many of each whose period times gain/offset lies near |nu|."""
_ALMOST_NOTHING = 1e-300
_FLAT = 1e-30  # slopes below it are those of a law that has saturated
# a step divides x by at most e to this: beside a flat part Newton's steps would go anywhere
_FARTHEST = 4.0
_UNKNOWN = 1e3  # stands for the logarithm at an end of the interval that was not computed yet
# part of a miss that is left on the other side of the root: Newton's steps go round in circles
_NO_NEARER = 0.3
_ROUNDING = 1e-9  # misses below it are those of the last steps
_NEARBY = 1e-5  # of ln x: for slopes of laws that do not give their own

Numbers = Mapping[str, Any]
"""Parameters of a law by name: its own numbers, or symbols of a run."""


class ReachingLaw:
    """d nu/dt = r(nu, t). Every parameter is a number or an array that broadcasts with nu
    (one a joint, batches).

    names   the parameters, in order; a run may give other numbers for them
    """

    names: ClassVar[tuple[str, ...]] = ("gain",)
    of_a_run: ClassVar[tuple[str, ...]] = ("gain", "offset", "alpha", "power", "exponent", "width")

    def __init__(self, gain: ArrayLike) -> None:
        self.gain = positive_array(gain, f"{type(self).__name__}: gain")

    @property
    def numbers(self) -> dict[str, np.ndarray]:
        return {name: getattr(self, name) for name in self.names}

    def jump(self, p: Numbers, t: Any) -> Any:
        """s(t): the part of the rate that does not vanish at nu = 0."""
        raise NotImplementedError

    def smooth(self, p: Numbers, x: Any, t: Any) -> Any:
        """f(x), x >= 0."""
        raise NotImplementedError

    def curve(self, p: Numbers, y: Any, t: Any) -> tuple[Any, Any]:
        """(f, df/dy) at x = e^y, for the Newton steps of the implicit rule; here by a
        difference."""
        below, above = (self.smooth(p, exponential(y + d), t) for d in (-_NEARBY, _NEARBY))
        return self.smooth(p, exponential(y), t), (above - below) / (2 * _NEARBY)

    def magnitude(self, p: Numbers, x: Any, t: Any) -> Any:
        return self.jump(p, t) + self.smooth(p, x, t)

    def explicit(self, p: Numbers, nu: Any, t: Any) -> Any:
        """r(nu, t) as printed: sampled, it chatters by about period times jump."""
        return -sign(nu) * self.magnitude(p, absolute(nu), t)

    def implicit(self, p: Numbers, nu: Any, t: Any, h: Any) -> Any:
        """r of the backward Euler rule: nu + h r lies on the surface,
        or moves towards it without passing.

            a = |nu| <= h s:   r = -nu / h
            else:              r = -sgn(nu) (s + f(x))   with   x + h (s + f(x)) = a

        by a fixed number of Newton steps (`_solved`).
        """
        a, s = absolute(nu), self.jump(p, t)
        rest = larger(a - h * s, 0.0 * a)
        f = self._solved(p, rest, t, h)
        return -sign(nu) * where(rest > 0, s + f, a / h)

    def _solved(self, p: Numbers, rest: Any, t: Any, h: Any) -> Any:
        """f(x) where g(x) = x + h f(x) = rest: safeguarded Newton steps on ln g over y = ln x.

        There a power is a straight line, and the rise of an exponential law by 1/offset is one of
        ln(1/offset). A step that jumps across the root without coming nearer is half of a cycle:
        the cubic of Hermite through both ends takes its place, or where the miss is not even halved
        the middle of the interval that holds the root.
        """
        whole = larger(rest, _ALMOST_NOTHING)
        y = logarithm(whole)
        low, low_miss, low_slope = y - 2.0 * _UNKNOWN, 0.0 * rest - _UNKNOWN, 0.0 * rest + 1.0
        high, high_miss, high_slope = y, 0.0 * rest + _UNKNOWN, 0.0 * rest + 1.0
        last = 0.0 * rest
        for _ in range(NEWTON_STEPS):
            x, (f, df) = exponential(y), self.curve(p, y, t)
            g = x + h * f
            miss, slope = logarithm(g / whole), larger((x + h * df) / g, _FLAT)
            short = miss < 0
            low, high = where(short, y, low), where(short, high, y)
            low_miss, high_miss = where(short, miss, low_miss), where(short, high_miss, miss)
            low_slope, high_slope = where(short, slope, low_slope), where(short, high_slope, slope)
            newton = y - smaller(miss / slope, _FARTHEST)
            halved = 0.5 * (low + high)
            cubic = _inverse_cubic(low, low_miss, low_slope, high, high_miss, high_slope)
            nearer = both(
                absolute(miss) <= 0.5 * absolute(last), (cubic - low) * (cubic - high) <= 0
            )
            cycles = both(-miss * last > _NO_NEARER * last * last, absolute(miss) > _ROUNDING)
            wrong = either(cycles, (newton - low) * (newton - high) > 0)
            y, last = where(wrong, where(nearer, cubic, halved), newton), miss
        x, (f, df) = exponential(y), self.curve(p, y, t)
        # One more Newton step, of f itself: a mean of f(x) and (rest - x)/h,
        # so that steep laws lose no digits.
        f = (x * f + df * (rest - x)) / larger(x + h * df, _ALMOST_NOTHING)
        return smaller(f, rest / h)  # rounding must not carry it past the surface

    def rate(self, nu: ArrayLike, t: float = 0.0) -> np.ndarray:
        """r(nu, t), of the shape of nu broadcast with the parameters."""
        nu = finite_doubles(nu, f"{type(self).__name__}: nu")
        return np.asarray(self.explicit(self.numbers, nu, t))

    def discrete_rate(self, nu: ArrayLike, period: float, t: float = 0.0) -> np.ndarray:
        """r of the implicit rule over one period [s]."""
        nu = finite_doubles(nu, f"{type(self).__name__}: nu")
        h = positive_array(period, f"{type(self).__name__}: period")
        return np.asarray(self.implicit(self.numbers, nu, t, h))

    def largest_rate(self, nu: ArrayLike, t: float = 0.0) -> np.ndarray:
        """The largest |r| on the way from nu to zero, begun at time t; magnitudes grow with
        |nu|."""
        return np.abs(self.rate(np.abs(finite_doubles(nu, "nu")) + _ALMOST_NOTHING, t))

    def reaching_time(self, nu0: ArrayLike, start: float = 0.0) -> np.ndarray:
        """Time [s] from nu0 to zero without disturbance, begun at time `start`."""
        x = np.abs(finite_doubles(nu0, f"{type(self).__name__}: nu0"))
        return np.asarray(self._time(x, start))

    def _time(self, x: np.ndarray, start: float) -> np.ndarray:
        raise NotImplementedError

    def band(self, disturbance: ArrayLike) -> np.ndarray:
        """Where |nu| settles at the worst under a disturbance |d| <= D [rad/s^2]: 0 slides exactly,
        inf is lost."""
        d = positive_array(disturbance, f"{type(self).__name__}: disturbance", zero=True)
        return _settled(self, np.asarray(d))

    def gain_for(self, time: ArrayLike, nu0: ArrayLike) -> np.ndarray:
        """The gain that reaches zero from nu0 in the given time [s]; times scale as 1/gain."""
        wanted = positive_array(time, f"{type(self).__name__}: time")
        return self.gain * self.reaching_time(nu0) / wanted


def _inverse_cubic(
    low: Any, low_miss: Any, low_slope: Any, high: Any, high_miss: Any, high_slope: Any
) -> Any:
    """Where a function is zero, by the cubic of Hermite through its inverse:
    misses and slopes at both ends."""
    rise = larger(high_miss - low_miss, _ALMOST_NOTHING)
    u = -low_miss / rise
    bends = rise * u * (1.0 - u) * ((1.0 - u) / low_slope - u / high_slope)
    return low + (high - low) * u * u * (3.0 - 2.0 * u) + bends


def _settled(law: ReachingLaw, d: np.ndarray) -> np.ndarray:
    """The root of magnitude = d by bisection of exponents:
    magnitudes grow from the jump to their limit."""
    p, late = law.numbers, 1e12  # what decays in time protects for a while only
    shape = np.broadcast_shapes(d.shape, *[np.shape(x) for x in p.values()])
    d = np.broadcast_to(d, shape)
    low, high = np.full(shape, -300.0), np.full(shape, 300.0)
    for _ in range(70):
        middle = 0.5 * (low + high)
        with np.errstate(over="ignore", under="ignore"):
            enough = law.magnitude(p, 10.0**middle, late) >= d
        low, high = np.where(enough, low, middle), np.where(enough, middle, high)
    lost = high > 299.0
    held = low < -299.0
    with np.errstate(over="ignore"):
        return np.where(lost, np.inf, np.where(held, 0.0, 10.0**high))


class ConstantRate(ReachingLaw):
    """r = -K sgn nu: the conventional law. gain K [rad/s^2]."""

    def jump(self, p: Numbers, t: Any) -> Any:
        return p["gain"]

    def smooth(self, p: Numbers, x: Any, t: Any) -> Any:
        return 0.0 * x

    def _solved(self, p: Numbers, rest: Any, t: Any, h: Any) -> Any:
        return 0.0 * rest

    def _time(self, x: np.ndarray, start: float) -> np.ndarray:
        return x / self.gain


class PowerRate(ReachingLaw):
    """r = -K |nu|^exponent sgn nu, exponent in [0, 1): continuous, so nothing jumps;
    0 is the conventional law."""

    names = ("gain", "exponent")

    def __init__(self, gain: ArrayLike, exponent: ArrayLike) -> None:
        super().__init__(gain)
        self.exponent = within(exponent, "PowerRate: exponent", 0.0, 1.0, (True, False))

    def jump(self, p: Numbers, t: Any) -> Any:
        return where(p["exponent"] > 0, 0.0 * p["gain"], p["gain"])

    def smooth(self, p: Numbers, x: Any, t: Any) -> Any:
        return where(p["exponent"] > 0, p["gain"] * power(x, p["exponent"]), 0.0 * x)

    def curve(self, p: Numbers, y: Any, t: Any) -> tuple[Any, Any]:
        f = where(p["exponent"] > 0, p["gain"] * exponential(p["exponent"] * y), 0.0 * y)
        return f, p["exponent"] * f

    def _time(self, x: np.ndarray, start: float) -> np.ndarray:
        return x ** (1.0 - self.exponent) / (self.gain * (1.0 - self.exponent))


class PowerExponential(ReachingLaw):
    """r = -(K/N) |nu|^exponent sgn nu, N = offset + (1 - offset) exp(-alpha |nu|^power).

    gain K; offset in (0, 1] (phi of the paper: far away the gain is K/offset); alpha, power > 0;
    exponent in [0, 1) (varphi). With exponent 0 this is ExponentialReaching, with offset 1
    PowerRate.
    """

    names = ("gain", "offset", "alpha", "power", "exponent")

    def __init__(
        self,
        gain: ArrayLike,
        offset: ArrayLike,
        alpha: ArrayLike,
        power: ArrayLike,
        exponent: ArrayLike,
    ) -> None:
        super().__init__(gain)
        who = type(self).__name__
        self.offset = within(offset, f"{who}: offset", 0.0, 1.0, (False, True))
        self.alpha = positive_array(alpha, f"{who}: alpha")
        self.power = positive_array(power, f"{who}: power")
        self.exponent = within(exponent, f"{who}: exponent", 0.0, 1.0, (True, False))

    def jump(self, p: Numbers, t: Any) -> Any:
        return where(p["exponent"] > 0, 0.0 * p["gain"], p["gain"])

    def smooth(self, p: Numbers, x: Any, t: Any) -> Any:
        slowed = p["offset"] + (1.0 - p["offset"]) * exponential(-p["alpha"] * power(x, p["power"]))
        powered = where(p["exponent"] > 0, power(x, p["exponent"]), 1.0 + 0.0 * x)
        return p["gain"] * powered / slowed - self.jump(p, t)

    def curve(self, p: Numbers, y: Any, t: Any) -> tuple[Any, Any]:
        growth = p["alpha"] * exponential(p["power"] * y)
        fading = (1.0 - p["offset"]) * exponential(-growth)
        slowed = p["offset"] + fading
        whole = p["gain"] * exponential(p["exponent"] * y) / slowed
        # d(1/N) = alpha fading / N^2 d(x^power)
        return whole - self.jump(p, t), whole * (
            p["exponent"] + p["power"] * growth * fading / slowed
        )

    def _time(self, x: np.ndarray, start: float) -> np.ndarray:
        from scipy.special import gamma, gammainc

        rest = 1.0 - self.exponent
        s = rest / self.power
        faded = gamma(s) * gammainc(s, self.alpha * x**self.power) / (self.power * self.alpha**s)
        return (self.offset * x**rest / rest + (1.0 - self.offset) * faded) / self.gain


class ExponentialReaching(PowerExponential):
    """r = -(K/N) sgn nu, N = offset + (1 - offset) exp(-alpha |nu|^power):
    the exponential reaching law (SMERL).

    The gain is K near zero and K/offset far away. Source: [Khan2022] eq. 7 (its time is right).
    """

    def __init__(
        self, gain: ArrayLike, offset: ArrayLike, alpha: ArrayLike, power: ArrayLike
    ) -> None:
        super().__init__(gain, offset, alpha, power, 0.0)


def crossover(law: ReachingLaw, other: ReachingLaw, low: float = 1e-6, high: float = 1e6) -> float:
    """The |nu0| at which two laws with scalar parameters take equally long, between low and
    high."""
    from scipy.optimize import brentq

    def gap(exponent: float) -> float:
        x = 10.0**exponent
        return float(law.reaching_time(x) - other.reaching_time(x))

    grid = np.linspace(np.log10(low), np.log10(high), 121)
    gaps = np.array([gap(e) for e in grid])
    changes = np.flatnonzero(np.sign(gaps[:-1]) * np.sign(gaps[1:]) < 0)
    if not len(changes):
        faster = "first" if gaps[len(gaps) // 2] < 0 else "second"
        raise NotPossible(
            f"crossover: the {faster} law is faster for every |nu0| from {low:g} to {high:g}"
        )
    k = int(changes[-1])
    return float(10.0 ** brentq(gap, grid[k], grid[k + 1], xtol=1e-13))
