"""Scan codegen: a step function run many times for a queue of samples, W lanes at a time,
without leaving machine code.

    scan(arguments*, scratch*, begin, end) -> 0

The state of W samples stands in the scratch tile, one lane vector an element. Each round steps all
lanes; a lane that stops, fails or reaches the last step writes its sample's result and is refilled
with the next sample of begin .. end. When the queue is empty a finished lane repeats the last
sample and writes nothing, so the lanes need no masks.
"""

from __future__ import annotations

from collections.abc import Sequence

from llvmlite import ir

from linkwork.engine.builder import Builder
from linkwork.engine.emit import emit_body
from linkwork.engine.ir_types import (
    DOUBLE,
    I32,
    I64,
    POINTER,
    any_lane,
    constant,
    counted,
    lanes,
    number_of,
)
from linkwork.engine.lanes import aligned, at, load, on_lines, store
from linkwork.engine.program import Program
from linkwork.engine.target import LINE

ARGUMENTS = (
    "state_in",  # (samples, state) start states, step index first
    "state_stride",
    "parameters",  # (samples, parameters)
    "parameter_stride",
    "sequences",  # (samples, steps, sequence)
    "sequence_stride",
    "state_out",  # (samples, state)
    "verdicts",  # (samples,) 0 ran all steps, 1 stopped by its condition, 2 not finite
    "records",  # (samples, rows, record)
    "record_stride",
    "steps",
    "every",
    "cancel",  # address of a flag: not zero ends the work
)


class ScanLayout:
    """Where things lie in the scratch tile, in doubles."""

    def __init__(self, program: Program, width: int) -> None:
        self.width = width
        self.state, self.parameter, self.sequence = program.inputs
        self.record = len(program.outputs[1])
        self.state_at = 0
        self.parameter_at = self.state_at + self.state * width
        self.sequence_at = self.parameter_at + self.parameter * width
        self.record_at = self.sequence_at + self.sequence * width
        self.verdict_at = self.record_at + self.record * width
        self.sample_at = self.verdict_at + width
        # does the lane move on to the next row; only if the step decides it
        self.advance_at = self.sample_at + width
        self.decides = len(program.outputs) > 3
        self.size = self.advance_at + (width if self.decides else 0) + LINE


def _argument(b: ir.IRBuilder, arguments: ir.Value, name: str, type_: ir.Type = I64) -> ir.Value:
    pointer = b.gep(arguments, [number_of(ARGUMENTS.index(name))], source_etype=I64)
    return b.load(pointer, typ=type_)


def _copy_to_lane(
    b: ir.IRBuilder, tile: ir.Value, lane: ir.Value, row: ir.Value, count: int, width: int
) -> None:
    with counted(b, number_of(count)) as e:
        store(
            b, load(b, at(b, row, e), DOUBLE), at(b, tile, b.add(b.mul(e, number_of(width)), lane))
        )


def _copy_from_lane(
    b: ir.IRBuilder, row: ir.Value, tile: ir.Value, lane: ir.Value, count: int, width: int
) -> None:
    with counted(b, number_of(count)) as e:
        store(
            b, load(b, at(b, tile, b.add(b.mul(e, number_of(width)), lane)), DOUBLE), at(b, row, e)
        )


def _fill_function(module: ir.Module, layout: ScanLayout) -> ir.Function:
    """fill(arguments, scratch, lane, sample, id): start a sample in a lane;
    id is -1 for a lane that only idles."""
    function = ir.Function(
        module, ir.FunctionType(ir.VoidType(), [POINTER, POINTER, I64, I64, I64]), "fill"
    )
    function.linkage = "internal"
    arguments, scratch, lane, sample, identity = function.args
    b = Builder(function.append_basic_block("entry"))
    for tile, name, stride, count in (
        (layout.state_at, "state_in", "state_stride", layout.state),
        (layout.parameter_at, "parameters", "parameter_stride", layout.parameter),
    ):
        row = at(
            b,
            _argument(b, arguments, name, POINTER),
            b.mul(sample, _argument(b, arguments, stride)),
        )
        _copy_to_lane(b, at(b, scratch, tile), lane, row, count, layout.width)
    b.store(identity, _sample_slot(b, scratch, layout, lane))
    b.ret_void()
    return function


