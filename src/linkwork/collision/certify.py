"""Certificates: straight motions proved free, or found to touch,
over their whole length and not only at samples.

A point of a shape s moves at most m_s = sum_j R_sj |v_j| along the motion q0 (+) t v, t from 0 to
1, with R_sj a bound of its distance from the axis of joint j (sliding joints: 1). So a sample at t
whose shapes, grown by m_s h, touch nothing proves the interval t - h .. t + h; between bodies of
the robot only joints count that move one of the two. Where it proves less, it proves the smaller
interval for which it suffices, and what is left on both sides is asked again. Distances of floats
count less their margin, so that the proof holds for exact numbers.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import casadi
import numpy as np
from casadi import SX

from linkwork.collision.distances import nearest
from linkwork.collision.kinematics import GUARD, has_quaternions
from linkwork.collision.live import ball, ball_around, reaches, strokes
from linkwork.collision.motions import difference
from linkwork.collision.proving import Proofs, run_all
from linkwork.collision.proving_by_coal import CoalProofs
from linkwork.collision.rest import Rest
from linkwork.collision.sweeps import sweep_tables, sweeps
from linkwork.collision.tables import RobotTables
from linkwork.collision.tile import OBSTACLE_KINDS, Placed, TileLayout, columns_of, in_pairs
from linkwork.collision.touching import has_test, may_be_closer, near_patch
from linkwork.engine.staged import StagedKernel
from linkwork.engine.stages import Row, Stages
from linkwork.errors import InvalidInput
from linkwork.formats.tabular import Tabular
from linkwork.results import short_repr
from linkwork.spatial import Transform
from linkwork.subject import Subject

Variables: TypeAlias = Mapping[str, Any] | None

OPERATIONS = 6_000
CAP = 0.05  # [m] clearances beyond are not measured
FIRST = 1.0 / 8.0  # length of the first intervals [rad and m]


@short_repr
@dataclass(frozen=True)
class Certificate(Tabular, rows="free"):
    """What is proved about straight motions (...).

    free        no point of the motion touches anything: proved
    collides    it touches, at the sample `at`
    undecided   neither (less than 1e-3 of motions; those that graze something)
    clearance   a lower bound [m] of the distance along the whole motion, at most `cap`; negative or
                0 where not free
    at          parameter 0 .. 1 of the first sample found to touch; all before is free but for
                1e-3; NaN where none
    samples     configurations that were looked at
    """

    free: Any
    collides: Any
    undecided: Any
    clearance: Any
    at: Any
    samples: Any


class Grown:
    """Distances of a tile less what its shapes can move: least `bound`, `radius` it proves,
    and `near` itself."""

    def __init__(self, placed: Placed, speeds: SX, half: SX) -> None:
        self.placed, self.k, self.speeds, self.half = placed, placed.k, speeds, half
        self.margin = placed.numbers["margin"]
        k = self.k
        self.bound = k.variable(start=1e3)
        self.near = k.variable(start=1e3)
        self.radius = k.variable(start=1e3)
        self.kinds = [kind for kind, _ in placed.layout.kinds]

    def start(self, cap: SX) -> None:
        self.k.assign(self.bound, cap)
        self.k.assign(self.near, cap)

    def place_live(self, q: SX, v: SX) -> None:
        """With live variables: how far every shape and body moves, as expressions;
        q and v of the tree."""
        k, placed = self.k, self.placed
        tree, nv = placed.kinematics.tree, placed.kinematics.tree.nv
        self.moves = {kind: k.tile(f"moves_{kind}", room, 1) for kind, room in placed.layout.kinds}
        self.reaches = k.tile("reaches", placed.layout.bodies, nv)
        stroke, here = strokes(tree, q, v), [Transform(SX.eye(3), SX.zeros(3))] * len(tree.nodes)
        rows = dict.fromkeys(self.moves, 0)
        for body, part in enumerate(placed.layout.parts):
            node, balls = tree.bodies[part.carrier][0], []
            for kind, columns in part.placed(placed.kinematics.model, tree, here):
                balls.append(ball(kind, columns))
                reach = casadi.vertcat(*reaches(tree, node, balls[-1], stroke)) * (1.0 + 1e-5)
                k.put(self.moves[kind], rows[kind], casadi.dot(reach, self.speeds), exact=True)
                rows[kind] += 1
            whole = casadi.vertcat(*reaches(tree, node, ball_around(balls), stroke)) * (1.0 + 1e-5)
            k.put(self.reaches, body, casadi.densify(whole), exact=True)

    def _moved(self, row: Row, table: str) -> SX:
        """How far a shape, body or pair moves along the motion; never zero: it divides."""
        k = self.k
        is_kept = not self.placed.live or "pairs" in table
        beside = row.beside(self.placed.tables[table]) if is_kept else None
        if beside is not None and not self.placed.live:
            return casadi.fmax(casadi.dot(beside["reach"], self.speeds), 1e-12)
        if beside is not None:  # joints that move only one of the two have a one there
            both = k.get(self.reaches, row.whole("a")) + k.get(self.reaches, row.whole("b"))
            return casadi.fmax(casadi.dot(beside["reach"] * both, self.speeds), 1e-12)
        if table == "sweep_movable":
            return casadi.fmax(
                casadi.dot(k.get(self.reaches, row.whole("row")), self.speeds), 1e-12
            )
        return casadi.fmax(k.get(self.moves[table.removeprefix("sweep_")], row.whole("row")), 1e-12)

    def _margin(self, moved: SX) -> SX:
        # who is left out neither lowers the bound nor is nearer than who is not:
        # `near` stands for all
        proved = moved * self.half + casadi.fmax(self.bound.x, 0.0)
        return casadi.fmax(proved, self.near.x) + self.margin

    def obstacles(self) -> None:
        k, placed = self.k, self.placed
        with k.rows(placed.tables["movable"]) as body:
            center, radius = placed.bound(body)
            bound = [*casadi.vertsplit(center), radius]
            moved = k.value(self._moved(body, "sweep_movable"))
            beyond = (
                casadi.mmax(casadi.fabs(center)) + (radius if placed.live else 0.0)
                > placed.numbers["largest"]
            )
            k.assign(self.near, -1.0, beyond)
            base = placed.numbers["base"]
            reach = k.value(casadi.norm_2(center - base) + radius)
            for kind in OBSTACLE_KINDS:
                with k.rows(placed.tables[f"other_{kind}"]) as obstacle:
                    margin = self._margin(moved)
                    k.leave(obstacle["away"] > reach + margin)
                    other = columns_of(kind, obstacle)
                    with k.where(may_be_closer("sphere", bound, kind, other, margin)):
                        for own in self.kinds:
                            if in_pairs(own, kind):
                                self._shapes_against(body, own, kind, other)
            with placed.clusters_near(bound, lambda: self._margin(moved)) as cluster:
                self._shapes_against_points(body, cluster)
            if "sphere" in self.kinds:
                with placed.patches_near(bound, lambda: self._margin(moved)) as patch:
                    self._spheres_against_ground(body, patch)

    def _spheres_against_ground(self, body: Row, patch: Row) -> None:
        k, placed = self.k, self.placed
        with placed.shapes_of("sphere", body) as row:
            moved = k.value(self._moved(row, "sweep_sphere"))
            shape = casadi.vertsplit(k.value(casadi.vertcat(*placed.shape("sphere", row))))
            with k.where(
                near_patch(shape, patch["low"], patch["high"], patch["top"], self._margin(moved))
            ):
                with placed.prisms_of(patch) as prism:
                    self._compare("sphere", shape, "prism", columns_of("prism", prism), moved)

    def _shapes_against_points(self, body: Row, cluster: Row) -> None:
        k, placed = self.k, self.placed
        for kind in (each for each in self.kinds if in_pairs(each, "sphere")):
            with placed.shapes_of(kind, body) as row:
                moved = k.value(self._moved(row, f"sweep_{kind}"))
                shape = casadi.vertsplit(k.value(casadi.vertcat(*placed.shape(kind, row))))
                ball = columns_of("sphere", cluster)
                with k.where(may_be_closer(kind, shape, "sphere", ball, self._margin(moved))):
                    with placed.points_of(cluster) as point:
                        self._compare(kind, shape, "sphere", columns_of("sphere", point), moved)

    def _shapes_against(self, body: Row, kind: str, other_kind: str, other: list[SX]) -> None:
        with self.placed.shapes_of(kind, body) as row:
            moved = self._moved(row, f"sweep_{kind}")
            self._compare(kind, self.placed.shape(kind, row), other_kind, other, moved)

    def pairs(self) -> None:
        k, placed = self.k, self.placed
        with k.rows(placed.tables["pairs"]) as pair:
            a, b, both, radius = placed.bounds_of(pair)
            moved = k.value(self._moved(pair, "sweep_pairs"))
            way, reach = a - b, both + self._margin(moved)
            with k.where(casadi.dot(way, way) < reach * reach):
                bound = [*casadi.vertsplit(b), radius]
                for kind in self.kinds:
                    others = [other for other in self.kinds if in_pairs(kind, other)]
                    with placed.shapes_of(kind, pair, "a_") as row:
                        shape = casadi.vertsplit(k.value(casadi.vertcat(*placed.shape(kind, row))))
                        near = SX(1)
                        if has_test("sphere", kind):
                            near = may_be_closer("sphere", bound, kind, shape, self._margin(moved))
                        with k.where(near):
                            for other_kind in others:
                                with placed.shapes_of(other_kind, pair, "b_") as other_row:
                                    other = placed.shape(other_kind, other_row)
                                    self._compare(kind, shape, other_kind, other, moved)

    def _compare(
        self, kind: str, shape: list[SX], other_kind: str, other: list[SX], moved: SX
    ) -> None:
        k = self.k
        near = SX(1)
        if has_test(kind, other_kind):
            near = may_be_closer(kind, shape, other_kind, other, self._margin(moved))
        with k.where(near):
            distance = k.value(nearest(kind, shape, other_kind, other).distance - self.margin)
            k.least(self.near, distance)
            k.least(self.bound, distance - moved * self.half)
            k.least(self.radius, distance / moved)
            k.finish(self.near.x < -2 * self.margin)


def recipe(subject: Subject, layout: TileLayout, k: Stages) -> None:
    more = (("v", subject.nv), ("interval", 2))
    placed = Placed(k, layout, subject, *more, tables=sweep_tables(layout, subject))
    v, (t, half) = placed.inputs["v"], casadi.vertsplit(placed.inputs["interval"])
    placed.guard(placed.kinematics.coordinates(placed.q))
    speeds = k.value(casadi.fabs(placed.kinematics.velocities(v)), exact=True)
    placed.place(placed.kinematics.along(placed.q, t * v))
    grown = Grown(placed, speeds, half)
    if placed.live:
        grown.place_live(placed.kinematics.coordinates(placed.q), placed.kinematics.velocities(v))
    grown.start(k.row(placed.tables["certificate"])["cap"])
    grown.obstacles()
    grown.pairs()
    k.output("bound", grown.bound)
    k.output("near", grown.near)
    k.output("radius", grown.radius)


def kernel_of(tables: RobotTables) -> StagedKernel:
    inputs = (("v", tables.subject.nv), ("interval", 2))
    more = sweep_tables(tables.layout, tables.subject)
    outputs = (("bound", 1), ("near", 1), ("radius", 1))
    return tables.kernel(recipe, "certify_motion", outputs, OPERATIONS, inputs, more, floats=True)


def proofs_of(
    tables: RobotTables,
    q0: Any,
    q1: Any,
    obstacles: Any,
    cap: float = CAP,
    variables: Variables = None,
) -> tuple[Proofs, tuple[int, ...]]:
    """Proofs of straight motions q0 to q1 (..., nq) that wait to be run,
    and the shape of their batch."""
    subject = tables.subject
    if not cap > 0.0:
        raise InvalidInput(f"certify_motion: cap is {cap:g} m, expected a positive length")
    start, v = difference(subject, q0, q1, "certify_motion")
    values = [np.asarray(x, dtype=float) for x in subject.variable_values(variables)]
    try:
        batch = np.broadcast_shapes(start.shape[:-1], *(x.shape for x in values))
    except ValueError:
        shown = ", ".join(str(x.shape) for x in values)
        raise InvalidInput(
            f"certify_motion: q0 {start.shape} and variables {shown} do not broadcast"
        ) from None
    starts = np.broadcast_to(start, (*batch, subject.nq)).reshape(-1, subject.nq)
    ways = np.broadcast_to(v, (*batch, subject.nv)).reshape(-1, subject.nv)
    designs = [np.broadcast_to(x, batch).reshape(-1, 1) for x in values]
    packed = tables.pack(obstacles) + sweeps(tables, starts, ways, cap)
    return Proofs(kernel_of(tables), packed, (starts, ways, *designs), cap, FIRST), batch


def certify_motion(
    tables: RobotTables,
    q0: Any,
    q1: Any,
    obstacles: Any,
    cap: float,
    variables: Variables,
    rest: Rest | None,
) -> Certificate:
    """Prove straight motions q0 to q1 (..., nq) free, or find where they touch;
    see the first lines of this file.

    `rest` pairs of shapes go to coal (proving_by_coal.py).
    """
    proofs, batch = proofs_of(tables, q0, q1, obstacles, cap, variables)
    proofs.run()
    _refuse_bad(tables, proofs)
    if rest:
        _prove_rest(proofs, rest, cap)
    return _certificate(proofs, batch)


def _prove_rest(proofs: Proofs, rest: Rest, cap: float) -> None:
    """What coal says of the same motions, up to where they are known to touch."""
    by_coal = CoalProofs(rest, proofs.starts, proofs.ways, cap, FIRST)
    for k, at in enumerate(proofs.at):
        outcome = by_coal.outcome(k, 1.0 if np.isnan(at) else float(at))
        proofs.note(k, outcome.clearance, outcome.at, outcome.undecided, outcome.samples)


def _refuse_bad(tables: RobotTables, proofs: Proofs) -> None:
    """A motion without result is one of a wrong input."""
    if proofs.bad >= 0:
        guard = (
            GUARD
            if has_quaternions(tables.subject)
            else "a result was not finite although the input is"
        )
        raise InvalidInput(f"certify_motion: motion {proofs.bad}: {guard}")


def _certificate(proofs: Proofs, batch: tuple[int, ...]) -> Certificate:
    """What proofs that have run say."""
    collides = ~np.isnan(proofs.at)
    undecided = proofs.undecided & ~collides
    free = ~collides & ~undecided
    clearance = np.where(free, proofs.clearance, np.minimum(proofs.clearance, 0.0))
    parts = (free, collides, undecided, clearance, proofs.at, proofs.samples)
    return Certificate(*(x.reshape(batch) if batch else x[0] for x in parts))


def many_certificates(model: Any, paths: Sequence[tuple[np.ndarray, Any]]) -> list[Certificate]:
    """Certificates of the motions of many paths (m, nq), each among obstacles of its own,
    side by side on threads."""
    proofs = [proofs_of(model.tables, path[:-1], path[1:], obstacles) for path, obstacles in paths]
    run_all([several for several, _ in proofs])
    for (several, _), (_, obstacles) in zip(proofs, paths, strict=True):
        _refuse_bad(model.tables, several)
        if rest := model._rest(obstacles, "certify_motion"):
            _prove_rest(several, rest, CAP)
    return [_certificate(several, batch) for several, batch in proofs]
