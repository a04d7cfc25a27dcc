"""What was compiled for a robot goes with its last user."""

from __future__ import annotations

import gc
import os
import sys
import weakref

import casadi
import numpy as np
import pytest

import linkwork as lw
from linkwork import subject
from linkwork.engine import machine, python_call
from linkwork.engine.kernel import Context, Kernel, Signature


def arm(length: float) -> lw.Robot:
    return lw.Robot.from_dh(
        [{"a": length, "mass": 2.0, "inertia": 0.1 * np.eye(3)} for _ in range(2)]
    )


def test_code_and_callers_go_with_the_last_robot():
    first, second = arm(0.512345), arm(0.512345)
    q = np.ones((3, 2))
    for robot in (first, second):
        robot.inverse_dynamics(q[0], q[0], q[0])
        robot.inverse_dynamics(q, q, q)
    (kernel,) = first.kernels.values()
    gone = [weakref.ref(x) for x in (kernel, *kernel._code.values())]
    assert len(gone) == 3 and any(kernel is shared for shared in subject._shared.values())
    del kernel, first, robot
    gc.collect()
    assert all(ref() is not None for ref in gone)  # the second robot has them still
    truth = second.inverse_dynamics(q[0], q[0], q[0])
    assert np.array_equal(second.inverse_dynamics(q, q, q)[0], truth)
    del second
    gc.collect()
    assert not any(ref() is not None for ref in gone)


def test_a_caller_keeps_what_it_calls():
    x = casadi.SX.sym("x", 3)
    kernel = Kernel(
        Signature("f", (("x", (3,)),), (("y", (3,)),)), lambda: casadi.Function("f", [x], [2 * x])
    )
    caller = kernel.caller(Context())
    del kernel
    gc.collect()
    for _ in range(50):
        noise = [bytearray(64) for _ in range(100)]  # would overwrite a definition that is gone
        assert np.array_equal(caller(np.ones(3)), [2.0, 2.0, 2.0]) and np.array_equal(
            caller([1, 1, 1]), [2, 2, 2]
        )
        del noise
    if python_call.available():
        assert caller.__name__ == "f" and caller.__module__ == "linkwork.engine.python_call"


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads /proc")
def test_libraries_that_are_gone_leave_nothing_behind():
    """10 kB each stayed before, in the tables of the one linker that all had."""
    x = casadi.SX.sym("x", 3)
    kernel = Kernel(
        Signature("f", (("x", (3,)),), (("y", (3,)),)), lambda: casadi.Function("f", [x], [3 * x])
    )
    _, object_file = kernel._compile(0)

    def load(times: int) -> None:
        for _ in range(times):
            machine.Code(object_file, ("run",))
        gc.collect()

    load(200)
    before = _resident()
    load(600)
    assert _resident() - before < 600 * 2048


def _resident() -> int:
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def test_constants_of_robots_that_are_gone_do_not_stay():
    from linkwork.engine import ir_types

    for k in range(3 * ir_types.KEPT):
        ir_types.constant(ir_types.DOUBLE, 0.5 + k * 1e-9)
    assert ir_types._constant.cache_info().currsize <= ir_types.KEPT
