"""Triads: three links that carry a body exactly through 2 to 7 positions.

    W (exp(i alpha_j) - 1) + V (exp(i beta_j) - 1) + Z (exp(i gamma_j) - 1) = d_j          j = 2 .. n

alpha_j turns the grounded link, beta_j (unknown) the middle one, gamma_j the body. Up to four
positions this is linear; five and six go through the compatibility linkage, seven through all 17
roots of the system.
Source: [Mather2023] eq. 2, 20-21, (A1)-(A10). Corrected: seven positions have an odd number of real
answers, 1 to 11 of 17 (the paper's 0, 2, 4 or 6 is the count for six positions and a chosen beta2).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from linkwork.arguments import as_doubles
from linkwork.errors import InvalidInput, NotPossible
from linkwork.formats.tabular import Tabular
from linkwork.results import short_repr
from linkwork.synthesis import triad_velocities
from linkwork.synthesis.compatibility import Ring, common, told, triad_deltas
from linkwork.synthesis.dyad_choices import chosen_rotations
from linkwork.synthesis.dyads import Dyads, dyads, with_tail
from linkwork.synthesis.task import (
    PlanarTask,
    as_task,
    check_count,
    check_poses,
    complex_points,
    refuse,
    troubles,
)
from linkwork.synthesis.triad_system import starts
from linkwork.synthesis.triad_vectors import by_linear_equations, by_loops, by_roots, rotations_of

BEYOND = "a triad meets at most 7 exact positions; use fit"
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
        chains = by_linear_equations(a, g, unit, chosen, complex_points(V, f"{who}: V") / size)
    elif task.n == 4:
        chains = by_linear_equations(a, g, unit, chosen, None)
    elif task.n in (5, 6):
        chains = by_loops(a, g, unit, chosen, batch)
    elif task.n == 7:
        chains = by_roots(a, g, unit)
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
    turned = rotations_of(np.exp(1j * alpha) - 1.0, np.exp(1j * gamma) - 1.0, d, vectors)
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
    reached = W[..., None] * a[..., None, :] + V[..., None] * b + Z[..., None] * g[..., None, :]
    residual = np.abs(reached - d[..., None, :]).max(axis=-1)
    is_exact = residual <= EXACT * (1.0 + np.abs(vectors).max(axis=-1))
    valid = valid & is_exact & (reason == "")[..., None]
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
