"""Fingerprints: few bounded numbers by which solutions are told apart, up to a symmetry."""

from __future__ import annotations

import functools
from collections.abc import Callable

import numpy as np

SAME = 1e-8
Symmetry = Callable[[np.ndarray, np.ndarray], np.ndarray]
"""(x (..., n), p (..., m)) -> (..., s, n): the solutions that come with each one, itself first."""


def collisions(
    x: np.ndarray, p: np.ndarray, valid: np.ndarray, symmetry: Symmetry | None
) -> np.ndarray:
    """(..., k): rows of x (..., k, n) that are the same solution, up to symmetry,
    as another valid row."""
    marks = fingerprint(x, p[..., None, :], symmetry)
    marks = np.where(valid[..., None], marks, np.nan)
    order = np.argsort(marks[..., 0], axis=-1)
    ordered = np.take_along_axis(marks, order[..., None], axis=-2)
    repeated = np.zeros(valid.shape, dtype=bool)  # in that order
    # equal ones are neighbours, but for others between them
    for apart in range(1, min(4, x.shape[-2])):
        same = (np.abs(ordered[..., apart:, :] - ordered[..., :-apart, :]) < SAME).all(axis=-1)
        repeated[..., apart:] |= same
        repeated[..., :-apart] |= same
    collide = np.zeros(valid.shape, dtype=bool)
    if repeated.any():
        np.put_along_axis(collide, order, repeated, axis=-1)
    return collide


def fingerprint(x: np.ndarray, p: np.ndarray, symmetry: Symmetry | None) -> np.ndarray:
    """(..., 4) bounded numbers that agree for solutions of one orbit and differ for others."""
    orbit = x[..., None, :] if symmetry is None else symmetry(x, p)
    bounded = orbit / np.sqrt(1.0 + np.abs(orbit) ** 2)
    weights = _weights(x.shape[-1])
    parts = bounded @ weights + (bounded @ weights[:, ::-1]) ** 2
    total = parts.sum(axis=-2)
    return np.concatenate([total.real, total.imag], axis=-1)


@functools.cache
def _weights(n: int) -> np.ndarray:
    random = np.random.default_rng(7)
    return random.normal(size=(n, 2)) + 1j * random.normal(size=(n, 2))
