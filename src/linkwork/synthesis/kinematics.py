"""Kinematics: where the bodies of linkages are.

A moving body has one unknown: its rotation since position 1, or its travel on a slider. A point P
of a body that hangs at J is J' + (P - J) exp(i theta), J' where the parent has taken the joint.
Closing pins give two equations each.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping

import casadi
import numpy as np
from casadi import SX

from linkwork.engine import keys
from linkwork.engine.kernel import Kernel, Signature
from linkwork.engine.traced import traced
from linkwork.polynomials.complex_pair import Complex, numbers
from linkwork.synthesis.linkage import Linkages, Topology
from linkwork.synthesis.task import PlanarTask

EXACT = 1e-11


def places(
    topology: Topology, x: SX, points: Mapping[str, Complex]
) -> tuple[dict[str, Complex], dict[str, Complex]]:
    """(exp(i theta) of every body, displacement of each body's joint) for unknowns x in the order
    of `moving`."""
    tree, _ = topology.tree
    turn = {topology.ground: Complex(1.0)}
    # (joint at position 1, where it is now)
    shift = {topology.ground: (Complex(0.0), Complex(0.0))}
    for k, edge in enumerate(tree):
        joint = points[edge.point]
        now = _moved(joint, turn[edge.parent], shift[edge.parent])
        if edge.along is None:
            turn[edge.child] = Complex(casadi.cos(x[k]), casadi.sin(x[k]))
        else:
            line = points[edge.along] - joint
            unit = line * Complex(1.0 / casadi.sqrt(line.abs2()))
            turn[edge.child] = turn[edge.parent]
            now = now + unit * turn[edge.parent] * Complex(x[k])
        shift[edge.child] = (joint, now)
    return turn, shift  # type: ignore[return-value]


def _moved(point: Complex, turn: Complex, shift: tuple[Complex, Complex]) -> Complex:
    old, new = shift
    return new + (point - old) * turn


def where(
    topology: Topology,
    turn: dict,
    shift: dict,
    points: Mapping[str, Complex],
    body: str,
    point: str,
) -> Complex:
    """A point of a body in the present posture."""
    return _moved(points[point], turn[body], shift[body])


def residual(topology: Topology, x: SX, points: SX) -> SX:
    """How far loops are from closing: two numbers for each closing pin [lengths of the points]."""
    named = dict(zip(topology.points, numbers(points)))
    turn, shift = places(topology, x, named)
    rows = []
    for point, first, second in topology.tree[1]:
        ends = [where(topology, turn, shift, named, body, point) for body in (first, second)]
        gap = ends[0] - ends[1]
        rows += [gap.re, gap.im]
    return casadi.vertcat(*rows)


def tracer(topology: Topology, x: SX, points: SX) -> SX:
    """(x, y, angle) of the tracer's body at its point."""
    named = dict(zip(topology.points, numbers(points)))
    turn, shift = places(topology, x, named)
    body, point = topology.tracer
    place = where(topology, turn, shift, named, body, point)
    edges = {edge.child: (k, edge) for k, edge in enumerate(topology.tree[0])}
    while body != topology.ground and edges[body][1].along is not None:
        body = edges[body][1].parent
    angle = SX(0) if body == topology.ground else x[edges[body][0]]
    return casadi.vertcat(place.re, place.im, angle)


@functools.cache
def _kernel_of(text: str) -> Kernel:
    topology = _KNOWN[text]

    def posture(x: SX, points: SX) -> list[SX]:
        r = residual(topology, x, points)
        y = tracer(topology, x, points)
        return [r, casadi.jacobian(r, x), y, casadi.jacobian(y, x)]

    n, m, k = len(topology.moving), 2 * len(topology.tree[1]), len(topology.points)
    inputs = (("x", (n,)), ("points", (k, 2)))
    outputs = (("residual", (m,)), ("J", (m, n)), ("tracer", (3,)), ("slope", (3, n)))
    signature = Signature(f"{topology.name}.posture", inputs, outputs)
    return traced(signature, posture, keys.key(__name__, "posture", text))


_KNOWN: dict[str, Topology] = {}


def posture_kernel(topology: Topology) -> Kernel:
    """(x (n,), points (k, 2)) -> residual (m,), J (m, n), tracer (3,), its slope (3, n)."""
    text = repr(topology)
    _KNOWN.setdefault(text, topology)
    return _kernel_of(text)


def pairs_of_points(points: np.ndarray) -> np.ndarray:
    """Complex (..., k) as real (..., k, 2)."""
    points = np.ascontiguousarray(points, dtype=complex)
    return points.view(float).reshape(*points.shape, 2)


def rotations_at(linkage: Linkages, task: PlanarTask) -> np.ndarray:
    """(..., n, bodies): unknowns that bring the tracer to every position;
    NaN where the linkage does not meet it.

    Newton with the pseudo-inverse on loops and tracer together, from the posture before and from
    turned ones.
    """
    topology = linkage.topology
    bodies = len(topology.moving)
    points = pairs_of_points(linkage.points)
    size = np.maximum(linkage.size, 1e-300)
    turns = np.full((*linkage.batch, task.n, bodies), np.nan)
    generator = np.random.default_rng(3)
    for j in range(task.n):
        goal = np.stack([task.positions[..., j].real, task.positions[..., j].imag], axis=-1)
        angle = task.angles[..., j] - task.angles[..., 0]
        here = np.zeros((*linkage.batch, bodies))
        done = np.zeros(linkage.batch, dtype=bool)
        for attempt in range(24):
            if attempt == 0:
                start = turns[..., j - 1, :] if j else here
                start = np.where(np.isfinite(start), start, 0.0)
            else:
                start = generator.uniform(-np.pi, np.pi, size=(*linkage.batch, bodies))
            x, good = _newton(topology, points, start, goal, angle, size)
            take = good & ~done
            here[take] = x[take]
            done |= good
            if done.all():
                break
        turns[..., j, :] = np.where(done[..., None], here, np.nan)
    return turns


def _newton(
    topology: Topology,
    points: np.ndarray,
    x: np.ndarray,
    goal: np.ndarray,
    angle: np.ndarray,
    size: np.ndarray,
) -> tuple[np.ndarray, np.ndarray]:
    kernel = posture_kernel(topology)
    with_angle = np.isfinite(angle)
    target = np.where(with_angle, angle, 0.0)
    error = np.ones(x.shape[:-1])
    for _ in range(40):
        r, J, y, slope = kernel(x, points)
        off = y - np.concatenate([np.broadcast_to(goal, y[..., :2].shape), y[..., 2:]], axis=-1)
        turned = np.where(with_angle, np.angle(np.exp(1j * (y[..., 2] - target))), 0.0)
        off = np.concatenate([off[..., :2] / size[..., None], turned[..., None]], axis=-1)
        lines = np.stack(
            [
                slope[..., 0, :] / size[..., None],
                slope[..., 1, :] / size[..., None],
                slope[..., 2, :] * with_angle[..., None],
            ],
            axis=-2,
        )
        f = np.concatenate([r / size[..., None], off], axis=-1)
        A = np.concatenate([J / size[..., None, None], lines], axis=-2)
        error = np.abs(f).max(axis=-1)
        if (error < 1e-14).all():
            break
        step = -np.einsum("...ij,...j->...i", np.linalg.pinv(A, rcond=1e-9), f)
        length = np.linalg.norm(step, axis=-1, keepdims=True)
        x = x + step * np.minimum(1.0, 0.7 / np.maximum(length, 1e-300))
    return x, error < EXACT
