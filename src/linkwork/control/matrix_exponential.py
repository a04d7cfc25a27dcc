"""Exponentials of many small matrices at once: scaling, Taylor's series, squaring."""

from __future__ import annotations

import numpy as np

NEAR = 0.5
"""Norm below which the series is summed; its rest after TERMS is then below 1e-19."""
TERMS = 16


def matrix_exponential(G: np.ndarray) -> np.ndarray:
    """exp(G) of matrices (sets, n, n).

    SciPy's takes its products through threads that wait for one another, which costs most of a
    stability map on a busy machine; its digits are the same to 1e-13
    (tests/control/test_linear.py).
    """
    norms = np.abs(G).sum(axis=-1).max(axis=-1, initial=0.0)
    with np.errstate(divide="ignore", invalid="ignore"):
        halvings = np.ceil(np.log2(norms / NEAR))
    halvings = np.where(np.isfinite(halvings), np.maximum(halvings, 0.0), 0.0).astype(int)
    result = np.empty_like(G)
    for count in np.unique(halvings):
        alike = halvings == count
        result[alike] = _squared(G[alike] / 2.0**count, int(count))
    return result


def _squared(small: np.ndarray, count: int) -> np.ndarray:
    one = np.eye(small.shape[-1])
    total = one + small / TERMS
    for k in range(TERMS - 1, 0, -1):
        total = one + small @ total / k
    for _ in range(count):
        total = total @ total
    return total
