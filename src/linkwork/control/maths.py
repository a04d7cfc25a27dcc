"""Elementary functions that read the same on symbols and on numbers,
with those of simulation.algebra."""

from __future__ import annotations

from typing import Any

import casadi
import numpy as np

from linkwork.simulation.algebra import (
    absolute,
    exponential,
    hyperbolic_tangent,
    is_symbolic,
    logarithm,
    root,
    sign,
)

__all__ = ["absolute", "exponential", "hyperbolic_tangent", "logarithm", "power", "root", "sign"]


def power(x: Any, exponent: Any) -> Any:
    """x^exponent for x >= 0; 0^exponent = 0, whatever the exponent above 0."""
    if is_symbolic(x) or is_symbolic(exponent):
        lifted = casadi.fmax(x, 1e-300)
        return casadi.if_else(x > 1e-300, casadi.exp(exponent * casadi.log(lifted)), 0.0 * x)
    with np.errstate(divide="ignore"):
        return np.where(np.asarray(x) > 1e-300, np.power(np.maximum(x, 1e-300), exponent), 0.0)
