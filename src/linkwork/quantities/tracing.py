"""Tracing: a quantity of a subject as one CasADi function of its independent coordinates."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import casadi
import numpy as np
from casadi import SX

from linkwork.model import MassProperties, Tree
from linkwork.quantities.line import Inputs, Names, Quantity
from linkwork.quantities.table import quantity
from linkwork.recursions import poses
from linkwork.recursions.applied import Applied
from linkwork.recursions.mimic import maps
from linkwork.recursions.reframe import reframed
from linkwork.recursions.regroup import regrouped
from linkwork.spatial import vector
from linkwork.subject import Subject

INPUT_AXES = {"q": "q", "q0": "q", "q1": "q", "v": "v", "a": "v", "tau": "v", "force": "6"}
SIZES: dict[str, Callable[[Subject], int]] = {
    "q": lambda s: s.nq,
    "v": lambda s: s.nv,
    "s": lambda s: s.nv,
    "r": lambda s: s.nv,
    "i": lambda s: s.nq,
    "b": lambda s: len(s.model.bodies),
    "n": lambda s: sum(len(body.points) for body in s.model.bodies),
    "p": lambda s: 10 * len(s.model.bodies),
}
"""How long an axis is; a line of the table may have axes of its own (`Quantity.sizes`)."""


def shape_of(subject: Subject, line: Quantity, axes: str, about: Any = None) -> tuple[int, ...]:
    """The shape of axes written in a line of the table."""
    asked = subject if line.about is None else about

    def size(axis: str) -> int:
        if axis in line.sizes:
            return line.sizes[axis](asked)
        return SIZES[axis](subject) if axis in SIZES else int(axis)

    return tuple(size(axis) for axis in axes.split())


def input_axes(line: Quantity) -> dict[str, str]:
    """Input -> its axes, in the order of the arguments."""
    return {
        name: line.axes[name] if name in line.axes else INPUT_AXES[name]
        for name in line.inputs.split()
    }


def trace(
    subject: Subject,
    name: str,
    frame: str | None = None,
    forces: Names = (),
    payloads: Names = (),
    *,
    about: Any = None,
) -> casadi.Function:
    """The quantity of this subject as a CasADi function;
    its last output are guards if there are quaternions."""
    line = quantity(name)
    live = {v: SX.sym(v) for v in subject.live}
    tree = subject.traced_tree(live, line.merged)
    offset = np.zeros(tree.nq)
    if line.joint_space:
        tree, offset = reframed(tree)
        tree = regrouped(tree)
    wrenches = {f: SX.sym(f"force_{k}", 6) for k, f in enumerate(forces)}
    loads = [
        (body, SX.sym(f"mass_{k}"), SX.sym(f"com_{k}", 3), SX.sym(f"inertia_{k}", 3, 3))
        for k, body in enumerate(payloads)
    ]
    for body, mass, com, inertia in loads:
        tree = _with_payload(tree, body, mass, com, inertia)

    symbols = {
        name: SX.sym(name, *shape_of(subject, line, axes, about))
        for name, axes in input_axes(line).items()
    }
    x = _in_tree_coordinates(subject, tree, symbols, line)
    x.q, x.live, x.about = x.q + offset, tuple(live.values()), about
    if frame is not None:
        x.frame = subject.place_of(frame, tree)
    if forces:
        x.applied = _in_node_axes(subject, tree, x.q, wrenches)
    traced = list(line.trace(tree, x))
    guards = traced[len(line.outputs) :]
    if line.guard is None:
        guards = [_unit_guard(tree, x, label) for label in symbols if INPUT_AXES.get(label) == "q"]
    kept = traced[: len(line.outputs)]
    results = [_reduced(r, axes, tree) for r, (_, axes) in zip(kept, line.outputs, strict=True)]
    if guard_of(subject, line):
        results.append(casadi.vertcat(*guards))
    arguments = [*symbols.values(), *live.values(), *wrenches.values()]
    for _, mass, com, inertia in loads:
        arguments += [mass, com, inertia]
    return casadi.Function(name, arguments, results, {"cse": True})


def guard_of(subject: Subject, line: Quantity) -> str:
    """What it means where a guard is negative; nothing for a line that has none."""
    if line.guard is not None:
        return line.guard(subject)
    guarded = any(n.nq > n.nv for n in subject.tree.nodes)
    return (
        "the quaternion of a floating or ball joint is off unit length by more than 1e-6"
        if guarded
        else ""
    )


def _with_payload(tree: Tree, body: str, mass: SX, com: SX, inertia: SX) -> Tree:
    """The tree with symbolic matter added to the node that carries the body."""
    node, T_node_body = tree.bodies[body]
    if node == 0:
        return tree  # held by the world: moves nothing
    rows: Any = tuple(tuple(inertia[i, j] for j in range(3)) for i in range(3))
    matter = MassProperties(mass, (com[0], com[1], com[2]), rows).seen_from(T_node_body)
    nodes = list(tree.nodes)
    nodes[node] = replace(nodes[node], extra=(*nodes[node].extra, matter))
    return replace(tree, nodes=tuple(nodes))


def _in_tree_coordinates(
    subject: Subject, tree: Tree, symbols: dict[str, SX], line: Quantity
) -> Inputs:
    Gq, b, G = maps(tree)
    follows = bool(tree.mimic)

    def expanded(label: str) -> SX:
        given = None if label in line.axes else symbols.get(label)
        if INPUT_AXES[label] == "q":
            if given is None:
                return SX(tree.nq, 1)
            return Gq @ given + b if follows else given
        if given is None:
            return SX(tree.nv, 1)
        if label in ("tau", "force"):
            # force-like: has no expansion; recursions that take tau reduce by G themselves
            return given
        return G @ given if follows else given

    states: dict[str, Any] = {k: expanded(k) for k in INPUT_AXES}
    return Inputs(subject, **states, G=G if follows else None, own=symbols)


def _in_node_axes(subject: Subject, tree: Tree, q: SX, wrenches: Mapping[str, SX]) -> list[Applied]:
    """World-axes wrenches at frames, in the axes of the nodes that carry the frames."""
    placed = {f: subject.place_of(f, tree) for f in wrenches}
    T = poses.poses(tree, q, tuple(node for node, _ in placed.values()))
    applied = []
    for f, (node, placement) in placed.items():
        w, R = wrenches[f], T[node].R.T
        applied.append(Applied(node, vector(placement.position), R @ w[0:3], R @ w[3:6]))
    return applied


def _reduced(result: SX, axes: str, tree: Tree) -> SX:
    """A result in tree coordinates in terms of the independent ones."""
    if not tree.mimic:
        return result
    kinds = axes.split()
    if kinds == ["q"]:
        return result[list(tree.independent[0])]
    if kinds == ["s"]:
        return result[list(tree.independent[1])]
    G = maps(tree)[2]
    if kinds == ["v", "v", "v"]:
        n, independent = tree.nv, len(tree.independent[1])
        layers = [G.T @ result[k, :].reshape((n, n)).T @ G for k in range(n)]
        flat = casadi.vertcat(
            *[layer.T.reshape((1, independent * independent)) for layer in layers]
        )
        return G.T @ flat
    if kinds and kinds[0] == "v":
        result = G.T @ result
    if len(kinds) > 1 and kinds[-1] == "v":
        result = result @ G
    return result


def _unit_guard(tree: Tree, x: Inputs, label: str) -> SX:
    q = getattr(x, label)
    starts = [n.q + n.nq - 4 for n in tree.nodes if n.nq > n.nv]
    return casadi.vertcat(*[2e-6 - casadi.fabs(casadi.sumsqr(q[s : s + 4]) - 1) for s in starts])
