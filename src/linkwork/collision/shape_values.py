"""Values of shapes: checked when they are set, copied without a check, grown by a padding."""

from __future__ import annotations

import math
from typing import Any, TypeVar

import numpy as np

from linkwork.arguments import as_doubles, shown
from linkwork.errors import InvalidInput
from linkwork.model.number import Vector


def points_of(x: Any, who: str, least: int) -> np.ndarray:
    """Points (n, 3), a copy that nobody writes to."""
    points = as_doubles(x, who)
    if points.ndim != 2 or points.shape[1] != 3 or len(points) < least:
        some = f", at least {least} of them" if least > 1 or not len(points) else ""
        raise InvalidInput(f"{who} has shape {points.shape}, expected (n, 3){some}")
    if not np.isfinite(points).all():
        raise InvalidInput(f"{who} is not finite")
    points = points.copy()
    points.flags.writeable = False
    return points


def grown_length(size: float, by: float, who: str) -> float:
    """A length grown by a padding, which may shrink it down to nothing."""
    if size + by < 0.0:
        raise InvalidInput(
            f"{who}: a padding of {by:g} m shrinks a length of {size:g} m below zero"
        )
    return size + by


def middle(a: Vector, b: Vector) -> Vector:
    return 0.5 * (a[0] + b[0]), 0.5 * (a[1] + b[1]), 0.5 * (a[2] + b[2])


def shifted_point(a: Vector, b: Vector) -> Vector:
    x, y, z = b
    if not math.isfinite(x + y + z):
        raise InvalidInput(f"shifted: by is {shown(b)}, expected three finite numbers")
    return a[0] + x, a[1] + y, a[2] + z


_Shape = TypeVar("_Shape")


def like(shape: _Shape, **changes: Any) -> _Shape:
    """A copy with other values that need no check:
    an obstacle that is dragged must not wait for them."""
    made = object.__new__(type(shape))
    for key in shape.__slots__:  # type: ignore[attr-defined]
        object.__setattr__(made, key, changes[key] if key in changes else getattr(shape, key))
    return made


def settle(shape: Any, **values: Any) -> None:
    """The checked values in the place of what came; dataclasses are frozen for everybody else."""
    name = shape.name
    if name is not None and (not isinstance(name, str) or not name):
        raise InvalidInput(f"{type(shape).__name__}: name is {name!r}, expected a name or None")
    for key, value in values.items():
        object.__setattr__(shape, key, value)
