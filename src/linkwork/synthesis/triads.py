"""Triads: three links that carry a body exactly through 2 to 7 positions.

    W (exp(i alpha_j) - 1) + V (exp(i beta_j) - 1) + Z (exp(i gamma_j) - 1) = d_j          j = 2 .. n

alpha_j turns the grounded link, beta_j (unknown) the middle one, gamma_j the body. Up to four
positions this is linear; five and six go through the compatibility linkage, seven through all 17
roots of the system.
Source: [Mather2023] eq. 2, 20-21, (A1)-(A10). Corrected: seven positions have an odd number of real
answers, 1 to 11 of 17 (the paper's 0, 2, 4 or 6 is the count for six positions and a chosen beta2).
"""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from linkwork.arguments import as_doubles
from linkwork.engine import keys
from linkwork.errors import InvalidInput, NotPossible
from linkwork.formats.tabular import Tabular
from linkwork.polynomials import Complex, Starts, System
from linkwork.results import short_repr
from linkwork.synthesis import triad_velocities, two_loops
from linkwork.synthesis.compatibility import Ring, common, told, triad_deltas
from linkwork.synthesis.dyads import Dyads, chosen_rotations, dyads, with_tail
from linkwork.synthesis.task import (
    PlanarTask,
    as_task,
    check_count,
    check_poses,
    complex_points,
    refuse,
    troubles,
)
from linkwork.synthesis.triad_kernels import polish

BEYOND = "a triad meets at most 7 exact positions; use fit"
ROOTS = 17
ON_CIRCLE = 1e-5
EXACT = 1e-9


@short_repr
@dataclass(frozen=True)
class Triads(Tabular, rows="valid"):
    """Triads of one task: (m,) arrays, real answers alone, by beta2; of a batch:
    slots (..., m) with `valid`.

    W, V, Z    link vectors at position 1, complex [m]
    beta       (..., m, n-1) rotations of the middle link at positions 2 .. n [rad]
    ground, first, second    pivots at position 1: on the ground, W to V, V to the body, complex [m]
    residual   largest error of the standard form [task sizes]
    condition  of the linear equations for the vectors
    reason     (...,) why a task has no answer, or ""
    """

    W: np.ndarray
    V: np.ndarray
    Z: np.ndarray
    beta: np.ndarray
    ground: np.ndarray
    first: np.ndarray
    second: np.ndarray
    residual: np.ndarray
    condition: np.ndarray
    valid: np.ndarray
    reason: np.ndarray

    def __len__(self) -> int:
        return self.W.shape[-1]


