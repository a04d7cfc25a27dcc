"""Growing tables of machine code that Python appends rows to and asks for the nearest one."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from dataclasses import replace
from functools import cache

import numpy as np
from llvmlite import ir

from linkwork.engine.neighbours import Memory, Table, nearest_row, put_row, write_neighbours
from linkwork.engine.routines import Doubles, Routine, Words, compiled


def write_loops(module: ir.Module, table: Table) -> None:
    """Define fill(points, begin, end, memory ...) and ask(points, count, memory ..., rows, squared,
    nearest)."""
    functions = write_neighbours(module, table)
    r = Routine(module, "fill", 6)
    points, begin, end, blocks, names, boxes = r.arguments
    memory = Memory(Doubles(r, blocks), Words(r, names), Doubles(r, boxes))
    with r.times(end - begin) as k:
        row = Doubles(r, points).at((begin + k) * table.columns)
        put_row(functions, table, memory, begin + k, row)
    r.give(0)
    r = Routine(module, "ask", 8)
    points, count, blocks, names, boxes, rows, squared, nearest = r.arguments
    memory = Memory(Doubles(r, blocks), Words(r, names), Doubles(r, boxes))
    with r.times(count) as k:
        point, distance = Doubles(r, points).at(k * table.columns), Doubles(r, squared).at(k)
        Words(r, nearest)[k] = nearest_row(functions, memory, rows, point, distance)
    r.give(0)


@cache
def loops(table: Table) -> tuple[Callable[..., int], Callable[..., int]]:
    addresses = compiled(
        f"test neighbours {table}", lambda m: write_loops(m, table), ("fill", "ask")
    )
    word = ctypes.c_int64
    return tuple(
        ctypes.CFUNCTYPE(word, *[word] * n)(addresses[name])
        for name, n in (("fill", 6), ("ask", 8))
    )


class Grown:
    """A table of machine code that rows were appended to."""

    def __init__(self, table: Table, points: np.ndarray) -> None:
        self.table, self.points, self.count = table, np.ascontiguousarray(points), 0
        self.memory = {
            name: np.full(words, np.nan) for name, words in table.rooms(len(points)).items()
        }

    def grow(self, count: int) -> None:
        loops(self.table)[0](self.points.ctypes.data, self.count, count, *self._addresses())
        self.count = count

    def nearest(self, queries: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """(row, squared distance) of the row nearest to each query."""
        asked = np.ascontiguousarray(queries)
        rows, squared = np.full(len(asked), -1, dtype=np.int64), np.zeros(len(asked))
        told = (squared.ctypes.data, rows.ctypes.data)
        loops(self.table)[1](asked.ctypes.data, len(asked), *self._addresses(), self.count, *told)
        return rows, squared

    def _addresses(self) -> list[int]:
        return [self.memory[name].ctypes.data for name in ("blocks", "names", "boxes")]


def grown(table: Table, points: np.ndarray) -> Grown:
    whole = Grown(table, points)
    whole.grow(len(points))
    return whole


def scanned(table: Table) -> Table:
    """The same without trees."""
    return replace(table, few=2 * table.most)
