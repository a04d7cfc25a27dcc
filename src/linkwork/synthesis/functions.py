"""Functions: linkages whose driven link turns, or whose slider travels,
as a given function of the driver.

    k1 cos(psi) - k2 cos(phi) + k3 = cos(phi - psi)          a rocker turns to psi (Freudenstein)
    k1 s cos(phi) + k2 sin(phi) + k3 = s^2                   a slider is at s along its line

are linear in three numbers, from which the links follow; with the two start values they are
improved by least squares where there are more than five pairs. Up to five pairs are met exactly:
the driver as the driven body sees it has as many poses, and the coupler is a dyad of them
(relative_dyads.py).
Source: [Freudenstein1955]; [McCarthy2011] section 5.3.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from linkwork import deadlines
from linkwork.arguments import as_doubles, choice
from linkwork.errors import InvalidInput, NotPossible
from linkwork.formats.tabular import Tabular
from linkwork.results import short_repr
from linkwork.synthesis.linkage import FOUR_BAR, SLIDER_CRANK, Linkages
from linkwork.synthesis.relative_dyads import couplers

MOST_STARTS = 1_000_000
BLOCK = 200_000
"""Residuals that are improved together."""
MOST = 20
"""How many linkages come back."""
LARGEST = 1e3
"""Links longer than this, or shorter than one over it [ground links; travels of a slider],
are none to build."""
MOST_EXACT = 4
"""Linkages through five pairs; more of them are drawn from a family: parallelograms."""
EXACT = 1e-9
"""Pairs nearer than this are met [rad; travels of a slider]."""


@short_repr
@dataclass(frozen=True)
class FunctionGenerators(Tabular, rows="error"):
    """Linkages (m,) at the first pair, the best first.

    linkages      four-bars with ground pivots 0 and 1 (scaled and turned as one likes, the function
                  stays), or slider-cranks with the driver's pivot at 0 and the slider's line along
                  x [m]
    error         (m,) largest structural error over the whole range of the driver
                  [rad, or m of a slider]
    rms           (m,) at the pairs [rad, m]
    exact         whether every pair is met exactly
    complete      whether every linkage that meets the pairs exactly is among them: for five pairs;
                  fewer leave families
    """

    linkages: Linkages
    error: np.ndarray
    rms: np.ndarray
    exact: bool
    complete: bool = False

    def __len__(self) -> int:
        return len(self.linkages)


@dataclass(frozen=True)
class FunctionTask:
    """Pairs of a function for `fit`: see `function_generator` for what they mean."""

    inputs: Any
    outputs: Any
    scale: Any = None
    output: str = "rocker"


def chebyshev_spacing(low: float, high: float, n: int) -> np.ndarray:
    """(n,) precision points in a range, closer together at its ends:
    the best choice for smooth functions."""
    n = deadlines.counted(n, "chebyshev_spacing: n", 1, MOST_STARTS)
    j = np.arange(1, n + 1)
    return 0.5 * (low + high) - 0.5 * (high - low) * np.cos((2 * j - 1) * np.pi / (2 * n))


def function_generator(
    inputs: Any,
    outputs: Any,
    scale: Any = None,
    starts: int = 400,
    seed: int = 0,
    time_limit: float | None = None,
    *,
    output: str = "rocker",
) -> FunctionGenerators:
    """Linkages for pairs of the driver's angles and driven values (n,),
    both relative to their first one.

    scale    (input factor, output factor) from the function's own numbers to radians (metres);
             None: they are such
    output   "rocker": a four-bar's driven link turns [rad]; "slider": a slider-crank's slider
             travels [m]

    Five pairs are met exactly by every linkage that can in one assembly that closes over the whole
    range (at most three four-bars, four slider-cranks). Fewer leave families: `starts` members are
    drawn (`seed`). More, and pairs that no linkage meets so, are come near to by least squares from
    as many start angles. The best linkages come first.
    time_limit: seconds after which it ends with NotPossible; None: as long as it takes
    """
    with deadlines.time_limit(time_limit, "function_generator"):
        return _generated(inputs, outputs, scale, starts, seed, output)


def _generated(
    inputs: Any, outputs: Any, scale: Any, starts: int, seed: int, output: str
) -> FunctionGenerators:
    who = "function_generator"
    x, y = (as_doubles(v, f"{who}: {n}") for v, n in ((inputs, "inputs"), (outputs, "outputs")))
    if x.ndim != 1 or x.shape != y.shape or len(x) < 2:
        raise InvalidInput(
            f"{who}: inputs have shape {x.shape}, outputs {y.shape}, expected both (n,), n of "
            "at least 2"
        )
    if not (np.isfinite(x).all() and np.isfinite(y).all()):
        raise InvalidInput(f"{who}: inputs and outputs must be finite")
    if scale is not None:
        factors = as_doubles(scale, f"{who}: scale")
        if factors.shape != (2,):
            raise InvalidInput(
                f"{who}: scale has shape {factors.shape}, expected (input factor, output factor)"
            )
        x, y = x * factors[0], y * factors[1]
    choice(output, ("rocker", "slider"), f"{who}: output")
    phi, psi = x - x[0], y - y[0]
    if np.abs(psi).max() < 1e-12 or np.abs(phi).max() < 1e-12:
        raise NotPossible(
            f"{who}: the inputs or the outputs are all equal: there is nothing to generate"
        )
    starts = deadlines.counted(starts, f"{who}: starts", 1, MOST_STARTS)
    random = np.random.default_rng(seed)
    travel = float(np.abs(psi).max()) if output == "slider" else 1.0
    driven = psi / travel
    judged = _sliders if output == "slider" else _rockers
    exact: list[tuple[np.ndarray, ...]] = []
    if len(phi) in (4, 5):
        B, C = couplers(phi, driven, output, starts, random)
        exact = [(B, C, np.zeros(len(B)))]
    if len(phi) == 5:
        generators = judged(phi, driven, B, C, np.zeros(len(B)), travel)
        if len(generators):
            return replace(generators, complete=len(B) <= MOST_EXACT)
    rows, pins = (
        (_slider_rows, _slider_pins) if output == "slider" else (_rocker_rows, _rocker_pins)
    )
    phi0, psi0 = random.uniform(-np.pi, np.pi, size=(2, starts))
    drawn = pins(*_solved(phi, driven, phi0, psi0, rows))
    B, C, off = (np.concatenate(part) for part in zip(drawn, *exact))
    return replace(judged(phi, driven, B, C, off, travel), complete=len(phi) == 5)


Rows = Callable[[np.ndarray, np.ndarray], tuple[np.ndarray, np.ndarray]]


def _solved(
    phi: np.ndarray, psi: np.ndarray, phi0: np.ndarray, psi0: np.ndarray, rows: Rows
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """(start angles, start values, k (m, 3)); the start values are improved where there are pairs
    to meet."""
    if len(phi) > 3:
        # arrays that stay in the cache, and Ctrl-C is heard between them
        block = max(1, BLOCK // len(phi))
        blocks = range(0, len(phi0), block)
        parts = [_refined(phi, psi, phi0[k : k + block], psi0[k : k + block], rows) for k in blocks]
        phi0, psi0 = (np.concatenate(part) for part in zip(*parts))
    return phi0, psi0, _linear(phi, psi, phi0, psi0, rows)[0]


def _slider_rows(p: np.ndarray, s: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    return np.stack([s * np.cos(p), np.sin(p), np.ones_like(p)], axis=-1), s * s


def _rocker_rows(p: np.ndarray, q: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    return np.stack([np.cos(q), -np.cos(p), np.ones_like(p)], axis=-1), np.cos(p - q)


def _linear(
    phi: np.ndarray, psi: np.ndarray, phi0: np.ndarray, psi0: np.ndarray, rows: Rows
) -> tuple[np.ndarray, np.ndarray]:
    """(k (m, 3), residual (m, n)) of the least-squares solution."""
    A, b = rows(phi0[:, None] + phi, psi0[:, None] + psi)
    k = np.einsum("mij,mj->mi", np.linalg.pinv(A, rcond=1e-12), b)
    return k, np.einsum("mij,mj->mi", A, k) - b


def _refined(
    phi: np.ndarray, psi: np.ndarray, phi0: np.ndarray, psi0: np.ndarray, rows: Rows
) -> tuple[np.ndarray, np.ndarray]:
    """Start angles that make the residual small: Gauss and Newton on both,
    the three numbers eliminated."""
    damping = np.full(len(phi0), 1e-3)
    f = _linear(phi, psi, phi0, psi0, rows)[1]
    cost = (f**2).sum(axis=-1)
    h = 1e-7
    for _ in range(60):
        deadlines.check()
        by_phi = (_linear(phi, psi, phi0 + h, psi0, rows)[1] - f) / h
        by_psi = (_linear(phi, psi, phi0, psi0 + h, rows)[1] - f) / h
        J = np.stack([by_phi, by_psi], axis=-1)
        H = np.einsum("mji,mjk->mik", J, J)
        scale = np.maximum(np.trace(H, axis1=1, axis2=2), 1e-12)[:, None, None]
        H = H + damping[:, None, None] * np.eye(2) * scale
        step = -np.linalg.solve(H, np.einsum("mji,mj->mi", J, f)[..., None])[..., 0]
        trial = phi0 + step[:, 0], psi0 + step[:, 1]
        f_new = _linear(phi, psi, *trial, rows)[1]
        new = (f_new**2).sum(axis=-1)
        better = new < cost
        phi0, psi0 = np.where(better, trial[0], phi0), np.where(better, trial[1], psi0)
        f, cost = np.where(better[:, None], f_new, f), np.where(better, new, cost)
        damping = np.clip(np.where(better, damping * 0.3, damping * 5.0), 1e-14, 1e8)
    return phi0, psi0


def _slider_pins(phi0: np.ndarray, s0: np.ndarray, k: np.ndarray) -> tuple[np.ndarray, ...]:
    """(B, C, how far C is from where it should be) at the first pair.

    k = 2 a, 2 a e, b^2 - a^2 - e^2 with the crank a, the coupler b and the line's offset e.
    """
    a = 0.5 * k[:, 0]
    with np.errstate(divide="ignore", invalid="ignore"):
        e = k[:, 1] / (2 * a)
    b2 = k[:, 2] + a**2 + e**2
    usable = np.isfinite(e) & (np.abs(a) < LARGEST) & (np.abs(e) < LARGEST) & (b2 > 1e-8)
    a, e, phi0, s0, b2 = (v[usable] for v in (a, e, phi0, s0, b2))
    # the pairs say where the slider should be; the loop closes with a coupler of this length
    B = a * np.exp(1j * phi0)
    reach = np.sqrt(np.maximum(b2 - (B.imag - e) ** 2, 0.0))
    ahead = np.where(
        np.abs(B.real + reach - s0) < np.abs(B.real - reach - s0), B.real + reach, B.real - reach
    )
    return B, ahead + 1j * e, ahead - s0


def _rocker_pins(phi0: np.ndarray, psi0: np.ndarray, k: np.ndarray) -> tuple[np.ndarray, ...]:
    """(B, C, how far C is turned from where it should be) at the first pair.

    k = ground over crank, ground over rocker, and a number from which the coupler's length follows.
    A negative length is the opposite direction.
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        a, c = 1.0 / k[:, 0], 1.0 / k[:, 1]
        b2 = 1.0 + a**2 + c**2 - 2.0 * a * c * k[:, 2]
    usable = b2 > 1e-8
    for length in (a, c):
        size = np.abs(length)
        usable &= np.isfinite(length) & (size < LARGEST) & (size > 1.0 / LARGEST)
    a, c, b, phi0, psi0 = (v[usable] for v in (a, c, np.sqrt(np.maximum(b2, 0.0)), phi0, psi0))
    B = a * np.exp(1j * phi0)
    phi = np.angle(B)[:, None]
    both = [_driven(np.abs(a), b, np.abs(c), phi, side)[0][:, 0] for side in (1.0, -1.0)]
    wanted = psi0 + np.where(c < 0, np.pi, 0.0)
    off = [np.angle(np.exp(1j * (angle - wanted))) for angle in both]
    first = np.abs(off[0]) < np.abs(off[1])
    return B, 1.0 + np.abs(c) * np.exp(1j * np.where(first, *both)), np.where(first, *off)


