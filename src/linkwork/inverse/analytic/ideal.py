"""Ideal axes: how far a chain's lines are from a relation (parallel, meeting),
and the nearest lines that have it."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np

from linkwork.inverse.analytic.screws import Chain, common_normal

EXACT = 1e-11
"""Deviation [rad, or of the arm's length] up to which closed forms are taken for the robot
itself."""
NEAR = 0.005
"""Deviation up to which they are taken for its nominal geometry,
and every solution is polished on the true one."""


@dataclass
class Lines:
    """Lines that are being idealised, with the deviations found on the way.

    Each method states one relation, notes how far the lines were from it, and moves the later line
    into it.
    """

    chain: Chain
    directions: np.ndarray = field(init=False)
    points: np.ndarray = field(init=False)
    length: float = field(init=False)
    deviations: list[tuple[float, str]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.directions, self.points = self.chain.directions.copy(), self.chain.points.copy()
        self.length = self.chain.length

    def parallel(self, *axes: int) -> Lines:
        """These axes are parallel (each in its own sense)."""
        first = self.directions[axes[0]]
        senses = [1.0 if self.directions[i] @ first >= 0 else -1.0 for i in axes]
        mean = sum(s * self.directions[i] for s, i in zip(senses, axes))
        mean = mean / np.linalg.norm(mean)
        for s, i in zip(senses[1:], axes[1:]):
            off = np.arctan2(
                np.linalg.norm(np.cross(first, self.directions[i])), abs(first @ self.directions[i])
            )
            self._note(
                off,
                f"{self._named(axes[0], i)} differ by {np.degrees(off):.3g} deg, expected parallel",
            )
            if s * (self.directions[i] @ mean) < 0.5:
                return self
        for s, i in zip(senses, axes):
            self.directions[i] = s * mean
        return self

    def perpendicular(self, i: int, fixed: int) -> Lines:
        """Axis i is perpendicular to axis `fixed`."""
        u, z = self.directions[fixed], self.directions[i]
        off = abs(float(np.arcsin(np.clip(u @ z, -1, 1))))
        angle = 90.0 - np.degrees(off)
        self._note(off, f"{self._named(i, fixed)} stand at {angle:.6g} deg, expected 90")
        if off < 1.0:
            z = z - (u @ z) * u
            self.directions[i] = z / np.linalg.norm(z)
        return self

    def meeting(self, i: int, fixed: int) -> Lines:
        """Axis i meets axis `fixed`."""
        first, second = common_normal(self._now(), fixed, i)
        gap = second - first
        size = float(np.linalg.norm(gap))
        self._note(
            size / self.length,
            f"{self._named(i, fixed)} pass each other at {1e3 * size:.4g} mm, expected meeting",
        )
        self.points[i] = self.points[i] - gap
        return self

    def beside(self, i: int, fixed: int, along: int, what: str) -> Lines:
        """Axis i has no offset from axis `fixed` in the direction of axis `along`."""
        u = self.directions[along]
        offset = float((self.points[i] - self.points[fixed]) @ u)
        self._note(abs(offset) / self.length, f"{what} {1e3 * abs(offset):.4g} mm, expected 0")
        self.points[i] = self.points[i] - offset * u
        return self

    def concurrent(self, i: int, j: int, k: int) -> Lines:
        """Axes i, j, k meet in one point of axis j (or of j and k where they are parallel to
        nothing else)."""
        first, second = common_normal(self._now(), j, i)[0], common_normal(self._now(), j, k)[0]
        center = (first + second) / 2
        worst = 0.0
        for axis in (i, j, k):
            w = center - self.points[axis]
            gap = w - (w @ self.directions[axis]) * self.directions[axis]
            worst = max(worst, float(np.linalg.norm(gap)))
            self.points[axis] = center
        for one, two in ((i, j), (j, k)):
            if np.linalg.norm(np.cross(self.directions[one], self.directions[two])) < 1e-3:
                self._note(
                    1.0, f"{self._named(one, two)} are parallel, expected to meet in one point"
                )
        self._note(
            worst / self.length,
            f"{self._named(i, j, k)} miss a common point by {1e3 * worst:.4g} mm, expected one",
        )
        return self

    @property
    def worst(self) -> tuple[float, str]:
        """The largest deviation (rad, or of the arm's length) with its sentence."""
        return max(self.deviations, default=(0.0, ""), key=lambda deviation: deviation[0])

    @property
    def result(self) -> Chain:
        """The chain with the ideal lines."""
        return self._now()

    def _now(self) -> Chain:
        return replace(self.chain, directions=self.directions, points=self.points)

    def _named(self, *axes: int) -> str:
        *first, last = sorted(self.chain.numbers[i] for i in axes)
        return f"axes {', '.join(map(str, first))} and {last}"

    def _note(self, deviation: float, sentence: str) -> None:
        self.deviations.append((float(deviation), sentence))
