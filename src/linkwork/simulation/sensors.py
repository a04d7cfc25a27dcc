"""Sensors: what a sampled law is told instead of the true state: quantised, noisy, late,
without a speed of its own."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import casadi
import numpy as np
from numpy.typing import ArrayLike

from linkwork.arguments import as_doubles, choice, number
from linkwork.errors import InvalidInput, NotPossible
from linkwork.simulation.algebra import is_symbolic, joined, part, where
from linkwork.simulation.bound import Bound
from linkwork.simulation.noise import PRIME, normals
from linkwork.simulation.plant import Plant

VELOCITIES = ("measured", "difference", "filtered")
LONGEST_DELAY = 1000
"""Samples that a reading may be late; the loop carries them all."""


class Encoder:
    """Joint encoders as a sampled law sees them, read at its samples.

    resolution   step between readings [rad, m]; 0: none. 2 pi / 4096 is a 12-bit encoder on the
                 joint
    noise        standard deviation of a position [rad, m];  velocity_noise: of a measured velocity
                 [rad/s, m/s]
    delay        age of a reading [s], a whole number of the law's periods
    seed         whole number, or one a run (...,): noise depends on seed, sample number and joint,
                 on nothing else
    velocity     "measured" (a tachometer), "difference" (of readings over a period), or "filtered":
                 that difference through a first-order low pass of `cutoff` [rad/s]
    Numbers are one for all joints, one a joint (..., nv), or batches. Readings before the first are
    taken as if the joints had moved at their present speed.
    """

    def __init__(
        self,
        resolution: ArrayLike = 0.0,
        noise: ArrayLike = 0.0,
        delay: float = 0.0,
        seed: ArrayLike = 0,
        velocity: str = "measured",
        cutoff: float | None = None,
        velocity_noise: ArrayLike = 0.0,
    ) -> None:
        self.resolution, self.noise, self.velocity_noise = resolution, noise, velocity_noise
        self.delay = number(delay, "Encoder: delay")
        self.velocity = choice(velocity, VELOCITIES, "Encoder: velocity")
        if not np.isfinite(self.delay) or self.delay < 0:
            raise InvalidInput(f"Encoder: delay is {delay!r}, expected a time of at least 0 s")
        self.seed = as_doubles(seed, "Encoder: seed")
        if not ((self.seed >= 0) & (self.seed < PRIME) & (self.seed == np.floor(self.seed))).all():
            raise InvalidInput(
                f"Encoder: seed is {seed!r}, expected whole numbers from 0 to {PRIME - 1}"
            )
        if (cutoff is None) == (velocity == "filtered"):
            raise InvalidInput(
                'Encoder: cutoff [rad/s] belongs to velocity="filtered", and is needed there'
            )
        self.cutoff = 0.0 if cutoff is None else number(cutoff, "Encoder: cutoff")
        if cutoff is not None and not 0 < self.cutoff < np.inf:
            raise InvalidInput(
                f"Encoder: cutoff is {cutoff!r}, expected a finite number above 0 [rad/s]"
            )
        if velocity != "measured" and np.any(np.asarray(velocity_noise) != 0):
            raise InvalidInput('Encoder: velocity_noise belongs to velocity="measured"')


class BoundEncoder(Bound):
    """An encoder in a run, for one sampled law; it carries the sample number,
    readings and the filter's state."""

    def __init__(self, encoder: Encoder, plant: Plant, name: str, period: float) -> None:
        super().__init__()
        if not plant.flat:
            raise NotPossible(f"sensors: encoders read plain joints; {plant.who} has quaternions")
        self.name, self.velocity, n = name, encoder.velocity, plant.nv
        for key in ("resolution", "noise", "velocity_noise"):
            self._number(f"{name}_{key}", getattr(encoder, key), n, f"Encoder: {key}")
        self.quantised, self.noisy, self.shaken = (
            bool(self.parameters[f"{name}_{key}"].any())
            for key in ("resolution", "noise", "velocity_noise")
        )
        self.parameters[f"{name}_seed"] = encoder.seed[..., None]
        self.parameters[f"{name}_cutoff"] = np.array([encoder.cutoff])
        self.late = round(encoder.delay / period)
        if abs(self.late * period - encoder.delay) > 1e-6 * period:
            raise InvalidInput(
                f"Encoder: delay {encoder.delay:g} s is no whole number of the law's periods of "
                f"{period:g} s"
            )
        if self.late > LONGEST_DELAY:
            raise InvalidInput(
                f"Encoder: delay is {self.late} periods, expected at most {LONGEST_DELAY}"
            )
        differenced = self.velocity != "measured"
        # kept: sample number, readings (newest first), late speeds, the filter's speed
        self.cuts = np.cumsum(
            [0, 1, n * (self.late + differenced), 0 if differenced else n * self.late]
        )
        self.memory = int(self.cuts[-1]) + (n if self.velocity == "filtered" else 0)

    def read(
        self, plant: Plant, q: Any, v: Any, m: Any, p: Mapping[str, Any], period: Any
    ) -> tuple[Any, Any, Any]:
        """(position, velocity as the law sees them, what is kept for the next sample)."""
        n, name = plant.nv, self.name
        count, begins = m[0], m[0] < 0.5
        reading, speed = q, v
        if self.noisy or self.shaken:
            drawn = [normals(p[f"{name}_seed"][0], count, k) for k in range(n)]
            reading = (
                reading + p[f"{name}_noise"] * joined([x for x, _ in drawn])
                if self.noisy
                else reading
            )
            speed = (
                speed + p[f"{name}_velocity_noise"] * joined([y for _, y in drawn])
                if self.shaken
                else speed
            )
        if self.quantised:
            reading = self._rounded(reading, p)
        older = part(m, self.cuts[1], self.cuts[2])
        before = [reading - (k + 1) * period * v for k in range((self.cuts[2] - self.cuts[1]) // n)]
        before = [self._rounded(x, p) for x in before] if self.quantised else before
        readings = joined([reading, where(begins, joined(before), older)]) if before else reading
        seen = part(readings, n * self.late, n * (self.late + 1))
        kept = [count + 1.0, part(readings, 0, self.cuts[2] - self.cuts[1])]
        if self.velocity == "measured":
            late = part(m, self.cuts[2], self.cuts[3])
            speeds = (
                joined([speed, where(begins, joined([v] * self.late), late)])
                if self.late
                else speed
            )
            return (
                seen,
                part(speeds, n * self.late, n * (self.late + 1)),
                joined([*kept, part(speeds, 0, n * self.late)]),
            )
        slope = (seen - part(readings, n * (self.late + 1), n * (self.late + 2))) / period
        if self.velocity == "difference":
            return seen, slope, joined(kept)
        fades = _exponential(-p[f"{name}_cutoff"][0] * period)
        smooth = where(begins, v, part(m, self.cuts[3], self.cuts[3] + n))
        smooth = fades * smooth + (1.0 - fades) * slope
        return seen, smooth, joined([*kept, smooth])

    def _rounded(self, x: Any, p: Mapping[str, Any]) -> Any:
        """The nearest reading; a joint of resolution 0 keeps its position."""
        step = p[f"{self.name}_resolution"]
        safe = where(step > 0, step, 1.0 + 0.0 * step)
        floor = casadi.floor if is_symbolic(x) or is_symbolic(step) else np.floor
        return where(step > 0, safe * floor(x / safe + 0.5), x)


def _exponential(x: Any) -> Any:
    return casadi.exp(x) if is_symbolic(x) else np.exp(x)


def attach(control: Bound, sensors: Any, plant: Plant) -> None:
    """Let every sampled law of a run read its state through encoders."""
    if not isinstance(sensors, Encoder):
        raise InvalidInput(f"simulate: sensors is {type(sensors).__name__}, expected Encoder(...)")
    if _continuous(control):
        raise InvalidInput(
            "simulate: sensors are read at samples; put every law inside Sampled(law, period)"
        )
    for sampler in control.samplers():
        sampler.sensor = BoundEncoder(sensors, plant, f"{sampler.name}_encoder", sampler.timing[0])
        control.parameters |= sampler.sensor.parameters


def _continuous(bound: Bound) -> bool:
    """Whether some law in it runs between samples."""
    if hasattr(bound, "timing"):
        return False
    return not bound.inside or any(_continuous(part) for part in bound.inside)
