"""compile: the engine for a user's own function."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import casadi
from casadi import SX

from linkwork.engine.kernel import Kernel, Signature
from linkwork.errors import InvalidInput

Shape = int | tuple[int, ...]


class CompiledFunction(Kernel):
    """A kernel of a user's function that can give its own Jacobian."""

    def __init__(
        self, name: str, inputs: Sequence[tuple[str, tuple[int, ...]]], function: casadi.Function
    ) -> None:
        self.casadi_function = function
        outputs = tuple(
            (function.name_out(i), _shape_of(function, i)) for i in range(function.n_out())
        )
        super().__init__(Signature(name, tuple(inputs), outputs), lambda: function)
        # an operation that has no machine code is refused here, not at the first call
        assert self.program

    def jacobian(self, output: int = 0, argument: int | str = 0) -> CompiledFunction:
        """The derivative of one result with respect to one argument, as another compiled function.

        Shape (..., m, n) with m and n the numbers of elements of result and argument.
        """
        names = [label for label, _ in self.signature.inputs]
        if isinstance(argument, str):
            if argument not in names:
                raise InvalidInput(
                    f"{self.signature.name}: there is no argument {argument!r}, expected one "
                    f"of {names}"
                )
            argument = names.index(argument)
        if not 0 <= argument < len(names) or not 0 <= output < len(self.signature.outputs):
            raise InvalidInput(
                f"{self.signature.name}: jacobian of result {output} by argument {argument} does "
                "not exist"
            )
        f = self.casadi_function
        symbols = f.sx_in()
        results = f.call(symbols)
        J = casadi.jacobian(_flat(results[output]), _flat(symbols[argument]))
        derivative = casadi.Function(f"{f.name()}_jacobian", symbols, [J], {"cse": True})
        return CompiledFunction(
            f"{self.signature.name}.jacobian", self.signature.inputs, derivative
        )


def compile(
    fn: Callable[..., Any] | casadi.Function,
    inputs: Mapping[str, Shape] | Sequence[Shape],
    name: str | None = None,
) -> CompiledFunction:
    """Compile a Python function of CasADi symbols (or a casadi.Function) to SIMD machine code.

    `inputs` gives each argument's shape: {"x": 3, "A": (3, 3)}, or a list of shapes; () is a
    scalar. The function gets one symbol an argument and returns an expression or a tuple of them.
    The kernel takes arrays (..., shape).
    """
    sized = (
        inputs
        if isinstance(inputs, Mapping)
        else {f"x{k}": shape for k, shape in enumerate(inputs)}
    )
    shapes = [(label, _as_shape(label, shape)) for label, shape in sized.items()]
    symbols = [SX.sym(label, *_matrix_size(shape)) for label, shape in shapes]
    label = name or (
        fn.name() if isinstance(fn, casadi.Function) else str(getattr(fn, "__name__", "function"))
    )
    results = fn(*symbols)
    bundle = list(results) if isinstance(results, (tuple, list)) else [results]
    try:
        function = casadi.Function(
            "compiled", symbols, [SX(r) for r in bundle], {"cse": True, "allow_free": True}
        )
    except (NotImplementedError, RuntimeError, TypeError) as error:
        raise InvalidInput(
            f"compile: {label} does not give CasADi expressions: {str(error).splitlines()[0]}"
        ) from None
    if function.has_free():
        raise InvalidInput(
            f"compile: {label} uses symbols that are not arguments: "
            f"{', '.join(function.get_free())}"
        )
    return CompiledFunction(label, shapes, function)


def _as_shape(label: str, shape: Shape) -> tuple[int, ...]:
    shape = (shape,) if isinstance(shape, int) else tuple(shape)
    if len(shape) > 2 or any(not isinstance(n, int) or n < 0 for n in shape):
        raise InvalidInput(
            f"compile: argument {label!r} has shape {shape}, expected at most two whole numbers"
        )
    return shape


def _matrix_size(shape: tuple[int, ...]) -> tuple[int, int]:
    return (*shape, 1, 1)[:2] if len(shape) < 2 else shape  # type: ignore[return-value]


def _shape_of(function: casadi.Function, i: int) -> tuple[int, ...]:
    rows, columns = function.size_out(i)
    return () if (rows, columns) == (1, 1) else (rows,) if columns == 1 else (rows, columns)


def _flat(x: SX) -> SX:
    """Elements in row-major order, as numpy counts them."""
    return x.T.reshape((x.numel(), 1))
