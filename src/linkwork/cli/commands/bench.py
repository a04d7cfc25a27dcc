"""linkwork bench: how long quantities of a robot take on this machine."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from typing import Annotated, Any

import numpy as np
import typer

import linkwork as lw
from linkwork.cli.answer import Answer, Table
from linkwork.cli.arguments import RobotName, last_frame
from linkwork.cli.progress import working
from linkwork.engine import machine

ROUNDS, LEAST = 5, 0.02  # rounds of at least so many seconds; the median counts


def bench(
    robot: RobotName = "ur5e",
    samples: Annotated[int, typer.Option(min=1, help="Of the batch.")] = 16384,
) -> Answer:
    """Time the main quantities of a robot: a sample of a batch, and one call. Beside peers:
    make bench.

    Example:  linkwork bench ur5e --samples 100000
    """
    loaded = lw.load(robot)
    rng = np.random.default_rng(0)
    q = loaded.random(samples, seed=0, assembled=False)
    v, a = rng.normal(size=(2, samples, loaded.nv))
    tip = last_frame(loaded, None)
    calls: dict[str, tuple[Callable[..., Any], tuple[np.ndarray, ...]]] = {
        "pose": (lambda q: loaded.pose(q, tip), (q,)),
        "jacobian": (lambda q: loaded.jacobian(q, tip), (q,)),
    }
    if not loaded.model.kinematic_only:
        calls |= {
            "gravity_torque": (loaded.gravity_torque, (q,)),
            "inverse_dynamics": (loaded.inverse_dynamics, (q, v, a)),
            "mass_matrix": (loaded.mass_matrix, (q,)),
            "forward_dynamics": (loaded.forward_dynamics, (q, v, a)),
        }
    rows = []
    with working(f"timing {loaded.name}") as tick:
        for k, (name, (call, arguments)) in enumerate(calls.items()):
            tick(k, len(calls))
            batch = _seconds(call, arguments) / samples
            single = _seconds(call, tuple(x[0] for x in arguments))
            rows.append((name, batch * 1e9, single * 1e6))
    about = f"{machine.cpu()[0]}, vectors of {machine.widths()[0]} doubles, {lw.threads()} threads"
    timed = [{"quantity": n, "batch_ns": b, "single_us": s} for n, b, s in rows]
    table = Table(
        f"{loaded.name} on {about}", ("quantity", f"1 of {samples} [ns]", "one call [us]"), rows
    )
    return Answer(
        {"robot": loaded.name, "machine": about, "samples": samples, "quantities": timed}, [table]
    )


def _seconds(call: Callable[..., Any], arguments: tuple[np.ndarray, ...]) -> float:
    call(*arguments)
    start = time.perf_counter()
    call(*arguments)
    repeat = max(1, int(LEAST / max(time.perf_counter() - start, 1e-9)))
    taken = []
    for _ in range(ROUNDS):
        start = time.perf_counter()
        for _ in range(repeat):
            call(*arguments)
        taken.append((time.perf_counter() - start) / repeat)
    return statistics.median(taken)
