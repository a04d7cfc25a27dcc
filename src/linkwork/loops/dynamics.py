"""Dynamics with loops: accelerations that keep every loop closed.

    M a + h = tau + Q + J' lambda          Q: springs and dampers, lambda: what the closures hold
    with J a = -Jd v - 2 alpha J v - alpha^2 r  closed loops, drift of the integration pulled back
    (alpha = 0: not at all)

Only rows of J that are independent in a generic configuration take part, so redundant closures do
no harm.
Source: [Featherstone2008] section 8.2 (loop-closure constraints), stabilised after [Baumgarte1972].
"""

from __future__ import annotations

from typing import Any

import casadi
import numpy as np
from casadi import SX

from linkwork.arguments import broadcast, finite_rows
from linkwork.errors import InvalidInput
from linkwork.loops.assembly import (
    assemble,
    constraint_labels,
    constraints,
    has_closures,
    reference,
    worst_row,
)
from linkwork.loops.constraints import Rows, closure_rows, rate
from linkwork.loops.geometry import Geometry
from linkwork.loops.mobility import redundant_rows
from linkwork.loops.springs import pull_per_length
from linkwork.model import Tree
from linkwork.model.elements import Bar, Coupling, Damper, LoopClosure, Spring, TorsionSpring
from linkwork.recursions.joints import transforms
from linkwork.recursions.mimic import in_independent, maps, tree_coordinates
from linkwork.spatial.linear import factored
from linkwork.subject import Subject

START = 1e-6
"""A motion may start with loops open by this [m, rad], opening at this rate [m/s, rad/s];
stabilisation closes them."""
_ACTIVE = (LoopClosure, Coupling, Spring, Damper, TorsionSpring, Bar)


def has_loop_dynamics(subject: Subject) -> bool:
    """Whether elements change the motion of the tree: closures, couplings, springs or dampers."""
    return any(isinstance(e, _ACTIVE) for e in subject.model.elements)


def has_constraints(subject: Subject) -> bool:
    """Whether elements tie joints together: closures, couplings, bars.
    Springs and dampers alone do not."""
    return any(isinstance(e, (LoopClosure, Coupling, Bar)) for e in subject.model.elements)


def consistent(subject: Subject, q: Any = None, v: Any = None) -> tuple[np.ndarray, np.ndarray]:
    """The nearest state with closed loops: q assembled,
    v projected on the motions that keep them closed."""
    start = reference(subject) if q is None else finite_rows(q, subject.nq, "consistent: q")
    rates = np.zeros(subject.nv) if v is None else finite_rows(v, subject.nv, "consistent: v")
    lead = broadcast({"q": start.shape[:-1], "v": rates.shape[:-1]}, "consistent")
    start, rates = (np.broadcast_to(x, (*lead, x.shape[-1])).copy() for x in (start, rates))
    if not has_closures(subject):
        return start, rates
    assembly = assemble(subject, start)
    if not np.all(assembly.success):
        raise InvalidInput(
            f"consistent: {assembly.reason.ravel()[np.argmin(assembly.success.ravel())]}"
        )
    _, J, _ = constraints(subject, assembly.q)
    step = np.linalg.pinv(J, rcond=1e-9) @ (J @ rates[..., None])
    return assembly.q, rates - step[..., 0]


def open_loops(subject: Subject, q: np.ndarray, v: np.ndarray) -> str:
    """Which loop is open, or opens, in states (..., nq), (..., nv), and by how much;
    nothing where all are closed."""
    if not has_closures(subject):
        return ""
    q, v = np.atleast_2d(q), np.atleast_2d(v)
    lead = np.broadcast_shapes(q.shape[:-1], v.shape[:-1])
    q, v = (np.broadcast_to(x, (*lead, x.shape[-1])).reshape(-1, x.shape[-1]) for x in (q, v))
    r, J, _ = constraints(subject, q, v)
    rates = np.einsum("kij,kj->ki", J, v)
    for rows, word, per in ((r, "is open", ""), (rates, "opens", " a second")):
        sizes = np.abs(rows).max(axis=1, initial=0.0)
        if (sizes > START).any():
            sample = int(np.argmax(sizes))
            name, amount = worst_row(subject, rows[sample])
            at = f" (sample {sample})" if len(rows) > 1 else ""
            who = f'robot "{subject.model.name}": {name} {word} by {amount}{per} at the start{at}'
            return f"{who}; q, v = robot.consistent(q, v) gives the nearest state with closed loops"
    return ""


