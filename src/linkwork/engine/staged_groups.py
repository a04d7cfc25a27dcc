"""Staged groups: straight-line code of stages, a group of assignments as one program."""

from __future__ import annotations

from collections.abc import Iterator

import casadi
from casadi import SX
from llvmlite import ir

from linkwork.engine.emit import emit_body
from linkwork.engine.ir_types import DOUBLE, constant, is_true, lanes
from linkwork.engine.passes import optimised
from linkwork.engine.program import Program, from_casadi
from linkwork.engine.staged_values import LaneValues, bytes_of
from linkwork.engine.stages import Group, Variable


class GroupCode(LaneValues):
    """Writes groups where a `StagedEmitter` stands."""

    live: ir.Value
    truths: ir.Type
    operations: int

    def _active(self, mask: ir.Value | None, leave: tuple[ir.Value, ir.Block] | None) -> ir.Value:
        b, type_ = self.b, self.truths
        active = b.load(self.live, typ=type_)
        if mask is not None:
            active = b.and_(active, mask)
        if leave is not None:
            active = b.and_(active, b.load(leave[0], typ=type_))
        return active

    def _group(self, group: Group, mask: ir.Value | None, leave: tuple | None) -> None:
        b = self.b
        if group.traced is None:
            group.traced = self._program(group)
        program, symbols = group.traced
        scalar = DOUBLE if group.exact else self.scalar
        leaves = [self.stages.leaves[name] for name in symbols]
        loaded: dict[int, ir.Value] = {}

        def leaf(b: ir.IRBuilder, _: int, k: int) -> ir.Value:
            if k not in loaded:
                loaded[k] = self._as(self._leaf(leaves[k]), scalar)
            return loaded[k]

        self.operations += program.operations
        values = emit_body(b, program, self.width, leaf, scalar=scalar)
        type_ = lanes(self.width, scalar)
        results = iter([values[v] if v >= 0 else constant(type_, 0.0) for v in program.outputs[0]])
        for number, symbol, _ in group.values:
            self.values[number] = []
            for _ in range(symbol.numel()):
                memory = self._memory(type_)
                b.store(next(results), memory)
                self.values[number].append(memory)
        for tile, index, x in group.puts:
            place = self._tile_row(tile, index)
            for k in range(x.numel()):
                value = self._as(next(results), self.scalar)
                b.store(value, self._lane_vector(place, k), align=bytes_of(self.scalar))
        for guard in group.guards:
            for _ in range(guard.numel()):
                self._check_not_negative(next(results))
        if group.changes:
            self._change(group, results, self._active(mask, leave))

    def _change(self, group: Group, results: Iterator[ir.Value], active: ir.Value) -> None:
        b = self.b
        for variable, x, condition in group.assigns:
            new = [next(results) for _ in range(x.numel())]
            where = active if condition is None else b.and_(active, is_true(b, next(results)))
            self._replace(variable, new, where)
        for variable, _, carried in group.leasts:
            value = next(results)
            now = b.load(self.variables[variable.number][0], typ=self.type)
            less = b.and_(active, b.fcmp_ordered("<", value, now))
            payloads = [(v, [next(results) for _ in range(x.numel())]) for v, x in carried]
            self._replace(variable, [value], less)
            for v, new in payloads:
                self._replace(v, new, less)

    def _replace(self, variable: Variable, new: list[ir.Value], where: ir.Value) -> None:
        b = self.b
        for value, memory in zip(new, self.variables[variable.number], strict=True):
            b.store(b.select(where, value, b.load(memory, typ=self.type)), memory)

    def _program(self, group: Group) -> tuple[Program, list[str]]:
        """The group as a program of the symbols it needs; results: values, puts, changes."""
        defined = [symbol for _, symbol, _ in group.values]
        wanted: list[SX] = [x for _, _, x in group.values]
        wanted += [x for _, _, x in group.puts]
        wanted += group.guards
        for _, x, condition in group.assigns:
            wanted += [x] if condition is None else [x, condition]
        for _, value, carried in group.leasts:
            wanted += [value, *[x for _, x in carried]]
        if defined:
            definitions = [x for _, _, x in group.values]
            rest = wanted[len(definitions) :]
            definitions, rest = casadi.substitute_inplace(defined, definitions, rest, False)
            wanted = [*definitions, *rest]
        results = casadi.vertcat(*[casadi.densify(x.reshape((x.numel(), 1))) for x in wanted])
        symbols = casadi.symvar(results)
        unknown = [s.name() for s in symbols if s.name() not in self.stages.leaves]
        assert not unknown, f"symbols of no input, row or value: {unknown}"
        argument = casadi.vertcat(*symbols) if symbols else SX(0, 1)
        function = casadi.Function("group", [argument], [results], {"cse": True})
        return optimised(from_casadi(function)), [s.name() for s in symbols]
