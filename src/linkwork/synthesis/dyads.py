"""Dyads: two links that carry a body exactly through 2 to 5 positions.

    W (exp(i beta_j) - 1) + Z (exp(i alpha_j) - 1) = P_j - P_1          j = 2 .. n

W leads from the ground pivot to the moving pivot, Z on to P_1; alpha_j is the body's rotation,
beta_j the unknown one of the grounded link. Source: [Mather2023] eq. 1; solved through the pivots,
see conics.py.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, TypedDict, Unpack, overload

import numpy as np

from linkwork.arguments import as_doubles, choice
from linkwork.errors import InvalidInput, NotPossible
from linkwork.formats.tabular import Tabular
from linkwork.results import short_repr
from linkwork.synthesis import conditions, conics
from linkwork.synthesis.compatibility import four_bar_of, scan_of_linkages, told
from linkwork.synthesis.dyad_kernels import answers as answers_kernel
from linkwork.synthesis.dyad_kernels import poses as poses_kernel
from linkwork.synthesis.sliders import Sliders, sliders
from linkwork.synthesis.task import (
    SAME,
    PlanarTask,
    as_task,
    check_count,
    check_poses,
    complex_points,
    troubles,
)

BEYOND = "a dyad meets at most 5 exact positions; use fit"
NO_DYAD = "no real dyad meets the conditions"
_ANY, _NONE = np.zeros((4, 2)), np.zeros(4)


@short_repr
@dataclass(frozen=True)
class Dyads(Tabular, rows="valid"):
    """Dyads of one task: (m,) arrays, real answers alone, by beta2; of a batch:
    slots (..., m) with `valid`.

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
        pick = {
            name: getattr(self, name)[chosen]
            for name in self.__dataclass_fields__
            if name != "reason"
        }
        return Dyads(**pick, reason=self.reason if self.valid.ndim == 1 else self.reason[chosen])


class DyadOptions(TypedDict, total=False):
    """Options of `dyads` by name."""

    W: Any
    Z: Any
    ground: Any
    moving: Any
    ground_line: Any
    moving_line: Any
    tail: Any
    method: str


@overload
def dyads(
    task: PlanarTask,
    beta: Mapping[int, Any] | None = None,
    *,
    kind: Literal["RR"] = ...,
    **options: Unpack[DyadOptions],
) -> Dyads: ...