def constrained_acceleration(
    subject: Subject, tree: Tree, q: SX, v: SX, free: SX, M: SX, alpha: SX
) -> tuple[SX, SX, tuple[tuple[str, str], ...]]:
    """(a, lambda, labels of lambda) for generalised forces `free` = tau + Q - h on the independent
    coordinates."""
    F = factored(M)
    rows = independent_rows(subject, tree, q, v)
    if not rows.labels:
        return F.solve(free), SX(0, 1), ()
    a0, Y = F.solve(free), F.solve(rows.J.T)
    wanted = -rows.drift - 2 * alpha * (rows.J @ v) - alpha * alpha * rows.r
    reaction = factored(rows.J @ Y).solve(wanted - rows.J @ a0)
    return a0 + Y @ reaction, reaction, rows.labels


def independent_rows(subject: Subject, tree: Tree, q: SX, v: SX) -> Rows:
    """The equations of closures and couplings in independent coordinates,
    without those that repeat others."""
    spare = set(_spare(subject))
    x, w = SX.sym("q", tree.nq), SX.sym("v", tree.nv)
    rows = closure_rows(tree, x, w, tree.elements)
    kept = [k for k, label in enumerate(rows.labels) if label not in spare]
    equations = [rows.r[kept], rows.J[kept, :] @ maps(tree)[2], rows.drift[kept]]
    r, J, drift = in_independent(tree, equations, (x, w), (q, v))
    return Rows(tuple(rows.labels[k] for k in kept), r, J, drift)


def _spare(subject: Subject) -> tuple[tuple[str, str], ...]:
    return subject.once(
        _spare, lambda: redundant_rows(subject) if constraint_labels(subject) else ()
    )


def element_forces(tree: Tree, q: SX, v: SX) -> SX:
    """Q (independent nv): what springs and dampers do, by virtual work: Q = -T dL/dq."""
    x, w = SX.sym("q", tree.nq), SX.sym("v", tree.nv)
    geometry = Geometry(tree, transforms(tree, x), tree.elements)
    total = SX.zeros(tree.nv)
    for element in tree.elements:
        if isinstance(element, Spring):
            pair = geometry.pair(element.first, element.second)
            # its rate is L Ld, which exists at L = 0 too
            half_square = casadi.dot(pair.across, pair.across) / 2
            lever = casadi.jacobian(casadi.jtimes(half_square, x, rate(tree, x, w)), w)
            total = total - lever.T * pull_per_length(element, pair.length)
        elif isinstance(element, Damper):
            speed = casadi.jtimes(
                geometry.pair(element.first, element.second).length, x, rate(tree, x, w)
            )
            total = total - casadi.jacobian(speed, w).T * (SX(element.damping) * speed)
        elif isinstance(element, TorsionSpring):
            at_q, _, at_v, _ = tree.coordinates[element.joint]
            turn = x[at_q] - SX(element.free)
            total[at_v] = total[at_v] - SX(element.pretension) - SX(element.stiffness) * turn
    (forces,) = in_independent(tree, [total], (x, w), (q, v))
    return maps(tree)[2].T @ forces


def element_energy(tree: Tree, q: SX) -> SX:
    """Energy stored in springs: the integral of their tension from the free length."""
    x = tree_coordinates(tree, q)
    geometry = Geometry(tree, transforms(tree, x), tree.elements)
    total = SX(0)
    for element in tree.elements:
        if isinstance(element, Spring):
            stretch = geometry.pair(element.first, element.second).length - SX(element.free_length)
            pre, k = SX(element.pretension), SX(element.stiffness)
            if element.kind == "compression":
                stored = casadi.if_else(stretch <= 0, -pre * stretch + k * stretch**2 / 2, 0.0)
            else:
                stored = pre * stretch + k * stretch**2 / 2
                stored = (
                    casadi.if_else(stretch >= 0, stored, 0.0)
                    if element.kind == "tension"
                    else stored
                )
            total = total + stored
        elif isinstance(element, TorsionSpring):
            turn = x[tree.coordinates[element.joint][0]] - SX(element.free)
            total = total + SX(element.pretension) * turn + SX(element.stiffness) * turn**2 / 2
    return total


def damper_power(tree: Tree, q: SX, v: SX) -> SX:
    """Power lost in dampers: damping times speed squared."""
    x, w = SX.sym("q", tree.nq), SX.sym("v", tree.nv)
    geometry = Geometry(tree, transforms(tree, x), tree.elements)
    total = SX(0)
    for element in tree.elements:
        if isinstance(element, Damper):
            length = geometry.pair(element.first, element.second).length
            total = total + SX(element.damping) * casadi.jtimes(length, x, rate(tree, x, w)) ** 2
    return in_independent(tree, [total], (x, w), (q, v))[0]