def _sliders(
    phi: np.ndarray, psi: np.ndarray, B: np.ndarray, C: np.ndarray, off: np.ndarray, travel: float
) -> FunctionGenerators:
    """Slider-cranks with pins B and C at the first pair [travels], judged over the whole range."""
    a, b = np.abs(B), np.abs(C - B)
    usable = (a > 1.0 / LARGEST) & (b > 1.0 / LARGEST) & (np.abs(C) < LARGEST)
    B, C, b, off = (v[usable] for v in (B, C, b, off))

    def travelled(angles: np.ndarray, side: float) -> tuple[np.ndarray, np.ndarray]:
        at = B[:, None] * np.exp(1j * angles)
        reach = b[:, None] ** 2 - (at.imag - C.imag[:, None]) ** 2
        return at.real + side * np.sqrt(np.maximum(reach, 0.0)) - C.real[:, None], reach >= 0

    error, rms, closes = _of_own_side(phi, psi, off, travelled, np.abs)
    kept = _distinct(B, C, np.where(closes, rms, np.inf), error)
    zero = np.zeros(len(kept))
    parts = [zero, C[kept], C[kept] + 1.0, B[kept], 0.5 * (B[kept] + C[kept])]
    points = travel * np.stack(parts, axis=-1).astype(complex)
    exact = bool(len(kept)) and float(rms[kept].min()) < EXACT
    return FunctionGenerators(
        Linkages(SLIDER_CRANK, points), travel * error[kept], travel * rms[kept], exact
    )