def triads(
    task: PlanarTask,
    alpha: Any,
    beta: Mapping[int, Any] | None = None,
    *,
    V: Any = None,
    Z: Any = None,
    tail: Any = None,
    alpha_rates: Any = None,
) -> Triads:
    """Every triad through 2 to 7 poses; the task's angles are gamma,
    alpha (..., n) turns the grounded link [rad].

    Seven poses leave no choice, six one, and so on: rotations `beta={2: angle, ...}` of the middle
    link (arrays make a batch), and for two and three poses the vectors `Z` and `V`. tail (..., n):
    displacement of the ground pivot [m]. A velocity of the task counts as a position: both are
    seven together then, and alpha_rates (..., n) [rad/s] says how fast the grounded link turns
    there (elsewhere it is not read).
    """
    who = "triads"
    task = as_task(task, who)
    check_count(task, 2, 7, who, BEYOND)
    check_poses(task, who)
    refuse(task, who, "timing")
    turns = as_doubles(alpha, f"{who}: alpha")
    if turns.shape[-1:] != (task.n,) or not np.isfinite(turns).all():
        raise InvalidInput(
            f"{who}: alpha has shape {turns.shape}, expected (..., {task.n}) finite angles"
        )
    d, gamma = with_tail(task, tail, who), task.rotations
    alpha = turns[..., 1:] - turns[..., :1]
    chosen = chosen_rotations(
        beta, task.n, np.broadcast_shapes(d.shape[:-1], alpha.shape[:-1]), who
    )
    rated: tuple[int, ...] = ()
    if alpha_rates is not None and task.velocities is not None:
        rated = as_doubles(alpha_rates, f"{who}: alpha_rates").shape[:-1]
    batch = np.broadcast_shapes(
        d.shape[:-1], alpha.shape[:-1], rated, *[b.shape for b in chosen.values()]
    )
    d, alpha, gamma = (np.broadcast_to(x, (*batch, task.n - 1)) for x in (d, alpha, gamma))
    reason = _troubles(task, alpha, gamma, batch, who)
    size = np.maximum(np.abs(d).max(axis=-1), 1e-300)
    if task.velocities is not None and np.isfinite(task.velocities).any():
        if chosen or V is not None or Z is not None or tail is not None:
            raise NotPossible(f"{who}: beside velocities there are no free choices and no tail")
        chains = _with_velocities(task, alpha, gamma, d / size[..., None], alpha_rates, size, batch)
        a, g = np.exp(1j * alpha) - 1.0, np.exp(1j * gamma) - 1.0
        return _finished(task, chains, a, g, d / size[..., None], size, reason, batch, {})
    if Z is not None:
        return _with_body_vector(task, alpha, gamma, d, chosen, V, Z, batch, reason)
    a, g, unit = np.exp(1j * alpha) - 1.0, np.exp(1j * gamma) - 1.0, d / size[..., None]
    free = 7 - task.n - (2 if V is not None else 0)
    if len(chosen) != free or (V is not None and task.n > 3):
        raise NotPossible(
            f"{who}: {task.n} positions leave {7 - task.n} free choices, got {len(chosen)} "
            "rotations"
            f"{' and V (two)' if V is not None else ''}; V and Z are choices for two and three "
            "positions"
        )
    if V is not None:
        if task.n == 2:
            raise NotPossible(f"{who}: two positions need a rotation in beta, V and Z")
        chains = _linear(a, g, unit, chosen, complex_points(V, f"{who}: V") / size)
    elif task.n == 4:
        chains = _linear(a, g, unit, chosen, None)
    elif task.n in (5, 6):
        chains = _by_loops(a, g, unit, chosen, batch)
    elif task.n == 7:
        chains = _by_roots(a, g, unit)
    else:
        raise NotPossible(
            f"{who}: {task.n} positions need {'V and Z' if task.n == 2 else 'V or Z'} beside "
            "rotations"
        )
    return _finished(task, chains, a, g, unit, size, reason, batch, chosen)


def _troubles(
    task: PlanarTask, alpha: np.ndarray, gamma: np.ndarray, batch: tuple[int, ...], who: str
) -> np.ndarray:
    """Why a task has no triads of its own."""
    reason = np.broadcast_to(troubles(task), batch).astype(object)
    still = lambda x: (np.abs(np.exp(1j * x) - 1.0) < 1e-9).all(axis=-1)
    tell = {
        "gamma = 0 throughout: Z drops out; use dyads with alpha as the body's angles": still(
            gamma
        ),
        "alpha = gamma throughout: W and Z move as one; use dyads": still(alpha - gamma),
        "alpha = 0 throughout: W stands still; use dyads": still(alpha),
    }
    for sentence, holds in tell.items():
        if holds.any():
            reason = np.where(
                holds & ~np.char.startswith(reason.astype(str), "positions"), sentence, reason
            )
    if not batch and reason[()]:
        raise NotPossible(f"{who}: {reason[()]}")
    return reason


