"""Second-order sliding: the jump hides behind an integrator, or the law acts on the error
itself."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from linkwork.arguments import finite_doubles
from linkwork.control.checks import positive_array
from linkwork.control.maths import absolute, root, sign
from linkwork.control.reaching import Numbers
from linkwork.errors import InvalidInput
from linkwork.simulation.algebra import larger, smaller, where


class MemoryLaw:
    """A law with one number of its own for every joint, kept from sample to sample.

    explicit, implicit   (parameters, nu, kept, period) -> (r, kept for the next sample)
    """

    names: ClassVar[tuple[str, ...]] = ()
    of_a_run: ClassVar[tuple[str, ...]] = ("gain", "adaptation", "dead", "k1", "k2")

    @property
    def numbers(self) -> dict[str, np.ndarray]:
        return {name: getattr(self, name) for name in self.names}

    def explicit(self, p: Numbers, nu: Any, w: Any, h: Any) -> tuple[Any, Any]:
        raise NotImplementedError

    def implicit(self, p: Numbers, nu: Any, w: Any, h: Any) -> tuple[Any, Any]:
        raise NotImplementedError


class AdaptiveRate(MemoryLaw):
    """r = -K sgn nu with a gain that grows while nu is not zero: K' = adaptation |nu|, K(0) = gain.

    It needs no bound of the disturbance; K stops where it suffices. Within `dead` [rad/s] of the
    surface K rests, so that noise does not drive it up for ever. gain [rad/s^2], adaptation [1/s]:
    numbers or one a joint.
    Source: [Huang2008] section III; implicit rule ours.
    """

    names = ("gain", "adaptation", "dead")

    def __init__(self, gain: ArrayLike, adaptation: ArrayLike, dead: ArrayLike = 0.0) -> None:
        self.gain = positive_array(gain, "AdaptiveRate: gain", zero=True)
        self.adaptation = positive_array(adaptation, "AdaptiveRate: adaptation")
        self.dead = positive_array(dead, "AdaptiveRate: dead", zero=True)

    def _grown(self, p: Numbers, nu: Any, w: Any, h: Any) -> Any:
        size = absolute(nu)
        return w + where(size > p["dead"], h * p["adaptation"] * size, 0.0 * size)

    def explicit(self, p: Numbers, nu: Any, w: Any, h: Any) -> tuple[Any, Any]:
        """(r, next growth) as printed."""
        return -(p["gain"] + w) * sign(nu), self._grown(p, nu, w, h)

    def implicit(self, p: Numbers, nu: Any, w: Any, h: Any) -> tuple[Any, Any]:
        """(r, next growth): nu + h r = 0 once |nu| <= h K."""
        K = p["gain"] + w
        return larger(smaller(-nu / h, K), -K), self._grown(p, nu, w, h)

    def rate(self, nu: ArrayLike, t: float = 0.0) -> np.ndarray:
        """r with the gain that it begins with [rad/s^2]."""
        return -self.gain * np.sign(finite_doubles(nu, "AdaptiveRate: nu"))

    def largest_rate(self, nu: ArrayLike) -> np.ndarray:
        """The largest |r| on the way from nu to zero: the gain that it has grown to."""
        return self._grows(np.abs(finite_doubles(nu, "AdaptiveRate: nu")), self.gain)[1]

    def reaching_time(self, nu0: ArrayLike) -> np.ndarray:
        """Time [s] from nu0 to zero without disturbance: outside `dead` nu'' = -adaptation nu,
        a harmonic motion."""
        return self._grows(np.abs(finite_doubles(nu0, "AdaptiveRate: nu0")), self.gain)[0]

    def _grows(self, x: np.ndarray, gain: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """(time to zero, gain there): an arc to the edge of `dead`, the rest with the gain
        reached."""
        omega = np.sqrt(self.adaptation)
        edge = np.minimum(self.dead, x)
        radius = np.hypot(x, gain / omega)
        with np.errstate(divide="ignore", invalid="ignore"):
            begins = np.arctan2(gain / omega, x)
            ends = np.arccos(np.where(radius > 0, edge / radius, 0.0))
            grown = np.where(
                x > self.dead, omega * np.sqrt(np.maximum(radius**2 - edge**2, 0.0)), gain
            )
            arc = np.where(x > self.dead, (ends - begins) / omega, 0.0)
            rest = np.where(edge > 0, edge / grown, 0.0)
        return arc + rest, grown

    def band(self, disturbance: ArrayLike) -> np.ndarray:
        """Where |nu| settles under |d| <= D [rad/s^2]: at zero,
        or within `dead` where the first gain is too small."""
        d = positive_array(disturbance, "AdaptiveRate: disturbance", zero=True)
        return np.where(d < self.gain, 0.0, self.dead + 0.0 * d)

    def gain_for(self, time: ArrayLike, nu0: ArrayLike) -> np.ndarray:
        """The gain to begin with that reaches zero from nu0 in the given time [s];
        0 where growth alone is sooner."""
        wanted = positive_array(time, "AdaptiveRate: time")
        x = np.abs(finite_doubles(nu0, "AdaptiveRate: nu0"))
        low, high = np.zeros(np.broadcast(wanted, x, self.gain).shape), x / wanted + 0.0 * self.gain
        # the constant rate nu0/time is soon enough, and times fall with the gain
        for _ in range(100):
            middle = 0.5 * (low + high)
            late = self._grows(x + 0.0 * middle, middle)[0] > wanted
            low, high = np.where(late, middle, low), np.where(late, high, middle)
        return np.where(high < 1e-12 * x / wanted, 0.0, high)


class SuperTwisting(MemoryLaw):
    """r = -k1 sqrt|nu| sgn nu + w,  w' = -k2 sgn nu:
                              a continuous force that still rejects disturbances.

    k2 must exceed the bound of the disturbance's rate of change, k1 be about 1.5 sqrt(k2) (Levant).
    Source: [Levant1993] section 4; the times are ours, see `reaching_time`.
    """

    names = ("k1", "k2")

    def __init__(self, k1: ArrayLike, k2: ArrayLike) -> None:
        self.k1 = positive_array(k1, "SuperTwisting: k1")
        self.k2 = positive_array(k2, "SuperTwisting: k2")

    def explicit(self, p: Numbers, nu: Any, w: Any, h: Any) -> tuple[Any, Any]:
        """(r, next w) by forward Euler."""
        r = w - p["k1"] * root(absolute(nu)) * sign(nu)
        return r, w - h * p["k2"] * sign(nu)

    def implicit(self, p: Numbers, nu: Any, w: Any, h: Any) -> tuple[Any, Any]:
        """(r, next w) by backward Euler in closed form: nu = 0 exactly once reached.

        b = nu + h w,   |b| <= h^2 k2:   nu' = 0, w' = -nu/h
        else            x + h k1 sqrt(x) + h^2 k2 = |b|,   w' = w - h k2 sgn b
        """
        b = nu + h * w
        rest = larger(absolute(b) - h * h * p["k2"], 0.0 * b)
        half = 0.5 * h * p["k1"]
        # (sqrt(half^2 + rest) - half) without cancellation
        u = rest / (root(half * half + rest) + half)
        x = u * u * sign(b)
        reached = absolute(b) <= h * h * p["k2"]
        after = where(reached, -nu / h, w - h * p["k2"] * sign(b))
        return where(reached, -nu / h, (x - nu) / h), after

    def rate(self, nu: ArrayLike, t: float = 0.0, w: ArrayLike = 0.0) -> np.ndarray:
        """r for a value w of its integral [rad/s^2]."""
        x = finite_doubles(nu, "SuperTwisting: nu")
        return finite_doubles(w, "SuperTwisting: w") - self.k1 * np.sqrt(np.abs(x)) * np.sign(x)

    def largest_rate(self, nu: ArrayLike) -> np.ndarray:
        """The largest |r| on the way from nu with w = 0, without disturbance.

        With u = sqrt|nu| and ds = dt/(2u): u'' = -k1 u' - 2 k2 u and r = u', which is largest at
        the start, or if 2 k2 > k1^2 where u'' = 0.
        """
        u = np.sqrt(np.abs(finite_doubles(nu, "SuperTwisting: nu")))
        a, gap = 0.5 * self.k1, 2.0 * self.k2 - self.k1**2
        omega = np.sqrt(np.maximum(2.0 * self.k2 - a * a, 1e-300))
        across = 2.0 * self.k2 * a / omega - self.k1 * a * a / omega + self.k1 * omega
        turn = np.arctan2(np.maximum(gap, 0.0), across)
        swing = self.k1 * np.cos(turn) + (omega - a * a / omega) * np.sin(turn)
        return u * np.where(gap > 0.0, np.exp(-a * turn / omega) * swing, self.k1)

    def band(self, disturbance_rate: ArrayLike) -> np.ndarray:
        """Where |nu| settles under disturbances whose rate of change is below D' [rad/s^3],
        of whatever size.

        0 where k2 > D' and k1^2 >= 4 D' (k2 + D')/(k2 - D') (Levant's condition), else inf: not
        guaranteed.
        """
        d = positive_array(disturbance_rate, "SuperTwisting: disturbance_rate", zero=True)
        with np.errstate(divide="ignore"):
            enough = self.k1**2 >= 4.0 * d * (self.k2 + d) / np.maximum(self.k2 - d, 1e-300)
        return np.where((self.k2 > d) & enough, 0.0, np.inf)

    def gain_for(self, time: ArrayLike, nu0: ArrayLike) -> tuple[np.ndarray, np.ndarray]:
        """(k1, k2) that reach zero from nu0 in the given time [s]:
        times fall by f if k1 grows by f and k2 by f^2."""
        f = self.reaching_time(nu0) / positive_array(time, "SuperTwisting: time")
        return f * self.k1, f * f * self.k2

    def reaching_time(self, nu0: ArrayLike) -> np.ndarray:
        """Time [s] from nu0 with w = 0 to nu = w = 0, without disturbance: in closed form.

        With u = sqrt|nu| and ds = dt/(2u) the motion is linear, so it crosses nu = 0 at
        w1 = sqrt(2 k2 |nu0|) exp(-k1 s1/2), tan(omega s1) = 2 omega/k1, omega^2 = 2 k2 - k1^2/4;
        every half turn shrinks w by rho = exp(-pi k1/(2 omega)), and |w'| = k2 makes the time 2 w1
        / (k2 (1 - rho)). Without oscillation (k1^2 >= 8 k2) rho is 0.
        """
        x = np.abs(finite_doubles(nu0, "SuperTwisting: nu0"))
        square = 2.0 * self.k2 - 0.25 * self.k1**2
        omega = np.sqrt(np.maximum(square, 1e-300))
        mu = np.sqrt(np.maximum(-square, 1e-300))
        turning = square > 1e-12 * self.k2
        slow = -square > 1e-12 * self.k2
        with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
            s_turning = np.arctan2(omega, 0.5 * self.k1) / omega
            s_slow = np.arctanh(np.minimum(2.0 * mu / self.k1, 1.0)) / mu
            rho = np.where(turning, np.exp(-0.5 * np.pi * self.k1 / omega), 0.0)
        s1 = np.where(turning, s_turning, np.where(slow, s_slow, 2.0 / self.k1))
        w1 = np.sqrt(2.0 * self.k2 * x) * np.exp(-0.5 * self.k1 * s1)
        return 2.0 * w1 / (self.k2 * (1.0 - rho))


class Twisting:
    """a = a_d - k1 sgn e - k2 sgn e', on the error itself (no surface):
    reaches e = e' = 0 in finite time.

    k1 > k2 > 0; a disturbance of acceleration D is rejected if k1 - k2 > D and k2 > D. Source:
    [Levant1993] section 3.
    """

    names = ("k1", "k2")
    of_a_run: ClassVar[tuple[str, ...]] = ("k1", "k2")
    states = 0

    def __init__(self, k1: ArrayLike, k2: ArrayLike) -> None:
        self.k1 = positive_array(k1, "Twisting: k1")
        self.k2 = positive_array(k2, "Twisting: k2")
        if not (self.k1 > self.k2).all():
            raise InvalidInput(
                f"Twisting: k1 {self.k1.tolist()} must be above k2 {self.k2.tolist()}, or the "
                "error does not shrink"
            )

    @property
    def numbers(self) -> dict[str, np.ndarray]:
        return {"k1": self.k1, "k2": self.k2}

    def rate(self, e: Any, ed: Any, p: Numbers | None = None) -> Any:
        p = p or self.numbers
        return -p["k1"] * sign(e) - p["k2"] * sign(ed)

    def reaching_time(self, e0: ArrayLike) -> np.ndarray:
        """Time [s] from rest at e0 to rest at 0: every swing shrinks by (k1 - k2)/(k1 + k2),
        a geometric series."""
        x = np.abs(finite_doubles(e0, "Twisting: e0"))
        less, more = self.k1 - self.k2, self.k1 + self.k2
        swing = np.sqrt(2.0 * x / less) + np.sqrt(2.0 * less * x) / more
        return swing / (1.0 - np.sqrt(less / more))

    def largest_rate(self, e: ArrayLike = 0.0) -> np.ndarray:
        """k1 + k2 [rad/s^2], from wherever it begins."""
        return self.k1 + self.k2 + 0.0 * finite_doubles(e, "Twisting: e")

    def band(self, disturbance: ArrayLike) -> np.ndarray:
        """Where |e| settles under |d| <= D [rad/s^2]: 0 if k1 - k2 > D and k2 > D, else inf:
        not guaranteed."""
        d = positive_array(disturbance, "Twisting: disturbance", zero=True)
        return np.where(np.minimum(self.k1 - self.k2, self.k2) > d, 0.0, np.inf)

    def gain_for(self, time: ArrayLike, e0: ArrayLike) -> tuple[np.ndarray, np.ndarray]:
        """(k1, k2) that reach zero from rest at e0 in the given time [s]:
        times fall as 1/sqrt of both."""
        f = (self.reaching_time(e0) / positive_array(time, "Twisting: time")) ** 2
        return f * self.k1, f * self.k2
