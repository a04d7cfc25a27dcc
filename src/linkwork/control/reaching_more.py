"""Reaching laws made of other ones: with a switching term that decays in time,
or with a boundary layer."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from linkwork.arguments import finite_doubles
from linkwork.control.checks import positive_array
from linkwork.control.reaching import Numbers, ReachingLaw
from linkwork.errors import InvalidInput, NotPossible
from linkwork.simulation.algebra import is_symbolic, larger, smaller, where
from linkwork.simulation.tracing import UserFunction


def _inverse_square(t: Any) -> Any:
    return 1 / (1 + t**2)


class _Around(ReachingLaw):
    """A law around another one, with the other one's parameters."""

    law: ReachingLaw

    @property
    def numbers(self) -> dict[str, np.ndarray]:
        return self.law.numbers

    def jump(self, p: Numbers, t: Any) -> Any:
        return self.law.jump(p, t)

    def smooth(self, p: Numbers, x: Any, t: Any) -> Any:
        return self.law.smooth(p, x, t)

    def curve(self, p: Numbers, y: Any, t: Any) -> tuple[Any, Any]:
        return self.law.curve(p, y, t)

    def _solved(self, p: Numbers, rest: Any, t: Any, h: Any) -> Any:
        return self.law._solved(p, rest, t, h)


class Decaying(_Around):
    """Another law with weight(t) K (1 - exponent)/offset sgn nu added:
    the paper's nSMERL around PowerExponential.

    weight   a function of time; left out: 1/(1 + t^2). The added term is the chattering that the
             law was meant to
             avoid: with Table 3 of the paper it exceeds the conventional law's until t = 2.55 s
             (`parity`).
    Source: [Khan2022] eq. 6.
    """

    def __init__(self, law: ReachingLaw, weight: Callable[[Any], Any] | None = None) -> None:
        if not isinstance(law, ReachingLaw):
            raise InvalidInput(f"Decaying: law is {type(law).__name__}, expected a reaching law")
        self.law, self.gain = law, law.gain
        self.weight = UserFunction(weight or _inverse_square, [("t", ())], "Decaying: weight")

    def jump(self, p: Numbers, t: Any) -> Any:
        added = p["gain"] * (1.0 - p.get("exponent", 0.0)) / p.get("offset", 1.0)
        return self.law.jump(p, t) + self._weight(t) * added

    def _weight(self, t: Any) -> Any:
        if is_symbolic(t):
            return self.weight(t)[0]
        # the function itself: far quicker on one number
        return np.asarray(self.weight.original(t), dtype=float)

    @property
    def parity(self) -> float:
        """Time [s] from which on the added term is smaller than the conventional law's jump,
        K (scalar parameters)."""
        from scipy.optimize import brentq

        p = self.numbers
        ratio = float(np.max((1.0 - p.get("exponent", np.zeros(1))) / p.get("offset", np.ones(1))))

        def above(t: float) -> float:
            return ratio * float(self._weight(t)) - 1.0

        if above(0.0) <= 0.0:
            return 0.0
        late = 1.0
        while above(late) > 0.0:
            late *= 2.0
            if late > 1e9:
                raise NotPossible(
                    "Decaying: the weight does not fall below the conventional law's jump"
                )
        return float(brentq(above, 0.0, late, xtol=1e-12))

    def _time(self, x: np.ndarray, start: float) -> np.ndarray:
        """By integration to the event nu = 0: a law that depends on time has no closed form."""
        from scipy.integrate import solve_ivp

        numbers = self.numbers
        shape = np.broadcast_shapes(x.shape, *[np.shape(v) for v in numbers.values()])
        rows = {name: np.broadcast_to(v, shape).ravel() for name, v in numbers.items()}
        # the added term only hurries
        bound = np.broadcast_to(self.law.reaching_time(x), shape).ravel()
        times = np.zeros(bound.size)
        for k, nu in enumerate(np.broadcast_to(x, shape).ravel()):
            p = {name: v[k] for name, v in rows.items()}

            def rate(t: float, y: np.ndarray, p: Numbers = p) -> np.ndarray:
                return -np.atleast_1d(self.magnitude(p, np.maximum(y, 0.0), t))

            def reached(t: float, y: np.ndarray) -> float:
                return float(y[0])

            if nu > 0.0:
                reached.terminal = True  # type: ignore[attr-defined]
                span = (start, start + 1.001 * bound[k] + 1e-12)
                least = max(1e-13 * nu, np.finfo(float).tiny)  # a tolerance of 0 would never be met
                with np.errstate(all="ignore"):
                    run = solve_ivp(
                        rate, span, [nu], "DOP853", events=reached, rtol=1e-11, atol=least
                    )
                times[k] = (run.t_events[0][0] if len(run.t_events[0]) else run.t[-1]) - start
        return times.reshape(shape)

    def gain_for(self, time: ArrayLike, nu0: ArrayLike) -> np.ndarray:
        raise NotPossible(
            "Decaying: times do not scale as 1/gain; gain_for of the law inside is enough: the "
            "added term only hurries"
        )


class BoundaryLayer(_Around):
    """Another law with sgn(nu) replaced by nu/width inside |nu| < width: no jump,
    and no exact sliding either.

    `reaching_time` is the time to the layer; inside it nu decays exponentially.
    """

    def __init__(self, law: ReachingLaw, width: ArrayLike) -> None:
        if not isinstance(law, ReachingLaw):
            raise InvalidInput(
                f"BoundaryLayer: law is {type(law).__name__}, expected a reaching law"
            )
        self.law, self.gain = law, law.gain
        self.width = positive_array(width, "BoundaryLayer: width")

    @property
    def numbers(self) -> dict[str, np.ndarray]:
        return {**self.law.numbers, "width": self.width}

    def jump(self, p: Numbers, t: Any) -> Any:
        return 0.0 * p["gain"]

    def smooth(self, p: Numbers, x: Any, t: Any) -> Any:
        return self.law.magnitude(p, x, t) * smaller(x / p["width"], 1.0)

    def _solved(self, p: Numbers, rest: Any, t: Any, h: Any) -> Any:
        """Inside the layer the law inside at the layer's edge bounds the slope;
        outside the other law decides."""
        edge = self.law.magnitude(p, p["width"] + 0.0 * rest, t)
        jump = self.law.jump(p, t)
        outside = jump + self.law._solved(p, larger(rest - h * jump, 0.0 * rest), t, h)
        inside = (rest - self._within(p, rest, t, h)) / h
        return where(rest >= p["width"] + h * edge, outside, inside)

    def _within(self, p: Numbers, rest: Any, t: Any, h: Any) -> Any:
        """x (1 + h |r|(x)/width) = rest for x below the width: bisection, halved thirty times,
        then one secant step."""
        low, high = 0.0 * rest, smaller(rest, p["width"] + 0.0 * rest)
        for _ in range(30):
            x = 0.5 * (low + high)
            beyond = x * (1.0 + h * self.law.magnitude(p, x, t) / p["width"]) > rest
            low, high = where(beyond, low, x), where(beyond, x, high)
        return rest / (1.0 + h * self.law.magnitude(p, 0.5 * (low + high), t) / p["width"])

    def _time(self, x: np.ndarray, start: float) -> np.ndarray:
        beyond = self.law.reaching_time(np.maximum(x, self.width), start)
        return beyond - self.law.reaching_time(self.width + 0.0 * x, start)

    def band(self, disturbance: ArrayLike) -> np.ndarray:
        """As for any law; for a conventional one inside it is width D / K."""
        d = finite_doubles(disturbance, "BoundaryLayer: disturbance")
        return super().band(d)
