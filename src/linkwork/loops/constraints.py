"""Constraints: what closures and couplings ask of the tree's coordinates, with derivatives."""

from __future__ import annotations

from dataclasses import dataclass

import casadi
from casadi import SX

from linkwork.loops.geometry import Geometry, across_pair, across_slot, has_rod
from linkwork.model import Tree
from linkwork.model.elements import Coupling, LinearActuator, LoopClosure, Point
from linkwork.model.placement import Placement
from linkwork.recursions.configuration import quaternion_product
from linkwork.recursions.joints import transforms
from linkwork.spatial import matrix, quaternion_rotation, vector


@dataclass(frozen=True)
class Rows:
    """Equations r(q) = 0 with their derivatives,
    in coordinates of the tree (mimicking joints included).

    labels   (element, what is held) of every row
    r        residuals [m, or rad near zero]; J (m, nv): rd = J v;  drift = Jd v, so that rdd = J a
             + drift
    """

    labels: tuple[tuple[str, str], ...]
    r: SX
    J: SX
    drift: SX


def closure_rows(tree: Tree, q: SX, v: SX, elements: tuple) -> Rows:
    """The rows of every `LoopClosure` and `Coupling` among the elements."""
    geometry = Geometry(tree, transforms(tree, q), elements)
    labels: list[tuple[str, str]] = []
    r: list[SX] = []
    for element in elements:
        if isinstance(element, LoopClosure):
            for what, residual in closure_residuals(geometry, element):
                labels.append((element.name, what))
                r.append(residual)
        elif isinstance(element, Coupling):
            labels.append((element.name, "coupling"))
            r.append(coupling_residual(tree, element, q))
    return differentiated(tree, q, v, tuple(labels), r)


def strut_rows(
    tree: Tree, q: SX, v: SX, actuators: tuple[LinearActuator, ...], elements: tuple
) -> Rows:
    """The commands of struts and carriages as rows: r is the length or the way, J v its rate."""
    geometry = Geometry(tree, transforms(tree, q), elements)
    r = [geometry.actuator(actuator).command for actuator in actuators]
    labels = tuple(
        (actuator.name, "way" if has_rod(actuator) else "length") for actuator in actuators
    )
    return differentiated(tree, q, v, labels, r)


def differentiated(
    tree: Tree, q: SX, v: SX, labels: tuple[tuple[str, str], ...], r: list[SX]
) -> Rows:
    """Rows with rate, Jacobian and drift by automatic differentiation along qd = N(q) v."""
    residual = casadi.vertcat(*r) if r else SX(0, 1)
    qd = rate(tree, q, v)
    rd = casadi.jtimes(residual, q, qd)
    return Rows(labels, residual, casadi.jacobian(rd, v), casadi.jtimes(rd, q, qd))


def closure_residuals(geometry: Geometry, closure: LoopClosure) -> list[tuple[str, SX]]:
    """What a closure holds: (label, residual) a row, in axes of the first body.

    Directions are compared by tan of half the angle between them, which is zero only where they
    agree, not where they oppose.
    """
    pair = geometry.pair(closure.first, closure.second)
    R_base_first = _rotation(geometry, pair.base, closure.first)
    d = R_base_first.T @ pair.across
    if closure.kind == "distance":
        return [("distance", pair.length - SX(closure.length))]
    if closure.kind == "point":
        return [(axis, d[k]) for k, axis in enumerate("xyz")]
    if closure.kind == "planar_hinge":
        return [
            (label, casadi.dot(vector(e), d))
            for label, e in zip("uv", across_pair(closure.axis), strict=True)
        ]
    if closure.kind == "pin_in_slot":
        return [("n", casadi.dot(vector(across_slot(closure.axis, closure.direction)), d))]
    R_first_second = R_base_first.T @ _rotation(geometry, pair.base, closure.second)
    if closure.kind == "hinge":
        other = R_first_second @ vector(closure.second_axis or closure.axis)
        apart = 1 + casadi.dot(vector(closure.axis), other)
        leans = [casadi.dot(vector(e), other) / apart * 2 for e in across_pair(closure.axis)]
        return [(axis, d[k]) for k, axis in enumerate("xyz")] + [("ru", leans[0]), ("rv", leans[1])]
    A, B = matrix(closure.rotation), matrix(closure.second_rotation)
    R = A.T @ R_first_second @ B
    p = A.T @ d
    apart = 1 + casadi.trace(R)
    turn = casadi.vertcat(R[2, 1] - R[1, 2], R[0, 2] - R[2, 0], R[1, 0] - R[0, 1]) / apart * 2
    every = dict(
        zip(
            ("x", "y", "z", "rx", "ry", "rz"),
            casadi.vertsplit(casadi.vertcat(p, turn)),
            strict=True,
        )
    )
    return [(direction, every[direction]) for direction in closure.directions]


def coupling_residual(tree: Tree, coupling: Coupling, q: SX) -> SX:
    return sum(SX(k) * q[tree.coordinates[joint][0]] for joint, k in coupling.terms) - SX(
        coupling.offset
    )


def rate(tree: Tree, q: SX, v: SX) -> SX:
    """qd = N(q) v: the coordinates' own rates; quaternions turn by half their product with the body
    velocity."""
    qd = SX(q.numel(), 1)
    for node in tree.nodes:
        if node.row.quaternion:
            at = node.q + node.nq - 4
            w = v[node.v + node.nv - 3 : node.v + node.nv]
            qd[at : at + 4] = quaternion_product(q[at : at + 4], casadi.vertcat(w, 0)) / 2
            if node.row.is_free:
                qd[node.q : node.q + 3] = (
                    quaternion_rotation(q[at : at + 4]) @ v[node.v : node.v + 3]
                )
        elif node.nv == 1:
            qd[node.q] = v[node.v]
    return qd


def _rotation(geometry: Geometry, base: int, point: Point) -> SX:
    """R_base_body of a point's body."""
    node, placement = geometry.node(point.body)
    R = geometry.pose(base, node).R
    return R if placement.rotation == Placement().rotation else R @ matrix(placement.rotation)
