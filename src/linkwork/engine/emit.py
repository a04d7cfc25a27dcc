"""Emit: the operations of a program as LLVM instructions on doubles or on vectors of W doubles."""

from __future__ import annotations

from collections.abc import Callable

from llvmlite import ir

from linkwork.engine import elementary
from linkwork.engine.builder import Builder, Line, lane_by_lane
from linkwork.engine.ir_types import DOUBLE, constant, declared, is_true, lanes
from linkwork.engine.passes.schedule import waits
from linkwork.engine.program import Program
from linkwork.errors import NotPossible

# operations that a store counts for: the code generator compares every store of a block with every
# other
STORE = 9
# operations that the code generator may reorder among themselves in a program that waits for
# results
FENCE = 64
BLOCK = 600
"""Operations a basic block: the code generator's cost grows faster than a block's length."""


def _line(b: ir.IRBuilder, word: str, *values: ir.Value) -> Line:
    """fadd, fsub, fmul, fdiv, fneg of values of one type."""
    operands = ", ".join([value.get_reference() for value in values])
    return Line(b, values[0].type, f"{word} {values[0].type} {operands}")


def _fused(b: ir.IRBuilder, x: ir.Value, y: ir.Value, z: ir.Value) -> Line:
    """x y + z, rounded once."""
    return lane_by_lane(b, "fma", x, y, z)


def _truth(b: ir.IRBuilder, mask: ir.Value, like: ir.Type) -> ir.Value:
    return b.select(mask, constant(like, 1.0), constant(like, 0.0))


def _compare(sign: str, unordered: bool = False) -> Callable[..., ir.Value]:
    def emit(b: ir.IRBuilder, x: ir.Value, y: ir.Value) -> ir.Value:
        compare = b.fcmp_unordered if unordered else b.fcmp_ordered
        return _truth(b, compare(sign, x, y), x.type)

    return emit


# One line an operation; width and type come with the values.
EMIT: dict[str, Callable[..., ir.Value]] = {
    "add": lambda b, x, y: _line(b, "fadd", x, y),
    "sub": lambda b, x, y: _line(b, "fsub", x, y),
    "mul": lambda b, x, y: _line(b, "fmul", x, y),
    "div": lambda b, x, y: _line(b, "fdiv", x, y),
    "neg": lambda b, x: _line(b, "fneg", x),
    "sq": lambda b, x: _line(b, "fmul", x, x),
    "twice": lambda b, x: _line(b, "fadd", x, x),
    "inv": lambda b, x: _line(b, "fdiv", constant(x.type, 1.0), x),
    "fma": lambda b, x, y, z: _fused(b, x, y, z),
    "fms": lambda b, x, y, z: _fused(b, x, y, _line(b, "fneg", z)),
    "fnma": lambda b, x, y, z: _fused(b, _line(b, "fneg", x), y, z),
    "lt": _compare("<"),
    "le": _compare("<="),
    "eq": _compare("=="),
    "ne": _compare("!=", unordered=True),
    "not": lambda b, x: _truth(b, b.not_(is_true(b, x)), x.type),
    "and": lambda b, x, y: _truth(b, b.and_(is_true(b, x), is_true(b, y)), x.type),
    "or": lambda b, x, y: _truth(b, b.or_(is_true(b, x), is_true(b, y)), x.type),
    "if_else_zero": lambda b, c, x: b.select(is_true(b, c), x, constant(x.type, 0.0)),
    "select": lambda b, c, x, y: b.select(is_true(b, c), x, y),
}
_ELEMENTARY = {"constpow": "pow"}


def _emit_one(b: ir.IRBuilder, name: str, args: list[ir.Value]) -> ir.Value:
    if name in EMIT:
        return EMIT[name](b, *args)
    name = _ELEMENTARY.get(name, name)
    if name in elementary.FUNCTIONS:
        return elementary.emit(b, name, *args)
    raise NotPossible(f'operation "{name}" has no machine code')


