"""The table of quantities: which recursion, which inputs, which outputs.
A new quantity is a new line."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

import casadi
from casadi import SX

from linkwork import rooms
from linkwork.engine.passes import shortened
from linkwork.engine.program import from_casadi
from linkwork.errors import InvalidInput, NotPossible, UnknownName, did_you_mean
from linkwork.model import Tree
from linkwork.quantities.line import Inputs, Quantity
from linkwork.recursions import (
    center_of_mass,
    configuration,
    frame_motion,
    jacobians,
    momentum,
    operational_space,
    poses,
)
from linkwork.recursions.christoffel import christoffel
from linkwork.recursions.christoffel_paper import christoffel_paper
from linkwork.recursions.composite_body import mass_matrix
from linkwork.recursions.coriolis import coriolis_matrix
from linkwork.recursions.derivatives.forward_dynamics import forward_dynamics_derivatives
from linkwork.recursions.derivatives.inverse_dynamics import inverse_dynamics_derivatives
from linkwork.recursions.energy import energy
from linkwork.recursions.forward_dynamics import forward_dynamics, without_inertia
from linkwork.recursions.friction import friction
from linkwork.recursions.jacobian_derivative import jacobian_derivative, seen_from_frame
from linkwork.recursions.newton_euler import newton_euler
from linkwork.recursions.regressor import regressor
from linkwork.recursions.torque_table import torque_table
from linkwork.spatial import vector


def _all_poses(tree: Tree, x: Inputs) -> tuple[SX, SX]:
    T = poses.poses(tree, x.q)
    placed = [poses.attached(T[node], placement) for node, placement in tree.bodies.values()]
    return casadi.vertcat(*[P.R for P in placed]), casadi.vertcat(*[P.p.T for P in placed])


def _pose(tree: Tree, x: Inputs) -> tuple[SX]:
    T = poses.frame_pose(tree, x.q, x.frame)
    return (casadi.vertcat(casadi.horzcat(T.R, T.p), casadi.horzcat(SX(1, 3), 1)),)


def _points(tree: Tree, x: Inputs) -> tuple[SX]:
    T = poses.poses(tree, x.q)
    rows = []
    for body, points in tree.points.items():
        node, placement = tree.bodies[body]
        P = poses.attached(T[node], placement)
        rows += [(P.R @ vector(position) + P.p).T for _, position in points]
    return (casadi.vertcat(*rows) if rows else SX(0, 3),)


def _jacobian_body(tree: Tree, x: Inputs) -> tuple[SX]:
    J, R = jacobians.jacobian(tree, x.q, x.frame)
    return (jacobians.turned(R, J),)


def _velocity(tree: Tree, x: Inputs, body: bool = False) -> tuple[SX]:
    velocity, _, R = frame_motion.frame_motion(tree, x.q, x.v, x.a, x.frame)
    return (jacobians.turned(R, velocity) if body else velocity,)


def _acceleration(tree: Tree, x: Inputs, body: bool = False) -> tuple[SX]:
    _, acceleration, R = frame_motion.frame_motion(tree, x.q, x.v, x.a, x.frame)
    return (jacobians.turned(R, acceleration) if body else acceleration,)


def _forward_dynamics(tree: Tree, x: Inputs) -> tuple[SX]:
    ways, pivots = forward_dynamics(tree, x.q, x.v, x.own["tau"], x.forces, x.G)
    _refuse_massless(tree, x, pivots)
    return (_cheapest(ways),)


def _forward_dynamics_derivatives(tree: Tree, x: Inputs) -> tuple[SX, SX, SX]:
    derivatives, pivots = forward_dynamics_derivatives(tree, x.q, x.v, x.own["tau"], x.G, x.applied)
    _refuse_massless(tree, x, pivots)
    return derivatives


def _path_coefficients(tree: Tree, x: Inputs) -> tuple[SX, SX, SX]:
    """(m, c, d) of tau = m sdd + c sd^2 + d with v = q', a = q'' (trajectory/coefficients.py)."""
    weightless, still = replace(tree, gravity=(0.0, 0.0, 0.0)), SX(tree.nv, 1)
    m, c = newton_euler(weightless, x.q, still, x.v), newton_euler(weightless, x.q, x.v, x.a)
    return m, c, newton_euler(tree, x.q, still, still)