@overload
def dyads(
    task: PlanarTask,
    beta: Mapping[int, Any] | None = None,
    *,
    kind: Literal["PR", "RP"],
    **options: Unpack[DyadOptions],
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

    Five poses leave no choice, four one, three two, two three. Choices are rotations
    `beta={2: angle, 3: angle}` of the grounded link [rad] (arrays make a batch), link vectors `W`,
    `Z` (two each), pivots `ground`, `moving` (two each), or lines that carry a pivot, given by two
    points (one each). Velocities of the task count like positions.

    kind     "RR"; "PR" a slider on the ground that carries a pin; "RP" a pin on the ground with a
             slider on the body
    tail     (..., n) displacement of the ground pivot at each position, where it is carried along
             [m]
    method   "pivots"; "linkage" drives the paper's compatibility linkage instead, for five poses
             (slow, for comparison)

    With `timing` in the task its angles are unknown: path generation with prescribed timing.
    """
    who = "dyads"
    task = as_task(task, who)
    check_count(task, 2, 5, who, BEYOND)
    choices = {
        "W": W,
        "Z": Z,
        "ground": ground,
        "moving": moving,
        "ground_line": ground_line,
        "moving_line": moving_line,
    }
    if choice(kind, ("RR", "PR", "RP"), f"{who}: kind") != "RR":
        return sliders(task, kind, {k: v for k, v in choices.items() if v is not None}, beta)
    choice(method, ("pivots", "linkage"), f"{who}: method")
    asked = {name: value for name, value in choices.items() if value is not None}
    if task.timing is None:
        check_poses(task, who)
    timed = task.timing is not None
    # with timing the unknown column is exchanged:
    # the driver's rotations take the place of the body's
    turns = task.angles if task.timing is None else task.timing
    places = _without_tail(task, tail, who)
    chosen = chosen_rotations(beta, task.n, places.shape[:-1], who) if beta is not None else {}
    batch = places.shape[:-1]
    if chosen or asked:
        batch = np.broadcast_shapes(
            batch, *[b.shape for b in chosen.values()], *_shapes(asked, batch, who)
        )
    rows, d, size, alpha, distinct, turning = poses_kernel()(*_five(places, turns))
    reasons = np.full(batch, "", dtype=object)
    if task.n < 5 or not (distinct.all() and turning.all()):
        reasons[...] = troubles(PlanarTask(places, np.broadcast_to(turns, places.shape)))
        if not batch and reasons[()]:
            raise NotPossible(f"{who}: {reasons[()]}{_cure(str(reasons[()]))}")
    if method == "linkage":
        return _by_linkage(task, d, alpha, size)
    if task.n < 5 or chosen or asked or task.velocities is not None:
        rows = _rows(task, rows, d, alpha, size, chosen, asked, timed, who)
        rows = np.ascontiguousarray(np.broadcast_to(rows, (*batch, 4, 7)))
    w, valid, condition = _solved(rows, asked, task, size)
    if batch:  # an unlucky task is data
        valid = np.where((reasons == "")[..., None], valid, 0.0)
    return _finished(task, w, valid, condition, (d, alpha, size), chosen, asked, timed, reasons)


def _shapes(asked: dict[str, Any], batch: tuple[int, ...], who: str) -> list[tuple[int, ...]]:
    """Batches of chosen points and lines, which go with those of the tasks."""
    shapes = []
    for name, value in asked.items():
        shape = complex_points(value, f"{who}: {name}").shape
        shape = shape[:-1] if "line" in name else shape
        try:
            np.broadcast_shapes(batch, shape)
        except ValueError:
            raise InvalidInput(
                f"{who}: {name} has a batch of shape {shape}, the tasks {batch}"
            ) from None
        shapes.append(shape)
    return shapes


def _five(places: np.ndarray, turns: Any) -> tuple[np.ndarray, np.ndarray]:
    """(positions (..., 5, 2), angles (..., 5)): what is missing repeats the last one."""
    n = places.shape[-1]
    if n < 5:
        at = [*range(n), *[n - 1] * (5 - n)]
        places, turns = places[..., at], turns[..., at]
    if turns.shape != places.shape:
        turns = np.broadcast_to(turns, places.shape)
    return np.ascontiguousarray(places).view(float).reshape(*places.shape, 2), np.ascontiguousarray(
        turns
    )


def _without_tail(task: PlanarTask, tail: Any, who: str) -> np.ndarray:
    """Positions (..., n) as the chain sees them whose ground pivot is carried by h (..., n)."""
    if tail is None:
        return task.positions
    moved = with_tail(task, tail, who)
    first = np.broadcast_to(task.positions[..., :1], (*moved.shape[:-1], 1))
    return np.concatenate([first, first + moved], axis=-1)


def _solved(
    rows: np.ndarray, asked: dict[str, Any], task: PlanarTask, size: np.ndarray
) -> tuple[np.ndarray, ...]:
    """(w, valid, condition) in four slots, by what kind of rows there are."""
    for name, which in (("ground", "a"), ("moving", "z"), ("Z", "z")):
        if name in asked:
            known = complex_points(asked[name], name) / size
            pivot = -known if name == "Z" else known - task.positions[..., 0] / size
            beside = [0, 1, 4, 5] if which == "a" else [0, 1, 2, 3]
            others = np.abs(rows[..., beside]).reshape(-1, 4, 4).max(axis=(0, 2)) > 0
            return conics.with_pivot(rows[..., others, :], pivot, which)
    if asked or task.n < 5:
        if np.abs(rows[..., :2]).max() == 0:
            return conics.linear_dyad(rows)
    return conics.dyads_of(rows)


def with_tail(task: PlanarTask, tail: Any, who: str) -> np.ndarray:
    """delta_j - h_j, (..., n-1): what the chain itself has to do when its ground pivot is carried
    by h (..., n)."""
    if tail is None:
        return task.displacements
    h = complex_points(tail, f"{who}: tail")
    if h.shape[-1:] != (task.n,):
        raise InvalidInput(
            f"{who}: tail has shape {h.shape}, expected (..., {task.n}) complex, one a position"
        )
    return task.displacements - (h[..., 1:] - h[..., :1])


def _name_poles(
    task: PlanarTask, asked: dict[str, Any], none: np.ndarray, reasons: np.ndarray
) -> bool:
    """Write the reason of tasks without a dyad whose chosen pivot is a pole:
    there the other one is not determined."""
    name = next((name for name in ("ground", "moving", "Z") if name in asked), None)
    if name is None:
        return False
    place = complex_points(asked[name], name)
    origin, turn = task.positions, np.exp(1j * task.angles)
    if name == "ground":  # as the body sees it at each position
        seen = (place[..., None] - origin) / turn
    else:  # as the ground sees it
        arm = -place if name == "Z" else place - origin[..., 0]
        seen = origin + (arm / turn[..., 0])[..., None] * turn
    near = SAME * (task.size + np.abs(place))
    what = "Z puts the moving pivot" if name == "Z" else f"{name} is"
    for j in range(task.n):
        for k in range(j + 1, task.n):
            pole = (np.abs(seen[..., k] - seen[..., j]) <= near) & none & (reasons == NO_DYAD)
            reasons[pole] = (
                f"{what} on the pole of positions {j + 1} and {k + 1}, about which the body turns "
                "from one to the "
                "other, so that the other pivot is not determined"
            )
    return bool((reasons[none] != NO_DYAD).any())


def _cure(reason: str) -> str:
    return (
        "; move one of them"
        if reason.startswith("positions")
        else "; turn one position, or fit a parallelogram"
    )


def chosen_rotations(beta: Any, n: int, batch: tuple[int, ...], who: str) -> dict[int, np.ndarray]:
    """The free rotations by position."""
    if beta is None:
        return {}
    if not isinstance(beta, Mapping):
        raise InvalidInput(
            f"{who}: beta is {type(beta).__name__}, expected {{position: angle}}, such as "
            f"{{2: 0.5}}"
        )
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
            raise InvalidInput(
                f"{who}: beta[{j}] has shape {chosen[int(j)].shape}, the tasks {batch}"
            ) from None
    return chosen


def _rows(
    task: PlanarTask,
    met: np.ndarray,
    d: np.ndarray,
    alpha: np.ndarray,
    size: np.ndarray,
    chosen: dict[int, np.ndarray],
    asked: dict[str, Any],
    timed: bool,
    who: str,
) -> np.ndarray:
    """The four conditions (..., 4, 7), or a sentence about how many there are."""
    unit, u = d[..., 0] + 1j * d[..., 1], np.exp(1j * alpha)
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
        name: complex_points(x, f"{who}: {name}") for name, x in asked.items() if "line" not in name
    }
    if timed and asked:
        raise NotPossible(
            f"{who}: with timing the free choices are rotations of the body: "
            f"beta={{position: angle}}"
        )
    if "W" in at:
        parts.append(conditions.equal(-1.0, 1.0, at["W"] / size))
    if "Z" in at:
        parts.append(conditions.equal(0.0, -1.0, at["Z"] / size))
    if "ground" in at:
        parts.append(conditions.equal(1.0, 0.0, (at["ground"] - origin) / size))
    if "moving" in at:
        parts.append(conditions.equal(0.0, 1.0, (at["moving"] - origin) / size))
    for name, which in (("ground_line", "a"), ("moving_line", "z")):
        if name in asked:
            line = conditions.on_line(asked[name], which, origin, size, f"{who}: {name}")
            parts.append(line[..., None, :])
    count = sum(part.shape[-2] for part in parts)
    if count != 4:
        free, used = 5 - task.n, count - (task.n - 1)
        raise NotPossible(
            f"{who}: {task.n} positions leave {free} free choices, got {used}: a rotation in beta, "
            "a line or a "
            "velocity counts one, W, Z, ground and moving two each"
        )
    batch = np.broadcast_shapes(*[part.shape[:-2] for part in parts])
    return np.concatenate(
        [np.broadcast_to(part, (*batch, *part.shape[-2:])) for part in parts], axis=-2
    )


def _velocity_rows(
    task: PlanarTask, unit: np.ndarray, u: np.ndarray, size: np.ndarray, who: str
) -> list[np.ndarray]:
    assert task.velocities is not None
    known = np.isfinite(task.velocities).all(axis=-1)
    rows = []
    for j in range(task.n):
        if not known[..., j].any():
            continue
        if not known[..., j].all():
            raise NotPossible(
                f"{who}: velocities of position {j + 1} are given for some tasks of the batch only"
            )
        v = (task.velocities[..., j, 0] + 1j * task.velocities[..., j, 1]) / size
        dj = unit[..., j - 1] if j else np.zeros(unit.shape[:-1], dtype=complex)
        uj = u[..., j - 1] if j else np.ones(unit.shape[:-1], dtype=complex)
        rows.append(conditions.velocity(dj, uj, v, task.velocities[..., j, 2])[..., None, :])
    return rows


def _finished(
    task: PlanarTask,
    w: np.ndarray,
    valid: np.ndarray,
    condition: np.ndarray,
    poses: tuple[np.ndarray, ...],
    chosen: dict[int, np.ndarray],
    asked: dict[str, Any],
    timed: bool,
    reasons: np.ndarray,
) -> Dyads:
    """Link vectors, rotations and verdicts in the task's own units; sorted by beta2."""
    batch, (d, alpha, size) = valid.shape[:-1], poses
    origin = np.ascontiguousarray(task.positions[..., :1]).view(float)
    angles, turned = _ANY, _NONE
    if chosen:
        angles, turned = np.zeros((*batch, 4, 2)), np.zeros(4)
        for j, angle in chosen.items():
            angles[..., j - 2, 0], angles[..., j - 2, 1], turned[j - 2] = (
                np.cos(angle),
                np.sin(angle),
                1.0,
            )
    answers = answers_kernel()(w, valid, condition, d, alpha, size, origin, angles, turned)
    W, Z, beta, ground, moving, residual, condition, near_trivial, valid = answers
    valid, near_trivial, beta = valid > 0, near_trivial > 0, beta[..., : task.n - 1]
    W, Z, ground, moving = (x.view(complex)[..., 0] for x in (W, Z, ground, moving))
    if timed:  # the roles were exchanged; the body's rotation is what was unknown
        W, Z = Z, W
        moving = ground + W
    parts = [W, Z, beta, ground, moving, residual, condition, near_trivial, valid]
    if batch:
        none = ~valid.any(axis=-1) & (reasons == "")
        reasons[none] = NO_DYAD
        _name_poles(task, asked, none, reasons)
        return Dyads(*[*parts, reasons])
    count = int(np.count_nonzero(valid))
    if not count:
        if chosen and task.n == 4:
            _explain(alpha, d, chosen)
        reasons[...] = NO_DYAD
        if _name_poles(task, asked, np.array(True), reasons):
            raise NotPossible(f"dyads: {reasons[()]}; move it")
    return Dyads(*[part[:count] for part in parts] + [reasons])


def _explain(alpha: np.ndarray, d: np.ndarray, chosen: dict[int, np.ndarray]) -> None:
    """Four positions and a rotation that cannot be: say which can."""
    if len(chosen) != 1:
        return
    (j, angle), order = next(iter(chosen.items())), [*chosen, *({2, 3, 4} - set(chosen))]
    places = [k - 2 for k in order]  # the compatibility linkage is driven by the first of them
    linkage = four_bar_of(np.exp(1j * alpha[places]) - 1.0, d[places, 0] + 1j * d[places, 1])
    if linkage.closes(angle):
        return
    raise NotPossible(
        f"dyads: beta[{j}] = {float(angle):.6g} rad cannot close the compatibility linkage; "
        f"feasible: {told(linkage.intervals())}"
    )


def _by_linkage(task: PlanarTask, d: np.ndarray, alpha: np.ndarray, size: np.ndarray) -> Dyads:
    """The paper's way for five poses: where both compatibility linkages agree (eq. 14-19)."""
    if task.n != 5 or task.batch:
        raise NotPossible('dyads: method="linkage" is for one task of five poses')
    unit, a = d[:, 0] + 1j * d[:, 1], np.exp(1j * alpha) - 1.0
    w, valid = np.zeros((4, 4)), np.zeros(4)
    for k, b in enumerate(scan_of_linkages(a, unit)):
        W, Z = np.linalg.lstsq(np.stack([np.exp(1j * b) - 1.0, a], axis=-1), unit, rcond=None)[0]
        pivots = np.array([-W - Z, -Z])
        w[k], valid[k] = pivots.view(float), 1.0
    return _finished(
        task, w, valid, np.ones(4), (d, alpha, size), {}, {}, False, np.full((), "", dtype=object)
    )