def _early_angles(
    program: Program, both: set[tuple[int, ...]]
) -> tuple[list[tuple[int, ...]], list[int]]:
    """(angles, sums): what sine and cosine are wanted of that is an input or a sum of inputs and
    numbers, and the sums.

    They are computed first, while no other value is alive. A joint whose zero is turned has such a
    sum.
    """
    early: set[int] = set()
    sums: dict[int, set[int]] = {}  # with the sums that they are made of
    for k, op in enumerate(program.code):
        if op.name in ("input", "constant"):
            early.add(k)
        elif op.name in ("add", "sub") and early.issuperset(op.args):
            early.add(k)
            sums[k] = {k}.union(*(sums.get(a, ()) for a in op.args))
    angles = sorted(args for args in both if args[0] in early)
    return angles, sorted(set().union(*(sums.get(k, ()) for (k,) in angles)))


def emit_body(
    b: ir.IRBuilder,
    program: Program,
    width: int,
    load: Callable[[ir.IRBuilder, int, int], ir.Value],
    finished: Callable[[ir.IRBuilder, int, ir.Value], int] | None = None,
    scalar: ir.Type = DOUBLE,
) -> list[ir.Value]:
    """Emit every operation; gives all values. `load(builder, argument, element)` supplies inputs.

    `finished(builder, k, value)` is told each value as soon as it exists, to store results early;
    gives its stores.
    """
    type_ = lanes(width, scalar)
    values: list[ir.Value] = []
    both = {op.args for op in program.code if op.name == "sin"} & {
        op.args for op in program.code if op.name == "cos"
    }
    pairs: dict[tuple[int, ...], tuple[ir.Value, ir.Value]] = {}
    angles, sums = _early_angles(program, both)
    first: dict[int, ir.Value] = {}

    def early(k: int) -> ir.Value:
        op = program.code[k]
        if k in first:
            return first[k]
        return constant(type_, op.value) if op.name == "constant" else load(b, *op.args)

    for k in sums:
        first[k] = _emit_one(b, program.code[k].name, [early(a) for a in program.code[k].args])
    sines = elementary.emit_together(b, "sincos", [(early(k),) for (k,) in angles])
    pairs.update(zip(angles, sines, strict=True))
    since, fenced = 0, waits(program)
    for k, op in enumerate(program.code):
        if op.name == "input":
            value = load(b, *op.args)
        elif op.name == "constant":
            value = constant(type_, op.value)
        elif k in first:
            value = first[k]
        elif op.name in ("sin", "cos") and op.args in both:
            if op.args not in pairs:
                pairs[op.args] = elementary.emit(b, "sincos", values[op.args[0]])
            value = pairs[op.args][op.name == "cos"]
        else:
            value = _emit_one(b, op.name, [values[a] for a in op.args])
        values.append(value)
        stores = finished(b, k, value) if finished is not None else 0
        since += 1 + STORE * stores
        if since >= BLOCK:
            _begin_block(b)
            since = 0
        elif fenced and k % FENCE == FENCE - 1:
            _fence(b)
    return values


def _fence(b: ir.IRBuilder) -> None:
    """A label, over which the code generator moves nothing.

    Left to itself it saves registers: it computes one half of a wide tile after the other, and each
    operation waits for the one before; dynamics of arms are then a fifth slower
    (`python -m benchmarks dynamics`).
    """
    label = declared(b.module, "llvm.codeview.annotation", ir.VoidType(), [ir.MetaDataType()])
    b.call(label, [b.module.add_metadata([ir.MetaDataString(b.module, "fence")])])


def _begin_block(b: ir.IRBuilder) -> None:
    """Go on in a new block. The jump looks conditional,
    or the code generator would make one long block again."""
    function, following = b.function, b.append_basic_block()
    pointer = next(
        argument for argument in function.args if isinstance(argument.type, ir.PointerType)
    )
    never = next((block for block in function.blocks if block.name == "never"), None)
    if never is None:
        never = function.append_basic_block("never")
        end, result = Builder(never), function.ftype.return_type
        end.ret_void() if isinstance(result, ir.VoidType) else end.ret(ir.Constant(result, None))
    b.cbranch(b.icmp_unsigned("!=", pointer, ir.Constant(pointer.type, None)), following, never)
    b.position_at_end(following)
