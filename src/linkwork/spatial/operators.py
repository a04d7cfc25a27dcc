"""Operators: CasADi's arithmetic on symbols, without its search among overloads.

`x * y` asks CasADi for `times`, which tries numbers, matrices of numbers and symbols in turn and
calls back into Python at every attempt: eight ninths of the time of a product, and most of the time
of a trace. `SX.binary` is where `times` ends for symbols: the same nodes, simplified in the same
way.

Functions that have no such shortcut (`mtimes`, `cross`, `vertcat`, ...) still search. What they ask
a symbol first is `__DM__`, whether it can be a matrix of numbers, then `__MX__`; an attribute that
is missing is an exception raised and caught, several times a call. A symbol that has them and
answers "no" takes a third of the time.

Entries of a matrix are taken out by one call (`entries`), and put in by slices that are made once
(`block`).
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import casadi
import numpy as np
from casadi import SX

OPERATORS = {
    "add": casadi.OP_ADD,
    "sub": casadi.OP_SUB,
    "mul": casadi.OP_MUL,
    "truediv": casadi.OP_DIV,
}
"""Python's word for an operator -> CasADi's."""
QUESTIONS = ("__DM__", "__MX__")
"""What CasADi's search calls, where there is such a method,
to have a matrix of numbers or a matrix expression."""
DIRECT = frozenset((SX, float, int))
"""What meets a symbol without a search; arrays and other matrices go CasADi's own way."""


PLACES = tuple(casadi.Slice(k) for k in range(9))
"""Places of entries in a dense matrix of up to 3 x 3, by columns:
of a number CasADi makes a slice at every call."""


def quicken() -> None:
    """Give the class of symbols direct operators; whoever traces asks for it,
    the first time counts."""
    for question in QUESTIONS:
        # called without arguments it gives None, and no Python code runs
        setattr(SX, question, type(None))
    for word, operation in OPERATORS.items():
        for name in (f"__{word}__", f"__i{word}__", f"__r{word}__"):
            usual = getattr(SX, name)
            if not hasattr(usual, "usual"):
                setattr(SX, name, _direct(operation, usual, is_reversed=name.startswith("__r")))


def _direct(operation: int, usual: Any, is_reversed: bool) -> Any:
    binary = casadi._casadi.SX_binary  # type: ignore[attr-defined]  # SX.binary without its wrapper

    def forward(x: SX, y: Any) -> Any:
        return binary(operation, x, y) if type(y) in DIRECT else usual(x, y)

    def backward(x: SX, y: Any) -> Any:
        return binary(operation, y, x) if type(y) in DIRECT else usual(x, y)

    direct: Any = backward if is_reversed else forward
    direct.usual = usual
    return direct


def block(rows: Sequence[Sequence[Any]]) -> SX:
    """A dense matrix of scalars, numbers or symbols: `vertcat` of `horzcat` without their searches.

    One of numbers alone is shared by all who ask for it: whoever changes entries begins with a
    matrix of his own.
    """
    if not any(type(entry) is SX for row in rows for entry in row):
        numbers = np.array(rows, dtype=float)
        return _constant(numbers.tobytes(), numbers.shape)
    by_columns = [entry for column in zip(*rows, strict=True) for entry in column]
    symbols = [entry if type(entry) is SX else SX(entry) for entry in by_columns]
    if not all(symbol.is_dense() for symbol in symbols):  # a structural zero stays one
        return casadi.vertcat(*[casadi.horzcat(*row) for row in rows])
    whole = SX.zeros(len(rows), len(rows[0]))
    for k, symbol in enumerate(symbols):
        whole.set_nz(symbol, False, PLACES[k] if k < len(PLACES) else k)
    return whole


@lru_cache(maxsize=1 << 10)
def _constant(numbers: bytes, shape: tuple[int, int]) -> SX:
    """A matrix of numbers, made once: recursions ask for a node's axis and placement again and
    again.

    As many as a large robot has; those of robots that are gone make way.
    """
    return SX(np.frombuffer(numbers).reshape(shape))


def entries(x: SX) -> list[SX]:
    """Every entry, by columns, structural zeros as zeros."""
    elements: list[SX] = x.elements()  # type: ignore[assignment]
    return elements


def sine_and_cosine(angle: SX) -> tuple[SX, SX]:
    """`sin` and `cos` without their searches."""
    return SX.unary(casadi.OP_SIN, angle), SX.unary(casadi.OP_COS, angle)
