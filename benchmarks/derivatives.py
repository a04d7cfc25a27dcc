"""How fast are the derivatives of inverse and forward dynamics beside Pinocchio,
and how long do they compile?"""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np
import pinocchio as pin

import linkwork as lw
from benchmarks.measure import Row, side_by_side
from benchmarks.peers import Pair, pair, pairs
from linkwork import quantities
from linkwork.engine.kernel import BATCH

COUNT = 1024
INVERSE = dict(UR5=20, xArm7=15, G1=5, Talos=5)
COMPILE = dict(Talos=5.0)
FIRST = dict(forward_dynamics=1.5, forward_dynamics_derivatives=6.0)


def rows() -> list[Row]:
    table: list[Row] = []
    for p in pairs():
        table.append(compiled(p))
        table += batch(p, "inverse_dynamics_derivatives", pin.computeRNEADerivatives, INVERSE)
        if p.name != "Talos":
            table += batch(p, "forward_dynamics_derivatives", pin.computeABADerivatives, {})
    return table + [first_call(pair("Talos"), name, target) for name, target in FIRST.items()]


def first_call(p: Pair, name: str, target: float) -> Row:
    """One sample of a robot that no kernel is kept for, by a gravity of its own: traced, compiled,
    computed."""
    gravity = 9.8 + np.random.default_rng().random() * 1e-3
    new = p.robot.with_gravity((0.0, 0.0, -gravity))
    q, v = new.random(seed=0), np.zeros(new.nv)
    start = time.perf_counter()
    getattr(new, name)(q, v, v)
    taken = time.perf_counter() - start
    return Row(
        f"first call, {name.replace('_', ' ')}",
        p.name,
        taken,
        target=target,
        smaller_is_better=True,
    )


def compiled(p: Pair) -> Row:
    again = lw.Robot(p.robot.with_gravity((0.0, 0.0, -9.80665)).model)
    start = time.perf_counter()
    quantities.kernel_of(again.subject, "inverse_dynamics_derivatives").prepare(BATCH)
    taken = time.perf_counter() - start
    target = COMPILE.get(p.name)
    return Row("trace + compile derivatives", p.name, taken, target=target, smaller_is_better=True)


def batch(p: Pair, name: str, peer_function: Callable, targets: dict[str, int]) -> list[Row]:
    (q, v, a), columns = p.samples(COUNT)
    ours, data, n = getattr(p.robot, name), p.model.createData(), p.robot.nv
    samples = [tuple(c[:, k].copy() for c in columns) for k in range(COUNT)]

    def peer() -> None:
        for x in samples:
            peer_function(p.model, data, *x)

    reference = [[m.copy() for m in peer_function(p.model, data, *x)] for x in samples[:20]]
    at = np.ix_(p.order, p.order)
    for k, d in enumerate(ours(q, v, a)[:2]):
        theirs = np.stack([r[k][at] for r in reference])
        assert np.abs(d[:20] - theirs).max() < 1e-9 * np.abs(theirs).max()
    out = [np.empty((COUNT, n, n)) for _ in range(3)]
    reused, peer_time = side_by_side(lambda: ours(q, v, a, out=out), peer)
    fresh, _ = side_by_side(lambda: ours(q, v, a), peer)
    label, case = name.replace("_", " ") + ", 1 thread", f"{p.name}, batch {COUNT}"
    return [
        Row(
            label,
            f"{case}, out=",
            reused / COUNT,
            peer_time / COUNT,
            peer_function.__name__,
            targets.get(p.name),
        ),
        Row(label, case, fresh / COUNT, peer_time / COUNT, peer_function.__name__),
    ]
