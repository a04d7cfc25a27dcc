"""Conversion: joint coordinates with their rates from commands,
in closed form or by solving the loops."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import casadi
import numpy as np
from casadi import SX

from linkwork import quantities
from linkwork.actuation.coordinates import explain, forward
from linkwork.actuation.implicit import solve
from linkwork.actuation.layout import CommandLayout, layout_of
from linkwork.arguments import finite_rows
from linkwork.engine.kernel import Context
from linkwork.errors import ComputationError, InvalidInput
from linkwork.model import Tree
from linkwork.subject import Subject


def from_actuators(
    subject: Subject,
    c: Any,
    cd: Any = None,
    cdd: Any = None,
    q0: Any = None,
    variables: Mapping[str, Any] | None = None,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """q, v, a (..., nq), (..., nv), (..., nv) for commands c,
    their rates cd and second derivatives cdd.

    Left out, cd and cdd are zero; at a dead point only positions exist, so rates are refused there.
    """
    layout = layout_of(subject)
    if layout.implicit:
        return solve(subject, c, cd, cdd, q0, variables)
    if q0 is not None:  # needed only where loops have several assemblies, but wrong is wrong
        finite_rows(
            q0,
            subject.nq,
            "from_actuators: q0",
            f'robot "{subject.model.name}" has nq = {subject.nq}',
        )
    at_rest = cd is None and cdd is None
    zeros = np.zeros(layout.sizes[1])
    arguments = [c] if at_rest else [c, zeros if cd is None else cd, zeros if cdd is None else cdd]
    call = _forward_caller(subject, "from_actuators_at_rest" if at_rest else "from_actuators")
    try:
        results = call(*arguments, *subject.variable_values(variables))
    except (InvalidInput, ComputationError):
        explain(subject, layout, c, not at_rest, variables)
        raise
    if not at_rest:
        return results
    rest = np.zeros((*np.shape(results)[:-1], subject.nv))
    return results, rest, rest.copy()


def _forward_caller(subject: Subject, name: str) -> Callable[..., Any]:
    """The fastest callable for commands."""
    kernel = lambda: quantities.kernel_of(subject, name)
    return subject.once(
        (_forward_caller, name), lambda: kernel().caller(_context(subject, layout_of(subject)))
    )


def command_guard(subject: Subject) -> str:
    """What it means where a command has no coordinates; nothing where every command has some."""
    guarded = any(
        d.drive.inside([SX.sym("c") for _ in d.commands]) for d in layout_of(subject).driven
    )
    return "a command is outside its range" if guarded else ""


def traced_forward(tree: Tree, x: quantities.Inputs) -> Sequence[SX]:
    """(q, v, a) of a line of the table, with guards."""
    motion, guards = forward(x.subject, tree, x.own["c"], x.own["cd"], x.own["cdd"])
    return *motion, casadi.vertcat(*guards)


def traced_forward_at_rest(tree: Tree, x: quantities.Inputs) -> Sequence[SX]:
    """(q,) of a line of the table, with guards."""
    still = SX.zeros(layout_of(x.subject).sizes[1])
    (q, _, _), guards = forward(x.subject, tree, x.own["c"], still, still)
    return q, casadi.vertcat(*guards)


def _context(subject: Subject, layout: CommandLayout) -> Context:
    who = f'robot "{subject.model.name}"'
    n, m = layout.sizes
    commands = (
        f"{who} has {n} commands: "
        f"{', '.join(layout.names[:8])}{', ...' if len(layout.names) > 8 else ''}"
    )
    return Context(
        who,
        {
            "c": commands,
            "cd": f"{who} has {m} command rates",
            "cdd": f"{who} has {m} command rates",
        },
    )