def _linear(
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


def _by_loops(
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
    return vectors, _rotations_of(a, g, d, vectors), fine


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


def _rotations_of(a: np.ndarray, g: np.ndarray, d: np.ndarray, vectors: np.ndarray) -> np.ndarray:
    """beta (..., m, n-1) of given vectors."""
    W, V, Z = (vectors[..., k, None] for k in range(3))
    turned = V + d[..., None, :] - W * a[..., None, :] - Z * g[..., None, :]
    return np.angle(turned / np.where(np.abs(V) > 0, V, 1.0))


@functools.cache
def system() -> System:
    """Unknowns V, V*, W, W*, Z, Z*; parameters (d, d*, exp(i alpha), exp(i gamma)) a position.

    The middle link keeps its length: (V + d - W a - Z g) (V* + d* - W* a* - Z* g*) = V V*, where
    rotations enter as exp(i alpha) and its inverse (with a and a* free of each other there would be
    19 solutions instead of 17).
    """

    def equations(x: Sequence[Complex], p: Sequence[Complex]) -> list[Complex]:
        V, V_, W, W_, Z, Z_ = x
        rows = []
        for j in range(6):
            d, d_, a, g = p[4 * j : 4 * j + 4]
            turned = V + d - W * (a - 1) - Z * (g - 1)
            turned_ = V_ + d_ - W_ * (a.inverse() - 1) - Z_ * (g.inverse() - 1)
            rows.append(turned * turned_ - V * V_)
        return rows

    return System(
        equations, 6, 24, "triads, seven positions", keys.key(__name__, "seven positions")
    )


def generic(seed: int) -> tuple[np.ndarray, np.ndarray]:
    """(x, p): a random complex triad and a task that it meets."""
    random = np.random.default_rng(seed)
    real = random.normal(size=(2, 24))
    x, u, a, g = np.split(real[0] + 1j * real[1], [6, 12, 18])
    V, V_, W, W_, Z, Z_ = x
    d = W * (a - 1) + V * (u - 1) + Z * (g - 1)
    d_ = W_ * (1 / a - 1) + V_ * (1 / u - 1) + Z_ * (1 / g - 1)
    return x, np.stack([d, d_, a, g], axis=-1).ravel()


@functools.cache
def starts() -> Starts:
    """The 17 start solutions, kept as data; `linkwork synthesis starts` makes and compares them."""
    return Starts.load(Path(__file__).parent / "starts" / "triads.npz")


def _by_roots(a: np.ndarray, g: np.ndarray, d: np.ndarray) -> tuple[np.ndarray, ...]:
    """Seven positions: all 17 roots, of which the real ones are triads."""
    p = np.stack([d, d.conj(), a + 1.0, g + 1.0], axis=-1).reshape(*d.shape[:-1], 24)
    roots = system().solve(p, starts(), conditions=False)
    x = roots.x
    vectors = x[..., [2, 0, 4]]
    conjugates = x[..., [3, 1, 5]]
    scale = np.abs(vectors).max(axis=-1) + np.abs(conjugates).max(axis=-1) + 1e-300
    valid = roots.success & (np.abs(conjugates - vectors.conj()).max(axis=-1) < 1e-6 * scale)
    vectors, fine = _polished(a, g, d, vectors, valid, {})
    return vectors, _rotations_of(a, g, d, vectors), fine


def _with_velocities(
    task: PlanarTask,
    alpha: np.ndarray,
    gamma: np.ndarray,
    d: np.ndarray,
    alpha_rates: Any,
    size: np.ndarray,
    batch: tuple[int, ...],
) -> tuple[np.ndarray, ...]:
    """Positions and velocities that are seven together: all 17 roots (triad_velocities.py)."""
    who = "triads"
    assert task.velocities is not None
    known = np.isfinite(task.velocities).all(axis=-1).reshape(-1, task.n)
    moving = np.flatnonzero(known.any(axis=0))
    if not known[:, moving].all():
        raise NotPossible(
            f"{who}: velocities of a position are given for some tasks of the batch only"
        )
    if task.n + len(moving) != 7:
        raise NotPossible(
            f"{who}: the task has {task.n} positions and {len(moving)} velocities, expected seven "
            "together"
        )
    if alpha_rates is None:
        raise InvalidInput(
            f"{who}: the task has velocities; alpha_rates ({task.n},) says how fast alpha "
            "turns there"
        )
    rates = as_doubles(alpha_rates, f"{who}: alpha_rates")
    if rates.shape[-1:] != (task.n,) or not np.isfinite(rates[..., moving]).all():
        where = ", ".join(str(j + 1) for j in moving)
        raise InvalidInput(
            f"{who}: alpha_rates has shape {rates.shape}, expected (..., {task.n}), finite "
            f"at {where}"
        )
    v = (task.velocities[..., moving, 0] + 1j * task.velocities[..., moving, 1]) / size[..., None]
    columns = np.broadcast_arrays(v, rates[..., moving], task.velocities[..., moving, 2])
    motion = np.broadcast_to(np.stack(columns, axis=-1), (*batch, len(moving), 3))
    bases = tuple(int(j) + 1 for j in moving)
    vectors, valid = triad_velocities.vectors_of(starts(), bases, d, alpha, gamma, motion)
    turned = _rotations_of(np.exp(1j * alpha) - 1.0, np.exp(1j * gamma) - 1.0, d, vectors)
    return vectors, turned, valid


def _finished(
    task: PlanarTask,
    chains: tuple[np.ndarray, ...],
    a: np.ndarray,
    g: np.ndarray,
    d: np.ndarray,
    size: np.ndarray,
    reason: np.ndarray,
    batch: tuple[int, ...],
    chosen: dict[int, np.ndarray],
) -> Triads:
    """Pivots and verdicts in the task's own units, by beta2, from (vectors, beta, valid)."""
    vectors, beta, valid = chains
    W, V, Z = (vectors[..., k] for k in range(3))
    b = np.exp(1j * beta) - 1.0
    error = (
        W[..., None] * a[..., None, :]
        + V[..., None] * b
        + Z[..., None] * g[..., None, :]
        - d[..., None, :]
    )
    residual = np.abs(error).max(axis=-1)
    valid = (
        valid
        & (residual <= EXACT * (1.0 + np.abs(vectors).max(axis=-1)))
        & (reason == "")[..., None]
    )
    columns = [np.broadcast_to(x[..., None, :], beta.shape) for x in (a, g)]
    matrix = np.stack([columns[0], b, columns[1]], axis=-1)
    condition = np.full(valid.shape, np.inf)
    condition[valid] = np.linalg.cond(matrix[valid]) if valid.any() else 0.0
    L, tip = size[..., None], task.positions[..., :1]
    second = tip - Z * L
    first = second - V * L
    parts = [W * L, V * L, Z * L, beta, first - W * L, first, second, residual, condition, valid]
    order = np.argsort(np.where(valid, beta[..., 0], np.inf), axis=-1, kind="stable")
    if batch:
        along = lambda x: order[..., None] if x.ndim > order.ndim else order
        pick = lambda x: np.take_along_axis(x, along(x), axis=len(batch))
    else:
        order = order[: int(valid.sum())]
        pick = lambda x: x[order]
    none = ~valid.any(axis=-1) & (reason == "")
    if not batch and none and chosen:
        _explain(a, g, d, chosen)
    reason = np.where(none, "no real triad meets the choices", reason)
    return Triads(*[*map(pick, parts), reason])


def _explain(a: np.ndarray, g: np.ndarray, d: np.ndarray, chosen: dict[int, np.ndarray]) -> None:
    """Five or six positions and rotations that no linkage closes with: say which the first may be,
    then the second."""
    n = a.shape[-1] + 1
    if n not in (5, 6):
        return
    order = [j - 2 for j in sorted(chosen)] + [j for j in range(n - 1) if j + 2 not in chosen]
    rings = [Ring(D) for D in triad_deltas(*(v[order] for v in (a, g, d)))]
    turns = [float(chosen[j]) for j in sorted(chosen)]
    feasible = rings[0].intervals()
    for ring in rings[1:]:
        feasible = common(feasible, ring.intervals())
    free = [feasible] + [rings[0].closing(*turns).intervals()] * (n == 5)
    for j, angle, inside in zip(sorted(chosen), turns, free):
        if not any(np.mod(angle - low, 2.0 * np.pi) <= high - low for low, high in inside):
            raise NotPossible(
                f"triads: beta[{j}] = {angle:.6g} rad cannot close the compatibility linkage; "
                f"feasible: {told(inside)}"
            )


def _with_body_vector(
    task: PlanarTask,
    alpha: np.ndarray,
    gamma: np.ndarray,
    d: np.ndarray,
    chosen: dict[int, np.ndarray],
    V: Any,
    Z: Any,
    batch: tuple[int, ...],
    reason: np.ndarray,
) -> Triads:
    """Z chosen: what remains is a dyad of V (unknown rotation) and W (alpha) with the displacements
    d - Z g."""
    if task.n > 5:
        raise NotPossible(
            "triads: with Z chosen the rest is a dyad, which meets at most 5 positions, not "
            f"{task.n}"
        )
    z = complex_points(Z, "triads: Z")
    g = np.exp(1j * gamma) - 1.0
    rest = d - z[..., None] * g
    zero = np.zeros((*rest.shape[:-1], 1))
    inner = PlanarTask(
        np.concatenate([zero, rest], axis=-1),
        np.concatenate([zero, np.broadcast_to(alpha, rest.shape)], axis=-1),
    )
    pairs = dyads(inner, chosen, W=V)
    assert isinstance(pairs, Dyads)
    size = np.maximum(np.abs(d).max(axis=-1), 1e-300)
    vectors = np.stack([pairs.Z, pairs.W, np.broadcast_to(z[..., None], pairs.W.shape)], axis=-1)
    a = np.exp(1j * alpha) - 1.0
    scaled = vectors / size[..., None, None]
    solved = scaled, pairs.beta, pairs.valid
    return _finished(task, solved, a, g, d / size[..., None], size, reason, batch, {})
