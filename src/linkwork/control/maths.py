"""Elementary functions that read the same on symbols and on numbers, beside those of simulation.algebra."""

from __future__ import annotations

from typing import Any

import casadi
import numpy as np

from linkwork.simulation.algebra import is_symbolic


def absolute(x: Any) -> Any:
    return casadi.fabs(x) if is_symbolic(x) else np.abs(x)


def sign(x: Any) -> Any:
    """-1, 0 or 1."""
    return casadi.sign(x) if is_symbolic(x) else np.sign(x)


def exponential(x: Any) -> Any:
    return casadi.exp(x) if is_symbolic(x) else np.exp(x)


def logarithm(x: Any) -> Any:
    return casadi.log(x) if is_symbolic(x) else np.log(x)


def root(x: Any) -> Any:
    return casadi.sqrt(x) if is_symbolic(x) else np.sqrt(x)


def hyperbolic_tangent(x: Any) -> Any:
    return casadi.tanh(x) if is_symbolic(x) else np.tanh(x)


def power(x: Any, exponent: Any) -> Any:
    """x^exponent for x >= 0; 0^exponent = 0, whatever the exponent above 0."""
    if is_symbolic(x) or is_symbolic(exponent):
        lifted = casadi.fmax(x, 1e-300)
        return casadi.if_else(x > 1e-300, casadi.exp(exponent * casadi.log(lifted)), 0.0 * x)
    with np.errstate(divide="ignore"):
        return np.where(np.asarray(x) > 1e-300, np.power(np.maximum(x, 1e-300), exponent), 0.0)
