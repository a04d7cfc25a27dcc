"""Staged codegen: stages (stages.py) as one function that runs tiles of W samples,
or lanes of one sample together.

    run(words*, strides*, outputs**, scratch*, begin, end, first, last) -> first sample of the first
    bad tile, or -1

`words` are 64-bit words: the address of each input, then for each table the addresses of its rows
in doubles, in floats and of its whole numbers, and how many rows there are. `first` and `last`
bound a `counting` loop (last < 0: all of it). Variables and values stand in memory of the call,
which LLVM's own passes (SROA) turn into registers.
"""

from __future__ import annotations

from llvmlite import ir

from linkwork.engine.builder import Builder
from linkwork.engine.ir_types import (
    DOUBLE,
    FLOAT,
    I1,
    I32,
    I64,
    POINTER,
    any_lane,
    constant,
    counted,
    in_every_lane,
    lanes,
    number_of,
)
from linkwork.engine.lanes import RowLoader, aligned, at, load, on_lines, store, store_rows
from linkwork.engine.staged_groups import GroupCode
from linkwork.engine.staged_values import RUN_TYPE, TABLE_WORDS, StagedLayout
from linkwork.engine.stages import (
    Again,
    Counting,
    Finish,
    Group,
    Leave,
    Record,
    RowLoop,
    Stages,
    Where,
)
from linkwork.engine.tiles import Checker


