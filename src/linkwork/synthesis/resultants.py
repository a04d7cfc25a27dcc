"""Resultants: an unknown eliminated from two quadratic equations whose coefficients are polynomials
of another one.

Polynomials are lists of coefficients, highest power first: symbols, or whatever has +, - and *.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeVar

T = TypeVar("T", bound=Any)


def times(p: Sequence[T], q: Sequence[T], zero: T) -> list[T]:
    """The product of two polynomials."""
    product = [zero] * (len(p) + len(q) - 1)
    for i, a in enumerate(p):
        for j, b in enumerate(q):
            product[i + j] = product[i + j] + a * b
    return product


def resultant(first: Sequence[list[T]], second: Sequence[list[T]], zero: T) -> list[T]:
    """(A C' - C A')^2 - (A B' - B A') (B C' - C B') of A t^2 + B t + C = 0 and A' t^2 + B' t + C' =
    0."""

    def crossed(i: int, j: int) -> list[T]:
        return _minus(times(first[i], second[j], zero), times(first[j], second[i], zero))

    ac, ab, bc = crossed(0, 2), crossed(0, 1), crossed(1, 2)
    return _minus(times(ac, ac, zero), times(ab, bc, zero))


def _minus(p: Sequence[T], q: Sequence[T]) -> list[T]:
    return [a - b for a, b in zip(p, q, strict=True)]