def _sample_slot(
    b: ir.IRBuilder, scratch: ir.Value, layout: ScanLayout, lane: ir.Value
) -> ir.Value:
    # the sample numbers share the scratch memory: eight bytes each, as integers
    return b.gep(scratch, [b.add(number_of(layout.sample_at), lane)], source_etype=I64)


StageCode = tuple[Program, Program, tuple[int, ...]]
"""(due, update, elements of the state that the update's results go to)."""


def emit_scan(
    module: ir.Module, program: Program, width: int, stages: Sequence[StageCode] = ()
) -> ScanLayout:
    """Define `scan`. The program maps (state, parameters, sequence) to (next state, record, stop[,
    advance]).

    Before each step every stage that is due in some lane updates the state of the lanes in which it
    is due.
    """
    layout = ScanLayout(program, width)
    fill = _fill_function(module, layout)
    function = ir.Function(module, ir.FunctionType(I64, [POINTER, POINTER, I64, I64]), "scan")
    on_lines(function)
    arguments, scratch, begin, end = function.args
    b = Builder(function.append_basic_block("entry"))
    scratch = aligned(b, scratch)
    steps_limit = _splat(b, b.sitofp(_argument(b, arguments, "steps"), DOUBLE), width)
    every = _argument(b, arguments, "every")
    last = b.sub(end, number_of(1))
    cancel = _argument(b, arguments, "cancel", POINTER)
    position = b.alloca(I64)  # next sample of the queue
    running = b.alloca(I64)  # samples in lanes
    b.store(begin, position)
    b.store(number_of(0), running)

    def start(lane: ir.Value) -> None:
        """Give a lane the next sample, or let it idle on the last one."""
        following = b.load(position, typ=I64)
        more = b.icmp_signed("<", following, end)
        sample = b.select(more, following, last)
        b.call(fill, [arguments, scratch, lane, sample, b.select(more, sample, number_of(-1))])
        b.store(b.add(following, b.zext(more, I64)), position)
        b.store(b.add(b.load(running, typ=I64), b.zext(more, I64)), running)

    with counted(b, number_of(width)) as lane:
        start(lane)
    head, body, done = (function.append_basic_block(n) for n in ("head", "body", "finished"))
    b.branch(head)
    b.position_at_end(head)
    cancelled = b.load(cancel, typ=I64)
    go = b.and_(
        b.icmp_signed(">", b.load(running, typ=I64), number_of(0)),
        b.icmp_signed("==", cancelled, number_of(0)),
    )
    b.cbranch(go, body, done)
    b.position_at_end(body)

    if layout.sequence:
        with counted(b, number_of(width)) as lane:
            _load_sequence(b, arguments, scratch, layout, lane, last)
    for stage in stages:
        _emit_stage(b, stage, scratch, layout, width)
    ended = _emit_step(b, program, scratch, layout, width, steps_limit)

    if layout.record:
        with counted(b, number_of(width)) as lane:
            _write_record(b, arguments, scratch, layout, lane, every)
    with b.if_then(ended, likely=False):
        with counted(b, number_of(width)) as lane:
            verdict = load(b, at(b, scratch, b.add(number_of(layout.verdict_at), lane)), DOUBLE)
            with b.if_then(b.fcmp_ordered(">=", verdict, ir.Constant(DOUBLE, 0.0))):
                sample = b.load(_sample_slot(b, scratch, layout, lane), typ=I64)
                with b.if_then(b.icmp_signed(">=", sample, number_of(0))):
                    row = at(
                        b,
                        _argument(b, arguments, "state_out", POINTER),
                        b.mul(sample, number_of(layout.state)),
                    )
                    _copy_from_lane(b, row, scratch, lane, layout.state, width)
                    store(b, verdict, at(b, _argument(b, arguments, "verdicts", POINTER), sample))
                    b.store(b.sub(b.load(running, typ=I64), number_of(1)), running)
                start(lane)
    b.branch(head)
    b.position_at_end(done)
    b.ret(number_of(0))
    return layout


