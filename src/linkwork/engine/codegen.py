"""Codegen: a program as two functions, one that runs tiles of W samples over row-major arrays,
one for a single sample.

    run(inputs**, strides*, outputs**, scratch*, begin, end) -> first sample of the first bad tile,
    or -1 single(inputs**, outputs**) -> 0, or 1 if something is not finite or a guard is negative

A program's last output may be its guards: numbers that must not be negative
(such as "the quaternion is unit"), checked and not returned.
"""

from __future__ import annotations

from dataclasses import dataclass

from llvmlite import ir

from linkwork.engine.builder import Builder
from linkwork.engine.emit import emit_body
from linkwork.engine.ir_types import I1, I8, I32, I64, POINTER, constant, intrinsic, lanes
from linkwork.engine.lanes import (
    RowLoader,
    aligned,
    at,
    load,
    on_lines,
    store,
    store_rows,
    transpose,
)
from linkwork.engine.program import Program
from linkwork.engine.target import LINE
from linkwork.engine.tiles import Ahead, Checker

# above this many results the stores become a loop over a scratch tile: compile time explodes
DIRECT_STORES = 350


@dataclass(frozen=True)
class KernelLayout:
    """Where a tile's temporary rows lie in the scratch memory, in doubles."""

    inputs: tuple[int, ...]
    outputs: tuple[int, ...]
    slots: int
    size: int

    @staticmethod
    def of(program: Program, results: int, width: int) -> KernelLayout:
        offset = 0
        inputs, outputs = [], []
        for count in program.inputs:
            inputs.append(offset)
            offset += count * width
        for values in program.outputs[:results]:
            outputs.append(offset)
            offset += len(values) * width
        slots = offset
        if _is_large(program, results, width):
            offset += (1 + len({v for o in program.outputs[:results] for v in o if v >= 0})) * width
        return KernelLayout(tuple(inputs), tuple(outputs), slots, offset + width + LINE)


def _is_large(program: Program, results: int, width: int) -> bool:
    return width > 1 and sum(len(values) for values in program.outputs[:results]) > DIRECT_STORES


def new_module(name: str) -> ir.Module:
    return ir.Module(name=name)


def emit_run(module: ir.Module, program: Program, results: int, width: int) -> None:
    """Define `run` in the module. `results`: how many outputs are returned
    (the rest are guards)."""
    layout = KernelLayout.of(program, results, width)
    signature = ir.FunctionType(I64, [POINTER, POINTER, POINTER, POINTER, I64, I64])
    function = ir.Function(module, signature, "run")
    on_lines(function)
    inputs, strides, outputs, scratch, begin, end = function.args
    gather = _gather_function(module, width)
    w = ir.Constant(I64, width)

    b = Builder(function.append_basic_block("entry"))
    scratch = aligned(b, scratch)
    sources = [load(b, _slot(b, inputs, j), POINTER) for j in range(len(program.inputs))]
    steps = [load(b, _slot(b, strides, j), I64) for j in range(len(program.inputs))]
    targets = [load(b, _slot(b, outputs, j), POINTER) for j in range(results)]
    last = b.sub(end, ir.Constant(I64, 1))
    entry, head, tile, done = (
        b.block,
        *(function.append_basic_block(n) for n in ("head", "tile", "done")),
    )
    b.branch(head)

    b.position_at_end(head)
    i = b.phi(I64)
    i.add_incoming(begin, entry)
    b.cbranch(b.icmp_signed("<", i, end), tile, done)

    b.position_at_end(tile)
    full = b.icmp_signed("<=", b.add(i, w), end)
    loaders = []
    for j, count in enumerate(program.inputs):
        direct = b.and_(full, b.icmp_signed("==", steps[j], ir.Constant(I64, count)))
        place = at(b, scratch, layout.inputs[j])
        with b.if_then(b.not_(direct), likely=False):
            b.call(gather, [place, sources[j], steps[j], ir.Constant(I64, count), i, last])
        row = b.mul(i, ir.Constant(I64, count))
        loaders.append(RowLoader(b.select(direct, at(b, sources[j], row), place), count, width))
    rows = []
    for j in range(results):
        count = len(program.outputs[j])
        there = at(b, targets[j], b.mul(i, ir.Constant(I64, count)))
        rows.append(b.select(full, there, at(b, scratch, layout.outputs[j])))

    following = b.add(i, w)
    checker, ahead = Checker(width), Ahead(b, program, sources, following, width)
    _emit_tile(
        b, program, results, width, loaders, rows, at(b, scratch, layout.slots), checker, ahead
    )

    with b.if_then(b.not_(full), likely=False):
        rest = b.sub(end, i)
        for j in range(results):
            count = ir.Constant(I64, len(program.outputs[j]))
            there = at(b, targets[j], b.mul(i, count))
            size = b.mul(b.mul(rest, count), ir.Constant(I64, 8))
            _memcpy(b, there, at(b, scratch, layout.outputs[j]), size)
    ok, bad = function.append_basic_block("ok"), function.append_basic_block("bad")
    b.cbranch(checker.any(b), bad, ok)
    b.position_at_end(ok)
    i.add_incoming(following, b.block)
    b.branch(head)
    b.position_at_end(bad)
    b.ret(i)
    b.position_at_end(done)
    b.ret(ir.Constant(I64, -1))


