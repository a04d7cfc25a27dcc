"""Robots as Systems: a frame for every joint, a body for everything that has matter."""

from __future__ import annotations

from typing import TYPE_CHECKING

import casadi
from casadi import SX

from linkwork.errors import NotPossible, listed
from linkwork.lagrange.joints import Pose
from linkwork.lagrange.parts import Frame
from linkwork.lagrange.terms import Body, Lagrangian
from linkwork.recursions.joints import joint_transform, placement
from linkwork.recursions.mimic import tree_coordinates
from linkwork.spatial import matrix, vector

if TYPE_CHECKING:
    from linkwork.lagrange.system import System
    from linkwork.subject import Subject


def from_subject(cls: type[System], subject: Subject) -> System:
    """The System of a robot: a frame a joint, a body for each described body that has matter,
    rotors as Lagrangians."""
    tree, model = subject.full_tree, subject.model
    who = f'robot "{model.name}"'
    if model.kinematic_only:
        raise NotPossible(
            f"System.from_robot: {who} is kinematic only: no mass properties are published for it"
        )
    turning = [node.joint for node in tree.nodes if node.nq > 1]
    if turning:
        raise NotPossible(
            f"System.from_robot: {who} has ball or floating joints ({listed(turning)}); their "
            "quaternions are no "
            "generalised coordinates"
        )
    names = _coordinate_names(subject)
    system = cls(
        tuple(dict.fromkeys(names.values())), gravity=tuple(model.gravity), name=model.name
    )
    symbols = system.scope.symbols
    independent = [names[k] for k in tree.independent[0]]
    frames: dict[str, Frame] = {}
    label: dict[int, str | None] = {0: None}
    q = (
        tree_coordinates(tree, casadi.vertcat(*[symbols.q[name] for name in independent]))
        if independent
        else SX(0, 1)
    )
    for i in tree.outward:
        node = tree.nodes[i]
        T = placement(node) @ joint_transform(node, q[node.q : node.q + node.nq])
        label[i] = node.name
        frames[node.name] = Frame(node.name, label[node.parent], Pose(T.p, None, T.R, SX(3, 1)))
    system = system._edited(frames=frames)
    for i in tree.outward:
        node = tree.nodes[i]
        matter = node.mass_properties
        if float(matter.mass) != 0.0 or any(x for row in matter.inertia for x in row):
            I = (
                None
                if not any(x for row in matter.inertia for x in row)
                else matrix(matter.inertia)
            )
            made = Body(node.name, SX(matter.mass), vector(matter.com), node.name, None, I)
            system = system._with_term(made)
        if node.nv and float(node.armature[0]) != 0.0:
            rate = casadi.jtimes(q[node.q], system.scope.q, system.scope.v)
            system = system._with_term(
                Lagrangian(f"rotor of {node.name}", float(node.armature[0]) * rate**2 / 2)
            )
    return system


def _coordinate_names(subject: Subject) -> dict[int, str]:
    """Tree index of an independent coordinate -> a name: the joint's,
    numbered where it has several coordinates."""
    names = {}
    for joint in subject.joints:
        first, nq, _, _ = subject.tree.coordinates[joint]
        for k in range(nq):
            plain = "".join(c if c.isalnum() else "_" for c in joint)
            plain = plain if plain[0].isalpha() else f"q_{plain}"
            names[first + k] = plain if nq == 1 else f"{plain}_{k + 1}"
    return names
