"""Efforts: what motors and actuators do to a robot,
and the accelerations that follow with loops kept closed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import casadi
import numpy as np
from casadi import SX

from linkwork import quantities
from linkwork.actuation.coordinates import backward
from linkwork.errors import ComputationError, InvalidInput
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

    Loops must be closed; with stabilisation [1/s], which pulls the drift of an integration back, to
    5 cm or 0.05 rad.
    """
    state = {"q": q, "v": v, "effort": effort, "stabilisation": stabilisation}
    try:
        return quantities.evaluate(subject, "loop_dynamics", state, variables=variables)
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


def traced_dynamics(tree: Tree, x: quantities.Inputs) -> Sequence[SX]:
    """(a,) of a line of the table, with the guard that loops are closed,
    or nearly so where they are pulled back."""
    subject, q, v, alpha = x.subject, x.own["q"], x.own["v"], x.own["stabilisation"]
    (M, *_) = quantities.trace(subject, "mass_matrix").call([q, *x.live])
    (h, *_) = quantities.trace(subject, "inverse_dynamics").call([q, v, SX(subject.nv, 1), *x.live])
    free = generalised(subject, tree, q, x.own["effort"]) + element_forces(tree, q, v) - h
    a, _, _ = constrained_acceleration(subject, tree, q, v, free, M, alpha)
    allowed = casadi.if_else(alpha > 0, DRIFT, OPEN)
    return a, allowed - largest_gap(tree, q)
