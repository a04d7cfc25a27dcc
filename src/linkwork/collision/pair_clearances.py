"""Clearances of every pair: each moving part against each obstacle, and each checked pair of parts.

For costs and quadratic programs: the pair axis stays the same from call to call while obstacles
move. Every pair is measured in full, without looking at the others. A cloud is one obstacle, whose
nearest point counts, and so is ground.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

import casadi
import numpy as np
from casadi import SX

from linkwork.collision.clearance import FAR, NOBODY, Least, gradient
from linkwork.collision.distances import nearest
from linkwork.collision.packing import FIELDS
from linkwork.collision.rest import Rest
from linkwork.collision.tables import RobotTables
from linkwork.collision.tile import OBSTACLE_KINDS, Placed, TileLayout, columns_of
from linkwork.engine.staged import Packed, StagedKernel
from linkwork.engine.stages import Row, Stages, Table
from linkwork.errors import InvalidInput
from linkwork.formats.tabular import Tabular, table_of
from linkwork.quantities import context_of
from linkwork.results import short_repr
from linkwork.subject import Subject

OPERATIONS = 30_000
OUTPUTS = (("distance", 1), ("point", 3), ("other_point", 3), ("normal", 3))


@short_repr
@dataclass(frozen=True)
class PairClearances(Tabular):
    """Clearances with a pair axis (..., m); with `nearest` the pairs of each configuration,
    nearest first.

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

    def _table(self) -> dict[str, np.ndarray]:
        shape = self.distance.shape
        parts = {part.name: getattr(self, part.name) for part in fields(self)}
        names = {side: np.broadcast_to(parts[side], shape) for side in ("body", "other")}
        return table_of(shape, parts | names)


# of clouds and height fields the groups of their pieces are counted
OTHER_KINDS = (
    *OBSTACLE_KINDS,
    *FIELDS,
)


def asked_table(layout: TileLayout) -> Table:
    """A row a pair: ranges of the shapes of both sides, one of which may be an obstacle."""
    ranges = [f"{end}_{kind}" for kind, _ in layout.kinds for end in ("first", "count")]
    both = [f"{side}_{r}" for side in ("a", "b") for r in ranges]
    obstacles = [f"o_{end}_{kind}" for kind in OTHER_KINDS for end in ("first", "count")]
    return Table("asked", (("body", 1), ("other", 1), ("radius", 1)), ("row", *both, *obstacles))


class Measured(Least):
    """The least distance of one pair at a time."""

    def measure(self, row: Row) -> None:
        k, placed = self.k, self.placed
        k.assign(self.distance, FAR)
        k.assign(self.pair, -1.0)
        k.assign(self.body, row["body"])
        k.assign(self.other_body, row["other"])
        for kind in dict.fromkeys(a for a, _ in (*self.against, *self.each_other)):
            with placed.shapes_of(kind, row, "a_") as mine:
                shape = casadi.vertsplit(k.value(casadi.vertcat(*placed.shape(kind, mine))))
                for other_kind in (b for a, b in self.against if a == kind):
                    table = placed.tables[f"other_{other_kind}"]
                    first, count = (
                        row.whole(f"o_{end}_{other_kind}") for end in ("first", "count")
                    )
                    with k.rows(table, first, count) as other:
                        code = self.against.index((kind, other_kind))
                        self._measured(
                            kind,
                            shape,
                            other_kind,
                            columns_of(other_kind, other),
                            code,
                            mine,
                            other,
                        )
                for other_kind in (b for a, b in self.each_other if a == kind):
                    with placed.shapes_of(other_kind, row, "b_") as other:
                        code = len(self.against) + self.each_other.index((kind, other_kind))
                        columns = placed.shape(other_kind, other)
                        self._measured(kind, shape, other_kind, columns, code, mine, other)
        self._fields(row)

    def _fields(self, row: Row) -> None:
        """A cloud or ground as the other side: what is near of it."""
        placed = self.placed
        center, radius = placed.bound(row)
        bound = [*casadi.vertsplit(center), radius]
        points, patches = (
            (row.whole(f"o_first_{kind}"), row.whole(f"o_count_{kind}")) for kind in FIELDS
        )
        with placed.clusters_near(bound, lambda: self.distance.x, *points) as cluster:
            self._shapes_against_points(row, cluster, "a_")
        if self.spheres:
            with placed.patches_near(bound, lambda: self.distance.x, *patches) as patch:
                self._spheres_against_ground(row, patch, "a_")

    def _measured(
        self,
        kind: str,
        shape: list[SX],
        other_kind: str,
        other: list[SX],
        code: int,
        mine: Row,
        its: Row,
    ) -> None:
        carried = ((self.pair, SX(code)), (self.row, mine.number), (self.other_row, its.number))
        self.k.least(self.distance, nearest(kind, shape, other_kind, other).distance, *carried)


