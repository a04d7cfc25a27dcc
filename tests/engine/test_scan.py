"""scan: loops in machine code against the same loops in numpy."""

from __future__ import annotations

import casadi
import numpy as np
import pytest

import linkwork as lw
from linkwork.engine.scan import keyed_scan
from linkwork.errors import InvalidInput


def pendulum_step(x, p, u, k):
    new = x + 0.1 * casadi.vertcat(x[1], -p[0] * casadi.sin(x[0]) + u)
    return {
        "x": new,
        "y": new[0] ** 2,
        "largest": casadi.fabs(new[0]),
        "when": new[1],
        "stop": new[0] - p[1],
    }


@pytest.fixture(scope="module")
def pendulum():
    return lw.scan(
        pendulum_step,
        {"x": 2},
        {"p": 2},
        {"u": ()},
        record=("y",),
        reduce={"largest": "max", "when": "argmax"},
    )


def by_hand(x, p, u, steps, every):
    record, largest, when = [], -np.inf, (-np.inf, 0)
    for k in range(steps):
        x = x + 0.1 * np.array([x[1], -p[0] * np.sin(x[0]) + u[k]])
        largest = max(largest, abs(x[0]))
        when = max(when, (x[1], -k), key=lambda w: w[0])
        if k % every == 0:
            record.append(x[0] ** 2)
        if x[0] - p[1] > 0:
            return x, k + 1, True, largest, -when[1], record
    return x, steps, False, largest, -when[1], record


@pytest.mark.parametrize("samples", [1, 2, 5, 37])
def test_states_records_and_reductions_agree_with_a_python_loop(pendulum, samples):
    rng = np.random.default_rng(samples)
    steps, every = 50, 3
    x = rng.normal(size=(samples, 2))
    p = np.stack([rng.uniform(1, 3, samples), rng.uniform(0.5, 3, samples)], 1)
    u = 0.1 * rng.normal(size=steps)
    result = pendulum(x=x, p=p, u=u, steps=steps, every=every)
    for i in range(samples):
        end, taken, stopped, largest, when, record = by_hand(x[i], p[i], u, steps, every)
        np.testing.assert_allclose(result.state["x"][i], end, rtol=1e-11)  # 50 steps of rounding
        assert (result.steps[i], result.stopped[i], result.reduced["when"][i]) == (
            taken,
            stopped,
            when,
        )
        np.testing.assert_allclose(result.reduced["largest"][i], largest, rtol=1e-11)
        np.testing.assert_allclose(result.record["y"][i][: len(record)], record, rtol=1e-11)
        assert np.isnan(result.record["y"][i][len(record) :]).all()
    assert not result.failed.any()


def test_every_width_batch_and_thread_count_gives_the_same_bits(pendulum):
    rng = np.random.default_rng(0)
    x, p, u = (
        rng.normal(size=(500, 2)),
        rng.uniform(1, 3, size=(500, 2)),
        0.1 * rng.normal(size=(500, 80)),
    )
    expected = pendulum(x=x, p=p, u=u, steps=80)
    for width in (1, 2, 4, 8):
        again = pendulum(x=x, p=p, u=u, steps=80, width=width)
        assert np.array_equal(again.state["x"], expected.state["x"])
        assert np.array_equal(again.record["y"], expected.record["y"], equal_nan=True)
    for k in (0, 17, 499):
        alone = pendulum(x=x[k], p=p[k], u=u[k], steps=80)
        assert (
            np.array_equal(alone.state["x"], expected.state["x"][k])
            and alone.steps == expected.steps[k]
        )
    before = lw.threads()
    try:
        for n in (1, 3):
            lw.threads(n)
            assert np.array_equal(pendulum(x=x, p=p, u=u, steps=80).state["x"], expected.state["x"])
    finally:
        lw.threads(before)


def test_sums_means_and_rms():
    count = lw.scan(
        lambda x, k: {"x": x + 1, "s": x, "m": x, "r": x, "low": -x, "where": -casadi.fabs(x - 4)},
        {"x": ()},
        reduce={"s": "sum", "m": "mean", "r": "rms", "low": "min", "where": "argmax"},
    )
    result = count(x=0.0, steps=10)
    n = np.arange(10)
    assert (
        result.reduced["s"] == n.sum()
        and result.reduced["m"] == n.mean()
        and result.reduced["low"] == -9
    )
    assert (
        result.reduced["r"] == pytest.approx(np.sqrt((n**2).mean()), rel=1e-15)
        and result.reduced["where"] == 4
    )


