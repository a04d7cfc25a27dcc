"""Kernels: what goes in, what comes out, what is refused and how."""

from __future__ import annotations

import multiprocessing
import threading

import casadi
import numpy as np
import pytest

import linkwork as lw
from linkwork.engine import machine, python_call
from linkwork.engine.kernel import Context
from linkwork.errors import ComputationError, InvalidInput, NotPossible


@pytest.fixture(scope="module")
def two_link():
    """A hand-made 2R arm: tip position and a scaled matrix."""

    def tip(q, lengths):
        x = lengths[0] * casadi.cos(q[0]) + lengths[1] * casadi.cos(q[0] + q[1])
        y = lengths[0] * casadi.sin(q[0]) + lengths[1] * casadi.sin(q[0] + q[1])
        return casadi.vertcat(x, y), casadi.vertcat(
            casadi.horzcat(x, y), casadi.horzcat(-y, x), casadi.horzcat(1, q[1])
        )

    return lw.compile(tip, {"q": 2, "lengths": 2})


def reference(q, lengths):
    x = lengths[..., 0] * np.cos(q[..., 0]) + lengths[..., 1] * np.cos(q[..., 0] + q[..., 1])
    y = lengths[..., 0] * np.sin(q[..., 0]) + lengths[..., 1] * np.sin(q[..., 0] + q[..., 1])
    return np.stack([x, y], -1)


def test_one_sample_and_a_batch_of_one_keep_their_shapes(two_link):
    q, lengths = np.array([0.3, -0.8]), np.array([0.5, 0.4])
    p, M = two_link(q, lengths)
    assert p.shape == (2,) and M.shape == (3, 2)
    p, M = two_link(q[None], lengths)
    assert p.shape == (1, 2) and M.shape == (1, 3, 2)
    np.testing.assert_allclose(p[0], reference(q, lengths), rtol=1e-15)


@pytest.mark.parametrize("shape", [(), (1,), (7,), (2, 3), (3, 1, 2), (0,), (4, 0)])
def test_leading_dimensions_broadcast(two_link, shape):
    rng = np.random.default_rng(0)
    q, lengths = rng.normal(size=(*shape, 2)), rng.normal(size=(*shape[1:], 2))
    p, M = two_link(q, lengths)
    assert p.shape == (*shape, 2) and M.shape == (*shape, 3, 2)
    np.testing.assert_allclose(p, reference(q, lengths), rtol=1e-13, atol=1e-15)


def test_other_arrays_are_converted(two_link):
    q, lengths = np.array([[1.0, 2.0], [3.0, 4.0]]), np.array([1.0, 2.0])
    expected = two_link(q, lengths)[0]
    wide = np.zeros((2, 4))
    wide[:, ::2] = q
    for same in (
        q.tolist(),
        q.astype(int),
        q.astype(np.float32),
        np.asfortranarray(q),
        wide[:, ::2],
        (q[0], q[1]),
    ):
        assert np.array_equal(two_link(same, lengths)[0], expected)
    assert np.array_equal(two_link(q[::-1], [1, 2])[0], expected[::-1])


@pytest.mark.parametrize(
    ("q", "lengths", "says"),
    [
        ([0.1, 0.2, 0.3], [1, 1], r"tip: q has shape \(3,\), expected \(\.\.\., 2\)"),
        (0.5, [1, 1], r"q has shape \(\), expected"),
        ([[1, 2]] * 3, [[1, 2]] * 2, "batch shapes do not broadcast: q .3,., lengths .2,."),
        ([0.1, np.nan], [1, 1], r"q\[1\] is nan, expected finite"),
        ([[1, 2], [3, -np.inf]], [1, 1], r"q\[1, 1\] is -inf"),
        (["a", "b"], [1, 1], "q has dtype"),
        ([1j, 2], [1, 1], "q has dtype complex128"),
        ([[1, 2], [3]], [1, 1], "q is not an array of numbers"),
        (None, [1, 1], "q has dtype object"),
        ([True, False], [1, 1], "q has dtype bool"),
    ],
)
def test_bad_arguments_are_refused_by_name(two_link, q, lengths, says):
    with pytest.raises(InvalidInput, match=says):
        two_link(q, lengths)
    caller = two_link.caller(Context())
    with pytest.raises(InvalidInput, match=says):
        caller(q, lengths)


def test_wrong_number_of_arguments(two_link):
    with pytest.raises(InvalidInput, match="got 1 arguments, expected 2: q, lengths"):
        two_link([1, 2])
    with pytest.raises(InvalidInput, match="got 0 arguments"):
        two_link.caller(Context())()


def test_results_that_are_not_finite_raise_and_say_where():
    divide = lw.compile(lambda x: 1 / x, {"x": 3}, name="divide")
    with pytest.raises(
        ComputationError, match=r"divide: result .*\[1\] is inf although the input is finite"
    ):
        divide([1.0, 0.0, 2.0])
    X = np.ones((100, 3))
    X[57, 2] = 0.0
    with pytest.raises(ComputationError, match=r"\[57, 2\] is inf"):
        divide(X)


