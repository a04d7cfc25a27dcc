"""Sums (reassociation): additions in an order that makes products fused multiply-adds."""

from __future__ import annotations

from dataclasses import replace

from linkwork.engine.program import Operation, Program

_SUMS = ("add", "sub")
_PRODUCTS = ("mul", "sq")


def chained(program: Program) -> Program:
    """The same program with each sum of several terms written as one chain, plain terms first,
    products last.

    x + (a*b + c*d) costs a product and two additions, (x + a*b) + c*d two fused ones. Taken apart
    are only sums that hold a product and whose value nobody else needs: additions of plain terms,
    such as those of compensated sums, keep the order written. Rounding differs from that order
    elsewhere, alike at every vector width.
    """
    code, uses = program.code, _uses(program)
    inner = _inner(code, uses)
    new: list[Operation] = []
    at: dict[int, int] = {}

    def emit(name: str, *args: int) -> int:
        new.append(Operation(name, args))
        return len(new) - 1

    for k, op in enumerate(code):
        if k in inner:
            continue
        if op.name not in _SUMS:
            new.append(
                op
                if op.name == "input"
                else Operation(op.name, tuple([at[a] for a in op.args]), op.value)
            )
            at[k] = len(new) - 1
            continue
        # plain terms first, products last; a sum that would begin with a minus begins with another
        # term
        terms = sorted(
            _terms(code, k, inner), key=lambda term: (_rank(code, uses, term[0]), term[1])
        )
        value, negative = terms[0]
        total = at[value]
        if negative:
            swapped = next((t for t in terms if not t[1]), None)
            if swapped is None:
                total = emit("neg", total)
            else:
                terms.remove(swapped)
                total = emit("sub", at[swapped[0]], total)
        for value, negative in terms[1:]:
            total = emit("sub" if negative else "add", total, at[value])
        at[k] = total
    outputs = tuple(tuple(at[v] if v >= 0 else -1 for v in output) for output in program.outputs)
    return replace(program, code=tuple(new), outputs=outputs)


def _uses(program: Program) -> list[int]:
    """How often each value is used; a result counts as several,
    so that it stays a value of its own."""
    uses = [0] * len(program.code)
    for op in program.code:
        if op.name != "input":
            for a in op.args:
                uses[a] += 1
    for output in program.outputs:
        for v in output:
            if v >= 0:
                uses[v] += 2
    return uses


def _inner(code: tuple[Operation, ...], uses: list[int]) -> set[int]:
    """Sums with a product among their terms that become part of the one sum that uses them."""
    holding: set[int] = set()  # sums with a product among their terms
    inner: set[int] = set()
    for k, op in enumerate(code):
        if op.name in _SUMS:
            inner.update(a for a in op.args if uses[a] == 1 and a in holding)
            if any(a in inner or code[a].name in _PRODUCTS for a in op.args):
                holding.add(k)
    return inner


def _terms(code: tuple[Operation, ...], root: int, inner: set[int]) -> list[tuple[int, bool]]:
    """(value, whether it is subtracted) of every term of the sum `root`, in the order written."""
    terms: list[tuple[int, bool]] = []
    stack = [(root, False)]
    while stack:
        k, negative = stack.pop()
        if k != root and k not in inner:
            terms.append((k, negative))
            continue
        left, right = code[k].args
        stack.append((right, negative != (code[k].name == "sub")))
        stack.append((left, negative))
    return terms


def _rank(code: tuple[Operation, ...], uses: list[int], value: int) -> int:
    """Plain values first, then products that others need too, then products of this sum alone."""
    if code[value].name not in _PRODUCTS:
        return 0
    return 1 if uses[value] > 1 else 2
