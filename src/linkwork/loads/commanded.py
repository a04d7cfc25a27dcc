"""Loads with the efforts of the commands themselves, where a four-bar's crank goes round (see actuation/cranks.py)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import casadi
import numpy as np
from casadi import SX

from linkwork.actuation.cranks import crank_factors, has_cranks
from linkwork.actuation.layout import layout_of
from linkwork.engine.kernel import Kernel, Signature
from linkwork.loads.loads import Loads
from linkwork.quantities import context_of
from linkwork.subject import Subject


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
        factors = crank_factors(subject, subject.traced_tree(live), q, c)
        return casadi.Function("crank_factors", [q, c, *live.values()], [factors], {"cse": True})

    return Kernel(Signature("analyse", tuple(inputs), (("factors", (m,)),)), trace, key)
