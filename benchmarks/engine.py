"""What do compiling, loading, importing, memory and growth cost?"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time

import numpy as np

import linkwork as lw
from benchmarks.measure import Row, median_of_best, median_seconds, side_by_side
from benchmarks.peers import FILES, pair
from linkwork import quantities
from linkwork.engine.kernel import BATCH, counts
from linkwork.model import Body, Joint, MassProperties, Model, Placement, validated

COMPILE = dict(UR5=0.15, Talos=0.8)


def rows() -> list[Row]:
    lw.threads(1)
    found = [import_time()]
    with tempfile.TemporaryDirectory() as folder:
        os.environ["LINKWORK_CACHE"] = folder
        for name in FILES:
            found += compile_and_load(name)
        found += [growth_with_bodies(n) for n in (10, 30, 100, 300, 500)]
        del os.environ["LINKWORK_CACHE"]
    found += [growth_with_batch(n) for n in (1, 10, 100, 1000, 10_000, 100_000, 1_000_000)]
    found += [threads_never_slower(n) for n in (1, 8, 64, 512, 4096)]
    found.append(peak_memory())
    return found


def import_time() -> Row:
    """As a user meets it from the second time on: Python keeps its bytecode,
    which some environments forbid."""
    code = "import time; t = time.perf_counter(); import linkwork; print(time.perf_counter() - t)"
    with tempfile.TemporaryDirectory() as folder:
        env = {**os.environ, "PYTHONPYCACHEPREFIX": folder}
        env.pop("PYTHONDONTWRITEBYTECODE", None)
        run = lambda: float(
            subprocess.run(
                [sys.executable, "-c", code], capture_output=True, text=True, env=env
            ).stdout
        )
        run()
        taken = median_of_best(run, turns=1)
    return Row("import linkwork", "seconds", taken, target=0.4, smaller_is_better=True)


def _prepare(robot: lw.Robot) -> float:
    """Trace and compile (or load) inverse dynamics at the widest width."""
    robot.subject.fingerprint  # noqa: B018  (paid when the robot is loaded)
    start = time.perf_counter()
    quantities.kernel_of(robot.subject, "inverse_dynamics").prepare(BATCH)
    return time.perf_counter() - start


def prepare_new(name: str, gravity: float) -> tuple[float, int]:
    """(seconds, kernels compiled) of a robot that this process has not seen."""
    before = counts["compiled"]
    return _prepare(pair(name).robot.with_gravity((0.0, 0.0, -gravity))), counts[
        "compiled"
    ] - before


def compile_and_load(name: str) -> list[Row]:
    # a gravity of its own, so that no kernel of an earlier question or run is shared
    gravities = (9.8 + np.random.default_rng().random(15) * 1e-3).tolist()
    left = iter(gravities)

    def compile_one() -> float:
        seconds, compiled = prepare_new(name, next(left))
        assert compiled == 1
        return seconds

    compiled = median_of_best(compile_one)
    code = (
        f"from benchmarks.engine import prepare_new; print(*prepare_new({name!r}, "
        f"{gravities[0]!r}))"
    )

    def load_one() -> float:
        """In a new process, which also pays for starting LLVM."""
        seconds, again = subprocess.run(
            [sys.executable, "-c", code], capture_output=True, text=True
        ).stdout.split()
        assert again == "0", "not from the cache"
        return float(seconds)

    loaded = median_of_best(load_one, turns=1)
    return [
        Row(
            "trace + compile inverse dynamics",
            name,
            compiled,
            target=COMPILE.get(name),
            smaller_is_better=True,
        ),
        Row(
            "the same from the cache, new process",
            name,
            loaded,
            target=0.03,
            smaller_is_better=True,
        ),
    ]


def chain(n: int) -> lw.Robot:
    """n equal links in a row, axes x, y, z in turn."""
    axes = ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0))
    matter = MassProperties(
        1.0, (0.01, 0.02, 0.05), ((0.01, 0.0, 0.0), (0.0, 0.012, 0.0), (0.0, 0.0, 0.008))
    )
    bodies = tuple(Body(f"b{k}", matter) for k in range(n))
    joints = tuple(
        Joint(
            f"j{k}",
            "revolute",
            f"b{k - 1}" if k else None,
            f"b{k}",
            Placement(position=(0.01, 0.0, 0.1)),
            axes[k % 3],
        )
        for k in range(n)
    )
    return lw.Robot(validated(Model(f"chain{n}", bodies, joints)))


def growth_with_bodies(n: int) -> Row:
    target = 20.0 if n == 500 else None
    return Row(
        "trace + compile, chain",
        f"{n} bodies",
        _prepare(chain(n)),
        target=target,
        smaller_is_better=True,
    )


def growth_with_batch(count: int) -> Row:
    p = pair("UR5")
    (q, v, a), _ = p.samples(count)
    taken = median_seconds(lambda: p.robot.inverse_dynamics(q, v, a))
    return Row("inverse dynamics, a sample", f"UR5, batch {count}", taken / count)


def threads_never_slower(count: int) -> Row:
    p = pair("UR5")
    (q, v, a), _ = p.samples(count)

    def with_threads(n: int):
        def work() -> None:
            lw.threads(n)
            p.robot.inverse_dynamics(q, v, a)

        return work

    ours, peer = side_by_side(with_threads(2), with_threads(1))
    lw.threads(1)
    # two identical code paths below the threshold: a tenth is the noise of the clock
    return Row(
        "two threads never slower",
        f"UR5, batch {count}",
        ours / count,
        peer / count,
        "1 thread",
        0.9,
    )


def peak_memory() -> Row:
    code = (
        "import resource, numpy as np, linkwork as lw\n"
        "from benchmarks.peers import pair\n"
        "r = pair('UR5').robot\n"
        "q = np.zeros((10, 6)); r.inverse_dynamics(q, q, q)\n"
        "q, v, a = (np.full((1_000_000, 6), 0.1 * k) for k in range(3))\n"
        "before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss\n"
        "tau = r.inverse_dynamics(q, v, a)\n"
        "print((resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) * 1024 - tau.nbytes)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    beyond = max(0.0, float(done.stdout.splitlines()[-1])) / 2**20
    return Row(
        "memory beyond inputs and outputs",
        "UR5, batch 1e6",
        beyond,
        target=64.0,
        unit="MB",
        smaller_is_better=True,
    )
