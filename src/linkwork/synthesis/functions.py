"""Functions: four-bars whose driven link turns as a given function of the driver.

Freudenstein's equation  k1 cos(psi) - k2 cos(phi) + k3 = cos(phi - psi)  is linear in three numbers, from which the
links follow. With the two start angles that makes five: up to five pairs are met exactly, more by least squares.
Source: [Freudenstein1955]; [McCarthy2011] section 5.3.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from linkwork import deadlines
from linkwork.arguments import as_doubles
from linkwork.errors import InvalidInput, NotPossible
from linkwork.synthesis.linkage import FOUR_BAR, Linkages

MOST_STARTS = 1_000_000


@dataclass(frozen=True)
class FunctionGenerators:
    """Four-bars with ground pivots 0 and 1, (m,): scaled and turned as one likes, the function stays.

    linkages      at the first pair
    error         (m,) largest structural error over the whole range of the driver [rad of the driven link]
    rms           (m,) at the pairs [rad]
    exact         whether every pair is met exactly
    """

    linkages: Linkages
    error: np.ndarray
    rms: np.ndarray
    exact: bool

    def __len__(self) -> int:
        return len(self.linkages)


def chebyshev_spacing(low: float, high: float, n: int) -> np.ndarray:
    """(n,) precision points in a range, closer together at its ends: the best choice for smooth functions."""
    j = np.arange(1, n + 1)
    return 0.5 * (low + high) - 0.5 * (high - low) * np.cos((2 * j - 1) * np.pi / (2 * n))


def function_generator(
    inputs: Any, outputs: Any, scale: Any = None, starts: int = 400, seed: int = 0, time_limit: float | None = None
) -> FunctionGenerators:
    """Four-bars for pairs of driver and driven angles (n,) [rad], both relative to their first value.

    scale   (input factor, output factor) from the function's own numbers to radians; None: they are radians

    Three pairs and the two start angles make five numbers: up to five pairs are met exactly; for fewer, and for more by
    least squares, start angles are drawn (`starts`, `seed`) and the best linkages come first.
    time_limit: seconds after which it ends with NotPossible; None: as long as it takes
    """
    with deadlines.time_limit(time_limit, "function_generator"):
        who = "function_generator"
        x, y = (as_doubles(v, f"{who}: {n}") for v, n in ((inputs, "inputs"), (outputs, "outputs")))
        if x.ndim != 1 or x.shape != y.shape or len(x) < 2:
            raise InvalidInput(
                f"{who}: inputs have shape {x.shape}, outputs {y.shape}, expected both (n,), n of at least 2"
            )
        if not (np.isfinite(x).all() and np.isfinite(y).all()):
            raise InvalidInput(f"{who}: inputs and outputs must be finite")
        if scale is not None:
            factors = as_doubles(scale, f"{who}: scale")
            if factors.shape != (2,):
                raise InvalidInput(f"{who}: scale has shape {factors.shape}, expected (input factor, output factor)")
            x, y = x * factors[0], y * factors[1]
        phi, psi = x - x[0], y - y[0]
        if np.abs(psi).max() < 1e-12 or np.abs(phi).max() < 1e-12:
            raise NotPossible(f"{who}: the inputs or the outputs are all equal: there is nothing to generate")
        starts = deadlines.counted(starts, f"{who}: starts", 1, MOST_STARTS)
        random = np.random.default_rng(seed)
        phi0, psi0 = random.uniform(-np.pi, np.pi, size=(2, starts))
        if len(x) > 3:
            phi0, psi0 = _refined(phi, psi, phi0, psi0)
        k, residual = _freudenstein(phi, psi, phi0, psi0)
        return _finished(phi, psi, phi0, psi0, k, residual, len(x))


def _rows(phi: np.ndarray, psi: np.ndarray, phi0: np.ndarray, psi0: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    p, q = phi0[:, None] + phi, psi0[:, None] + psi
    return np.stack([np.cos(q), -np.cos(p), np.ones_like(p)], axis=-1), np.cos(p - q)


def _freudenstein(
    phi: np.ndarray, psi: np.ndarray, phi0: np.ndarray, psi0: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """(k (m, 3), residual (m, n)) of the least-squares solution."""
    A, b = _rows(phi, psi, phi0, psi0)
    k = np.einsum("mij,mj->mi", np.linalg.pinv(A, rcond=1e-12), b)
    return k, np.einsum("mij,mj->mi", A, k) - b


def _refined(phi: np.ndarray, psi: np.ndarray, phi0: np.ndarray, psi0: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Start angles that make the residual small: Gauss and Newton on both, the three numbers eliminated."""
    damping = np.full(len(phi0), 1e-3)
    f = _freudenstein(phi, psi, phi0, psi0)[1]
    cost = (f**2).sum(axis=-1)
    h = 1e-7
    for _ in range(60):
        deadlines.check()
        by_phi = (_freudenstein(phi, psi, phi0 + h, psi0)[1] - f) / h
        by_psi = (_freudenstein(phi, psi, phi0, psi0 + h)[1] - f) / h
        J = np.stack([by_phi, by_psi], axis=-1)
        H = np.einsum("mji,mjk->mik", J, J)
        H = H + damping[:, None, None] * np.eye(2) * np.maximum(np.trace(H, axis1=1, axis2=2), 1e-12)[:, None, None]
        step = -np.linalg.solve(H, np.einsum("mji,mj->mi", J, f)[..., None])[..., 0]
        trial = phi0 + step[:, 0], psi0 + step[:, 1]
        f_new = _freudenstein(phi, psi, *trial)[1]
        new = (f_new**2).sum(axis=-1)
        better = new < cost
        phi0, psi0 = np.where(better, trial[0], phi0), np.where(better, trial[1], psi0)
        f, cost = np.where(better[:, None], f_new, f), np.where(better, new, cost)
        damping = np.clip(np.where(better, damping * 0.3, damping * 5.0), 1e-14, 1e8)
    return phi0, psi0


