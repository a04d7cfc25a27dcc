"""Routines: functions with loops and memory of run-time length, written in Python,
compiled to machine code.

    r = Routine(module, "total", 2)
    numbers, count = Doubles(r, r.arguments[0]), r.arguments[1]
    total = r.number(0.0)
    with r.times(count) as k:
        total.set(total + numbers[k])
    ...
    r.give(r.whole(0))

Arguments and results are 64-bit words: whole numbers or addresses. A `Value` stands for a double, a
word, a truth or a vector of doubles, and has Python's operators; a `Cell` is one that changes. For
algorithms that walk and grow tables (planners), where a trace of straight-line code has no words.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from llvmlite import ir

from linkwork.engine import loader, machine
from linkwork.engine.builder import Builder, lane_by_lane
from linkwork.engine.codegen import new_module
from linkwork.engine.ir_types import (
    DOUBLE,
    I32,
    I64,
    POINTER,
    constant,
    in_every_lane,
    lanes,
    scalar_of,
)
from linkwork.engine.lanes import on_lines


class Value:
    """A double, a word, a truth, or lanes of doubles or words."""

    def __init__(self, routine: Routine, value: ir.Value) -> None:
        self.r, self._value = routine, value

    @property
    def ir(self) -> ir.Value:
        return self._value

    @property
    def is_number(self) -> bool:
        type_ = self.ir.type
        return scalar_of(type_) == DOUBLE

    def __add__(self, other: Operand) -> Value:
        return self._both(other, "fadd", "add")

    def __sub__(self, other: Operand) -> Value:
        return self._both(other, "fsub", "sub")

    def __rsub__(self, other: Operand) -> Value:
        return self._like(other) - self

    def __mul__(self, other: Operand) -> Value:
        return self._both(other, "fmul", "mul")

    __radd__, __rmul__ = __add__, __mul__

    def __truediv__(self, other: Operand) -> Value:
        return self._both(other, "fdiv", "fdiv")

    def __floordiv__(self, other: Operand) -> Value:
        return self._both(other, "udiv", "udiv")

    def __mod__(self, other: Operand) -> Value:
        return self._both(other, "urem", "urem")

    def __and__(self, other: Value) -> Value:
        return Value(self.r, self.r.b.and_(self.ir, other.ir))

    def __or__(self, other: Value) -> Value:
        return Value(self.r, self.r.b.or_(self.ir, other.ir))

    def __invert__(self) -> Value:
        return Value(self.r, self.r.b.not_(self.ir))

    def __lt__(self, other: Operand) -> Value:
        return self._compared("<", other)

    def __le__(self, other: Operand) -> Value:
        return self._compared("<=", other)

    def __gt__(self, other: Operand) -> Value:
        return self._compared(">", other)

    def __ge__(self, other: Operand) -> Value:
        return self._compared(">=", other)

    def equals(self, other: Operand) -> Value:
        return self._compared("==", other)

    def as_number(self) -> Value:
        """A word as a double."""
        return Value(self.r, self.r.b.sitofp(self.ir, DOUBLE))

    def as_word(self) -> Value:
        """A double cut to a word."""
        return Value(self.r, self.r.b.fptosi(self.ir, I64))

    def lane(self, k: int) -> Value:
        return Value(self.r, self.r.b.extract_element(self.ir, ir.Constant(I32, k)))

    def _like(self, other: Operand) -> Value:
        if isinstance(other, Value):
            return other
        return Value(self.r, constant(self.ir.type, float(other) if self.is_number else int(other)))

    def _both(self, other: Operand, number: str, word: str) -> Value:
        operation = getattr(self.r.b, number if self.is_number else word)
        return Value(self.r, operation(self.ir, self._like(other).ir))

    def _compared(self, sign: str, other: Operand) -> Value:
        b = self.r.b
        compare = b.fcmp_ordered if self.is_number else b.icmp_signed
        return Value(self.r, compare(sign, self.ir, self._like(other).ir))


Operand = Value | float | int


class Cell(Value):
    """A value that changes."""

    def __init__(self, routine: Routine, type_: ir.Type) -> None:
        self.r, self.type = routine, type_
        with routine.b.goto_entry_block():
            self.memory = routine.b.alloca(type_)

    @property
    def ir(self) -> ir.Value:
        return self.r.b.load(self.memory, typ=self.type)

    def set(self, value: Operand) -> None:
        self.r.b.store(self._like(value).ir, self.memory)


class Doubles:
    """Memory of doubles at an address: m[k], m[k] = x, with k a word."""

    type: ir.Type = DOUBLE

    def __init__(self, routine: Routine, address: Value) -> None:
        self.r, self.address = routine, address

    def at(self, index: Operand) -> Any:
        """The memory from that place on."""
        return type(self)(
            self.r,
            self.address + index * 8 if isinstance(index, Value) else self.address + 8 * index,
        )

    def __getitem__(self, index: Operand) -> Value:
        return Value(self.r, self.r.b.load(self._place(index), typ=self.type, align=8))

    def __setitem__(self, index: Operand, value: Operand) -> None:
        if not isinstance(value, Value):
            value = Value(
                self.r, ir.Constant(self.type, float(value) if self.type == DOUBLE else int(value))
            )
        self.r.b.store(value.ir, self._place(index), align=8)

    def lanes(self, index: Operand, width: int) -> Value:
        """`width` doubles from that place on, side by side."""
        return Value(
            self.r, self.r.b.load(self._place(index), typ=lanes(width, self.type), align=8)
        )

    def _place(self, index: Operand) -> ir.Value:
        b = self.r.b
        pointer = b.inttoptr(self.address.ir, POINTER)
        word = index.ir if isinstance(index, Value) else ir.Constant(I64, index)
        return b.gep(pointer, [word], source_etype=I64)


class Words(Doubles):
    """Memory of words."""

    type = I64


def copy(target: Doubles | Words, source: Doubles | Words, size: int) -> None:
    """Some numbers from one place to another."""
    for c in range(size):
        target[c] = source[c]


class Record:
    """Named words of one row of memory: r["count"], r["count"] = x,
    r.number("radius") for a double."""

    def __init__(self, routine: Routine, address: Value, names: Sequence[str]) -> None:
        self.words, self.doubles = Words(routine, address), Doubles(routine, address)
        self.names = {name: k for k, name in enumerate(names)}

    def __getitem__(self, name: str) -> Value:
        return self.words[self.names[name]]

    def __setitem__(self, name: str, value: Operand) -> None:
        self.words[self.names[name]] = value

    def number(self, name: str) -> Value:
        return self.doubles[self.names[name]]


class Routine:
    """Writes one function of a module; every argument and the result is a word."""

    def __init__(self, module: ir.Module, name: str, arguments: int) -> None:
        self.function = ir.Function(module, ir.FunctionType(I64, [I64] * arguments), name)
        on_lines(self.function)
        self.b = Builder(self.function.append_basic_block("entry"))
        body = self.function.append_basic_block("body")
        self.b.branch(body)
        self.b.position_at_end(body)
        self.arguments = [Value(self, a) for a in self.function.args]
        # where the next round begins, where the loop ends
        self._loops: list[tuple[ir.Block, ir.Block]] = []

    # values

    def number(self, start: Operand = 0.0) -> Cell:
        return self._cell(DOUBLE, start)

    def whole(self, start: Operand = 0) -> Cell:
        return self._cell(I64, start)

    def vector(self, width: int, start: float) -> Cell:
        return self._cell(lanes(width), start)

    def words_vector(self, width: int, start: int) -> Cell:
        return self._cell(lanes(width, I64), start)

    def memory(self, count: int) -> Doubles:
        """Room for so many doubles or words, as long as the function runs."""
        with self.b.goto_entry_block():
            place = self.b.alloca(ir.ArrayType(DOUBLE, count))
            return Doubles(self, Value(self, self.b.ptrtoint(place, I64)))

    def counted_lanes(self, first: Value, width: int) -> Value:
        """first, first + 1, ... side by side."""
        if width == 1:
            return first
        steps = ir.Constant(lanes(width, I64), list(range(width)))
        return Value(self, self.b.add(self.everywhere(first, width).ir, steps))

    def everywhere(self, value: Value, width: int) -> Value:
        """The same in every lane."""
        return Value(self, in_every_lane(self.b, value.ir, width))

    def choose(self, condition: Value, yes: Operand, no: Value) -> Value:
        return Value(self, self.b.select(condition.ir, no._like(yes).ir, no.ir))

    def root(self, x: Value) -> Value:
        return self._intrinsic("sqrt", x)

    def floor(self, x: Value) -> Value:
        return self._intrinsic("floor", x)

    def ceiling(self, x: Value) -> Value:
        return self._intrinsic("ceil", x)

    def nearest_whole(self, x: Value) -> Value:
        return self._intrinsic("rint", x)

    def multiply_add(self, x: Value, y: Value, z: Value) -> Value:
        return self._intrinsic("fma", x, y, z)

    def call(self, address: Value | ir.Function, *arguments: Operand) -> Value:
        """What the function at an address, or of this module, gives for words."""
        words = [a.ir if isinstance(a, Value) else ir.Constant(I64, a) for a in arguments]
        if isinstance(address, ir.Function):
            return Value(self, self.b.call(address, words))
        type_ = ir.FunctionType(I64, [I64] * len(words))
        return Value(self, self.b.call(self.b.inttoptr(address.ir, type_.as_pointer()), words))

    # what happens when

    @contextmanager
    def when(self, condition: Value) -> Iterator[None]:
        with self.b.if_then(condition.ir):
            yield

    def either(self, condition: Value) -> Any:
        """with r.either(c) as (yes, no): with yes: ...; with no: ..."""
        return self.b.if_else(condition.ir)

    @contextmanager
    def loop(self) -> Iterator[None]:
        """Again and again, until `leave` or `give`."""
        head, end = (self.function.append_basic_block(n) for n in ("loop", "left"))
        self.b.branch(head)
        self.b.position_at_end(head)
        self._loops.append((head, end))
        yield
        self._loops.pop()
        if not self.b.block.is_terminated:
            self.b.branch(head)
        self.b.position_at_end(end)

    @contextmanager
    def times(self, count: Operand) -> Iterator[Value]:
        """For k = 0 .. count - 1."""
        k = self.whole(0)
        following, end = (self.function.append_basic_block(n) for n in ("following", "counted"))
        head, body = (self.function.append_basic_block(n) for n in ("head", "times"))
        self.b.branch(head)
        self.b.position_at_end(head)
        self.b.cbranch((k < count).ir, body, end)
        self.b.position_at_end(body)
        self._loops.append((following, end))
        yield Value(self, k.ir)
        self._loops.pop()
        if not self.b.block.is_terminated:
            self.b.branch(following)
        self.b.position_at_end(following)
        k.set(k + 1)
        self.b.branch(head)
        self.b.position_at_end(end)

    def leave(self, condition: Value) -> None:
        """End the innermost loop where the condition holds."""
        self._go(condition, self._loops[-1][1])

    def skip(self, condition: Value) -> None:
        """Go on with the next round of the innermost loop where the condition holds."""
        self._go(condition, self._loops[-1][0])

    def give(self, value: Operand) -> None:
        """The result; nothing may follow in this block."""
        self.b.ret(value.ir if isinstance(value, Value) else ir.Constant(I64, value))

    # how it is written down

    def _cell(self, type_: ir.Type, start: Operand) -> Cell:
        cell = Cell(self, type_)
        cell.set(start)
        return cell

    def _go(self, condition: Value, target: ir.Block) -> None:
        onward = self.function.append_basic_block("onward")
        self.b.cbranch(condition.ir, target, onward)
        self.b.position_at_end(onward)

    def _intrinsic(self, name: str, *arguments: Value) -> Value:
        return Value(self, lane_by_lane(self.b, name, *(a.ir for a in arguments)))


def compiled(
    key: str, write: Callable[[ir.Module], None], exports: Sequence[str]
) -> dict[str, int]:
    """Addresses of the exported functions, from the cache or compiled;
    they stay for the life of the process."""
    if key not in _compiled:

        def compile_() -> tuple[dict[str, Any], bytes]:
            module = new_module("routine")
            write(module)
            return {}, machine.compile_object(str(module), registers=True)

        _compiled[key] = loader.loaded(f"routine {key}", compile_, exports)[0]
    return _compiled[key].addresses


_compiled: dict[str, machine.Code] = {}
