"""Program: a traced function as a flat list of operations on numbered values."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

import casadi

from linkwork.errors import NotPossible
from linkwork.spatial.operators import quicken

quicken()

# CasADi's operation -> our name. An operation that is not here is refused by name.
OPERATIONS: dict[int, str] = {
    getattr(casadi, f"OP_{name.upper()}"): name
    for name in (
        "add sub mul div neg sq twice inv sqrt sin cos tan asin acos atan atan2 sinh cosh tanh "
        "asinh acosh atanh "
        "exp expm1 log log1p pow constpow hypot fabs sign copysign floor ceil fmod remainder fmin "
        "fmax erf erfinv "
        "lt le eq ne not and or if_else_zero"
    ).split()
}
_NAME_OF_REFUSED = {value: name for name, value in vars(casadi).items() if name.startswith("OP_")}
_COPIES = {casadi.OP_ASSIGN}


CARRIERS = frozenset("add sub mul neg sq twice fma fms fnma sin cos tan".split())
"""Operations whose result is not finite whenever an argument is not."""


class Operation(NamedTuple):
    """`name` applied to earlier values. "input": args = (argument, element); "constant":
    value holds the number."""

    name: str
    args: tuple[int, ...] = ()
    value: float = 0.0


@dataclass(frozen=True)
class Program:
    """Values in order of computation, and where results go.

    inputs    number of elements of each argument
    code      the k-th operation computes value k
    outputs   for each result: the value that goes to each of its elements in row-major order
              (-1: structural zero)
    """

    inputs: tuple[int, ...]
    code: tuple[Operation, ...]
    outputs: tuple[tuple[int, ...], ...]
    name: str = field(default="", compare=False)

    @cached_property
    def operations(self) -> int:
        """Arithmetic operations a sample (loads, constants and sign changes not counted; a fused
        one counts once)."""
        return sum(op.name not in ("input", "constant", "neg") for op in self.code)

    def witnesses(self, results: int) -> tuple[set[int], list[tuple[int, int]]]:
        """(values, inputs (argument, element)) to check: if finite,
        so are the first `results` outputs and all inputs.

        Sums, products and sines carry what is not finite on, whatever their other operand is. A
        value with such a way to a result needs no check of its own: the check of that result sees
        it.
        """
        wanted = {v for values in self.outputs[:results] for v in values if v >= 0}
        seen: set[int] = set()
        for k in range(len(self.code) - 1, -1, -1):
            if (k in wanted or k in seen) and self.code[k].name in CARRIERS:
                seen.update(self.code[k].args)
        inputs = {
            op.args
            for k, op in enumerate(self.code)
            if op.name == "input" and (k in wanted or k in seen)
        }
        alone = [
            (j, e)
            for j, count in enumerate(self.inputs)
            for e in range(count)
            if (j, e) not in inputs
        ]
        return wanted - seen, alone

    def text(self) -> str:
        """A canonical listing, for fingerprints and for people."""
        lines = [f"{k} = {op.name} {op.args} {op.value.hex()}" for k, op in enumerate(self.code)]
        return "\n".join([repr(self.inputs), *lines, repr(self.outputs)])


def from_casadi(function: casadi.Function) -> Program:
    """The program of an SX function, one operation an instruction, in single-assignment form."""
    if not function.is_a("SXFunction"):
        function = function.expand()
    code: list[Operation] = []
    slot: dict[int, int] = {}
    stores: list[dict[int, int]] = [{} for _ in range(function.n_out())]
    constants: dict[str, int] = {}
    loaded: dict[tuple[int, int], int] = {}
    in_map = [_row_major(function.sparsity_in(i)) for i in range(function.n_in())]
    for k in range(function.n_instructions()):
        op, out = function.instruction_id(k), function.instruction_output(k)
        if op == casadi.OP_OUTPUT:
            stores[out[0]][out[1]] = slot[function.instruction_input(k)[0]]
            continue
        if op == casadi.OP_CONST:
            number = float(function.instruction_constant(k))
            at = constants.get(number.hex())
            if at is None:
                at = constants[number.hex()] = len(code)
                code.append(Operation("constant", (), number))
            slot[out[0]] = at
            continue
        args = function.instruction_input(k)
        if op == casadi.OP_INPUT:
            key = (args[0], in_map[args[0]][args[1]])
            if key not in loaded:
                loaded[key] = len(code)
                code.append(Operation("input", key))
            slot[out[0]] = loaded[key]
        elif op in _COPIES:
            slot[out[0]] = slot[args[0]]
        elif op in OPERATIONS:
            code.append(Operation(OPERATIONS[op], tuple(slot[a] for a in args)))
            slot[out[0]] = len(code) - 1
        else:
            raise NotPossible(
                f"{function.name()}: operation {_NAME_OF_REFUSED.get(op, op)} has no machine code; "
                f"expand the function or write it with {', '.join(sorted(OPERATIONS.values()))}"
            )
    outputs = []
    for i, store in enumerate(stores):
        sparsity = function.sparsity_out(i)
        dense = [-1] * sparsity.numel()
        for nonzero, at in enumerate(_row_major(sparsity)):
            dense[at] = store[nonzero]
        outputs.append(tuple(dense))
    inputs = tuple(function.sparsity_in(i).numel() for i in range(function.n_in()))
    return Program(inputs, tuple(code), tuple(outputs), function.name())


def _row_major(sparsity: casadi.Sparsity) -> list[int]:
    """Row-major position of every nonzero (CasADi counts by columns)."""
    rows, columns = sparsity.get_triplet()
    return [r * sparsity.size2() + c for r, c in zip(rows, columns, strict=True)]
