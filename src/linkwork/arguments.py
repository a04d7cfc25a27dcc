"""Arguments: array-likes to arrays, with sentences for what cannot be one."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from linkwork.errors import InvalidInput, LinkworkError, did_you_mean
from linkwork.foreign_poses import matrix_of

MOST_AXES = 32
"""Axes that an array may have: what numpy's own broadcasting can do."""
_DOUBLE = np.dtype(np.float64)
_FEW = 32
"""Numbers of which Python knows sooner than numpy whether all are finite."""


def as_doubles(x: Any, who: str) -> np.ndarray:
    """Anything array-like as a C-contiguous float64 array,
    or InvalidInput with what prevented it as its cause.

    Poses of other libraries are their matrices (foreign_poses.py), alone or in lists.
    """
    if type(x) is float:
        return np.array(x)
    if type(x) is np.ndarray and x.dtype is _DOUBLE and 0 < x.ndim <= MOST_AXES:
        return np.ascontiguousarray(x)
    try:
        array = np.asarray(matrix_of(x))
    except LinkworkError as error:
        raise InvalidInput(f"{who}: {error}") from None
    except Exception as error:  # an object's __array__ may raise whatever it likes
        first = next(iter(str(error).strip().splitlines()), "") or type(error).__name__
        raise InvalidInput(
            f"{who} is not an array of numbers ({type(x).__name__}): {first}"
        ) from error
    if array.dtype.kind not in "fiu" or array.dtype.itemsize > 8:
        raise InvalidInput(
            f"{who} has dtype {array.dtype}, expected real numbers (float64 or convertible to it)"
        )
    if array.ndim > MOST_AXES:
        raise InvalidInput(f"{who} has {array.ndim} axes, expected at most {MOST_AXES}")
    return (
        np.ascontiguousarray(array, dtype=np.float64)
        if array.ndim
        else np.array(array, dtype=np.float64)
    )


def are_finite(array: np.ndarray) -> bool:
    """Whether no number of an array is infinite or nan."""
    if array.size <= _FEW:
        return all(map(math.isfinite, array.ravel().tolist()))
    return bool(np.isfinite(array).all())


def finite_doubles(x: Any, who: str) -> np.ndarray:
    """Anything array-like as finite float64 numbers of whatever shape."""
    array = as_doubles(x, who)
    if not are_finite(array):
        raise InvalidInput(
            f"{who} contains {array[~np.isfinite(array)].ravel()[0]}, expected finite numbers"
        )
    return array


def finite(x: Any, shape: tuple[int, ...], who: str) -> np.ndarray:
    """An array of exactly this shape with finite numbers."""
    array = as_doubles(x, who)
    if array.shape != shape:
        raise InvalidInput(f"{who} has shape {array.shape}, expected {shape}")
    if not are_finite(array):
        raise InvalidInput(f"{who} is {array.tolist()}, expected finite numbers")
    return array


def finite_rows(x: Any, n: int, who: str, why: str = "") -> np.ndarray:
    """An array (..., n) of finite numbers; `why` ends the sentence."""
    array = as_doubles(x, who)
    if array.ndim < 1 or array.shape[-1] != n:
        raise InvalidInput(
            f"{who} has shape {array.shape}, expected (..., {n}){f': {why}' if why else ''}"
        )
    if not are_finite(array):
        raise InvalidInput(f"{who} is not finite")
    return array


def mapping(x: Any, who: str) -> dict[str, Any]:
    """A mapping by name; None is an empty one."""
    if x is None:
        return {}
    if not isinstance(x, Mapping) or not all(isinstance(name, str) for name in x):
        raise InvalidInput(f"{who} is {shown(x)}, expected a mapping by name")
    return dict(x)


def numbers_by_name(x: Any, who: str) -> dict[str, float]:
    """Finite numbers by name; None is none of them."""
    return {name: number(value, f"{who}[{name!r}]") for name, value in mapping(x, who).items()}


def name_list(x: Any, who: str) -> tuple[str, ...]:
    """Several names; one alone is taken for a list of one."""
    if isinstance(x, str):
        return (x,)
    if not isinstance(x, Iterable):
        raise InvalidInput(f"{who} is {shown(x)}, expected a list of names")
    names = tuple(x)
    if not all(isinstance(name, str) for name in names):
        raise InvalidInput(f"{who} is {shown(x)}, expected a list of names")
    return names


def broadcast(shapes: Mapping[str, tuple[int, ...]], who: str) -> tuple[int, ...]:
    """The batch shape that several batches have together."""
    try:
        return np.broadcast_shapes(*shapes.values())
    except ValueError:
        told = ", ".join(f"{name} {shape}" for name, shape in shapes.items())
        raise InvalidInput(f"{who}: batch shapes do not broadcast: {told}") from None


def number(x: Any, who: str) -> float:
    """One finite number."""
    if type(x) is float and math.isfinite(x):  # the usual case, in a tenth of the time
        return x
    return float(finite(x, (), who))


def whole(x: Any, who: str, least: int = 1, expected: str = "") -> int:
    """A whole number of at least `least`; `expected` says it in other words."""
    if isinstance(x, bool) or not isinstance(x, (int, np.integer)) or x < least:
        raise InvalidInput(
            f"{who} is {shown(x)}, expected {expected or f'a whole number of at least {least}'}"
        )
    return int(x)


def flag(x: Any, who: str) -> bool:
    """True or False, and nothing that is taken for one."""
    if not isinstance(x, (bool, np.bool_)):
        raise InvalidInput(f"{who} is {shown(x)}, expected True or False")
    return bool(x)


def shown(x: Any) -> str:
    """What came, in at most 60 characters, also where it cannot be shown."""
    try:
        text = " ".join(repr(x)[:2000].split())
    except Exception:  # an object's __repr__ may raise whatever it likes
        return f"an object of type {type(x).__name__}"
    return text if len(text) <= 60 else f"{text[:57]}..."


def choice(value: Any, choices: tuple[str, ...], who: str) -> str:
    """One of the named choices."""
    if not isinstance(value, str) or value not in choices:
        near = did_you_mean(value, choices) if isinstance(value, str) else ""
        raise InvalidInput(
            f"{who} is {shown(value)}, expected one of {', '.join(map(repr, choices))}{near}"
        )
    return value
