"""Tiles: what goes on beside the arithmetic of W samples: results are checked,
the next samples prefetched."""

from __future__ import annotations

from llvmlite import ir

from linkwork.engine.ir_types import DOUBLE, I32, I64, POINTER, constant, intrinsic, lanes, suffix
from linkwork.engine.lanes import at, load
from linkwork.engine.program import Program
from linkwork.engine.target import LINE


class Checker:
    """Gathers, lane by lane, whether anything was not finite or a guard was negative."""

    def __init__(self, width: int) -> None:
        self.type, self.bits = lanes(width), lanes(width, I64)
        self.flags: ir.Value = constant(self.bits, 0)

    def finite(self, b: ir.IRBuilder, x: ir.Value) -> None:
        # x - x is +0 for a finite number and NaN otherwise; runs beside the multiplier
        self.flags = b.or_(self.flags, b.bitcast(b.fsub(x, x), self.bits))

    def not_negative(self, b: ir.IRBuilder, x: ir.Value) -> None:
        bad = b.not_(b.fcmp_ordered(">=", x, constant(self.type, 0.0)))
        self.flags = b.or_(
            self.flags, b.select(bad, constant(self.bits, -1), constant(self.bits, 0))
        )

    def finite_memory(self, b: ir.IRBuilder, pointer: ir.Value, count: int) -> None:
        """Check `count` lane vectors that stand one after the other, in a loop."""
        width = 1 if self.type == DOUBLE else self.type.count
        before = b.block
        loop = b.append_basic_block("check")
        after = b.append_basic_block("checked")
        b.branch(loop)
        b.position_at_end(loop)
        k, flags = b.phi(I64), b.phi(self.bits)
        k.add_incoming(ir.Constant(I64, 0), before)
        flags.add_incoming(self.flags, before)
        self.flags = flags
        self.finite(b, load(b, at(b, pointer, b.mul(k, ir.Constant(I64, width))), self.type))
        following = b.add(k, ir.Constant(I64, 1))
        k.add_incoming(following, loop)
        flags.add_incoming(self.flags, loop)
        b.cbranch(b.icmp_signed("<", following, ir.Constant(I64, count)), loop, after)
        b.position_at_end(after)

    def any(self, b: ir.IRBuilder) -> ir.Value:
        total = self.flags
        if isinstance(self.bits, ir.VectorType):
            name = f"llvm.vector.reduce.or.{suffix(self.bits)}"
            total = b.call(intrinsic(b, name, I64, [self.bits]), [total])
        return b.icmp_unsigned("!=", total, ir.Constant(I64, 0))


class Ahead:
    """Calls the inputs of the next tile into the cache while this tile is computed,
    one line now and then.

    Software prefetch. All lines at once would wait for each other, and cost what they save; so they
    are spread over the operations. `python -m benchmarks inverse_dynamics` has the rows of batches
    beyond the cache.
    """

    def __init__(
        self,
        b: ir.IRBuilder,
        program: Program,
        sources: list[ir.Value],
        following: ir.Value,
        width: int,
    ) -> None:
        """`sources`: where each input begins; `following`: the first sample of the next tile."""
        self.prefetch = intrinsic(b, "llvm.prefetch.p0", ir.VoidType(), [POINTER, I32, I32, I32])
        self.lines = [
            (rows, first)
            for source, count in zip(sources, program.inputs, strict=True)
            for rows in [at(b, source, b.mul(following, ir.Constant(I64, count)))]
            for first in range(0, count * width, LINE)
        ]
        self.every = len(program.code) / max(1, len(self.lines))
        self.called = 0

    def __call__(self, b: ir.IRBuilder, k: int) -> None:
        """Call the lines that are due before operation k."""
        to_read, keep, data = ir.Constant(I32, 0), ir.Constant(I32, 3), ir.Constant(I32, 1)
        while self.called < len(self.lines) and self.called * self.every <= k:
            rows, first = self.lines[self.called]
            b.call(self.prefetch, [at(b, rows, first), to_read, keep, data])
            self.called += 1