def _rockers(
    phi: np.ndarray, psi: np.ndarray, B: np.ndarray, C: np.ndarray, off: np.ndarray, travel: float
) -> FunctionGenerators:
    """Four-bars with ground pivots 0 and 1 and pins B and C at the first pair,
    judged over the whole range."""
    del travel  # angles have no scale
    a, b, c = np.abs(B), np.abs(C - B), np.abs(C - 1.0)
    usable = (np.minimum(a, np.minimum(b, c)) > 1.0 / LARGEST) & (np.maximum(a, c) < LARGEST)
    B, C, a, b, c, off = (v[usable] for v in (B, C, a, b, c, off))
    phi0, psi0 = np.angle(B)[:, None], np.angle(C - 1.0)[:, None]

    def turned(angles: np.ndarray, side: float) -> tuple[np.ndarray, np.ndarray]:
        at, inside = _driven(a, b, c, phi0 + angles, side)
        return at - psi0, inside

    error, rms, closes = _of_own_side(
        phi, psi, off, turned, lambda x: np.abs(np.angle(np.exp(1j * x)))
    )
    kept = _distinct(B, C, np.where(closes, rms, np.inf), error)
    zero = np.zeros(len(kept))
    points = np.stack([zero, zero + 1.0, B[kept], C[kept], 0.5 * (B[kept] + C[kept])], axis=-1)
    exact = bool(len(kept)) and float(rms[kept].min()) < EXACT
    return FunctionGenerators(
        Linkages(FOUR_BAR["crank"], points.astype(complex)), error[kept], rms[kept], exact
    )


