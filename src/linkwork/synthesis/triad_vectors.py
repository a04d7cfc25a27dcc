"""Triad vectors: the links of triads through unit displacements, all rotations but the middle one
known."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from linkwork.synthesis import two_loops
from linkwork.synthesis.compatibility import triad_deltas
from linkwork.synthesis.triad_kernels import polish
from linkwork.synthesis.triad_system import starts, system

ON_CIRCLE = 1e-5


def by_linear_equations(
    a: np.ndarray, g: np.ndarray, d: np.ndarray, chosen: dict[int, np.ndarray], V: np.ndarray | None
) -> tuple[np.ndarray, ...]:
    """All rotations chosen: a linear system for the vectors; one answer."""
    b = np.stack(
        [np.exp(1j * np.broadcast_to(chosen[j], a.shape[:-1])) - 1.0 for j in sorted(chosen)],
        axis=-1,
    )
    if V is None:
        A, right = np.stack([a, b, g], axis=-1), d
    else:
        A, right = np.stack([a, g], axis=-1), d - V[..., None] * b
    condition = np.linalg.cond(A)
    fine = condition < 1e12
    x = np.linalg.solve(np.where(fine[..., None, None], A, np.eye(A.shape[-1])), right[..., None])[
        ..., 0
    ]
    middle = x[..., 1] if V is None else np.broadcast_to(V, x.shape[:-1])
    vectors = np.stack([x[..., 0], middle, x[..., -1]], axis=-1)
    return vectors[..., None, :], np.angle(b + 1.0)[..., None, :], fine[..., None]


def by_loops(
    a: np.ndarray,
    g: np.ndarray,
    d: np.ndarray,
    chosen: dict[int, np.ndarray],
    batch: tuple[int, ...],
) -> tuple[np.ndarray, ...]:
    """Five or six positions: positions are reordered so that the chosen rotation comes first
    (and second)."""
    n = a.shape[-1] + 1
    first = sorted(chosen)
    order = [j - 2 for j in first] + [j for j in range(n - 1) if j + 2 not in chosen]
    x = [np.exp(1j * np.broadcast_to(chosen[j], batch)) for j in first]
    D = triad_deltas(*(v[..., order] for v in (a, g, d)))
    if n == 5:
        K = D[..., 0, 0] + D[..., 0, 1] * x[0] + D[..., 0, 2] * x[1]
        y, z = _two_links(K, D[..., 0, 3], D[..., 0, 4])
        rotations = [np.broadcast_to(v[..., None], y.shape) for v in x] + [y, z]
        valid = np.isfinite(y)
    else:
        K = D[..., 0] + D[..., 1] * x[0][..., None]
        loops = np.stack([K, *(D[..., k] for k in (2, 3, 4))], axis=-1)
        y, z = two_loops.rotations(loops)
        valid = (np.abs(np.abs(y) - 1.0) < ON_CIRCLE) & (np.abs(np.abs(z) - 1.0) < 100 * ON_CIRCLE)
        last = [
            -(K[..., k, None] + D[..., k, 2, None] * y + D[..., k, 3, None] * z) for k in range(2)
        ]
        last = [
            v / np.where(np.abs(D[..., k, 4, None]) > 0, D[..., k, 4, None], 1.0)
            for k, v in enumerate(last)
        ]
        rotations = [np.broadcast_to(x[0][..., None], y.shape), y, z, *last]
    beta = np.empty((*y.shape, n - 1))
    for place, j in enumerate(order):
        beta[..., j] = np.angle(np.where(valid, rotations[place], 1.0))
    vectors = _vectors(a, g, d, beta, valid)
    vectors, fine = _polished(a, g, d, vectors, valid, chosen)
    return vectors, rotations_of(a, g, d, vectors), fine


def by_roots(a: np.ndarray, g: np.ndarray, d: np.ndarray) -> tuple[np.ndarray, ...]:
    """Seven positions: all 17 roots, of which the real ones are triads."""
    p = np.stack([d, d.conj(), a + 1.0, g + 1.0], axis=-1).reshape(*d.shape[:-1], 24)
    roots = system().solve(p, starts(), conditions=False)
    x = roots.x
    vectors = x[..., [2, 0, 4]]
    conjugates = x[..., [3, 1, 5]]
    scale = np.abs(vectors).max(axis=-1) + np.abs(conjugates).max(axis=-1) + 1e-300
    valid = roots.success & (np.abs(conjugates - vectors.conj()).max(axis=-1) < 1e-6 * scale)
    vectors, fine = _polished(a, g, d, vectors, valid, {})
    return vectors, rotations_of(a, g, d, vectors), fine


def _two_links(K: np.ndarray, D4: np.ndarray, D5: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """K + D4 y + D5 z = 0 with |y| = |z| = 1: both assemblies (..., 2), NaN where there is none."""
    bottom = 2.0 * np.abs(K) * np.abs(D4)
    c = (np.abs(D5) ** 2 - np.abs(K) ** 2 - np.abs(D4) ** 2) / np.where(bottom > 0, bottom, 1.0)
    half = np.where(np.abs(c) <= 1.0, np.arccos(np.clip(c, -1.0, 1.0)), np.nan)
    angle = np.angle(K) - np.angle(D4)
    y = np.exp(1j * np.stack([angle + half, angle - half], axis=-1))
    return y, -(K[..., None] + D4[..., None] * y) / D5[..., None]


def _vectors(
    a: np.ndarray, g: np.ndarray, d: np.ndarray, beta: np.ndarray, valid: np.ndarray
) -> np.ndarray:
    """(..., m, 3): W, V, Z of the valid rows by least squares over all positions."""
    vectors = np.zeros((*valid.shape, 3), dtype=complex)
    a, g, d = (np.broadcast_to(v[..., None, :], beta.shape)[valid] for v in (a, g, d))
    A = np.stack([a, np.exp(1j * beta[valid]) - 1.0, g], axis=-1)
    adjoint = A.conj().swapaxes(-1, -2)
    squared = adjoint @ A + 1e-30 * np.eye(3)  # Newton polishes: the squared condition does no harm
    vectors[valid] = np.linalg.solve(squared, adjoint @ d[..., None])[..., 0]
    return vectors


def _polished(
    a: np.ndarray,
    g: np.ndarray,
    d: np.ndarray,
    vectors: np.ndarray,
    valid: np.ndarray,
    chosen: Mapping[int, Any],
) -> tuple[np.ndarray, np.ndarray]:
    """Newton on |V + d_j - W a_j - Z g_j|^2 = |V|^2,
    and the standard form where the rotation is chosen."""
    vectors, fine = vectors.copy(), valid.copy()
    at = np.nonzero(valid)
    if not len(at[0]):
        return vectors, fine
    # positions with a chosen rotation come first
    order = [j - 2 for j in chosen] + [j for j in range(a.shape[-1]) if j + 2 not in chosen]
    b = np.zeros((len(at[0]), 6), dtype=complex)
    for k, angle in enumerate(chosen.values()):
        b[:, k] = np.broadcast_to(np.exp(1j * angle)[..., None], valid.shape)[at] - 1.0
    wide = (*valid.shape, a.shape[-1])
    parts = [np.broadcast_to(v[..., None, order], wide)[at] for v in (a, g, d)]
    packed = (
        np.ascontiguousarray(v).view(float).reshape(*v.shape, 2) for v in (vectors[at], *parts, b)
    )
    x, size = polish(len(chosen))(*packed)
    vectors[at] = x.view(complex)[..., 0]
    # vectors of a thousand task sizes are known to fewer digits;
    # whether they meet the task is judged later, by it
    fine[at] = size < 1e-6
    return vectors, fine


def rotations_of(a: np.ndarray, g: np.ndarray, d: np.ndarray, vectors: np.ndarray) -> np.ndarray:
    """beta (..., m, n-1) of given vectors."""
    W, V, Z = (vectors[..., k, None] for k in range(3))
    turned = V + d[..., None, :] - W * a[..., None, :] - Z * g[..., None, :]
    return np.angle(turned / np.where(np.abs(V) > 0, V, 1.0))
