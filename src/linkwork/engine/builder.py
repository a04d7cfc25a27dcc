"""Builder: llvmlite's builder of instructions,
with the common ones written at once as the lines that they become.

An instruction of llvmlite's own is an object that keeps its operands and formats itself when the
module is printed, which takes five times as long as one line of text. Nothing here looks at an
instruction again once it stands there.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import count

from llvmlite import ir

from linkwork.engine.ir_types import I1, constant, intrinsic, lanes, suffix, width_of

_COMPARISONS = {"==": "eq", "!=": "ne", "<": "lt", "<=": "le", ">": "gt", ">=": "ge"}
_NOT_A_NUMBER = ("ord", "uno")  # neither is, or one of them is


class Line(ir.values.Value):
    """One instruction, as text. `type` is that of its value."""

    __slots__ = ("reference", "text", "type")

    def __init__(self, b: ir.IRBuilder, type_: ir.Type, text: str) -> None:
        self.type = type_
        self.reference = f"%o{next(_numbers(b.function))}"
        self.text = f"{self.reference} = {text}"
        b._insert(self)

    @property
    def function_type(self) -> ir.FunctionType:
        """What is called where the value is the address of a function."""
        return self.type.pointee

    def get_reference(self) -> str:
        return self.reference

    def __str__(self) -> str:
        return self.text


def lane_by_lane(b: ir.IRBuilder, name: str, *values: ir.Value) -> Line:
    """LLVM's own `name` of values of one type, such as fabs, sqrt, copysign, fma."""
    t = values[0].type
    function = intrinsic(b, f"llvm.{name}.{suffix(t)}", t, [t] * len(values))
    arguments = ", ".join([f"{t} {value.get_reference()}" for value in values])
    return Line(b, t, f"call {t} {function.get_reference()}({arguments})")


class _Effect(ir.values.Value):
    """An instruction without a value."""

    __slots__ = ("text",)

    def __init__(self, b: ir.IRBuilder, text: str) -> None:
        self.text = text
        b._insert(self)

    def __str__(self) -> str:
        return self.text


def _numbers(function: ir.Function) -> count:
    """Counts the lines of a function; llvmlite's names begin with a dot or are blocks'."""
    counter = getattr(function, "lines", None)
    if counter is None:
        counter = function.lines = count()
    return counter


def _operation(word: str) -> Callable[..., Line]:
    """Of one value or of two, all of one type."""

    def write(self: ir.IRBuilder, x: ir.Value, *others: ir.Value) -> Line:
        operands = "".join([f", {other.get_reference()}" for other in others])
        return Line(self, x.type, f"{word} {x.type} {x.get_reference()}{operands}")

    return write


def _comparison(word: str, prefix: str, equality: str) -> Callable[..., Line]:
    """`equality`: the prefix of == and != where it is another one."""

    def write(self: ir.IRBuilder, sign: str, x: ir.Value, y: ir.Value) -> Line:
        before = equality if sign in ("==", "!=") else prefix
        truths = lanes(width_of(x.type), I1)
        condition = sign if sign in _NOT_A_NUMBER else before + _COMPARISONS[sign]
        return Line(
            self, truths, f"{word} {condition} {x.type} {x.get_reference()}, {y.get_reference()}"
        )

    return write


def _conversion(word: str) -> Callable[..., ir.Value]:
    def write(self: ir.IRBuilder, x: ir.Value, type_: ir.Type) -> ir.Value:
        return (
            x
            if x.type == type_
            else Line(self, type_, f"{word} {x.type} {x.get_reference()} to {type_}")
        )

    return write


class Builder(ir.IRBuilder):
    """As llvmlite's, for values that nobody names and pointers that know no type."""

    add, sub, mul = _operation("add"), _operation("sub"), _operation("mul")
    and_, or_, xor = _operation("and"), _operation("or"), _operation("xor")
    shl, lshr = _operation("shl"), _operation("lshr")
    fadd = _operation("fadd")
    fsub = _operation("fsub")
    fmul = _operation("fmul")
    fdiv = _operation("fdiv")
    fneg = _operation("fneg")
    icmp_signed, icmp_unsigned = _comparison("icmp", "s", ""), _comparison("icmp", "u", "")
    fcmp_ordered, fcmp_unordered = _comparison("fcmp", "o", "o"), _comparison("fcmp", "u", "u")
    bitcast = _conversion("bitcast")
    ptrtoint = _conversion("ptrtoint")
    inttoptr = _conversion("inttoptr")
    zext, sext, trunc = _conversion("zext"), _conversion("sext"), _conversion("trunc")
    sitofp, fptosi = _conversion("sitofp"), _conversion("fptosi")
    fpext, fptrunc = _conversion("fpext"), _conversion("fptrunc")

    def not_(self, x: ir.Value) -> Line:
        return self.xor(x, constant(x.type, -1))

    def select(self, condition: ir.Value, yes: ir.Value, no: ir.Value) -> Line:
        values = f"{yes.type} {yes.get_reference()}, {no.type} {no.get_reference()}"
        return Line(
            self, yes.type, f"select {condition.type} {condition.get_reference()}, {values}"
        )

    def load(self, pointer: ir.Value, typ: ir.Type, align: int | None = None) -> Line:
        return Line(self, typ, f"load {typ}, ptr {pointer.get_reference()}{_alignment(align)}")

    def store(self, value: ir.Value, pointer: ir.Value, align: int | None = None) -> _Effect:
        place = f"ptr {pointer.get_reference()}{_alignment(align)}"
        return _Effect(self, f"store {value.type} {value.get_reference()}, {place}")

    def gep(self, pointer: ir.Value, indices: Sequence[ir.Value], source_etype: ir.Type) -> Line:
        places = ", ".join([f"{index.type} {index.get_reference()}" for index in indices])
        return Line(
            self,
            ir.PointerType(),
            f"getelementptr {source_etype}, ptr {pointer.get_reference()}, {places}",
        )

    def extract_element(self, vector: ir.Value, index: ir.Value) -> Line:
        place = f"{index.type} {index.get_reference()}"
        return Line(
            self,
            vector.type.element,
            f"extractelement {vector.type} {vector.get_reference()}, {place}",
        )

    def insert_element(self, vector: ir.Value, value: ir.Value, index: ir.Value) -> Line:
        place = f"{value.type} {value.get_reference()}, {index.type} {index.get_reference()}"
        return Line(
            self, vector.type, f"insertelement {vector.type} {vector.get_reference()}, {place}"
        )

    def shuffle_vector(self, x: ir.Value, y: ir.Value, mask: ir.Constant) -> Line:
        vectors = f"{x.type} {x.get_reference()}, {y.type} {y.get_reference()}"
        chosen = lanes(mask.type.count, x.type.element)
        return Line(self, chosen, f"shufflevector {vectors}, {mask.type} {mask.get_reference()}")


def _alignment(align: int | None) -> str:
    return "" if align is None else f", align {align}"