def _distinct(B: np.ndarray, C: np.ndarray, rms: np.ndarray, error: np.ndarray) -> list[int]:
    """The best rows that differ in a moving pivot;
    between exact ones the error over the range decides."""
    kept: list[int] = []
    for r in np.lexsort((error, np.maximum(rms, EXACT))):
        if not np.isfinite(rms[r]) or len(kept) == MOST:
            break
        if all(max(abs(B[r] - B[q]), abs(C[r] - C[q])) > 1e-5 for q in kept):
            kept.append(int(r))
    return kept


def _between(x: np.ndarray, y: np.ndarray, at: np.ndarray) -> np.ndarray:
    """What the function is between its pairs: a cubic spline;
    straight lines where an input comes twice."""
    from scipy.interpolate import CubicSpline

    return CubicSpline(x, y)(at) if (np.diff(x) > 0).all() else np.interp(at, x, y)


def _of_own_side(
    phi: np.ndarray,
    psi: np.ndarray,
    off: np.ndarray,
    driven: Callable[[np.ndarray, float], tuple[np.ndarray, np.ndarray]],
    size: Callable[[np.ndarray], np.ndarray],
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """(largest error over the range, rms at the pairs, whether it closes there) in the assembly of
    the first pair.

    off   (m,) what the driven value is wrong by at the first pair: least squares share the error
          between all of them
    """
    order = np.argsort(phi)
    between = np.linspace(phi.min(), phi.max(), 181)
    wanted = _between(phi[order], psi[order], between)
    parts = []
    for side in (1.0, -1.0):
        at, inside = driven(between, side)
        pairs, inside_pairs = driven(phi, side)
        closes = inside.all(axis=-1) & inside_pairs.all(axis=-1)
        rms = np.sqrt((size(pairs + off[:, None] - psi) ** 2).mean(axis=-1))
        parts.append(
            (size(at + off[:, None] - wanted).max(axis=-1), rms, closes, size(pairs[:, 0]))
        )
    first_side = parts[0][3] <= parts[1][3]
    error, rms, closes = (
        np.where(first_side, first, second) for first, second in list(zip(*parts))[:3]
    )
    return np.where(closes, error, np.inf), np.where(closes, rms, np.inf), closes


def _driven(
    a: np.ndarray, b: np.ndarray, c: np.ndarray, phi: np.ndarray, side: float
) -> tuple[np.ndarray, np.ndarray]:
    """(angle of the driven link, whether it closes), ground 0 to 1, the crank at phi (m, k)."""
    B = a[:, None] * np.exp(1j * phi)
    R = B - 1.0
    r = np.maximum(np.abs(R), 1e-12)
    cosine = (r**2 + c[:, None] ** 2 - b[:, None] ** 2) / (2 * r * c[:, None])
    return np.angle(R) + side * np.arccos(np.clip(cosine, -1.0, 1.0)), np.abs(cosine) <= 1.0
