"""Tracing of a user's functions: inside machine code where CasADi can follow them,
in Python where it cannot.

A function that keeps something between calls, draws random numbers or reads a clock can be traced
and would then be frozen at what it did once. So a copy is traced, twice, and only two equal traces
count.
"""

from __future__ import annotations

import copy
import types
import warnings
from collections.abc import Callable, Sequence
from typing import Any, ClassVar

import casadi
import numpy as np
from casadi import SX

from linkwork.engine.compile import compile as compiled
from linkwork.engine.kernel import Context
from linkwork.errors import ComputationError, InvalidInput, LinkworkError
from linkwork.lagrange.expressions import constants, symbols_without_values
from linkwork.simulation.algebra import is_symbolic


class NotFinite(ComputationError):
    """A user's function gave a number that is not finite."""


class UserFunction:
    """A user's function of some arguments, traced if it can be.

    function   the CasADi function, or None
    why_not    what prevented tracing, in words
    sizes      numbers of elements of the results
    """

    of_a_run: ClassVar[tuple[str, ...]] = ("original", "who", "why_not", "_kernel")

    def __init__(
        self,
        function: Callable[..., Any],
        arguments: Sequence[tuple[str, int | tuple[()]]],
        who: str,
    ) -> None:
        self.original, self.arguments, self.who = function, tuple(arguments), who
        self.function: casadi.Function | None = None
        self.why_not = ""
        self._trace()
        self._kernel: Callable[..., Any] | None = None

    def __call__(self, *args: Any) -> list[Any]:
        """Results as columns of symbols or as arrays, by what comes in."""
        if any(is_symbolic(x) for x in args):
            assert self.function is not None
            return self.function.call([SX(x) for x in args])
        if self.function is None:
            numbers = _numbers(self.original(*args), self.who)
            for x in numbers:
                if not np.isfinite(x).all():
                    raise NotFinite(
                        f"{self.who} gave {x.tolist()} at t = {float(args[0]):g}, expected "
                        "finite numbers"
                    )
            return numbers
        if self._kernel is None:
            shapes = dict(self.arguments)
            self._kernel = compiled(self.function, shapes, self.who).caller(Context(self.who))
        results = self._kernel(*[np.asarray(x, dtype=float) for x in args])
        return [np.atleast_1d(x) for x in (results if isinstance(results, tuple) else (results,))]

    def sizes(self) -> list[int]:
        if self.function is not None:
            return [self.function.numel_out(i) for i in range(self.function.n_out())]
        zeros = [np.zeros(size) for _, size in self.arguments]
        return [len(x) for x in _numbers(self.original(*zeros), self.who)]

    def _trace(self) -> None:
        try:
            # one copy, called twice: what it keeps shows in the second trace
            copied = isolated(self.original)
            first, second = self._traced(copied), self._traced(copied)
        except LinkworkError as error:
            self.why_not = str(error)
            return
        except (
            Exception
        ) as error:  # whatever a user's function raises on symbols means only: not traceable
            self.why_not = (
                f"{type(error).__name__}: "
                f"{str(error).strip().splitlines()[0] if str(error).strip() else ''}"
            )
            return
        if first.has_free() or second.has_free() or _listing(first) != _listing(second):
            self.why_not = (
                "two traces differ: it keeps something between calls, or draws random numbers"
            )
            return
        self.function = first

    def _traced(self, function: Callable[..., Any]) -> casadi.Function:
        symbols = [SX.sym(name, *((size,) if size != () else ())) for name, size in self.arguments]
        # its lock keeps the filters of threads apart
        with (
            symbols_without_values(),
            warnings.catch_warnings(),
        ):
            # casadi 3.8 announces another numpy mode
            warnings.simplefilter("ignore", FutureWarning)
            results = function(*symbols)
        bundle = (
            list(results)
            if isinstance(results, (tuple, list)) and _is_bundle(results)
            else [results]
        )
        columns = [casadi.densify(casadi.vec(_column(x, self.who))) for x in bundle]
        for x in columns:
            if not np.isfinite(constants(x)).all():
                raise InvalidInput(
                    f"{self.who} gives numbers that are not finite on symbols "
                    "(Python's math module?)"
                )
        return casadi.Function("user", symbols, columns, {"cse": True, "allow_free": True})


def isolated(function: Callable[..., Any]) -> Callable[..., Any]:
    """A copy of a function or of a callable object whose state is its own;
    what cannot be copied is refused."""
    if isinstance(function, types.FunctionType):
        if function.__closure__ is None:
            return function
        cells = tuple(types.CellType(_copied(cell.cell_contents)) for cell in function.__closure__)
        return types.FunctionType(
            function.__code__, function.__globals__, function.__name__, function.__defaults__, cells
        )
    return _copied(function)


def _copied(x: Any) -> Any:
    if isinstance(
        x, (types.FunctionType, types.ModuleType, types.BuiltinFunctionType, type, casadi.Function)
    ):
        return isolated(x) if isinstance(x, types.FunctionType) else x
    if hasattr(x, "subject"):  # a robot: frozen, and its kernels cannot be copied
        return x
    return copy.deepcopy(x)


def _is_bundle(results: Sequence[Any]) -> bool:
    """(q, v, a) rather than a vector of scalars."""
    return any(
        isinstance(x, (list, tuple, np.ndarray)) or (isinstance(x, SX) and x.numel() != 1)
        for x in results
    )


def _column(x: Any, who: str) -> SX:
    if isinstance(x, SX):
        return x
    if isinstance(x, (tuple, list, np.ndarray)):
        return casadi.vertcat(*[SX(item) for item in x])
    return SX(x)


def _numbers(results: Any, who: str) -> list[np.ndarray]:
    bundle = (
        list(results) if isinstance(results, (tuple, list)) and _is_bundle(results) else [results]
    )
    try:
        return [np.atleast_1d(np.asarray(x, dtype=float)).ravel() for x in bundle]
    except (TypeError, ValueError):
        raise InvalidInput(f"{who} gave {results!r}, expected numbers") from None


def _listing(f: casadi.Function) -> str:
    rows = [
        f"{f.sparsity_out(i).repr_el(0) if f.nnz_out(i) else ''}{f.size_out(i)}"
        for i in range(f.n_out())
    ]
    for k in range(f.n_instructions()):
        op = f.instruction_id(k)
        number = f.instruction_constant(k).hex() if op == casadi.OP_CONST else ""
        rows.append(f"{op} {f.instruction_input(k)} {f.instruction_output(k)} {number}")
    return "\n".join(rows)