def test_an_unused_input_is_checked_too():
    first = lw.compile(lambda x, y: x * 2, {"x": 1, "y": 3})
    Y = np.zeros((9, 3))
    Y[4, 1] = np.nan
    with pytest.raises(InvalidInput, match=r"y\[4, 1\] is nan"):
        first(np.zeros((9, 1)), Y)


def test_an_input_lost_in_a_comparison_is_checked_too():
    lost = lw.compile(lambda x, y: casadi.if_else(x > 0, 1.0, 2.0) + 1 / y, {"x": (), "y": ()})
    with pytest.raises(InvalidInput, match="x is nan"):
        lost(np.nan, 1.0)
    with pytest.raises(InvalidInput, match=r"y\[2\] is inf"):
        lost(np.ones(5), [1, 1, np.inf, 1, 1])


def test_out_is_written_and_returned(two_link):
    q, lengths = np.random.default_rng(0).normal(size=(5, 2)), np.ones(2)
    out = (np.empty((5, 2)), np.empty((5, 3, 2)))
    result = two_link(q, lengths, out=out)
    assert result[0] is out[0] and result[1] is out[1]
    assert np.array_equal(out[0], two_link(q, lengths)[0])


def test_out_may_be_an_input():
    double = lw.compile(lambda x: casadi.vertcat(x[1], x[0]), {"x": 2})
    x = np.arange(20.0).reshape(10, 2)
    expected = x[:, ::-1].copy()
    double(x, out=x)
    assert np.array_equal(x, expected)


@pytest.mark.parametrize(
    "out", [np.empty(3), np.empty((4, 2), np.float32), np.empty((2, 4)).T, [1, 2], "no"]
)
def test_unfit_out_is_refused(out):
    double = lw.compile(lambda x: 2 * x, {"x": 2})
    with pytest.raises(InvalidInput, match="out"):
        double(np.zeros((4, 2)), out=out)


def test_a_read_only_out_is_refused():
    double = lw.compile(lambda x: 2 * x, {"x": 2})
    out = np.empty((4, 2))
    out.flags.writeable = False
    with pytest.raises(InvalidInput, match="writeable"):
        double(np.zeros((4, 2)), out=out)


def test_jacobian_is_the_derivative(two_link):
    J = two_link.jacobian(0, "q")
    q, lengths, h = np.array([0.4, 1.1]), np.array([0.7, 0.6]), 1e-6
    steps = [
        (two_link(q + h * e, lengths)[0] - two_link(q - h * e, lengths)[0]) / (2 * h)
        for e in np.eye(2)
    ]
    # central difference, h^2
    np.testing.assert_allclose(J(q, lengths), np.stack(steps, -1), atol=1e-9)
    assert two_link.jacobian(1, 0)(q, lengths).shape == (6, 2)
    with pytest.raises(InvalidInput, match="there is no argument 'speed'"):
        two_link.jacobian(0, "speed")


def test_functions_that_cannot_be_compiled_are_refused():
    with pytest.raises(InvalidInput, match="uses symbols that are not arguments"):
        lw.compile(lambda x: x + casadi.SX.sym("stranger"), {"x": 1})
    with pytest.raises(InvalidInput, match="shape"):
        lw.compile(lambda x: x, {"x": (1, 2, 3)})
    x = casadi.SX.sym("x")
    inner = casadi.Function("inner", [x], [x * x], {"never_inline": True})
    with pytest.raises(NotPossible, match="OP_CALL"):
        lw.compile(lambda x: inner(x), {"x": ()})


@pytest.mark.parametrize("count", [1, 2, 3])
def test_any_number_of_threads_and_any_place_give_the_same_bits(two_link, count):
    q = np.random.default_rng(1).normal(size=(30_001, 2))
    lengths = np.array([0.5, 0.3])
    before = lw.threads()
    try:
        lw.threads(1)
        alone = two_link(q, lengths)[0]
        lw.threads(count)
        assert np.array_equal(two_link(q, lengths)[0], alone)
    finally:
        lw.threads(before)
    for k in (0, 1, 5, 30_000):
        assert np.array_equal(two_link(q[k], lengths)[0], alone[k])
        assert np.array_equal(two_link(q[k : k + 3], lengths)[0], alone[k : k + 3])


def test_the_bad_sample_is_found_whatever_the_threads():
    divide = lw.compile(lambda x: casadi.vertcat(1 / x[0], x[1]), {"x": 2}, name="divide")
    X = np.ones((50_000, 2))
    X[[20_011, 44_000], 0] = 0.0
    with pytest.raises(ComputationError, match=r"\[20011, 0\]"):
        divide(X)


@pytest.mark.parametrize("n", [0, -1, 1.5, True, "two", 5000])
def test_thread_counts_are_checked(n):
    with pytest.raises(InvalidInput, match="threads"):
        lw.threads(n)


