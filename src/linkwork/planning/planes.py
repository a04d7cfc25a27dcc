"""Planes: what else is near the points of a path,
as linear bounds that earlier looks left behind (a bundle).

The distance of the nearest shapes is a minimum over all pairs of shapes. Its gradient tells of one
pair alone, and a step that flees it may run into the next. Every look at a path leaves, for each
point x_i with distance d_i and gradient g_i, the plane d_i + g_i' (x - x_i). Planes of other pairs
that a step would break take part in the next solve, so that a step which was refused is not wasted:
it says what it met. Source: [Kiwiel1990].
"""

from __future__ import annotations

import numpy as np

KEPT = 4  # looks
ALIKE = 0.9  # cosine between two gradients from which on they speak of the same pair


class Planes:
    """Of several paths with points (count, size): the last KEPT looks at each."""

    def __init__(self, paths: int, count: int, size: int) -> None:
        self._slopes = np.zeros((paths, KEPT, count, size))
        self._lengths = np.ones((paths, KEPT, count))
        self._constants = np.full((paths, KEPT, count), np.inf)
        self._looks = np.zeros(paths, dtype=int)

    def keep(self, path: int, x: np.ndarray, distance: np.ndarray, gradient: np.ndarray) -> None:
        """A look at points x (count, size): distances (count,), gradients (count, size)."""
        place = self._looks[path] % KEPT
        self._looks[path] += 1
        self._slopes[path, place] = gradient
        self._lengths[path, place] = np.linalg.norm(gradient, axis=1)
        self._constants[path, place] = distance - np.einsum("is,is->i", gradient, x)

    def broken(
        self,
        path: int,
        x: np.ndarray,
        step: np.ndarray,
        nearest: tuple[np.ndarray, np.ndarray],
        aim: float,
    ) -> tuple[np.ndarray, np.ndarray]:
        """For each point the plane that a step brings furthest below `aim`: what it misses now,
        and its slope.

        nearest   distance and gradient at x, of the pair that is known already
        A point without such a plane has slope 0 and misses nothing; one that is not broken yet
        misses less than 0.
        """
        distance, gradient = nearest
        slopes = self._slopes[path]
        along = np.einsum("kis,is->ki", slopes, gradient)
        alike = along > ALIKE * self._lengths[path] * np.linalg.norm(gradient, axis=1)
        heights = self._constants[path] + np.einsum("kis,is->ki", slopes, x)
        heights = np.maximum(heights, distance)  # nothing is nearer than the nearest
        heights[alike] = np.inf
        after = heights + np.einsum("kis,is->ki", slopes, step)
        points = np.arange(len(x))
        lowest = np.argmin(after, axis=0)
        meets = after[lowest, points] < aim
        misses = np.zeros(len(x))
        misses[meets] = aim - heights[lowest, points][meets]
        return misses, np.where(meets[:, None], slopes[lowest, points], 0.0)
