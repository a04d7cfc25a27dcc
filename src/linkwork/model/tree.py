"""Tree: the model as the recursions see it.

The world is node 0, every other node has a parent with a smaller index, and each node has one of
six kinds of joint. Planar, cylindrical and universal joints have become chains of one-coordinate
joints with massless nodes between; fixed joints are merged into their parents unless the caller
wants every body (`merge=False`). Mimic lies
outside: the tree has the coordinates of all joints, and q_tree = G q + b.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from linkwork.arguments import shown
from linkwork.errors import InvalidInput
from linkwork.model.inertia import MassProperties
from linkwork.model.joint import SIZES, Joint, resolved_mimic
from linkwork.model.kinds import FIXED, KINDS, JointKind
from linkwork.model.model import Model
from linkwork.model.number import Matrix, Number, Vector, cross, dot
from linkwork.model.placement import Placement
from linkwork.model.rotation import from_axis_angle


@dataclass(frozen=True, slots=True)
class Node:
    """A body with the joint that carries it. `q`, `v`: first coordinate; `nq`, `nv`: how many."""

    name: str
    joint: str
    parent: int
    kind: str
    placement: Placement
    axis: Vector
    pitch: Number
    mass_properties: MassProperties
    armature: tuple[Number, ...]
    q: int
    v: int
    extra: tuple[MassProperties, ...] = ()  # payloads, in node axes, symbols
    regrouped: tuple[float, Vector, Matrix] | None = (
        None  # mass, first and second moments in place of mass_properties
    )
    damping: tuple[Number, ...] = ()  # viscous friction, one a velocity coordinate
    friction: tuple[Number, ...] = ()  # dry friction

    @property
    def row(self) -> JointKind:
        """The row of its kind in model/kinds.py."""
        return KINDS[self.kind]

    @property
    def nq(self) -> int:
        return SIZES[self.kind][0]

    @property
    def nv(self) -> int:
        return SIZES[self.kind][1]

    @property
    def travel(self) -> Number:
        """How far a slide or a screw moves along its axis for a unit of its coordinate;
        0 for others."""
        return 1.0 if self.row.is_slide else self.pitch


@dataclass(frozen=True)
class Tree:
    """Nodes in parent-before-child order, and where the described bodies and frames sit on them.

    bodies, frames   name -> (node, T_node_body); with merged fixed joints several bodies share a
                     node
    coordinates      joint name -> (first q, nq, first v, nv) in tree coordinates
    mimic            tree v index -> (tree v index it follows, multiplier, offset), resolved to
                     independent joints
    elements         the model's closed-loop elements, for the loops room
    """

    nodes: tuple[Node, ...]
    bodies: dict[str, tuple[int, Placement]]
    frames: dict[str, tuple[int, Placement]]
    coordinates: dict[str, tuple[int, int, int, int]]
    mimic: dict[int, tuple[int, float, float]]
    gravity: Vector
    points: dict[str, tuple[tuple[str, Vector], ...]]
    elements: tuple[Any, ...] = ()

    @cached_property
    def nq(self) -> int:
        """Configuration coordinates of the tree, mimicking joints included."""
        return sum(node.nq for node in self.nodes)

    @cached_property
    def nv(self) -> int:
        """Velocity coordinates of the tree, mimicking joints included."""
        return sum(node.nv for node in self.nodes)

    @property
    def outward(self) -> range:
        """Nodes from the base to the tips; the world (node 0) is not among them."""
        return range(1, len(self.nodes))

    @property
    def inward(self) -> range:
        """Nodes from the tips to the base."""
        return range(len(self.nodes) - 1, 0, -1)

    def parent(self, i: int) -> int:
        """The node that carries a node; the world is node 0."""
        try:
            return self.nodes[i].parent
        except IndexError:
            raise InvalidInput(
                f"parent: i is {shown(i)}, expected 0 to {len(self.nodes) - 1}"
            ) from None

    @cached_property
    def paths(self) -> tuple[tuple[int, ...], ...]:
        """For each node the nodes from the base to it, itself included, the world not."""
        paths: list[tuple[int, ...]] = [()]
        for i in self.outward:
            paths.append((*paths[self.nodes[i].parent], i))
        return tuple(paths)

    @cached_property
    def independent(self) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """Tree indices of the independent coordinates: (of q, of v). Without mimic: all of them."""
        follower_q = {node.q for node in self.nodes if node.nv == 1 and node.v in self.mimic}
        q = tuple(k for k in range(self.nq) if k not in follower_q)
        v = tuple(k for k in range(self.nv) if k not in self.mimic)
        return q, v

    @cached_property
    def mimic_map(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """(G_q, b, G): q_tree = G_q q + b and v_tree = G v with q, v the independent
        coordinates."""
        own_q, own_v = self.independent
        first_q = {node.v: node.q for node in self.nodes if node.nv == 1}
        Gq = np.zeros((self.nq, len(own_q)))
        b = np.zeros(self.nq)
        G = np.zeros((self.nv, len(own_v)))
        Gq[own_q, range(len(own_q))] = 1.0
        G[own_v, range(len(own_v))] = 1.0
        for v, (leader, multiplier, offset) in self.mimic.items():
            Gq[first_q[v], own_q.index(first_q[leader])] = multiplier
            b[first_q[v]] = offset
            G[v, own_v.index(leader)] = multiplier
        return Gq, b, G

    @cached_property
    def fingerprint(self) -> str:
        """A hash of every number that a recursion can see,
        and of nothing else (no names, no colours)."""
        digest = hashlib.sha256()
        for n in self.nodes:
            m, T = n.mass_properties, n.placement
            numbers = (
                n.parent,
                n.kind,
                T.rotation,
                T.position,
                n.axis,
                n.pitch,
                m.mass,
                m.com,
                m.inertia,
                n.armature,
            )
            digest.update(repr((*numbers, n.damping, n.friction)).encode())
        digest.update(repr((self.gravity, sorted(self.mimic.items()))).encode())
        # results are in the order of the described bodies, which need not be that of the nodes
        points = [[position for _, position in self.points[body]] for body in self.bodies]
        digest.update(repr((list(self.bodies.values()), points)).encode())
        if self.elements:  # they name bodies and joints
            where = [(name, node) for name, (node, _) in self.bodies.items()]
            digest.update(
                repr((self.elements, sorted(self.coordinates.items()), sorted(where))).encode()
            )
        return digest.hexdigest()


def build_tree(model: Model, merge: bool = True) -> Tree:
    """The tree of a valid model, joints depth first in the order of the description."""
    bodies = {body.name: body for body in model.bodies}
    carried: dict[str | None, list[Joint]] = {}
    for joint in model.joints:
        carried.setdefault(joint.parent, []).append(joint)
    has_joint = {joint.child for joint in model.joints}
    roots = [
        Joint(f"{b.name}_in_world", FIXED, None, b.name)
        for b in model.bodies
        if b.name not in has_joint
    ]

    world = Node(
        "world", "", -1, FIXED, Placement(), (0.0, 0.0, 1.0), 0.0, MassProperties(), (), 0, 0
    )
    nodes: list[Node] = [world]
    where: dict[str | None, tuple[int, Placement]] = {None: (0, Placement())}
    coordinates: dict[str, tuple[int, int, int, int]] = {}
    nq = nv = 0
    stack = list(reversed(roots + carried.get(None, [])))
    while stack:
        # outward: a fixed joint hands its body to the node that carries it,
        # any other becomes one node or several
        joint = stack.pop()
        parent, T_node_parent = where[joint.parent]
        T = T_node_parent @ joint.placement
        matter = bodies[joint.child].mass_properties
        if joint.kind.is_fixed and merge:
            where[joint.child] = (parent, T)
            if parent:
                old = nodes[parent]
                nodes[parent] = replace(
                    old, mass_properties=old.mass_properties + matter.seen_from(T)
                )
        else:
            coordinates[joint.name] = (nq, joint.nq, nv, joint.nv)
            links = simple_joints(joint)
            armature, damping, friction = (
                x if isinstance(x, tuple) else (x,) * joint.nv
                for x in (joint.armature, joint.damping, joint.friction)
            )
            offset = 0
            for k, (kind, T_link, axis) in enumerate(links):
                last = k == len(links) - 1
                name = joint.child if last else f"{joint.name}/{k + 1}"
                n = SIZES[kind][1]
                nodes.append(
                    Node(
                        name=name,
                        joint=joint.name,
                        parent=parent,
                        kind=kind,
                        placement=(T @ T_link) if k == 0 else T_link,
                        axis=axis,
                        pitch=joint.pitch if KINDS[kind].has_pitch else 0.0,
                        mass_properties=matter if last else MassProperties(),
                        armature=tuple(armature[offset : offset + n]),
                        damping=tuple(damping[offset : offset + n]),
                        friction=tuple(friction[offset : offset + n]),
                        q=nq,
                        v=nv,
                    )
                )
                parent, offset = len(nodes) - 1, offset + n
                nq, nv = nq + SIZES[kind][0], nv + SIZES[kind][1]
            where[joint.child] = (parent, Placement())
        if joint.kind.is_fixed:
            coordinates.pop(joint.name, None)
        stack.extend(reversed(carried.get(joint.child, [])))

    # frames and bodies as places on nodes
    placed = {name: w for name, w in where.items() if name is not None}
    frames = dict(placed)
    for frame in model.frames:
        node, T_node_body = placed[frame.body]
        frames[frame.name] = (node, T_node_body @ frame.placement)
    return Tree(
        nodes=tuple(nodes),
        bodies={body.name: placed[body.name] for body in model.bodies},
        frames=frames,
        coordinates=coordinates,
        mimic=_mimicking_coordinates(model.joints, coordinates),
        gravity=model.gravity,
        points={body.name: body.points for body in model.bodies},
        elements=model.elements,
    )


def simple_joints(joint: Joint) -> list[tuple[str, Placement, Vector]]:
    """(kind, placement, axis) of the one-kind joints a described joint stands for."""
    here = Placement()
    if joint.kind.is_simple:
        return [(joint.type, here, joint.axis)]
    axes = {"axis": joint.axis, "second_axis": joint.second_axis}
    if any(axis not in axes for _, axis in joint.kind.chain):
        axes |= dict(zip("xy", _plane_axes(joint.axis), strict=True))
    return [(kind, here, axes[axis]) for kind, axis in joint.kind.chain]


def _plane_axes(normal: Vector) -> tuple[Vector, Vector]:
    """The x and y axes of the plane: those of the joint frame turned by the shortest way from z to
    the normal."""
    z = (0.0, 0.0, 1.0)
    turn = cross(z, normal)
    if dot(turn, turn) < 1e-24:
        sign = 1.0 if normal[2] > 0 else -1.0
        return (1.0, 0.0, 0.0), (0.0, sign, 0.0)
    R = from_axis_angle(turn, float(np.arctan2(np.sqrt(dot(turn, turn)), normal[2])))
    return tuple(row[0] for row in R), tuple(row[1] for row in R)


def _mimicking_coordinates(
    joints: Sequence[Joint], coordinates: dict[str, tuple[int, int, int, int]]
) -> dict[int, tuple[int, float, float]]:
    """`resolved_mimic` in velocity coordinates of the tree instead of names."""
    return {
        coordinates[name][2]: (coordinates[leader][2], multiplier, offset)
        for name, (leader, multiplier, offset) in resolved_mimic(joints).items()
    }
