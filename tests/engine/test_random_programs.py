"""Random programs: machine code at every width against CasADi's own evaluation."""

from __future__ import annotations

import casadi
import numpy as np
import pytest
from casadi import SX

from linkwork.engine.kernel import Context, Kernel, Signature

SMOOTH_ONE = (
    "sin",
    "cos",
    "tanh",
    "atan",
    "asinh",
    "sq",
    "twice",
    "neg",
    "fabs",
    "inv",
    "sqrt",
    "exp",
    "log",
    "log1p",
)
SMOOTH_ONE += ("expm1", "sinh", "cosh", "tan", "asin", "acos", "acosh", "atanh", "erf")
SMOOTH_TWO = ("add", "sub", "mul", "div", "atan2", "fmin", "fmax", "hypot", "pow")
STEPS_ONE = ("floor", "ceil", "sign", "not")
STEPS_TWO = ("lt", "le", "eq", "ne", "and", "or", "fmod", "copysign", "if_else_zero")
WIDTHS = (1, 2, 4, 8)


def squeezed(x: SX) -> SX:
    """Into (-1, 1), so that errors stay small however long the program is."""
    return x / (1 + casadi.fabs(x))


def apply_smooth(name: str, x: SX, y: SX) -> SX:
    """An operation on its own domain, for arguments in (-1, 1)."""
    match name:
        case "add" | "sub" | "mul":
            return {"add": x + y, "sub": x - y, "mul": x * y}[name]
        case "sq" | "twice" | "neg" | "inv":
            return {"sq": x * x, "twice": x + x, "neg": -x, "inv": 1 / (2 + x)}[name]
        case "div":
            return x / (y + 3)
        case "atan2":
            return casadi.atan2(x, y + 2)
        case "pow":
            return (x + 2) ** y
        case "sqrt" | "log" | "acosh":
            return getattr(casadi, name)(x + 2.5)
        case "asin" | "acos" | "atanh" | "log1p":
            return getattr(casadi, name)(x / 2)
    function = getattr(casadi, name)
    return function(x, y) if name in SMOOTH_TWO else function(x)


def apply_step(name: str, x: SX, y: SX) -> SX:
    """An operation with jumps; its arguments are inputs themselves, which are exact."""
    match name:
        case "lt" | "le" | "eq" | "ne":
            return {"lt": x < y, "le": x <= y, "eq": x == y, "ne": x != y}[name]
        case "and" | "or":
            return {"and": casadi.logic_and, "or": casadi.logic_or}[name](x, y)
        case "not":
            return casadi.logic_not(x)
        case "if_else_zero":
            return casadi.if_else(x > 0.25, y, 0)
        case "fmod":
            return casadi.fmod(x, y + 4)
    return getattr(casadi, name)(x, y) if name in STEPS_TWO else getattr(casadi, name)(x)


def random_function(
    rng: np.random.Generator, operations: int, inputs: tuple[int, ...], outputs: int
) -> casadi.Function:
    """A program of about that many operations: shared subexpressions, dead inputs,
    constant and absent results."""
    arguments = [SX.sym(f"x{k}", n) for k, n in enumerate(inputs)]
    # the last input is dead
    leaves = [a[i] for a in arguments for i in range(a.numel())][: max(1, sum(inputs) - 1)]
    values = [*leaves, SX(0.75), SX(-0.5)]
    for _ in range(operations):
        if rng.random() < 0.25:
            name = rng.choice(STEPS_ONE + STEPS_TWO)
            x, y = (leaves[rng.integers(len(leaves))] for _ in range(2))
            new = apply_step(name, x, y)
        else:
            name = rng.choice(SMOOTH_ONE + SMOOTH_TWO)
            x, y = (values[-1 - int(rng.integers(min(40, len(values))))] for _ in range(2))
            new = apply_smooth(name, x, y)
        values.append(squeezed(new))
    results = [
        values[-1 - int(rng.integers(min(len(values), operations + 1)))] for _ in range(outputs)
    ]
    matrix = SX(outputs + 2, 1)  # two structural zeros
    for k, r in enumerate(results):
        matrix[k + (k > 0)] = r
    return casadi.Function(
        "random", arguments, [matrix, casadi.vertcat(SX(3.5), values[-1]), SX(0, 1)], {"cse": True}
    )


