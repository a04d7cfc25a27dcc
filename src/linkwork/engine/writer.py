"""Writer: words, loops and conditions in LLVM's language,
for the few functions that every kernel shares."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from llvmlite import ir

from linkwork.engine.builder import Builder
from linkwork.engine.ir_types import I8, I64, POINTER


class Writer:
    """Writes the body of one function, whose blocks it appends; all numbers are 64-bit words."""

    def __init__(self, function: ir.Function) -> None:
        self.function = function
        self.b = Builder(function.entry_basic_block)

    def words(self, count: int = 1) -> ir.Value:
        """Memory of this call for some numbers."""
        with self.b.goto_entry_block():
            return self.b.bitcast(self.b.alloca(I64, count), POINTER)

    def number(self, x: ir.Value | int) -> ir.Value:
        return ir.Constant(I64, x) if isinstance(x, int) else x

    def place(self, pointer: ir.Value, index: ir.Value | int) -> ir.Value:
        return self.b.gep(pointer, [self.number(index)], source_etype=I64)

    def word(self, pointer: ir.Value, index: ir.Value | int, type_: ir.Type = I64) -> ir.Value:
        return self.b.load(self.place(pointer, index), typ=type_)

    def put(self, value: ir.Value, pointer: ir.Value, index: ir.Value | int) -> None:
        as_number = value if value.type == I64 else self.b.ptrtoint(value, I64)
        self.b.store(as_number, self.place(pointer, index))

    def field(self, pointer: ir.Value, offset: int, type_: ir.Type) -> ir.Value:
        """What stands some bytes behind a pointer."""
        return self.b.load(self.b.gep(pointer, [self.number(offset)], source_etype=I8), typ=type_)

    def equal(self, x: ir.Value, y: ir.Value | int) -> ir.Value:
        return self.b.icmp_signed("==", x, ir.Constant(x.type, y) if isinstance(y, int) else y)

    @contextmanager
    def loop(self, count: ir.Value) -> Iterator[ir.Value]:
        """For k = 0 .. count - 1."""
        counter = self.words()
        self.put(self.number(0), counter, 0)
        head, body, end = (self.function.append_basic_block() for _ in range(3))
        self.b.branch(head)
        self.b.position_at_end(head)
        k = self.word(counter, 0)
        self.b.cbranch(self.b.icmp_signed("<", k, count), body, end)
        self.b.position_at_end(body)
        yield k
        self.put(self.b.add(k, self.number(1)), counter, 0)
        self.b.branch(head)
        self.b.position_at_end(end)
