"""Schedule: list scheduling by register pressure, then by latency.

The order in which a program computes its values decides how many of them wait in memory for their
use.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Sequence
from dataclasses import replace

from linkwork.engine.program import Operation, Program
from linkwork.engine.target import INSTRUCTIONS, SHORT, latency

WORTH = 0.8  # a smaller gain in waiting is lost again
LONG = 1000
"""Operations above which memory counts for more than the time between a value and its use."""
_GIVEN = ("input", "constant")


def scheduled(program: Program) -> Program:
    """The same values in an order that keeps values near their uses."""
    if len(program.code) >= LONG:
        program = _together(program)
    return reordered(program, _freeing(program))


def _together(program: Program) -> Program:
    """Results computed element by element instead of one after the other,
    if that lets fewer values wait.

    CasADi computes the first result with all it needs, then the second, and so on. Results that
    share their intermediate values (three derivative matrices, say) are better computed element by
    element; from the last, because recursions number what they need least last. Talos's derivatives
    keep 390 values waiting instead of 1150.
    """
    longest = max(len(output) for output in program.outputs)
    together = [o[k] for k in range(longest) for o in program.outputs if k < len(o) and o[k] >= 0]
    order = _depth_first(program, together[::-1])
    if _waiting(program, order) > WORTH * _waiting(program, range(len(program.code))):
        return program
    return reordered(program, order)


def _freeing(program: Program) -> list[int]:
    """Always the operation next that uses most of its operands for the last time,
    for their registers are then free.

    Among equals a short program takes the one with the longest way to a result; a long one keeps
    the given order. Where a program mostly waits for its own results and no second tile fills the
    time, an operation rests until its operands can be there. Rows of `python -m benchmarks
    dynamics` show what it brings.
    """
    code = program.code
    # who uses what, and how many uses every value has left
    given = [op.name in _GIVEN for op in code]
    number = [op.name == "constant" for op in code]
    operands = [
        () if own else tuple({a for a in op.args if not number[a]}) for op, own in zip(code, given)
    ]
    users: list[list[int]] = [[] for _ in code]
    for k, used in enumerate(operands):
        for a in used:
            users[a].append(k)
    left = [len(u) for u in users]
    freed = [sum([left[a] == 1 for a in used]) for used in operands]
    missing = [sum([not given[a] for a in used]) for used in operands]
    # list scheduling: `ready` by what an operation frees, `resting` by when its operands are there
    tie = range(len(code)) if program.operations > LONG else [-h for h in _heights(users)]
    rest = INSTRUCTIONS if waits(program) and tiles_at_once(program) == 1 else 0
    order = [k for k, op in enumerate(code) if op.name == "constant"]
    done = bytearray(op.name == "constant" for op in code)
    there = [0] * len(code)  # when an operation's operands are, counted in operations
    resting = [(0, k) for k in range(len(code)) if not given[k] and not missing[k]]
    ready: list[tuple[int, int, int]] = []
    now = 0
    while ready or resting:
        if not ready:
            now = max(now, resting[0][0])
        while resting and resting[0][0] <= now:
            k = heapq.heappop(resting)[1]
            heapq.heappush(ready, (-freed[k], tie[k], k))
        minus_freed, _, k = heapq.heappop(ready)
        if done[k] or minus_freed != -freed[k]:
            continue  # it is there again with another count
        done[k] = 1
        # its operands have one use less; whoever uses one for the last time moves up
        for a in operands[k]:
            if not done[a]:  # an input: read where it is first used
                done[a] = 1
                order.append(a)
            left[a] -= 1
            if left[a] == 1:
                last = next(u for u in users[a] if not done[u])
                freed[last] += 1
                if not missing[last] and there[last] <= now:
                    heapq.heappush(ready, (-freed[last], tie[last], last))
        order.append(k)
        now += 1
        # its users come nearer to being ready
        when = now + rest * latency(code[k].name)
        for u in users[k]:
            missing[u] -= 1
            if there[u] < when:
                there[u] = when
            if not missing[u]:
                heapq.heappush(resting, (there[u], u))
    return order + [k for k in range(len(code)) if not done[k]]


def _heights(users: Sequence[Sequence[int]]) -> list[int]:
    """Operations on the longest way from each value to a result."""
    heights = [0] * len(users)
    for k in range(len(users) - 1, -1, -1):
        heights[k] = 1 + max((heights[u] for u in users[k]), default=0)
    return heights


def tiles_at_once(program: Program, results: int | None = None) -> int:
    """How many tiles are computed beside each other: two where they hide each other's latencies.

    It does not pay where there is a result for every few operations (the Coriolis matrix of an
    arm), where little time goes by in waiting (inverse dynamics of quadrupeds), or where the code
    no longer fits its cache; rows of `python -m benchmarks dynamics` show it. `results`: how many
    outputs are returned; without it: all.
    """
    written = sum(len(values) for values in program.outputs[:results])
    worth = program.operations <= SHORT and 20 * written <= program.operations
    return 2 if worth and waiting_share(program) >= 0.6 else 1


def waits(program: Program) -> bool:
    """Whether most time would go by in waiting for results: so for arms,
    whose joints all stand in one row."""
    return waiting_share(program) >= 0.9


def waiting_share(program: Program) -> float:
    """The time of the longest chain of operations, each waiting for the one before,
    by that of all if none waited."""
    ends = [0] * len(program.code)
    for k, op in enumerate(program.code):
        if op.name not in _GIVEN:
            ends[k] = max([ends[a] for a in op.args], default=0) + latency(op.name)
    return INSTRUCTIONS * max(ends, default=0) / max(1, program.operations)


def reordered(program: Program, order: Sequence[int]) -> Program:
    """The same program with its values computed, and numbered, in another order."""
    new = [0] * len(program.code)
    for k, old in enumerate(order):
        new[old] = k
    code = []
    for old in order:
        op = program.code[old]
        code.append(
            op
            if op.name == "input"
            else Operation(op.name, tuple([new[a] for a in op.args]), op.value)
        )
    outputs = tuple(tuple(new[v] if v >= 0 else -1 for v in output) for output in program.outputs)
    return replace(program, code=tuple(code), outputs=outputs)


def _depth_first(program: Program, goals: Iterable[int]) -> list[int]:
    """Values as the goals ask for them, one goal after the other."""
    done = bytearray(len(program.code))
    order: list[int] = []
    for goal in goals:
        stack = [goal]
        while stack:
            k = stack[-1]
            op = program.code[k]
            missing = [] if done[k] or op.name == "input" else [a for a in op.args if not done[a]]
            if missing:
                stack += missing[::-1]
                continue
            stack.pop()
            if not done[k]:
                done[k] = 1
                order.append(k)
    return order


def _waiting(program: Program, order: Sequence[int]) -> int:
    """Sum over the values of the steps until their last use;
    constants stand in the code itself and do not wait."""
    first, last = [0] * len(program.code), [0] * len(program.code)
    for step, k in enumerate(order):
        first[k] = last[k] = step
        op = program.code[k]
        if op.name != "input":
            for a in op.args:
                last[a] = step
    return sum(last[k] - first[k] for k in order if program.code[k].name != "constant")
