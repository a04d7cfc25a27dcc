"""Live shapes: columns of a robot's shapes as expressions of its live variables,
for batches of designs.

A part follows the description (its sizes and placements may depend on the variables) or has shapes
that were given as numbers in axes of its body; bodies behind fixed joints move with the variables
in either case. With live variables every shape is an expression of its own: code grows with their
number, and a design is an input like q.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import casadi
from casadi import SX, fmax, fmin, norm_2, sqrt, vertcat

from linkwork.collision.columns import MOVING, SHAPE_COLUMNS
from linkwork.errors import NotPossible
from linkwork.model import Model
from linkwork.model.tree import Tree
from linkwork.recursions.poses import attached
from linkwork.spatial import Transform
from linkwork.subject import Subject

OUTWARD = 1e-9  # relative and absolute [m], as in packing.py


@dataclass(frozen=True)
class Follows:
    """A part whose shapes are the described ones of its body (`collisions` or `visuals`),
    grown by a padding [m]."""

    field: str
    padding: float = 0.0


@dataclass(frozen=True)
class LivePart:
    """The shapes of a part in axes of the body that carries it: as numbers,
    or as the description has them."""

    carrier: str
    kinds: tuple[str, ...]
    columns: tuple[tuple[float, ...], ...]
    follows: Follows | None = None

    def placed(
        self, model: Model, tree: Tree, T: Sequence[Transform]
    ) -> list[tuple[str, list[SX]]]:
        """(kind, world columns) of each shape, with the traced model,
        its tree and the poses of its nodes."""
        node, T_node_body = tree.bodies[self.carrier]
        T_world_body = attached(T[node], T_node_body)
        if self.follows is None:
            bodies = [[SX(x) for x in columns] for columns in self.columns]
        else:
            described = getattr(model.body(self.carrier), self.follows.field)
            bodies = [described_columns(shape, self.follows.padding) for shape in described]
            bodies = [
                columns
                for kind, columns in zip((s.kind for s in described), bodies)
                if kind in self.kinds
            ]
        return [
            (kind, world_columns(T_world_body, kind, columns))
            for kind, columns in zip(self.kinds, bodies, strict=True)
        ]


def described_columns(shape: Any, padding: float) -> list[SX]:
    """Columns of a described shape, numbers or symbols, in axes of its body; none of a mesh."""
    T, size = shape.placement, [SX(x) for x in shape.size]
    p = [SX(x) for x in T.position]
    match shape.kind:
        case "sphere":
            return [*p, size[0] + padding]
        case "box":
            rows = [SX(x) for row in T.rotation for x in row]
            return [*p, *rows, *(0.5 * x + padding for x in size)]
        case "cylinder":
            return [
                *p,
                *(SX(row[2]) for row in T.rotation),
                size[0] + padding,
                0.5 * size[1] + padding,
            ]
        case "capsule":
            along = [0.5 * size[1] * row[2] for row in T.rotation]
            ends = [[x + sign * a for x, a in zip(p, along, strict=True)] for sign in (-1, 1)]
            return [*ends[0], *ends[1], size[0] + padding]
    return []


def world_columns(T: Transform, kind: str, columns: Sequence[SX]) -> list[SX]:
    """Columns of a shape in axes of a frame, brought to world axes."""
    world: list[SX] = []
    at = 0
    for name, size in SHAPE_COLUMNS[kind]:
        part = casadi.densify(vertcat(*columns[at : at + size]))
        at += size
        if name == "rotation":
            turned = T.R @ casadi.reshape(part, 3, 3).T
            world += [turned[i, j] for i in range(3) for j in range(3)]
        elif name in MOVING:
            world += casadi.vertsplit(T.R @ part + (0 if name == "axis" else T.p))
        else:
            world += casadi.vertsplit(part)
    return world


def ball(kind: str, columns: Sequence[SX]) -> tuple[SX, SX]:
    """(center, radius) of a ball around a shape."""
    first = vertcat(*columns[:3])
    match kind:
        case "sphere":
            return first, columns[3]
        case "capsule" | "tapered_capsule":
            last = vertcat(*columns[3:6])
            radius = columns[6] if kind == "capsule" else fmax(columns[6], columns[7])
            return 0.5 * (first + last), 0.5 * norm_2(last - first) + radius
        case "box":
            return first, norm_2(vertcat(*columns[12:15]))
    return first, sqrt(columns[6] ** 2 + columns[7] ** 2)


def ball_around(balls: Sequence[tuple[SX, SX]]) -> tuple[SX, SX]:
    """A ball around balls: about the middle of the box around them."""
    if len(balls) == 1:
        center, radius = balls[0]
        return center, radius * (1.0 + OUTWARD) + OUTWARD
    low, high = balls[0][0] - balls[0][1], balls[0][0] + balls[0][1]
    for center, radius in balls[1:]:
        low, high = fmin(low, center - radius), fmax(high, center + radius)
    middle = 0.5 * (low + high)
    reach = SX(0)
    for center, radius in balls:
        reach = fmax(reach, norm_2(center - middle) + radius)
    return middle, reach * (1.0 + OUTWARD) + OUTWARD


def strokes(tree: Tree, q: SX, v: SX) -> list[SX]:
    """For each node how far its joint slides from its origin along the motion from q by v,
    both of the tree [m]."""
    stroke = [SX(0)] * len(tree.nodes)
    for i in tree.outward:
        node = tree.nodes[i]
        if node.row.is_slide or node.row.has_pitch:
            slope = 1.0 if node.row.is_slide else casadi.fabs(SX(node.pitch))
            stroke[i] = slope * fmax(casadi.fabs(q[node.q]), casadi.fabs(q[node.q] + v[node.v]))
        elif node.row.is_free:
            stroke[i] = norm_2(q[node.q : node.q + 3]) + norm_2(v[node.v : node.v + 3])
    return stroke


def reaches(tree: Tree, node: int, around: tuple[SX, SX], stroke: Sequence[SX]) -> list[SX]:
    """R of a ball in axes of a node for every coordinate of the tree,
    as sweeps.py has it for numbers."""
    reach = [SX(0)] * tree.nv
    way: Any = around[0]
    extent: Any = around[1]
    for i in reversed(tree.paths[node]):
        joint = tree.nodes[i]
        length = norm_2(way)
        if joint.row.is_hinge or joint.row.has_pitch:
            axis = vertcat(*joint.axis)
            across = norm_2(way - casadi.dot(way, axis) * axis)
            reach[joint.v] = (
                across + extent + (casadi.fabs(SX(joint.pitch)) if joint.row.has_pitch else 0.0)
            )
        else:  # what slides moves by its way, what turns about a point by the distance from it
            for k in range(joint.nv):
                reach[joint.v + k] = SX(1) if k in joint.row.slides else length + extent
        extent = extent + length + stroke[i]
        way = vertcat(*joint.placement.position)
    return reach


def refuse_fitted(subject: Subject, bodies: Mapping[str, Any], shapes: str) -> None:
    """Shapes that are fitted do not follow live variables: refused where the described ones do."""
    if not subject.live:
        return
    symbols = {name: SX.sym(name) for name in subject.live}
    model = subject.traced_model(symbols)
    for body in bodies:
        for shape in (*model.body(body).collisions, *model.body(body).visuals):
            numbers = vertcat(*described_columns(shape, 0.0))
            if casadi.depends_on(numbers, vertcat(*symbols.values())):
                raise NotPossible(
                    f'model: shapes of "{body}" depend on live variables, and "{shapes}" fitted to '
                    "them would not; "
                    'use shapes="described"'
                )