def test_a_sample_that_leaves_the_finite_numbers_keeps_its_last_state():
    grow = lw.scan(lambda x, k: {"x": x * x, "y": x}, {"x": ()}, record=("y",))
    result = grow(x=np.array([2.0, 1.0, 0.5]), steps=2000)
    assert result.failed.tolist() == [True, False, False]
    assert np.isfinite(result.state["x"]).all() and result.steps[0] < 15 and result.steps[1] == 2000
    assert np.isfinite(result.record["y"][0, : result.steps[0]]).all()


def halving_step(x, tries, goal, k):
    """Halve the distance to the present goal until it is below 1e-3, then go on to the next one."""
    new = x + (goal - x) / 2
    there = casadi.fabs(goal - new) < 1e-3
    return {
        "x": new,
        "tries": casadi.if_else(there, 0, tries + 1),
        "found": new,
        "count": tries + 1,
        "most": tries + 1,
        "advance": there,
        "stop": new - 50,
    }


@pytest.mark.parametrize("samples", [1, 3, 21])
def test_a_step_that_does_not_advance_sees_the_same_row_again(samples):
    follow = lw.scan(
        halving_step,
        {"x": (), "tries": ()},
        sequences={"goal": ()},
        record=("found", "count"),
        reduce={"most": "max"},
    )
    rng = np.random.default_rng(samples)
    goals = rng.normal(size=(samples, 6)) * 10.0 ** rng.integers(-4, 2, size=(samples, 6))
    goals[-1, 3] = 100.0  # stopped on the way
    result = follow(x=0.0, tries=0.0, goal=goals, steps=6)
    for i in range(samples):
        x, found, counts = 0.0, [], []
        for goal in goals[i]:
            count = 0
            while x <= 50 and (count == 0 or abs(goal - x) >= 1e-3):
                x, count = x + (goal - x) / 2, count + 1
            if x > 50:
                break
            found.append(x)
            counts.append(count)
        assert result.steps[i] == len(found) and result.stopped[i] == (i == samples - 1)
        assert result.record["found"][i][: len(found)].tolist() == found  # halving is exact
        assert result.record["count"][i][: len(found)].tolist() == counts
        assert np.isnan(result.record["found"][i][len(found) :]).all()
        assert result.reduced["most"][i] == max(counts)


def test_the_lean_call_of_one_sample_gives_the_same_bits():
    root = lw.scan(
        lambda x, a, k: {"x": (x + a / x) / 2, "stop": 1e-12 - casadi.fabs(x * x - a)},
        {"x": ()},
        {"a": ()},
    )
    call, steps = root.caller(), np.array(50.0)
    for a in (2.0, 3.0, 1e6):
        final, verdict = call(np.array([0.0, 1.0]), np.array([a]), steps)
        expected = root(x=1.0, a=a, steps=50)
        assert final.tolist() == [expected.steps, expected.state["x"]] and verdict == float(
            expected.stopped
        )
    slow, verdict = call([0, 1], [2], 50)  # whatever is not exactly that goes the long way
    assert (
        slow.tolist() == call(np.array([0.0, 1.0]), np.array([2.0]), steps)[0].tolist()
        and verdict == 1
    )
    with pytest.raises(InvalidInput, match=r"parameters has shape \(2,\)"):
        call(np.array([0.0, 1.0]), np.array([2.0, 3.0]), steps)
    with pytest.raises(InvalidInput, match=r"state is .*nan"):
        call(np.array([0.0, np.nan]), np.array([2.0]), steps)
    recording = lw.scan(lambda x, k: {"x": x, "y": x}, {"x": ()}, record=("y",))
    with pytest.raises(InvalidInput, match="without sequences, records"):
        recording.caller()


