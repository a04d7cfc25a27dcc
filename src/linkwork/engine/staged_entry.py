"""Staged entries: how batches and single samples enter the code of stages."""

from __future__ import annotations

from llvmlite import ir

from linkwork.engine.builder import Builder
from linkwork.engine.ir_types import DOUBLE, I64, POINTER, number_of
from linkwork.engine.staged_codegen import StagedEmitter
from linkwork.engine.staged_values import TABLE_WORDS


def emit_shareable(module: ir.Module, wide: ir.Function) -> ir.Function:
    """Define `run` as sharing.py calls it: without bounds of a counting loop."""
    function = ir.Function(module, ir.FunctionType(I64, [POINTER] * 4 + [I64] * 2), "run")
    b = Builder(function.append_basic_block("entry"))
    b.ret(b.call(wide, [*function.args, number_of(0), number_of(-1)]))
    return function


def emit_sample(module: ir.Module, one: StagedEmitter) -> ir.Function:
    """Define `sample(inputs, outputs)`: one sample in doubles,
    with a scratch of its own on the stack.

    The last input is a block of the words of all tables; the others are the sample's.
    """
    function = ir.Function(module, ir.FunctionType(I64, [POINTER] * 2), "sample")
    inputs, outputs = function.args
    count = len(one.stages.inputs)
    tables = TABLE_WORDS * len(one.stages.tables)
    b = Builder(function.append_basic_block("entry"))
    scratch = b.bitcast(b.alloca(DOUBLE, one.layout.size + 8), POINTER)  # room to begin on a line
    strides, words = b.alloca(I64, max(1, count)), b.alloca(I64, count + tables)
    block = b.load(b.gep(inputs, [number_of(count)], source_etype=I64), typ=POINTER)
    for j in range(count):
        b.store(number_of(0), b.gep(strides, [number_of(j)], source_etype=I64))
        own = b.load(b.gep(inputs, [number_of(j)], source_etype=I64), typ=I64)
        b.store(own, b.gep(words, [number_of(j)], source_etype=I64))
    for j in range(tables):
        word = b.load(b.gep(block, [number_of(j)], source_etype=I64), typ=I64)
        b.store(word, b.gep(words, [number_of(count + j)], source_etype=I64))
    pointers = [b.bitcast(words, POINTER), b.bitcast(strides, POINTER), outputs, scratch]
    bad = b.call(one.function, [*pointers, number_of(0), number_of(1), number_of(0), number_of(-1)])
    b.ret(b.zext(b.icmp_signed(">=", bad, number_of(0)), I64))
    return function
