"""Children of fork while other threads compute, compile and load: none hangs, all compute the same.

200 forks here, 400 with LINKWORK_FUZZ (`make fuzz`).
"""

from __future__ import annotations

import os
import subprocess
import sys
import warnings

import pytest

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")

FORKS = 400 if "LINKWORK_FUZZ" in os.environ else 200

# In a process of its own: the load is daemon threads that nobody waits for. A child that hangs is
# told by its clock, which is far longer than the slowest machine needs.
UNDER_LOAD = """
import faulthandler, os, sys, threading, time
import casadi, numpy as np
import linkwork as lw

FORKS, PATIENCE, TOGETHER = int(sys.argv[1]), 600.0, 8
faulthandler.dump_traceback_later(2 * PATIENCE, exit=True)  # a parent that hangs
sys.setswitchinterval(1e-5)  # threads take turns wherever they can, in the handlers of fork, too
lw.threads(2)
robot = lw.Robot.from_dh([{"a": 0.5, "mass": 2.0, "inertia": 0.1 * np.eye(3)} for _ in range(3)])
Q = robot.random(20_000, seed=0)
truth = robot.inverse_dynamics(Q, Q, Q)

def computes():
    while True:
        robot.inverse_dynamics(Q, Q, Q)
        lw.Robot(robot.model).gravity_torque(Q[:64])

def compiles():
    k = 0
    while True:
        k += 1
        lw.compile(lambda x: casadi.sin(x) * (k + 0.5), {"x": 3})(np.zeros((4, 3)))

def batch():
    return np.array_equal(robot.inverse_dynamics(Q, Q, Q), truth)

def another_robot():
    return np.array_equal(lw.Robot(robot.model).inverse_dynamics(Q[:8], Q[:8], Q[:8]), truth[:8])

def symbols():
    x = casadi.SX.sym("x", 3)
    return bool(casadi.Function("f", [x], [casadi.cos(x)])([0, 0, 0])[0] == 1.0)

def compiled():
    return bool((lw.compile(lambda x: casadi.cos(x) * 2.0, {"x": 3})(np.zeros((5, 3))) == 2.0).all())

# one locked thing a child, so that two hundred of them cost no more than the load itself
JOBS = (batch, another_robot, symbols, compiled)

def ended(pid, k):
    end = time.monotonic() + PATIENCE
    while True:
        done, status = os.waitpid(pid, os.WNOHANG)
        if done:
            return status
        if time.monotonic() > end:
            os.kill(pid, 9)
            print("fork", k, "hangs in", JOBS[k % len(JOBS)].__name__, flush=True)
            os._exit(1)
        time.sleep(0.002)

for work in (computes, compiles):
    threading.Thread(target=work, daemon=True).start()
alive = []
for k in range(FORKS):
    pid = os.fork()
    if not pid:
        code = 4
        try:
            code = 0 if JOBS[k % len(JOBS)]() else 3
        finally:
            os._exit(code)
    alive.append((pid, k))
    if len(alive) < TOGETHER and k < FORKS - 1:
        continue
    for pid, number in alive:
        status = ended(pid, number)
        if status:
            print("fork", number, "ended with", status, flush=True)
            os._exit(1)
    alive.clear()
print("all", FORKS, flush=True)
os._exit(0)
"""

# Threads that keep the interpreter's lock while they wait for CasADi's store of sparsities,
# at every moment of a fork.
STORES = """
import faulthandler, os, sys, threading
import casadi, numpy as np
import linkwork as lw

faulthandler.dump_traceback_later(600.0, exit=True)
sys.setswitchinterval(1e-6)
lw.compile(lambda x: 2.0 * x, {"x": 1})([1.0])

def stores():
    k = 0
    while True:
        k += 1
        casadi.DM(np.zeros((1 + k % 50, 1 + k % 40)))

for _ in range(3):
    threading.Thread(target=stores, daemon=True).start()
for k in range(int(sys.argv[1])):
    pid = os.fork()
    if not pid:
        casadi.DM(np.zeros((3, 60)))
        os._exit(0)
    assert os.waitpid(pid, 0)[1] == 0
print("all", sys.argv[1], flush=True)
os._exit(0)
"""

