"""Rows to lanes and back: W rows of a row-major array become vectors of W lanes,
by transposes in registers."""

from __future__ import annotations

from llvmlite import ir

from linkwork.engine.ir_types import DOUBLE, I32, I64, POINTER, lanes, number_of
from linkwork.engine.target import LINE


def at(b: ir.IRBuilder, pointer: ir.Value, index: int | ir.Value) -> ir.Value:
    """pointer + index, in doubles."""
    if isinstance(index, int):
        index = number_of(index)
    return b.gep(pointer, [index], source_etype=DOUBLE)


def aligned(b: ir.IRBuilder, pointer: ir.Value) -> ir.Value:
    """The first place at a pointer or behind it where a line of the cache begins."""
    address = b.add(b.ptrtoint(pointer, I64), ir.Constant(I64, 8 * LINE - 1))
    return b.inttoptr(b.and_(address, ir.Constant(I64, -8 * LINE)), POINTER)


def on_lines(function: ir.Function) -> None:
    """Let what the function puts aside on its stack begin on a line of the cache.

    The caller's stack may lie anywhere, and half of all vectors across two lines: code is then a
    fourth slower in one process and not in the next.
    """
    function.attributes.add("nounwind")
    function.attributes.alignstack = 8 * LINE


def load(b: ir.IRBuilder, pointer: ir.Value, type_: ir.Type) -> ir.Value:
    return b.load(pointer, typ=type_, align=8)


def store(b: ir.IRBuilder, value: ir.Value, pointer: ir.Value) -> None:
    b.store(value, pointer, align=8)


def transpose(b: ir.IRBuilder, rows: list[ir.Value]) -> list[ir.Value]:
    """W vectors of W lanes, transposed in log2(W) rounds of two-input shuffles."""
    width = len(rows)
    distance = 1
    while distance < width:
        out = list(rows)
        for i in range(width):
            if i & distance:
                continue
            j = i | distance
            low = [x if not x & distance else width + (x ^ distance) for x in range(width)]
            high = [x | distance if not x & distance else width + x for x in range(width)]
            out[i] = b.shuffle_vector(rows[i], rows[j], ir.Constant(ir.VectorType(I32, width), low))
            out[j] = b.shuffle_vector(
                rows[i], rows[j], ir.Constant(ir.VectorType(I32, width), high)
            )
        rows = out
        distance *= 2
    return rows


def _interleaved(b: ir.IRBuilder, low: ir.Value, high: ir.Value, odd: int, width: int) -> ir.Value:
    """(low[odd], high[odd], low[2 + odd], high[2 + odd], ...)."""
    mask = [i - i % 2 + odd + (width if i % 2 else 0) for i in range(width)]
    return b.shuffle_vector(low, high, ir.Constant(ir.VectorType(I32, width), mask))


def _joined(b: ir.IRBuilder, parts: list[ir.Value]) -> ir.Value:
    """Vectors one after the other, as one."""
    while len(parts) > 1:
        size = 2 * parts[0].type.count
        mask = ir.Constant(ir.VectorType(I32, size), list(range(size)))
        parts = [b.shuffle_vector(x, y, mask) for x, y in zip(parts[::2], parts[1::2], strict=True)]
    return parts[0]


def _pair(b: ir.IRBuilder, x: ir.Value, row: int) -> ir.Value:
    """Elements 2 row and 2 row + 1."""
    return b.shuffle_vector(x, x, ir.Constant(ir.VectorType(I32, 2), [2 * row, 2 * row + 1]))


def blocks(count: int, width: int) -> list[tuple[int, int]]:
    """(first column, how many) of the pieces in which `count` columns are transposed.

    Whole blocks of W; what is left as pairs and single columns, or as one more block that overlaps
    the one before.
    """
    whole = [(start, width) for start in range(0, count - width + 1, width)]
    left = count % width
    if left > 2 and count >= width and left > width // 2:
        return [*whole, (count - width, width)]
    start = count - left
    pairs = [(start + k, 2) for k in range(0, left - 1, 2)]
    return [*whole, *pairs, *([(count - 1, 1)] if left % 2 else [])]


class RowLoader:
    """Gives element k of W consecutive rows of length `count` as a lane vector;
    loads blocks of columns when needed."""

    def __init__(self, pointer: ir.Value, count: int, width: int) -> None:
        self.pointer, self.count, self.width = pointer, count, width
        self.columns: dict[int, ir.Value] = {}
        self.blocks = blocks(count, width) if width > 1 else []

    def __call__(self, b: ir.IRBuilder, k: int) -> ir.Value:
        if k not in self.columns:
            if self.width == 1:
                self.columns[k] = load(b, at(b, self.pointer, k), DOUBLE)
            else:
                start, size = next(x for x in self.blocks if x[0] <= k < x[0] + x[1])
                for offset, column in enumerate(self._block(b, start, size)):
                    self.columns.setdefault(start + offset, column)
        return self.columns[k]

    def _block(self, b: ir.IRBuilder, start: int, size: int) -> list[ir.Value]:
        places = [at(b, self.pointer, lane * self.count + start) for lane in range(self.width)]
        if size == 1:
            value: ir.Value = ir.Constant(lanes(self.width), ir.Undefined)
            for lane, place in enumerate(places):
                value = b.insert_element(value, load(b, place, DOUBLE), ir.Constant(I32, lane))
            return [value]
        rows = [load(b, place, lanes(size)) for place in places]
        if size == self.width:
            return transpose(b, rows)
        even, odd = _joined(b, rows[::2]), _joined(b, rows[1::2])
        return [_interleaved(b, even, odd, k, self.width) for k in range(2)]


def store_rows(b: ir.IRBuilder, pointer: ir.Value, columns: list[ir.Value], width: int) -> None:
    """Write lane vectors, one a column, as W consecutive rows."""
    count = len(columns)
    if width == 1:
        for k, value in enumerate(columns):
            store(b, value, at(b, pointer, k))
        return
    for start, size in blocks(count, width):
        places = [at(b, pointer, lane * count + start) for lane in range(width)]
        if size == 1:
            rows = [
                b.extract_element(columns[start], ir.Constant(I32, lane)) for lane in range(width)
            ]
        elif size == width:
            rows = transpose(b, columns[start : start + width])
        else:
            halves = [
                _interleaved(b, columns[start], columns[start + 1], k, width) for k in range(2)
            ]
            rows = [_pair(b, halves[lane % 2], lane // 2) for lane in range(width)]
        for row, place in zip(rows, places, strict=True):
            store(b, row, place)
