"""Cranks: efforts of four-bar drives for the crank that is commanded, where two belong to one rocker.

A crank that goes round moves its rocker to and fro, so that coordinates alone do not say where it stands, and loads
take the crank nearer zero. Whoever has the commands knows better:

    tau = effort dc/dq (q),      effort at c = tau dq/dc (c)
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import casadi
import numpy as np
from casadi import SX

from linkwork.engine.kernel import Kernel, Signature
from linkwork.loops.commands import drives, traced_tree
from linkwork.loops.layout import layout_of
from linkwork.loops.loads import Loads
from linkwork.loops.transmissions import FourBarDrive
from linkwork.model import Tree
from linkwork.quantities import context_of
from linkwork.subject import Subject

SAME = 1e-6
"""Crank angles this near [rad] are one: the effort stays as it was found."""


def has_cranks(subject: Subject) -> bool:
    return any(isinstance(driven.drive, FourBarDrive) for driven in layout_of(subject).driven)


def crank_factors(subject: Subject, tree: Tree, q: SX, c: SX) -> SX:
    """(nc,): what efforts found from q alone are to be multiplied by for the commands c; 1 but for other cranks."""
    found = SX.ones(layout_of(subject).sizes[1])
    for driven, drive in drives(subject, tree):
        if isinstance(drive, FourBarDrive):
            one, zero = [SX(1)], [SX(0)]
            at = c[driven.commands[0]]
            (taken,), (by_q,), _ = drive.backward([q[driven.q[0]]], one, zero)
            _, (by_c,), _ = drive.forward([at], one, zero)
            same = casadi.fabs(casadi.sin((at - taken) / 2)) < SAME / 2
            found[driven.rates[0]] = casadi.if_else(same, 1, by_q * by_c)
    return found


def commanded(subject: Subject, c: Any, q: Any, found: Loads, variables: Mapping[str, Any] | None) -> Loads:
    """Loads with the efforts of the commands c (..., nc) themselves."""
    if not has_cranks(subject):
        return found
    kernel = subject.kernel("crank_factors", lambda key: _kernel(subject, key))
    factors = kernel.call([q, c, *subject.variable_values(variables)], None, context_of(subject))
    followers = np.ones((*np.shape(factors)[:-1], found.efforts.shape[-1] - np.shape(factors)[-1]))
    return replace(found, efforts=found.efforts * np.concatenate([factors, followers], axis=-1))


def _kernel(subject: Subject, key: str) -> Kernel:
    n, m = layout_of(subject).sizes
    inputs: list[tuple[str, tuple[int, ...]]] = [("q", (subject.nq,)), ("c", (n,))]
    inputs += [(f"variables[{v!r}]", ()) for v in subject.live]

    def trace() -> casadi.Function:
        live = {v: SX.sym(v) for v in subject.live}
        q, c = SX.sym("q", subject.nq), SX.sym("c", n)
        factors = crank_factors(subject, traced_tree(subject, live), q, c)
        return casadi.Function("crank_factors", [q, c, *live.values()], [factors], {"cse": True})

    return Kernel(Signature("analyse", tuple(inputs), (("factors", (m,)),)), trace, key)