def _finished(
    phi: np.ndarray, psi: np.ndarray, phi0: np.ndarray, psi0: np.ndarray, k: np.ndarray, residual: np.ndarray, n: int
) -> FunctionGenerators:
    """Lengths from the three numbers, the structural error over the range, the best and distinct ones."""
    with np.errstate(divide="ignore", invalid="ignore"):
        a, c = 1.0 / k[:, 0], 1.0 / k[:, 1]  # crank and rocker over the ground
        b2 = 1.0 + a**2 + c**2 - 2.0 * a * c * k[:, 2]
    usable = np.isfinite(a) & np.isfinite(c) & (b2 > 1e-8) & (np.abs(a) < 1e3) & (np.abs(c) < 1e3)
    usable &= (np.abs(a) > 1e-3) & (np.abs(c) > 1e-3)
    a, c, b2, phi0, psi0 = (v[usable] for v in (a, c, b2, phi0, psi0))
    # a negative length is the opposite direction
    phi0, psi0 = phi0 + np.where(a < 0, np.pi, 0.0), psi0 + np.where(c < 0, np.pi, 0.0)
    a, c = np.abs(a), np.abs(c)
    B, C = a * np.exp(1j * phi0), 1.0 + c * np.exp(1j * psi0)
    error, rms, fine = _structural(phi, psi, a, np.sqrt(b2), c, phi0, psi0)
    rows = np.flatnonzero(fine)
    rows = rows[np.argsort(rms[rows], kind="stable")]
    kept: list[int] = []
    for r in rows:
        here = np.array([B[r], C[r]])
        if all(np.abs(here - np.array([B[q], C[q]])).max() > 1e-5 for q in kept):
            kept.append(int(r))
        if len(kept) == 20:
            break
    zero = np.zeros(len(kept))
    points = np.stack([zero, zero + 1.0, B[kept], C[kept], 0.5 * (B[kept] + C[kept])], axis=-1)
    exact = bool(len(kept)) and float(rms[kept].min()) < 1e-9
    del residual, n
    return FunctionGenerators(Linkages(FOUR_BAR["crank"], points.astype(complex)), error[kept], rms[kept], exact)


def _structural(
    phi: np.ndarray, psi: np.ndarray, a: np.ndarray, b: np.ndarray, c: np.ndarray, phi0: np.ndarray, psi0: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """(largest error over the range, rms at the pairs, whether one branch closes over the whole range)."""
    order = np.argsort(phi)
    fine = np.linspace(phi.min(), phi.max(), 181)
    wanted = np.interp(fine, phi[order], psi[order])
    best = [np.full(len(a), np.inf), np.full(len(a), np.inf)]
    closes = np.zeros(len(a), dtype=bool)
    for side in (1.0, -1.0):
        at, inside = _driven(a, b, c, phi0[:, None] + fine, side)
        pairs, inside_pairs = _driven(a, b, c, phi0[:, None] + phi, side)
        off = lambda x, y: np.abs(np.angle(np.exp(1j * (x - psi0[:, None] - y))))
        ok = inside.all(axis=-1) & inside_pairs.all(axis=-1)
        rms = np.where(ok, np.sqrt((off(pairs, psi) ** 2).mean(axis=-1)), np.inf)
        error = np.where(ok, off(at, wanted).max(axis=-1), np.inf)
        better = rms < best[1]
        best = [np.where(better, error, best[0]), np.where(better, rms, best[1])]
        closes |= ok
    return best[0], best[1], closes


def _driven(a: np.ndarray, b: np.ndarray, c: np.ndarray, phi: np.ndarray, side: float) -> tuple[np.ndarray, np.ndarray]:
    """(angle of the driven link, whether it closes), ground 0 to 1, the crank at phi (m, k)."""
    B = a[:, None] * np.exp(1j * phi)
    R = B - 1.0
    r = np.maximum(np.abs(R), 1e-12)
    cosine = (r**2 + c[:, None] ** 2 - b[:, None] ** 2) / (2 * r * c[:, None])
    return np.angle(R) + side * np.arccos(np.clip(cosine, -1.0, 1.0)), np.abs(cosine) <= 1.0
