"""Tile: what a tile of configurations does to its shapes, in stages over tables (engine/stages.py).

    place       poses of the bodies (in doubles), then of every shape and of a bounding sphere of
                every body
    obstacles   for each moving body and each obstacle: is the bounding sphere near in any lane?
                then each shape
    pairs       for each pair of bodies: are the bounding spheres near in any lane? then each pair
                of shapes

Code grows with the kinematics and the kinds of shapes; how many shapes, pairs and obstacles there
are is known when it runs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import casadi
from casadi import SX

from linkwork.collision.columns import DIRECTIONS, MOVING, POINTS, ROTATIONS, SHAPE_COLUMNS
from linkwork.collision.distances import PAIRS
from linkwork.collision.kinematics import Kinematics
from linkwork.collision.live import LivePart, ball, ball_around
from linkwork.collision.touching import has_test, may_be_closer, near_patch
from linkwork.engine.stages import Row, Stages, Table, Tile, Whole
from linkwork.spatial import Transform
from linkwork.subject import Subject

ROBOT_KINDS = ("sphere", "capsule", "tapered_capsule", "box", "cylinder")


def in_kernel(kind: str, other: str) -> bool:
    """Whether there is an expression for this pair of kinds."""
    return in_pairs(kind, other) or has_test(kind, other)


def in_pairs(kind: str, other: str) -> bool:
    """Whether there is a signed distance with nearest points for this pair of kinds."""
    return (kind, other) in PAIRS or (other, kind) in PAIRS or (kind, other) == ("sphere", "prism")


OBSTACLE_KINDS = tuple(
    kind for kind in SHAPE_COLUMNS if kind != "prism" and in_kernel("sphere", kind)
)


_BALL = SHAPE_COLUMNS["sphere"]
CLOUD_TABLES = (
    Table("cloud_points", (*_BALL, ("obstacle", 1))),
    Table("cloud_clusters", _BALL, ("first", "count")),
    Table("cloud_groups", _BALL, ("first", "count")),
)
"""Points of clouds as a tree of balls (clusters.py)."""
_PATCH = (("low", 2), ("high", 2), ("top", 1))
GROUND_TABLES = (
    Table("ground_prisms", (*SHAPE_COLUMNS["prism"], ("obstacle", 1))),
    Table("ground_patches", _PATCH, ("first", "count")),
    Table("ground_groups", _PATCH, ("first", "count")),
)
"""Prisms of height fields in patches (ground.py)."""
FIELD_TABLES = (*CLOUD_TABLES, *GROUND_TABLES)


@dataclass(frozen=True)
class TileLayout:
    """What the code depends on besides the robot: nodes that carry shapes, kinds,
    and for how many there is room."""

    kinds: tuple[tuple[str, int], ...]  # (kind, room for so many)
    bodies: int
    nodes: tuple[int, ...]
    live: tuple[str, ...] = ()
    parts: tuple[LivePart, ...] = ()  # with live variables: every shape, in the order of the tables

    @property
    def tables(self) -> tuple[Table, ...]:
        ranges = [f"{end}_{kind}" for kind, _ in self.kinds for end in ("first", "count")]
        both = [f"{body}_{r}" for body in ("a", "b") for r in ranges]
        return (
            Table("margins", (("margin", 1), ("largest", 1), ("base", 3))),
            Table(
                "bodies",
                (("center", 3), ("radius", 1), ("node_number", 1)),
                ("row", "node", *ranges),
            ),
            Table("movable", (("radius", 1), ("body", 1)), ("row", "node", *ranges)),
            Table(
                "pairs",
                (("reach", 1), ("b_radius", 1), ("a_number", 1), ("b_number", 1)),
                ("a", "b", *both),
            ),
            *(
                Table(f"robot_{k}", SHAPE_COLUMNS[k], ("row", "node", "body"))
                for k, _ in self.kinds
            ),
            *(
                Table(f"other_{k}", (*SHAPE_COLUMNS[k], ("away", 1), ("obstacle", 1)))
                for k in OBSTACLE_KINDS
            ),
            *FIELD_TABLES,
        )

    def inputs(self, subject: Subject, *more: tuple[str, int]) -> tuple[tuple[str, int], ...]:
        return (("q", subject.nq), *more, *((f"variables[{v!r}]", 1) for v in self.live))


class Placed:
    """The shapes of the robot where they are: tiles that tables choose rows of."""

    def __init__(
        self,
        k: Stages,
        layout: TileLayout,
        subject: Subject,
        *more: tuple[str, int],
        tables: tuple[Table, ...] = (),
    ) -> None:
        """`more`: further inputs (name, size); `tables`: further tables."""
        self.k, self.layout, self.subject = k, layout, subject
        self.inputs = {name: k.input(name, size) for name, size in layout.inputs(subject, *more)}
        self.q = self.inputs["q"]
        self.kinematics = Kinematics(
            subject, {v: self.inputs[f"variables[{v!r}]"] for v in layout.live}
        )
        self.tables: dict[str, Table] = {}
        for t in (*layout.tables, *tables):
            self.tables[t.name] = k.table(t.name, dict(t.columns), t.whole)
        self.poses = k.tile("poses", len(layout.nodes), 12)
        self.live = bool(layout.live)
        self.bounds = k.tile("bounds", layout.bodies, 4 if self.live else 3)
        widths = {kind: columns(kind) if self.live else moving(kind) for kind, _ in layout.kinds}
        self.tiles: dict[str, Tile] = {
            kind: k.tile(f"tile_{kind}", room, widths[kind]) for kind, room in layout.kinds
        }
        self.numbers = k.row(self.tables["margins"])

    def place(self, q_tree: SX) -> list[Transform]:
        """Poses of the nodes, in doubles; then everything that sits on them."""
        k = self.k
        T = self.kinematics.poses(q_tree, self.layout.nodes)
        if self.live:
            self._place_live(T)
            return T
        for row, node in enumerate(self.layout.nodes):
            rotation = [T[node].R[i, j] for i in range(3) for j in range(3)]
            k.put(self.poses, row, casadi.vertcat(*rotation, T[node].p), exact=True)
        with k.rows(self.tables["bodies"]) as body:
            pose = k.value(k.get(self.poses, body.whole("node")))
            k.put(self.bounds, body.whole("row"), _at(pose, body["center"]))
            for kind, _ in self.layout.kinds:
                with self.shapes_of(kind, body) as shape:
                    k.put(self.tiles[kind], shape.whole("row"), _moved(pose, kind, shape))
        return T

    def _place_live(self, T: list[Transform]) -> None:
        """Every shape as an expression of its own."""
        k, rows = self.k, dict.fromkeys((kind for kind, _ in self.layout.kinds), 0)
        for body, part in enumerate(self.layout.parts):
            balls = []
            for kind, world in part.placed(self.kinematics.model, self.kinematics.tree, T):
                k.put(self.tiles[kind], rows[kind], casadi.vertcat(*world), exact=True)
                rows[kind] += 1
                balls.append(ball(kind, world))
            k.put(self.bounds, body, casadi.vertcat(*ball_around(balls)), exact=True)

    def bound(self, row: Row) -> tuple[SX, SX]:
        """(center, radius) of the bounding sphere of the body of a row."""
        ball = self.k.value(self.k.get(self.bounds, row.whole("row")))
        return (ball[0:3], ball[3]) if self.live else (ball, row["radius"])

    def bounds_of(self, pair: Row) -> tuple[SX, SX, SX, SX]:
        """(centers of a and b, sum of the radii, radius of b) of the spheres of a pair."""
        a, b = (self.k.value(self.k.get(self.bounds, pair.whole(end))) for end in ("a", "b"))
        if self.live:
            return a[0:3], b[0:3], a[3] + b[3], b[3]
        return a, b, pair["reach"], pair["b_radius"]

    def with_columns(self) -> tuple[SX, list[tuple[int, int, int]]]:
        """Everything guarded and placed at q, and how it moves:
        columns of every moving coordinate (`Kinematics`)."""
        q_tree = self.kinematics.coordinates(self.q)
        self.guard(q_tree)
        T = self.place(q_tree)
        columns, moved = self.kinematics.columns(T)
        return self.k.value(columns, exact=True) if moved else columns, moved

    def guard(self, q_tree: SX) -> None:
        guards = self.kinematics.guards(q_tree)
        if guards.numel():
            self.k.guard(guards)

    def shape(self, kind: str, row: Row) -> list[SX]:
        """World columns of a robot's shape: what moves from its tile, the rest its row."""
        moved = casadi.vertsplit(self.k.get(self.tiles[kind], row.whole("row")))
        if self.live:
            return moved
        fixed = [row[name] for name, _ in SHAPE_COLUMNS[kind] if name not in MOVING]
        return [*moved, *casadi.vertsplit(casadi.vertcat(*fixed))]

    @contextmanager
    def shapes_of(self, kind: str, owner: Row, end: str = "") -> Iterator[Row]:
        """For each shape of this kind of a body (a row with ranges),
        or of body `a_` or `b_` of a pair."""
        first, count = owner.whole(f"{end}first_{kind}"), owner.whole(f"{end}count_{kind}")
        with self.k.rows(self.tables[f"robot_{kind}"], first, count) as row:
            yield row

    @contextmanager
    def clusters_near(
        self, bound: list[SX], margin: Callable[[], SX], *groups: Whole
    ) -> Iterator[Row]:
        """For each cluster of points whose ball is nearer to a bounding sphere than a margin in any
        lane.

        `groups`: first and count of the groups to look at; left out: all.
        """
        k, tables = self.k, self.tables
        with k.rows(tables["cloud_groups"], *groups) as group:
            with k.where(
                may_be_closer("sphere", bound, "sphere", columns_of("sphere", group), margin())
            ):
                first, count = group.whole("first"), group.whole("count")
                with k.rows(tables["cloud_clusters"], first, count) as cluster:
                    ball = columns_of("sphere", cluster)
                    with k.where(may_be_closer("sphere", bound, "sphere", ball, margin())):
                        yield cluster

    @contextmanager
    def points_of(self, cluster: Row) -> Iterator[Row]:
        """For each point of a cluster."""
        first, count = cluster.whole("first"), cluster.whole("count")
        with self.k.rows(self.tables["cloud_points"], first, count) as point:
            yield point

    @contextmanager
    def patches_near(
        self, bound: list[SX], margin: Callable[[], SX], *groups: Whole
    ) -> Iterator[Row]:
        """For each patch of ground that may be nearer to a bounding sphere than a margin in any
        lane; see above."""
        k, tables = self.k, self.tables
        with k.rows(tables["ground_groups"], *groups) as group:
            with k.where(near_patch(bound, group["low"], group["high"], group["top"], margin())):
                with k.rows(
                    tables["ground_patches"], group.whole("first"), group.whole("count")
                ) as patch:
                    with k.where(
                        near_patch(bound, patch["low"], patch["high"], patch["top"], margin())
                    ):
                        yield patch

    @contextmanager
    def prisms_of(self, patch: Row) -> Iterator[Row]:
        """For each prism of a patch."""
        with self.k.rows(
            self.tables["ground_prisms"], patch.whole("first"), patch.whole("count")
        ) as prism:
            yield prism


