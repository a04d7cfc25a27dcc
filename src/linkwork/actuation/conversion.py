"""Conversion: joint coordinates with their rates from commands, in closed form or by solving the loops."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import casadi
import numpy as np
from casadi import SX

from linkwork.actuation.coordinates import Sized, explain, forward
from linkwork.actuation.implicit import solve
from linkwork.actuation.layout import Layout, layout_of
from linkwork.arguments import finite_rows
from linkwork.engine.kernel import Context, Kernel, Signature
from linkwork.errors import ComputationError, InvalidInput
from linkwork.subject import Subject


def from_actuators(
    subject: Subject,
    c: Any,
    cd: Any = None,
    cdd: Any = None,
    q0: Any = None,
    variables: Mapping[str, Any] | None = None,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """q, v, a (..., nq), (..., nv), (..., nv) for commands c, their rates cd and second derivatives cdd.

    Left out, cd and cdd are zero; at a dead point only positions exist, so rates are refused there.
    """
    layout = layout_of(subject)
    if layout.implicit:
        return solve(subject, c, cd, cdd, q0, variables)
    if q0 is not None:  # needed only where loops have several assemblies, but wrong is wrong
        finite_rows(q0, subject.nq, "from_actuators: q0", f'robot "{subject.model.name}" has nq = {subject.nq}')
    name = "from_actuators" if cd is not None or cdd is not None else "from_actuators at rest"
    zeros = np.zeros(layout.sizes[1])
    arguments = [c] if name.endswith("rest") else [c, zeros if cd is None else cd, zeros if cdd is None else cdd]
    try:
        results = _forward_caller(subject, name)(*arguments, *subject.variable_values(variables))
    except (InvalidInput, ComputationError):
        explain(subject, layout, c, cd is not None or cdd is not None, variables)
        raise
    if not name.endswith("rest"):
        return results
    rest = np.zeros((*np.shape(results)[:-1], subject.nv))
    return results, rest, rest.copy()


def _forward_caller(subject: Subject, name: str) -> Callable[..., Any]:
    """The fastest callable for commands."""

    def made() -> Callable[..., Any]:
        kernel = subject.kernel(name, lambda key: _forward_kernel(subject, name, key))
        return kernel.caller(_context(subject, layout_of(subject)))

    return subject.once((_forward_caller, name), made)


def _forward_kernel(subject: Subject, name: str, key: str) -> Kernel:
    layout = layout_of(subject)
    n, m = layout.sizes
    at_rest = name.endswith("rest")
    inputs: Sized = [("c", (n,))] if at_rest else [("c", (n,)), ("cd", (m,)), ("cdd", (m,))]
    inputs += [(f"variables[{v!r}]", ()) for v in subject.live]
    outputs = [("q", (subject.nq,))] if at_rest else [("q", (subject.nq,)), ("v", (subject.nv,)), ("a", (subject.nv,))]
    guarded = any(d.drive.inside([SX.sym("c") for _ in d.commands]) for d in layout.driven)
    guard = "a command is outside its range" if guarded else ""

    def trace() -> casadi.Function:
        live = {v: SX.sym(v) for v in subject.live}
        c, cd, cdd = SX.sym("c", n), SX.sym("cd", m), SX.sym("cdd", m)
        given = [c] if at_rest else [c, cd, cdd]
        rates = (SX.zeros(m), SX.zeros(m)) if at_rest else (cd, cdd)
        results, guards = forward(subject, subject.traced_tree(live), c, *rates)
        outs = list(results[:1] if at_rest else results)
        if guarded:
            outs.append(casadi.vertcat(*guards))
        return casadi.Function("from_actuators", [*given, *live.values()], outs, {"cse": True})

    return Kernel(Signature("from_actuators", tuple(inputs), tuple(outputs), guard), trace, key)


def _context(subject: Subject, layout: Layout) -> Context:
    who = f'robot "{subject.model.name}"'
    n, m = layout.sizes
    commands = f"{who} has {n} commands: {', '.join(layout.names[:8])}{', ...' if len(layout.names) > 8 else ''}"
    return Context(who, {"c": commands, "cd": f"{who} has {m} command rates", "cdd": f"{who} has {m} command rates"})