def recipe(subject: Subject, layout: TileLayout, k: Stages) -> None:
    placed = Placed(k, layout, subject, tables=(asked_table(layout),))
    columns, moved = placed.with_columns()
    least = Measured(placed)
    slope, partner = k.variable(subject.nv), k.variable()
    with k.rows(placed.tables["asked"]) as row:
        least.measure(row)
        point, other_point, normal = least.points()
        k.assign(partner, casadi.fmax(least.other_body.x, 0))
        if moved:
            ends = (point.x, other_point.x, normal.x)
            k.assign(slope, gradient(placed, least, partner, columns, moved, *ends))
        results = {
            "distance": least.distance,
            "point": point,
            "other_point": other_point,
            "normal": normal,
        }
        k.record(row, **results, gradient=slope)


def kernel_of(tables: RobotTables) -> StagedKernel:
    outputs = (*OUTPUTS, ("gradient", tables.subject.nv))
    recorded = tuple((name, "asked") for name, _ in outputs)
    asked = asked_table(tables.layout)
    return tables.kernel(
        recipe, "clearances", outputs, OPERATIONS, tables=(asked,), recorded=recorded
    )


@dataclass(frozen=True)
class Asked:
    """The pairs of a call.

    names      (part, part or obstacle) of every pair: obstacles in their order, then checked pairs
               of parts
    computed   which of them have a row of the table `asked`; the others are wholly left to coal
    rows       (numbers, whole numbers) of that table
    """

    names: list[tuple[str, str]]
    computed: list[int]
    rows: tuple[np.ndarray, np.ndarray]


def pairs_asked(
    tables: RobotTables, obstacles: Any, moving: Sequence[str], pairs: Sequence[tuple[str, str]]
) -> Asked:
    """Every part of `moving` against every obstacle, and `pairs` of parts."""
    bounds, places = tables.rows["bodies"]
    ranges, number = places[:, 2:], {body: k for k, body in enumerate(tables.bodies)}
    nothing = np.zeros(2 * len(OTHER_KINDS), dtype=np.int64)
    nobody = np.zeros(ranges.shape[1], dtype=np.int64)
    names: list[tuple[str, str]] = []
    computed, numbers, whole = [], [], []

    def ask(body: str, other: str, partner: int, its: np.ndarray, obstacle: np.ndarray) -> None:
        k = number[body]
        computed.append(len(names) - 1)
        numbers.append((k, partner, bounds[k, 3]))
        whole.append(np.concatenate([places[k, :1], ranges[k], its, obstacle]))

    for name, kind, first, count in tables.obstacle_rows(obstacles):
        place = nothing.copy()
        if kind in OTHER_KINDS:
            at = 2 * OTHER_KINDS.index(kind)
            place[at : at + 2] = first, count
        for body in moving:
            names.append((body, name))
            if body in number and kind in OTHER_KINDS:
                ask(body, name, NOBODY, nobody, place)
    for a, b in pairs:
        names.append((a, b))
        if a in number and b in number:
            ask(a, b, number[b], ranges[number[b]], nothing)
    width = 1 + 2 * ranges.shape[1] + len(nothing)
    rows = (
        np.array(numbers, dtype=float).reshape(-1, 3),
        np.array(whole, dtype=np.int64).reshape(-1, width),
    )
    return Asked(names, computed, rows)