def emit_one(module: ir.Module, layout: ScanLayout) -> ir.Function:
    """Define `one(inputs, outputs)`: (start state, parameters, steps) -> (final state, verdict) of
    a single sample.

    For a scan of width 1 without sequences and records. Table and scratch stand on the stack, so a
    call needs no other memory and any number of threads may be in it. Gives 1 if the sample failed.
    """
    scan = module.get_global("scan")
    function = ir.Function(module, ir.FunctionType(I64, [POINTER, POINTER]), "one")
    inputs, outputs = function.args
    b = Builder(function.append_basic_block("entry"))
    table, scratch = b.alloca(I64, len(ARGUMENTS)), b.alloca(DOUBLE, layout.size)
    never = b.alloca(I64)
    b.store(number_of(0), never)

    def given(pointers: ir.Value, k: int) -> ir.Value:
        return b.load(b.gep(pointers, [number_of(k)], source_etype=I64), typ=I64)

    steps = load(b, b.inttoptr(given(inputs, 2), POINTER), DOUBLE)
    values = {
        "state_in": given(inputs, 0),
        "parameters": given(inputs, 1),
        "state_out": given(outputs, 0),
        "verdicts": given(outputs, 1),
        "steps": b.fptosi(steps, I64),
        "every": number_of(1),
        "cancel": b.ptrtoint(never, I64),
    }
    for k, name in enumerate(ARGUMENTS):
        b.store(values.get(name, number_of(0)), b.gep(table, [number_of(k)], source_etype=I64))
    b.call(
        scan, [b.bitcast(table, POINTER), b.bitcast(scratch, POINTER), number_of(0), number_of(1)]
    )
    verdict = load(b, b.inttoptr(given(outputs, 1), POINTER), DOUBLE)
    b.ret(b.zext(b.fcmp_ordered("==", verdict, ir.Constant(DOUBLE, 2.0)), I64))
    return function


def _splat(b: ir.IRBuilder, x: ir.Value, width: int) -> ir.Value:
    if width == 1:
        return x
    vector: ir.Value = ir.Constant(lanes(width), ir.Undefined)
    for lane in range(width):
        vector = b.insert_element(vector, x, ir.Constant(I32, lane))
    return vector


def _lane_count(b: ir.IRBuilder, scratch: ir.Value, lane: ir.Value) -> ir.Value:
    """The step index of a lane: element 0 of its state."""
    return b.fptosi(load(b, at(b, scratch, lane), DOUBLE), I64)


def _load_sequence(
    b: ir.IRBuilder,
    arguments: ir.Value,
    scratch: ir.Value,
    layout: ScanLayout,
    lane: ir.Value,
    last: ir.Value,
) -> None:
    sample = b.load(_sample_slot(b, scratch, layout, lane), typ=I64)
    sample = b.select(b.icmp_signed(">=", sample, number_of(0)), sample, last)
    offset = b.mul(sample, _argument(b, arguments, "sequence_stride"))
    offset = b.add(offset, b.mul(_lane_count(b, scratch, lane), number_of(layout.sequence)))
    row = at(b, _argument(b, arguments, "sequences", POINTER), offset)
    _copy_to_lane(b, at(b, scratch, layout.sequence_at), lane, row, layout.sequence, layout.width)


def _write_record(
    b: ir.IRBuilder,
    arguments: ir.Value,
    scratch: ir.Value,
    layout: ScanLayout,
    lane: ir.Value,
    every: ir.Value,
) -> None:
    sample = b.load(_sample_slot(b, scratch, layout, lane), typ=I64)
    verdict = load(b, at(b, scratch, b.add(number_of(layout.verdict_at), lane)), DOUBLE)
    failed = b.fcmp_ordered("==", verdict, ir.Constant(DOUBLE, 2.0))
    step = b.sub(_lane_count(b, scratch, lane), number_of(1))
    due = b.icmp_signed("==", b.srem(step, every), number_of(0))
    wanted = b.and_(b.and_(due, b.not_(failed)), b.icmp_signed(">=", sample, number_of(0)))
    if layout.decides:
        moves = load(b, at(b, scratch, b.add(number_of(layout.advance_at), lane)), DOUBLE)
        wanted = b.and_(wanted, b.fcmp_ordered(">", moves, ir.Constant(DOUBLE, 0.0)))
    with b.if_then(wanted):
        offset = b.mul(sample, _argument(b, arguments, "record_stride"))
        offset = b.add(offset, b.mul(b.sdiv(step, every), number_of(layout.record)))
        row = at(b, _argument(b, arguments, "records", POINTER), offset)
        _copy_from_lane(b, row, at(b, scratch, layout.record_at), lane, layout.record, layout.width)


