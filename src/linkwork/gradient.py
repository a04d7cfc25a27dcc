"""Gradient: a quantity reduced to one number, with its exact derivatives by variables of the
description.

    value = reduce(quantity(q, v, a; x)),    gradient = d value / d x

Both come from one trace (CasADi's reverse mode over the reduced value), so they share one kernel
and every common subexpression in it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import casadi
import numpy as np
from casadi import SX

from linkwork import quantities
from linkwork.arguments import name_list
from linkwork.engine.kernel import Kernel, Signature
from linkwork.errors import InvalidInput, UnknownName, did_you_mean
from linkwork.model.parametric import unknown_variable
from linkwork.subject import Subject

REDUCTIONS: dict[str, Callable[..., Any]] = {
    "sum": lambda *results: sum(casadi.sum1(_flat(r)) for r in results),
    "sum_squares": lambda *results: sum(casadi.sumsqr(r) for r in results),
    "norm": lambda *results: casadi.sqrt(sum(casadi.sumsqr(r) for r in results)),
    "max": lambda *results: casadi.mmax(casadi.vertcat(*[_flat(r) for r in results])),
    "max_abs": lambda *results: casadi.mmax(
        casadi.fabs(casadi.vertcat(*[_flat(r) for r in results]))
    ),
}
Reduce = str | Callable[..., Any]


class Gradient:
    """A callable: (value (...), gradient (..., n)) for the quantity's own arguments, in SI units.

    `variables` gives values of live variables and of those differentiated by, scalar or
    batch-shaped; left out, they have their present values. Calling it again with other values
    compiles nothing.
    """

    def __init__(
        self, subject: Subject, quantity: str, by: tuple[str, ...], kernel: Kernel
    ) -> None:
        self.quantity, self.by, self.kernel = quantity, by, kernel
        self._subject = subject

    def __repr__(self) -> str:
        return (
            f"<Gradient of {self.quantity} by {', '.join(self.by)} of robot "
            f'"{self._subject.model.name}">'
        )

    def __call__(
        self, *arguments: Any, variables: Mapping[str, Any] | None = None
    ) -> tuple[np.ndarray, np.ndarray]:
        inputs = quantities.quantity(self.quantity).inputs.split()
        if len(arguments) != len(inputs):
            raise InvalidInput(
                f"gradient of {self.quantity}: {len(arguments)} arguments came, expected "
                f"{', '.join(inputs)}"
            )
        live = self._subject.variable_values(variables)
        return self.kernel.call([*arguments, *live], None, quantities.context_of(self._subject))


def gradient(
    subject: Subject,
    quantity: str,
    variable: str | Sequence[str],
    reduce: Reduce,
    frame: str | None = None,
) -> Gradient:
    """The gradient of a reduced quantity by one variable or several; see `Gradient`."""
    by = name_list(variable, "gradient: variable")
    line = quantities.quantity(quantity)
    names = line.inputs.split()
    if not by:
        raise InvalidInput(f"gradient of {quantity}: no variable is given")
    wanted = tuple(name for name in by if name not in names and name not in subject.live)
    known = dict(subject.model.variables)
    for name in wanted:
        if name not in known or subject.parametric is None:
            raise unknown_variable(subject.model, subject.parametric, name, "gradient: ", names)
    live = Subject(subject.model, subject.parametric, (*subject.live, *wanted))
    quantities.kernel_of(live, quantity, frame)  # refuses what the quantity itself refuses
    function, guard = _traced(live, line, quantity, by, _reduction(reduce), frame)
    inputs: list[tuple[str, tuple[int, ...]]] = [
        (name, (function.numel_in(i),)) for i, name in enumerate(names)
    ]
    inputs += [(f"variables[{name!r}]", ()) for name in live.live]
    outputs = (("value", ()), ("gradient", (function.numel_out(1),)))
    signature = Signature(f"gradient of {quantity}", tuple(inputs), outputs, guard)
    return Gradient(live, quantity, by, Kernel(signature, lambda: function))


def _reduction(reduce: Reduce) -> Callable[..., Any]:
    if callable(reduce):
        return reduce
    if reduce not in REDUCTIONS:
        near = did_you_mean(str(reduce), REDUCTIONS)
        raise UnknownName(
            f"gradient: reduce is {reduce!r}, expected one of {', '.join(REDUCTIONS)} or a "
            f"function of symbols{near}"
        )
    return REDUCTIONS[reduce]


def _traced(
    subject: Subject,
    line: quantities.Quantity,
    quantity: str,
    by: tuple[str, ...],
    reduce: Callable[..., Any],
    frame: str | None,
) -> tuple[casadi.Function, str]:
    base = quantities.trace(subject, quantity, frame)
    symbols = base.sx_in()
    results = base.call(symbols)
    count = len(line.outputs)
    value = SX(reduce(*results[:count]))
    if value.shape != (1, 1):
        raise InvalidInput(
            f"gradient of {quantity}: reduce gives shape {value.shape}, expected one number"
        )
    names = [*line.inputs.split(), *subject.live]
    x = casadi.vertcat(*[symbols[names.index(name)] for name in by])
    outputs = [value, casadi.jacobian(value, x).T, *results[count:]]
    guard = "the quaternion of a floating or ball joint is off unit length by more than 1e-6"
    return casadi.Function("gradient", symbols, outputs, {"cse": True}), guard if len(
        results
    ) > count else ""


def _flat(x: SX) -> SX:
    return x.T.reshape((x.numel(), 1))
