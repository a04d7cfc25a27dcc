"""Staged codegen: stages (stages.py) as one function that runs tiles of W samples, or lanes of one sample together.

    run(words*, strides*, outputs**, scratch*, begin, end, first, last) -> first sample of the first bad tile, or -1

`words` are 64-bit words: the address of each input, then for each table the addresses of its rows in doubles, in
floats and of its whole numbers, and how many rows there are. `first` and `last` bound a `counting` loop (last < 0: all
of it). Variables and values stand in memory of the call, which LLVM's own passes (SROA) turn into registers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import casadi
from casadi import SX
from llvmlite import ir

from linkwork.engine.emit import DOUBLE, FLOAT, I1, I32, I64, POINTER, constant, emit_body, lanes
from linkwork.engine.lanes import RowLoader, aligned, at, load, on_lines, store, store_rows
from linkwork.engine.passes import optimised
from linkwork.engine.program import Program, from_casadi
from linkwork.engine.stages import (
    Again,
    Counting,
    Finish,
    Group,
    Index,
    Leaf,
    Leave,
    Loop,
    Record,
    Stages,
    Tile,
    Variable,
    Where,
)
from linkwork.engine.target import LINE
from linkwork.engine.tiles import Checker

TABLE_WORDS = 4  # rows in doubles, rows in floats, whole numbers, how many rows
RUN_TYPE = ir.FunctionType(I64, [POINTER] * 4 + [I64] * 4)


@dataclass(frozen=True)
class Layout:
    """Where things lie in the scratch memory, in bytes, and how much there is, in doubles."""

    inputs: tuple[int, ...]
    outputs: tuple[int, ...]
    tiles: dict[str, int]
    size: int

    @staticmethod
    def of(stages: Stages, width: int, scalar: ir.Type) -> Layout:
        offset = 0
        inputs, outputs, tiles = [], [], {}
        for _, size in stages.inputs:
            inputs.append(offset)
            offset += 8 * size * width
        for _, variable in stages.outputs:
            outputs.append(offset)
            offset += 8 * variable.x.numel() * width
        for tile in stages.tiles:
            offset = -(-offset // 64) * 64
            tiles[tile.name] = offset
            offset += tile.rows * tile.columns * width * _bytes(scalar)
        return Layout(tuple(inputs), tuple(outputs), tiles, -(-offset // 8) + LINE)


def _bytes(scalar: ir.Type) -> int:
    return 8 if scalar == DOUBLE else 4


class StagedEmitter:
    """Writes `run` for one recipe, width and scalar type into a module."""

    def __init__(
        self, module: ir.Module, stages: Stages, width: int, scalar: ir.Type, name: str, exact: ir.Function | None
    ) -> None:
        self.stages, self.scalar, self.width = stages, scalar, width
        self.exact = exact  # the same in doubles, one lane: for samples that are too close
        self.layout = Layout.of(stages, width, scalar)
        self.operations = 0
        self.tile_of = {tile.name: tile for tile in stages.tiles}
        self.table_at = {name: len(stages.inputs) + TABLE_WORDS * k for k, name in enumerate(stages.tables)}
        self.type = lanes(self.width, scalar)
        self.function = ir.Function(module, RUN_TYPE, name)
        on_lines(self.function)
        self.words, self.strides, self.outputs, scratch, self.begin, self.end, self.first, self.last = (
            self.function.args
        )
        self.b = ir.IRBuilder(self.function.append_basic_block("entry"))
        self.scratch = aligned(self.b, scratch)
        self._emit()

    # the frame: tiles one after the other

    def _emit(self) -> None:
        b, stages, width = self.b, self.stages, self.width
        self.sources = [self._word(j, POINTER) for j in range(len(stages.inputs))]
        self.steps = [load(b, self._place(self.strides, j), I64) for j in range(len(stages.inputs))]
        self.targets = [load(b, self._place(self.outputs, j), POINTER) for j in range(len(stages.outputs))]
        place = 1 if self.scalar == FLOAT else 0
        self.tables = {n: self._word(k + place, POINTER) for n, k in self.table_at.items()}
        self.wholes = {n: self._word(k + 2, POINTER) for n, k in self.table_at.items()}
        self.counts = {n: self._word(k + 3, I64) for n, k in self.table_at.items()}
        self.variables = [[self._memory(self.type) for _ in range(v.x.numel())] for v in stages.variables]
        self.values: dict[int, list[ir.Value]] = {}
        self.live = self._memory(lanes(width, I1))
        self.redo = self._memory(lanes(width, I1))
        self.indices: dict[int, ir.Value] = {}
        self.index_memory: dict[int, ir.Value] = {}
        entry, head, tile, done = b.block, *(self.function.append_basic_block(n) for n in ("head", "tile", "done"))
        self.tile_end = self.function.append_basic_block("tile_end")
        b.branch(head)
        b.position_at_end(head)
        self.i = b.phi(I64)
        self.i.add_incoming(self.begin, entry)
        b.cbranch(b.icmp_signed("<", self.i, self.end), tile, done)

        b.position_at_end(tile)
        self.checker = Checker(width)
        bits = self.checker.bits
        self.flags = self._memory(bits)
        b.store(constant(bits, 0), self.flags)
        b.store(_all(width), self.live)
        b.store(_none(width), self.redo)
        self._load_inputs()
        for memory, variable in zip(self.variables, stages.variables, strict=True):
            for place_of in memory:
                b.store(constant(self.type, variable.start), place_of)
        self._block(stages.block, None, None)
        b.branch(self.tile_end)

        b.position_at_end(self.tile_end)
        following = b.add(self.i, _number(1 if stages.together else width))
        self._store_outputs()
        if self.exact is not None and not stages.together:
            self._redo_lanes()
        self.checker.flags = b.load(self.flags, typ=bits)
        ok, bad = self.function.append_basic_block("ok"), self.function.append_basic_block("bad")
        b.cbranch(self.checker.any(b), bad, ok)
        b.position_at_end(ok)
        self.i.add_incoming(following, b.block)
        b.branch(head)
        b.position_at_end(bad)
        b.ret(self.i)
        b.position_at_end(done)
        b.ret(_number(-1))

    def _load_inputs(self) -> None:
        b, width = self.b, self.width
        self.inputs: list[list[ir.Value]] = []
        last = b.sub(self.end, _number(1))
        full = b.icmp_signed("<=", b.add(self.i, _number(width)), self.end)
        for j, (_, size) in enumerate(self.stages.inputs):
            row = b.mul(self.i, self.steps[j])
            if self.stages.together or width == 1:
                place = at(b, self.sources[j], row)
                values = [self._splat(load(b, at(b, place, k), DOUBLE)) for k in range(size)]
            else:
                scratch = self._bytes_at(self.layout.inputs[j])
                direct = b.and_(full, b.icmp_signed("==", self.steps[j], _number(size)))
                with b.if_then(b.not_(direct), likely=False):
                    self._gather(scratch, j, size, last)
                loader = RowLoader(b.select(direct, at(b, self.sources[j], row), scratch), size, width)
                values = [loader(b, k) for k in range(size)]
            for value in values:
                self._check_finite(value)
            self.inputs.append(values)

    def _gather(self, target: ir.Value, j: int, size: int, last: ir.Value) -> None:
        """Rows i .. i + W - 1, the last one repeated, one after the other."""
        b = self.b
        for lane in range(self.width):
            row = b.add(self.i, _number(lane))
            row = b.select(b.icmp_signed("<", row, last), row, last)
            place = at(b, self.sources[j], b.mul(row, self.steps[j]))
            for k in range(size):
                store(b, load(b, at(b, place, k), DOUBLE), at(b, target, lane * size + k))

    def _store_outputs(self) -> None:
        b, width = self.b, self.width
        full = b.icmp_signed("<=", b.add(self.i, _number(width)), self.end)
        rest = b.sub(self.end, self.i)
        for j, (_, variable) in enumerate(self.stages.outputs):
            if j in self.stages.recorded:
                continue
            memory = self.variables[variable.number]
            size = len(memory)
            values = [self._widened(b.load(m, typ=self.type)) for m in memory]
            for value in values:
                self._check_finite(value)
            target = at(b, self.targets[j], b.mul(self.i, _number(size)))
            if self.stages.together:
                for k, value in enumerate(values):
                    store(b, self._greatest(value), at(b, target, k))
                continue
            scratch = self._bytes_at(self.layout.outputs[j])
            store_rows(b, b.select(full, target, scratch), values, width)
            with b.if_then(b.not_(full), likely=False):
                with self._counted(b.mul(rest, _number(size))) as k:
                    store(b, load(b, at(b, scratch, k), DOUBLE), at(b, target, k))

    def _record(self, step: Record) -> None:
        """Into row k of each sample's own rows; every lane writes what it has, whether it is active or not."""
        b, width = self.b, self.width
        left = b.sub(self.end, self.i)
        lanes_there = b.select(b.icmp_signed("<", left, _number(width)), left, _number(width))
        for j, variable in step.outputs:
            memory = self.variables[variable.number]
            size = len(memory)
            values = [self._widened(b.load(m, typ=self.type)) for m in memory]
            for value in values:
                self._check_finite(value)
            scratch = self._bytes_at(self.layout.outputs[j])
            store_rows(b, scratch, values, width)
            rows = self.counts[self.stages.recorded[j].name]
            with self._counted(lanes_there) as lane:
                row = b.add(b.mul(b.add(self.i, lane), rows), self.indices[step.loop])
                target = at(b, self.targets[j], b.mul(row, _number(size)))
                source = at(b, scratch, b.mul(lane, _number(size)))
                with self._counted(_number(size)) as k:
                    store(b, load(b, at(b, source, k), DOUBLE), at(b, target, k))

    def _redo_lanes(self) -> None:
        """Samples that were too close, once more in doubles."""
        b = self.b
        flags = b.load(self.redo, typ=lanes(self.width, I1))
        with b.if_then(_any(b, flags, self.width), likely=False):
            bits = b.zext(b.bitcast(flags, ir.IntType(self.width)), I64)
            with self._counted(_number(self.width)) as lane:
                sample = b.add(self.i, lane)
                wanted = b.and_(b.lshr(bits, lane), _number(1))
                wanted = b.and_(b.icmp_signed("!=", wanted, _number(0)), b.icmp_signed("<", sample, self.end))
                with b.if_then(wanted):
                    self._call_exact(sample, _number(0), _number(-1))

    def _call_exact(self, sample: ir.Value, first: ir.Value, last: ir.Value) -> None:
        b = self.b
        scratch = self._bytes_at(8 * self.layout.size)
        arguments = [self.words, self.strides, self.outputs, scratch, sample, b.add(sample, _number(1)), first, last]
        bad = b.call(self.exact, arguments)
        wrong = b.select(b.icmp_signed(">=", bad, _number(0)), _number(-1), _number(0))
        bits = self.checker.bits
        b.store(b.or_(b.load(self.flags, typ=bits), _broadcast(b, wrong, self.width)), self.flags)

    # steps

    def _block(self, block: list, mask: ir.Value | None, leave: tuple[ir.Value, ir.Block] | None) -> None:
        """`mask`: lanes that entered (None: all); `leave`: lanes still in the innermost loop, and where it ends."""
        for step in block:
            match step:
                case Group():
                    self._group(step, mask, leave)
                case Where():
                    self._where(step, mask, leave)
                case Loop():
                    self._loop(step, mask)
                case Counting():
                    self._counting(step, mask)
                case Leave():
                    self._leave(step, mask, leave)
                case Finish():
                    self._finish(step, mask, leave)
                case Again():
                    self._again(step, mask, leave)
                case Record():
                    self._record(step)

    def _active(self, mask: ir.Value | None, leave: tuple[ir.Value, ir.Block] | None) -> ir.Value:
        b, type_ = self.b, lanes(self.width, I1)
        active = b.load(self.live, typ=type_)
        if mask is not None:
            active = b.and_(active, mask)
        if leave is not None:
            active = b.and_(active, b.load(leave[0], typ=type_))
        return active

    def _where(self, step: Where, mask: ir.Value | None, leave: tuple | None) -> None:
        b = self.b
        wanted = b.and_(self._active(mask, leave), self._condition(step.condition))
        inside, after = b.append_basic_block("where"), b.append_basic_block("after")
        b.cbranch(_any(b, wanted, self.width), inside, after)
        b.position_at_end(inside)
        self._block(step.block, wanted, leave)
        b.branch(after)
        b.position_at_end(after)

    def _loop(self, step: Loop, mask: ir.Value | None) -> None:
        b = self.b
        first = _number(0) if step.first is None else self._whole(step.first)
        count = self.counts[step.table.name] if step.count is None else self._whole(step.count)
        staying = self._memory(lanes(self.width, I1))
        b.store(_all(self.width), staying)
        before, head, body, after = b.block, *(b.append_basic_block(n) for n in ("rows", "row", "rows_done"))
        b.branch(head)
        b.position_at_end(head)
        k = b.phi(I64)
        k.add_incoming(first, before)
        b.cbranch(b.icmp_signed("<", k, b.add(first, count)), body, after)
        b.position_at_end(body)
        self.indices[step.number] = k
        self._block(step.block, mask, (staying, after))
        k.add_incoming(b.add(k, _number(1)), b.block)
        b.branch(head)
        b.position_at_end(after)

    def _counting(self, step: Counting, mask: ir.Value | None) -> None:
        """Lane l takes numbers c + l C of C rounds: far apart, so that one of them finds what there is early."""
        b, double = self.b, lanes(self.width)
        wanted = b.fptosi(self._first_lane(self._read(step.count)), I64)
        rounds = b.sdiv(b.add(wanted, _number(self.width - 1)), _number(self.width))
        stop = b.select(b.icmp_signed("<", self.last, _number(0)), rounds, self.last)
        before, head, body, after = b.block, *(b.append_basic_block(n) for n in ("counts", "count", "counts_done"))
        b.branch(head)
        b.position_at_end(head)
        c = b.phi(I64)
        c.add_incoming(self.first, before)
        b.cbranch(b.icmp_signed("<", c, stop), body, after)
        b.position_at_end(body)
        lane = self._lane_numbers(I64)
        number = b.add(_broadcast(b, c, self.width), b.mul(lane, _broadcast(b, rounds, self.width)))
        within = b.icmp_signed("<", number, _broadcast(b, wanted, self.width))
        inner = within if mask is None else b.and_(mask, within)
        self.index_memory[step.number] = self._memory(double)
        b.store(b.sitofp(number, double), self.index_memory[step.number])
        self._block(step.block, inner, None)
        c.add_incoming(b.add(c, _number(1)), b.block)
        b.branch(head)
        b.position_at_end(after)

    def _leave(self, step: Leave, mask: ir.Value | None, leave: tuple[ir.Value, ir.Block] | None) -> None:
        b = self.b
        assert leave is not None, "leave: there is no loop to leave"
        staying = b.and_(b.load(leave[0], typ=lanes(self.width, I1)), b.not_(self._condition(step.condition)))
        b.store(staying, leave[0])
        self._go_unless_empty(self._active(mask, leave), leave[1])

    def _finish(self, step: Finish, mask: ir.Value | None, leave: tuple | None) -> None:
        b = self.b
        done = b.and_(self._active(mask, leave), self._condition(step.condition))
        if step.any_lane:
            onward = b.append_basic_block("undecided")
            b.cbranch(_any(b, done, self.width), self.tile_end, onward)
            b.position_at_end(onward)
            return
        live = b.and_(b.load(self.live, typ=done.type), b.not_(done))
        b.store(live, self.live)
        self._go_unless_empty(live, self.tile_end)

    def _go_unless_empty(self, mask: ir.Value, target: ir.Block) -> None:
        b = self.b
        onward = b.append_basic_block("onward")
        b.cbranch(_any(b, mask, self.width), onward, target)
        b.position_at_end(onward)

    def _again(self, step: Again, mask: ir.Value | None, leave: tuple | None) -> None:
        if self.exact is None:
            return
        b = self.b
        close = b.and_(self._active(mask, leave), self._condition(step.condition))
        if not self.stages.together:
            b.store(b.or_(b.load(self.redo, typ=close.type), close), self.redo)
            return
        assert step.variable is not None
        memory = self.variables[step.variable.number][0]
        output = next(j for j, (_, v) in enumerate(self.stages.outputs) if v is step.variable)
        number = next(reversed(self.index_memory.values()))
        with b.if_then(_any(b, close, self.width), likely=False):
            for lane in range(self.width):
                place = ir.Constant(I32, lane)
                bit = close if self.width == 1 else b.extract_element(close, place)
                with b.if_then(bit):
                    whole = b.load(number, typ=lanes(self.width))
                    one = whole if self.width == 1 else b.extract_element(whole, place)
                    k = b.fptosi(one, I64)
                    self._call_exact(self.i, k, b.add(k, _number(1)))
                    result = load(b, at(b, self.targets[output], self.i), DOUBLE)
                    result = result if self.scalar == DOUBLE else b.fptrunc(result, self.scalar)
                    now = b.load(memory, typ=self.type)
                    changed = result if self.width == 1 else b.insert_element(now, result, place)
                    b.store(changed, memory)

    # straight-line code

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
                b.store(value, self._lane_vector(place, k), align=_bytes(self.scalar))
        for guard in group.guards:
            for _ in range(guard.numel()):
                self._check_not_negative(next(results))
        if group.changes:
            self._change(group, results, self._active(mask, leave))

    def _change(self, group: Group, results: Iterator[ir.Value], active: ir.Value) -> None:
        b = self.b
        for variable, x, condition in group.assigns:
            new = [next(results) for _ in range(x.numel())]
            where = active if condition is None else b.and_(active, _is_true(b, next(results)))
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
        """The group as one program of the symbols that it needs, in this order of results: values, puts, changes."""
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

    def _leaf(self, leaf: Leaf) -> ir.Value:
        b = self.b
        match leaf.kind, leaf.args:
            case "input", (j, k):
                return self.inputs[j][k]
            case "variable", (number, k):
                return b.load(self.variables[number][k], typ=self.type)
            case "value", (number, k):
                memory = self.values[number][k]
                return b.load(memory, typ=memory.allocated_type)
            case "row", (table, loop, column):
                index = _number(0) if loop < 0 else self.indices[loop]
                return self._splat(self._cell(table, index, column))
            case "number", (loop,):
                return self._splat(b.sitofp(self.indices[loop], self.scalar))
            case "count", (loop,):
                return b.load(self.index_memory[loop], typ=lanes(self.width))
            case "lane", ():
                return b.sitofp(self._lane_numbers(I64), lanes(self.width))
            case "tile", (name, index, column):
                place = self._tile_row(self.tile_of[name], index)
                return b.load(self._lane_vector(place, column), typ=self.type, align=_bytes(self.scalar))
            case "look_up", (table, variable, column):
                rows = self.counts[table]
                return self._each_lane(variable, rows, lambda lane, row: self._cell(table, row, column))
            case "pick", (name, variable, column):
                rows = _number(self.tile_of[name].rows)
                return self._each_lane(variable, rows, lambda lane, row: self._element(name, row, column, lane))
        raise AssertionError(leaf)

    def _each_lane(self, variable: int, rows: ir.Value, read: Callable[[int, ir.Value], ir.Value]) -> ir.Value:
        """What each lane reads from the row of its variable; a lane that chose none reads the nearest that exists."""
        b = self.b
        chosen = b.fptosi(b.load(self.variables[variable][0], typ=self.type), lanes(self.width, I64))
        last = _broadcast(b, b.sub(rows, _number(1)), self.width)
        chosen = b.select(b.icmp_signed("<", chosen, last), chosen, last)
        zero = constant(chosen.type, 0)
        chosen = b.select(b.icmp_signed(">", chosen, zero), chosen, zero)
        if self.width == 1:
            return read(0, chosen)
        value: ir.Value = ir.Constant(self.type, ir.Undefined)
        for lane in range(self.width):
            place = ir.Constant(I32, lane)
            value = b.insert_element(value, read(lane, b.extract_element(chosen, place)), place)
        return value

    def _element(self, name: str, row: ir.Value, column: int, lane: int) -> ir.Value:
        b, tile = self.b, self.tile_of[name]
        start = self._bytes_at(self.layout.tiles[name])
        index = b.add(b.mul(row, _number(tile.columns * self.width)), _number(column * self.width + lane))
        return b.load(b.gep(start, [index], source_etype=self.scalar), typ=self.scalar, align=_bytes(self.scalar))

    def _cell(self, table: str, row: ir.Value, column: int) -> ir.Value:
        b, width = self.b, self.stages.tables[table].width
        index = b.add(b.mul(row, _number(width)), _number(column))
        place = b.gep(self.tables[table], [index], source_etype=self.scalar)
        return b.load(place, typ=self.scalar, align=_bytes(self.scalar))

    def _whole(self, index: Index) -> ir.Value:
        if isinstance(index, int):
            return _number(index)
        b, table = self.b, self.stages.tables[index.table]
        row = b.mul(self.indices[index.loop], _number(len(table.whole)))
        place = b.gep(self.wholes[index.table], [b.add(row, _number(index.column))], source_etype=I64)
        return load(b, place, I64)

    def _tile_row(self, tile: Tile, index: Index) -> ir.Value:
        b = self.b
        start = self._bytes_at(self.layout.tiles[tile.name])
        offset = b.mul(self._whole(index), _number(tile.columns * self.width))
        return b.gep(start, [offset], source_etype=self.scalar)

    def _lane_vector(self, row: ir.Value, k: int) -> ir.Value:
        return self.b.gep(row, [_number(k * self.width)], source_etype=self.scalar)

    # small things

    def _memory(self, type_: ir.Type) -> ir.Value:
        with self.b.goto_entry_block():
            return self.b.alloca(type_)

    def _place(self, pointers: ir.Value, j: int) -> ir.Value:
        return self.b.gep(pointers, [_number(j)], source_etype=I64)

    def _word(self, j: int, type_: ir.Type) -> ir.Value:
        return load(self.b, self._place(self.words, j), type_)

    def _bytes_at(self, offset: int) -> ir.Value:
        return self.b.gep(self.scratch, [_number(offset)], source_etype=ir.IntType(8))

    def _splat(self, x: ir.Value) -> ir.Value:
        return _broadcast(self.b, x, self.width)

    def _as(self, x: ir.Value, scalar: ir.Type) -> ir.Value:
        b, own = self.b, x.type.element if isinstance(x.type, ir.VectorType) else x.type
        if own == scalar:
            return x
        target = lanes(self.width, scalar)
        return b.fptrunc(x, target) if scalar == FLOAT else b.fpext(x, target)

    def _widened(self, x: ir.Value) -> ir.Value:
        return self._as(x, DOUBLE)

    def _read(self, symbol: SX) -> ir.Value:
        """A value computed before, in whatever type it has."""
        return self._leaf(self.stages.leaves[symbol.name()])

    def _condition(self, symbol: SX) -> ir.Value:
        return _is_true(self.b, self._read(symbol))

    def _first_lane(self, x: ir.Value) -> ir.Value:
        return x if self.width == 1 else self.b.extract_element(x, ir.Constant(I32, 0))

    def _greatest(self, x: ir.Value) -> ir.Value:
        """Over the lanes."""
        b, best = self.b, self._first_lane(x)
        for lane in range(1, self.width):
            other = b.extract_element(x, ir.Constant(I32, lane))
            best = b.select(b.fcmp_ordered(">", other, best), other, best)
        return best

    def _lane_numbers(self, kind: ir.Type) -> ir.Value:
        if self.width == 1:
            return ir.Constant(kind, 0)
        return ir.Constant(ir.VectorType(kind, self.width), list(range(self.width)))

    def _check_finite(self, x: ir.Value) -> None:
        b, bits = self.b, self.checker.bits
        b.store(b.or_(b.load(self.flags, typ=bits), b.bitcast(b.fsub(x, x), bits)), self.flags)

    def _check_not_negative(self, x: ir.Value) -> None:
        b, bits = self.b, self.checker.bits
        bad = b.not_(b.fcmp_ordered(">=", x, constant(x.type, 0.0)))
        b.store(b.or_(b.load(self.flags, typ=bits), b.sext(bad, bits)), self.flags)

    @contextmanager
    def _counted(self, count: ir.Value) -> Iterator[ir.Value]:
        """for k in range(count): ..."""
        b = self.b
        before, head, body, after = b.block, *(b.append_basic_block(n) for n in ("for", "do", "done"))
        b.branch(head)
        b.position_at_end(head)
        k = b.phi(I64)
        k.add_incoming(_number(0), before)
        b.cbranch(b.icmp_signed("<", k, count), body, after)
        b.position_at_end(body)
        yield k
        k.add_incoming(b.add(k, _number(1)), b.block)
        b.branch(head)
        b.position_at_end(after)