def _emit_tile(
    b: ir.IRBuilder,
    program: Program,
    results: int,
    width: int,
    loaders: list[RowLoader],
    rows: list[ir.Value],
    slots: ir.Value,
    checker: Checker,
    ahead: Ahead,
) -> None:
    """The body for W samples whose rows stand one after the other, results checked and written."""

    large = _is_large(program, results, width)
    wanted = {v for values in program.outputs[:results] for v in values if v >= 0}
    guards = {v for values in program.outputs[results:] for v in values if v >= 0}
    slot = {v: k + 1 for k, v in enumerate(sorted(wanted))}
    witnesses, alone = program.witnesses(results)

    def finished(b: ir.IRBuilder, k: int, value: ir.Value) -> int:
        ahead(b, k)
        if k in wanted and large:
            store(b, value, at(b, slots, slot[k] * width))
        elif k in witnesses:
            checker.finite(b, value)
        if k in guards:
            checker.not_negative(b, value)
        return int(large and k in wanted)

    values = emit_body(b, program, width, lambda b, j, k: loaders[j](b, k), finished)
    for j, k in alone:
        checker.finite(b, loaders[j](b, k))
    if not large:
        nothing = constant(lanes(width), 0.0)
        for j in range(results):
            columns = [values[v] if v >= 0 else nothing for v in program.outputs[j]]
            if columns:
                store_rows(b, rows[j], columns, width)
        return
    store(b, constant(lanes(width), 0.0), slots)
    checker.finite_memory(b, slots, 1 + len(slot))
    for j in range(results):
        if program.outputs[j]:
            _emit_unpack(b, rows[j], slots, [slot.get(v, 0) for v in program.outputs[j]], width, j)


def _emit_unpack(
    b: ir.IRBuilder, rows: ir.Value, slots: ir.Value, index: list[int], width: int, j: int
) -> None:
    """A loop that transposes lane vectors of the scratch tile into rows, W columns at a time;
    slot 0 holds zeros."""
    count = len(index)
    starts = list(range(0, count - width + 1, width)) if count >= width else []
    if count >= width and count % width:
        starts.append(count - width)
    if count < width:
        zero = at(b, slots, 0)
        columns = [load(b, at(b, zero, s * width), lanes(width)) for s in index]
        store_rows(b, rows, columns, width)
        return
    table = list(starts) + [s * width for start in starts for s in index[start : start + width]]
    array = ir.ArrayType(I32, len(table))
    constant_table = ir.GlobalVariable(
        b.module, array, f"unpack{j}_{b.module.get_unique_name('t')}"
    )
    constant_table.linkage, constant_table.global_constant = "internal", True
    constant_table.initializer = ir.Constant(array, table)
    n = len(starts)
    before, loop, after = b.block, b.append_basic_block("unpack"), b.append_basic_block("unpacked")
    b.branch(loop)
    b.position_at_end(loop)
    k = b.phi(I64)
    k.add_incoming(ir.Constant(I64, 0), before)

    def entry(position: ir.Value) -> ir.Value:
        pointer = b.gep(constant_table, [position], source_etype=I32)
        return b.zext(b.load(pointer, typ=I32), I64)

    start = entry(k)
    first = b.add(ir.Constant(I64, n), b.mul(k, ir.Constant(I64, width)))
    columns = [
        load(b, at(b, slots, entry(b.add(first, ir.Constant(I64, c)))), lanes(width))
        for c in range(width)
    ]
    for lane, row in enumerate(transpose(b, columns)):
        store(b, row, at(b, rows, b.add(start, ir.Constant(I64, lane * count))))
    following = b.add(k, ir.Constant(I64, 1))
    k.add_incoming(following, loop)
    b.cbranch(b.icmp_signed("<", following, ir.Constant(I64, n)), loop, after)
    b.position_at_end(after)


