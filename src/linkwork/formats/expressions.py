"""Expressions: arithmetic in a description, on numbers or on symbols, and nothing else.

The text is parsed by Python's own parser and only the nodes of a short table are understood:
numbers, names of variables, + - * / ** %, and the functions below. There are no attributes, no
subscripts, no strings, no calls of anything else, so an expression can compute but not act.
"""

from __future__ import annotations

import ast
import math
import operator
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TypeAlias

import casadi

from linkwork.errors import LinkworkError, did_you_mean
from linkwork.model.number import Number, is_symbol

LONGEST = 500
"""Longest expression [characters]."""
DEEPEST = 60
"""Deepest nesting of an expression: both Python's parser and the walk below are recursive."""

_CHARACTERS = re.compile(r"[A-Za-z0-9_.+\-*/%(), \t]*")
_GLUED = re.compile(r"(?<![\w.])(?>(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)(?=[A-Za-z_])")
"""A number that runs into a word ("2x", "0x10", "1if"): Python's parser would only warn of some."""
_TURN = {"rad": 1.0, "deg": math.pi / 180.0}

_BINARY: dict[type[ast.operator], Callable[[Number, Number], Number]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.Pow: operator.pow,
    ast.Mod: lambda a, b: casadi.fmod(a, b) if is_symbol(a) or is_symbol(b) else math.fmod(a, b),
}
_UNARY: dict[type[ast.unaryop], Callable[[Number], Number]] = {
    ast.UAdd: operator.pos,
    ast.USub: operator.neg,
}

_Function: TypeAlias = tuple[int | None, Callable[..., Number], Callable[..., Number]]
"""(number of arguments or None for one or more, function of numbers, function of symbols)"""

_FUNCTIONS: dict[str, _Function] = {
    "abs": (1, abs, casadi.fabs),
    "sqrt": (1, math.sqrt, casadi.sqrt),
    "exp": (1, math.exp, casadi.exp),
    "log": (1, math.log, casadi.log),
    "floor": (1, lambda x: float(math.floor(x)), casadi.floor),
    "hypot": (2, math.hypot, lambda a, b: casadi.sqrt(a * a + b * b)),
    "min": (None, lambda *x: min(x), lambda *x: _folded(casadi.fmin, x)),
    "max": (None, lambda *x: max(x), lambda *x: _folded(casadi.fmax, x)),
}
# functions of an angle, functions that give one: these are in the angle unit of the file
_OF_ANGLE: dict[str, _Function] = {
    "sin": (1, math.sin, casadi.sin),
    "cos": (1, math.cos, casadi.cos),
    "tan": (1, math.tan, casadi.tan),
}
_TO_ANGLE: dict[str, _Function] = {
    "asin": (1, math.asin, casadi.asin),
    "acos": (1, math.acos, casadi.acos),
    "atan": (1, math.atan, casadi.atan),
    "atan2": (2, math.atan2, casadi.atan2),
}
CONSTANTS = {"pi": math.pi}
FUNCTIONS = {**_FUNCTIONS, **_OF_ANGLE, **_TO_ANGLE}
RESERVED = frozenset((*FUNCTIONS, *CONSTANTS))


class ExpressionError(LinkworkError, ValueError):
    """What is wrong with an expression, without the place: the reader of the file adds it."""


@dataclass(frozen=True, slots=True)
class Expression:
    """A checked expression. `names` are the variables it uses."""

    text: str
    tree: ast.expr
    names: frozenset[str]

    def value(self, variables: Mapping[str, Number], angle: str = "rad") -> Number:
        """The number (or symbol) for these variables; angles of sin, atan2, ...
        are in the unit `angle`."""
        try:
            result = _value(self.tree, variables, _TURN[angle])
        except (ArithmeticError, ValueError) as error:
            raise ExpressionError(f'"{self.text}" cannot be computed: {error}') from None
        if isinstance(result, complex) or not (is_symbol(result) or math.isfinite(result)):
            raise ExpressionError(f'"{self.text}" is {result}, expected a finite number')
        return result if is_symbol(result) else float(result)

    def dimension(self, dimensions: Mapping[str, str | None]) -> str | None:
        """The dimension that a sum of variables of one dimension has;
        None where products leave it open."""
        return _dimension(self.tree, dimensions, self.text)


