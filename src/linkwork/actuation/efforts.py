"""Efforts: what motors and actuators do to a robot, and the accelerations that follow with loops kept closed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import casadi
import numpy as np
from casadi import SX

from linkwork import quantities
from linkwork.actuation.coordinates import backward
from linkwork.actuation.layout import layout_of
from linkwork.engine.kernel import Kernel, Signature
from linkwork.errors import ComputationError, InvalidInput, NotPossible
from linkwork.loops.assembly import has_closures
from linkwork.loops.closed import GUARD, OPEN, largest_gap, refuse_open
from linkwork.loops.dynamics import constrained_acceleration, element_forces
from linkwork.loops.singular import refuse_singular
from linkwork.model import Tree
from linkwork.subject import Subject

DRIFT = 0.05
"""A loop that is open by more [m, rad] is no drift, which stabilisation would pull back."""


def loop_dynamics(
    subject: Subject,
    q: Any,
    v: Any,
    effort: Any,
    stabilisation: float = 0.0,
    variables: Mapping[str, Any] | None = None,
) -> np.ndarray:
    """a (..., nv) for efforts (..., nc) of motors and actuators, in the order of `robot.actuators`.

    Loops must be closed; with stabilisation [1/s], which pulls the drift of an integration back, to 5 cm or 0.05 rad.
    """
    if subject.model.kinematic_only:
        who = f'robot "{subject.model.name}"'
        raise NotPossible(f"loop_dynamics: {who} is kinematic only: no mass properties are published for it")
    kernel = subject.kernel("loop_dynamics", lambda key: _kernel(subject, key))
    given = [q, v, effort, stabilisation, *subject.variable_values(variables)]
    try:
        return kernel.call(given, None, quantities.context_of(subject))
    except (ComputationError, InvalidInput) as error:
        if isinstance(error, ComputationError) or GUARD in str(error):
            refuse_open(subject, "loop_dynamics", q, variables)
            refuse_singular(subject, "loop_dynamics", q, variables)
        raise


def generalised(subject: Subject, tree: Tree, q: SX, effort: SX) -> SX:
    """tau (nv) of motors and actuators: (d command rates / dv)' effort."""
    v = SX.sym("v", subject.nv)
    _, cd, _ = backward(subject, tree, q, v, SX.zeros(subject.nv))
    return casadi.jacobian(cd, v).T @ effort


def _kernel(subject: Subject, key: str) -> Kernel:
    m, closed = layout_of(subject).sizes[1], has_closures(subject)
    inputs: list[tuple[str, tuple[int, ...]]] = [("q", (subject.nq,)), ("v", (subject.nv,)), ("effort", (m,))]
    inputs += [("stabilisation", ()), *((f"variables[{v!r}]", ()) for v in subject.live)]

    def trace() -> casadi.Function:
        live = {v: SX.sym(v) for v in subject.live}
        tree = subject.traced_tree(live)
        q, v, effort, alpha = SX.sym("q", subject.nq), SX.sym("v", subject.nv), SX.sym("effort", m), SX.sym("alpha")
        (M, *_) = quantities.trace(subject, "mass_matrix").call([q, *live.values()])
        (h, *_) = quantities.trace(subject, "inverse_dynamics").call([q, v, SX(subject.nv, 1), *live.values()])
        free = generalised(subject, tree, q, effort) + element_forces(tree, q, v) - h
        a, _, _ = constrained_acceleration(subject, tree, q, v, free, M, alpha)
        allowed = casadi.if_else(alpha > 0, DRIFT, OPEN)
        results = [a, allowed - largest_gap(tree, q)] if closed else [a]
        return casadi.Function("loop_dynamics", [q, v, effort, alpha, *live.values()], results, {"cse": True})

    guard = GUARD if closed else ""
    return Kernel(Signature("loop_dynamics", tuple(inputs), (("a", (subject.nv,)),), guard), trace, key)