def _number(n: int) -> ir.Constant:
    return ir.Constant(I64, n)


def _all(width: int) -> ir.Constant:
    return ir.Constant(I1, 1) if width == 1 else ir.Constant(ir.VectorType(I1, width), [ir.Constant(I1, 1)] * width)


def _none(width: int) -> ir.Constant:
    return ir.Constant(I1, 0) if width == 1 else ir.Constant(ir.VectorType(I1, width), [ir.Constant(I1, 0)] * width)


def _any(b: ir.IRBuilder, mask: ir.Value, width: int) -> ir.Value:
    if width == 1:
        return mask
    flags = ir.IntType(width)
    return b.icmp_unsigned("!=", b.bitcast(mask, flags), ir.Constant(flags, 0))


def _is_true(b: ir.IRBuilder, x: ir.Value) -> ir.Value:
    return b.fcmp_unordered("!=", x, constant(x.type, 0.0))


def _broadcast(b: ir.IRBuilder, x: ir.Value, width: int) -> ir.Value:
    """The scalar in every lane."""
    if width == 1:
        return x
    type_ = ir.VectorType(x.type, width)
    one = b.insert_element(ir.Constant(type_, ir.Undefined), x, ir.Constant(I32, 0))
    return b.shuffle_vector(one, ir.Constant(type_, ir.Undefined), ir.Constant(ir.VectorType(I32, width), [0] * width))