def parse_expression(text: str) -> Expression:
    """The expression of a text, or ExpressionError."""
    shown = text if len(text) <= 60 else f"{text[:57]}..."
    if len(text) > LONGEST:
        raise ExpressionError(f'"{shown}" has {len(text)} characters, expected at most {LONGEST}')
    odd = _CHARACTERS.sub("", text, count=1)
    if odd:
        power = " (a power is written **)" if odd[0] == "^" else ""
        raise ExpressionError(f'"{shown}" has the character {odd[0]!r}{power}, expected arithmetic')
    glued = _GLUED.search(text)
    if glued:
        raise ExpressionError(
            f'"{shown}" has the number {glued[0]} run into a word, expected an operator between'
        )
    try:
        tree = ast.parse(text.strip(), mode="eval").body
    except (SyntaxError, ValueError, MemoryError, RecursionError) as error:
        raise ExpressionError(
            f'"{shown}" is not arithmetic: {getattr(error, "msg", error)}'
        ) from None
    names: set[str] = set()
    _check(tree, names, 0)
    return Expression(text.strip(), tree, frozenset(names))


def _check(node: ast.expr, names: set[str], depth: int) -> None:
    if depth > DEEPEST:
        raise ExpressionError(f"the expression is nested more than {DEEPEST} deep")
    match node:
        case ast.Constant(value=int() | float() as number) if not isinstance(number, bool):
            if not math.isfinite(_as_float(number)):
                raise ExpressionError("a number of the expression is beyond the range of numbers")
        case ast.Name(id=name):
            if name in FUNCTIONS:
                raise ExpressionError(f'"{name}" is a function, expected {name}(...)')
            if name not in CONSTANTS:
                names.add(name)
        case ast.UnaryOp(op=op, operand=operand) if type(op) in _UNARY:
            _check(operand, names, depth + 1)
        case ast.BinOp(left=left, op=op, right=right) if type(op) in _BINARY:
            _check(left, names, depth + 1)
            _check(right, names, depth + 1)
        case ast.Call(func=ast.Name(id=name), args=arguments, keywords=[]):
            _check_call(name, len(arguments))
            for argument in arguments:
                _check(argument, names, depth + 1)
        case _:
            raise ExpressionError(
                f"{type(node).__name__} is not arithmetic; expected numbers, variables, + - * / ** "
                "% and the "
                f"functions {', '.join(FUNCTIONS)}"
            )


def _check_call(name: str, count: int) -> None:
    if name not in FUNCTIONS:
        raise ExpressionError(f'unknown function "{name}"{did_you_mean(name, FUNCTIONS)}')
    expected = FUNCTIONS[name][0]
    if count == 0 or (expected is not None and count != expected):
        raise ExpressionError(
            f"{name}(...) has {count} arguments, expected {expected or 'one or more'}"
        )


def _value(node: ast.expr, variables: Mapping[str, Number], turn: float) -> Number:
    match node:
        case ast.Constant(value=int() | float() as number):
            return _as_float(number)
        case ast.Name(id=name):
            if name in CONSTANTS:
                return CONSTANTS[name]
            if name not in variables:
                raise ExpressionError(f'unknown variable "{name}"{did_you_mean(name, variables)}')
            return variables[name]
        case ast.UnaryOp(op=op, operand=operand):
            return _UNARY[type(op)](_value(operand, variables, turn))
        case ast.BinOp(left=left, op=op, right=right):
            return _BINARY[type(op)](_value(left, variables, turn), _value(right, variables, turn))
        case ast.Call(func=ast.Name(id=name), args=arguments):
            return _called(
                name, [_value(argument, variables, turn) for argument in arguments], turn
            )
    raise AssertionError(f"unchecked node {node!r}")


def _called(name: str, x: list[Number], turn: float) -> Number:
    _, of_numbers, of_symbols = FUNCTIONS[name]
    function = of_symbols if any(map(is_symbol, x)) else of_numbers
    if turn == 1.0:
        return function(*x)
    if name in _OF_ANGLE:
        return function(x[0] * turn)
    return function(*x) / turn if name in _TO_ANGLE else function(*x)


def _dimension(node: ast.expr, dimensions: Mapping[str, str | None], text: str) -> str | None:
    match node:
        case ast.Name(id=name):
            return dimensions.get(name)
        case ast.UnaryOp(operand=operand):
            return _dimension(operand, dimensions, text)
        case ast.BinOp(op=ast.Add() | ast.Sub(), left=left, right=right):
            parts = [left, right]
        case ast.Call(func=ast.Name(id="min" | "max" | "abs" | "hypot"), args=arguments):
            parts = arguments
        case _:
            return None
    summands = [d for d in (_dimension(part, dimensions, text) for part in parts) if d is not None]
    if len(set(summands)) > 1:
        raise ExpressionError(
            f'"{text}" adds a {summands[0]} to a {next(d for d in summands if d != summands[0])}'
        )
    return summands[0] if summands else None


def _as_float(number: int | float) -> float:
    try:
        return float(number)
    except OverflowError:
        return math.inf


def _folded(function: Callable[[Number, Number], Number], x: tuple[Number, ...]) -> Number:
    result = x[0]
    for each in x[1:]:
        result = function(result, each)
    return result
