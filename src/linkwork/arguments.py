"""Arguments: array-likes to arrays, with sentences for what cannot be one."""

from __future__ import annotations

from typing import Any

import numpy as np

from linkwork.errors import InvalidInput


def as_doubles(x: Any, who: str) -> np.ndarray:
    """Anything array-like as a C-contiguous float64 array, or InvalidInput."""
    try:
        array = np.asarray(x)
    except ValueError as error:
        raise InvalidInput(f"{who} is not an array of numbers: {error}") from None
    if array.dtype.kind not in "fiu" or array.dtype.itemsize > 8:
        raise InvalidInput(f"{who} has dtype {array.dtype}, expected real numbers (float64 or convertible to it)")
    return np.ascontiguousarray(array, dtype=np.float64) if array.ndim else np.array(array, dtype=np.float64)


def finite(x: Any, shape: tuple[int, ...], who: str) -> np.ndarray:
    """An array of exactly this shape with finite numbers."""
    array = as_doubles(x, who)
    if array.shape != shape:
        raise InvalidInput(f"{who} has shape {array.shape}, expected {shape}")
    if not np.isfinite(array).all():
        raise InvalidInput(f"{who} is {array.tolist()}, expected finite numbers")
    return array


def choice(value: Any, choices: tuple[str, ...], who: str) -> str:
    """One of the named choices."""
    if not isinstance(value, str) or value not in choices:
        raise InvalidInput(f"{who} is {value!r}, expected one of {', '.join(map(repr, choices))}")
    return value
