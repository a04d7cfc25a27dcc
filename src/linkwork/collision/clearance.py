"""Clearance: how far a configuration is from touching,
with the nearest points and how the distance changes with q.

The least distance is found by branch and bound over bounding spheres; the nearest points are
computed once, for the pair that was found. The gradient is that of the distance of two points that
sit on their bodies, along the normal n from the robot's point towards the other:

    d distance / dq_j = -n' (c_j + w_j x p) [j moves the robot's body] + n' (c_j + w_j x o)
    [j moves the other's]

which is exact wherever the nearest pair is unique (Danskin): how the points slide on their shapes
does not count.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

import casadi
import numpy as np
from casadi import SX

from linkwork.collision.columns import MOVING, SHAPE_COLUMNS
from linkwork.collision.distances import Nearest, nearest
from linkwork.collision.rest import Rest
from linkwork.collision.tables import RobotTables
from linkwork.collision.tile import OBSTACLE_KINDS, Placed, TileLayout, columns_of, in_pairs
from linkwork.collision.touching import has_test, may_be_closer, near_patch
from linkwork.engine.staged import StagedKernel
from linkwork.engine.stages import Row, Stages, Variable
from linkwork.formats.tabular import Tabular, table_of
from linkwork.quantities import context_of
from linkwork.results import short_repr
from linkwork.spatial import cross
from linkwork.subject import Subject

OPERATIONS = 8_000
FAR = 1e300  # [m] nothing to come near to
NOBODY = -1


@short_repr
@dataclass(frozen=True)
class Clearance(Tabular):
    """The nearest pair of one configuration or of a batch (...).

    distance      signed [m], negative inside; inf where there is nothing to touch
    body          name of the robot's body, or its index in `robot.bodies`-like order `bodies` for a
                  batch
    other         name of the obstacle or of the robot's other body; for a batch an index into
                  `others`
    point         nearest point of the robot (..., 3); other_point: of the other, world axes
    normal        unit vector (..., 3) from the robot towards the other
    gradient      of the distance by the velocity coordinates (..., nv)
    bodies        names that `body` counts; others: names that `other` counts, bodies first, then
                  obstacles
    """

    distance: Any
    body: Any
    other: Any
    point: np.ndarray
    other_point: np.ndarray
    normal: np.ndarray
    gradient: np.ndarray
    bodies: tuple[str, ...]
    others: tuple[str, ...]

    def _table(self) -> dict[str, np.ndarray]:
        """Bodies and obstacles by their names; "" where there is nothing to touch."""
        names = [part.name for part in fields(self) if part.name not in ("bodies", "others")]
        parts: dict[str, Any] = {name: getattr(self, name) for name in names}
        if np.ndim(self.distance):
            parts["body"] = np.array([*self.bodies, ""], dtype=object)[self.body]
            parts["other"] = np.array([*self.others, ""], dtype=object)[self.other]
        return table_of(np.shape(self.distance), parts)


class Least:
    """Finds the least distance of a tile: `distance`, and which pair it is."""

    def __init__(self, placed: Placed) -> None:
        self.placed, self.k = placed, placed.k
        k = self.k
        self.distance = k.variable(start=FAR)
        self.pair, self.row, self.other_row = k.variable(start=-1.0), k.variable(), k.variable()
        self.body, self.other_body, self.obstacle = (k.variable(start=-1.0) for _ in range(3))
        kinds = [kind for kind, _ in placed.layout.kinds]
        self.against = [(a, b) for a in kinds for b in OBSTACLE_KINDS if in_pairs(a, b)]
        self.each_other = [(a, b) for a in kinds for b in kinds if in_pairs(a, b)]
        self.beside_points = [kind for kind in kinds if in_pairs(kind, "sphere")]
        self.spheres = "sphere" in kinds

    def obstacles(self) -> None:
        k, placed = self.k, self.placed
        with k.rows(placed.tables["movable"]) as body:
            center, radius = placed.bound(body)
            bound = [*casadi.vertsplit(center), radius]
            reach = k.value(casadi.norm_2(center - placed.numbers["base"]) + radius)
            for kind in dict.fromkeys(b for _, b in self.against):
                with k.rows(placed.tables[f"other_{kind}"]) as obstacle:
                    k.leave(obstacle["away"] - reach > self.distance.x)
                    other = columns_of(kind, obstacle)
                    with k.where(may_be_closer("sphere", bound, kind, other, self.distance.x)):
                        for own_kind in (a for a, b in self.against if b == kind):
                            self._shapes_against(body, own_kind, kind, other, obstacle)
            with placed.clusters_near(bound, lambda: self.distance.x) as cluster:
                self._shapes_against_points(body, cluster)
            if self.spheres:
                with placed.patches_near(bound, lambda: self.distance.x) as patch:
                    self._spheres_against_ground(body, patch)

    def _spheres_against_ground(self, body: Row, patch: Row, end: str = "") -> None:
        """Spheres near a patch of ground against its prisms."""
        k, placed = self.k, self.placed
        with placed.shapes_of("sphere", body, end) as row:
            shape = casadi.vertsplit(k.value(casadi.vertcat(*placed.shape("sphere", row))))
            with k.where(
                near_patch(shape, patch["low"], patch["high"], patch["top"], self.distance.x)
            ):
                with placed.prisms_of(patch) as prism:
                    code = SX(len(self.against) + len(self.each_other) + len(self.beside_points))
                    where = (
                        (self.pair, code),
                        (self.row, row.number),
                        (self.other_row, prism.number),
                    )
                    whose = ((self.body, body["body"]), (self.other_body, SX(NOBODY)))
                    carried = (*where, *whose, (self.obstacle, prism["obstacle"]))
                    self._compare("sphere", shape, "prism", columns_of("prism", prism), carried)

    def _shapes_against_points(self, body: Row, cluster: Row, end: str = "") -> None:
        """Shapes near a cluster against its points, which are spheres of a table of their own."""
        k, placed = self.k, self.placed
        for kind in self.beside_points:
            with placed.shapes_of(kind, body, end) as row:
                shape = casadi.vertsplit(k.value(casadi.vertcat(*placed.shape(kind, row))))
                ball = columns_of("sphere", cluster)
                with k.where(may_be_closer(kind, shape, "sphere", ball, self.distance.x)):
                    with placed.points_of(cluster) as point:
                        code = SX(
                            len(self.against)
                            + len(self.each_other)
                            + self.beside_points.index(kind)
                        )
                        where = (
                            (self.pair, code),
                            (self.row, row.number),
                            (self.other_row, point.number),
                        )
                        whose = ((self.body, body["body"]), (self.other_body, SX(NOBODY)))
                        carried = (*where, *whose, (self.obstacle, point["obstacle"]))
                        self._compare(kind, shape, "sphere", columns_of("sphere", point), carried)

    def _shapes_against(
        self, body: Row, kind: str, other_kind: str, other: list[SX], obstacle: Row
    ) -> None:
        with self.placed.shapes_of(kind, body) as row:
            shape = self.placed.shape(kind, row)
            who = (
                (self.body, body["body"]),
                (self.other_body, SX(NOBODY)),
                (self.obstacle, obstacle["obstacle"]),
            )
            code = SX(self.against.index((kind, other_kind)))
            where = ((self.pair, code), (self.row, row.number), (self.other_row, obstacle.number))
            self._compare(kind, shape, other_kind, other, (*where, *who))

    def pairs(self) -> None:
        k, placed = self.k, self.placed
        with k.rows(placed.tables["pairs"]) as pair:
            a, b, reach, radius = placed.bounds_of(pair)
            way, reach = a - b, casadi.fmax(reach + self.distance.x, 0.0)
            with k.where(casadi.dot(way, way) < reach * reach):
                bound = [*casadi.vertsplit(b), radius]
                for kind in dict.fromkeys(a for a, _ in self.each_other):
                    self._shapes_with_each_other(pair, kind, bound)

    def _shapes_with_each_other(self, pair: Row, kind: str, bound: list[SX]) -> None:
        """Shapes of one kind of body a, each first against the bounding sphere of body b."""
        k, placed = self.k, self.placed
        who = (
            (self.body, pair["a_number"]),
            (self.other_body, pair["b_number"]),
            (self.obstacle, SX(NOBODY)),
        )
        with placed.shapes_of(kind, pair, "a_") as row:
            shape = casadi.vertsplit(k.value(casadi.vertcat(*placed.shape(kind, row))))
            near = (
                may_be_closer("sphere", bound, kind, shape, self.distance.x)
                if has_test("sphere", kind)
                else SX(1)
            )
            with k.where(near):
                for other_kind in (b for a, b in self.each_other if a == kind):
                    with placed.shapes_of(other_kind, pair, "b_") as other_row:
                        code = SX(len(self.against) + self.each_other.index((kind, other_kind)))
                        where = (
                            (self.pair, code),
                            (self.row, row.number),
                            (self.other_row, other_row.number),
                        )
                        other = placed.shape(other_kind, other_row)
                        self._compare(kind, shape, other_kind, other, (*where, *who))

    def _compare(
        self, kind: str, shape: list[SX], other_kind: str, other: list[SX], carried: tuple
    ) -> None:
        """The distance itself only where a test without a root leaves it open."""
        k = self.k
        if not has_test(kind, other_kind):
            k.least(self.distance, nearest(kind, shape, other_kind, other).distance, *carried)
            return
        with k.where(may_be_closer(kind, shape, other_kind, other, self.distance.x)):
            k.least(self.distance, nearest(kind, shape, other_kind, other).distance, *carried)

    def points(self) -> tuple[Any, Any, Any]:
        """(point, other point, normal) of the pair that was found, each lane its own."""
        k = self.k
        point, other_point, normal = (k.variable(3) for _ in range(3))
        cases = [(kind, other, f"other_{other}") for kind, other in self.against]
        cases += [(kind, other, "") for kind, other in self.each_other]
        cases += [(kind, "sphere", "cloud_points") for kind in self.beside_points]
        cases += [("sphere", "prism", "ground_prisms")] if self.spheres else []
        for code, (kind, other_kind, obstacles) in enumerate(cases):
            with k.where(casadi.eq(self.pair.x, code)):
                shape = self._chosen(kind, self.row)
                if obstacles:
                    table = self.placed.tables[obstacles]
                    parts = [
                        k.look_up(table, self.other_row, name)
                        for name, _ in SHAPE_COLUMNS[other_kind]
                    ]
                    other = casadi.vertsplit(casadi.vertcat(*parts))
                else:
                    other = self._chosen(other_kind, self.other_row)
                answer: Nearest = nearest(kind, shape, other_kind, other)
                k.assign(point, answer.point)
                k.assign(other_point, answer.other_point)
                k.assign(normal, answer.normal)
        return point, other_point, normal

    def _chosen(self, kind: str, row: Any) -> list[SX]:
        """World columns of the shape of the robot that each lane chose."""
        k = self.k
        moved = k.pick(self.placed.tiles[kind], row)
        if self.placed.live:
            return casadi.vertsplit(moved)
        table = self.placed.tables[f"robot_{kind}"]
        fixed = [
            k.look_up(table, row, name) for name, _ in SHAPE_COLUMNS[kind] if name not in MOVING
        ]
        return [*casadi.vertsplit(moved), *casadi.vertsplit(casadi.vertcat(*fixed))]


def gradient(
    placed: Placed,
    least: Least,
    partner: Variable,
    columns: SX,
    moved: list,
    point: SX,
    other_point: SX,
    normal: SX,
) -> SX:
    """Of the distance by the independent velocities (nv, 1); see the first lines of this file."""
    k, bodies = placed.k, placed.tables["bodies"]
    node = k.look_up(bodies, least.body, "node_number")
    other = k.look_up(bodies, partner, "node_number")
    torque, other_torque = cross(point, normal), cross(other_point, normal)
    tree_gradient = [SX(0)] * placed.kinematics.tree.nv
    for j, (column, first, last) in enumerate(moved):
        c, w = columns[0:3, j], columns[3:6, j]
        mine = (node >= first) * (node <= last)
        its = (other >= first) * (other <= last) * (least.other_body.x >= 0)
        along = casadi.dot(normal, c)
        tree_gradient[column] = its * (along + casadi.dot(w, other_torque)) - mine * (
            along + casadi.dot(w, torque)
        )
    return placed.kinematics.independent(casadi.vertcat(*tree_gradient))


def recipe(subject: Subject, layout: TileLayout, k: Stages) -> None:
    placed = Placed(k, layout, subject)
    columns, moved = placed.with_columns()
    least = Least(placed)
    least.obstacles()
    least.pairs()
    point, other_point, normal = least.points()
    slope = k.variable(subject.nv)
    # a lane without an other body looks up body 0 and does not use it
    partner = k.variable()
    k.assign(partner, casadi.fmax(least.other_body.x, 0))
    with k.where(least.pair.x >= 0):
        if moved:
            k.assign(
                slope,
                gradient(placed, least, partner, columns, moved, point.x, other_point.x, normal.x),
            )
    for name in ("distance", "body", "other_body", "obstacle"):
        k.output(name, getattr(least, name))
    k.output("point", point)
    k.output("other_point", other_point)
    k.output("normal", normal)
    k.output("gradient", slope)


def kernel_of(tables: RobotTables) -> StagedKernel:
    ones = ("distance", "body", "other_body", "obstacle")
    threes = ("point", "other_point", "normal")
    outputs = (
        *((name, 1) for name in ones),
        *((name, 3) for name in threes),
        ("gradient", tables.subject.nv),
    )
    return tables.kernel(recipe, "clearance", outputs, OPERATIONS)


def clearance(
    tables: RobotTables,
    q: Any,
    obstacles: Any = None,
    variables: Mapping[str, Any] | None = None,
    rest: Rest | None = None,
) -> Clearance:
    """The nearest pair of configurations (..., nq) and the gradient of its distance;
    `rest` pairs go to coal."""
    subject = tables.subject
    values = [np.asarray(x, dtype=float)[..., None] for x in subject.variable_values(variables)]
    results = kernel_of(tables)((q, *values), tables.pack(obstacles), context=context_of(subject))
    distance, body, other_body, obstacle, *vectors, slope = results
    others = (*tables.bodies, *tables.names(obstacles))
    other = np.where(other_body >= 0, other_body, obstacle + len(tables.bodies))
    other = np.where(body < 0, NOBODY, other)
    distance = np.where(distance >= FAR, np.inf, distance)
    point, other_point, normal = vectors
    slope = slope.reshape(*distance.shape, subject.nv)
    numbered = (distance, body.astype(np.int64), other.astype(np.int64))
    answer = _clearance(numbered, (point, other_point, normal), slope, tables.bodies, others)
    return _named(_with_rest(subject, answer, q, rest) if rest else answer)


def of_one(tables: RobotTables, obstacles: Any, results: Sequence[np.ndarray]) -> Clearance:
    """The answer of the kernel's results for one configuration."""
    bodies = tables.bodies
    others = (*bodies, *tables.names(obstacles))
    distance, *indices = map(float, results[:4])
    body, other_body, obstacle = map(int, indices)
    point, other_point, normal, slope = results[4:]
    if body < 0:
        names: tuple[str | None, str | None] = (None, None)
    else:
        names = bodies[body], others[other_body if other_body >= 0 else obstacle + len(bodies)]
    if distance >= FAR:
        distance = math.inf
    slope = slope.reshape(-1)
    return Clearance(distance, *names, point, other_point, normal, slope, bodies, others)


