"""The order of computation: same values, same results, fewer of them waiting."""

from __future__ import annotations

import numpy as np
import pytest

from linkwork.engine.passes import schedule
from linkwork.engine.program import Operation, Program

OPERATIONS = {"add": float.__add__, "sub": float.__sub__, "mul": float.__mul__}


def computed(program: Program, inputs: list[float]) -> list[list[float]]:
    """The results, value by value in the order of the code."""
    values: list[float] = []
    for op in program.code:
        if op.name == "input":
            values.append(inputs[op.args[1]])
        elif op.name == "constant":
            values.append(op.value)
        else:
            # an argument not yet there raises
            values.append(OPERATIONS[op.name](*(values[a] for a in op.args)))
    return [[values[v] if v >= 0 else 0.0 for v in output] for output in program.outputs]


def two_results_of_shared_values(n: int) -> Program:
    """first[k] = x_k + x_0, second[k] = x_k * x_0 with x_k a chain of its own; all of the first,
    then the second."""
    code = [Operation("input", (0, 0)), Operation("constant", (), 0.75)]
    shared = []
    for k in range(n):
        code.append(Operation("mul", (0, 1 if k % 2 else 0)))
        code.append(Operation("sub", (len(code) - 1, 1)))
        shared.append(len(code) - 1)
    first = [code.append(Operation("add", (v, 0))) or len(code) - 1 for v in shared]
    second = [code.append(Operation("mul", (v, 0))) or len(code) - 1 for v in shared]
    return Program((1,), tuple(code), (tuple(first), (*second, -1)))


def test_results_stay_what_they_are_and_values_wait_less():
    program = two_results_of_shared_values(300)
    found = schedule.scheduled(program)
    assert sorted(op.name for op in found.code) == sorted(op.name for op in program.code)
    assert computed(found, [0.3]) == computed(program, [0.3])
    everything = range(len(program.code))
    assert schedule._waiting(found, everything) < 0.1 * schedule._waiting(program, everything)


def test_values_used_for_the_last_time_go_first():
    """x0 is used twice, x1 once: what frees a register comes before what does not,
    whatever the order given."""
    code = [Operation("input", (0, k)) for k in range(2)]
    code += [Operation("mul", (0, 0)), Operation("add", (0, 1)), Operation("sub", (2, 3))]
    program = Program((2,), tuple(code), ((4,),))
    found = schedule.scheduled(program)
    assert [op.name for op in found.code] == ["input", "input", "add", "mul", "sub"]
    assert computed(found, [0.3, 0.7]) == computed(program, [0.3, 0.7])


def test_a_short_program_computes_what_most_waits_for_first():
    """A sum that the result needs at once and a chain of five products: the chain begins."""
    code = [
        Operation("input", (0, 0)),
        Operation("input", (0, 1)),
        Operation("add", (0, 1)),
        Operation("mul", (0, 1)),
    ]
    for _ in range(4):
        code.append(Operation("mul", (len(code) - 1, len(code) - 1)))
    code.append(Operation("sub", (2, len(code) - 1)))
    found = schedule.scheduled(Program((2,), tuple(code), ((len(code) - 1,),)))
    names = [op.name for op in found.code if op.name != "input"]
    assert names[0] == "mul" and names.index("add") > 0
    assert computed(found, [0.3, 0.7]) == computed(
        Program((2,), tuple(code), ((len(code) - 1,),)), [0.3, 0.7]
    )


@pytest.mark.parametrize("long", [0, 10**9])
@pytest.mark.parametrize("seed", range(5))
def test_random_programs(seed, long, monkeypatch):
    monkeypatch.setattr(schedule, "LONG", long)
    rng = np.random.default_rng(seed)
    code = [Operation("input", (0, k)) for k in range(3)] + [Operation("constant", (), 0.5)]
    for _ in range(200):
        name = str(rng.choice(list(OPERATIONS)))
        code.append(
            Operation(
                name, tuple(int(a) for a in rng.integers(max(0, len(code) - 40), len(code), size=2))
            )
        )
    outputs = tuple(tuple(int(v) for v in rng.integers(-1, len(code), size=m)) for m in (30, 7, 50))
    needed = {v for output in outputs for v in output if v >= 0}
    for k in range(len(code) - 1, -1, -1):
        if k in needed and code[k].name != "input":
            needed.update(code[k].args)
    kept = sorted(needed)
    new = {old: k for k, old in enumerate(kept)}
    code = [
        code[k]
        if code[k].name == "input"
        else Operation(code[k].name, tuple(new[a] for a in code[k].args), code[k].value)
        for k in kept
    ]
    program = Program((3,), tuple(code), tuple(tuple(new.get(v, -1) for v in o) for o in outputs))
    inputs = rng.uniform(-1, 1, size=3).tolist()
    assert computed(schedule.scheduled(program), inputs) == computed(program, inputs)


def chains(count: int, length: int) -> Program:
    """So many products of so many factors, one factor after the other, each of its own input;
    one result a chain."""
    code = [Operation("input", (0, k)) for k in range(count)]
    ends = list(range(count))
    for k in range(count):
        for _ in range(length):
            code.append(Operation("mul", (ends[k], k)))
            ends[k] = len(code) - 1
    return Program((count,), tuple(code), (tuple(ends),))


def test_the_share_of_waiting_is_the_longest_chain_by_all_operations_at_two_a_cycle():
    assert schedule.waiting_share(chains(1, 50)) == pytest.approx(2 * 4)
    assert schedule.waiting_share(chains(8, 50)) == pytest.approx(1.0)
    assert schedule.waiting_share(chains(16, 50)) == pytest.approx(0.5)
    assert schedule.waiting_share(Program((), (), ((),))) == 0
    divided = Program(
        (1,),
        (Operation("input", (0, 0)), Operation("inv", (0,)), Operation("add", (1, 1))),
        ((2,),),
    )
    assert schedule.waiting_share(divided) == pytest.approx(2 * (13 + 4) / 2)
    assert schedule.waits(chains(8, 50)) and not schedule.waits(chains(16, 50))


def test_two_tiles_at_once_where_a_short_program_waits_and_writes_little():
    assert schedule.tiles_at_once(chains(4, 100)) == 2
    assert schedule.tiles_at_once(chains(16, 50)) == 1, "other chains fill the time"
    assert schedule.tiles_at_once(chains(4, 1 + schedule.SHORT // 4)) == 1, "too long"
    assert schedule.tiles_at_once(chains(4, 10)) == 1, "a result for every ten operations"
    guarded = chains(4, 100)
    many = Program(guarded.inputs, guarded.code, (*guarded.outputs, guarded.outputs[0] * 10))
    assert schedule.tiles_at_once(many) == 1 and schedule.tiles_at_once(many, results=1) == 2


def test_operations_rest_until_their_operands_are_there():
    """Eight chains, given one after the other: where the program waits,
    none is carried on before its time."""
    program = chains(8, 19)  # too many results for two tiles at once
    assert schedule.waits(program) and schedule.tiles_at_once(program) == 1
    found = schedule.scheduled(program)
    assert computed(found, [0.1 * k for k in range(8)]) == computed(
        program, [0.1 * k for k in range(8)]
    )
    step, steps = {}, 0
    for k, op in enumerate(found.code):
        if op.name == "mul":
            step[k], steps = steps, steps + 1
    gaps = [step[k] - step[a] for k in step for a in found.code[k].args if a in step]
    assert min(gaps) >= 8, "a product takes four cycles of two operations"
