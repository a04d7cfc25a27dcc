"""Observers: what is not measured, estimated sample by sample: derivatives, disturbances,
forces from outside."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from linkwork import quantities
from linkwork.arguments import as_doubles, finite, number, shown
from linkwork.control.checks import positive, positive_array
from linkwork.errors import InvalidInput
from linkwork.subject import RobotLike, subject_of


class MomentumObserver:
    """Joint forces from outside [N m, N] from motion and motor forces alone:
    contacts without a force sensor.

        r = gain (p - p0 - integral (tau + C' v - g + r) dt),   p = M v

    r follows the true joint force of what touches the robot with the lag 1/gain. gain [1/s]: number
    or one a joint. period [s]. The robot is the model: what it does not know (friction, payload)
    counts as from outside.
    Source: [DeLuca2005] eq. 9.
    """

    def __init__(self, robot: RobotLike, gain: ArrayLike, period: float) -> None:
        subject = subject_of(robot, "MomentumObserver")
        self.subject, self.period = subject, positive(period, "MomentumObserver: period")
        self.gain = np.broadcast_to(positive_array(gain, "MomentumObserver: gain"), (subject.nv,))
        if (self.gain * self.period >= 2.0).any():
            raise InvalidInput(
                f"MomentumObserver: gain {self.gain.max():g} /s is unstable at {self.period:g} s; "
                "it must stay below "
                f"{2.0 / self.period:g} /s"
            )
        self.reset()

    def reset(self) -> None:
        """Forget what was measured."""
        self.residual = np.zeros(self.subject.nv)
        self._start: np.ndarray | None = None
        self._sum = np.zeros(self.subject.nv)

    def update(self, q: ArrayLike, v: ArrayLike, tau: ArrayLike) -> np.ndarray:
        """r (nv,) after a sample of motion, and of the force that acts from now on."""
        n = self.subject.nv
        state = {
            "q": finite(q, (self.subject.nq,), "MomentumObserver: q"),
            "v": finite(v, (n,), "MomentumObserver: v"),
        }
        force = finite(tau, (n,), "MomentumObserver: tau")
        mass = quantities.evaluate(self.subject, "mass_matrix", {"q": state["q"]})
        coriolis = quantities.evaluate(self.subject, "coriolis_matrix", state)
        gravity = quantities.evaluate(self.subject, "gravity_torque", {"q": state["q"]})
        momentum = mass @ state["v"]
        if self._start is None:
            self._start = momentum
        self.residual = self.gain * (momentum - self._start - self._sum)
        self._sum = self._sum + self.period * (
            force + coriolis.T @ state["v"] - gravity + self.residual
        )
        return self.residual

    def over(self, run: Any) -> np.ndarray:
        """r (T, nv) over the rows of a simulation whose rows are one period apart."""
        if np.abs(np.diff(run.time) - self.period).max() > 1e-9:
            raise InvalidInput(
                f"MomentumObserver: the rows are not {self.period:g} s apart; simulate with sample="
            )
        self.reset()
        return np.array(
            [self.update(q, v, tau) for q, v, tau in zip(run.q, run.v, run.tau, strict=True)]
        )

    def contact(self, run: Any, threshold: ArrayLike) -> float | None:
        """Time [s] at which some |r| first exceeds its threshold [N m, N]; None if none does."""
        beyond = (
            np.abs(self.over(run)) > positive_array(threshold, "MomentumObserver: threshold")
        ).any(axis=1)
        return float(run.time[int(np.argmax(beyond))]) if beyond.any() else None


class LevantDifferentiator:
    """First derivative of a noisy signal, exact in finite time where |x''| <= bound:
    super-twisting on the error.

    Source: [Levant1998] section 3 with gains 1.5 and 1.1.
    """

    def __init__(self, bound: ArrayLike, period: float) -> None:
        self.bound = positive_array(bound, "LevantDifferentiator: bound")
        self.period = positive(period, "LevantDifferentiator: period")
        self.value: np.ndarray | None = None
        self.rate = np.zeros(self.bound.shape)

    def update(self, sample: ArrayLike) -> np.ndarray:
        """The derivative after one more sample."""
        x = as_doubles(sample, "LevantDifferentiator: sample")
        if not np.isfinite(x).all():
            raise InvalidInput(f"LevantDifferentiator: sample is {x.tolist()}: it is not taken")
        known = self.bound if self.value is None else self.value
        if known.ndim and x.shape != known.shape:
            raise InvalidInput(
                f"LevantDifferentiator: sample has shape {x.shape}, expected {known.shape}"
            )
        if self.value is None:
            self.value = x.copy()
        e = self.value - x
        forward = self.rate - 1.5 * np.sqrt(self.bound * np.abs(e)) * np.sign(e)
        self.rate = self.rate - self.period * 1.1 * self.bound * np.sign(e)
        self.value = self.value + self.period * forward
        return self.rate


class ExtendedStateObserver:
    """Position, speed and total disturbance of x'' = b u + d from samples of x:
    three poles at -bandwidth [rad/s].

    Source: [Gao2003] section III. The gains are exact for the sampled double integrator
    (poles at exp(-bandwidth T)).
    """

    def __init__(self, bandwidth: float, period: float, gain: float = 1.0) -> None:
        w = positive(bandwidth, "ExtendedStateObserver: bandwidth")
        self.period = positive(period, "ExtendedStateObserver: period")
        self.b = number(gain, "ExtendedStateObserver: gain")
        T, z = self.period, float(np.exp(-w * self.period))
        self.A = np.array([[1.0, T, T * T / 2], [0.0, 1.0, T], [0.0, 0.0, 1.0]])
        self.B = np.array([T * T / 2, T, 0.0]) * self.b
        self.L = np.array([1 - z**3, 1.5 * (1 - z) ** 2 * (1 + z) / T, (1 - z) ** 3 / T**2])
        self.state = np.zeros(3)

    def update(self, x: float, u: float = 0.0) -> np.ndarray:
        """(x, x', d) after a sample x; u acts from now on."""
        sample = as_doubles(x, "ExtendedStateObserver: sample")
        if sample.shape != () or not np.isfinite(sample):
            raise InvalidInput(
                f"ExtendedStateObserver: sample is {shown(x)}, expected a number: it is not taken"
            )
        force = number(u, "ExtendedStateObserver: u")
        corrected = self.state + self.L * (float(sample) - self.state[0])
        self.state = self.A @ corrected + self.B * force
        return corrected
