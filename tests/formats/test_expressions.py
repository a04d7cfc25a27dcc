"""Arithmetic in descriptions: what it computes, on numbers and on symbols, and what it refuses."""

from __future__ import annotations

import math

import casadi
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from linkwork.errors import LinkworkError
from linkwork.formats.expressions import (
    DEEPEST,
    FUNCTIONS,
    LONGEST,
    ExpressionError,
    parse_expression,
)

VALUES = {"a": 0.3, "b": 1.7, "long_name": 145.0, "x2y": 4.0}

EXPECTED = {
    "1 + 2*3": 7.0,
    "-a": -0.3,
    "+b": 1.7,
    "2**-1": 0.5,
    "a**2/12": 0.3**2 / 12,
    "7 % 4": 3.0,
    "-7 % 4": -3.0,
    "long_name/2": 72.5,
    "1e-3 + .5": 0.501,
    "sqrt(b) + abs(-a)": math.sqrt(1.7) + 0.3,
    "hypot(3, 4)": 5.0,
    "min(a, b, 0.1) + max(a)": 0.4,
    "sin(a)**2 + cos(a)**2": 1.0,
    "atan2(1, -1)": 0.75 * math.pi,
    "acos(0) + asin(1) + atan(0)": math.pi,
    "exp(log(b))": 1.7,
    "floor(b)": 1.0,
    "pi": math.pi,
    "1e3*x2y + 2E-1": 4000.2,
    "tan(pi/4)": 1.0,
}


@pytest.mark.parametrize(("text", "expected"), EXPECTED.items(), ids=EXPECTED)
def test_an_expression_has_the_value_of_its_arithmetic(text, expected):
    assert parse_expression(text).value(VALUES) == pytest.approx(expected, rel=1e-15)


@pytest.mark.parametrize("text", EXPECTED)
def test_symbols_give_what_numbers_give(text):
    expression = parse_expression(text)
    symbols = {name: casadi.SX.sym(name) for name in VALUES}
    result = casadi.Function("f", list(symbols.values()), [expression.value(symbols)])(
        *VALUES.values()
    )
    assert float(result) == pytest.approx(expression.value(VALUES), rel=1e-14)


def test_angles_follow_the_unit_of_the_file():
    assert parse_expression("sin(30)").value({}, "deg") == pytest.approx(0.5, rel=1e-15)
    assert parse_expression("atan2(1, 1) + acos(0)").value({}, "deg") == pytest.approx(
        135.0, rel=1e-15
    )
    x = casadi.SX.sym("x")
    turned = casadi.Function(
        "f", [x], [parse_expression("cos(x) + asin(x/100)").value({"x": x}, "deg")]
    )
    assert float(turned(50)) == pytest.approx(math.cos(math.radians(50)) + 30.0, rel=1e-14)


REFUSED = {
    "__import__('os').system('x')": "character",
    "a.real": "Attribute is not arithmetic",
    "a[0]": "character",
    "open(a)": 'unknown function "open"',
    "sine(a)": 'did you mean "sin"',
    "lambda: 1": "character",
    "(1, 2)": "Tuple is not arithmetic",
    "a if b else a": "IfExp is not arithmetic",
    "not a": "UnaryOp is not arithmetic",
    "a and b": "BoolOp is not arithmetic",
    "a // b": "BinOp is not arithmetic",
    "True": "Constant is not arithmetic",
    "2a": "number 2 run into a word",
    "1if": "number 1 run into a word",
    "0x10 + a": "number 0 run into a word",
    "1.5e3b": "number 1.5e3 run into a word",
    "2^3": "a power is written **",
    "sin": "is a function",
    "sin(1, 2)": "has 2 arguments, expected 1",
    "max()": "has 0 arguments",
    "sin(*a)": "Starred is not arithmetic",
    "": "not arithmetic",
    "1 +": "not arithmetic",
    "1e999": "beyond the range",
    "9" * 400: "beyond the range",
    "(" * 150 + "1" + ")" * 150 + "+1": None,
    "-" * (DEEPEST + 2) + "1": "nested",
    "1+" * 300 + "1": f"at most {LONGEST}",
    "1 \n+ 1": "character",
}


@pytest.mark.parametrize(("text", "sentence"), REFUSED.items(), ids=[text[:20] for text in REFUSED])
def test_what_is_not_arithmetic_is_refused(text, sentence):
    if sentence is None:  # redundant parentheses are no nesting
        assert parse_expression(text).value({}) == 2.0
        return
    with pytest.raises(ExpressionError, match=sentence.replace("*", r"\*").replace("(", r"\(")):
        parse_expression(text)


COMPUTED = {
    "1/0": "division by zero",
    "sqrt(-1)": "",
    "log(0)": "",
    "10.0**400": "",
    "(-8)**0.5": "",
    "0**-1": "",
}


@pytest.mark.parametrize("text", [*COMPUTED, "9**9**9", "exp(1000)", "tan(1e308*10)"])
def test_a_result_that_is_no_finite_number_is_refused(text):
    with pytest.raises(ExpressionError):
        parse_expression(text).value({})


def test_an_unknown_variable_is_named_with_the_nearest():
    with pytest.raises(
        ExpressionError, match='unknown variable "long_nam"; did you mean "long_name"'
    ):
        parse_expression("2*long_nam").value(VALUES)


def test_sums_know_their_dimension():
    dimensions = {"a": "length", "b": "length", "m": "mass", "k": None}
    assert parse_expression("a + 2 - b").dimension(dimensions) == "length"
    assert parse_expression("-max(a, b)").dimension(dimensions) == "length"
    assert parse_expression("2*a").dimension(dimensions) is None
    assert parse_expression("k + 1").dimension(dimensions) is None
    with pytest.raises(ExpressionError, match="adds a length to a mass"):
        parse_expression("a + m").dimension(dimensions)


@settings(max_examples=300, deadline=None)
@given(st.text(alphabet="ab01.+-*/%(), eE_sincoqrtmx\u00b2[]'\"", max_size=40))
def test_only_our_own_errors_escape(text):
    try:
        value = parse_expression(text).value({"a": 1.0, "b": 2.0})
    except LinkworkError:
        return
    assert np.isfinite(value)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_every_function_of_symbols_is_its_function_of_numbers(name):
    count = FUNCTIONS[name][0] or 2
    values = dict(zip("xy"[:count], (0.37, 0.81)))
    expression = parse_expression(f"{name}({', '.join(values)})")
    symbols = {each: casadi.SX.sym(each) for each in values}
    twin = casadi.Function("f", list(symbols.values()), [expression.value(symbols)])
    assert float(twin(*values.values())) == pytest.approx(expression.value(values), rel=1e-15)
