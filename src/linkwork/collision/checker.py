"""Checker: does a configuration touch itself or the obstacles? One verdict a configuration,
in float lanes.

Sure contact and doubt are told apart by the margin of floats (tables.py); what is in doubt is
decided in doubles.
"""

from __future__ import annotations

from typing import Any

import casadi
import numpy as np
from casadi import SX

from linkwork.collision.tables import RobotTables
from linkwork.collision.tile import OBSTACLE_KINDS, Placed, TileLayout, columns_of, in_kernel
from linkwork.collision.touching import closer, gap, near_patch
from linkwork.engine.staged import StagedKernel
from linkwork.engine.stages import Row, Stages
from linkwork.quantities import context_of
from linkwork.subject import Subject

OPERATIONS = 4_000
"""A configuration of an arm, about: decides from which size on threads share a batch."""


class Touching:
    """Gathers verdicts of a tile: `hit` where something surely touches, `close` where it may."""

    def __init__(self, placed: Placed, any_lane: bool = False) -> None:
        self.placed, self.k, self.any_lane = placed, placed.k, any_lane
        self.margin, self.largest = placed.numbers["margin"], placed.numbers["largest"]
        self.hit, self.close = self.k.variable(), self.k.variable()
        self.spheres = any(kind == "sphere" for kind, _ in placed.layout.kinds)

    def obstacles(self) -> None:
        """Moving bodies against obstacles, nearest to the base first."""
        k, placed = self.k, self.placed
        with k.rows(placed.tables["movable"]) as body:
            center, radius = placed.bound(body)
            bound = [*casadi.vertsplit(center), radius]
            # far from the base the margin of floats would not hold: doubles decide
            beyond = (
                casadi.mmax(casadi.fabs(center)) + (radius if placed.live else 0.0) > self.largest
            )
            k.assign(self.close, 1.0, beyond)
            reach = k.value(casadi.norm_2(center - placed.numbers["base"]) + radius + self.margin)
            for kind in OBSTACLE_KINDS:
                with k.rows(placed.tables[f"other_{kind}"]) as obstacle:
                    k.leave(obstacle["away"] > reach)
                    other = columns_of(kind, obstacle)
                    with k.where(closer("sphere", bound, kind, other, self.margin)):
                        self._shapes_against(body, kind, other)
            with placed.clusters_near(bound, lambda: self.margin) as cluster:
                self._shapes_against_points(body, cluster)
            if self.spheres:
                with placed.patches_near(bound, lambda: self.margin) as patch:
                    self._spheres_against_ground(body, patch)

    def _spheres_against_ground(self, body: Row, patch: Row) -> None:
        """Spheres near a patch against its prisms."""
        k, placed = self.k, self.placed
        with placed.shapes_of("sphere", body) as row:
            shape = casadi.vertsplit(k.value(casadi.vertcat(*placed.shape("sphere", row))))
            with k.where(near_patch(shape, patch["low"], patch["high"], patch["top"], self.margin)):
                with placed.prisms_of(patch) as prism:
                    self._test("sphere", shape, "prism", columns_of("prism", prism))

    def pairs(self) -> None:
        """Bodies against each other."""
        k, placed = self.k, self.placed
        kinds = [kind for kind, _ in placed.layout.kinds]
        with k.rows(placed.tables["pairs"]) as pair:
            a, b, reach, radius = placed.bounds_of(pair)
            way, reach = a - b, reach + self.margin
            with k.where(casadi.dot(way, way) < reach * reach):
                bound = [*casadi.vertsplit(b), radius]
                for kind in kinds:
                    others = [other_kind for other_kind in kinds if in_kernel(kind, other_kind)]
                    if others:
                        self._shapes_with_each_other(pair, kind, bound, others)

    def _shapes_against(self, body: Row, other_kind: str, other: list[SX]) -> None:
        for kind, _ in self.placed.layout.kinds:
            if in_kernel(kind, other_kind):
                with self.placed.shapes_of(kind, body) as row:
                    self._test(kind, self.placed.shape(kind, row), other_kind, other)

    def _shapes_against_points(self, body: Row, cluster: Row) -> None:
        """Shapes near a cluster against its points."""
        k, placed = self.k, self.placed
        for kind, _ in placed.layout.kinds:
            with placed.shapes_of(kind, body) as row:
                shape = casadi.vertsplit(k.value(casadi.vertcat(*placed.shape(kind, row))))
                with k.where(
                    closer(kind, shape, "sphere", columns_of("sphere", cluster), self.margin)
                ):
                    with placed.points_of(cluster) as point:
                        self._test(kind, shape, "sphere", columns_of("sphere", point))

    def _shapes_with_each_other(
        self, pair: Row, kind: str, bound: list[SX], others: list[str]
    ) -> None:
        """Shapes of one kind of body a, each first against the bounding sphere of body b."""
        k, placed = self.k, self.placed
        with placed.shapes_of(kind, pair, "a_") as row:
            shape = casadi.vertsplit(k.value(casadi.vertcat(*placed.shape(kind, row))))
            with k.where(closer("sphere", bound, kind, shape, self.margin)):
                for other_kind in others:
                    with placed.shapes_of(other_kind, pair, "b_") as other_row:
                        self._test(kind, shape, other_kind, placed.shape(other_kind, other_row))

    def _test(self, kind: str, shape: list[SX], other_kind: str, other: list[SX]) -> None:
        k = self.k
        measured = gap(kind, shape, other_kind, other)
        value, reach = casadi.vertsplit(k.value(casadi.vertcat(measured.value, measured.reach)))
        measured = measured._replace(value=value, reach=reach)
        with k.where(measured.below(self.margin)):
            k.assign(self.close, 1.0)
            k.assign(self.hit, 1.0, measured.below(-self.margin))
            k.finish(self.hit.x, any_lane=self.any_lane)


def recipe(subject: Subject, layout: TileLayout, k: Stages) -> None:
    """A configuration a lane; lanes that touch are done."""
    placed = Placed(k, layout, subject)
    q_tree = placed.kinematics.coordinates(placed.q)
    placed.guard(q_tree)
    placed.place(q_tree)
    touching = Touching(placed)
    touching.obstacles()
    touching.pairs()
    k.again(touching.close.x * (1 - touching.hit.x))
    k.output("hit", touching.hit)


def kernel_of(tables: RobotTables) -> StagedKernel:
    """The kernel for a robot and kinds of shapes."""
    return tables.kernel(recipe, "collides", (("hit", 1),), OPERATIONS, floats=True)


def collides(
    tables: RobotTables, q: Any, obstacles: Any = None, variables: Any = None
) -> np.ndarray | np.bool_:
    """Whether configurations (..., nq) touch anything: (...,) bool."""
    subject = tables.subject
    values = [np.asarray(x, dtype=float)[..., None] for x in subject.variable_values(variables)]
    hits = kernel_of(tables)((q, *values), tables.pack(obstacles), context=context_of(subject))
    return hits != 0.0