def _emit_stage(
    b: ir.IRBuilder, stage: StageCode, scratch: ir.Value, layout: ScanLayout, width: int
) -> None:
    """Update parts of the state where the stage is due; passed over when no lane is,
    which a branch predictor learns.

    A lane in which it is not due keeps its bits, so that results do not depend on the neighbours.
    """
    due, update, targets = stage
    tiles = (layout.state_at, layout.parameter_at, layout.sequence_at)

    def value_of(b: ir.IRBuilder, j: int, k: int) -> ir.Value:
        return load(b, at(b, scratch, tiles[j] + k * width), lanes(width))

    nothing = constant(lanes(width), 0.0)
    value = due.outputs[0][0]
    flag = emit_body(b, due, width, value_of)[value] if value >= 0 else nothing
    mask = b.fcmp_ordered(">", flag, nothing)
    with b.if_then(any_lane(b, mask)):
        values = emit_body(b, update, width, value_of)
        for target, v in zip(targets, update.outputs[0], strict=True):
            place = at(b, scratch, layout.state_at + target * width)
            new = values[v] if v >= 0 else nothing
            store(b, b.select(mask, new, load(b, place, lanes(width))), place)


def _emit_step(
    b: ir.IRBuilder,
    program: Program,
    scratch: ir.Value,
    layout: ScanLayout,
    width: int,
    steps: ir.Value,
) -> ir.Value:
    """One step of all lanes; writes next states (old ones where the new is not finite),
    records and verdicts.

    A verdict is -1 while the lane goes on. Gives whether any lane has ended.
    """
    tiles = (layout.state_at, layout.parameter_at, layout.sequence_at)
    loaded: dict[tuple[int, int], ir.Value] = {}

    def value_of(b: ir.IRBuilder, j: int, k: int) -> ir.Value:
        if (j, k) not in loaded:
            loaded[j, k] = load(b, at(b, scratch, tiles[j] + k * width), lanes(width))
        return loaded[j, k]

    values = emit_body(b, program, width, value_of)
    type_, bits = lanes(width), lanes(width, I64)
    nothing = constant(type_, 0.0)

    def result(j: int, k: int) -> ir.Value:
        v = program.outputs[j][k]
        return values[v] if v >= 0 else nothing

    flags: ir.Value = constant(bits, 0)
    for j in (0, 1):
        for k in range(len(program.outputs[j])):
            x = result(j, k)
            flags = b.or_(flags, b.bitcast(b.fsub(x, x), bits))
    finite = b.icmp_unsigned("==", flags, constant(bits, 0))
    new = [result(0, k) for k in range(layout.state)]
    old = [value_of(b, 0, k) for k in range(layout.state)]
    for k in range(layout.state):
        store(b, b.select(finite, new[k], old[k]), at(b, scratch, layout.state_at + k * width))
    for k in range(layout.record):
        store(b, result(1, k), at(b, scratch, layout.record_at + k * width))
    if layout.decides:
        store(b, result(3, 0), at(b, scratch, layout.advance_at))
    stop = b.fcmp_ordered(">", result(2, 0), nothing)
    full = b.fcmp_ordered(">=", new[0], steps)
    going = constant(type_, -1.0)
    verdict = b.select(full, constant(type_, 0.0), going)
    verdict = b.select(stop, constant(type_, 1.0), verdict)
    verdict = b.select(finite, verdict, constant(type_, 2.0))
    store(b, verdict, at(b, scratch, layout.verdict_at))
    return any_lane(b, b.fcmp_ordered(">=", verdict, nothing))