def emit_shareable(module: ir.Module, wide: ir.Function) -> ir.Function:
    """Define `run` as sharing.py calls it: without bounds of a counting loop."""
    function = ir.Function(module, ir.FunctionType(I64, [POINTER] * 4 + [I64] * 2), "run")
    b = ir.IRBuilder(function.append_basic_block("entry"))
    b.ret(b.call(wide, [*function.args, _number(0), _number(-1)]))
    return function


def emit_sample(module: ir.Module, one: StagedEmitter) -> ir.Function:
    """Define `sample(inputs, outputs)`: one sample in doubles, with a scratch of its own on the stack.

    The last input is a block of the words of all tables; the others are the sample's.
    """
    function = ir.Function(module, ir.FunctionType(I64, [POINTER] * 2), "sample")
    inputs, outputs = function.args
    count = len(one.stages.inputs)
    tables = TABLE_WORDS * len(one.stages.tables)
    b = ir.IRBuilder(function.append_basic_block("entry"))
    scratch = b.bitcast(b.alloca(DOUBLE, one.layout.size), POINTER)
    strides, words = b.alloca(I64, max(1, count)), b.alloca(I64, count + tables)
    block = b.load(b.gep(inputs, [_number(count)], source_etype=I64), typ=POINTER)
    for j in range(count):
        b.store(_number(0), b.gep(strides, [_number(j)]))
        own = b.load(b.gep(inputs, [_number(j)], source_etype=I64), typ=I64)
        b.store(own, b.gep(words, [_number(j)]))
    for j in range(tables):
        word = b.load(b.gep(block, [_number(j)], source_etype=I64), typ=I64)
        b.store(word, b.gep(words, [_number(count + j)]))
    pointers = [b.bitcast(words, POINTER), b.bitcast(strides, POINTER), outputs, scratch]
    bad = b.call(one.function, [*pointers, _number(0), _number(1), _number(0), _number(-1)])
    b.ret(b.zext(b.icmp_signed(">=", bad, _number(0)), I64))
    return function
