"""Compiled functions and scans refuse what is no array of numbers with a sentence,
and keep the cause."""

from __future__ import annotations

import casadi
import numpy as np
import pytest

import linkwork as lw
from linkwork.engine.kernel import Context
from linkwork.errors import InvalidInput


class Refusing:
    """Like a tensor on another device, or one that requires gradients."""

    def __init__(self, error):
        self.error = error

    def __array__(self, *_, **__):
        raise self.error


ENDLESS: list = []
ENDLESS.append(ENDLESS)
HOSTILE = {
    "a word": "abc",
    "nothing": None,
    "an object": object(),
    "a symbol": casadi.SX.sym("x", 3),
    "a matrix symbol": casadi.MX.sym("x", 3),
    "structural zeros": casadi.SX(3, 1),
    "a device": Refusing(TypeError("cannot convert a cuda tensor")),
    "a gradient": Refusing(RuntimeError("requires grad")),
    "a lookup": Refusing(KeyError("k")),
    "no memory": Refusing(MemoryError("too large")),
    "a structure": np.zeros(3, dtype=[("a", float)]),
    "void": np.zeros(3, dtype="V8"),
    "complex": np.ones(3) * 1j,
    "40 axes": np.ones((1,) * 40 + (3,)),
    "63 axes": np.ones((1,) * 62 + (3,)),
    "ragged": [[1, 2], [3]],
    "endless": ENDLESS,
    "a mapping": {"a": 1},
    "dates": np.array(["2020-01-01"] * 3, dtype="M8[D]"),
    "long": np.ones(3, dtype=np.longdouble),
    "large numbers": [10**400] * 3,
    "a function": lambda x: x,
}
ADD = lw.compile(lambda x, y: x + y, {"x": 3, "y": 3}, "add")
DOUBLE = lw.scan(lambda x, k: {"x": 2 * x}, {"x": 3}, name="double")
CALLS = {
    "kernel": lambda x: ADD(np.ones(3), x),
    "caller": lambda x: ADD.caller(Context())(np.ones(3), x),
    "batch": lambda x: ADD(np.ones((5, 3)), x),
    "out": lambda x: ADD(np.ones(3), np.ones(3), out=x),
    "scan": lambda x: DOUBLE(x=x, steps=2),
    "steps": lambda x: DOUBLE(x=np.ones(3), steps=x),
}


@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
@pytest.mark.parametrize("name", HOSTILE)
def test_what_is_no_array_of_numbers_is_refused_with_a_sentence(call, name):
    if call is CALLS["out"] and HOSTILE[name] is None:
        return  # out=None is no output of the caller's own
    with pytest.raises(InvalidInput) as told:
        call(HOSTILE[name])
    assert str(told.value).startswith(("add: ", "double: "))


@pytest.mark.parametrize("name", ["a device", "a gradient", "a lookup", "a symbol", "ragged"])
def test_the_cause_is_kept(name):
    with pytest.raises(InvalidInput, match="y is not an array of numbers") as told:
        CALLS["kernel"](HOSTILE[name])
    assert told.value.__cause__ is not None


def test_32_axes_are_computed():
    x = np.ones((1,) * 31 + (3,))
    assert ADD(x, np.ones(3)).shape == x.shape
