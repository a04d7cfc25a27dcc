"""Kernels of a System: its quantities as machine code."""

from __future__ import annotations

from typing import TYPE_CHECKING

import casadi
from casadi import SX

from linkwork.engine.kernel import Kernel, Signature
from linkwork.engine.passes import optimised
from linkwork.engine.passes.merge import merged
from linkwork.engine.program import Program, from_casadi
from linkwork.errors import UnknownName, did_you_mean
from linkwork.lagrange.columns import Column
from linkwork.lagrange.traces import QUANTITIES, Quantity

if TYPE_CHECKING:
    from linkwork.lagrange.system import System

_TABLE_INPUTS = "q v a"


class TableKernel(Kernel):
    """A kernel of the torque table, merged from the programs of its columns."""

    def __init__(self, signature: Signature, function: casadi.Function, program: Program) -> None:
        super().__init__(signature, lambda: function)
        self._program = program


def make(system: System, name: str, live: tuple[str, ...]) -> Kernel:
    """The kernel of a quantity with these variables as inputs."""
    if name == "torque_table":
        return _table_kernel(system, live)
    line = _line(name)
    f = function(system, name, live)
    results = f.n_out() - (1 if line.guard else 0)
    sizes = [tuple(_size(system, axis) for axis in axes.split()) for _, axes in line.outputs]
    outputs = tuple((label, shape) for (label, _), shape in zip(line.outputs, sizes, strict=True))
    assert results == len(outputs)
    signature = Signature(name, _inputs(system, line.inputs, live), outputs, line.guard)
    return Kernel(signature, lambda: f)


def function(system: System, name: str, live: tuple[str, ...]) -> casadi.Function:
    """A quantity as a CasADi function; the guards, where it has any, are its last output."""
    if name == "torque_table":
        columns = [_cells(system, column) for column in system.columns]
        results = [casadi.horzcat(*columns) if columns else SX(system.nq, 0)]
        return _function(system, name, _TABLE_INPUTS, results, live)
    line = _line(name)
    x = {label: _symbol(system, label) for label in line.inputs.split()}
    return _function(system, name, line.inputs, list(line.trace(system, x)), live, x)


def _table_kernel(system: System, live: tuple[str, ...]) -> Kernel:
    n, m = system.nq, len(system.terms)
    programs = []
    for column in system.columns:
        f = _function(system, "column", _TABLE_INPUTS, [_cells(system, column)], live)
        programs.append(optimised(from_casadi(f)))
    signature = Signature(
        "torque_table", _inputs(system, _TABLE_INPUTS, live), (("table", (n, m)),)
    )
    if not programs:
        f = function(system, "torque_table", live)
        return TableKernel(signature, f, optimised(from_casadi(f)))
    whole = merged(programs, "torque_table")
    cells = tuple(whole.outputs[i][k] for k in range(n) for i in range(m))
    program = Program(whole.inputs, whole.code, (cells,), whole.name)
    return TableKernel(signature, function(system, "torque_table", live), program)


def _cells(system: System, column: Column) -> SX:
    """A column spread on all coordinates (n, 1);
    structural zeros where the term does not depend on one."""
    cells = SX(system.nq, 1)
    for k, name in enumerate(column.depends):
        cells[system.coordinates.index(name)] = column.tau[k]
    return cells


def _function(
    system: System,
    name: str,
    inputs: str,
    results: list[SX],
    live: tuple[str, ...],
    x: dict[str, SX] | None = None,
) -> casadi.Function:
    symbols = system.scope.symbols
    arguments = [(x or {}).get(label, _symbol(system, label)) for label in inputs.split()]
    arguments += [symbols.t] if system.time_dependent else []
    arguments += [symbols.variables[v] for v in live]
    constant = [v for v in system.variables if v not in live]
    if constant:
        old = casadi.vertcat(*[symbols.variables[v] for v in constant])
        new = casadi.vertcat(*[SX(system.variables[v]) for v in constant])
        results = casadi.substitute(results, [old], [new])
    return casadi.Function(name, arguments, results, {"cse": True})


def _symbol(system: System, label: str) -> SX:
    if label == "tau":
        return (
            casadi.vertcat(*[SX.sym(f"tau_{name}") for name in system.coordinates])
            if system.nq
            else SX(0, 1)
        )
    return {"q": system.scope.q, "v": system.scope.v, "a": system.scope.a}[label]


def _line(name: str) -> Quantity:
    line = QUANTITIES.get(name)
    if line is None:
        names = (*QUANTITIES, "torque_table")
        raise UnknownName(f'a system has no quantity "{name}"{did_you_mean(name, names)}')
    return line


def _inputs(
    system: System, inputs: str, live: tuple[str, ...]
) -> tuple[tuple[str, tuple[int, ...]], ...]:
    named: list[tuple[str, tuple[int, ...]]] = [(label, (system.nq,)) for label in inputs.split()]
    named += [("t", ())] if system.time_dependent else []
    return (*named, *((f"variables[{v!r}]", ()) for v in live))


def _size(system: System, axis: str) -> int:
    if axis == "n":
        return system.nq
    if axis == "b":
        return len(system.bodies)
    if axis == "c":
        return sum(c.function.shape[0] for c in system.constraints.values())
    return int(axis)