def columns(kind: str) -> int:
    """How many numbers a shape of this kind has."""
    return sum(size for _, size in SHAPE_COLUMNS[kind])


def moving(kind: str) -> int:
    """How many numbers of a shape of this kind change with the pose."""
    return sum(size for name, size in SHAPE_COLUMNS[kind] if name in MOVING)


def columns_of(kind: str, row: Row) -> list[SX]:
    """World columns of an obstacle, as its row has them."""
    return casadi.vertsplit(casadi.vertcat(*[row[name] for name, _ in SHAPE_COLUMNS[kind]]))


def _at(pose: SX, point: SX) -> SX:
    """A point of the body in world axes."""
    return casadi.vertcat(
        *[sum((pose[3 * i + j] * point[j] for j in range(3)), pose[9 + i]) for i in range(3)]
    )


def _along(pose: SX, direction: SX) -> SX:
    return casadi.vertcat(
        *[sum((pose[3 * i + j] * direction[j] for j in range(3)), SX(0)) for i in range(3)]
    )


def _moved(pose: SX, kind: str, row: Row) -> SX:
    parts = []
    for name, _ in SHAPE_COLUMNS[kind]:
        if name in POINTS:
            parts.append(_at(pose, row[name]))
        elif name in DIRECTIONS:
            parts.append(_along(pose, row[name]))
        elif name in ROTATIONS:
            axes = [_along(pose, row[name][j::3]) for j in range(3)]
            parts.append(casadi.vertcat(*[axes[j][i] for i in range(3) for j in range(3)]))
    return casadi.vertcat(*parts)