def _named(answer: Clearance) -> Clearance:
    """A single configuration gets names in the place of indices."""
    if np.ndim(answer.distance):
        return answer
    k, other = int(answer.body), int(answer.other)
    names: dict[str, Any] = {"body": None, "other": None}
    if k >= 0:
        names = {"body": answer.bodies[k], "other": answer.others[other]}
    return replace(answer, distance=float(answer.distance), **names)


def _with_rest(subject: Subject, answer: Clearance, q: Any, rest: Rest) -> Clearance:
    """The same with pairs that go to coal: where one of them is nearer it takes the place."""
    shape = np.shape(answer.distance)
    rows = np.broadcast_to(np.asarray(q, dtype=float), (*shape, subject.nq)).reshape(-1, subject.nq)
    parts = tuple(dict.fromkeys([*answer.bodies, *(left.part for left in rest.left)]))
    others = tuple(dict.fromkeys([*parts, *answer.others, *(left.other for left in rest.left)]))
    place = np.array([*(others.index(name) for name in answer.others), NOBODY], dtype=np.int64)
    distance = np.array(answer.distance, dtype=float).reshape(-1)
    body, other = np.array(answer.body).reshape(-1), place[np.ravel(answer.other)]
    vectors = [
        np.array(x).reshape(-1, 3) for x in (answer.point, answer.other_point, answer.normal)
    ]
    slope = np.array(answer.gradient).reshape(-1, subject.nv)
    for k, row in enumerate(rows):
        nearer = rest.nearest(row, distance[k])
        if nearer is None:
            continue
        distance[k], left, points = nearer[0], nearer[1], nearer[2:]
        body[k], other[k] = parts.index(left.part), others.index(left.other)
        for array, value in zip(vectors, points, strict=True):
            array[k] = value
        slope[k] = rest.gradient(row, left, *points)
    numbered = (distance.reshape(shape), body.reshape(shape), other.reshape(shape))
    shaped = [x.reshape(*shape, 3) for x in vectors]
    return _clearance(numbered, shaped, slope.reshape(*shape, subject.nv), parts, others)


def _clearance(
    numbered: Sequence[np.ndarray],
    vectors: Sequence[np.ndarray],
    slope: np.ndarray,
    bodies: tuple[str, ...],
    others: tuple[str, ...],
) -> Clearance:
    """(distance, body, other) and (point, other point, normal) in their places."""
    distance, body, other = numbered
    point, other_point, normal = vectors
    return Clearance(distance, body, other, point, other_point, normal, slope, bodies, others)
