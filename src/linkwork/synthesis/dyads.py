"""Dyads: two links that carry a body exactly through 2 to 5 positions.

    W (exp(i beta_j) - 1) + Z (exp(i alpha_j) - 1) = P_j - P_1          j = 2 .. n

W leads from the ground pivot to the moving pivot, Z on to P_1; alpha_j is the body's rotation, beta_j the unknown one
of the grounded link. Source: [Mather2023] eq. 1; solved through the pivots, see conics.py.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, overload

import numpy as np

from linkwork.arguments import as_doubles, choice
from linkwork.errors import InvalidInput, NotPossible
from linkwork.results import short_repr
from linkwork.synthesis import conditions, conics
from linkwork.synthesis.compatibility import four_bar_of, scan_of_linkages
from linkwork.synthesis.sliders import Sliders, sliders
from linkwork.synthesis.task import PlanarTask, as_task, check_count, check_poses, complex_points, troubles

BEYOND = "a dyad meets at most 5 exact positions; use fit"
NEAR_TRIVIAL = np.deg2rad(10.0)
"""Rotations within this of a trivial answer (none, or the body's own) at every position make an awkward dyad."""
INEXACT = 1e-9


@short_repr
@dataclass(frozen=True)
class Dyads:
    """Dyads of one task: (m,) arrays, real answers alone, by beta2; of a batch: slots (..., m) with `valid`.

    W, Z            link vectors at position 1, complex [m]
    beta            (..., m, n-1) rotations of the grounded link at positions 2 .. n [rad]
    ground, moving  pivots at position 1, complex [m]
    residual        largest error of the standard form [task sizes]
    condition       how much larger than the task's own errors those of the pivots may be
    near_trivial    the rotations are nearly none, or nearly the body's own
    reason          (...,) why a task has no answer, or ""
    """

    W: np.ndarray
    Z: np.ndarray
    beta: np.ndarray
    ground: np.ndarray
    moving: np.ndarray
    residual: np.ndarray
    condition: np.ndarray
    near_trivial: np.ndarray
    valid: np.ndarray
    reason: np.ndarray

    def __len__(self) -> int:
        return self.W.shape[-1]

    def __getitem__(self, chosen: Any) -> Dyads:
        """Some of the dyads: dyads[0], dyads[:2]; of a batch, some of its tasks."""
        pick = {name: getattr(self, name)[chosen] for name in self.__dataclass_fields__ if name != "reason"}
        return Dyads(**pick, reason=self.reason if self.valid.ndim == 1 else self.reason[chosen])


@overload
def dyads(
    task: PlanarTask,
    beta: Mapping[int, Any] | None = None,
    *,
    W: Any = None,
    Z: Any = None,
    ground: Any = None,
    moving: Any = None,
    ground_line: Any = None,
    moving_line: Any = None,
    kind: Literal["RR"] = "RR",
    tail: Any = None,
    method: str = "pivots",
) -> Dyads: ...


@overload
def dyads(
    task: PlanarTask,
    beta: Mapping[int, Any] | None = None,
    *,
    W: Any = None,
    Z: Any = None,
    ground: Any = None,
    moving: Any = None,
    ground_line: Any = None,
    moving_line: Any = None,
    kind: Literal["PR", "RP"],
    tail: Any = None,
    method: str = "pivots",
) -> Sliders: ...


def dyads(
    task: PlanarTask,
    beta: Mapping[int, Any] | None = None,
    *,
    W: Any = None,
    Z: Any = None,
    ground: Any = None,
    moving: Any = None,
    ground_line: Any = None,
    moving_line: Any = None,
    kind: str = "RR",
    tail: Any = None,
    method: str = "pivots",
) -> Dyads | Sliders:
    """Every dyad through 2 to 5 poses.

    Five poses leave no choice, four one, three two, two three. Choices are rotations `beta={2: angle, 3: angle}` of the
    grounded link [rad] (arrays make a batch), link vectors `W`, `Z` (two each), pivots `ground`, `moving` (two each),
    or lines that carry a pivot, given by two points (one each). Velocities of the task count like positions.

    kind     "RR"; "PR" a slider on the ground that carries a pin; "RP" a pin on the ground with a slider on the body
    tail     (..., n) displacement of the ground pivot at each position, where it is carried along [m]
    method   "pivots"; "linkage" drives the paper's compatibility linkage instead, for five poses (slow, for comparison)

    With `timing` in the task its angles are unknown: path generation with prescribed timing.
    """
    who = "dyads"
    task = as_task(task, who)
    check_count(task, 2, 5, who, BEYOND)
    given = {"W": W, "Z": Z, "ground": ground, "moving": moving, "ground_line": ground_line, "moving_line": moving_line}
    if choice(kind, ("RR", "PR", "RP"), f"{who}: kind") != "RR":
        return sliders(task, kind, {k: v for k, v in given.items() if v is not None}, beta)
    choice(method, ("pivots", "linkage"), f"{who}: method")
    timed = task.timing is not None
    if not timed:
        check_poses(task, who)
    d, alpha = with_tail(task, tail, who), task.rotations
    if timed:  # the unknown column exchanged: the driver's rotations take the place of the body's
        assert task.timing is not None
        alpha = np.broadcast_to(task.timing[..., 1:] - task.timing[..., :1], d.shape)
    size = np.maximum(np.abs(d).max(axis=-1), 1e-300)
    chosen = chosen_rotations(beta, task.n, d.shape[:-1], who)
    batch = np.broadcast_shapes(d.shape[:-1], *[b.shape for b in chosen.values()])
    poses = task if tail is None and not timed else _as_poses(task, d, alpha)
    reasons = np.broadcast_to(troubles(poses), batch)
    if not batch and reasons[()]:
        reason = str(reasons[()])
        raise NotPossible(f"{who}: {reason}{_cure(reason)}")
    if method == "linkage":
        return _by_linkage(task, d, alpha, size)
    rows = _rows(task, d, np.exp(1j * alpha), size, chosen, given, timed, who)
    rows = np.broadcast_to(rows, (*batch, 4, 7)) if rows.shape[:-2] != batch else rows
    a, z, valid, condition = _solved(rows, given, task, size)
    valid = valid & (reasons == "")[..., None]
    return _finished(task, a, z, valid, condition, d, alpha, size, chosen, timed, batch, reasons)


def _solved(rows: np.ndarray, given: dict[str, Any], task: PlanarTask, size: np.ndarray) -> tuple[np.ndarray, ...]:
    """(a, z, valid, condition) in task sizes, by what kind of rows there are."""
    for name, which in (("ground", "a"), ("moving", "z"), ("Z", "z")):
        if given[name] is not None:
            known = complex_points(given[name], name) / size
            pivot = -known if name == "Z" else known - task.positions[..., 0] / size
            beside = [0, 1, 4, 5] if which == "a" else [0, 1, 2, 3]
            others = np.abs(rows[..., beside]).reshape(-1, 4, 4).max(axis=(0, 2)) > 0
            return conics.with_pivot(rows[..., others, :], pivot, which)
    products = np.abs(rows[..., :2]).max() > 0
    return conics.dyads_of(rows) if products else conics.linear_dyad(rows)


def with_tail(task: PlanarTask, tail: Any, who: str) -> np.ndarray:
    """delta_j - h_j, (..., n-1): what the chain itself has to do when its ground pivot is carried by h (..., n)."""
    if tail is None:
        return task.displacements
    h = complex_points(tail, f"{who}: tail")
    if h.shape[-1:] != (task.n,):
        raise InvalidInput(f"{who}: tail has shape {h.shape}, expected (..., {task.n}) complex, one a position")
    return task.displacements - (h[..., 1:] - h[..., :1])


def _as_poses(task: PlanarTask, d: np.ndarray, alpha: np.ndarray) -> PlanarTask:
    zero = np.zeros((*d.shape[:-1], 1))
    return PlanarTask(np.concatenate([zero, d], axis=-1), np.concatenate([zero + 0 * alpha[..., :1], alpha], axis=-1))


def _cure(reason: str) -> str:
    return "; move one of them" if reason.startswith("positions") else "; turn one position, or fit a parallelogram"


def chosen_rotations(beta: Any, n: int, batch: tuple[int, ...], who: str) -> dict[int, np.ndarray]:
    """The free rotations by position."""
    if beta is None:
        return {}
    if not isinstance(beta, Mapping):
        raise InvalidInput(f"{who}: beta is {type(beta).__name__}, expected {{position: angle}}, such as {{2: 0.5}}")
    chosen = {}
    for j, angle in beta.items():
        if not isinstance(j, (int, np.integer)) or not 2 <= j <= n:
            raise InvalidInput(f"{who}: beta names position {j!r}, expected one of 2 .. {n}")
        chosen[int(j)] = as_doubles(angle, f"{who}: beta[{j}]")
        if not np.isfinite(chosen[int(j)]).all():
            raise InvalidInput(f"{who}: beta[{j}] is not finite")
        try:
            np.broadcast_shapes(batch, chosen[int(j)].shape)
        except ValueError:
            raise InvalidInput(f"{who}: beta[{j}] has shape {chosen[int(j)].shape}, the tasks {batch}") from None
    return chosen


def _rows(
    task: PlanarTask,
    d: np.ndarray,
    u: np.ndarray,
    size: np.ndarray,
    chosen: dict[int, np.ndarray],
    given: dict[str, Any],
    timed: bool,
    who: str,
) -> np.ndarray:
    """The four conditions (..., 4, 7), or a sentence about how many there are."""
    unit = d / size[..., None]
    met = conditions.position(unit, u)
    if task.n == 5 and not chosen and task.velocities is None and all(x is None for x in given.values()):
        return met  # nothing to choose
    parts = []
    for j in range(2, task.n + 1):
        if j in chosen:
            parts.append(conditions.rotation(unit[..., j - 2], u[..., j - 2], chosen[j]))
        else:
            parts.append(met[..., j - 2, None, :])
    if task.velocities is not None:
        parts += _velocity_rows(task, unit, u, size, who)
    origin = task.positions[..., 0]
    at = {
        name: complex_points(x, f"{who}: {name}") for name, x in given.items() if x is not None and "line" not in name
    }
    if timed and any(x is not None for x in given.values()):
        raise NotPossible(f"{who}: with timing the free choices are rotations of the body: beta={{position: angle}}")
    if "W" in at:
        parts.append(conditions.equal(-1.0, 1.0, at["W"] / size))
    if "Z" in at:
        parts.append(conditions.equal(0.0, -1.0, at["Z"] / size))
    if "ground" in at:
        parts.append(conditions.equal(1.0, 0.0, (at["ground"] - origin) / size))
    if "moving" in at:
        parts.append(conditions.equal(0.0, 1.0, (at["moving"] - origin) / size))
    for name, which in (("ground_line", "a"), ("moving_line", "z")):
        if given[name] is not None:
            line = conditions.on_line(given[name], which, origin, size, f"{who}: {name}")
            parts.append(line[..., None, :])
    count = sum(part.shape[-2] for part in parts)
    if count != 4:
        free, used = 5 - task.n, count - (task.n - 1)
        raise NotPossible(
            f"{who}: {task.n} positions leave {free} free choices, got {used}: a rotation in beta, a line or a "
            "velocity counts one, W, Z, ground and moving two each"
        )
    batch = np.broadcast_shapes(*[part.shape[:-2] for part in parts])
    return np.concatenate([np.broadcast_to(part, (*batch, *part.shape[-2:])) for part in parts], axis=-2)


def _velocity_rows(task: PlanarTask, unit: np.ndarray, u: np.ndarray, size: np.ndarray, who: str) -> list[np.ndarray]:
    assert task.velocities is not None
    known = np.isfinite(task.velocities).all(axis=-1)
    rows = []
    for j in range(task.n):
        if not known[..., j].any():
            continue
        if not known[..., j].all():
            raise NotPossible(f"{who}: velocities of position {j + 1} are given for some tasks of the batch only")
        v = (task.velocities[..., j, 0] + 1j * task.velocities[..., j, 1]) / size
        dj = unit[..., j - 1] if j else np.zeros(unit.shape[:-1], dtype=complex)
        uj = u[..., j - 1] if j else np.ones(unit.shape[:-1], dtype=complex)
        rows.append(conditions.velocity(dj, uj, v, task.velocities[..., j, 2])[..., None, :])
    return rows


def _finished(
    task: PlanarTask,
    a: np.ndarray,
    z: np.ndarray,
    valid: np.ndarray,
    condition: np.ndarray,
    d: np.ndarray,
    alpha: np.ndarray,
    size: np.ndarray,
    chosen: dict[int, np.ndarray],
    timed: bool,
    batch: tuple[int, ...],
    reasons: np.ndarray,
) -> Dyads:
    """Link vectors, rotations and verdicts in the task's own units; sorted by beta2."""
    W, Z = z - a, -z
    unit = (d / size[..., None])[..., None, :]
    u = np.exp(1j * alpha)[..., None, :]
    long = np.abs(W) > 1e-12
    turned = (unit - Z[..., None] * u - a[..., None]) / np.where(long, W, 1.0)[..., None]
    beta = np.angle(turned)
    valid = valid & long
    error = W[..., None] * (np.exp(1j * beta) - 1.0) + Z[..., None] * (u - 1.0) - unit
    residual = np.abs(error).max(axis=-1)
    scale = 1.0 + np.abs(W) + np.abs(Z)
    valid = valid & (residual <= INEXACT * scale)
    for j, angle in chosen.items():  # a product of conditions may be met with another rotation than the given one
        valid = valid & (np.abs(np.exp(1j * beta[..., j - 2]) - np.exp(1j * angle)[..., None]) < 1e-6)
    if not batch and not valid.any() and chosen and task.n == 4:
        _explain(task, alpha, d, chosen, size)
    wrapped = np.abs(np.angle(np.exp(1j * (beta - alpha[..., None, :]))))
    near_trivial = (np.abs(beta).max(axis=-1) < NEAR_TRIVIAL) | (wrapped.max(axis=-1) < NEAR_TRIVIAL)
    if timed:  # the roles were exchanged; the body's rotation is what was unknown
        W, Z = Z, W
    L = size[..., None]
    origin = task.positions[..., :1]
    ground = origin - (W + Z) * L
    parts = [W * L, Z * L, beta, ground, ground + W * L, residual, condition, near_trivial, valid]
    order = np.argsort(np.where(valid, beta[..., 0], np.inf), axis=-1, kind="stable")
    if not batch:
        kept = order[: int(valid.sum())]
        sorted_ = [part[kept] for part in parts]
    else:
        sorted_ = []
        for part in parts:
            index = order[..., None] if part.ndim > order.ndim else order
            wide = np.broadcast_to(part, (*valid.shape, *part.shape[valid.ndim :]))
            sorted_.append(np.take_along_axis(wide, index, axis=len(batch)))
    return Dyads(*[*sorted_, _reasons(reasons, valid)])


def _reasons(reasons: np.ndarray, valid: np.ndarray) -> np.ndarray:
    none = ~valid.any(axis=-1) & (reasons == "")
    return np.where(none, "no real dyad meets the conditions", reasons)


def _explain(
    task: PlanarTask, alpha: np.ndarray, d: np.ndarray, chosen: dict[int, np.ndarray], size: np.ndarray
) -> None:
    """Four positions and a rotation that cannot be: say which can."""
    if set(chosen) != {2}:
        return
    linkage = four_bar_of(np.exp(1j * alpha) - 1.0, d / size[..., None])
    inside = ", ".join(f"[{low:.6g}, {high:.6g}]" for low, high in linkage.intervals())
    raise NotPossible(
        f"dyads: beta[2] = {float(chosen[2]):.6g} rad cannot close the compatibility linkage; feasible: {inside}"
    )


def _by_linkage(task: PlanarTask, d: np.ndarray, alpha: np.ndarray, size: np.ndarray) -> Dyads:
    """The paper's way for five poses: where both compatibility linkages agree (eq. 14-19)."""
    if task.n != 5 or d.ndim > 1:
        raise NotPossible('dyads: method="linkage" is for one task of five poses')
    unit = d / size
    b = scan_of_linkages(np.exp(1j * alpha) - 1.0, unit)
    a_ = np.exp(1j * alpha) - 1.0
    A = np.stack([np.exp(1j * b) - 1.0, np.broadcast_to(a_, b.shape)], axis=-1)
    x = np.stack([np.linalg.lstsq(M, unit, rcond=None)[0] for M in A]) if len(b) else np.zeros((0, 2), complex)
    W, Z = x[:, 0], x[:, 1]
    a, z = -W - Z, -Z
    ones = np.ones(len(b))
    return _finished(task, a, z, ones > 0, ones, d, alpha, size, {}, False, (), np.array("", dtype=object))
