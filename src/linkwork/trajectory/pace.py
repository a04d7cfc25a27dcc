"""Pace: how fast a way may be gone through, from rest to rest,
by the largest speed and acceleration of each piece.

    x = sd^2:  x_(i+1) <= x_i + 2 A ds  forward,  x_i <= x_(i+1) + 2 A ds  backward,  x <= V(s)^2
    everywhere

Jerk is limited by a moving mean over the time acceleration / jerk, which turns ramps of speed into
S-curves and leaves the way as it is.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

POINTS = 400
"""Intervals a piece on which speeds are decided."""


@dataclass(frozen=True)
class Pace:
    """s(t) with constant acceleration in each interval.

    t, s, sd, sdd   (n,) instants, s and sd there, sdd of the interval after;  S: the integral of s
    mean            width of the moving mean [s]
    """

    t: np.ndarray
    s: np.ndarray
    sd: np.ndarray
    sdd: np.ndarray
    S: np.ndarray
    mean: float

    @property
    def duration(self) -> float:
        return float(self.t[-1]) + self.mean

    def at(self, time: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """s, sd, sdd (n,) at instants (n,)."""
        if self.mean == 0.0:
            s, sd, sdd, _ = self._raw(time)
            return s, sd, sdd
        (s1, v1, _, S1), (s0, v0, _, S0) = self._raw(time), self._raw(time - self.mean)
        return (S1 - S0) / self.mean, (s1 - s0) / self.mean, (v1 - v0) / self.mean

    def _raw(self, time: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """Before the start s is 0, after the end it stays."""
        inside = np.clip(time, 0.0, self.t[-1])
        k = np.clip(np.searchsorted(self.t, inside, side="right") - 1, 0, len(self.t) - 2)
        h = inside - self.t[k]
        s, sd, sdd = self.s[k], self.sd[k], self.sdd[k]
        after = np.maximum(time - self.t[-1], 0.0)
        S = self.S[k] + s * h + sd * h**2 / 2 + sdd * h**3 / 6 + after * self.s[-1]
        moving = (time >= 0.0) & (time <= self.t[-1])
        return (
            s + sd * h + sdd * h**2 / 2,
            np.where(moving, sd + sdd * h, 0.0),
            np.where(moving, sdd, 0.0),
            S,
        )


def pace(
    widths: np.ndarray, fastest: np.ndarray, sharpest: np.ndarray, jerk_time: float = 0.0
) -> Pace:
    """The quickest pace over pieces of these widths in s,
    each with its largest speed sd and acceleration sdd."""
    pieces = [np.linspace(0.0, w, POINTS + 1)[1:] for w in widths]
    ends = np.concatenate([[0.0], np.cumsum(widths)])
    s = np.concatenate([[0.0], *(e + p for e, p in zip(ends, pieces, strict=False))])
    ds, A = np.diff(s), np.repeat(sharpest, POINTS)
    cap = np.repeat(fastest, POINTS) ** 2
    x = np.minimum(np.append(cap, cap[-1]), np.append(cap[0], cap))  # of both intervals at a place
    x[0] = x[-1] = 0.0
    for k in range(len(ds)):
        x[k + 1] = min(x[k + 1], x[k] + 2 * A[k] * ds[k])
    for k in range(len(ds) - 1, -1, -1):
        x[k] = min(x[k], x[k + 1] + 2 * A[k] * ds[k])
    sd = np.sqrt(x)
    dt = 2 * ds / (sd[1:] + sd[:-1])
    sdd = (x[1:] - x[:-1]) / (2 * ds)
    t = np.concatenate([[0.0], np.cumsum(dt)])
    parts = s[:-1] * dt + sd[:-1] * dt**2 / 2 + sdd * dt**3 / 6
    S = np.concatenate([[0.0], np.cumsum(parts)])
    return Pace(t, s, sd, np.append(sdd, 0.0), S, jerk_time)
