"""Staged values: what the code of stages reads and writes: lanes, rows of tables,
cells of scratch tiles."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from casadi import SX
from llvmlite import ir

from linkwork.engine.ir_types import (
    DOUBLE,
    FLOAT,
    I8,
    I32,
    I64,
    POINTER,
    constant,
    in_every_lane,
    is_true,
    lanes,
    number_of,
    scalar_of,
)
from linkwork.engine.lanes import load
from linkwork.engine.stages import Index, Leaf, Stages, Tile
from linkwork.engine.target import LINE
from linkwork.engine.tiles import Checker

TABLE_WORDS = 4  # rows in doubles, rows in floats, whole numbers, how many rows
RUN_TYPE = ir.FunctionType(I64, [POINTER] * 4 + [I64] * 4)


@dataclass(frozen=True)
class StagedLayout:
    """Where things lie in the scratch memory, in bytes, and how much there is, in doubles."""

    inputs: tuple[int, ...]
    outputs: tuple[int, ...]
    tiles: dict[str, int]
    size: int

    @staticmethod
    def of(stages: Stages, width: int, scalar: ir.Type) -> StagedLayout:
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
            offset += tile.rows * tile.columns * width * bytes_of(scalar)
        return StagedLayout(tuple(inputs), tuple(outputs), tiles, -(-offset // 8) + LINE)


def bytes_of(scalar: ir.Type) -> int:
    return 8 if scalar == DOUBLE else 4


class LaneValues:
    """Values of one function that runs stages on lanes;
    staged_codegen.py has the stages themselves."""

    b: ir.IRBuilder
    width: int
    scalar: ir.Type
    type: ir.Type
    layout: StagedLayout
    function: ir.Function
    words: ir.Value
    scratch: ir.Value
    flags: ir.Value
    tile_of: dict[str, Tile]
    table_at: dict[str, int]
    stages: Stages
    checker: Checker
    inputs: Any
    values: Any
    variables: Any
    indices: Any
    index_memory: Any
    counts: Any
    tables: Any
    wholes: Any

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
                index = number_of(0) if loop < 0 else self.indices[loop]
                return self._splat(self._cell(table, index, column))
            case "number", (loop,):
                return self._splat(b.sitofp(self.indices[loop], self.scalar))
            case "count", (loop,):
                return b.load(self.index_memory[loop], typ=lanes(self.width))
            case "lane", ():
                return b.sitofp(self._lane_numbers(I64), lanes(self.width))
            case "tile", (name, index, column):
                place = self._tile_row(self.tile_of[name], index)
                return b.load(
                    self._lane_vector(place, column), typ=self.type, align=bytes_of(self.scalar)
                )
            case "look_up", (table, variable, column):
                rows = self.counts[table]
                return self._each_lane(
                    variable, rows, lambda lane, row: self._cell(table, row, column)
                )
            case "pick", (name, variable, column):
                rows = number_of(self.tile_of[name].rows)
                return self._each_lane(
                    variable, rows, lambda lane, row: self._element(name, row, column, lane)
                )
        raise AssertionError(leaf)

    def _each_lane(
        self, variable: int, rows: ir.Value, read: Callable[[int, ir.Value], ir.Value]
    ) -> ir.Value:
        """What each lane reads from the row of its variable;
        a lane that chose none reads the nearest that exists."""
        b = self.b
        chosen = b.fptosi(
            b.load(self.variables[variable][0], typ=self.type), lanes(self.width, I64)
        )
        last = in_every_lane(b, b.sub(rows, number_of(1)), self.width)
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
        index = b.add(
            b.mul(row, number_of(tile.columns * self.width)), number_of(column * self.width + lane)
        )
        return b.load(
            b.gep(start, [index], source_etype=self.scalar),
            typ=self.scalar,
            align=bytes_of(self.scalar),
        )

    def _cell(self, table: str, row: ir.Value, column: int) -> ir.Value:
        b, width = self.b, self.stages.tables[table].width
        index = b.add(b.mul(row, number_of(width)), number_of(column))
        place = b.gep(self.tables[table], [index], source_etype=self.scalar)
        return b.load(place, typ=self.scalar, align=bytes_of(self.scalar))

    def _whole(self, index: Index) -> ir.Value:
        if isinstance(index, int):
            return number_of(index)
        b, table = self.b, self.stages.tables[index.table]
        row = b.mul(self.indices[index.loop], number_of(len(table.whole)))
        place = b.gep(
            self.wholes[index.table], [b.add(row, number_of(index.column))], source_etype=I64
        )
        return load(b, place, I64)

    def _tile_row(self, tile: Tile, index: Index) -> ir.Value:
        b = self.b
        start = self._bytes_at(self.layout.tiles[tile.name])
        offset = b.mul(self._whole(index), number_of(tile.columns * self.width))
        return b.gep(start, [offset], source_etype=self.scalar)

    def _lane_vector(self, row: ir.Value, k: int) -> ir.Value:
        return self.b.gep(row, [number_of(k * self.width)], source_etype=self.scalar)

    # small things

    def _memory(self, type_: ir.Type) -> ir.Value:
        with self.b.goto_entry_block():
            return self.b.alloca(type_)

    def _place(self, pointers: ir.Value, j: int) -> ir.Value:
        return self.b.gep(pointers, [number_of(j)], source_etype=I64)

    def _word(self, j: int, type_: ir.Type) -> ir.Value:
        return load(self.b, self._place(self.words, j), type_)

    def _bytes_at(self, offset: int) -> ir.Value:
        return self.b.gep(self.scratch, [number_of(offset)], source_etype=I8)

    def _splat(self, x: ir.Value) -> ir.Value:
        return in_every_lane(self.b, x, self.width)

    def _as(self, x: ir.Value, scalar: ir.Type) -> ir.Value:
        b, own = self.b, scalar_of(x.type)
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
        return is_true(self.b, self._read(symbol))

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
        return ir.Constant(lanes(self.width, kind), list(range(self.width)))

    def _check_finite(self, x: ir.Value) -> None:
        b, bits = self.b, self.checker.bits
        b.store(b.or_(b.load(self.flags, typ=bits), b.bitcast(b.fsub(x, x), bits)), self.flags)

    def _check_not_negative(self, x: ir.Value) -> None:
        b, bits = self.b, self.checker.bits
        bad = b.not_(b.fcmp_ordered(">=", x, constant(x.type, 0.0)))
        b.store(b.or_(b.load(self.flags, typ=bits), b.sext(bad, bits)), self.flags)
