"""Numbers of a description: floats, or CasADi scalars where a variable of the robot is kept live.

Vectors and matrices of the model are tuples of such numbers, so that a model is immutable, hashable
while it is numeric, and needs no second class for a robot whose lengths are symbols.
"""

from __future__ import annotations

import math
from typing import Any, TypeAlias

import casadi

Number: TypeAlias = Any  # float or a 1x1 casadi.SX
Vector: TypeAlias = tuple[Number, Number, Number]
Matrix: TypeAlias = tuple[Vector, Vector, Vector]

ZERO: Vector = (0.0, 0.0, 0.0)
IDENTITY: Matrix = ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0))


_FLOATS = frozenset({float})


def all_floats(numbers: tuple[Number, ...]) -> bool:
    """True if every number is a float, as nearly all numbers of a description are: asked first,
    and quickly."""
    return _FLOATS.issuperset(map(type, numbers))


def finite(numbers: tuple[Number, ...]) -> bool:
    """True if every number is finite; symbols count as finite."""
    if all_floats(numbers):
        return all(map(math.isfinite, numbers))
    kinds = (int, float, casadi.SX)  # a symbol times zero is a constant of CasADi
    return all(
        has_symbols(x) or (isinstance(x, kinds) and math.isfinite(plain(x))) for x in numbers
    )


def is_symbol(x: Number) -> bool:
    """True for a CasADi number that is not a constant."""
    return isinstance(x, casadi.SX) and not x.is_constant()


def plain(x: Number) -> Number:
    """A constant CasADi scalar as a float; a symbol and a float unchanged."""
    return float(x) if not is_symbol(x) else x


def has_symbols(x: Any) -> bool:
    """True if any number of a nested tuple is a symbol."""
    if type(x) is float:  # nearly always: asked first
        return False
    if not isinstance(x, (tuple, list)):
        return is_symbol(x)
    if _FLOATS.issuperset(map(type, x)):
        return False
    for y in x:
        if type(y) is not float and has_symbols(y):
            return True
    return False


def sin(x: Number) -> Number:
    return casadi.sin(x) if is_symbol(x) else math.sin(x)


def cos(x: Number) -> Number:
    return casadi.cos(x) if is_symbol(x) else math.cos(x)


def sqrt(x: Number) -> Number:
    return casadi.sqrt(x) if is_symbol(x) else math.sqrt(x)


def dot(a: Vector, b: Vector) -> Number:
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


def cross(a: Vector, b: Vector) -> Vector:
    return (a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0])


def add(a: Vector, b: Vector) -> Vector:
    return (a[0] + b[0], a[1] + b[1], a[2] + b[2])


def subtract(a: Vector, b: Vector) -> Vector:
    return (a[0] - b[0], a[1] - b[1], a[2] - b[2])


def scale(s: Number, a: Vector) -> Vector:
    return (s * a[0], s * a[1], s * a[2])


def norm(a: Vector) -> Number:
    return sqrt(dot(a, a))


def transpose(A: Matrix) -> Matrix:
    (a, b, c), (d, e, f), (g, h, i) = A
    return ((a, d, g), (b, e, h), (c, f, i))


def times(A: Matrix, x: Vector) -> Vector:
    """A x."""
    return (dot(A[0], x), dot(A[1], x), dot(A[2], x))


def product(A: Matrix, B: Matrix) -> Matrix:
    """A B."""
    (a, b, c), (d, e, f), (g, h, i) = B  # written out: readers of files do little else
    (x, y, z), (u, v, w), (p, q, r) = A
    return (
        (x * a + y * d + z * g, x * b + y * e + z * h, x * c + y * f + z * i),
        (u * a + v * d + w * g, u * b + v * e + w * h, u * c + v * f + w * i),
        (p * a + q * d + r * g, p * b + q * e + r * h, p * c + q * f + r * i),
    )


def matrix_sum(A: Matrix, B: Matrix) -> Matrix:
    return tuple(add(a, b) for a, b in zip(A, B, strict=True))  # type: ignore[return-value]
