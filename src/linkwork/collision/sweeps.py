"""Sweeps: how far the points of shapes can be from each joint's axis, whatever the other joints do.

R of a shape for a turning joint: the distance of the next joint's origin from the axis, the lengths
of all links from there to the shape (sliding joints with their stroke), and the ball around the
shape. For a sliding joint 1, for a helical one R + |pitch|. Rounded outward for floats.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from linkwork.collision.tables import RobotTables
from linkwork.collision.tile import TileLayout
from linkwork.engine.staged import Packed
from linkwork.engine.stages import Table
from linkwork.model.tree import Tree
from linkwork.subject import Subject

OUTWARD = 1.0 + 1e-5
FINE = 16.0  # strokes are counted in sixteenths of a metre, upward


def sweep_tables(layout: TileLayout, subject: Subject) -> tuple[Table, ...]:
    """Rows beside those of shapes, moving bodies and pairs, a column a coordinate."""
    columns = (("reach", subject.tree.nv),)
    names = [*(f"sweep_{kind}" for kind, _ in layout.kinds), "sweep_movable", "sweep_pairs"]
    return (*(Table(name, columns) for name in names), Table("certificate", (("cap", 1),)))


def sweeps(tables: RobotTables, q: np.ndarray, v: np.ndarray, cap: float) -> Packed:
    """The tables for motions from q (n, nq) by v (n, nv),
    whose sliding joints have the strokes of these motions."""
    tree = tables.subject.tree
    if tables.layout.live:
        return _masks(tables, tree, cap)
    # so that motions of about the same strokes share their rows
    stroke = np.ceil(strokes(tree, q, v) * FINE) / FINE
    known = tables.sweeps.get((stroke.tobytes(), cap))
    if known is None:
        known = tables.sweeps[stroke.tobytes(), cap] = _rows(tables, tree, stroke, cap)
    return known


def _rows(tables: RobotTables, tree: Tree, stroke: np.ndarray, cap: float) -> Packed:
    reach = {
        body: reaches(tree, node, tables.balls[body], stroke)
        for body, node in tables.node_of.items()
    }
    reach_rows: dict[str, np.ndarray] = {}
    for kind, _ in tables.layout.kinds:
        balls, whole = tables.shape_balls[kind], tables.rows[f"robot_{kind}"][1]
        nodes = [tables.node_of[tables.bodies[body]] for body in whole[:, 2]]
        rows = [reaches(tree, node, ball, stroke) for node, ball in zip(nodes, balls, strict=True)]
        reach_rows[f"sweep_{kind}"] = np.array(rows).reshape(-1, tree.nv)
    moving = [tables.bodies[int(k)] for k in tables.rows["movable"][0][:, 1]]
    reach_rows["sweep_movable"] = np.array([reach[body] for body in moving]).reshape(-1, tree.nv)
    pairs = [
        relative(tree, tables.node_of[a], tables.node_of[b], reach[a], reach[b])
        for a, b in tables.pairs
    ]
    reach_rows["sweep_pairs"] = np.array(pairs).reshape(-1, tree.nv)
    outward = {
        name: (numbers * OUTWARD, np.zeros((len(numbers), 0)))
        for name, numbers in reach_rows.items()
    }
    outward["certificate"] = (np.array([[cap]]), np.zeros((1, 0)))
    return Packed(sweep_tables(tables.layout, tables.subject), outward)


def _masks(tables: RobotTables, tree: Tree, cap: float) -> Packed:
    """With live variables distances are computed in the kernel:
    rows say which joints move only one of a pair."""
    if ("masks", cap) not in tables.sweeps:
        ones = np.ones(tree.nv)
        pairs = [
            relative(tree, tables.node_of[a], tables.node_of[b], ones, 0.0 * ones)
            for a, b in tables.pairs
        ]
        names = [table.name for table in sweep_tables(tables.layout, tables.subject)]
        rows = {name: (np.zeros((0, tree.nv)), np.zeros((0, 0))) for name in names}
        rows["sweep_pairs"] = (np.array(pairs).reshape(-1, tree.nv), np.zeros((len(pairs), 0)))
        rows["certificate"] = (np.array([[cap]]), np.zeros((1, 0)))
        tables.sweeps["masks", cap] = Packed(sweep_tables(tables.layout, tables.subject), rows)
    return tables.sweeps["masks", cap]


def strokes(tree: Tree, q: np.ndarray, v: np.ndarray) -> np.ndarray:
    """For each node how far its joint slides from its origin along any of the motions [m]."""
    Gq, b, G = tree.mimic_map
    first, way = q @ Gq.T + b, v @ G.T
    stroke = np.zeros(len(tree.nodes))
    for i in tree.outward:
        node = tree.nodes[i]
        if (node.row.is_slide or node.row.has_pitch) and len(q):
            ends = np.abs([first[:, node.q], first[:, node.q] + way[:, node.v]]).max()
            stroke[i] = ends * abs(float(node.travel))
        elif node.row.is_free and len(q):
            here = np.linalg.norm(first[:, node.q : node.q + 3], axis=1)
            stroke[i] = (here + np.linalg.norm(way[:, node.v : node.v + 3], axis=1)).max()
    return stroke


def reaches(tree: Tree, node: int, ball: tuple[Any, float], stroke: np.ndarray) -> np.ndarray:
    """R of a ball on a node for every coordinate of the tree; zero where it stays."""
    reach = np.zeros(tree.nv)
    # from the present node's origin to what comes after
    way = np.array(ball[0], dtype=float)
    extent = float(ball[1])
    for i in reversed(tree.paths[node]):
        joint = tree.nodes[i]
        axis = np.array(joint.axis, dtype=float)
        length = float(np.linalg.norm(way))
        across = float(np.linalg.norm(way - (way @ axis) * axis)) if joint.row.has_axis else length
        turning = across + extent + abs(float(joint.pitch))
        for k in range(joint.nv):
            reach[joint.v + k] = 1.0 if k in joint.row.slides else turning
        extent += length + stroke[i]
        way = np.array(joint.placement.position, dtype=float)
    return reach


def relative(tree: Tree, a: int, b: int, reach_a: np.ndarray, reach_b: np.ndarray) -> np.ndarray:
    """What moves one of two bodies and not the other."""
    reach = reach_a + reach_b
    for i in set(tree.paths[a]) & set(tree.paths[b]):
        node = tree.nodes[i]
        reach[node.v : node.v + node.nv] = 0.0
    return reach