def test_planar_inverse_kinematics_by_damped_least_squares():
    """The test bed of the design: a 3R arm, every reachable target found,
    lanes refilled as they finish."""
    lengths = (0.5, 0.4, 0.3)

    def tip(q):
        angles = [q[0], q[0] + q[1], q[0] + q[1] + q[2]]
        return casadi.vertcat(
            sum(a * casadi.cos(t) for a, t in zip(lengths, angles, strict=True)),
            sum(a * casadi.sin(t) for a, t in zip(lengths, angles, strict=True)),
        )

    def step(q, target, k):
        e = target - tip(q)
        J = casadi.jacobian(tip(q), q)
        A = J @ J.T + 1e-6 * casadi.SX.eye(2)
        determinant = A[0, 0] * A[1, 1] - A[0, 1] * A[1, 0]
        solved = (
            casadi.vertcat(A[1, 1] * e[0] - A[0, 1] * e[1], A[0, 0] * e[1] - A[1, 0] * e[0])
            / determinant
        )
        return {"q": q + J.T @ solved, "stop": 1e-20 - casadi.sumsqr(e)}

    solver = lw.scan(step, {"q": 3}, {"target": 2})
    rng = np.random.default_rng(0)
    r, a = rng.uniform(0.2, 1.1, 1000), rng.uniform(-np.pi, np.pi, 1000)
    targets = np.stack([r * np.cos(a), r * np.sin(a)], 1)
    result = solver(q=np.array([0.3, 0.4, 0.5]), target=targets, steps=300)
    assert result.stopped.mean() > 0.99 and len(set(result.steps.tolist())) > 5
    q = result.state["q"][result.stopped]
    t = np.cumsum(q, axis=1)
    reached = np.stack(
        [(np.array(lengths) * np.cos(t)).sum(1), (np.array(lengths) * np.sin(t)).sum(1)], 1
    )
    np.testing.assert_allclose(reached, targets[result.stopped], atol=1e-9)


@pytest.mark.parametrize(
    ("call", "says"),
    [
        (dict(x=[1, 2], steps=0), "steps is 0"),
        (dict(x=[1, 2], steps=2.5), "steps is 2.5"),
        (dict(x=[1, 2], steps=5, every=0), "every is 0"),
        (dict(steps=5), "x is missing"),
        (dict(x=[1, 2, 3], steps=5), r"x has shape \(3,\)"),
        (dict(x=[1, np.nan], steps=5), r"x\[1\] is nan"),
        (dict(x=[1, 2], y=3, steps=5), "there is no argument 'y'"),
        (dict(x=[1, 2], u=np.zeros(3), steps=5), "u has 3 rows, expected at least steps = 5"),
    ],
)
def test_bad_calls_are_refused(call, says):
    moving = lw.scan(lambda x, u, k: {"x": x + u}, {"x": 2}, sequences={"u": ()})
    with pytest.raises(InvalidInput, match=says):
        moving(**{"u": np.zeros(5), **call})


@pytest.mark.parametrize(
    ("step", "options", "says"),
    [
        (lambda x, k: {}, {}, "does not give 'x'"),
        (lambda x, k: {"x": x, "z": x}, {}, "gives .'z'., which is neither"),
        (lambda x, k: {"x": x[0]}, {}, "next 'x' has size"),
        (lambda x, k: {"x": x, "y": x}, {"reduce": {"y": "median"}}, "reduce 'y' is 'median'"),
        (lambda x, k: {"x": x + casadi.SX.sym("other")}, {}, "symbols that it was not given"),
        (lambda k, **_: {"k": 1}, {"state": {"k": 1}}, "reserved"),
    ],
)
def test_bad_steps_are_refused(step, options, says):
    with pytest.raises(InvalidInput, match=says):
        lw.scan(step, **{"state": {"x": 2}, **options})


def test_a_stage_runs_only_where_it_is_due_and_lanes_keep_their_bits():
    def step(k, x, u, a):
        return {"x": x + u * a, "u": u, "row": x}

    def stage(k, x, u, a):
        return {"due": casadi.fmod(k, a) < 0.5, "u": casadi.sin(x) + 1}

    loop = keyed_scan(None, [step], {"x": 1, "u": 1}, {"a": 1}, record={"row": 1}, stages=[stage])
    starts, periods = np.arange(20.0)[:, None], (1.0 + np.arange(20) % 3)[:, None]
    found = loop(x=starts, u=[0.0], a=periods, steps=10)
    for i in range(20):
        x, u, a = float(i), 0.0, 1.0 + i % 3
        for k in range(10):
            u = np.sin(x) + 1 if k % a == 0 else u
            x = x + u * a
        assert found.state["x"][i, 0] == pytest.approx(x, rel=1e-14)
        alone = loop(x=starts[i], u=[0.0], a=periods[i], steps=10)
        assert alone.state["x"][0] == found.state["x"][i, 0]
    with pytest.raises(InvalidInput, match="which is no state"):
        keyed_scan(
            None,
            [step],
            {"x": 1, "u": 1},
            {"a": 1},
            record={"row": 1},
            stages=[lambda **s: {"due": 1, "y": 1}],
        )