def clearances(
    tables: RobotTables,
    q: Any,
    obstacles: Any = None,
    nearest: int | None = None,
    variables: Mapping[str, Any] | None = None,
    rest: Rest | None = None,
) -> PairClearances:
    """The clearance of every pair at configurations (..., nq), or of the `nearest` ones;
    `rest` pairs go to coal."""
    subject = tables.subject
    if nearest is not None and (
        not isinstance(nearest, int) or isinstance(nearest, bool) or nearest < 1
    ):
        raise InvalidInput(
            f"clearances: nearest is {nearest!r}, expected a whole number of pairs from 1 on, "
            "or None"
        )
    asked = pairs_asked(tables, obstacles, tables.moving, tables.asked_pairs)
    values = [np.asarray(x, dtype=float)[..., None] for x in subject.variable_values(variables)]
    packed = tables.pack(obstacles) + Packed((asked_table(tables.layout),), {"asked": asked.rows})
    results = kernel_of(tables)((q, *values), packed, context=context_of(subject))
    distance, point, other_point, normal, slope = results
    slope = slope.reshape(*distance.shape, subject.nv)
    distance = np.where(distance >= FAR, np.inf, distance)
    both = np.array(asked.names, dtype=object).reshape(-1, 2)
    answer = PairClearances(distance, both[:, 0], both[:, 1], point, other_point, normal, slope)
    if rest:
        answer = _with_rest(subject, answer, asked, q, rest)
    return answer if nearest is None else _nearest(answer, nearest)


def _with_rest(
    subject: Subject, answer: PairClearances, asked: Asked, q: Any, rest: Rest
) -> PairClearances:
    """The same with pairs of shapes that go to coal, where one of them is nearer."""
    shape, count = answer.distance.shape[:-1], len(asked.names)
    rows = np.broadcast_to(np.asarray(q, dtype=float), (*shape, subject.nq)).reshape(-1, subject.nq)
    distance = np.full((len(rows), count), np.inf)
    distance[:, asked.computed] = answer.distance.reshape(len(rows), -1)
    vectors = []
    for computed in (answer.point, answer.other_point, answer.normal, answer.gradient):
        every = np.zeros((len(rows), count, computed.shape[-1]))
        every[:, asked.computed] = computed.reshape(len(rows), -1, computed.shape[-1])
        vectors.append(every)
    place = {names: m for m, names in enumerate(asked.names)}
    for k, row in enumerate(rows):
        for left, (least, *points) in rest.nearest_of_each_pair(row):
            m = place[left.part, left.other]
            if least < distance[k, m]:
                distance[k, m] = least
                for every, value in zip(
                    vectors, (*points, rest.gradient(row, left, *points)), strict=True
                ):
                    every[k, m] = value
    point, other_point, normal, slope = (
        every.reshape(*shape, *every.shape[1:]) for every in vectors
    )
    return replace(
        answer,
        distance=distance.reshape(*shape, count),
        point=point,
        other_point=other_point,
        normal=normal,
        gradient=slope,
    )


def _nearest(answer: PairClearances, count: int) -> PairClearances:
    """The nearest pairs of each configuration, in order."""
    order = np.argsort(answer.distance, axis=-1, kind="stable")[..., :count]

    def chosen(x: np.ndarray) -> np.ndarray:
        return np.take_along_axis(x, order[..., None], axis=-2)

    distance = np.take_along_axis(answer.distance, order, axis=-1)
    vectors: Sequence[np.ndarray] = [
        chosen(x) for x in (answer.point, answer.other_point, answer.normal, answer.gradient)
    ]
    point, other_point, normal, slope = vectors
    return PairClearances(
        distance, answer.body[order], answer.other[order], point, other_point, normal, slope
    )