class StagedEmitter(GroupCode):
    """Writes `run` for one recipe, width and scalar type into a module."""

    def __init__(
        self,
        module: ir.Module,
        stages: Stages,
        width: int,
        scalar: ir.Type,
        name: str,
        exact: ir.Function | None,
    ) -> None:
        self.stages, self.scalar, self.width = stages, scalar, width
        self.exact = exact  # the same in doubles, one lane: for samples that are too close
        self.layout = StagedLayout.of(stages, width, scalar)
        self.operations = 0
        self.tile_of = {tile.name: tile for tile in stages.tiles}
        self.table_at = {
            name: len(stages.inputs) + TABLE_WORDS * k for k, name in enumerate(stages.tables)
        }
        self.type = lanes(self.width, scalar)
        self.function = ir.Function(module, RUN_TYPE, name)
        on_lines(self.function)
        self.words, self.strides, self.outputs, scratch, *bounds = self.function.args
        self.begin, self.end, self.first, self.last = bounds
        self.b = Builder(self.function.append_basic_block("entry"))
        self.scratch = aligned(self.b, scratch)
        self._emit()

    # the frame: tiles one after the other

    def _emit(self) -> None:
        b, stages, width = self.b, self.stages, self.width
        self.sources = [self._word(j, POINTER) for j in range(len(stages.inputs))]
        self.steps = [load(b, self._place(self.strides, j), I64) for j in range(len(stages.inputs))]
        self.targets = [
            load(b, self._place(self.outputs, j), POINTER) for j in range(len(stages.outputs))
        ]
        place = 1 if self.scalar == FLOAT else 0
        self.tables = {n: self._word(k + place, POINTER) for n, k in self.table_at.items()}
        self.wholes = {n: self._word(k + 2, POINTER) for n, k in self.table_at.items()}
        self.counts = {n: self._word(k + 3, I64) for n, k in self.table_at.items()}
        self.variables = [
            [self._memory(self.type) for _ in range(v.x.numel())] for v in stages.variables
        ]
        self.values: dict[int, list[ir.Value]] = {}
        self.truths = lanes(width, I1)
        self.live, self.redo = self._memory(self.truths), self._memory(self.truths)
        self.indices: dict[int, ir.Value] = {}
        self.index_memory: dict[int, ir.Value] = {}
        entry, head, tile, done = (
            b.block,
            *(self.function.append_basic_block(n) for n in ("head", "tile", "done")),
        )
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
        b.store(constant(self.truths, 1), self.live)
        b.store(constant(self.truths, 0), self.redo)
        self._load_inputs()
        for memory, variable in zip(self.variables, stages.variables, strict=True):
            for place_of in memory:
                b.store(constant(self.type, variable.start), place_of)
        self._block(stages.block, None, None)
        b.branch(self.tile_end)

        b.position_at_end(self.tile_end)
        following = b.add(self.i, number_of(1 if stages.together else width))
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
        b.ret(number_of(-1))

    def _load_inputs(self) -> None:
        b, width = self.b, self.width
        self.inputs: list[list[ir.Value]] = []
        last = b.sub(self.end, number_of(1))
        full = b.icmp_signed("<=", b.add(self.i, number_of(width)), self.end)
        for j, (_, size) in enumerate(self.stages.inputs):
            row = b.mul(self.i, self.steps[j])
            if self.stages.together or width == 1:
                place = at(b, self.sources[j], row)
                values = [self._splat(load(b, at(b, place, k), DOUBLE)) for k in range(size)]
            else:
                scratch = self._bytes_at(self.layout.inputs[j])
                direct = b.and_(full, b.icmp_signed("==", self.steps[j], number_of(size)))
                with b.if_then(b.not_(direct), likely=False):
                    self._gather(scratch, j, size, last)
                loader = RowLoader(
                    b.select(direct, at(b, self.sources[j], row), scratch), size, width
                )
                values = [loader(b, k) for k in range(size)]
            for value in values:
                self._check_finite(value)
            self.inputs.append(values)

    def _gather(self, target: ir.Value, j: int, size: int, last: ir.Value) -> None:
        """Rows i .. i + W - 1, the last one repeated, one after the other."""
        b = self.b
        for lane in range(self.width):
            row = b.add(self.i, number_of(lane))
            row = b.select(b.icmp_signed("<", row, last), row, last)
            place = at(b, self.sources[j], b.mul(row, self.steps[j]))
            for k in range(size):
                store(b, load(b, at(b, place, k), DOUBLE), at(b, target, lane * size + k))

    def _store_outputs(self) -> None:
        b, width = self.b, self.width
        full = b.icmp_signed("<=", b.add(self.i, number_of(width)), self.end)
        rest = b.sub(self.end, self.i)
        for j, (_, variable) in enumerate(self.stages.outputs):
            if j in self.stages.recorded:
                continue
            memory = self.variables[variable.number]
            size = len(memory)
            values = [self._widened(b.load(m, typ=self.type)) for m in memory]
            for value in values:
                self._check_finite(value)
            target = at(b, self.targets[j], b.mul(self.i, number_of(size)))
            if self.stages.together:
                for k, value in enumerate(values):
                    store(b, self._greatest(value), at(b, target, k))
                continue
            scratch = self._bytes_at(self.layout.outputs[j])
            store_rows(b, b.select(full, target, scratch), values, width)
            with b.if_then(b.not_(full), likely=False):
                with counted(b, b.mul(rest, number_of(size))) as k:
                    store(b, load(b, at(b, scratch, k), DOUBLE), at(b, target, k))

    def _record(self, step: Record) -> None:
        """Into row k of each sample's own rows; every lane writes what it has,
        whether it is active or not."""
        b, width = self.b, self.width
        left = b.sub(self.end, self.i)
        lanes_there = b.select(b.icmp_signed("<", left, number_of(width)), left, number_of(width))
        for j, variable in step.outputs:
            memory = self.variables[variable.number]
            size = len(memory)
            values = [self._widened(b.load(m, typ=self.type)) for m in memory]
            for value in values:
                self._check_finite(value)
            scratch = self._bytes_at(self.layout.outputs[j])
            store_rows(b, scratch, values, width)
            rows = self.counts[self.stages.recorded[j].name]
            with counted(b, lanes_there) as lane:
                row = b.add(b.mul(b.add(self.i, lane), rows), self.indices[step.loop])
                target = at(b, self.targets[j], b.mul(row, number_of(size)))
                source = at(b, scratch, b.mul(lane, number_of(size)))
                with counted(b, number_of(size)) as k:
                    store(b, load(b, at(b, source, k), DOUBLE), at(b, target, k))

    def _redo_lanes(self) -> None:
        """Samples that were too close, once more in doubles."""
        b = self.b
        flags = b.load(self.redo, typ=self.truths)
        with b.if_then(any_lane(b, flags), likely=False):
            bits = b.zext(b.bitcast(flags, ir.IntType(self.width)), I64)
            with counted(b, number_of(self.width)) as lane:
                sample = b.add(self.i, lane)
                wanted = b.and_(b.lshr(bits, lane), number_of(1))
                wanted = b.and_(
                    b.icmp_signed("!=", wanted, number_of(0)), b.icmp_signed("<", sample, self.end)
                )
                with b.if_then(wanted):
                    self._call_exact(sample, number_of(0), number_of(-1))

    def _call_exact(self, sample: ir.Value, first: ir.Value, last: ir.Value) -> None:
        b = self.b
        scratch = self._bytes_at(8 * self.layout.size)
        following = b.add(sample, number_of(1))
        memory = [self.words, self.strides, self.outputs, scratch]
        bad = b.call(self.exact, [*memory, sample, following, first, last])
        wrong = b.select(b.icmp_signed(">=", bad, number_of(0)), number_of(-1), number_of(0))
        bits = self.checker.bits
        b.store(
            b.or_(b.load(self.flags, typ=bits), in_every_lane(b, wrong, self.width)), self.flags
        )

    # steps

    def _block(
        self, block: list, mask: ir.Value | None, leave: tuple[ir.Value, ir.Block] | None
    ) -> None:
        """`mask`: lanes that entered (None: all); `leave`: lanes still in the innermost loop,
        and where it ends."""
        for step in block:
            match step:
                case Group():
                    self._group(step, mask, leave)
                case Where():
                    self._where(step, mask, leave)
                case RowLoop():
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

    def _where(self, step: Where, mask: ir.Value | None, leave: tuple | None) -> None:
        b = self.b
        wanted = b.and_(self._active(mask, leave), self._condition(step.condition))
        inside, after = b.append_basic_block("where"), b.append_basic_block("after")
        b.cbranch(any_lane(b, wanted), inside, after)
        b.position_at_end(inside)
        self._block(step.block, wanted, leave)
        b.branch(after)
        b.position_at_end(after)

    def _loop(self, step: RowLoop, mask: ir.Value | None) -> None:
        b = self.b
        first = number_of(0) if step.first is None else self._whole(step.first)
        count = self.counts[step.table.name] if step.count is None else self._whole(step.count)
        staying = self._memory(self.truths)
        b.store(constant(self.truths, 1), staying)
        before, head, body, after = (
            b.block,
            *(b.append_basic_block(n) for n in ("rows", "row", "rows_done")),
        )
        b.branch(head)
        b.position_at_end(head)
        k = b.phi(I64)
        k.add_incoming(first, before)
        b.cbranch(b.icmp_signed("<", k, b.add(first, count)), body, after)
        b.position_at_end(body)
        self.indices[step.number] = k
        self._block(step.block, mask, (staying, after))
        k.add_incoming(b.add(k, number_of(1)), b.block)
        b.branch(head)
        b.position_at_end(after)

    def _counting(self, step: Counting, mask: ir.Value | None) -> None:
        """Lane l takes numbers c + l C of C rounds: far apart,
        so that one of them finds what there is early."""
        b, double = self.b, lanes(self.width)
        wanted = b.fptosi(self._first_lane(self._read(step.count)), I64)
        rounds = b.sdiv(b.add(wanted, number_of(self.width - 1)), number_of(self.width))
        stop = b.select(b.icmp_signed("<", self.last, number_of(0)), rounds, self.last)
        before, head, body, after = (
            b.block,
            *(b.append_basic_block(n) for n in ("counts", "count", "counts_done")),
        )
        b.branch(head)
        b.position_at_end(head)
        c = b.phi(I64)
        c.add_incoming(self.first, before)
        b.cbranch(b.icmp_signed("<", c, stop), body, after)
        b.position_at_end(body)
        lane = self._lane_numbers(I64)
        number = b.add(
            in_every_lane(b, c, self.width), b.mul(lane, in_every_lane(b, rounds, self.width))
        )
        within = b.icmp_signed("<", number, in_every_lane(b, wanted, self.width))
        inner = within if mask is None else b.and_(mask, within)
        self.index_memory[step.number] = self._memory(double)
        b.store(b.sitofp(number, double), self.index_memory[step.number])
        self._block(step.block, inner, None)
        c.add_incoming(b.add(c, number_of(1)), b.block)
        b.branch(head)
        b.position_at_end(after)

    def _leave(
        self, step: Leave, mask: ir.Value | None, leave: tuple[ir.Value, ir.Block] | None
    ) -> None:
        b = self.b
        assert leave is not None, "leave: there is no loop to leave"
        staying = b.and_(b.load(leave[0], typ=self.truths), b.not_(self._condition(step.condition)))
        b.store(staying, leave[0])
        self._go_unless_empty(self._active(mask, leave), leave[1])

    def _finish(self, step: Finish, mask: ir.Value | None, leave: tuple | None) -> None:
        b = self.b
        done = b.and_(self._active(mask, leave), self._condition(step.condition))
        if step.any_lane:
            onward = b.append_basic_block("undecided")
            b.cbranch(any_lane(b, done), self.tile_end, onward)
            b.position_at_end(onward)
            return
        live = b.and_(b.load(self.live, typ=done.type), b.not_(done))
        b.store(live, self.live)
        self._go_unless_empty(live, self.tile_end)

    def _go_unless_empty(self, mask: ir.Value, target: ir.Block) -> None:
        b = self.b
        onward = b.append_basic_block("onward")
        b.cbranch(any_lane(b, mask), onward, target)
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
        with b.if_then(any_lane(b, close), likely=False):
            for lane in range(self.width):
                place = ir.Constant(I32, lane)
                bit = close if self.width == 1 else b.extract_element(close, place)
                with b.if_then(bit):
                    whole = b.load(number, typ=lanes(self.width))
                    one = whole if self.width == 1 else b.extract_element(whole, place)
                    k = b.fptosi(one, I64)
                    self._call_exact(self.i, k, b.add(k, number_of(1)))
                    result = load(b, at(b, self.targets[output], self.i), DOUBLE)
                    result = result if self.scalar == DOUBLE else b.fptrunc(result, self.scalar)
                    now = b.load(memory, typ=self.type)
                    changed = result if self.width == 1 else b.insert_element(now, result, place)
                    b.store(changed, memory)
