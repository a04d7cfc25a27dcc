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

from linkwork.arguments import choice
from linkwork.errors import InvalidInput, NotPossible
from linkwork.formats.tabular import Tabular
from linkwork.results import short_repr
from linkwork.synthesis import conics
from linkwork.synthesis.compatibility import four_bar_of, scan_of_linkages, told
from linkwork.synthesis.dyad_choices import chosen_rotations, condition_rows, shapes_of
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
    choices = {"W": W, "Z": Z, "ground": ground, "moving": moving}
    choices |= {"ground_line": ground_line, "moving_line": moving_line}
    asked = {name: value for name, value in choices.items() if value is not None}
    if choice(kind, ("RR", "PR", "RP"), f"{who}: kind") != "RR":
        return sliders(task, kind, asked, beta)
    choice(method, ("pivots", "linkage"), f"{who}: method")
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
            batch, *[b.shape for b in chosen.values()], *shapes_of(asked, batch, who)
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
        rows = condition_rows(task, rows, d, alpha, size, chosen, asked, timed, who)
        rows = np.ascontiguousarray(np.broadcast_to(rows, (*batch, 4, 7)))
    w, valid, condition = _solved(rows, asked, task, size)
    if batch:  # an unlucky task is data
        valid = np.where((reasons == "")[..., None], valid, 0.0)
    return _finished(task, w, valid, condition, (d, alpha, size), chosen, asked, timed, reasons)


def _five(places: np.ndarray, turns: Any) -> tuple[np.ndarray, np.ndarray]:
    """(positions (..., 5, 2), angles (..., 5)): what is missing repeats the last one."""
    n = places.shape[-1]
    if n < 5:
        at = [*range(n), *[n - 1] * (5 - n)]
        places, turns = places[..., at], turns[..., at]
    if turns.shape != places.shape:
        turns = np.broadcast_to(turns, places.shape)
    pairs = np.ascontiguousarray(places).view(float).reshape(*places.shape, 2)
    return pairs, np.ascontiguousarray(turns)


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
    if reason.startswith("positions"):
        return "; move one of them"
    return "; turn one position, or fit a parallelogram"


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
            angles[..., j - 2, 0], angles[..., j - 2, 1] = np.cos(angle), np.sin(angle)
            turned[j - 2] = 1.0
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
