"""Lines of text are the instructions that llvmlite writes itself."""

from __future__ import annotations

import re

import llvmlite.binding as llvm
import pytest
from llvmlite import ir

from linkwork.engine.builder import Builder
from linkwork.engine.ir_types import DOUBLE, FLOAT, I1, I8, I32, I64, POINTER, constant, lanes

ARITHMETIC = ("fadd", "fsub", "fmul", "fdiv")
WHOLE = ("add", "sub", "mul", "and_", "or_", "xor", "shl", "lshr")
SIGNS = ("==", "!=", "<", "<=", ">", ">=")


def every_instruction(b: ir.IRBuilder, width: int) -> None:
    """One of each, on values of one width."""
    pointer, doubles, words = b.function.args
    for word in ARITHMETIC:
        getattr(b, word)(doubles, constant(doubles.type, 2.5))
    for word in WHOLE:
        getattr(b, word)(words, constant(words.type, 3))
    b.not_(words)
    b.fneg(doubles)
    for sign in SIGNS:
        b.icmp_signed(sign, words, constant(words.type, 0))
        b.icmp_unsigned(sign, words, constant(words.type, 0))
        b.fcmp_ordered(sign, doubles, doubles)
        b.fcmp_unordered(sign, doubles, doubles)
    b.fcmp_unordered("uno", doubles, doubles)
    mask = b.fcmp_ordered("ord", doubles, doubles)
    b.select(mask, doubles, constant(doubles.type, 0.0))
    b.not_(mask)
    b.fptosi(b.sitofp(words, doubles.type), words.type)
    b.fpext(b.fptrunc(doubles, lanes(width, FLOAT)), doubles.type)
    b.sext(b.trunc(b.zext(mask, words.type), lanes(width, I8)), words.type)
    b.bitcast(b.bitcast(doubles, words.type), words.type)  # the second is none
    b.inttoptr(b.ptrtoint(pointer, I64), POINTER)
    place = b.gep(pointer, [ir.Constant(I64, 3)], source_etype=DOUBLE)
    b.store(b.load(place, typ=doubles.type, align=8), place, align=8)
    b.store(b.load(pointer, typ=I64), pointer)
    if width > 1:
        one = b.extract_element(doubles, ir.Constant(I32, 1))
        b.insert_element(doubles, one, ir.Constant(I32, 0))
        b.shuffle_vector(doubles, doubles, ir.Constant(ir.VectorType(I32, 2), [1, width]))
    b.ret_void()


def module_of(builder: type[ir.IRBuilder], width: int) -> str:
    """As LLVM prints it, without the names of values."""
    module = ir.Module("m")
    types = [POINTER, lanes(width), lanes(width, I64)]
    function = ir.Function(module, ir.FunctionType(ir.VoidType(), types), "f")
    every_instruction(builder(function.append_basic_block("entry")), width)
    numbers: dict[str, str] = {}
    text = str(llvm.parse_assembly(str(module)))
    return re.sub(
        r'%("[^"]*"|[\w.]+)', lambda m: numbers.setdefault(m[0], f"%{len(numbers)}"), text
    )


@pytest.mark.parametrize("width", [1, 4])
def test_lines_are_the_instructions_of_llvmlite(width):
    written = module_of(Builder, width)
    assert written == module_of(ir.IRBuilder, width)
    assert written.count("\n") > 50


def test_the_type_of_a_comparison_has_a_truth_value_a_lane():
    module = ir.Module("m")
    function = ir.Function(module, ir.FunctionType(ir.VoidType(), [lanes(4)]), "f")
    b = Builder(function.append_basic_block("entry"))
    assert b.fcmp_ordered("<", function.args[0], function.args[0]).type == ir.VectorType(I1, 4)
