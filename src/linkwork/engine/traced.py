"""Traced: the kernel of expressions over one symbol an input."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import casadi
from casadi import SX

from linkwork.engine.kernel import Kernel, Signature


def traced(
    signature: Signature, expressions: Callable[..., SX | Sequence[Any]], key: str | None = None
) -> Kernel:
    """The kernel of expressions(*symbols): one expression or several,
    guards last if the signature has a guard.

    The key, known before tracing, names all that decides the expressions; without one their program
    is the key.
    """

    def function() -> casadi.Function:
        symbols = [SX.sym(label, *(*shape, 1, 1)[:2]) for label, shape in signature.inputs]
        results = expressions(*symbols)
        several = results if isinstance(results, (tuple, list)) else [results]
        return casadi.Function("traced", symbols, [SX(result) for result in several], {"cse": True})

    return Kernel(signature, function, key)
