"""Checks of arguments that several control laws share."""

from __future__ import annotations

from typing import Any

import numpy as np

from linkwork.arguments import as_doubles, finite_doubles, number
from linkwork.arguments import whole as whole
from linkwork.errors import InvalidInput


def positive(x: Any, who: str, zero: bool = False) -> float:
    """One finite number above zero (or at least zero)."""
    value = number(x, who)
    if not np.isfinite(value) or value < 0 or (value == 0 and not zero):
        bound = "of at least 0" if zero else "above 0"
        raise InvalidInput(f"{who} is {x!r}, expected a finite number {bound}")
    return value


def positive_array(x: Any, who: str, zero: bool = False) -> np.ndarray:
    """Finite numbers above zero (or at least zero), of any shape."""
    return within(x, who, 0.0, np.inf, closed=(zero, False))


def within(
    x: Any, who: str, low: float, high: float, closed: tuple[bool, bool] = (True, True)
) -> np.ndarray:
    """Finite numbers inside an interval; `closed` says which of its ends belong to it."""
    values = as_doubles(x, who)
    good = np.isfinite(values)
    good &= (values >= low) if closed[0] else (values > low)
    good &= (values <= high) if closed[1] else (values < high)
    if not good.all():
        left, right = "[" if closed[0] else "(", "]" if closed[1] else ")"
        worst = float(values[~good].ravel()[0]) if values.ndim else float(values)
        raise InvalidInput(
            f"{who} is {worst:g}, expected numbers in {left}{low:g}, {high:g}{right}"
        )
    return values


def definite(x: Any, n: int, who: str, semi: bool = False) -> np.ndarray:
    """A symmetric positive (semi)definite matrix (n, n) from a number, a vector (n,) or a
    matrix."""
    entries = finite_doubles(x, who)
    if entries.ndim == 0:
        matrix = np.eye(n) * entries
    elif entries.shape == (n,):
        matrix = np.diag(entries)
    elif entries.shape == (n, n):
        matrix = entries
    else:
        expected = f"a number, {n} numbers or a ({n}, {n}) matrix"
        raise InvalidInput(f"{who} has shape {entries.shape}, expected {expected}")
    scale = np.abs(matrix).max(initial=0.0)
    kind = "symmetric positive semidefinite" if semi else "symmetric positive definite"
    skew = np.abs(matrix - matrix.T)
    if skew.max(initial=0.0) > 1e-9 * scale:
        i, k = sorted(int(at) for at in np.unravel_index(int(skew.argmax()), skew.shape))
        told = f"[{i}, {k}] is {matrix[i, k]:g} and [{k}, {i}] is {matrix[k, i]:g}"
        raise InvalidInput(f"{who} is not symmetric, {told}; expected a {kind} matrix")
    least = float(np.linalg.eigvalsh(matrix)[0]) if n else 0.0
    if least < -1e-12 * scale or (least <= 0 and not semi):
        raise InvalidInput(f"{who} has the eigenvalue {least:.6g}, expected a {kind} matrix")
    return matrix