STARTED = """
import multiprocessing, sys
import numpy as np
import linkwork as lw

def computed(seed):
    robot = lw.Robot.from_dh([{"a": 0.5, "mass": 2.0, "inertia": 0.1 * np.eye(3)} for _ in range(3)])
    q = robot.random(5_000, seed=seed)
    return float(robot.inverse_dynamics(q, q, q).sum())

if __name__ == "__main__":
    lw.threads(2)
    expected = [computed(seed) for seed in range(4)]
    context = multiprocessing.get_context(sys.argv[1])
    with context.Pool(2) as pool:
        assert pool.map(computed, range(4)) == expected
    print("all 4", flush=True)
"""


def run(code: str, argument: str, folder) -> str:
    script = folder / "script.py"
    script.write_text(code)
    environment = {
        **os.environ,
        "LINKWORK_CACHE": str(folder / "cache"),
        "PYTHONWARNINGS": "ignore",
    }
    command = [sys.executable, str(script), argument]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=3600)
    return done.stdout.strip() or done.stderr


def test_children_of_fork_under_load(tmp_path):
    assert run(UNDER_LOAD, str(FORKS), tmp_path) == f"all {FORKS}"


def test_a_parent_whose_threads_wait_for_casadi_goes_on(tmp_path):
    assert run(STORES, "40", tmp_path) == "all 40"


@pytest.mark.parametrize("method", ["fork", "forkserver", "spawn"])
def test_pools_of_processes(method, tmp_path):
    assert run(STARTED, method, tmp_path) == "all 4"


def test_a_kernel_that_is_compiled_at_the_moment_of_the_fork(tmp_path):
    """The thread that compiles is stopped inside the trace: the child must not wait for it."""
    code = """
import os, threading, sys
import casadi, numpy as np
from linkwork.engine.kernel import Kernel, Signature

inside, go = threading.Event(), threading.Event()
x = casadi.SX.sym("x", 3)

def trace():
    if threading.current_thread() is not threading.main_thread():
        inside.set()
        go.wait()
    return casadi.Function("f", [x], [2 * x])

kernel = Kernel(Signature("f", (("x", (3,)),), (("y", (3,)),)), trace)
thread = threading.Thread(target=lambda: kernel(np.ones(3)), daemon=True)
thread.start()
inside.wait()
pid = os.fork()
if not pid:
    os._exit(0 if (kernel(np.ones((4, 3))) == 2.0).all() else 3)
status = os.waitpid(pid, 0)[1]
go.set()
thread.join()
print(status, bool((kernel(np.ones(3)) == 2.0).all()), flush=True)
"""
    assert run(code, "", tmp_path) == "0 True"


def test_a_child_has_workers_of_its_own(tmp_path):
    """Scans wait for those they hand work to: the parent's workers are not in the child. Where the
    fork comes, they compile what they wait with, and log it: the parent goes on, too."""
    code = """
import faulthandler, os
from linkwork.engine.workers import workers

faulthandler.dump_traceback_later(600.0, exit=True)  # a parent that hangs

def done():  # the wait only ends a hang
    return all([lock.acquire(timeout=300) for lock in workers.hand_over(lambda: None, 2)])

assert done()
pid = os.fork()
if not pid:
    os._exit(0 if done() else 3)
print(os.waitpid(pid, 0)[1], done(), flush=True)
"""
    assert run(code, "", tmp_path) == "0 True"


def test_a_process_with_one_thread_takes_no_lock():
    from linkwork.engine import forks

    with warnings.catch_warnings():
        # pytest itself may have started a thread
        warnings.simplefilter("ignore", DeprecationWarning)
        pid = os.fork()
    if not pid:
        os._exit(0 if not forks._taken else 3)
    assert os.waitpid(pid, 0)[1] == 0 and not forks._taken