def _refuse_massless(tree: Tree, x: Inputs, pivots: SX) -> None:
    """Forward dynamics needs every coordinate to move some inertia."""
    empty = without_inertia(pivots, dict(x.subject.model.variables))
    if empty:
        at = tree.independent[1][empty[-1]]
        joint = next(n.joint for n in tree.nodes if n.v <= at < n.v + n.nv)
        raise NotPossible(
            f'forward_dynamics: joint "{joint}" of robot "{x.subject.model.name}" moves no '
            "inertia, so that no "
            "acceleration follows from its force; give what it carries a mass or the joint an "
            "armature"
        )


def _cheapest(ways: Sequence[SX]) -> SX:
    """The expression with the fewest operations."""

    def operations(way: SX) -> int:
        return shortened(
            from_casadi(casadi.Function("way", casadi.symvar(way), [way], {"cse": True}))
        ).operations

    return min(ways, key=operations) if len(ways) > 1 else ways[0]


def _of_operational_space(name: str, recursion: Callable[..., SX]) -> Quantity:
    """A line of 6 x 6 numbers of a frame that the mass matrix decides."""
    trace = lambda t, x: (recursion(t, x.q, x.frame, x.G),)
    return Quantity(trace, "q", ((name, "6 6"),), frame=True, dynamic=True, joint_space=True)


QUANTITIES: dict[str, Quantity] = {
    "forward_kinematics": Quantity(_all_poses, "q", (("rotation", "b 3 3"), ("position", "b 3"))),
    "pose": Quantity(_pose, "q", (("pose", "4 4"),), frame=True),
    "points": Quantity(_points, "q", (("points", "n 3"),)),
    "jacobian": Quantity(
        lambda t, x: jacobians.jacobian(t, x.q, x.frame)[:1], "q", (("J", "6 v"),), frame=True
    ),
    "jacobian_body": Quantity(_jacobian_body, "q", (("J", "6 v"),), frame=True),
    "velocity": Quantity(_velocity, "q v", (("velocity", "6"),), frame=True),
    "velocity_body": Quantity(
        lambda t, x: _velocity(t, x, True), "q v", (("velocity", "6"),), frame=True
    ),
    "acceleration": Quantity(_acceleration, "q v a", (("acceleration", "6"),), frame=True),
    "acceleration_body": Quantity(
        lambda t, x: _acceleration(t, x, True), "q v a", (("acceleration", "6"),), frame=True
    ),
    "inverse_dynamics": Quantity(
        lambda t, x: (newton_euler(t, x.q, x.v, x.a, x.forces),),
        "q v a",
        (("tau", "v"),),
        dynamic=True,
        forces=True,
        joint_space=True,
    ),
    "gravity_torque": Quantity(
        lambda t, x: (newton_euler(t, x.q, x.v, x.a),),
        "q",
        (("tau", "v"),),
        dynamic=True,
        joint_space=True,
    ),
    "mass_matrix": Quantity(
        lambda t, x: (mass_matrix(t, x.q),), "q", (("M", "v v"),), dynamic=True, joint_space=True
    ),
    "coriolis_matrix": Quantity(
        lambda t, x: (coriolis_matrix(t, x.q, x.v),),
        "q v",
        (("C", "v v"),),
        dynamic=True,
        joint_space=True,
    ),
    "friction_torque": Quantity(lambda t, x: (friction(t, x.v),), "v", (("tau", "v"),)),
    "energy": Quantity(
        lambda t, x: energy(t, x.q, x.v),
        "q v",
        (("kinetic", ""), ("potential", "")),
        merged=False,
        dynamic=True,
    ),
    "center_of_mass": Quantity(
        lambda t, x: (center_of_mass.center_of_mass(t, x.q),),
        "q",
        (("position", "3"),),
        merged=False,
        dynamic=True,
    ),
    "center_of_mass_jacobian": Quantity(
        lambda t, x: (center_of_mass.center_of_mass_jacobian(t, x.q),),
        "q",
        (("J", "3 v"),),
        merged=False,
        dynamic=True,
    ),
    "momentum": Quantity(
        lambda t, x: (momentum.momentum(t, x.q, x.v),),
        "q v",
        (("momentum", "6"),),
        merged=False,
        dynamic=True,
    ),
    "centroidal_matrix": Quantity(
        lambda t, x: (momentum.centroidal_matrix(t, x.q),),
        "q",
        (("A", "6 v"),),
        merged=False,
        dynamic=True,
    ),
    "jacobian_derivative": Quantity(
        lambda t, x: jacobian_derivative(t, x.q, x.v, x.frame)[:1],
        "q v",
        (("Jd", "6 v"),),
        frame=True,
    ),
    "jacobian_derivative_body": Quantity(
        lambda t, x: (seen_from_frame(*jacobian_derivative(t, x.q, x.v, x.frame)),),
        "q v",
        (("Jd", "6 v"),),
        frame=True,
    ),
    "regressor": Quantity(
        lambda t, x: (regressor(t, x.q, x.v, x.a),), "q v a", (("Y", "v p"),), merged=False
    ),
    "torque_table": Quantity(
        lambda t, x: (torque_table(t, x.q, x.v, x.a),),
        "q v a",
        (("table", "v b"),),
        merged=False,
        dynamic=True,
    ),
    "operational_space_inertia": _of_operational_space("inertia", operational_space.inertia),
    "operational_space_mobility": _of_operational_space("mobility", operational_space.mobility),
    "manipulability": Quantity(
        lambda t, x: (operational_space.manipulability(t, x.q, x.frame, x.G),),
        "q",
        (("measure", ""),),
        frame=True,
    ),
    "tip_force_torque": Quantity(
        lambda t, x: (jacobians.jacobian(t, x.q, x.frame)[0].T @ x.force,),
        "q force",
        (("tau", "v"),),
        frame=True,
    ),
    "forward_dynamics": Quantity(
        _forward_dynamics, "q v tau", (("a", "r"),), dynamic=True, forces=True, joint_space=True
    ),
    "christoffel": Quantity(
        lambda t, x: (christoffel(t, x.q),), "q", (("c", "v v v"),), dynamic=True, joint_space=True
    ),
    "christoffel_paper": Quantity(
        lambda t, x: (christoffel_paper(t, x.q),), "q", (("c", "v v v"),), dynamic=True
    ),
    "inverse_dynamics_derivatives": Quantity(
        lambda t, x: inverse_dynamics_derivatives(t, x.q, x.v, x.a, x.applied),
        "q v a",
        (("d_dq", "v v"), ("d_dv", "v v"), ("d_da", "v v")),
        dynamic=True,
        forces=True,
        joint_space=True,
    ),
    "forward_dynamics_derivatives": Quantity(
        _forward_dynamics_derivatives,
        "q v tau",
        (("d_dq", "r r"), ("d_dv", "r r"), ("d_dtau", "r r")),
        dynamic=True,
        forces=True,
        joint_space=True,
    ),
    "path_coefficients": Quantity(
        _path_coefficients,
        "q v a",
        (("m", "v"), ("c", "v"), ("d", "v")),
        dynamic=True,
        joint_space=True,
    ),
    "integrate": Quantity(
        lambda t, x: (configuration.integrate(t, x.q, x.v),), "q v", (("q", "q"),)
    ),
    "difference": Quantity(
        lambda t, x: (configuration.difference(t, x.q0, x.q1),), "q0 q1", (("v", "s"),)
    ),
}