def emit_single(module: ir.Module, program: Program, results: int) -> ir.Function:
    """Define `single` in the module: one sample, straight from and to the caller's memory."""
    function = ir.Function(module, ir.FunctionType(I64, [POINTER, POINTER]), "single")
    inputs, outputs = function.args
    b = Builder(function.append_basic_block("entry"))
    loaders = [
        RowLoader(load(b, _slot(b, inputs, j), POINTER), n, 1) for j, n in enumerate(program.inputs)
    ]
    targets = [load(b, _slot(b, outputs, j), POINTER) for j in range(results)]
    places: dict[int, list[tuple[int, int]]] = {}
    for j, values in enumerate(program.outputs[:results]):
        if -1 in values:
            size = ir.Constant(I64, 8 * len(values))
            memset = intrinsic(b, "llvm.memset.p0.i64", ir.VoidType(), [POINTER, I8, I64, I1])
            b.call(memset, [targets[j], ir.Constant(I8, 0), size, ir.Constant(I1, 0)])
        for k, v in enumerate(values):
            if v >= 0:
                places.setdefault(v, []).append((j, k))
    guards = {v for values in program.outputs[results:] for v in values if v >= 0}
    checker = Checker(1)
    witnesses, alone = program.witnesses(results)
    large = sum(len(values) for values in program.outputs[:results]) > DIRECT_STORES

    def finished(b: ir.IRBuilder, k: int, value: ir.Value) -> int:
        for j, element in places.get(k, ()):
            store(b, value, at(b, targets[j], element))
        if k in witnesses and not large:
            checker.finite(b, value)
        if k in guards:
            checker.not_negative(b, value)
        return len(places.get(k, ()))

    emit_body(b, program, 1, lambda b, j, k: loaders[j](b, k), finished)
    for j, k in alone:
        checker.finite(b, loaders[j](b, k))
    if large:
        for j, values in enumerate(program.outputs[:results]):
            if values:
                checker.finite_memory(b, targets[j], len(values))
    b.ret(b.zext(checker.any(b), I64))
    return function


def _slot(b: ir.IRBuilder, pointers: ir.Value, j: int) -> ir.Value:
    return b.gep(pointers, [ir.Constant(I64, j)], source_etype=I64)


def _memcpy(b: ir.IRBuilder, target: ir.Value, source: ir.Value, size: ir.Value) -> None:
    memcpy = intrinsic(b, "llvm.memcpy.p0.p0.i64", ir.VoidType(), [POINTER, POINTER, I64, I1])
    b.call(memcpy, [target, source, size, ir.Constant(I1, 0)])


def _gather_function(module: ir.Module, width: int) -> ir.Function:
    """gather(to, from, stride, count, first, last): rows first .. first+W-1, clamped to last,
    one after the other."""
    signature = ir.FunctionType(ir.VoidType(), [POINTER, POINTER, I64, I64, I64, I64])
    function = ir.Function(module, signature, "gather")
    function.linkage = "internal"
    to, source, stride, count, first, last = function.args
    b = Builder(function.append_basic_block("entry"))
    size = b.mul(count, ir.Constant(I64, 8))
    for lane in range(width):
        row = b.add(first, ir.Constant(I64, lane))
        row = b.select(b.icmp_signed("<", row, last), row, last)
        target = at(b, to, b.mul(count, ir.Constant(I64, lane)))
        _memcpy(b, target, at(b, source, b.mul(row, stride)), size)
    b.ret_void()
    return function
