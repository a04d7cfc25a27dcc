"""Direct operators give what CasADi's own give, to the node."""

from __future__ import annotations

import operator

import casadi
import numpy as np
import pytest
from casadi import DM, SX

from linkwork.spatial.operators import OPERATORS, block, quicken

x, y = SX.sym("x"), SX.sym("y")
column, matrix = SX.sym("c", 3), SX.sym("M", 3, 3)
LEFT = {
    "symbol": x,
    "sum": x + y,
    "zero": SX(0.0),
    "one": SX(1.0),
    "structural zero": SX(1, 1),
    "column": column,
    "matrix": matrix,
    "diagonal": casadi.diag(column),
}
RIGHT = LEFT | {
    "float": 2.5,
    "minus zero": -0.0,
    "int": 3,
    "numpy": np.float64(0.1),
    "array": np.arange(9.0).reshape(3, 3),
    "DM": DM(4.0),
    "bool": True,
}


def text(result) -> str:
    return SX(result).serialize()


def outcome(call, *operands) -> str:
    try:
        return text(call(*operands))
    except (RuntimeError, NotImplementedError, TypeError) as error:
        return type(error).__name__


@pytest.mark.parametrize("word", OPERATORS)
@pytest.mark.parametrize("right", RIGHT)
@pytest.mark.parametrize("left", LEFT)
def test_direct_operators_make_the_same_nodes(word, left, right):
    a, b = LEFT[left], RIGHT[right]
    for name in (f"__{word}__", f"__i{word}__", f"__r{word}__"):
        direct = getattr(SX, name)
        assert outcome(direct, a, b) == outcome(direct.usual, a, b), name


@pytest.mark.parametrize("word", OPERATORS)
def test_the_order_of_operands_is_kept(word):
    of_numbers = getattr(operator, word)
    for a, b in ((x, 3.0), (3.0, x), (x, y), (DM(3.0), x)):
        f = casadi.Function("f", [x, y], [of_numbers(a, b)])
        expected = of_numbers(
            *[
                v if isinstance(v, float) else 7.0 if v is x else 2.0 if v is y else 3.0
                for v in (a, b)
            ]
        )
        assert float(f(7.0, 2.0)) == expected


def test_shapes_that_do_not_fit_are_refused_as_before():
    with pytest.raises(RuntimeError, match="Dimension mismatch"):
        column * SX.sym("two", 2)


def test_a_second_time_changes_nothing():
    before = {word: getattr(SX, f"__{word}__") for word in OPERATORS}
    quicken()
    assert before == {word: getattr(SX, f"__{word}__") for word in OPERATORS}


CONVERSIONS = {
    "a number": lambda: DM(SX(3.0)),
    "a symbol": lambda: str(DM(x)),
    "numbers": lambda: DM([SX(1.0), SX(2.0)]),
    "a matrix expression": lambda: casadi.MX(x),
    "beside numbers": lambda: casadi.vertcat(x, 1.0, DM(2.0), np.float64(3.0)),
    "an array times a matrix": lambda: np.eye(3) @ matrix,
    "a matrix times numbers": lambda: matrix @ DM.eye(3),
    "beside a matrix expression": lambda: x + casadi.MX.sym("m"),
    "of a function": lambda: casadi.Function("f", [x], [x**2])(SX(3.0)),
    "cross": lambda: casadi.cross(column, column + 1.0),
    "a larger one": lambda: casadi.fmax(x, DM(2.0)),
}


@pytest.mark.parametrize("name", CONVERSIONS)
def test_a_symbol_that_answers_is_converted_as_one_that_does_not(name, monkeypatch):
    def answer() -> str:
        try:
            return str(CONVERSIONS[name]())
        except (NotImplementedError, TypeError) as error:
            return f"{type(error).__name__} {error}"

    quickened = answer()
    monkeypatch.delattr(SX, "__DM__")
    monkeypatch.delattr(SX, "__MX__")
    assert quickened == answer()


@pytest.mark.parametrize(
    "rows",
    [
        ((1.0, 0.0), (-0.0, 2.5), (3, np.float64(0.1))),
        ((x, 0.0), (y, x * y)),
        ((x, SX(1, 1)), (0.0, y)),
        ((x,), (y,), (2.0,)),
        ((x, y, 1.0),),
    ],
    ids=["numbers", "symbols", "a structural zero", "column", "row"],
)
def test_a_block_is_what_concatenation_gives(rows):
    concatenated = casadi.vertcat(*[casadi.horzcat(*[SX(entry) for entry in row]) for row in rows])
    assert text(block(rows)) == text(concatenated)