_of_rooms: dict[str, Quantity] = {}
"""Lines that rooms brought so far, by name."""


def quantity(name: str) -> Quantity:
    """The line of the table, or UnknownName. A room's lines are read when one is asked for."""
    if not isinstance(name, str):
        raise UnknownName(f"there is no quantity {name!r}, expected a name")
    line = QUANTITIES.get(name) or _of_rooms.get(name)
    if line is not None:
        return line
    for room, file in rooms.files("quantities").items():
        if f'"{name}"' in file.read_text(encoding="utf-8") and name in _lines_of(room):
            return _of_rooms[name]
    raise UnknownName(f'there is no quantity "{name}"{did_you_mean(name, every_quantity())}')


def every_quantity() -> dict[str, Quantity]:
    """All lines: of this table and of every room."""
    for room in rooms.files("quantities"):
        _lines_of(room)
    return QUANTITIES | _of_rooms


def _lines_of(room: str) -> Mapping[str, Quantity]:
    """The lines of one room; a name that is taken by another room is refused, not replaced."""
    lines: Mapping[str, Quantity] = rooms.part(room, "quantities").QUANTITIES
    for name, line in lines.items():
        if name in QUANTITIES or _of_rooms.setdefault(name, line) is not line:
            raise InvalidInput(
                f'room "{room}": there is another quantity "{name}" already; names are unique'
            )
    return lines
