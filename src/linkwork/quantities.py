"""Quantities: which recursion, which inputs, which outputs. A new quantity is a new line of the table."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import casadi
import numpy as np
from casadi import DM, SX

from linkwork.engine.fuse import optimised
from linkwork.engine.kernel import Context, Kernel, Signature
from linkwork.engine.program import from_casadi
from linkwork.errors import InvalidInput, NotPossible, UnknownName, did_you_mean
from linkwork.model import MassProperties, Placement, Tree, build_tree
from linkwork.model.payload import Payload
from linkwork.recursions import (
    center_of_mass,
    configuration,
    frame_motion,
    jacobians,
    momentum,
    operational_space,
    poses,
)
from linkwork.recursions.applied import Applied, at_origins
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
from linkwork.recursions.reframe import reframed
from linkwork.recursions.regressor import regressor
from linkwork.recursions.regroup import regrouped
from linkwork.recursions.torque_table import torque_table
from linkwork.spatial import Force, vector
from linkwork.subject import Subject

INPUT_AXES = {"q": "q", "q0": "q", "q1": "q", "v": "v", "a": "v", "tau": "v", "force": "6"}
SIZES: dict[str, Callable[[Subject], int]] = {}
"""Axes of results that a room above brings along (with its lines of the table): name -> size for a subject."""


@dataclass
class Inputs:
    """What a recursion gets, in coordinates of the tree (mimicking joints included).

    frame   (node, T_node_frame) where the quantity is about one; applied: external forces
    G       v_tree = G v, or None without mimic; own: the arguments as given, in independent coordinates
    subject what is computed about, with its present numbers
    """

    q: SX
    v: SX
    a: SX
    tau: SX
    q0: SX
    q1: SX
    force: SX
    frame: tuple[int, Placement] = (0, Placement())
    applied: Sequence[Applied] = ()
    G: DM | None = None
    own: dict[str, SX] = field(default_factory=dict)
    subject: Subject | None = None

    @property
    def forces(self) -> dict[int, Force]:
        """Node -> external force in node axes at its origin."""
        return at_origins(self.applied)


@dataclass(frozen=True)
class Quantity:
    """A line of the table.

    trace     (tree, inputs) -> results, in tree coordinates; an input left out of `inputs` is traced as zero
    inputs    names among q v a tau q0 q1 force
    outputs   (name, axes) for each result; axes are sizes or
              "v" force-like tree coordinate (contracted with G'), "s" velocity-like one (the independent are kept),
              "r" already independent, "q" configuration, "b" described bodies, "p" ten inertial parameters a body
    merged    traced on the tree with fixed joints merged
    dynamic   needs mass properties; accepts a payload
    joint_space   depends on the equations of motion alone: traced on the tree with the fewest numbers that has the same
              ones (recursions/reframe.py, regroup.py)
    """

    trace: Callable[[Tree, Inputs], Sequence[SX]]
    inputs: str
    outputs: tuple[tuple[str, str], ...]
    frame: bool = False
    merged: bool = True
    dynamic: bool = False
    forces: bool = False
    joint_space: bool = False


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
    assert x.subject is not None
    empty = without_inertia(pivots, dict(x.subject.model.variables))
    if empty:
        at = tree.independent[1][empty[-1]]
        joint = next(n.joint for n in tree.nodes if n.v <= at < n.v + n.nv)
        raise NotPossible(
            f'forward_dynamics: joint "{joint}" of robot "{x.subject.model.name}" moves no inertia, so that no '
            "acceleration follows from its force; give what it carries a mass or the joint an armature"
        )


def _cheapest(ways: Sequence[SX]) -> SX:
    """The expression with the fewest operations."""

    def operations(way: SX) -> int:
        return optimised(from_casadi(casadi.Function("way", casadi.symvar(way), [way], {"cse": True}))).operations

    return min(ways, key=operations) if len(ways) > 1 else ways[0]


QUANTITIES: dict[str, Quantity] = {
    "forward_kinematics": Quantity(_all_poses, "q", (("rotation", "b 3 3"), ("position", "b 3"))),
    "pose": Quantity(_pose, "q", (("pose", "4 4"),), frame=True),
    "points": Quantity(_points, "q", (("points", "n 3"),)),
    "jacobian": Quantity(lambda t, x: jacobians.jacobian(t, x.q, x.frame)[:1], "q", (("J", "6 v"),), frame=True),
    "jacobian_body": Quantity(_jacobian_body, "q", (("J", "6 v"),), frame=True),
    "velocity": Quantity(_velocity, "q v", (("velocity", "6"),), frame=True),
    "velocity_body": Quantity(lambda t, x: _velocity(t, x, True), "q v", (("velocity", "6"),), frame=True),
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
        lambda t, x: (newton_euler(t, x.q, x.v, x.a),), "q", (("tau", "v"),), dynamic=True, joint_space=True
    ),
    "mass_matrix": Quantity(lambda t, x: (mass_matrix(t, x.q),), "q", (("M", "v v"),), dynamic=True, joint_space=True),
    "coriolis_matrix": Quantity(
        lambda t, x: (coriolis_matrix(t, x.q, x.v),), "q v", (("C", "v v"),), dynamic=True, joint_space=True
    ),
    "friction_torque": Quantity(lambda t, x: (friction(t, x.v),), "v", (("tau", "v"),)),
    "energy": Quantity(
        lambda t, x: energy(t, x.q, x.v), "q v", (("kinetic", ""), ("potential", "")), merged=False, dynamic=True
    ),
    "center_of_mass": Quantity(
        lambda t, x: (center_of_mass.center_of_mass(t, x.q),), "q", (("position", "3"),), merged=False, dynamic=True
    ),
    "center_of_mass_jacobian": Quantity(
        lambda t, x: (center_of_mass.center_of_mass_jacobian(t, x.q),), "q", (("J", "3 v"),), merged=False, dynamic=True
    ),
    "momentum": Quantity(
        lambda t, x: (momentum.momentum(t, x.q, x.v),), "q v", (("momentum", "6"),), merged=False, dynamic=True
    ),
    "centroidal_matrix": Quantity(
        lambda t, x: (momentum.centroidal_matrix(t, x.q),), "q", (("A", "6 v"),), merged=False, dynamic=True
    ),
    "jacobian_derivative": Quantity(
        lambda t, x: jacobian_derivative(t, x.q, x.v, x.frame)[:1], "q v", (("Jd", "6 v"),), frame=True
    ),
    "jacobian_derivative_body": Quantity(
        lambda t, x: (seen_from_frame(*jacobian_derivative(t, x.q, x.v, x.frame)),), "q v", (("Jd", "6 v"),), frame=True
    ),
    "regressor": Quantity(lambda t, x: (regressor(t, x.q, x.v, x.a),), "q v a", (("Y", "v p"),), merged=False),
    "torque_table": Quantity(
        lambda t, x: (torque_table(t, x.q, x.v, x.a),), "q v a", (("table", "v b"),), merged=False, dynamic=True
    ),
    "operational_space_inertia": Quantity(
        lambda t, x: (operational_space.inertia(t, x.q, x.frame, x.G),),
        "q",
        (("inertia", "6 6"),),
        frame=True,
        dynamic=True,
        joint_space=True,
    ),
    "operational_space_mobility": Quantity(
        lambda t, x: (operational_space.mobility(t, x.q, x.frame, x.G),),
        "q",
        (("mobility", "6 6"),),
        frame=True,
        dynamic=True,
        joint_space=True,
    ),
    "manipulability": Quantity(
        lambda t, x: (operational_space.manipulability(t, x.q, x.frame, x.G),), "q", (("measure", ""),), frame=True
    ),
    "tip_force_torque": Quantity(
        lambda t, x: (jacobians.jacobian(t, x.q, x.frame)[0].T @ x.force,), "q force", (("tau", "v"),), frame=True
    ),
    "forward_dynamics": Quantity(
        _forward_dynamics, "q v tau", (("a", "r"),), dynamic=True, forces=True, joint_space=True
    ),
    "christoffel": Quantity(
        lambda t, x: (christoffel(t, x.q),), "q", (("c", "v v v"),), dynamic=True, joint_space=True
    ),
    "christoffel_paper": Quantity(lambda t, x: (christoffel_paper(t, x.q),), "q", (("c", "v v v"),), dynamic=True),
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
        _path_coefficients, "q v a", (("m", "v"), ("c", "v"), ("d", "v")), dynamic=True, joint_space=True
    ),
    "integrate": Quantity(lambda t, x: (configuration.integrate(t, x.q, x.v),), "q v", (("q", "q"),)),
    "difference": Quantity(lambda t, x: (configuration.difference(t, x.q0, x.q1),), "q0 q1", (("v", "s"),)),
}


def evaluate(
    subject: Subject,
    name: str,
    arguments: Mapping[str, Any],
    frame: str | None = None,
    forces: Mapping[str, Any] | None = None,
    payload: Payload | Sequence[Payload] | None = None,
    variables: Mapping[str, Any] | None = None,
    out: Any = None,
) -> Any:
    """A quantity of the table for one sample or a batch; see `Quantity` for what each option means."""
    payloads = () if payload is None else (payload,) if isinstance(payload, Payload) else tuple(payload)
    kernel = kernel_of(subject, name, frame, tuple(forces or ()), tuple(p.body for p in payloads))
    args = [arguments[i] for i in quantity(name).inputs.split()]
    args += subject.variable_values(variables)
    args += list((forces or {}).values())
    for p in payloads:
        args += p.arrays()
    return kernel.call(args, out, context_of(subject))


def caller(subject: Subject, name: str, frame: str | None = None) -> Callable[..., Any]:
    """The fastest callable for the plain arguments of a quantity; with live variables it takes `variables=` too."""
    fast = kernel_of(subject, name, frame).caller(context_of(subject))
    if not subject.live:
        return fast
    present = [np.array(x) for x in subject.variable_values(None)]

    def with_variables(*arguments: Any, variables: Mapping[str, Any] | None = None) -> Any:
        if variables is None:
            return fast(*arguments, *present)
        values = subject.variable_values(variables)
        return fast(*arguments, *[np.array(x) if type(x) is float else x for x in values])

    return with_variables


def writer(subject: Subject, name: str, frame: str | None = None) -> Callable[[Sequence[Any], Any], Any]:
    """The fastest callable (arguments, out) of a quantity without live variables."""
    kernel, context = kernel_of(subject, name, frame), context_of(subject)
    return lambda arguments, out: kernel.call(arguments, out, context)


def quantity(name: str) -> Quantity:
    """The line of the table, or UnknownName."""
    found = QUANTITIES.get(name)
    if found is None:
        raise UnknownName(f'there is no quantity "{name}"{did_you_mean(name, QUANTITIES)}')
    return found


def context_of(subject: Subject) -> Context:
    who = f'robot "{subject.model.name}"'
    sizes = {"q": f"{who} has nq = {subject.nq}", "v": f"{who} has nv = {subject.nv}"}
    return Context(who, {name: sizes[axes] for name, axes in INPUT_AXES.items() if axes in sizes})


def kernel_of(
    subject: Subject,
    name: str,
    frame: str | None = None,
    forces: tuple[str, ...] = (),
    payloads: tuple[str, ...] = (),
) -> Kernel:
    """The kernel of a quantity, traced with symbols for forces on these frames and payloads on these bodies."""
    line = quantity(name)
    _check(subject, line, name, frame, forces, payloads)
    places = [subject.place_of(f) for f in ((frame,) if frame is not None else ())]
    places += [subject.place_of(f) for f in forces]
    loaded = [subject.place_of(p, subject.full_tree)[0] for p in payloads]
    key = repr((name, len(places) - len(forces), places, loaded, forces, payloads))
    return subject.kernel(key, lambda full: _make(subject, line, name, frame, forces, payloads, full))


def _check(
    subject: Subject, line: Quantity, name: str, frame: str | None, forces: tuple[str, ...], payloads: tuple[str, ...]
) -> None:
    who = f'robot "{subject.model.name}"'
    if line.dynamic and subject.model.kinematic_only:
        raise NotPossible(f"{name}: {who} is kinematic only: no mass properties are published for it")
    if payloads and not line.dynamic:
        raise InvalidInput(f"{name}: payload has no influence on this quantity")
    if forces and not line.forces:
        raise InvalidInput(f"{name}: takes no external forces")
    if line.frame and frame is None:
        raise InvalidInput(f"{name}: frame is missing, expected a name of robot.frames")
    bodies = [b.name for b in subject.model.bodies]
    for body in payloads:
        if body not in bodies:
            raise UnknownName(f'{name}: payload on unknown body "{body}" of {who}{did_you_mean(body, bodies)}')


def _make(
    subject: Subject,
    line: Quantity,
    name: str,
    frame: str | None,
    forces: tuple[str, ...],
    payloads: tuple[str, ...],
    key: str,
) -> Kernel:
    inputs: list[tuple[str, tuple[int, ...]]] = [(i, (_size(subject, INPUT_AXES[i]),)) for i in line.inputs.split()]
    inputs += [(f"variables[{v!r}]", ()) for v in subject.live]
    inputs += [(f"forces[{f!r}]", (6,)) for f in forces]
    for p in payloads:
        inputs += [(f"payload[{p!r}].mass", ()), (f"payload[{p!r}].com", (3,)), (f"payload[{p!r}].inertia", (3, 3))]
    outputs = [(label, tuple(_size(subject, axis) for axis in axes.split())) for label, axes in line.outputs]
    guarded = any(n.nq > n.nv for n in subject.tree.nodes)
    guard = "the quaternion of a floating or ball joint is off unit length by more than 1e-6" if guarded else ""
    signature = Signature(name, tuple(inputs), tuple(outputs), guard)
    return Kernel(signature, lambda: trace(subject, name, frame, forces, payloads), key)


def _size(subject: Subject, axis: str) -> int:
    sizes = {"q": subject.nq, "v": subject.nv, "s": subject.nv, "r": subject.nv, "b": len(subject.model.bodies)}
    sizes["n"] = sum(len(body.points) for body in subject.model.bodies)
    sizes["p"] = 10 * len(subject.model.bodies)
    if axis in SIZES:
        return SIZES[axis](subject)
    return sizes[axis] if axis in sizes else int(axis)


def trace(
    subject: Subject, name: str, frame: str | None = None, forces: tuple[str, ...] = (), payloads: tuple[str, ...] = ()
) -> casadi.Function:
    """The quantity of this subject as a CasADi function; its last output are guards if there are quaternions."""
    line = quantity(name)
    live = {v: SX.sym(v) for v in subject.live}
    tree = _tree_with_symbols(subject, live, line.merged)
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

    own = {i: SX.sym(i, _size(subject, INPUT_AXES[i])) for i in line.inputs.split()}
    x = _in_tree_coordinates(tree, own)
    x.q, x.subject = x.q + offset, subject
    if frame is not None:
        x.frame = subject.place_of(frame, tree)
    if forces:
        x.applied = _in_node_axes(subject, tree, x.q, wrenches)
    results = [_reduced(r, axes, tree) for r, (_, axes) in zip(line.trace(tree, x), line.outputs, strict=True)]
    guards = [_unit_guard(tree, x, label) for label in own if INPUT_AXES[label] == "q"]
    arguments = [*own.values(), *live.values(), *wrenches.values()]
    for _, mass, com, inertia in loads:
        arguments += [mass, com, inertia]
    if any(n.nq > n.nv for n in tree.nodes):
        results.append(casadi.vertcat(*guards))
    return casadi.Function(name, arguments, results, {"cse": True})


def _tree_with_symbols(subject: Subject, live: Mapping[str, SX], merge: bool) -> Tree:
    if not live:
        return subject.tree if merge else subject.full_tree
    return build_tree(subject.traced_model(live), merge=merge)


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


def _in_tree_coordinates(tree: Tree, own: dict[str, SX]) -> Inputs:
    Gq, b, G = tree.mimic_map
    follows = bool(tree.mimic)

    def expanded(label: str) -> SX:
        given = own.get(label)
        if INPUT_AXES[label] == "q":
            if given is None:
                return SX(tree.nq, 1)
            return _sparse(Gq) @ given + b if follows else given
        if given is None:
            return SX(tree.nv, 1)
        if label in ("tau", "force"):
            return given  # force-like: has no expansion; recursions that take tau reduce by G themselves
        return _sparse(G) @ given if follows else given

    states: dict[str, Any] = {k: expanded(k) for k in INPUT_AXES}
    return Inputs(**states, G=_sparse(G) if follows else None, own=own)


def _in_node_axes(subject: Subject, tree: Tree, q: SX, wrenches: Mapping[str, SX]) -> list[Applied]:
    """World-axes wrenches at frames, in the axes of the nodes that carry the frames."""
    placed = {f: subject.place_of(f, tree) for f in wrenches}
    T = poses.poses(tree, q, tuple(node for node, _ in placed.values()))
    found = []
    for f, (node, placement) in placed.items():
        w, R = wrenches[f], T[node].R.T
        found.append(Applied(node, vector(placement.position), R @ w[0:3], R @ w[3:6]))
    return found


def _reduced(result: SX, axes: str, tree: Tree) -> SX:
    """A result in tree coordinates in terms of the independent ones."""
    if not tree.mimic:
        return result
    kinds = axes.split()
    if kinds == ["q"]:
        return result[list(tree.independent[0])]
    if kinds == ["s"]:
        return result[list(tree.independent[1])]
    G = _sparse(tree.mimic_map[2])
    if kinds == ["v", "v", "v"]:
        n, own = tree.nv, len(tree.independent[1])
        layers = [G.T @ result[k, :].reshape((n, n)).T @ G for k in range(n)]
        flat = casadi.vertcat(*[layer.T.reshape((1, own * own)) for layer in layers])
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


def _sparse(A: np.ndarray) -> DM:
    return casadi.sparsify(DM(A))
