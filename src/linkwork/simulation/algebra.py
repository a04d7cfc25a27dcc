"""Algebra that reads the same on symbols and on numbers, so that a step is written once for
both."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import casadi
import numpy as np
from casadi import SX


def is_symbolic(x: Any) -> bool:
    return isinstance(x, SX)


def _either(symbolic: Callable[[Any], Any], numeric: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """A function of one argument, by CasADi for symbols and by numpy for numbers."""
    return lambda x: symbolic(x) if is_symbolic(x) else numeric(x)


absolute = _either(casadi.fabs, np.abs)
sign = _either(casadi.sign, np.sign)  # -1, 0 or 1
exponential = _either(casadi.exp, np.exp)
logarithm = _either(casadi.log, np.log)
root = _either(casadi.sqrt, np.sqrt)
hyperbolic_tangent = _either(casadi.tanh, np.tanh)


def dot(x: Any, y: Any) -> Any:
    return casadi.dot(x, y) if is_symbolic(x) or is_symbolic(y) else float(np.dot(x, y))


def where(condition: Any, x: Any, y: Any) -> Any:
    """Element by element: x where the condition holds, else y."""
    if is_symbolic(condition) or is_symbolic(x) or is_symbolic(y):
        return casadi.if_else(condition, x, y)
    return np.where(condition, x, y)


def smaller(x: Any, y: Any) -> Any:
    return casadi.fmin(x, y) if is_symbolic(x) or is_symbolic(y) else np.minimum(x, y)


def larger(x: Any, y: Any) -> Any:
    return casadi.fmax(x, y) if is_symbolic(x) or is_symbolic(y) else np.maximum(x, y)


def both(x: Any, y: Any) -> Any:
    return casadi.logic_and(x, y) if is_symbolic(x) or is_symbolic(y) else np.logical_and(x, y)


def either(x: Any, y: Any) -> Any:
    return casadi.logic_or(x, y) if is_symbolic(x) or is_symbolic(y) else np.logical_or(x, y)


def clipped(x: Any, limit: Any) -> Any:
    """x held within +-limit."""
    return larger(smaller(x, limit), -limit)


def joined(parts: list[Any]) -> Any:
    """Vectors or scalars one after the other."""
    if any(is_symbolic(p) for p in parts):
        return casadi.vertcat(SX(0, 1), *parts)
    return np.concatenate(
        [np.zeros(0), *[np.atleast_1d(np.asarray(p, dtype=float)) for p in parts]]
    )


def divides(k: Any, n: Any) -> Any:
    """True where n divides the whole number k."""
    return (casadi.fmod(k, n) < 0.5) if is_symbolic(k) or is_symbolic(n) else (np.fmod(k, n) < 0.5)


def part(x: Any, start: int, stop: int) -> Any:
    """Elements start .. stop - 1; none is an empty column (CasADi reads x[:0] of a single symbol as
    all of it)."""
    if stop <= start:
        return SX(0, 1) if is_symbolic(x) else np.zeros(0)
    return x[start:stop]