def test_two_python_threads_on_one_kernel(two_link):
    q = np.random.default_rng(2).normal(size=(2000, 2))
    lengths = np.array([0.5, 0.3])
    expected = two_link(q, lengths)[0]
    caller, wrong = two_link.caller(Context()), []

    def work(offset):
        for k in range(offset, 2000, 2):
            if not np.array_equal(caller(q[k], lengths)[0], expected[k]):
                wrong.append(k)

    workers = [threading.Thread(target=work, args=(i,)) for i in range(2)]
    [w.start() for w in workers]
    [w.join() for w in workers]
    assert not wrong


def _in_child(queue, kernel, q, lengths):
    queue.put(kernel(q, lengths)[0])


def test_a_forked_child_can_compute(two_link):
    q, lengths = np.random.default_rng(3).normal(size=(40_000, 2)), np.array([0.5, 0.3])
    expected = two_link(q, lengths)[0]
    context = multiprocessing.get_context("fork")
    queue = context.Queue()
    child = context.Process(target=_in_child, args=(queue, two_link, q, lengths))
    child.start()
    result = queue.get(timeout=600)
    child.join(timeout=600)
    assert np.array_equal(result, expected)


def test_the_compiled_call_is_used_on_this_interpreter():
    assert python_call.available()


def test_code_for_one_sample_waits_for_the_first_one():
    kernel = lw.compile(lambda q: 2.0 * casadi.sin(q), {"q": 3})
    kept: list = []
    call = kernel.caller(Context(), kept.append)
    batch = np.linspace(0.0, 1.0, 30).reshape(10, 3)
    expected = kernel(batch)
    assert 1 not in kernel._code and not kept
    assert np.array_equal(call(batch), expected) and np.array_equal(call(list(batch)), expected)
    kept.clear()
    with pytest.raises(InvalidInput, match="expected finite numbers"):
        call(np.full((2, 3), np.nan))
    assert not kept
    assert np.array_equal(call(batch[4]), expected[4])
    assert len(kept) == 1 and np.array_equal(kept[0](batch[4]), expected[4])
    assert np.array_equal(kept[0](batch), expected)


def test_a_robot_keeps_the_call_that_has_code_for_one_sample():
    robot = lw.load("christoffel-5").with_gravity((0.0, 0.0, -9.81234))
    q = robot.random(6, seed=0)
    torques = robot.gravity_torque(q)
    first = robot._calls.gravity_torque
    assert np.array_equal(robot.gravity_torque(q[2]), torques[2])
    second = robot._calls.gravity_torque
    assert second is not first and np.array_equal(second(q), torques)
    robot.gravity_torque(q[3])
    assert robot._calls.gravity_torque is second


def test_calls_do_not_leak_memory(two_link):
    import tracemalloc

    caller = two_link.caller(Context())
    q, lengths = np.array([0.3, -0.8]), np.array([0.5, 0.4])
    caller(q, lengths)
    tracemalloc.start()
    before = tracemalloc.get_traced_memory()[0]
    for _ in range(20_000):
        caller(q, lengths)
    after = tracemalloc.get_traced_memory()[0]
    tracemalloc.stop()
    assert after - before < 20_000  # a leaked array an iteration would be 2 MB


def test_without_the_compiled_call_results_are_the_same(two_link, monkeypatch):
    q, lengths = np.array([0.3, -0.8]), np.array([0.5, 0.4])
    fast = two_link.caller(Context())(q, lengths)
    monkeypatch.setattr(python_call, "available", lambda: False)
    slow = two_link.caller(Context())(q, lengths)
    assert all(np.array_equal(a, b) for a, b in zip(fast, slow, strict=True))


def test_widths_of_this_machine():
    assert machine.widths()[-1] == 1 and machine.widths()[0] in (2, 4, 8)


OPERATIONS_OF_A_RESULT = {
    "sum": lambda e: e + 1,
    "product": lambda e: 0.5 * e,
    "difference": lambda e: 3 - e,
    "square": lambda e: e * e,
    "sine": casadi.sin,
    "multiply-add": lambda e: 0.25 * e + casadi.sqrt(e),
    "quotient": lambda e: 1 / e,
    "smaller": lambda e: casadi.fmin(e, 1),
    "choice": lambda e: casadi.if_else(e > 1e300, 1, e),
    "arctangent": casadi.atan,
    "nothing": lambda e: casadi.SX(0),
}


@pytest.mark.parametrize("name", sorted(OPERATIONS_OF_A_RESULT))
@pytest.mark.parametrize("width", [2, 4, 8])
def test_a_result_that_is_not_finite_is_seen_whatever_is_computed_from_it(name, width):
    """Only results that no other result speaks for are checked:
    `e` here has no check of its own where it may not."""

    def both(x):
        e = casadi.exp(x)
        return casadi.vertcat(e, OPERATIONS_OF_A_RESULT[name](e))

    kernel = lw.compile(both, {"x": 1})
    x = np.zeros((11, 1))
    kernel.call((x,), None, Context(), width=width)
    x[7] = 800.0
    with pytest.raises(ComputationError, match=r"\[7, 0\] is inf although the input is finite"):
        kernel.call((x,), None, Context(), width=width)
    with pytest.raises(ComputationError, match=r"\[0\] is inf"):
        kernel(x[7])