def kernel_of(function: casadi.Function) -> Kernel:
    inputs = tuple((f"x{k}", (function.numel_in(k),)) for k in range(function.n_in()))
    outputs = tuple((f"y{k}", (function.numel_out(k),)) for k in range(function.n_out()))
    return Kernel(Signature("random", inputs, outputs), lambda: function)


def exact_inputs(
    rng: np.random.Generator, samples: int, sizes: tuple[int, ...]
) -> list[np.ndarray]:
    """Multiples of 1/16 in (-1, 1): sums and products of few of them are exact."""
    return [rng.integers(-15, 16, size=(samples, n)) / 16 for n in sizes]


@pytest.mark.parametrize(
    "operations", [1, 3, 10, 40, 150, 2000, pytest.param(10000, marks=pytest.mark.slow)]
)
def test_random_program_agrees_with_casadi_at_every_width(operations):
    rng = np.random.default_rng(operations)
    sizes = (3, 5, 1)
    function = random_function(rng, operations, sizes, outputs=min(operations, 37))
    kernel = kernel_of(function)
    arrays = exact_inputs(rng, 11, sizes)
    expected = [
        np.array([np.array(f).ravel() for f in column])
        for column in zip(
            *(function.call(list(row)) for row in zip(*arrays, strict=True)), strict=True
        )
    ]
    by_width = {w: kernel.call(arrays, None, Context(), width=w) for w in WIDTHS if w > 1}
    for results in by_width.values():
        for result, reference in zip(results, expected, strict=True):
            # every step of the squeezed program multiplies a relative error by at most about one
            np.testing.assert_allclose(
                result, reference.reshape(result.shape), rtol=1e-11, atol=1e-11
            )
    single = [kernel(*row) for row in zip(*arrays, strict=True)]
    for w, results in by_width.items():
        for k, result in enumerate(results):
            assert np.array_equal(result, np.array([s[k] for s in single])), (
                f"width {w} differs from one sample"
            )


@pytest.mark.parametrize("outputs", [299, 301, 2500])
def test_thousands_of_results_with_zeros_between(outputs):
    rng = np.random.default_rng(outputs)
    x = SX.sym("x", 7)
    dense = casadi.vertcat(
        *[casadi.sin(x[k % 7]) * (k % 47 + 1) if k % 3 else SX(0) for k in range(outputs)]
    )
    function = casadi.Function("wide", [x], [casadi.sparsify(dense)], {"cse": True})
    kernel = kernel_of(function)
    (X,) = exact_inputs(rng, 13, (7,))
    reference = np.array([np.array(function(row)).ravel() for row in X])
    results = [kernel.call([X], None, Context(), width=w) for w in WIDTHS if w > 1]
    # one sine within 2 ulp, one product
    np.testing.assert_allclose(results[0], reference, rtol=4e-16, atol=0)
    assert all(np.array_equal(results[0], r) for r in results[1:])
    assert np.array_equal(kernel(X[4]), results[0][4])


@pytest.mark.parametrize("samples", range(19))
def test_remainders_touch_nothing_beyond_the_arrays(samples):
    x, y = SX.sym("x", 3), SX.sym("y", 6)
    function = casadi.Function(
        "f", [x, y], [casadi.vertcat(x[0] * y[5], x[1] - y[0], x[2] + y[1], x[0], y[4])]
    )
    kernel = kernel_of(function)
    rng = np.random.default_rng(samples)
    guarded = [np.full((samples + 20, n), np.nan) for n in (3, 6)]
    X, Y = (g[10 : 10 + samples] for g in guarded)
    X[:], Y[:] = rng.normal(size=X.shape), rng.normal(size=Y.shape)
    target = np.full((samples + 20, 5), 7.0)
    for width in (2, 4, 8):
        kernel.call([X, Y], target[10 : 10 + samples], Context(), width=width)
        expected = np.stack(
            [X[:, 0] * Y[:, 5], X[:, 1] - Y[:, 0], X[:, 2] + Y[:, 1], X[:, 0], Y[:, 4]], axis=1
        )
        assert np.array_equal(target[10 : 10 + samples], expected)
        assert (target[:10] == 7.0).all() and (target[10 + samples :] == 7.0).all()
