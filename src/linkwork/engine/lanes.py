"""Rows to lanes and back: W rows of an ordinary row-major array become vectors of W lanes, by transposes in registers."""

from __future__ import annotations

from llvmlite import ir

from linkwork.engine.emit import DOUBLE, I32, I64, lanes


def at(b: ir.IRBuilder, pointer: ir.Value, index: int | ir.Value) -> ir.Value:
    """pointer + index, in doubles."""
    if isinstance(index, int):
        index = ir.Constant(I64, index)
    return b.gep(pointer, [index], source_etype=DOUBLE)


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
            out[j] = b.shuffle_vector(rows[i], rows[j], ir.Constant(ir.VectorType(I32, width), high))
        rows = out
        distance *= 2
    return rows


class RowLoader:
    """Gives element k of W consecutive rows of length `count` as one lane vector; loads W columns at a time, when needed."""

    def __init__(self, pointer: ir.Value, count: int, width: int) -> None:
        self.pointer, self.count, self.width = pointer, count, width
        self.columns: dict[int, ir.Value] = {}

    def __call__(self, b: ir.IRBuilder, k: int) -> ir.Value:
        if k not in self.columns:
            self._load_block(b, k)
        return self.columns[k]

    def _load_block(self, b: ir.IRBuilder, k: int) -> None:
        width, count = self.width, self.count
        if width == 1:
            self.columns[k] = load(b, at(b, self.pointer, k), DOUBLE)
            return
        if count < width:
            value: ir.Value = ir.Constant(lanes(width), ir.Undefined)
            for lane in range(width):
                scalar = load(b, at(b, self.pointer, lane * count + k), DOUBLE)
                value = b.insert_element(value, scalar, ir.Constant(I32, lane))
            self.columns[k] = value
            return
        start = min(k - k % width, count - width)
        rows = [load(b, at(b, self.pointer, lane * count + start), lanes(width)) for lane in range(width)]
        for offset, column in enumerate(transpose(b, rows)):
            self.columns.setdefault(start + offset, column)


def store_rows(b: ir.IRBuilder, pointer: ir.Value, columns: list[ir.Value], width: int) -> None:
    """Write lane vectors, one a column, as W consecutive rows."""
    count = len(columns)
    if width == 1:
        for k, value in enumerate(columns):
            store(b, value, at(b, pointer, k))
        return
    if count < width:
        for k, value in enumerate(columns):
            for lane in range(width):
                store(b, b.extract_element(value, ir.Constant(I32, lane)), at(b, pointer, lane * count + k))
        return
    starts = list(range(0, count - width + 1, width))
    if count % width:
        starts.append(count - width)  # overlaps the block before: the same numbers written twice
    for start in starts:
        for lane, row in enumerate(transpose(b, columns[start : start + width])):
            store(b, row, at(b, pointer, lane * count + start))
