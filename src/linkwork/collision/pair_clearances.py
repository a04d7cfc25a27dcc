"""Clearances of every pair: each moving part against each obstacle, and each checked pair of parts.

For costs and quadratic programs: the pair axis stays the same from call to call while obstacles move. Every pair is
measured in full, without looking at the others.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import casadi
import numpy as np
from casadi import SX

from linkwork.collision.checker import has_quaternions, kept
from linkwork.collision.clearance import FAR, Least, gradient
from linkwork.collision.distances import nearest
from linkwork.collision.kinematics import GUARD
from linkwork.collision.tables import RobotTables
from linkwork.collision.tile import OBSTACLE_KINDS, Placed, TileLayout, columns_of
from linkwork.engine.keys import key
from linkwork.engine.staged import Packed, StagedKernel, StagedSignature
from linkwork.engine.stages import Row, Stages, Table
from linkwork.errors import InvalidInput
from linkwork.quantities import context_of
from linkwork.results import short_repr
from linkwork.subject import Subject

OPERATIONS = 30_000
OUTPUTS = (("distance", 1), ("point", 3), ("other_point", 3), ("normal", 3))


@short_repr
@dataclass(frozen=True)
class PairClearances:
    """Clearances with a pair axis (..., m); with `nearest` the pairs of each configuration, nearest first.

    distance      signed [m];   body, other   names of each pair (m,), or (..., m) where pairs differ
    point, other_point, normal (..., m, 3);   gradient (..., m, nv)
    """

    distance: np.ndarray
    body: np.ndarray
    other: np.ndarray
    point: np.ndarray
    other_point: np.ndarray
    normal: np.ndarray
    gradient: np.ndarray


def asked_table(layout: TileLayout) -> Table:
    """A row a pair: the ranges of the shapes of both sides, of which one side may be an obstacle."""
    ranges = [f"{end}_{kind}" for kind, _ in layout.kinds for end in ("first", "count")]
    both = [f"{side}_{r}" for side in ("a", "b") for r in ranges]
    obstacles = [f"o_{end}_{kind}" for kind in OBSTACLE_KINDS for end in ("first", "count")]
    return Table("asked", (("a_number", 1), ("b_number", 1)), (*both, *obstacles))


class Measured(Least):
    """The least distance of one pair at a time."""

    def measure(self, row: Row) -> None:
        k, placed = self.k, self.placed
        k.assign(self.distance, FAR)
        k.assign(self.pair, -1.0)
        k.assign(self.body, row["a_number"])
        k.assign(self.other_body, row["b_number"])
        for kind in dict.fromkeys(a for a, _ in (*self.against, *self.each_other)):
            with placed.shapes_of(kind, row, "a_") as own:
                shape = casadi.vertsplit(k.value(casadi.vertcat(*placed.shape(kind, own))))
                for other_kind in (b for a, b in self.against if a == kind):
                    table = placed.tables[f"other_{other_kind}"]
                    first, count = (row.whole(f"o_{end}_{other_kind}") for end in ("first", "count"))
                    with k.rows(table, first, count) as other:
                        code = self.against.index((kind, other_kind))
                        self._measured(kind, shape, other_kind, columns_of(other_kind, other), code, own, other)
                for other_kind in (b for a, b in self.each_other if a == kind):
                    with placed.shapes_of(other_kind, row, "b_") as other:
                        code = len(self.against) + self.each_other.index((kind, other_kind))
                        columns = placed.shape(other_kind, other)
                        self._measured(kind, shape, other_kind, columns, code, own, other)

    def _measured(
        self, kind: str, shape: list[SX], other_kind: str, other: list[SX], code: int, own: Row, its: Row
    ) -> None:
        carried = ((self.pair, SX(code)), (self.row, own.number), (self.other_row, its.number))
        self.k.least(self.distance, nearest(kind, shape, other_kind, other).distance, *carried)


def recipe(subject: Subject, layout: TileLayout, k: Stages) -> None:
    placed = Placed(k, layout, subject, tables=(asked_table(layout),))
    q_tree = placed.kinematics.coordinates(placed.q)
    placed.guard(q_tree)
    T = placed.place(q_tree)
    columns, moved = placed.kinematics.columns(T)
    columns = k.value(columns, exact=True) if moved else columns
    least = Measured(placed)
    slope, partner = k.variable(subject.nv), k.variable()
    with k.rows(placed.tables["asked"]) as row:
        least.measure(row)
        point, other_point, normal = least.points()
        k.assign(partner, casadi.fmax(least.other_body.x, 0))
        if moved:
            ends = (point.x, other_point.x, normal.x)
            k.assign(slope, gradient(placed, least, partner, columns, moved, *ends))
        found = {"distance": least.distance, "point": point, "other_point": other_point, "normal": normal}
        k.record(row, **found, gradient=slope)


def kernel_of(tables: RobotTables) -> StagedKernel:
    if "clearances" not in tables.kernels:
        tables.kernels["clearances"] = _kernel_of(tables)
    return tables.kernels["clearances"]


def _kernel_of(tables: RobotTables) -> StagedKernel:
    subject, layout = tables.subject, tables.layout
    outputs = (*OUTPUTS, ("gradient", subject.nv))
    signature = StagedSignature(
        "clearances",
        layout.inputs(subject),
        (*layout.tables, asked_table(layout)),
        outputs,
        OPERATIONS,
        guard=GUARD if has_quaternions(subject) else "",
        recorded=tuple((name, "asked") for name, _ in outputs),
    )
    made = key("clearances", subject.fingerprint, layout)
    return kept(subject, made, lambda: StagedKernel(signature, lambda k: recipe(subject, layout, k), made))


def pairs_asked(tables: RobotTables, obstacles: Any) -> tuple[list[tuple[str, str]], np.ndarray, np.ndarray]:
    """(names of the pairs, numbers, whole numbers) of the table `asked`."""
    ranges, kinds = tables.rows["bodies"][1][:, 2:], 2 * len(OBSTACLE_KINDS)
    nothing = np.zeros(ranges.shape[1], dtype=np.int64)
    names, numbers, whole = [], [], []
    moving = [k for k, body in enumerate(tables.bodies) if tables.node_of[body] != 0]
    for kind, row, name in tables.obstacle_rows(obstacles):
        place = np.zeros(kinds, dtype=np.int64)
        at = 2 * OBSTACLE_KINDS.index(kind)
        place[at : at + 2] = row, 1
        for k in moving:
            names.append((tables.bodies[k], name))
            numbers.append((k, -1))
            whole.append(np.concatenate([ranges[k], nothing, place]))
    for a, b in tables.pairs:
        i, j = tables.bodies.index(a), tables.bodies.index(b)
        names.append((a, b))
        numbers.append((i, j))
        whole.append(np.concatenate([ranges[i], ranges[j], np.zeros(kinds, dtype=np.int64)]))
    width = 2 * ranges.shape[1] + kinds
    return names, np.array(numbers, dtype=float).reshape(-1, 2), np.array(whole, dtype=np.int64).reshape(-1, width)


def clearances(
    tables: RobotTables,
    q: Any,
    obstacles: Any = None,
    nearest: int | None = None,
    variables: Mapping[str, Any] | None = None,
) -> PairClearances:
    """The clearance of every pair at configurations (..., nq), or of the `nearest` ones of each."""
    subject = tables.subject
    names, numbers, whole = pairs_asked(tables, obstacles)
    if nearest is not None and (not isinstance(nearest, int) or isinstance(nearest, bool) or nearest < 1):
        raise InvalidInput(f"clearances: nearest is {nearest!r}, expected a whole number of pairs from 1 on, or None")
    values = [np.asarray(x, dtype=float)[..., None] for x in subject.variable_values(variables)]
    packed = tables.pack(obstacles) + Packed((asked_table(tables.layout),), {"asked": (numbers, whole)})
    results = kernel_of(tables)((q, *values), packed, context=context_of(subject))
    distance, point, other_point, normal, slope = results
    slope = slope.reshape(*distance.shape, subject.nv)
    distance = np.where(distance >= FAR, np.inf, distance)
    both = np.array(names, dtype=object).reshape(-1, 2)
    found = PairClearances(distance, both[:, 0], both[:, 1], point, other_point, normal, slope)
    return found if nearest is None else _nearest(found, nearest)


def _nearest(found: PairClearances, count: int) -> PairClearances:
    """The nearest pairs of each configuration, in order."""
    order = np.argsort(found.distance, axis=-1, kind="stable")[..., :count]

    def chosen(x: np.ndarray) -> np.ndarray:
        return np.take_along_axis(x, order[..., None], axis=-2)

    distance = np.take_along_axis(found.distance, order, axis=-1)
    vectors: Sequence[np.ndarray] = [chosen(x) for x in (found.point, found.other_point, found.normal, found.gradient)]
    point, other_point, normal, slope = vectors
    return PairClearances(distance, found.body[order], found.other[order], point, other_point, normal, slope)
